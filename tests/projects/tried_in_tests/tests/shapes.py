import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.tensor([2.0, 3.0])

    def forward(self, x):
        return x * self.factor


def scale():
    assert Scaled()(torch.ones(2)).sum().item() == 5


def check(sizes):
    model = nn.Linear(2, 2)
    model.eval()
    for size in sizes:
        out = model(torch.full((4, 2), size))
        assert out.isfinite().all().item()
