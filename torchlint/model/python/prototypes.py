"""
Objects that are built alike are copied, not built again.

A network builds the same block a dozen times, in a loop that is followed twice, once for each class that holds it:
running its `__init__` each time was a third of the model's cost. What one construction left is kept as a prototype;
where the same class is called again on arguments that are as well known, the object is a copy of it with the new
arguments in the place of the old ones. A `config` of which nobody knows anything is as well known as any other,
whatever has been read of it: the copy holds the same attributes of the new one. What the
construction has recorded is copied with its graph (`graph_copies`). Anything a copy could not be faithful to (a closure
over the constructor's variables, a tensor that others know of) keeps the prototype from being made.

Copies values of the domain; runs nothing, and knows nothing of the machine but how to number a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeAlias

from torchlint.model.python.graph_copies import Circles, Decisions, GraphCopier, Moment, NoPrototypeError, Span
from torchlint.model.state.values import (
    GRAD_NO,
    MOST_LEVELS,
    MOST_PARTS,
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
    Saved,
    Scalar,
    Sequence,
    Tensor,
    Unbound,
    Unknown,
    Value,
    fits,
)

Key: TypeAlias = "tuple[object, ...]"

MOST_COPIED: Final = 600
"""Values, nodes and writes in a prototype; larger objects are built again."""
MOST_PROTOTYPES = 200
_copies = count()
_PLAIN: Final = frozenset({Constant, Scalar, External, Class, GradModeGuard})
_UNCHANGING = _PLAIN | {Function, Unknown}
"""What is the same as long as it is held, whatever becomes of who holds it."""
_AS_THEY_ARE: Final = _PLAIN | {Unbound}
"""What a copy holds as the original does."""


@dataclass(frozen=True, slots=True)
class Openness:
    """What a construction left open."""

    skipped_import: bool
    open_write: bool
    open_layer_write: bool
    overwritten: bool
    """Memory that a node has saved was written."""
    externally_pure: bool


@dataclass(frozen=True, slots=True)
class Prototype:
    """
    An object as its construction left it.

    Attributes
    ----------
    instance
        The object.
    arguments
        What it was built from (leaves of containers in order).
    parts
        What it holds of unknown arguments: the value, the number of the argument, and the attributes that lead there.
    left_open
        What its construction left open.
    began
        When it began.
    took
        By how much the clock went on.
    """

    instance: Instance
    arguments: tuple[Value, ...]
    parts: tuple[tuple[Unknown, int, tuple[str, ...]], ...]
    left_open: Openness
    began: Moment
    took: int


@dataclass(frozen=True, slots=True)
class Copy:
    """An object that was copied; `took` and `left_open` as of its prototype."""

    instance: Instance
    left_open: Openness
    took: int


class Prototypes:
    """
    The objects built so far in one file.

    Parameters
    ----------
    root
        The variables of the file: a function that closes over others is not copied.
    branch
        The machine's numbering of branches: decisions in a copy are its own.
    saved
        All that any node saves, to which that of copies is added.
    made
        All objects, to which copies are added.
    """

    def __init__(
        self, root: Frame, branch: Callable[[object], int], saved: list[Saved], made: list[Instance | Module]
    ) -> None:
        self._root = root
        self._made = made
        self._branch = branch
        self._circles = Circles(saved, [])
        self._known: dict[Key, Prototype | None] = {}
        """None where the object cannot be copied."""
        self._held: list[Value] = []
        self._lasting: dict[int, Value] = {}
        """The objects among the arguments of the key that was asked for last, and what they hold."""

    def key(self, cls: Class, positional: Iterable[Value], keywords: dict[str, Value], mode: object) -> Key | None:
        """What a construction depends on, or None if that cannot be told."""
        if not all(map(fits, (*positional, *keywords.values()))):
            return None
        self._lasting = {}
        try:
            seen: dict[int, int] = {}
            given = tuple(self._signature(value, seen) for value in positional)
            named = tuple((name, self._signature(value, seen)) for name, value in keywords.items())
            key = (id(cls), mode, given, named)
            hash(key)
        except (NoPrototypeError, TypeError):
            return None
        return key

    def make(self, key: Key, given: tuple[Value, ...], now: Moment) -> Copy | None:
        """A copy of what was built before under this key, for these `leaves`; None if there is nothing to copy."""
        prototype = self._known.get(key)
        if prototype is None:
            return None
        known = dict(zip(map(id, prototype.arguments), given, strict=True))
        known.update(self._lasting)
        for old, number, path in prototype.parts:
            value = given[number]
            for name in path:
                assert isinstance(value, Unknown)
                fresh = Unknown(
                    source=old.source, layer=value.layer, foreign=value.foreign, keeps_flags=value.keeps_flags
                )
                value = value.attributes.setdefault(name, fresh)
            known[id(old)] = value
        copier = _Copier(self._root, known, self._branch, self._made)
        span = Span(prototype.began, prototype.began.path, now)
        return Copy(copier.instance(prototype.instance, span, self._circles), prototype.left_open, prototype.took)

    def keep(
        self,
        key: Key,
        instance: Instance,
        given: tuple[Value, ...],
        arguments: Iterable[Value],
        left_open: Openness,
        began: Moment,
        ended: Moment,
    ) -> None:
        """
        Remember what was just built, unless it cannot be copied: the `leaves` before, and the arguments now (of the
        same key still, or the constructor has told something of them).
        """
        if key in self._known or len(self._known) >= MOST_PROTOTYPES:
            return
        self._known[key] = None
        if list(map(id, given)) != list(map(id, leaves(arguments))):
            return
        known: dict[int, Value] = {id(value): value for value in given}
        known.update(self._lasting)
        self._held += (instance.cls, *known.values())  # their ids stand in keys
        parts: list[tuple[Unknown, int, tuple[str, ...]]] = []
        for number, value in enumerate(given):
            if isinstance(value, Unknown) and _is_featureless(value):
                parts += ((part, number, path) for part, path in _attributes(value, ()))
        known.update((id(part), part) for part, _, _ in parts)
        try:
            copier = _Copier(self._root, known, self._branch, self._made)
            copied = copier.instance(instance, Span(began, ended.path, began), self._circles)
        except NoPrototypeError:
            return
        held = tuple(part for part in parts if id(part[0]) in copier.kept)
        self._known[key] = Prototype(copied, given, held, left_open, began, ended.time - began.time)

    def release(self) -> None:
        """Take copies apart that refer to themselves."""
        self._circles.release()

    def another(self, value: Module | Instance) -> Value:
        """Another object of which as much is known: the next element of a list of such."""
        try:
            return _Copier(self._root, {}, self._branch, self._made).value(value)
        except NoPrototypeError:
            return Unknown(layer=True)

    def _signature(self, value: Value, seen: dict[int, int]) -> object:
        if isinstance(value, (Constant, Scalar, External)):
            return value
        if isinstance(value, Unknown):
            if _is_featureless(value):
                which = seen.setdefault(id(value), len(seen))
                return (
                    "unknown",
                    which,
                    value.layer,
                    value.hint,
                    value.element_of_parameters,
                    value.foreign,
                    value.keeps_flags,
                )
            return id(value)
        if isinstance(value, Sequence):
            if value.items is None or value.element is not None:
                raise NoPrototypeError
            return (value.kind, value.longest, tuple(self._signature(each, seen) for each in value.items))
        if isinstance(value, Mapping):
            if value.items is None or value.element is not None:
                raise NoPrototypeError
            return ("dict", tuple((name, self._signature(each, seen)) for name, each in value.items.items()))
        if isinstance(value, Choice):
            return ("choice", tuple(self._signature(each, seen) for _, each in value.alternatives))
        if isinstance(value, (Class, Function, Partial, GradModeGuard)):
            return id(value)
        if isinstance(value, Instance):
            return self._state(value, ())
        raise NoPrototypeError

    def _state(self, value: Value, around: tuple[int, ...]) -> object:
        """
        A value as it is now. An object that a network hands to each of its blocks, as its settings, is that as long as
        nobody sets its attributes, or what is in its containers; a copy holds the same one.
        """
        number = id(value)
        self._lasting[number] = value
        if type(value) in _UNCHANGING:
            return number
        if number in around or len(around) == MOST_LEVELS:
            raise NoPrototypeError
        around = (*around, number)
        if isinstance(value, Choice) and all(type(each) in _UNCHANGING for _, each in value.alternatives):
            return number
        if isinstance(value, Sequence):
            items = None if value.items is None else tuple([self._state(each, around) for each in value.items])
            return (number, items, value.longest, value.element and self._state(value.element, around))
        if isinstance(value, Mapping):
            named = None if value.items is None else self._states(value.items.items(), around)
            others = [each and self._state(each, around) for each in (value.element, value.keys)]
            return (number, named, *others)
        if not isinstance(value, Instance) or value.layer or value.contents or value.given or value.named_elsewhere:
            raise NoPrototypeError
        return (number, value.havocked, value.patched, value.unseen, self._states(value.attributes.items(), around))

    def _states(self, values: Iterable[tuple[object, Value]], around: tuple[int, ...]) -> object:
        return tuple([(name, self._state(each, around)) for name, each in values])


def leaves(values: Iterable[Value]) -> tuple[Value, ...]:
    """
    The arguments with containers and alternatives taken apart, in the order of their signatures. A container that the
    constructor has put into itself is none that it was given.
    """
    found: list[Value] = []
    values = [value for value in values if fits(value)]
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


def _is_featureless(value: Unknown) -> bool:
    """Whether nobody knows anything of a value, but that things have been read of it of which nobody does either."""
    if not _is_bare(value):
        return False
    count = 0
    level = list(value.attributes.values())
    for _ in range(MOST_LEVELS):
        count += len(level)
        if count > MOST_PARTS or not all(map(_is_bare, level)):
            return False
        level = [each for one in level if isinstance(one, Unknown) for each in one.attributes.values()]
        if not level:
            return True
    return False  # `config.root = config`


def _is_bare(value: Value) -> bool:
    return (
        type(value) is Unknown
        and value.guess is None
        and not value.depends
        and not value.possible
        and value.part_of is None
        and not value.may_be
    )


def _attributes(value: Unknown, path: tuple[str, ...]) -> Iterator[tuple[Unknown, tuple[str, ...]]]:
    """What has been read of a value, and of that."""
    for name, each in value.attributes.items():
        assert isinstance(each, Unknown)
        yield each, (*path, name)
        yield from _attributes(each, (*path, name))


class _Copier:
    """One copy: what is met twice is copied once."""

    def __init__(
        self, root: Frame, known: dict[int, Value], branch: Callable[[object], int], made: list[Instance | Module]
    ) -> None:
        number = next(_copies)
        self._root = root
        self._made = made
        self._known = known
        self._decisions = Decisions(lambda key: branch((number, "copied", key)))
        self._graph: GraphCopier | None = None
        self._copied: list[tuple[Tensor, Tensor]] = []
        self._parts = 0
        self.kept: set[int] = set()
        """What was known beforehand and is part of the copy."""

    def instance(self, old: Instance, span: Span, circles: Circles) -> Instance:
        """A copy of an object with what its construction has recorded."""
        self._graph = GraphCopier(span, self._decisions, self._tensor_of, self._count, circles)
        try:
            copied = self.value(old)
            self._graph.finish()
        finally:
            self._graph = None  # which leads back to this one
        assert isinstance(copied, Instance)
        for tensor, new in self._copied:
            inputs = [self._known.get(id(each), each) for each in tensor.inputs]
            new.inputs = tuple([each for each in inputs if isinstance(each, Tensor)])
        return copied

    def _count(self) -> None:
        self._parts += 1
        if self._parts > MOST_COPIED:
            raise NoPrototypeError

    def value(self, old: Value) -> Value:
        kind = type(old)
        if kind in _AS_THEY_ARE:
            return old
        known = self._known.get(id(old))
        if known is not None:
            self.kept.add(id(old))
            return known
        self._count()
        if type(old) is Unknown:
            return self._unknown(old)
        if type(old) is Tensor:
            return self._tensor(old)
        if type(old) is Module:
            return self._module(old)
        if type(old) is Instance:
            instance = Instance(old.cls)
            self._made.append(instance)
            self._known[id(old)] = instance
            instance.exact, instance.havocked, instance.initialised = old.exact, old.havocked, old.initialised
            instance.patched, instance.unseen = old.patched, old.unseen
            for name, value in old.attributes.items():
                instance.attributes[name] = self.value(value)
            instance.given = tuple(self._tensor_of(each) for each in old.given)
            if old.layer is not None:
                instance.layer = self._module(old.layer)
            return instance
        if isinstance(old, Sequence):
            sequence = Sequence(old.kind, None, None, old.parameters_of)
            sequence.longest = old.longest
            self._known[id(old)] = sequence
            sequence.items = None if old.items is None else tuple(self.value(each) for each in old.items)
            sequence.element = None if old.element is None else self.value(old.element)
            return sequence
        if isinstance(old, Mapping):
            mapping = Mapping(None)
            self._known[id(old)] = mapping
            mapping.items = None if old.items is None else {key: self.value(each) for key, each in old.items.items()}
            mapping.element = None if old.element is None else self.value(old.element)
            mapping.keys = None if old.keys is None else self.value(old.keys)
            return mapping
        if isinstance(old, Choice):
            choice = Choice(tuple((self._decisions.guard(guard), self.value(each)) for guard, each in old.alternatives))
            self._known[id(old)] = choice
            return choice
        if isinstance(old, Function) and old.closure is self._root:
            return old
        if isinstance(old, Partial) and isinstance(old.function, External):
            named = {name: self.value(each) for name, each in old.named.items()}
            return Partial(old.function, tuple(self.value(each) for each in old.given), named, old.complete)
        if isinstance(old, Bound) and old.function is not None and old.function.closure is self._root:
            return Bound(self.value(old.receiver), old.name, old.function, old.start)
        raise NoPrototypeError

    def _module(self, old: Module) -> Module:
        module = Module(old.kind, old.config, old.origin)
        self._made.append(module)
        module.patched = old.patched
        self._known[id(old)] = module
        module.parameters = {name: self.value(each) for name, each in old.parameters.items()}
        module.tail = None if old.tail is None else self.value(old.tail)
        if old.element is not None:
            element = self.value(old.element)
            assert isinstance(element, (Module, Instance))
            module.element = element
        module.children = None if old.children is None else tuple(self.value(each) for each in old.children)
        module.names = old.names
        module.training = old.training
        return module

    def _unknown(self, old: Unknown) -> Unknown:
        if (old.guess is not None and self._graph is None) or old.one_of:
            raise NoPrototypeError
        unknown = Unknown(
            [self._tensor_of(each) for each in old.depends] if old.depends else (),
            source=old.source,
            hint=old.hint,
            certain_edge=old.certain_edge,
            possible=[self._tensor_of(each) for each in old.possible] if old.possible else (),
            layer=old.layer,
            element_of_parameters=old.element_of_parameters,
            foreign=old.foreign,
            keeps_flags=old.keeps_flags,
        )
        self._known[id(old)] = unknown
        if old.part_of is not None:
            unknown.part_of = self.value(old.part_of)
        if old.may_be:
            unknown.may_be = tuple([self.value(each) for each in old.may_be])
        if old.guess is not None:
            unknown.guess = self._tensor_of(old.guess)
        if old.tensor is not None and self._graph is not None:
            unknown.tensor = self._tensor_of(old.tensor)
        return unknown

    def _tensor_of(self, old: Tensor) -> Tensor:
        copied = self.value(old)
        assert isinstance(copied, Tensor)
        return copied

    def _tensor(self, old: Tensor) -> Tensor:
        graph, storage = self._graph, old.storage
        if graph is not None and graph.is_older(old):
            return old
        recorded = bool(old.grad_fn or storage.saves or _conditional(old.own))
        base = None
        if old.base is not None:
            recorded = recorded or old.requires_grad != GRAD_NO or old.base.storage is not storage
            base = old.base if recorded and graph is None else self._tensor_of(old.base)
        other = old.grad_of is not None or old.alias is not None or bool(storage.aliases)
        if other or (recorded and graph is None) or (old.grad is not NONE and not old.grad_fn):
            raise NoPrototypeError
        tensor = Tensor(
            origin=old.origin, line=old.line, born=old.born if graph is None else graph.span.time(old.born),
            made_by=old.made_by, own=old.own, shape=old.shape, dtype=old.dtype, contiguous=old.contiguous,
            is_parameter=old.is_parameter, cut=old.cut, view=old.view, precise=old.precise, base=base,
            storage=base.storage if base is not None else None, counter=base.counter if base is not None else None,
            family=base.family if base is not None else None, device=old.device,
        )  # fmt: skip
        self._known[id(old)] = tensor
        self._copied.append((old, tensor))
        tensor.name, tensor.op, tensor.inputs, tensor.strides = old.name, old.op, old.inputs, old.strides
        tensor.order, tensor.gaps, tensor.in_order, tensor.laid_by = old.order, old.gaps, old.in_order, old.laid_by
        tensor.trues, tensor.may_be_copy, tensor.one_of_many = old.trues, old.may_be_copy, old.one_of_many
        tensor.in_open_mode, tensor.retains_grad = old.in_open_mode, old.retains_grad
        if graph is None:
            tensor.storage.uses = storage.uses
        elif recorded:
            graph.history(old, tensor)
            if old.grad is not NONE:
                tensor.grad = self.value(old.grad)
        else:
            tensor.storage.uses, tensor.storage.inference = graph.uses(storage.uses), storage.inference
        return tensor


def _conditional(own: Grad) -> bool:
    return bool(own.inputs) or own.under is not None
