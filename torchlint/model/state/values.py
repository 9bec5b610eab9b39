"""
The abstract values: what a variable of the program may hold, as far as autograd is concerned.

Tensors, storages and graph nodes are mutable records, but only `state.Trail.set` may change their fields, so that every
change can be undone and joined. Nothing here runs a program or knows an operation by name.

The facts are those of PyTorch's autograd notes (https://docs.pytorch.org/docs/stable/notes/autograd.html): leaf,
requires_grad, grad_fn, saved tensors, version counter, views and their base.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import libcst as cst

from torchlint.knowledge import foreign
from torchlint.model.events import Shape, WriteSpelling
from torchlint.model.events.trace import Step
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conjoin
from torchlint.syntax import ir

if TYPE_CHECKING:
    from torchlint.knowledge.modules.find import ModuleKind

_unknown_keys = itertools.count()


def is_open(guard: Guard) -> bool:
    """Whether a guard rests on something that nobody knows."""
    return any(isinstance(key, tuple) and key[0] == "unknown" for key, _ in guard)


def unknown_guard() -> Guard:
    """A guard that is never implied: the fact it stands before is at most MAYBE."""
    return frozenset({(("unknown", next(_unknown_keys)), 1)})


# ---- requires_grad -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grad:
    """
    The domain of `requires_grad`.

    `YES` and `NO` are certain. Otherwise it holds if any of the inputs in `inputs` requires grad, and if none does,
    it is as `otherwise` says (NO or MAYBE).
    """

    otherwise: Truth
    inputs: frozenset[str] = frozenset()

    def truth(self) -> Truth:
        return Truth.MAYBE if self.inputs and self.otherwise is Truth.NO else self.otherwise

    def either(self, other: Grad) -> Grad:
        """Requires grad if one of the two does."""
        if self.otherwise is Truth.YES or other.otherwise is Truth.YES:
            return GRAD_YES
        if other is self or other is GRAD_NO:
            return self
        return Grad(self.otherwise | other.otherwise, self.inputs | other.inputs)

    def join(self, other: Grad) -> Grad:
        """What holds whichever of the two it is."""
        if self == other:
            return self
        if self.otherwise is Truth.YES:
            return Grad(Truth.MAYBE, other.inputs)
        if other.otherwise is Truth.YES:
            return Grad(Truth.MAYBE, self.inputs)
        otherwise = self.otherwise.join(other.otherwise) if self.inputs == other.inputs else Truth.MAYBE
        return Grad(otherwise, self.inputs & other.inputs)

    def guard(self) -> Guard | None:
        """The guard under which it requires grad; None if it never does."""
        if self.otherwise is Truth.YES:
            return ALWAYS
        if self.inputs:
            return frozenset({(("requires_grad", min(self.inputs)), 1)})
        return unknown_guard() if self.otherwise is Truth.MAYBE else None


GRAD_NO = Grad(Truth.NO)
GRAD_MAYBE = Grad(Truth.MAYBE)
GRAD_YES = Grad(Truth.YES)


# ---- storage, writes, graph nodes --------------------------------------------------------------------------------


class VersionCounter:
    """A tensor's version counter. Views and `detach()` share it; `.data` has one of its own."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Write:
    """One in-place write: where it is in the program, when, on which path, through which tensor."""

    time: int
    op: str
    spelling: WriteSpelling
    origin: ir.Node
    line: cst.CSTNode
    target_node: cst.BaseExpression
    target: Tensor
    name: str
    counter: VersionCounter
    path: Guard
    assumed: Guard
    inside: ir.Node | None = None
    """Where it really stands, if that is in another file: `origin` and `line` are then the call that led there."""
    excursion: Excursion | None = None


@dataclass(slots=True, eq=False)
class Saved:
    """A tensor that a graph node keeps for its backward."""

    what: str
    name: str
    tensor: Tensor
    storage: Storage
    counter: VersionCounter
    time: int
    guard: Guard
    node: GraphNode
    path: Guard


