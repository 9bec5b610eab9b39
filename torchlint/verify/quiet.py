"""
Warnings and tracebacks of a program of the user's as they would be without what watches it between it and torch.

A function that is watched is called from our frames. A warning that names its caller would name us, and a traceback
would show us; here these frames are left out.
"""

from __future__ import annotations

import os
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

import torch

import torchlint

_CALLS = tuple(
    os.path.join(os.path.dirname(os.path.abspath(torchlint.__file__)), folder) + os.sep
    for folder in ("sanitizer", "verify")
)
_OVERRIDES = os.path.abspath(torch.overrides.__file__)
FROZEN = "<torchlint>"
"""The name of the code that begins a run (`launch`)."""


def between(name: str) -> bool:
    """Whether a file is ours, or hands calls to us."""
    return name.startswith(_CALLS) or name in (_OVERRIDES, FROZEN)


def without_us(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """
    A traceback without the frames in between.

    A function of torch written in Python is entered twice: it asks us, and we call it again. The first of the two,
    which stands directly before our frames and asks `handle_torch_function`, goes too.
    """
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    if entries and entries[0].tb_frame.f_code.co_filename == "<string>":
        del entries[0]  # `python -c`, which has begun the run
    kept: list[types.TracebackType] = []
    for each in entries:
        code = each.tb_frame.f_code
        if between(code.co_filename):
            if code.co_name == "handle_torch_function" and kept:
                kept.pop()
            continue
        kept.append(each)
    following: types.TracebackType | None = None
    for each in reversed(kept):
        following = types.TracebackType(following, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return following


def strip(error: BaseException | None) -> None:
    """Take our frames out of an exception and of those that it came from."""
    done: set[int] = set()
    while error is not None and id(error) not in done:
        done.add(id(error))
        error.__traceback__ = without_us(error.__traceback__)
        error = error.__cause__ or error.__context__


def install() -> None:
    """Warnings name the lines that they would name without us."""
    original = warnings.warn

    def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **keywords: Any) -> None:
        ours = _ours(sys._getframe(1), stacklevel)
        original(message, category, stacklevel + 1 + ours, source, **keywords)

    warnings.warn = warn
    show: Callable[[Any], None] = warnings._showwarnmsg  # type: ignore[attr-defined]
    seen: set[tuple[str, type, str, int]] = set()

    def shown(told: Any) -> None:
        if not between(told.filename):
            show(told)
            return
        # Torch's C++ warned: Python took our line, which called it, for the program's.
        frame: types.FrameType | None = sys._getframe(1)
        registry: dict[Any, Any] | None = None
        while frame is not None and between(frame.f_code.co_filename):
            registry = frame.f_globals.get("__warningregistry__") or registry
            frame = frame.f_back
        if frame is not None:
            told.filename, told.lineno, told.line = frame.f_code.co_filename, frame.f_lineno, None
        key = (str(told.message), told.category, told.filename, told.lineno)
        once = bool(registry)  # empty where a filter says "always"
        if registry:
            registry.clear()
        if not once or key not in seen:
            seen.add(key)
            show(told)

    warnings._showwarnmsg = shown  # type: ignore[attr-defined]


def _ours(frame: types.FrameType | None, level: int) -> int:
    """How many frames in between stand before the one that so many levels up would be without us."""
    ours = 0
    while frame is not None and level > 1:
        frame = frame.f_back
        entered = False
        while frame is not None and between(frame.f_code.co_filename):
            entered = entered or frame.f_code.co_name == "handle_torch_function"
            ours += 1
            frame = frame.f_back
        if entered and frame is not None:
            ours += 1
            frame = frame.f_back
        level -= 1
    return ours
