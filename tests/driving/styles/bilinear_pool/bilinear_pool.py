"""Second-order pooling for fine-grained recognition (B-CNN, Lin et al. 2015)."""
from typing import Callable, Optional, Tuple, Union

import torch
import torch.nn as nn

Activation = Union[str, Callable[[torch.Tensor], torch.Tensor], nn.Module]


def resolve_activation(act: Activation) -> nn.Module:
    if isinstance(act, nn.Module):
        return act
    if callable(act):
        class _Wrapped(nn.Module):
            def forward(self, x):
                return act(x)
        return _Wrapped()
    table = {"relu": nn.ReLU, "gelu": nn.GELU, "leaky": lambda: nn.LeakyReLU(0.1)}
    try:
        return table[act]()
    except KeyError:
        raise ValueError(f"unknown activation {act!r}, expected one of {sorted(table)}") from None


def signed_sqrt(x: torch.Tensor) -> torch.Tensor:
    """Power normalisation, sign(x) * sqrt(|x|)."""
    return torch.where(x > 0, x.sqrt(), -(-x).sqrt())


class Stream(nn.Module):
    """One convolutional stream."""

    def __init__(self, cin: int, width: int, depth: int, activation: Activation):
        super().__init__()
        act = resolve_activation(activation)
        body = []
        for i in range(depth):
            body += [
                nn.Conv2d(cin if i == 0 else width, width, kernel_size=3, padding=1),
                nn.BatchNorm2d(width),
                act,
                nn.MaxPool2d(2),
            ]
        self.body = nn.Sequential(*body)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.body(x)


class BilinearPool(nn.Module):
    def __init__(self, normalise: bool = True, eps: float = 1e-5):
        super().__init__()
        self.normalise = normalise
        self.eps = eps

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        assert a.shape[-2:] == b.shape[-2:], "streams must have one resolution"
        n = a.shape[-2] * a.shape[-1]
        outer = torch.einsum("bihw,bjhw->bij", a, b) / n
        v = signed_sqrt(outer.flatten(1))
        if self.normalise:
            v = v / (v.norm(dim=1, keepdim=True) + self.eps)
        return v


class BilinearCNN(nn.Module):
    def __init__(
        self,
        num_classes: int,
        widths: Tuple[int, int] = (16, 16),
        depth: int = 2,
        in_channels: int = 3,
        activation: Activation = "relu",
        shared: Optional[bool] = None,
    ):
        super().__init__()
        shared = bool(shared)
        if shared and widths[0] != widths[1]:
            raise ValueError("a shared stream needs equal widths")
        self.a = Stream(in_channels, widths[0], depth, activation)
        self.b = self.a if shared else Stream(in_channels, widths[1], depth, activation)
        self.pool = BilinearPool()
        self.fc = nn.Linear(widths[0] * widths[1], num_classes)

    def forward(self, x: torch.Tensor, *, return_features: bool = False):
        fa = self.a(x)
        fb = fa if self.a is self.b else self.b(x)
        v = self.pool(fa, fb)
        logits = self.fc(v)
        return (logits, v) if return_features else logits
