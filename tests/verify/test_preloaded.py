"""Imports of a project, made once for all programs of a file: what it saves, and where programs run without it."""

from __future__ import annotations

import time
from pathlib import Path

import expectations
import pytest

from torchlint.rule import Finding
from torchlint.syntax.tree import Source
from torchlint.verify.execute import run_program
from torchlint.verify.protocol import Outcome, Request
from torchlint.verify.server import shared
from torchlint.verify.verify import verify_findings

SECONDS = 10
FOUR = """\
import torch
import slow

x = torch.ones(3, requires_grad=True)
y = torch.sigmoid(x)
y += 1
y.sum().backward()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(3)).abs()

    def forward(self, x):
        h = torch.tanh(x * self.w)
        h.mul_(2)
        return h


z = torch.ones(3, requires_grad=True)
z.mul_(2)
"""


def judged(path: Path) -> list[Finding]:
    text = path.read_text()
    findings = list(expectations.lint(text, path=str(path)).findings)
    return verify_findings(Source.parse(str(path), text), findings)


def test_four_findings_cost_one_import_and_a_half(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(f"import time\ntime.sleep({SECONDS})\n")
    path = tmp_path / "program.py"
    path.write_text(FOUR)
    findings = list(expectations.lint(FOUR, path=str(path)).findings)
    run_program("pass")  # the server is there
    begun = time.monotonic()
    verdicts = [finding.verdict for finding in verify_findings(Source.parse(str(path), FOUR), findings)]
    assert time.monotonic() - begun < 1.5 * SECONDS
    assert [each.status for each in verdicts if each] == ["confirmed"] * 4


def test_a_file_that_its_own_package_imports_is_watched(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from package.model import late\n")
    (package / "other.py").write_text("value = 1\n")
    path = package / "model.py"
    path.write_text(
        "import torch\nfrom package.other import value\n\n\ndef late(x):\n    y = torch.sigmoid(x)\n    y += value\n"
        "    y.sum().backward()\n\n\nlate(torch.ones(3, requires_grad=True))\n"
    )
    (finding,) = judged(path)
    assert finding.verdict is not None
    assert finding.verdict.status == "confirmed", finding.verdict.evidence


def _run(tmp_path: Path, imported: str, text: str, **options: float) -> Outcome:
    (tmp_path / "helper.py").write_text(imported)
    path = tmp_path / "program.py"
    path.write_text(f"import torch\nimport helper\n{text}")
    return shared().run(Request(text=path.read_text(), path=str(path), **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "imported",
    [
        "import threading, time\nthreading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n",
        "import torch\n(torch.ones(2, requires_grad=True) * 2).sum().backward()\n",
        "raise ValueError('no')\n",
    ],
)
def test_an_import_from_which_no_fork_goes_on(tmp_path: Path, imported: str) -> None:
    outcome = _run(tmp_path, imported, "torch.ones(2, requires_grad=True).sum().backward()\n")
    if "raise" in imported:
        assert outcome.raised is not None
        assert outcome.raised.message == "no"
    else:
        assert outcome.ending == "ended", outcome


@pytest.mark.parametrize("imported", ["import os\nos._exit(0)\n", "while True:\n    pass\n"])
def test_an_import_that_does_not_come_back(tmp_path: Path, imported: str) -> None:
    outcome = _run(tmp_path, imported, "", timeout=3.0)
    assert outcome.ending in ("died", "time")
    assert run_program("pass").ending == "ended"


def test_programs_there_are_confined_too(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    for text in (
        f"open({str(kept)!r}, 'w')",
        "import os\nos.kill(os.getppid(), 9)",
        "import os\nos.remove(helper.__file__)",
    ):
        outcome = _run(tmp_path, "value = 1\n", text)
        assert outcome.raised is not None, text
        assert "Permission" in outcome.raised.type or "Refused" in outcome.raised.type
    assert kept.read_text() == "as it was"
    outcome = _run(tmp_path, "value = 1\n", "open('mine', 'w').write('x')\nassert helper.value == 1")
    assert outcome.ending == "ended"


def test_state_of_one_program_is_not_that_of_the_next(tmp_path: Path) -> None:
    for _ in range(2):
        outcome = _run(tmp_path, "value = []\n", "helper.value.append(1)\nassert len(helper.value) == 1")
        assert outcome.ending == "ended", outcome


def test_programs_with_and_without_imports_take_turns(tmp_path: Path) -> None:
    for _ in range(2):
        assert _run(tmp_path, "value = 1\n", "assert helper.value == 1").ending == "ended"
        assert run_program("pass").ending == "ended"
        path = tmp_path / "other.py"
        path.write_text("import helper\n")
        assert run_program(path.read_text(), path=str(path)).ending == "ended"
        (tmp_path / "broken.py").write_text(
            "import threading, time\nthreading.Thread(target=time.sleep, args=(9,)).start()\n"
        )
        assert run_program("import broken\nimport os\nos._exit(0)\n", path=str(path)).ending == "died"
