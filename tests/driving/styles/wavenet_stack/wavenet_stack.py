import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalConv1d(nn.Conv1d):
    """Conv1d that only looks back."""

    def __init__(self, in_channels, out_channels, kernel_size, dilation=1, **kwargs):
        self.left = (kernel_size - 1) * dilation
        super().__init__(in_channels, out_channels, kernel_size, dilation=dilation, **kwargs)

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


class GatedBlock(nn.Module):
    def __init__(self, residual, skip, kernel_size, dilation, local_channels=0, last=False):
        super().__init__()
        self.filter = CausalConv1d(residual, residual, kernel_size, dilation)
        self.gate = CausalConv1d(residual, residual, kernel_size, dilation)
        self.local = nn.Conv1d(local_channels, 2 * residual, 1, bias=False) if local_channels else None
        self.res = None if last else nn.Conv1d(residual, residual, 1)
        self.skip = nn.Conv1d(residual, skip, 1)

    def forward(self, x, local=None):
        f = self.filter(x)
        g = self.gate(x)
        if self.local is not None and local is not None:
            lf, lg = self.local(local).chunk(2, dim=1)
            f = f + lf
            g = g + lg
        z = torch.tanh(f) * torch.sigmoid(g)
        out = x if self.res is None else self.res(z) + x
        return out, self.skip(z)


def mu_law_encode(wav, channels):
    mu = channels - 1
    mag = torch.log1p(mu * wav.abs()) / torch.log1p(torch.tensor(float(mu)))
    return ((torch.sign(wav) * mag + 1) / 2 * mu + 0.5).long()


def mu_law_decode(idx, channels):
    mu = channels - 1
    x = 2 * idx.float() / mu - 1
    return torch.sign(x) / mu * ((1 + mu) ** x.abs() - 1)


class WaveNet(nn.Module):
    """
    Args:
        hp (dict): keys ``quantization``, ``residual``, ``skip``, ``kernel``,
            ``layers``, ``stacks``, ``mel`` (0 for no conditioning), ``hop``.
    """

    def __init__(self, hp):
        super().__init__()
        self.hp = hp
        self.q = hp["quantization"]
        self.front = CausalConv1d(self.q, hp["residual"], 2)
        self.blocks = nn.ModuleList()
        n = hp["stacks"] * hp["layers"]
        for i in range(n):
            dilation = 2 ** (i % hp["layers"])
            self.blocks.append(GatedBlock(hp["residual"], hp["skip"], hp["kernel"], dilation, hp.get("mel", 0), last=i == n - 1))
        self.upsample = None
        if hp.get("mel", 0):
            hop = hp["hop"]
            self.upsample = nn.ConvTranspose1d(hp["mel"], hp["mel"], hop, stride=hop)
        self.post1 = nn.Conv1d(hp["skip"], hp["skip"], 1)
        self.post2 = nn.Conv1d(hp["skip"], self.q, 1)

    @property
    def receptive_field(self):
        k, n = self.hp["kernel"], self.hp["layers"]
        return self.hp["stacks"] * (k - 1) * (2 ** n - 1) + 2

    def condition(self, mel, length):
        local = torch.tanh(self.upsample(mel))
        if local.size(-1) < length:
            raise ValueError("mel too short: %d < %d" % (local.size(-1), length))
        local = local[..., :length]
        # keep the conditioning in the range the filters were tuned for
        local.mul_(2.0).add_(0.5)
        return local

    def forward(self, wav, mel=None):
        # wav: (B, T) in [-1, 1]; mel: (B, n_mels, T // hop)
        idx = mu_law_encode(wav, self.q)
        x = self.front(F.one_hot(idx, self.q).transpose(1, 2).to(wav.dtype))
        local = self.condition(mel, wav.size(-1)) if self.upsample is not None else None

        total = None
        for block in self.blocks:
            x, s = block(x, local)
            total = s if total is None else total + s
        y = self.post2(F.relu(self.post1(F.relu(total))))
        return F.cross_entropy(y[..., :-1], idx[..., 1:])
