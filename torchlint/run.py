"""
A run over many files: reads them, spreads them over processes, fixes them, adds up what came of it.

Driver group. Prints nothing; the only module that writes a user's file, and only one it could check.
"""

from __future__ import annotations

import difflib
import gc
import os
import signal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from torchlint import config, engine, fixer, project, registry
from torchlint.engine import FileReport
from torchlint.rule import Finding
from torchlint.source import NEWLINE, decode

POOL_FROM = 20
"""Files from which starting processes pays."""

Fixing: TypeAlias = Literal["no", "safe", "unsafe"]


@dataclass(frozen=True, slots=True)
class Job:
    """
    One file to check, ready to be sent to another process.

    Attributes
    ----------
    path
        The file.
    settings
        The configuration that holds for it.
    overrides
        The command line.
    fixing
        Which fixes to apply.
    write
        Whether to write the fixed file; otherwise it is only shown.
    """

    path: str
    settings: config.Config
    overrides: config.Overrides
    fixing: Fixing = "no"
    write: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What came of one job.

    Attributes
    ----------
    report
        Its findings; after fixing, those that remain.
    exit_on
        The mildest level that makes the exit status 1 for this file.
    fixed
        Fixes applied (or, without writing, that would be).
    diff
        The unified diff, where it was asked for.
    text
        The fixed text where nothing was written and something changed.
    notes
        What people should know beside the findings.
    """

    report: FileReport
    exit_on: str = "strict"
    fixed: int = 0
    diff: str = ""
    text: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """
    What came of all files, sorted by path.

    Attributes
    ----------
    outcomes
        One per file that mentions torch.
    files
        How many files there were in all.
    problems
        Findings that belong to no file: plugins that could not be loaded.
    """

    outcomes: tuple[Outcome, ...]
    files: int
    problems: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, file by file."""
        return (*self.problems, *(finding for outcome in self.outcomes for finding in outcome.report.findings))

    @property
    def held_back(self) -> int:
        """Strict-level findings not shown."""
        return sum(outcome.report.held_back for outcome in self.outcomes)

    @property
    def fixed(self) -> int:
        """Fixes applied."""
        return sum(outcome.fixed for outcome in self.outcomes)

    @property
    def failed(self) -> bool:
        """Whether something inside torchlint, a rule or a plugin went wrong."""
        return bool(self.problems) or any(outcome.report.failed for outcome in self.outcomes)

    @property
    def diff(self) -> str:
        """What fixing would change, file by file."""
        return "".join(outcome.diff for outcome in self.outcomes)

    def exit_status(self) -> int:
        """0 nothing to report, 1 findings, 2 an internal error (see CLI)."""
        if self.failed:
            return 2
        ranks = {level: rank for rank, level in enumerate(config.LEVELS)}
        counted = any(
            finding.level.rank <= ranks[outcome.exit_on]
            for outcome in self.outcomes
            for finding in outcome.report.findings
        )
        return int(counted)


def check_files(
    files: Sequence[str],
    overrides: config.Overrides,
    *,
    fixing: Fixing = "no",
    write: bool = False,
    workers: int | None = None,
) -> Run:
    """
    Lint files, each under the configuration of its directory.

    Parameters
    ----------
    files
        Paths, as from `project.find_files`.
    overrides
        What the command line says on top.
    fixing, write
        Which fixes to apply, and whether to write them.
    workers
        Processes; by default one per core, and none at all for fewer than `POOL_FROM` files that mention torch.

    Raises
    ------
    ConfigError
        before anything is checked, if a configuration or a selector is wrong.
    RegistryError
        if torchlint's own rules are not sound.
    """
    sized: list[tuple[int, Job]] = []
    problems: dict[str, Finding] = {}
    for path in files:
        settings = config.for_directory(Path(path).parent)
        _selection(settings, overrides)
        problems.update((str(item), _problem(item)) for item in _rules(settings).broken)
        size = _size_if_relevant(path)
        if size is not None:
            sized.append((size, Job(path, settings, overrides, fixing, write)))
    # the largest first, so that no process is left alone with one at the end
    jobs = [job for _, job in sorted(sized, key=lambda pair: -pair[0])]
    workers = workers or os.cpu_count() or 1
    outcomes = _in_processes(jobs, workers) if workers > 1 and len(jobs) >= POOL_FROM else map(perform, jobs)
    return Run(tuple(sorted(outcomes, key=lambda item: item.report.path)), len(files), tuple(problems.values()))


def check_data(data: bytes, path: str, overrides: config.Overrides, *, fixing: Fixing = "no") -> Run:
    """Lint one file that does not come from disk, under the configuration of the directory `path` names."""
    settings = config.for_directory(Path(path).parent)
    _selection(settings, overrides)
    outcome = _perform_on(Job(path, settings, overrides, fixing), data)
    return Run((outcome,), 1, tuple(map(_problem, _rules(settings).broken)))


