"""
Whether one layer, or object that a class of the file makes, can stand for all of a list: of which no more is known.

Compares what is held; makes and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import Final

from torchlint.knowledge.shapes import domain as shapes
from torchlint.model.events import Shape
from torchlint.model.state.values import (
    Choice,
    Constant,
    External,
    Instance,
    Mapping,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
)

_MOST_MODELS = 8
"""Layers of a list that are tried as the one that stands for all."""
_MOST_DEEP = 8
"""Objects inside each other that are compared; deeper ones are not alike."""
_PLAIN: Final = (Constant, Scalar, External)


def one_for_all(layers: Many[Value]) -> Module | Instance | None:
    """
    The one that stands for all of a list, if there is one: of it no more is known than holds for all.
    """
    for each in layers[:_MOST_MODELS]:
        if isinstance(each, (Module, Instance)) and all(_holds_for(each, one, 0) for one in layers):
            return each
    return None


def one_more(known: Module | Instance | None, layers: Many[Value]) -> Module | Instance | None:
    """`one_for_all`, where `known` stands for all but the last."""
    if len(layers) == 1:
        return one_for_all(layers)
    if known is None:
        return None
    return known if _holds_for(known, layers[-1], 0) else one_for_all(layers)


def _holds_for(first: Value, other: Value, depth: int) -> bool:
    """Whether what is known of one value holds for another."""
    if first is other:
        return True
    if type(first) is not type(other) or depth > _MOST_DEEP:
        return False
    match first, other:
        case Module(), Module():
            return _layer_holds(first, other, depth)
        case Instance(), Instance():
            return _object_holds(first, other, depth)
        case Tensor(), Tensor():
            return _is_weaker(_facts(first), _facts(other)) and not (first.grad_fn or other.grad_fn)
        case Unknown(), Unknown():
            return _says_nothing(first) and _says_nothing(other)
        case Sequence(), Sequence():
            alike = (first.kind, first.longest) == (other.kind, other.longest)
            return alike and _all_hold(first.items, other.items, depth)
        case Mapping(), Mapping():
            if first.items is None or other.items is None or list(first.items) != list(other.items):
                return False
            return _all_hold(tuple(first.items.values()), tuple(other.items.values()), depth)
        case Choice(), Choice():
            (guards, mine), (others, theirs) = (
                zip(*first.alternatives, strict=True),
                zip(*other.alternatives, strict=True),
            )
            return guards == others and _all_hold(mine, theirs, depth)
    return isinstance(first, _PLAIN) and first == other


def _all_hold(first: tuple[Value, ...] | None, other: tuple[Value, ...] | None, depth: int) -> bool:
    if first is None or other is None or len(first) != len(other):
        return False
    return all(_holds_for(one, two, depth + 1) for one, two in zip(first, other, strict=True))


def _layer_holds(first: Module, other: Module, depth: int) -> bool:
    """What is known of one layer holds for another; of two containers of all that they hold, too."""
    if first.kind is not other.kind or first.training is not other.training:
        return False
    if any(held is not shapes.UNKNOWN and held != other.config.get(name) for name, held in first.config.items()):
        return False
    if not first.kind.container:
        known, others = _parameters(first), _parameters(other)
        return known.keys() == others.keys() and all(_is_weaker(known[name], others[name]) for name in known)
    return first.names == other.names and _all_hold(first.children, other.children, depth)


def _object_holds(first: Instance, other: Instance, depth: int) -> bool:
    """The one class has made both, and nobody has put something into either that is not seen."""
    if first.cls is not other.cls or (first.exact, first.initialised) != (other.exact, other.initialised):
        return False
    for each in (first, other):
        if each.patched or each.havocked or each.given or each.named_elsewhere or each.contents is not None:
            return False
    if (first.layer is None) != (other.layer is None):
        return False
    if first.layer is not None and other.layer is not None and not _layer_holds(first.layer, other.layer, depth + 1):
        return False
    for name, held in first.attributes.items():
        theirs = other.attributes.get(name)
        if not (_says_nothing(held) if theirs is None else _holds_for(held, theirs, depth + 1)):
            return False
    return all(_says_nothing(held) for name, held in other.attributes.items() if name not in first.attributes)


def _says_nothing(value: Value) -> bool:
    """Whether nothing is known of a value: what has only been looked up is such a one, too."""
    return type(value) is Unknown and value.tensor is None and not (value.depends or value.possible or value.may_be)


def _is_weaker(one: tuple[Shape, object], other: tuple[Shape, object]) -> bool:
    (shape, facts), (others, theirs) = one, other
    if facts != theirs or shape is None or others is None:
        return facts == theirs and shape is None
    return len(shape) == len(others) and all(mine in (None, its) for mine, its in zip(shape, others, strict=True))


def _parameters(layer: Module) -> dict[str, tuple[Shape, object]]:
    """What is known of the parameters of a layer."""
    return {name: _facts(each) for name, each in layer.parameters.items() if isinstance(each, Tensor)}


def _facts(tensor: Tensor) -> tuple[Shape, object]:
    return tensor.shape, (tensor.own, tensor.is_parameter)
