"""Whether a file is one of tests."""

from pathlib import Path

import pytest

from torchlint.finding import Level
from torchlint.lint.engine import check_bytes
from torchlint.lint.registry import Selection, load
from torchlint.project.testing import is_test

SCRIPT = "print(1)\n"
ASSERTS = "assert 1\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("tests/training/nets.py", SCRIPT, True),
        ("package/tests/nets.py", SCRIPT, True),
        ("conftest.py", SCRIPT, True),
        ("test_net.py", ASSERTS, True),
        ("net_test.py", ASSERTS, True),
        ("test/net.py", ASSERTS, True),
        ("test_net.py", SCRIPT, False),
        ("test/net.py", SCRIPT, False),
        ("contest.py", ASSERTS, False),
        ("tests.py", SCRIPT, False),
        ("net.py", ASSERTS, False),
    ],
)
def test_by_place_and_text(path: str, text: str, expected: bool, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    assert is_test(str(tmp_path / path), text) is expected


LOADS = """
import torch

def restored(path):
    return torch.load(path, weights_only=False)["state_dict"]
"""
EVALUATES = """
import torch

model = torch.nn.Linear(2, 1)
model.eval()
correct = 0
for x in torch.rand(40, 3, 2):
    output = model(x)
    correct += (output > 0).sum().item()
"""
RETAINS = """
import torch

w = torch.ones(2, requires_grad=True)
loss = (w * w).sum()
loss.backward(retain_graph=True)
"""


@pytest.mark.parametrize(("code", "text"), [("TLN904", LOADS), ("TLN406", EVALUATES), ("TLN102", RETAINS)])
def test_what_a_test_loads_and_evaluates_is_strict(code: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    registry = load()
    selection = Selection(frozenset(registry.names), strict=True)
    for path, is_strict in (("tests/helpers.py", True), ("helpers.py", False)):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        found = [
            each for each in check_bytes(str(file), text.encode(), registry, selection).findings if each.code == code
        ]
        assert [each.level is Level.STRICT for each in found] == [is_strict]
