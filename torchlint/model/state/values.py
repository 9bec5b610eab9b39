"""
The abstract values: what a variable of the program may hold, as far as autograd is concerned.

Tensors, storages and graph nodes are mutable records, but only `state.Trail.set` may change their fields, so that every
change can be undone and joined. Nothing here runs a program or knows an operation by name.

The facts are those of PyTorch's autograd notes (https://docs.pytorch.org/docs/stable/notes/autograd.html): leaf,
requires_grad, grad_fn, saved tensors, version counter, views and their base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from torchlint.knowledge import foreign
from torchlint.knowledge.shapes.dtypes import dtype_class
from torchlint.model.state.constants import NONE as NONE
from torchlint.model.state.constants import Constant as Constant
from torchlint.model.state.constants import External as External
from torchlint.model.state.constants import Scalar as Scalar
from torchlint.model.state.guards import ALWAYS, Guard, Truth, arms_of, meet
from torchlint.model.state.objects import Bound as Bound
from torchlint.model.state.objects import Class as Class
from torchlint.model.state.objects import ForeignCall as ForeignCall
from torchlint.model.state.objects import Frame as Frame
from torchlint.model.state.objects import Function as Function
from torchlint.model.state.objects import Globals as Globals
from torchlint.model.state.objects import Instance as Instance
from torchlint.model.state.objects import Partial as Partial
from torchlint.model.state.objects import Super as Super
from torchlint.model.state.objects import globals_of as globals_of
from torchlint.model.state.tensors import FROM_DATA as FROM_DATA
from torchlint.model.state.tensors import GRAD_MAYBE as GRAD_MAYBE
from torchlint.model.state.tensors import GRAD_NO as GRAD_NO
from torchlint.model.state.tensors import GRAD_YES as GRAD_YES
from torchlint.model.state.tensors import NOT_RECORDED as NOT_RECORDED
from torchlint.model.state.tensors import Alias as Alias
from torchlint.model.state.tensors import Family as Family
from torchlint.model.state.tensors import Grad as Grad
from torchlint.model.state.tensors import GraphNode as GraphNode
from torchlint.model.state.tensors import Release as Release
from torchlint.model.state.tensors import Saved as Saved
from torchlint.model.state.tensors import Storage as Storage
from torchlint.model.state.tensors import Tensor as Tensor
from torchlint.model.state.tensors import Use as Use
from torchlint.model.state.tensors import VersionCounter as VersionCounter
from torchlint.model.state.tensors import Write as Write
from torchlint.model.state.tensors import is_open as is_open
from torchlint.model.state.tensors import unknown_guard as unknown_guard
from torchlint.syntax import ir

if TYPE_CHECKING:
    from torchlint.knowledge.modules.find import ModuleKind


class Unknown:
    """
    Any Python value. `depends` are the tensors it may be computed from; `tensor` is set once the program has used it in
    a way that only a tensor bears, `guess` is the tensor that it is if it is one. `certain_edge`: the dependence is
    sure (an unknown layer), not merely possible; `possible` are those on which it may depend even so, `one_of` the
    choices on whose value it depends as surely.
    `foreign`: what made it knows no tensors (`torchlint.knowledge.foreign`). `keeps_flags`: a library made it whose
    methods leave `requires_grad` of what they are given alone (a `GradScaler`). `attributes` are those already looked
    up, so that the same attribute is the same value. `part_of`: it is something of this Module, nobody knows what.
    `made_by`: the class of torch that it is an object of, by its qualified name. `picked_by`: the index that picked it.
    `wraps`: the Module that a call of it calls. `may_be`: the objects and Modules that the code was
    given which made it: it may be one of them, or hold one. `result_of`: the call, as the program writes it, of a layer
    that a Module was given, which made it: whether that requires grad is for the reader to say. `in_open_mode`: it was
    made where grad mode is not known to be on.
    """

    __slots__ = (
        "attributes", "certain_edge", "depends", "element_of_parameters", "foreign", "guess", "hint", "in_open_mode",
        "keeps_flags", "layer", "made_by", "may_be", "one_of", "part_of", "picked_by", "possible", "result_of",
        "source", "tensor", "wraps",
    )  # fmt: skip

    def __init__(
        self,
        depends: Iterable[Tensor] = (),
        *,
        source: ir.Node | None = None,
        hint: str = "",
        certain_edge: bool = False,
        layer: bool = False,
        element_of_parameters: str = "",
        foreign: bool = False,
        keeps_flags: bool = False,
        possible: Iterable[Tensor] = (),
        part_of: Value | None = None,
    ) -> None:
        self.depends = _distinct(depends) if depends else ()
        self.possible = _distinct(possible) if possible else ()
        self.source = source
        self.hint = hint
        self.certain_edge = certain_edge
        self.layer = layer
        self.element_of_parameters = element_of_parameters
        self.foreign = foreign
        self.keeps_flags = keeps_flags
        self.part_of = part_of
        self.made_by = ""
        self.picked_by: Value | None = None
        self.wraps: Value | None = None
        self.may_be: tuple[Value, ...] = ()
        self.one_of: tuple[Choice, ...] = ()
        self.result_of, self.in_open_mode = "", False
        self.tensor: Tensor | None = None
        self.guess: Tensor | None = None
        self.attributes: dict[str, Value] = {}

    def take_after(self, whole: Unknown) -> None:
        """It is a part of another value that nobody knows, and may be all that this may be."""
        self.may_be, self.in_open_mode = whole.may_be, whole.in_open_mode


class Unbound(Unknown):
    """A name on a path that has not bound it: to read it there is a NameError."""

    __slots__ = ()


class Sequence:
    """
    A list, tuple, set, deque or generator. `items` is None when its length is unknown; then `element` stands for any of
    them, `among` are some of which it is certain that they are among them, and `last` is what was appended last, if
    nothing has happened to the list since. `longest`: the length past which a deque drops what was put in first.
    """

    __slots__ = ("among", "element", "filled", "items", "kind", "last", "longest", "parameters_of")

    def __init__(
        self, kind: str, items: tuple[Value, ...] | None, element: Value | None = None, parameters_of: str = ""
    ) -> None:
        self.kind = kind
        self.items = items
        self.element = element
        self.among: tuple[Value, ...] = ()
        self.last: Value | None = None
        self.longest: int | None = None
        self.filled = False
        """Nobody knows how many it has, but a comprehension without a test made one for whatever it goes over."""
        self.parameters_of = parameters_of


class Mapping:
    """A dict: `items` is None if not all keys are constants; then `element` is any value, `keys` any other key."""

    __slots__ = ("element", "items", "keys")

    def __init__(self, items: dict[object, Value] | None, element: Value | None = None, keys: Value | None = None):
        self.items = items
        self.element = element
        self.keys = keys


class Module:
    """
    An instance of a class of `torch.nn`. `children` are those of a container, in order; of an `nn.Sequential` with
    unknown ones, `tail` is the last, if that is known; of an `nn.ModuleList` of unknown length, `element` is any one.
    `patched`: unknown code may have given it another `forward`, hooks, or other settings.
    """

    __slots__ = (
        "children", "config", "element", "kind", "names", "origin", "parameters", "patched", "tail", "training",
    )  # fmt: skip

    def __init__(self, kind: ModuleKind, config: dict[str, object], origin: ir.Node) -> None:
        self.kind = kind
        self.config = config
        self.origin = origin
        self.parameters: dict[str, Value] = {}
        self.children: tuple[Value, ...] | None = ()
        self.names: tuple[str, ...] = ()
        self.tail: Value | None = None
        self.element: Module | Instance | None = None
        self.training: Truth | None = None
        self.patched = False


class Optimizer:
    """
    An optimizer of `torch.optim`. `parameters` are those known; `complete` says whether these are all, and `possible`
    are what else it was given on some path, or in some part. `evaluates` says whether one step calls its closure
    several times.
    """

    __slots__ = ("complete", "evaluates", "name", "parameters", "possible", "qualified")

    def __init__(
        self, qualified: str, parameters: tuple[Tensor, ...], complete: bool, possible: tuple[Tensor, ...] = ()
    ) -> None:
        self.qualified = qualified
        self.parameters = parameters
        self.complete = complete
        self.possible = possible
        self.evaluates = False
        self.name = ""


@dataclass(frozen=True, slots=True)
class GradModeGuard:
    """
    `torch.no_grad()`, `torch.enable_grad()`, …: a context manager (and decorator) that sets the grad mode.
    `inference`: and what is made inside is kept from autograd for good.
    """

    mode: Truth
    inference: bool = False


class Choice:
    """
    Several values, each under the guard of the path that leads to it. They are never others: once somebody has asked,
    `held` are the values alone, and `is_open` says whether each of the guards rests on what nobody knows.
    """

    __slots__ = ("alternatives", "held", "is_open")

    def __init__(self, alternatives: tuple[tuple[Guard, Value], ...]) -> None:
        self.alternatives = alternatives
        self.held: tuple[Value, ...] | None = None
        self.is_open: bool | None = None

    def __repr__(self) -> str:
        return f"Choice(alternatives={self.alternatives!r})"


Value: TypeAlias = (
    "Tensor | Constant | Scalar | Unknown | Sequence | Mapping | External | Function | Class | Instance | Module | "
    "Optimizer | Bound | Super | Partial | GradModeGuard | Choice"
)

MOST_ALTERNATIVES: Final = 6
MOST_DEPENDS: Final = 16
"""Tensors an unknown value is held to depend on; beyond them that is forgotten, and nothing is proven by it."""
MOST_REACHABLE: Final = 256


def alternatives(value: Value, path: Guard = ALWAYS) -> tuple[tuple[Guard, Value], ...]:
    """The values it may be on a given path, each with its guard."""
    if type(value) is not Choice:
        return ((ALWAYS, value),)
    if not path:
        return value.alternatives
    arms = arms_of(path)
    found = []
    for option in value.alternatives:
        for key, arm in option[0]:  # as `takes`, without its call
            if key in arms and arms[key] != arm:
                break
        else:
            found.append(option)
    return tuple(found)


def choose(options: Iterable[tuple[Guard, Value]]) -> Value:
    """
    Join values of several paths: equal ones become one, different ones a `Choice`; with too many of them the join
    widens to an `Unknown` that depends on all their tensors.
    """
    options = list(options)
    if len(options) == 2:
        (_, left), (_, right) = options
        if type(left) is not Choice and type(right) is not Choice:
            alike = left is right or (type(left) is type(right) and _same(left, right))  # a call costs more
            return _common(left, right) if alike else Choice(tuple(options))
    merged: list[tuple[Guard, Value]] = []
    known_as: set[int] = set()
    for guard, choice in options:
        for inner, value in choice.alternatives if type(choice) is Choice else ((ALWAYS, choice),):
            both = meet(guard, inner) if inner else guard
            if both is None:
                continue
            kind = type(value)
            plain = kind in _PLAIN
            number = id(value)
            if not plain and number not in known_as:  # it is nothing but itself
                known_as.add(number)
                merged.append((both, value))
                continue
            for index, (known, other) in enumerate(merged):
                if not (other is value or (plain and type(other) is kind and other == value)):
                    continue
                if both <= known or known <= both or _are_arms(known, both):
                    merged[index] = (known & both, _common(other, value))
                    break
            else:
                merged.append((both, value))
    if not merged:
        return Unknown()
    first = merged[0][1]
    for _, value in merged[1:]:  # most are different at once: a generator costs more than asking
        if value is not first and not _same(first, value):
            break
        first = _common(first, value)
    else:
        return first
    if len(merged) > MOST_ALTERNATIVES:
        reached: list[Tensor] = []
        for _, value in merged:
            reached += reachable_tensors(value)
        return _of_one_type([value for _, value in merged]) or Unknown(reached)
    return Choice(tuple(merged))


def _of_one_type(values: list[Value]) -> Scalar | None:
    """What is left of too many plain values: their type. Of dtypes, where none of them would cut a tensor's graph."""
    if not _PLAIN.issuperset(map(type, values)):  # most often there is a tensor among them, or what nobody knows
        return None
    kinds = {_type_of(each) for each in values}
    kinds = {"number"} if kinds == {"int", "float"} else kinds
    return Scalar(kinds.pop()) if len(kinds) == 1 and "" not in kinds else None


