"""`torchlint verify`, with and without a program of the user's, as processes; and the plugin in somebody's suite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from process import Ran, Torchlint

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.a = nn.Linear(sizes["in"], sizes["out"])

    def forward(self, x):
        y = self.a(x).exp()
        y += 1
        return y


def train(net, optimizer, steps):
    for _ in range(steps):
        loss = net.a(torch.rand(2, 4)).sum()
        loss.backward()
        optimizer.step()


def never(w):
    w = torch.rand(3, requires_grad=True)
    w += 1
"""
TEST = """\
import pytest, torch
from pkg.model import Net, train

def test_backward():
    with pytest.raises(RuntimeError):
        Net({"in": 4, "out": 4})(torch.rand(2, 4)).sum().backward()

def test_train():
    net = Net({"in": 4, "out": 4})
    train(net, torch.optim.SGD(net.parameters(), lr=0.01), 3)
"""
SCRIPT = """\
import sys, torch
from pkg.model import Net, train
print("prints to standard output", sys.argv[1:])
open("kept.txt", "w").write("a file of the user's")
net = Net({"in": 4, "out": 4})
train(net, torch.optim.SGD(net.parameters(), lr=0.01), 1000)
open("finished.txt", "w").write("all steps")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package with three findings, a suite and a script."""
    for name, text in {
        "pkg/__init__.py": "",
        "pkg/model.py": MODEL,
        "tests/test_model.py": TEST,
        "train.py": SCRIPT,
        "conftest.py": "",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def _verdicts(ran: Ran) -> dict[str, tuple[str, str]]:
    found = json.loads(ran.out)
    return {each["code"]: (each["verdict"]["status"], each["verdict"]["evidence"]) for each in found}


def test_a_suite_is_the_driver(torchlint: Torchlint, project: Path) -> None:
    ran = torchlint("verify", "pkg", "--output-format", "json", "--with", "pytest tests -x -p no:cacheprovider")
    found = _verdicts(ran)
    assert found["TLN201"][0] == "confirmed", ran.err
    assert "RuntimeError in its caller" in found["TLN201"][1]
    assert "`add_` in line 12 took it from version 0 to 1" in found["TLN201"][1]
    assert found["TLN201"][1].endswith("(in tests/test_model.py::test_backward)")
    assert found["TLN402"][0] == "confirmed"
    assert found["TLN402"][1].endswith("(in tests/test_model.py::test_train)")
    assert found["TLN203"] == ("inconclusive", "line 25 was not reached by `pytest tests -x -p no:cacheprovider`")
    assert ran.status == 1
    assert "2 passed" in ran.err
    assert "is not confined" in ran.err
    assert not list(project.rglob("model.*.pyc")), "what is watched is kept as if it were the program's own"


def test_a_script_is_the_driver_and_stopped_after_its_steps(torchlint: Torchlint, project: Path) -> None:
    ran = torchlint("verify", "pkg", "--output-format", "json", "--with", "train.py --fast", "--steps", "5")
    found = _verdicts(ran)
    assert found["TLN402"][0] == "confirmed", ran.err
    assert found["TLN201"][0] == "inconclusive"
    assert "was not reached by `train.py --fast`: it was stopped" not in found["TLN201"][1]
    assert "prints to standard output ['--fast']" in ran.err
    assert (project / "kept.txt").exists()
    assert not (project / "finished.txt").exists()


@pytest.mark.slow
def test_a_program_that_takes_too_long(torchlint: Torchlint, project: Path) -> None:
    (project / "train.py").write_text(SCRIPT.replace("train(net", "import time; time.sleep(60)\ntrain(net"))
    ran = torchlint("verify", "pkg", "--output-format", "json", "--with", "-m train", "--seconds", "30")
    assert {status for status, _ in _verdicts(ran).values()} == {"inconclusive"}
    assert not (project / "finished.txt").exists()


def test_one_line_without_a_driver(torchlint: Torchlint, overwritten: str) -> None:
    Path("two.py").write_text(overwritten + "z = x.exp()\nz.mul_(2)\nz.sum().backward()\n")
    ran = torchlint("verify", "two.py:5")
    assert ran.out.count("error[TLN201]") == 1
    assert "torch: confirmed" in ran.out
    ran = torchlint("verify", "two.py:1")
    assert (ran.status, "two.py:1: no finding there" in ran.err) == (0, True)


WARNING = """\
import warnings
import torch
import torch.nn.functional as F


def helper():
    warnings.warn("mine", stacklevel=2)


helper()
for _ in range(2):
    F.softmax(torch.ones(2, 2, requires_grad=True))
F.softmax(torch.ones(2, 2, requires_grad=True))
y = torch.sigmoid(torch.ones(2, requires_grad=True))
y.mul_(2)
y.sum().backward()
"""


def test_warnings_and_tracebacks_of_the_own_program_are_as_without_torchlint(torchlint: Torchlint) -> None:
    Path("w.py").write_text(WARNING)
    plain = subprocess.run([sys.executable, "w.py"], capture_output=True, text=True)
    assert "w.py:12: UserWarning: Implicit dimension" in plain.stderr
    ran = torchlint("verify", "w.py:15", "--with", "w.py", "--python", sys.executable)  # not of a venv that is active
    assert "torch: confirmed" in ran.out
    assert plain.stderr in ran.err


def test_a_line_that_is_no_number(torchlint: Torchlint, overwritten: str) -> None:
    Path("two.py").write_text(overwritten)
    ran = torchlint("verify", "two.py:abc")
    assert ran.status == 2
    assert "two.py:abc: `abc` is no line of two.py, write its number: two.py:LINE" in ran.err


def test_a_line_of_a_file_that_is_not_there_is_told_once(torchlint: Torchlint) -> None:
    ran = torchlint("verify", "nowhere.py:3")
    assert (ran.status, ran.out, ran.err) == (2, "", "torchlint: no such file or directory: nowhere.py\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--with", "make test"), "cannot be run under observation"),
        (("--steps", "3"), "are for --with"),
        (("--with", "pytest", "--python", "no-such-python"), "cannot start no-such-python"),
        (("--with", f"{sys.executable} -m nowhere.at.all"), "No module named 'nowhere'"),
    ],
)
def test_wrong_use(torchlint: Torchlint, overwritten: str, arguments: tuple[str, ...], words: str) -> None:
    Path("a.py").write_text(overwritten)
    ran = torchlint("verify", "a.py", *arguments)
    assert words in ran.err
    assert ran.status == (1 if "nowhere" in words else 2)


def _suite(project: Path, *arguments: str) -> Ran:
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        timeout=300,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def test_the_plugin_in_a_suite(project: Path) -> None:
    plugin = ("-p", "torchlint.hosts.pytest", "-p", "no:torchlint")  # as where it is not installed as an entry point
    ran = _suite(project, *plugin, "--torchlint", "pkg")
    assert "error[TLN201]" in ran.out
    assert "torch: confirmed: RuntimeError in its caller" in ran.out
    assert "2 passed" in ran.out
    assert ran.status == 1, "a confirmed error fails a run that passes"


@pytest.mark.slow
def test_the_plugin_without_a_path_and_with_a_wrong_one(project: Path) -> None:
    plugin = ("-p", "torchlint.hosts.pytest", "-p", "no:torchlint")
    assert _suite(project, *plugin).status == 0
    assert "no such file" in _suite(project, *plugin, "--torchlint", "nowhere").err
