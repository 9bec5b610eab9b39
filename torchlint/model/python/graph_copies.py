"""
Copies of the graph that a construction has recorded: nodes, what they saved, the memory and its writes.

What was there before the construction began is nobody's to copy: a copy leads to it as the original does. What was
recorded in another file is told at the call that led there, and is not copied.

Copies records of the domain; runs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torchlint.condition import Condition
from torchlint.model.state.guards import ALWAYS, BranchKey, Guard
from torchlint.model.state.values import (
    Family,
    Grad,
    GraphNode,
    Saved,
    Storage,
    Tensor,
    Use,
    VersionCounter,
    Write,
    unknown_guard,
)
from torchlint.syntax import ir


class NoPrototypeError(Exception):
    """The object holds what a copy would not be faithful to."""


@dataclass(frozen=True, slots=True)
class Moment:
    """
    When and where something is built.

    Attributes
    ----------
    time
        What the clock says.
    path, assumed
        The decisions that lead there.
    iteration
        Of the loops around it.
    built_in
        The class of the outermost Module that is being built.
    callers, infers
        What must hold of the callers for grad mode to be on at a place, and whether what runs is for inference.
    """

    time: int
    path: Guard
    assumed: Guard
    iteration: tuple[int, ...]
    built_in: str
    callers: Callable[[ir.Node], tuple[Condition, ...]]
    infers: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Span:
    """
    From where to where something is copied.

    Attributes
    ----------
    began
        When the construction began that is copied.
    settled
        The decisions that hold wherever it has come to its end, as those before it.
    now
        When the copy is made.
    """

    began: Moment
    settled: Guard
    now: Moment

    def time(self, old: int) -> int:
        """When that happens in the copy; what is older has happened when it did."""
        return old - self.began.time + self.now.time if old > self.began.time else old

    def iteration(self, old: tuple[int, ...]) -> tuple[int, ...]:
        """The loops around the copy, and those inside of it."""
        return (*self.now.iteration, *old[len(self.began.iteration) :])


class Decisions:
    """
    The decisions of one copy, each taken anew: nothing ties it to the one that the original took.

    Parameters
    ----------
    branch
        Gives a decision of this copy its number.
    """

    def __init__(self, branch: Callable[[int], int]) -> None:
        self._branch = branch
        self._unknown: dict[object, Guard] = {}
        self._known: dict[Guard, Guard] = {}

    def guard(self, old: Guard) -> Guard:
        """The same decisions."""
        if not old:
            return old
        known = self._known.get(old)
        if known is None:
            literals = old if len(old) == 1 else sorted(old, key=repr)  # numbered in the same order in each run
            known = self._known[old] = ALWAYS.union(*[self._decision(key, arm) for key, arm in literals])
        return known

    def _decision(self, key: BranchKey, arm: int) -> Guard:
        if isinstance(key, int):
            return frozenset({(self._branch(key), arm)})
        if key[0] != "unknown" or key[1] < 0:  # the last is no decision of the construction
            return frozenset({(key, arm)})
        known = self._unknown.get(key)
        if known is None:
            known = self._unknown[key] = unknown_guard()
        return known

    def grad(self, old: Grad) -> Grad:
        """The same `requires_grad`, under decisions of this copy."""
        return old if old.under is None else Grad(old.otherwise, old.inputs, self.guard(old.under))


@dataclass(slots=True)
class Circles:
    """
    What refers to each other in circles, of all copies.

    Attributes
    ----------
    saved
        All that any node saves, copied or not.
    storages
        The memory of copies.
    """

    saved: list[Saved]
    storages: list[Storage]

    def release(self) -> None:
        """Take memory apart from those who have saved it, and written to it; who has saved it is another's to take."""
        for storage in self.storages:
            storage.saves, storage.writes = (), ()


