"""
Classes and objects that unknown code gets at by way of something else: a list that holds them, a function that gives
them back, a class that has them as an attribute, an object of theirs, a module of elsewhere that they are put into.

It may put other methods into them, as into what it is given itself (`process.may_patch`). That is rare, so that the
methods are followed as they are written; what comes after that in the entry point is no error (`Event.unseen_class`).
Runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from torchlint.model.python.handed_names import given_back, path_of, paths_in
from torchlint.model.python.indirection import is_unknown_code, shown
from torchlint.model.python.run import Callback, Exposed, Run
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.reflection import note_unseen_class
from torchlint.model.state.values import (
    CONTAINERS,
    HOLDS_NOTHING,
    MOST_DEEP,
    Bound,
    Class,
    External,
    Function,
    Instance,
    Module,
    Optimizer,
    Partial,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    parts,
    within,
)
from torchlint.syntax import ir

_CHANGED: Final = (Class, Instance, Module, Optimizer)
"""What may get other methods."""


def expose_parts(run: Run, owner: Value, site: CallSite) -> None:
    """Unknown code (`owner`, or of that object) is there for what it does: it gets at more than at what it is given."""
    if not _is_of_nobody(owner):
        return
    for value in site.values():
        if type(value) in HOLDS_NOTHING:
            continue
        for _, each in alternatives(value):
            found = [one for one in within(each, _leads_to, MOST_DEEP) if one is not each]
            if isinstance(each, Instance):  # the Modules that it holds are as before
                found = [one for one in found if isinstance(one, Class) or _is_plain(one)]
            _expose(run, found, _by(site))


def expose_kept(run: Run, owner: Value, site: CallSite) -> None:
    """
    `registry.register(Net)`, `elsewhere.known.append(Net)`: whoever is called so keeps a class as it is, as far as
    anybody knows, and may hand it on.
    """
    if _is_of_nobody(owner):
        found = [each for value in site.values() for each in within(value, parts, MOST_DEEP)]
        plain = isinstance(owner, External)  # a list that somebody is given gets objects of all kinds
        _expose(run, [each for each in found if isinstance(each, Class) or (plain and _is_plain(each))], _by(site))


def expose(run: Run, classes: Iterable[Class], site: CallSite) -> None:
    """A call hands classes of the file to unknown code."""
    _expose(run, classes, _by(site))


def expose_put(run: Run, owner: Value, target: ir.Node, value: Value) -> None:
    """`elsewhere.held = Net`, `elsewhere.known[name] = Net`: what elsewhere holds, its code gets at."""
    if _is_of_nobody(owner):
        found = [each for _, each in alternatives(value)]
        layers = not isinstance(owner, Unknown)  # an engine is given its Module so
        kept = [each for each in found if layers or isinstance(each, Class) or _is_plain(each)]
        _expose(run, kept, _target(target))


def note_used(run: Run, value: Value | None, owner: Class | None = None) -> None:
    """A method of an object runs, which may be another one; `owner`: the class that it is written in."""
    used: tuple[Value | None, ...] = (value, owner, *(value.cls.ancestry() if isinstance(value, Instance) else ()))
    for known in run.exposed:
        if any(known.value is each for each in used):
            note_unseen_class(run.machine, known.by)


def _is_plain(value: Value) -> bool:
    return isinstance(value, Instance) and value.layer is None and not value.cls.outside()


def _is_of_nobody(value: Value) -> bool:
    """Whether code is neither of the file nor of a known library."""
    if isinstance(value, Unknown) and (value.keeps_flags or is_foreign(value)):
        return False
    return is_unknown_code(value)


def _target(node: ir.Node) -> str:
    """Where something is put, as a message shows it."""
    if isinstance(node, ir.Subscript):
        return f"{shown(node.value)}[…]"
    return shown(node) if isinstance(node, (ir.Attribute, ir.Call)) else "…"


def _by(site: CallSite) -> str:
    return f"{shown(site.node.function)}(…)"


def _expose(run: Run, values: Iterable[Value], by: str) -> None:
    for each in values:
        if isinstance(each, (Class, Instance, Module)) and each.patched:
            continue  # nobody knows its methods anyway
        if isinstance(each, _CHANGED) and not any(known.value is each for known in run.exposed):
            run.machine.trail.set(run, "exposed", (*run.exposed, Exposed(each, by)))


def _leads_to(value: Value) -> Iterable[Value]:
    """What code that has a value gets at."""
    if type(value) in CONTAINERS:
        return parts(value)
    if isinstance(value, Class):
        return [*value.ancestry()[1:], *filter(_is_held, value.attributes.values())]
    if isinstance(value, Instance):
        of_classes = [each for cls in value.cls.ancestry() for each in cls.attributes.values()]
        return [each for each in (*value.attributes.values(), *of_classes) if _is_held(each)]
    if isinstance(value, Partial):
        return [value.function, *value.given, *value.named.values()]
    if isinstance(value, Function):
        return _given_by(Callback(value, None))
    if isinstance(value, Bound):
        callback = Callback.of(value)
        return [value.receiver, *(_given_by(callback) if callback is not None else ())]
    return []


def _is_held(value: Value) -> bool:
    return isinstance(value, _CHANGED) or type(value) in CONTAINERS


def _given_by(callback: Callback) -> Iterator[Value]:
    """What a function gives whoever calls it, of what is not its own; of a call in it what makes the object."""
    definition = callback.function.definition
    own = {each.name for each in definition.parameters}
    if isinstance(definition, ir.FunctionDef):
        own |= definition.assigned
    if callback.receiver is not None:
        own -= {each.name for each in definition.parameters[:1]}
    nodes = list(ir.walk(definition.body))
    for path in [path for given in given_back(definition.body, nodes) for path in _paths(given, nodes)]:
        found = callback.lookup(path[0]) if path[0] not in own else None
        if found is not None and (len(path) == 1 or _has_method(found, path[1])):
            yield found


def _has_method(value: Value, name: str) -> bool:
    return isinstance(value, Instance) and isinstance(value.cls.inherited(name), Function)


def _paths(given: ir.Expression, nodes: list[ir.Node]) -> Iterator[tuple[str, ...]]:
    """What a function gives, or what makes it, in what it gives or in what that is a name of."""
    pending = [given]
    if isinstance(given, ir.Name):
        pending += [
            node.value
            for node in nodes
            if isinstance(node, ir.Assign) and isinstance(node.value, ir.Call) and _binds(node, given.id)
        ]
    while pending:
        each = pending.pop()
        if isinstance(each, ir.Dict):
            pending += each.values
        elif isinstance(each, ir.Call):
            yield from filter(None, [path_of(each.function)])
        else:
            yield from paths_in(each)


def _binds(node: ir.Assign, name: str) -> bool:
    return any(isinstance(each, ir.Name) and each.id == name for each in node.targets)
