"""Hypernetwork: a task embedding writes the weights of a small target MLP."""
import itertools
from dataclasses import dataclass
from typing import Iterator, List, Tuple

import torch
import torch.nn as nn


@dataclass(frozen=True)
class LayerShape:
    fan_in: int
    fan_out: int

    @property
    def numel(self) -> int:
        return self.fan_out * (self.fan_in + 1)


def pairwise(it) -> Iterator[Tuple[int, int]]:
    a, b = itertools.tee(it)
    next(b, None)
    return zip(a, b)


class WeightGenerator(nn.Module):
    def __init__(self, z_dim: int, shape: LayerShape, rank: int):
        super().__init__()
        self.shape = shape
        self.trunk = nn.Sequential(nn.Linear(z_dim, rank), nn.ReLU())
        self.to_w = nn.Linear(rank, shape.fan_in * shape.fan_out)
        self.to_b = nn.Linear(rank, shape.fan_out)
        # the gain of a layer is kept per task, as a scalar
        self.to_gain = nn.Linear(rank, 1)
        nn.init.normal_(self.to_w.weight, std=(shape.fan_in * rank) ** -0.5)

    def forward(self, z: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        h = self.trunk(z)                                              # (T, r)
        w = self.to_w(h).view(-1, self.shape.fan_out, self.shape.fan_in)
        b = self.to_b(h)
        gains = torch.tensor([1.0 + g for g in self.to_gain(h)])       # (T,)
        return w * gains[:, None, None], b


class HyperRegressor(nn.Module):
    def __init__(self, n_tasks: int, z_dim: int, sizes: List[int], rank: int = 8):
        super().__init__()
        if len(sizes) < 2:
            raise ValueError("sizes needs at least the input and the output width")
        self.z = nn.Embedding(n_tasks, z_dim)
        self.shapes = [LayerShape(a, b) for a, b in pairwise(sizes)]
        self.generators = nn.ModuleList(WeightGenerator(z_dim, s, rank) for s in self.shapes)

    @property
    def target_size(self) -> int:
        return sum(s.numel for s in self.shapes)

    def generate(self, task: torch.Tensor):
        z = self.z(task)
        return [g(z) for g in self.generators]

    def forward(self, x: torch.Tensor, task: torch.Tensor) -> torch.Tensor:
        """
        x: (T, N, F) one set of points per task
        task: (T,) task ids
        """
        if x.dim() != 3 or x.size(0) != task.size(0):
            raise ValueError(f"bad shapes {tuple(x.shape)} / {tuple(task.shape)}")
        h = x
        params = self.generate(task)
        for i, (w, b) in enumerate(params):
            h = torch.baddbmm(b.unsqueeze(1), h, w.transpose(1, 2))
            if i + 1 < len(params):
                h = torch.tanh(h)
        return h
