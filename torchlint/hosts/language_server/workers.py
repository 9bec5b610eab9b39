"""
The processes in which the language server lints and runs programs: one of each, kept between jobs.

What a file does to such a process, however long it takes or however it ends, costs that job and nothing
else. Knows nothing of editors.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from torchlint import config
from torchlint.finding import Finding, Verdict
from torchlint.lint import notebooks
from torchlint.results import NEEDLE
from torchlint.run import job as work
from torchlint.run import pool
from torchlint.syntax.cells import Cells
from torchlint.syntax.notebook import Notebook
from torchlint.syntax.text import Decoded

AskedT = TypeVar("AskedT")
AnswerT = TypeVar("AnswerT")

VERIFY_SECONDS = 30.0
VERIFY_MEMORY_MB = 4096


@dataclass(frozen=True, slots=True)
class Asked:
    """
    What an editor shows, to be linted.

    Attributes
    ----------
    job
        The file as it is called, and under which configuration.
    text
        Its text; of a notebook, nothing.
    cells
        Number and text of each cell of a notebook that is code; None: it is no notebook.
    """

    job: work.Job
    text: str
    cells: tuple[tuple[int, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding whose program is to be run."""

    asked: Asked
    finding: Finding


class Worker:
    """One process that is started when it is needed, and again after it has died or was given up."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    async def perform(self, function: Callable[[AskedT], AnswerT], asked: AskedT, seconds: float) -> AnswerT | str:
        """The function's answer, or why there is none; after so many seconds it is given up."""
        if self._pool is None:
            self._pool = pool.kept()
        try:
            future: Future[AnswerT] = self._pool.submit(function, asked)
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except (TimeoutError, asyncio.TimeoutError):  # two classes before Python 3.11
            self.end()
            return f"it took more than {seconds:.0f} seconds"
        except BrokenExecutor:
            self.end()
            return "the process that worked on this file died"
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def end(self, *, wait: bool = False) -> None:
        """Kill the process, whatever it is doing; `wait` where the host ends as well, and leaves nothing behind."""
        if self._pool is not None:
            pool.kill(self._pool, wait=wait)
            self._pool = None


def lint(asked: Asked) -> tuple[Finding, ...]:
    """The findings of a text, in the worker's process; of one that speaks neither of torch nor of findings none."""
    if asked.cells is not None:
        notebook = Notebook(Decoded(""), asked.cells)
        return work.check_cells(asked.job, notebook)
    if NEEDLE.decode() not in asked.text and "noqa" not in asked.text:
        return ()
    return work.check_in_host(asked.job, asked.text, noqa=True)


def verify(claim: Claim) -> Verdict:
    """Torch's verdict on a finding, in the worker's process."""
    from torchlint.verify import ServerError, TorchMissing
    from torchlint.verify.run import Claims, judged

    text, finding, cells = claim.asked.text, claim.finding, None
    if claim.asked.cells is not None:
        cells = Cells.of(claim.asked.cells)
        text, finding = cells.text, notebooks.in_text(finding, cells)
    try:
        claims = Claims(claim.asked.job.path, text, (finding,), VERIFY_SECONDS, VERIFY_MEMORY_MB)
        verdict = judged(claims)[0].verdict
    except TorchMissing:
        return Verdict("inconclusive", "torch is not installed beside torchlint: pip install 'torchlint[runtime]'", 0.0)
    except ServerError as error:
        return Verdict("inconclusive", str(error), 0.0)
    if verdict is None:
        return Verdict("inconclusive", "nothing was run", 0.0)
    return verdict if cells is None else replace(verdict, evidence=notebooks.in_cells(verdict.evidence, cells))


def job(path: str, overrides: config.Overrides) -> work.Job:
    """
    A file under the configuration that holds where it lies.

    Raises
    ------
    ConfigError
        if that is not valid.
    """
    return work.Job(path, config.for_directory(Path(os.path.dirname(path) or ".")), overrides)
