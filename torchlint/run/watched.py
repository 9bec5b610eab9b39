"""
A process that performs jobs one after another while this one watches it: if it dies, that costs one job.

A forked process has the rules loaded already and costs a few milliseconds; forks are used where they are
safe. Nothing outlives who started it: the kernel ends the process when nobody holds the other end of its lifeline.
Knows nothing of what a job is.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Generic, TypeVar

JobT = TypeVar("JobT")
TagT = TypeVar("TagT")
ResultT = TypeVar("ResultT")

POSSIBLE = sys.platform == "linux"
"""Whether a process can be forked safely: elsewhere system libraries may have threads that do not survive it."""
DIED = "the process that checked this file died"
_LENGTH = 8
_ATTEMPTS = 2


class Watched(Generic[JobT, ResultT]):
    """
    One process, started with the first job and again after it has died.

    Parameters
    ----------
    function
        What to do with a job.

    Attributes
    ----------
    owner
        Who made this, and may use it: not a process that was forked from it since.
    """

    def __init__(self, function: Callable[[JobT], ResultT]) -> None:
        self.owner = os.getpid()
        self._function = function
        self._child: _Child | None = None

    def perform(self, job: JobT) -> ResultT | str:
        """
        The result of a job; or, of one that took two processes with it or failed, why there is none.

        Two, because the first may have died of what earlier jobs had piled up.
        """
        request = pickle.dumps(job, pickle.HIGHEST_PROTOCOL)
        for attempt in range(_ATTEMPTS):
            if self._child is None:
                self._child = _Child(self._serve)
            answer = self._child.answer(request)
            if answer is not None:
                result: ResultT | str = pickle.loads(answer)
                return result
            ended = self._child.end()
            self._child = None
            if attempt == _ATTEMPTS - 1:
                return f"{DIED} ({ended})"
        raise AssertionError("the last attempt has returned")

    def __enter__(self) -> Watched[JobT, ResultT]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None

    def _serve(self, request: bytes) -> bytes:
        try:
            return pickle.dumps(self._function(pickle.loads(request)), pickle.HIGHEST_PROTOCOL)
        except (Exception, SystemExit) as error:
            return pickle.dumps(failure(error))


def one_by_one(
    function: Callable[[JobT], ResultT], jobs: Iterable[tuple[JobT, TagT]]
) -> Iterator[tuple[JobT, TagT, ResultT | str]]:
    """A job, what came with it, and its result; or why there is none: as `pool.local` with one process."""
    with Watched(function) as process:
        for job, tag in jobs:
            yield job, tag, process.perform(job)


def failure(error: BaseException) -> str:
    """Why there is no result of a job, in one line."""
    why = str(error).strip().partition("\n")[0]
    return f"the worker that checked this file failed: {type(error).__name__}: {why}"


def end_with(lifeline: int) -> None:
    """
    Have the kernel end this process when the other end of a pipe is closed, whatever it is doing.

    Parameters
    ----------
    lifeline
        The end for reading of a pipe that nobody writes to, and that no other process reads from.
    """
    import fcntl
    import select

    with suppress(OSError):  # the process then ends when it has done its job, and wants another
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    looked = select.poll()
    looked.register(lifeline, 0)
    if looked.poll(0):  # it was closed before
        os._exit(1)


class _Child:
    """A forked process, and the pipes to and from it."""

    def __init__(self, serve: Callable[[bytes], bytes]) -> None:
        requests, self._to = os.pipe()
        self._from, answers = os.pipe()
        lifeline, self._lifeline = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _live(serve, requests, answers, lifeline, (self._to, self._from, self._lifeline))
        for end in (requests, answers, lifeline):
            os.close(end)

    def answer(self, request: bytes) -> bytes | None:
        """What came back; None if the process died."""
        try:
            _send(self._to, request)
            return _receive(self._from)
        except OSError:
            return None

    def end(self) -> str:
        """Kill the process if it lives; how it ended."""
        for end in (self._to, self._from, self._lifeline):
            os.close(end)
        try:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if not ended:
                os.kill(self.pid, signal.SIGKILL)
                _, status = os.waitpid(self.pid, 0)
        except (ChildProcessError, ProcessLookupError):  # somebody else has waited for it
            return "nobody knows how"
        code = os.waitstatus_to_exitcode(status)
        return _named(-code) if code < 0 else f"it ended with status {code}"


def _named(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _live(serve: Callable[[bytes], bytes], requests: int, answers: int, lifeline: int, others: tuple[int, ...]) -> None:
    """The life of the process: nothing of what the other one was about to do may happen here too."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the business of who watches
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for end in others:
            os.close(end)
        end_with(lifeline)
        while (request := _receive(requests)) is not None:
            _send(answers, serve(request))
    except OSError:
        pass
    finally:
        os._exit(0)


def _send(to: int, message: bytes) -> None:
    rest = memoryview(len(message).to_bytes(_LENGTH, "big") + message)
    while rest:
        rest = rest[os.write(to, rest) :]


def _receive(source: int) -> bytes | None:
    head = _read(source, _LENGTH)
    return None if head is None else _read(source, int.from_bytes(head, "big"))


def _read(source: int, size: int) -> bytes | None:
    """So many bytes; None where they end before."""
    pieces: list[bytes] = []
    while size:
        piece = os.read(source, min(size, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
