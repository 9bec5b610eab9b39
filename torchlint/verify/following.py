"""
The inputs that follow from those which were refused, and the order in which they are tried.

Runs inside the child. Calls nothing: the driver does, and says how far it came.
"""

from __future__ import annotations

import heapq
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from torch import nn

from torchlint.verify import mutations, refusals, wished
from torchlint.verify.bare import SHAPE, made_of
from torchlint.verify.constructions import Construction
from torchlint.verify.documented import Example
from torchlint.verify.inputs import OF_INSTANCE, Inputs, first_inputs, use_for
from torchlint.verify.repairs import repaired
from torchlint.verify.shown import as_documented, as_shown

_ATTEMPTS, _ALL_ATTEMPTS, _SECONDS = 400, 2000, 6.0
"""Calls before what came furthest is changed step by step, and before giving up; or so much time of the processor."""
_GUESS_EVERY = 5
"""Of so many inputs one is a first guess, while there are any."""
_AT_ONE_PLACE = 16
"""So many inputs made of those that came to one place are tried before others."""
Way = tuple[int, int, int]
"""
How far a function came: to which of its lines, how many calls into torch came back, and which argument was refused.
"""


class Effort:
    """How much a search has cost so far."""

    def __init__(self) -> None:
        self.attempts = 0
        self.began = time.process_time()

    def spent(self) -> bool:
        """Whether it is given up; else one more attempt is made."""
        self.attempts += 1
        return self.attempts > _ALL_ATTEMPTS or self._seconds() > _SECONDS

    def half_spent(self) -> bool:
        """Whether guesses have had their share."""
        return self.attempts >= _ATTEMPTS or self._seconds() > _SECONDS / 2

    def _seconds(self) -> float:
        return time.process_time() - self.began


def first(
    function: Callable[..., Any],
    built: Any,
    module: nn.Module | None,
    examples: Sequence[Example],
    construction: Construction,
) -> list[Inputs]:
    """The inputs that are tried first: as the project shows them, as it documents them, then by what is read."""
    found = first_inputs(function, module)
    return [
        *as_shown(function, found[0], examples, construction),
        *as_documented(function, built, found[0]),
        *found,
    ]


def asked(
    error: Exception, chosen: Inputs, given: Mapping[str, Any], function: Callable[..., Any], built: Any
) -> Iterator[Inputs]:
    """
    Inputs that a refusal of some asks for: those of which it is said which, then guesses.

    Parameters
    ----------
    given
        What was made of the chosen ones.
    function
        What was called; of a Module its `forward`.
    built
        The instance that it was called of; None of a plain function.
    """
    held = {} if built is None else made_of(built)
    made = {**{f"{OF_INSTANCE}{name}": getattr(built, name, None) for name in held}, **given}
    chosen = chosen.with_attributes(held, SHAPE) if held else chosen
    for wishes in (refusals.at_a_layer(error, made), refusals.wishes(error, made)):
        yield from wished.inputs(chosen, wishes, lambda name: use_for(function, name))
    yield from mutations.keyword(chosen, function, error)
    shapes = {name: tuple(each.shape) for name, each in refusals.tensors_of(made).items()}
    yield from repaired(chosen, str(error), refusals.spoken_of(error, made), shapes)


def unasked(error: Exception, chosen: Inputs, given: Mapping[str, Any]) -> list[Inputs]:
    """Inputs of which no refusal speaks, for when all of which one does are tried."""
    shapes = {name: tuple(each.shape) for name, each in refusals.tensors_of(given).items()}
    return list(mutations.inputs(chosen, refusals.spoken_of(error, given), shapes))


class Waiting:
    """
    Inputs to try, those first that are made of what came furthest, and of them those first that are made in few steps;
    after a few that come no further the others, and every now and then one of the first guesses.
    """

    def __init__(self) -> None:
        self.steps: dict[Inputs, int] = {}
        self.order = itertools.count()
        self.heap: list[tuple[Way, int, int, Inputs]] = []
        self.guesses: list[Inputs] = []
        self.added: dict[Way, int] = {}
        self.taken = 0

    def __bool__(self) -> bool:
        return bool(self.heap or self.guesses)

    def guess(self, found: Iterable[Inputs]) -> None:
        """Inputs that are made of no others."""
        for each in found:
            if each not in self.steps:
                self.steps[each] = 0
                self.guesses.append(each)

    def add(self, found: Iterable[Inputs], way: Way, origin: Inputs) -> None:
        """Inputs made of those with which a function came so far."""
        steps = self.steps[origin] + 1
        for each in found:
            if each in self.steps:
                continue
            self.steps[each] = steps
            self.added[way] = self.added.get(way, 0) + 1
            line, calls, place = way if self.added[way] <= _AT_ONE_PLACE else (0, 0, 0)
            heapq.heappush(self.heap, ((-line, -calls, -place), steps, next(self.order), each))

    def again(self, inputs: Inputs) -> None:
        """The same once more: what kept them from their end is out of the way."""
        heapq.heappush(self.heap, ((-sys.maxsize, 0, 0), 0, next(self.order), inputs))

    def next(self) -> Inputs:
        """The likeliest."""
        self.taken += 1
        if self.guesses and (not self.heap or self.taken % _GUESS_EVERY == 0):
            return self.guesses.pop(0)
        return heapq.heappop(self.heap)[-1]
