"""
What `--verify` does: torch's verdicts on the findings of a run, with a bar on a terminal, printed as they come.

Runs nothing itself and judges nothing (`torchlint.verify`); knows no other option of the command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from torchlint.hosts.command_line.output import complain
from torchlint.hosts.command_line.progress import Progress
from torchlint.results import FileOutcome, RunResult

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from torchlint.hosts.command_line.driven import Driver
    from torchlint.run.job import Job

SECONDS = 30.0
MEMORY_MB = 4096
"""Limits of each program that is run."""


class Judging:
    """
    The verdicts on a run, file by file.

    Parameters
    ----------
    run
        Its findings.
    quiet
        No bar, and no line about what will be run.
    stream
        Prints the findings of a file; told of each in the order of the run. None: nobody waits for them.
    """

    def __init__(self, run: RunResult, *, quiet: bool, stream: Callable[[FileOutcome, Progress], None] | None) -> None:
        self.run = run
        self.quiet = quiet
        self.stream = stream
        self.waiting: dict[int, FileOutcome] = {}
        self.following = 0
        self.progress = Progress(0, shown=not quiet, label="torch")

    def verdicts(
        self,
        texts: Mapping[str, str],
        workers: int,
        executor: Callable[[], AbstractContextManager[tuple[Executor, int]]] | None,
    ) -> RunResult:
        """
        Run the programs.

        Parameters
        ----------
        texts, workers, executor
            As `torchlint.verify.run.verify_run` takes them.

        Raises
        ------
        TorchMissing, ServerError
            as `verify_run`. The findings that are not judged then are printed without a verdict.
        """
        from torchlint.verify.run import verify_run

        try:
            with self.progress:
                return verify_run(
                    self.run,
                    texts,
                    timeout=SECONDS,
                    memory_mb=MEMORY_MB,
                    workers=workers,
                    executor=executor,
                    begin=self._begin,
                    done=self._done,
                )
        finally:
            self._print(dict(enumerate(self.run.outcomes)) | self.waiting)

    def _begin(self, files: int, findings: int) -> None:
        self.progress.all = findings
        if files and not self.quiet:
            said = f"{findings} finding{'s' if findings > 1 else ''}"
            complain(f"--verify runs the code of {files} file{'s' if files > 1 else ''} under torch, for {said}")

    def _done(self, index: int, outcome: FileOutcome) -> None:
        self.waiting[index] = outcome
        self.progress.advance(sum(finding.verdict is not None for finding in outcome.report.findings))
        self._print(self.waiting)

    def _print(self, known: dict[int, FileOutcome]) -> None:
        while self.stream is not None and self.following in known:
            self.stream(known[self.following], self.progress)
            self.following += 1


def fixes(
    run: RunResult, job: Callable[[str], Job], driver: Driver | None, *, unsafe: bool, quiet: bool
) -> RunResult | None:
    """
    The run with the fixes applied to which torch has no objection; None where no torch could be asked.

    Parameters
    ----------
    job
        The job of a file, by its path.
    driver
        The user's program; None: each file as a script.
    unsafe
        Whether unsafe fixes may be applied, too.
    """
    from torchlint.verify import ServerError, TorchMissing
    from torchlint.verify.fixing import Limits, fix_run, held

    admit = held(Limits(SECONDS, MEMORY_MB)) if driver is None else driver.admit(quiet=quiet)
    try:
        return fix_run(run, job, unsafe=unsafe, admit=admit)
    except TorchMissing:
        complain("--verify runs programs under torch, which is not installed: pip install 'torchlint[runtime]'")
    except ServerError as error:
        complain(f"--verify: {error}")
    return None
