"""
The runtime cross-check of a whole run: one job per file, here, in processes, or by an executor.

A file travels with its text and its findings: a worker needs torch and torchlint, and nothing else. Imports no torch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from torchlint.lint import notebooks
from torchlint.lint.engine import parse
from torchlint.lint.registry import DRIVER_CODES
from torchlint.results import FileOutcome, RunResult
from torchlint.rule import Finding, Verdict
from torchlint.run import pool
from torchlint.syntax.cells import Cells
from torchlint.syntax.notebook import Notebook, is_notebook
from torchlint.syntax.text import decode
from torchlint.verify.server import require_torch
from torchlint.verify.verify import verify_findings


@dataclass(frozen=True, slots=True)
class Claims:
    """
    A file whose findings are to be judged.

    Attributes
    ----------
    path, text
        The file.
    findings
        What torchlint says about it.
    timeout, memory_mb
        Limits of each run (see `verify_findings`).
    """

    path: str
    text: str
    findings: tuple[Finding, ...]
    timeout: float
    memory_mb: int


def judged(claims: Claims) -> list[Finding]:
    """
    The findings of a file with torch's verdicts.

    Raises
    ------
    TorchMissing, ServerError
        as `verify_findings`.
    """
    with _ONE_AT_A_TIME:
        source = parse(claims.path, claims.text)
        return verify_findings(source, claims.findings, timeout=claims.timeout, memory_mb=claims.memory_mb)


_ONE_AT_A_TIME = threading.Lock()
"""An executor may run several threads in a process; there is one server in it, which runs one program at a time."""


def verify_run(
    run: RunResult,
    texts: Mapping[str, str],
    *,
    timeout: float,
    memory_mb: int,
    workers: int = 1,
    executor: Callable[[], AbstractContextManager[tuple[Executor, int]]] | None = None,
    begin: Callable[[int, int], None] | None = None,
    done: Callable[[int, FileOutcome], None] | None = None,
) -> RunResult:
    """
    Judge the findings of all files of a run.

    Parameters
    ----------
    run
        Its findings.
    texts
        Texts of files that do not lie on disk.
    timeout, memory_mb
        Limits of each program.
    workers
        Processes, each with a torch of its own.
    executor
        Who works instead; see `run.check_files`.
    begin
        Told before the first program is run how many files and how many findings there are to judge.
    done
        Told of each file once: its place in the run, and what is known of it now. The order is any.

    Raises
    ------
    TorchMissing
        if there is no torch.
    ServerError
        if programs cannot be run.
    """
    own = {item.code for item in DRIVER_CODES}
    jobs: list[tuple[Claims, int]] = []
    joined: dict[int, Cells] = {}
    for index, outcome in enumerate(run.outcomes):
        path = outcome.report.path
        claims = tuple(finding for finding in outcome.report.findings if finding.code not in own)
        if claims and is_notebook(path):
            data = texts[path].encode() if path in texts else Path(path).read_bytes()
            cells = Notebook.read(data).cells
            joined[index] = cells
            moved = tuple(notebooks.in_text(finding, cells) for finding in claims)
            jobs.append((Claims(path, cells.text, moved, timeout, memory_mb), index))
        elif claims:
            text = texts.get(path) or decode(Path(path).read_bytes()).text
            jobs.append((Claims(path, text, claims, timeout, memory_mb), index))
    if begin is not None:
        begin(len(jobs), sum(len(claims.findings) for claims, _ in jobs))
    if done is not None:
        for index in sorted(set(range(len(run.outcomes))) - {index for _, index in jobs}):
            done(index, run.outcomes[index])
    if not jobs:
        return run
    outcomes = list(run.outcomes)
    for job, index, result in _results(jobs, workers, executor):
        if isinstance(result, str):
            verdict = Verdict("inconclusive", result, 0.0)
            result = [replace(finding, verdict=verdict) for finding in job.findings]
        verdicts = iter(result)
        report = outcomes[index].report
        findings = tuple(
            finding if finding.code in own else replace(finding, verdict=_told(next(verdicts), joined.get(index)))
            for finding in report.findings
        )
        outcomes[index] = replace(outcomes[index], report=replace(report, findings=findings))
        if done is not None:
            done(index, outcomes[index])
    return replace(run, outcomes=tuple(outcomes))


def _told(finding: Finding, cells: Cells | None) -> Verdict | None:
    """The verdict on a finding; on one in a notebook, in terms of its cells."""
    verdict = finding.verdict
    if verdict is None or cells is None:
        return verdict
    return replace(verdict, evidence=notebooks.in_cells(verdict.evidence, cells))


def _results(
    jobs: list[tuple[Claims, int]],
    workers: int,
    executor: Callable[[], AbstractContextManager[tuple[Executor, int]]] | None,
) -> Iterator[tuple[Claims, int, list[Finding] | str]]:
    if executor is not None:
        with executor() as (them, width):
            yield from pool.remote(judged, jobs, them, width)
    elif workers > 1 and len(jobs) > 1:
        require_torch()
        yield from pool.local(judged, jobs, min(workers, len(jobs)), 1, _nothing)
    else:
        for claims, index in jobs:
            yield claims, index, judged(claims)


def _nothing() -> None:
    """Nothing is to be made ready: the server starts with the first program."""
