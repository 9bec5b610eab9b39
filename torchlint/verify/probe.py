"""
What a probe of the runtime cross-check is: what it wants watched, and what it makes of what was seen.

The probes themselves are in `probes/`, one module per kind of observation. None knows a rule: a finding reaches them as
a `Case` with the claim that names them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from torchlint.rule import Observed
from torchlint.verify.case import Case, DraftVerdict
from torchlint.verify.programs import Program
from torchlint.verify.protocol import Outcome

Run = Callable[[str, bool], Outcome]
"""
Runs a changed text of the program, observed, under the same conditions; the flag asks for `Request.measure`.
"""


def nothing(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    """No expression is watched."""
    return ()


@dataclass(frozen=True, slots=True)
class Probe:
    """
    One kind of observation.

    Attributes
    ----------
    look
        What one run says; None where it does not tell. A refutation is weighed by the judge before it counts.
    expressions
        Watched before and after the finding's own statement.
    everywhere
        They are watched at all places of the proof.
    entry
        They are watched at the first statement of the function, too.
    capture, variables
        As in `protocol.WatchedStatement`.
    reads
        The claim's `other` is read later: statements that mention it are watched, too.
    filled
        Where there is no `other`, it is the subject that is read: a container may be filled there.
    bound
        What the statement binds is read later: statements that mention that are watched, too.
    calls
        Names of torch's functions whose arguments are wanted.
    functions
        Names of autograd Functions whose backward is held against finite differences; with `protocol.TWICE` behind
        a name, its own backward, too.
    any_arguments
        What it sees says something of the statement, whatever its function is given: functions are called with made-up
        arguments for it.
    once
        What it looks for may show once in a process, so that its absence in a long one refutes nothing.
    compare
        For a probe about what a change of the program would do: asked before `look`, with a way to run the change.
    add
        What is added to the evidence of a confirmed finding, in words.
    """

    look: Callable[[Case, Observed, Outcome], DraftVerdict | None]
    expressions: Callable[[Observed, ast.stmt], tuple[str, ...]] = nothing
    everywhere: bool = False
    entry: bool = False
    capture: bool = False
    variables: bool = False
    reads: bool = False
    filled: bool = False
    bound: bool = False
    calls: Callable[[Observed], tuple[str, ...]] = lambda claim: ()
    functions: Callable[[Observed], tuple[str, ...]] = lambda claim: ()
    any_arguments: bool = False
    once: bool = False
    compare: Callable[[Case, Observed, Program, Outcome, Run], DraftVerdict | None] | None = None
    add: Callable[[Case, Observed, Program, Outcome, Run], str] | None = None
