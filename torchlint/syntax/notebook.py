"""
A Jupyter notebook as it lies on disk: where in its JSON the texts of its cells stand, and how new ones get there.

Only the texts of cells that change are written; outputs, metadata, order and layout stay as they are to the byte.
Therefore not nbformat, which writes the whole file in its own layout. Knows no Python; lints nothing.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from torchlint.syntax.cells import Cells
from torchlint.syntax.text import Decoded, SourceError, decode

SUFFIX = ".ipynb"
_SPACE = re.compile(r"[ \t\n\r]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_DECODER = json.JSONDecoder()


def is_notebook(path: str) -> bool:
    """Whether a file is one by its name."""
    return path.endswith(SUFFIX)


@dataclass(frozen=True)
class Notebook:
    """
    A notebook.

    Attributes
    ----------
    decoded
        The file.
    sources
        Number, from 1 and counting all cells, and text of each cell that is code; none if the code is not Python.
    """

    decoded: Decoded
    sources: tuple[tuple[int, str], ...]

    @property
    def json(self) -> str:
        """The text of the file."""
        return self.decoded.text

    @classmethod
    def read(cls, data: bytes) -> Notebook:
        """
        A notebook from the bytes of its file.

        Raises
        ------
        SourceError
            if it is none: it is no JSON, or there are no cells in it.
        """
        decoded = decode(data)
        text = decoded.text
        try:
            whole = json.loads(text)
        except json.JSONDecodeError as error:
            what = f"not a notebook: {error.msg[0].lower()}{error.msg[1:]}" if text.strip() else "not a notebook: empty"
            raise SourceError(what, error.lineno, error.colno) from error
        except RecursionError as error:
            raise SourceError("not a notebook: nested too deeply") from error
        if not isinstance(whole, dict) or not isinstance(_cells(whole), list):
            raise SourceError("not a notebook: it has no list of cells")
        sources: list[tuple[int, str]] = []
        if _language(whole) == "python":
            for number, cell in enumerate(_cells(whole) or (), start=1):
                if not isinstance(cell, dict) or cell.get("cell_type") != "code":
                    continue
                source = cell.get("source", cell.get("input"))
                if isinstance(source, list) and all(isinstance(line, str) for line in source):
                    source = "".join(source)
                if isinstance(source, str):
                    sources.append((number, source))
                elif source is not None:
                    raise SourceError(f"not a notebook: the source of cell {number} is no text")
        return cls(decoded, tuple(sources))

    @property
    def cells(self) -> Cells:
        """The code as one text; made anew each time."""
        return Cells.of(self.sources)

    def in_file(self, cell: int, line: int) -> int:
        """The line of the file that holds a line of a cell."""
        if cell not in self._lines:
            return 1
        lines = self._lines[cell]
        return lines[min(max(line, 1), len(lines)) - 1]

    @cached_property
    def _lines(self) -> dict[int, list[int]]:
        ends = [found.start() for found in re.finditer("\n", self.json)]
        lines: dict[int, list[int]] = {}
        for number, (start, end) in _code(self.json).items():
            at = [bisect_left(ends, start) + 1]
            text = self.json[start:end]
            if text.startswith("["):
                at = []
                place = 1
                while (place := _after_space(text, place)) < len(text) and text[place] == '"':
                    line, place_after = scanstring(text, place + 1)
                    at += [bisect_left(ends, start + place) + 1] * max(line.count("\n"), 1)
                    place = _after_space(text, place_after)
                    place += text[place] == ","
            lines[number] = at or [bisect_left(ends, start) + 1]
        return lines

    def with_texts(self, changed: Iterable[tuple[int, str]]) -> str:
        """The JSON with new texts of some cells, each written as the old one was."""
        places = _code(self.json)
        parts: list[str] = []
        done = 0
        for number, source in sorted(changed):
            start, end = places[number]
            parts += (self.json[done:start], self._written(self.json[start:end], source))
            done = end
        return "".join((*parts, self.json[done:]))

    def _written(self, old: str, source: str) -> str:
        # a file that has escaped one character that needs none has escaped all of them
        ascii_only = self.json.isascii()
        if not old.startswith("["):
            return json.dumps(source, ensure_ascii=ascii_only)
        known: dict[str, str] = {}
        gaps = []
        at = 1
        while (at := _after_space(old, at)) < len(old) and old[at] == '"':
            line, end = scanstring(old, at + 1)
            known[line] = old[at:end]
            gaps.append(old[_before_space(old, at) : at])
            at = _after_space(old, _after_space(old, end) + 1) if old[_after_space(old, end)] == "," else end
        literals = [known.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in _LINE.findall(source)]
        if not gaps or not literals:
            return f"[{', '.join(literals)}]"
        between = gaps[1] if len(gaps) > 1 else gaps[0] or self._gap()
        last = old[_before_space(old, len(old) - 1) : len(old) - 1]
        return f"[{gaps[0]}{f',{between}'.join(literals)}{last}]"

    def _gap(self) -> str:
        """What a file on one line writes after a comma."""
        return " " if '", "' in self.json else ""


def _cells(whole: dict[str, Any]) -> Any:
    """The cells; of a notebook of before 2014 those of its first worksheet."""
    if "cells" in whole:
        return whole["cells"]
    sheets = whole.get("worksheets")
    return sheets[0].get("cells") if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict) else None


def _language(whole: dict[str, Any]) -> str:
    metadata = whole.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        about = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(about, dict) and isinstance(about.get(name), str):
            return "python" if about[name].lower() in ("python", "ipython") else str(about[name])
    return "python"


def _code(text: str) -> dict[int, tuple[int, int]]:
    """Where in the JSON the text of each cell stands: from, to. Numbers count from 1."""
    places: dict[int, tuple[int, int]] = {}
    for key, start, _ in _members(text, _after_space(text, 0)):
        if key == "worksheets":
            start = next((at for at, _ in _elements(text, start)), start)
            start = next((at for name, at, _ in _members(text, start) if name == "cells"), start)
        elif key != "cells":
            continue
        for number, (at, _) in enumerate(_elements(text, start), start=1):
            if text[at] == "{":
                for name, begin, end in _members(text, at):
                    if name in ("source", "input"):
                        places[number] = (begin, end)
    return places


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The members of the object that begins at a place of valid JSON: key, and from where to where the value is."""
    at = _after_space(text, at + 1)
    while text[at] == '"':
        key, at = scanstring(text, at + 1)
        start = _after_space(text, _after_space(text, at) + 1)
        _, end = _DECODER.raw_decode(text, start)
        yield key, start, end
        at = _after_space(text, end)
        at = _after_space(text, at + 1) if text[at] == "," else at


def _elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The elements of the array that begins at a place of valid JSON: from, to."""
    at = _after_space(text, at + 1)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        yield at, end
        at = _after_space(text, end)
        at = _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def _before_space(text: str, at: int) -> int:
    while at and text[at - 1] in " \t\n\r":
        at -= 1
    return at
