"""
Setting attributes of objects: through `__setattr__`, a property or a descriptor of the class, or in the object itself.

Says what an object holds from now on; assignments are in `binding`.
"""

from __future__ import annotations

from functools import partial

from torchlint.knowledge.ops.find import is_tensor_method
from torchlint.model.autograd.writes import leave_place, rebind_grad, refuse_gradient, require_grad
from torchlint.model.python.attributes import MODULE_METHODS
from torchlint.model.python.exposure import expose_put
from torchlint.model.python.flags import give, unsettle, unsettle_origins
from torchlint.model.python.indirection import is_unknown_code
from torchlint.model.python.making import OF_ATTRIBUTES, inherits_known, runs_unseen
from torchlint.model.python.module_parts import submodules
from torchlint.model.python.run import Run
from torchlint.model.python.unseen_classes import note_attribute
from torchlint.model.python.variables import NAMESPACES, PROPERTY, REGISTRIES, forget_variables
from torchlint.model.state.another import or_another
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.held import may_be_module
from torchlint.model.state.reachable import objects_among, some_of
from torchlint.model.state.reflection import note_reflection, note_unseen_class
from torchlint.model.state.values import (
    MOST_DEEP,
    MOST_DEPENDS,
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Partial,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    explore,
    is_foreign,
    is_value_of_elsewhere,
    parts,
    reachable_tensors,
    unknown_guard,
    within,
)
from torchlint.model.torch.arguments import as_argument
from torchlint.syntax import ir

_SETTINGS = frozenset({"forward", "inplace", "reduction"})
"""Attributes of layers that decide what they return, or write to."""


def set_some_attribute(run: Run, instance: Instance | Class, value: Value, *, anew: bool = True) -> None:
    """
    An attribute is set of which nobody knows the name: it may be any that holds the like. `anew`: a layer gets a name
    of its own (`setattr(self, f"layer{i}", ...)`), and takes the place of none.
    """
    machine = run.machine
    if not anew or isinstance(value, (Tensor, Unknown)):
        run.give_away(instance.cls if isinstance(instance, Instance) else instance)
    if any(_may_be_method(each, anew) for _, each in alternatives(value)):
        machine.trail.set(instance, "patched", True)
    if isinstance(instance, Class):
        if not anew or isinstance(value, Unknown):
            note_reflection(machine, f"setattr({instance.name}, …)")
        _set_some_of_class(run, instance, value)
        return
    if instance.layer is not None and instance.layer.kind.container == "sequential":
        machine.trail.set(instance.layer, "children", None)
        machine.trail.set(instance.layer, "element", None)
        machine.trail.set(instance.layer, "tail", None)
    if not anew and (isinstance(value, (Module, Instance)) or _is_made_elsewhere(value)):
        for name, old in list(instance.attributes.items()):
            if any(isinstance(each, (Module, Instance)) for _, each in alternatives(old)):
                new = choose([(unknown_guard(), old), (unknown_guard(), value)])
                machine.trail.set(instance.attributes, name, new)
    held = objects_among([value])
    if held:
        machine.trail.set(instance, "named_elsewhere", (*instance.named_elsewhere, *held)[-MOST_DEPENDS:])
    if anew and isinstance(value, (Module, Instance, Function, Constant, Scalar)):
        return
    depends = reachable_tensors(value)
    leave_place(run.autograd, depends)
    if depends:
        machine.trail.set(instance, "given", (*instance.given, *depends)[-MOST_DEPENDS:])
    attributes = dict(instance.attributes)
    for cls in instance.cls.ancestry():
        for name, old in cls.attributes.items():
            if type(old) is Tensor:
                attributes.setdefault(name, old)
    for name, old in attributes.items():
        if _may_be_set_anew(old) and (new := or_another(old, depends)) is not old:
            machine.trail.set(instance.attributes, name, new)


def _may_be_method(value: Value, anew: bool) -> bool:
    """
    Whether what an attribute is set to may take the place of a method. What unknown code returns or holds may; what an
    `__init__` is given, and keeps under the names of its keywords, is taken for settings.
    """
    if isinstance(value, Unknown):
        return not anew and _is_made_elsewhere(value)
    return isinstance(value, (Function, Bound, Partial))


