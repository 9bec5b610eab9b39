"""
Attributes: `x.name` of tensors, Modules, objects, classes and what is imported.

A property and a `__getattr__` of the file are run; nothing is bound here.
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge import foreign
from torchlint.knowledge.modules import find as modules
from torchlint.model.autograd.writes import escape
from torchlint.model.python.flags import unsettle_by
from torchlint.model.python.introspection import class_of, class_of_tensor, name_of
from torchlint.model.python.making import (
    GETS_ATTRIBUTES,
    MODULE_BASES,
    inherits_known,
    may_be_overridden,
    only_renames,
)
from torchlint.model.python.run import Expressions, Run
from torchlint.model.python.unseen_classes import note_attribute, note_read
from torchlint.model.python.variables import REGISTRIES, bound_on_its_paths, imported, lookup
from torchlint.model.state.guards import Truth
from torchlint.model.state.reachable import whole_of
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    MOST_DEPENDS,
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Function,
    GradModeGuard,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Partial,
    Scalar,
    Sequence,
    Super,
    Tensor,
    Unbound,
    Unknown,
    Value,
    choose,
    is_foreign,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.functions import NAMES_OF_SETTERS, set_grad_mode
from torchlint.model.torch.tensor_methods import tensor_attribute
from torchlint.syntax import ir

# Where torch returns a named tuple (torch.return_types), the places of its fields.
_FIELDS = {
    "values": 0, "indices": 1, "eigenvalues": 0, "eigenvectors": 1, "Q": 0, "R": 1, "U": 0, "S": 1, "Vh": 2, "V": 2,
    "sign": 0, "logabsdet": 1, "LU": 0, "pivots": 1, "solution": 0, "residuals": 1, "min": 0, "max": 1, "mantissa": 0,
    "exponent": 1,
}  # fmt: skip


def _evaluate_attribute(run: Run, node: ir.Attribute) -> Value:
    owner = run.evaluate(node.value)
    if node.attr in ("__enter__", "__exit__") and isinstance(owner, (GradModeGuard, Unknown)):
        set_grad_mode(run.torch, Truth.MAYBE)  # who is given it may call it
    if misses_gradient(run, owner, node):
        return Unknown()
    value = attribute(run, owner, node.attr, node)
    if isinstance(value, Bound) and value.function is not None and value.function.kind == "opaque":
        # a decorator that nobody knows may make anything of a method, a property too
        held = [*owner.given, *held_tensors(owner)] if isinstance(owner, Instance) else []
        escape(run.autograd, held, node)
        unsettle_by(run, value.function, [owner])
        value = Choice(((unknown_guard(), value), (unknown_guard(), Unknown(held, source=node))))
    if isinstance(owner, (Class, Instance)):
        note_read(run.machine, owner, value)
    for hook in run.machine.watch.attribute_read:
        hook(owner, node.attr, value, node)
    return value


def misses_gradient(run: Run, owner: Value, node: ir.Attribute) -> bool:
    """
    Whether something is asked of a gradient that is certainly None: Python raises, and nothing comes after it. Of other
    names that a text sets to None, others may have set them.
    """
    asked = node.value
    missing = type(asked) is ir.Attribute and asked.attr == "grad" and owner == NONE
    if missing and not run.machine.expected_errors and not hasattr(None, node.attr):
        run.machine.dead = True
        return True
    return False


def attribute(run: Run, value: Value, name: str, origin: ir.Node) -> Value:
    """`value.name`."""
    if name == "__dict__" and not isinstance(value, Instance):
        note_reflection(run.machine, name)
    if name == "__dict__" and isinstance(value, (Instance, Unknown, Module)):
        held = Unknown(part_of=value)
        held.may_be = value.may_be if isinstance(value, Unknown) else (value,)
        return Mapping(None, held)
    if type(value) is Instance:
        return instance_attribute(run, value, name, origin)
    if type(value) is Choice:
        return run.machine.each(value, lambda each: attribute(run, each, name, origin))
    if type(value) is External:
        limit = foreign.limit(value.qualified, name)
        if limit is not None:
            return Scalar(limit)
        if run.is_replaced(f"{value.qualified}.{name}"):
            return Unknown(source=origin)
        if name == "__dict__" and value.qualified.partition(".")[0] == "torch":
            return Unknown(layer=True, part_of=value)  # as `getattr(torch, name)`
        named = name_of(value) if name == "__name__" else None
        return named or imported(f"{value.qualified}.{name}")
    if type(value) is Tensor:
        if name == "__class__":
            return class_of_tensor(origin)
        found = tensor_attribute(run.torch, value, name, origin)
        if found is not None and run.is_replaced(f"torch.Tensor.{name}"):
            return Unknown([value], source=origin)
        return found if found is not None else Bound(value, name)
    if type(value) is Module:
        return _module_attribute(value, name)
    if isinstance(value, Unknown):
        return _unknown_attribute(run, value, name, origin)
    if name == "__name__" and (known := name_of(value)) is not None:
        return known
    if isinstance(value, Class):
        found_in = class_attribute(value, name, origin)
        if name == "__subclasses__" and isinstance(found_in, Unknown):
            found_in.may_be = tuple(each for each in run.classes if value in each.ancestry()[1:])[:MOST_DEPENDS]
        note_attribute(run.machine, value, found_in)
        return found_in
    if isinstance(value, Super):
        return _super_attribute(value, name)
    if isinstance(value, Sequence) and value.kind == "tuple" and name in _FIELDS and value.items is not None:
        place = _FIELDS[name]
        return value.items[place] if place < len(value.items) else Unknown(source=origin)
    if isinstance(value, Optimizer) and name == "param_groups":
        return Unknown(source=origin, part_of=value)
    if isinstance(value, Function) and name in ("__defaults__", "__kwdefaults__"):
        return Sequence("tuple", tuple(value.defaults.values()))  # of which of the two each is, nobody asks
    if isinstance(value, Function) and name in _VARIABLES:
        variables = Unknown(source=origin)
        variables.made_by = "builtins.globals"
        return variables
    if isinstance(value, (Sequence, Mapping, Optimizer, Function, Partial)):
        return Bound(value, name)
    return Unknown(source=origin, part_of=whole_of(value))


def _unknown_attribute(run: Run, value: Unknown, name: str, origin: ir.Node) -> Value:
    if value.tensor is not None:
        if name == "__class__":
            return class_of_tensor(origin)
        found = tensor_attribute(run.torch, value.tensor, name, origin)
        return found if found is not None else Bound(value.tensor, name)
    if name not in value.attributes:
        depends = [] if name in _SAID_OF_TENSORS else reachable_tensors(value)
        part_of = value.part_of if name not in _OF_TENSORS else None
        if name in NAMES_OF_SETTERS and part_of is None:
            part_of = External("torch")
        held = Unknown(
            depends,
            source=origin,
            layer=value.layer,
            foreign=value.foreign,
            keeps_flags=value.keeps_flags,
            part_of=part_of,
        )
        if name not in _OF_TENSORS:
            held.may_be = value.may_be
        if name in _VARIABLES:
            held.made_by = "builtins.globals"
        value.attributes[name] = held
    return value.attributes[name]


def instance_attribute(run: Run, instance: Instance, name: str, origin: ir.Node) -> Value:
    """An attribute of an object of a class of the file."""
    for cls in instance.cls.ancestry():
        if GETS_ATTRIBUTES in cls.attributes:
            return _through_getattribute(run, instance, cls.attributes[GETS_ATTRIBUTES], name, origin)
    return attribute_itself(run, instance, name, origin)


def _only_renames(run: Run, shown: Function) -> bool:
    """As `only_renames`, which each look at an attribute of such an object asks."""
    known = run.renaming.get(shown.definition) if shown.kind == "" else False
    if known is None:
        known = run.renaming[shown.definition] = only_renames(shown)
    return known


def _through_getattribute(run: Run, instance: Instance, shown: Value, name: str, origin: ir.Node) -> Value:
    """What the `__getattribute__` of its class gives: one that only renames is followed."""
    if (
        isinstance(shown, Function)
        and _only_renames(run, shown)
        and not any(frame.definition is shown.definition for frame in run.machine.stack)
    ):
        return run.call(Bound(instance, GETS_ATTRIBUTES, shown), [Constant(name)], origin)
    note_reflection(run.machine, f"{instance.cls.name}.{GETS_ATTRIBUTES}")
    return Unknown(held_tensors(instance), source=origin, part_of=instance)


def attribute_itself(run: Run, instance: Instance, name: str, origin: ir.Node) -> Value:
    """What `object.__getattribute__` gives."""
    classes = instance.cls.ancestry()
    getter: Value | None = None
    for cls in classes:
        if getter is None and "__getattr__" in cls.attributes:
            getter = cls.attributes["__getattr__"]
    if name in instance.attributes:
        held = instance.attributes[name]
        if type(held) is Choice and getter is None:
            return _bound_in(instance, name, held)
        return held if getter is None else _through_getattr(instance, getter, held, origin)
    for cls in classes:
        if name in cls.attributes:
            found = cls.attributes[name]
            if isinstance(found, Choice):
                return run.machine.each(found, lambda each: _of_class(run, instance, name, each, origin))
            given = _of_class(run, instance, name, found, origin)
            if isinstance(found, Unknown) and given is not found:
                instance.attributes[name] = given  # as what is looked up below
            return given
    if instance.layer is not None and (name in instance.layer.parameters or name in instance.layer.config):
        return _module_attribute(instance.layer, name)
    if is_module(instance) is not Truth.NO and name in MODULE_METHODS:
        return Bound(instance, name)
    if name == "__class__":
        return instance.cls
    if name == "training":
        if run.torch.default_training is Truth.YES and is_module(instance) is Truth.YES:
            return Constant(True)
        value: Value = Scalar("bool")
    elif _holds_by_name(name):
        value = Unknown(source=origin, part_of=instance)
    else:
        elsewhere = instance if is_module(instance) is not Truth.NO or instance.given else None
        depends = list(instance.given)
        if getter is not None:
            depends += held_tensors(instance)
        value = Unknown(depends, source=origin, part_of=elsewhere)
        of_classes = [each for cls in classes for each in cls.named_elsewhere]
        value.may_be = (*instance.named_elsewhere, *of_classes) if of_classes else instance.named_elsewhere
    # Not through the trail: to have looked is no change of the program's state, and the same attribute must
    # be the same value on every path.
    instance.attributes[name] = value
    return value


def _bound_in(instance: Instance, name: str, held: Choice) -> Value:
    """What an object holds that its constructor sets on some paths only; on others it has what its classes have."""
    bound = bound_on_its_paths(held)
    if bound is held or instance.patched or instance.named_elsewhere or not inherits_known(instance.cls):
        return held
    return held if any(name in cls.attributes for cls in instance.cls.ancestry()) else bound


def _through_getattr(instance: Instance, getter: Value, value: Value, origin: ir.Node) -> Value:
    """
    What an object holds. Layers and parameters of a Module come through its `__getattr__` (torch/nn/modules/module.py
    keeps them in dictionaries), which gives what it finds as it is where it says so.
    """
    if is_module(instance) is Truth.NO or (isinstance(getter, Function) and _hands_through(getter)):
        return value
    kept = isinstance(value, (Module, Instance)) or (isinstance(value, Tensor) and value.is_parameter is not Truth.NO)
    return Unknown(held_tensors(instance), source=origin) if kept else value


def _hands_through(getter: Function) -> bool:
    """Whether a `__getattr__` returns what that of a base class gives."""
    returned = (node.value for node in ir.walk(getter.definition.body) if isinstance(node, ir.Return))
    return any(
        isinstance(value, ir.Call)
        and isinstance(value.function, ir.Attribute)
        and value.function.attr == "__getattr__"
        and isinstance(value.function.value, ir.Call)
        for value in returned
    )


def _of_class(run: Run, instance: Instance, name: str, found: Value, origin: ir.Node) -> Value:
    """What an object has of what its class has under a name."""
    if isinstance(found, Function):
        if found.kind in ("property", "cached"):
            result = run.call(Bound(instance, name, found), [], origin)
            if found.kind == "cached":
                run.machine.trail.set(instance.attributes, name, result)
            return choose_patched(instance, result, origin) if may_be_overridden(instance, found) else result
        method = Bound(instance, name, found)
        if instance.may_be_patched() or may_be_overridden(instance, found):
            return choose_patched(instance, method, origin)
        return method
    if isinstance(found, Instance) and any("__get__" in each.attributes for each in found.cls.ancestry()):
        return Unknown(held_tensors(instance), source=origin)
    if isinstance(found, Unknown) and found.part_of is None and not is_foreign(found):
        return Unknown(found.depends, source=origin, layer=found.layer, part_of=instance)  # it may be a method
    return found


def _holds_by_name(name: str) -> bool:
    """Whether a Module keeps its parts, or its hooks, in the dictionary of a name: `layer._forward_hooks`."""
    return name in REGISTRIES or (name.endswith("_hooks") and name.startswith("_"))


def choose_patched(instance: Instance, method: Value, origin: ir.Node) -> Value:
    """A method of an object, or what unknown code or a derived class may have put in its place."""
    other = Unknown(held_tensors(instance), source=origin, part_of=instance)
    return Choice(((unknown_guard(), method), (unknown_guard(), other)))


def _module_attribute(module: Module, name: str) -> Value:
    if _holds_by_name(name):
        return Unknown(part_of=module)
    if name in module.parameters:
        return module.parameters[name]
    if name in module.config:
        if name in module.kind.absent(module.config):  # `bias=False` is an argument, the attribute of that name is None
            return NONE
        if name in module.kind.uncertain(module.config):
            return Unknown()
        value = module.config[name]
        return Constant(value) if isinstance(value, (int, float, str, bool, type(None))) else Unknown()
    if name == "__class__":
        return class_of(module) or Unknown()
    return Bound(module, name)


def class_attribute(cls: Class, name: str, origin: ir.Node) -> Value:
    """What a class or one it derives from has under a name."""
    for each in cls.ancestry():
        if name in each.attributes:
            return each.attributes[name]
    if name == "apply":
        return Bound(cls, name)
    found = Unknown(source=origin)
    found.may_be = tuple(held for each in cls.ancestry() for held in each.named_elsewhere)
    if name in ("__mro__", "__bases__", "__base__"):
        found.may_be += cls.ancestry()
    return found


def _super_attribute(value: Super, name: str) -> Value:
    instance = value.instance
    order = instance.cls.ancestry() if isinstance(instance, Instance) else value.cls.ancestry()
    later = order[order.index(value.cls) + 1 :] if value.cls in order else ()
    for cls in later:
        found = cls.attributes.get(name)
        if isinstance(found, Choice):
            return choose([(guard, _bound(instance, name, each)) for guard, each in found.alternatives])
        if found is not None:
            return _bound(instance, name, found)
    return Bound(value, name)


def _bound(instance: Value, name: str, found: Value) -> Value:
    return Bound(instance, name, found) if isinstance(found, Function) else found


_SAID_OF_TENSORS: Final = frozenset({"device", "dtype", "is_leaf", "ndim", "requires_grad", "shape"})
"""What is no tensor, and holds none, whatever it is read from."""
_OF_TENSORS: Final = _SAID_OF_TENSORS | {"data", "grad"}
_VARIABLES: Final = frozenset({"__closure__", "__globals__", "f_builtins", "f_globals", "f_locals"})
"""What of a function or a frame holds all variables: whoever has it may bind any."""
MODULE_METHODS: Final = frozenset(
    [
        "parameters",
        "named_parameters",
        "children",
        "named_children",
        "modules",
        "named_modules",
        "buffers",
        "zero_grad",
        "train",
        "eval",
        "to",
        "cuda",
        "cpu",
        "half",
        "float",
        "double",
        "bfloat16",
        "register_buffer",
        "register_parameter",
        "add_module",
        "register_module",
        "set_submodule",
        "apply",
        "state_dict",
        "load_state_dict",
        "requires_grad_",
        "__call__",
        "__setattr__",
        "share_memory",
        "type",
        "get_parameter",
        "get_submodule",
        "register_forward_hook",
        "register_full_backward_hook",
        "register_forward_pre_hook",
    ]
)


_LEADING_TO_TENSORS: Final = frozenset({Choice, Mapping, Sequence, Tensor, Unbound, Unknown})


def held_tensors(instance: Instance) -> list[Tensor]:
    """The tensors among an object's attributes, and in containers there."""
    held = [each for each in instance.attributes.values() if type(each) in _LEADING_TO_TENSORS]
    return [tensor for value in held for tensor in reachable_tensors(value)]


