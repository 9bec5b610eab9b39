"""
Python's containers as values: what is in them, and the methods of lists, sets and dictionaries.

A list whose length is unknown is widened to one element that stands for all.
"""

from __future__ import annotations

from functools import reduce

from torchlint.model.python.elements import picked
from torchlint.model.python.flags import calls_unknown, give
from torchlint.model.python.making import fields_of_tuple
from torchlint.model.python.run import Run
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.reachable import some_of, whole_of
from torchlint.model.state.trail import widen
from torchlint.model.state.values import (
    HOLDS_NOTHING,
    NONE,
    Bound,
    Choice,
    Constant,
    Function,
    Instance,
    Mapping,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    parts,
    reachable_tensors,
)
from torchlint.model.torch.indexing import SliceValue
from torchlint.model.torch.operations import apply

MOST_ITEMS = 64
"""Longest list whose elements are kept apart."""


def any_of(values: list[Value]) -> Value:
    """One value that may be any of these."""
    return widen([(frozenset(), value) for value in values])


def any_key(keys: list[Value]) -> Value | None:
    """Any of the keys that are no constants, for a dictionary that has such; None if they lead to nothing."""
    leading = [each for each in keys if type(each) not in HOLDS_NOTHING]
    return any_of(leading) if leading else None


def some_key(mapping: Mapping) -> Unknown:
    """A key of a dictionary that has others than constants."""
    return some_of([mapping.keys] if mapping.keys is not None else [])


def with_key(run: Run, mapping: Mapping, key: Value) -> None:
    """A dictionary gets a key that is no constant."""
    known = [mapping.keys] if mapping.keys is not None else []
    if (keys := any_key([*known, key])) is not mapping.keys:
        run.machine.trail.set(mapping, "keys", keys)


def values_of(mapping: Mapping) -> list[Value]:
    """The values of a dictionary that are known, and any other."""
    return [*(mapping.items or {}).values(), *([mapping.element] if mapping.element is not None else [])]


def copy_of(mapping: Mapping) -> Mapping:
    """Another dictionary that holds the same: `d.copy()`, `dict(d)`."""
    return Mapping(dict(mapping.items) if mapping.items is not None else None, mapping.element, mapping.keys)


def merged(first: Mapping, other: Mapping) -> Mapping:
    """`first | other`."""
    if first.items is not None and other.items is not None:
        return Mapping({**first.items, **other.items})
    keys = [each.keys for each in (first, other) if each.keys is not None]
    return Mapping(None, any_of([*values_of(first), *values_of(other), Unknown()]), any_key(keys))


def elements_of(run: Run, value: Value) -> tuple[bool, list[Value]]:
    """What iterating over a value gives: whether that is all, and the elements (one for many, if not)."""
    for hook in run.machine.watch.iterated:
        hook(value)
    if isinstance(value, Sequence):
        if value.items is not None:
            return True, list(value.items)
        return False, [value.element if value.element is not None else Unknown()]
    if isinstance(value, Mapping):
        return (True, [Constant(key) for key in value.items]) if value.items is not None else (False, [some_key(value)])
    if isinstance(value, Unknown) and value.tensor is not None:
        value = value.tensor
    if isinstance(value, Tensor):
        return _rows(run, value)
    if isinstance(value, Choice) and _shows_elements(value):
        return _elements_of_each(run, value)
    if isinstance(value, Instance) and value.layer is not None:
        value = value.layer
    if isinstance(value, Instance) and (items := items_of_named(value)) is not None:
        return True, items
    if isinstance(value, Module) and value.children is not None and value.kind.container:
        return True, [Constant(name) for name in value.names] if value.names else list(value.children)
    if isinstance(value, Module) and value.element is not None:
        return False, [value.element]
    if isinstance(value, Unknown):
        element = Unknown(
            reachable_tensors(value),
            source=value.source,
            layer=value.layer,
            element_of_parameters=value.element_of_parameters,
            foreign=value.foreign,
            part_of=value.part_of,
        )
        element.take_after(value)
        return False, [element]
    return False, [Unknown(reachable_tensors(value), layer=holds_modules(value), part_of=whole_of(value))]