def _is_made_elsewhere(value: Value) -> bool:
    """Whether unknown code has returned a value, or holds it."""
    return isinstance(value, Unknown) and isinstance(value.source, (ir.Call, ir.Subscript)) and not is_foreign(value)


def _set_some_of_class(run: Run, cls: Class, value: Value) -> None:
    """An attribute of a class is set, nobody knows which."""
    if isinstance(value, Unknown) and not is_foreign(value):
        run.machine.trail.set(cls, "patched", True)
    held = objects_among([value])
    if held:
        run.machine.trail.set(cls, "named_elsewhere", (*cls.named_elsewhere, *held)[-MOST_DEPENDS:])
    depends = reachable_tensors(value)
    for name, old in list(cls.attributes.items()):
        if _may_be_set_anew(old):
            run.machine.trail.set(cls.attributes, name, or_another(old, depends))


def _may_be_set_anew(value: Value) -> bool:
    """Whether a value is, on one path at least, of the kind that a program keeps under a name it has computed."""
    for _, each in alternatives(value):
        if type(each) is Constant:
            if each.value is None:
                return True
        elif isinstance(each, (Tensor, Unknown)):
            return True
    return False


def set_member(run: Run, instance: Instance, name: str, value: Value) -> None:
    """Set an attribute, through the `__setattr__` or the property of the class, if it has one."""
    machine = run.machine
    note_attribute(machine, instance.cls, value)
    if name in ("__dict__", "__class__"):
        note_reflection(machine, f"{instance.cls.name}.{name}")
        machine.trail.set(instance, "patched", True)
        set_some_attribute(run, instance, some_of([value]), anew=False)
        return
    for cls in instance.cls.ancestry():
        descriptor = cls.attributes.get(name)
        if _is_property(descriptor):
            unsettle(run, instance)  # its setter is unknown, or made of a function that is not followed
        if descriptor is not None and isinstance(descriptor, Unknown) and not is_foreign(descriptor):
            # It may be a descriptor, which holds what it likes.
            value = _kept_otherwise(value)
        if type(descriptor) is Instance:
            for each in descriptor.cls.ancestry():
                function = each.attributes.get("__set__")
                if isinstance(function, Function):
                    assert machine.statement is not None
                    run.call(Bound(descriptor, "__set__", function), [instance, value], machine.statement)
                    return
        for known, given in (("__setattr__", [Constant(name), value]), (f"{name}.setter", [value])):
            function = cls.attributes.get(known)
            if function is None:
                continue
            if known == "__setattr__" and isinstance(function, (Unknown, Choice)) and not is_foreign(function):
                unsettle(run, value)
                value = _kept_otherwise(value)  # what it does with what it is given, nobody knows
            if isinstance(function, Function) and not any(f.definition is function.definition for f in machine.stack):
                assert machine.statement is not None
                run.call(Bound(instance, known, function), given, machine.statement)
                return
    if not machine.expected_errors and _refuses(instance.cls, name, value):
        machine.dead = True
        return
    # a base that nobody knows may have a `__setattr__` of its own
    if not inherits_known(instance.cls) and any(isinstance(each, Tensor) for _, each in alternatives(value)):
        value = _kept_otherwise(value)
    store_member(run, instance, name, value)


def _is_property(descriptor: Value | None) -> bool:
    """Whether what a class has under a name is a property, or may be one, of which the setter is not followed."""
    if isinstance(descriptor, Function):
        return descriptor.kind == "opaque"
    return isinstance(descriptor, Unknown) and descriptor.made_by == PROPERTY


def _kept_otherwise(value: Value) -> Value:
    """What an object holds of a value that went through a `__setattr__` or a descriptor that nobody knows."""
    return choose([(unknown_guard(), value), (unknown_guard(), Unknown(reachable_tensors(value)))])


def _refuses(cls: Class, name: str, value: Value) -> bool:
    """
    Whether an attribute is a property without a setter: Python raises, and nothing comes after it. A Module takes
    parameters and Modules under such a name where its getter raises, since they are not set as attributes are.
    """
    classes = cls.ancestry()
    for each in classes:
        if name in each.attributes:
            break
    else:
        return False  # nearly all that a constructor sets
    if any("__setattr__" in each.attributes or each.wrapped or each.patched for each in classes):
        return False
    if any(isinstance(option, (Module, Instance, Tensor)) for _, option in alternatives(value)):
        return False
    for each in classes:
        found = each.attributes.get(name)
        if found is not None:
            settable = f"{name}.setter" in each.attributes
            return isinstance(found, Function) and found.kind == "property" and not settable
        if any(isinstance(base, External) and base.qualified.startswith("?") for base in each.bases):
            return False
    return False


