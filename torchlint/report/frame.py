"""
Source lines with marks under them, as compilers print them.

Copes with tabs, wide and combining characters, control characters and very long lines; knows nothing of
findings beyond places and labels.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

TAB = 4
WIDTH = 140
"""Display columns of source shown at most; of a longer line the part around the marks."""
_LEAD = 40


@dataclass(frozen=True, slots=True)
class Mark:
    """
    One place to underline.

    Attributes
    ----------
    line, column
        Counted from 1.
    end_line, end_column
        The end, exclusive; 0 where it is not known.
    label
        What to say there; may be empty.
    main
        Whether it is the finding itself and not a step that leads to it.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    label: str
    main: bool = False


Paint = Callable[[str, str], str]
"""(text, role) → the text in the role's colour; roles: "gutter", "main", "note"."""


def frame(marks: Sequence[Mark], line_of: Callable[[int], str | None], gutter: int, paint: Paint) -> Iterator[str]:
    """
    The marked lines of one file in order, each with its marks below it; lines left out between them are `...`.

    Parameters
    ----------
    marks
        What to underline.
    line_of
        The text of a line, None where there is none.
    gutter
        Width of the column of line numbers.
    """
    bar = paint("|", "gutter")
    shown = sorted({mark.line for mark in marks if line_of(mark.line) is not None})
    previous = 0
    for number in _with_single_gaps(shown):
        if previous and number > previous + 1:
            yield paint("." * min(3, gutter + 2), "gutter")
        previous = number
        own = sorted(
            (mark for mark in marks if mark.line == number), key=lambda mark: (not mark.main, mark.column, mark.label)
        )
        text = line_of(number) or ""
        visible, offsets = _displayed(text)
        start = _window(offsets, [mark.column for mark in own])
        yield f"{paint(f'{number:>{gutter}}', 'gutter')} {bar} {_cropped(visible, start)}".rstrip()
        for mark in own:
            first = offsets[min(mark.column - 1, len(text))]
            end = mark.end_column - 1 if mark.end_line == mark.line else len(text.rstrip())
            last = offsets[min(max(end, 0), len(text))]
            width = max(min(last, start + WIDTH) - first, 1)
            sign = ("^" if mark.main else "-") * width
            underline = " " * (first - start) + paint(sign, "main" if mark.main else "note")
            label = f" {paint(mark.label, 'main' if mark.main else 'note')}" if mark.label else ""
            yield f"{' ' * gutter} {bar} {underline}{label}"


def _with_single_gaps(lines: Sequence[int]) -> Iterator[int]:
    """The lines, and those that stand alone between two of them: showing one costs no more than leaving it out."""
    previous = 0
    for line in lines:
        if previous and line == previous + 2:
            yield previous + 1
        yield line
        previous = line


def _displayed(text: str) -> tuple[list[tuple[str, int]], list[int]]:
    """The characters as shown, with their widths, and the display column of each (and of the end)."""
    pieces: list[tuple[str, int]] = []
    column = 0
    for character in text:
        if character == "\t":
            width = TAB - column % TAB
            piece = " " * width
        else:
            piece, width = _visible(character)
        pieces.append((piece, width))
        column += width
    return pieces, list(accumulate((width for _, width in pieces), initial=0))


def _visible(character: str) -> tuple[str, int]:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code), 1
    if code < 0x7F:
        return character, 1
    category = unicodedata.category(character)
    if category in ("Mn", "Me"):
        return character, 0
    if category in ("Cc", "Cf", "Cs", "Zl", "Zp"):  # would move the cursor, turn the direction, or cannot be printed
        return "\ufffd", 1
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _window(offsets: list[int], columns: list[int]) -> int:
    """The display column from which a long line is shown."""
    if offsets[-1] <= WIDTH or not columns:
        return 0
    first = offsets[min(min(columns) - 1, len(offsets) - 1)]
    wanted = max(0, first - _LEAD)
    return max(offset for offset in offsets if offset <= wanted)


def _cropped(pieces: list[tuple[str, int]], start: int) -> str:
    column = 0
    shown: list[str] = []
    for piece, width in pieces:
        if column >= start + WIDTH:
            shown.append("…")
            break
        if column >= start:
            shown.append(piece)
        column += width
    if start and shown:
        shown[0] = "…"
    return "".join(shown)