def items_of_named(value: Instance) -> list[Value] | None:
    """The items of a named tuple in their order, a default where the class has one; None of anything else."""
    names = fields_of_tuple(value.cls) if value.exact and not value.havocked else None
    if names is None:
        return None
    held = [value.attributes.get(name, value.cls.attributes.get(name)) for name in names]
    items = [each for each in held if each is not None]
    return items if len(items) == len(held) else None


def _shows_elements(value: Choice) -> bool:
    """Whether each of several has elements, or one of them Modules: what is done to these is done where it is that."""
    options = [each for _, each in value.alternatives]
    lists = [each.items for each in options if isinstance(each, Sequence) and each.items]
    modules = any(isinstance(item, (Instance, Module)) for items in lists for item in items)
    return modules or all(map(_has_elements, options))


def _has_elements(value: Value) -> bool:
    """Whether it is a tensor or a list, and not one that is empty."""
    return isinstance(value, Tensor) or (isinstance(value, Sequence) and value.items != ())


def _elements_of_each(run: Run, value: Choice) -> tuple[bool, list[Value]]:
    """The elements of what may be one of several: the first of each, the second of each, if they have as many."""

    def listed(each: Value) -> Value:
        known, elements = elements_of(run, each)
        return Sequence("tuple", tuple(elements)) if known else Sequence("tuple", None, elements[0])

    options = alternatives(run.machine.each(value, listed))
    lists = [(guard, each.items) for guard, each in options if isinstance(each, Sequence)]
    if len({len(items) for _, items in lists if items is not None}) == 1 and all(items for _, items in lists):
        columns = zip(*[[(guard, item) for item in items or ()] for guard, items in lists], strict=True)
        return True, [choose(column) for column in columns]
    every = [(guard, part) for guard, each in options for part in parts(each)]
    return False, [choose(every) if every else Unknown(reachable_tensors(value))]


def _rows(run: Run, tensor: Tensor) -> tuple[bool, list[Value]]:
    result = apply(run.torch, "torch.Tensor.unbind", [tensor], {}, tensor.origin, "unbind")
    if isinstance(result, Sequence):
        return result.items is not None, list(result.items or (result.element or Unknown(),))
    return False, [Unknown([tensor], certain_edge=True)]


def slice_of(index: SliceValue) -> slice | None:
    """A slice of a list, None if its parts are not known."""
    parts = [_bound(part) for part in (index.lower, index.upper, index.step)]
    if not all(known for known, _ in parts) or parts[2][1] == 0:
        return None
    return slice(*(part for _, part in parts))


def _bound(part: Value | None) -> tuple[bool, int | None]:
    """One part of a slice: whether it is known, and what it is."""
    if part is None or part == NONE:
        return True, None
    if isinstance(part, Constant) and isinstance(part.value, int):
        return True, part.value
    return False, None


def holds_modules(value: Value) -> bool:
    """Whether what is in it are certainly Modules."""
    return isinstance(value, Module) and value.kind.container in ("sequential", "list", "dict")


def new_deque(run: Run, site: CallSite) -> Value | None:
    """`collections.deque(iterable, maxlen)`; None where nobody knows what it is given."""
    if not site.complete or len(site.positional) > 2:
        return None
    given, longest = site.get(0, "iterable"), site.get(1, "maxlen") or NONE
    known, elements = (True, []) if given is None else elements_of(run, given)
    queue = Sequence("deque", tuple(elements)) if known else Sequence("deque", None, elements[0])
    if isinstance(longest, Constant) and isinstance(longest.value, int) and longest.value >= 0:
        queue.longest = longest.value
        queue.items = _newest(queue, tuple(elements)) if known else None
    elif longest != NONE:
        widen_list(run, queue, [])
    return queue


def _newest(queue: Sequence, items: tuple[Value, ...]) -> tuple[Value, ...]:
    """What a deque keeps of these."""
    return items if queue.longest is None else items[max(len(items) - queue.longest, 0) :]


