"""
The state of an abstract run and how paths meet: a trail of changes that can be undone, kept, and joined.

Values are mutable records; every change goes through the trail. A branch runs its arms one after the other on the
same records: mark, run, take the changes, undo. Then `join` writes back what the arms agree on, and guarded
alternatives where they do not. The cost of a join is the number of changes, not the size of the state. (The scheme is
the trail of Warren's Prolog machine put to the use of abstract interpretation.)

Knows the fields of the domain; runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Many
from operator import attrgetter
from typing import Any, Final, TypeAlias

from torchlint.knowledge.shapes.domain import UNKNOWN
from torchlint.model.state import values as domain
from torchlint.model.state.guards import ALWAYS, Guard, Truth, meet
from torchlint.model.state.values import (
    Choice,
    Class,
    Grad,
    Instance,
    Mapping,
    Module,
    Sequence,
    Unbound,
    Unknown,
    Value,
    choose,
    unknown_guard,
)

MISSING: Final[Any] = object()
"""The field or key was not there."""

Changes: TypeAlias = "dict[tuple[int, Any], tuple[Any, Any, Any]]"
"""(id of record, field or key) → record, field, value."""

_TIMED: Final = frozenset({"writes", "saves", "uses", "releases"})
_UNORDERED: Final = frozenset(
    {
        "escaped",
        "exposed",
        "given",
        "handed_on",
        "handed_to_unknown",
        "kept_by_unknown",
        "named_elsewhere",
        "possible",
        "retaining",
    }
)
_GRADS: Final = frozenset({"own", "condition"})
_VALUES: Final = frozenset({"grad", "element", "keys"})
_VALUES_OR_NONE: Final = frozenset({"last", "tail"})
_TRUTHS: Final = frozenset({"ambient", "callers_mode", "contiguous", "grad_mode"})
_FLAGS: Final = frozenset({"havocked", "hooked", "hooked_by_all", "may_cast", "patched", "retains_grad"})
_ON_ALL_PATHS: Final = frozenset({"complete", "very_dtypes"})
_UNIONS: Final = frozenset({"replaced"})
_TIMES: Final = frozenset({"device_set", "grad_reset", "grad_time"})
_SPELLINGS: Final = frozenset({"cut", "default_device", "default_dtype", "device", "made_by", "precise"})
_SAME_OR_NONE: Final = frozenset(
    {"axes", "children", "contents", "gaps", "in_order", "layer", "order", "strides", "trues"}
)
JOINED = frozenset(
    {"aliases", "among", "config", "grad_dropped", "grad_fn", "items", "names", "training", "shape", "parameters"}
).union(
    *(_TIMED, _UNORDERED, _GRADS, _VALUES, _VALUES_OR_NONE),
    *(_TRUTHS, _FLAGS, _ON_ALL_PATHS, _UNIONS, _TIMES, _SPELLINGS, _SAME_OR_NONE),
)
"""The fields of records that a trail may set: a field of another name has no join."""


class Trail:
    """All changes since the start of the run, newest last."""

    def __init__(self) -> None:
        self._log: list[tuple[Any, Any, Any]] = []
        self.made: list[Instance | Module] = []
        """Objects that refer to themselves, by what was looked up in them."""

    def new_object(self, cls: Class) -> Instance:
        """A new object of a class of the program."""
        instance = Instance(cls)
        self.made.append(instance)
        return instance

    def release(self) -> None:
        """Undo everything, and take apart what was made: without the circles it is gone when nobody asks for it."""
        self.undo(0)
        for each in self.made:
            if isinstance(each, Module):
                each.parameters.clear()
            else:
                each.attributes.clear()
                each.held = each.turned = None
                each.named_elsewhere = ()
        self.made.clear()

    def set(self, record: Any, field: Any, value: Any) -> None:
        """Set an attribute of a record, or a key of a dict, so that it can be undone."""
        if type(record) is dict:
            before = record[field] if field in record else MISSING  # noqa: SIM401 - a call costs more
            self._log.append((record, field, before))
            record[field] = value
        else:
            self._log.append((record, field, getattr(record, field)))
            setattr(record, field, value)

    def delete(self, record: dict[Any, Any], key: Any) -> None:
        """Remove a key of a dict."""
        if key in record:
            self._log.append((record, key, record.pop(key)))

    def mark(self) -> int:
        """A point to go back to."""
        return len(self._log)

    def newest(self) -> object:
        """The last change: that very object tells whether it was undone meanwhile (`since`)."""
        return self._at(-1) if self._log else None

    def since(self, mark: int, newest: object) -> list[tuple[Any, Any, Any]] | None:
        """The changes since a mark at which one was the last; None if that, or one before it, was undone."""
        log = self._log
        if len(log) < mark or (mark and self._at(mark - 1) is not newest):
            return None
        return log[mark:]

    def _at(self, index: int) -> object:
        """A change as the very object: where mypyc knows that it is a tuple it gives a copy."""
        log: Any = self._log
        found: object = log[index]
        return found

    def changes(self, mark: int, less: dict[str, Value] | None = None) -> Changes:
        """The fields changed since the mark, with their present values; less those of one record."""
        found: Changes = {}
        for record, field, _ in self._log[mark:]:
            if record is less:
                continue
            key = (id(record), field)
            if key not in found:
                now = getattr(record, field) if type(record) is not dict else record.get(field, MISSING)
                found[key] = (record, field, now)
        return found

    def forget(self, mark: int, record: dict[str, Value]) -> None:
        """Nobody can ask for a record any more: its changes since the mark need be neither undone nor joined."""
        log = self._log
        log[mark:] = [change for change in log[mark:] if change[0] is not record]

    def undo(self, mark: int) -> None:
        """Back to the state at the mark."""
        log = self._log
        changed = log[mark:]
        del log[mark:]
        changed.reverse()
        for record, field, old in changed:
            if type(record) is not dict:
                setattr(record, field, old)
            elif old is not MISSING:
                record[field] = old
            elif field in record:
                del record[field]

    def apply(self, changes: Changes) -> None:
        """Make changes taken earlier, on top of the present state."""
        for record, field, value in changes.values():
            if value is MISSING:
                if type(record) is dict:
                    self.delete(record, field)
            else:
                before = _read(record, field)
                if before is not value:
                    self._write(record, field, before, value)

    def join(self, arms: Many[tuple[Guard, Changes]]) -> None:
        """
        Let paths meet: `arms` are their changes relative to the present state, each with the guard of its path.
        """
        if len(arms) == 1:
            self.apply(arms[0][1])
            return
        if len(arms) == 2:
            self._join_two(*arms)
            return
        keys: dict[tuple[int, Any], tuple[Any, Any]] = {}
        for _, changes in arms:
            for key, (record, field, _) in changes.items():
                keys.setdefault(key, (record, field))
        for key, (record, field) in keys.items():
            before = _read(record, field)
            values = [(guard, changes[key][2] if key in changes else before) for guard, changes in arms]
            first = values[0][1]
            same = all(value is first for _, value in values)
            self._meet(record, field, before, first if same else join_field(self, record, field, values))

    def _join_two(self, one: tuple[Guard, Changes], other: tuple[Guard, Changes]) -> None:
        """What an `if` changes, which is most of what there is to join."""
        (guard, mine), (against, theirs) = one, other
        for key, (record, field, _) in (mine | theirs).items():
            before = getattr(record, field) if type(record) is not dict else record.get(field, MISSING)
            value = mine[key][2] if key in mine else before
            rival = theirs[key][2] if key in theirs else before
            joined = value if value is rival else join_field(self, record, field, [(guard, value), (against, rival)])
            if joined is MISSING:  # as `_meet`, without its call
                self.delete(record, field)
            elif joined is not before:
                self._write(record, field, before, joined)

    def _meet(self, record: Any, field: Any, before: Any, joined: Any) -> None:
        if joined is MISSING:
            self.delete(record, field)
        elif joined is not before:
            self._write(record, field, before, joined)

    def _write(self, record: Any, field: Any, before: Any, value: Any) -> None:
        """`set` where it is known what was there."""
        self._log.append((record, field, before))
        if type(record) is dict:
            record[field] = value
        else:
            setattr(record, field, value)


def _read(record: Any, field: Any) -> Any:
    if type(record) is not dict:
        return getattr(record, field)
    return record[field] if field in record else MISSING  # noqa: SIM401 - a call costs more


def join_field(trail: Trail, record: Any, field: Any, values: list[tuple[Guard, Any]]) -> Any:
    """
    The join of one field over several paths (least upper bound of the field's own domain); what is left of the items of
    a container where they differ is in other fields of it, which the trail sets.

    Raises
    ------
    AssertionError
        if it is none of `JOINED`.
    """
    if type(record) is dict:
        for _, value in values:
            if value is MISSING:
                return choose([(guard, Unbound() if each is MISSING else each) for guard, each in values])
        return choose(values)
    if field in _TIMED:
        return _join_timed([value for _, value in values], _TIME)
    if field == "aliases":
        return _join_timed([value for _, value in values], _BORN)
    if field == "grad_fn":
        return _join_guarded(values)
    if field in _UNORDERED:
        every = {id(each): each for _, held in values for each in held}
        return tuple(every.values())
    if field == "parameters":  # of an optimizer
        others = [{id(each) for each in held} for _, held in values[1:]]
        return tuple(each for each in values[0][1] if all(id(each) in held for held in others))
    if field == "names":  # of a Module's children, which are unknown where paths disagree
        return values[0][1] if all(value == values[0][1] for _, value in values) else ()
    if field == "config":  # of a Module
        first, *rest = [value for _, value in values]
        return {name: held if all(each[name] == held for each in rest) else UNKNOWN for name, held in first.items()}
    if field in _ON_ALL_PATHS:
        return all(value for _, value in values)
    if field in _GRADS:
        grad: Grad = values[0][1]
        for _, other in values[1:]:
            grad = grad.join(other)
        return grad
    if field == "items":
        return _join_items(trail, record, values)
    if field == "among":
        return _common([value for _, value in values])
    if field == "element" and isinstance(record, Module):
        return values[0][1] if all(value is values[0][1] for _, value in values) else None
    if field in _VALUES_OR_NONE:
        return choose(values) if all(value is not None for _, value in values) else None
    if field in _VALUES:
        return choose([(guard, value) for guard, value in values if value is not None])
    if field == "training":
        modes = {value for _, value in values}
        return modes.pop() if len(modes) == 1 else Truth.MAYBE
    if field == "shape":
        return _join_shapes([value for _, value in values])
    if field in _TRUTHS:
        truth: Truth = values[0][1]
        for _, other in values[1:]:
            truth = truth.join(other)
        return truth
    if field in _FLAGS:
        return any(value for _, value in values)
    if field in _UNIONS:
        return frozenset().union(*(value for _, value in values))
    if field in _TIMES:
        return max(value for _, value in values)
    if field == "grad_dropped":  # on every path
        return min(value for _, value in values)
    assert field in _SAME_OR_NONE or field in _SPELLINGS, f"no rule says how paths join {field!r}"
    first = values[0][1]
    if all(value == first for _, value in values):
        return first
    return "" if field in _SPELLINGS else None


def _join_timed(values: list[tuple[Any, ...]], time: Callable[[Any], int]) -> tuple[Any, ...]:
    merged: dict[int, Any] = {}
    for entries in values:
        for entry in entries:
            merged.setdefault(id(entry), entry)
    return tuple(sorted(merged.values(), key=time))


_TIME: Final = attrgetter("time")
_BORN: Final = attrgetter("born")


_MOST_ENTRIES: Final = 8
"""Edges of one tensor; past it those to one node are joined."""


def _join_guarded(values: list[tuple[Guard, Any]]) -> tuple[tuple[Guard, Any], ...]:
    found = [
        (both, node) for guard, entries in values for inner, node in entries if (both := meet(guard, inner)) is not None
    ]
    doubts = [_has_doubt(both) for both, _ in found]  # asked once of each, not of each two
    if True in doubts and False in doubts:
        _doubt_parts(values, found, doubts)
    doubtful = [found[index] for index, doubt in enumerate(doubts) if doubt] if True in doubts else []
    merged: list[tuple[Guard, Any]] = []
    doubted: list[bool] = []
    """Of each that is merged, whether it is in doubt."""
    for number, (both, node) in enumerate(found):
        for index, (known, other) in enumerate(merged):
            if other is not node:
                continue
            common = known & both
            one, two = doubts[number], doubted[index]
            # What two have in common is in doubt only where both are. Unknown code has run on one of the paths: that
            # one rests on what nobody knows, or on an input that must require grad, would be forgotten.
            forgets = (one or two) and not (known <= both or both <= known) and not (one and two and _has_doubt(common))
            forgets = forgets or (bool(doubtful) and _covers_doubt(known, both, node, doubtful))
            if not forgets or len(merged) >= _MOST_ENTRIES:
                merged[index] = (common | unknown_guard() if forgets else common, node)
                doubted[index] = forgets or (one and two and _has_doubt(common))
                break
        else:
            merged.append((both, node))
            doubted.append(doubts[number])
    return tuple(merged)


def _doubt_parts(values: list[tuple[Guard, Any]], found: list[tuple[Guard, Any]], doubts: list[bool]) -> None:
    """
    A path of which another is a part that is in doubt, is in doubt: of the two nobody knows which it is. What a
    function returns in a `try` it does not return where it comes to its end; the guard of that names no arm for it.
    """
    parts = [guard for guard, _ in values]
    doubtful = [each for each, doubt in zip(found, doubts, strict=True) if doubt]
    for number, (both, node) in enumerate(found):
        if doubts[number] or not any(both < part for part in parts):
            continue
        if any(node is each and both < part <= guard for guard, each in doubtful for part in parts):
            found[number], doubts[number] = (both | unknown_guard(), node), True


def _covers_doubt(one: Guard, other: Guard, node: Any, doubtful: list[tuple[Guard, Any]]) -> bool:
    """
    Whether what two guards have in common holds on a third path as well, on which it rests on what nobody knows: of
    three values of a variable unknown code has changed one.
    """
    common = one & other
    for guard, each in doubtful:  # noqa: SIM110 - asked of very many: a generator costs more than the question
        if node is each and common <= guard and not (one <= guard or other <= guard):
            return True
    return False


def _has_doubt(guard: Guard) -> bool:
    for key, _ in guard:  # noqa: SIM110 - of very many: a generator costs more than asking
        if type(key) is tuple:
            return True
    return False


def _join_items(trail: Trail, record: Any, values: list[tuple[Guard, Any]]) -> Any:
    collections = [value for _, value in values]
    if isinstance(record, Sequence):
        lengths = {None if items is None else len(items) for items in collections}
        if len(lengths) == 1 and None not in lengths:
            return tuple(
                choose([(guard, items[index]) for guard, items in values]) for index in range(len(collections[0]))
            )
        every = [(ALWAYS, item) for items in collections for item in items or ()]
        if record.kind == "list" and None not in lengths:
            trail.set(record, "among", _common(collections))
    elif isinstance(record, Mapping):
        if all(items is not None for items in collections):
            keys = {key: None for items in collections for key in items}
            if all(key in items for items in collections for key in keys):
                return {key: choose([(guard, items[key]) for guard, items in values]) for key in keys}
        every = [(ALWAYS, item) for items in collections for item in (items or {}).values()]
    else:
        return None
    if record.element is not None:
        every.append((ALWAYS, record.element))
    if every:
        trail.set(record, "element", widen(every))
    return None


def _common(collections: list[Any]) -> tuple[Any, ...]:
    """With what all of them begin."""
    found: list[Any] = []
    for each in zip(*collections, strict=False):
        if any(other is not each[0] for other in each):
            break
        found.append(each[0])
    return tuple(found)


def widen(values: list[tuple[Guard, Value]]) -> Value:
    """One value that stands for any of them: no guard tells them apart any more."""
    different: list[Value] = []
    for _, value in values:
        for _, each in domain.alternatives(value):
            if not any(each is other for other in different):
                different.append(each)
    if len(different) == 1:
        return different[0]
    if len(different) > domain.MOST_ALTERNATIVES:
        return Unknown(tensor for value in different for tensor in domain.reachable_tensors(value))
    return Choice(tuple((domain.unknown_guard(), value) for value in different))


def _join_shapes(shapes: list[Any]) -> Any:
    if any(shape is None for shape in shapes) or len({len(shape) for shape in shapes}) > 1:
        return None
    return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True))
