"""
Where in the user's program something happens: frames of files that are neither torch's, nor Python's, nor ours.

Only looks at frames. What is kept is code objects and lines, so that no frame and no variable lives longer for it.
"""

from __future__ import annotations

import linecache
import os
import sysconfig
from types import CodeType, FrameType
from typing import NamedTuple

import torch

import torchlint

OWN = os.path.dirname(os.path.abspath(torchlint.__file__)) + os.sep
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_PYTHON = tuple(
    os.path.abspath(sysconfig.get_paths()[name]) + os.sep
    for name in ("stdlib", "platstdlib")
    if name in sysconfig.get_paths()
)
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
DEPTH = 6
"""At most so many frames of the program are kept of a call."""
_kinds: dict[CodeType, int] = {}


class Line(NamedTuple):
    """A line that is running: the code, its number, and how far in the code (`f_lasti`)."""

    code: CodeType
    line: int
    offset: int

    @property
    def path(self) -> str:
        """The file, as short as it can be said from the working directory."""
        name = self.code.co_filename
        return relative(name)

    @property
    def source(self) -> str:
        """The text of the line."""
        return linecache.getline(self.code.co_filename, self.line).strip()

    @property
    def mine(self) -> bool:
        """Whether it is a line of the user's, not of an installed package."""
        return not any(part in self.code.co_filename for part in _INSTALLED)


class Place(NamedTuple):
    """
    Where a call into torch was made.

    Attributes
    ----------
    lines
        Lines of the program, the innermost first.
    step
        The class of the optimizer whose `step` made it; "" if none did.
    """

    lines: tuple[Line, ...]
    step: str

    @property
    def line(self) -> Line | None:
        """The innermost line of the user's own; of an installed package, if none of his is running."""
        return next((each for each in self.lines if each.mine), self.lines[0] if self.lines else None)


def relative(name: str) -> str:
    """A file's name from the working directory, where that is shorter."""
    if not os.path.isabs(name):
        return name
    try:
        short = os.path.relpath(name)
    except (ValueError, OSError):
        return name
    return name if short.startswith("..") else short


def is_program(code: CodeType) -> bool:
    """Whether code is the program's or an installed package's, and not torch's, Python's or ours."""
    return _kind(code) == 0


def _kind(code: CodeType) -> int:
    found = _kinds.get(code)
    if found is None:
        name = code.co_filename
        installed = any(part in name for part in _INSTALLED)
        if name.startswith(OWN) or (name.startswith("<") and not name.startswith("<ipython")) or name == "":
            found = 1
        elif name.startswith(_TORCH):
            found = 2 if code.co_name == "step" and f"{os.sep}optim{os.sep}" in name else 1
        else:
            found = 1 if name.startswith(_PYTHON) and not installed else 0
        _kinds[code] = found
    return found


def here(frame: FrameType | None) -> Place:
    """The place a frame and its callers are at."""
    lines: list[Line] = []
    step = ""
    while frame is not None and len(lines) < DEPTH:
        code = frame.f_code
        kind = _kinds.get(code)
        if kind is None:
            kind = _kind(code)
        if kind == 0:
            lines.append(Line(code, frame.f_lineno, frame.f_lasti))
        elif kind == 2 and not lines:
            step = type(frame.f_locals.get("self")).__name__
        frame = frame.f_back
    return Place(tuple(lines), step)