def _deque_method(run: Run, queue: Sequence, name: str, site: CallSite) -> Value | None:
    """A method that a deque has and a list has not; None for any other."""
    trail = run.machine.trail
    if name in ("appendleft", "extendleft") and site.positional:
        added: list[Value] = [site.positional[0]] if name == "appendleft" else []
        known = queue.items is not None and queue.longest is None
        if name == "extendleft":
            all_known, added = elements_of(run, site.positional[0])
            known = known and all_known
        if not known or len(queue.items or ()) + len(added) > MOST_ITEMS:
            widen_list(run, queue, added)
        else:
            trail.set(queue, "items", (*reversed(added), *(queue.items or ())))
        return NONE
    if name == "popleft" and queue.items:
        first = queue.items[0]
        trail.set(queue, "items", queue.items[1:])
        return first
    if name == "popleft":
        return picked(run, queue.element or Unknown())
    if name == "rotate":
        widen_list(run, queue, [])
        return NONE
    return None


def sequence_method(run: Run, sequence: Sequence, name: str, site: CallSite) -> Value | None:
    """A method of a list, tuple, set or deque; None if nothing is known of it."""
    machine = run.machine
    if name in ("send", "throw"):
        give(run, site.values(), "", site.node)
    if sequence.kind == "deque" and (found := _deque_method(run, sequence, name, site)) is not None:
        return found
    if name == "append" and site.positional:
        extend_list(run, sequence, (site.positional[0],))
        return NONE
    if name in ("extend", "update") and site.positional:
        known, elements = elements_of(run, site.positional[0])
        if known:
            extend_list(run, sequence, tuple(elements))
        else:
            widen_list(run, sequence, elements)
        return NONE
    if name in ("add",) and site.positional:
        widen_list(run, sequence, [site.positional[0]])
        return NONE
    if name == "copy":
        copied = Sequence(sequence.kind, sequence.items, sequence.element)
        copied.longest = sequence.longest
        return copied
    if name in ("clear", "pop"):
        machine.trail.set(sequence, "last", None)
        machine.trail.set(sequence, "among", ())
    if name in ("clear",):
        machine.trail.set(sequence, "items", ())
        return NONE
    if name == "pop":
        if sequence.items and not site.positional:
            last = sequence.items[-1]
            machine.trail.set(sequence, "items", sequence.items[:-1])
            return last
        value = sequence.element or (any_of(list(sequence.items)) if sequence.items else Unknown())
        machine.trail.set(sequence, "items", None)
        machine.trail.set(sequence, "element", value)
        return picked(run, value)
    if name in ("index", "count"):
        return Scalar("int")
    if name == "sort" and _may_change(run, site.keywords.get("key")):
        give(run, [sequence], "", site.node)
    if name in ("insert", "remove", "sort", "reverse"):
        widen_list(run, sequence, site.positional[1:])
        return NONE
    return None


def _may_change(run: Run, key: Value | None) -> bool:
    """Whether the key of an order may be code that nobody knows, or call such code."""
    function = key.function if type(key) is Bound else key
    return calls_unknown(run, function) if isinstance(function, Function) else isinstance(function, (Instance, Unknown))


def remove(run: Run, container: Value, index: Value | SliceValue | list[Value | SliceValue]) -> None:
    """`del container[index]`."""
    machine = run.machine
    options = [each for _, each in alternatives(container, machine.guard)]
    for each in options:
        if isinstance(each, Sequence):
            _remove_items(run, each, index, len(options) == 1)
        elif isinstance(each, Mapping) and each.items is not None:
            if len(options) == 1 and isinstance(index, Constant):
                rest = {key: value for key, value in each.items.items() if key != index.value}
                machine.trail.set(each, "items", rest)
            elif each.items:
                machine.trail.set(each, "element", any_of(list(each.items.values())))
                machine.trail.set(each, "items", None)
        elif isinstance(each, Module) and each.kind.container:
            machine.trail.set(each, "children", None)
            machine.trail.set(each, "element", None)


def _remove_items(
    run: Run, sequence: Sequence, index: Value | SliceValue | list[Value | SliceValue], certain: bool
) -> None:
    rest = list(sequence.items or ())
    if sequence.items is None or not certain:
        widen_list(run, sequence, [])
        return
    place: int | slice | None = slice_of(index) if isinstance(index, SliceValue) else None
    if isinstance(index, Constant) and isinstance(index.value, int) and -len(rest) <= index.value < len(rest):
        place = index.value
    if place is None:
        widen_list(run, sequence, [])
        return
    del rest[place]
    run.machine.trail.set(sequence, "last", None)
    run.machine.trail.set(sequence, "among", ())
    run.machine.trail.set(sequence, "items", tuple(rest))


