"""
Optimizers and schedulers against running torch.
"""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest
import torch
from torch.optim import lr_scheduler

from torchlint.knowledge.modules import optimizers

OPTIMIZERS = {
    f"torch.optim.{name}"
    for name, value in vars(torch.optim).items()
    if isinstance(value, type) and issubclass(value, torch.optim.Optimizer)
}
SCHEDULERS = {
    f"torch.optim.lr_scheduler.{name}"
    for name, value in vars(lr_scheduler).items()
    if isinstance(value, type) and issubclass(value, lr_scheduler.LRScheduler)
}


def resolve(qualified: str) -> Any:
    module, _, name = qualified.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("qualified", sorted(OPTIMIZERS | SCHEDULERS))
def test_every_class_of_torch_is_known(qualified: str) -> None:
    kind = optimizers.find(qualified)
    assert kind is not None
    assert kind.is_scheduler == (qualified in SCHEDULERS)


@pytest.mark.parametrize("qualified", sorted(optimizers.names()))
def test_every_known_name_is_a_class_of_torch(qualified: str) -> None:
    kind = optimizers.find(qualified)
    assert kind is not None
    assert resolve(qualified).__name__ == kind.name or qualified.endswith("._LRScheduler")


@pytest.mark.parametrize("qualified", sorted(OPTIMIZERS - {"torch.optim.Optimizer"}))
def test_step_needs_a_closure_and_writes_parameters_in_place(qualified: str) -> None:
    kind = optimizers.find(qualified)
    assert kind is not None
    closure = inspect.signature(resolve(qualified).step).parameters["closure"]
    assert kind.step_needs_closure == (closure.default is inspect.Parameter.empty)

    weight = torch.nn.Parameter(torch.rand(3, 3))
    optimizer = resolve(qualified)([weight])
    before = weight._version

    def run() -> torch.Tensor:
        optimizer.zero_grad()
        loss = (weight * weight).sum()
        loss.backward()
        if qualified == "torch.optim.SparseAdam":
            assert weight.grad is not None
            weight.grad = weight.grad.to_sparse()
        return loss

    if kind.step_needs_closure:
        with pytest.raises(TypeError, match="closure"):
            optimizer.step()
        optimizer.step(run)
    else:
        run()
        optimizer.step()
    assert kind.writes_in_place
    assert weight._version > before


@pytest.mark.parametrize("qualified", sorted(SCHEDULERS))
def test_step_of_a_scheduler(qualified: str) -> None:
    kind = optimizers.find(qualified)
    assert kind is not None
    first = next(iter(list(inspect.signature(resolve(qualified).step).parameters.values())[1:]), None)
    assert kind.step_needs_metric == (first is not None and first.default is inspect.Parameter.empty)
    assert not kind.writes_in_place


def test_other_names_are_not_found() -> None:
    assert optimizers.find("torch.optim.lr_scheduler.Optimizer") is None
    assert optimizers.find("SGD") is None
