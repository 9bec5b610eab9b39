"""
One job in, one outcome out: what a worker does, in this process, in another, or on another machine.

Loads the model and the rules: `run` imports it only when there is something to lint.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from torchlint import config
from torchlint.fixes import writing
from torchlint.lint import engine, fixpoint, notebooks, registry, silencing
from torchlint.project import files as project
from torchlint.record import record
from torchlint.results import FileOutcome, FileReport
from torchlint.rule import Finding
from torchlint.syntax.notebook import Notebook, is_notebook
from torchlint.syntax.tree import NEWLINE, SourceError, decode

Fixing: TypeAlias = Literal["no", "safe", "unsafe", "noqa"]


@record(frozen=True)
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
        Which fixes to apply to its text.
    data
        Its content; read by whoever performs the job if it is None.
    ignored
        Selectors that `per-file-ignores` name for it, from `ignored_in`, for a worker that sees the file elsewhere;
        looked up by whoever performs the job if it is None.
    here
        The directory that paths are relative to, for a worker that may be in another one; None: its own.
    """

    path: str
    settings: config.Config
    overrides: config.Overrides
    fixing: Fixing = "no"
    data: bytes | None = None
    ignored: tuple[str, ...] | None = None
    here: str | None = None


def perform(job: Job) -> FileOutcome:
    """Check, and fix, one file; whatever goes wrong is in the report."""
    with _ONE_AT_A_TIME, _in(job.here) as there:
        outcome = _perform(job)
    if there:
        return outcome
    note = f"{job.here} cannot be seen by every worker: findings that rest on other files may be missing"
    return replace(outcome, notes=(*outcome.notes, note))


@contextmanager
def _in(directory: str | None) -> Iterator[bool]:
    """Work in a directory; whether that was possible."""
    before = os.getcwd()
    if directory is None or directory == before:
        yield True
        return
    try:
        os.chdir(directory)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.chdir(before)


_ONE_AT_A_TIME = threading.Lock()
"""An executor may run several threads in a process; the engine changes limits of the whole process."""


def _perform(job: Job) -> FileOutcome:
    data = job.data
    if data is None:
        try:
            data = Path(job.path).read_bytes()
        except OSError as error:
            return unreadable(job.path, error)
    rules, selection = _asked_for(job)
    exit_on = job.overrides.exit_on or job.settings.exit_on
    unsafe = job.fixing == "unsafe"
    if is_notebook(job.path):
        return _perform_notebook(job, data, exit_on)
    report = engine.check_bytes(job.path, data, rules, selection)
    if job.fixing == "noqa":
        return _silenced(job, data, report, exit_on, lambda text: engine.check_text(job.path, text, rules, selection))
    if job.fixing == "no" or not any(fixpoint.applicable(finding, unsafe=unsafe) for finding in report.findings):
        return FileOutcome(report, exit_on)
    decoded = decode(data)
    fixed = fixpoint.fix(
        decoded, lambda text: engine.check_text(job.path, text, rules, selection), unsafe=unsafe, report=report
    )
    outcome = FileOutcome(fixed.report, exit_on, fixed.applied, notes=fixed.notes)
    if fixed.text == decoded.text:
        return outcome
    diff = unified_diff(job.path, decoded.text, fixed.text)
    return replace(outcome, text=fixed.text, diff=diff, before=report)


def _perform_notebook(job: Job, data: bytes, exit_on: str) -> FileOutcome:
    rules, selection = _asked_for(job)
    unsafe = job.fixing == "unsafe"
    try:
        notebook = Notebook.read(data)
    except SourceError as error:
        return FileOutcome(engine.not_readable(job.path, error), exit_on)
    report = notebooks.check(job.path, notebook, rules, selection)
    if job.fixing == "noqa":
        silenced, changed = notebooks.silence(job.path, notebook, rules, selection)
        return _changed(job, FileOutcome(silenced.report, exit_on, silenced.added), silenced.text, changed, report)
    if job.fixing == "no" or not any(fixpoint.applicable(finding, unsafe=unsafe) for finding in report.findings):
        return FileOutcome(report, exit_on)
    fixed, changed = notebooks.fix(job.path, notebook, rules, selection, unsafe=unsafe)
    return _changed(
        job, FileOutcome(fixed.report, exit_on, fixed.applied, notes=fixed.notes), fixed.text, changed, report
    )


def _changed(
    job: Job, outcome: FileOutcome, text: str, changed: Sequence[tuple[int, str, str]], before: FileReport
) -> FileOutcome:
    """What came of a notebook some cells of which (number, before, after) have changed."""
    if not changed:
        return outcome
    diff = "".join(unified_diff(f"{job.path}:cell {number}", was, now) for number, was, now in changed)
    return replace(outcome, text=text, diff=diff, before=before)


