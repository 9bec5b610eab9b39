"""
Which inputs are tried next: those that are made of what came furthest, and where no refusal says more, everything that
an argument may be; and how much all of that may cost.

Runs inside the child. Makes no values and calls nothing.
"""

from __future__ import annotations

import collections
import contextlib
import heapq
import itertools
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from torchlint.verify.attempt import SECONDS, limited
from torchlint.verify.constructions import Construction, Constructions
from torchlint.verify.inputs import Inputs

GUESS_EVERY = 5
"""Of so many inputs one is a first guess, while there are any."""
AT_ONE_PLACE = 16
"""So many inputs made of those that came to one place are tried before others."""
ATTEMPTS, ALL_ATTEMPTS, ALL_SECONDS = 400, 2000, 6.0
"""Calls before what came furthest is constructed otherwise, and before giving that up; or so many seconds."""
SECONDS_EVER = 8.0
"""Of processor time for a whole search, what is tried where no refusal says more included."""
KEPT = 3.0
"""Of them, what is kept for a class that is derived from the one that is searched for, if there is one."""
DEEP_ATTEMPTS = 2500
"""So many calls, where no refusal says more."""
DEEP, DEEP_SECONDS = 3, 4.0
"""In so many ways something is constructed once more, to be called with all that arguments may be; seconds in all."""
LEAST = 0.1
"""An attempt may take so many seconds, if it is made."""
LARGE = 4096
"""Tensors of more elements cost time."""
ALIKE = 2
"""So many inputs that were refused at one place with the same words are changed further."""

Way = tuple[int, int, int]
"""
How far a function came: to which of its lines, how many calls into torch came back, and which argument was refused.
"""
Menu = Callable[[Inputs, Sequence[str], str], Iterator[Inputs]]
"""All that the named arguments may be instead, given what was said of them."""


class Effort:
    """
    How much a search has cost so far.

    Parameters
    ----------
    seconds
        Of processor time that it may take.

    Attributes
    ----------
    attempts
        Calls, which the driver counts.
    """

    def __init__(self, seconds: float = SECONDS_EVER) -> None:
        self.attempts = 0
        self._seconds = seconds
        self._began = time.process_time()

    @property
    def spent(self) -> bool:
        """Whether what a refusal asks for, and other constructions, have had their share."""
        return self.attempts >= ALL_ATTEMPTS or self.left < self._seconds * (1 - ALL_SECONDS / SECONDS_EVER)

    @property
    def half_spent(self) -> bool:
        """Whether guesses of constructions have had theirs."""
        return self.attempts >= ATTEMPTS or self.left < self._seconds * (1 - ALL_SECONDS / SECONDS_EVER / 2)

    @property
    def left(self) -> float:
        """Seconds of processor time, more than none."""
        return max(self._seconds - (time.process_time() - self._began), LEAST)

    @contextlib.contextmanager
    def at_most(self, seconds: float) -> Iterator[Callable[[bool], None]]:
        """
        What runs may take so many seconds of processor time. What is given says whether it costs no more than that: a
        single operation of torch cannot be stopped, and the first touch of a gigabyte can take all that a search has.
        """
        began = time.process_time()

        def no_more(indeed: bool) -> None:
            self._began += max(time.process_time() - began - seconds, 0.0) if indeed else 0.0

        with limited(seconds):
            yield no_more