def perform(job: Job) -> Outcome:
    """Check, and fix, one file; whatever goes wrong is in the report."""
    try:
        data = Path(job.path).read_bytes()
    except OSError as error:
        return Outcome(engine.internal_error(job.path, f"cannot be read: {error.strerror or error}"))
    return _perform_on(job, data)


def check_in_host(job: Job, text: str) -> tuple[Finding, ...]:
    """
    The findings of one text for a host that looks after `# noqa` itself; broken plugins among them.

    Raises
    ------
    ConfigError, RegistryError
        as `check_files`.
    """
    rules, selection = _asked_for(job)
    report = engine.check_text(job.path, text, rules, selection, noqa=False)
    return (*map(_problem, rules.broken), *report.findings)


def _asked_for(job: Job) -> tuple[registry.Registry, registry.Selection]:
    rules = _rules(job.settings)
    return rules, _selection(job.settings, job.overrides).without(_ignored_here(job, rules))


def _perform_on(job: Job, data: bytes) -> Outcome:
    rules, selection = _asked_for(job)
    report = engine.check_bytes(job.path, data, rules, selection)
    exit_on = job.overrides.exit_on or job.settings.exit_on
    unsafe = job.fixing == "unsafe"
    if job.fixing == "no" or not any(fixer.applicable(finding, unsafe=unsafe) for finding in report.findings):
        return Outcome(report, exit_on)
    decoded = decode(data)
    fixed = fixer.fix(
        decoded, lambda text: engine.check_text(job.path, text, rules, selection), unsafe=unsafe, report=report
    )
    outcome = Outcome(fixed.report, exit_on, fixed.applied, notes=fixed.notes)
    if fixed.text == decoded.text:
        return outcome
    if not job.write:
        return replace(outcome, text=fixed.text, diff=unified_diff(job.path, decoded.text, fixed.text))
    try:
        Path(job.path).write_bytes(decoded.encode(fixed.text))
    except OSError as error:
        why = f"the fixes could not be written: {error.strerror or error}"
        failure = engine.problem(job.path, registry.INTERNAL_ERROR, why)
        return Outcome(replace(report, findings=(failure, *report.findings), failed=True), exit_on)
    return outcome


def unified_diff(path: str, before: str, after: str) -> str:
    """The difference of two texts as `diff -u` prints it."""
    lines: list[str] = []
    for line in difflib.unified_diff(_lines(before), _lines(after), path, path):
        lines.append(line if line.endswith(("\n", "\r")) else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def _lines(text: str) -> list[str]:
    ends = [found.end() for found in NEWLINE.finditer(text)]
    pieces = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    rest = text[ends[-1] if ends else 0 :]
    return [*pieces, rest] if rest else pieces


def _size_if_relevant(path: str) -> int | None:
    """The size of a file that mentions torch, or that cannot be read; None for one that is no concern of ours."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return 0
    return len(data) if engine.NEEDLE in data else None


def _in_processes(jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    def processes(number: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(number, initializer=_settle, initargs=(jobs[0].settings,))

    lost: list[Job] = []
    pool = processes(min(workers, len(jobs)))
    try:
        futures = [(job, pool.submit(perform, job)) for job in jobs]
        for job, future in futures:
            try:
                yield future.result()
            except BrokenProcessPool:
                lost.append(job)
        if lost:  # one of these took its process with it, and the others down with the pool
            pool = processes(1)
        for job in lost:
            try:
                yield pool.submit(perform, job).result()
            except BrokenProcessPool:
                yield Outcome(engine.internal_error(job.path, "the process that checked this file died"))
                pool = processes(1)
    finally:  # after Ctrl-C nobody waits for files that have not been begun
        pool.shutdown(cancel_futures=True)


def _settle(settings: config.Config) -> None:
    """In a fresh process: load the rules, let the collector never look at them again, leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _rules(settings)
    gc.collect()
    gc.freeze()


def _rules(settings: config.Config) -> registry.Registry:
    return registry.load(settings.plugins, str(settings.file))


@cache
def _selection(settings: config.Config, overrides: config.Overrides) -> registry.Selection:
    rules = _rules(settings)
    for pattern, selectors in settings.per_file_ignores:
        for selector in selectors:
            rules.matching(selector, f"{settings.file}: per-file-ignores of {pattern}")
    return rules.select(settings, overrides)


def _ignored_here(job: Job, rules: registry.Registry) -> Iterable[str]:
    for pattern, selectors in job.settings.per_file_ignores:
        if project.matched(job.path, (pattern,), job.settings.root):
            for selector in selectors:
                yield from rules.matching(selector, pattern)


def _problem(plugin: registry.BrokenPlugin) -> Finding:
    return engine.problem(plugin.origin, registry.INTERNAL_ERROR, f"no rules from it: {plugin.reason}")