def _type_of(value: Value) -> str:
    if type(value) is Constant:
        return type(value.value).__name__ if type(value.value) in (bool, int, float, str) else ""
    if type(value) is Scalar:
        return value.kind if value.kind in ("bool", "int", "float", "str", "number") else ""
    return "dtype" if type(value) is External and dtype_class(value.qualified) == "float" else ""


def _are_arms(one: Guard, other: Guard) -> bool:
    """Whether two guards are the two arms of one branch, so that together they say what they have in common."""
    if len(one) != len(other) or len(rest := one - other) != 1:
        return False
    ((key, arm),) = rest
    return arm in (0, 1) and (key, 1 - arm) in other and not (isinstance(key, tuple) and key[0] == "unknown")


def _common(left: Value, right: Value) -> Value:
    return left.meet(right) if type(left) is Scalar and type(right) is Scalar else left


def _same(left: Value, right: Value) -> bool:
    return left is right or (type(left) is type(right) and type(left) in _PLAIN and left == right)


_PLAIN: Final = frozenset({Constant, Scalar, External})
"""Values that are compared by what they are."""


def _distinct(tensors: Iterable[Tensor], most: int = MOST_DEPENDS) -> tuple[Tensor, ...]:
    return tuple(dict.fromkeys(tensors))[:most]


