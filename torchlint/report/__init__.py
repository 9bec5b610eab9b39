"""
Findings as text for people and programs: one file per output format.

A format takes a finished run and yields pieces of text; it does not decide what is reported, and does
not write anywhere itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from torchlint.results import Run
from torchlint.syntax.text import NEWLINE, SourceError, decode

FORMATS: Mapping[str, str] = {
    "text": "torchlint.report.text",
    "concise": "torchlint.report.concise",
    "json": "torchlint.report.json_array",
    "jsonl": "torchlint.report.json_lines",
}
"""Name → module; each has a function `render(run, style)`."""


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
    """

    color: bool = False
    trace: bool = True
    texts: Mapping[str, str] = field(default_factory=dict)
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


def render(name: str, run: Run, style: Style) -> Iterator[str]:
    """The report in the format of that name."""
    function: Callable[[Run, Style], Iterator[str]] = importlib.import_module(FORMATS[name]).render
    return function(run, style)
