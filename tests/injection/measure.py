"""
Torch and the linter on every mutant, side by side.

A mutant *breaks* if torch objects to the write when it runs with inputs that require grad. The linter *reports* it
if a finding points at the statement, or has it in its proof: an error is a definite claim, a warning one under the
condition that an input requires grad. A claim that torch does not bear out is a false alarm, unless its proof leads
over a line of the package, in whichever file, that this run did not come by: then it speaks of another path. What the
authors of a file have silenced by `# noqa` is told all the same: the question is what the model knows.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from torchlint.config import Config, Overrides
from torchlint.finding import TraceLine
from torchlint.lint import engine, registry
from torchlint.rule import Finding, Level
from torchlint.syntax.tree import Span, decode

from .subjects import Mutant, Subject, mutants

ROOT = Path(__file__).parents[2]
CLAIMS = ("TLN201", "TLN203", "TLN205", "TLN208", "TLN209")
"""The rules that say that torch will object to an in-place write, at their levels error and warning."""


_FORM = "lines by file"
"""What kept verdicts say; those of another form are asked anew."""


@dataclass(frozen=True)
class Judged:
    """One mutant, and what both sides say: `verdict` is "found", "missed", "silent", "false alarm" or "other path"."""

    subject: Subject
    mutant: Mutant
    breaks: bool
    claim: str
    message: str
    verdict: str


@dataclass
class Measured:
    """All; `unsound` are the Modules that do not run here, `invalid` the mutants that fail for other reasons."""

    judged: list[Judged] = field(default_factory=list)
    unsound: list[tuple[str, str]] = field(default_factory=list)
    subjects: int = 0
    invalid: int = 0


def path_of(subject: Subject, packages: str) -> Path:
    """The file of a Python module, without importing it."""
    stem = Path(packages, *subject.module.split("."))
    return stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")


def measure(subjects: list[Subject], packages: str, seed: int, each: int, jobs: int, kept: Path | None) -> Measured:
    """Run torch (or read what it said before), then the linter."""
    work = []
    for subject in subjects:
        text = decode(path_of(subject, packages).read_bytes()).text
        work.append((subject, mutants(text, subject, seed, each)))
    answers = _torch(work, packages, jobs, kept)
    measured = Measured(subjects=len(subjects))
    tasks = []
    for (subject, _), answer in zip(work, answers, strict=True):
        if not answer["sound"]:
            measured.unsound.append((f"{subject.module}.{subject.name}", answer["message"]))
            continue
        file = subject.file_of(str(path_of(subject, packages)), packages)
        valid = [case for case in answer["mutants"] if _valid(case, file)]
        measured.invalid += len(answer["mutants"]) - len(valid)
        tasks.append((subject, valid, packages))
    with ProcessPoolExecutor(jobs) as pool:
        for judged in pool.map(_judge, tasks):
            measured.judged += judged
    return measured


def _valid(case: dict[str, Any], file: str | None) -> bool:
    """Whether the statement ran, and nothing but autograd objected."""
    grad = case["grad"]
    mutant = case["mutant"]
    assert isinstance(grad, dict)
    assert isinstance(mutant, dict)
    return grad["verdict"] != "fails" and case["plain"] != "fails" and mutant["start"] in grad["lines"].get(file, ())


def _torch(
    work: list[tuple[Subject, list[Mutant]]], packages: str, jobs: int, kept: Path | None
) -> list[dict[str, Any]]:
    keys = [json.dumps([_FORM, asdict(subject), [asdict(mutant) for mutant in some]]) for subject, some in work]
    known: dict[str, dict[str, Any]] = {}
    if kept is not None and kept.exists():
        known = json.loads(kept.read_text(encoding="utf-8"))
    missing = [i for i, key in enumerate(keys) if key not in known]
    parts = [missing[start::jobs] for start in range(jobs)]
    running = []
    for part in parts:
        lines = [
            json.dumps({"subject": asdict(work[i][0]), "mutants": [asdict(each) for each in work[i][1]]}) + "\n"
            for i in part
        ]
        command = [sys.executable, "-m", "tests.injection.oracle", "--packages", packages]
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        running.append((part, lines, process))
    for part, answers in zip(parts, _answers(running), strict=True):
        for i, answer in zip(part, answers, strict=True):
            known[keys[i]] = answer
    if kept is not None:
        kept.write_text(json.dumps(known), encoding="utf-8")
    return [known[key] for key in keys]


def _answers(running: list[tuple[list[int], list[str], subprocess.Popen[str]]]) -> Iterator[list[dict[str, Any]]]:
    texts: dict[int, str] = {}

    def talk(number: int, lines: list[str], process: subprocess.Popen[str]) -> None:
        texts[number] = process.communicate("".join(lines))[0]

    threads = [
        threading.Thread(target=talk, args=(number, lines, process))
        for number, (_, lines, process) in enumerate(running)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(len(running)):
        yield [json.loads(line) for line in texts[number].splitlines()]


def _judge(task: tuple[Subject, list[dict[str, Any]], str]) -> list[Judged]:
    subject, cases, packages = task
    path = path_of(subject, packages)
    text = decode(path.read_bytes()).text
    found = []
    for case in cases:
        mutant = Mutant(**case["mutant"])  # type: ignore[arg-type]
        grad = case["grad"]
        assert isinstance(grad, dict)
        breaks = grad["verdict"] == "breaks"
        claims = [finding for finding in _findings(str(path), mutant.applied(text)) if _concerns(finding, mutant)]
        claims.sort(key=lambda finding: finding.level.rank)
        elsewhere = bool(claims) and any(_passed_by(step, subject, packages, grad["lines"]) for step in claims[0].trace)
        verdict = _verdict(claims[0] if claims else None, breaks, case["plain"] == "breaks", elsewhere)
        claim = f"{claims[0].level.value}[{claims[0].code}] {claims[0].message}" if claims else ""
        found.append(Judged(subject, mutant, breaks, claim, grad["message"], verdict))
    return found


def _verdict(claim: Finding | None, breaks: bool, breaks_plain: bool, elsewhere: bool) -> str:
    if claim is None:
        return "missed" if breaks else "silent"
    if breaks and (breaks_plain or claim.level is not Level.ERROR):
        return "found"
    return "other path" if elsewhere else "false alarm"


def _passed_by(step: TraceLine, subject: Subject, packages: str, lines: dict[str, list[int]]) -> bool:
    """Whether a step of a proof stands on a line of the subject's package that the run did not come by."""
    file = subject.file_of(step.path, packages)
    if file is None or step.line in lines.get(file, ()):
        return False
    return step.line in _statements(Path(packages, file))


