"""
Questions that rest on each other, in circles too: yes if anything says yes, and no if nothing does.

The least fixpoint of answers that only ever become true. Knows nothing of what is asked, and runs what it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class Fixpoint(Generic[T]):
    """
    Answers, each found once.

    Whoever comes back to a question that is not answered yet takes it for a no. If it turns out to be a yes, each no
    that was found meanwhile may rest on that, and is forgotten: who asks again is told better.
    """

    def __init__(self) -> None:
        self._known: dict[T, bool] = {}
        self._open: dict[T, bool] = {}
        """What is being asked, and whether anybody came back to it."""

    def ask(self, question: T, find: Callable[[], bool]) -> bool:
        """
        Parameters
        ----------
        question
            What is asked.
        find
            Finds the answer; it may ask further questions, and this one too.
        """
        if question in self._known:
            return self._known[question]
        if question in self._open:
            self._open[question] = True
            return False
        before = len(self._known)
        self._open[question] = False
        answer = find()
        if self._open.pop(question) and answer:
            for each in [key for key in list(self._known)[before:] if not self._known[key]]:
                del self._known[each]
        self._known[question] = answer
        return answer
