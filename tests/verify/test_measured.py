"""Sizes that are found by how the numbers of a refusal change with them, whatever a program computes of them."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.verify.inputs import Inputs
from torchlint.verify.measured import Measured
from torchlint.verify.protocol import Outcome, Request
from torchlint.verify.server import shared

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def driven(text: str, name: str) -> Outcome:
    return shared().run(Request(text=HEAD + textwrap.dedent(text), path="snippet.py", module=name, timeout=20.0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.a = nn.Conv2d(3, 4, 3, stride=2, padding=1)
                def forward(self, x):
                    x = self.a(self.a(x)[:, :3])
                    b, c, h, w = x.shape
                    if h % 11:
                        raise RuntimeError(f"Shape mismatch, can't divide axis of length {h} in chunks of 11")
                    return x.reshape(b, c, h // 11, 11, w)
            """,
            "Net",
            id="an axis in parts, behind strides",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.norm = nn.LayerNorm(37)
                def forward(self, x):
                    waves = torch.cat([x, x.sin(), x.cos()], dim=-1)
                    return self.norm(F.pad(waves, (1, 0)))
            """,
            "Net",
            id="one size of many times another and one more",
        ),
    ],
)
def test_is_driven(text: str, name: str) -> None:
    outcome = driven(text, name)
    assert outcome.ending == "ended", (outcome.raised, outcome.note, outcome.driven)


def sizes(*calls: tuple[str, tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The shapes that are tried after the last of several refusals at one place."""
    measured, found = Measured(), list[Inputs]()
    for message, shape in calls:
        solved, probes = measured.inputs(1, message, Inputs(shape, ("x",)), {"x": shape})
        found = solved + probes
    return [dict(each.shapes)["x"] for each in found]


def test_a_refusal_that_comes_for_the_first_time_is_measured() -> None:
    assert sizes(("size 5 must be 7", (2, 3))) == [(2, 6), (4, 3)]


def test_the_size_with_which_two_numbers_are_the_same() -> None:
    assert sizes(("size 7 must be 37", (2, 3)), ("size 13 must be 37", (2, 6))) == [(2, 18)]


def test_what_is_to_be_divided() -> None:
    found = sizes(("cannot divide 4 by 7", (2, 3, 16)), ("cannot divide 8 by 7", (2, 3, 32)))
    assert (2, 3, 56) in found


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(("size 13 must be 38", (2, 4, 6)), id="of another rank"),
        pytest.param(("size 13 must be 37", (4, 6)), id="two sizes that changed by different steps"),
        pytest.param(("size 7 must be 37", (2, 6)), id="a size that does not matter"),
    ],
)
def test_what_is_not_comparable(second: tuple[str, tuple[int, ...]]) -> None:
    assert sizes(("size 7 must be 37", (2, 3)), second) == []
