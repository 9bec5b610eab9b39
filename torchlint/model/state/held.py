"""
What an object holds, sorted by what it is: asked of the same objects again and again, it is kept as long as the same
values stand in their attributes.

Reads values; changes none.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    Choice,
    Constant,
    External,
    Function,
    Instance,
    Module,
    Scalar,
    Tensor,
    Unbound,
    Unknown,
    Value,
    parts,
)

LEADING_NOWHERE: Final = frozenset({Constant, External, Scalar, Function})
"""What no tensor, object or Module is in."""


class Held:
    """
    What stands in the attributes of an object, and, of one of several values, what these are.

    Attributes
    ----------
    values
        As they stand there.
    parameters, modules, tensors
        What is certainly one of them; the last with the parameters.
    unknown
        What nobody knows.
    leading
        What leads to something else, nobody has looked what: neither tensors nor what is unknown and made of nothing.
    """

    __slots__ = ("leading", "modules", "parameters", "tensors", "unknown", "values")

    def __init__(self, values: list[Value]) -> None:
        self.values = values
        self.parameters: list[Tensor] = []
        self.modules: list[Value] = []
        self.tensors: list[Tensor] = []
        self.unknown: list[Unknown] = []
        self.leading: list[Value] = []
        for option in values:
            if type(option) not in LEADING_NOWHERE:  # few
                for each in parts(option) if type(option) is Choice else (option,):
                    self._add(each)

    def _add(self, value: Value) -> None:
        kind = type(value)
        if type(value) is Tensor:
            self.tensors.append(value)
            if value.is_parameter is Truth.YES:
                self.parameters.append(value)
        elif type(value) is Unknown or type(value) is Unbound:
            self.unknown.append(value)
            if value.depends or value.possible or value.part_of is not None or value.may_be:
                self.leading.append(value)
        elif kind not in LEADING_NOWHERE:
            self.leading.append(value)
            if kind is Instance or kind is Module:
                self.modules.append(value)


def held_by(instance: Instance) -> Held:
    """What stands in the attributes of an object now."""
    values = [*instance.attributes.values()]
    known = instance.held
    if known is None or known.values != values:
        known = instance.held = Held(values)
    return known


def may_be_module(value: Unknown) -> bool:
    """Whether a value that nobody knows may be a Module: what registers its own is one."""
    return (value.layer or value.tensor is None) and not value.foreign
