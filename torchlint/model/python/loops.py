"""
Loops: a second iteration on a path of its own, and widening.

A loop whose length is unknown is taken to run at least once, and its body is followed a second time; so a fault that
needs what an earlier iteration left behind is found "in the second iteration".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from torchlint.model.events.trace import StateKind
from torchlint.model.python.binding import assign
from torchlint.model.python.containers import elements_of
from torchlint.model.python.decisions import evaluate_test, gradients_asked_for
from torchlint.model.python.elements import another
from torchlint.model.python.run import LoopFrame, Run, Statements
from torchlint.model.python.variables import lookup
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.trail import Changes
from torchlint.model.state.values import (
    External,
    Frame,
    Instance,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    reachable_tensors,
)
from torchlint.model.state.widening import Snapshot
from torchlint.syntax import cst, dataflow, ir

_KINDS: tuple[StateKind, ...] = ("tuple", "list")
_COUNTING = (External("builtins.enumerate"), External("builtins.range"))

MOST_UNROLLED = 6
"""Iterations of a loop of known length that are followed one by one."""
MOST_UNROLLED_STEPS = 160
"""And those of a longer one, if all of them together cost no more steps than this."""
MOST_SEARCHED_STEPS = 480
"""And those of one that looks for an element, as long as it is known of each whether it is the one."""
MOST_FOLLOWED: Final = 3
"""The first iterations of a longer one that are followed; the second may bring what the third trips over."""


def for_statement(run: Run, node: ir.For) -> None:
    """`for`: all iterations of a short list, otherwise the first ones and widening."""
    machine = run.machine
    iterable = run.evaluate(node.iterable)
    known, elements = elements_of(run, iterable)
    source = iterable.parameters_of if isinstance(iterable, Sequence) else ""
    loop = LoopFrame(machine.trail.mark(), machine.path, machine.frame, [node])
    run.loops.append(loop)
    loop.counts = not known and not run.repeating and _counts(run, node.iterable, elements[0])
    for hook in machine.watch.loop_started:
        hook(node)
    if source:
        _enter_parameters(run, source, node, elements)
    if known and len(elements) <= MOST_UNROLLED:
        _unroll(run, loop, node, iterable, elements)
    else:
        further = elements[1:MOST_FOLLOWED] if known else [another(run, elements[0])]
        before = Snapshot(machine.frame) if run.repeating else None
        begin, path = _budget(run), machine.path
        loop.more = not known and not run.repeating
        _iterate(run, loop, node, elements[0])
        loop.more = False
        cost = begin - _budget(run)
        most = MOST_UNROLLED_STEPS
        if cost * len(elements) > most and known and machine.path == path and not loop.breaks and _looks(node.body):
            most = MOST_SEARCHED_STEPS
        if known and not run.repeating and cost * len(elements) <= most:
            least = begin - most
            for element in elements[1:]:
                if machine.dead:
                    break
                late = Snapshot(machine.frame) if _budget(run) < least else None  # the others cost more
                _iterate(run, loop, node, element)
                if late is not None:
                    late.widen(machine.trail)
                    break
        else:
            snapshot = before or Snapshot(machine.frame)
            if not run.repeating:
                for element in further:
                    _again(run, loop, partial(_iterate, run, loop, node, element), certain=known)
                if loop.distinguished:
                    third = another(run, further[0])
                    _again(run, loop, partial(_iterate, run, loop, node, third), certain=False)
            snapshot.widen(machine.trail)
    if source:
        machine.parameter_loops.pop()
    for left in machine.watch.loop_left:
        left(node)
    _leave(run, loop, node.orelse)


def _looks(body: list[ir.Statement]) -> bool:
    """Whether a loop is left where an `if` of its body has found what it looks for."""
    last = [each.body[-1] for each in body if isinstance(each, ir.If) and each.body]
    return any(isinstance(each, (ir.Break, ir.Return)) or _looks([each]) for each in last)


def _counts(run: Run, node: ir.Expression, element: Value) -> bool:
    """Whether a loop counts its iterations from 0: `range(n)`, `enumerate(values)`."""
    if not isinstance(node, ir.Call) or not isinstance(node.function, ir.Name) or len(node.arguments) != 1:
        return False
    if node.arguments[0].star or node.arguments[0].keyword or lookup(run, node.function.id) not in _COUNTING:
        return False
    first = element.items[0] if isinstance(element, Sequence) and element.items else element
    return isinstance(first, Scalar) and first.kind == "int"


def _unroll(run: Run, loop: LoopFrame, node: ir.For, iterable: Value, elements: list[Value]) -> None:
    """
    Follow all iterations. A list is read anew before each, for the body may append to it; one that goes on growing
    is followed no further.
    """
    machine = run.machine
    place = 0
    while place < len(elements) and not machine.dead:
        late = Snapshot(machine.frame) if place == MOST_UNROLLED else None
        loop.more = place + 1 < len(elements)
        _iterate(run, loop, node, elements[place])
        if late is not None:
            late.widen(machine.trail)
            break
        place += 1
        if isinstance(iterable, Sequence) and iterable.kind == "list" and iterable.items is not None:
            elements = list(iterable.items)


def _budget(run: Run) -> int:
    return run.budget.steps_left + run.budget.outside_left


def _enter_parameters(run: Run, source: str, node: ir.For, elements: list[Value]) -> None:
    only = node.origin if isinstance(node.origin, cst.For) and _only_zeroes(node.body) else None
    tensors = {id(tensor) for element in elements for tensor in reachable_tensors(element)}
    run.machine.parameter_loops.append((source, only, tensors))


def _only_zeroes(body: list[ir.Statement]) -> bool:
    while len(body) == 1 and isinstance(body[0], ir.If) and not body[0].orelse and _is_there(body[0].test):
        body = body[0].body
    return len(body) == 1 and isinstance(body[0], (ir.ExpressionStatement, ir.Assign, ir.AugmentedAssign))


def _is_there(test: ir.Expression) -> bool:
    """Whether a test asks no more than whether there is a gradient: `p.grad is not None`, `p.requires_grad`."""
    return isinstance(test, (ir.Name, ir.Attribute)) or (isinstance(test, ir.Compare) and test.ops == ["is not"])


def while_statement(run: Run, node: ir.While) -> None:
    """`while`: as long as it is known to go on, then once more and widening."""
    machine = run.machine
    loop = LoopFrame(machine.trail.mark(), machine.path, machine.frame, node.body)
    run.loops.append(loop)
    for hook in machine.watch.loop_started:
        hook(node)
    truth = _counted(run, loop, node, evaluate_test(run, node.test))
    if truth is Truth.MAYBE:
        gradients_asked_for(run, node.test)
    if truth is not Truth.NO and not machine.dead:
        before = Snapshot(machine.frame) if run.repeating else None
        if truth is Truth.YES or not loop.count:  # that it runs is taken for granted, not that it goes on
            loop.more = not run.repeating
            _iterate_body(run, loop, node)
            loop.more = False
        if isinstance(node.test, ir.Constant) and not run.repeating:
            _until_left(run, loop, node)
        snapshot = before or Snapshot(machine.frame)
        if not run.repeating:
            _again(run, loop, partial(_iterate_again, run, loop, node), certain=False)
        snapshot.widen(machine.trail)
    for left in machine.watch.loop_left:
        left(node)
    _leave(run, loop, node.orelse)


def _iterate_again(run: Run, loop: LoopFrame, node: ir.While) -> None:
    run.evaluate(node.test)
    _iterate_body(run, loop, node)


def _counted(run: Run, loop: LoopFrame, node: ir.While, truth: Truth) -> Truth:
    """Follow a loop as long as it is known that there is another iteration: one that counts."""
    count = 1
    least = _budget(run) - (0 if run.repeating else MOST_UNROLLED_STEPS)
    while (
        truth is Truth.YES
        and not isinstance(node.test, ir.Constant)
        and (count < MOST_UNROLLED or _budget(run) > least)
    ):
        _iterate_body(run, loop, node)
        if run.machine.dead:
            break
        count += 1
        truth = evaluate_test(run, node.test)
    return truth


def _until_left(run: Run, loop: LoopFrame, node: ir.While) -> None:
    """Follow `while True:` as long as it is known at each `break` whether it is taken, to the one that is."""
    if not any(isinstance(each, ir.If) and _breaks(each) for each in node.body):
        return
    least = _budget(run) - MOST_UNROLLED_STEPS
    while not run.machine.dead and not loop.breaks and _budget(run) > least:
        _iterate_body(run, loop, node)


def _iterate(run: Run, loop: LoopFrame, node: ir.For, element: Value) -> None:
    if loop.counts:
        number = Scalar("int")  # another object in each iteration: whoever compares it asks the loop for that very one
        items = element.items if isinstance(element, Sequence) else None
        element = Sequence("tuple", (number, *items[1:])) if items else number
        loop.counter = number
    assign(run, node.target, element)
    _iterate_body(run, loop, node)


def _iterate_body(run: Run, loop: LoopFrame, node: ir.For | ir.While) -> None:
    machine = run.machine
    outer, line = machine.iteration, machine.statement
    run.iterations += 1
    machine.iteration = (*outer, run.iterations)
    mark, path = loop.iteration_mark, loop.iteration_path
    loop.iteration_mark, loop.iteration_path = machine.trail.mark(), machine.path
    loop.continues = []
    before = machine.path
    carried = machine.carried
    held = _held(machine.frame)
    if not loop.count:
        loop.before = held
    machine.carried = _carried_state(run, node, loop.before, held) if loop.count else list
    for started in machine.watch.iteration_started:
        started(node, loop.count)
    run.execute(node.body)
    _meet(run, loop.continues, loop.iteration_mark, before)
    for ended in machine.watch.iteration_ended:
        ended(node, loop.count)
    loop.count += 1
    machine.carried = carried
    loop.continues = []
    loop.iteration_mark, loop.iteration_path = mark, path
    machine.iteration, machine.statement = outer, line


def _held(frame: Frame) -> dict[str, Value]:
    """What variables and attributes of `self` hold now."""
    held = dict(frame.variables)
    own = held.get("self")
    if isinstance(own, Instance):
        held |= {f"self.{name}": value for name, value in own.attributes.items()}
    return held


def _carried_state(
    run: Run, node: ir.For | ir.While, before: dict[str, Value], held: dict[str, Value]
) -> Callable[[], list[tuple[str, StateKind, Tensor]]]:
    """
    The tensors that an iteration takes over from the one before: read in the body before it sets them, and what the
    names hold in every iteration, where it is asked. Looked for only when somebody asks.
    """
    frame = run.machine.frame

    def carried() -> list[tuple[str, StateKind, Tensor]]:
        found: list[tuple[str, StateKind, Tensor]] = []
        foreign = run.machine.foreign_call
        here = id(run.machine.frame) if foreign is None else foreign.frame
        now = _held(frame) if here == id(frame) else {}
        for name in dataflow.read_before_set(node.body):
            value = held.get(name)
            if value is not None:
                # what is not set yet is, in the first iteration, what it was before the loop
                first = now.get(name) if now.get(name) is not value else before.get(name)
                kind = _kind_of(value)
                kind = kind if _kind_of(now.get(name)) == kind == _kind_of(first) else ""
                found += [(name, kind, tensor) for tensor in reachable_tensors(value)]
        return found

    return carried


def _kind_of(value: Value | None) -> StateKind:
    """What a state is, whatever path was taken."""
    values = [each for _, each in alternatives(value)] if value is not None else []
    if values and all(_is_tensor(each) for each in values):
        return "tensor"
    for kind in _KINDS:
        if values and all(_is_row_of_tensors(each, kind) for each in values):
            return kind
    return ""


def _is_row_of_tensors(value: Value, kind: str) -> bool:
    if not isinstance(value, Sequence) or value.kind != kind or not value.items:
        return False
    return all(_is_tensor(each) for item in value.items for _, each in alternatives(item))


def _is_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Unknown) and value.tensor is not None)


def _meet(run: Run, exits: list[tuple[Guard, Changes]], mark: int, path: Guard) -> None:
    """Join the states of `exits` with the present one, if it is alive; all are relative to `mark`."""
    machine = run.machine
    if not exits:
        return
    if not machine.dead:
        exits = [*exits, (machine.path - path, machine.trail.changes(mark))]
    machine.trail.undo(mark)
    machine.trail.join(exits)
    machine.dead = False
    machine.path = path if len(exits) > 1 else path | exits[0][0]


def _again(run: Run, loop: LoopFrame, follow: Callable[[], None], *, certain: bool) -> None:
    """
    Follow the body once more. A loop inside a further iteration is not followed twice again: what two of its
    iterations do to each other was seen in the first, and every level of nesting would double the cost.
    """
    machine = run.machine
    if machine.dead:
        return
    run.repeating = True
    if certain:
        follow()
    else:
        number = machine.branch((id(loop), "again"))
        machine.fork([(frozenset({(number, 1)}), follow), (frozenset({(number, 0)}), lambda: None)])
    run.repeating = False


def _leave(run: Run, loop: LoopFrame, orelse: list[ir.Statement]) -> None:
    machine = run.machine
    run.loops.pop()
    if orelse and not machine.dead:
        run.execute(orelse)
    path = machine.path
    _meet(run, loop.breaks, loop.mark, loop.path)
    if not loop.breaks:
        machine.path = path if machine.dead else loop.path | (path - loop.path)


def break_statement(run: Run, node: ir.Break) -> None:
    """`break`: the state goes to the end of the loop."""
    machine = run.machine
    loop = run.loops[-1] if run.loops else None
    if loop is not None:
        loop.breaks.append((machine.path - loop.path, machine.trail.changes(loop.mark)))
    machine.dead = True


def continue_statement(run: Run, node: ir.Continue) -> None:
    """`continue`: the state goes to the end of the iteration."""
    machine = run.machine
    loop = run.loops[-1] if run.loops else None
    if loop is not None:
        loop.continues.append((machine.path - loop.iteration_path, machine.trail.changes(loop.iteration_mark)))
    machine.dead = True


def _breaks(node: ir.If) -> bool:
    return any(isinstance(each, ir.Break) for each in (*node.body, *node.orelse))


STATEMENTS: Statements = {
    ir.For: for_statement,
    ir.While: while_statement,
    ir.Break: break_statement,
    ir.Continue: continue_statement,
}
