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

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SHARE = 0.04
"""A process that gets more of an interval than this computes; one that gets less waits, for itself or for its turn."""


def used(process: int = 0) -> float:
    """Seconds of processor time that a process, this one unless told otherwise, and those that it started have had."""
    own = time.process_time() if process == 0 else _clock(process)
    return own + sum(_clock(child) for child in children(process))


def _clock(process: int) -> float:
    """The processor time of another process, 0 where the system does not tell."""
    with contextlib.suppress(OSError, AttributeError, OverflowError):
        return time.clock_gettime(~process << 3 | 2)  # Linux: the clock of a process, by its number
    return 0.0


def never_slept() -> Callable[[float], float]:
    """Tells of an interval how much of it this process waited for its turn: all, where it has not once given it up."""
    if resource is None:
        return lambda idle: 0.0
    last = [resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw]

    def turns(idle: float) -> float:
        before, last[0] = last[0], resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
        return idle if last[0] == before else 0.0

    return turns


def scheduled(process: int) -> Callable[[float], float]:
    """The same of another process, as the system tells it (`/proc/N/schedstat`, Linux)."""
    last = [_delay(process)]

    def turns(idle: float) -> float:
        before, last[0] = last[0], _delay(process)
        return min(idle, max(0.0, last[0] - before))

    return turns


def _delay(process: int) -> float:
    try:
        with open(f"/proc/{process}/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


class Spent:
    """
    Adds up the seconds of one program.

    Parameters
    ----------
    processor
        The processor time that it has had.
    turns
        How much of an interval in which it hardly computed it waited for its turn; given what it did not compute of it.

    Attributes
    ----------
    seconds
        What it has had until the last look. It is looked at often: an interval is either computed in or waited in.
    """

    def __init__(self, processor: Callable[[], float] = used, turns: Callable[[float], float] | None = None) -> None:
        self.processor = processor
        self.turns = never_slept() if turns is None else turns
        self.seconds = 0.0
        self._seen = time.monotonic(), processor()

    def look(self) -> float:
        """The seconds until now."""
        before, now = self._seen, (time.monotonic(), self.processor())
        self._seen = now
        passed, computed = now[0] - before[0], now[1] - before[1]
        waited = self.turns(max(0.0, passed - computed))
        # a worker that has ended takes its time with it: then the clock is what there is
        self.seconds += min(passed, computed) if computed >= SHARE * passed else passed - waited
        return self.seconds
