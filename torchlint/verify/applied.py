"""
A class that is driven by something else than a constructor and `forward`: a custom Function, by its `apply`.

Runs inside the child. Makes a plain function of it, with the arguments that its `forward` takes behind the context.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch


def applied(target: Any) -> Callable[..., Any] | None:
    """The function that applies a custom Function; None for all else."""
    if not isinstance(target, type) or not issubclass(target, torch.autograd.Function):
        return None
    function: Any = target
    forward = function.forward
    try:
        signature = inspect.signature(forward)
    except (TypeError, ValueError):
        return None
    taken = list(signature.parameters.values())
    if function.setup_context is torch.autograd.Function.setup_context:
        taken = taken[1:]  # the context
    signature = signature.replace(parameters=taken)

    @functools.wraps(forward)
    def apply(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return function.apply(*bound.args)

    apply.__signature__ = signature  # type: ignore[attr-defined]
    apply.__name__ = function.__name__
    return apply
