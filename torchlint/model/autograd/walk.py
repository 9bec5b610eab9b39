"""
Walking the graph from the roots of a backward: which nodes it reaches, and on which paths.

Reads the graph; changes nothing.
"""

from __future__ import annotations

from torchlint.model.autograd.autograd import Autograd, Visited
from torchlint.model.autograd.edges import edges_of
from torchlint.model.state.guards import ALWAYS, Guard, agree, conjoin, left_by, meet
from torchlint.model.state.values import GRAD_NO, GraphNode, Tensor, is_open, unknown_guard

MOST_LITERALS = 16
TANGLED: Guard = frozenset({(("unknown", -1), 1)})
"""A way through the graph that rests on more decisions than `MOST_LITERALS` proves nothing any more."""
_MOST_WAYS = 4
"""Ways to one node that are told apart."""
_MOST_ARMS = 8
"""Paths on which inputs differ that are told apart."""
MOST_NODES = 1_500
"""Nodes visited per backward pass; past it the pass is followed no further."""


def graph_of(
    autograd: Autograd, root: Tensor, inputs: list[Tensor] | None
) -> tuple[Visited, list[tuple[Guard, Tensor]]]:
    """
    The nodes a backward from `root` visits, each with the guards under which it comes there, and the leaves.
    With `inputs`, only what lies on the way to them.
    """
    visited, leaves, _ = walk(autograd, list(edges_of(autograd, root)), targets(autograd, inputs))
    return visited, leaves


