"""
A run over many files: asks the cache, has the rest linted, writes fixes, adds up what came of it.

Prints nothing; the only module that writes a user's file, and only one it could check. Imports neither
libcst nor the rules (`work` does) unless there is something to lint: a run in which nothing changed needs neither.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from torchlint import config
from torchlint.results import NEEDLE, FileOutcome, FileReport, RunResult, digest

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from torchlint.cache.results import Cache, Stamp
    from torchlint.finding import Finding
    from torchlint.run.job import Fixing, Job

POOL_FROM = 20
"""Files that mention torch from which starting processes pays."""
FEW = 10 * POOL_FROM
"""Files of all kinds from which it does."""
IN_FLIGHT = 4
"""Jobs per worker that are handed out at a time: enough that none waits, few enough that files are streamed."""

Opened: TypeAlias = "Callable[[], AbstractContextManager[tuple[Executor, int]]]"
"""Opens somebody else's executor; the number is how many jobs it works on at a time."""


@dataclass(slots=True)
class _File:
    """A file of a run that the cache does not answer for."""

    path: str
    settings: config.Config
    size: int = 0
    stamp: Stamp | None = None
    key: int = 0
    digest: str = ""


def check_files(
    files: Sequence[str],
    overrides: config.Overrides,
    *,
    fixing: Fixing = "no",
    write: bool = False,
    workers: int | None = None,
    store: Cache | None = None,
    executor: Opened | None = None,
    configured: Callable[[Path], config.Config] = config.for_directory,
    progress: Callable[[int], None] | None = None,
    stream: Callable[[Sequence[Finding], FileOutcome | None], None] | None = None,
) -> RunResult:
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
    store
        Where results are kept between runs. Files that have fixes to apply are linted again.
    executor
        Who works instead of processes of this machine.
    configured
        The configuration of a directory.
    progress
        Is told how many more files are done.
    stream
        Is told findings as soon as they are known and in the order of the result: first the problems of the run, with
        no outcome, then those of each outcome. Files are then taken in that order, and not the largest first. Without
        it, files that rest on one to which fixes were written are linted once more.

    Raises
    ------
    ConfigError
        before anything is checked, if a configuration or a selector is wrong.
    RegistryError
        if torchlint's own rules are not sound.
    """
    settings: dict[str, config.Config] = {}
    pending: list[_File] = []
    for path in files:
        directory = os.path.dirname(path)
        if directory not in settings:
            settings[directory] = configured(Path(directory))
        pending.append(_File(path, settings[directory]))
    outcomes = _Ordered(files, stream) if stream is not None else _Outcomes()
    problems: tuple[Finding, ...] = ()
    answered: list[_File] = []
    if store is not None:
        known = store.reports([(each.path, each.settings, overrides) for each in pending])
        rest: list[_File] = []
        for each, (report, stamp, key) in zip(pending, known, strict=True):
            if report is None or (fixing != "no" and _to_be_fixed(report, fixing)):
                each.stamp, each.key = stamp, key
                rest.append(each)
            else:
                answered.append(each)
                outcomes.add(FileOutcome(report, overrides.exit_on or each.settings.exit_on))
        if progress is not None:
            progress(len(pending) - len(rest))
        pending = rest
    if pending:
        run = _Linting(overrides, fixing, write, workers or os.cpu_count() or 1, store, executor)
        problems = run.prepare(each.settings for each in pending)
        if stream is not None:
            stream(problems, None)
            outcomes.release()
        for outcome in run.outcomes(pending, in_order=stream is not None):
            if progress is not None:
                progress(1)
            outcomes.add(outcome)
    elif executor is not None:  # a wrong address is wrong though nothing is to be done there today
        with executor():
            pass
    outcomes.release()
    done = outcomes.known
    if write and fixing != "no" and stream is None and any(each.fixed for each in done):
        stale = _resting_on_fixed(done)
        if store is not None and answered:
            now = store.reports([(each.path, each.settings, overrides) for each in answered])
            stale += [each.path for each, (report, _, _) in zip(answered, now, strict=True) if report is None]
        if stale:
            again = check_files(stale, overrides, workers=workers, executor=executor, configured=configured)
            reports = {each.report.path: each.report for each in again.outcomes}
            done = [replace(each, report=reports.get(each.report.path, each.report)) for each in done]
    return RunResult(tuple(sorted(done, key=lambda item: item.report.path)), len(files), problems)


def _resting_on_fixed(outcomes: Sequence[FileOutcome]) -> list[str]:
    """The files of which something was said that rests on another file as it was before it was fixed."""
    real = cache(os.path.realpath)  # many files rest on the same ones
    changed = {real(each.report.path) for each in outcomes if each.fixed}
    stale = []
    for each in outcomes:
        others = changed - {real(each.report.path)}
        if any(real(depended.path) in others for depended in each.report.depends):
            stale.append(each.report.path)
    return stale


class _Outcomes:
    """What has come of files so far, without those that do not concern torchlint."""

    def __init__(self) -> None:
        self.known: list[FileOutcome] = []

    def add(self, outcome: FileOutcome) -> None:
        """One more."""
        if outcome.report.mentions_torch:
            self.known.append(outcome)

    def release(self) -> None:
        """Whoever waits for some may have those whose turn it is."""


class _Ordered(_Outcomes):
    """Passes each on when all before it are known."""

    def __init__(self, files: Iterable[str], stream: Callable[[Sequence[Finding], FileOutcome | None], None]) -> None:
        super().__init__()
        self.stream = stream
        self.waiting: dict[str, FileOutcome] = {}
        self.order = sorted(files, reverse=True)
        self.begun = False

    def add(self, outcome: FileOutcome) -> None:
        super().add(outcome)
        self.waiting[outcome.report.path] = outcome
        if self.begun:
            self.release()

    def release(self) -> None:
        self.begun = True
        while self.order and (outcome := self.waiting.pop(self.order[-1], None)) is not None:
            self.order.pop()
            if outcome.report.mentions_torch:
                self.stream(outcome.report.findings, outcome)


def _to_be_fixed(report: FileReport, fixing: Fixing) -> bool:
    if fixing == "noqa":
        return bool(report.findings)
    return any(finding.fix for finding in report.findings)


def check_data(
    data: bytes,
    path: str,
    overrides: config.Overrides,
    *,
    fixing: Fixing = "no",
    configured: Callable[[Path], config.Config] = config.for_directory,
) -> RunResult:
    """Lint one file that does not come from disk, under the configuration of the directory `path` names."""
    from torchlint.run import job as work

    settings = configured(Path(path).parent)
    run = _Linting(overrides, fixing, False, 1, None, None)
    problems = run.prepare((settings,))
    job = work.Job(path, settings, overrides, fixing, data)
    return RunResult(tuple(run.finished((job, _File(path, settings)))), 1, problems)


class _Linting:
    """The files of a run that have to be linted."""

    def __init__(
        self,
        overrides: config.Overrides,
        fixing: Fixing,
        write: bool,
        workers: int,
        store: Cache | None,
        executor: Opened | None,
    ) -> None:
        self.overrides = overrides
        self.fixing: Fixing = fixing
        self.write = write
        self.workers = workers
        self.store = store
        self.executor = executor

    def prepare(self, settings: Iterable[config.Config]) -> tuple[Finding, ...]:
        """Load the rules and see whether all selectors stand for one; what is wrong with the plugins."""
        from torchlint.run import job as work

        problems: dict[tuple[str, str], Finding] = {}
        for each in dict.fromkeys(settings):
            work.selection(each, self.overrides)
            problems.update(((item.path, item.message), item) for item in work.broken_plugins(each))
        if problems:  # what a plugin that is mended would find may not be in the cache as if it had found nothing
            self.store = None
        return tuple(problems.values())

    def outcomes(self, files: Sequence[_File], *, in_order: bool = False) -> Iterator[FileOutcome]:
        """What comes of each, in no particular order; `in_order` asks for the first ones first all the same."""
        # the largest first, so that no process is left alone with one at the end
        ordered = sorted(_sized(files), key=(lambda each: each.path) if in_order else (lambda each: -each.size))
        jobs = self._jobs(ordered)
        first: list[tuple[Job, _File]] = []
        concerned = 0
        for job, each in islice(jobs, FEW):
            first.append((job, each))
            concerned += NEEDLE in (job.data or NEEDLE)
            if concerned == POOL_FROM:
                break
        many = concerned == POOL_FROM or len(first) == FEW
        yield from self.finished(*first, rest=jobs, many=many)
        if self.store is not None:
            self.store.flush()

    def finished(
        self, *first: tuple[Job, _File], rest: Iterable[tuple[Job, _File]] = (), many: bool = False
    ) -> Iterator[FileOutcome]:
        """What comes of some jobs, and of others whose number nobody needs to know; whether they are many."""
        from torchlint.run import job as work
        from torchlint.run import watched

        jobs = chain(first, rest)
        if self.executor is not None and first:
            from torchlint.run import pool

            with self.executor() as (executor, width):
                yield from self._finished(pool.remote(work.perform, jobs, executor, width * IN_FLIGHT))
        elif first and ((self.workers > 1 and many) or not watched.POSSIBLE):
            from torchlint.run import pool

            if many and watched.POSSIBLE:
                import libcst  # noqa: F401  of so many files some need it: loaded here, the forked processes have it

            width = self.workers if many else 1
            begin = partial(work.settle, first[0][0].settings)
            yield from self._finished(pool.local(work.perform, jobs, width, IN_FLIGHT, begin))
        else:
            yield from self._finished(watched.one_by_one(work.perform, jobs))

    def _jobs(self, files: Iterable[_File]) -> Iterator[tuple[Job, _File]]:
        """The files, read one by one."""
        from torchlint.run.job import Job, ignored_in

        here = os.getcwd() if self.executor is not None else None
        for each in files:
            data: bytes | None = None
            try:
                data = Path(each.path).read_bytes()
            except OSError:  # whoever performs the job says so
                pass
            else:
                if self.store is not None:
                    each.digest = digest(data)
            ignored = ignored_in(each.path, each.settings, self.overrides)
            yield Job(each.path, each.settings, self.overrides, self.fixing, data, ignored, here), each

    def _finished(self, done: Iterable[tuple[Job, _File, FileOutcome | str]]) -> Iterator[FileOutcome]:
        from torchlint.run import job as work

        for job, each, outcome in done:
            if isinstance(outcome, str):
                outcome = work.lost(job.path, outcome)
            changed = outcome.text is not None
            whole = not (changed or outcome.fixed or outcome.notes)
            if self.store is not None and each.stamp is not None and each.digest and whole:
                self.store.keep(each.path, each.key, each.stamp, each.digest, outcome.report)
            if changed and self.write:
                outcome = work.write(job, outcome)
            yield outcome


def _sized(files: Iterable[_File]) -> Iterator[_File]:
    for each in files:
        if each.stamp is not None:
            each.size = each.stamp.size
        else:
            try:
                each.size = os.stat(each.path).st_size
            except OSError:
                each.size = 0
        yield each
