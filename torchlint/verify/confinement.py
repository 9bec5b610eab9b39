"""
What the Linux kernel keeps a program from: writing elsewhere, the network, signals to others.

Landlock (https://docs.kernel.org/userspace-api/landlock.html) and a seccomp filter, set by the process for itself and
for good, without privileges; native code is held like Python, and what a program starts is held like itself. Where the
kernel has neither, nothing is set: the audit hook of `sandbox` remains.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import signal
import struct
import sys
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_WRITING = {1: 0x1FF2, 2: 0x2000, 3: 0x4000}
"""
Rights by the version of Landlock they came with: write, remove, make (1); move between directories (2); truncate (3).
"""
_FILE = 0x2 | 0x4000
"""Of these, what may be granted for a file that is no directory."""
_READ = 0x4
_TCP, _SCOPES = 0x3, 0x3
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SHARED_MEMORY = "/dev/shm"
"""Workers of a DataLoader hand over tensors there."""

_AF_UNIX = 1
_NUMBERS = {  # socket, ptrace, process_vm_readv, process_vm_writev
    "x86_64": (0xC000003E, 41, (101, 310, 311)),
    "aarch64": (0xC00000B7, 198, (117, 270, 271)),
}


def confine(directory: str) -> bool:
    """
    Hold this process, and all that it starts, to writing inside of a directory.

    Parameters
    ----------
    directory
        Where it may write, remove and make what it likes.

    Returns
    -------
    bool
        Whether the kernel does it.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    _keep_limits(libc)
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1 or libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    writing = sum(rights for since, rights in _WRITING.items() if since <= version)
    attributes = struct.pack("QQQ", writing | _READ, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(_CREATE_RULESET, attributes, size, 0)
    if ruleset < 0:
        return False
    try:
        for path, rights in ((directory, writing), (_SHARED_MEMORY, writing), *_files(writing), *_readable()):
            _allow(libc, ruleset, path, rights)
        if libc.syscall(_RESTRICT_SELF, ruleset, 0) != 0:
            return False
    finally:
        os.close(ruleset)
    return _filtered(libc)


_CAPABILITIES = 0x20080522
_RESOURCE = 24


def _keep_limits(libc: ctypes.CDLL) -> None:
    """Root may raise its own limits again: not any more (`CAP_SYS_RESOURCE`)."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES, 0)
    sets = (ctypes.c_uint32 * 6)()
    with contextlib.suppress(AttributeError):  # a C library that does not have these two
        if libc.capget(header, sets) == 0:
            for index in range(3):
                sets[index] &= ~(1 << _RESOURCE)
            libc.capset(header, sets)


def _readable() -> Iterable[tuple[str, int]]:
    """All that there is to read, but for what `/proc` tells of other processes: their environment, their memory."""
    yield from ((f"/{name}", _READ) for name in os.listdir("/") if name != "proc")
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir("/proc") if not name.isdigit() and name not in ("self", "thread-self")]
        yield from ((f"/proc/{name}", _READ) for name in (*names, str(os.getpid())))


def _files(writing: int) -> Iterable[tuple[str, int]]:
    return ((device, writing & _FILE) for device in _DEVICES)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # a machine without it has nothing to be allowed
        return
    try:
        libc.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def _filtered(libc: ctypes.CDLL) -> bool:
    """No sockets but those between processes of this machine, no look into other processes."""
    known = _NUMBERS.get(platform.machine())
    if known is None:
        return True
    architecture, socket, refused = known
    load, equal, answer = 0x20, 0x15, 0x06
    allow, deny = 0x7FFF0000, 0x00050000 | 1  # EPERM
    program = [
        (load, 0, 0, 4),
        (equal, 1, 0, architecture),
        (answer, 0, 0, deny),
        (load, 0, 0, 0),
    ]
    rest = len(refused)
    for index, number in enumerate(refused):
        program.append((equal, rest - index + 3, 0, number))  # to the last line
    program += [
        (equal, 0, 2, socket),
        (load, 0, 0, 16),  # its first argument: the family of addresses
        (equal, 0, 1, _AF_UNIX),
        (answer, 0, 0, allow),
        (answer, 0, 0, deny),
    ]
    code = b"".join(struct.pack("HBBI", *line) for line in program)
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    filters = Program(len(program), ctypes.cast(buffer, ctypes.c_void_p))
    return bool(libc.prctl(_SET_SECCOMP, _FILTER_MODE, ctypes.byref(filters), 0, 0) == 0)


_SUBREAPER = 36


def adopt_orphans() -> None:
    """From now on processes whose parent has ended become children of this one, and not of the machine's first."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def kill_orphans(but: int = 0) -> None:
    """End whatever a program has left behind, however it hid; one process is none of that."""
    for _ in range(_ROUNDS):
        found = [child for child in children() if child != but]
        if not found:
            return
        for child in found:
            with contextlib.suppress(ProcessLookupError, PermissionError, ChildProcessError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


_ROUNDS = 50
"""A program that forks as fast as it is killed is left after so many."""


def children(process: int = 0) -> list[int]:
    """The processes that one has started, this one unless told otherwise; none where the system does not say."""
    number = process or os.getpid()
    try:
        with open(f"/proc/{number}/task/{number}/children") as file:
            return [int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return []


def descendants(process: int) -> int:
    """How many processes one has started, and those, and so on, as far as they have not been left."""
    return sum(1 + descendants(child) for child in children(process))
