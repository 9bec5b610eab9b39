"""
Three-valued truth: holds, does not hold, nobody can tell.

On the ground, beside `source`: knowledge and model both speak it. It knows nothing of tensors or of Python programs.
"""

from __future__ import annotations

from enum import Enum
from typing import NoReturn


class Truth(Enum):
    """
    What the model knows of a statement: it holds, it does not, or nobody can tell.

    Only `YES` may lead to a finding. There is no `bool(truth)`, so that MAYBE can never slip
    through an `if`: compare with `is Truth.YES`.

    Raises
    ------
    TypeError
        from `bool(truth)`.
    """

    NO = 0
    MAYBE = 1
    YES = 2

    def __bool__(self) -> NoReturn:
        raise TypeError("Truth has three values: compare with `is Truth.YES`")

    def __and__(self, other: Truth) -> Truth:
        return self if self is other or self is Truth.NO or other is Truth.YES else other

    def __or__(self, other: Truth) -> Truth:
        return self if self is other or self is Truth.YES or other is Truth.NO else other

    def __invert__(self) -> Truth:
        if self is Truth.MAYBE:
            return self
        return Truth.NO if self is Truth.YES else Truth.YES

    def join(self, other: Truth) -> Truth:
        """The least upper bound in the order of knowledge: what both paths agree on, else MAYBE."""
        return self if self is other else Truth.MAYBE

    @staticmethod
    def of(value: bool | None) -> Truth:
        """`True` is YES, `False` is NO, `None` (unknown) is MAYBE."""
        if value is None:
            return Truth.MAYBE
        return Truth.YES if value else Truth.NO
