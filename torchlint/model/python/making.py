"""
How an object of a class of the project comes into being: by its `__init__` alone, as the class says it, or by more.

A metaclass, a decorator, `__new__`, a base class elsewhere may run what they like before and after `__init__`, or in
its place; what an object holds after that, nobody can tell from the class. Says so of a class, and no more: runs
nothing.
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge import foreign
from torchlint.knowledge.modules import find as modules
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.values import (
    Class,
    Constant,
    External,
    Function,
    Instance,
    Sequence,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    is_value_of_elsewhere,
)
from torchlint.syntax import ir

MODULE_BASES: Final = frozenset(
    {"torch.nn.Module", "torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.jit.ScriptModule",
     "lightning.LightningModule", "pytorch_lightning.LightningModule", "lightning.pytorch.LightningModule"}
)  # fmt: skip
_PLAIN_BASES: Final = ("builtins.object", "abc.ABC", "typing.", "typing_extensions.")
_PLAIN_METACLASSES = frozenset({"abc.ABCMeta", "builtins.type"})
_PLAIN_DECORATORS = (
    "typing.", "typing_extensions.", "abc.", "functools.total_ordering", "warnings.deprecated",
    "builtins.staticmethod",
)  # fmt: skip
DATACLASS = "dataclasses.dataclass"
_MAKES = frozenset({"__new__", "__init_subclass__", "__setattr__", "__getattribute__"})
GETS_ATTRIBUTES: Final = "__getattribute__"
OF_ATTRIBUTES: Final = frozenset(
    {"__delattr__", "__delete__", "__get__", "__getattr__", "__getattribute__", "__set__", "__setattr__"}
)
"""Special methods that say what an attribute is."""
_CALLS = frozenset({"__call__", "__getattr__", "_call_impl", "_wrapped_call_impl"})
_LISTS = frozenset({"named_parameters", "named_modules", "_named_members"})


def runs_unseen(name: str, value: Value) -> bool:
    """
    Whether what a class has under a name is a special method that nobody knows, which Python runs where no call of it
    is written: one with a decorator, or put there by name.
    """
    if not (name.startswith("__") and name.endswith("__")) or name in _NO_METHODS:
        return False
    for _, each in alternatives(value):
        if isinstance(each, Function) and each.kind == "opaque":
            return True
        if isinstance(each, Unknown) and not is_foreign(each):
            return True
        if isinstance(each, External) and is_value_of_elsewhere(each) and not foreign.keeps_flags(each.qualified):
            return True
    return False


_NO_METHODS = frozenset({"__annotations__", "__doc__", "__module__", "__name__", "__qualname__", "__slots__"})


def keeps_class(decorator: Value, attributes: dict[str, Value]) -> bool:
    """Whether a class decorator leaves the class and its `__init__` as they are written."""
    if not isinstance(decorator, External):
        return False
    if decorator.qualified == DATACLASS:
        return "__init__" in attributes  # it writes one only where there is none
    return decorator.qualified.startswith(_PLAIN_DECORATORS)


def keeps_making(metaclass: Value) -> bool:
    """Whether a metaclass makes objects like `type` does."""
    return isinstance(metaclass, External) and metaclass.qualified in _PLAIN_METACLASSES


def is_plain_base(base: Value) -> bool:
    """Whether a base outside of the project is known to add nothing to how objects are made."""
    return isinstance(base, External) and base.qualified.startswith(_PLAIN_BASES)


def keeps_fields(base: Value) -> bool:
    """Whether an object of a class with annotated fields and this base has what it is given as attributes."""
    return is_plain_base(base) and base not in _OF_KEYS


def fields_of_tuple(cls: Class) -> list[str] | None:
    """The names of the items of an object of a class that derives from `typing.NamedTuple` and nothing else."""
    for each in cls.ancestry():
        if each.bases == (_NAMED_TUPLE,) and cls.outside() == each.bases and made_as_written(cls):
            body = [one for one in each.definition.body if isinstance(one, ir.Assign) and one.annotation is not None]
            return [target.id for one in body for target in one.targets if isinstance(target, ir.Name)]
    return None


def new_named_tuple(site: CallSite) -> Class | None:
    """`collections.namedtuple(name, fields)`: the class it makes, as if it were written; None if that is not known."""
    name, fields = site.get(0, "typename"), site.get(1, "field_names")
    if not (isinstance(name, Constant) and isinstance(name.value, str)) or not site.complete or len(site.values()) != 2:
        return None
    if isinstance(fields, Constant) and isinstance(fields.value, str):
        names: list[object] = [*fields.value.replace(",", " ").split()]
    elif isinstance(fields, Sequence) and fields.items is not None:
        names = [each.value if isinstance(each, Constant) else None for each in fields.items]
    else:
        return None
    at = site.node.origin
    body: list[ir.Statement] = []
    for each in names:
        if not isinstance(each, str):
            return None
        target = ir.Name(at, each)
        body.append(ir.Assign(at, None, [target], None, target))
    return Class(ir.ClassDef(at, None, name.value, [], body, []), name.value, (_NAMED_TUPLE,), {})


_NAMED_TUPLE = External("typing.NamedTuple")
_OF_KEYS = (External("typing.TypedDict"), External("typing_extensions.TypedDict"))


def is_module_base(base: Value) -> bool:
    """Whether a base outside of the project is a Module of which all is known."""
    if not isinstance(base, External) or base.qualified == "torch.jit.ScriptModule":
        return False
    return base.qualified in MODULE_BASES or modules.find(base.qualified) is not None


def may_be_called_otherwise(cls: Class) -> bool:
    """
    Whether a base, a decorator or a metaclass that nobody knows may have given the class a `__call__` of its own, or
    have wrapped its `forward`.
    """
    return any(each.finished_elsewhere for each in cls.ancestry()) or not inherits_known(cls)


def inherits_known(cls: Class) -> bool:
    """Whether all that objects of the class inherit from outside of the project is known."""
    return all(is_plain_base(base) or is_module_base(base) for base in cls.outside())


def made_as_written(cls: Class) -> bool:
    """Whether an object of the class is what its `__init__`, as it is written, makes of an empty one."""
    for each in cls.ancestry():
        if each.wrapped or not _MAKES.isdisjoint(each.attributes):
            return False
        init = each.attributes.get("__init__")
        if init is not None and not (isinstance(init, Function) and init.kind == ""):
            return False
    return inherits_known(cls)


def called_as_written(cls: Class) -> bool:
    """Whether a call of an object of a Module's class goes through `nn.Module.__call__`."""
    return all(_CALLS.isdisjoint(each.attributes) for each in cls.ancestry())


