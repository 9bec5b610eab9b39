"""
All that an argument of a constructor may be, or an entry of the settings it is given, where no refusal says what it
would have to be and nothing beside it came further.

Runs inside the child. Makes values, constructs nothing of the program; the driver does, and says how far it came.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from torchlint.verify import kinds, values, wished
from torchlint.verify.anything import AnyTensor
from torchlint.verify.inputs import SIZE
from torchlint.verify.shapes import Shape
from torchlint.verify.typed import Nothing

DEEPEST = 4
"""Settings are searched so deep."""
ENTRIES = 6
"""So many entries of settings are changed that no refused statement names: those that were read last."""


def _same_one(value: Any) -> Callable[[], Any]:
    return lambda: value


def _floats(shape: Shape) -> Callable[[], Any]:
    return lambda: torch.rand(shape) * 0.8 + 0.1


def _integers(shape: Shape) -> Callable[[], Any]:
    return lambda: torch.arange(shape[-1]).expand(shape)


def _array(shape: Shape) -> Callable[[], Any]:
    return lambda: torch.rand(shape).numpy()


_COURSES: tuple[tuple[Callable[[], Any], ...], ...] = (
    tuple(_same_one(value) for value in (SIZE, 1, 2, 0.5, 0, 3, 4, 16, 64, 32, 0.0, 1.0, -1)),
    tuple(_same_one(word) for word in ("relu", "abcdefghijklmnopqrstuvwxyz", "mean", "first", "cpu", "")),
    (
        lambda: nn.Linear(SIZE, SIZE),
        lambda: nn.Conv2d(SIZE, SIZE, 3, padding=1),
        lambda: values.AnyModule(),
        lambda: nn.Sequential(nn.Linear(SIZE, SIZE), nn.ReLU()),
        lambda: nn.Embedding(values.VOCABULARY, SIZE),
        lambda: nn.LSTM(SIZE, SIZE, batch_first=True),
        lambda: nn.ModuleList([nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)]),
    ),
    (
        lambda: [SIZE, SIZE],
        lambda: (3, 3),
        lambda: [SIZE, SIZE, SIZE],
        list,
        lambda: list(values.WORDS),
        lambda: [0.5, 0.5],
        lambda: [[SIZE, SIZE], [SIZE, SIZE]],
        lambda: [(SIZE, 3, 1), (SIZE, 3, 1)],
        lambda: [nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)],
        lambda: [torch.rand(2, SIZE), torch.rand(2, SIZE)],
        lambda: [0, 1],
        lambda: [SIZE] * 4,
        lambda: [values.Config(SIZE), values.Config(SIZE)],
    ),
    tuple(
        _floats(shape)
        for shape in ((2, SIZE), (SIZE,), (SIZE, SIZE), (), (1,), (2, 3, 16, 16), (3, 3), (4, 4), (2, 5, SIZE))
    ),
    (
        dict,
        lambda: {"first": SIZE, "second": SIZE},
        lambda: values.Settings(SIZE),
        lambda: values.Config(SIZE),
        lambda: {"first": torch.rand(2, SIZE), "second": torch.rand(2, SIZE)},
        lambda: {"first": values.Config(SIZE), "second": values.Config(SIZE)},
        lambda: {0: SIZE, 1: SIZE},
    ),
    (lambda: None, lambda: True, lambda: False),
    (lambda: nn.ReLU, lambda: torch.relu, lambda: values.AnyModule, lambda: nn.LayerNorm, lambda: values.criterion),
    tuple(_integers(shape) for shape in ((SIZE,), (2,), (2, SIZE))),
    (lambda: AnyTensor(SIZE), lambda: torch.float32, lambda: torch.device("cpu")),
    tuple(_array(shape) for shape in ((SIZE,), (SIZE, SIZE), (3, 3), (2, SIZE))),
    (lambda: torch.ones(SIZE, dtype=torch.bool), lambda: torch.ones(2, SIZE, dtype=torch.bool)),
)
"""What may be tried, by turns."""
_ALL = tuple(each for several in itertools.zip_longest(*_COURSES) for each in several if each is not None)


def others(known: Mapping[str, Any], blamed: Sequence[str]) -> Iterator[dict[str, Any]]:
    """
    Arguments of a constructor, in each of which one is something else, or an entry of one.

    Parameters
    ----------
    known
        All of them, defaults included.
    blamed
        The names that the refused statement was computed of, the nearest first.
    """
    entries = [place for place in _entries(known) if place[1]]
    named = [(name, path) for word in blamed for name, path in entries if path.rpartition(".")[2] == word]
    named += [(name, "") for name in blamed if name in known]
    late = [place for place in reversed(entries) if place not in named][:ENTRIES]
    rest = [*late, *((name, "") for name in known if (name, "") not in named)]
    for places in (dict.fromkeys(named), dict.fromkeys(rest)):
        for make in _ALL:
            for name, path in places:
                value = make()
                changed = wished.changed(known[name], path, value) if path else value
                if not (path and changed is Nothing) and not _same(known[name], changed):
                    yield {**known, name: changed}


def _same(old: Any, new: Any) -> bool:
    plain = isinstance(old, (int, float, str, type(None)))
    return plain and type(old) is type(new) and old == new


def _entries(known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What made-up settings among arguments hold, as far as it was read, by the keys that lead there."""
    for name, made in known.items():
        yield from ((name, path) for path in _inside(made, DEEPEST))


def _inside(made: Any, depth: int) -> Iterator[str]:
    for key, each in kinds.settings(made).items() if depth else ():
        if isinstance(key, str) and not key.startswith("_"):
            yield key
            yield from (f"{key}.{path}" for path in _inside(each, depth - 1))


class Widening:
    """
    What came furthest with one argument changed in every way; what comes further by that is changed in its turn, and
    what it was made of every other time.
    """

    def __init__(self) -> None:
        self._left: list[Iterator[dict[str, Any]]] = []
        self._best: tuple[int, ...] = ()
        self._taken = 0

    def came(self, way: tuple[int, ...], known: Mapping[str, Any], blamed: Sequence[str]) -> None:
        """Something came so far with such arguments."""
        if not self._left or way > self._best:
            self._best = way
            self._left.append(others(dict(known), blamed))

    def next(self) -> dict[str, Any] | None:
        """The next to be tried; None if there is nothing left."""
        while self._left:
            self._taken += 1
            place = -1 if self._taken % 2 else self._taken // 2 % len(self._left)
            found = next(self._left[place], None)
            if found is not None:
                return found
            del self._left[place]
        return None
