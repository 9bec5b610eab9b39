"""
Arguments as a refusal asked for them: other inputs for a function, other arguments for a constructor.

Runs inside the child. Takes the wishes of `refusals`; guesses nothing else.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from torchlint.verify import typed, values
from torchlint.verify.anything import Anything
from torchlint.verify.inputs import SIZE, Inputs, constructor_arguments, parameters
from torchlint.verify.kinds import Wish
from torchlint.verify.repairs import with_use
from torchlint.verify.shapes import LARGEST as MOST
from torchlint.verify.shapes import of_rank
from torchlint.verify.typed import Nothing
from torchlint.verify.usage import Use

LARGEST = 4096
"""No tensor gets a larger dimension."""

MANY = 64
"""No list has more elements."""
_KINDS: tuple[tuple[type[Any], str], ...] = (
    (bool, "flag"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (dict, "dict"),
    (list, "tensors"),
    (tuple, "batch"),
    (nn.Module, "module"),
    (torch.optim.Optimizer, "optimizer"),
    (torch.Tensor, "tensor"),
)


def given(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments, and the defaults of those that are not given; of a Module, those of its `forward`."""
    return {p.name: p.default for p in parameters(function) if p.default is not p.empty} | dict(arguments)


def inputs(known: Inputs, wishes: Sequence[Wish], use_of: Callable[[str], Use]) -> Iterator[Inputs]:
    """
    Inputs in which all of several wishes are granted, and in which one is, for each.

    Parameters
    ----------
    use_of
        Of an argument that had its default, None, what it is otherwise.
    """
    together = known
    for wish in wishes if len(wishes) > 1 else ():
        together = next(_granted(together, [wish], use_of), together)
    if together != known:
        yield together
    yield from _granted(known, wishes, use_of)


def _granted(known: Inputs, wishes: Sequence[Wish], use_of: Callable[[str], Use]) -> Iterator[Inputs]:
    own = dict(known.shapes)
    shaped = {*known.names, *known.integers, *(name for name, _ in known.others)}
    for wish in wishes:
        if wish.attribute:
            yield from _in_a_batch(known, wish)
            continue
        shape = own.get(wish.name, known.shape)
        several = dict(known.others).get(wish.name, Use(""))
        if (
            wish.asks == "size"
            and type(wish.value) is int
            and several.kind in ("tensors", "list", "modules", "several")
            and 0 < wish.value <= MANY
        ):
            yield with_use(known, wish.name, replace(several, rank=wish.value))
        if wish.asks in ("rank", "size", "shape"):
            for found in _shapes(shape, wish):
                if math.prod(found) > MOST:
                    continue
                if wish.name in shaped:
                    yield replace(known, shapes=tuple({**own, wish.name: found}.items()))
                if wish.name not in own:
                    yield replace(known, shape=found)
        elif (use := use_of(wish.name) if wish.value is ... else _use(wish)) is not None:
            yield with_use(known, wish.name, use)


def _in_a_batch(known: Inputs, wish: Wish) -> Iterator[Inputs]:
    """The same with another tensor under one key of a dictionary."""
    use = dict(known.others).get(wish.name)
    if use is None or (use.kind != "dict" and (use.kind, use.held) != ("several", "dicts")):
        return
    inside = {key: (shape, kind) for key, shape, kind in use.value or ()}
    shape, kind = inside.get(wish.attribute, (dict(known.shapes).get(wish.name, known.shape), ""))
    found = [(each, kind) for each in _shapes(shape, wish)] if wish.asks in ("rank", "size", "shape") else []
    if wish.asks == "dtype":
        found = [(shape, "tensor" if wish.value.is_floating_point else "all integers")]
    for each in found:
        entries = tuple((key, *held) for key, held in {**inside, wish.attribute: each}.items())
        yield with_use(known, wish.name, replace(use, value=entries))


