"""
Claims forced on correct programs: none of them is true, so none may be confirmed.

Every claim that a rule makes of its own bad examples is put on each statement of a correct program that looks like the
one it was made of, with the names that stand there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import expectations

from torchlint.project.requirements import inline
from torchlint.rule import Claim, Finding, Holds, Level, Observed, Rule, TraceLine
from torchlint.syntax.tree import Source, Span
from torchlint.target import Target, spelled
from torchlint.verify import programs
from torchlint.verify.programs import Program, Statement
from torchlint.verify.verify import verify_findings

NAMES = 4
"""At most so many names of a statement are tried as what a claim is about."""
TWO_NAMES = ("alias-written", "kept-written", "argument-written", "graph-cut", "old-value-read", "loss-dropped")
"""Probes whose `other` is a name of the program, too."""


@dataclass(frozen=True)
class Pattern:
    """A claim, and what the statement that it was made of looks like."""

    code: str
    level: Level
    claims: tuple[Claim, ...]
    looks: tuple[str, ...]
    traced: bool


@lru_cache(maxsize=1)
def patterns() -> tuple[Pattern, ...]:
    """What rules claim of their bad examples, each once."""
    found: dict[Pattern, None] = {}
    for rule in expectations.rules():
        for example in rule.bad:
            text = expectations.stripped(example.source)
            program = Program(text)
            for finding in expectations.lint(text, strict=example.strict).findings:
                statement = program.statement_at(finding.span.line, finding.span.column)
                if finding.code == rule.code and finding.claims and statement is not None:
                    looks = _looks(statement.node)
                    found[Pattern(rule.code, finding.level, finding.claims, looks, len(finding.trace) > 1)] = None
    return tuple(found)


def _looks(node: ast.stmt) -> tuple[str, ...]:
    """The kind of a statement and the last names of what it calls; for one that calls nothing, its operators."""
    calls = [_last(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)]
    if hasattr(node, "body"):
        return (type(node).__name__,)
    inner = calls[:1] or sorted({type(each).__name__ for each in ast.walk(node) if isinstance(each, ast.operator)})
    return (type(node).__name__, *inner)


def _last(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def forced(text: str, rule: Rule | None = None) -> list[Finding]:
    """The false findings on a correct program; of one rule, if one is given."""
    return list(_forced(text, rule))


def _forced(text: str, rule: Rule | None) -> Iterator[Finding]:
    program = Program(text, "correct.py")
    for statement in program.statements:
        looks = _looks(statement.node)
        for pattern in patterns():
            if pattern.looks != looks or (rule is not None and rule.code != pattern.code):
                continue
            for claims in _about(pattern.claims, statement, program):
                node = statement.node
                end = (statement.end_line, 1000) if hasattr(node, "body") else (node.end_lineno, node.end_col_offset)
                span = Span(statement.line, statement.column + 1, end[0] or statement.line, (end[1] or 0) + 1)
                trace = tuple(_trace(program, statement)) if pattern.traced else ()
                finding = Finding("correct.py", span, pattern.code, "forced", pattern.level, "forced", trace)
                yield replace(finding, claims=claims)


def _trace(program: Program, own: Statement) -> Iterator[TraceLine]:
    """The statements around the own one that speak of the same names: what a proof could go through."""
    names = set(programs.places_in(own.node))
    for statement in program.statements:
        simple = not hasattr(statement.node, "body")
        if statement is not own and simple and names & set(programs.places_in(statement.node)):
            yield TraceLine("correct.py", statement.line, statement.column + 1, "forced")


def _about(claims: tuple[Claim, ...], statement: Statement, program: Program) -> Iterator[tuple[Claim, ...]]:
    names = [name for name in programs.places_in(statement.node) if name not in ("torch", "nn", "F")][:NAMES]
    everywhere = [n for s in program.statements for n in programs.assigned(s.node)]
    others = [name for name in dict.fromkeys(everywhere) if name not in names][:NAMES]
    first = claims[0]
    if isinstance(first, Observed) and first.probe == "meaning-changed":  # of the releases that this program means
        oldest = spelled((inline(program.text) or Target()).oldest)
        yield (replace(first, other=" ".join([oldest, *first.other.split()[1:]])),)
        return
    if isinstance(first, Observed) and first.subject and programs.is_place(first.subject) and not _function(first):
        for name in names:
            if first.probe in TWO_NAMES and first.other:
                yield from ((replace(first, subject=name, other=other),) for other in others + names)
            else:
                yield (replace(first, subject=name), *claims[1:])
    elif isinstance(first, Holds) and "_" not in re.sub(r"\w*_\(", "", first.expression):
        for name in names:
            yield (replace(first, expression=_about_name(first.expression, name)),)
    else:
        yield claims


def _function(claim: Observed) -> bool:
    return claim.probe == "given"


def _about_name(expression: str, name: str) -> str:
    """The expression with its first name of the program replaced."""
    tree = ast.parse(expression, mode="eval")
    known = {"torch", "callable", "any", "isinstance", "not", "zip", "step", "size", "p", "t", "bool"}
    own = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id not in known and not n.id.endswith("_")]
    return re.sub(rf"\b{own[0]}\b", name, expression) if own else expression


def verdicts(text: str) -> list[Finding]:
    """The false findings on a correct program, with torch's verdicts."""
    findings = forced(text)
    return verify_findings(Source.parse("correct.py", text), findings) if findings else []


def correct() -> Iterator[tuple[str, str]]:
    """Correct programs: rules' good examples, and their bad ones after the fix, where nothing is found any more."""
    for rule in expectations.rules():
        for number, example in enumerate(rule.good, start=1):
            yield f"{rule.code} good {number}", example.source
        for number, example in enumerate(rule.bad, start=1):
            if example.fixed is not None and not expectations.lint(example.fixed, strict=True).findings:
                yield f"{rule.code} fixed {number}", example.fixed
