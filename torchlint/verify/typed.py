"""
Values for arguments whose annotation names a class of the project: configurations, other Modules, enumerations.

Runs inside the child. A class is built by its own constructor, with what has a default left out; what cannot be built
is left to be guessed by name and use.
"""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import enum
import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, get_args, get_origin

import torch

PARTS = 2
"""So many instances a list gets."""
DEPTH = 3
"""Classes that need classes are built no deeper."""
LARGE, SCALE = 512, 16
"""Sizes from `LARGE` on are divided by `SCALE`."""
_LIBRARIES = frozenset({"torch", "numpy", "typing", "builtins", "collections", "abc", "types", "pathlib", "enum"})


class Nothing:
    """No value was found: None is one."""


def of(annotation: Any, arguments: Callable[[type[Any], int], Mapping[str, Any]], depth: int = DEPTH) -> Any:
    """
    A value for an annotation.

    Parameters
    ----------
    annotation
        As `annotated` gives it.
    arguments
        Keyword arguments for a class, given how much deeper classes may be built.

    Returns
    -------
    Any
        `Nothing` if the annotation is of no class of the project, or it cannot be built.
    """
    kind = class_of(annotation)
    if kind is None and (part := part_of(annotation)) is not None:
        found = [of(part, arguments, depth) for _ in range(PARTS)]
        return Nothing if Nothing in found else tuple(found) if get_origin(annotation) is tuple else found
    if kind is None:
        return next(iter(literal(annotation)), Nothing)
    if issubclass(kind, enum.Enum):
        return next(iter(kind), Nothing)
    if depth == 0 or inspect.isabstract(kind) or getattr(kind, "_is_protocol", False):
        return Nothing
    return made(kind, arguments, depth)


def made(kind: type[Any], arguments: Callable[[type[Any], int], Mapping[str, Any]], depth: int = DEPTH) -> Any:
    """An instance of a class, whosever it is; `Nothing` if it cannot be built."""
    try:
        return _smaller(kind(**arguments(kind, depth - 1)))
    except Exception:  # its constructor wants something that nobody knows
        return Nothing


def _smaller(built: Any) -> Any:
    """A configuration with the proportions of its sizes, and few layers: what is built by it is to be run."""
    fields = {} if isinstance(built, torch.nn.Module) else dict(getattr(built, "__dict__", {}))
    numbers = {name: value for name, value in fields.items() if type(value) is int}
    changed = {name: value // SCALE for name, value in numbers.items() if value >= LARGE}
    if not changed:
        return built
    changed |= {name: min(value, 2) for name, value in numbers.items() if "layer" in name or "depth" in name}
    if dataclasses.is_dataclass(built) and not isinstance(built, type):
        return dataclasses.replace(built, **changed)
    for name, value in changed.items():
        setattr(built, name, value)
    return built


def class_of(annotation: Any) -> type[Any] | None:
    """The class of the project that an annotation names, `X | None` and `Optional[X]` included."""
    if get_origin(annotation) in (Union, types.UnionType):
        found = [each for each in get_args(annotation) if each is not type(None)]
        annotation = found[0] if found else None
    if not isinstance(annotation, type) or get_origin(annotation) is not None:
        return None
    if annotation.__module__.partition(".")[0] in _LIBRARIES or issubclass(annotation, (torch.Tensor, BaseException)):
        return None
    return annotation


def part_of(annotation: Any) -> type[Any] | None:
    """The class of the project of which a list holds instances, by its annotation: `list[X]`, `Sequence[X] | None`."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next((found for each in get_args(annotation) if (found := part_of(each))), None)
    if get_origin(annotation) not in _SEVERAL or not get_args(annotation):
        return None
    return class_of(get_args(annotation)[0])


def plain_part(annotation: Any) -> Any:
    """Of what a list holds instances, whosever class it is, by its annotation; None, if that does not say."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next((found for each in get_args(annotation) if (found := plain_part(each))), None)
    several = get_origin(annotation) in _SEVERAL and get_origin(annotation) is not tuple
    return get_args(annotation)[0] if several and isinstance(get_args(annotation)[0], type) else None


def of_words(annotation: Any) -> bool:
    """Whether a list holds strings, by its annotation."""
    if get_origin(annotation) in (Union, types.UnionType):
        return any(of_words(each) for each in get_args(annotation))
    return get_origin(annotation) in _SEVERAL and get_args(annotation)[:1] == (str,)


_SEVERAL = (list, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)


def literal(annotation: Any) -> tuple[Any, ...]:
    """The values that an annotation names: those of `Literal["a", "b"]`."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next((found for each in get_args(annotation) if (found := literal(each))), ())
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def several(annotation: Any) -> tuple[type[Any], ...]:
    """The numbers that a tuple holds, by its annotation (`tuple[int, float]`); none, if that does not say how many."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next((found for each in get_args(annotation) if (found := several(each))), ())
    parts = get_args(annotation) if get_origin(annotation) is tuple else ()
    return parts if all(each in (int, float) for each in parts) else ()


def annotated(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function's or a class's parameters, as objects where their names are known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    code: Any = vars(function).get("__init__", function) if isinstance(function, type) else function
    names = getattr(inspect.unwrap(code), "__globals__", None) or vars(sys.modules.get(function.__module__, types))
    return {p.name: _object(p.annotation, names) for p in parameters if p.annotation is not p.empty}


def _object(annotation: Any, names: Mapping[str, Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, dict(names))
    except Exception:  # imported for type checkers alone
        return annotation


@functools.lru_cache(maxsize=256)
def read_of(function: Callable[..., Any], name: str) -> frozenset[str]:
    """The attributes and keys that the source of a function or a class reads of an argument."""
    try:
        tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError, ValueError):
        return frozenset()
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(ast.Name(id), attribute) if id == name:
                found.add(attribute)
            case ast.Subscript(ast.Name(id), ast.Constant(str() as key)) if id == name:
                found.add(key)
    return frozenset(found)


def that_has(wanted: frozenset[str], names: Mapping[str, Any]) -> type[Any] | None:
    """The class among names that has fields for all that is read, and most of whose fields have defaults."""
    for value in list(names.values()):
        fields = getattr(value, "__dataclass_fields__", None) or getattr(value, "_fields", None)
        known = isinstance(value, type) and class_of(value) is not None
        if known and fields and wanted and wanted <= {*fields, *dir(value)}:
            found: type[Any] = value
            return found
    return None


def layer_for(target: type[Any], name: str) -> type[Any] | None:
    """The class of layers beside a class that has what this reads of an argument, or is named like the argument."""
    names = vars(sys.modules.get(target.__module__, types))
    read = read_of(target, name)  # type: ignore[arg-type]
    beside = [
        each
        for each in names.values()
        if isinstance(each, type) and issubclass(each, torch.nn.Module) and class_of(each) is not None
    ]
    beside = [each for each in beside if not issubclass(each, target) and each.__module__ == target.__module__]
    if read and not read <= {*dir(torch.nn.Module)}:
        return next((each for each in beside if read <= {*dir(each)}), None)
    stem = name.lower().removesuffix("_class").removesuffix("_cls").removesuffix("_type").replace("_", "")
    return next((each for each in beside if not read and len(stem) > 3 and stem in each.__name__.lower()), None)
