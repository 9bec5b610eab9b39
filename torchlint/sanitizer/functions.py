"""
The `apply` of custom autograd Functions: no mode is asked for it, so it is watched by its name.

Only looks: the Function is applied as it would be, and its result is not changed.
"""

from __future__ import annotations

from sys import _getframe
from typing import Any

import torch

from torchlint.sanitizer.calls import Calls, label, tensors


def install(calls: Calls) -> None:
    """Watch every custom Function from now on."""
    original = torch.autograd.Function.__dict__["apply"].__func__

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if calls.inside:
            return original(cls, *args, **kwargs)
        given = list(tensors(args, {}))
        versions = [int(each._version) if not each.is_inference() else -1 for each in given]
        result = original(cls, *args, **kwargs)
        calls.clock += 1
        results = [each for each in tensors((result,), {}) if each.grad_fn is not None]
        if results:
            label(calls, f"{cls.__name__}.apply", results, given, versions, _getframe(1))
        return result

    torch.autograd.Function.apply = classmethod(apply)
