"""
What `torchlint check` does, in order: files, findings, what is left out of them, verdicts, report, exit status.

Holds no logic of its own: the work is done by `torchlint.run` and `torchlint.verify`, and told by `printing`; what not
every run needs is imported where it is.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.hosts.command_line.driven import Driver
from torchlint.hosts.command_line.judging import Judging, fixes
from torchlint.hosts.command_line.options import Options
from torchlint.hosts.command_line.output import complain, write
from torchlint.hosts.command_line.printing import Printer
from torchlint.hosts.command_line.progress import Progress
from torchlint.hosts.command_line.request import Request
from torchlint.hosts.command_line.restriction import Restriction
from torchlint.results import FileOutcome, RunResult
from torchlint.run import copies, run

if TYPE_CHECKING:
    from torchlint.cache.replay import Asked
    from torchlint.finding import Finding


class Check:
    """
    One run of the command.

    Parameters
    ----------
    options
        What was asked for.
    asked
        The question as `replay` knows it, if the answer may be kept.

    Raises
    ------
    ConfigError
        if a configuration, or what an option names, is wrong.
    """

    def __init__(self, options: Options, asked: Asked | None) -> None:
        self.started = time.perf_counter()
        self.options = options
        self.asked = asked
        self.request = Request(options)
        self.texts: dict[str, str] = {}
        self.printer = Printer(self.request, self.texts)
        self.restriction = Restriction(self.request, self.printer)

    def status(self) -> int:
        """Do it; the exit status."""
        options, request = self.options, self.request
        if options.show_state or options.show_settings or options.show_files:
            from torchlint.hosts.command_line import showing

            if options.show_state:
                return showing.state(options)
            if options.show_settings:
                return showing.settings(options, request.configurations, request.overrides)
            return showing.files(request.found)
        result = self._stdin() if options.stdin else self._files()
        if options.verbose:
            self.printer.narrate(result, time.perf_counter() - self.started)
        if options.diff:
            return self._shown(result)
        if options.add_noqa:
            from torchlint.hosts.command_line import adopting

            adopting.comments_written(result, self.printer)
            return 2 if request.misused else result.exit_status()
        if options.write_baseline is not None:
            from torchlint.hosts.command_line import adopting

            adopting.write_baseline(result, options.write_baseline, self.printer)
            return 2 if result.failed or request.misused else 0
        result = copies.told_once(self.restriction.of_run(result), self.printer.line)
        if options.verify:
            result = self._verified(result)
        if options.fix_only:
            self.printer.note(f"{result.fixed} {'fix' if result.fixed == 1 else 'fixes'} applied")
        else:
            self.printer.report(result)
        return self._status(result)

    # What is found.

    def _stdin(self) -> RunResult:
        request, options = self.request, self.options
        name = options.stdin_filename or "<stdin>"
        data = sys.stdin.buffer.read()
        result = run.check_data(
            data, name, request.overrides, fixing=request.fixing, configured=request.configurations.for_directory
        )
        changed = result.outcomes[0].text
        self.texts[name] = changed if changed is not None else _decoded(data)
        if (request.fix or options.add_noqa) and not options.diff:
            write(sys.stdout, [self.texts[name]])
        for note in result.notes:
            self.printer.note(note)
        return result

    def _files(self) -> RunResult:
        request, restriction = self.request, self.restriction
        files = request.found.files
        if restriction.changes is not None:
            files = [path for path in files if restriction.changes.touches(path)]
        _ = restriction.baseline  # what is wrong with it is said before anything is done
        told = copies.Copies(self.printer.line)
        with Progress(len(files), shown=not self.options.quiet) as progress:

            def stream(findings: Sequence[Finding], outcome: FileOutcome | None) -> None:
                if outcome is None:
                    self.printer.stream(findings, progress)
                else:
                    self.printer.stream_file(told.without(restriction.of_file(outcome)[0]), progress)

            result = run.check_files(
                files,
                request.overrides,
                fixing="no" if request.fixes_verified else request.fixing,
                write=request.fixing != "no" and not self.options.diff,
                workers=request.workers,
                store=request.store,
                executor=request.executor,
                configured=request.configurations.for_directory,
                progress=progress.advance,
                stream=stream if self.printer.streamed and not self.options.verify else None,
            )
        if told.named:  # what was told then is printed already
            self.printer.note(copies.counted(told))
        if request.fixes_verified:
            result = self._fixed(result)
        for note in result.notes:
            self.printer.note(note)
        if request.store is not None and request.store.foreign:
            self.printer.note(f"{request.store.foreign} is not torchlint's: no results are kept")
        return result

    # What torch says of it.

    @cached_property
    def _driver(self) -> Driver | None:
        return None if self.options.driver is None else Driver(self.options.driver)

    def _fixed(self, result: RunResult) -> RunResult:
        """The run with the fixes applied to which torch has no objection."""
        from torchlint.run.job import Job

        request = self.request

        def job(path: str) -> Job:
            return Job(path, request.settings_of(os.path.dirname(path)), request.overrides)

        unsafe, quiet = request.fixing == "unsafe", bool(self.options.quiet)
        done = fixes(result, job, self._driver, unsafe=unsafe, quiet=quiet)
        request.misused = request.misused or done is None
        return done or result

    def _verified(self, result: RunResult) -> RunResult:
        """The run with torch's verdicts."""
        from torchlint.verify import ServerError, TorchMissing

        streamed = self.printer.streamed and not self.options.stdin
        if streamed:
            self.printer.stream(result.problems, None)
        driver = self._driver
        judging = Judging(result, quiet=self.options.quiet, stream=self.printer.stream_file if streamed else None)
        try:
            if driver is not None:
                return driver.verdicts(result, quiet=bool(self.options.quiet))
            return judging.verdicts(self.texts, self.request.workers or 1, self.request.executor)
        except TorchMissing:
            complain("--verify runs programs under torch, which is not installed: pip install 'torchlint[runtime]'")
        except ServerError as error:
            complain(f"--verify: {error}")
        self.request.misused = True
        return result

    # How it ends.

    def _shown(self, result: RunResult) -> int:
        """Print what fixes would change; the exit status."""
        write(sys.stdout, [result.diff])
        left = sum(finding.fix is not None and not finding.fix.safe for finding in result.findings)
        if not result.diff:
            more = f" ({left} available with --unsafe-fixes)" if left and self.request.fixing == "safe" else ""
            self.printer.note(f"no fix would change anything{more}")
        changed = bool(result.diff) and not self.options.exit_zero
        return 2 if result.failed or self.request.misused else int(changed)

    def _status(self, result: RunResult) -> int:
        options = self.options
        status = result.exit_status()
        if options.fix_only and status == 1:
            status = 0
        if options.exit_non_zero_on_fix and result.fixed and status == 0:
            status = 1
        status = 2 if self.request.misused else 0 if options.exit_zero and status == 1 else status
        self._remember(status)
        return status

    def _remember(self, status: int) -> None:
        """Keep the answer, if it is one that only files decide."""
        options, request = self.options, self.request
        if self.asked is None or options.stdin or request.store is None or request.misused:
            return
        if request.fix or options.verify or options.output_file or options.since or options.verbose:
            return
        from torchlint.cache import record as recording

        also = {os.path.abspath(path) for path in request.configurations.read_beside}
        if request.baseline_file is not None:
            also.add(os.path.abspath(request.baseline_file))
        notes = "".join(f"torchlint: {note}\n" for note in self.printer.said)
        recording.keep(self.asked, request.found, request.store, "".join(self.printer.printed), status, notes, also)


def _decoded(data: bytes) -> str:
    from torchlint.syntax.text import SourceError, decode

    try:
        return decode(data).text
    except SourceError:
        return data.decode("utf-8", errors="replace")