def lists_all(instance: Instance) -> bool:
    """
    Whether an object's registered parameters can only be those that were seen to be assigned: not where it stands for
    objects of derived classes, too, or unknown code has had it.
    """
    return instance.exact and not instance.havocked and made_as_written(instance.cls) and lists_its_own(instance)


def lists_its_own(instance: Instance) -> bool:
    """Whether what is registered with an object, as far as it is known, is among what its `parameters()` gives."""
    return inherits_known(instance.cls) and all(_LISTS.isdisjoint(each.attributes) for each in instance.cls.ancestry())


def is_abstract(cls: Class) -> bool:
    """Whether a class has methods that are abstract, or only raise, and that nothing overrides."""
    names: set[str] = set()
    for each in cls.ancestry():
        for name, value in each.attributes.items():
            if name not in names and isinstance(value, Function) and _is_left_open(value.definition):
                return True
            names.add(name)
    return False


def may_be_overridden(instance: Instance, method: Function) -> bool:
    """
    Whether an object's method is a default, which returns a constant or nothing, of a class that is abstract: no object
    is of that class itself, and those that derive from it have such a method so as to be given another.
    """
    return not instance.exact and _is_default(method.definition) and is_abstract(instance.cls)


def _is_default(definition: ir.FunctionDef | ir.Lambda) -> bool:
    if isinstance(definition, ir.Lambda):
        return False
    body = [each for each in definition.body if not isinstance(each, ir.Pass) and not is_docstring(each)]
    if len(body) > 1 or not all(isinstance(each, ir.Return) for each in body):
        return False
    return all(isinstance(each, ir.Return) and _is_constant(each.value) for each in body)


def is_docstring(statement: ir.Statement) -> bool:
    """Whether a statement is a constant by itself: a docstring, or `...`."""
    return isinstance(statement, ir.ExpressionStatement) and isinstance(statement.value, ir.Constant)


def _is_constant(value: ir.Expression | None) -> bool:
    if isinstance(value, ir.Sequence):
        return not value.elements
    if isinstance(value, ir.Dict):
        return not value.values
    return value is None or isinstance(value, ir.Constant)


def _is_left_open(definition: ir.FunctionDef | ir.Lambda) -> bool:
    if isinstance(definition, ir.Lambda):
        return False
    for decorator in definition.decorators:
        name = decorator.attr if isinstance(decorator, ir.Attribute) else getattr(decorator, "id", "")
        if name in ("abstractmethod", "abstractproperty"):
            return True
    body = [each for each in definition.body if not isinstance(each, ir.ExpressionStatement)]
    return len(body) == 1 and isinstance(body[0], ir.Raise)


def only_renames(shown: Function) -> bool:
    """
    Whether a `__getattribute__` gives what that of `object` does, under a name that it may have chosen: it calls
    nothing else, and keeps nothing.
    """
    if shown.kind != "":
        return False
    returned = False
    for node in ir.walk(shown.definition.body):
        if isinstance(node, ir.Return):
            returned = True
            if not (isinstance(node.value, ir.Call) and _asks_base(node.value)):
                return False
        elif isinstance(node, ir.Call):
            if not (_asks_base(node) or (isinstance(node.function, ir.Name) and node.function.id == "super")):
                return False
        elif isinstance(node, ir.Assign):
            if not all(isinstance(target, ir.Name) for target in node.targets):
                return False
        elif isinstance(node, ir.Statement) and not isinstance(node, (ir.If, ir.ExpressionStatement)):
            return False
    return returned


def _asks_base(call: ir.Call) -> bool:
    """Whether it is `super().__getattribute__(...)`."""
    function = call.function
    if not (
        isinstance(function, ir.Attribute) and function.attr == GETS_ATTRIBUTES and isinstance(function.value, ir.Call)
    ):
        return False
    return isinstance(function.value.function, ir.Name) and function.value.function.id == "super"
