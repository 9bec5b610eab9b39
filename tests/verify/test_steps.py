"""Modules that no refusal explains: one argument after the other is changed, and what comes further is kept."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.verify.protocol import Outcome, Request
from torchlint.verify.server import shared

PROGRAMS = {
    "groups of a norm that few channels cannot be divided into": """
        class Net(nn.Module):
            def __init__(self, channels, emb_channels, dropout):
                super().__init__()
                self.norm = nn.GroupNorm(32, channels)
                self.conv = nn.Conv2d(channels, channels, 3, padding=1)
                self.emb = nn.Linear(emb_channels, 2 * channels)
            def forward(self, x, emb):
                scale, shift = self.emb(emb)[:, :, None, None].chunk(2, dim=1)
                return self.conv(self.norm(x)) * scale + shift
        """,
    "triples in a list": """
        class Net(nn.Module):
            def __init__(self, conv_layers):
                super().__init__()
                self.convs = nn.ModuleList()
                width = 1
                for layer in conv_layers:
                    assert len(layer) == 3, "invalid conv definition: " + str(layer)
                    dim, kernel, stride = layer
                    self.convs.append(nn.Conv1d(width, dim, kernel, stride))
                    width = dim
            def forward(self, x):
                x = x.unsqueeze(1)
                for conv in self.convs:
                    x = conv(x)
                return x
        """,
    "a dictionary that is gone through, and its keys": """
        class Net(nn.Module):
            def __init__(self, heads: dict[str, int], hidden: int):
                super().__init__()
                self.heads = nn.ModuleDict({name: nn.Linear(hidden, n) for name, n in heads.items()})
            def forward(self, x, task: str):
                return self.heads[task](x)
        """,
    "a class of layers by its name": """
        class Net(nn.Module):
            def __init__(self, args):
                super().__init__()
                self.first = nn.Linear(args.width, args.hidden)
                self.act = getattr(nn, args.activation)()
            def forward(self, x):
                return self.act(self.first(x))
        """,
    "a third part of a setting": """
        class Net(nn.Module):
            def __init__(self, config):
                super().__init__()
                dims = config["block_dims"]
                self.convs = nn.ModuleList([nn.Conv2d(1, dims[0], 1), nn.Conv2d(dims[0], dims[1], 1)])
                self.last = nn.Conv2d(dims[1], dims[2], 1)
            def forward(self, x):
                for conv in self.convs:
                    x = conv(x)
                return self.last(x)
        """,
    "ranks of tensors of a batch that are put side by side": """
        class Net(nn.Module):
            def __init__(self, n_items, n_users, dim=16):
                super().__init__()
                self.item = nn.Embedding(n_items, dim)
                self.user = nn.Embedding(n_users, dim)
                self.out = nn.Linear(2 * dim + 5, 1)
            def forward(self, batch):
                user = self.user(batch["user_id"])
                item = self.item(batch["history"]).mean(1)
                return self.out(torch.cat([user, item, batch["dense"]], dim=-1)).squeeze(-1)
        """,
    "a constructor that refuses its rate": """
        class Net(nn.Module):
            def __init__(self, width, dropout_prob):
                super().__init__()
                if dropout_prob > 0:
                    raise NotImplementedError("dropout")
                self.first = nn.Linear(width, width)
            def forward(self, x):
                return self.first(x)
        """,
    "keywords that are asked for": """
        class Net(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.first = nn.Linear(width, width)
            def forward(self, **batch):
                return self.first(batch["x"]) + batch["y"]
        """,
    "heads that a small width has not": """
        class Net(nn.Module):
            def __init__(self, dim, dim_head=32):
                super().__init__()
                self.heads, self.dim_head = dim // dim_head, dim_head
                self.to_q = nn.Linear(dim, dim)
            def forward(self, x):
                b, n, _ = x.shape
                return self.to_q(x).view(b, n, self.heads, self.dim_head).softmax(-1)
        """,
}


def driven(text: str, name: str = "Net") -> Outcome:
    head = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
    return shared().run(Request(text=head + textwrap.dedent(text), path="snippet.py", module=name, timeout=30.0))


@pytest.mark.parametrize("what", PROGRAMS)
def test_is_driven(what: str) -> None:
    outcome = driven(PROGRAMS[what])
    assert outcome.ending == "ended", (outcome.note, outcome.raised)


def test_what_is_large_by_its_defaults_is_built_small() -> None:
    text = """
        class Net(nn.Module):
            def __init__(self, image_size=32, width=2048, heads=16, depth=24):
                super().__init__()
                assert width % heads == 0
                self.first = nn.Linear(3 * image_size * image_size, width)
                self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
            def forward(self, x):
                x = self.first(x.flatten(1))
                for block in self.blocks:
                    x = block(x)
                return x
        """
    outcome = driven(text)
    assert outcome.ending == "ended", (outcome.note, outcome.raised)
    assert "width=128" in outcome.driven, outcome.driven
    assert "depth=2" in outcome.driven, outcome.driven


def test_a_name_that_is_an_argument_is_not_one_that_torch_has_no_more() -> None:
    """That torch lacks a layer which a made-up argument asked for is no fault of the program."""
    text = """
        class Net(nn.Module):
            def __init__(self, n_axes, word):
                super().__init__()
                self.conv = getattr(nn, f"Conv{n_axes}d{word}")(2, 2, 1)
            def forward(self, x):
                return self.conv(x)
        """
    outcome = driven(text)
    assert outcome.ending == "unbuilt", outcome
    assert outcome.raised is None, outcome


def test_what_no_step_helps_is_given_up() -> None:
    """Both phases together have eight seconds of processor time, whatever one call computes."""
    text = """
        class Net(nn.Module):
            def __init__(self, width, depth, other=None):
                super().__init__()
                while True:
                    width = width
            def forward(self, x):
                return x
        """
    outcome = driven(text)
    assert outcome.ending == "unbuilt", outcome
    assert "TooLong" in outcome.note, outcome.note
