"""
Parameters that an optimizer steps over without a gradient, at every step of the run.

Only looks: names are read from the Modules that are alive when an optimizer steps first.
"""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass, field
from sys import _getframe
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from torchlint.sanitizer.places import Place, here


@dataclass
class Stepped:
    """An optimizer, and which of its parameters never had a gradient when it stepped."""

    kind: str
    place: Place
    total: int
    steps: int = 0
    without: dict[int, str] = field(default_factory=dict)
    frozen: list[str] = field(default_factory=list)


class Optimizers:
    """Looks before each step of every optimizer."""

    def __init__(self) -> None:
        self.met: weakref.WeakKeyDictionary[Any, Stepped] = weakref.WeakKeyDictionary()
        self.all: list[Stepped] = []

    def install(self) -> None:
        """Torch calls it before each step."""
        register_optimizer_step_pre_hook(self._before)

    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        closure = (args[1:] if len(args) > 1 else ()) or kwargs.get("closure")
        if closure:
            return  # the gradients are made inside the step
        with torch._C.DisableTorchFunction():
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            stepped = self.met.get(optimizer)
            if stepped is None:
                names = parameter_names()
                stepped = Stepped(type(optimizer).__name__, here(_getframe(1)), len(parameters))
                for number, p in enumerate(parameters):
                    name = names.get(id(p), f"parameter {number} of shape {tuple(p.shape)}")
                    if not p.requires_grad:
                        stepped.frozen.append(name)
                    elif p.grad is None:
                        stepped.without[id(p)] = name
                self.met[optimizer] = stepped
                self.all.append(stepped)
            elif stepped.without:
                for p in parameters:
                    if p.grad is not None:
                        stepped.without.pop(id(p), None)
            stepped.steps += 1


def parameter_names() -> dict[int, str]:
    """What the parameters of the Modules that are alive are called, by identity."""
    modules = [each for each in gc.get_objects() if issubclass(type(each), torch.nn.Module)]
    inner = {id(child) for module in modules for child in vars(module).get("_modules", {}).values()}
    found: dict[int, str] = {}
    for module in modules:
        if id(module) not in inner:
            for name, parameter in module.named_parameters():
                found.setdefault(id(parameter), f"{type(module).__name__}.{name}")
    return found
