"""
Jobs spread over workers: processes of this machine, or whatever a `concurrent.futures.Executor` stands for.

Hands out a few jobs at a time, so that files are streamed and not all held at once, and gives back what
came of each. A worker that dies loses no file: its jobs are done again, one by one, and only one that kills its worker
twice is given up. Knows nothing of what a job is.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from multiprocessing.process import BaseProcess
from typing import TypeVar

from torchlint.run import watched

JobT = TypeVar("JobT")
TagT = TypeVar("TagT")
ResultT = TypeVar("ResultT")

RENEWED_AFTER = 1000
"""Jobs per process after which processes are started afresh: what they have piled up is gone with them."""


def local(
    function: Callable[[JobT], ResultT],
    jobs: Iterable[tuple[JobT, TagT]],
    workers: int,
    in_flight: int,
    begin: Callable[[], None],
) -> Iterator[tuple[JobT, TagT, ResultT | str]]:
    """
    Perform jobs in processes of this machine, in the order they are given.

    Parameters
    ----------
    function
        What to do with a job, anywhere.
    jobs
        Each with whatever the caller wants to have back beside the result.
    workers
        Processes.
    in_flight
        Jobs handed out at a time, per process.
    begin
        What each process does first.

    Yields
    ------
    tuple
        A job, what came with it, and its result; or why there is none.
    """
    rest = iter(jobs)
    for first in rest:
        lost: list[tuple[JobT, TagT]] = []
        some = chain((first,), islice(rest, RENEWED_AFTER * workers - 1))
        with _processes(workers, begin) as pool:
            for job, tag, result in _streamed(function, some, pool, workers * in_flight, {}):
                if isinstance(result, BrokenExecutor):
                    lost.append((job, tag))
                else:
                    yield job, tag, _said(result)
        # one of these took its process with it, and the others down with the pool
        if watched.POSSIBLE:
            yield from watched.one_by_one(function, lost)
            continue
        for job, tag in lost:
            with _processes(1, begin) as pool:
                try:
                    yield job, tag, pool.submit(function, job).result()
                except BrokenExecutor:
                    yield job, tag, watched.DIED


def remote(
    function: Callable[[JobT], ResultT], jobs: Iterable[tuple[JobT, TagT]], executor: Executor, in_flight: int
) -> Iterator[tuple[JobT, TagT, ResultT | str]]:
    """The same by an executor that looks after its workers itself; `in_flight` counts the jobs of all of them."""
    rest = iter(jobs)
    running: dict[Future[ResultT], tuple[JobT, TagT]] = {}
    try:
        for job, tag, result in _streamed(function, rest, executor, in_flight, running):
            yield job, tag, _said(result)
    finally:  # after Ctrl-C nobody waits for files that have not been begun
        for future in running:
            future.cancel()
    for job, tag in rest:
        yield job, tag, "the executor broke down before this file's turn"


def kept() -> ProcessPoolExecutor:
    """One process for a host that lives for long and has threads: it shares nothing with the host, and ends with it."""
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=partial(_begin, _nothing))


def kill(executor: ProcessPoolExecutor, *, wait: bool = False) -> None:
    """
    End the processes of an executor, whatever they are doing; `wait` for its threads, which hold its semaphores.
    """
    for process in list((getattr(executor, "_processes", None) or {}).values()):
        process.kill()
    executor.shutdown(wait=wait, cancel_futures=True)


def _nothing() -> None:
    """Nothing is to be made ready: the first job loads what it needs."""


def _streamed(
    function: Callable[[JobT], ResultT],
    jobs: Iterator[tuple[JobT, TagT]],
    executor: Executor,
    in_flight: int,
    running: dict[Future[ResultT], tuple[JobT, TagT]],
) -> Iterator[tuple[JobT, TagT, ResultT | Exception]]:
    """The results as they come; after a breakdown those of the jobs under way, and no further job is taken."""
    broken = False
    while True:
        for job, tag in islice(jobs, 0 if broken else in_flight - len(running)):
            try:
                running[executor.submit(function, job)] = (job, tag)
            except BrokenExecutor as error:
                broken = True
                yield job, tag, error
                break
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            job, tag = running.pop(future)
            try:
                result = future.result()
            except Exception as error:
                broken |= isinstance(error, BrokenExecutor)
                yield job, tag, error
            else:
                yield job, tag, result


def _said(result: ResultT | Exception) -> ResultT | str:
    if not isinstance(result, Exception):
        return result
    return watched.failure(result)


@contextmanager
def _processes(workers: int, begin: Callable[[], None]) -> Iterator[ProcessPoolExecutor]:
    # A forked process has the rules loaded already. Elsewhere than on Linux forks are not safe.
    context = multiprocessing.get_context("fork" if watched.POSSIBLE else None)
    with ProcessPoolExecutor(workers, context, initializer=partial(_begin, begin)) as pool:
        try:
            yield pool
        except BaseException:  # after Ctrl-C nobody waits for a file, however long it takes
            kill(pool)
            raise


def _begin(begin: Callable[[], None]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    parent = multiprocessing.parent_process()
    if parent is not None:
        if watched.POSSIBLE:
            watched.end_with(parent.sentinel)
        else:
            threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    begin()


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