@dataclass(slots=True, eq=False)
class Use:
    """Code that the model does not know was given the tensor: it may have saved, kept or written it."""

    time: int
    origin: ir.Node


class Storage:
    """Memory shared by a tensor, its views and its detached aliases."""

    __slots__ = ("aliases", "born", "given", "read", "saves", "uses", "writes")

    def __init__(self, born: int = 0) -> None:
        self.born = born
        self.given = False
        """Nobody knows whose it is: it came in from outside."""
        self.read = 0
        """When a part of it was read by index, the last time; on whichever path that was."""
        self.writes: tuple[Write, ...] = ()
        self.saves: tuple[Saved, ...] = ()
        self.uses: tuple[Use, ...] = ()
        self.aliases: tuple[Alias, ...] = ()


@dataclass(slots=True, eq=False)
class Release:
    """A backward freed a node's saved tensors."""

    time: int
    path: Guard
    assumed: Guard
    step: Step
    line: cst.CSTNode
    origin: ir.Node
    root: Tensor
    iteration: tuple[int, ...]
    partly: bool = False
    """Of a node that stands for several, only the last was run."""


class GraphNode:
    """
    A node of the backward graph: PyTorch's `grad_fn`.

    `edges` lead to the nodes of its inputs (or to leaves, which accumulate), each under the guard on which the input
    was that one. `condition` is the requires_grad under which the node exists at all. `output_of`: of an operation with
    several results, each has a node of its own before the one they share, so that one is told from another (PyTorch:
    the output number of an edge). `composed`: it stands for several of PyTorch's nodes; `last_holds`: whether the last
    of them, where the result's gradient comes in, holds saved tensors itself. `gradient`: it is opaque, but recorded by
    a backward pass at its `time`, and not found at that time. `formula`: whether its gradient depends on "all" that it
    saved at once, or may be "constant"; else "".
    """

    __slots__ = (
        "built_in",
        "composed",
        "condition",
        "edges",
        "excursion",
        "formula",
        "gradient",
        "holds",
        "iteration",
        "last_holds",
        "line",
        "name",
        "op",
        "opaque",
        "origin",
        "output_of",
        "releases",
        "result",
        "saved",
        "time",
    )

    def __init__(
        self,
        *,
        name: str,
        op: str,
        origin: ir.Node,
        line: cst.CSTNode,
        time: int,
        condition: Grad,
        edges: tuple[tuple[Guard, GraphNode | Tensor], ...],
        holds: Truth,
        opaque: bool = False,
        built_in: str = "",
        iteration: tuple[int, ...] = (),
        excursion: Excursion | None = None,
    ) -> None:
        self.name = name
        self.op = op
        self.origin = origin
        self.line = line
        self.time = time
        self.condition = condition
        self.edges = edges
        self.holds = holds
        self.opaque = opaque
        self.built_in = built_in
        self.iteration = iteration
        self.excursion = excursion
        self.saved: tuple[Saved, ...] = ()
        self.releases: tuple[Release, ...] = ()
        self.result = ""
        self.output_of: GraphNode | None = None
        self.composed = False
        self.last_holds = Truth.MAYBE
        self.gradient = False
        self.formula = ""


# ---- values ------------------------------------------------------------------------------------------------------


