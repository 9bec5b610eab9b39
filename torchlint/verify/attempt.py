"""
An attempt that takes too long is given up, for the next one may not.

Runs inside the child. Measures what is computed, not what the machine does besides.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SECONDS = 4.0
"""Of processor time, user and system, that one attempt may take: what `waiting.Effort` counts of a whole search."""


class TooLong(Exception):  # noqa: N818 (not a fault of the program)
    """It was given up."""


@contextlib.contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raise `TooLong` in what is computed for longer, once more where that is handled."""
    if not hasattr(signal, "ITIMER_PROF") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong(f"it takes longer than {seconds:.1f} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