class GraphCopier:
    """
    The graph of one copy: what is met twice is copied once.

    Parameters
    ----------
    span
        From where to where it is copied.
    decisions
        Those of the copy.
    tensor
        Copies a tensor.
    count
        Counts a part, and raises if there are too many.
    circles
        To which is added what the copy is made of.
    """

    def __init__(
        self,
        span: Span,
        decisions: Decisions,
        tensor: Callable[[Tensor], Tensor],
        count: Callable[[], None],
        circles: Circles,
    ) -> None:
        self.span = span
        self._decisions = decisions
        self._tensor = tensor
        self._count = count
        self._circles = circles
        self._nodes: dict[int, GraphNode] = {}
        self._saved: dict[int, Saved] = {}
        self._writes: dict[int, Write] = {}
        self._storages: dict[int, Storage] = {}
        self._counters: dict[int, VersionCounter] = {}
        self._families: dict[int, Family] = {}
        self._unfilled: list[tuple[GraphNode | Storage, GraphNode | Storage]] = []

    def is_older(self, tensor: Tensor) -> bool:
        """Whether a tensor was there before the construction began."""
        return tensor.born <= self.span.began.time

    def history(self, old: Tensor, new: Tensor) -> None:
        """Give a copied tensor the graph of the original, and its memory; `finish` fills them in."""
        if old.hooked or old.alias is not None or old.grad_of is not None or (old.retains_grad and old.grad_fn):
            raise NoPrototypeError  # others know of this very tensor
        new.own = self._decisions.grad(old.own)
        new.storage, new.counter = self._storage(old.storage), self._counter(old.counter)
        new.family = self._families.setdefault(id(old.family), Family())
        new.grad_time = self.span.time(old.grad_time)
        new.grad_fn = tuple([(self._decisions.guard(guard), self._node(node)) for guard, node in old.grad_fn])

    def finish(self) -> None:
        """Copy what is left: what refers to each other in circles is there before it is filled in."""
        while self._unfilled:
            old, new = self._unfilled.pop()
            if isinstance(old, Storage) and isinstance(new, Storage):
                new.uses = self.uses(old.uses)
                new.saves = tuple([self._save(each) for each in old.saves])
                new.writes = tuple([self._write(each) for each in old.writes])
            elif isinstance(old, GraphNode) and isinstance(new, GraphNode):
                new.edges = tuple([(self._decisions.guard(guard), self._end(end)) for guard, end in old.edges])
                new.output_of = None if old.output_of is None else self._node(old.output_of)
                new.saved = tuple([self._save(each) for each in old.saved])

    def uses(self, old: tuple[Use, ...]) -> tuple[Use, ...]:
        """What unknown code was given."""
        return tuple([Use(self.span.time(each.time), each.origin, each.sure, each.saved) for each in old])

    def _counter(self, old: VersionCounter) -> VersionCounter:
        return self._counters.setdefault(id(old), VersionCounter())

    def _storage(self, old: Storage) -> Storage:
        known = self._storages.get(id(old))
        if known is not None:
            return known
        if old.aliases or old.born <= self.span.began.time:
            raise NoPrototypeError
        storage = self._storages[id(old)] = Storage(self.span.time(old.born))
        storage.inference, storage.given, storage.read = old.inference, old.given, self.span.time(old.read)
        self._unfilled.append((old, storage))
        self._circles.storages.append(storage)
        return storage

    def _node(self, old: GraphNode) -> GraphNode:
        known = self._nodes.get(id(old))
        if known is not None:
            return known
        if old.time <= self.span.began.time:
            return old
        self._count()
        if old.foreign_call is not None or old.releases or old.gradient or old.recompute is not None:
            raise NoPrototypeError
        node = self._nodes[id(old)] = GraphNode(
            name=old.name, op=old.op, origin=old.origin, line=old.line, time=self.span.time(old.time),
            condition=self._decisions.grad(old.condition), edges=(), holds=old.holds, opaque=old.opaque,
            built_in=self.span.now.built_in, iteration=self.span.iteration(old.iteration),
        )  # fmt: skip
        node.result, node.composed, node.last_holds, node.formula = (
            old.result,
            old.composed,
            old.last_holds,
            old.formula,
        )
        self._unfilled.append((old, node))
        return node

    def _end(self, old: GraphNode | Tensor) -> GraphNode | Tensor:
        return self._tensor(old) if isinstance(old, Tensor) else self._node(old)

    def _save(self, old: Saved) -> Saved:
        known = self._saved.get(id(old))
        if known is not None:
            return known
        self._count()
        if self.is_older(old.tensor) or old.node.time <= self.span.began.time:
            raise NoPrototypeError  # its memory knows who has saved it
        saved = self._saved[id(old)] = Saved(
            what=old.what, name=old.name, tensor=self._tensor(old.tensor), storage=self._storage(old.storage),
            counter=self._counter(old.counter), time=self.span.time(old.time), guard=self._decisions.guard(old.guard),
            node=self._node(old.node), path=self._path(old.path, self.span.began.assumed) | self.span.now.assumed,
        )  # fmt: skip
        self._circles.saved.append(saved)
        return saved

    def _write(self, old: Write) -> Write:
        known = self._writes.get(id(old))
        if known is not None:
            return known
        self._count()
        if old.foreign_call is not None or self.is_older(old.target):
            raise NoPrototypeError
        now = self.span.now
        write = self._writes[id(old)] = Write(
            time=self.span.time(old.time), op=old.op, spelling=old.spelling, origin=old.origin, line=old.line,
            target_node=old.target_node, target=self._tensor(old.target), name=old.name,
            counter=self._counter(old.counter), path=self._path(old.path, ALWAYS),
            assumed=self._decisions.guard(old.assumed - self.span.began.assumed) | now.assumed,
            inside=old.inside, index=old.index, grad_mode=old.grad_mode, callers=now.callers(old.origin),
            for_inference=old.for_inference or now.infers(),
        )  # fmt: skip
        return write

    def _path(self, old: Guard, assumed: Guard) -> Guard:
        return self.span.now.path | self._decisions.guard(old - self.span.settled - assumed)