# ---- walking over values -----------------------------------------------------------------------------------------
#
# A program may put anything into anything: a list into itself, two objects into each other, ten thousand lists into one
# another. A compiled function that calls itself for what a value holds has no limit but the stack of the process. So
# whoever goes through values goes through them with one of these, or asks `fits` first.

MOST_DEEP: Final = 12
"""Containers inside each other that are followed for what unknown code can get at."""
MOST_PARTS: Final = 10_000
MOST_LEVELS: Final = 20


def parts(value: Value) -> list[Value]:
    """What a container holds, or which values a choice is between; nothing of any other value."""
    if type(value) is Choice:
        held = value.held
        if held is None:
            held = value.held = tuple([each for _, each in value.alternatives])
        return [*held]
    if type(value) is Sequence:
        inner = [*value.items] if value.items is not None else []
    elif type(value) is Mapping:
        inner = [*(value.items or {}).values(), *([value.keys] if value.keys is not None else [])]
    else:
        return []
    if value.element is not None:
        inner.append(value.element)
    return inner


def fits(value: Value) -> bool:
    """
    Whether a recursive walk over the parts of a value ends soon: it does not hold itself, and what it holds is neither
    too much nor nested too deeply. What doesn't fit counts as unknown.
    """
    if type(value) not in CONTAINERS:
        return True
    count = 0
    level = parts(value)
    for _ in range(MOST_LEVELS):
        if not level:
            return True
        count += len(level)
        if count > MOST_PARTS:
            return False
        if CONTAINERS.isdisjoint(map(type, level)):  # most hold none
            return True
        level = [part for each in level if type(each) in CONTAINERS for part in parts(each)]
    return not level


