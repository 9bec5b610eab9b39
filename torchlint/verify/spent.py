"""
The time that a program has had, whatever else the machine does: of processor time while it computes, of the clock while
it waits.

Runs in the program's process and in the one that watches it. Only looks; who is over his time is ended elsewhere.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from torchlint.verify.confinement import children

SHARE = 0.04
"""A process that gets less of an interval than this waits, and does not compute."""


def used(process: int = 0) -> float:
    """Seconds of processor time that a process, this one unless told otherwise, and those that it started have had."""
    own = time.process_time() if process == 0 else _clock(process)
    return own + sum(_clock(child) for child in children(process))


def _clock(process: int) -> float:
    """The processor time of another process, 0 where the system does not tell."""
    with contextlib.suppress(OSError, AttributeError, OverflowError):
        return time.clock_gettime(~process << 3 | 2)  # Linux: the clock of a process, by its number
    return 0.0


class Spent:
    """
    Adds up the seconds of one program.

    Parameters
    ----------
    processor
        The processor time that it has had.

    Attributes
    ----------
    seconds
        What it has had until the last look. It is looked at often: an interval is either computed in or waited in.
    """

    def __init__(self, processor: Callable[[], float] = used) -> None:
        self.processor = processor
        self.seconds = 0.0
        self._seen = time.monotonic(), processor()

    def look(self) -> float:
        """The seconds until now."""
        before, now = self._seen, (time.monotonic(), self.processor())
        self._seen = now
        passed, computed = now[0] - before[0], now[1] - before[1]
        # a worker that has ended takes its time with it: then the clock is what there is
        self.seconds += min(passed, computed) if computed >= SHARE * passed else passed
        return self.seconds
