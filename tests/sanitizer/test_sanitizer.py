"""`torchlint run` and `torchlint trace` on real programs: what they tell, and that the program ends as without them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SESSION = Path(__file__).parent / "session"
WATCHED = Path(__file__).parent / "watched"
OUTCOME = """\
import sys
import warnings

import torch

torch.manual_seed(3)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters())
for _ in range(3):
    optimizer.zero_grad()
    loss = net(torch.randn(8, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(loss.item().hex(), torch.rand(1).item().hex(), sys.argv[1:], __name__)
torch.nn.functional.mse_loss(torch.zeros(3), torch.zeros(3, 1))
torch.nn.functional.softmax(torch.zeros(3))
"""
ENDS = {
    "end": "",
    "exit": "sys.exit(7)\n",
    "error": "def f(x):\n    return torch.nn.functional.linear(x, torch.zeros(5, 5))\n\nf(torch.zeros(3, 4))\n",
}


def _run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=300
    )


def _torchlint(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return _run("-m", "torchlint", *arguments, folder=folder)


@pytest.mark.parametrize("end", ENDS)
def test_the_program_ends_as_without_us(tmp_path: Path, end: str) -> None:
    """The same output, numbers, random numbers, warnings, traceback and status; the page comes after them."""
    (tmp_path / "a.py").write_text(OUTCOME + ENDS[end])
    plain = _run("a.py", "--x", "-o", folder=tmp_path)
    watched = _torchlint("run", "a.py", "--x", "-o", folder=tmp_path)
    assert watched.stdout == plain.stdout
    assert watched.returncode == plain.returncode
    assert plain.stderr.count("Warning: ") == 2
    before, page, _ = watched.stderr.partition("torchlint: ")
    assert before == plain.stderr
    assert page


def test_transforms_traces_and_modes_notice_nothing() -> None:
    plain = _run("program.py", folder=WATCHED)
    assert plain.returncode == 0, plain.stderr
    assert _torchlint("run", "program.py", folder=WATCHED).stdout == plain.stdout
    assert _torchlint("trace", "program.py", folder=WATCHED).stdout == plain.stdout


def test_a_backward_in_which_nothing_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\ntorch.func.grad(torch.sin)(torch.ones(()))\n")
    told = _torchlint("trace", "a.py", folder=tmp_path).stderr
    assert told == "torchlint: backward number 1 goes through nothing that has a name in the program\n"


def test_the_session_of_the_page_is_real() -> None:
    text = (ROOT / "docs" / "sanitizer.md").read_text("utf-8")
    block = re.search(r"^```console\n\$ torchlint (.*?)\n(.*?)^```", text, re.M | re.S)
    assert block
    ran = _torchlint(*block[1].split(), folder=SESSION)
    assert ran.returncode == 1
    assert ran.stdout + ran.stderr[ran.stderr.index("torchlint: ") :] == block[2].replace("…\n", "", 1)


CULPRITS = {
    "in-place": (
        "overwritten",
        3,
        "y = (x := torch.ones(3, requires_grad=True)).exp()\ny.mul_(2)\ny.sum().backward()\n",
    ),
    "freed": (
        "freed",
        3,
        "h = torch.ones(3, requires_grad=True).exp()\nh.sum().backward()\n(h * 2).sum().backward()\n",
    ),
    "cut": ("cut", 3, "w = torch.ones(3, requires_grad=True)\ny = (w * 2).detach()\ny.sum().backward()\n"),
    "leaf": ("refused", 3, "w = torch.ones(3, requires_grad=True)\nw += 1\n"),
    "NaN": ("not-finite", 3, "x = torch.zeros(3, requires_grad=True)\nn = (x * x).sum().sqrt()\n(n * 2).backward()\n"),
    "growing": (
        "grows",
        4,
        "t = torch.ones(1, requires_grad=True)\nfor _ in range(12):\n    t = t * 2\n"
        "    t.backward(retain_graph=True)\n",
    ),
    "handled": (
        "overwritten",
        3,
        "y = torch.ones(3, requires_grad=True).exp()\ny.mul_(2)\ntry:\n    y.sum().backward()\nexcept RuntimeError:\n"
        "    pass\n",
    ),
}


@pytest.mark.parametrize("name", CULPRITS)
def test_the_culprit_is_named(tmp_path: Path, name: str) -> None:
    kind, line, text = CULPRITS[name]
    (tmp_path / "a.py").write_text("import torch\n" + text)
    ran = _torchlint("run", "--output-format", "json", "-o", "page.json", "a.py", folder=tmp_path)
    sections = json.loads((tmp_path / "page.json").read_text("utf-8"))["sections"]
    assert "torchlint: " not in ran.stderr
    assert sections[0]["kind"] == kind
    assert sections[0]["steps"][sections[0]["culprit"]]["line"] == line


def test_parameters_without_a_gradient_and_the_cut(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import torch\na, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)\n"
        "o = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)\n"
        "h = a(torch.ones(2)).detach()\nb(h).sum().backward()\no.step()\n"
    )
    told = _torchlint("run", "a.py", folder=tmp_path).stderr
    assert "2 of 4 parameters of an optimizer never had a gradient" in told
    assert "a.py:4: `detach` cuts the graph" in told


def test_a_clean_program_is_not_accused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import torch\nnet = torch.nn.Linear(2, 1)\no = torch.optim.Adam(net.parameters())\nkept = []\n"
        "for _ in range(20):\n    o.zero_grad()\n    loss = net(torch.ones(3, 2)).mean()\n    loss.backward()\n"
        "    o.step()\n    kept.append(loss.detach())\n"
    )
    assert _torchlint("run", "a.py", folder=tmp_path).stderr == "torchlint: watched 20 backwards; nothing to tell\n"


def test_trace(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import torch\nx = torch.ones(3, requires_grad=True)\ny = x * 2 + 1\nz = y.exp()\nz.mul_(0)\n"
        "(z * y).sum().backward()\n"
    )
    ran = _torchlint("trace", "--svg", "a.svg", "a.py", folder=tmp_path)
    rows = [line.split() for line in ran.stderr.splitlines()]
    assert ["z", "a.py:5", "mul_", "3", "5.196"] in rows
    svg = (tmp_path / "a.svg").read_text("utf-8")
    assert "result overwritten at a.py:5 by mul_" in svg


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "which program?"),
        (("none.py",), "there is no file none.py"),
        (("--python", "/none", "a.py"), "cannot start"),
        (("--epochs", "1", "a.py"), "`torchlint run` has no option --epochs; options of the program stand after it"),
        (("--epochs", "1", "a.py"), "torchlint run a.py --epochs 1"),
        (("--pyton", "x", "a.py"), "did you mean `--python`?"),
    ],
)
def test_wrong_use(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    (tmp_path / "a.py").write_text("")
    ran = _torchlint("run", *arguments, folder=tmp_path)
    assert ran.returncode == 2
    assert words in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_view_whose_node_torch_does_not_tell(tmp_path: Path) -> None:
    """A layer with a padding index makes one and writes it; the program ends as without us."""
    (tmp_path / "a.py").write_text(
        "import torch\nwords = torch.nn.Embedding(4, 3, padding_idx=0)\nwords(torch.tensor([1, 0])).sum().backward()\n"
    )
    ran = _torchlint("run", "a.py", folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "watched 1 backward" in ran.stderr
