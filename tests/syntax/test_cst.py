"""libcst that is loaded when it is needed, and the bare classes that stand for its own before."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import libcst
import pytest

from torchlint.syntax import cst, kinds
from torchlint.syntax.cst import _BARE
from torchlint.syntax.place import Place

KINDS = sorted({kind.kind for kind in Place.__subclasses__() if kind.__module__ == kinds.place_kind.__module__})


def test_bare_classes_stand_below_each_other_as_those_of_libcst_do() -> None:
    for one, other in product(_BARE, repeat=2):
        theirs = issubclass(getattr(libcst, one), getattr(libcst, other))
        assert issubclass(_BARE[one], _BARE[other]) == theirs, (one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_place_has_one(kind: str) -> None:
    assert kind in _BARE


def test_once_it_is_loaded_all_is_of_libcst() -> None:
    assert cst.Call is libcst.Call
    assert cst.parse_module is libcst.parse_module


PLACES = """
import ast, sys
from torchlint.syntax import cst
from torchlint.syntax.kinds import place_at

place = place_at(ast.parse("f(x)").body[0].value, "Call")

def asked() -> None:
    print(*(isinstance(place, kind) for kind in (cst.Call, cst.BaseExpression, cst.CSTNode, cst.Name, cst.Arg)))

asked()
bare, loaded = cst.Call, "libcst" in sys.modules
made = cst.Name("x")
print(loaded, "libcst" in sys.modules, cst.Call is bare, isinstance(made, cst.Name), made.value)
asked()
"""


def test_a_place_is_what_stands_there_with_libcst_and_without() -> None:
    ran = subprocess.run([sys.executable, "-c", PLACES], capture_output=True, text=True)
    assert ran.stderr == ""
    told = "True True True False False"
    assert ran.stdout.splitlines() == [told, "False True False True x", told]


IMPORTED = """
import ast, sys
from torchlint.syntax import cst
from torchlint.syntax.kinds import place_at

place, bare = place_at(ast.parse("f(x)").body[0].value, "Call"), cst.Call
import libcst
print(isinstance(place, cst.Call), cst.Call is libcst.Call, cst.Call is bare, isinstance(place, libcst.Call))
"""


def test_whoever_imports_it_no_bare_class_is_left() -> None:
    ran = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True True False True\n", "")


CLEAN = """\
import torch
from torch import nn
from torch.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x * self.scale


def train(net: Net, data: DataLoader) -> float:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    total = 0.0
    for x, y in data:
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        first = net(next(iter(data))[0])[0]
    return total + float(first.sum())
"""
FAULTY = "import torch\n\nw = torch.ones(3, requires_grad=True)\ny = w.exp()\ny += 1\ny.sum().backward()\n"


@pytest.mark.parametrize(("text", "status", "loads"), [(CLEAN, 0, False), (FAULTY, 1, True)], ids=["clean", "faulty"])
def test_a_run_loads_it_where_something_is_found(tmp_path: Path, text: str, status: int, loads: bool) -> None:
    """Python names what it imports, in the process that lints, too."""
    (tmp_path / "a.py").write_text(text)
    command = [sys.executable, "-X", "importtime", "-m", "torchlint", "check", "--isolated", "--no-cache", "a.py"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == status, ran.stdout
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}
    assert "torchlint.lint.engine" in loaded
    assert ("libcst" in loaded) == loads