def is_module(instance: Instance) -> Truth:
    """Whether an object is an `nn.Module`: MAYBE when it has a base that the model cannot see."""
    outside = instance.cls.outside()
    for base in outside:
        if isinstance(base, External) and (base.qualified in MODULE_BASES or modules.find(base.qualified) is not None):
            return Truth.YES
    unseen = [
        base
        for base in outside
        if not (isinstance(base, External) and base.qualified.startswith(("builtins.", "abc.", "typing.", "enum.")))
    ]
    return Truth.MAYBE if unseen else Truth.NO


def owner_of_dict(run: Run, node: ir.Expression) -> Value | None:
    """What an expression gives the attributes of as a dict; of a frame's variables, the constant None."""
    if isinstance(node, ir.Attribute) and (node.attr == "__dict__" or node.attr in REGISTRIES):
        return run.evaluate(node.value)
    if isinstance(node, ir.Call) and isinstance(node.function, ir.Name):
        called = node.function.id
        if called in ("globals", "locals", "vars") and not node.arguments:
            return NONE
        if called == "vars":
            return run.evaluate(node.arguments[0].value)
    return None


def _plain_of_class(cls: Class, name: str) -> Value | None:
    """A number, text, device or name of torch's that a class sets for all its objects."""
    held = next((each.attributes[name] for each in cls.ancestry() if name in each.attributes), None)
    return held if isinstance(held, (Constant, Scalar, External)) else None


def evaluate_again(run: Run, node: ir.Expression) -> Value:
    """The value of a name or attribute chain, without running any call a second time."""
    if isinstance(node, ir.Name):
        return lookup(run, node.id)
    if isinstance(node, ir.Attribute):
        value = evaluate_again(run, node.value)
        if isinstance(value, Tensor) and node.attr == "data":
            return value
        if isinstance(value, Tensor) and node.attr in ("T", "mT"):
            return Unknown()
        if isinstance(value, Instance):
            return value.attributes.get(node.attr) or _plain_of_class(value.cls, node.attr) or Unknown()
        return attribute(run, value, node.attr, node)
    return Unknown()


EXPRESSIONS: Expressions = {
    ir.Attribute: _evaluate_attribute,
}
