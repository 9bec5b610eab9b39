"""
Losses against running torch: which there are, their operands, and what each reduction leaves.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

from torchlint.knowledge.modules import find as modules
from torchlint.knowledge.modules import losses
from torchlint.knowledge.shapes.infer import UNKNOWN

F = torch.nn.functional
ALSO_A_LAYER = {"AdaptiveLogSoftmaxWithLoss", "LinearCrossEntropyLoss"}  # `modules` tells their forwards
CLASSES = sorted(name for name, value in vars(torch.nn).items() if isinstance(value, type) and name.endswith("Loss"))


@pytest.mark.parametrize("name", CLASSES)
def test_every_loss_of_torch_is_known(name: str) -> None:
    if name in ALSO_A_LAYER:
        assert modules.find(f"torch.nn.{name}") is not None
        return
    loss = losses.find(f"torch.nn.{name}")
    assert loss is not None
    assert loss is losses.find(loss.functional)
    assert loss is losses.find(f"torch.nn.functional.{loss.functional}")
    assert loss is losses.find(f"torch.nn.modules.loss.{name}")
    default = inspect.signature(getattr(torch.nn, name).__init__).parameters["reduction"].default
    assert loss.default_reduction == default


@pytest.mark.parametrize("loss", losses.LOSSES, ids=lambda loss: loss.functional)
def test_operands_are_parameters_of_the_function(loss: losses.Loss) -> None:
    parameters = list(inspect.signature(getattr(F, loss.functional)).parameters)
    assert [("input" if name == "self" else name) for name in loss.operands] == parameters[: len(loss.operands)]
    assert inspect.signature(getattr(F, loss.functional)).parameters["reduction"].default == loss.default_reduction


LEGACY = [
    {},
    {"reduction": "none"},
    {"reduction": "sum"},
    {"size_average": True},
    {"size_average": False},
    {"reduce": True},
    {"reduce": False},
    {"size_average": False, "reduce": True},
    {"size_average": False, "reduce": False},
    {"size_average": True, "reduce": False, "reduction": "sum"},
]


@pytest.mark.parametrize("arguments", LEGACY, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_reduction_that_holds(arguments: dict[str, Any]) -> None:
    loss = losses.find("mse_loss")
    assert loss is not None
    x, y = torch.rand(2, 3), torch.rand(2, 3)
    true = F.mse_loss(x, y, **arguments)
    assert loss.reduction(arguments) == torch.nn.MSELoss(**arguments).reduction
    assert loss.gives_scalar(arguments) is (true.dim() == 0)


@pytest.mark.parametrize(
    "arguments", [{"reduction": UNKNOWN}, {"size_average": UNKNOWN}, {"reduce": UNKNOWN}, {"reduction": "batchmean"}]
)
def test_reduction_that_nobody_knows(arguments: dict[str, Any]) -> None:
    loss = losses.find("mse_loss")
    assert loss is not None
    assert loss.reduction(arguments) is None
    assert loss.gives_scalar(arguments) is None


def test_divergence_has_a_reduction_of_its_own() -> None:
    loss = losses.find("kl_div")
    assert loss is not None
    assert loss.gives_scalar({"reduction": "batchmean"}) is True
    assert F.kl_div(torch.rand(2, 3), torch.rand(2, 3), reduction="batchmean").dim() == 0


def test_other_names_are_no_losses() -> None:
    assert losses.find("torch.nn.Linear") is None
    assert losses.find("relu") is None
