"""
What is to be watched for a finding, from its claims and its conditions.

Pure functions of the finding and the program's text; knows no rule, and runs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from torchlint.rule import Claim, Finding, Holds, Observed, Raises, Warns
from torchlint.verify import programs
from torchlint.verify.probes import PROBES
from torchlint.verify.programs import Program, Statement
from torchlint.verify.protocol import WatchedStatement

EXPRESSIONS = 24
"""At most so many expressions are watched at a statement for one finding."""
READERS = 12
"""At most so many statements are watched because they read a name."""


def observed(claims: Iterable[Claim]) -> bool:
    """Whether writes, gradients or calls are wanted; if not, programs run without a mode in between."""
    return any(not isinstance(claim, (Warns, Holds)) for claim in claims)


def called(claims: Iterable[Claim]) -> tuple[str, ...]:
    """The names of torch's functions whose arguments are wanted."""
    names = [name for c in claims if isinstance(c, Observed) and c.probe in PROBES for name in PROBES[c.probe].calls(c)]
    return tuple(dict.fromkeys(filter(None, names)))


def differentiated(claims: Iterable[Claim]) -> tuple[str, ...]:
    """The names of autograd Functions whose backward is held against finite differences."""
    probes = [(claim, PROBES.get(claim.probe)) for claim in claims if isinstance(claim, Observed)]
    return tuple(dict.fromkeys(name for claim, probe in probes if probe is not None for name in probe.functions(claim)))


def watched(
    finding: Finding, places: Sequence[Statement], program: Program
) -> tuple[dict[Statement, WatchedStatement], Statement, tuple[Statement, ...]]:
    """
    What to look at for a finding.

    Parameters
    ----------
    places
        Its own statement first, then those of its trace.

    Returns
    -------
    tuple
        A watch per statement, the first statement of the function, and the statements that are there because they read
        what a claim says is read.
    """
    own = places[0]
    asked: dict[Statement, list[str]] = {place: [] for place in places}
    capture = variables = False
    readers: list[Statement] = []
    entry = entry_of(program, own)
    asked.setdefault(entry, [])
    for claim in finding.claims:
        names = _names(claim, own)
        asked[own] += names
        if isinstance(claim, Holds):
            capture = capture or "value_" in claim.expression
        if not isinstance(claim, Observed):
            continue
        probe = PROBES[claim.probe]
        capture, variables = capture or probe.capture, variables or probe.variables
        if probe.entry:
            asked[entry] += names
        if probe.reads and (claim.other or probe.filled):
            found = _readers(program, own, claim.other or claim.subject)
            readers += found
            for statement in found:
                asked.setdefault(statement, []).extend(names if probe.everywhere else [])
        for name in programs.bound(own.node) if probe.bound else ():
            found = _readers(program, own, name)
            readers += found
            for statement in found:
                asked.setdefault(statement, [])
        if probe.everywhere:
            for place in (*places[1:], *program.within(finding.span.line, finding.span.end_line)):
                asked.setdefault(place, []).extend(probe.expressions(claim, place.node))
    asked[own] += [c.expression for c in finding.conditions if programs.is_pure(c.expression)]
    bound = tuple(programs.assigned(own.node))
    watches = {
        statement: WatchedStatement(
            statement.line,
            statement.column,
            tuple(dict.fromkeys(names))[:EXPRESSIONS],
            capture and statement is own,
            variables and statement is own,
            bound if statement is own else (),
            hasattr(statement.node, "body"),
        )
        for statement, names in asked.items()
    }
    return watches, entry, tuple(dict.fromkeys(readers))


def entry_of(program: Program, own: Statement) -> Statement:
    """The first statement of the function that a statement is in; that itself at top level."""
    function = None
    for statement in program.statements:
        node = statement.node
        inside = statement.line < own.line <= (node.end_lineno or 0)
        if inside and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node
    body = [] if function is None else [node for node in function.body if not _documents(node)]
    return next((s for s in program.statements if body and s.node is body[0]), own)


def _documents(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _names(claim: Claim, own: Statement) -> list[str]:
    match claim:
        case Raises():
            target = programs.written(own.node)
            return [target] if target else []
        case Holds():
            return [claim.expression]
        case Observed():
            return list(PROBES[claim.probe].expressions(claim, own.node))
    return []


def _readers(program: Program, own: Statement, name: str) -> list[Statement]:
    """Statements that mention a name and may run after the finding's own."""
    return [
        statement
        for statement in program.statements
        if statement is not own
        and not hasattr(statement.node, "body")
        and (statement.line > own.line or statement.in_loop or statement.functions != own.functions)
        and name in programs.places_in(statement.node)
    ][:READERS]
