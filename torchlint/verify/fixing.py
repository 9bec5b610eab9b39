"""
Fixes held against the program: applied only where a run before and a run after agree.

A fix is admitted if the program ends as before, prints the same, and leaves the same values and gradients. Where the
program raises before, it is held against the same program with every saved tensor that is written kept as a copy
(`torch.autograd.graph.allow_mutation_on_saved_tensors`); an error of another kind leaves nothing to compare with but
what was printed until then. Writes no file by itself: `run.job` does.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from torchlint.lint import fixpoint
from torchlint.results import FileOutcome, RunResult
from torchlint.rule import Finding
from torchlint.run import job as work
from torchlint.run.job import Job
from torchlint.syntax.notebook import is_notebook
from torchlint.syntax.tree import decode
from torchlint.verify.counterfactual import same_results
from torchlint.verify.execute import describe_ending
from torchlint.verify.messages import OVERWRITTEN, message
from torchlint.verify.programs import Program
from torchlint.verify.protocol import Facts, Outcome, Raised, Request, WatchedStatement
from torchlint.verify.server import shared
from torchlint.verify.watches import entry_of

NAMES = 64
"""At most so many variables of the program are compared."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of each run: wall-clock seconds, and megabytes beyond what torch takes."""

    timeout: float
    memory_mb: int


Admit: TypeAlias = Callable[[str, Finding], str]
"""Says of a text and a finding in it why its fix is not to be applied, or ""."""


def fix_run(run: RunResult, job: Callable[[str], Job], *, unsafe: bool, admit: Admit) -> RunResult:
    """
    Apply the fixes of a run that torch does not object to.

    Parameters
    ----------
    run
        What was found, with no fix applied.
    job
        The job of a file, by its path.
    unsafe
        Whether unsafe fixes may be applied, too.
    admit
        Holds a fix against a run: `held`, or `Programs.objection` of `fixing_own`.

    Raises
    ------
    TorchMissing, ServerError
        as `verify_findings`.
    """
    outcomes = [_fixed(outcome, job, unsafe, admit) for outcome in run.outcomes]
    return replace(run, outcomes=tuple(outcomes))


def _fixed(outcome: FileOutcome, job: Callable[[str], Job], unsafe: bool, admit: Admit) -> FileOutcome:
    report = outcome.report
    if not any(fixpoint.applicable(finding, unsafe=unsafe) for finding in report.findings):
        return outcome
    if is_notebook(report.path):
        note = f"{report.path}: fixes of notebooks are not verified: none was applied"
        return replace(outcome, notes=(*outcome.notes, note))
    asked = job(report.path)
    data = asked.data if asked.data is not None else Path(report.path).read_bytes()
    asked = replace(asked, data=data)
    decoded = decode(data)
    fixed = fixpoint.fix(decoded, work.checker(asked), unsafe=unsafe, report=report, admit=admit)
    done = replace(outcome, report=fixed.report, fixed=fixed.applied, notes=(*outcome.notes, *fixed.notes))
    if fixed.text == decoded.text:
        return done
    diff = work.unified_diff(report.path, decoded.text, fixed.text)
    done = replace(done, text=fixed.text, diff=diff, before=report)
    return work.write(asked, done)


def held(limits: Limits) -> Admit:
    """What holds a fix against the file as a script."""
    return partial(objection, limits=limits)


