"""
What a program learns of its values by asking: `isinstance`, `issubclass`, `in`, the methods of strings, `__name__`.

Works on values alone and decides only what is certain; whatever a value may be besides is MAYBE. Runs nothing.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Final

from torchlint.knowledge.modules import find as modules
from torchlint.knowledge.modules import namespaces
from torchlint.knowledge.names import MODULE
from torchlint.knowledge.ops import find as ops
from torchlint.model.state.guards import Truth
from torchlint.model.state.reachable import OF_TENSORS
from torchlint.model.state.values import (
    NONE,
    Choice,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    fits,
)
from torchlint.syntax import ir

_PLAIN: Final = frozenset({"int", "float", "str", "bool", "bytes", "complex"})
_BUILTIN = _PLAIN | {"list", "tuple", "dict", "set", "frozenset", "type"}
_FUNCTIONS = frozenset({"types.FunctionType", "types.LambdaType"})
_SCALARS = {"int": {"int"}, "float": {"float"}, "bool": {"bool", "int"}, "str": {"str"}}
MOST_TEXT = 4096
"""Longest string that is computed: one that a loop doubles has no end."""
_TEXT = frozenset(
    {"lower", "upper", "strip", "lstrip", "rstrip", "replace", "split", "startswith", "endswith", "title", "capitalize"}
)


def is_a(value: Value, kind: Value) -> Truth:
    """`isinstance(value, kind)`."""
    if isinstance(kind, Sequence):
        return _of_one(is_a, value, kind)
    if isinstance(value, Choice):
        verdicts = {is_a(each, kind) for _, each in value.alternatives}
        return verdicts.pop() if len(verdicts) == 1 else Truth.MAYBE
    if isinstance(kind, Class):
        return _of_class(value, kind)
    if not isinstance(kind, External):
        return Truth.MAYBE
    name = kind.qualified.removeprefix("builtins.")
    if name in _BUILTIN:
        return _of_builtin(value, name)
    if isinstance(value, (Constant, Scalar)) and (
        kind.qualified.startswith("torch.") or kind.qualified in _FUNCTIONS or kind.qualified == "functools.partial"
    ):
        return Truth.NO
    if kind.qualified in _FUNCTIONS:
        return Truth.YES if isinstance(value, Function) else Truth.NO if _is_class(value) else Truth.MAYBE
    if kind.qualified == "functools.partial":
        return Truth.NO if isinstance(value, (Function, Sequence, Mapping)) or _is_class(value) else Truth.MAYBE
    if kind.qualified in ("torch.Tensor", "torch.nn.Module"):
        return _of_torch(value, kind.qualified)
    if isinstance(value, Module) and (layer := modules.find(kind.qualified)) is not None:
        return Truth.of(modules.derives(value.kind.name, layer.name))
    return Truth.MAYBE


def is_subclass(value: Value, kind: Value) -> Truth:
    """`issubclass(value, kind)`, of classes of torch and of the file."""
    if isinstance(kind, Sequence):
        return _of_one(is_subclass, value, kind)
    if isinstance(value, Class) and isinstance(kind, Class):
        return _of_class(Instance(value), kind)
    if not isinstance(value, External) or not isinstance(kind, External) or not _is_class(value):
        return Truth.MAYBE
    if kind.qualified in MODULE:
        return Truth.YES
    one, other = modules.find(value.qualified), modules.find(kind.qualified)
    return Truth.of(modules.derives(one.name, other.name)) if one is not None and other is not None else Truth.MAYBE


def _of_one(test: Callable[[Value, Value], Truth], value: Value, kinds: Sequence) -> Truth:
    """Whether a value is of one of several kinds."""
    if kinds.items is None or not fits(kinds):
        return Truth.MAYBE
    found = Truth.NO
    for each in kinds.items:
        found = found | test(value, each)
    return found


def is_no_layer_of(value: Value, kind: Value) -> bool:
    """
    Whether a layer of torch is certainly none of a class of a package that is neither torch nor the project (that is
    for the caller to see to). Such a class is no base of torch's, and one that it hands on from torch has torch's name.
    """
    if isinstance(kind, Choice):
        classes = [each for _, each in kind.alternatives if each != NONE]  # `isinstance` with None raises
        return bool(classes) and all(is_no_layer_of(value, each) for each in classes)
    if not isinstance(value, Module) or not isinstance(kind, External):
        return False
    package, _, name = kind.qualified.rpartition(".")
    elsewhere = package not in ("", "builtins", "torch") and not package.startswith((".", "torch."))
    return elsewhere and modules.find(f"torch.nn.{name}") is None


def _of_builtin(value: Value, name: str) -> Truth:
    if isinstance(value, Constant):
        return Truth.of(isinstance(value.value, getattr(builtins, name)))
    if isinstance(value, Scalar):
        return Truth.of(name in _SCALARS[value.kind]) if value.kind in _SCALARS and name != "type" else Truth.MAYBE
    if isinstance(value, Sequence) and value.kind in _BUILTIN:
        return Truth.of(name == value.kind)
    if isinstance(value, Mapping):
        return Truth.NO if name != "dict" else Truth.YES
    if _is_class(value):
        return Truth.of(name == "type")
    if isinstance(value, (Tensor, Module, Function)):
        return Truth.NO
    if isinstance(value, External) and ops.find(value.qualified):
        return Truth.NO  # a function of torch
    return Truth.MAYBE


def _of_torch(value: Value, name: str) -> Truth:
    if isinstance(value, Tensor):
        return Truth.of(name == "torch.Tensor")
    if isinstance(value, Module):
        return Truth.of(name == "torch.nn.Module")
    if isinstance(value, (Sequence, Mapping, Function)) or _is_class(value):
        return Truth.NO
    return Truth.MAYBE


def _of_class(value: Value, kind: Class) -> Truth:
    if isinstance(value, Instance):
        if kind in value.cls.ancestry():
            return Truth.YES
        unseen = any(not (isinstance(base, External) and _known(base.qualified)) for base in value.cls.outside())
        return Truth.MAYBE if unseen else Truth.NO
    return Truth.NO if isinstance(value, (Function, Module)) or _is_class(value) else Truth.MAYBE


def _known(qualified: str) -> bool:
    """Whether the bases of a class outside the project are certainly no classes of the project."""
    return qualified.startswith(("torch.", "builtins.", "abc.", "collections.", "typing.", "enum."))


def _is_class(value: Value) -> bool:
    if isinstance(value, External):
        return modules.find(value.qualified) is not None or namespaces.is_class(value.qualified)
    return isinstance(value, Class)


def is_same(left: Value, right: Value) -> Truth:
    """`left is right`, of classes and functions, and `==` of constants."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Truth.of(left == right)
    if isinstance(left, (Class, Function)) and left is right:
        return Truth.YES
    if isinstance(left, External) and isinstance(right, External):
        both = _is_class(left) and _is_class(right)
        return Truth.YES if left == right else Truth.NO if both else Truth.MAYBE
    different = type(left) is not type(right) or isinstance(left, Class)
    return (
        Truth.NO if different and all(isinstance(e, Constant) or _is_class(e) for e in (left, right)) else Truth.MAYBE
    )


