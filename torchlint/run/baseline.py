"""
A baseline: what is known of an old code base, so that only what is new is reported.

Reads and writes the file, and takes known findings out of results. A known finding is met again by its rule, its code
and the lines around it, never by a line number: what moves in its file stays known.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torchlint.config import ConfigError
from torchlint.finding import Finding
from torchlint.report.fingerprint import LineOf, of_findings
from torchlint.results import FileOutcome, RunResult

VERSION = 1
NEVER = "TLN000"
"""That something went wrong inside torchlint is no finding to get used to."""


@dataclass(frozen=True, slots=True)
class Known:
    """One finding of a baseline; `message` is there for people."""

    code: str
    text: str
    context: str
    message: str


@dataclass(slots=True)
class Baseline:
    """
    The known findings of a project.

    Attributes
    ----------
    file
        Where they are kept; paths are relative to its directory.
    known
        By path.
    met
        How many were met again, by path.
    """

    file: Path
    known: dict[str, list[Known]]
    met: Counter[str]

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """
        A baseline from its file.

        Raises
        ------
        ConfigError
            if it cannot be read or is none.
        """
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            if content["version"] != VERSION:
                raise ConfigError(f"{file}: a baseline of version {content['version']}; this torchlint reads {VERSION}")
            known = {
                str(path): [Known(*(str(each[name]) for name in Known.__slots__)) for each in findings]
                for path, findings in content["findings"].items()
            }
        except OSError as error:
            hint = "; --write-baseline makes one" if isinstance(error, FileNotFoundError) else ""
            raise ConfigError(f"{file}: the baseline cannot be read: {error.strerror}{hint}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(f"{file}: not a baseline; --write-baseline {file} writes it anew") from error
        return cls(file, known, Counter())

    def without(self, outcome: FileOutcome, line_of: LineOf) -> tuple[FileOutcome, int]:
        """What is new of one file, and how many findings are known."""
        findings = outcome.report.findings
        path = self._path(outcome.report.path)
        rest = self.known.get(path)
        if not rest or not findings:
            return outcome, 0
        prints = list(of_findings(findings, line_of))
        exact = Counter((each.code, each.text, each.context) for each in rest)
        left = Counter((each.code, each.text) for each in rest)
        new: list[int] = []
        for number, each in enumerate(prints):  # those whose neighbours are as they were, first
            if exact[each.code, each.text, each.context]:
                exact[each.code, each.text, each.context] -= 1
                left[each.code, each.text] -= 1
            else:
                new.append(number)
        still_new: list[Finding] = []
        for number in new:
            each = prints[number]
            if left[each.code, each.text] > 0 and findings[number].code != NEVER:
                left[each.code, each.text] -= 1
            else:
                still_new.append(findings[number])
        known = len(findings) - len(still_new)
        self.met[path] = known
        return replace(outcome, report=replace(outcome.report, findings=tuple(still_new))), known

    def gone(self, checked: Iterable[str]) -> int:
        """How many known findings are no longer there, in files that were checked or do not exist any more."""
        paths = {self._path(path) for path in checked}
        return sum(
            len(known) - self.met[path]
            for path, known in self.known.items()
            if path in paths or not (self.file.parent / path).exists()
        )

    def _path(self, path: str) -> str:
        return _relative(path, self.file)


def written(
    run: RunResult, file: Path, line_of: LineOf, checked: Sequence[str], before: Baseline | None
) -> tuple[str, int]:
    """
    The content of a baseline file.

    Parameters
    ----------
    run
        What is found now.
    file
        Where the baseline will be.
    line_of
        The text of a line.
    checked
        The files that were checked.
    before
        The baseline that was there: of existing files that were not checked it is kept.

    Returns
    -------
    tuple
        The content, and how many findings it has.
    """
    found: dict[str, list[dict[str, str]]] = {}
    if before is not None:
        paths = {_relative(path, file) for path in checked}
        for path, known in before.known.items():
            if path not in paths and (file.parent / path).exists():
                found[path] = [{name: getattr(each, name) for name in Known.__slots__} for each in known]
    findings = [finding for outcome in run.outcomes for finding in outcome.report.findings if finding.code != NEVER]
    for finding, which in zip(findings, of_findings(findings, line_of), strict=True):
        entry = {"code": which.code, "text": which.text, "context": which.context, "message": finding.message}
        found.setdefault(_relative(finding.path, file), []).append(entry)
    content: dict[str, Any] = {"tool": "torchlint", "version": VERSION, "findings": dict(sorted(found.items()))}
    return json.dumps(content, indent=1) + "\n", sum(map(len, found.values()))


def _relative(path: str, file: Path) -> str:
    real = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
    return Path(os.path.relpath(real, os.path.realpath(file.absolute().parent))).as_posix()


def filtered(run: RunResult, keep: Callable[[FileOutcome], tuple[FileOutcome, int]]) -> tuple[RunResult, int]:
    """A run whose outcomes went through a filter, and how many findings that left out."""
    pairs = [keep(outcome) for outcome in run.outcomes]
    return replace(run, outcomes=tuple(outcome for outcome, _ in pairs)), sum(count for _, count in pairs)
