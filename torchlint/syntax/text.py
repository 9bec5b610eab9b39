"""
The text of a file: its bytes decoded, its lines, a range in it.

Ground floor: imports nothing of torchlint, and no libcst: findings can be read from the cache and shown without it.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torchlint.record import record

NEWLINE = re.compile(r"\r\n|\r|\n")


def lines_of(text: str) -> list[str]:
    """The lines of a text, without what ends them: as `NEWLINE` splits it."""
    return NEWLINE.split(text) if "\r" in text else text.split("\n")


def lines_at(text: str, offsets: Iterable[int]) -> Iterator[int]:
    """The numbers of the lines on which some places of a text are; given in order, as offsets of characters."""
    if "\r" in text:
        starts = [0, *(each.end() for each in NEWLINE.finditer(text))]
        yield from (bisect_right(starts, offset) for offset in offsets)
        return
    line, counted = 1, 0
    for offset in offsets:
        line += text.count("\n", counted, offset)
        counted = offset
        yield line


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range in a file: lines and columns count from 1, columns in characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class SourceError(Exception):
    """
    The file cannot be read as Python: says what is wrong and where.

    Attributes
    ----------
    message
        One line, lower case.
    line, column
        Counted from 1.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


@record(frozen=True)
class Decoded:
    """
    The text of a file, and what it takes to write it back.

    Attributes
    ----------
    text
        The whole text, newlines as in the file, without byte order mark.
    encoding
        The codec's name.
    bom
        Whether the file starts with a UTF-8 byte order mark.
    """

    text: str
    encoding: str = "utf-8"
    bom: bool = False

    def encode(self, text: str) -> bytes:
        """
        Another text in the encoding of this one.

        Raises
        ------
        UnicodeEncodeError
            if the encoding has no way to write it.
        """
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)


_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")


def decode(data: bytes) -> Decoded:
    """
    The text of a Python file: UTF-8, unless a coding cookie in one of the first two lines says otherwise (PEP 263).

    Raises
    ------
    SourceError
        for an unknown encoding, or at the first byte that the encoding does not know.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    if bom:
        data = data[len(codecs.BOM_UTF8) :]
    declared, line = _declared_encoding(data)
    try:
        encoding = codecs.lookup(declared).name
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = NEWLINE.split(data[: error.start].decode(encoding, errors="replace"))
        place = (len(before), len(before[-1]) + 1)
        raise SourceError(f"not {encoding}: cannot decode byte 0x{data[error.start]:02x}", *place) from error
    except (LookupError, ValueError) as error:  # a codec may exist and not be one for text
        raise SourceError(f"unknown encoding `{declared}`", line) from error
    if bom and encoding != "utf-8":
        raise SourceError(f"the file has a UTF-8 byte order mark but declares the encoding {declared}", line)
    return Decoded(text, encoding, bom)


def _declared_encoding(data: bytes) -> tuple[str, int]:
    for number, line in enumerate(data.split(b"\n", 2)[:2], start=1):
        cookie = _COOKIE.match(line)
        if cookie:
            return cookie.group(1).decode("ascii", errors="replace"), number
        if not _BLANK.match(line.rstrip(b"\r")):
            break
    return "utf-8", 1
