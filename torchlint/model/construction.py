"""
Objects that are built alike are copied, not built again.

A network builds the same block a dozen times, in a loop that is followed twice, once for each class that holds it:
running its `__init__` each time was a third of the model's cost. What one construction left is kept as a prototype;
where the same class is called again on arguments that are as well known, the object is a copy of it with the new
arguments in the place of the old ones. Anything a copy could not be faithful to (a tensor in a graph, a view, a closure
over the constructor's variables) keeps the prototype from being made.

Copies values of the domain; runs nothing, and knows nothing of the machine but how to number a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import TypeAlias

from torchlint.model.domain import (
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Frame,
    Function,
    Grad,
    GradModeGuard,
    Instance,
    Mapping,
    Module,
    Partial,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
)
from torchlint.model.truth import Guard

Key: TypeAlias = "tuple[object, ...]"

MOST_PARTS = 400
"""Values in a prototype; larger objects are built again."""
MOST_PROTOTYPES = 200
_copies = count()
_PLAIN = (Constant, Scalar, External, Class, GradModeGuard)


class NoPrototypeError(Exception):
    """The object holds what a copy would not be faithful to."""


@dataclass(frozen=True, slots=True)
class Prototype:
    """An object as its construction left it, and the arguments it was built from (leaves of containers in order)."""

    instance: Instance
    arguments: tuple[Value, ...]


class Prototypes:
    """
    The objects built so far in one file.

    Parameters
    ----------
    root
        The variables of the file: a function that closes over others is not copied.
    branch
        The machine's numbering of branches: decisions in a copy are its own.
    """

    def __init__(self, root: Frame, branch: Callable[[object], int]) -> None:
        self._root = root
        self._branch = branch
        self._known: dict[Key, Prototype | None] = {}
        """None where the object cannot be copied."""
        self._held: list[Value] = []

    def key(self, cls: Class, positional: Iterable[Value], keywords: dict[str, Value], mode: object) -> Key | None:
        """What a construction depends on, or None if that cannot be told."""
        try:
            given = tuple(self._signature(value) for value in positional)
            named = tuple((name, self._signature(value)) for name, value in keywords.items())
            key = (id(cls), mode, given, named)
            hash(key)
        except (NoPrototypeError, TypeError):
            return None
        return key

    def make(self, key: Key, given: tuple[Value, ...]) -> Instance | None:
        """A copy of what was built before under this key, for these `leaves`; None if there is nothing to copy."""
        known = self._known.get(key)
        if known is None:
            return None
        copier = _Copier(self._root, dict(zip(map(id, known.arguments), given, strict=True)), self._branch)
        return copier.instance(known.instance)

    def keep(self, key: Key, instance: Instance, given: tuple[Value, ...], arguments: Iterable[Value]) -> None:
        """
        Remember what was just built, unless it cannot be copied: the `leaves` before, and the arguments now, which the
        constructor may have changed.
        """
        if key in self._known or len(self._known) >= MOST_PROTOTYPES:
            return
        if list(map(id, given)) != list(map(id, leaves(arguments))):
            self._known[key] = None
            return
        self._held += (instance.cls, *given)  # their ids stand in keys
        try:
            copier = _Copier(self._root, {id(value): value for value in given}, self._branch)
            self._known[key] = Prototype(copier.instance(instance), given)
        except (NoPrototypeError, RecursionError):
            self._known[key] = None

    def another(self, value: Module | Instance) -> Value:
        """Another object of which as much is known: the next element of a list of such."""
        try:
            return _Copier(self._root, {}, self._branch).value(value)
        except (NoPrototypeError, RecursionError):
            return Unknown(layer=True)

    def _signature(self, value: Value) -> object:
        if isinstance(value, Constant | Scalar | External):
            return value
        if isinstance(value, Unknown):
            if value.tensor is None and not value.depends and not value.attributes:
                return ("unknown", value.layer, value.hint, value.element_of_parameters)
            return id(value)
        if isinstance(value, Sequence):
            if value.items is None or value.element is not None:
                raise NoPrototypeError
            return (value.kind, tuple(self._signature(each) for each in value.items))
        if isinstance(value, Mapping):
            if value.items is None or value.element is not None:
                raise NoPrototypeError
            return ("dict", tuple((name, self._signature(each)) for name, each in value.items.items()))
        if isinstance(value, Choice):
            return ("choice", tuple(self._signature(each) for _, each in value.alternatives))
        if isinstance(value, Class | Function | Partial | GradModeGuard):
            return id(value)
        raise NoPrototypeError


def leaves(values: Iterable[Value]) -> tuple[Value, ...]:
    """The arguments with containers and alternatives taken apart, in the order of their signatures."""
    found: list[Value] = []
    for value in values:
        if isinstance(value, Sequence) and value.items is not None:
            found += (value, *leaves(value.items))
        elif isinstance(value, Mapping) and value.items is not None:
            found += (value, *leaves(value.items.values()))
        elif isinstance(value, Choice):
            found += (value, *leaves(each for _, each in value.alternatives))
        else:
            found.append(value)
    return tuple(found)


class _Copier:
    """One copy: what is met twice is copied once."""

    def __init__(self, root: Frame, known: dict[int, Value], branch: Callable[[object], int]) -> None:
        self._root = root
        self._known = known
        self._branch = branch
        self._number = next(_copies)
        self._parts = 0

    def instance(self, old: Instance) -> Instance:
        copied = self.value(old)
        assert isinstance(copied, Instance)
        return copied

    def value(self, old: Value) -> Value:
        if isinstance(old, _PLAIN):
            return old
        known = self._known.get(id(old))
        if known is not None:
            return known
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise NoPrototypeError
        if isinstance(old, Instance):
            instance = Instance(old.cls)
            self._known[id(old)] = instance
            instance.havocked, instance.initialised = old.havocked, old.initialised
            for name, value in old.attributes.items():
                instance.attributes[name] = self.value(value)
            if old.layer is not None:
                instance.layer = self._module(old.layer)
            return instance
        if isinstance(old, Module):
            return self._module(old)
        if isinstance(old, Tensor):
            return self._tensor(old)
        if isinstance(old, Unknown):
            return self._unknown(old)
        if isinstance(old, Sequence):
            sequence = Sequence(old.kind, None, None, old.parameters_of)
            self._known[id(old)] = sequence
            sequence.items = None if old.items is None else tuple(self.value(each) for each in old.items)
            sequence.element = None if old.element is None else self.value(old.element)
            return sequence
        if isinstance(old, Mapping):
            mapping = Mapping(None)
            self._known[id(old)] = mapping
            mapping.items = None if old.items is None else {key: self.value(each) for key, each in old.items.items()}
            mapping.element = None if old.element is None else self.value(old.element)
            return mapping
        if isinstance(old, Choice):
            choice = Choice(tuple((self._guard(guard), self.value(each)) for guard, each in old.alternatives))
            self._known[id(old)] = choice
            return choice
        if isinstance(old, Function) and old.closure is self._root:
            return old
        if isinstance(old, Bound) and old.function is not None and old.function.closure is self._root:
            return Bound(self.value(old.receiver), old.name, old.function, old.start)
        raise NoPrototypeError

    def _guard(self, guard: Guard) -> Guard:
        """The same decision, taken anew: nothing ties it to the one that the prototype took."""
        return frozenset(
            (self._branch(("copied", self._number, key)), arm) if isinstance(key, int) else (key, arm)
            for key, arm in guard
        )

    def _module(self, old: Module) -> Module:
        module = Module(old.kind, old.config, old.origin)
        self._known[id(old)] = module
        module.parameters = {name: self.value(each) for name, each in old.parameters.items()}
        module.tail = None if old.tail is None else self.value(old.tail)
        if old.element is not None:
            element = self.value(old.element)
            assert isinstance(element, Module | Instance)
            module.element = element
        module.children = None if old.children is None else tuple(self.value(each) for each in old.children)
        module.names = old.names
        module.training = old.training
        return module

    def _unknown(self, old: Unknown) -> Unknown:
        if old.tensor is not None or type(old) is not Unknown:
            raise NoPrototypeError
        unknown = Unknown(
            (self._tensor_of(each) for each in old.depends),
            source=old.source,
            hint=old.hint,
            certain_edge=old.certain_edge,
            layer=old.layer,
            element_of_parameters=old.element_of_parameters,
        )
        self._known[id(old)] = unknown
        return unknown

    def _tensor_of(self, old: Tensor) -> Tensor:
        copied = self.value(old)
        assert isinstance(copied, Tensor)
        return copied

    def _tensor(self, old: Tensor) -> Tensor:
        storage = old.storage
        plain = old.base is None and not old.grad_fn and old.grad is NONE and old.grad_of is None
        if not plain or old.alias is not None or storage.saves or storage.aliases or _conditional(old.own):
            raise NoPrototypeError
        tensor = Tensor(
            origin=old.origin, line=old.line, born=old.born, made_by=old.made_by, own=old.own, shape=old.shape,
            dtype=old.dtype, contiguous=old.contiguous, is_parameter=old.is_parameter, cut=old.cut, view=old.view,
            precise=old.precise,
        )  # fmt: skip
        self._known[id(old)] = tensor
        tensor.name, tensor.op, tensor.inputs = old.name, old.op, old.inputs
        tensor.retains_grad = old.retains_grad
        tensor.storage.uses = storage.uses
        return tensor


def _conditional(own: Grad) -> bool:
    return bool(own.inputs)
