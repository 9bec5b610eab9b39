"""
Objects of classes of the file and layers of torch: making one, calling one.

An object that is built like another is copied (`prototypes`).
"""

from __future__ import annotations

from functools import partial

from torchlint.model.autograd.writes import escape
from torchlint.model.python.attributes import attribute_itself, choose_patched, class_attribute, is_module
from torchlint.model.python.callbacks import hand_on_special, havoc
from torchlint.model.python.called_by_torch import note_registering
from torchlint.model.python.containers import mapping_method
from torchlint.model.python.exposure import note_used
from torchlint.model.python.flags import give
from torchlint.model.python.functions import call_method
from torchlint.model.python.graph_copies import Moment
from torchlint.model.python.making import GETS_ATTRIBUTES, inherits_known, keeps_fields, may_be_called_otherwise
from torchlint.model.python.members import set_raw, set_some_attribute
from torchlint.model.python.module_hooks import after_call, before_call
from torchlint.model.python.modules import inherit, module_method
from torchlint.model.python.prototypes import Openness, leaves
from torchlint.model.python.run import Run
from torchlint.model.python.subscripts import subscript
from torchlint.model.python.unknown_code import unknown_call
from torchlint.model.python.unseen_classes import note_object
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    NONE,
    Choice,
    Class,
    Constant,
    Function,
    Instance,
    Mapping,
    Module,
    Super,
    Unknown,
    Value,
    is_foreign,
    made_of,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.layers import layer_call
from torchlint.syntax import ir


def instantiate(run: Run, cls: Class, site: CallSite) -> Value:
    """Make an object of a class of the file."""
    machine = run.machine
    # Only what another constructor builds: what the program itself builds is followed where it happens.
    key = None
    given: tuple[Value, ...] = ()
    if machine.built_in and site.tail is None and not machine.dead:
        # what was built without other files is another object than what is built with them
        mode = machine.grad_mode, machine.inference, machine.budget.outside_left > 0, site.complete
        key = run.prototypes.key(cls, site.positional, site.keywords, mode)
    if key is not None:
        given = leaves(site.values())
        copy = run.prototypes.make(key, given, _moment(run))
        if copy is not None:
            machine.clock += copy.took
            _leave_open(run, copy.left_open)
            hand_on_special(run, copy.instance)
            note_object(machine, copy.instance, given)
            return copy.instance
    instance = machine.trail.new_object(cls)
    instance.exact = True
    if key is None:
        initialise(run, instance, site)
        _leave_to_makers(run, instance)
        hand_on_special(run, instance)
        note_object(machine, instance, site.values())
        return instance
    before, began = _left_open(run), _moment(run)
    machine.skipped_import = machine.open_write = machine.open_layer_write = False
    machine.externally_pure = True
    try:
        initialise(run, instance, site)
        _leave_to_makers(run, instance)
        if run.prototypes.key(cls, site.positional, site.keywords, mode) == key:
            run.prototypes.keep(key, instance, given, site.values(), _left_open(run), began, _moment(run))
    finally:
        _leave_open(run, before)
    hand_on_special(run, instance)
    note_object(machine, instance, given)
    return instance


def _leave_to_makers(run: Run, instance: Instance) -> None:
    """A metaclass or a decorator that nobody knows may set what it likes in a new object, or a method of its own."""
    if any(each.finished_elsewhere for each in instance.cls.ancestry()):
        havoc(run, instance, switches=True)
    note_registering(run, instance)


def _moment(run: Run) -> Moment:
    machine = run.machine
    callers, infers = partial(machine.callers.conditions, machine), partial(machine.callers.infers, machine)
    return Moment(machine.clock, machine.path, machine.assumed, machine.iteration, machine.built_in, callers, infers)


def _left_open(run: Run) -> Openness:
    machine = run.machine
    return Openness(
        machine.skipped_import,
        machine.open_write,
        machine.open_layer_write,
        run.autograd.overwritten,
        machine.externally_pure,
    )


def _leave_open(run: Run, also: Openness) -> None:
    """What another construction left open is left open here, too."""
    machine = run.machine
    machine.skipped_import |= also.skipped_import
    machine.open_write |= also.open_write
    machine.open_layer_write |= also.open_layer_write
    run.autograd.overwritten |= also.overwritten
    machine.externally_pure = machine.externally_pure and also.externally_pure


