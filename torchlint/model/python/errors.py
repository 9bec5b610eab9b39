"""
`try`, and handlers that catch what torch raises.

Each handler is an arm of its own; what a `try` expects to fail is not reported.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable

from torchlint.model.python.attributes import evaluate_again
from torchlint.model.python.indirection import is_unknown_code
from torchlint.model.python.run import Run, Statements
from torchlint.model.python.variables import set_variable
from torchlint.model.state.guards import Guard
from torchlint.model.state.values import (
    Class,
    Sequence,
    Unknown,
    Value,
    alternatives,
)
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

MOST_ATTEMPTED = 3
"""Simple statements in a `try` that is there because they may fail."""
_LEAVING = (ir.Return, ir.Break, ir.Continue)
_RAISING_NOTHING = (ir.Pass, ir.Break, ir.Continue)
_TELLING = ("print", "traceback", "logging", "logger", "log", "warnings")


def try_statement(run: Run, node: ir.Try) -> None:
    """`try`: its handlers are arms beside its body."""
    machine = run.machine
    quiet = int(
        any(_catches_runtime_error(handler, node.body) or _may_catch(run, handler) for handler in node.handlers)
        or any(isinstance(each, _LEAVING) for each in node.final)  # nobody hears of the error then
    )
    caught = int(not all(map(_gives_up, node.handlers)))

    def body() -> None:
        machine.expected_errors += quiet
        machine.caught += caught
        run.execute(node.body)
        machine.caught -= caught
        machine.expected_errors -= quiet
        if not machine.dead:
            run.execute(node.orelse)

    def handler(each: ir.Handler) -> Callable[[], None]:
        def follow() -> None:
            if each.name:
                set_variable(run, each.name, Unknown())
            run.execute(each.body)

        return follow

    call = machine.stack[-1] if machine.stack else None
    returned = len(call.returns) if call is not None else 0
    run.finals.append((len(machine.stack), node.final))
    if node.handlers and not all(isinstance(each, _RAISING_NOTHING) for each in node.body):
        number = machine.branch((id(node) + machine.clock, "try"))
        arms: list[tuple[Guard, Callable[[], None]]] = [(frozenset({(number, 0)}), body)]
        arms += [(frozenset({(number, 1 + i)}), handler(each)) for i, each in enumerate(node.handlers)]
        machine.fork(arms)
    else:
        body()
    run.finals.pop()
    dead = machine.dead
    if dead and call is not None and len(call.returns) > returned:
        return  # `return` has run it
    machine.dead = False
    run.execute(node.final)
    machine.dead = machine.dead or dead


def _catches_runtime_error(handler: ir.Handler, body: list[ir.Statement]) -> bool:
    """Whether the author reckons with an error of torch in a `try`."""
    kinds = handler.type.elements if isinstance(handler.type, ir.Sequence) else [handler.type]
    names = {dotted(kind).rpartition(".")[2] if kind is not None else "" for kind in kinds}
    if not names.isdisjoint(("RuntimeError", "AttributeError")):
        return True
    if names.isdisjoint(("", "Exception", "BaseException")) or _gives_up(handler):
        return False
    # who catches everything around a whole program, and only says so, reckons with no error in particular
    return _is_attempt(body) or not all(map(_only_tells, handler.body))


def _may_catch(run: Run, handler: ir.Handler) -> bool:
    """Whether a handler catches exceptions of a class that nobody knows, which may be those of torch."""
    if handler.type is None or _gives_up(handler):
        return False
    kinds = handler.type.elements if isinstance(handler.type, ir.Sequence) else [handler.type]
    for written in kinds:
        if isinstance(written, ir.Name) and hasattr(builtins, written.id):
            continue
        kind = evaluate_again(run, written)
        held = kind.items or () if isinstance(kind, Sequence) else (kind,)
        if any(is_unknown_code(base) for each in held for _, option in alternatives(each) for base in _outside(option)):
            return True
    return False


def _outside(kind: Value) -> tuple[Value, ...]:
    return kind.outside() if isinstance(kind, Class) else (kind,)


def _gives_up(handler: ir.Handler) -> bool:
    """Whether a handler raises again, or ends the program."""
    if not handler.body:
        return False
    last = handler.body[-1]
    called = last.value if isinstance(last, ir.ExpressionStatement) else None
    if isinstance(called, ir.Call):
        return dotted(called.function) in ("sys.exit", "exit", "quit", "os._exit", "pytest.fail", "self.fail")
    return isinstance(last, ir.Raise)


def _only_tells(statement: ir.Statement) -> bool:
    """Whether a statement prints or logs, and nothing else."""
    value = statement.value if isinstance(statement, ir.ExpressionStatement) else None
    if not isinstance(value, ir.Call):
        return False
    return dotted(value.function).partition(".")[0] in (
        "print",
        "traceback",
        "logging",
        "logger",
        "log",
        "warnings",
    )


def _is_attempt(body: list[ir.Statement]) -> bool:
    """A few simple statements."""
    return len(body) <= MOST_ATTEMPTED and not any(ir.blocks(statement) for statement in body)


STATEMENTS: Statements = {
    ir.Try: try_statement,
}
