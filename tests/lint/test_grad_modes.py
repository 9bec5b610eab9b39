"""Writes that matter only with grad mode on, in what the project's files call with grad mode off alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

NET = """
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 2, 1)

    def forward(self, x):
        h = torch.tanh(self.conv(x))
        h += 1
        return h

    def features(self, x):
        h = torch.tanh(self.conv(x))
        h += 1
        return h
"""
OFF = """
import torch
from net.encoder import Encoder


class Voice:
    def __init__(self, device):
        self.encoder = Encoder().to(device)
        self.encoder.eval()

    def convert(self, x):
        with torch.no_grad():
            return self.encoder(x), self.encoder.features(x)
"""
ON = """
def train(voice, x):
    return voice.encoder(x).sum() + voice.encoder.features(x).sum()
"""


def levels(tmp_path: Path, **files: str) -> list[str]:
    """The levels of what is found in `encoder.py` of a package with these other files."""
    package = tmp_path / "net"
    package.mkdir(exist_ok=True)
    for name, text in {"__init__": "", "encoder": NET, **files}.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    report = lint(NET, path=str(package / "encoder.py"), strict=True)
    return [each.level.value for each in report.findings if each.code in ("TLN201", "TLN204")]


def test_nobody_calls_it(tmp_path: Path) -> None:
    assert levels(tmp_path) == ["error", "smell"]


def test_all_calls_are_under_no_grad(tmp_path: Path) -> None:
    assert levels(tmp_path, voice=OFF) == ["strict", "strict"]


def test_one_call_is_not(tmp_path: Path) -> None:
    assert levels(tmp_path, voice=OFF, training=ON) == ["error", "smell"]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("def helper(voice, x):\n    return voice.encoder.features(x)\n", ["strict", "smell"]),
        (
            "import torch\n\ndef helper(voice, x):\n    return voice.encoder.features(x)\n\n"
            "@torch.inference_mode()\ndef run(voice, x):\n    return helper(voice, x)\n",
            ["strict", "strict"],
        ),
        (
            "import torch\n\ndef helper(voice, x):\n    return voice.encoder.features(x)\n\n"
            "@torch.inference_mode(False)\ndef run(voice, x):\n    return helper(voice, x)\n",
            ["strict", "smell"],
        ),
        ("def hand(voice, run):\n    return run(voice.encoder.features)\n", ["strict", "smell"]),
        ("def hand(voice, run):\n    return run(voice.encoder)\n", ["error", "strict"]),
        ("def kept(voice, trainer):\n    trainer.net = voice.encoder\n", ["strict", "strict"]),
        (
            "def kept(voice, trainer):\n    trainer.net = voice.encoder\n\n"
            "def train(trainer, x):\n    return trainer.net(x)\n",
            ["error", "strict"],
        ),
        ("from net.encoder import Encoder\n\nKINDS = {'plain': Encoder}\n", ["error", "strict"]),
        ("from net.encoder import Encoder as Other\n\nnet = Other()\n", ["error", "strict"]),
        ("from net.encoder import Encoder\n\ndef made():\n    return Encoder()\n", ["strict", "strict"]),
        (
            "from net.encoder import Encoder\n\ndef made():\n    return Encoder()\n\n"
            "def train(x):\n    net = made()\n    return net(x)\n",
            ["error", "strict"],
        ),
        ("def look(voice, name='features'):\n    return getattr(voice, name)\n", ["strict", "smell"]),
        ("def train(voice, x):\n    return voice.encoder.forward(x)\n", ["error", "strict"]),
        (
            "class Other:\n    def __init__(self, encoder):\n        self.encoder = encoder\n\n"
            "    def train(self, x):\n        return self.encoder(x)\n",
            ["strict", "strict"],
        ),
        (
            "from net.voice import Voice\n\nclass Louder(Voice):\n"
            "    def train(self, x):\n        return self.encoder(x)\n",
            ["error", "strict"],
        ),
    ],
)
def test_who_else_may_call_it(tmp_path: Path, more: str, found: list[str]) -> None:
    """Of `forward` the calls of the objects count, of another method those of its name."""
    assert levels(tmp_path, voice=OFF, more=more) == found


def test_what_a_module_shows_of_itself_says_nothing_of_its_users(tmp_path: Path) -> None:
    demo = "import torch\nfrom net.encoder import Encoder\n\nif __name__ == '__main__':\n    net = None\n"
    demo += "    with torch.no_grad():\n        net.features(torch.ones(1, 2, 2))\n"
    assert levels(tmp_path, demo=demo) == ["error", "smell"]


def test_what_only_calls_itself_is_called_by_nobody(tmp_path: Path) -> None:
    again = "def features(encoder, x):\n    return encoder.features(x)\n"
    assert levels(tmp_path, more=again) == ["error", "smell"]


def test_what_cannot_be_read_may_call_it(tmp_path: Path) -> None:
    assert levels(tmp_path, voice=OFF, more="Encoder, features = (\n") == ["error", "smell"]


WHOLE = """
import torch
import torch.nn.functional as F
from torch import nn
from net.encoder import Encoder


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x, target=None):
        y = self.encoder(x)
        if target is not None:
            return y, {loss}
        return y, None

    @torch.inference_mode()
    def generate(self, x):
        return self(x)[0]