class Family:
    """A tensor and its views; a `detach()` starts another family on the same storage."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Alias:
    """`alias` was cut from `source` without a copy: two families, one memory."""

    how: str
    source: Tensor
    alias: Tensor
    origin: ir.Node
    line: cst.CSTNode
    time: int
    bound: bool = False


class Tensor:
    """
    One abstract tensor. `grad_fn` holds guarded alternatives; empty means it is a leaf, or not recorded.

    `op` is the qualified spelling of the operation that computed it ("" if none did), `inputs` are the tensors that
    went in (recorded or not): the data flow, for those who ask where a value comes from. `trues`: of a mask made of
    literals, how many of these are true. `grad_reset`: when its gradient was last set to zero. `device`: the type of
    the device it is on ("cpu", "cuda"), "" if nobody knows.
    """

    __slots__ = (
        "alias",
        "base",
        "born",
        "contiguous",
        "counter",
        "cut",
        "device",
        "dtype",
        "family",
        "grad",
        "grad_fn",
        "grad_of",
        "grad_reset",
        "grad_time",
        "hooked",
        "inputs",
        "is_parameter",
        "line",
        "made_by",
        "name",
        "op",
        "origin",
        "own",
        "precise",
        "retains_grad",
        "shape",
        "storage",
        "strides",
        "trues",
        "view",
    )

    def __init__(
        self,
        *,
        origin: ir.Node,
        line: cst.CSTNode,
        born: int,
        made_by: str,
        own: Grad,
        shape: Shape = None,
        dtype: str | None = None,
        contiguous: Truth = Truth.MAYBE,
        grad_fn: tuple[tuple[Guard, GraphNode], ...] = (),
        storage: Storage | None = None,
        counter: VersionCounter | None = None,
        family: Family | None = None,
        base: Tensor | None = None,
        view: str = "",
        is_parameter: Truth = Truth.NO,
        cut: str = "",
        precise: str = "",
        device: str = "",
    ) -> None:
        self.origin = origin
        self.line = line
        self.born = born
        self.made_by = made_by
        self.name = ""
        self.own = own
        self.shape = shape
        self.dtype = dtype
        self.contiguous = contiguous
        self.strides: tuple[int, ...] | None = None
        self.trues: int | None = None
        self.grad_fn = grad_fn
        self.grad_time = born
        self.grad_reset = 0
        self.storage = storage or Storage(born)
        self.counter = counter or VersionCounter()
        self.family = family or Family()
        self.base = base
        self.view = view
        self.is_parameter = is_parameter
        self.cut = cut
        self.precise = precise
        self.device = device
        self.grad: Value = NONE
        self.grad_of: Tensor | None = None
        self.hooked = False
        self.retains_grad = False
        self.alias: Alias | None = None
        self.inputs: tuple[Tensor, ...] = ()
        self.op = ""

    @property
    def requires_grad(self) -> Grad:
        """A view requires grad when it or its base does."""
        return self.own if self.base is None else self.own.either(self.base.own)

    @property
    def is_leaf(self) -> Truth:
        """As `Tensor.is_leaf`: has no `grad_fn`."""
        if self.grad_fn:
            unseen = any(node.opaque and not node.edges for _, node in self.grad_fn)
            # told to require grad, it may still be the leaf that it is if its inputs do not
            recorded = Truth.NO
            for _, node in self.grad_fn:
                recorded = recorded | node.condition.truth()
            return ~(self.requires_grad.truth() & recorded) | (Truth.MAYBE if unseen else Truth.NO)
        if self.base is not None and self.base.grad_fn and self.view != "no_grad":
            return ~self.base.own.truth()
        return Truth.YES


# Not frozen, as other records are: a frozen one takes three times as long to make, and these are made at every turn.
@dataclass(slots=True, eq=False)
class Constant:
    """A Python constant."""

    value: object | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


NONE = Constant(None)


@dataclass(slots=True, unsafe_hash=True)
class Scalar:
    """
    A Python value of a known plain type and unknown value: "int", "float", "bool", "str", "number", "device",
    "other".
    """

    kind: str
    cut: str = ""
    """Why it is no tensor any more, where it was made of one: "`.item()` returns a number"."""
    device: str = ""
    """Of a `torch.device`, its type ("cpu"), "" if it is not known."""


class Unknown:
    """
    Any Python value. `depends` are the tensors it may be computed from; `tensor` is set once the program has used it in
    a way that only a tensor bears, `guess` is the tensor that it is if it is one. `certain_edge`: the dependence is
    sure (an unknown layer), not merely possible; `possible` are those on which it may depend even so.
    `foreign`: what made it knows no tensors (`torchlint.knowledge.foreign`). `keeps_flags`: a library made it whose
    methods leave `requires_grad` of what they are given alone (a `GradScaler`). `attributes` are those already looked
    up, so that the same attribute is the same value. `part_of`: it is something of this Module, nobody knows what.
    """

    __slots__ = (
        "attributes", "certain_edge", "depends", "element_of_parameters", "foreign", "guess", "hint", "keeps_flags",
        "layer", "part_of", "possible", "source", "tensor",
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
        self.tensor: Tensor | None = None
        self.guess: Tensor | None = None
        self.attributes: dict[str, Value] = {}


class Unbound(Unknown):
    """A name on a path that has not bound it: to read it there is a NameError."""

    __slots__ = ()


class Sequence:
    """
    A list, tuple, set or generator. `items` is None when its length is unknown; then `element` stands for any of them,
    and `last` is what was appended last, if nothing has happened to the list since.
    """

    __slots__ = ("element", "items", "kind", "last", "parameters_of")

    def __init__(
        self, kind: str, items: tuple[Value, ...] | None, element: Value | None = None, parameters_of: str = ""
    ) -> None:
        self.kind = kind
        self.items = items
        self.element = element
        self.last: Value | None = None
        self.parameters_of = parameters_of


class Mapping:
    """A dict with constant keys; `items` is None when its keys are unknown, then `element` stands for any value."""

    __slots__ = ("element", "items")

    def __init__(self, items: dict[object, Value] | None, element: Value | None = None) -> None:
        self.items = items
        self.element = element


@dataclass(slots=True, unsafe_hash=True)
class External:
    """Something imported: `torch.nn.functional`, `numpy`, `mypackage.layers.Block`."""

    qualified: str


@dataclass(slots=True, eq=False)
class Frame:
    """The variables of a running function (or of the file), and where to look for the others."""

    variables: dict[str, Value]
    enclosing: Frame | None = None
    globals_: frozenset[str] = frozenset()
    nonlocals: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class Globals(Frame):
    """
    The variables of a file. Of a file under analysis they are set as it runs; of another file of the project (`other`)
    they are found when somebody asks for them (see `imports`).
    """

    module: str = ""
    """Its dotted name, if it can be imported by one."""
    is_package: bool = False
    other: bool = False
    stars: tuple[str, ...] = ()
    """What it imports all names from."""


def globals_of(frame: Frame) -> Frame:
    """The variables of the file that a frame belongs to."""
    while frame.enclosing is not None:
        frame = frame.enclosing
    return frame


@dataclass(slots=True, eq=False)
class Excursion:
    """The running of another file's code: the call of it that stands in the file under analysis."""

    node: ir.Node
    line: cst.CSTNode
    started: int


