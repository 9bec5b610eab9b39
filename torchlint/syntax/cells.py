"""
The cells of a notebook as one Python text, line for line: the only place that knows which line is whose.

Each cell stands under a line that names it; what only IPython understands is replaced, and can be put back. Knows
neither JSON (`syntax.notebook`) nor findings, and runs nothing.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from torchlint.record import record
from torchlint.syntax.text import NEWLINE

_MARK = "\u2063"  # an invisible separator: nobody writes one, and a terminal shows nothing
_HEADER = re.compile(rf"# %% cell {_MARK}(\d+)")
_HIDDEN = re.compile(rf"  #{_MARK}(\d+)$")

PYTHON_CELLS = frozenset("capture heat lprun memit mprun notify prun snakeviz time timeit wandb".split())  # noqa: SIM905
"""Cell magics that run the rest of the cell as Python in the notebook's own names; of others the cell is hidden."""
_RUNS = frozenset("time timeit memit prun lprun mprun".split())  # noqa: SIM905
_MAGIC = re.compile(r"([ \t]*)(?:[%!?,;/]|[\w.*]+\?)")
_HELP = re.compile(r"[ \t]*\??\??[%\w.*\[\]'\"]+\?\??[ \t]*$")
_ASSIGNED = re.compile(r"([ \t]*[A-Za-z_][\w., \t\[\]'\"*]*?=[ \t]*)(?:![^=]|%[A-Za-z_])")
_RUN = re.compile(r"(%(\w+)(?:[ \t]+-\w+(?:[ \t]*=?[ \t]*\d+)?)*[ \t]+)(.*)")
_PIECE = re.compile(
    r"""\#.*|(?P<long>\"{3}|'{3})|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|(?P<open>[(\[{])|(?P<close>[)\]}])|\\$"""
)


@record(frozen=True)
class Broken:
    """A cell that is not Python: where, and in whose words."""

    cell: int
    line: int
    column: int
    message: str


def are_cells(text: str) -> bool:
    """Whether a text is the cells of a notebook."""
    return text.startswith(f"# %% cell {_MARK}")


@dataclass(frozen=True)
class Cells:
    """
    The cells of a notebook that are Python.

    Attributes
    ----------
    sources
        Number of a cell, from 1, and its text; of those that are code.
    text
        All of them as one Python text.
    broken
        Cells that IPython would refuse; they are not in `text`.
    """

    sources: tuple[tuple[int, str], ...]
    text: str
    broken: tuple[Broken, ...] = ()
    _headers: tuple[int, ...] = ()
    _numbers: tuple[int, ...] = ()
    _written: dict[int, dict[int, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, sources: Sequence[tuple[int, str]]) -> Cells:
        """The cells with these numbers and texts, in the order in which they stand."""
        pieces: list[str] = []
        broken: list[Broken] = []
        headers: list[int] = []
        numbers: list[int] = []
        written: dict[int, dict[int, str]] = {}
        line = 1
        for number, source in sources:
            lines, hidden = _as_python(source)
            if lines is None:
                continue
            body = "\n".join(lines)
            wrong = _complaint(number, body)
            if wrong is not None:
                broken.append(wrong)
                continue
            pieces.append(f"# %% cell {_MARK}{number}\n{body}\n")
            headers.append(line)
            numbers.append(number)
            written[number] = hidden
            line += 1 + len(lines)
        return cls(tuple(sources), "".join(pieces), tuple(broken), tuple(headers), tuple(numbers), written)

    def place(self, line: int) -> tuple[int | None, int]:
        """The cell of a line of the text, and the line in it, from 1; no cell if there is none."""
        index = max(bisect_right(self._headers, line) - 1, 0)
        if not self._headers:
            return None, line
        return self._numbers[index], max(line - self._headers[index], 1)

    def line(self, cell: int | None, line: int) -> int:
        """
        The line of the text for a line of a cell.

        Raises
        ------
        KeyError
            if the text does not hold that cell.
        """
        if cell not in self._numbers:
            raise KeyError(cell)
        return self._headers[self._numbers.index(cell)] + line

    def is_header(self, line: int) -> bool:
        """Whether a line of the text names a cell, or is past the last one."""
        return line in self._headers or line > self.text.count("\n")

    def is_hidden(self, line: int) -> bool:
        """Whether a line of the text is not what the notebook has there."""
        cell, own = self.place(line)
        return cell is not None and own in self._written[cell]

    def changed(self, text: str) -> Iterator[tuple[int, str, str]]:
        """The cells that differ in another text, made from this one by edits: number, text before, text after."""
        before = dict(self.sources)
        current = self._numbers[0] if self._numbers else None
        collected: dict[int, list[str]] = {number: [] for number in self._numbers}
        lines = text.split("\n")
        for line in lines[:-1] if lines[-1] == "" else lines:
            header = _HEADER.fullmatch(line)
            if header is not None:
                current = int(header[1])
            elif current is not None:
                collected[current].append(self._put_back(current, line))
        for number, own in collected.items():
            newline = "\r\n" if "\r\n" in before[number] else "\n"
            after = newline.join(own)
            if NEWLINE.split(before[number]) != own:
                yield number, before[number], after

    def _put_back(self, cell: int, line: str) -> str:
        hidden = _HIDDEN.search(line)
        return self._written[cell][int(hidden[1])] if hidden is not None else line


def _as_python(source: str) -> tuple[list[str] | None, dict[int, str]]:
    """The lines of a cell with what only IPython understands replaced, and what stood there; None: it is no Python."""
    lines = NEWLINE.split(source)
    hidden: dict[int, str] = {}
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].startswith("%%"):
        name = re.match(r"%%(\w*)", lines[first])
        if name is None or name[1] not in PYTHON_CELLS:
            return None, {}
        hidden[first + 1] = lines[first]
        lines[first] = f"pass  #{_MARK}{first + 1}"
    tracker = _Tracker()
    ongoing: str | None = None  # the indentation of a line of IPython's that goes on
    for at, line in enumerate(lines):
        if at + 1 in hidden:
            continue
        if ongoing is None and tracker.between and (new := _translated(line)) is not None:
            ongoing = line[: len(line) - len(line.lstrip())]
        elif ongoing is not None:
            new = f"{ongoing}pass"
        else:
            tracker.read(line)
            continue
        hidden[at + 1] = line
        lines[at] = f"{new}  #{_MARK}{at + 1}"
        if not line.endswith("\\"):
            ongoing = None
    return lines, hidden