CONTAINERS: Final = frozenset({Sequence, Mapping, Choice})
"""Asked by its class, of which there is none derived: a look at a set is no call."""


def explore(value: Value, into: Callable[[Value], Iterable[Value]]) -> Iterator[Value]:
    """
    A value and what it holds, each value once, before what it holds itself; no more than `MOST_PARTS`.

    Parameters
    ----------
    value
        Where to begin.
    into
        What is looked into of a value.
    """
    seen: set[int] = set()
    pending: list[Value] = [value]
    while pending and len(seen) < MOST_PARTS:
        each = pending.pop()
        number = id(each)
        if number not in seen:
            seen.add(number)
            yield each
            pending += [*into(each)][::-1]


def within(value: Value, into: Callable[[Value], Iterable[Value]], depth: int) -> list[Value]:
    """As `explore`, so many steps from the value at most; what is nearer comes first."""
    level: list[Value] = [value]
    found = level
    seen: set[int] = {id(value)}
    for _ in range(depth):
        below: list[Value] = []
        for each in level:
            for part in into(each):
                number = id(part)
                if number not in seen:
                    seen.add(number)
                    below.append(part)
        if not below:
            break
        found = found + below
        if len(seen) > MOST_PARTS:
            break
        level = below
    return found


def reachable_tensors(value: Value) -> list[Tensor]:
    """The tensors that code holding this value can get at (containers and unknowns are followed; instances are not)."""
    if isinstance(value, Unknown):  # most are
        return [value.tensor] if value.tensor is not None else [*value.depends, *value.possible]
    if type(value) is Tensor:
        return [value]
    if type(value) not in CONTAINERS:
        return []
    found: dict[int, Tensor] = {}
    seen: set[int] = set()
    pending: list[Value] = [value]
    left = MOST_PARTS
    while pending and left > 0 and len(found) < MOST_REACHABLE:  # as `explore`, without its calls
        each = pending.pop()
        if type(each) in CONTAINERS:
            number = id(each)
            if number in seen:
                continue
            seen.add(number)
            inner = parts(each)
        else:
            inner = [each]
        left -= len(inner)
        for index, part in enumerate(inner):
            if isinstance(part, Unknown):
                for tensor in (part.tensor,) if part.tensor is not None else (*part.depends, *part.possible):
                    found.setdefault(id(tensor), tensor)
            elif type(part) is Tensor:
                found[id(part)] = part
            elif type(part) in CONTAINERS:  # its parts come before what follows it
                pending += inner[index:][::-1]
                break
    return list(found.values())[:MOST_REACHABLE]


