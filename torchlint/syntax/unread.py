"""
What stands in a function of another file before anybody has asked for it: read then, and not by those whom its text
tells that there is nothing for them. Knows no torch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set

from torchlint.syntax import ir

_WORD = re.compile(r"\w+")


class Unread:
    """
    Makes what stands in a function, when it is called.

    Parameters
    ----------
    read
        Reads it.
    lines
        The lines of its file.
    start
        Where among them it begins.
    end
        Where it has ended.
    """

    __slots__ = ("_end", "_lines", "_read", "_start", "_text", "_words")

    def __init__(self, read: Callable[[], ir.Inside], lines: list[str], start: int, end: int) -> None:
        self._read = read
        self._lines, self._start, self._end = lines, start, end
        self._text: str | None = None
        self._words: frozenset[str] | None = None

    def __call__(self) -> ir.Inside:
        """
        What stands in the function; of what cannot be parsed by itself, a call of unknown code.

        Raises
        ------
        UnknownSyntaxError, RecursionError
            as `lowering` does.
        """
        return self._read()

    @property
    def text(self) -> str:
        """How it is written, its head included."""
        if self._text is None:
            self._text = "\n".join(self._lines[self._start : self._end])
        return self._text

    @property
    def words(self) -> frozenset[str]:
        """The words of its text, the names in it among them."""
        if self._words is None:
            self._words = frozenset(_WORD.findall(self.text))
        return self._words


def may_name(definition: ir.FunctionDef, names: Set[str]) -> bool:
    """Whether one of some names may be written in a function; of one that is read already, the answer is yes."""
    unread = definition.unread
    return not isinstance(unread, Unread) or not unread.text.isascii() or not unread.words.isdisjoint(names)


def may_write(definition: ir.FunctionDef, parts: Iterable[str]) -> bool:
    """Whether a name that has one of these parts may be written in a function; as `may_name`."""
    unread = definition.unread
    return not isinstance(unread, Unread) or not unread.text.isascii() or any(part in unread.text for part in parts)
