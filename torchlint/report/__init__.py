"""
Findings as text for people and programs: one file per output format.

A format takes a finished run and yields pieces of text; it does not decide what is reported, and does
not write anywhere itself. One whose pieces stand for themselves (`streams`) takes findings as they come.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torchlint.finding import Finding, Level
from torchlint.results import RunResult
from torchlint.syntax.text import NEWLINE, SourceError, decode

FORMATS: Mapping[str, str] = {
    "text": "torchlint.report.text",
    "concise": "torchlint.report.concise",
    "json": "torchlint.report.json_array",
    "jsonl": "torchlint.report.json_lines",
    "sarif": "torchlint.report.sarif",
    "github": "torchlint.report.github",
    "gitlab": "torchlint.report.gitlab",
    "junit": "torchlint.report.junit",
    "html": "torchlint.report.html",
    "rdjson": "torchlint.report.rdjson",
    "azure": "torchlint.report.azure",
    "template": "torchlint.report.template",
}
"""Name → module; each has a function `render(run, style)`, or `body(findings, style)` and `closing(run, style)`."""
HOME = "https://github.com/torchlint/torchlint"
PAGES = f"{HOME}/blob/main/docs/rules"
"""Where the pages of the rules can be read."""


@dataclass(frozen=True, slots=True)
class About:
    """What a report says of a rule beside its findings: `page` is empty for the driver's own codes."""

    summary: str
    level: Level
    page: str = ""


@dataclass(frozen=True)
class Style:
    """
    How a report looks.

    Attributes
    ----------
    color
        Whether to use ANSI colours.
    trace
        Whether to show the steps that lead to a finding.
    texts
        Texts of files that do not lie on disk (standard input), by path.
    quiet
        Findings only, no summary.
    template
        The form of a line, for `template`.
    about
        What is known of a code's rule.
    """

    color: bool = False
    trace: bool = True
    texts: Mapping[str, str] = field(default_factory=dict)
    quiet: bool = False
    template: str = ""
    about: Callable[[str], About | None] = lambda code: None
    _read: dict[tuple[str, int | None], list[str]] = field(default_factory=dict)

    def line(self, path: str, number: int, cell: int | None = None) -> str | None:
        """A line of a file, or of a cell of a notebook, without its newline; None where there is none."""
        if (path, cell) not in self._read:
            if cell is not None:
                self._read.update(((path, each), lines) for each, lines in self._cells(path))
            self._read.setdefault((path, cell), self._lines(path) if cell is None else [])
        lines = self._read[path, cell]
        return lines[number - 1] if 1 <= number <= len(lines) else None

    def _cells(self, path: str) -> Iterator[tuple[int, list[str]]]:
        from torchlint.syntax.notebook import Notebook

        try:
            data = self.texts[path].encode() if path in self.texts else Path(path).read_bytes()
            for number, source in Notebook.read(data).sources:
                yield number, NEWLINE.split(source)
        except (OSError, ValueError, SourceError):
            return

    def _lines(self, path: str) -> list[str]:
        if path in self.texts:
            return NEWLINE.split(self.texts[path])
        try:
            data = Path(path).read_bytes()
            return NEWLINE.split(decode(data).text)
        except SourceError:  # what the finding is about; show what can be shown
            return NEWLINE.split(data.decode("utf-8", errors="replace"))
        except (OSError, ValueError):
            return []


def render(name: str, run: RunResult, style: Style) -> Iterator[str]:
    """The report in the format of that name."""
    if streams(name):
        yield from body(name, run.findings, style)
        yield from closing(name, run, style)
    else:
        yield from importlib.import_module(FORMATS[name]).render(run, style)


def streams(name: str) -> bool:
    """Whether a report in the format of that name is its findings one after the other, and an end."""
    return hasattr(importlib.import_module(FORMATS[name]), "body")


def body(name: str, findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """The part of a report that is about findings, in a format that streams."""
    pieces: Iterator[str] = importlib.import_module(FORMATS[name]).body(findings, style)
    return pieces


def closing(name: str, run: RunResult, style: Style) -> Iterator[str]:
    """The end of a report in a format that streams."""
    pieces: Iterator[str] = importlib.import_module(FORMATS[name]).closing(run, style)
    return pieces
