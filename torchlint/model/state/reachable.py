"""
What code that is given some values can get at: the objects and Modules in them, and an unknown one of them.

Reads values; changes and runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from torchlint.model.state.values import (
    MOST_DEEP,
    MOST_DEPENDS,
    Bound,
    Class,
    Constant,
    External,
    Instance,
    Module,
    Partial,
    Scalar,
    Tensor,
    Unknown,
    Value,
    parts,
    reachable_tensors,
    within,
)
from torchlint.syntax import ir


def some_of(values: list[Value], source: ir.Node | None = None) -> Unknown:
    """One of some values, or a part of one: nobody knows which."""
    held = Unknown([tensor for value in values for tensor in reachable_tensors(value)], source=source)
    held.may_be = objects_among(values)
    return held


OF_TENSORS = "torch.Tensor"
"""Whose methods are those of all tensors."""
SHARED: Final = frozenset({OF_TENSORS, "torch.nn.Module", "torch.nn.functional"})
"""Of torch, what holds the functions that all programs run."""
_LEADING_NOWHERE: Final = frozenset({Tensor, Constant, Scalar})
_OBJECTS: Final = frozenset({Module, Instance, Class})


def objects_among(values: Iterable[Value]) -> tuple[Value, ...]:
    """
    The objects and Modules that code which is given some values can get at, and what these may be that it made; among
    them what of torch everybody shares.
    """
    found: dict[int, Value] = {}
    for value in values:
        if type(value) in _LEADING_NOWHERE or (type(value) is Unknown and not _leads_to(value)):
            continue
        if type(value) is External and value.qualified not in SHARED:
            continue
        for each in within(value, _leads_to, MOST_DEEP):
            if type(each) in _OBJECTS or (type(each) is External and each.qualified in SHARED):
                found[id(each)] = each
    return tuple(found.values())[:MOST_DEPENDS]


def whole_of(value: Value) -> Value | None:
    """What a value is a part of, nobody knows which: what a layer that is composed has under a name is a layer, too."""
    if isinstance(value, Unknown):
        return value.part_of
    layer = value.receiver if type(value) is Bound and value.function is None else None
    return layer if isinstance(layer, Module) else None


def _leads_to(value: Value) -> list[Value]:
    if type(value) is Unknown:
        whole = value.part_of  # `net._modules`: what is written there is in the Module
        return [*value.may_be, whole] if isinstance(whole, (Module, Instance, Class)) else [*value.may_be]
    if type(value) is Bound:
        return [value.receiver]
    if type(value) is Partial:
        return [value.function, *value.given, *value.named.values()]
    return parts(value)
