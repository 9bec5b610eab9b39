"""
Whether what is known of one Module holds for another: which of a list of Modules stands for all of them.

Reads what they hold; builds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from itertools import chain

from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.events import Shape
from torchlint.model.state.values import (
    MOST_PARTS,
    Constant,
    External,
    Instance,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
)

MOST_MODELS = 8
"""Layers of a list that are asked whether what is known of them holds for all."""


def one_for_all(layers: Many[Value]) -> Module | Instance | None:
    """
    The Module that stands for all of a list, if there is one: the first of which no more is known than holds for all.
    """
    for each in layers[:MOST_MODELS]:
        if isinstance(each, (Module, Instance)) and all(_holds_for(each, one, {}) for one in layers):
            return each
    return None


def one_more(known: Module | Instance | None, layers: Many[Value]) -> Module | Instance | None:
    """`one_for_all`, where `known` stands for all but the last."""
    if len(layers) == 1:
        return one_for_all(layers)
    if known is None:
        return None
    return known if _holds_for(known, layers[-1], {}) else one_for_all(layers)


def _holds_for(first: Value, other: Value, seen: dict[int, Value]) -> bool:
    """Whether what is known of one value holds for another; of what holds others of all that it holds, too."""
    if first is other or seen.get(id(first)) is other:
        return True
    if type(first) is not type(other) or id(first) in seen or len(seen) > MOST_PARTS:
        return False
    if isinstance(first, (Constant, Scalar, External)):
        return first == other
    seen[id(first)] = other
    if isinstance(first, Module) and isinstance(other, Module):
        return _layer_holds_for(first, other, seen)
    if isinstance(first, Instance) and isinstance(other, Instance):
        return _object_holds_for(first, other, seen)
    if isinstance(first, Tensor) and isinstance(other, Tensor):
        return _is_weaker(_facts(first), _facts(other)) and not (first.grad_fn or other.grad_fn)
    if isinstance(first, Sequence) and isinstance(other, Sequence):
        known = first.items is not None and other.items is not None and first.kind == other.kind
        return known and first.longest == other.longest and _each_holds(first.items or (), other.items or (), seen)
    return type(first) is Unknown and type(other) is Unknown and _is_nothing_known(first, other)


def _is_nothing_known(first: Unknown, other: Unknown) -> bool:
    """Of a value that a constructor was given, or has computed from that."""
    return not (first.tensor or first.guess or first.one_of or other.tensor or other.guess or other.one_of) and (
        (first.layer, first.made_by, first.hint, first.foreign, first.keeps_flags, first.may_be)
        == (other.layer, other.made_by, other.hint, other.foreign, other.keeps_flags, other.may_be)
    )


def _each_holds(first: Many[Value], other: Many[Value], seen: dict[int, Value]) -> bool:
    return len(first) == len(other) and all(_holds_for(one, two, seen) for one, two in zip(first, other, strict=True))


def _object_holds_for(first: Instance, other: Instance, seen: dict[int, Value]) -> bool:
    if first.cls is not other.cls or first.attributes.keys() != other.attributes.keys():
        return False
    marks = [(each.exact, each.havocked, each.patched, each.initialised) for each in (first, other)]
    of_others = chain(first.given, other.given, first.named_elsewhere, other.named_elsewhere)
    if marks[0] != marks[1] or first.contents is not None or other.contents is not None or any(of_others):
        return False
    if (first.layer is None) != (other.layer is None):
        return False
    if first.layer is not None and other.layer is not None and not _holds_for(first.layer, other.layer, seen):
        return False
    return all(_holds_for(value, other.attributes[name], seen) for name, value in first.attributes.items())


def _layer_holds_for(first: Module, other: Module, seen: dict[int, Value]) -> bool:
    if first.kind is not other.kind or first.training is not other.training or first.names != other.names:
        return False
    if any(held is not shapes.UNKNOWN and held != other.config.get(name) for name, held in first.config.items()):
        return False
    if not first.kind.container:
        known, others = _known(first), _known(other)
        return known.keys() == others.keys() and all(_is_weaker(known[name], others[name]) for name in known)
    inner, theirs = first.children, other.children
    if first.kind.container not in ("sequential", "list") or inner is None or theirs is None:
        return False
    return _each_holds(inner, theirs, seen)


def _is_weaker(one: tuple[Shape, object], other: tuple[Shape, object]) -> bool:
    (shape, facts), (others, theirs) = one, other
    if facts != theirs or shape is None or others is None:
        return facts == theirs and shape is None
    return len(shape) == len(others) and all(mine in (None, its) for mine, its in zip(shape, others, strict=True))


def _facts(tensor: Tensor) -> tuple[Shape, object]:
    return tensor.shape, (tensor.own, tensor.is_parameter)


def _known(layer: Module) -> dict[str, tuple[Shape, object]]:
    """What is known of the parameters of a layer."""
    return {name: _facts(each) for name, each in layer.parameters.items() if isinstance(each, Tensor)}
