"""`einops` under the model and under torch: `torchlint.verify.named_axes` stands in where it is not installed."""

from __future__ import annotations

import sys
import types

import pytest
import torch
from expectations import lint

from torchlint.verify import named_axes

HEAD = (
    "import torch\nfrom einops import einsum, pack, rearrange, reduce, repeat, unpack\n"
    "from einops.layers.torch import Rearrange, Reduce\n\nw = torch.ones(2, 3, 8, requires_grad=True)\n"
)

FAULTY = {
    "a view of what softmax saved": (
        "p = w.softmax(-1)\nq = rearrange(p, 'b n (h d) -> b h n d', h=2)\nq.mul_(2)\np.sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "what it joins has the graph of what it is given": (
        "p = rearrange(w * 2, 'b n (h d) -> b h n d', h=2).softmax(-1)\np.zero_()\n"
        "rearrange(p, 'b h n d -> b n (h d)').sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "a repeated leaf is a view of it": (
        "c = torch.ones(1, 1, 4, requires_grad=True)\nd = repeat(c, '1 1 d -> b 1 d', b=3)\nd += 1\n",
        "a view of a leaf Variable that requires grad",
        "TLN203",
    ),
    "the greatest is saved with its input": (
        "y = w * 2\nz = reduce(y, 'b n d -> b', 'max')\ny += 1\nz.sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "a layer in a row of layers": (
        "net = torch.nn.Sequential(torch.nn.Linear(8, 8), Rearrange('b n (two d) -> two b n d', two=2))\n"
        "mean, spread = net(w)\ns = (0.5 * spread).exp()\nz = mean + s * w[..., :4]\ns.clamp_(min=0.1)\n"
        "z.sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "what is unpacked leads to what was packed": (
        "x, sizes = pack([w * 2], 'b * d')\np = x.softmax(-1)\np.clamp_(min=0.1)\n"
        "(y,) = unpack(p * 2, sizes, 'b * d')\ny.sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "what is unpacked is a view": (
        "x, sizes = pack([w * 2, w + 1], 'b * d')\nz = x.exp()\ny, _ = unpack(z, sizes, 'b * d')\ny += 1\n"
        "y.sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "dots over a known shape": (
        "p = w.exp()\nq = rearrange(p, '... d -> d ...')\nq.zero_()\np.sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "dots over a shape that nobody knows, nothing joined": (
        "def read(x: torch.Tensor):\n    p = x.exp()\n    q = rearrange(p, '... n (h d) -> ... h n d', h=2)\n"
        "    q.zero_()\n    return p\n\nread(w).sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "a part of several, its last axis split": (
        "def read(x):\n    q, k = (x * 2).chunk(2, dim=-1)\n    q = rearrange(q, '... n (h d) -> ... h n d', h=2)\n"
        "    q.mul_(2)\n    return q\n\nread(w).sum().backward()\n",
        "is a view and is being modified inplace",
        "TLN209",
    ),
    "reduced over a shape that nobody knows": (
        "def read(x: torch.Tensor):\n    p = x.exp()\n    q = reduce(p, '... d -> ...', 'mean')\n    p.zero_()\n"
        "    return q\n\nread(w).sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "a product saves its factors": (
        "q = w * 2\np = einsum(q, w * 3, 'b query d, b key d -> b query key')\nq.zero_()\np.sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
    "a product leads to what was saved before it": (
        "q = w.softmax(-1)\nq.zero_()\neinsum(q, w * 3, 'b i d, b j d -> b i j').sum().backward()\n",
        "modified by an inplace operation",
        "TLN201",
    ),
}
CORRECT = {
    "a product is new": (
        "p = einsum(w * 2, w * 3, 'b query d, b key d -> b query key')\np.add_(1)\np.sum().backward()\n"
    ),
    "dots over a shape that nobody knows, axes joined": (
        "def read(x: torch.Tensor):\n    p = x.exp()\n    q = rearrange(p.mT, '... h d -> ... (h d)')\n    q.zero_()\n"
        "    return p\n\nread(w).sum().backward()\n"
    ),
    "a layer that sums": "y = w * 2\nz = Reduce('b n d -> b', 'sum')(y)\ny += 1\nz.sum().backward()\n",
    "a sum saves nothing": "y = w * 2\nz = reduce(y, 'b n d -> b', 'sum')\ny += 1\nz.sum().backward()\n",
    "what is joined after a permutation is a copy": (
        "p = w.softmax(-1)\nq = rearrange(p, 'b n d -> (n b) d')\nq.mul_(2)\np.sum().backward()\n"
    ),
    "computed with before it is written": (
        "p = w.softmax(-1)\nq = rearrange(p, 'b n (h d) -> b h n d', h=2) + 0\nq.mul_(2)\nq.sum().backward()\n"
    ),
    "packed is a copy, and its parts may be written": (
        "y = w * 2\nx, sizes = pack([y, w.exp()], 'b * d')\nx += 1\na, b = unpack(x, sizes, 'b * d')\na += 1\nb += 1\n"
        "(a + b + y).sum().backward()\n"
    ),
    "repeated and computed with": (
        "c = torch.ones(1, 1, 4, requires_grad=True)\nd = repeat(c, '1 1 d -> b 1 d', b=3) * 1\nd += 1\n"
        "d.sum().backward()\n"
    ),
}


def _refusal(text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    package = types.ModuleType("einops")
    for name in ("einsum", "pack", "rearrange", "reduce", "repeat", "unpack"):
        setattr(package, name, getattr(named_axes, name))
    layers = types.ModuleType("einops.layers.torch")
    for name in ("Rearrange", "Reduce"):
        setattr(layers, name, named_axes.KNOWN[name])
    monkeypatch.setitem(sys.modules, "einops", package)
    monkeypatch.setitem(sys.modules, "einops.layers", types.ModuleType("einops.layers"))
    monkeypatch.setitem(sys.modules, "einops.layers.torch", layers)
    try:
        exec(compile(text, "program.py", "exec"), {"__name__": "__main__", "torch": torch})
    except RuntimeError as error:
        return str(error)
    return ""


def _errors(text: str) -> list[str]:
    return [each.code for each in lint(text).findings if each.level.value == "error"]


@pytest.mark.parametrize("name", FAULTY)
def test_what_torch_refuses_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, refusal, code = FAULTY[name]
    assert refusal in _refusal(HEAD + text, monkeypatch)
    assert _errors(HEAD + text) == [code]


@pytest.mark.parametrize("name", CORRECT)
def test_what_torch_takes_is_no_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _refusal(HEAD + CORRECT[name], monkeypatch) == ""
    assert _errors(HEAD + CORRECT[name]) == []
