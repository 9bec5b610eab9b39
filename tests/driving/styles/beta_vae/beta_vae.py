import enum
from collections import OrderedDict
from typing import Any, Dict, Tuple

import torch
from torch import nn
from torch.nn import functional as F

DEFAULTS: Dict[str, Any] = {
    "image": {"channels": 1, "size": 16},
    "latent": {"dim": 8, "min_std": 1e-3},
    "encoder": {"hidden": [16, 32]},
    "loss": {"kind": "bce", "beta": 4.0, "reduction": "batch"},
}


class LossKind(enum.Enum):
    BCE = "bce"
    MSE = "mse"


def merge(base: Dict[str, Any], over: Dict[str, Any]) -> Dict[str, Any]:
    out = dict(base)
    for k, v in over.items():
        out[k] = merge(base[k], v) if isinstance(v, dict) and k in base else v
    return out


class BetaVAE(nn.Module):
    """beta-VAE with everything set from one nested dict (see ``DEFAULTS``)."""

    def __init__(self, config=None):
        super().__init__()
        self.config = cfg = merge(DEFAULTS, config or {})
        self.kind = LossKind(cfg["loss"]["kind"])
        self.beta = cfg["loss"]["beta"]
        self.min_std = cfg["latent"]["min_std"]
        hidden = cfg["encoder"]["hidden"]
        self.grid = cfg["image"]["size"] // 2 ** len(hidden)
        assert self.grid >= 1, "too many encoder stages for this image size"

        enc = OrderedDict()
        c = cfg["image"]["channels"]
        for i, h in enumerate(hidden):
            enc[f"conv{i}"] = nn.Conv2d(c, h, 4, stride=2, padding=1)
            enc[f"act{i}"] = nn.LeakyReLU(0.2, inplace=True)
            c = h
        enc["flat"] = nn.Flatten()
        self.encoder = nn.Sequential(enc)
        feat = hidden[-1] * self.grid ** 2
        self.to_stats = nn.Linear(feat, 2 * cfg["latent"]["dim"])

        self.from_z = nn.Linear(cfg["latent"]["dim"], feat)
        rev = list(reversed(hidden)) + [cfg["image"]["channels"]]
        dec = OrderedDict()
        for i, (a, b) in enumerate(zip(rev[:-1], rev[1:])):
            dec[f"act{i}"] = nn.LeakyReLU(0.2)
            dec[f"deconv{i}"] = nn.ConvTranspose2d(a, b, 4, stride=2, padding=1)
        self.decoder = nn.Sequential(dec)

    def encode(self, x) -> Tuple[torch.Tensor, torch.Tensor]:
        mu, logvar = self.to_stats(self.encoder(x)).chunk(2, dim=-1)
        std = torch.exp(0.5 * logvar)
        std.clamp_(min=self.min_std)
        return mu, std

    def reparameterize(self, mu, std):
        return mu + std * torch.randn_like(std) if self.training else mu

    def decode(self, z):
        h = self.from_z(z)
        return self.decoder(h.view(z.size(0), -1, self.grid, self.grid))

    def reconstruction(self, logits, x):
        if self.kind is LossKind.BCE:
            return F.binary_cross_entropy_with_logits(logits, x, reduction="none").flatten(1).sum(1)
        return (torch.sigmoid(logits) - x).pow(2).flatten(1).sum(1)

    def forward(self, batch):
        x = batch["image"]
        mu, std = self.encode(x)
        z = self.reparameterize(mu, std)
        logits = self.decode(z)
        rec = self.reconstruction(logits, x)
        kl = (0.5 * (mu ** 2 + std ** 2 - 1) - std.log()).sum(1)
        return {"loss": (rec + self.beta * kl).mean(), "recon": logits, "kl": kl.mean()}
