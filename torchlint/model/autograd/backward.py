"""
A backward pass: where it begins, what it reaches, reads, frees and accumulates.

Runs no Python; a gradient that has a graph of its own is made in `second_order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.autograd.autograd import Autograd, Visited
from torchlint.model.autograd.conclusions import faults
from torchlint.model.autograd.edges import edges_of
from torchlint.model.autograd.reads import note_retained, read_node, release_node
from torchlint.model.autograd.refusals import refuse
from torchlint.model.autograd.second_order import second_order
from torchlint.model.autograd.tensors import fresh, materialise, possible_gradient, retain_gradient, tensor_options
from torchlint.model.autograd.walk import MOST_NODES, graph_of, may_require_grad, walk, walk_to
from torchlint.model.autograd.writes import write
from torchlint.model.events import BackwardCalled, BackwardCallee, TensorFacts
from torchlint.model.events.trace import Step
from torchlint.model.state.alternatives import add_alternative
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conjoin, unconditional
from torchlint.model.state.values import (
    GRAD_NO,
    GRAD_YES,
    NONE,
    NOT_RECORDED,
    GraphNode,
    Tensor,
    Unknown,
    Value,
    choose,
    unknown_guard,
)
from torchlint.syntax import cst, ir


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """
    A tensor that a backward starts at: the expression that names it, whether a gradient is given for it, and which.
    """

    value: Value
    node: cst.BaseExpression
    name: str
    gradient: Truth
    given: Value | None = None


def backward(
    autograd: Autograd,
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
    machine = autograd.machine
    origin = machine.here(origin)
    autograd.given = tuple(root.given for root in roots if root.given is not None)
    argument = argument if machine.foreign_call is None else None
    assumed = machine.assumed
    pairs = [(guard, tensor, root) for root in roots for guard, tensor in tensor_options(autograd, root.value)]
    passes = [[pair] for pair in pairs] if len(roots) == 1 else [pairs]
    refused = len(roots) > 1 and any(tensor.requires_grad.truth() is Truth.NO for _, tensor, _ in pairs)
    for each in passes:
        starts: list[tuple[Guard, GraphNode | Tensor]] = []
        for guard, tensor, root in each:
            machine.assumed = assumed | guard if len(pairs) > 1 else assumed
            within = guard if len(each) > 1 else ALWAYS
            starts += _start(autograd, tensor, root, origin, callee, within, refused=refused)
        if len(each) != 1:
            machine.assumed = assumed
        if each:
            tensor = each[0][1]
            _one_pass(
                autograd,
                starts,
                each[0][2].name,
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
    machine.assumed = assumed


def _start(
    autograd: Autograd,
    tensor: Tensor,
    root: Root,
    origin: ir.Node,
    callee: BackwardCallee,
    guard: Guard,
    *,
    refused: bool,
) -> list[tuple[Guard, GraphNode | Tensor]]:
    """What torch asks of a root before it starts, `refused`: of another one for certain; where its gradient goes."""
    machine = autograd.machine
    facts = machine.facts(tensor, root.name)
    asked = machine.tick()  # sizes come first, before anything asks for the grad_fn (`torch.autograd._make_grads`)
    if isinstance(root.given, Tensor) and shapes.differ(tensor.shape, root.given.shape):
        refuse(autograd, "gradient-shape", callee, tensor, origin, target=root.node, name=root.name)
    recorded = _recorded(autograd, tensor)
    # of what requires no grad no size is asked, and torch raises for the other root
    is_scalar = None if refused and recorded is Truth.MAYBE else shapes.is_scalar(tensor.shape)
    if not machine.of_elsewhere(tensor):
        _starts(autograd, tensor.cut, root, origin, callee, facts, recorded, asked, is_scalar)
    _establish(autograd, tensor)
    return [(both, node) for inner, node in edges_of(autograd, tensor) if (both := conjoin(guard, inner)) is not None]


def _recorded(autograd: Autograd, tensor: Tensor) -> Truth:
    """Whether torch can differentiate a root: it requires grad, and there is something to go back to."""
    return tensor.requires_grad.truth() if edges_of(autograd, tensor) else Truth.NO


def _starts(
    autograd: Autograd,
    cut: str,
    root: Root,
    origin: ir.Node,
    callee: BackwardCallee,
    facts: TensorFacts,
    recorded: Truth,
    asked: int,
    is_scalar: bool | None,
) -> None:
    machine = autograd.machine
    implicit = root.gradient is Truth.NO
    call_backward(
        autograd,
        BackwardCalled(
            node=origin.origin,
            statement=machine.line(),
            trace=tuple(s for s in (facts.created,) if s is not None and s.node is not origin.origin),
            moment=asked if implicit and is_scalar is False else machine.tick(),
            callee=callee,
            root=facts,
            root_node=root.node,
            is_scalar=Truth.of(is_scalar),
            gradient_given=root.gradient,
            cut=cut,
            recorded=recorded,
            conditions=machine.callers.off_by_engine(machine) if cut == NOT_RECORDED else (),
        ),
    )


def call_backward(autograd: Autograd, event: BackwardCalled) -> None:
    """
    Report that a backward starts. Where the root is one of several values, what is wrong with all of them is told
    once they are all seen.
    """
    machine = autograd.machine
    event = machine.emit(event)
    if event.truth is Truth.MAYBE and not machine.expected_errors:
        for fault in faults(event):
            add_alternative(machine, event, (id(event.node), fault))


def _one_pass(
    autograd: Autograd,
    starts: list[tuple[Guard, GraphNode | Tensor]],
    name: str,
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
    machine = autograd.machine
    assumed = machine.assumed
    for guard, tensor in given or ():
        machine.assumed = assumed | guard
        if tensor.requires_grad.truth() is Truth.NO:
            # `backward(inputs=...)` asks each input to retain its gradient first
            refuse(autograd, "unused" if callee == "autograd.grad" else "retain-grad", callee, tensor, origin)
        elif accumulates:
            retain_gradient(autograd, tensor)
    machine.assumed = assumed
    inputs = None if given is None else [tensor for _, tensor in given]
    autograd.asked_for = None if inputs is None else frozenset(id(tensor) for tensor in inputs)
    partly: set[int] = set()
    visited, leaves, reached = walk_to(autograd, starts, given, through=partly if accumulates else None)
    autograd.visited = visited
    autograd.filled, autograd.reset_since, autograd.adds_up = [], 0, not leaves
    for _, leaf in leaves:
        autograd.filled.append((leaf, len(leaf.storage.writes)))
        autograd.reset_since = max(autograd.reset_since, leaf.grad_reset)
        autograd.adds_up = autograd.adds_up or leaf.grad is not NONE
    autograd.starts = {id(node) for _, node in starts}
    _refuse_without_derivative(autograd, visited, root, origin)
    step = Step(origin.origin, "backward reads it here")
    read_node(autograd, visited, origin, root, name, step, implicit=False, partly=partly)
    autograd.unused = set()
    if given and allow_unused is not Truth.MAYBE:
        # Not only what leads to the inputs as far as is known: an unknown way may lead there, too.
        whole, _, _ = walk(autograd, starts, None)
        unseen = [node for node, _ in whole.values() if node.opaque]
        if len(whole) < MOST_NODES and all(node.gradient for node in unseen):
            latest = max((node.time for node in unseen), default=0)
            for guard, tensor in given:
                machine.assumed = assumed | guard
                if _is_unused(autograd, tensor, reached, latest) and allow_unused is Truth.NO:
                    refuse(autograd, "unused", callee, tensor, origin)
                elif _is_unused(autograd, tensor, reached, latest) and not guard:
                    autograd.unused.add(id(tensor))
            machine.assumed = assumed
    # `create_graph=True` retains the graph whatever else is written.
    if retain is Truth.YES and create is Truth.NO and argument is not None and isinstance(origin.origin, cst.Call):
        note_retained(
            autograd, visited, argument, origin.origin, root, name, part=_is_of_a_part(origin), given=_is_given(origin)
        )
    if retain is not Truth.YES:
        release_node(autograd, visited, origin, root, retain, partly)
    inner, inner_leaves = _recompute(autograd, visited, origin, root, name, step) if given is None else ({}, [])
    for hook in machine.watch.backward:
        hook(
            callee,
            root,
            [node for node, _ in (*visited.values(), *inner.values())],
            [leaf for _, leaf in (*leaves, *inner_leaves)],
            inputs,
            None if create is Truth.MAYBE else create is Truth.YES,
            origin,
        )
    if accumulates:
        wanted = None if inputs is None else {id(tensor) for tensor in inputs}
        _accumulate(autograd, [leaf for leaf in leaves if wanted is None or id(leaf[1]) in wanted], origin, create)
        _retain(autograd, origin, create)
        hidden = any(node.opaque and not node.gradient for node, _ in visited.values())
        if hidden:
            _accumulate_unseen(autograd, wanted)
        if inputs is None and (hidden or any(leaf.is_parameter is not Truth.NO for _, leaf in leaves)):
            autograd.filled_beside.update(leaf for _, leaf in leaves if leaf.is_parameter is not Truth.YES)


def _recompute(
    autograd: Autograd, visited: Visited, origin: ir.Node, root: Tensor, name: str, step: Step
) -> tuple[Visited, list[tuple[Guard, Tensor]]]:
    """What a checkpoint computes again when the pass comes by is differentiated there and then."""
    machine = autograd.machine
    nodes: Visited = {}
    leaves: list[tuple[Guard, Tensor]] = []
    for node, guards in list(visited.values()):
        if node.recompute is None or not any(unconditional(guard) <= machine.guard for guard in guards):
            continue
        results = node.recompute()
        if machine.dead:
            break
        starts = [edge for tensor in results for edge in edges_of(autograd, tensor)]
        inner, reached, _ = walk(autograd, starts, None)
        read_node(autograd, inner, origin, root, name, step, implicit=False)
        release_node(autograd, inner, origin, root, Truth.NO)
        _accumulate(autograd, reached, origin, Truth.NO)
        nodes.update(inner)
        leaves += reached
    return nodes, leaves


_WITHOUT_DERIVATIVE = ("NotImplemented", "Unique2Backward", "UniqueDimBackward", "UniqueConsecutiveBackward")
"""Nodes that raise when they run; the second and later ones by `not_implemented` in derivatives.yaml."""


def _refuse_without_derivative(autograd: Autograd, visited: Visited, root: Tensor, origin: ir.Node) -> None:
    machine = autograd.machine
    assumed = machine.assumed
    for node, guards in visited.values():
        if node.name.startswith(_WITHOUT_DERIVATIVE) and not node.opaque:
            machine.assumed = assumed | guards[0]
            made = Step(node.origin.origin, f"`{node.op}` is recorded here")
            refuse(autograd, "no-derivative", node.op, root, origin, trace=(made,))
    machine.assumed = assumed


def _is_unused(autograd: Autograd, tensor: Tensor, reached: set[int], latest: int) -> bool:
    """
    Whether it is an input that no gradient comes to (engine.cpp: "appears to not have been used in the graph"). What
    was recorded up to `latest` may be in the part of the graph that is not known.
    """
    ends = [node for _, node in edges_of(autograd, tensor)]
    # A gradient with a graph is recorded by the pass that made it; one without is refused as well.
    made = bool(ends) and all(isinstance(node, GraphNode) and node.gradient for node in ends)
    if any(id(node) in reached for node in ends) or (tensor.requires_grad.truth() is not Truth.YES and not made):
        return False
    if not made and any(isinstance(node, GraphNode) and node.opaque for node in ends):
        return False
    return not latest or all(_since(node) > latest for node in ends)


def callers_backward(autograd: Autograd, value: Value, origin: ir.Node, part: str = "") -> None:
    """
    The value returned by a Module's `forward` is differentiated by its caller: read its graph, free nothing. `part`:
    if the caller differentiates the part of that name at all, which is the condition of what is found.
    """
    machine = autograd.machine
    step = Step(origin.origin, "the caller's backward reads it")
    before, path = machine.assumed, machine.path
    too: Guard = frozenset({(("differentiated", part), 1)}) if part else ALWAYS
    assumed = before | too
    machine.assumed = assumed
    options = tensor_options(autograd, value)
    elsewhere = autograd.elsewhere
    overwritten = autograd.overwritten or (elsewhere is not None and elsewhere.overwritten)
    for guard, tensor in options:
        if len(options) > 1:
            machine.assumed = assumed | guard
        else:
            machine.path = path | guard  # the one way on which there is a tensor to differentiate
        if not overwritten:
            edges_of(autograd, tensor)  # a view may be refused; all that its graph has saved is as it was
            continue
        visited, _ = graph_of(autograd, tensor, None)
        read_node(autograd, visited, origin, tensor, "", step, implicit=True)
    machine.assumed, machine.path = before, path


def _establish(autograd: Autograd, root: Tensor) -> None:
    """
    A backward that comes back has shown that its root requires grad: so do the only ways into it. What code that nobody
    knows has computed may require grad by parameters of its own. Where an error is caught, it has shown that on one of
    two paths, and what the other one found is not known to the handler.
    """
    machine = autograd.machine
    if root.requires_grad.truth() is not Truth.MAYBE or machine.caught or machine.expected_errors:
        return
    machine.trail.set(root, "own", GRAD_YES)
    options = edges_of(autograd, root)
    while len(options) == 1 and isinstance(options[0][1], GraphNode) and unconditional(options[0][0]) <= machine.guard:
        node = options[0][1]
        if node.condition.truth() is Truth.YES:
            break
        machine.trail.set(node, "condition", GRAD_YES)
        if node.opaque and not node.gradient:
            break
        options = tuple(edge for edge in node.edges if may_require_grad(edge[1]))


def _accumulate(autograd: Autograd, leaves: list[tuple[Guard, Tensor]], origin: ir.Node, create: Truth) -> None:
    machine = autograd.machine
    seen: set[int] = set()
    for guard, leaf in leaves:
        if id(leaf) in seen:
            continue
        seen.add(id(leaf))
        if leaf.grad is not NONE:
            _accumulate_again(autograd, leaf, guard, origin, create)
            continue
        gradient = fresh(autograd, origin, "backward", shape=leaf.shape, dtype=leaf.dtype, precise=leaf.precise)
        if create is not Truth.NO:
            gradient = materialise(autograd, Unknown([leaf], source=origin))
            gradient.shape, gradient.dtype = leaf.shape, leaf.dtype
        gradient.name = f"{leaf.name}.grad" if leaf.name else ""
        gradient.grad_of = leaf
        sure = unconditional(guard) <= machine.guard
        if create is not Truth.NO:
            # PyTorch accumulates a gradient that has a graph of its own
            found = gradient_with_graph(autograd, leaf, create, origin)
            value: Value = gradient if isinstance(found, Unknown) else found
            machine.trail.set(leaf, "grad", value if sure else choose([(guard, value), (ALWAYS, NONE)]))
            continue
        value = gradient if sure else choose([(guard, gradient), (ALWAYS, NONE)])
        machine.trail.set(leaf, "grad", value)


def _retain(autograd: Autograd, origin: ir.Node, create: Truth) -> None:
    """A result that retains its gradient has one where the pass comes by (retains_grad_hooks.h): never in place."""
    machine = autograd.machine
    for told, tensor in autograd.retaining:
        ways = [way for _, node in tensor.grad_fn for way in autograd.visited.get(id(node), (node, []))[1]]
        if not ways:
            continue
        gradient: Value = Unknown([tensor], source=origin)
        if create is Truth.NO and tensor.grad is NONE:
            made = fresh(autograd, origin, "backward", shape=tensor.shape, dtype=tensor.dtype, precise=tensor.precise)
            made.name = f"{tensor.name}.grad" if tensor.name else ""
            made.grad_of = tensor
            gradient = made
        sure = (
            told <= machine.guard
            and len(tensor.grad_fn) == 1
            and any(unconditional(way) <= machine.guard for way in ways)
        )
        if not sure:
            gradient = choose([(unknown_guard(), gradient), (unknown_guard(), tensor.grad)])
        machine.trail.set(tensor, "grad", gradient)


def _accumulate_unseen(autograd: Autograd, wanted: set[int] | None) -> None:
    """A part of the graph that is not known may lead to any leaf that unknown code was given."""
    for leaf in (*autograd.escaped, *autograd.unsettled.values()):
        if leaf.grad is NONE and (wanted is None or id(leaf) in wanted):
            autograd.machine.trail.set(leaf, "grad", possible_gradient())


def _accumulate_again(autograd: Autograd, leaf: Tensor, guard: Guard, origin: ir.Node, create: Truth) -> None:
    """A `.grad` that is there is added to in place, unless the addition is recorded (accumulate_grad.h)."""
    machine = autograd.machine
    gradient = leaf.grad
    if create is not Truth.NO:
        total = Unknown([leaf], source=origin)
        materialise(autograd, total)
        machine.trail.set(leaf, "grad", total)
    if create is Truth.YES or not isinstance(gradient, Tensor) or not isinstance(origin.origin, cst.BaseExpression):
        return
    mode, assumed = machine.grad_mode, machine.assumed
    machine.grad_mode, machine.assumed = Truth.NO, assumed | guard
    write(
        autograd,
        gradient,
        origin,
        origin.origin,
        "backward",
        "backward",
        name=gradient.name,
        certain=create is Truth.NO,
    )
    machine.grad_mode, machine.assumed = mode, assumed


def _since(end: GraphNode | Tensor) -> int:
    return end.time if isinstance(end, GraphNode) else end.born


def gradient_with_graph(autograd: Autograd, leaf: Tensor, create: Truth, origin: ir.Node) -> Value:
    """A `.grad` made with `create_graph=True`."""
    return second_order(autograd, leaf, GRAD_NO, origin) if create is Truth.YES else Unknown([leaf])


def _is_given(call: ir.Node) -> bool:
    """Whether `backward` is called with a gradient."""
    return isinstance(call, ir.Call) and any(each.keyword in ("", "gradient") for each in call.arguments)


def _is_of_a_part(origin: ir.Node) -> bool:
    """Whether it is `rows[i].backward()`: the parts of a tensor share its graph, and the call is made for each."""
    called = origin.function if isinstance(origin, ir.Call) else None
    return isinstance(called, ir.Attribute) and isinstance(called.value, ir.Subscript)
