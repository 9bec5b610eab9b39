"""
Frozen dataclasses whose methods are not generated, for records of which a program knows many kinds and uses few.

`dataclasses.dataclass` writes each method of a class as text and compiles that when the class is defined, half a
millisecond for a frozen one: a quarter of the start of a run, for a hundred kinds of events. Here all kinds share their
methods; the fields that `dataclasses.fields`, `replace` and `dataclass` of a derived class ask for are made when they
are asked for, and the `__init__` of a kind when many have been made. A type checker is told that it is `dataclass`.

For plain fields alone: no `field(...)`, no `__post_init__`, no order. Knows nothing of torchlint.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["changed_in", "record"]

_Kind = TypeVar("_Kind")
_SET = object.__setattr__


def _initialise(self: Any, /, *given: object, **named: object) -> None:
    shape: _Shape = type(self).__record__
    values = named if len(named) == len(shape.names) else {**shape.defaults, **named}
    if given:
        names = shape.by_position
        if len(given) > len(names) or (named and not named.keys().isdisjoint(names[: len(given)])):
            raise TypeError(_refusal(type(self), shape, given, named))
        values.update(zip(names, given, strict=False))
    if values.keys() != shape.names:
        raise TypeError(_refusal(type(self), shape, given, named))
    _SET(self, "__dict__", values)  # they are made by the thousand: no copy of it
    shape.made += 1
    if shape.made == _MANY:
        shape.kind.__init__ = _written_out(shape)  # type: ignore[misc]


_MANY = 200
"""After so many of a kind its `__init__` is written as text, which takes as long as it saves with the next so many."""


def _written_out(shape: _Shape) -> Callable[..., None]:
    """The `__init__` of a kind, as `dataclass` writes it."""
    given = {f"default_{name}": default for name, default in shape.defaults.items()}
    parts = {name: f"{name}=default_{name}" if name in shape.defaults else name for name in shape.fields}
    named = [part for name, part in parts.items() if name not in shape.by_position]
    parameters = ", ".join(["self", *[parts[name] for name in shape.by_position], *(["*", *named] if named else [])])
    values = ", ".join(f"{name!r}: {name}" for name in shape.fields)
    written: dict[str, Any] = {}
    exec(f"def __init__({parameters}): keep(self, '__dict__', {{{values}}})", {"keep": _SET, **given}, written)
    made: Callable[..., None] = written["__init__"]
    made.__qualname__ = f"{shape.kind.__qualname__}.__init__"
    return made


def changed_in(part: _Kind, changed: dict[str, object]) -> _Kind:
    """As `dataclasses.replace`, which goes through all fields of a record, though it is but data."""
    if "__record__" not in vars(type(part)):  # a dataclass, or one that derives from a record
        return dataclasses.replace(part, **changed)  # type: ignore[type-var]
    made = object.__new__(type(part))
    _SET(made, "__dict__", {**vars(part), **changed})
    return made


def _refusal(kind: type, shape: _Shape, given: tuple[object, ...], named: dict[str, object]) -> str:
    """What `dataclass` says, in short."""
    if len(given) > len(shape.by_position):
        return f"{kind.__name__}() takes {len(shape.by_position)} positional arguments but {len(given)} were given"
    for name in named:
        if name not in shape.names:
            return f"{kind.__name__}() got an unexpected keyword argument {name!r}"
        if name in shape.by_position[: len(given)]:
            return f"{kind.__name__}() got multiple values for argument {name!r}"
    known = {*shape.defaults, *named, *shape.by_position[: len(given)]}
    lacking = ", ".join(repr(name) for name in shape.fields if name not in known)
    return f"{kind.__name__}() is missing {lacking}"


def _set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _values(self: Any) -> tuple[object, ...]:
    return tuple([getattr(self, name) for name in type(self).__record__.fields])


def _shown(self: Any) -> str:
    parts = (f"{name}={getattr(self, name)!r}" for name in type(self).__record__.fields)
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _equals(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


class _Shape:
    """The fields of a kind of record: their names in order, those given by position, and their defaults."""

    __slots__ = ("annotations", "by_position", "defaults", "fields", "kind", "made", "names")

    def __init__(self, kind: type, *, kw_only: bool) -> None:
        above: list[_Shape | None] = [vars(each).get("__record__") for each in reversed(kind.__mro__[1:])]
        own: dict[str, Any] = inspect.get_annotations(kind)
        self.kind = kind
        self.made = 0
        self.by_position: tuple[str, ...]
        self.annotations: dict[str, Any] = {}
        self.defaults: dict[str, object] = {}
        by_position: list[str] = []
        for each in filter(None, above):
            self.annotations.update(each.annotations)
            self.defaults.update(each.defaults)
            by_position += [name for name in each.by_position if name not in by_position]
        for name, annotation in own.items():
            self.annotations[name] = annotation
            if name in vars(kind):
                default = vars(kind)[name]
                if isinstance(default, dataclasses.Field):
                    raise TypeError(f"{kind.__name__}.{name}: a record has plain fields alone")
                self.defaults[name] = default
        self.fields = tuple(self.annotations)
        self.names = self.annotations.keys()
        self.by_position = tuple(by_position if kw_only else dict.fromkeys([*by_position, *own]))
        have_default = [name in self.defaults for name in self.by_position]
        if have_default != sorted(have_default):
            raise TypeError(f"{kind.__name__}: a field without a default follows one with a default")


@dataclasses.dataclass(frozen=True)
class _Frozen:
    """Tells `dataclass` what records are, where a class derives from one."""


class _Fields:
    """`__dataclass_fields__`, made when somebody asks for it."""

    def __get__(self, _: object, kind: type) -> dict[str, dataclasses.Field[Any]]:
        shape: _Shape = kind.__record__  # type: ignore[attr-defined]
        told = {"__annotations__": shape.annotations, "__module__": kind.__module__, **shape.defaults}
        plain: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True)(
            type(kind.__name__, (), told)
        )
        found: dict[str, dataclasses.Field[Any]] = plain.__dataclass_fields__
        for name in shape.by_position:
            found[name].kw_only = False
        kind.__dataclass_fields__ = found  # type: ignore[attr-defined]
        return found


if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(*, frozen: bool, kw_only: bool = False, eq: bool = True) -> Callable[[type[_Kind]], type[_Kind]]:
        """As `dataclasses.dataclass(frozen=True)` makes a class."""
        assert frozen

        def made(kind: type[_Kind]) -> type[_Kind]:
            kind.__record__ = shape = _Shape(kind, kw_only=kw_only)
            kind.__match_args__ = shape.by_position
            kind.__dataclass_params__ = _Frozen.__dataclass_params__
            kind.__dataclass_fields__ = _Fields()
            kind.__init__, kind.__repr__ = _initialise, _shown
            kind.__setattr__, kind.__delattr__ = _set, _delete
            if eq:
                kind.__eq__, kind.__hash__ = _equals, _hash
            return kind

        return made
