"""Quantisation-aware training blocks with symmetric per-channel weights."""
import enum
import typing as t

import torch
import torch.nn as nn
import torch.nn.functional as F


class QScheme(enum.Enum):
    PER_TENSOR = enum.auto()
    PER_CHANNEL = enum.auto()


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, g):
        return g


class ActObserver(nn.Module):
    """EMA of the absolute maximum."""

    def __init__(self, bits: int = 8, momentum: float = 0.05):
        super().__init__()
        self.qmax = 2 ** (bits - 1) - 1
        self.momentum = momentum
        self.register_buffer("amax", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            with torch.no_grad():
                cur = x.abs().max()
                self.amax.copy_(torch.where(self.amax == 0, cur, self.amax.lerp(cur, self.momentum)))
        scale = self.amax.clone().clamp(min=1e-8) / self.qmax
        q = RoundSTE.apply(x / scale).clamp(-self.qmax - 1, self.qmax)
        return q * scale


class WeightQuantizer(nn.Module):
    def __init__(self, bits: int, scheme: QScheme):
        super().__init__()
        self.qmax = 2 ** (bits - 1) - 1
        self.scheme = scheme

    def scale_of(self, w: torch.Tensor) -> torch.Tensor:
        w = w.detach()
        if self.scheme is QScheme.PER_TENSOR:
            amax = w.abs().max()
        else:
            amax = w.abs().amax(dim=tuple(range(1, w.dim())), keepdim=True)
        return amax.clamp(min=1e-8) / self.qmax

    def forward(self, w: torch.Tensor) -> torch.Tensor:
        s = self.scale_of(w)
        return torch.clamp(torch.round(w / s), -self.qmax - 1, self.qmax) * s


class QConv2d(nn.Conv2d):
    def __init__(self, *args, bits: int = 8, scheme: QScheme = QScheme.PER_CHANNEL, **kwargs):
        super().__init__(*args, **kwargs)
        self.wq = WeightQuantizer(bits, scheme)
        self.aq = ActObserver(bits)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._conv_forward(self.aq(x), self.wq(self.weight), self.bias)


class QNet(nn.Module):
    def __init__(self, channels: t.Sequence[int] = (3, 8, 16), num_classes: int = 10, bits: int = 8,
                 scheme: t.Union[str, QScheme] = "PER_CHANNEL"):
        super().__init__()
        if isinstance(scheme, str):
            scheme = QScheme[scheme]
        self.convs = nn.ModuleList(
            QConv2d(a, b, 3, stride=2, padding=1, bits=bits, scheme=scheme)
            for a, b in zip(channels, channels[1:])
        )
        # the classifier is kept in float
        self.fc = nn.Linear(channels[-1], num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for conv in self.convs:
            x = F.hardswish(conv(x))
        return self.fc(x.mean(dim=(-2, -1)))