def extend_list(run: Run, sequence: Sequence, values: tuple[Value, ...]) -> None:
    """`list.extend`, `list += values`."""
    machine = run.machine
    machine.trail.set(sequence, "last", values[-1] if values else None)
    if sequence.items is not None and len(sequence.items) + len(values) <= MOST_ITEMS:
        machine.trail.set(sequence, "items", _newest(sequence, sequence.items + values))
    else:
        among = sequence.among
        widen_list(run, sequence, list(values))
        machine.trail.set(sequence, "last", values[-1] if values else None)
        machine.trail.set(sequence, "among", among)


def widen_list(run: Run, sequence: Sequence, values: list[Value]) -> None:
    """A list of unknown length from now on, with these among its elements."""
    machine = run.machine
    every = [*(sequence.items or ()), *([sequence.element] if sequence.element is not None else []), *values]
    if every:
        machine.trail.set(sequence, "element", any_of(every))
    machine.trail.set(sequence, "items", None)
    machine.trail.set(sequence, "last", None)
    machine.trail.set(sequence, "among", ())


def mapping_method(run: Run, mapping: Mapping, name: str, site: CallSite) -> Value | None:
    """A method of a dictionary; None if nothing is known of it."""
    machine = run.machine
    every = values_of(mapping)
    if name in ("get", "pop", "setdefault") and site.positional:
        key, default = site.positional[0], site.get(1, "default") or NONE
        if mapping.items is not None and isinstance(key, Constant):
            found = mapping.items.get(key.value)
            value = found if found is not None else default
            if name == "pop" and found is not None:
                rest = {each: item for each, item in mapping.items.items() if each != key.value}
                machine.trail.set(mapping, "items", rest)
            elif name == "setdefault" and found is None:
                machine.trail.set(mapping, "items", {**mapping.items, key.value: value})
            return value
        if name == "setdefault":
            with_key(run, mapping, key)
        if name != "get" and mapping.items is not None:
            machine.trail.set(mapping, "element", any_of([*every, default]))
            machine.trail.set(mapping, "items", None)
        return any_of([picked(run, any_of(every), mapping), default]) if every else Unknown()
    if name == "values":
        return Sequence("list", tuple(every)) if mapping.items is not None else Sequence("list", None, mapping.element)
    if name == "keys":
        return (
            Sequence("list", tuple(Constant(key) for key in mapping.items))
            if mapping.items is not None
            else Sequence("list", None, some_key(mapping))
        )
    if name == "items":
        if mapping.items is not None:
            return Sequence("list", tuple(Sequence("tuple", (Constant(k), v)) for k, v in mapping.items.items()))
        return Sequence("list", None, Sequence("tuple", (some_key(mapping), mapping.element or Unknown())))
    if name == "copy":
        return copy_of(mapping)
    if name == "clear":
        machine.trail.set(mapping, "items", {})
        machine.trail.set(mapping, "element", None)
        return NONE
    if name == "popitem":
        key = some_key(mapping)
        machine.trail.set(mapping, "element", any_of([*every, Unknown()]))
        machine.trail.set(mapping, "items", None)
        return Sequence("tuple", (key, any_of(every) if every else Unknown()))
    if name == "update":
        named: dict[object, Value] = dict(site.keywords.items())
        extend_mapping(run, mapping, [*site.positional, Mapping(named)], complete=site.complete)
        return NONE
    return None


def extend_mapping(run: Run, mapping: Mapping, given: list[Value], *, complete: bool = True) -> None:
    """`d.update(other)`, `d |= other`; not `complete`: and with what nobody knows."""
    result = reduce(merged, [each for each in given if isinstance(each, Mapping)], copy_of(mapping))
    others = [each for each in given if not isinstance(each, Mapping)]
    if others or not complete:
        held = [element for each in others for element in elements_of(run, each)[1]]
        result = Mapping(None, any_of([*values_of(result), *held, Unknown()]), result.keys)
    trail = run.machine.trail
    trail.set(mapping, "items", result.items)
    trail.set(mapping, "element", result.element)
    trail.set(mapping, "keys", result.keys)
