"""
Transfer functions of the backward pass: what a backward reads, what it frees, where gradients go.

Follows `torch/csrc/autograd/engine.cpp`: a node's saved tensors are checked against the version counter when they are
unpacked,
and released node by node unless `retain_graph`. Says what happens; does not judge.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

import libcst as cst

from torchlint.condition import Condition
from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.autograd.record import GraphMachine, WriteRecord, saved_step, saved_words
from torchlint.model.events import (
    AutogradRefused,
    BackwardCalled,
    BackwardCallee,
    FreedGraphRead,
    GraphRetained,
    InplaceWrite,
    Refusal,
    RetainedUse,
    SavedTensorRead,
    TensorFacts,
)
from torchlint.model.events.trace import Step
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conditions, conjoin, covered, unconditional
from torchlint.model.state.values import (
    GRAD_NO,
    GRAD_YES,
    NONE,
    GraphNode,
    Release,
    Saved,
    Tensor,
    Unknown,
    Value,
    Write,
    choose,
    is_open,
    reachable_tensors,
    unknown_guard,
)
from torchlint.syntax import ir

MOST_RETAINED = 8
"""Retained graphs that later backwards are held against; who reads older ones is not known."""
MOST_LITERALS = 16
_ABOUT_MODE = re.compile("train|eval|infer|grad|export|script|trac|onnx|jit|compil")
"""Conditions that may say whether anybody differentiates: what rests on one of them alone is not proven."""
_BUFFERS = frozenset({"empty", "full", "ones", "zeros"})
_MOVING = frozenset({"clone", "cpu", "cuda", "double", "float", "half", "to", "type", "type_as"})
_BACKWARDS = re.compile(r"backward|\bgrad\(")
_BY_TEXT = re.compile(r"\b(exec|eval|globals|locals|vars)\(")
"""Ways to get at a variable that do not write its name as one: who reads a graph through it is not known."""
TANGLED: Guard = frozenset({(("unknown", -1), 1)})
"""A way through the graph that rests on more decisions than `MOST_LITERALS` proves nothing any more."""
MOST_NODES = 1_500
"""Nodes visited per backward pass; past it the pass is followed no further."""


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
    root: TensorFacts
    nodes: set[int]
    iteration: tuple[int, ...]
    asked_for: frozenset[int] | None
    """The tensors whose gradients it computes; None: of all leaves."""
    readers: list[tuple[Step, RetainedUse, cst.CSTNode]] = field(default_factory=list)
    carried: str = ""
    opaque: bool = False
    escaped: bool = False


Visited = dict[int, tuple[GraphNode, list[Guard]]]


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A tensor that a backward starts at: the expression that names it, and whether a gradient is given for it."""

    value: Value
    node: cst.BaseExpression
    name: str
    gradient: Truth