@dataclass(slots=True, eq=False)
class Function:
    """A function of the file, with its closure."""

    definition: ir.FunctionDef | ir.Lambda
    closure: Frame
    defaults: dict[str, Value]
    owner: Class | None = None
    kind: str = ""
    """"", "static", "class", "property", or "opaque" (under a decorator the model does not know)."""
    grad_mode: Truth | None = None
    """The grad mode its decorators set, or None."""
    name: str = "<lambda>"


@dataclass(slots=True, eq=False)
class Class:
    """A class of the file."""

    definition: ir.ClassDef
    name: str
    bases: tuple[Value, ...]
    attributes: dict[str, Value]
    wrapped: bool = False
    """A metaclass or decorator that the model does not know has had it in its hands."""

    def ancestry(self) -> list[Class]:
        """The class and its bases of the same file, in a depth-first method resolution order."""
        found: dict[int, Class] = {}
        pending: list[Value] = [self]
        while pending:
            value = pending.pop()
            if isinstance(value, Class) and id(value) not in found:
                found[id(value)] = value
                pending += reversed(value.bases)
        return list(found.values())

    def outside(self) -> list[Value]:
        """The bases, of any ancestor, that are not classes of the file."""
        return [base for cls in self.ancestry() for base in cls.bases if not isinstance(base, Class)]