class Waiting:
    """
    Inputs to try, those first that are made of what came furthest, and of them those first that are made in few steps;
    after a few that come no further the others, and every now and then one of the first guesses.

    Parameters
    ----------
    menu
        All that arguments may be.

    Attributes
    ----------
    best
        How far any of them came.
    deep
        Whether everything is tried.
    """

    def __init__(self, menu: Menu) -> None:
        self.steps: dict[Inputs, int] = {}
        self.order = itertools.count()
        self.heap: list[tuple[Way, int, int, Inputs]] = []
        self.guesses: list[Inputs] = []
        self.added: dict[Way, int] = {}
        self.taken = 0
        self.best: Way = (-1, 0, 0)
        self._refused: list[tuple[Way, int, Inputs, Iterator[Inputs]]] = []
        self._all: collections.deque[tuple[Inputs, Iterator[Inputs]]] = collections.deque()
        self._alike: dict[tuple[Way, str], int] = {}
        self._menu = menu
        self.deep = False
        self._until, self._left = 0.0, 0

    def __bool__(self) -> bool:
        if self.deep and (self._left <= 0 or time.process_time() > self._until):
            return False
        if self.deep and not self.heap and not self.guesses and (varied := self._varied()) is not None:
            heapq.heappush(self.heap, ((0, 0, 0), self.steps[varied], next(self.order), varied))
        return bool(self.heap or self.guesses)

    @property
    def seconds(self) -> float:
        """How long one call may compute."""
        return SECONDS / 4 if self.deep else SECONDS

    def deepen(self, seconds: float) -> None:
        """From now on try all that arguments may be, for so many seconds of processor time."""
        self.deep = True
        self._until, self._left = time.process_time() + seconds, DEEP_ATTEMPTS

    def guess(self, found: Iterable[Inputs]) -> None:
        """Inputs that are made of no others."""
        for each in found:
            if each not in self.steps:
                self.steps[each] = 0
                self.guesses.append(each)

    def add(self, found: Iterable[Inputs], way: Way, origin: Inputs, *, counted: bool = True) -> None:
        """Inputs made of those with which a function came so far; of what is counted only some before others."""
        steps = self.steps[origin] + 1
        for each in found:
            if each in self.steps:
                continue
            self.steps[each] = steps
            self.added[way] = self.added.get(way, 0) + counted
            line, calls, place = way if not counted or self.added[way] <= AT_ONE_PLACE else (0, 0, 0)
            heapq.heappush(self.heap, ((-line, -calls, -place), steps + _bulk(each), next(self.order), each))

    def refused(self, way: Way, message: str, chosen: Inputs, blamed: Sequence[str]) -> None:
        """
        Keep in mind where inputs were refused.

        Parameters
        ----------
        blamed
            The arguments that the refused statement was computed of, the nearest first.
        """
        key = way, re.sub(r"\d+", "", message)
        self._alike[key] = self._alike.get(key, 0) + 1
        self.best = max(self.best, way)
        if self._alike[key] <= ALIKE:
            line, calls, place = way
            varied = self._menu(chosen, blamed, message)
            heapq.heappush(self._refused, ((-line, -calls, -place), next(self.order), chosen, varied))
            self._all.append((chosen, varied))

    def again(self, inputs: Inputs) -> None:
        """The same once more: what kept them from their end is out of the way."""
        heapq.heappush(self.heap, ((-sys.maxsize, 0, 0), 0, next(self.order), inputs))

    def next(self) -> Inputs:
        """The likeliest; where everything is tried, by turns what a refusal asks for and what none does."""
        self.taken += 1
        self._left -= 1
        if self.heap and self.heap[0][0][0] == -sys.maxsize:
            return heapq.heappop(self.heap)[-1]
        varied = self._varied() if self.deep and (self.taken % 2 or not (self.heap or self.guesses)) else None
        if varied is not None:
            return varied
        if self.guesses and (not self.heap or self.taken % GUESS_EVERY == 0):
            return self.guesses.pop(0)
        return heapq.heappop(self.heap)[-1]

    def _varied(self) -> Inputs | None:
        """One of all that can be made of the inputs that came furthest; every other time, of any that were refused."""
        if self.taken % 4 == 1:
            while self._all:
                chosen, varied = self._all.popleft()
                for each in varied:
                    if each not in self.steps:
                        self.steps[each] = self.steps.get(chosen, 0) + 1
                        self._all.append((chosen, varied))
                        return each
        while self._refused:
            way, _, chosen, varied = self._refused[0]
            for each in varied:
                if each not in self.steps:
                    self.steps[each] = self.steps.get(chosen, 0) + 1
                    heapq.heapreplace(self._refused, (way, next(self.order), chosen, varied))
                    return each
            heapq.heappop(self._refused)
        return None


def _bulk(inputs: Inputs) -> int:
    """How many steps later large tensors are tried."""
    largest = max((math.prod(shape) for shape in (inputs.shape, *(shape for _, shape in inputs.shapes))), default=0)
    return 0 if largest <= LARGE else math.ceil(math.log2(largest / LARGE))


def ways(constructions: Constructions, menu: Menu, effort: Effort) -> Iterator[tuple[Construction, Waiting]]:
    """Ways to construct something; then those that came furthest once more, with all that arguments may be."""
    tried: list[tuple[Construction, Waiting]] = []
    for construction in constructions:
        waiting = Waiting(menu)
        yield construction, waiting
        tried.append((construction, waiting))
        constructions.enough = effort.half_spent
        if effort.spent:
            break
    furthest = sorted(tried, key=lambda each: each[1].best, reverse=True)[:DEEP]
    seconds = min(DEEP_SECONDS, effort.left)
    for construction, waiting in furthest:
        if waiting.best >= (0, 0, 0):
            waiting.deepen(seconds / len(furthest))
            yield construction, waiting
