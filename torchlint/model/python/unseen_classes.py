"""
What nobody knows of a class of the program: a decorator or a base of elsewhere, which may wrap its methods
(`__init_subclass__`, `__getattribute__`) or set its attributes otherwise (`__setattr__`). And of an object alone: its
`__dict__` was given to code that nobody knows, or has got what nobody knows.

Its methods are followed as they are written all the same. What comes after that in the entry point rests on them, so
that none of it is an error (`Event.unseen_class`). Runs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final

from torchlint.knowledge import foreign
from torchlint.model.python.indirection import is_unknown_code, shown
from torchlint.model.python.making import is_module_base, is_plain_base
from torchlint.model.python.variables import NAMESPACES
from torchlint.model.state.held import held_by
from torchlint.model.state.machine import Machine
from torchlint.model.state.reflection import note_unseen_class
from torchlint.model.state.values import (
    MOST_DEEP,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    parts,
    reachable_tensors,
    within,
)
from torchlint.syntax import ir

_LEAVING_AS_WRITTEN: Final = frozenset({"attr", "attrs", "lightning", "pytorch_lightning"}) | sys.stdlib_module_names


def leaves_as_written(value: Value) -> bool:
    """Whether a base or a decorator of a known package leaves the methods of a class as they are written."""
    if not isinstance(value, External):
        return isinstance(value, Class)
    name = value.qualified
    if is_plain_base(value) or is_module_base(value) or name.partition(".")[0] in _LEAVING_AS_WRITTEN:
        return True
    return foreign.keeps_flags(name) or foreign.is_foreign(name)


def unseen_of(cls: Class, decorators: Iterable[ir.Expression]) -> str:
    """What nobody knows of a class, as a message may show it, or ""; `decorators`: those that may change it."""
    for each in decorators:
        return f"@{shown(each)}"
    written = [argument.value for argument in cls.definition.bases if not argument.keyword]
    for base, where in zip(cls.bases, written, strict=False):
        if not leaves_as_written(base):
            return f"{cls.name}({shown(where)})"
    return next((base.unseen for base in cls.bases if isinstance(base, Class) and base.unseen), "")


def note_object(machine: Machine, instance: Instance, values: Iterable[Value]) -> None:
    """An object has been made of some values: what it holds may be another if nobody knows its class."""
    if machine.unseen_class:
        return
    if instance.unseen and (_holds_any(instance) or any(map(_holds, values))):
        note_unseen_class(machine, instance.unseen)
        return
    for each in held_by(instance).modules:
        if isinstance(each, Instance) and each.unseen:
            instance.unseen = instance.unseen or each.unseen
            note_unseen_class(machine, each.unseen)


def note_members(machine: Machine, owner: Value, by: str) -> None:
    """An object has got members, and nobody knows which: that is so on all paths from then on."""
    for _, each in alternatives(owner):
        if isinstance(each, Instance):
            each.unseen = each.unseen or by
            if _holds_any(each):
                note_unseen_class(machine, by)


def note_put(machine: Machine, owner: Value, values: Iterable[Value]) -> None:
    """Values are put into the `__dict__` of an object, under names that nobody knows: functions may be among them."""
    if not any(_is_function_of_elsewhere(each) for value in values for each in within(value, parts, MOST_DEEP)):
        return
    for _, each in alternatives(owner):
        if isinstance(each, Instance):
            note_members(machine, each, f"{each.cls.name}.__dict__")


def _is_function_of_elsewhere(value: Value) -> bool:
    """Whether a value may be a function that nobody knows: what a function of the file is given is a setting."""
    if isinstance(value, Mapping):
        return value.items is None and value.element is None
    given = isinstance(value, Unknown) and (isinstance(value.source, ir.Parameter) or value.made_by in NAMESPACES)
    return is_unknown_code(value) and not given


def note_given_members(machine: Machine, given: Iterable[Value], by: str) -> None:
    """Unknown code is given the dictionary in which an object keeps its members, or what that stands in."""
    for value in given:
        if isinstance(value, (Mapping, Sequence)):
            for each in within(value, parts, MOST_DEEP):
                held = each.element if isinstance(each, Mapping) and each.items is None else None
                if isinstance(held, Unknown) and held.part_of is not None:
                    note_members(machine, held.part_of, by)


def note_attribute(machine: Machine, cls: Class, value: Value) -> None:
    """An attribute is read of a class, or set of an object of it."""
    if cls.unseen and not machine.unseen_class and _holds(value):
        note_unseen_class(machine, cls.unseen)


def note_read(machine: Machine, owner: Class | Instance, value: Value) -> None:
    """
    An attribute is read of a class or of an object of it: a switch, a size or a text may be another, as a class of
    settings has them. A rate may as well, but no proof rests on one.
    """
    if owner.unseen and not machine.unseen_class and (_holds(value) or _decides(value)):
        note_unseen_class(machine, owner.unseen)


def note_method(machine: Machine, function: Function, positional: list[Value]) -> bool:
    """
    A function runs: it may be a method that is another than the one that is written. Whether that is noted for as long
    as it runs alone: of a constructor the object is noted, if it holds tensors.
    """
    if machine.unseen_class:
        return False
    first = positional[0] if positional else None
    by = first.unseen if isinstance(first, Instance) else ""
    by = by or (function.owner.unseen if function.owner is not None else "")
    note_unseen_class(machine, by)
    return by != "" and function.name == "__init__"


def note_decorated(machine: Machine, definition: ir.FunctionDef | ir.Lambda, values: Iterable[Value]) -> None:
    """A function that a decorator of elsewhere has wrapped is called: that is given what the function is."""
    if (
        machine.unseen_class
        or isinstance(definition, ir.Lambda)
        or not any(_holds_any(each) if isinstance(each, Instance) else _holds(each) for each in values)
    ):
        return
    wrapping = (shown(each) for each in definition.decorators)
    by = next((each for each in wrapping if each not in _OF_METHODS), "")
    note_unseen_class(machine, f"@{by}" if by else "")


_OF_METHODS: Final = frozenset({"classmethod", "property", "staticmethod"})


def _decides(value: Value) -> bool:
    return any(isinstance(each, Constant) and not isinstance(each.value, float) for each in (value, *parts(value)))


def _holds_any(instance: Instance) -> bool:
    """Whether an object holds a tensor or a Module, or is a layer of torch."""
    return instance.layer is not None or any(map(_holds, instance.attributes.values()))


def _holds(value: Value) -> bool:
    """Whether a value is a tensor, or leads to one, as a Module and an object may."""
    if any(isinstance(each, (Tensor, Module, Instance)) for each in (value, *parts(value))):
        return True
    return bool(reachable_tensors(value))