"""


@pytest.mark.parametrize(
    ("loss", "found"),
    [
        ("(y - target).abs()", ["strict", "smell"]),
        ("F.mse_loss(y, target)", ["error", "smell"]),
        ("nn.MSELoss()(y, target)", ["error", "smell"]),
    ],
)
def test_what_gives_a_loss_is_made_to_be_trained(tmp_path: Path, loss: str, found: list[str]) -> None:
    assert levels(tmp_path, whole=WHOLE.format(loss=loss)) == found


def test_a_loss_under_no_grad_is_looked_at(tmp_path: Path) -> None:
    more = "import torch\nimport torch.nn.functional as F\n\n\n@torch.no_grad()\ndef validate(voice, x, y):\n"
    more += "    return F.mse_loss(voice.encoder(x), y), F.mse_loss(voice.encoder.features(x), y)\n"
    assert levels(tmp_path, voice=OFF, more=more) == ["strict", "strict"]


LEAF = """
import torch


def shifted():
    w = torch.ones(3, requires_grad=True)
    w += 1
    return w
"""
LEAF_OFF = "import torch\nfrom leaf import shifted\n\n\n@torch.no_grad()\ndef main():\n    return shifted()\n"
LEAF_ON = "from leaf import shifted\n\n\ndef other():\n    return shifted()\n"


@pytest.mark.parametrize(
    ("files", "level"),
    [({}, "warning"), ({"main": LEAF_OFF}, "strict"), ({"main": LEAF_OFF, "other": LEAF_ON}, "warning")],
)
def test_a_leaf_in_a_folder_without_init(tmp_path: Path, files: dict[str, str], level: str) -> None:
    """Who has other callers than those beside it in the folder is told all the same, with `--strict`."""
    for name, text in {"leaf": LEAF, **files}.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    report = lint(LEAF, path=str(tmp_path / "leaf.py"), strict=True)
    assert [each.level.value for each in report.findings if each.code == "TLN203"] == [level]


DROPS = """import torch
import torch.nn.functional as F

model = torch.nn.Linear(2, 1)


def step(x, y):
    out = model(x)
    fit_loss = F.mse_loss(out, y)
    size_loss = 0.1 * out.abs().mean()
    return fit_loss


{}
"""
UNDER = "with torch.no_grad():\n        return step(x, y)"


@pytest.mark.parametrize(
    ("callers", "is_told"),
    [
        (f"def validate(x, y):\n    {UNDER}", False),
        ("@torch.no_grad()\ndef validate(x, y):\n    return step(x, y)", False),
        (
            "def one(x):\n    step(x, x)\n\n\n@torch.inference_mode()\ndef every(x):\n    one(x)",
            False,
        ),
        (f"def validate(x, y):\n    {UNDER}\n\n\ndef train(x, y):\n    step(x, y).backward()", True),
        (f"def validate(x, y):\n    {UNDER}\n\n\nsteps = [step]", True),
        ("def validate(x, y):\n    return step(x, y)", True),
        ("@torch.no_grad()\ndef validate(x, y):\n    with torch.enable_grad():\n        return step(x, y)", True),
        ("", True),
    ],
)
def test_a_loss_is_not_lost_where_nobody_differentiates_any(tmp_path: Path, callers: str, is_told: bool) -> None:
    """With grad mode off whatever is computed beside it is for nobody."""
    text = DROPS.format(callers)
    found = [each.code for each in lint(text, path=str(tmp_path / "train.py")).findings if each.code == "TLN408"]
    assert found == ["TLN408"] * is_told
