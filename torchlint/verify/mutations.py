"""
Other arguments than those that came furthest, one changed at a time, where no refusal says what is wanted.

Runs inside the child. Knows kinds of values and what stands beside them; a refusal is read elsewhere, and the driver
keeps what comes further.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from torchlint.verify import typed, values
from torchlint.verify.anything import Anything
from torchlint.verify.inputs import SIZE, Inputs, constructor_arguments, parameters, uses_of_class
from torchlint.verify.repairs import with_use
from torchlint.verify.shapes import of_rank
from torchlint.verify.usage import Use

LARGE = 512
"""A default from here on is tried as a small one."""
_SIZES = (64, 2, 1, 16, 4, 32, 3, 0)
_TOGETHER = (64, 32, 16)
"""Sizes that all get which had the usual one: what is computed of them has to stay whole."""
_KINDS = (
    *(Use("tensor"), Use("integers"), Use("mask"), Use("tensors"), Use("integer"), Use("value", value=None)),
    *(Use("value", value=((4, 4), (4, 4))), Use("value", value=(4, 4)), Use("dict"), Use("batch"), Use("anything")),
)
_DEEPEST = 5


def arguments(target: type[Any], known: Mapping[str, Any], named: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """
    Arguments of a constructor, one changed.

    Parameters
    ----------
    named
        Those that the refused statement names: they are changed first.
    """
    sizes = [name for name, value in known.items() if type(value) is int and value == SIZE]
    if len(sizes) > 1:
        yield from ({**known, **dict.fromkeys(sizes, size)} for size in _TOGETHER)
    given = {p.name: p.default for p in parameters_of(target) if p.default is not p.empty} | dict(known)
    ways = {name: _others(target, name, value) for name, value in given.items()}
    for name in (name for name in named if name in ways):
        yield from ({**known, name: value} for value in ways.pop(name))
    left = list(ways.items())
    while left:  # the likeliest of each before the second of one
        following = []
        for name, several in left:
            value = next(several, typed.Nothing)
            if value is not typed.Nothing:
                yield {**known, name: value}
                following.append((name, several))
        left = following


def parameters_of(target: type[Any]) -> list[inspect.Parameter]:
    """What a constructor takes by name."""
    try:
        found = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def _others(target: type[Any], name: str, value: Any) -> Iterator[Any]:
    """What may stand in the place of one value."""
    if isinstance(value, bool):
        yield not value
    elif type(value) in (int, Anything):
        yield from (SIZE,) if value >= LARGE else ()
        yield from (size for size in _SIZES if size != value)
        yield from ([value, value], [(value, value), (value, value)], values.AnyModule())
    elif isinstance(value, float):
        yield from (each for each in (0.5, 1.0, 0.0, 2) if each != value)
    elif isinstance(value, str):
        known = uses_of_class(target).get(name)  # type: ignore[arg-type]  # a class is hashable
        yield from (word for word in (known.choices if known is not None else ()) if word != value)
    elif isinstance(value, (list, tuple)):
        yield from _lists(value)
    elif isinstance(value, type):
        built = typed.made(value, _built)
        yield from (built,) if built is not typed.Nothing else ()
    elif isinstance(value, nn.Module):
        yield from (2, nn.ReLU, [values.AnyModule(), values.AnyModule()], Anything(SIZE))
    elif isinstance(value, torch.Tensor):
        yield from (torch.rand(shape) for shape in ((SIZE, SIZE), (2, SIZE), (SIZE,), (1,)) if shape != value.shape)
    elif value is None:
        made = constructor_arguments(target, SIZE, by_use=True, all_of_them=True)
        yield from (made[name],) if made.get(name) is not None else ()
    elif type(value).__name__ == "ndarray":
        shapes = ((SIZE, SIZE), (SIZE, 2), (3, 3), (2, SIZE, SIZE))
        yield from (torch.rand(shape).numpy() for shape in shapes)
    elif isinstance(value, values.Space):
        yield from (values.Space((4, 64, 64)), values.Space((3,)))
    elif isinstance(value, values.Config):
        yield from (values.Settings(SIZE), SIZE)


def _built(kind: type[Any], depth: int) -> Mapping[str, Any]:
    return constructor_arguments(kind, SIZE, depth=depth)


def _lists(value: Sequence[Any]) -> Iterator[Any]:
    """Of another length, or of what holds more."""
    make: Callable[[Any], Any] = tuple if isinstance(value, tuple) else list
    if value:
        yield from (make([value[-1]] * length) for length in (3, 4, 1) if length != len(value))
    if value and all(type(each) in (int, Anything) for each in value):
        pairs = [(SIZE, SIZE)] * 2
        yield from (make(pairs), make([(SIZE, 3, 1)] * 2), make([[each] for each in value]), int(value[0]))
        yield [values.AnyModule(), values.AnyModule()]


def inputs(known: Inputs, named: Sequence[str], shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Inputs]:
    """
    Inputs of which one is of another kind, rank or size.

    Parameters
    ----------
    named
        Those that the refused statement names: they are changed first.
    shapes
        Those that tensors had.
    """
    every = [name for name in known.parameters if "/" not in name]
    order = [*(name for name in named if name in every), *(name for name in every if name not in named)]
    own = dict(known.shapes)
    integers = set(known.integers)
    plain = {*known.names, *integers}
    tensors = [name for name in order if name in shapes]
    for name in tensors:
        shape = shapes[name]
        beside = [each for other, each in shapes.items() if other != name and each != shape]
        ranks = [each for rank in range(1, _DEEPEST + 1) if rank != len(shape) for each in of_rank(shape, rank)[:1]]
        for each in dict.fromkeys([*beside, *ranks, *((*shape[:i], 1, *shape[i + 1 :]) for i in range(len(shape)))]):
            if each != own.get(name, known.shape):
                yield replace(known, shapes=tuple({**own, name: each}.items()))
    yield from _in_dictionaries(known, named, shapes)
    for name in order:
        for use in _KINDS:
            same = (
                (use.kind == "integers") == (name in integers) and name in plain and use.kind in ("tensor", "integers")
            )
            if not same:
                yield with_use(known, name, use)


def _in_dictionaries(known: Inputs, named: Sequence[str], shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Inputs]:
    """The same for what dictionaries hold, as `name/key`."""
    others = dict(known.others)
    full = [name for name in shapes if "/" in name]
    for each in (*(name for name in named if name in full), *(name for name in full if name not in named)):
        name, _, key = each.partition("/")
        use = others.get(name)
        if use is None or use.kind != "dict":
            continue
        inside = {k: (shape, kind) for k, shape, kind in use.value or ()}
        kind = inside.get(key, ((), ""))[1]
        ranks = [
            found
            for rank in range(1, _DEEPEST)
            if rank != len(shapes[each])
            for found in of_rank(shapes[each], rank)[:1]
        ]
        entries = [*((shape, kind) for shape in ranks), (shapes[each], "all integers"), (shapes[each], "tensor")]
        for entry in entries:
            changed = tuple((k, *held) for k, held in {**inside, key: entry}.items())
            yield with_use(known, name, replace(use, value=changed))


def keyword(known: Inputs, function: Callable[..., Any], error: Exception) -> Iterator[Inputs]:
    """Of a function that takes any keywords, and asked for one that was not given: with that."""
    key = error.args[0] if isinstance(error, KeyError) and error.args else ""
    takes = any(p.kind is p.VAR_KEYWORD for p in parameters(function))
    if takes and isinstance(key, str) and key.isidentifier() and key not in known.parameters:
        yield replace(known, names=(*known.names, key), shape=known.shape or (2, SIZE))


def with_key(known: Inputs, given: Mapping[str, Any], error: Exception) -> Iterator[Inputs]:
    """Of an argument that is a plain dictionary, and has not what it is asked for: with that key."""
    key = error.args[0] if isinstance(error, KeyError) and error.args else None
    for name, use in known.others if isinstance(key, str) else ():
        if use.kind == "table" and key not in given.get(name, {}):
            yield with_use(known, name, replace(use, value=(*(use.value or ()), key)))
