"""
What a program has come to when it ends under torch: the gradients and the values of what it can name.

Each program runs in a forked child with a fixed seed, so that nothing of it stays; what comes back is plain data.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
import torch._dynamo  # every child that makes an optimizer would import it by itself, for seconds

Numbers = list[float]
SECONDS = 60.0


@dataclass(frozen=True)
class Ended:
    """
    A program's end.

    Attributes
    ----------
    gradients
        Of the leaves that require grad, or have received a gradient: variables, parameters of modules and optimizers,
        elements of lists. No gradient is the same as one of zeros: both lead the same way.
    leaves
        The values of these leaves.
    others
        The values of the other floating-point tensors, arrays and numbers: losses, predictions, copies.
    raised
        The exception that ended it, or "".
    printed
        What it wrote to standard output.
    """

    gradients: dict[str, Numbers]
    leaves: dict[str, Numbers]
    others: dict[str, Numbers]
    raised: str = ""
    printed: str = ""


def run(program: str) -> Ended:
    """
    Run a program as a script in a child of its own.

    A process with threads is forked, and so a child may wait for a lock that no thread of it holds (the documentation
    of `os.fork` says so): a program that does not end is run once more.
    """
    try:
        return _run(program)
    except TimeoutError:
        return _run(program)


def _run(program: str) -> Ended:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(program, sender))
    child.start()
    sender.close()
    try:
        if not receiver.poll(SECONDS):
            raise TimeoutError("the program does not end")
        ended: Ended = receiver.recv()
    finally:
        child.kill()
        child.join()
    return ended


def _child(program: str, sender: Any) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    raised = ""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(program, "<program>", "exec"), namespace)  # the programs are this repository's own
        except Exception as error:
            raised = f"{type(error).__name__}: {error}"
    sender.send(replace(_seen(namespace, raised), printed=printed.getvalue()))


def _seen(namespace: dict[str, Any], raised: str) -> Ended:
    gradients: dict[str, Numbers] = {}
    leaves: dict[str, Numbers] = {}
    others: dict[str, Numbers] = {}
    for name, tensor in _tensors(namespace):
        if not tensor.is_floating_point() or tensor.numel() > 100_000:
            continue
        if tensor.is_leaf and (tensor.requires_grad or tensor.grad is not None):
            gradient = tensor.grad if tensor.grad is not None else torch.zeros_like(tensor)
            gradients[name] = _numbers(gradient)
            leaves[name] = _numbers(tensor)
        else:
            others[name] = _numbers(tensor)
    return Ended(gradients, leaves, others, raised)


def _numbers(tensor: torch.Tensor) -> Numbers:
    return tensor.detach().to_dense().double().flatten().tolist()


def _tensors(namespace: dict[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in namespace.items():
        if not name.startswith("__"):
            yield from _inside(name, value, 3)


def _inside(name: str, value: object, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, torch.nn.Module):
        yield from ((f"{name}.{inner}", parameter) for inner, parameter in value.named_parameters())
    elif isinstance(value, torch.optim.Optimizer):
        groups = [group["params"] for group in value.param_groups]
        yield from ((f"{name}[{i}][{j}]", p) for i, group in enumerate(groups) for j, p in enumerate(group))
    elif isinstance(value, list | tuple) and depth:
        for index, each in enumerate(value):
            yield from _inside(f"{name}[{index}]", each, depth - 1)
    elif isinstance(value, dict) and depth:
        for key, each in value.items():
            yield from _inside(f"{name}[{key!r}]", each, depth - 1)
    elif isinstance(value, float | np.ndarray | np.floating) and np.asarray(value).dtype.kind == "f":
        yield name, torch.as_tensor(np.array(value, dtype=np.float64))