class Instance:
    """
    An object of a class of the file. `attributes` is only what was seen to be set; `layer` is what it is as an object
    of a class of `torch.nn`, if its class derives from one (`class Block(nn.Sequential)`); `contents` what it holds, if
    it is a dict; `given` the tensors that a constructor nobody knows was given, which it may hold under any name;
    `exact` that a call of the very class made it: otherwise it stands for objects of derived classes, as well.
    """

    __slots__ = ("attributes", "cls", "contents", "exact", "given", "havocked", "initialised", "layer")

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.layer: Module | None = None
        self.contents: Mapping | None = None
        self.attributes: dict[str, Value] = {}
        self.given: tuple[Tensor, ...] = ()
        self.exact = False
        self.havocked = False
        self.initialised = False


class Module:
    """
    An instance of a class of `torch.nn`. `children` are those of a container, in order; of an `nn.Sequential` with
    unknown ones, `tail` is the last, if that is known; of an `nn.ModuleList` of unknown length, `element` is any one.
    """

    __slots__ = ("children", "config", "element", "kind", "names", "origin", "parameters", "tail", "training")

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


class Optimizer:
    """
    An optimizer of `torch.optim`. `parameters` are those known; `complete` says whether these are all. `evaluates`
    says whether one step calls its closure several times.
    """

    __slots__ = ("complete", "evaluates", "name", "parameters", "qualified")

    def __init__(self, qualified: str, parameters: tuple[Tensor, ...], complete: bool) -> None:
        self.qualified = qualified
        self.parameters = parameters
        self.complete = complete
        self.evaluates = False
        self.name = ""


@dataclass(slots=True, eq=False)
class Bound:
    """A method looked up on a value and not yet called."""

    receiver: Value
    name: str
    function: Function | None = None
    start: Class | None = None


@dataclass(slots=True, eq=False)
class Super:
    """`super()` in a method of `cls`."""

    cls: Class
    instance: Value


@dataclass(slots=True, eq=False)
class Partial:
    """`functools.partial(function, ...)`."""

    function: Value
    given: tuple[Value, ...]
    named: dict[str, Value]


@dataclass(frozen=True, slots=True)
class GradModeGuard:
    """`torch.no_grad()`, `torch.enable_grad()`, …: a context manager (and decorator) that sets the grad mode."""

    mode: Truth


@dataclass(slots=True, eq=False)
class Choice:
    """Several values, each under the guard of the path that leads to it."""

    alternatives: tuple[tuple[Guard, Value], ...]


Value: TypeAlias = (
    "Tensor | Constant | Scalar | Unknown | Sequence | Mapping | External | Function | Class | Instance | Module | "
    "Optimizer | Bound | Super | Partial | GradModeGuard | Choice"
)

MOST_ALTERNATIVES = 6
MOST_DEPENDS = 16
"""
Tensors an unknown value is held to depend on; beyond them the dependence is forgotten, and nothing is proven by it.
"""
MOST_REACHABLE = 256


def alternatives(value: Value, path: Guard = ALWAYS) -> tuple[tuple[Guard, Value], ...]:
    """The values it may be on a given path, each with its guard."""
    if not isinstance(value, Choice):
        return ((ALWAYS, value),)
    if not path:
        return value.alternatives
    return tuple([option for option in value.alternatives if conjoin(option[0], path) is not None])


def choose(options: Iterable[tuple[Guard, Value]]) -> Value:
    """
    Join values of several paths: equal ones become one, different ones a `Choice`; with too many of them the join
    widens to an `Unknown` that depends on all their tensors.
    """
    options = list(options)
    if len(options) == 2:
        (_, left), (_, right) = options
        if type(left) is not Choice and type(right) is not Choice:
            return left if _same(left, right) else Choice(tuple(options))
    flat: list[tuple[Guard, Value]] = []
    for guard, value in options:
        for inner, each in alternatives(value):
            both = conjoin(guard, inner)
            if both is not None:
                flat.append((both, each))
    if not flat:
        return Unknown()
    merged: list[tuple[Guard, Value]] = []
    for guard, value in flat:
        for index, (known, other) in enumerate(merged):
            if _same(other, value) and (guard <= known or known <= guard or _are_arms(known, guard)):
                merged[index] = (known & guard, other)
                break
        else:
            merged.append((guard, value))
    if len(merged) == 1 or all(_same(merged[0][1], value) for _, value in merged[1:]):
        return merged[0][1]
    if len(merged) > MOST_ALTERNATIVES:
        return Unknown(tensor for _, value in merged for tensor in reachable_tensors(value))
    return Choice(tuple(merged))