def _translated(line: str) -> str | None:
    """Python for a line that only IPython understands; None for all others."""
    assigned = _ASSIGNED.match(line)
    if assigned is not None and _is_python(f"{assigned[1].strip()} 0"):
        return f"{assigned[1]}get_ipython()"
    found = _MAGIC.match(line)
    if found is None or (line.lstrip()[0] not in "%!?,;/" and not _HELP.match(line)):
        return None
    indent, rest = found[1], line[len(found[1]) :]
    if rest.startswith("%run"):
        return f"{indent}from _ import *" if not indent else f"{indent}exec('')"
    runs = _RUN.fullmatch(rest)
    if runs is not None and runs[2] in _RUNS:
        before, statement = runs[1], runs[3]
        if _is_python(statement, "eval"):
            return f"{indent}_{' ' * (len(before) - 3)}= {statement}"
        if _is_python(statement) and not re.match(r"(?:if|for|while|with|def|class|try|async|@)\b", statement):
            return f"{indent}pass{' ' * (len(before) - 6)}; {statement}"
    return f"{indent}pass"


class _Tracker:
    """Whether the next line begins a statement, told from the lines before it."""

    def __init__(self) -> None:
        self.depth = 0
        self.quotes = ""
        self.joined = False

    @property
    def between(self) -> bool:
        return not (self.depth or self.quotes or self.joined)

    def read(self, line: str) -> None:
        at = 0
        self.joined = False
        while at < len(line) or self.quotes:
            if self.quotes:
                end = re.compile(rf"(?:\\.|[^\\])*?{self.quotes}").match(line, at)
                if end is None:
                    return
                at, self.quotes = end.end(), ""
                continue
            found = _PIECE.search(line, at)
            if found is None:
                return
            at = found.end()
            self.quotes = found["long"] or ""
            self.depth = max(self.depth + bool(found["open"]) - bool(found["close"]), 0)
            self.joined = found[0] == "\\"


def _complaint(number: int, body: str) -> Broken | None:
    if _is_python(body):
        return None
    from torchlint.syntax.tree import Source, SourceError  # libcst: for its words, and because it knows newer Pythons

    try:
        Source.parse("", body)
    except SourceError as error:
        return Broken(number, error.line, error.column, error.message)
    return None


def _is_python(text: str, mode: str = "exec") -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text, mode=mode)
        except (SyntaxError, ValueError):
            return False
        except (RecursionError, MemoryError):
            return True
    return True
