"""What stands in for `einops` where it is not installed does what it does; held against torch's own operations."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from torchlint.verify.named_axes import einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from torchlint.verify.protocol import STOOD_IN, Request
from torchlint.verify.server import shared


def test_axes_are_moved_put_together_and_taken_apart() -> None:
    x = torch.rand(2, 3, 4, 6)
    assert torch.equal(rearrange(x, "b c h w -> b h w c"), x.permute(0, 2, 3, 1))
    assert torch.equal(rearrange(x, "b c h w -> b (h w) c"), x.flatten(2).transpose(1, 2))
    heads = rearrange(x, "b c h (n d) -> (b n) c h d", n=2)
    assert torch.equal(heads, x.view(2, 3, 4, 2, 3).permute(0, 3, 1, 2, 4).reshape(4, 3, 4, 3))
    assert torch.equal(rearrange(x, "b ... -> b (...)"), x.flatten(1))
    assert torch.equal(rearrange(x, "... d -> d ..."), x.permute(3, 0, 1, 2))
    assert rearrange(x, "b c h w -> b 1 c h w").shape == (2, 1, 3, 4, 6)
    assert torch.equal(rearrange([x, x], "n b c h w -> b n c h w"), torch.stack([x, x], 1))


def test_axes_are_reduced_and_repeated() -> None:
    x = torch.rand(2, 3, 4)
    assert torch.equal(reduce(x, "b c d -> b d", "mean"), x.mean(1))
    assert torch.equal(reduce(x, "b c (d k) -> b c d", "max", k=2), x.view(2, 3, 2, 2).amax(3))
    assert torch.equal(repeat(x, "b c d -> b n c d", n=5), x[:, None].expand(2, 5, 3, 4))
    assert torch.equal(repeat(x, "b c d -> b (c n) d", n=2), x.repeat_interleave(2, 1))
    assert repeat(torch.rand(()), "-> n", n=3).shape == (3,)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(RuntimeError, match="expected 4 dims"):
        rearrange(torch.rand(2, 3), "b c h w -> b c w h")
    with pytest.raises(RuntimeError, match="divide axis of length 3 in chunks of 2"):
        rearrange(torch.rand(2, 3), "b (h d) -> b h d", h=2)


def test_a_module_written_with_it_is_driven(tmp_path: Path) -> None:
    path = tmp_path / "attention.py"
    path.write_text(
        "import torch\nfrom torch import nn, einsum\nfrom einops import rearrange\n"
        "from einops.layers.torch import Rearrange\n"
        "class Attention(nn.Module):\n    def __init__(self, dim, heads=4, dim_head=8):\n        super().__init__()\n"
        "        self.heads = heads\n        self.to_qkv = nn.Linear(dim, heads * dim_head * 3)\n"
        "        self.out = nn.Sequential(Rearrange('b h n d -> b n (h d)'), nn.Linear(heads * dim_head, dim))\n"
        "    def forward(self, x):\n"
        "        q, k, v = (rearrange(t, 'b n (h d) -> b h n d', h=self.heads)"
        " for t in self.to_qkv(x).chunk(3, dim=-1))\n"
        "        attn = einsum('b h i d, b h j d -> b h i j', q, k).softmax(-1)\n"
        "        return self.out(einsum('b h i j, b h j d -> b h i d', attn, v))\n",
        encoding="utf-8",
    )
    outcome = shared().run(Request(text=path.read_text(), path=str(path), module="Attention", timeout=20.0))
    assert outcome.ending == "ended", outcome
    assert f"{STOOD_IN} `einops`" in outcome.driven


def test_tensors_are_packed_and_unpacked() -> None:
    x, y = torch.rand(2, 3, 4, 5), torch.rand(2, 5)
    packed, sizes = pack([x, y], "b * d")
    assert packed.shape == (2, 13, 5)
    first, second = unpack(packed, sizes, "b * d")
    assert torch.equal(first, x)
    assert torch.equal(second, y)
    assert unpack(packed, [[-1], [1]], "b * d")[0].shape == (2, 12, 5)
    with pytest.raises(RuntimeError, match="expected 3 dims"):
        pack([torch.rand(2)], "b n * d")


def test_words_are_axes_of_a_sum() -> None:
    a, b = torch.rand(2, 3, 4), torch.rand(2, 4, 5)
    named = einsum(a, b, "batch row inner, batch inner column -> batch row column")
    assert torch.allclose(named, a @ b)
    assert parse_shape(a, "b _ d") == {"b": 2, "d": 4}