def initialise(run: Run, instance: Instance, site: CallSite) -> None:
    """Run `__init__`, or set the fields of a dataclass, or of a named tuple."""
    machine = run.machine
    if may_be_called_otherwise(instance.cls):
        give(run, site.values(), instance.cls.name, site.node)  # there may be a `__new__`
    for cls in instance.cls.ancestry():
        function = cls.attributes.get("__init__")
        if isinstance(function, (Function, Choice)):
            outer = machine.built_in
            if is_module(instance) is not Truth.NO:
                machine.built_in = machine.built_in or instance.cls.name
            machine.each(function, lambda each: _initialise_by(run, instance, each, site))
            machine.built_in = outer
            instance.initialised = True
            return
        if isinstance(function, Unknown):
            _initialise_by(run, instance, function, site)
            return
    inherit(run, instance, site)
    fields: dict[str, None] = {}
    for cls in reversed(instance.cls.ancestry()):
        for s in cls.definition.body:
            if isinstance(s, ir.Assign) and s.annotation is not None and isinstance(s.targets[0], ir.Name):
                fields[s.targets[0].id] = None
    if (
        fields
        and instance.cls.inherited("__new__") is None
        and all(keeps_fields(base) for base in instance.cls.outside())
    ):
        for name, value in zip(fields, site.positional, strict=False):
            machine.trail.set(instance.attributes, name, value)
        for name, value in site.keywords.items():
            machine.trail.set(instance.attributes, name, value)
    for name in ("__post_init__", "__attrs_post_init__"):
        found = class_attribute(instance.cls, name, site.node)
        if isinstance(found, Function):
            call_method(run, instance, found, CallSite(site.node, [], {}, complete=False))


def _initialise_by(run: Run, instance: Instance, function: Value, site: CallSite) -> Value:
    """An `__init__` is run; one that somebody has put there may set what it likes."""
    if isinstance(function, Function):
        if function.kind == "opaque":
            give(run, site.values(), instance.cls.name, site.node)  # what is around it may keep them
        return call_method(run, instance, function, site)
    given = CallSite(site.node, [instance, *site.positional], site.keywords, complete=site.complete)
    result = unknown_call(run, function, given)
    depends = [tensor for value in site.values() for tensor in reachable_tensors(value)]
    set_some_attribute(run, instance, Unknown(depends, source=site.node), anew=False)  # also in place of a class's own
    return result


def call_instance(run: Run, instance: Instance, site: CallSite) -> Value:
    """`instance(...)`: `__call__`, or a Module's `forward`."""
    site = before_call(run, instance, instance.attributes, site)
    result = after_call(run, instance, instance.attributes, site, _run_instance(run, instance, site))
    for hook in run.machine.watch.module_called if is_module(instance) is not Truth.NO else ():
        hook(instance, site.values(), result, site.node)
    return result


def _run_instance(run: Run, instance: Instance, site: CallSite) -> Value:
    for name in ("__call__", "forward"):
        if name == "forward" and is_module(instance) is not Truth.NO and name in instance.attributes:
            return run.invoke(instance.attributes[name], site)
        for cls in instance.cls.ancestry():
            function = cls.attributes.get(name)
            if isinstance(function, (Function, Choice)):
                if name == "forward" and is_module(instance) is Truth.NO:
                    continue
                other = name == "forward" and may_be_called_otherwise(instance.cls)
                if other or instance.may_be_patched() or run.is_replaced("torch.nn.Module.__call__"):
                    function = choose_patched(instance, function, site.node)
                return run.machine.each(function, lambda each: _call_on(run, instance, each, site))
            if function is not None:
                return run.invoke(_as_method(instance, function, site), site)
    if instance.layer is not None:
        other = instance.may_be_patched() or may_be_called_otherwise(instance.cls)
        return _run_inherited(run, instance, instance.layer, site, other=other)
    return unknown_call(run, instance, site)


def _run_inherited(run: Run, instance: Instance, layer: Module, site: CallSite, *, other: bool) -> Value:
    """An object does what its class has from `torch.nn`; `other`: or what nobody knows has in the place of that."""
    if run.exposed:
        note_used(run, instance)
    if not other and not run.replaces_layer(layer.kind.name):
        return _run_module(run, layer, site)
    either = choose_patched(instance, layer, site.node)
    return run.machine.each(
        either, lambda each: _run_module(run, layer, site) if each is layer else run.invoke(each, site)
    )


