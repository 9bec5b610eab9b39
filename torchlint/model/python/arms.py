"""
The arms of an `if`, and what comes after one of which an arm leaves the function: who visits them, and what is told.

Only runs them and notes it; what that says is for `state.visits`.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.python.run import Run
from torchlint.model.state.frames import CallFrame
from torchlint.model.state.visits import Visit
from torchlint.syntax import ir

_LEAVING: Final = (ir.Return, ir.Raise)


def follow_arm(run: Run, body: list[ir.Statement]) -> None:
    """Run an arm of a condition, and note what was told."""
    machine = run.machine
    stack = machine.stack
    if not stack or not stack[-1].called_from or machine.foreign_call is not None:
        run.execute(body)
        return
    visit = stack[-1].called_from, machine.path - stack[-1].path
    told, written = len(machine.events), len(run.autograd.write_records)
    run.execute(body)
    _note(run, id(body), visit, told, written)


def note_rest(run: Run, node: ir.If) -> None:
    """What comes after an `if` with an arm that leaves the function is the other arm."""
    machine = run.machine
    leaves = any(body and isinstance(body[-1], _LEAVING) for body in (node.body, node.orelse))
    if not leaves or machine.dead or not machine.stack or machine.foreign_call is not None:
        return
    call = machine.stack[-1]
    if call.called_from:
        rest = id(node), machine.path - call.path, len(machine.events), len(run.autograd.write_records)
        call.rests.append(rest)


def note_rests(run: Run, call: CallFrame) -> None:
    """A function has come to its end, and with it what came after those."""
    for arm, decided, told, written in call.rests:
        _note(run, arm, (call.called_from, decided), told, written)


def _note(run: Run, arm: int, visit: Visit, told: int, written: int) -> None:
    events, records = run.machine.events[told:], run.autograd.write_records[written:]
    run.visits.note(arm, visit, events, [(id(each.write.origin.origin), each.leaf_raises) for each in records])
