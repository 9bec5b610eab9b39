"""
Conditions: their truth, and which branch of the run they number.

Conditions with the same text over the same values are one decision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from torchlint.knowledge.ops import find as ops
from torchlint.model.autograd.tensors import possible_gradient
from torchlint.model.python.attributes import attribute, evaluate_again
from torchlint.model.python.operators import computed, holds_tensor
from torchlint.model.python.run import Expressions, Run
from torchlint.model.python.variables import lookup
from torchlint.model.state.guards import ALWAYS, Guard, Truth
from torchlint.model.state.trail import widen
from torchlint.model.state.values import (
    NONE,
    Bound,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Scalar,
    Sequence,
    Unknown,
    Value,
    choose,
    made_of,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.arguments import truth_of
from torchlint.model.torch.operations import apply
from torchlint.syntax import conditions, cst, dataflow, ir
from torchlint.syntax.spelling import dotted, identifier

T = TypeVar("T")


def _unary(run: Run, node: ir.Unary) -> Value:
    value = run.evaluate(node.operand)
    if node.op == "not":
        truth = condition(value)
        return Scalar("bool") if truth is Truth.MAYBE else Constant(truth is Truth.NO)
    if holds_tensor(run, value) and not run.replaces_operators():
        result = apply(run.torch, ops.operator_spelling(f"{node.op}x"), [value], {}, node, node.op)
        return _told(run, node, value, result if result is not None else made_of([value], source=node))
    if isinstance(value, Constant) and isinstance(value.value, (int, float)) and node.op in "-+":
        return Constant(-value.value if node.op == "-" else value.value)
    if isinstance(value, Scalar):
        return value
    return _told(run, node, value, computed(run, node.op, [value], node))


def _told(run: Run, node: ir.Unary, value: Value, result: Value) -> Value:
    for hook in run.machine.watch.unary:
        hook(node.op, value, result, node)
    return result


def condition(value: Value) -> Truth:
    """The truth of a value in an `if`."""
    if isinstance(value, Sequence):
        return Truth.MAYBE if value.items is None else Truth.of(bool(value.items))
    if isinstance(value, Mapping):
        return Truth.MAYBE if value.items is None else Truth.of(bool(value.items))
    if isinstance(value, (Instance, Module, Function, Class, Optimizer, Bound)):
        return Truth.YES if not isinstance(value, Module) or not value.kind.container else Truth.MAYBE
    return truth_of(value)


def evaluate_test(run: Run, node: ir.Expression) -> Truth:
    """
    The truth of a condition. `a or b` holds where `b` surely does, whatever `a` is: of the value that is left of
    the two nobody could tell that.
    """
    if type(node) is ir.Unary and node.op == "not":
        return ~evaluate_test(run, node.operand)
    if type(node) is not ir.Boolean:
        value = run.evaluate(node)
        if isinstance(value, Scalar) and value.kind == "grad_mode":
            return Truth.YES  # entry points are followed with grad mode on
        truth = condition(value)
        return _of_count(node) if truth is Truth.MAYBE and type(node) is ir.Compare else truth
    decides = Truth.YES if node.op == "or" else Truth.NO
    found = ~decides
    for operand in node.operands:
        truth = evaluate_test(run, operand)
        if truth is decides:
            return truth
        found = truth if found is not Truth.MAYBE else found
    return found


def _of_count(node: ir.Compare) -> Truth:
    """Of a comparison that nobody knows: `x.dim() >= 0` holds, and `len(x) < 0` does not, whatever `x` is."""
    called = identifier(node.left.function) if isinstance(node.left, ir.Call) else ""
    right = node.rights[0]
    if called not in _COUNTS or len(node.ops) > 1 or not isinstance(right, ir.Constant) or right.value != 0:
        return Truth.MAYBE
    return {">=": Truth.YES, "<": Truth.NO}.get(node.ops[0], Truth.MAYBE)


_COUNTS: Final = frozenset({"dim", "len", "ndimension", "nelement", "numel", "size"})
"""What gives no negative number."""


def _boolean(run: Run, node: ir.Boolean) -> Value:
    results: list[Value] = []
    for operand in node.operands:
        value = run.evaluate(operand)
        truth = condition(value)
        if truth is (Truth.NO if node.op == "and" else Truth.YES):
            return value if not results or _known_truth(results, value) else _joined([*results, value])
        if truth is Truth.MAYBE or operand is node.operands[-1]:
            results.append(value)
        if truth is Truth.MAYBE and operand is not node.operands[-1]:
            gradients_asked_for(run, operand)
    return _joined(results) if len(results) != 1 else results[0]


def _known_truth(results: list[Value], value: Value) -> bool:
    """Whether an `and` with a last False, or an `or` with a last True, is that whatever the flags before it are."""
    flags = all(isinstance(each, Scalar) and each.kind in ("bool", "grad_mode") for each in results)
    return flags and isinstance(value, Constant) and isinstance(value.value, bool)


def _joined(values: list[Value]) -> Value:
    if all(isinstance(value, (Constant, Scalar)) for value in values):
        return Scalar("bool")
    return widen([(frozenset(), value) for value in values])


def _conditional(run: Run, node: ir.Conditional) -> Value:
    return decide(run, node.test, lambda: run.evaluate(node.body), lambda: run.evaluate(node.orelse))


def decide(run: Run, test: ir.Expression, then: Callable[[], Value], other: Callable[[], Value]) -> Value:
    """Evaluate one of two, or both on paths of their own."""
    truth = evaluate_test(run, test)
    if truth is not Truth.MAYBE:
        return then() if truth is Truth.YES else other()
    arms = arms_of_test(run, test, partial(_in_its_light, run, test, then), partial(_in_its_light, run, test, other))
    if len(arms) == 1:
        return arms[0][1]()
    return choose(run.machine.fork(arms))


def _in_its_light(run: Run, test: ir.Expression, arm: Callable[[], Value]) -> Value:
    """An arm of a condition that nobody knows."""
    gradients_asked_for(run, test)
    return arm()


def gradients_asked_for(run: Run, test: ir.Expression) -> None:
    """Where a condition that nobody knows is decided, it may have told that there is a gradient of what it names."""
    for owner in run.condition(test).graded:
        some_gradient(run, owner)


def arms_of_test(
    run: Run, test: ir.Expression, then: Callable[[], T], other: Callable[[], T]
) -> list[tuple[Guard, Callable[[], T]]]:
    """The arms that a condition leaves open which nobody knows: one if the path has decided it before, or both."""
    machine = run.machine
    number, positive = branch_of(run, test)
    if _may_come_later(run, test) or _asks_for_none(run, test):
        then, other = partial(_perhaps, run, then), partial(_perhaps, run, other)
    holds, fails = (then, other) if positive else (other, then)
    taken = machine.taken(number)
    if taken is None:
        others = _exclusive(run, test, number)
        if any(machine.taken(each) == 1 for each in others):
            taken = 0
        elif others:
            holds = partial(_on_path, run, frozenset((each, 0) for each in others), holds)
    if taken is not None:
        return [(ALWAYS, holds if taken == 1 else fails)]
    yes: Guard = frozenset({(number, 1)})
    no: Guard = frozenset({(number, 0)})
    both = [(yes, holds), (no, fails)]
    return both if positive else both[::-1]


def _may_come_later(run: Run, test: ir.Expression) -> bool:
    """
    Whether the condition is asked in an iteration after which another is followed, and may be answered otherwise there:
    `if i > 0`, or `if w.grad is not None` where the iteration calls something, which may set it. What goes wrong in its
    arms for certain does so in that one as well.
    """
    loop = run.loops[-1] if run.loops else None
    if loop is None or not loop.more or loop.frame is not run.machine.frame:
        return False
    read = run.condition(test)
    keyed = read.key
    if keyed is None or (read.graded and any(isinstance(each, ir.Call) for each in ir.walk(loop.body))):
        return True
    if loop.changed is None:
        loop.changed = dataflow.sets(loop.body)
    return any(name in loop.changed or name.partition(".")[0] in loop.changed for name in keyed[1])


def _asks_for_none(run: Run, test: ir.Expression) -> bool:
    """Whether the condition compares a gradient that is missing with what nobody knows: that may be None as well."""
    named = [each for owner in run.condition(test).graded for each in ir.walk(owner)]
    paths = [each for each in named if isinstance(each, (ir.Name, ir.Attribute)) and dotted(each)]
    return any(tensor.grad == NONE for each in paths for tensor in reachable_tensors(evaluate_again(run, each)))


def _perhaps(run: Run, arm: Callable[[], T]) -> T:
    """An arm of which nobody knows whether it is taken now."""
    machine = run.machine
    assumed = machine.assumed
    machine.assumed = assumed | unknown_guard()
    try:
        return arm()
    finally:
        machine.assumed = assumed


_MOST_EXCLUSIVE = 6
"""Other texts that a value is compared with, the latest: what is excluded stands in the path of everything inside."""


def _exclusive(run: Run, test: ir.Expression, number: int) -> list[int]:
    """
    The conditions met so far that cannot hold together with one: `mode == "a"` and `mode == "b"`, of the same `mode`.
    """
    compared = conditions.compared_text(test)
    if compared is None:
        return []
    key = run.machine.decision(number)
    if not isinstance(key, tuple):
        return []
    known = run.compared.setdefault((compared, key[1]), [])
    others = [each for each in known if each != number][-_MOST_EXCLUSIVE:]
    if number not in known:
        known.append(number)
    return others


def _on_path(run: Run, excluded: Guard, arm: Callable[[], T]) -> T:
    """An arm in which these conditions do not hold."""
    run.machine.path = run.machine.path | excluded
    return arm()


def some_gradient(run: Run, owner: ir.Expression) -> None:
    """What an expression gives that is no name has a gradient: each tensor that it is written with may be that."""
    for node in ir.walk(owner):
        if not isinstance(node, (ir.Name, ir.Attribute)) or not dotted(node):
            continue
        for tensor in reachable_tensors(evaluate_again(run, node)):
            if tensor.grad == NONE:
                run.machine.trail.set(tensor, "grad", possible_gradient())


def branch_of(run: Run, test: ir.Expression) -> tuple[int, bool]:
    """Conditions with the same text over the same values are one branch."""
    machine = run.machine
    keyed = run.condition(test).key
    if keyed is None:
        positive = True
        while isinstance(test, ir.Unary) and test.op == "not":
            test, positive = test.operand, not positive
        calls = (each.function for each in ir.walk(test) if isinstance(each, ir.Call))
        called = tuple(identifier(each) for each in calls)
        return machine.branch((id(test) + machine.clock, "if", called, test)), positive
    text, reads, negated = keyed
    stamps = []
    for name in sorted(reads):
        value = _dotted(run, name)
        run.keep_alive.append(value)
        stamps.append(value if isinstance(value, (Constant, External)) else id(value))
    return machine.branch((text, tuple(stamps))), not negated


def _dotted(run: Run, name: str) -> Value:
    first, *rest = name.split(".")
    value = lookup(run, first)
    for attr in rest:
        if isinstance(value, (Instance, Unknown, External, Class)):
            value = attribute(run, value, attr, run.machine.statement or ir.Node(cst.Pass()))
        else:
            return value
    return value


EXPRESSIONS: Expressions = {
    ir.Unary: _unary,
    ir.Boolean: _boolean,
    ir.Conditional: _conditional,
}