def contains(left: Value, right: Value) -> Truth:
    """`left in right`."""
    if isinstance(right, Instance) and right.contents is not None:
        right = right.contents
    if isinstance(left, Choice):
        verdicts = {contains(each, right) for _, each in left.alternatives}
        return verdicts.pop() if len(verdicts) == 1 else Truth.MAYBE
    if isinstance(right, Constant) and isinstance(right.value, str):
        both = isinstance(left, Constant) and isinstance(left.value, str)
        return Truth.of(left.value in right.value) if both else Truth.MAYBE  # type: ignore[union-attr, operator]
    items: list[Value] | None = None
    if isinstance(right, Mapping) and right.items is not None:
        items = [Constant(key) for key in right.items]
    elif isinstance(right, Sequence) and right.items is not None:
        items = list(right.items)
    if items is None:
        return Truth.MAYBE
    found = Truth.NO
    for each in items:
        found = found | is_same(left, each)
    return found


def name_of(value: Value) -> Value | None:
    """`value.__name__`, of classes and functions."""
    if isinstance(value, Class):
        return Constant(value.name)
    if isinstance(value, Function) and value.name != "<lambda>":
        return Constant(value.name)
    if isinstance(value, External) and _is_class(value):
        return Constant(value.qualified.rpartition(".")[2])
    return None


def class_of(value: Value) -> Value | None:
    """
    `type(value)`, of an object that a call of that very class made, and of a layer. A lazy layer becomes another's at
    its first call, one that unknown code had in its hands may have been parametrized; both have a class that is made.
    """
    if isinstance(value, Instance):
        return value.cls if value.exact else None
    if not isinstance(value, Module) or value.patched or value.kind.name.startswith("Lazy"):
        return None
    qualified = f"torch.nn.{value.kind.name}"
    return External(qualified) if modules.find(qualified) is value.kind else None


def class_of_tensor(origin: ir.Node) -> Unknown:
    """`w.__class__`, `type(w)`: `torch.Tensor`, or a class that derives from it."""
    found = Unknown(source=origin)
    found.may_be = (External(OF_TENSORS),)
    return found


def text_method(text: str, name: str, arguments: list[Value]) -> Value | None:
    """A method of a string whose arguments are known; None if it is not one of those followed."""
    if name not in _TEXT or not all(isinstance(each, Constant) for each in arguments):
        return None
    try:
        result = getattr(text, name)(*(each.value for each in arguments if isinstance(each, Constant)))
    except (TypeError, ValueError):
        return Unknown()
    if isinstance(result, str) and len(result) > MOST_TEXT:
        return Scalar("str")
    if isinstance(result, list):
        return Sequence("list", tuple(Constant(each) for each in result))
    return Constant(result)


__all__ = ["contains", "is_a", "is_no_layer_of", "is_same", "is_subclass", "name_of", "text_method"]
