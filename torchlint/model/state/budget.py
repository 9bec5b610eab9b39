"""
How much of an entry point is followed: statements and calls, those of other files apart, and how deep they nest.

Counts, and says when it is enough; what becomes of the entry point then is the business of whoever began it.
"""

from __future__ import annotations

from typing import Final

STEP_LIMIT = 6_000
"""Statements and calls followed per entry point; past it the model says no more about that entry."""
OUTSIDE_LIMIT: Final = 1_500
"""Statements, calls and recorded operations in other files of the project; past it their code is unknown code."""

OUTSIDE_POOL = 15_000
"""The same for all entry points of a file together."""

MOST_NESTED: Final = 2_400
"""
Blocks, expressions and calls inside each other; past it the entry point is too deep to be followed. Compiled code has
no limit but the stack of the process.
"""

MOST_FOLLOWED: Final = 300_000
"""The same, one after the other, per entry point: of thirty functions that each call the next one twice, too."""


class BudgetExceededError(Exception):
    """The entry point is too large to be followed to its end."""


class TooDeepError(Exception):
    """
    The entry point is nested too deeply to be followed to its end. No `RecursionError`: that one says that some code of
    the model has no bound of its own, which compiled ends the process.
    """


class Budget:
    """
    What is left of the steps of an entry point.

    Attributes
    ----------
    steps_left
        Of the file's own statements and calls.
    outside_left
        Of those of other files.
    outside
        Another file's code is running, and pays.
    nested
        How many statements, expressions and calls are being followed, one inside the other.
    followed
        How many there were in this entry point.
    """

    __slots__ = ("followed", "nested", "outside", "outside_left", "steps_left")

    def __init__(self) -> None:
        self.steps_left = STEP_LIMIT
        self.outside_left = OUTSIDE_LIMIT
        self.outside = False
        self.nested = 0
        self.followed = 0

    def grant(self, outside: int) -> None:
        """Begin an entry point, with that many steps in other files."""
        self.followed = 0
        self.steps_left, self.outside_left = STEP_LIMIT, outside

    def spend(self, steps: int = 1) -> None:
        """
        Pay for a statement, a call, or a walk over a graph.

        Raises
        ------
        BudgetExceededError
            when the entry point has used up its steps.
        """
        if self.outside:
            self.outside_left -= steps
            if self.outside_left < -OUTSIDE_LIMIT:
                raise BudgetExceededError
            return
        self.steps_left -= steps
        if self.steps_left < 0:
            raise BudgetExceededError

    def descend(self) -> None:
        """
        Follow what stands inside of what is followed. Who catches the error sets `nested` back.

        Raises
        ------
        TooDeepError, BudgetExceededError
            where it is nested too deeply, or there is no end of it.
        """
        self.nested += 1
        self.followed += 1
        if self.nested > MOST_NESTED or self.followed > MOST_FOLLOWED:
            self.refuse()

    def refuse(self) -> None:
        """
        It goes no further.

        Raises
        ------
        TooDeepError, BudgetExceededError
            where it is nested too deeply, or there is no end of it.
        """
        if self.nested > MOST_NESTED:
            raise TooDeepError
        raise BudgetExceededError
