"""One command, measured: CPU seconds of all its processes, wall seconds, memory of all of them at their peak."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Measured:
    """
    What a command took.

    Attributes
    ----------
    cpu, wall
        Seconds.
    memory
        Bytes: the sum over its processes of what is resident (memory that several share is divided among them), at the
        highest point seen; where the system does not tell (elsewhere than on Linux), the largest process.
    status
        Its exit status.
    """

    cpu: float
    wall: float
    memory: int
    status: int


def measure(command: Sequence[str | Path], directory: Path) -> Measured:
    """
    Run a command.

    Raises
    ------
    RuntimeError
        if it ends with another status than 0 and 1; the message has the end of what it said.
    """
    with open(directory / ".." / "said", "w+b") as said:
        start = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, command)), cwd=directory, stdout=said, stderr=subprocess.STDOUT, env=_environment()
        )
        watch = _Memory(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        watch.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            said.seek(max(0, said.tell() - 2000))
            text = said.read().decode(errors="replace")
            raise RuntimeError(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{text}")
    # the largest process that the system knows of may be this one, before it became the command
    memory = watch.peak or usage.ru_maxrss * 1024
    return Measured(usage.ru_utime + usage.ru_stime, wall, memory, process.returncode)


def best(command: Sequence[str | Path], directory: Path, times: int) -> Measured:
    """The least of several runs: whatever else the machine does only adds."""
    return by_turns({"": (command, directory)}, times)[""]


def by_turns(commands: Mapping[str, tuple[Sequence[str | Path], Path]], times: int) -> dict[str, Measured]:
    """
    Of each command the least of several runs, one after the other in every round: a machine that is slower for a while
    is slower for all.
    """
    runs: dict[str, list[Measured]] = {name: [] for name in commands}
    for _ in range(times):
        for name, (command, directory) in commands.items():
            runs[name].append(measure(command, directory))
    return {
        name: Measured(
            min(run.cpu for run in several),
            min(run.wall for run in several),
            max(run.memory for run in several),
            several[0].status,
        )
        for name, several in runs.items()
    }


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT")}
    return {**kept, "OMP_NUM_THREADS": "1"}


class _Memory:
    """Looks at a process and those below it several times a second."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No more looks."""
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        start = time.perf_counter()
        pause = 0.02
        while not self._done.wait(pause):
            self.peak = max(self.peak, sum(map(_resident, _below(self._pid))))
            if time.perf_counter() - start > 1:
                pause = 0.2


def _below(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        for listed in Path(f"/proc/{each}/task").glob("*/children"):
            try:
                found += map(int, listed.read_text().split())
            except OSError:
                continue
    return found


def _resident(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))
