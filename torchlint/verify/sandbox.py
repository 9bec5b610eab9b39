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
import multiprocessing
import os
import signal
import site
import socket
import sys
import tempfile
import time
from collections.abc import Container, Iterator, Mapping
from types import FrameType
from typing import Any

from torchlint.verify.confinement import children
from torchlint.verify.spent import Spent

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MEGABYTE = 1 << 20
FILE_MB = 256
"""No file that a program writes may grow beyond this, nor all that it leaves in its directory."""
REPORT_MB = 1024
"""Address space that is left for the report when a program has taken all that it may."""
PROCESSES = 64
"""At most so many processes at a time."""
WAITING = 3
"""Of the clock a program is given so many times its seconds: on a busy machine it waits for others."""
COMPUTING = 7.0
"""Seconds of processor time in which a program has to come to another watched statement; imports do not count."""
TICK = 0.25
RETRY = 0.01
DEFERRED = 0.5
"""
Seconds in which `TimeLimit` waits for a moment when the program's own code runs. In the middle of what torch or an
observer does (a mode is pushed, a backward is being recorded) another error may come out in its stead, or none.
"""
ENDING = 1.5
"""Seconds of processor time in which a program ends after `TimeLimit`, or is ended; of wall clock, after its limit."""

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
    _limit("RLIMIT_AS", _address_space() + memory_mb * MEGABYTE, more=REPORT_MB * MEGABYTE)


def lift_memory_limit() -> None:
    """After the program has ended, so that the report about it can be written."""
    if resource is not None and hasattr(resource, "RLIMIT_AS"):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _limit(name: str, value: int, *, more: int = 0) -> None:
    """Set a limit, and how far the process may raise it itself."""
    kind = getattr(resource, name, None)
    if kind is None:
        return
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses some
        resource.setrlimit(kind, (value, value + more if hard == resource.RLIM_INFINITY else min(hard, value + more)))


_known_address_space = 0


def remember_address_space() -> None:
    """For processes forked from this one, which may not ask any more."""
    global _known_address_space
    _known_address_space = _address_space()


def _address_space() -> int:
    if _known_address_space:
        return _known_address_space
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 2048 * MEGABYTE


_SEMAPHORES = "/dev/shm"
"""Where Linux keeps them."""


def name_semaphores(directory: str) -> None:
    """
    Let the semaphores of this process, and of those that it starts, be named like its directory: one that another
    program is to open by its name outlives a program that is ended.
    """
    prefix = f"/{os.path.basename(directory)}"
    multiprocessing.current_process()._config["semprefix"] = prefix  # type: ignore[attr-defined]


def remove_semaphores(directory: str) -> None:
    """After a program has ended, those that it has left."""
    start = f"sem.{os.path.basename(directory)}-"
    with contextlib.suppress(OSError):  # elsewhere they have no place
        for name in os.listdir(_SEMAPHORES):
            if name.startswith(start):
                os.remove(os.path.join(_SEMAPHORES, name))


def shorten_time_limit(seconds: float) -> None:
    """
    Let the `time_limit` that is running end after so many seconds of processor time, or `WAITING` times as many of wall
    clock, if it would end later. A busy machine takes nothing from what a program can show in them.
    """
    if _watch is not None:
        _watch.end = min(_watch.end, time.monotonic() + WAITING * seconds)
        _watch.most_used = time.process_time() + seconds


def stop_if_over() -> None:
    """Raise `TimeLimit` where the time is over: called between the statements of a program."""
    if _watch is not None and _watch.over and not _watch.raised:
        _watch.stop()


def going_on() -> None:
    """The program has come to where it had not been: what it has computed until now counts no more."""
    if _watch is not None:
        _watch.computed = 0.0


class _Watch:
    """
    Looks at a program's time in short intervals, and raises `TimeLimit` in it.

    Attributes
    ----------
    seconds
        What it is given; `spent` says what it has had.
    end
        When it has to have ended, on the monotonic clock, however little it had.
    most_used
        When it has to have ended, in processor time.
    computed
        Processor seconds since it last came to where it had not been, those of imports left out.
    over
        When its time was found to be over, on the monotonic clock; 0 before.
    raised
        The processor time at which `TimeLimit` was raised in it; 0 before.
    """

    def __init__(self, seconds: float, own: Container[str]) -> None:
        self.seconds = seconds
        self.spent = Spent()
        self.end = time.monotonic() + WAITING * seconds
        self.most_used = math.inf
        self.own = own
        self.computed = 0.0
        self.used = time.process_time()
        self.over = 0.0
        self.raised = 0.0

    def look(self, number: int, frame: FrameType | None) -> None:
        used, now, spent = time.process_time(), time.monotonic(), self.spent.look()
        if self.raised:
            if (
                used > self.raised + ENDING or spent > self.seconds + ENDING or now > self.end + ENDING
            ):  # the program goes on after what was raised
                signal.signal(signal.SIGXCPU, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGXCPU)
            return
        if not _importing(frame, self.own):
            self.computed += used - self.used
        self.used = used
        if spent < self.seconds and now < self.end and used < self.most_used and self.computed < COMPUTING:
            return
        if not self.over:
            self.over = now
            signal.setitimer(signal.ITIMER_REAL, RETRY, RETRY)
        if now >= self.over + DEFERRED or frame is None or frame.f_code.co_filename in self.own or not self.own:
            self.stop()

    def stop(self) -> None:
        """Raise `TimeLimit`, and see to it that the program ends."""
        self.raised = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        raise TimeLimit


def _importing(frame: FrameType | None, own: Container[str]) -> bool:
    """Whether the innermost of the program's frames, or none of them, waits for an import."""
    while frame is not None and frame.f_code.co_filename not in own:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


_watch: _Watch | None = None


@contextlib.contextmanager
def time_limit(seconds: float, own: Container[str] = ()) -> Iterator[None]:
    """
    Raise `TimeLimit` in the main thread after so many seconds (`Spent`; of the clock after `WAITING` times as many), so
    that what was seen until then is not lost; and sooner if it computes for `COMPUTING` seconds of processor time
    without coming to where it had not been.

    Does nothing where there is no interval timer (Windows): there the parent ends the process.

    Parameters
    ----------
    own
        The names that the program's code objects carry.
    """
    global _watch
    if not hasattr(signal, "setitimer"):
        yield
        return
    _watch = _Watch(seconds, own)
    signal.signal(signal.SIGALRM, _watch.look)
    signal.setitimer(signal.ITIMER_REAL, min(TICK, seconds), TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _watch = None


def stay_inside(directory: str) -> None:
    """
    Refuse, from now on and for good, to write outside `directory`, to open connections, and to start programs.

    By an audit hook (https://docs.python.org/3/library/audit_events.html): files that a C library opens by
    itself (`torch.save` to a path) are not seen by it.
    """
    devices = tuple(f"/dev/{name}/" for name in ("null", "zero", "full", "random", "urandom", "fd"))
    allowed = (os.path.realpath(directory) + os.sep, os.path.realpath(tempfile.gettempdir()) + os.sep, *devices)

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
        elif event == "os.fork" and len(children()) >= PROCESSES:
            raise RefusedError(f"the program wants to run more than {PROCESSES} processes at a time")
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
