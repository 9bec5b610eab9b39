"""
What `torchlint check` does, in order: settings, files, findings, what is left out of them, report, exit status.

Holds no logic of its own: the work is done by `torchlint.run`, `torchlint.report`, `torchlint.verify`; what not every
run needs is imported where it is.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

from torchlint import report
from torchlint.cache import results as cache
from torchlint.cache.replay import wants_color
from torchlint.config import Config, ConfigError, Configurations, near_miss
from torchlint.hosts.command_line.driven import Driver
from torchlint.hosts.command_line.judging import Judging, fixes
from torchlint.hosts.command_line.options import ALIASES, ALWAYS, AUTO, OUTPUT_FORMATS, Options
from torchlint.hosts.command_line.output import complain, write, written_whole
from torchlint.hosts.command_line.placing import COUNTED_IN_FILES, in_file, told_in_file, touched
from torchlint.hosts.command_line.progress import Progress
from torchlint.project import files as project
from torchlint.results import Outcome, Run
from torchlint.run import run

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from torchlint.cache.replay import Asked
    from torchlint.finding import Finding
    from torchlint.project.changes import Changes
    from torchlint.run.baseline import Baseline
    from torchlint.run.job import Fixing
    from torchlint.run.run import Opened

ALWAYS_STREAMED = frozenset({"jsonl"})
"""Formats for programs that read while torchlint writes; the others are streamed where a person looks on."""


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
        self.options = options
        self.asked = asked
        self.started = time.perf_counter()
        self.configurations = configurations(options)
        self.settings = self.configurations.for_directory(Path.cwd())
        self.overrides = options.overrides()
        self.format = _format(options, self.settings)
        self.fix = options.fix_only or _said(options.fix, self.settings.fix)
        self.texts: dict[str, str] = {}
        self.notes: list[str] = []
        self.misused = False
        self.printed: list[str] = []
        self.opened = _executor(options.executor) if options.executor else None

    def status(self) -> int:
        """Do it; the exit status."""
        options = self.options
        if options.show_state or options.show_settings or options.show_files:
            from torchlint.hosts.command_line import showing

            if options.show_state:
                return showing.state(options)
            if options.show_settings:
                return showing.settings(options, self.configurations, self.overrides)
            return showing.files(self.found)
        result = self._stdin() if options.stdin else self._files()
        for note in self.notes:
            self._note(note)
        if options.verbose:
            self._narrate(result)
        if options.diff:
            write(sys.stdout, [result.diff])
            left = sum(finding.fix is not None and not finding.fix.safe for finding in result.findings)
            if not result.diff:
                more = f" ({left} available with --unsafe-fixes)" if left and self.fixing == "safe" else ""
                self._note(f"no fix would change anything{more}")
            changed = bool(result.diff) and not options.exit_zero
            return 2 if result.failed or self.misused else int(changed)
        if options.add_noqa:
            return self._noqa_added(result)
        if options.write_baseline is not None:
            return self._baseline_written(result)
        result = self._without_known(result)
        if options.verify:
            result = self._verified(result)
        if options.fix_only:
            self._note(f"{result.fixed} {'fix' if result.fixed == 1 else 'fixes'} applied")
        else:
            self._report(replace(result, outcomes=tuple(map(self._told, result.outcomes))))
        return self._status(result)

    # The files and what is found in them.

    @cached_property
    def found(self) -> project.Found:
        """The files of the run, with complaints about what cannot be one."""
        found = project.find_files(
            self.options.paths,
            exclude_named=_said(self.options.force_exclude, self.settings.force_exclude),
            overrides=self.overrides,
            configured=self.configurations.for_directory,
        )
        for path in found.missing:
            complain(f"no such file or directory: {path}")
        for path, why in (*found.refused, *found.unreadable):
            complain(f"{path}: {why}")
        for path in found.empty:
            complain(f"no Python files in {path}")
        self.misused |= bool(found.missing or found.refused or found.unreadable)
        return found

    @cached_property
    def store(self) -> cache.Cache | None:
        """Where results are kept; what was found there has taken no time that could be counted."""
        if self.options.no_cache or self.options.statistics:
            return None
        folder = self.options.cache_dir
        if folder is None and self.settings.cache_dir is not None:
            folder = str((self.settings.root or Path()) / self.settings.cache_dir)
        return cache.Cache.of_project(folder)

    @cached_property
    def changes(self) -> Changes | None:
        """What has changed, if only that counts."""
        if self.options.since is None:
            return None
        from torchlint.project import changes

        return changes.since(self.options.since)

    @cached_property
    def baseline(self) -> Baseline | None:
        """What is known, if that does not count."""
        file = self._baseline_file()
        if file is None or self.options.write_baseline is not None or self.options.add_noqa:
            return None
        from torchlint.run.baseline import Baseline

        return Baseline.read(file)

    @property
    def fixing(self) -> Fixing:
        if self.options.add_noqa:
            return "noqa"
        if not (self.fix or self.options.diff):
            return "no"
        return "unsafe" if _said(self.options.unsafe_fixes, self.settings.unsafe_fixes) else "safe"

    def _stdin(self) -> Run:
        name = self.options.stdin_filename or "<stdin>"
        data = sys.stdin.buffer.read()
        result = run.check_data(
            data, name, self.overrides, fixing=self.fixing, configured=self.configurations.for_directory
        )
        changed = result.outcomes[0].text
        self.texts[name] = changed if changed is not None else _decoded(data)
        if (self.fix or self.options.add_noqa) and not self.options.diff:
            write(sys.stdout, [self.texts[name]])
        self.notes += result.outcomes[0].notes
        return result

    def _files(self) -> Run:
        files = self.found.files
        if self.changes is not None:
            files = [path for path in files if self.changes.touches(path)]
        _ = self.baseline  # what is wrong with it is said before anything is done
        with Progress(len(files), shown=not self.options.quiet) as progress:

            def stream(findings: Sequence[Finding], outcome: Outcome | None) -> None:
                if outcome is not None:
                    findings = self._told(self._kept(outcome)[0]).report.findings
                self._stream(findings, progress)

            result = run.check_files(
                files,
                self.overrides,
                fixing="no" if self._fixes_verified else self.fixing,
                write=self.fixing != "no" and not self.options.diff,
                workers=self.options.jobs or self.settings.jobs,
                store=self.store,
                executor=self.opened,
                configured=self.configurations.for_directory,
                progress=progress.advance,
                stream=stream if self._streamed and not self.options.verify else None,
            )
        if self._fixes_verified:
            result = self._fixed(result)
        self.notes += dict.fromkeys(note for outcome in result.outcomes for note in outcome.notes)
        if self.store is not None and self.store.foreign:
            self.notes.append(f"{self.store.foreign} is not torchlint's: no results are kept")
        return result

    # What is left out.

    def _kept(self, outcome: Outcome) -> tuple[Outcome, int, int]:
        """What is to be reported of a file; how many findings are known, and how many elsewhere than what changed."""
        elsewhere = known = 0
        if self.changes is not None:
            lines = self.changes.of(outcome.report.path)
            if lines is not None:
                places = in_file(outcome.report.findings, outcome.report.path, {})
                pairs = zip(outcome.report.findings, places, strict=True)
                findings = tuple(finding for finding, place in pairs if touched(place, lines))
                elsewhere = len(outcome.report.findings) - len(findings)
                outcome = replace(outcome, report=replace(outcome.report, findings=findings))
        if self.baseline is not None:
            outcome, known = self.baseline.without(outcome, self.style.line)
        return outcome, known, elsewhere

    def _without_known(self, result: Run) -> Run:
        if self.changes is None and self.baseline is None:
            return result
        kept = [self._kept(outcome) for outcome in result.outcomes]
        known, elsewhere = sum(each[1] for each in kept), sum(each[2] for each in kept)
        if self.baseline is not None and self.changes is None and not (self.options.select or self.options.ignore):
            gone = self.baseline.gone([] if self.options.stdin else self.found.files)
            if gone:
                found = f"{gone} known finding{'s are' if gone > 1 else ' is'} no longer there"
                self._note(f"{self.baseline.file}: {found}; --write-baseline makes it shorter")
        return replace(result, outcomes=tuple(each[0] for each in kept), known=known, elsewhere=elsewhere)

    @property
    def _fixes_verified(self) -> bool:
        """Whether each fix is held against the program first."""
        return self.options.verify and self.fixing in ("safe", "unsafe") and not self.options.stdin

    @cached_property
    def _driver(self) -> Driver | None:
        return None if self.options.driver is None else Driver(self.options.driver)

    def _fixed(self, result: Run) -> Run:
        """The run with the fixes applied to which torch has no objection."""
        from torchlint.run.job import Job

        def job(path: str) -> Job:
            return Job(path, self._settings_of(os.path.dirname(path)), self.overrides)

        unsafe, quiet = self.fixing == "unsafe", bool(self.options.quiet)
        done = fixes(result, job, self._driver, unsafe=unsafe, quiet=quiet)
        self.misused = self.misused or done is None
        return done or result

    def _verified(self, result: Run) -> Run:
        """The run with torch's verdicts."""
        from torchlint.verify import ServerError, TorchMissing

        streamed = self._streamed and not self.options.stdin
        if streamed:
            self._stream(result.problems, None)
        driver = self._driver
        judging = Judging(result, quiet=self.options.quiet, stream=self._stream_file if streamed else None)
        try:
            if driver is not None:
                return driver.verdicts(result, quiet=bool(self.options.quiet))
            return judging.verdicts(self.texts, self.options.jobs or self.settings.jobs or 1, self.opened)
        except TorchMissing:
            complain("--verify runs programs under torch, which is not installed: pip install 'torchlint[runtime]'")
        except ServerError as error:
            complain(f"--verify: {error}")
        self.misused = True
        return result

    # What is said.

    @cached_property
    def style(self) -> report.Style:
        """How the report looks where it goes."""
        return self._style(self._usual_output)

    def _style(self, to: IO[str]) -> report.Style:
        return report.Style(
            color=self._colored(to),
            trace=self.options.show_trace,
            texts=self.texts,
            quiet=self.options.quiet,
            template=self.options.template or "",
            about=self._about,
        )

    @property
    def _usual_output(self) -> IO[str]:
        """With --fix, standard output is the fixed program."""
        return sys.stderr if self.options.stdin and self.fix else sys.stdout

    def _colored(self, to: IO[str]) -> bool:
        return wants_color(to) if self.options.color == AUTO else self.options.color == ALWAYS

    @cached_property
    def _streamed(self) -> bool:
        """Whether findings are printed as they come: nothing that is to be done with all of them stands against it."""
        options = self.options
        if options.output_file or self._fixes_verified or options.diff or options.fix_only or options.add_noqa:
            return False
        if options.write_baseline or options.statistics or not report.streams(self.format):
            return False
        return self.format in ALWAYS_STREAMED or sys.stdout.isatty()

    def _stream(self, findings: Sequence[Finding], progress: Progress | None) -> None:
        """Print what is there already."""
        pieces = list(report.body(self.format, findings, self.style))
        if pieces:
            if progress is not None:
                progress.hide()
            write(sys.stdout, pieces)
            self.printed += pieces

    def _stream_file(self, outcome: Outcome, progress: Progress) -> None:
        self._stream(self._told(outcome).report.findings, progress)

    def _told(self, outcome: Outcome) -> Outcome:
        """A file's findings at the places that the readers of the report know."""
        return told_in_file(outcome, self.texts) if self.format in COUNTED_IN_FILES else outcome

    def _report(self, result: Run) -> None:
        style = self.style
        result = replace(result, unsafe_fixes=bool(_said(self.options.unsafe_fixes, self.settings.unsafe_fixes)))
        to = self._usual_output
        numbers = _numbers(result) if self.options.statistics else []
        beside = self.format in ("text", "concise")
        rendered = report.closing if numbers and beside else report.render
        if self._streamed and not self.options.stdin:
            pieces = list(report.closing(self.format, result, style))
            write(to, pieces, color=style.color)
            self.printed += pieces
        elif self.options.output_file:
            with written_whole(self.options.output_file) as file:
                style = self._style(file)
                write(file, rendered(self.format, result, style), color=style.color)
                write(file, numbers if beside else ())
        else:
            self.printed = ["".join(rendered(self.format, result, style))]
            write(to, self.printed, color=style.color)
        if numbers and not (self.options.output_file and beside):
            write(to if beside else sys.stderr, numbers)

    def _status(self, result: Run) -> int:
        options = self.options
        status = result.exit_status()
        if options.fix_only and status == 1:
            status = 0
        if options.exit_non_zero_on_fix and result.fixed and status == 0:
            status = 1
        status = 2 if self.misused else 0 if options.exit_zero and status == 1 else status
        self._remember(status)
        return status

    def _remember(self, status: int) -> None:
        """Keep the answer, if it is one that only files decide."""
        options = self.options
        if self.asked is None or options.stdin or self.store is None or self.misused:
            return
        if self.fix or options.verify or options.output_file or options.since or options.verbose:
            return
        from torchlint.cache import record as recording

        also = {os.path.abspath(path) for path in self.configurations.read_beside}
        baseline = self._baseline_file()
        if baseline is not None:
            also.add(os.path.abspath(baseline))
        notes = "".join(f"torchlint: {note}\n" for note in self.said)
        recording.keep(self.asked, self.found, self.store, "".join(self.printed), status, notes, also)

    @cached_property
    def said(self) -> list[str]:
        """The notes that were printed."""
        return []

    def _note(self, text: str) -> None:
        if not self.options.quiet:
            complain(text)
            self.said.append(text)

    def _narrate(self, result: Run) -> None:
        used = {str(self.settings.file)} if self.settings.file else set()
        if not self.options.stdin:
            directories = {os.path.dirname(path) for path in self.found.files}
            used |= {str(own.file) for own in map(self._settings_of, directories) if own.file is not None}
        for file in sorted(used):
            complain(f"configuration: {file}")
        if not used:
            complain("configuration: none; the defaults hold")
        if self.store is not None and not self.options.stdin:
            complain(f"{self.store.answered} of {result.files} files answered by the cache in {self.store.directory}")
        complain(f"{time.perf_counter() - self.started:.2f} s")

    def _settings_of(self, directory: str) -> Config:
        return self.configurations.for_directory(Path(directory))

    def _about(self, code: str) -> report.About | None:
        from torchlint.hosts.command_line.rules import about

        return about(code, self.settings)

    # Comments and baselines.

    def _noqa_added(self, result: Run) -> int:
        files = sum(outcome.fixed > 0 for outcome in result.outcomes)
        noun = "finding" if result.fixed == 1 else "findings"
        said = f"Silenced {result.fixed} {noun} in {files} {'file' if files == 1 else 'files'}."
        complain(said) if self.options.stdin else write(sys.stdout, [] if self.options.quiet else [f"{said}\n"])
        rest = result.findings
        if rest:
            write(sys.stderr, report.body("concise", rest, report.Style(texts=self.texts)))
        return 2 if self.misused else result.exit_status()

    def _baseline_written(self, result: Run) -> int:
        from torchlint.run import baseline

        assert self.options.write_baseline is not None
        file = Path(self.options.write_baseline)
        try:
            before = baseline.Baseline.read(file) if file.exists() else None
        except ConfigError:
            raise ConfigError(f"{file}: is there, and is not a baseline: it is left as it is") from None
        text, count = baseline.written(result, file, self.style.line, self.found.files, before)
        with written_whole(str(file)) as to:
            write(to, [text])
        if not self.options.quiet:
            noun = "finding" if count == 1 else "findings"
            write(sys.stdout, [f"Wrote {count} {noun} to {file}: --baseline {file} leaves them out.\n"])
        failures = [finding for finding in result.findings if finding.code == baseline.NEVER]
        write(sys.stderr, report.body("concise", failures, report.Style()))
        return 2 if result.failed or self.misused else 0

    def _baseline_file(self) -> Path | None:
        if self.options.baseline is not None:
            return Path(self.options.baseline)
        if self.settings.baseline is not None:
            return (self.settings.root or Path()) / self.settings.baseline
        return None


