"""What a text mentions, told without scopes: never less than what it uses."""

from __future__ import annotations

import ast

import pytest

from torchlint.syntax.mentions import are_spelled, mentioned

NEEDS = ("torch.load", "torch.nn", ".data")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import torch\ntorch.load", {"torch.load"}),
        ("import torch as t\nt.nn.functional.relu(t.load)", {"torch.load", "torch.nn"}),
        ("from torch import load as l\nl", {"torch.load"}),
        ("from torch import *\n", {"torch.load", "torch.nn"}),
        ("from torch.nn import *\n", {"torch.nn"}),
        ("import torch.nn as nn", {"torch.nn"}),
        ("import torch.nn.functional", {"torch.nn"}),
        ("from torch.nn import Linear", {"torch.nn"}),
        ("def f():\n    import torch\n    torch.load", {"torch.load"}),
        ("x.y().data", {".data"}),
        ("import json\njson.load\ndata", set()),
        ("from .torch import load\nload", set()),
        ("import torch\ntorch.loads\nx.load", set()),
    ],
)
def test_mentioned(text: str, found: set[str]) -> None:
    assert mentioned(ast.parse(text), NEEDS) == found


def test_spelled() -> None:
    assert are_spelled("x.load('a')", NEEDS)
    assert are_spelled("# nn", NEEDS)
    assert not are_spelled("loads, preload, datas", NEEDS)
    assert not are_spelled("load", ())
