"""Runs a program under torch, in this process, and says whether its symptom shows. The seed is the same for all."""

from __future__ import annotations

import contextlib
import io
import random
import runpy
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from .collection import Program


@dataclass(frozen=True)
class Outcome:
    """How a run ended, what it printed, and the warnings it gave."""

    error: BaseException | None
    printed: str
    warned: tuple[str, ...]

    def shows(self, program: Program) -> bool:
        """Whether this is the symptom of the program's header."""
        if program.how == "raises":
            kind, _, text = program.symptom.partition(": ")
            return type(self.error).__name__ == kind and text in str(self.error)
        if self.error is not None:
            return False
        if program.how == "prints":
            return program.symptom in self.printed
        return any(program.symptom in each for each in self.warned)


def run(path: Path) -> Outcome:
    """The outcome of a file, run as a script."""
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(0)
    printed = io.StringIO()
    error = None
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            runpy.run_path(str(path), run_name="__main__")
        except (Exception, SystemExit) as caught:
            error = caught
        finally:
            torch.set_grad_enabled(True)
            torch.set_default_dtype(torch.float32)
            torch.use_deterministic_algorithms(False)
    return Outcome(error, printed.getvalue(), tuple(str(each.message) for each in warned))
