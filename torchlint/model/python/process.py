"""
What unknown code may have done to what is nobody's own: the grad mode, the methods of classes and objects.

A program that sets the grad mode by a call, and not for a block, leaves it to whoever comes next: code that is there
for what it does may set it again. Code that is given a class or an object for what it does may put other methods into
it (`patch(model)`), and into torch what it is given by name (`mocker.patch("torch.Tensor.detach")`), unless its name
says that it only looks or collects.

Runs nothing.
"""

from __future__ import annotations

from typing import Final, TypeGuard

from torchlint.knowledge import foreign
from torchlint.model.python.exposure import expose_kept, expose_parts
from torchlint.model.python.flags import KEEPING_FLAGS, for_effect, text_is_run
from torchlint.model.python.members import (
    lose_children,
    patch,
    patch_in_sight,
    patch_what_it_may_be,
    replace_of_torch,
    set_some_attribute,
)
from torchlint.model.python.run import Run
from torchlint.model.python.texts import OF_TEXT
from torchlint.model.python.variables import NAMESPACES, canonical
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.reachable import SHARED, objects_among
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    HOLDS_NOTHING,
    MOST_DEEP,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Partial,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    parts,
    within,
)
from torchlint.model.torch.functions import NAMES_OF_SETTERS, set_grad_mode
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_COLLECTING: Final = frozenset({"register", "register_module", "isinstance", "issubclass"})
"""And whoever is called so keeps a class as it is."""
_CHANGING: Final = frozenset(
    """
    add_module append apply extend insert pop register_forward_hook register_forward_pre_hook register_module
    set_submodule __setitem__ __delitem__ __setattr__ update
    """.split()  # noqa: SIM905
)
"""Methods that a Module and its registries have, after which it computes otherwise."""
_PATCHING: Final = ("unittest.mock.", "mock.")
_PUTTING: Final = frozenset({"setattr"})


def may_change_mode(run: Run, callee: Value, called: str, site: CallSite) -> None:
    """Unknown code ran: the grad mode may be another one."""
    machine = run.machine
    torch = torch_among(run, site.values())  # mostly None
    of_torch = (
        called in NAMES_OF_SETTERS
        or _held_name(callee, site) in NAMES_OF_SETTERS
        or (is_of_torch(callee) and _may_be_flag(site))
    )
    of_torch = of_torch or (torch is not None and for_effect(run, site.node))
    if torch is not None and isinstance(callee, Unknown) and External("torch") in site.values():
        of_torch = of_torch or not foreign.only_reads(called)  # `f(methodcaller(name, False)(torch))`
    if isinstance(callee, Unknown) and callee.made_by == OF_TEXT and machine.grad_mode is Truth.NO:
        of_torch = of_torch or _may_be_flag(site) or _is_for_effect(run, site)  # `eval(text)(True)`
    if machine.grad_mode is not Truth.YES and _is_made(callee, site) and for_effect(run, site.node):
        note_reflection(machine, f"{_shown(site.node.function)}(…)")  # what sets the mode may be what was made
    # inside of a `with` that leaves the mode as it finds it, too: what is set there lasts
    set_by_call = machine.ambient is Truth.NO and machine.grad_mode is not Truth.YES
    if of_torch or (set_by_call and _may_do_anything(run, callee, called, site)):
        set_grad_mode(run.torch, Truth.MAYBE)


def _held_name(callee: Value, site: CallSite) -> str:
    """The name of what is called through something else that holds it: `partial(it.set_grad_enabled, True)()`."""
    if isinstance(callee, External) and not isinstance(site.node.function, (ir.Attribute, ir.Name)):
        return callee.qualified.rpartition(".")[2]
    source = callee.source if isinstance(callee, Unknown) else None
    if isinstance(source, ir.Call):  # `methodcaller("set_grad_enabled", False)(*found)`
        named = [each.value.value for each in source.arguments if isinstance(each.value, ir.Constant)]
        return next((each for each in named if isinstance(each, str) and each in NAMES_OF_SETTERS), "")
    return source.attr if isinstance(source, ir.Attribute) and source is not site.node.function else ""


def _shown(callee: ir.Expression) -> str:
    """A callee as a message names it: `next(…)` of `next(found)`."""
    if isinstance(callee, ir.Call):
        return f"{_shown(callee.function)}(…)"
    return f"{_shown(callee.value)}[…]" if isinstance(callee, ir.Subscript) else dotted(callee) or "…"


def _is_made(callee: Value, site: CallSite) -> bool:
    """
    Whether what is called is what unknown code has made or picked: `next(found)(True)`, `eval(text)()`; or a method of
    that, called through something else that holds it, so that its name is not that of the call.
    """
    if not isinstance(callee, Unknown) or is_foreign(callee):
        return False
    source = callee.source
    while isinstance(source, ir.Attribute) and _held_name(callee, site):
        source = source.value
    return isinstance(source, (ir.Call, ir.Subscript))


