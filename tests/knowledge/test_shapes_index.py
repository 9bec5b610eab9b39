"""
Indexing against running torch: shapes, and whether the result is a view.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
import torch

from torchlint.knowledge.shapes import infer as shapes
from torchlint.knowledge.shapes.infer import INTEGER, UNKNOWN, Shape, Sized

BASE = torch.arange(3 * 4 * 5 * 2.0).reshape(3, 4, 5, 2)

INDICES: list[Any] = [
    0,
    -1,
    ...,
    None,
    (),
    slice(None),
    slice(1, None),
    slice(None, -1),
    slice(0, 10, 2),
    slice(2, 1),
    (0, 0),
    (0, 0, 0, 0),
    (slice(None), 0),
    (slice(None), slice(1, 3)),
    (..., 0),
    (0, ...),
    (0, ..., 0),
    (None, 0),
    (slice(None), None),
    (..., None),
    (0, None, ..., None),
    True,
    False,
    (slice(None), True),
    [0, 1],
    [0],
    [],
    [True, False, True],
    range(2),
    (0, [0, 1]),
    ([0, 1], 0),
    (slice(None), [0, 1], 0),
    ([0, 1], slice(None), [0, 1]),
    ([0, 1], [0, 1]),
    ([0, 1], None, [0, 1]),
    (slice(None), [0, 1], [1, 2]),
    (0, slice(None), [0, 1]),
    ([0, 1], ..., [0, 1]),
    ([[0], [1]], [0, 1]),
    torch.tensor(1),
    torch.tensor([0, 2]),
    torch.tensor([[0, 2], [1, 1]]),
    torch.tensor([True, False, True]),
    torch.ones(3, 4, dtype=torch.bool),
    torch.tensor(True),
    (torch.tensor(1), torch.tensor(2)),
    (torch.tensor(1), [0, 1]),
    (slice(None), torch.tensor([0, 2])),
    (torch.tensor([0, 2]), torch.tensor([[1], [2]])),
    (torch.ones(3, 4, dtype=torch.bool), 0),
    (slice(None), torch.ones(4, 5, dtype=torch.bool)),
    (torch.tensor([0]), slice(None), torch.ones(5, dtype=torch.bool)),
]


def described(index: Any) -> Any:
    """A live index as the shape knowledge takes it."""
    if isinstance(index, torch.Tensor):
        return Sized(tuple(index.shape), "bool" if index.dtype == torch.bool else "int")
    if type(index) is tuple:
        return tuple(described(item) for item in index)
    return index


def fits(shape: Shape, true: tuple[int, ...]) -> bool:
    return shape is None or (
        len(shape) == len(true) and all(h is None or h == t for h, t in zip(shape, true, strict=True))
    )


def taken(base: torch.Tensor, index: Any) -> torch.Tensor | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return base[index]
    except (IndexError, ValueError, RuntimeError, TypeError):
        return None


def masked(index: Any) -> bool:
    items = index if type(index) is tuple else (index,)
    return any(isinstance(item, torch.Tensor) and item.dtype == torch.bool for item in items)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_known_index(index: Any) -> None:
    true = taken(BASE, index)
    if true is None:
        pytest.fail("torch refuses this index")
    shape, memory = shapes.getitem(tuple(BASE.shape), described(index))
    assert memory == ("view" if true._is_view() else "copy")
    assert fits(shape, tuple(true.shape))
    if not masked(index):
        assert shape == tuple(true.shape)
    else:
        assert shape is not None


def random_item(chance: random.Random, size: int) -> Any:
    return chance.choice(
        [
            chance.randrange(-size, size),
            slice(chance.choice([None, 0, 1, -2]), chance.choice([None, size, 1, -1, 99]), chance.choice([None, 1, 2])),
            None,
            ...,
            slice(None),
            [0, size - 1],
            torch.tensor([0, size - 1]),
            torch.tensor(0),
            torch.tensor([[0], [size - 1]]),
            torch.rand(size) > 0.5,
            True,
        ]
    )


def forgotten(index: Any, chance: random.Random) -> Any:
    """The described index with something of it unknown."""
    if type(index) is tuple and index:
        at = chance.randrange(len(index))
        return (*index[:at], forgotten(index[at], chance), *index[at + 1 :])
    if isinstance(index, slice):
        return slice(chance.choice([index.start, UNKNOWN]), chance.choice([index.stop, INTEGER]), index.step)
    if isinstance(index, Sized):
        return chance.choice([Sized(None, index.dtype), Sized(index.shape), Sized(None), UNKNOWN])
    if isinstance(index, list):
        return chance.choice([[INTEGER] * len(index), [UNKNOWN] * len(index), Sized((len(index),)), UNKNOWN])
    return INTEGER if type(index) is int and chance.random() < 0.7 else UNKNOWN


@pytest.mark.parametrize("seed", range(300))
def test_random_index_and_what_is_known_of_it(seed: int) -> None:
    chance = random.Random(seed)
    torch.manual_seed(seed)
    base = torch.rand([chance.choice([1, 2, 3, 4]) for _ in range(chance.randrange(1, 5))])
    for _ in range(20):
        index: Any = tuple(
            random_item(chance, base.shape[min(at, base.dim() - 1)]) for at in range(chance.randrange(1, 5))
        )
        if len(index) == 1 and chance.random() < 0.5:
            index = index[0]
        true = taken(base, index)
        if true is None:
            continue
        told = described(index)
        shape, memory = shapes.getitem(tuple(base.shape), told)
        assert memory == ("view" if true._is_view() else "copy")
        assert fits(shape, tuple(true.shape))
        if type(index) is not tuple or sum(item is ... for item in index) < 2:  # torch bears two; nobody means that
            assert shape is not None, (tuple(base.shape), told, tuple(true.shape))
        less = forgotten(told, chance)
        known = chance.choice(
            [None, tuple(base.shape), tuple(size if chance.random() < 0.5 else None for size in base.shape)]
        )
        shape, memory = shapes.getitem(known, less)
        assert memory in ("unknown", "view" if true._is_view() else "copy"), (index, less)
        assert fits(shape, tuple(true.shape)), (index, less, known)


@pytest.mark.parametrize(
    ("shape", "index", "expected"),
    [
        ((None, 3), INTEGER, ((3,), "view")),
        (None, INTEGER, (None, "view")),
        (None, [0, 1], (None, "copy")),
        (None, slice(None), (None, "view")),
        ((5, 3), slice(UNKNOWN, None), ((None, 3), "view")),
        ((5, 3), (slice(None), INTEGER), ((5,), "view")),
        ((5, 3), UNKNOWN, (None, "unknown")),
        ((5, 3), (UNKNOWN, [0]), (None, "copy")),
        ((5, 3), Sized(None), (None, "unknown")),
        ((5, 3), Sized((), None), (None, "unknown")),
        ((5, 3), Sized((7,), None), (None, "copy")),
        ((5, 3), Sized((7,), "int"), ((7, 3), "copy")),
        ((5, 3), Sized((5,), "bool"), ((None, 3), "copy")),
        ((5, 3), [slice(None), 0], (None, "unknown")),
        ((5, 3), [[0, 1], [1, 2]], (None, "unknown")),
        ((5, 3), (0, 0, 0), (None, "view")),
    ],
)
def test_partial_knowledge(shape: Shape, index: Any, expected: tuple[Shape, str]) -> None:
    assert shapes.getitem(shape, index) == expected


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ([(2, 3), (3,)], (2, 3)),
        ([(2, 1), (1, 3)], (2, 3)),
        ([(), (2,)], (2,)),
        ([(None, 3), (5, 1)], (5, 3)),
        ([(None,), (1,)], (None,)),
        ([(None,), (None,)], (None,)),
        ([(2,), None], None),
        ([(2,), (3,)], None),
        ([], ()),
        ([(0,), (1,)], (0,)),
    ],
)
def test_broadcast(operands: list[Shape], expected: Shape) -> None:
    assert shapes.broadcast(*operands) == expected
    assert shapes.broadcast(*reversed(operands)) == expected


@pytest.mark.parametrize(
    ("shape", "count", "scalar"),
    [
        ((), 1, True),
        ((1, 1), 1, True),
        ((2,), 2, False),
        ((0,), 0, False),
        ((None,), None, None),
        ((None, 2), None, False),
        ((None, 0), 0, False),
        (None, None, None),
    ],
)
def test_numel_and_is_scalar(shape: Shape, count: int | None, scalar: bool | None) -> None:
    assert shapes.numel(shape) == count
    assert shapes.is_scalar(shape) is scalar


CONTIGUITY: list[tuple[str, dict[str, Any]]] = [
    ("transpose", {"dim0": 0, "dim1": 1}),
    ("transpose", {"dim0": -1, "dim1": -2}),
    ("swapaxes", {"axis0": 0, "axis1": 2}),
    ("movedim", {"source": 0, "destination": 2}),
    ("permute", {"dims": (2, 0, 1)}),
    ("permute", {"dims": (0, 1, 2)}),
    ("select", {"dim": 0, "index": 0}),
    ("select", {"dim": 1, "index": 0}),
    ("select", {"dim": 2, "index": 0}),
    ("narrow", {"dim": 0, "start": 0, "length": 1}),
    ("narrow", {"dim": 1, "start": 0, "length": 1}),
    ("unsqueeze", {"dim": 1}),
    ("squeeze", {}),
    ("flatten", {}),
    ("expand", {"size": (2, -1, -1, -1)}),
    ("expand", {"size": (1, -1, -1, -1)}),
    ("expand", {"size": (-1, 3, -1)}),
    ("expand", {"size": (-1, -1, 2)}),
    ("split", {"split_size": 1, "dim": 0}),
    ("split", {"split_size": 1, "dim": 1}),
    ("chunk", {"chunks": 2, "dim": 2}),
    ("unbind", {"dim": 0}),
    ("unbind", {"dim": 1}),
    ("getitem", {"index": 0}),
    ("getitem", {"index": (slice(None), 0)}),
    ("getitem", {"index": slice(1, None)}),
    ("getitem", {"index": slice(None, None, 2)}),
    ("getitem", {"index": (slice(None), slice(0, 1))}),
    ("getitem", {"index": (..., slice(0, 1))}),
    ("getitem", {"index": (0, 0, slice(None, None, 2))}),
    ("getitem", {"index": (None, 0)}),
    ("getitem", {"index": (0, slice(0, 1))}),
    ("getitem", {"index": (slice(0, 1), 0)}),
    ("detach", {}),
    ("mT", {}),
]


def viewed(name: str, base: torch.Tensor, arguments: dict[str, Any]) -> list[torch.Tensor] | None:
    try:
        if name == "getitem":
            result: Any = base[arguments["index"]]
        elif name == "mT":
            result = base.mT
        elif name == "expand":
            result = base.expand(arguments["size"])
        else:
            result = getattr(base, name)(**arguments)
    except (RuntimeError, IndexError):
        return None
    return list(result) if isinstance(result, (tuple, list)) else [result]


@pytest.mark.parametrize(("name", "arguments"), CONTIGUITY, ids=repr)
def test_contiguity_of_views(name: str, arguments: dict[str, Any]) -> None:
    chance = random.Random(repr(arguments))
    decided = 0
    for _ in range(60):
        base = torch.rand([chance.choice([1, 2, 3]) for _ in range(3)])
        results = viewed(name, base, arguments)
        if results is None:
            continue
        told = shapes.contiguous_after(name, {"self": Sized(tuple(base.shape)), **arguments})
        if told is not None:
            decided += 1
            assert all(one.is_contiguous() == told for one in results), (tuple(base.shape), told)
        less = tuple(size if chance.random() < 0.5 else None for size in base.shape)
        told = shapes.contiguous_after(name, {"self": Sized(less), **arguments})
        assert told is None or all(one.is_contiguous() == told for one in results), (less, told)
    assert decided


def test_contiguity_of_what_is_no_view_is_unknown() -> None:
    assert shapes.contiguous_after("relu", {"self": Sized((2, 3))}) is None
    assert shapes.contiguous_after("transpose", {"self": Sized(None), "dim0": 0, "dim1": 1}) is None
    assert shapes.contiguous_after("getitem", {"self": Sized((2, 3)), "index": [0]}) is None
