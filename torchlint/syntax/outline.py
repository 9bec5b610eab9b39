"""
The text of a file without what stands in its functions: what Python's parser need not read before somebody asks.

Of another file of the project few functions are ever followed (`unread`), and to parse the others is most of what the
file costs. Everything outside of functions keeps its place, and so does where each function, and whatever it is in,
ends. Knows how Python's tokens are told apart, and no grammar: a text of which it is not certain stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

_TOKEN = re.compile(
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"'
    r"|'[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'"
    r"|#[^\n]*",
    re.DOTALL,
)
"""Strings and comments."""
_GOES_ON = "\x01"
"""Stands for an end of line inside of a string, or behind a backslash."""
_STRING = "\x02"
_FUNCTION = re.compile(r"def\b")
_LONG = ('"""', "'''")
_ODD = ("\r", "\f", "\v", _GOES_ON, _STRING)
"""What makes lines and columns something else than they seem."""
_TAB = re.compile(r"\n *\t")


def outline(text: str) -> str:
    """
    A text with as many lines, in which names stand for what each function holds, or the text itself.

    What it holds begins on the same line, and ends on the same line in the same column (counted in bytes, as Python's
    tree does). A function whose body stands behind its colon keeps it. The result may be no Python where the text is
    none.
    """
    known = text.replace("\r\n", "\n") if "\r" in text else text
    plain = None if any(each in known for each in _ODD) else _plain(known)
    if plain is None or _TAB.search(plain) is not None:
        return text
    lines = known.split("\n")
    end = line = counted = 0
    for found in _FUNCTION.finditer(plain):
        at = found.start()
        if at < end:
            continue  # inside of another
        before = plain[plain.rfind("\n", 0, at) + 1 : at]
        begin = _body(plain, at) if before.strip() in ("", "async") else None
        if begin is None:
            continue
        end = _dedent(plain, begin, len(before) - len(before.lstrip()))
        held = plain[begin:end].rstrip()
        first = begin + len(held) - len(held.lstrip())
        line, counted = line + _lines(plain, counted, first), first
        _leave_out(lines, line, line + _lines(plain, first, begin + len(held)), held)
    return "\n".join(lines)


def _plain(text: str) -> str | None:
    """
    A text without comments, and with a mark for each string, in which every end of line is that of a logical line or
    stands between brackets; None if it cannot be told where its strings end.
    """
    pieces: list[str] = []
    at = 0
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        pieces.append(text[at:start])
        if text[start] != "#":
            if text[start - 1 : start].isalpha() and text.count("{", start, end) != text.count("}", start, end):
                return None  # it may go on: from Python 3.12 on, quotes may stand inside of an f-string's braces
            pieces.append(_STRING)
            if text.startswith(_LONG, start):
                pieces.append(_GOES_ON * text.count("\n", start, end))
        at = end
    pieces.append(text[at:])
    plain = "".join(pieces)
    if '"' in plain or "'" in plain:
        return None  # a string that ends nowhere, or goes on behind a backslash
    return plain.replace("\\\n", _GOES_ON)


def _body(plain: str, at: int) -> int | None:
    """Where the line ends that a function's head ends on; None if its body begins on that line."""
    start = at
    while True:
        end = plain.find("\n", at)
        if end < 0:
            return None
        if _is_closed(plain[start:end]):
            return end + 1 if plain[start:end].rstrip().endswith(":") else None
        at = end + 1


def _dedent(plain: str, begin: int, column: int) -> int:
    """Where the first logical line begins that is no deeper than a column."""
    at = begin - 1  # the end of the line before
    search = _no_deeper(column).search
    while (found := search(plain, at)) is not None:
        at = found.end() - 1
        if plain[at] not in ")]}" and _is_closed(plain[begin : found.start()]):
            return found.start() + 1
    return len(plain)


@cache
def _no_deeper(column: int) -> re.Pattern[str]:
    return re.compile(rf"\n {{0,{column}}}[^ \n]")


def _is_closed(code: str) -> bool:
    count = code.count
    return count("(") == count(")") and count("[") == count("]") and count("{") == count("}")


def _lines(plain: str, start: int, end: int) -> int:
    return plain.count("\n", start, end) + plain.count(_GOES_ON, start, end)


def _leave_out(lines: list[str], first: int, last: int, held: str) -> None:
    """Put a name at each end of what a function holds, on these lines: between them nothing is left."""
    line = lines[last]
    code = _without_comment(line, held)
    if code is None or held[-1] == ";":
        return
    indent = len(lines[first]) - len(lines[first].lstrip())
    width = len(code.encode("utf-8", "surrogatepass")) - indent
    if width < 1:
        return  # it ends left of where it began, as a string or a bracket may
    lines[first:last] = [""] * (last - first)
    if first < last:
        lines[first] = " " * indent + "_"
    lines[last] = " " * indent + "_" * width


def _without_comment(line: str, held: str) -> str | None:
    """The last line of what a function holds, to its last character of code; None if that cannot be told."""
    if "#" not in line:
        return line.rstrip()
    if _GOES_ON in held[held.rfind("\n") + 1 :]:
        return None  # the line may begin inside of a string
    ends = [found.start() for found in _TOKEN.finditer(line) if found[0][0] == "#"]
    return (line[: ends[0]] if ends else line).rstrip()
