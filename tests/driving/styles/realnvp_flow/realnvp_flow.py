"""RealNVP on vectors, alternating half masks."""
from typing import List, Tuple

import torch
from torch import Tensor, nn


class Flow(nn.Module):
    """Base: every flow maps ``(x, logdet) -> (y, logdet)`` and can invert itself."""

    def forward(self, x: Tensor, logdet: Tensor) -> Tuple[Tensor, Tensor]:
        raise NotImplementedError

    def inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError


class ActNorm(Flow):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(dim))
        self.log_scale = nn.Parameter(torch.zeros(dim))
        self.register_buffer("initialized", torch.tensor(False))

    @torch.no_grad()
    def _data_init(self, x: Tensor) -> None:
        self.loc.copy_(-x.mean(0))
        self.log_scale.copy_(-(x.std(0) + 1e-6).log())
        self.initialized.fill_(True)

    def forward(self, x, logdet):
        if self.training and not bool(self.initialized):
            self._data_init(x)
        return (x + self.loc) * self.log_scale.exp(), logdet + self.log_scale.sum()

    def inverse(self, y):
        return y * (-self.log_scale).exp() - self.loc


class AffineCoupling(Flow):
    def __init__(self, dim: int, hidden: int, flip: bool) -> None:
        super().__init__()
        assert dim % 2 == 0
        self.half = dim // 2
        self.flip = flip
        self.net = nn.Sequential(
            nn.Linear(self.half, hidden),
            nn.GELU(),
            nn.Linear(hidden, hidden),
            nn.GELU(),
            nn.Linear(hidden, dim),
        )
        nn.init.normal_(self.net[-1].weight, std=1e-2)
        nn.init.zeros_(self.net[-1].bias)

    def _slices(self):
        a, b = slice(0, self.half), slice(self.half, None)
        return (b, a) if self.flip else (a, b)

    def _params(self, cond: Tensor) -> Tuple[Tensor, Tensor]:
        s, t = self.net(cond).chunk(2, dim=-1)
        return torch.tanh(s), t

    def forward(self, x, logdet):
        keep, change = self._slices()
        y = x.clone()
        s, t = self._params(y[..., keep])
        y[..., change] = y[..., change] * s.exp() + t
        return y, logdet + s.sum(-1)

    def inverse(self, y):
        keep, change = self._slices()
        s, t = self._params(y[..., keep])
        x = torch.empty_like(y)
        x[..., keep] = y[..., keep]
        x[..., change] = (y[..., change] - t) * (-s).exp()
        return x


class RealNVP(nn.Module):
    def __init__(self, dim: int, n_layers: int = 4, hidden: int = 64) -> None:
        super().__init__()
        self.dim = dim
        flows: List[Flow] = []
        for i in range(n_layers):
            flows += [ActNorm(dim), AffineCoupling(dim, hidden, flip=bool(i % 2))]
        self.flows = nn.ModuleList(flows)
        self.register_buffer("log2pi", torch.log(torch.tensor(2 * torch.pi)))

    def sample(self, n: int) -> Tensor:
        z = torch.randn(n, self.dim, device=self.log2pi.device)
        for f in reversed(self.flows):
            z = f.inverse(z)
        return z

    def forward(self, x: Tensor) -> Tensor:
        """log-likelihood, shape (B,)"""
        assert x.shape[-1] == self.dim
        logdet = x.new_zeros(x.shape[0])
        for f in self.flows:
            x, logdet = f(x, logdet)
        prior = -0.5 * (x.pow(2) + self.log2pi).sum(-1)
        return prior + logdet
