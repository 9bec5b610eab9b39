"""
`if` and `match`: the arms run one after the other on the same state, and are joined.

What a condition says of a value holds in its arm.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from torchlint.model.python.arms import follow_arm, note_rest
from torchlint.model.python.attributes import evaluate_again
from torchlint.model.python.decisions import arms_of_test, evaluate_test, gradients_asked_for, some_gradient
from torchlint.model.python.run import Run, Statements
from torchlint.model.python.variables import lookup, set_variable
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.reachable import objects_among
from torchlint.model.state.values import (
    NONE,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    reachable_tensors,
)
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_NAMED: Final = (ir.Name, ir.Attribute)


def if_statement(run: Run, node: ir.If) -> None:
    """`if`: its arms, joined."""
    truth = evaluate_test(run, node.test)
    if truth is not Truth.MAYBE:
        follow_arm(run, node.body if truth is Truth.YES else node.orelse)
    else:
        # by `partial`: mypyc keeps nested functions in a circle of their own
        then, otherwise = partial(_refined, run, node.test, True), partial(_refined, run, node.test, False)
        arms = arms_of_test(run, node.test, partial(then, node.body), partial(otherwise, node.orelse))
        if len(arms) == 1:
            arms[0][1]()
        else:
            run.machine.fork(arms)
    note_rest(run, node)


def _refined(run: Run, test: ir.Expression, holds: bool, body: list[ir.Statement]) -> None:
    """An arm, in the light of its condition."""
    _refine(run, test, holds)
    follow_arm(run, body)


def _refine(run: Run, test: ir.Expression, holds: bool) -> None:
    """Inside `if x.grad is not None`, nothing is None: what a condition tells of values."""
    if isinstance(test, ir.Unary) and test.op == "not":
        _refine(run, test.operand, not holds)
    elif isinstance(test, ir.Boolean) and (test.op == "and") == holds:
        for operand in test.operands:
            _refine(run, operand, holds)
    elif isinstance(test, ir.Compare) and len(test.ops) == 1 and _is_none(test.rights[0]):
        if test.ops[0] in (("is not", "!=") if holds else ("is", "==")):
            _no_none(run, test.left)
        elif test.ops[0] == ("is" if holds else "is not"):
            _nothing_but_none(run, test.left)
    elif isinstance(test, _NAMED):
        if holds:
            _no_none(run, test)
    else:  # what comes of a gradient that is asked for somehow else may tell whether there is one
        gradients_asked_for(run, test)


def _no_none(run: Run, node: ir.Expression) -> None:
    """A variable, or the gradient of one, is not None on this path."""
    if isinstance(node, ir.Name):
        kept = _without_none(lookup(run, node.id))
        if kept is not None:
            set_variable(run, node.id, kept)
        return
    if not isinstance(node, ir.Attribute) or node.attr != "grad":
        return
    if not dotted(node.value):
        some_gradient(run, node.value)
        return
    owner = evaluate_again(run, node.value)
    options = [option for option in alternatives(owner, run.machine.guard) if isinstance(option[1], Tensor)]
    having = [(guard, each) for guard, each in options if isinstance(each, Tensor) and each.grad != NONE]
    if having and len(having) < len(options) and isinstance(node.value, ir.Name):
        set_variable(run, node.value.id, choose(having))
    for _, each in having or options:
        assert isinstance(each, Tensor)
        kept = Unknown() if each.grad == NONE else _without_none(each.grad)
        if kept is not None:
            run.machine.trail.set(each, "grad", kept)


def _nothing_but_none(run: Run, node: ir.Expression) -> None:
    """A variable of which nothing is known is None on this path."""
    if isinstance(node, ir.Name) and isinstance(lookup(run, node.id), Unknown):
        set_variable(run, node.id, NONE)


def match_statement(run: Run, node: ir.Match) -> None:
    """`match`: its cases, joined."""
    machine = run.machine
    subject = run.evaluate(node.subject)
    arms: list[tuple[Guard, Callable[[], None]]] = []
    number = machine.branch((id(node), machine.clock))

    def arm(case: ir.Case) -> Callable[[], None]:
        def follow() -> None:
            for name in case.bound:
                captured = Unknown(reachable_tensors(subject))
                captured.may_be = objects_among([subject])
                set_variable(run, name, captured)
            if case.guard is not None:
                run.evaluate(case.guard)
            run.execute(case.body)

        return follow

    for index, case in enumerate(node.cases):
        arms.append((frozenset({(number, index)}), arm(case)))
    if not any(case.wildcard and case.guard is None for case in node.cases):
        arms.append((frozenset({(number, len(node.cases))}), lambda: None))
    machine.fork(arms)


def _is_none(node: ir.Expression) -> bool:
    return isinstance(node, ir.Constant) and node.value is None


def _without_none(value: Value) -> Value | None:
    """What a value is that is not None; None if it is what it was."""
    options = [option for option in alternatives(value) if option[1] != NONE]
    return choose(options) if 0 < len(options) < len(alternatives(value)) else None


STATEMENTS: Statements = {
    ir.If: if_statement,
    ir.Match: match_statement,
}
