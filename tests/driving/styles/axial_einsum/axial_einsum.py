from math import sqrt

import torch
from torch import einsum, nn


class RelPos1D(nn.Module):
    """Learned relative logits along one axis."""

    def __init__(self, size: int, dim_head: int):
        super().__init__()
        self.size = size
        self.table = nn.Parameter(torch.randn(2 * size - 1, dim_head) * dim_head ** -0.5)
        idx = torch.arange(size)
        self.register_buffer("rel", idx[None, :] - idx[:, None] + size - 1, persistent=False)

    def forward(self, q):
        # q: (n, h, i, d) -> (n, h, i, j)
        return einsum("nhid,ijd->nhij", q, self.table[self.rel])


class AxialAttention(nn.Module):
    def __init__(self, dim, size, heads=2, dim_head=16, axis=-1):
        super().__init__()
        inner = heads * dim_head
        self.heads, self.axis, self.scale = heads, axis, 1 / sqrt(dim_head)
        self.to_q = nn.Linear(dim, inner, bias=False)
        self.to_kv = nn.Linear(dim, inner * 2, bias=False)
        self.to_out = nn.Linear(inner, dim)
        self.pos = RelPos1D(size, dim_head)

    def heads_first(self, t):
        n, l, _ = t.shape
        return t.reshape(n, l, self.heads, -1).permute(0, 2, 1, 3).contiguous()

    def forward(self, x):
        # x: (b, c, h, w); fold the other spatial axis into the batch
        b, c, h, w = x.shape
        if self.axis == -1:
            seq = x.permute(0, 2, 3, 1).reshape(b * h, w, c)
        else:
            seq = x.permute(0, 3, 2, 1).reshape(b * w, h, c)

        q = self.heads_first(self.to_q(seq))
        k, v = map(self.heads_first, self.to_kv(seq).chunk(2, dim=-1))

        content = einsum("nhid,nhjd->nhij", q, k) * self.scale
        q *= self.scale
        logits = content + self.pos(q)
        attn = logits.softmax(dim=-1)
        out = einsum("nhij,nhjd->nhid", attn, v)
        out = self.to_out(out.permute(0, 2, 1, 3).flatten(2))

        if self.axis == -1:
            return out.view(b, h, w, c).permute(0, 3, 1, 2)
        return out.view(b, w, h, c).permute(0, 3, 2, 1)


class ChanLayerNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.g = nn.Parameter(torch.ones(1, dim, 1, 1))
        self.b = nn.Parameter(torch.zeros(1, dim, 1, 1))

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=1, unbiased=False, keepdim=True)
        return (x - mean) / (var + self.eps).sqrt() * self.g + self.b


class PreNormResidual(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.norm = ChanLayerNorm(dim)
        self.fn = fn

    def forward(self, x, **kwargs):
        return self.fn(self.norm(x), **kwargs) + x


class AxialImageTransformer(nn.Module):
    def __init__(self, *, image_size, patch, dim, depth, num_classes, heads=2, dim_head=16, channels=3):
        super().__init__()
        assert image_size % patch == 0, "image must split into patches"
        size = image_size // patch
        self.patchify = nn.Conv2d(channels, dim, patch, stride=patch)
        self.layers = nn.Sequential(*[
            nn.Sequential(
                PreNormResidual(dim, AxialAttention(dim, size, heads, dim_head, axis=-1)),
                PreNormResidual(dim, AxialAttention(dim, size, heads, dim_head, axis=-2)),
                PreNormResidual(dim, nn.Sequential(nn.Conv2d(dim, dim * 4, 1), nn.GELU(), nn.Conv2d(dim * 4, dim, 1))),
            )
            for _ in range(depth)
        ])
        self.to_logits = nn.Linear(dim, num_classes)

    def forward(self, img):
        x = self.layers(self.patchify(img))
        return self.to_logits(einsum("bchw->bc", x) / x[0, 0].numel())
