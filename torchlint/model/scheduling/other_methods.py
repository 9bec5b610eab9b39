"""
What an object may hold when one of its methods is called: other methods may have run since its constructor.

A switch, a counter, a cache that is None until it is filled: what the constructor has set and another method sets
again, or whoever holds the object, need not be as the constructor left it. A layer or a parameter that another method
replaces is taken to be replaced by one of its kind, but for what only keeps the place (`nn.Sequential()`). Reads the
names that are assigned; runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Set

from torchlint.model.python.flags import changes_flags, unsettle
from torchlint.model.python.making import inherits_known
from torchlint.model.python.module_parts import keeps_place, parameters_of
from torchlint.model.python.run import Run
from torchlint.model.python.switches import is_switch
from torchlint.model.scheduling.other_flags import is_self, leave_flags_open
from torchlint.model.state.another import or_another
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    GRAD_NO,
    Choice,
    Constant,
    Function,
    Instance,
    Mapping,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unbound,
    Unknown,
    Value,
    alternatives,
    is_foreign,
)
from torchlint.syntax import ir
from torchlint.syntax.reading import written
from torchlint.syntax.unread import may_name


def as_others_leave_it(
    run: Run, method: Function, instance: Instance, constructing: Set[int], *, defaults: bool = False
) -> None:
    """
    Make unknown what other methods of an object's class set. Not what a method sets that the constructor runs
    (`constructing`), nor one that this method may run itself: the first call of it finds what the constructor left.
    With `defaults` nobody has set anything else, but for what the constructor need not have set.
    """
    of_state = _may_be_missing if defaults else _is_state
    state = {name for name, value in instance.attributes.items() if of_state(value)}
    if defaults and not state:
        return
    own = written(method.definition).words if isinstance(method.definition, ir.FunctionDef) else set()
    seen: set[str] = set()
    for cls in instance.cls.ancestry():
        for name, other in cls.attributes.items():
            if type(other) is not Function or name in own or name in seen:
                continue
            definition = other.definition
            if not isinstance(definition, ir.FunctionDef):
                continue
            seen.add(name)
            if other is method or id(definition) in constructing:
                continue
            if state and may_name(definition, state):  # else another file's need not be read for it
                _leave_open(run, instance, state, written(definition).assigned.keys())
            if not defaults and changes_flags(run, other):
                leave_flags_open(run, instance, definition)
        replaced = {name for name, value in cls.attributes.items() if isinstance(value, Unknown)} - own - {"__init__"}
        for statement in cls.definition.body if replaced else ():  # what has a method's name now may call the method
            if isinstance(statement, ir.FunctionDef) and statement.name in replaced:
                _leave_open(run, instance, state, written(statement).assigned.keys())
    turned = any(id(each.definition) in run.turned for each in instance.cls.ancestry())
    if turned or _has_method_of_elsewhere(instance):  # which turns what is on or off, or builds a network
        held = {name: [each for _, each in alternatives(instance.attributes[name])] for name in state}
        may_turn = is_switch if turned else _is_flag
        built = {name for name, options in held.items() if any(isinstance(each, Module) for each in options)}
        _leave_open(run, instance, state, built)
        _leave_open(run, instance, state, {name for name, options in held.items() if any(map(may_turn, options))})
    if state:
        _leave_open(run, instance, state, _set_outside(run))
        handed = {name for name in state if _is_handed_out(run, instance.attributes[name], name)}
        _leave_open(run, instance, state, handed)
    for cls in run.classes if state else ():
        if cls is not instance.cls and instance.cls in cls.ancestry():
            for statement in cls.definition.body:  # the object may be one of a class that derives from it
                if isinstance(statement, ir.FunctionDef):
                    _leave_open(run, instance, state, written(statement).assigned.keys())
    given_away = any(id(each.definition) in run.given_away for each in instance.cls.ancestry())
    for name in state if given_away else state & run.given_tensors:
        unsettle(run, instance.attributes[name])
    for parameter in parameters_of(instance)[0] if given_away else ():
        if parameter.own == GRAD_NO:  # who is given a Module may thaw it; few freeze what is there to be trained
            unsettle(run, parameter)


def _has_method_of_elsewhere(instance: Instance) -> bool:
    """Whether a class inherits a method that nobody knows, or has got one."""
    held = (value for cls in instance.cls.ancestry() for value in cls.attributes.values())
    return not inherits_known(instance.cls) or any(isinstance(each, Unknown) and not is_foreign(each) for each in held)


def _leave_open(run: Run, instance: Instance, state: set[str], assigned: Set[str]) -> None:
    """What others assign is not known."""
    for attribute in state & assigned:
        run.machine.trail.set(instance.attributes, attribute, _or_another(instance.attributes[attribute]))
        state.discard(attribute)


def _is_handed_out(run: Run, value: Value, name: str) -> bool:
    """Whether the file hands on as a whole what another object than `self` holds in a list or a dictionary."""
    if not any(isinstance(each, (Sequence, Mapping)) for _, each in alternatives(value)):
        return False
    # neither a part of it, nor what a method of it gives, nor what is put in its place
    return re.search(rf"\.(?<=\w\.)(?<!\bself\.){name}\b(?!\s*[\[.(=])", run.machine.program.text) is not None


def _set_outside(run: Run) -> frozenset[str]:
    """
    The attributes that the file sets on something else than `self`, or fills what they hold: `probe.live = True`,
    `probe.kept.append(x)`.
    """
    if run.set_outside is None:
        targets: list[ir.Expression] = []
        names: set[str] = set()
        program = run.machine.program
        for statement in ir.everything(program.body):
            if type(statement) is ir.Assign:
                targets += statement.targets
            elif type(statement) is ir.AugmentedAssign or type(statement) is ir.For:
                targets.append(statement.target)
        text = program.text
        asked = not text or "setattr" in text or _FILLS_OTHERS.search(text)
        for node in ir.walk(_naming(program.body, _SETTING) if asked else []):
            if type(node) is not ir.Call:
                continue
            function = node.function
            held = function.value if isinstance(function, ir.Attribute) and function.attr in _FILLING else None
            if isinstance(held, ir.Attribute) and not is_self(held.value):
                names.add(held.attr)
            if isinstance(function, ir.Name) and function.id == "setattr":
                given = [each.value for each in node.arguments]
                if len(given) == 3 and isinstance(given[1], ir.Constant) and not is_self(given[0]):
                    names.add(str(given[1].value))
        while targets:
            target = targets.pop()
            if isinstance(target, ir.Sequence):
                targets += target.elements
            elif isinstance(target, ir.Subscript):
                targets.append(target.value)
            elif isinstance(target, ir.Attribute) and not is_self(target.value):
                names.add(target.attr)
        run.set_outside = frozenset(names)
    return run.set_outside


_FILLING = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
_SETTING = _FILLING | {"setattr"}
_FILLS_OTHERS = re.compile(rf"\.(?<=\w\.)(?<!\bself\.)\w+\.(?:{'|'.join(sorted(_FILLING))})\(")
"""Begins with the dot, for which `re` looks much faster than for a word that may begin anywhere."""


def _naming(body: list[ir.Statement], names: frozenset[str]) -> list[ir.Statement]:
    """The statements of a file, and of its classes, but for the functions in which none of some names stands."""
    found: list[ir.Statement] = []
    for each in body:
        if isinstance(each, ir.ClassDef):
            found += _naming(each.body, names)
        elif not isinstance(each, ir.FunctionDef) or not names.isdisjoint(written(each).words):
            found.append(each)
    return found


def _is_flag(value: Value) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, bool)


def _is_state(value: Value) -> bool:
    """Whether it is what a program keeps in an attribute for a while, and no part of what the object is."""
    if isinstance(value, Tensor):
        return value.is_parameter is Truth.NO
    if isinstance(value, Module):
        return keeps_place(value)
    return isinstance(value, (Constant, Sequence, Mapping)) or _may_be_missing(value)


def _may_be_missing(value: Value) -> bool:
    return type(value) is Choice and any(type(each) is Unbound for _, each in value.alternatives)


def _or_another(value: Value) -> Value:
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return Scalar("bool")
    return or_another(value)