def sure_tensors(value: Value) -> list[Tensor]:
    """
    Of the reachable tensors those that are in the value for certain: not what an unknown value only may depend on, nor
    what a list of unknown length may hold, nor one of several alternatives.
    """
    if type(value) is Tensor:
        return [value]
    if type(value) is not Sequence and type(value) is not Mapping:
        return _sure(value) if isinstance(value, Unknown) else []
    found: list[Tensor] = []
    for each in explore(value, _items):
        if isinstance(each, Tensor):
            found.append(each)
        elif isinstance(each, Unknown):
            found += _sure(each)
    return list(_distinct(found, MOST_REACHABLE))


def _sure(value: Unknown) -> list[Tensor]:
    if value.tensor is not None:
        return [value.tensor]
    return list(value.depends) if value.certain_edge else []


def _items(value: Value) -> list[Value]:
    if isinstance(value, Sequence):
        return list(value.items or ())
    return list((value.items or {}).values()) if isinstance(value, Mapping) else []


def made_of(values: Iterable[Value], *, source: ir.Node | None = None, layer: bool = False) -> Unknown:
    """What is certainly computed from some values: it depends on each of them as surely as that does on its own."""
    values = list(values)
    sure = _distinct(tensor for value in values for tensor in sure_tensors(value))
    reached = [tensor for value in values for tensor in reachable_tensors(value)]
    known = {id(tensor) for tensor in sure}
    possible = [tensor for tensor in reached if id(tensor) not in known]
    made = Unknown(sure, source=source, certain_edge=True, layer=layer, possible=possible)
    if possible:
        made.one_of = tuple(each for value in values for each in explore(value, _items) if type(each) is Choice)
    return made


HOLDS_NOTHING: Final = frozenset({Constant, Scalar})
"""What leads to no tensor, object or function, and cannot change: most of what code that nobody knows is given."""


def is_value_of_elsewhere(value: External) -> bool:
    """Whether something imported may be a tensor that another package has made."""
    return not value.qualified.startswith(("torch.", "builtins.")) and not foreign.is_foreign(value.qualified)


def may_be_tensor(value: Value) -> bool:
    """Whether a value is a tensor, or nobody knows that it is none."""
    if isinstance(value, Choice):
        return any(may_be_tensor(each) for _, each in value.alternatives)
    if isinstance(value, External):
        return is_value_of_elsewhere(value)
    return isinstance(value, (Tensor, Instance)) or (isinstance(value, Unknown) and not is_foreign(value))


def is_foreign(value: Value) -> bool:
    """Whether a value is certainly made by what knows no tensors."""
    return isinstance(value, Unknown) and value.foreign and value.tensor is None
