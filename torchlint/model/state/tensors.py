"""
Tensors as autograd's engine keeps them: `requires_grad`, memory and its versions, graph nodes and what they save.

Mutable records, but only `state.Trail.set` may change their fields. Knows no program.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchlint.condition import Condition
from torchlint.model.events import Shape, WriteSpelling, WrittenPart
from torchlint.model.events.trace import Step
from torchlint.model.state.constants import NONE
from torchlint.model.state.guards import ALWAYS, Guard, Truth, left_by
from torchlint.syntax import cst, ir

if TYPE_CHECKING:
    from torchlint.model.state.objects import ForeignCall
    from torchlint.model.state.values import Value


_unknown_keys: Final = itertools.count()


def is_open(guard: Guard) -> bool:
    """Whether a guard rests on something that nobody knows."""
    for key, _ in guard:  # noqa: SIM110 - asked of very many: a generator costs more than the question
        if type(key) is tuple and key[0] == "unknown":
            return True
    return False


def unknown_guard() -> Guard:
    """A guard that is never implied: the fact it stands before is at most MAYBE."""
    return frozenset({(("unknown", next(_unknown_keys)), 1)})


class Grad:
    """
    The domain of `requires_grad`.

    `YES` and `NO` are certain. Otherwise it holds if any of the inputs in `inputs` requires grad, and if none does,
    it is as `otherwise` says (NO or MAYBE). Where that is MAYBE, `under` may say under which decisions it holds for
    certain: those by which a variable has the value that requires grad.
    """

    __slots__ = ("inputs", "otherwise", "under")

    def __init__(self, otherwise: Truth, inputs: frozenset[str] = frozenset(), under: Guard | None = None) -> None:
        self.otherwise = otherwise
        self.inputs = inputs
        self.under = under

    def __repr__(self) -> str:
        return f"Grad(otherwise={self.otherwise!r}, inputs={self.inputs!r}, under={self.under!r})"

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Grad)
            and self.otherwise is other.otherwise
            and self.inputs == other.inputs
            and self.under == other.under
        )

    def __hash__(self) -> int:
        return hash((self.otherwise, self.inputs, self.under))

    def truth(self) -> Truth:
        return Truth.MAYBE if self.inputs and self.otherwise is Truth.NO else self.otherwise

    def either(self, other: Grad) -> Grad:
        """Requires grad if one of the two does."""
        if self.otherwise is Truth.YES or other.otherwise is Truth.YES:
            return GRAD_YES
        if other is self or other is GRAD_NO:
            return self
        if self is GRAD_NO:
            return other
        under = self.under if self.under is not None else other.under
        return Grad(self.otherwise | other.otherwise, self.inputs | other.inputs, under)

    def join(self, other: Grad) -> Grad:
        """What holds whichever of the two it is."""
        if self is other or self == other:
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
        if self.otherwise is Truth.NO:
            return None
        return unknown_guard() if self.under is None else self.under


GRAD_NO: Final = Grad(Truth.NO)
GRAD_MAYBE: Final = Grad(Truth.MAYBE)
GRAD_YES: Final = Grad(Truth.YES)
FROM_DATA = "it is made from data alone"
NOT_RECORDED = "it is computed under `no_grad`"
"""Why a tensor has no graph that nothing has cut."""


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
    foreign_call: ForeignCall | None = None
    index: WrittenPart = ""
    grad_mode: Truth = Truth.YES
    callers: tuple[Condition, ...] = ()
    """What must hold of the entry point's callers for grad mode to be on."""
    for_inference: bool = False
    """See `InplaceWrite`."""


@dataclass(slots=True, eq=False, init=False)
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

    def __init__(
        self,
        what: str,
        name: str,
        tensor: Tensor,
        storage: Storage,
        counter: VersionCounter,
        time: int,
        guard: Guard,
        node: GraphNode,
        path: Guard,
    ) -> None:
        self.what = what
        self.name = name
        self.tensor = tensor
        self.storage = storage
        self.counter = counter
        self.time = time
        self.guard = guard
        self.node = node
        self.path = path


@dataclass(slots=True, eq=False, init=False)
class Use:
    """
    Code that the model does not know was given the tensor: it may have saved, kept or written it. Not `sure`: it was
    given what is as likely a copy (see `Tensor.may_be_copy`). `saved`: not code has it, but a graph that is not known
    in all its parts, which saves and never changes it.
    """

    time: int
    origin: ir.Node
    sure: bool
    saved: bool

    def __init__(self, time: int, origin: ir.Node, sure: bool = True, saved: bool = False) -> None:
        self.time = time
        self.origin = origin
        self.sure = sure
        self.saved = saved


