"""A toy model and rules that say what a test wants to hear: each call `torch.name(...)` is an event."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchlint.lint.engine import FileReport, check_text
from torchlint.lint.registry import Registry, Selection
from torchlint.model import events
from torchlint.model.events.trace import Step
from torchlint.rule import Diagnostic, Edit, Fix, Level, Rule
from torchlint.syntax import ir
from torchlint.truth import Truth


def interpret(program: ir.Program, *_: object, **__: object) -> list[events.OpCalled]:
    """An `OpCalled` for each call of a name of torch; `torch.maybe(...)` is MAYBE, `torch.crash()` fails."""
    found: list[events.OpCalled] = []
    for statement in ir.everything(program.body):
        if not isinstance(statement.line, cst.SimpleStatementLine):
            continue
        for call in ir.walk(statement):
            name = _dotted(call.function) if isinstance(call, ir.Call) else ""
            if not name.startswith("torch."):
                continue
            if name == "torch.crash":
                raise ZeroDivisionError("toy model")
            truth = Truth.MAYBE if name == "torch.maybe" else Truth.YES
            place = call.origin
            assert isinstance(place, cst.Call)
            before = [Step(event.node, f"after `{event.name}`") for event in found[-1:]]
            trace = (*before, Step(place, f"`{name}` is called"))
            found.append(
                events.OpCalled(node=place, statement=statement.line, trace=trace, truth=truth, name=name, call=place)
            )
    return found


def _dotted(node: ir.Expression) -> str:
    if isinstance(node, ir.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ir.Name) else "?"


DOCUMENTATION = """
Summary.

## What it does
Nothing.

## Why is this bad?
It is not.

## Cure
None.

## References
None.
"""


class Called(Rule):
    __doc__ = DOCUMENTATION
    code = "PRB001"
    name = "called"
    level = Level.WARNING
    fixes = "both"

    def check(self, event: events.OpCalled) -> Iterator[Diagnostic]:
        short = event.name.removeprefix("torch.")
        level = {"fatal": Level.ERROR, "purist": Level.STRICT}.get(short)
        fix = {
            "old": Fix("call `new`", (Edit(event.call.func, "torch.new"),), safe=True),
            "risky": Fix("call `new`", (Edit(event.call.func, "torch.new"),), safe=False),
            "drop": Fix("remove it", (Edit(event.statement, ""),), safe=True),
            "stranger": Fix("edit another file", (Edit(cst.Name("x"), "y"),), safe=True),
            "ping": Fix("call `pong`", (Edit(event.call.func, "torch.pong"),), safe=True),
            "pong": Fix("call `ping`", (Edit(event.call.func, "torch.ping"),), safe=True),
            "invalid": Fix("break it", (Edit(event.statement, "x = = 1"),), safe=True),
            "umlaut": Fix("write ü and ł", (Edit(event.call.func, "torch.üł"),), safe=True),
            "numpy": Fix("call numpy", (Edit(event.call.func, "np.new"),), safe=True, imports=("import numpy as np",)),
        }.get(short)
        if short not in ("new", "ok"):
            yield Diagnostic(event.node, f"`{short}` is called", event.trace, fix, level)


class Broken(Rule):
    __doc__ = DOCUMENTATION
    code = "PRB002"
    name = "broken"
    level = Level.ERROR

    def check(self, event: events.OpCalled) -> Iterator[Diagnostic]:
        if event.name == "torch.boom":
            raise ValueError("toy\nrule")
        yield from ()


class Doubled(Rule):
    __doc__ = DOCUMENTATION
    code = "PRB003"
    name = "doubled"
    level = Level.SMELL

    def check(self, event: events.Event) -> Iterator[Diagnostic]:
        if isinstance(event, events.OpCalled) and event.name == "torch.twice":
            yield Diagnostic(event.node, "said mildly", level=Level.SMELL)
            yield Diagnostic(event.node, "said plainly", level=Level.ERROR)
            yield Diagnostic(event.node, "said mildly again", level=Level.WARNING)


REGISTRY = Registry((Called(), Broken(), Doubled()))
EVERYTHING = Selection(frozenset(REGISTRY.names))


def lint(text: str, selection: Selection = EVERYTHING) -> FileReport:
    """Lint a text with the toy rules."""
    return check_text("program.py", text, REGISTRY, selection)


def said(report: FileReport) -> list[tuple[int, str, str]]:
    """(line, code, message) of the findings; lines of this file, as in messages of failures, are N."""
    return [
        (finding.span.line, finding.code, re.sub(r"toy\.py, line \d+", "toy.py, line N", finding.message))
        for finding in report.findings
    ]