def _as_method(instance: Instance | Module, function: Value, site: CallSite) -> Value:
    """What a class, or a layer of torch, has under the name of a method and nobody knows: it may use the object."""
    if not isinstance(function, Unknown) or function.wraps is not None or function.part_of is not None:
        return function
    if is_foreign(function):
        return function
    return Unknown(function.depends, source=site.node, layer=function.layer, part_of=instance)


def _call_on(run: Run, instance: Instance, function: Value, site: CallSite) -> Value:
    """What a class has under the name of a method is called on an object: a function of the file, or another value."""
    return call_method(run, instance, function, site) if isinstance(function, Function) else run.invoke(function, site)


def call_module(run: Run, module: Module, site: CallSite) -> Value:
    """Call a layer of torch, with its hooks."""
    if run.exposed:
        note_used(run, module)
    if not (module.patched or run.replaces_layer(module.kind.name)):
        return _call_module(run, module, site)
    other = Unknown(source=site.node, part_of=module)
    either = Choice(((unknown_guard(), module), (unknown_guard(), other)))
    return run.machine.each(
        either,
        lambda each: _call_module(run, each, site) if isinstance(each, Module) else unknown_call(run, each, site),
    )


def _call_module(run: Run, module: Module, site: CallSite) -> Value:
    site = before_call(run, module, module.parameters, site)
    result = after_call(run, module, module.parameters, site, _run_module(run, module, site))
    for hook in run.machine.watch.module_called:
        hook(module, site.values(), result, site.node)
    return result


def _run_module(run: Run, module: Module, site: CallSite) -> Value:
    forward: Value | None = module.parameters.get("forward")
    if forward is not None:
        return run.invoke(_as_method(module, forward, site), site)
    if module.kind.container == "sequential":
        if module.children is None or not site.positional:
            values = [tensor for value in site.values() for tensor in reachable_tensors(value)]
            escape(run.autograd, values, site.node)
            before = made_of(site.values(), source=site.node, layer=True)
            if module.tail is None or not site.positional:
                return before
            return run.invoke(module.tail, CallSite(site.node, [before], {}))
        value: Value = site.positional[0]
        for index, child in enumerate(module.children):
            if isinstance(child, Unknown):
                child.layer = True  # `nn.Sequential` takes nothing but Modules
            inner = CallSite(site.node, [value], {}, site.arguments if index == 0 else {})
            value = run.invoke(child, inner)
        return value
    result = layer_call(run.torch, module, site)
    return result if result is not None else unknown_call(run, module, site)


def super_call(run: Run, value: Super, name: str, site: CallSite) -> Value | None:
    """`super().name(...)` of a class that derives from one outside the file."""
    if name == "__init__" and isinstance(value.instance, Instance):
        inherit(run, value.instance, site)
    if name == "__setattr__":
        return set_raw(run, CallSite(site.node, [value.instance, *site.positional], {}))
    if name in ("__init__", "__new__", "__post_init__"):
        return NONE
    if name == GETS_ATTRIBUTES and isinstance(value.instance, Instance) and inherits_known(value.instance.cls):
        asked = site.positional[0] if len(site.positional) == 1 else None
        if isinstance(asked, Constant) and isinstance(asked.value, str):
            return attribute_itself(run, value.instance, asked.value, site.node)
    if isinstance(value.instance, Instance):
        if value.instance.contents is not None:
            return dict_call(run, value.instance.contents, name, site)
        if name in ("forward", "__call__") and value.instance.layer is not None:
            # who decorates the class comes below it, and is not asked
            other = not inherits_known(value.instance.cls)
            return _run_inherited(run, value.instance, value.instance.layer, site, other=other)
        return module_method(run, value.instance, name, site)
    return None


def dict_call(run: Run, contents: Mapping, name: str, site: CallSite) -> Value | None:
    """A method that an object has from `dict`."""
    if name == "__getitem__" and len(site.positional) == 1:
        return subscript(run, contents, site.positional[0], site.node)
    return mapping_method(run, contents, name, site)