def configurations(options: Options) -> Configurations:
    """
    Where settings come from.

    Raises
    ------
    ConfigError
        if `--config` names no file and is no TOML, or names two files.
    """
    files = [text for text in options.config if os.path.exists(text)]
    inline = [text for text in options.config if text not in files]
    for text in inline:
        if "=" not in text:
            raise ConfigError(f"--config: there is no file {text}")
    if len(files) > 1:
        raise ConfigError(f"--config: {files[0]} and {files[1]}: one file, please; the other may be extended by it")
    if files and options.isolated:
        raise ConfigError("--config FILE and --isolated exclude each other; --config KEY=VALUE may go with it")
    return Configurations(Path(files[0]) if files else None, isolated=options.isolated, inline=inline)


def _format(options: Options, settings: Config) -> str:
    if options.template is not None:
        from torchlint.report import template

        template.check(options.template)
        return "template"
    if options.output_format is not None:
        return options.output_format
    wanted = ALIASES.get(settings.output_format or "text", settings.output_format or "text")
    if wanted not in OUTPUT_FORMATS:
        known = near_miss(wanted, list(OUTPUT_FORMATS)) or f" ({', '.join(OUTPUT_FORMATS)})"
        raise ConfigError(f"{settings.file}: `output-format`: there is no format `{wanted}`{known}")
    return wanted


def _numbers(result: Run) -> list[str]:
    """What --statistics prints: for people, in place of the findings, as in Ruff."""
    from torchlint.hosts.command_line.statistics import table

    return ["\n", *table(result)]


def _said(option: bool | None, setting: bool) -> bool:
    return setting if option is None else option


def _executor(address: str) -> Opened:
    def opened() -> AbstractContextManager[tuple[Executor, int]]:
        from torchlint.run.executors import connected

        return connected(address)

    return opened


def _decoded(data: bytes) -> str:
    from torchlint.syntax.text import SourceError, decode

    try:
        return decode(data).text
    except SourceError:
        return data.decode("utf-8", errors="replace")
