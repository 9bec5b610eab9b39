"""
The values of Python's literals, from their spelling.

No `eval`, and no compiler either: `ast.literal_eval` costs ten times as much and warns about invalid escapes on
behalf of the file that is linted. Knows strings and numbers only.
"""

from __future__ import annotations

import re
import unicodedata

_ESCAPE = re.compile(r"\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|N\{[^}]*\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\\'\"abfnrtv])")
_BYTES_ESCAPE = re.compile(r"\\(\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|[\\'\"abfnrtv])")
_SIMPLE = {
    "\n": "", "\\": "\\", "'": "'", '"': '"',
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


def string(spelling: str) -> str | bytes:
    """
    The value of one string literal without placeholders: `'a'`, `rb"x"`, `\"\"\"…\"\"\"`.

    An escape that Python does not know stays as it is, as Python keeps it.

    Raises
    ------
    ValueError
        for an escape that names no character, or a bytes literal with a character beyond ASCII.
    """
    quote = spelling[-1]
    start = spelling.index(quote)
    width = 3 if spelling.startswith(quote * 3, start) and len(spelling) - start >= 6 else 1
    body = spelling[start + width : -width]
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    prefix = spelling[:start].lower()
    if "\\" in body and "r" not in prefix:
        if "b" in prefix:
            return _BYTES_ESCAPE.sub(_byte, body).encode("latin-1")
        return _ESCAPE.sub(_character, body)
    return body.encode("ascii") if "b" in prefix else body


def integer(spelling: str) -> int:
    """
    The value of an integer literal in any base.

    Raises
    ------
    ValueError
        if it is not one, or has more decimal digits than this Python converts.
    """
    return int(spelling, 0)


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    simple = _SIMPLE.get(escape)
    if simple is not None:
        return simple
    kind = escape[0]
    if kind == "N":
        try:
            return unicodedata.lookup(escape[2:-1])
        except KeyError as error:
            raise ValueError(f"there is no character named {escape[2:-1]!r}") from error
    code = int(escape[1:], 16) if kind in "xuU" else int(escape, 8)
    if code > 0x10FFFF:
        raise ValueError(f"there is no character \\{escape}")
    return chr(code)


def _byte(match: re.Match[str]) -> str:
    escape = match[1]
    simple = _SIMPLE.get(escape)
    if simple is not None:
        return simple
    return chr(int(escape[1:], 16) if escape[0] == "x" else int(escape, 8) & 0xFF)
