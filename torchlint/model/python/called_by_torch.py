"""
Methods of a Module that torch calls itself, where the program has no call of them: `net.eval()` calls `train`, and
that the `train` of each child; `net.double()` calls `_apply`; the constructor of a layer calls `reset_parameters`.

Who overrides one in a class of the file gets it run there. `train` is run as it is written; others only where they do
something to flags, or hand on what the object holds to code that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from torchlint.model.python.attributes import is_module
from torchlint.model.python.callbacks import havoc
from torchlint.model.python.flags import calls_what_is_unknown, changes_flags, unsettle
from torchlint.model.python.indirection import is_unknown_code
from torchlint.model.python.module_parts import submodules
from torchlint.model.python.run import Run, looking_from
from torchlint.model.python.unseen_classes import note_members
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    Bound,
    Constant,
    External,
    Function,
    Instance,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    explore,
)
from torchlint.syntax import ir

CONVERTING: Final = External("torch.Tensor.contiguous")
"""What `_apply` is given in the place of a function of torch's: it gives the tensor itself, as far as flags go."""


def overriding(value: Value, name: str) -> Value | None:
    """
    What the object or its class, of the file, has in the place of a method of `nn.Module`. Who may be none may have a
    `train` that is a whole training.
    """
    if not isinstance(value, Instance) or is_module(value) is not Truth.YES:
        return None
    if name in value.attributes:
        return value.attributes[name]
    return next((each.attributes[name] for each in value.cls.ancestry() if name in each.attributes), None)


def is_written(method: Value | None) -> bool:
    """Whether a method is a function of the file without a decorator, so that a call of it is followed."""
    return isinstance(method, Function) and method.kind == "" and isinstance(method.definition, ir.FunctionDef)


def acts(run: Run, method: Value) -> bool:
    """
    Whether a method may do something to flags, by what is written in it: what `super()` has does not, nor what torch
    gives it to be called.
    """
    if not isinstance(method, Function):
        return is_unknown_code(method)
    if not is_written(method):
        return True
    if changes_flags(run, method):
        return True
    own = frozenset([each.name for each in method.definition.parameters])
    with looking_from(run.machine, method.closure):
        return any(
            calls_what_is_unknown(run, method, node, own)
            for node in ir.walk(method.definition.body)
            if isinstance(node, ir.Call) and node.arguments and not _is_given_or_inherited(node.function, own)
        )


def _is_given_or_inherited(called: ir.Expression, own: frozenset[str]) -> bool:
    """Whether it is `fn(...)` of a function that the method is given, or `super().name(...)`."""
    if isinstance(called, ir.Name):
        return called.id in own
    inner = called.value if isinstance(called, ir.Attribute) else None
    return isinstance(inner, ir.Call) and isinstance(inner.function, ir.Name) and inner.function.id == "super"


def run_overriding(run: Run, modules: Iterable[Value], name: str, site: CallSite) -> None:
    """torch calls a method of some Modules: of those of the file that have one of their own it is run, if it acts."""
    for each in modules:
        method = overriding(each, name)
        if isinstance(each, Instance) and method is not None and acts(run, method):
            given: list[Value] = [CONVERTING] if name == "_apply" else []
            _run(run, each, name, method, CallSite(site.node, given, {}, complete=bool(given)))


def _run(run: Run, instance: Instance, name: str, method: Value, site: CallSite) -> Value:
    if not is_written(method):  # what is around it, or in its place, may do what it likes with the object
        unsettle(run, instance)
        havoc(run, instance, switches=True)
    return run.invoke(Bound(instance, name, method) if isinstance(method, Function) else method, site)


def note_registering(run: Run, instance: Instance) -> None:
    """An object has been made: `nn.Module` registers what is set of it by a method that may set something else."""
    for name in _REGISTERING if instance.layer is not None else _REGISTERING[:1]:
        method = overriding(instance, name)
        if method is not None and acts(run, method):
            note_members(run.machine, instance, f"{instance.cls.name}.{name}")


_REGISTERING: Final = ("register_parameter", "register_buffer", "add_module", "extend")
"""Methods by which Modules register what they hold: the first wherever one is set, the others in constructors."""


