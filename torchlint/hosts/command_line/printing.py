"""
How a run of `torchlint check` is told: its findings in the format that was asked for, as they come or at the end, and
notes beside them.

Knows where text goes and when; what it says is the business of `torchlint.report`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import IO, TYPE_CHECKING

from torchlint import report
from torchlint.cache.replay import wants_color
from torchlint.hosts.command_line.options import ALWAYS, AUTO
from torchlint.hosts.command_line.output import complain, write, written_whole
from torchlint.hosts.command_line.placing import COUNTED_IN_FILES, told_in_file
from torchlint.hosts.command_line.progress import Progress
from torchlint.hosts.command_line.request import Request
from torchlint.results import FileOutcome, RunResult

if TYPE_CHECKING:
    from torchlint.finding import Finding

ALWAYS_STREAMED = frozenset({"jsonl"})
"""Formats for programs that read while torchlint writes; the others are streamed where a person looks on."""


class Printer:
    """
    The output of one run.

    Parameters
    ----------
    request
        What was asked for.
    texts
        Texts of files that do not lie on disk; they may come later.

    Attributes
    ----------
    printed
        The report, as far as it went to standard output.
    said
        The notes that were printed.
    """

    def __init__(self, request: Request, texts: dict[str, str]) -> None:
        self.request = request
        self.options = request.options
        self.texts = texts
        self.printed: list[str] = []
        self.said: list[str] = []

    # How it looks, and where it goes.

    @cached_property
    def style(self) -> report.Style:
        """How the report looks where it goes."""
        return self._style(self._usual_output)

    def line(self, path: str, number: int, cell: int | None = None) -> str | None:
        """A line of a file of the run."""
        return self.style.line(path, number, cell)

    def _style(self, to: IO[str]) -> report.Style:
        return report.Style(
            color=self._colored(to),
            trace=self.options.show_trace,
            texts=self.texts,
            quiet=self.options.quiet or self._nothing_to_lint,
            template=self.options.template or "",
            about=self._about,
        )

    @property
    def _nothing_to_lint(self) -> bool:
        """Whether what was named is not there, which is said: a summary of no files would be an all-clear."""
        request = self.request
        return not self.options.stdin and not request.found.files and request.misused

    @property
    def _usual_output(self) -> IO[str]:
        """With --fix, standard output is the fixed program."""
        return sys.stderr if self.options.stdin and self.request.fix else sys.stdout

    def _colored(self, to: IO[str]) -> bool:
        return wants_color(to) if self.options.color == AUTO else self.options.color == ALWAYS

    def _about(self, code: str) -> report.About | None:
        from torchlint.hosts.command_line.rules import about

        return about(code, self.request.settings)

    # As findings come.

    @cached_property
    def streamed(self) -> bool:
        """Whether findings are printed as they come: nothing that is to be done with all of them stands against it."""
        options = self.options
        if self.request.fixing != "no":  # a fix may take away what was said of another file
            return False
        if options.output_file or self.request.fixes_verified or options.diff or options.fix_only or options.add_noqa:
            return False
        if options.write_baseline or options.statistics or not report.streams(self.request.format):
            return False
        return self.request.format in ALWAYS_STREAMED or sys.stdout.isatty()

    def stream(self, findings: Sequence[Finding], progress: Progress | None) -> None:
        """Print what is there already."""
        pieces = list(report.body(self.request.format, findings, self.style))
        if pieces:
            if progress is not None:
                progress.hide()
            write(sys.stdout, pieces)
            self.printed += pieces

    def stream_file(self, outcome: FileOutcome, progress: Progress) -> None:
        """Print what is found in a file."""
        self.stream(self._placed(outcome).report.findings, progress)

    def _placed(self, outcome: FileOutcome) -> FileOutcome:
        """A file's findings at the places that the readers of the report know."""
        return told_in_file(outcome, self.texts) if self.request.format in COUNTED_IN_FILES else outcome

    # At the end.

    def report(self, result: RunResult) -> None:
        """Print the report, or what of it is not printed yet."""
        style = self.style
        outcomes = tuple(map(self._placed, result.outcomes))
        request = self.request
        unsafe, tried = request.unsafe_fixes, request.fixes_verified
        result = replace(result, outcomes=outcomes, unsafe_fixes=unsafe, fixes_tried=tried)
        to = self._usual_output
        numbers = _numbers(result) if self.options.statistics else []
        beside = self.request.format in ("text", "concise")
        rendered = report.closing if numbers and beside else report.render
        if self.streamed and not self.options.stdin:
            pieces = list(report.closing(self.request.format, result, style))
            write(to, pieces, color=style.color)
            self.printed += pieces
        elif self.options.output_file:
            with written_whole(self.options.output_file) as file:
                style = self._style(file)
                write(file, rendered(self.request.format, result, style), color=style.color)
                write(file, numbers if beside else ())
        else:
            self.printed = ["".join(rendered(self.request.format, result, style))]
            write(to, self.printed, color=style.color)
        if numbers and not (self.options.output_file and beside):
            write(to if beside else sys.stderr, numbers)

    # Beside it.

    def note(self, text: str) -> None:
        """A line beside the report, unless only that is wanted."""
        if not self.options.quiet:
            complain(text)
            self.said.append(text)

    def narrate(self, result: RunResult, seconds: float) -> None:
        """What --verbose says: the configurations that held, what the cache answered, and how long it took."""
        request, stdin = self.request, self.options.stdin
        used = {str(request.settings.file)} if request.settings.file else set()
        if not stdin:
            directories = {os.path.dirname(path) for path in request.found.files}
            used |= {str(own.file) for own in map(request.settings_of, directories) if own.file is not None}
        for file in sorted(used):
            complain(f"configuration: {file}")
        if not used:
            complain("configuration: none; the defaults hold")
        if request.store is not None and not stdin:
            complain(
                f"{request.store.answered} of {result.files} files answered by the cache in {request.store.directory}"
            )
        complain(f"{seconds:.2f} s")


def _numbers(result: RunResult) -> list[str]:
    """What --statistics prints: for people, in place of the findings, as in Ruff."""
    from torchlint.hosts.command_line.statistics import table

    return ["\n", *table(result)]
