"""
Which findings of a run count, where only what is new does: on lines that have changed, and in no baseline.

Leaves findings out, and makes none.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.hosts.command_line.placing import in_file, touched
from torchlint.hosts.command_line.printing import Printer
from torchlint.hosts.command_line.request import Request
from torchlint.results import FileOutcome, RunResult

if TYPE_CHECKING:
    from torchlint.project.changes import Changes
    from torchlint.run.baseline import Baseline


class Restriction:
    """
    What of a run is to be reported.

    Parameters
    ----------
    request
        What was asked for.
    printer
        Knows the lines of the files, and takes notes.
    """

    def __init__(self, request: Request, printer: Printer) -> None:
        self.request = request
        self.printer = printer

    @cached_property
    def changes(self) -> Changes | None:
        """What has changed, if only that counts."""
        if self.request.options.since is None:
            return None
        from torchlint.project import changes

        return changes.since(self.request.options.since)

    @cached_property
    def baseline(self) -> Baseline | None:
        """What is known, if that does not count."""
        file, options = self.request.baseline_file, self.request.options
        if file is None or options.write_baseline is not None or options.add_noqa:
            return None
        from torchlint.run.baseline import Baseline

        return Baseline.read(file)

    def of_file(self, outcome: FileOutcome) -> tuple[FileOutcome, int, int]:
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
            outcome, known = self.baseline.without(outcome, self.printer.line)
        return outcome, known, elsewhere

    def of_run(self, result: RunResult) -> RunResult:
        """What is to be reported of a run; a note where the baseline knows findings that are gone."""
        if self.changes is None and self.baseline is None:
            return result
        kept = [self.of_file(outcome) for outcome in result.outcomes]
        known, elsewhere = sum(each[1] for each in kept), sum(each[2] for each in kept)
        options = self.request.options
        if self.baseline is not None and self.changes is None and not (options.select or options.ignore):
            gone = self.baseline.gone([] if options.stdin else self.request.found.files)
            if gone:
                found = f"{gone} known finding{'s are' if gone > 1 else ' is'} no longer there"
                self.printer.note(f"{self.baseline.file}: {found}; --write-baseline makes it shorter")
        return replace(result, outcomes=tuple(each[0] for each in kept), known=known, elsewhere=elsewhere)