def store_member(run: Run, instance: Instance, name: str, value: Value) -> None:
    """
    Set an attribute of the object itself; in a class that derives from `nn.Sequential`, a new Module also joins the
    sequence.
    """
    machine = run.machine
    layer = instance.layer
    if layer is not None and layer.kind.container == "sequential" and name not in instance.attributes:
        if isinstance(value, (Module, Instance)):
            children = None if layer.children is None else (*layer.children, value)
            machine.trail.set(layer, "children", children)
            machine.trail.set(layer, "element", None)
            machine.trail.set(layer, "tail", value)
        elif isinstance(value, Choice) or (isinstance(value, Unknown) and may_be_module(value)):
            machine.trail.set(layer, "children", None)
            machine.trail.set(layer, "element", None)
            machine.trail.set(layer, "tail", None)
    if isinstance(value, (Tensor, Choice, Sequence, Mapping)):
        leave_place(run.autograd, reachable_tensors(value))
    machine.trail.set(instance.attributes, name, value)


def set_raw(run: Run, site: CallSite) -> Value:
    """`object.__setattr__(x, name, value)`."""
    if len(site.positional) != 3:
        return NONE
    owner, given, value = site.positional
    name = given.value if isinstance(given, Constant) and isinstance(given.value, str) else None
    match owner:
        case Tensor() if name is None:
            unsettle(run, owner)
        case Tensor() if name is not None:
            set_tensor_attribute(run, owner, name, value)
        case Instance() | Class() if name is None:
            set_some_attribute(run, owner, value)
        case Instance() if name is not None:
            store_member(run, owner, name, value)
        case Class() if name is not None:
            set_in_class(run, owner, name, value)
    return NONE


def is_composed(name: Value | None) -> bool:
    """Whether a name that nobody knows is a text put together, as people do who name one thing after another."""
    return not isinstance(name, Unknown) or is_foreign(name)


def set_members(run: Run, owner: Value, named: dict[object, Value] | None, value: Value, *, anew: bool = True) -> None:
    """Attributes are set past everything that a class may have to say; None: nobody knows which (see `anew` above)."""
    if owner == NONE:
        forget_variables(run, "globals()")
    for _, each in alternatives(owner):
        for new in (value, *(named or {}).values()):
            put_where_getter_says(run, each, new)
        for name, new in (named or {}).items():
            if isinstance(each, Instance) and isinstance(name, str):
                store_member(run, each, name, new)
        if named is None and isinstance(each, Instance):
            set_some_attribute(run, each, value, anew=anew)
        elif isinstance(each, Module):
            leave_place(run.autograd, reachable_tensors(value))
            unsettle(run, each)
        elif isinstance(each, (External, Tensor)):
            of = each.qualified if isinstance(each, External) else "torch.Tensor"
            for name in named or ("*",):
                replace_of_torch(run, f"{of}.{name}")
        elif isinstance(each, Unknown):
            patch_what_it_may_be(run, each)


def put_where_getter_says(run: Run, owner: Value | None, value: Value) -> None:
    """
    A value is put into what an object gives, whose class has a `__getattribute__`: that may be any dictionary, and show
    it to whom it likes.
    """
    if isinstance(owner, Instance) and any("__getattribute__" in cls.attributes for cls in owner.cls.ancestry()):
        unsettle(run, value)


def written_to_mapping(run: Run, mapping: Mapping, value: Value) -> None:
    """A dictionary of which little is known is written to: it may be what an object keeps its attributes in."""
    for _, held in alternatives(mapping.element) if mapping.element is not None else ():
        if isinstance(held, Unknown) and held.may_be:
            patch_what_it_may_be(run, held)
            put_where_getter_says(run, held.part_of, value)
            if isinstance(held.part_of, Instance):
                set_some_attribute(run, held.part_of, value, anew=False)