def may_patch(run: Run, callee: Value, called: str, site: CallSite, receiver: Value | None = None) -> None:
    """Unknown code was given classes and objects of the file for what it does: their methods may be others."""
    patching = patches(callee, called)
    if called in _PUTTING or (isinstance(callee, External) and callee.qualified.startswith(_PATCHING)):
        _put(run, site)
    elif patching:
        _put_into_torch(run, site)
    effect = patching and _is_for_effect(run, site)  # few calls are there for what they do
    owner = callee if receiver is None else receiver
    if not effect and (called == "register" or foreign.keeps_arguments(called)) and _is_for_effect(run, site):
        expose_kept(run, owner, site)
    if effect and not site.complete and any(isinstance(each, Unknown) for each in site.positional):
        patch_in_sight(run)  # `patch(*found)`: nobody knows what it is given
    if receiver is None and isinstance(callee, External) and callee.qualified.startswith("torch.nn."):
        receiver = site.get(0, "self")  # `nn.Module.apply(net, f)`
    if isinstance(receiver, Unknown) and called in _CHANGING:
        patch_what_it_may_be(run, receiver)
    if receiver is None and isinstance(callee, Unknown) and not isinstance(site.node.function, ir.Attribute):
        may_register(run, callee, site.values(), effect=effect)
    for value in (*site.values(), *((receiver,) if isinstance(receiver, Unknown) else ())):
        if type(value) in HOLDS_NOTHING:
            continue
        for each in (value, *(parts(value) if isinstance(value, (Sequence, Mapping)) else ())):
            if isinstance(each, Unknown) and each.made_by in NAMESPACES:
                text_is_run(run, each.made_by.removeprefix("builtins."))
        if isinstance(value, Unknown):
            of_library = value is receiver and value.keeps_flags  # its methods are, too
            if effect and not of_library and called not in KEEPING_FLAGS:
                patch_what_it_may_be(run, value)
        for _, each in alternatives(value) if effect else ():
            if isinstance(each, (Class, Instance, Module)) and not each.patched:
                patch(run, each)
    if effect:
        expose_parts(run, owner, site)


def may_register(run: Run, place: Unknown, given: list[Value], *, effect: bool = False) -> None:
    """
    Something of an object or a Module, nobody knows what, is given code (or is called for its effect): that may be a
    hook from now on, or a method. `getattr(layer, name)(hook)`, `getattr(layer, name)[0] = hook`
    """
    if effect or any(_is_code(each) for value in given for _, each in alternatives(value)):
        patch_what_it_may_be(run, place)
        if isinstance(place.part_of, (Instance, Module)) and not place.part_of.patched:
            patch(run, place.part_of)
    owner = place.part_of
    for value in given if isinstance(owner, (Instance, Module)) else ():
        if not (effect or objects_among([value])):  # `getattr(net, name)("head", nn.Linear(2, 1))`
            continue
        if isinstance(owner, Instance):
            set_some_attribute(run, owner, value, anew=False)
        elif isinstance(owner, Module):
            lose_children(run, owner)


def _is_code(value: Value) -> bool:
    """Whether a value is a function, or what nobody knows and nothing says of that it is a tensor."""
    if not isinstance(value, Unknown):
        return isinstance(value, (Function, Partial, Bound))
    said = value.tensor is not None or value.depends or value.possible or value.hint or value.certain_edge
    return not said and not is_foreign(value)


def patches(callee: Value | None, called: str) -> bool:
    """Whether unknown code of a certain name may put other methods into what it is given."""
    if called in _COLLECTING or foreign.only_reads(called) or foreign.speaks_of_flags(called):
        return False
    if isinstance(callee, External):
        if callee.qualified.startswith(_PATCHING):
            return True
        return not (foreign.keeps_flags(callee.qualified) or foreign.is_foreign(callee.qualified))
    return True


def _is_for_effect(run: Run, site: CallSite) -> bool:
    """Whether a call is there for what it does: its value is dropped, or a `with` enters it."""
    statement = run.machine.statement
    managed = isinstance(statement, ir.With) and any(each.context is site.node for each in statement.items)
    return managed or for_effect(run, site.node)