class Storage:
    """Memory shared by a tensor, its views and its detached aliases."""

    __slots__ = ("aliases", "born", "given", "inference", "read", "saves", "uses", "writes")

    def __init__(self, born: int = 0) -> None:
        self.born = born
        self.inference = False
        """It was made in inference mode: autograd refuses to save it."""
        self.given = False
        """Nobody knows whose it is: it came in from outside."""
        self.read = 0
        """When a part of it was read by index, the last time; on whichever path that was."""
        self.writes: tuple[Write, ...] = ()
        self.saves: tuple[Saved, ...] = ()
        self.uses: tuple[Use, ...] = ()
        self.aliases: tuple[Tensor, ...] = ()

    def handed_on(self) -> bool:
        """Whether code that nobody knows was given it: that may change flags, too."""
        return any(not use.saved for use in self.uses)


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
    saved at once, on all its "inputs", may be "constant", or is "unknown" code (a custom Function's `backward`); else
    "". `recompute`: what
    a backward that comes here runs first, and differentiates.
    """

    __slots__ = (
        "built_in",
        "composed",
        "condition",
        "edges",
        "foreign_call",
        "formula",
        "gradient",
        "holds",
        "iteration",
        "last_holds",
        "leaves",
        "line",
        "name",
        "op",
        "opaque",
        "origin",
        "output_of",
        "recompute",
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
        foreign_call: ForeignCall | None = None,
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
        self.foreign_call = foreign_call
        self.saved: tuple[Saved, ...] = ()
        self.releases: tuple[Release, ...] = ()
        self.result = ""
        self.output_of: GraphNode | None = None
        self.leaves: tuple[Tensor, ...] | None = None
        """All that it leads to, once somebody has looked (edges do not change)."""
        self.composed = False
        self.last_holds = Truth.MAYBE
        self.gradient = False
        self.formula = ""
        self.recompute: Callable[[], list[Tensor]] | None = None


class Family:
    """A tensor and its views; a `detach()` starts another family on the same storage."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Alias:
    """How a tensor was cut from `source` without a copy: two families, one memory."""

    how: str
    source: Tensor
    origin: ir.Node
    line: cst.CSTNode
    bound: bool = False


class Tensor:
    """
    One abstract tensor. `grad_fn` holds guarded alternatives; empty means it is a leaf, or not recorded.

    `op` is the qualified spelling of the operation that computed it ("" if none did), `inputs` are the tensors that
    went in (recorded or not): the data flow, for those who ask where a value comes from. `trues`: of a mask made of
    literals, how many of these are true. `grad_reset`: when its gradient was last set to zero; `grad_dropped`: of a
    tensor that is older than the call which is followed, when it was last set to None in it. `device`: the type of
    the device it is on ("cpu", "cuda"), "" if nobody knows. `may_be_copy`: a view that was read by an index of which
    nobody knows whether it is a tensor or a list, which would make it a copy. `one_of_many`: it stands for each of the
    parts of a tensor, of which nobody knows how many there are. `in_open_mode`: it is a view, made in a grad mode that
    nobody knows, or made by unknown code where grad mode is not known to be on. `order`: its dimensions from the
    largest stride to the smallest, where they are known though its sizes are not; `laid_by`: the operation that lays
    them so, without a gap, only where a fused kernel computes it. `gaps`: of a view, between which neighbours
    among its dimensions there may be a gap in memory (0: between the first two), so that they cannot be one;
    `in_order`: True of one in which no dimension has a larger stride than one before it. `axes`: for each dimension
    its size, or what stands for that, if anything does; what is the same object, here or in another
    tensor's, is the same size. None where nobody has asked.
    """

    __slots__ = (
        "alias",
        "axes",
        "base",
        "born",
        "contiguous",
        "counter",
        "cut",
        "device",
        "dtype",
        "family",
        "gaps",
        "grad",
        "grad_dropped",
        "grad_fn",
        "grad_of",
        "grad_reset",
        "grad_time",
        "hooked",
        "in_open_mode",
        "in_order",
        "inputs",
        "is_parameter",
        "laid_by",
        "line",
        "made_by",
        "may_be_copy",
        "name",
        "one_of_many",
        "op",
        "order",
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
        self.order: tuple[int, ...] | None = None
        self.gaps: frozenset[int] | None = None
        self.in_order: bool | None = None
        self.laid_by = ""
        self.axes: tuple[object, ...] | None = None
        self.trues: int | None = None
        self.grad_fn = grad_fn
        self.grad_time = born
        self.grad_reset = 0
        self.grad_dropped = 0
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
        self.may_be_copy = False
        self.one_of_many = False
        self.in_open_mode = False
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
            guard, only = self.grad_fn[0]
            if len(self.grad_fn) == 1 and not guard and not only.opaque:  # most of what is computed
                return ~(self.requires_grad.truth() & only.condition.truth())
            unseen, recorded = False, Truth.NO
            for _, node in self.grad_fn:
                # what unknown code has returned may be what it was given
                unseen = unseen or (node.opaque and all(is_open(guard) for guard, _ in node.edges))
                # told to require grad, it may still be the leaf that it is if its inputs do not
                recorded = recorded | node.condition.truth()
            unseen = unseen or (bool(self.grad_fn[0][0]) and bool(left_by([guard for guard, _ in self.grad_fn])))
            leaf = ~(self.requires_grad.truth() & recorded)
            return leaf | Truth.MAYBE if unseen else leaf
        if self.base is not None and self.base.grad_fn and self.view != "no_grad":
            return ~self.base.own.truth()
        return Truth.YES
