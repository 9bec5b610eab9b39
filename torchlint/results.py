"""
What came of a file, and of a run.

Only data: imports neither libcst nor the rules: a run whose results are all in the cache needs neither.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from torchlint import config
from torchlint.finding import Finding
from torchlint.record import record

NEEDLE = b"torch"
"""A file without it cannot concern torchlint, as long as it is Python at all."""

PARSE, MODEL, PLACES = "(parse)", "(model)", "(places)"
"""Keys of `FileReport.seconds` for what is not a rule's time."""


def digest(data: bytes) -> str:
    """What stands for the content of a file: SHA-256, in hexadecimal."""
    import hashlib  # a run that finds everything unchanged computes none

    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Dependency:
    """
    A file that a result rests on.

    Attributes
    ----------
    path
        The file.
    digest
        SHA-256 of its content, in hexadecimal; "" if there was nothing of that name, which may matter as much.
    """

    path: str
    digest: str

    def __reduce__(self) -> tuple[type[Dependency], tuple[str, str]]:
        """A file may rest on hundreds, and each goes from process to process: in half of the time."""
        return Dependency, (self.path, self.digest)

    def holds(self) -> bool:
        """Whether the file is still as it was."""
        if not self.digest:
            return not os.path.exists(self.path)
        try:
            return digest(Path(self.path).read_bytes()) == self.digest
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class FileReport:
    """
    What came of one file.

    Attributes
    ----------
    path
        As shown to the user.
    findings
        Sorted by place.
    held_back
        Strict-level findings that are not shown, as many as were met: not all functions are followed without --strict.
    suppressed
        Findings silenced by comments.
    failed
        Something inside torchlint or a rule went wrong (TLN000).
    followed
        The whole file was read and interpreted.
    cut
        Up to where the file was followed as a script, where it is longer than what is followed: the line, and in a
        notebook the cell; else zeros.
    depends
        The other files of its project that the findings rest on.
    mentions_torch
        Whether the file concerns torchlint at all.
    seconds
        Time per rule code, and under `PARSE` (where a file had to be followed on its tree), `MODEL`, and `PLACES`
        (line numbers, fixes and comments of findings).
    """

    path: str
    findings: tuple[Finding, ...] = ()
    held_back: int = 0
    suppressed: int = 0
    failed: bool = False
    followed: bool = True
    cut: tuple[int, int] = (0, 0)
    depends: tuple[Dependency, ...] = ()
    mentions_torch: bool = True
    seconds: Mapping[str, float] = field(default_factory=dict)


@record(frozen=True)
class FileOutcome:
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
    before
        What was found before fixing, where `text` is something.
    notes
        What people should know beside the findings.
    """

    report: FileReport
    exit_on: str = "warning"
    fixed: int = 0
    diff: str = ""
    text: str | None = None
    before: FileReport | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunResult:
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
    known
        Findings that are left out because a baseline has them.
    elsewhere
        Findings that are left out because they are on lines that have not changed.
    unsafe_fixes
        Whether `--fix` applies unsafe fixes too.
    fixes_tried
        Whether those fixes that `--fix` applies were held against the program: what is left of them was not applied.
    """

    outcomes: tuple[FileOutcome, ...]
    files: int
    problems: tuple[Finding, ...] = ()
    known: int = 0
    elsewhere: int = 0
    unsafe_fixes: bool = False
    fixes_tried: bool = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, file by file."""
        return (*self.problems, *(finding for outcome in self.outcomes for finding in outcome.report.findings))

    @property
    def held_back(self) -> int:
        """Strict-level findings not shown."""
        return sum(outcome.report.held_back for outcome in self.outcomes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know beside the findings, once each: no all-clear for what was not looked at."""
        cut = (
            f"{report.path}: too long to be followed to its end; what comes after line {report.cut[0]}"
            f"{f' of cell {report.cut[1]}' if report.cut[1] else ''} is not judged"
            for report in (outcome.report for outcome in self.outcomes)
            if report.cut[0]
        )
        return tuple(dict.fromkeys((*(note for outcome in self.outcomes for note in outcome.notes), *cut)))

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
        """0 nothing to report, 1 findings that no verdict has refuted, 2 an internal error (see CLI)."""
        if self.failed:
            return 2
        ranks = {level: rank for rank, level in enumerate(config.LEVELS)}
        counted = any(
            finding.level.rank <= ranks[outcome.exit_on]
            for outcome in self.outcomes
            for finding in outcome.report.findings
            if finding.verdict is None or finding.verdict.status != "refuted"
        )
        return int(counted)