def objection(text: str, finding: Finding, limits: Limits) -> str:
    """
    Why the fix of a finding is not to be applied, or "".

    Raises
    ------
    TorchMissing, ServerError
        as `verify_findings`.
    """
    assert finding.fix is not None
    try:
        program = Program(text, finding.path)
        changed = program.edited(finding.fix.edits)
        names = _variables(program)
    except (SyntaxError, ValueError) as error:
        return f"Python cannot compile the file: {error}"
    own = program.statement_at(finding.span.line, finding.span.column)
    if own is None:
        return "its place holds no statement of the program"
    entry = entry_of(program, own)
    watch = tuple(WatchedStatement(place.line, place.column) for place in dict.fromkeys((own, entry)))
    request = Request(
        text, program.path, watch, observe=True, measure=True, probes=names, timeout=limits.timeout,
        memory_mb=limits.memory_mb,
    )  # fmt: skip
    run = shared().run
    before = run(request)
    if not before.seen or not before.seen[0].started:
        where = f"`{'.'.join((*own.classes, *own.functions))}`" if own.functions else "it"
        how = "" if before.ending == "ended" else f": the program {_ending(before, limits)}"
        called = len(before.seen) > 1 and before.seen[1].started
        way = f"takes another way in {where}" if called and not how else f"does not come to {'it' if called else where}"
        return (
            f"line {own.line} was not reached when the file was run as a script, which {way}{how}; "
            f"a fix is held against that run alone, or with `--with` against one of your own program, where "
            f'`torchlint verify {finding.path}:{finding.span.line} --with "…"` shows the finding'
        )
    after = run(replace(request, text=changed, watches=()))
    if same_error(before.raised, after.raised):
        assert after.raised is not None
        return f"the program raises {message(after.raised)}, with it and without: nothing can be compared"
    if after.ending != "ended":
        return f"with it the program {_ending(after, limits)}"
    if before.ending == "ended":
        return difference(before, after)
    if before.raised is None:
        return f"the program {_ending(before, limits)}: nothing can be compared"
    if OVERWRITTEN in before.raised.message:
        reference = run(replace(request, copies=True))
        if reference.ending == "ended":
            found = difference(reference, after)
            return f"held against the program with what was saved kept as a copy, {found}" if found else ""
        return f"the program {_ending(before, limits)}, and there is nothing to hold the fix against"
    if not after.printed.startswith(before.printed):
        return f"what it prints until {message(before.raised)} is another text"
    return ""


def same_error(before: Raised | None, after: Raised | None) -> bool:
    """Whether both runs ended by one error, whose lines the fix may have moved."""
    return before is not None and after is not None and (before.type, before.message) == (after.type, after.message)


def _ending(outcome: Outcome, limits: Limits) -> str:
    return describe_ending(outcome, timeout=limits.timeout, memory_mb=limits.memory_mb)


def difference(before: Outcome, after: Outcome) -> str:
    """What is not as before, in words, or ""."""
    if _plain(before.printed) != _plain(after.printed):
        old, new = _first_difference(_plain(before.printed), _plain(after.printed))
        return f"it prints {new!r}, and not {old!r}"
    if not same_results(before, after):
        for name, value in (before.gradients or {}).items():
            other = (after.gradients or {}).get(name)
            if _shown(value) != _shown(other):
                return f"`{name}.grad` is {_shown(other)}, and not {_shown(value)}"
        return "the gradients are others"
    for name, old_value in (before.probes or {}).items():
        new_value = (after.probes or {}).get(name, {})
        if not _agree(old_value, new_value):
            return f"`{name}` is {_shown(new_value)} at the end, and not {_shown(old_value)}"
    return ""


def _plain(text: str) -> str:
    """A text without what differs from run to run, or says only how a tensor was made."""
    return re.sub(r"0x[0-9a-f]+|,\s*(grad_fn=<\w+>|requires_grad=True)", "", text)


def _first_difference(one: str, other: str) -> tuple[str, str]:
    pairs = list(zip(one.splitlines(), other.splitlines(), strict=False))
    return next(((a, b) for a, b in pairs if a != b), (one[-60:], other[-60:]))


def _shown(found: Facts | None) -> str:
    return "None" if found is None else str(found.get("shown") or found.get("type") or found.get("error"))


def _agree(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    old, new = one.get("numbers"), other.get("numbers")
    if not isinstance(old, list) or one.get("kind") == "sequence":
        return True
    if not isinstance(new, list) or len(old) != len(new):
        return False
    return all(
        math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(old, new, strict=True)
    )


def _variables(program: Program) -> tuple[str, ...]:
    """The names that the program binds at top level."""
    names = [
        node.id
        for statement in program.statements
        if not statement.functions and not statement.classes
        for node in ast.walk(statement.node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return tuple(dict.fromkeys(names))[:NAMES]