class BackwardMachine(GraphMachine):
    """A machine that runs backward passes."""

    def __init__(self) -> None:
        super().__init__()
        self.visited: Visited = {}
        self.reset_since = 0
        """When a leaf that the last pass reaches had its gradient set to zero."""
        self.adds_up = False
        """Whether it adds to a gradient that is there."""
        self.starts: set[int] = set()
        """Where the last pass began: ids of nodes and leaves."""
        self.asked_for: frozenset[int] | None = None
        """As in `Retained`, of the last pass."""
        self.saved_reads: list[SavedRead] = []
        self.retained: list[Retained] = []
        self.freed_reads: dict[tuple[int, Truth], list[tuple[Guard, FreedGraphRead]]] = {}
        self.backward_calls: dict[tuple[int, str], list[tuple[Guard, BackwardCalled]]] = {}

    def backward(
        self,
        roots: Sequence[Root],
        origin: ir.Node,
        *,
        callee: BackwardCallee,
        retain: Truth = Truth.NO,
        argument: cst.Arg | None = None,
        inputs: list[tuple[Guard, Tensor]] | None = None,
        create: Truth = Truth.NO,
        allow_unused: Truth = Truth.YES,
        accumulates: bool = True,
    ) -> None:
        """
        Run one backward pass from all the roots.

        `argument` is the `retain_graph` argument, if it is written there. `inputs` are those of `autograd.grad`, or of
        `backward(inputs=...)` (None: all leaves); only what leads to them is visited. `accumulates`: into `.grad`.
        """
        origin = self.here(origin)
        argument = argument if self.excursion is None else None
        assumed = self.assumed
        pairs = [(guard, tensor, root) for root in roots for guard, tensor in self.tensor_options(root.value)]
        passes = [[pair] for pair in pairs] if len(roots) == 1 else [pairs]
        for each in passes:
            starts: list[tuple[Guard, GraphNode | Tensor]] = []
            for guard, tensor, root in each:
                self.assumed = assumed | guard if len(pairs) > 1 else assumed
                starts += self._start(tensor, root, origin, callee, guard if len(each) > 1 else ALWAYS)
            if len(each) != 1:
                self.assumed = assumed
            if each:
                tensor = each[0][1]
                self._one_pass(
                    starts,
                    self.facts(tensor, each[0][2].name),
                    tensor,
                    origin,
                    callee,
                    retain,
                    argument,
                    inputs,
                    create,
                    allow_unused,
                    accumulates,
                )
        self.assumed = assumed

    def _start(
        self, tensor: Tensor, root: Root, origin: ir.Node, callee: BackwardCallee, guard: Guard
    ) -> list[tuple[Guard, GraphNode | Tensor]]:
        """What torch asks of a root before it starts; where its gradient goes."""
        facts = self.facts(tensor, root.name)
        asked = self.tick()  # sizes come first, before anything asks for the grad_fn (`torch.autograd._make_grads`)
        edges = self.edges(tensor)
        recorded = tensor.requires_grad.truth() if edges else Truth.NO
        if not self.of_elsewhere(tensor):
            self._starts(tensor, root, origin, callee, facts, recorded, asked)
        self._establish(tensor)
        return [(both, node) for inner, node in self.edges(tensor) if (both := conjoin(guard, inner)) is not None]

    def _starts(
        self,
        tensor: Tensor,
        root: Root,
        origin: ir.Node,
        callee: BackwardCallee,
        facts: TensorFacts,
        recorded: Truth,
        asked: int,
    ) -> None:
        implicit = root.gradient is Truth.NO
        self.call_backward(
            BackwardCalled(
                node=origin.origin,
                statement=self.line(),
                trace=tuple(s for s in (facts.created,) if s is not None and s.node is not origin.origin),
                truth=Truth.YES if self.assumed <= self.path else Truth.MAYBE,
                moment=asked if implicit and shapes.is_scalar(tensor.shape) is False else self.tick(),
                callee=callee,
                root=facts,
                root_node=root.node,
                is_scalar=Truth.of(shapes.is_scalar(tensor.shape)),
                gradient_given=root.gradient,
                cut=tensor.cut,
                recorded=recorded,
            )
        )

    def call_backward(self, event: BackwardCalled) -> None:
        """
        Report that a backward starts. Where the root is one of several values, what is wrong with all of them is told
        once they are all seen.
        """
        self.emit(event)
        if event.truth is Truth.MAYBE and not self.expected_errors:
            for fault in _faults(event):
                options = self.backward_calls.setdefault((id(event.node), fault), [])
                options.append((self.assumed - self.path, event))

    def _one_pass(
        self,
        starts: list[tuple[Guard, GraphNode | Tensor]],
        facts: TensorFacts,
        root: Tensor,
        origin: ir.Node,
        callee: BackwardCallee,
        retain: Truth,
        argument: cst.Arg | None,
        given: list[tuple[Guard, Tensor]] | None,
        create: Truth,
        allow_unused: Truth,
        accumulates: bool,
    ) -> None:
        assumed = self.assumed
        for guard, tensor in given or ():
            self.assumed = assumed | guard
            if tensor.requires_grad.truth() is Truth.NO:
                # `backward(inputs=...)` asks each input to retain its gradient first
                self.refuse("unused" if callee == "autograd.grad" else "retain-grad", callee, tensor, origin)
            elif accumulates:
                self.trail.set(tensor, "retains_grad", True)
        self.assumed = assumed
        inputs = None if given is None else [tensor for _, tensor in given]
        self.asked_for = None if inputs is None else frozenset(id(tensor) for tensor in inputs)
        partly: set[int] = set()
        visited, leaves, reached = self.walk(starts, self._targets(inputs), through=partly if accumulates else None)
        self.visited = visited
        self.reset_since = max((leaf.grad_reset for _, leaf in leaves), default=0)
        self.adds_up = not leaves or any(leaf.grad is not NONE for _, leaf in leaves)
        self.starts = {id(node) for _, node in starts}
        step = Step(origin.origin, "backward reads it here")
        self._read(visited, origin, root, facts, step, implicit=False, partly=partly)
        if given and allow_unused is Truth.NO:
            # Not only what leads to the inputs as far as is known: an unknown way may lead there, too.
            whole, _, _ = self.walk(starts, None)
            unseen = [node for node, _ in whole.values() if node.opaque]
            if len(whole) < MOST_NODES and all(node.gradient for node in unseen):
                latest = max((node.time for node in unseen), default=0)
                for guard, tensor in given:
                    self.assumed = assumed | guard
                    self._unused(tensor, reached, latest, origin, callee)
                self.assumed = assumed
        # `create_graph=True` retains the graph whatever else is written.
        if retain is Truth.YES and create is Truth.NO and argument is not None and isinstance(origin.origin, cst.Call):
            self._retain(visited, argument, origin.origin, facts)
        if retain is not Truth.YES:
            self._release(visited, origin, root, retain, partly)
        for hook in self.watch.backward:
            hook(
                callee,
                root,
                [node for node, _ in visited.values()],
                [leaf for _, leaf in leaves],
                inputs,
                None if create is Truth.MAYBE else create is Truth.YES,
                origin,
            )
        if accumulates:
            wanted = None if inputs is None else {id(tensor) for tensor in inputs}
            self._accumulate([leaf for leaf in leaves if wanted is None or id(leaf[1]) in wanted], origin, create)
            if any(node.opaque and not node.gradient for node, _ in visited.values()):
                self._accumulate_unseen(wanted)

    def _unused(self, tensor: Tensor, reached: set[int], latest: int, origin: ir.Node, callee: BackwardCallee) -> None:
        """
        An input that no gradient comes to (engine.cpp: "appears to not have been used in the graph"). What was recorded
        up to `latest` may be in the part of the graph that is not known.
        """
        ends = [node for _, node in self.edges(tensor)]
        # A gradient with a graph is recorded by the pass that made it; one without is refused as well.
        made = bool(ends) and all(isinstance(node, GraphNode) and node.gradient for node in ends)
        if any(id(node) in reached for node in ends) or (tensor.requires_grad.truth() is not Truth.YES and not made):
            return
        if not made and any(isinstance(node, GraphNode) and node.opaque for node in ends):
            return
        if latest and not all(_since(node) > latest for node in ends):
            return
        self.refuse("unused", callee, tensor, origin)

    def callers_backward(self, value: Value, origin: ir.Node) -> None:
        """
        The value returned by a Module's `forward` is differentiated by its caller: read its graph, free nothing.
        """
        step = Step(origin.origin, "the caller's backward reads it")
        assumed, path = self.assumed, self.path
        options = self.tensor_options(value)
        for guard, tensor in options:
            if len(options) > 1:
                self.assumed = assumed | guard
            else:
                self.path = path | guard  # the one way on which there is a tensor to differentiate
            visited, _ = self.graph_of(tensor, None)
            self._read(visited, origin, tensor, self.facts(tensor), step, implicit=True)
        self.assumed, self.path = assumed, path

    # -- walking the graph

    def _establish(self, root: Tensor) -> None:
        """A backward that comes back has shown that its root requires grad: so do the only ways into it."""
        if root.requires_grad.truth() is not Truth.MAYBE:
            return
        self.trail.set(root, "own", GRAD_YES)
        options = self.edges(root)
        while len(options) == 1 and isinstance(options[0][1], GraphNode) and unconditional(options[0][0]) <= self.guard:
            node = options[0][1]
            if node.condition.truth() is Truth.YES:
                break
            self.trail.set(node, "condition", GRAD_YES)
            options = tuple(edge for edge in node.edges if _may_require_grad(edge[1]))

    def graph_of(self, root: Tensor, inputs: list[Tensor] | None) -> tuple[Visited, list[tuple[Guard, Tensor]]]:
        """
        The nodes a backward from `root` visits, each with the guards under which it comes there, and the leaves.
        With `inputs`, only what lies on the way to them.
        """
        visited, leaves, _ = self.walk(list(self.edges(root)), self._targets(inputs))
        return visited, leaves

    def walk(
        self,
        starts: list[tuple[Guard, GraphNode | Tensor]],
        targets: set[int] | None,
        *,
        through: set[int] | None = None,
    ) -> tuple[Visited, list[tuple[Guard, Tensor]], set[int]]:
        """
        As `graph_of`, from several edges; and the ids of all nodes and leaves that a gradient comes to. `targets`:
        visit
        only what leads to one of these; `through`: and themselves (`backward(inputs=...)`: engine.cpp,
        accumulate_grad), and those of them that stand for several nodes, of which only the last is run, are put in it.
        """
        visited: Visited = {}
        leaves: list[tuple[Guard, Tensor]] = []
        reached: set[int] = set()
        pending = list(reversed(starts))
        leading: dict[int, bool] = {}
        surely: dict[int, bool] = {}
        perhaps = unknown_guard()
        while pending and len(visited) < MOST_NODES:
            guard, node = pending.pop()
            reached.add(id(node))
            if isinstance(node, Tensor):
                own = node.requires_grad.guard()
                both = conjoin(guard, own) if own is not None else None
                if both is not None:
                    leaves.append((both, node))
                continue
            if targets is not None and not leads(node, targets, leading):
                if through is None or id(node) not in targets:
                    continue
                if node.composed:
                    through.add(id(node))
            elif targets is not None and not leads(node, targets, surely, sure=True):
                guard = guard | perhaps  # through unknown code; whatever does not lead there is not run
            condition = node.condition.guard()
            arrived = conjoin(guard, condition, self.path, self.assumed) if condition is not None else None
            if arrived is None or condition is None:
                continue
            guard = guard | condition
            if len(guard) > MOST_LITERALS:
                guard = TANGLED
            known = visited.setdefault(id(node), (node, []))[1]
            if any(other <= guard for other in known) or len(known) >= 4:
                continue
            known.append(guard)
            for inner, target in reversed(node.edges):
                both = conjoin(guard, inner)
                if both is not None:
                    pending.append((both, target))
        self.spend(len(visited) // 8)
        return visited, leaves, reached

    def _targets(self, inputs: list[Tensor] | None) -> set[int] | None:
        if inputs is None:
            return None
        ends = [node for tensor in inputs for _, node in self.edges(tensor)]
        shared = [node.output_of for node in ends if isinstance(node, GraphNode) and node.output_of is not None]
        return {id(node) for node in (*ends, *shared)}

    # -- reading

    def _read(
        self,
        visited: Visited,
        origin: ir.Node,
        root: Tensor,
        facts: TensorFacts,
        step: Step,
        *,
        implicit: bool,
        partly: Set[int] = frozenset(),
    ) -> None:
        if self.expected_errors:
            return
        # The engine runs what was recorded last first.
        for node, guards in sorted(visited.values(), key=lambda entry: -entry[0].time):
            for guard in guards:
                self._read_released(node, guard, origin, root, facts, partly=id(node) in partly)
                # which of its several nodes saved what is not known
                needed = guard | unknown_guard() if id(node) in partly else guard
                for saved in node.saved:
                    self._read_saved(saved, needed, origin, step, implicit)
        if implicit:
            return
        for retained in self.retained[:-MOST_RETAINED]:
            retained.opaque = True
        for retained in self.retained[-MOST_RETAINED:]:
            self._read_retained(retained, visited, origin, partly)

    def _read_retained(self, retained: Retained, visited: Visited, origin: ir.Node, partly: Set[int]) -> None:
        shared = [(node, guards) for key, (node, guards) in visited.items() if key in retained.nodes]
        if not shared:
            return
        sure = [
            node
            for node, guards in shared
            if not node.opaque and id(node) not in partly and any(unconditional(guard) <= self.path for guard in guards)
        ]
        if not sure:
            retained.opaque = True
            return
        step = Step(origin.origin, "this backward reads the retained graph")
        within = len(retained.iteration)
        carried = [node for node in sure if node.iteration[:within] == retained.iteration]
        if retained.iteration == self.iteration or not retained.iteration:
            use: RetainedUse = "shared" if retained.asked_for == self.asked_for else "apart"
        elif carried:
            use = "carried"
            retained.carried = retained.carried or self._carried_name(carried[0])
        else:
            use = "repeated" if retained.call is origin.origin else "shared"
        retained.readers.append((step, use, self.line()))

    def _carried_name(self, node: GraphNode) -> str:
        """The state that brings a node of an earlier iteration into this one, if it is one name."""
        names = {name for name, tensor in self.carried() if id(node) in self.graph_of(tensor, None)[0]}
        return names.pop() if len(names) == 1 else ""

    def _read_saved(self, saved: Saved, guard: Guard, origin: ir.Node, step: Step, implicit: bool) -> None:
        writes = saved.storage.writes
        for write in writes[bisect_right(writes, saved.time, key=_time) :]:
            if write.counter is not saved.counter or write.time <= self.since:
                continue
            total = conjoin(guard, saved.guard, write.path, write.assumed, self.path, self.assumed)
            if total is None:
                continue
            viewed = saved.tensor.view in ("multi", "no_grad") and saved.tensor.requires_grad.truth() is Truth.YES
            if viewed and not saved.what.startswith("result") and not implicit and unconditional(total) <= self.guard:
                # unpacking an input asks for its grad_fn before it looks at the version (saved_variable.cpp)
                kind: Refusal = "multi-view" if saved.tensor.view == "multi" else "no-grad-view"
                self.refuse(kind, write.op, saved.tensor, origin)
                break
            self.saved_reads.append(
                SavedRead(
                    write=write,
                    saved=saved,
                    need=unconditional(guard | saved.guard | write.assumed | self.assumed),
                    basis=write.path | self.path,
                    conditions=conditions(total),
                    backward=step,
                    implicit=implicit,
                    moment=self.tick(),
                )
            )
            break

    def _read_released(
        self, node: GraphNode, guard: Guard, origin: ir.Node, root: Tensor, facts: TensorFacts, *, partly: bool
    ) -> None:
        for release in node.releases:
            if release.time <= self.since:
                continue
            total = conjoin(guard, release.path, release.assumed, self.path, self.assumed)
            if total is None or (self.excursion is not None and release.time > self.excursion.started):
                continue
            same_root = release.root is root and self.adds_up and release.time > self.reset_since
            if partly or release.partly:
                saves = node.last_holds
            else:
                saves = Truth.YES if any(not s.guard - self.path for s in node.saved) else node.holds
            if saves is Truth.NO and not same_root:
                continue
            need = unconditional(guard | release.assumed | self.assumed)
            basis = release.path | self.path
            result = f"`{node.result}`" if node.result else f"the result of `{node.op}`"
            event = FreedGraphRead(
                node=origin.origin,
                statement=self.line(),
                trace=(
                    Step(node.origin.origin, f"`{node.op}` is recorded here" if node.op else "recorded here"),
                    release.step,
                    Step(origin.origin, f"backward comes to the freed node of `{node.op}` here")
                    if node.op
                    else Step(origin.origin, f"backward comes to {result} again here"),
                ),
                truth=Truth.YES if need <= basis else Truth.MAYBE,
                conditions=conditions(total),
                moment=self.tick(),
                root=facts,
                op=node.op,
                result=node.result,
                saves=saves,
                freed_by=release.step,
                same_call=release.origin is origin,
                same_root=same_root,
                built_in_init=bool(node.built_in) and not self.built_in,
                freeing_statement=release.line,
                carried=self._carried_name(node) if release.iteration != self.iteration else "",
                consecutive=self.after(release.line) is self.line(),
            )
            self.freed_reads.setdefault((id(origin.origin), saves), []).append((need - basis, event))
            if event.truth is Truth.YES and saves is Truth.YES:
                return

    # -- freeing, retaining, accumulating

    def _release(
        self, visited: Visited, origin: ir.Node, root: Tensor, retain: Truth, partly: Set[int] = frozenset()
    ) -> None:
        step = Step(origin.origin, "backward frees the graph here")
        for node, guards in visited.values():
            sure = any(unconditional(guard) <= self.path for guard in guards) and retain is Truth.NO
            shortest = min(guards, key=len)
            release = Release(
                time=self.tick(),
                path=self.path,
                assumed=self.assumed | (ALWAYS if sure else unconditional(shortest))
                if retain is Truth.NO
                else self.assumed | frozenset({(("unknown", -node.time), 1)}),
                step=step,
                line=self.line(),
                origin=origin,
                root=root,
                iteration=self.iteration,
                partly=id(node) in partly,
            )
            if len(node.releases) < MOST_RETAINED:
                self.trail.set(node, "releases", (*node.releases, release))

    def activated(self) -> int:
        """The moment at which the running function was called; 0 in the file itself."""
        return 0

    def _retain(self, visited: Visited, argument: cst.Arg, call: cst.Call, facts: TensorFacts) -> None:
        self.retained.append(
            Retained(
                argument=argument,
                call=call,
                line=self.line(),
                root=facts,
                nodes=set(visited),
                iteration=self.iteration,
                asked_for=self.asked_for,
                # A graph older than the running function is still there when the function is called again.
                opaque=not visited or any(node.opaque or node.time < self.activated() for node, _ in visited.values()),
            )
        )

    def retained_escape(self, values: list[Value]) -> None:
        """Code outside the run gets hold of these values: it may read a retained graph through them."""
        if not self.retained:
            return
        told = len(self.events)
        for value in values:
            for tensor in reachable_tensors(value):
                visited, _ = self.graph_of(tensor, None)
                for retained in self.retained:
                    if retained.nodes & set(visited):
                        retained.escaped = True
        del self.events[told:]  # it may, or may not: torch refuses nothing yet

    def _accumulate(self, leaves: list[tuple[Guard, Tensor]], origin: ir.Node, create: Truth) -> None:
        seen: set[int] = set()
        for guard, leaf in leaves:
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if leaf.grad is not NONE:
                self._accumulate_again(leaf, guard, origin, create)
                continue
            gradient = self.fresh(origin, "backward", shape=leaf.shape, dtype=leaf.dtype, precise=leaf.precise)
            if create is not Truth.NO:
                gradient = self.materialise(Unknown([leaf], source=origin))
                gradient.shape, gradient.dtype = leaf.shape, leaf.dtype
            gradient.name = f"{leaf.name}.grad" if leaf.name else ""
            gradient.grad_of = leaf
            sure = unconditional(guard) <= self.guard
            if create is not Truth.NO:
                # PyTorch accumulates a gradient that has a graph of its own
                found = self.gradient_with_graph(leaf, create, origin)
                value: Value = gradient if isinstance(found, Unknown) else found
                self.trail.set(leaf, "grad", value if sure else choose([(guard, value), (ALWAYS, NONE)]))
                continue
            value = gradient if sure else choose([(guard, gradient), (ALWAYS, NONE)])
            self.trail.set(leaf, "grad", value)

    def _accumulate_unseen(self, wanted: set[int] | None) -> None:
        """A part of the graph that is not known may lead to any leaf that unknown code was given."""
        for leaf in self.escaped:
            if leaf.grad is NONE and (wanted is None or id(leaf) in wanted):
                self.trail.set(leaf, "grad", choose([(unknown_guard(), NONE), (unknown_guard(), Unknown())]))

    def gradient_with_graph(self, leaf: Tensor, create: Truth, origin: ir.Node) -> Value:
        """A `.grad` made with `create_graph=True`."""
        return Unknown([leaf])

    def _accumulate_again(self, leaf: Tensor, guard: Guard, origin: ir.Node, create: Truth) -> None:
        """A `.grad` that is there is added to in place, unless the addition is recorded (accumulate_grad.h)."""
        gradient = leaf.grad
        if create is not Truth.NO:
            total = Unknown([leaf], source=origin)
            self.materialise(total)
            self.trail.set(leaf, "grad", total)
        if create is Truth.YES or not isinstance(gradient, Tensor) or not isinstance(origin.origin, cst.BaseExpression):
            return
        mode, assumed = self.grad_mode, self.assumed
        self.grad_mode, self.assumed = Truth.NO, assumed | guard
        self.write(
            gradient, origin, origin.origin, "backward", "backward", name=gradient.name, certain=create is Truth.NO
        )
        self.grad_mode, self.assumed = mode, assumed

    # -- telling

    def conclude(self) -> None:
        """The run is over: raise the events that need to know all of it."""
        covering: list[Sequence[tuple[Guard, BackwardCalled | AutogradRefused]]] = []
        covering += self.backward_calls.values()
        covering += self.refusals.values()
        for options in covering:
            if covered([need for need, _ in options], ALWAYS):
                self.emit(replace(options[0][1], truth=Truth.YES))
        self.backward_calls.clear()
        self.refusals.clear()
        self._conclude_freed()
        broken = self._conclude_reads()
        self._conclude_writes(broken)
        self._conclude_retained()
        self.saved_reads.clear()
        self.write_records.clear()
        self.retained.clear()
        self.freed_reads.clear()
        for hook in self.watch.concluded:
            hook()

    def _conclude_freed(self) -> None:
        told: set[int] = set()
        for (call, saves), found in sorted(self.freed_reads.items(), key=lambda item: -item[0][1].value):
            if call in told or saves is Truth.MAYBE:
                continue
            sure = [event for need, event in found if event.truth is Truth.YES]
            if not sure and covered([need for need, _ in found], ALWAYS):
                sure = [found[0][1]]
            if sure:
                told.add(call)
                self.emit(min(sure, key=lambda event: len(event.conditions)))

    def _conclude_reads(self) -> dict[int, Truth]:
        by_write: dict[int, list[SavedRead]] = {}
        for read in self.saved_reads:
            by_write.setdefault(id(read.write.origin), []).append(read)
        runs: dict[int, list[Write]] = {}
        for record in self.write_records:
            if id(record.write.origin) in by_write:
                runs.setdefault(id(record.write.origin), []).append(record.write)
        broken: dict[int, Truth] = {}
        for key, reads in by_write.items():
            sure = [read for read in reads if read.need <= read.basis]
            if not sure and covered([read.need - read.basis for read in reads], ALWAYS):
                sure = reads[:1]
            broken[key] = Truth.YES if sure else Truth.MAYBE
            if sure:
                best = min(sure, key=lambda read: (len(read.conditions), read.implicit))
                self._tell_read(best, self._own_decision(best, sure, runs.get(key, ())))
                continue
            for read in reads:
                decision = self._one_decision(read)
                if decision is not None:
                    broken[key] = Truth.YES
                    self.undecided = True  # whoever knows more may know which arm is taken
                    self._tell_read(read, decision)
                    break
        return broken

    def _own_decision(self, read: SavedRead, sure: list[SavedRead], runs: Iterable[Write]) -> Condition | None:
        """
        The condition under which a write in a loop runs when it does harm, if it may also run only when it does none:
        `if i % every: x += 1`.
        """
        harmful = {id(each.write) for each in sure}
        for write in runs:
            if id(write) in harmful:
                continue
            others = {key for key, _ in write.path}
            for key, arm in sorted(unconditional(read.write.path), key=repr):
                found = None if key in others else self._condition_of(key)
                if found is not None:
                    return Condition("branch", found, arm == 1)
        return None

    def _one_decision(self, read: SavedRead) -> Condition | None:
        """
        The one condition of the program that a proof rests on, and whether it must hold: whatever else happens, the
        program raises where that arm was taken. None if it rests on more: two decisions need not go together.
        """
        rest = read.need - read.basis
        if len(rest) != 1 or read.write.spelling in ("optimizer", "backward"):
            return None
        ((number, arm),) = rest
        found = self._condition_of(number)
        if found is None or _ABOUT_MODE.search(found):
            return None
        others = {key for key, _ in unconditional(read.basis) if key != number}
        return (
            None if any(self._condition_of(key) is not None for key in others) else Condition("branch", found, arm == 1)
        )

    def _condition_of(self, number: object) -> str | None:
        """The text of the condition that a branch was numbered for; None if it is of another kind."""
        key = self.decision(number) if isinstance(number, int) else None
        return key[0] if isinstance(key, tuple) and isinstance(key[0], str) else None

    def _tell_read(self, read: SavedRead, decision: Condition | None = None) -> None:
        write, saved = read.write, read.saved
        if write.excursion is not None and write.excursion is saved.node.excursion:
            return  # another file's own affair
        through = ""
        if write.target is not saved.tensor:
            if write.target.family is not saved.tensor.family:
                through = "detach"
            else:
                through = "view" if write.target.base is not None else "base"
        self.emit(
            SavedTensorRead(
                node=write.origin.origin,
                statement=write.line,
                trace=(
                    *_shared_by(write, saved, through),
                    saved_step(saved),
                    Step((write.inside or write.origin).origin, _overwrites(write)),
                    read.backward,
                ),
                conditions=read.conditions if decision is None else (decision, *read.conditions),
                moment=read.moment,
                saver=saved.node.op,
                saved=saved_words(saved),
                name=saved.name,
                write_op=write.op,
                spelling=write.spelling,
                target=self.facts(write.target, write.name),
                target_node=write.target_node,
                through=through,
                backward=read.backward,
                implicit=read.implicit,
            )
        )

    def _conclude_writes(self, broken: dict[int, Truth]) -> None:
        by_write: dict[int, list[WriteRecord]] = {}
        for record in self.write_records:
            by_write.setdefault(id(record.write.origin), []).append(record)
        filled = self._filled(broken)
        for key, records in by_write.items():
            write = records[0].write
            leaf_raises = _over_paths(records, "leaf_raises")
            if write.excursion is not None and leaf_raises is not Truth.YES:
                continue
            raised = next((r for r in records if r.leaf_raises is Truth.YES), records[0])
            chosen = raised if leaf_raises is Truth.YES else records[0]
            needed = Truth.NO
            steps: list[Step] = []
            for record in records:
                needed = needed | record.old_value_needed
                steps += [s for s in record.saved_by if s not in steps]
            harm = broken.get(key, Truth.NO)
            if Truth.MAYBE in (harm, needed) and Truth.YES not in (harm, leaf_raises):
                self.undecided = True
            created = chosen.target.created
            self.emit(
                InplaceWrite(
                    node=write.origin.origin,
                    statement=write.line,
                    trace=(
                        *((created,) if created is not None else ()),
                        *steps,
                        Step((write.inside or write.origin).origin, _overwrites(write)),
                    ),
                    truth=Truth.YES,
                    moment=chosen.write.time,
                    op=write.op,
                    spelling=write.spelling,
                    target=chosen.target,
                    target_node=write.target_node,
                    leaf_raises=leaf_raises,
                    leaf_view=chosen.leaf_view,
                    in_graph=_over_paths(records, "in_graph"),
                    old_value_in_graph=_over_paths(records, "old_value_in_graph"),
                    old_value_needed=needed,
                    saved_by=tuple(steps),
                    broken=harm,
                    value_in_graph=_over_paths(records, "value_in_graph"),
                    target_is_view=chosen.is_view,
                    made=(write.target.base or write.target).origin.origin,
                    filled=all(id(record.write.target.storage) in filled for record in records),
                )
            )

    def _filled(self, broken: dict[int, Truth]) -> set[int]:
        """The storages of new buffers that are only written until they are full (see `InplaceWrite.filled`)."""
        fresh: dict[int, bool] = {}
        for record in self.write_records:
            storage = id(record.write.target.storage)
            if storage not in fresh:
                fresh[storage] = _is_buffer(record.write.target.base or record.write.target)
            needed = record.read_since or record.old_value_needed is not Truth.NO
            if needed or broken.get(id(record.write.origin), Truth.NO) is Truth.YES:
                fresh[storage] = False
        return {storage for storage, is_fresh in fresh.items() if is_fresh}

    def _conclude_retained(self) -> None:
        by_call: dict[int, list[Retained]] = {}
        by_text = bool(self.retained) and _BY_TEXT.search(self.program.text) is not None
        for retained in self.retained:
            by_call.setdefault(id(retained.call), []).append(retained)
        for group in by_call.values():
            first = group[0]
            readers = [reader for retained in group for reader in retained.readers]
            kinds = {kind for _, kind, _ in readers}
            use: RetainedUse
            if "apart" in kinds:
                use = "apart"
            elif "shared" in kinds:
                use = "shared"
            elif "carried" in kinds:
                use = "carried"
            elif "repeated" in kinds:
                use = "repeated"
            elif by_text or any(retained.opaque or retained.escaped for retained in group):
                use = "unknown"
            else:
                use = "unread"
            steps: list[Step] = []
            lines: list[cst.CSTNode] = []
            for step, _, line in readers:
                if all(step.node is not other.node for other in steps):
                    steps.append(step)
                    lines.append(line)
            follows = len(lines) == 1 and self.after(first.line) is lines[0]
            self.emit(
                GraphRetained(
                    node=first.argument,
                    statement=first.line,
                    trace=tuple(steps),
                    argument=first.argument,
                    call=first.call,
                    root=first.root,
                    use=use,
                    readers=tuple(steps),
                    carried=next((retained.carried for retained in group if retained.carried), ""),
                    next_statement=lines[0] if follows else None,
                    only=len(_BACKWARDS.findall(self.program.text)) == 1,
                )
            )


def _shared_by(write: Write, saved: Saved, through: str) -> tuple[Step, ...]:
    """Written through an alias: where the two came to share memory."""
    if through != "detach":
        return ()
    alias = saved.tensor.alias or write.target.alias
    if alias is None:
        return ()
    return (Step(alias.origin.origin, f"`{alias.how}` shares memory with `{alias.source.name}`"),)


def _is_buffer(tensor: Tensor) -> bool:
    """Whether a factory made it that fills it with one value, or with none."""
    while tensor.made_by in _MOVING and tensor.inputs:
        tensor = tensor.inputs[0]
    return tensor.made_by.removeprefix("new_").removesuffix("_like") in _BUFFERS


def _faults(event: BackwardCalled) -> Iterator[str]:
    """What torch would refuse a backward for, as far as its root tells."""
    if event.root.requires_grad is Truth.NO:
        yield "no grad"
    if event.is_scalar is Truth.NO and event.gradient_given is Truth.NO:
        yield "no scalar"


def _time(write: Write) -> int:
    return write.time


def _overwrites(write: Write) -> str:
    name = f"`{write.name}`" if write.name else "its target"
    if write.spelling == "indexed":
        return f"`[...] {'=' if write.op == '[...] =' else write.op}` writes into {name}"
    return f"`{write.op}` overwrites {name}"


def _over_paths(records: list[WriteRecord], fact: str) -> Truth:
    """What holds of a write in at least one iteration or context on all its paths."""
    joined = Truth.NO
    open_guards = []
    for record in records:
        truth: Truth = getattr(record, fact)
        need = record.write.assumed - record.write.path
        if truth is Truth.YES and need:
            open_guards.append(need)
            truth = Truth.MAYBE
        joined = joined | truth
    if joined is Truth.MAYBE and covered(open_guards, ALWAYS):
        return Truth.YES
    return joined


def _since(end: GraphNode | Tensor) -> int:
    return end.time if isinstance(end, GraphNode) else end.born


def _may_require_grad(node: GraphNode | Tensor) -> bool:
    grad = node.condition if isinstance(node, GraphNode) else node.requires_grad
    return grad != GRAD_NO


def leads(node: GraphNode, targets: set[int], known: dict[int, bool], *, sure: bool = False) -> bool:
    """
    Whether a path from the node reaches one of the targets (iterative depth-first search with memory); with `sure`, by
    edges that are certainly there.
    """
    if id(node) in known:
        return known[id(node)]
    order: list[GraphNode] = []
    pending = [node]
    seen: set[int] = set()
    while pending:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        order.append(each)
        pending += [
            target
            for guard, target in each.edges
            if isinstance(target, GraphNode) and id(target) not in known and not (sure and is_open(guard))
        ]
    changed = True
    while changed:
        changed = False
        for each in order:
            if known.get(id(each)):
                continue
            if any(
                (id(target) in targets or known.get(id(target), False)) and not (sure and is_open(guard))
                for guard, target in each.edges
            ):
                known[id(each)] = True
                changed = True
    for each in order:
        known.setdefault(id(each), False)
    return known[id(node)]