@cache
def _statements(path: Path) -> frozenset[int]:
    """
    The first lines of the statements of a file's functions: those that a trace of a run names. What stands outside of
    them ran when the file was imported, before anything was traced.
    """
    simple = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
    functions = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.FunctionDef)]
    return frozenset(node.lineno for function in functions for node in ast.walk(function) if isinstance(node, simple))


_REGISTRY: list[tuple[registry.Registry, registry.Selection]] = []


def _findings(path: str, text: str) -> list[Finding]:
    if not _REGISTRY:
        rules = registry.load((), "")
        _REGISTRY.append((rules, rules.select(Config(), Overrides())))
    report = engine.check_text(path, text, *_REGISTRY[0], noqa=False)
    return [f for f in report.findings if f.code in CLAIMS and f.level in (Level.ERROR, Level.WARNING)]


def _concerns(finding: Finding, mutant: Mutant) -> bool:
    """Whether a finding points at the inserted statement, or has it in its proof."""
    start = (mutant.line, mutant.column + 1)
    end = (mutant.line, mutant.column + 3 + len(mutant.statement))
    spans = [finding.span, *(Span(s.line, s.column, s.end_line, s.end_column) for s in finding.trace)]
    return any(start <= (span.line, span.column) <= end for span in spans)


def report(measured: Measured, show: int) -> str:
    """The figures, and the misses."""
    counts = Counter(each.verdict for each in measured.judged)
    breaking = [each for each in measured.judged if each.breaks]
    harmless = len(measured.judged) - len(breaking)
    definite = sum(each.verdict == "found" and each.claim.startswith("error") for each in breaking)
    conditional = sum(each.verdict == "found" for each in breaking) - definite
    share = (definite + conditional) / len(breaking) if breaking else 0.0
    lines = [
        f"Modules            {measured.subjects - len(measured.unsound)} of {measured.subjects} run here",
        f"mutants            {len(measured.judged)} valid, {measured.invalid} that fail otherwise or are not reached",
        f"breaking           {len(breaking)}",
        f"  reported         {definite + conditional} ({share:.1%}): definite {definite}, conditional {conditional}",
        f"  missed           {counts['missed']}",
        f"harmless           {harmless}",
        f"  false alarms     {counts['false alarm']}",
        f"  other paths      {counts['other path']}",
    ]
    lines += [f"does not run: {name}: {why[:200]}" for name, why in measured.unsound]
    for verdict in ("false alarm", "other path", "missed"):
        for each in [each for each in measured.judged if each.verdict == verdict][: show or None]:
            place = f"{each.subject.module}:{each.mutant.line} {each.subject.name}"
            lines.append(f"{verdict}: {place}: {each.mutant.statement}  {each.claim or each.message[:160]}")
    return "\n".join(lines)


__all__ = ["Judged", "Measured", "measure", "report"]
