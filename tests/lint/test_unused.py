"""A smell in what nobody of a project uses is strict."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

LOSS = """
import torch

{head}
    return -torch.log(torch.sigmoid(x)).mean()

def used():
    return {calls}
"""
METHOD = """
import torch
{imports}

class Loss({base}):
    def {name}(self, x):
        return -torch.log(torch.sigmoid(x)).mean()
"""
EVERY = "from net.losses import used\n"


def level(folder: Path, text: str, files: dict[str, str], name: str = "net/losses.py") -> str:
    for each, content in {"net/__init__.py": "", **files, name: text}.items():
        (folder / each).parent.mkdir(parents=True, exist_ok=True)
        (folder / each).write_text(content)
    (finding,) = lint(text, path=str(folder / name), strict=True).findings
    assert finding.code == "TLN605"
    return finding.level.value


@pytest.mark.parametrize(
    ("head", "calls", "other", "expected"),
    [
        ("def loss(x):", "1", EVERY, "strict"),
        ("def loss(x):", "loss", EVERY, "smell"),
        ("def loss(x):", "'loss'", EVERY, "smell"),
        ("def loss(x):", "1", EVERY + "from net.losses import loss\n", "smell"),
        ("def loss(x):", "1", "", "smell"),  # nobody of the project takes any name of the file: others may
        ("def loss(x):", "1", "from net import losses\nf = getattr(losses, input())\n" + EVERY, "smell"),
        ("def loss(x):", "globals()['lo' + 'ss']", EVERY, "smell"),
        ("def _loss(x):", "1", "", "strict"),
        ("def _loss(x):", "_loss(1)", "", "smell"),
        ("@register\ndef _loss(x):", "1", "", "smell"),
        ("@torch.no_grad()\ndef _loss(x):", "1", "", "strict"),
        ("def main(x):", "1", EVERY, "smell"),
    ],
)
def test_a_function(tmp_path: Path, head: str, calls: str, other: str, expected: str) -> None:
    text = LOSS.format(head=head, calls=calls)
    text = text.replace("@register", "register = print\n@register")
    assert level(tmp_path, text, {"net/other.py": other}) == expected


@pytest.mark.parametrize(
    ("name", "base", "imports", "expected"),
    [
        ("_loss", "torch.nn.Module", "", "strict"),
        ("_loss", "pl.LightningModule", "import pytorch_lightning as pl", "smell"),
        ("loss", "torch.nn.Module", "", "smell"),
        ("forward", "torch.nn.Module", "", "smell"),
        ("training_step", "pl.LightningModule", "import pytorch_lightning as pl", "smell"),
        ("_named_elsewhere", "torch.nn.Module", "", "smell"),
    ],
)
def test_a_method(tmp_path: Path, name: str, base: str, imports: str, expected: str) -> None:
    other = "from net.losses import Loss\n\ndef made(x):\n    return Loss()._named_elsewhere(x)\n"
    assert level(tmp_path, METHOD.format(name=name, base=base, imports=imports), {"net/other.py": other}) == expected


def test_a_function_inside_another_one(tmp_path: Path) -> None:
    text = "import torch\n\ndef build():\n    def loss(x):\n        return torch.log(torch.sigmoid(x))\n    return {}\n"
    assert level(tmp_path, text.format("1"), {"net/other.py": "from net.losses import build\n"}) == "strict"
    assert level(tmp_path, text.format("loss"), {"net/other.py": "from net.losses import build\n"}) == "smell"


def test_a_script_is_its_own_user(tmp_path: Path) -> None:
    text = "import torch\n\ndef loss(x):\n    return -torch.log(torch.sigmoid(x)).mean()\n"
    assert level(tmp_path, text, {}, "train.py") == "smell"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"net/__init__.py": "from net.new import made\n"}, "strict"),
        ({"net/__init__.py": "from net.new import made\nfrom net.old.losses import loss\n"}, "smell"),
        ({}, "smell"),  # the package around imports nothing of what it has
        ({"net/__init__.py": "from net.new import made\n", "train.py": "from net.old import losses\n"}, "smell"),
        (
            {"net/__init__.py": "from net.new import made\n", "net/old/run.py": "if __name__ == '__main__': 1\n"},
            "smell",
        ),
        ({"net/__init__.py": "import pkgutil\nfrom net.new import made\npkgutil.walk_packages()\n"}, "smell"),
    ],
)
def test_a_folder_that_nothing_imports(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    text = "import torch\n\ndef loss(x):\n    return -torch.log(torch.sigmoid(x)).mean()\n"
    beside = {"net/new.py": "made = 1\n", "net/old/__init__.py": "from .losses import loss\n", **files}
    assert level(tmp_path, text, beside, "net/old/losses.py") == expected
