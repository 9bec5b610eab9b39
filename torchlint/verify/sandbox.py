"""
Limits for a process that runs somebody's program: time, memory, files, network, environment.

On every platform what it has: resource limits and a session of its own on POSIX, an audit hook everywhere, and on Linux
what the kernel offers (`confinement`). The hook keeps accidents away (a checkpoint written over the user's, a download,
a machine out of memory) and says what was refused; it does not hold a program that means harm, which can reach the
system past Python's audit events. On Linux the kernel does.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import site
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MEGABYTE = 1 << 20
FILE_MB = 256
"""No file that a program writes may grow beyond this."""

KEPT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SYSTEMROOT",
    "TZ",
)
"""What a child keeps of the environment."""


class TimeLimit(BaseException):
    """Raised inside a program when its time is over; not an `Exception`, so that `except Exception` lets it pass."""


class RefusedError(PermissionError):
    """The program wanted something that is not allowed here: says what."""


def environment(directory: str, parent: Mapping[str, str] = os.environ) -> dict[str, str]:
    """
    The environment of a child: little of the parent's, one thread, no display, GPU or compiler, home in `directory`.

    One thread because torch's default makes some tiny programs take 20 s on a busy machine; no compiler because what
    is checked is eager mode; huge pages, where there are any, because a server forks per program.
    """
    kept = {name: parent[name] for name in KEPT if name in parent}
    return kept | {
        "HOME": directory,
        "TMPDIR": directory,
        "TEMP": directory,
        "XDG_CACHE_HOME": directory,
        "PYTHONUSERBASE": site.getuserbase() or "",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # fewer pages, so that a fork copies fewer entries of its table
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
        "TORCHDYNAMO_DISABLE": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HUB_OFFLINE": "1",
        "WANDB_MODE": "disabled",
    }


def limit_resources(timeout: float, memory_mb: int) -> None:
    """
    Limit this process and its children: processor time, address space beyond what is taken, file size, no core dumps.
    """
    if resource is None:
        return
    # The limit counts from the start of the process, which without a fork has spent seconds on importing torch.
    _limit("RLIMIT_CPU", math.ceil(time.process_time() + timeout) + 2)
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_FSIZE", FILE_MB * MEGABYTE)
    _limit("RLIMIT_AS", _address_space() + memory_mb * MEGABYTE, soft_only=True)


def lift_memory_limit() -> None:
    """After the program has ended, so that the report about it can be written."""
    if resource is not None and hasattr(resource, "RLIMIT_AS"):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _limit(name: str, value: int, *, soft_only: bool = False) -> None:
    kind = getattr(resource, name, None)
    if kind is None:
        return
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses some
        resource.setrlimit(kind, (value, hard if soft_only else value))


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 2048 * MEGABYTE


def shorten_time_limit(seconds: float) -> None:
    """Let the `time_limit` that is running end in so many seconds, if it would end later."""
    if hasattr(signal, "setitimer") and signal.getitimer(signal.ITIMER_REAL)[0] > seconds:
        signal.setitimer(signal.ITIMER_REAL, seconds)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """
    Raise `TimeLimit` in the main thread after so many seconds, so that what was seen until then is not lost.

    Does nothing where there is no interval timer (Windows): there the parent ends the process.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def over(signum: int, frame: object) -> None:
        raise TimeLimit

    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def stay_inside(directory: str) -> None:
    """
    Refuse, from now on and for good, to write outside `directory`, to open connections, and to start programs.

    By an audit hook (https://docs.python.org/3/library/audit_events.html): files that a C library opens by
    itself (`torch.save` to a path) are not seen by it.
    """
    allowed = (os.path.realpath(directory) + os.sep, os.path.realpath(tempfile.gettempdir()) + os.sep, "/dev/")

    def inside(path: Any) -> bool:
        if isinstance(path, int):
            return True
        return (os.path.realpath(os.fsdecode(path)) + os.sep).startswith(allowed)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            if (writes or (mode and set(mode) & set("wax+"))) and path is not None and not inside(path):
                raise RefusedError(
                    f"the program wants to write {os.fsdecode(path)!r}; here it may only write relative paths"
                )
        elif event in _PATH_EVENTS:
            for path in arguments[: _PATH_EVENTS[event]]:
                if not inside(path):
                    raise RefusedError(f"the program wants to change {os.fsdecode(path)!r} ({event})")
        elif event in _NETWORK_EVENTS and not _is_local(arguments[0]):
            raise RefusedError(f"the program wants to use the network ({event})")
        elif event in _PROCESS_EVENTS:
            raise RefusedError(f"the program wants to start another program ({event})")

    sys.addaudithook(hook)


def _is_local(end: object) -> bool:
    """Whether a socket connects processes of this machine: by such ones a loader's workers hand over their tensors."""
    return isinstance(end, socket.socket) and end.family == getattr(socket, "AF_UNIX", None)


_PATH_EVENTS = {
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.mkdir": 1,
    "os.chmod": 1,
    "os.chown": 1,
    "os.symlink": 2,
    "os.link": 2,
    "os.utime": 1,
    "shutil.rmtree": 1,
    "os.truncate": 1,
}
_NETWORK_EVENTS = frozenset({"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"})
_PROCESS_EVENTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.startfile"})
