"""What an argument would have to be, from how a program uses it and from what torch says of several tensors at once."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.verify.protocol import Outcome, Request
from torchlint.verify.server import shared

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\nfrom typing import *\n"


def driven(text: str, name: str) -> Outcome:
    return shared().run(Request(text=HEAD + textwrap.dedent(text), path="snippet.py", module=name, timeout=20.0))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, width):
                    super().__init__()
                    self.up = nn.Upsample(scale_factor=2)
                    self.a = nn.Conv2d(width, width, 1)
                def forward(self, x, skip):
                    return self.up(self.a(x)) + skip
            """,
            "Net",
            id="two sizes of one of several tensors",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def forward(self, x, first=None, second=None):
                    assert second is not None, "second"
                    return x * second
            """,
            "Net",
            id="an argument that may be None, but not here",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def forward(self, x, parts: Optional[List[torch.Tensor]] = None):
                    if self.training:
                        if parts is None:
                            torch._assert(False, "parts")
                    return sum(part.sum(dim=-1) for part in parts) * x.sum()
            """,
            "Net",
            id="torch._assert, and what the annotation says",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, width, activation):
                    super().__init__()
                    self.act = activation()
                    self.parts = nn.Sequential(nn.Linear(width, 3), activation())
                def forward(self, x):
                    return self.act(self.parts(x))
            """,
            "Net",
            id="a class of layers",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, *parts):
                    super().__init__()
                    if not parts:
                        raise ValueError("parts")
                    self.parts = parts
                def forward(self, x):
                    return [part(x) for part in self.parts]
            """,
            "Net",
            id="any number of arguments of a constructor",
        ),
        pytest.param(
            """
            def f(x, how):
                first, second = how
                return second(first(x))
            """,
            "f",
            id="parts that are called",
        ),
        pytest.param(
            """
            class Net(nn.Module):
                def __init__(self, widths: Iterable[int], shape: Tuple[int, int, int]):
                    super().__init__()
                    self.parts = nn.ModuleList([nn.Linear(w, w) for w in list(widths)])
                    self.register_buffer("grid", torch.zeros(shape))
                def forward(self, x):
                    return self.parts[0](x) + self.grid.permute(2, 0, 1).sum()
            """,
            "Net",
            id="how many numbers a tuple holds",
        ),
    ],
)
def test_what_is_wanted(text: str, name: str) -> None:
    outcome = driven(text, name)
    assert outcome.ending == "ended", outcome