def made_as_layer(run: Run, instance: Instance, site: CallSite) -> None:
    """The constructor of a layer of torch has run on an object of the file: it calls methods that initialise it."""
    for name in _INITIALISING:
        run_overriding(run, [instance], name, site)


_INITIALISING: Final = ("reset_parameters", "_reset_parameters", "reset_running_stats", "flatten_parameters")


def is_overridden(modules: Iterable[Value]) -> bool:
    """Whether one of some Modules has a method of its own that torch calls when it is switched, or converted."""
    return any(overriding(each, name) is not None for each in modules for name in ("train", "_apply"))


def perhaps_called(run: Run, receiver: Unknown, name: str) -> None:
    """A method is called of what nobody knows, which may hold Modules of the file: `nn.DataParallel(net).eval()`."""
    called = _CALLING.get(name)
    if called is None:
        return
    for whole in receiver.may_be:
        for each in explore(whole, submodules):
            method = overriding(each, called)
            if method is not None and acts(run, method):
                unsettle(run, each)
                havoc(run, each, switches=True)


_CONVERSIONS: Final = ("bfloat16", "cpu", "cuda", "double", "float", "half", "to", "to_empty", "type")
_CALLING: Final = {"eval": "train", "train": "train", **dict.fromkeys(_CONVERSIONS, "_apply")}
"""What a method of a Module calls of those that it holds."""


def shown_as_state(run: Run, module: Instance | Module, site: CallSite) -> None:
    """`state_dict()` calls that of all that a Module holds."""
    held = [*explore(module, submodules)]
    run_overriding(run, held[1:], "state_dict", site)
    run_overriding(run, held, "_save_to_state_dict", site)


def call_train(run: Run, instance: Instance, mode: Truth, site: CallSite) -> Value | None:
    """
    `train(mode)` of an object whose class has one of its own, as `eval()` and the `train` of what holds it call it;
    None if its class has none. Who asks for the modes that a program sets is told of the call that it has written.
    """
    method = overriding(instance, "train")
    if method is None or (isinstance(method, Bound) and method.function is None):
        return None
    given = Scalar("bool") if mode is Truth.MAYBE else Constant(mode is Truth.YES)
    outer, run.torch.switching = run.torch.switching, True
    try:
        result = _run(run, instance, "train", method, CallSite(site.node, [given], {}))
    finally:
        run.torch.switching = outer
    if not is_written(method):
        set_training(run, instance, mode, site)
    return result


def set_training(run: Run, value: Value, mode: Truth, site: CallSite) -> None:
    """What `nn.Module.train` does with a Module and all that it holds: below one with a `train` of its own, that."""
    inside: set[int] = set()
    for module in explore(value, submodules):
        if id(module) in inside:
            inside.update(id(each) for each in submodules(module))
            continue
        if isinstance(module, Instance) and module is not value and call_train(run, module, mode, site) is not None:
            inside.update(id(each) for each in submodules(module))
            continue
        if isinstance(module, Module):
            run.machine.trail.set(module, "training", mode)
            run.torch.switched.append(module)
        elif isinstance(module, Instance):
            known = Scalar("bool") if mode is Truth.MAYBE else Constant(mode is Truth.YES)
            run.machine.trail.set(module.attributes, "training", known)
            run.torch.switched.append(module)


def listed_parameters(run: Run, module: Instance | Module, known: list[Tensor], node: ir.Node) -> list[Tensor] | None:
    """
    The parameters that `module.parameters()` gives to `requires_grad_` and `zero_grad`, of those that it has; None if
    a class of the file lists them in a way that is not followed.
    """
    method = overriding(module, "parameters")
    if isinstance(method, Function) and is_written(method):
        result = run.call(Bound(module, "parameters", method), [], node)
        items = result.items if isinstance(result, Sequence) else None
        if items is None or not all(isinstance(each, Tensor) for each in items):
            return None
        return [each for each in items if isinstance(each, Tensor)]
    if method is not None:
        return None
    for each in explore(module, submodules):
        if isinstance(each, Instance) and any(overriding(each, name) is not None for name in _LISTING):
            return None
    return known


_LISTING: Final = ("named_parameters", "named_modules", "_named_members")
"""Other methods by which a Module lists its parameters."""