def _silenced(
    job: Job, data: bytes, report: FileReport, exit_on: str, check: Callable[[str], FileReport]
) -> FileOutcome:
    """`--add-noqa` for one file."""
    if not report.followed or not report.findings:
        return FileOutcome(report, exit_on)
    before = decode(data).text
    silenced = silencing.silence(before, report, check)
    outcome = FileOutcome(silenced.report, exit_on, silenced.added)
    if silenced.text == before:
        return outcome
    diff = unified_diff(job.path, before, silenced.text)
    return replace(outcome, text=silenced.text, diff=diff, before=report)


def write(job: Job, outcome: FileOutcome) -> FileOutcome:
    """
    Write a fixed file, in the encoding it had.

    Returns
    -------
    FileOutcome
        The same without text and diff; if the file could not be written, or is no longer what was linted, the findings
        it had.
    """
    assert outcome.text is not None
    assert outcome.before is not None
    try:
        if job.data is None:  # it could not be read before
            raise writing.ChangedError
        writing.replace(job.path, job.data, decode(job.data).encode(outcome.text))
    except writing.ChangedError:
        why = "the fixes were not written: the file was changed while it was checked"
    except OSError as error:
        why = f"the fixes could not be written: {error.strerror or error}"
    else:
        return replace(outcome, text=None, diff="", before=None)
    failure = engine.problem(job.path, registry.INTERNAL_ERROR, why)
    before = outcome.before
    return FileOutcome(replace(before, findings=(failure, *before.findings), failed=True), outcome.exit_on)


def unreadable(path: str, error: OSError) -> FileOutcome:
    """What came of a file that cannot be read."""
    return FileOutcome(engine.internal_error(path, f"cannot be read: {error.strerror or error}"))


def lost(path: str, why: str) -> FileOutcome:
    """What came of a file whose worker was lost, twice."""
    return FileOutcome(engine.internal_error(path, why))


def check_in_host(job: Job, text: str, *, noqa: bool = False) -> tuple[Finding, ...]:
    """
    The findings of one text for a host, which may look after `# noqa` itself; broken plugins among them.

    Raises
    ------
    ConfigError, RegistryError
        as `run.check_files`.
    """
    rules, selection = _asked_for(job)
    report = engine.check_text(job.path, text, rules, selection, noqa=noqa)
    return (*broken_plugins(job.settings), *report.findings)


def ignored_in(path: str, settings: config.Config, overrides: config.Overrides) -> tuple[str, ...]:
    """The selectors that `per-file-ignores` name for a file."""
    layers = ((settings.per_file_ignores, settings.root), (overrides.per_file_ignores, overrides.root))
    return tuple(
        selector
        for ignores, root in layers
        for pattern, selectors in ignores
        if project.matched(path, (pattern,), root)
        for selector in selectors
    )


def checker(job: Job) -> Callable[[str], FileReport]:
    """What lints a text as that of a job's file."""
    rules, asked_for = _asked_for(job)
    return lambda text: engine.check_text(job.path, text, rules, asked_for)


def check_cells(job: Job, notebook: Notebook) -> tuple[Finding, ...]:
    """The same for a notebook."""
    rules, selection = _asked_for(job)
    return (*broken_plugins(job.settings), *notebooks.check(job.path, notebook, rules, selection).findings)


@cache
def selection(settings: config.Config, overrides: config.Overrides) -> registry.Selection:
    """
    Which rules a configuration and a command line ask for.

    Raises
    ------
    ConfigError
        for a selector that stands for no rule.
    RegistryError
        if torchlint's own rules are not sound.
    """
    return _rules(settings).select(settings, overrides)


def complaints(settings: config.Config, overrides: config.Overrides) -> list[str]:
    """What a configuration and a command line name and no plugin, no rule and no option is called."""
    rules = _rules(settings)
    return [*map(str, rules.broken), *rules.complaints(settings, overrides)]


def broken_plugins(settings: config.Config) -> tuple[Finding, ...]:
    """A finding for each plugin that could not be loaded."""
    return tuple(
        engine.problem(plugin.origin, registry.INTERNAL_ERROR, plugin.message) for plugin in _rules(settings).broken
    )


def settle(settings: config.Config) -> None:
    """In a fresh process: load the rules; of garbage there is what `engine` collects after each file."""
    gc.disable()
    _rules(settings)


def unified_diff(path: str, before: str, after: str) -> str:
    """The difference of two texts as `diff -u` prints it."""
    import difflib

    lines: list[str] = []
    for line in difflib.unified_diff(_lines(before), _lines(after), path, path):
        lines.append(line if line.endswith(("\n", "\r")) else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def _lines(text: str) -> list[str]:
    ends = [found.end() for found in NEWLINE.finditer(text)]
    pieces = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    rest = text[ends[-1] if ends else 0 :]
    return [*pieces, rest] if rest else pieces


def _asked_for(job: Job) -> tuple[registry.Registry, registry.Selection]:
    rules = _rules(job.settings)
    ignored = ignored_in(job.path, job.settings, job.overrides) if job.ignored is None else job.ignored
    codes = (code for selector in ignored for code in rules.matching(selector, "per-file-ignores"))
    return rules, selection(job.settings, job.overrides).without(codes)


def _rules(settings: config.Config) -> registry.Registry:
    return registry.load(settings.plugins, str(settings.file))