def walk(
    autograd: Autograd,
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
    machine = autograd.machine
    visited: Visited = {}
    leaves: list[tuple[Guard, Tensor]] = []
    reached: set[int] = set()
    pending = list(reversed(starts))
    leading: dict[int, bool] = {}
    surely: dict[int, bool] = {}
    perhaps = unknown_guard()
    around = machine.guard
    left_out = False
    while pending and len(visited) < MOST_NODES:
        guard, node = pending.pop()
        reached.add(id(node))
        if isinstance(node, Tensor):
            own = node.requires_grad.guard()
            both = conjoin(guard, own) if own is not None else None
            if both is not None and agree(both, around):
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
        arrived = meet(guard, condition) if condition is not None else None
        if arrived is None or not agree(arrived, around):
            continue
        guard = arrived
        if len(guard) > MOST_LITERALS:
            guard = TANGLED
        known = visited.setdefault(id(node), (node, []))[1]
        if any(other <= guard for other in known):
            continue
        if len(known) >= _MOST_WAYS:
            left_out = targets is None
            continue
        known.append(guard)
        for inner, target in reversed(node.edges):
            both = meet(guard, inner)
            if both is not None:
                pending.append((both, target))
    machine.budget.spend(len(visited) // 8)
    if left_out and len(visited) < MOST_NODES:
        leaves = _joined(autograd, starts, visited)
    return visited, leaves, reached


def walk_to(
    autograd: Autograd,
    starts: list[tuple[Guard, GraphNode | Tensor]],
    inputs: list[tuple[Guard, Tensor]] | None,
    *,
    through: set[int] | None,
) -> tuple[Visited, list[tuple[Guard, Tensor]], set[int]]:
    """
    As `walk`, to inputs each of which may be one of several tensors, or have come by its value in one of several ways:
    on a path where a gradient ends at one place, what leads to another need not run.
    """
    if inputs is None:
        return walk(autograd, starts, None, through=through)
    ends = [(guard, *end) for guard, tensor in inputs for end in edges_of(autograd, tensor)]
    wanted = [(both, node) for guard, inner, node in ends if (both := conjoin(guard, inner)) is not None]
    arms = _arms({_decided(guard) for guard, _ in wanted})
    if arms is None or any(_may_have_moved(autograd, tensor) for _, tensor in inputs):
        starts = [(guard | TANGLED, node) for guard, node in starts]
    if arms is None or len(arms) < 2:
        return walk(autograd, starts, _places([node for _, node in wanted]), through=through)
    visited: Visited = {}
    leaves: list[tuple[Guard, Tensor]] = []
    reached: set[int] = set()
    for arm in sorted(arms, key=repr):
        if not agree(arm, autograd.machine.guard):
            continue
        on_it = [(both, node) for guard, node in starts if (both := conjoin(guard, arm)) is not None]
        there = [node for guard, node in wanted if agree(_decided(guard), arm)]
        nodes, ends_of_arm, known = walk(autograd, on_it, _places(there), through=through)
        for key, (node, ways) in nodes.items():
            visited.setdefault(key, (node, []))[1].extend(ways)
        leaves += ends_of_arm
        reached |= known
    return visited, leaves, reached


def _may_have_moved(autograd: Autograd, tensor: Tensor) -> bool:
    """
    Whether it may have another `grad_fn` by now than what was computed from it leads to: unknown code has it, or the
    base whose view it is, and may have written into it.
    """
    if tensor.base is not None:
        return id(tensor.base) in autograd.unsettled
    return bool(tensor.grad_fn) and tensor.storage.handed_on()


def _arms(guards: set[Guard]) -> set[Guard] | None:
    """The paths on which gradients end at other places, by the guards of these; None where they are too many."""
    arms = {ALWAYS}
    for guard in sorted(guards - {ALWAYS}, key=repr):
        parts = (guard, *left_by([guard]))
        arms = {both for arm in arms for part in parts if (both := meet(arm, part)) is not None}
        if len(arms) > _MOST_ARMS:
            return None
    return arms


def _decided(guard: Guard) -> Guard:
    """What a guard rests on that is decided, by the program or by its inputs, and not merely unknown."""
    return frozenset(literal for literal in guard if not is_open(frozenset({literal})))


def _joined(
    autograd: Autograd, starts: list[tuple[Guard, GraphNode | Tensor]], visited: Visited
) -> list[tuple[Guard, Tensor]]:
    """
    Where more ways lead to a node than are kept: the guards of all nodes anew, in the order of the engine, so that all
    ways to a node are known before those from it are followed, and the two arms of a branch become one way.
    """
    machine = autograd.machine
    around = machine.guard
    leaves: dict[int, tuple[Tensor, list[Guard]]] = {}
    coming: dict[int, list[Guard]] = {}
    for guard, node in starts:
        if isinstance(node, GraphNode):
            coming.setdefault(id(node), []).append(guard)
        else:
            leaves.setdefault(id(node), (node, []))[1].append(guard)
    for node, known in sorted(visited.values(), key=_age):
        condition = node.condition.guard()
        ways: list[Guard] = []
        for guard in coming.pop(id(node), []):
            arrived = meet(guard, condition) if condition is not None else None
            if arrived is not None and agree(arrived, around):
                ways.append(TANGLED if len(arrived) > MOST_LITERALS else arrived)
        ways = joined(ways)[:_MOST_WAYS] or known
        known[:] = ways
        for guard in ways:
            for inner, target in node.edges:
                both = meet(guard, inner)
                if both is None:
                    continue
                if isinstance(target, GraphNode):
                    coming.setdefault(id(target), []).append(both)
                else:
                    leaves.setdefault(id(target), (target, []))[1].append(both)
    machine.budget.spend(len(visited) // 4)
    found: list[tuple[Guard, Tensor]] = []
    for leaf, ways in leaves.values():
        own = leaf.requires_grad.guard()
        for guard in joined(ways)[:_MOST_WAYS]:
            both = conjoin(guard, own) if own is not None else None
            if both is not None and agree(both, around):
                found.append((both, leaf))
    return found


def _age(entry: tuple[GraphNode, list[Guard]]) -> int:
    return -entry[0].time


def joined(guards: list[Guard]) -> list[Guard]:
    """Guards one of which holds, without those that imply another, and with the two arms of a branch as one."""
    found: list[Guard] = []
    for guard in sorted(guards, key=len):
        while not _is_implied(guard, found):
            twin = _other_arm(guard, found)
            if twin is None:
                found = [other for other in found if not guard <= other]
                found.append(guard)
                break
            found.remove(twin)
            guard = guard & twin
    return found


def _is_implied(guard: Guard, known: list[Guard]) -> bool:
    for other in known:  # noqa: SIM110 - asked of very many: a generator costs more than the question
        if other <= guard:
            return True
    return False


def _other_arm(guard: Guard, known: list[Guard]) -> Guard | None:
    for other in known:
        if _are_arms(guard, other):
            return other
    return None


def _are_arms(one: Guard, other: Guard) -> bool:
    """Whether two guards are the same but for a branch of which each takes another arm."""
    if len(one) != len(other):
        return False
    rest = one - other
    if len(rest) != 1:
        return False
    ((key, arm),) = rest
    return isinstance(key, int) and arm in (0, 1) and (key, 1 - arm) in other


def targets(autograd: Autograd, inputs: list[Tensor] | None) -> set[int] | None:
    """Where the gradients that are asked for flow: ids of nodes and leaves."""
    if inputs is None:
        return None
    return _places([node for tensor in inputs for _, node in edges_of(autograd, tensor)])


def _places(ends: list[GraphNode | Tensor]) -> set[int]:
    """The ids of what a gradient ends at, and of the nodes whose output that is one of."""
    shared = [node.output_of for node in ends if isinstance(node, GraphNode) and node.output_of is not None]
    return {id(node) for node in (*ends, *shared)}


def may_require_grad(node: GraphNode | Tensor) -> bool:
    """Whether a gradient may flow there."""
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
            if isinstance(target, GraphNode) and id(target) not in known and not (sure and _may_lack(guard, target))
        ]
    changed = True
    while changed:
        changed = False
        for each in order:
            if known.get(id(each)):
                continue
            if any(
                (id(target) in targets or known.get(id(target), False)) and not (sure and _may_lack(guard, target))
                for guard, target in each.edges
            ):
                known[id(each)] = True
                changed = True
    for each in order:
        known.setdefault(id(each), False)
    return known[id(node)]


def _may_lack(guard: Guard, target: GraphNode | Tensor) -> bool:
    """Whether nobody knows that an edge is there: it is a guess, or what it leads to may require no gradient."""
    grad = target.condition if isinstance(target, GraphNode) else target.requires_grad
    needed = grad.guard()
    return is_open(guard) or needed is None or is_open(needed)
