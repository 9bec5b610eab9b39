"""
Runs many random programs in several processes, and survives the death of one: torch itself crashes on some programs
(2.13: a hook on a strided view whose base was written since), and takes its process with it; others never end.

Knows seeds and tallies; what is compared, `compare` knows.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess

from .compare import Tally, tally

BATCH = 1000
"""Programs per process: the reference cycles that `backward(create_graph=True)` leaves behind go with it."""

MOST_SECONDS = 10.0
"""Of CPU time per program: gradients of gradients in a loop grow with the power of its iterations."""


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
    seeds = range(first, first + count)
    batches: list[Sequence[int]] = [seeds[start : start + BATCH] for start in range(0, count, BATCH)][::-1]
    workers: list[_Worker] = []
    try:
        while batches or workers:
            while batches and len(workers) < jobs:
                workers.append(_start(batches.pop(), rare))
            ready = wait([worker.connection for worker in workers])
            for worker in [each for each in workers if each.connection in ready]:
                try:
                    part = worker.connection.recv()
                except EOFError:
                    workers.remove(worker)
                    _end(worker)
                    if worker.pending:
                        yield Tally(died=[worker.pending.pop()])
                        batches.append(worker.pending[::-1])
                else:
                    worker.pending.pop()
                    yield part
    finally:
        for worker in workers:
            worker.process.terminate()
            _end(worker)


def _start(seeds: Sequence[int], rare: bool) -> _Worker:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # A fork of a process that has done nothing but load torch: loading it takes as long as two hundred programs.
    if "forkserver" in multiprocessing.get_all_start_methods():
        context: BaseContext = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
    else:
        context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process: BaseProcess = context.Process(  # type: ignore[attr-defined]
        target=_work, args=(theirs, seeds, rare), daemon=True
    )
    process.start()
    theirs.close()
    return _Worker(process, ours, list(reversed(seeds)))


def _end(worker: _Worker) -> None:
    worker.process.join()
    worker.connection.close()


def _work(connection: Connection, seeds: Sequence[int], rare: bool) -> None:
    warnings.simplefilter("ignore")
    gc.freeze()  # what is loaded stays; no collection need look at it
    for seed in seeds:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)  # ends the process, wherever in torch it is
        connection.send(tally([seed], rare=rare))
