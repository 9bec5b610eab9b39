"""
Runs many random programs in several processes, and survives the death of one: torch itself crashes on some programs
(2.13: a hook on a strided view whose base was written since), and takes its process with it; others never end.

Knows seeds, and a function that is asked of each.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from .compare import Tally, tally

BATCH = 1000
"""Programs per process: the reference cycles that `backward(create_graph=True)` leaves behind go with it."""

MOST_SECONDS = 10.0
"""Of CPU time per program: gradients of gradients in a loop grow with the power of its iterations."""

Result = TypeVar("Result")


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    connection: Connection
    pending: list[int]
    """Seeds not yet compared, in reverse."""


def tally_parallel(first: int, count: int, jobs: int, *, rare: bool = False) -> Iterator[Tally]:
    """
    Compare `count` programs from seed `first` on, in `jobs` processes; the tally of each as it is ready.

    A program that ends its process, or takes too long, counts as such (`Tally.died`), and another process goes on
    behind it.
    """
    for seed, part in for_each(partial(_tally_one, rare=rare), range(first, first + count), jobs):
        yield part if part is not None else Tally(died=[seed])


def _tally_one(seed: int, *, rare: bool) -> Tally:
    return tally([seed], rare=rare)


def for_each(
    function: Callable[[int], Result], seeds: Sequence[int], jobs: int, preload: Sequence[str] = ()
) -> Iterator[tuple[int, Result | None]]:
    """
    What a function says of each seed, in `jobs` processes, as it is ready; None where it ended its process, or took
    too long.

    Parameters
    ----------
    function
        One that can be pickled, as its results can.
    preload
        Modules to load once, not in each process.
    """
    count = len(seeds)
    batches: list[Sequence[int]] = [seeds[start : start + BATCH] for start in range(0, count, BATCH)][::-1]
    workers: list[_Worker] = []
    try:
        while batches or workers:
            while batches and len(workers) < jobs:
                workers.append(_start(batches.pop(), function, preload))
            ready = wait([worker.connection for worker in workers])
            for worker in [each for each in workers if each.connection in ready]:
                try:
                    part = worker.connection.recv()
                except EOFError:
                    workers.remove(worker)
                    _end(worker)
                    if worker.pending:
                        yield worker.pending.pop(), None
                        batches.append(worker.pending[::-1])
                else:
                    yield worker.pending.pop(), part
    finally:
        for worker in workers:
            worker.process.terminate()
            _end(worker)


def _start(seeds: Sequence[int], function: Callable[[int], Any], preload: Sequence[str]) -> _Worker:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # A fork of a process that has done nothing but load torch: loading it takes as long as two hundred programs.
    if "forkserver" in multiprocessing.get_all_start_methods():
        context: BaseContext = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, *preload])
    else:
        context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process: BaseProcess = context.Process(  # type: ignore[attr-defined]
        target=_work, args=(theirs, seeds, function), daemon=True
    )
    process.start()
    theirs.close()
    return _Worker(process, ours, list(reversed(seeds)))


def _end(worker: _Worker) -> None:
    worker.process.join()
    worker.connection.close()


def _work(connection: Connection, seeds: Sequence[int], function: Callable[[int], Any]) -> None:
    warnings.simplefilter("ignore")
    gc.freeze()  # what is loaded stays; no collection need look at it
    for seed in seeds:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)  # ends the process, wherever in torch it is
        connection.send(function(seed))