def _put(run: Run, site: CallSite) -> None:
    """`patch("torch.Tensor.detach", …)`, `patch.object(torch, "round", …)`, `monkeypatch.setattr(Net, "cut", …)`."""
    owner, name = site.get(0, "target"), site.get(1, "attribute") or site.get(1, "name")
    for _, each in alternatives(owner) if owner is not None else ():
        if isinstance(each, Constant) and isinstance(each.value, str):
            replace_of_torch(run, canonical(each.value))
        elif isinstance(each, External):
            replace_of_torch(run, f"{each.qualified}.{_named(name)}")
        elif isinstance(each, (Class, Instance, Module)):
            patch(run, each)
        elif isinstance(each, Unknown) and not is_foreign(each):
            patch_in_sight(run, classes=True)
            replace_of_torch(run, f"*.{_named(name)}")


def _put_into_torch(run: Run, site: CallSite) -> None:
    """
    `mocker.patch("torch.Tensor.detach", …)`, `replaced(torch.Tensor, "detach", …)`, `patch(torch.Tensor)`: unknown code
    is told of something of torch, and may put another thing in its place.
    """
    values = [each for value in site.values() for each in _listed(run, site, value)]
    for value, after in zip(values, [*values[1:], None], strict=False):
        if type(value) not in _NAMING:
            continue
        for each in value.may_be if isinstance(value, Unknown) else [one for _, one in alternatives(value)]:
            if isinstance(each, Constant) and isinstance(each.value, str):
                if each.value.startswith("torch.") and each.value.replace(".", "").isidentifier():
                    replace_of_torch(run, canonical(each.value))
                continue
            if not isinstance(each, External) or not _holds_functions(each.qualified):
                continue
            if _named(after) != "*" or _is_for_effect(run, site):
                replace_of_torch(run, f"{each.qualified}.{_named(after)}")


_NAMING: Final = frozenset({Choice, Constant, External, Unknown})
"""What may name something of torch."""


def _listed(run: Run, site: CallSite, value: Value) -> list[Value]:
    """
    What a list holds. Of what a dictionary or an object holds, what all of torch derives from, if the call is there for
    what it does: another class there is a setting (`{"layer": nn.ReLU}`), which nobody changes.
    """
    if isinstance(value, Sequence):
        return parts(value)
    if not isinstance(value, (Class, Instance, Mapping)):
        return [value]
    if not _is_for_effect(run, site):
        return []
    return [each for each in within(value, _held_by, MOST_DEEP) if type(each) is External and _is_shared(each)]


def _is_shared(value: External) -> bool:
    return value.qualified == "torch" or value.qualified in SHARED


def _held_by(value: Value) -> list[Value]:
    if isinstance(value, (Class, Instance)):
        return [*value.attributes.values()]
    return parts(value)


def _holds_functions(qualified: str) -> bool:
    """Whether something of torch is a class, or a module of it whose functions people call."""
    return qualified in _MODULES or (qualified.startswith("torch.") and qualified.rpartition(".")[2][:1].isupper())


_MODULES = frozenset({"torch", "torch.nn.functional", "torch.autograd", "torch.nn"})


def _named(name: Value | None) -> str:
    """The name of an attribute; `*` where nobody knows it."""
    return name.value if isinstance(name, Constant) and isinstance(name.value, str) else "*"


def is_of_torch(callee: Value) -> TypeGuard[Unknown]:
    """Whether it is something of torch, nobody knows what: `getattr(torch, name)`."""
    return isinstance(callee, Unknown) and isinstance(callee.part_of, External)


def torch_among(run: Run, given: list[Value]) -> External | None:
    """
    The module `torch`, if unknown code was given it: what that returns may be anything of it. Where nothing is recorded
    what may be something of it counts, too: code that is given that may be there to record again.
    """
    for value in given:
        if type(value) in HOLDS_NOTHING:
            continue
        for each in (value, *(parts(value) if isinstance(value, (Sequence, Mapping)) else ())):
            found = each.part_of if is_of_torch(each) and run.machine.grad_mode is Truth.NO else each
            if isinstance(found, External) and found.qualified == "torch":
                return found
    return None


def _may_be_flag(site: CallSite) -> bool:
    """Whether a call is given what may be a truth value."""
    given = [each for value in site.values()[:1] for _, each in alternatives(value)]
    return any(
        (isinstance(each, Constant) and isinstance(each.value, bool))
        or (isinstance(each, Scalar) and each.kind in ("bool", "number"))
        or (isinstance(each, Unknown) and each.tensor is None)
        for each in given
    )


def _may_do_anything(run: Run, callee: Value, called: str, site: CallSite) -> bool:
    """Whether unknown code is called for what it does, and is none of a library that leaves the grad mode alone."""
    if isinstance(callee, External):
        known = foreign.keeps_flags(callee.qualified) or foreign.is_foreign(callee.qualified)
        if known and not callee.qualified.startswith(("operator.", "contextlib.", "importlib.", "functools.")):
            return False
    if foreign.only_reads(called) or isinstance(callee, Tensor):
        return False
    return for_effect(run, site.node) or foreign.speaks_of_flags(called)
