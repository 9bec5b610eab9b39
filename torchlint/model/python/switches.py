"""
What objects and classes remember of their state, on or off: unknown code that is there for what it does may turn that.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.python.run import Run
from torchlint.model.state.another import or_another
from torchlint.model.state.values import (
    CONTAINERS,
    MOST_PARTS,
    Choice,
    Class,
    Constant,
    Instance,
    Value,
    parts,
)

HOLDING: Final = CONTAINERS | {Instance, Class}
"""What may lead to such an object."""


def turn(run: Run, value: Value) -> None:
    """
    What objects and classes remember of their state (True, False, None) may be another: code that is there for what it
    does may turn that, as it does not turn sizes.
    """
    seen: set[int] = set()
    pending: list[Value] = [value]
    while pending and len(seen) < MOST_PARTS:  # as `explore`, but for values that hold nothing: most of them
        each = pending.pop()
        number = id(each)
        if number in seen:
            continue
        seen.add(number)
        inner: list[Value]
        if type(each) is Instance:
            run.turned.add(id(each.cls.definition))
            inner = [one for one in each.attributes.values() if type(one) is Instance or type(one) is Choice]
            _turn_held(run, each)
        elif type(each) is Class:
            run.turned.add(id(each.definition))
            inner = []
            _turn_held(run, each)
        else:
            inner = [one for one in parts(each) if type(one) in HOLDING]
        pending += inner[::-1]


def _turn_held(run: Run, owner: Instance | Class) -> None:
    held: list[Value] = []
    if isinstance(owner, Instance):  # asked of the same object again and again
        held += owner.attributes.values()
        for cls in owner.cls.ancestry():
            held += cls.attributes.values()
        if held == owner.turned:
            return
    changed = False
    for name, old in held_of(owner, _MAY_SWITCH):
        for option in parts(old) if type(old) is Choice else (old,):
            if is_switch(option):
                if (turned := or_another(old)) is not old:
                    run.machine.trail.set(owner.attributes, name, turned)
                    changed = True
                break
    if isinstance(owner, Instance) and not changed:
        owner.turned = held


_MAY_SWITCH: frozenset[type] = frozenset({Choice, Constant})
"""What is a switch, or may be one of several."""


def is_switch(value: Value) -> bool:
    """Whether a value is one that a program turns: True, False, None."""
    return type(value) is Constant and (value.value is None or value.value is True or value.value is False)


def held_of(owner: Instance | Class, kinds: frozenset[type]) -> list[tuple[str, Value]]:
    """The attributes of an object, or a class, whose values are of these kinds; those of an object's classes, too."""
    if isinstance(owner, Class):
        return [(name, each) for name, each in owner.attributes.items() if type(each) in kinds]
    own = owner.attributes
    found: dict[str, Value] = {}
    for cls in reversed(owner.cls.ancestry()):
        for name in [name for name in found if name in cls.attributes]:
            del found[name]  # a class nearer has something else by that name
        found.update([(name, each) for name, each in cls.attributes.items() if type(each) in kinds and name not in own])
    return [*found.items(), *[(name, each) for name, each in own.items() if type(each) in kinds]]
