"""
What an object may hold when one of its methods is called: other methods may have run since its constructor.

A switch, a counter, a cache that is None until it is filled: what the constructor has set and another method sets
again need not be as the constructor left it. A layer or a parameter that another method replaces is taken to be
replaced by one of its kind. Reads the names that are assigned; runs nothing.
"""

from __future__ import annotations

from collections.abc import Set

from torchlint.model.python.run import Run
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    Constant,
    Function,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    choose,
    unknown_guard,
)
from torchlint.syntax import ir
from torchlint.syntax.reading import written


def as_others_leave_it(run: Run, method: Function, instance: Instance, constructing: Set[int]) -> None:
    """
    Make unknown what other methods of an object's class set. Not what a method sets that the constructor runs
    (`constructing`), nor one that this method may run itself: the first call of it finds what the constructor left.
    """
    state = {name for name, value in instance.attributes.items() if _is_state(value)}
    if not state:
        return
    own = written(method.definition).words if isinstance(method.definition, ir.FunctionDef) else set()
    seen: set[str] = set()
    for cls in instance.cls.ancestry():
        for name, other in cls.attributes.items():
            if not isinstance(other, Function) or not isinstance(other.definition, ir.FunctionDef) or name in seen:
                continue
            seen.add(name)
            if name in own or other is method or id(other.definition) in constructing:
                continue
            for attribute in state & written(other.definition).assigned.keys():
                old = instance.attributes[attribute]
                run.machine.trail.set(instance.attributes, attribute, _or_another(old))
                state.discard(attribute)


def _is_state(value: Value) -> bool:
    """Whether it is what a program keeps in an attribute for a while, and no part of what the object is."""
    if isinstance(value, Tensor):
        return value.is_parameter is Truth.NO
    return isinstance(value, (Constant, Sequence, Mapping))


def _or_another(value: Value) -> Value:
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return Scalar("bool")
    return choose([(unknown_guard(), value), (unknown_guard(), Unknown())])
