"""
What a backward reads and frees: saved tensors, graphs that an earlier backward has freed or retained.

Notes what is read; what that proves is told at the end of the run (`conclusions`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Set

from torchlint.condition import Condition
from torchlint.knowledge.ops.kernels import of_cpu, operation_of
from torchlint.model.autograd.autograd import Autograd, Retained, SavedRead, Visited
from torchlint.model.autograd.refusals import kind_of_view, refuse
from torchlint.model.autograd.unseen import adds_loss, is_loss
from torchlint.model.autograd.walk import graph_of
from torchlint.model.events import FreedGraphRead, RetainedUse
from torchlint.model.events.trace import Carried, Step
from torchlint.model.state.frames import activated
from torchlint.model.state.guards import (
    ALONE,
    ALWAYS,
    Guard,
    GuardLiteral,
    Truth,
    conditions,
    conjoin,
    implied,
    may_be_copy,
    unconditional,
    whoever_keeps,
)
from torchlint.model.state.values import (
    MOST_REACHABLE,
    GraphNode,
    Release,
    Saved,
    Tensor,
    Value,
    Write,
    reachable_tensors,
    unknown_guard,
)
from torchlint.syntax import cst, ir

MOST_RETAINED = 8
"""Retained graphs that later backwards are held against; who reads older ones is not known."""


_ROWS = frozenset({"[]", "getitem", "__getitem__", "select", "squeeze", "sum", "mean"})
"""Operations that take a row or an element out of what was computed before."""


def read_node(
    autograd: Autograd,
    visited: Visited,
    origin: ir.Node,
    root: Tensor,
    name: str,
    step: Step,
    *,
    implicit: bool,
    partly: Set[int] = frozenset(),
) -> None:
    """
    What a backward of a root, which the program calls `name`, reads of a node: nothing if it is freed, else what it
    saved. Whether there is an `implicit` one, of a `forward`'s caller, after one that `forward` ran itself nobody
    knows: what that returns is often only looked at.
    """
    if autograd.machine.expected_errors:
        return
    # The engine runs what was recorded last first.
    for node, guards in sorted(visited.values(), key=lambda entry: -entry[0].time):
        for guard in guards:
            if not implicit:
                _read_released(autograd, node, guard, origin, root, name, partly=id(node) in partly)
            if _is_freed(autograd, node):
                continue
            # which of its several nodes saved what is not known
            needed = guard | unknown_guard() if id(node) in partly else guard
            for saved in node.saved:
                _read_saved(autograd, saved, needed, origin, step, implicit)
    if implicit:
        return
    for retained in autograd.retained[:-MOST_RETAINED]:
        retained.opaque = True
    for retained in autograd.retained[-MOST_RETAINED:]:
        _read_retained(autograd, retained, visited, origin, root, partly)


def _is_freed(autograd: Autograd, node: GraphNode) -> bool:
    """Whether nothing is left to read: torch says so before it looks at any version (saved_variable.cpp)."""
    machine = autograd.machine
    return any(
        not release.partly
        and machine.since < release.time
        and implied(release.path | release.assumed, machine.path | machine.assumed)
        for release in node.releases
    )


def _read_retained(
    autograd: Autograd, retained: Retained, visited: Visited, origin: ir.Node, root: Tensor, partly: Set[int]
) -> None:
    machine = autograd.machine
    shared = [(node, guards) for key, (node, guards) in visited.items() if key in retained.nodes]
    if not shared:
        return
    sure = [
        node
        for node, guards in shared
        if not node.opaque and id(node) not in partly and any(unconditional(guard) <= machine.path for guard in guards)
    ]
    together = conjoin(retained.path, retained.assumed, machine.path, machine.assumed)
    if retained.iteration == machine.iteration and together is None:
        return  # the arms of one decision, or two values that one variable may have
    if not sure:
        retained.opaque = True
        return
    step = Step(origin.origin, "this backward reads the retained graph")
    within = len(retained.iteration)
    carried = [node for node in sure if node.iteration[:within] == retained.iteration]
    at_once = retained.iteration == machine.iteration or not retained.iteration
    if (at_once or not carried) and _given_its_result(autograd, retained):
        use: RetainedUse = "apart"
    elif at_once:
        again = retained.tensor is root
        if retained.asked_for != autograd.asked_for or (again and retained.given):
            use = "apart"
        else:
            use = "again" if again else "shared"
    elif carried:
        use = "carried"
        retained.carried = retained.carried or _carried(autograd, carried[0])
    else:
        anew = (node for node, _ in visited.values() if node.iteration[:within] == machine.iteration[:within])
        rows = retained.call is origin.origin and all(node.op.rpartition(".")[2] in _ROWS for node in anew)
        use = "repeated" if rows else "apart"
    retained.readers.append((step, use, machine.line()))


def _given_its_result(autograd: Autograd, retained: Retained) -> bool:
    """
    Whether the gradient that this pass is given may depend on one that the retaining call made: neither a sum nor a
    batch of gradients can stand for the two passes then. What was written into since is held to depend on it.
    """
    seen: set[int] = set()
    pending = [tensor for value in autograd.given for tensor in reachable_tensors(value)]
    while pending:
        tensor = pending.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        writes = tensor.storage.writes
        if (
            tensor.origin.origin is retained.call
            or (writes and writes[-1].time > retained.time)
            or len(seen) > MOST_REACHABLE
        ):
            return True
        pending += tensor.inputs
        if tensor.alias is not None:
            pending.append(tensor.alias.source)
    return False


def _carried(autograd: Autograd, node: GraphNode) -> Carried | None:
    """The state that brings a node of an earlier iteration into this one, if it is one, or was made by one call."""
    found = [each for each in autograd.machine.carried() if id(node) in graph_of(autograd, each[2], None)[0]]
    names = tuple(dict.fromkeys(name for name, _, _ in found))
    kinds = {kind for _, kind, _ in found}
    if len(names) > 1 and (kinds != {"tensor"} or any(each.origin is not found[0][2].origin for _, _, each in found)):
        return None
    return Carried(names, found[0][1]) if found else None


def _read_saved(autograd: Autograd, saved: Saved, guard: Guard, origin: ir.Node, step: Step, implicit: bool) -> None:
    machine = autograd.machine
    writes = saved.storage.writes
    for write in writes[bisect_right(writes, saved.time, key=_time) :]:
        if write.counter is not saved.counter or write.time <= machine.since:
            continue
        total = conjoin(guard, saved.guard, write.path, write.assumed, machine.path, machine.assumed)
        if total is None:
            continue
        named = conditions(total)
        if len(named) > 1 and any(each.kind in ALONE for each in named):
            guard |= unknown_guard()  # two things that the text leaves open
        kind = kind_of_view(saved.tensor) if saved.tensor.requires_grad.truth() is Truth.YES else None
        if (
            kind is not None
            and not saved.what.startswith("result")
            and not implicit
            and unconditional(total) <= machine.guard
            and not may_be_copy(total)
        ):
            # unpacking an input asks for its grad_fn before it looks at the version (saved_variable.cpp)
            refuse(autograd, kind, write.op, saved.tensor, origin)
            break
        need, named = _beside_kernel(autograd, guard | saved.guard | write.assumed | machine.assumed, named)
        autograd.saved_reads.append(
            SavedRead(
                write=write,
                saved=saved,
                need=need,
                basis=write.path | machine.path,
                conditions=named,
                backward=step,
                implicit=implicit,
                moment=machine.tick(),
            )
        )
        break


def _beside_kernel(
    autograd: Autograd, guard: Guard, named: tuple[Condition, ...]
) -> tuple[Guard, tuple[Condition, ...]]:
    """
    What a proof rests on beside its conditions, and beside how a fused kernel that is one lays its result; and the
    conditions: where only the CPU's lays it so, it is that one.
    """
    rest = unconditional(guard)
    kernels = {each.expression for each in named if each.kind == "kernel"}
    if not kernels:
        return rest, named
    decided: set[GuardLiteral] = set()
    by_cpu: set[str] = set()
    for literal in rest:
        number, arm = literal
        key = autograd.machine.decision(number) if isinstance(number, int) and arm == 1 else None
        if isinstance(key, tuple) and len(key) == _SHARING and key[1] == "shares memory":
            operation = operation_of(key[2])
            if operation in kernels:
                decided.add(literal)
                by_cpu |= {operation} if key[2] != operation else set()
    told = tuple(Condition(each.kind, of_cpu(each.expression)) if each.expression in by_cpu else each for each in named)
    return rest - decided, told


_SHARING = 3
"""Parts of the key of the decision whether an operation gives a view or a copy; the last is what a kernel decides."""


def _read_released(
    autograd: Autograd,
    node: GraphNode,
    guard: Guard,
    origin: ir.Node,
    root: Tensor,
    name: str,
    *,
    partly: bool,
) -> None:
    machine = autograd.machine
    for release in node.releases:
        if release.time <= machine.since:
            continue
        total = conjoin(guard, release.path, release.assumed, machine.path, machine.assumed)
        if total is None or (machine.foreign_call is not None and release.time > machine.foreign_call.started):
            continue
        same_root = release.root is root and autograd.adds_up and release.time > autograd.reset_since
        if partly or release.partly:
            saves = node.last_holds
        else:
            saves = Truth.YES if any(not whoever_keeps(s.guard) - machine.path for s in node.saved) else node.holds
        again = release.root is root and node is _only_node(root) and is_loss(root.origin, name or root.name)
        # A sum that is carried on: the backward of the iteration before came back through this part of it.
        added = release.iteration != machine.iteration and node.condition.truth() is Truth.YES
        unseen = node.opaque and (again or (added and adds_loss(node.origin, node.result)))
        if saves is Truth.NO and not same_root:
            continue
        need = unconditional(guard | release.assumed | machine.assumed)
        basis = release.path | machine.path
        same_call = release.origin is origin
        carried = _carried(autograd, node) if release.iteration != machine.iteration else None
        known = same_call and carried is None and saves is Truth.YES and need <= basis
        before = _built_before(autograd, release) if known else []
        result = f"`{node.result}`" if node.result else f"the result of `{node.op}`" if node.op else "the graph"
        event = FreedGraphRead(
            node=origin.origin,
            statement=machine.line(),
            trace=(
                Step(node.origin.origin, f"`{node.op}` is recorded here" if node.op else "recorded here"),
                *(
                    Step(each.origin.origin, f"`{each.result}` is made here, before the loop")
                    for each in before
                    if each.origin.origin is not node.origin.origin
                ),
                release.step,
                Step(origin.origin, f"backward comes to the freed node of `{node.op}` here")
                if node.op
                else Step(origin.origin, f"backward comes to {result} again here"),
            ),
            truth=Truth.YES if need <= basis else Truth.MAYBE,
            conditions=conditions(total),
            moment=machine.tick(),
            root=machine.facts(root, name),
            op=node.op,
            result=node.result,
            saves=saves,
            freed_by=release.step,
            same_call=same_call,
            same_root=same_root or (unseen and again),
            unseen=unseen,
            built_in_init=bool(node.built_in) and not machine.built_in,
            freeing_statement=release.line,
            carried=carried,
            built_before=tuple(dict.fromkeys(each.result for each in before)),
            consecutive=machine.after(release.line) is machine.line(),
        )
        autograd.freed_reads.setdefault((id(origin.origin), saves), []).append((need, basis, event))
        if event.truth is Truth.YES and saves is Truth.YES:
            return


def _built_before(autograd: Autograd, release: Release) -> list[GraphNode]:
    """
    Where a pass comes from what an iteration has recorded to named results from before its loop, certainly, and on to
    a node that the iteration before has freed.
    """
    now = autograd.machine.iteration
    depth = next((i for i, (one, other) in enumerate(zip(now, release.iteration, strict=False)) if one != other), None)
    if depth is None:
        return []
    found: dict[int, GraphNode] = {}
    for node, _ in autograd.visited.values():
        for guard, end in node.edges if node.iteration[: depth + 1] == now[: depth + 1] else ():
            outer = isinstance(end, GraphNode) and len(end.iteration) <= depth and not unconditional(guard)
            if outer and isinstance(end, GraphNode) and end.result and _comes_to_freed(end):
                found[id(end)] = end
    return sorted(found.values(), key=lambda each: each.time)


def _comes_to_freed(node: GraphNode) -> bool:
    """Whether a node surely is there and leads to one that saved tensors and is freed."""
    seen: set[int] = set()
    pending = [node]
    while pending and len(seen) < MOST_REACHABLE:
        each = pending.pop()
        if id(each) in seen or each.condition.truth() is not Truth.YES:
            continue
        seen.add(id(each))
        holds = each.holds is Truth.YES or any(not whoever_keeps(saved.guard) for saved in each.saved)
        if holds and any(not release.partly and not release.assumed for release in each.releases):
            return True
        pending += [end for guard, end in each.edges if isinstance(end, GraphNode) and not unconditional(guard)]
    return False


def _only_node(root: Tensor) -> GraphNode | None:
    return root.grad_fn[0][1] if len(root.grad_fn) == 1 else None


def release_node(
    autograd: Autograd, visited: Visited, origin: ir.Node, root: Tensor, retain: Truth, partly: Set[int] = frozenset()
) -> None:
    """A backward frees what a node saved."""
    machine = autograd.machine
    step = Step(origin.origin, "backward frees the graph here")
    for node, guards in visited.values():
        time = machine.tick()
        if len(node.releases) >= MOST_RETAINED:
            continue
        if retain is not Truth.NO:
            way: Guard = frozenset({(("unknown", -node.time), 1)})
        elif any(unconditional(guard) <= machine.path for guard in guards):
            way = ALWAYS
        else:
            way = unconditional(min(guards, key=len))
        release = Release(
            time=time,
            path=machine.path,
            assumed=machine.assumed | way,
            step=step,
            line=machine.line(),
            origin=origin,
            root=root,
            iteration=machine.iteration,
            partly=id(node) in partly,
        )
        machine.trail.set(node, "releases", (*node.releases, release))


def note_retained(
    autograd: Autograd,
    visited: Visited,
    argument: cst.Arg,
    call: cst.Call,
    root: Tensor,
    name: str,
    *,
    part: bool,
    given: bool,
) -> None:
    """Note a backward that kept its graph."""
    machine = autograd.machine
    autograd.retained.append(
        Retained(
            argument=argument,
            call=call,
            line=machine.line(),
            tensor=root,
            root=machine.facts(root, name),
            nodes=set(visited),
            iteration=machine.iteration,
            path=machine.path,
            assumed=machine.assumed,
            asked_for=autograd.asked_for,
            time=machine.tick(),
            part=part,
            given=given,
            grad_mode=machine.grad_mode,
            # A graph older than the running function is still there when the function is called again.
            opaque=not visited or any(node.opaque or node.time < activated(machine) for node, _ in visited.values()),
        )
    )


def retained_escape(autograd: Autograd, values: list[Value]) -> None:
    """Code outside the run gets hold of these values: it may read a retained graph through them."""
    if not autograd.retained:
        return
    told = len(autograd.machine.events)
    for value in values:
        for tensor in reachable_tensors(value):
            visited, _ = graph_of(autograd, tensor, None)
            for retained in autograd.retained:
                if retained.nodes & set(visited):
                    retained.escaped = True
    del autograd.machine.events[told:]  # it may, or may not: torch refuses nothing yet


def _time(write: Write) -> int:
    return write.time