def patch(run: Run, value: Class | Instance | Module) -> None:
    """A class, or an object with the Modules that it holds, may have other methods from now on."""
    if isinstance(value, Class):
        run.machine.trail.set(value, "patched", True)
        return
    for each in explore(value, submodules):
        if isinstance(each, (Instance, Module)) and not each.patched:
            run.machine.trail.set(each, "patched", True)
        layer = each.layer if isinstance(each, Instance) else each
        if isinstance(layer, Module):
            lose_children(run, layer)  # what is set of a container joins those it holds


def patch_what_it_may_be(run: Run, value: Unknown) -> None:
    """`same(net).apply(switch_off)`: what is changed may be the Module that unknown code was given, or a part of it."""
    if value.made_by in NAMESPACES:
        forget_variables(run, value.made_by.removeprefix("builtins."))
    for each in value.may_be:
        if isinstance(each, External):
            replace_of_torch(run, f"{each.qualified}.*")
        elif isinstance(each, (Class, Instance, Module)) and not each.patched:
            patch(run, each)


def set_in_some_module(run: Run, name: str, value: Value) -> None:
    """Something is set of what nobody knows: a setting of any Module in sight, a method of any class of torch."""
    if name in _SETTINGS:
        patch_in_sight(run)
    if _is_method(name) and isinstance(value, (Function, Bound, Partial)):
        replace_of_torch(run, f"torch.Tensor.{name}")


def patch_in_sight(run: Run, *, classes: bool = False) -> None:
    """
    Any object or Module that a variable in sight holds may have other methods and settings from now on; any class, too.
    """
    kinds = (Instance, Module, Class) if classes else (Instance, Module)
    frame: Frame | None = run.machine.frame
    while frame is not None:
        for value in list(frame.variables.values()):
            for _, each in alternatives(value):
                if isinstance(each, kinds) and not each.patched:
                    patch(run, each)
        frame = frame.enclosing


def replace_of_torch(run: Run, qualified: str) -> None:
    """
    Something of torch is another one from now on, whoever looks it up. `torch.Tensor.*`: something of it, nobody knows
    what; `*.detach`: of whatever has that name; `*.*`: of all that there is.
    """
    if qualified.startswith(("torch.", "*")) and qualified not in run.replaced:
        run.machine.trail.set(run, "replaced", run.replaced | {qualified})
        if qualified.endswith("*"):
            note_reflection(run.machine, qualified)
    elif qualified.startswith("__main__."):
        forget_variables(run, qualified)


