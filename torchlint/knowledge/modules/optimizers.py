"""
Which classes are optimizers and learning rate schedulers, and how their `step` is called.

References
----------
https://docs.pytorch.org/docs/stable/optim.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_OPTIMIZERS: Final[dict[str, str]] = {
    "Adadelta": "adadelta",
    "Adafactor": "_adafactor",
    "Adagrad": "adagrad",
    "Adam": "adam",
    "AdamW": "adamw",
    "Adamax": "adamax",
    "ASGD": "asgd",
    "LBFGS": "lbfgs",
    "Muon": "_muon",
    "NAdam": "nadam",
    "Optimizer": "optimizer",
    "RAdam": "radam",
    "RMSprop": "rmsprop",
    "Rprop": "rprop",
    "SGD": "sgd",
    "SparseAdam": "sparse_adam",
}
"""Class to the module that defines it."""

_SCHEDULERS: Final = (
    "LRScheduler",
    "LambdaLR",
    "MultiplicativeLR",
    "StepLR",
    "MultiStepLR",
    "ConstantLR",
    "LinearLR",
    "ExponentialLR",
    "SequentialLR",
    "PolynomialLR",
    "CosineAnnealingLR",
    "ChainedScheduler",
    "ReduceLROnPlateau",
    "CyclicLR",
    "CosineAnnealingWarmRestarts",
    "OneCycleLR",
)


@dataclass(frozen=True, slots=True)
class OptimizerKind:
    """
    A class of `torch.optim`.

    Attributes
    ----------
    name
        The class's own name.
    step_needs_closure
        Whether `step` cannot be called without a function that runs forward and backward again. The others take one
        if it is given.
    is_scheduler
        A learning rate scheduler: its first argument is an optimizer, and its `step` writes no parameter.
    step_needs_metric
        A scheduler whose `step` takes the value it watches.
    writes_in_place
        Whether `step` writes the parameters that have a gradient in place under `no_grad`, so that each one's version
        counter moves.
    """

    name: str
    step_needs_closure: bool = False
    is_scheduler: bool = False
    step_needs_metric: bool = False
    writes_in_place: bool = True


def _table() -> dict[str, OptimizerKind]:
    table: dict[str, OptimizerKind] = {}
    for name, module in _OPTIMIZERS.items():
        kind = OptimizerKind(name, step_needs_closure=name == "LBFGS", writes_in_place=name != "Optimizer")
        table[f"torch.optim.{name}"] = table[f"torch.optim.{module}.{name}"] = kind
    for name in _SCHEDULERS:
        kind = OptimizerKind(
            name, is_scheduler=True, step_needs_metric=name == "ReduceLROnPlateau", writes_in_place=False
        )
        table[f"torch.optim.lr_scheduler.{name}"] = kind
    table["torch.optim.lr_scheduler._LRScheduler"] = table["torch.optim.lr_scheduler.LRScheduler"]
    table["torch.optim.swa_utils.SWALR"] = OptimizerKind("SWALR", is_scheduler=True, writes_in_place=False)
    return table


_BY_NAME: Final = _table()


def find(qualified: str) -> OptimizerKind | None:
    """The optimizer or scheduler of this qualified name (`torch.optim.SGD`, `torch.optim.sgd.SGD`), or None."""
    return _BY_NAME.get(qualified)


def names() -> frozenset[str]:
    """Every qualified name that `find` knows."""
    return frozenset(_BY_NAME)
