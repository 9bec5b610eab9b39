"""Hard parameter sharing: one trunk, one head per task, uncertainty-weighted losses."""
from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class TaskType(str, Enum):
    REGRESSION = "regression"
    BINARY = "binary"
    MULTICLASS = "multiclass"

    def loss(self, pred: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        if self is TaskType.REGRESSION:
            return F.smooth_l1_loss(pred.squeeze(-1), target.float())
        if self is TaskType.BINARY:
            return F.binary_cross_entropy_with_logits(pred.squeeze(-1), target.float())
        return F.cross_entropy(pred, target.long())


class Task(NamedTuple):
    name: str
    type: TaskType
    dim: int = 1

    @classmethod
    def parse(cls, text: str) -> "Task":
        """``name:type[:dim]``"""
        name, kind, *dim = text.split(":")
        return cls(name, TaskType(kind), int(dim[0]) if dim else 1)


def add_model_args(parser: ArgumentParser) -> ArgumentParser:
    group = parser.add_argument_group("multitask model")
    group.add_argument("--in-dim", type=int, required=True)
    group.add_argument("--hidden", type=int, nargs="+", default=[64, 64])
    group.add_argument("--task", dest="tasks", type=Task.parse, action="append", default=[])
    group.add_argument("--dropout", type=float, default=0.0)
    return parser


class Trunk(nn.Sequential):
    def __init__(self, sizes: Sequence[int], dropout: float) -> None:
        layers: list[nn.Module] = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.LayerNorm(b), nn.SiLU(), nn.Dropout(dropout)]
        super().__init__(*layers)


class Head(nn.Module):
    def __init__(self, d: int, task: Task) -> None:
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.out = nn.Linear(d, task.dim)

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        return self.out(h + torch.tanh(self.fc(h)))


class MultiTaskNet(nn.Module):
    def __init__(self, args: Namespace) -> None:
        super().__init__()
        if not args.tasks:
            raise ValueError("no tasks given")
        self.tasks: dict[str, Task] = {t.name: t for t in args.tasks}
        sizes = [args.in_dim, *args.hidden]
        self.trunk = Trunk(sizes, args.dropout)
        self.heads = {t.name: Head(sizes[-1], t) for t in args.tasks}
        self.log_var = nn.ParameterDict({t.name: nn.Parameter(torch.zeros(())) for t in args.tasks})

    def weighted(self, losses: dict[str, torch.Tensor]) -> torch.Tensor:
        terms = [torch.exp(-self.log_var[k]) * v + self.log_var[k] for k, v in losses.items()]
        return torch.stack(terms).sum()

    def forward(self, x: torch.Tensor, targets: dict[str, torch.Tensor] | None = None, only: Sequence[str] = ()):
        h = self.trunk(x)
        names = list(only) or list(self.heads)
        preds = {n: self.heads[n](h) for n in names}
        if targets is None:
            return preds
        losses = {n: self.tasks[n].type.loss(preds[n], targets[n]) for n in names if n in targets}
        return self.weighted(losses), preds