def _shapes(shape: tuple[int, ...], wish: Wish) -> Iterator[tuple[int, ...]]:
    if wish.asks == "rank":
        yield from of_rank(shape, wish.value) if isinstance(wish.value, int) and wish.value > 0 else ()
    elif wish.asks == "shape":
        yield tuple(wish.value)
    elif isinstance(wish.value, int) and 0 <= wish.value <= LARGEST:
        index = wish.dimension if wish.dimension >= 0 else len(shape) + wish.dimension
        longer = (*shape, *[SIZE] * (index + 1 - len(shape)))
        if index >= 0:
            yield (*longer[:index], wish.value, *longer[index + 1 :])


_OF_SEVERAL = {"anythings": Use("list", held="anything"), "dicts": Use("several", held="dicts")}


def _use(wish: Wish) -> Use | None:
    if wish.asks == "dtype":
        if wish.value is torch.bool:
            return Use("mask")
        if isinstance(wish.value, torch.dtype) and not wish.value.is_floating_point:
            return Use("integers")
        return Use("tensor")
    if wish.asks == "kind":
        return _OF_SEVERAL.get(wish.value, Use(wish.value))
    if wish.asks == "value":
        known = isinstance(wish.value, (int, float, str, tuple, type(None)))
        return Use("value", value=wish.value) if known else None
    if wish.value == "callable":
        return Use("callable")
    if not isinstance(wish.value, type):
        return None
    if issubclass(wish.value, nn.Module) and wish.value is not nn.Module:
        return Use("module", of=wish.value)  # no stand-in is an instance of it
    kind = next((word for known, word in _KINDS if issubclass(wish.value, known)), "")
    if kind:
        return Use(kind)
    if wish.value.__name__ == "ndarray":
        return Use("array")
    return Use("config", of=wish.value) if typed.class_of(wish.value) is not None else None


def arguments(known: Mapping[str, Any], wishes: Sequence[Wish]) -> Iterator[dict[str, Any]]:
    """Arguments of a constructor in which one wish is granted, for each. Of a configuration a copy is changed."""
    for wish in wishes:
        if wish.attribute:
            value = _value(None, wish) if wish.value is not ... else Nothing
            settings = changed(known.get(wish.name), wish.attribute, value)
            if settings is not Nothing:
                yield {**known, wish.name: settings}
            continue
        value = _value(known.get(wish.name), wish)
        if value is not Nothing:
            yield {**known, wish.name: value}


def changed(owner: Any, name: str, value: Any) -> Any:
    """A copy that has that; `Nothing` of what takes none, or is a value of its own."""
    if value is Nothing:
        return value
    first, _, rest = name.partition(".")
    if rest:
        inner = owner.get(first) if isinstance(owner, dict) else getattr(owner, first, None)
        name, value = first, changed(inner, rest, value)
        if value is Nothing:
            return value
    try:
        if isinstance(owner, tuple) and hasattr(owner, "_replace"):
            return owner._replace(**{name: value})
        if dataclasses.is_dataclass(owner) and not isinstance(owner, type):
            return dataclasses.replace(owner, **{name: value})
        copied = copy.copy(owner)
        if isinstance(copied, dict):
            copied[name] = value
        setattr(copied, name, value)
    except Exception:  # a frozen one
        return Nothing
    return copied


def _value(have: Any, wish: Wish) -> Any:
    """What a constructor gets for a wish."""
    if wish.asks == "value":
        return Anything(SIZE) if wish.value is ... else wish.value
    if (
        wish.asks == "size"
        and type(wish.value) is int
        and isinstance(have, (list, tuple))
        and have
        and 0 < wish.value <= LARGEST
    ):
        return type(have)(have[index % len(have)] for index in range(wish.value))
    if wish.asks in ("rank", "size", "shape") and isinstance(have, torch.Tensor):
        return next((torch.rand(shape) for shape in _shapes(tuple(have.shape), wish)), Nothing)
    if wish.asks not in ("type", "kind"):
        return Nothing
    use = _use(wish)
    if use is None:
        return Nothing
    if use.of is not None:
        make = typed.made if use.kind == "module" else typed.of
        return make(use.of, lambda kind, depth: constructor_arguments(kind, SIZE, depth=depth))
    if wish.asks == "type" and use.kind in ("tensors", "batch"):
        return [SIZE, SIZE] if use.kind == "tensors" else (SIZE, SIZE)
    return values.make(wish.attribute or wish.name, use, (SIZE,), SIZE, False, computes=False)