def _are_arms(one: Guard, other: Guard) -> bool:
    """Whether two guards are the two arms of one branch, so that together they say what they have in common."""
    if len(one ^ other) != 2:
        return False
    (key, arm), (other_key, other_arm) = one ^ other
    return key == other_key and {arm, other_arm} == {0, 1} and not (isinstance(key, tuple) and key[0] == "unknown")


def _same(left: Value, right: Value) -> bool:
    return left is right or (isinstance(left, (Constant, Scalar, External)) and left == right)


def _distinct(tensors: Iterable[Tensor], most: int = MOST_DEPENDS) -> tuple[Tensor, ...]:
    found: dict[int, Tensor] = {}
    for tensor in tensors:
        found.setdefault(id(tensor), tensor)
        if len(found) >= most:
            break
    return tuple(found.values())


# ---- walking over values -----------------------------------------------------------------------------------------
#
# A program may put anything into anything: a list into itself, two objects into each other, ten thousand lists into one
# another. A compiled function that calls itself for what a value holds has no limit but the stack of the process. So
# whoever goes through values goes through them with one of these, or asks `fits` first.

MOST_PARTS = 10_000
MOST_LEVELS = 20


def parts(value: Value) -> list[Value]:
    """What a container holds, or which values a choice is between; nothing of any other value."""
    if isinstance(value, Sequence):
        inner = list(value.items or ())
    elif isinstance(value, Mapping):
        inner = list((value.items or {}).values())
    elif isinstance(value, Choice):
        return [each for _, each in value.alternatives]
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
    if not isinstance(value, (Sequence, Mapping, Choice)):
        return True
    count = 0
    level = parts(value)
    for _ in range(MOST_LEVELS):
        if not level:
            return True
        count += len(level)
        if count > MOST_PARTS:
            return False
        level = [part for each in level if isinstance(each, (Sequence, Mapping, Choice)) for part in parts(each)]
    return not level


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
        if id(each) not in seen:
            seen.add(id(each))
            yield each
            inner = list(into(each))
            inner.reverse()
            pending += inner


def within(value: Value, into: Callable[[Value], Iterable[Value]], depth: int) -> Iterator[Value]:
    """As `explore`, so many steps from the value at most; what is nearer comes first."""
    seen: set[int] = {id(value)}
    level: list[Value] = [value]
    for step in range(depth + 1):
        yield from level
        if step == depth or len(seen) > MOST_PARTS:
            return
        below: list[Value] = []
        for each in level:
            for part in into(each):
                if id(part) not in seen:
                    seen.add(id(part))
                    below.append(part)
        level = below


def reachable_tensors(value: Value) -> list[Tensor]:
    """The tensors that code holding this value can get at (containers and unknowns are followed; instances are not)."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Unknown):
        return [value.tensor] if value.tensor is not None else [*value.depends, *value.possible]
    if not isinstance(value, (Sequence, Mapping, Choice)):
        return []
    found: dict[int, Tensor] = {}
    for each in explore(value, parts):
        if isinstance(each, Tensor):
            found.setdefault(id(each), each)
        elif isinstance(each, Unknown):
            for tensor in (each.tensor,) if each.tensor is not None else (*each.depends, *each.possible):
                found.setdefault(id(tensor), tensor)
        if len(found) >= MOST_REACHABLE:
            break
    return list(found.values())[:MOST_REACHABLE]


def sure_tensors(value: Value) -> list[Tensor]:
    """
    Of the reachable tensors those that are in the value for certain: not what an unknown value only may depend on, nor
    what a list of unknown length may hold, nor one of several alternatives.
    """
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Unknown):
        return _sure(value)
    if not isinstance(value, (Sequence, Mapping)):
        return []
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
    return Unknown(sure, source=source, certain_edge=True, layer=layer, possible=possible)


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
