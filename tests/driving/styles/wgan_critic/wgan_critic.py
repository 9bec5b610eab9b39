import logging
from functools import wraps

import torch
import torch.nn as nn
from torch.nn.utils import parametrizations

logger = logging.getLogger(__name__)


def shapes(fn):
    """Log the shapes of tensor arguments at debug level."""

    @wraps(fn)
    def inner(self, *args, **kwargs):
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s %s", fn.__name__, [tuple(a.shape) for a in args if torch.is_tensor(a)])
        return fn(self, *args, **kwargs)

    return inner


class ResDown(nn.Module):
    def __init__(self, cin, cout, sn=False):
        super().__init__()
        wrap = parametrizations.spectral_norm if sn else (lambda m: m)
        self.conv1 = wrap(nn.Conv2d(cin, cin, 3, padding=1))
        self.conv2 = wrap(nn.Conv2d(cin, cout, 3, padding=1))
        self.skip = wrap(nn.Conv2d(cin, cout, 1))
        self.pool = nn.AvgPool2d(2)
        self.act = nn.Softplus()

    def forward(self, x):
        h = self.conv2(self.act(self.conv1(self.act(x))))
        return self.pool(h) + self.skip(self.pool(x))


class Critic(nn.Module):
    def __init__(self, in_ch, base, n_down, n_classes=None, sn=False):
        super().__init__()
        self.stem = nn.Conv2d(in_ch, base, 3, padding=1)
        self.blocks = nn.Sequential(*(ResDown(base * 2 ** i, base * 2 ** (i + 1), sn) for i in range(n_down)))
        top = base * 2 ** n_down
        self.head = nn.Linear(top, 1)
        self.proj = nn.Embedding(n_classes, top) if n_classes else None

    def forward(self, x, y=None):
        h = self.blocks(self.stem(x)).mean((2, 3))
        out = self.head(h)
        if self.proj is not None and y is not None:
            out = out + (self.proj(y) * h).sum(1, keepdim=True)
        return out.squeeze(1)


class WGANCriticLoss(nn.Module):
    """Wraps a critic and returns its WGAN-GP loss.

    ``critic`` may be any module taking ``(x, y=None)``; if omitted one is built from
    ``critic_kwargs``.
    """

    def __init__(self, critic=None, gp_weight=10.0, drift=1e-3, **critic_kwargs):
        super().__init__()
        self.critic = critic if critic is not None else Critic(**critic_kwargs)
        self.gp_weight = gp_weight
        self.drift = drift

    @staticmethod
    def mix(real, fake):
        eps = torch.rand(real.size(0), *([1] * (real.dim() - 1)), device=real.device)
        return (eps * real + (1 - eps) * fake).detach().requires_grad_(True)

    @shapes
    def gradient_penalty(self, real, fake, y):
        x = self.mix(real, fake)
        score = self.critic(x, y)
        g = torch.autograd.grad(score.sum(), x, retain_graph=True)[0]
        return (g.flatten(1).norm(2, dim=1) - 1).pow(2).mean()

    @shapes
    def forward(self, real, fake, y=None, *, part="all"):
        if part == "penalty":
            return self.gp_weight * self.gradient_penalty(real, fake, y)
        s_real, s_fake = self.critic(real, y), self.critic(fake.detach(), y)
        loss = s_fake.mean() - s_real.mean() + self.drift * s_real.pow(2).mean()
        if part == "scores":
            return loss
        return loss + self.gp_weight * self.gradient_penalty(real, fake, y)
