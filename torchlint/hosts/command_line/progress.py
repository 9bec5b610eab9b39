"""
A bar on a terminal while a run takes long; nothing anywhere else.

Writes to standard error, and takes the bar away whenever something else is to be printed, and at the end.
"""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

DELAY = 1.0
"""Seconds after which a run is long."""
_AWAY = "\r\x1b[K\x1b[?25h"


class Progress:
    """
    How much is done.

    Parameters
    ----------
    all_
        How many files there are, or whatever is counted.
    shown
        Whether a bar is wanted at all.
    label
        What stands before the bar.
    """

    def __init__(self, all_: int, *, shown: bool, label: str = "torchlint") -> None:
        self.all = all_
        self.label = label
        self.done = 0
        self.started = time.monotonic()
        self.possible = shown and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.bar: ProgressBar[Any] | None = None

    def advance(self, more: int) -> None:
        """Some more are done."""
        self.done += more
        if not self.possible:
            return
        if self.bar is not None:
            self.bar.update(more)
        elif time.monotonic() - self.started >= DELAY:
            import click

            self.bar = click.progressbar(length=self.all, label=self.label, show_pos=True, file=sys.stderr)
            self.bar.__enter__()
            self.bar.update(self.done)

    def hide(self) -> None:
        """Make room on the terminal; the bar comes back with the next file."""
        if self.bar is not None:
            sys.stderr.write(_AWAY)
            sys.stderr.flush()
            self.bar._last_line = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.hide()
        self.bar = None
