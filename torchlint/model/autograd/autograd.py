"""
What autograd holds of a run: what nodes have saved, writes, backward passes, what torch refuses.

Data that the transfer functions of this folder read and change; each takes it as its first argument.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torchlint.condition import Condition
from torchlint.model.events import AutogradRefused, FreedGraphRead, RetainedUse, TensorFacts
from torchlint.model.events.trace import Carried, Step
from torchlint.model.state.guards import ALWAYS, Guard, Truth
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Alias, Family, GraphNode, Saved, Tensor, Unknown, Value, Write
from torchlint.syntax import cst, ir


@dataclass(slots=True, eq=False)
class WriteRecord:
    """A write with what was true of its target before it, until the run is over and its event can be told."""

    write: Write
    target: TensorFacts
    leaf_raises: Truth
    leaf_view: Truth
    in_graph: Truth
    old_value_in_graph: Truth
    old_value_needed: Truth
    saved_by: tuple[Step, ...]
    savers: tuple[GraphNode, ...]
    """The nodes that certainly hold the old value."""
    value_in_graph: Truth
    line: cst.CSTNode
    is_view: Truth
    read_since: bool
    """A part of the memory was read by index after an earlier write."""
    handed: bool
    """See `InplaceWrite.handed`."""
    outdated: bool
    """The target is a view that torch takes for a leaf, because its base was written since."""


@dataclass(slots=True, eq=False)
class SavedRead:
    """One proof that a backward reads an overwritten tensor, or half of one."""

    write: Write
    saved: Saved
    need: Guard
    basis: Guard
    conditions: tuple[Condition, ...]
    backward: Step
    implicit: bool
    moment: int


@dataclass(slots=True, eq=False)
class Retained:
    """A backward that kept its graph, and who read it again."""

    argument: cst.Arg
    call: cst.Call
    line: cst.CSTNode
    tensor: Tensor
    root: TensorFacts
    nodes: set[int]
    iteration: tuple[int, ...]
    path: Guard
    asked_for: frozenset[int] | None
    """The tensors whose gradients it computes; None: of all leaves."""
    time: int
    assumed: Guard = ALWAYS
    """Which of the values that its root may have it was called for."""
    part: bool = False
    """Its root is written as a part of a tensor: `rows[i]`."""
    given: bool = False
    """It was given a gradient to go back with: another one may follow."""
    grad_mode: Truth = Truth.MAYBE
    readers: list[tuple[Step, RetainedUse, cst.CSTNode]] = field(default_factory=list)
    carried: Carried | None = None
    opaque: bool = False
    escaped: bool = False


@dataclass(slots=True, eq=False)
class RefusedWhere:
    """A write that torch refuses where an input requires grad, or where a variable has one of its values."""

    event: AutogradRefused
    origin: ir.Node
    need: Guard
    path: Guard


Visited = dict[int, tuple[GraphNode, list[Guard]]]


class Autograd:
    """The state of autograd in one abstract run."""

    __slots__ = (
        "adds_up",
        "asked_for",
        "elsewhere",
        "escaped",
        "filled",
        "filled_beside",
        "freed_reads",
        "given",
        "imported_values",
        "keeper",
        "machine",
        "may_cast",
        "overwritten",
        "pending_alias_writes",
        "recomputed",
        "refused_where",
        "reset_since",
        "retained",
        "retaining",
        "saved",
        "saved_reads",
        "starts",
        "unsettled",
        "unused",
        "visited",
        "write_records",
    )

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.may_cast = False
        """Whether an autocast may be around what runs: what it casts is saved as a copy."""
        self.recomputed = False
        """
        Whether what runs is run again for its backward, or what it saves goes through hooks: that is not looked at,
        whatever is written into.
        """
        self.keeper = ""
        """The context manager around what runs that may keep copies of what is saved, as nobody knows what it does."""
        self.escaped: tuple[Tensor, ...] = ()
        """The latest leaves that unknown code was given."""
        self.unsettled: dict[int, Tensor] = {}
        """
        The leaves that unknown code may have computed with, as it was given what holds them. On any path: no more is
        said of them than that they may have a gradient.
        """
        self.retaining: tuple[tuple[Guard, Tensor], ...] = ()
        """The latest results that were told to retain their gradient, each with the path on which that was."""
        self.imported_values: dict[str, Unknown] = {}
        self.saved: list[Saved] = []
        """All that any node saves."""
        self.overwritten = False
        """Whether memory that some node has saved was written into: else no graph has anything to read that is lost."""
        self.elsewhere: Autograd | None = None
        """That of other files' own code."""
        self.write_records: list[WriteRecord] = []
        self.pending_alias_writes: list[tuple[Tensor, Alias, Family, Write]] = []
        self.visited: Visited = {}
        self.filled: list[tuple[Tensor, int]] = []
        """The leaves that the last backward has reached, and how many writes each had seen by then."""
        self.reset_since = 0
        """When a leaf that the last pass reaches had its gradient set to zero."""
        self.adds_up = False
        """Whether it adds to a gradient that is there."""
        self.starts: set[int] = set()
        """Where the last pass began: ids of nodes and leaves."""
        self.unused: set[int] = set()
        """Inputs of the last pass that no gradient comes to, where that is allowed: ids of tensors."""
        self.asked_for: frozenset[int] | None = None
        """As in `Retained`, of the last pass."""
        self.given: tuple[Value, ...] = ()
        """The gradients that the last pass was given for its roots."""
        self.filled_beside: set[Tensor] = set()
        """Tensors whose gradient was filled by a backward that filled parameters, or what is not known, as well."""
        self.saved_reads: list[SavedRead] = []
        self.refused_where: list[RefusedWhere] = []
        self.retained: list[Retained] = []
        self.freed_reads: dict[tuple[int, Truth], list[tuple[Guard, Guard, FreedGraphRead]]] = {}

    def release(self) -> None:
        """Take graph nodes and the tensors they save apart, which refer to each other in circles."""
        self.elsewhere = None
        for saved in self.saved:
            saved.node.saved = ()
            saved.node.recompute = None
