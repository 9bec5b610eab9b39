"""
Sizes that follow from how the numbers of a refusal change with one: of two calls that were refused at one place with
the same words, and between which one size is another, the third with which two of the numbers are the same.

Runs inside the child. Knows shapes and numbers of messages; makes no tensor and calls nothing. What a program computes
of a size is nearly always linear in it, and nobody has to know how.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from torchlint.verify.inputs import Inputs
from torchlint.verify.shapes import LARGEST as MOST
from torchlint.verify.shapes import Shape

LARGEST = 4096
"""No dimension gets larger."""
NUMBERS = 12
"""Messages of more numbers are not looked at."""
KEPT = 6
"""Of one place so many earlier refusals are compared with a new one."""
PROBES = 6
"""So many sizes are doubled where a refusal comes for the first time."""
_DIVIDED = re.compile(r"(?i)divi[ds]|chunks|multiple")
_Sizes = dict[tuple[str, int], int]
_Numbers = tuple[int, ...]


class Measured:
    """The refusals of one Module, or function, as it was constructed once."""

    def __init__(self) -> None:
        self._seen: dict[str, list[tuple[_Sizes, _Numbers]]] = {}

    def inputs(
        self, line: int, message: str, known: Inputs, shapes: Mapping[str, Shape]
    ) -> tuple[list[Inputs], list[Inputs]]:
        """
        Inputs with other sizes than those that were refused: those that earlier refusals tell, and those that are tried
        to learn how the numbers change.

        Parameters
        ----------
        line
            Where it was refused.
        shapes
            Those that tensors had, the likeliest to be at fault first.
        """
        numbers = _numbers(message)
        own = {name: shape for name, shape in shapes.items() if "/" not in name}
        if not 2 <= len(numbers) <= NUMBERS or not own:
            return [], []
        place = f"{line} {re.sub(r'[0-9]+', '', message)}"
        sizes = {(name, index): size for name, shape in own.items() for index, size in enumerate(shape)}
        before = self._seen.setdefault(place, [])
        divided = _DIVIDED.search(message) is not None
        solved = [one for each in reversed(before) for one in _solved(each, (sizes, numbers), divided=divided)]
        probes = [] if before else _doubled(own)
        before.append((sizes, numbers))
        del before[:-KEPT]
        return _of_sizes(known, own, solved), _of_sizes(known, own, probes)


def _numbers(message: str) -> _Numbers:
    """The numbers of a message, and the products of those that stand in brackets."""
    found = [int(each) for each in re.findall(r"\d+", message)]
    groups = [re.findall(r"\d+", each) for each in re.findall(r"[\[(]([\d, x]+)[\])]", message)]
    return (*found, *(math.prod(map(int, each)) for each in groups if len(each) > 1))


def _solved(before: tuple[_Sizes, _Numbers], now: tuple[_Sizes, _Numbers], *, divided: bool) -> Iterator[_Sizes]:
    """For which size two of the numbers are the same, or one is a multiple of another, as far as both are linear."""
    (old_sizes, old), (new_sizes, new) = before, now
    if old_sizes.keys() != new_sizes.keys() or len(old) != len(new):
        return
    changed = [key for key, size in new_sizes.items() if size != old_sizes[key]]
    if not changed or len({(old_sizes[key], new_sizes[key]) for key in changed}) != 1:
        return
    start, end = old_sizes[changed[0]], new_sizes[changed[0]]
    wanted: dict[int, None] = {}
    for i, j in itertools.combinations(range(len(new)), 2):
        difference, slope = new[i] - new[j], Fraction((new[i] - new[j]) - (old[i] - old[j]), end - start)
        if slope and difference:
            wanted |= dict.fromkeys(_whole(end - difference / slope))
        if divided:
            wanted |= dict.fromkeys(_multiples((old[i], new[i]), (old[j], new[j]), (start, end)))
            wanted |= dict.fromkeys(_multiples((old[j], new[j]), (old[i], new[i]), (start, end)))
    yield from (dict.fromkeys(changed, size) for size in wanted if size not in (start, end))


def _whole(size: Fraction) -> Sequence[int]:
    near = {math.floor(size), math.ceil(size)}
    return [each for each in sorted(near) if 0 < each <= LARGEST]


def _multiples(number: tuple[int, int], of: tuple[int, int], size: tuple[int, int]) -> Iterator[int]:
    """The sizes for which a number is a multiple of another, which does not change with it."""
    if of[0] != of[1] or of[0] < 2 or number[0] == number[1]:
        return
    slope = Fraction(number[1] - number[0], size[1] - size[0])
    times = number[1] // of[0]
    for each in (times + 1, times):
        yield from _whole(size[1] + (each * of[0] - number[1]) / slope) if each > 0 else ()


def _doubled(shapes: Mapping[str, Shape]) -> list[_Sizes]:
    """Each size twice as large, those that are the same in one tensor, or in all, together."""
    found: list[_Sizes] = []
    for name, shape in shapes.items():
        for index, size in reversed(list(enumerate(shape))):
            alike = [(name, i) for i, each in enumerate(shape) if each == size and i > 0]
            found += [dict.fromkeys(alike, 2 * size)] if len(alike) > 1 and (name, index) in alike else []
            found.append({(name, index): 2 * size})
    if len(shapes) > 1:
        sizes = dict.fromkeys(size for shape in shapes.values() for size in shape)
        for size in sizes:
            every = [(name, i) for name, shape in shapes.items() for i, each in enumerate(shape) if each == size]
            found.insert(0, dict.fromkeys(every, 2 * size))
    return [each for index, each in enumerate(found) if each not in found[:index]][:PROBES]


def _of_sizes(known: Inputs, shapes: Mapping[str, Shape], several: Sequence[_Sizes]) -> list[Inputs]:
    found = []
    for sizes in several:
        changed = {
            name: tuple(sizes.get((name, index), size) for index, size in enumerate(shape))
            for name, shape in shapes.items()
            if any(key[0] == name for key in sizes)
        }
        if all(math.prod(shape) <= MOST for shape in changed.values()):
            found.append(replace(known, shapes=tuple({**dict(known.shapes), **changed}.items())))
    return found
