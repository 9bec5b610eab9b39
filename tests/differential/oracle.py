"""
What torch does with a program: the first error, its class, its line, and the line of the write that caused it.

The program runs in this process, in a namespace of its own. Knows nothing of the model.
"""

from __future__ import annotations

import copy
import sys
import traceback
import warnings
import weakref
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy
import torch

FILE = "<program>"
HEADER = """\
import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim

"""

# The words of torch's messages, per class of error; the first that fits counts.
_MESSAGES = (
    ("saved", "has been modified by an inplace operation"),
    ("freed", "Trying to backward through the graph a second time"),
    ("non-scalar", "grad can be implicitly created only for scalar outputs"),
    ("no-grad-root", "does not require grad and does not have a grad_fn"),
    ("leaf-view", "a view of a leaf Variable that requires grad is being used in an in-place operation"),
    ("leaf", "a leaf Variable that requires grad is being used in an in-place operation"),
    ("leaf", "a leaf Variable that requires grad has been used in an in-place operation"),
    ("multi-view", "is the output of a function that returns multiple views"),
    ("custom-view", "This view was created inside a custom Function"),
    ("no-grad-view", "A view was created in no_grad mode"),
    ("no-grad-view", "This view was created in"),
    ("detach-view", "Can't detach views in-place"),
    ("unused", "appears to not have been used in the graph"),
    ("unused", "One of the differentiated Tensors does not require grad"),
    ("flag-on-non-leaf", "you can only change requires_grad flags of leaf variables"),
    ("numpy", "Can't call numpy() on Tensor that requires grad"),
    ("deepcopy", "support the deepcopy protocol"),
    ("optimizer", "can't optimize a non-leaf Tensor"),
    ("retain-grad", "can't retain_grad on Tensor that has requires_grad=False"),
    ("out", "functions with out=... arguments don't support automatic differentiation"),
    ("hook", "cannot register a hook on a tensor that doesn't require gradient"),
)
CLASSES = tuple(dict.fromkeys(name for name, _ in _MESSAGES))


def autograd_error(error: BaseException) -> str | None:
    """The class of an error, None if it has nothing to do with autograd."""
    if not isinstance(error, (RuntimeError, ValueError)):
        return None
    text = str(error)
    return next((name for name, words in _MESSAGES if words in text), None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    How a program ended.

    Attributes
    ----------
    kind
        "ok", a class of autograd error, or "invalid" (another exception).
    line
        The line, in the innermost function of the program, of the failing statement; of a backward, not of the code
        that it runs (a custom Function's `backward`).
    culprits
        For "saved": the lines of the writes that may be meant; one, unless several saved tensors fit torch's message.
    message
        Torch's words.
    """

    kind: str
    line: int = 0
    culprits: frozenset[int] = frozenset()
    message: str = ""


def fresh_namespace() -> dict[str, Any]:
    """An empty `__main__`."""
    torch.set_grad_enabled(True)
    torch.default_generator.manual_seed(0)  # torch.manual_seed also readies other devices, slowly
    numpy.random.seed(0)
    return {"__name__": "__main__"}


def run(program: str) -> Outcome:
    """Run a program to its end or first error."""
    code = compile(program, FILE, "exec")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(code, fresh_namespace())
        except Exception as error:
            kind = autograd_error(error) or "invalid"
            line = _line(error)
            culprits = _culprits(code, str(error)) if kind == "saved" else frozenset()
            return Outcome(kind, line, culprits, str(error).split("\n", 1)[0])
        finally:
            torch.set_grad_enabled(True)
    return Outcome("ok")


_ENGINE = "_engine_run_backward"
"""The function of torch (torch/autograd/graph.py) through which every backward pass runs."""


def _line(error: BaseException) -> int:
    line = 0
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == FILE:
            line = frame.lineno or 0
        elif frame.name == _ENGINE:
            break
    return line


# ---- the culprit -------------------------------------------------------------------------------------------------


class _Watched:
    """A saved tensor, and the line at which its version moved first. It lives as long as what saved it."""

    __slots__ = ("__weakref__", "moved", "tensor", "version")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.version = tensor._version
        self.moved = 0

    def look(self, line: int) -> None:
        """Note the line that ran since the last look, if it moved the version."""
        if not self.moved and self.tensor._version != self.version:
            self.moved = line


class _StopError(Exception):
    pass


def _culprits(code: Any, message: str) -> frozenset[int]:
    """
    Run the program again, watching every tensor that is saved: which line moved it past the version that torch
    expected.

    Hooks on saved tensors switch torch's own check off, so the run goes on past the failing backward; the failing
    unpack is the first one whose tensor has moved.
    """
    watched: weakref.WeakSet[_Watched] = weakref.WeakSet()
    found: list[int] = []
    line = [0]

    def pack(tensor: torch.Tensor) -> _Watched:
        each = _Watched(tensor)
        watched.add(each)
        return each

    def unpack(each: _Watched) -> torch.Tensor:
        each.look(line[0])
        if each.moved and not found:
            found.append(each.moved)
            raise _StopError
        return each.tensor

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != FILE:
            return None
        if found:
            raise _StopError
        for each in watched:
            each.look(line[0])
        at: FrameType | None = frame if event != "return" else frame.f_back
        while at is not None and at.f_code.co_filename != FILE:
            at = at.f_back  # a hook returns to torch
        line[0] = (at or frame).f_lineno
        return trace

    sys.settrace(trace)
    try:
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            exec(code, fresh_namespace())
    except Exception:
        pass
    finally:
        sys.settrace(None)
        torch.set_grad_enabled(True)
    return frozenset(found)


__all__ = ["CLASSES", "FILE", "HEADER", "Outcome", "autograd_error", "copy", "fresh_namespace", "run"]