def set_attribute(run: Run, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
    """`owner.name = value`, where the name is known and not written as an attribute."""
    options = alternatives(owner, run.machine.guard)
    if len(options) == 1:
        _set_attribute_of(run, options[0][1], name, value, origin)
    else:
        arms = [(guard, partial(_set_attribute_of, run, each, name, value, origin)) for guard, each in options]
        run.machine.fork(arms, assume=True)


def set_in_class(run: Run, cls: Class, name: str, value: Value) -> None:
    """`cls.name = value`; a metaclass that nobody knows may have a `__setattr__`."""
    if cls.finished_elsewhere or not inherits_known(cls):
        unsettle(run, value, slightly=True)
    if _changes_rules(cls, name, value):
        note_reflection(run.machine, f"{cls.name}.{name}")
    run.machine.trail.set(cls.attributes, name, value)
    if isinstance(value, Function) or runs_unseen(name, value):
        _unsettle_objects_of(run, cls, name)


def _changes_rules(cls: Class, name: str, value: Value) -> bool:
    """Whether what is put into a class says what an attribute is, or is unknown code in the place of a method."""
    if isinstance(value, Function):
        return name in OF_ATTRIBUTES
    replaces = isinstance(cls.attributes.get(name), Function) and isinstance(value, (Choice, Unknown))
    return (replaces and not is_foreign(value)) or runs_unseen(name, value)


def _unsettle_objects_of(run: Run, cls: Class, name: str) -> None:
    """Objects in sight have another special method: nobody sees where Python runs it."""
    if not (name.startswith("__") and name.endswith("__")):
        return
    frame: Frame | None = run.machine.frame
    while frame is not None:
        for value in list(frame.variables.values()):
            for each in within(value, parts, MOST_DEEP):
                if isinstance(each, Instance) and cls in each.cls.ancestry():
                    unsettle(run, each)
        frame = frame.enclosing


def _set_attribute_of(run: Run, each: Value, name: str, value: Value, origin: ir.Node) -> None:
    note_replaced(run, each, name, value, f"setattr(…, {name!r}, …)")
    if isinstance(each, Instance):
        set_member(run, each, name, value)
    elif isinstance(each, Tensor) or (isinstance(each, Unknown) and each.tensor is not None):
        tensor = each if isinstance(each, Tensor) else each.tensor
        assert tensor is not None
        set_tensor_attribute(run, tensor, name, value)
    elif isinstance(each, Module):
        set_in_module(run, each, name, value)
    elif isinstance(each, External):
        if is_value_of_elsewhere(each):
            give(run, [value], "", origin)
        expose_put(run, each, origin, value)
        replace_of_torch(run, f"{each.qualified}.{name}")
    elif isinstance(each, Class):
        set_in_class(run, each, name, value)
    elif isinstance(each, Unknown):
        give(run, [value], "", origin)
        patch_what_it_may_be(run, each)
    if isinstance(each, Unknown) and name == "requires_grad":
        unsettle_origins(run, each)
    elif isinstance(each, Unknown) and each.tensor is None:
        set_in_some_module(run, name, value)


def _is_method(name: str) -> bool:
    return name in _NO_OPERATIONS or is_tensor_method(name)


_NO_OPERATIONS = frozenset({"backward", "register_hook", "requires_grad_", "retain_grad"})
"""Methods of tensors that compute nothing."""


def set_in_module(run: Run, module: Module, name: str, value: Value) -> None:
    """`module.name = value` of a layer of torch; in a container it may be one of those it holds."""
    machine = run.machine
    if isinstance(value, (Tensor, Choice)):
        leave_place(run.autograd, reachable_tensors(value))
    machine.trail.set(module.parameters, name, value)
    if name in module.config:
        machine.trail.set(module, "config", {**module.config, name: as_argument(value)})
    if name.isdigit() or name in module.names:
        lose_children(run, module)
    if name in ("__class__", "__dict__") or name in REGISTRIES:
        note_reflection(machine, name)
        machine.trail.set(module, "patched", True)
        lose_children(run, module)
        unsettle(run, module)


def lose_children(run: Run, module: Module) -> None:
    """Of what a container holds nothing is known any more."""
    for field in ("children", "tail", "element") if module.kind.container else ():
        run.machine.trail.set(module, field, None)


def set_tensor_attribute(run: Run, tensor: Tensor, name: str, new: Value) -> None:
    """`tensor.name = value`."""
    machine = run.machine
    if name == "grad":
        if isinstance(new, Tensor):
            refuse_gradient(run.autograd, tensor, new)
        rebind_grad(run.autograd, tensor, new)
    elif name == "requires_grad":
        truth = Truth.of(new.value if isinstance(new, Constant) and isinstance(new.value, bool) else None)
        for hook in machine.watch.required_grad:
            hook(tensor, new, "requires_grad", machine.statement)
        require_grad(run.autograd, tensor, truth)
    elif name == "data":
        options = [each for _, each in alternatives(new)]
        data = options[0] if len(options) == 1 and isinstance(options[0], Tensor) else None
        machine.trail.set(tensor, "shape", data.shape if data is not None else None)
        machine.trail.set(tensor, "strides", data.strides if data is not None else None)
        machine.trail.set(tensor, "order", None)
        machine.trail.set(tensor, "axes", None)
        machine.trail.set(tensor, "trues", None)
        machine.trail.set(tensor, "device", data.device if data is not None else "")
        machine.trail.set(tensor, "contiguous", data.contiguous if data is not None else Truth.MAYBE)
    elif name == "__class__" or _is_method(name):
        replace_of_torch(run, "torch.Tensor.*" if name == "__class__" else f"torch.Tensor.{name}")


def note_replaced(run: Run, owner: Value, name: str, new: Value, by: str) -> None:
    """A method of an object, a layer or a class of torch may be set to what nobody follows there."""
    if not any(isinstance(each, _FOLLOWED_ELSEWHERE) or is_unknown_code(each) for _, each in alternatives(new)):
        return
    if isinstance(owner, Optimizer):
        replaced = True
    elif isinstance(owner, (Module, Tensor)):
        replaced = name == "__class__" or name in MODULE_METHODS or _is_method(name)
    else:
        replaced = isinstance(owner, External) and owner.qualified.startswith("torch.")
    if replaced:
        note_unseen_class(run.machine, by)


_FOLLOWED_ELSEWHERE = (Function, Bound, Partial)
