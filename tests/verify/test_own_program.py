"""A program of the user's as the driver: what is watched, what follows from several scenes, what stays as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from torchlint.results import FileOutcome, FileReport, RunResult
from torchlint.rule import Finding, Holds, Level, Observed, Raises, Warns
from torchlint.syntax.tree import Span
from torchlint.verify import own
from torchlint.verify.session import Command, Task, parsed

Judged = Callable[..., Any]


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """The verdicts on findings in `pkg.py`, at the lines that say `# HERE`, of a script or a suite."""
    monkeypatch.chdir(tmp_path)

    def run(
        text: str, driver: str, *claims: object, suite: bool = False, limits: own.Limits | None = None, change: str = ""
    ) -> Any:
        file = tmp_path / "pkg.py"
        file.write_text(text)
        lines = text.splitlines()
        findings = []
        for number, line in [(number, line) for number, line in enumerate(lines, 1) if "# HERE" in line]:
            column = len(line) - len(line.lstrip()) + 1
            span = Span(number, column, number, len(line.partition("#")[0].rstrip()) + 1)
            finding = Finding(str(file), span, "TLN999", "made-up", Level.ERROR, "made up", ())
            findings.append(replace(finding, claims=claims))
        questions = own.Questions(RunResult((FileOutcome(FileReport(str(file), tuple(findings))),), 1), "it")
        name = "test_it.py" if suite else "it.py"
        (tmp_path / name).write_text(driver)
        if change:
            file.write_text(text + change)
        command = Command("pytest" if suite else "script", "" if suite else name, (name,) if suite else ())
        task = Task(command, questions.session((limits or own.Limits()).steps))
        for told in own.run_program(task, sys.executable, {}, limits or own.Limits(), quiet=True):
            questions.take(told)
        verdicts = [finding.verdict for finding in questions.answered().findings]
        return verdicts[0] if len(verdicts) == 1 else verdicts

    return run


NEGATIVE = "import torch\ndef f(x):\n    y = x * 2  # HERE\n    return y\n"
POSITIVE = Holds("bool((y > 0).all())")


def test_verdicts_of_several_scenes(judged: Judged) -> None:
    """Confirmed in one is confirmed; refuted in all is refuted; refuted in one and open in another is open."""
    text = "import torch\n" + "".join(
        f"def {name}(x):\n    y = x * 2  # HERE\n    return y\n" for name in ("one", "each", "left")
    )
    driver = (
        "import torch, pkg\n"
        "def test_a(): pkg.one(-torch.ones(2)); pkg.each(-torch.ones(2)); pkg.left(-torch.ones(2))\n"
        "def test_b(): pkg.each(-torch.ones(2)); pkg.one(torch.ones(2)); pkg.left('s')\n"
    )
    one, each, left = judged(text, driver, POSITIVE, suite=True)
    assert (one.status, each.status, left.status) == ("confirmed", "refuted", "inconclusive")
    assert one.evidence.endswith(" (in test_it.py::test_b)")
    assert "in each of 2 scenes that came there" in each.evidence


def test_an_error_that_another_file_handles_is_seen(judged: Judged) -> None:
    text = "import torch\ndef f(w):\n    w.backward()  # HERE\n"
    driver = "import torch, pkg\ntry:\n    pkg.f(torch.ones(2, requires_grad=True) * 2)\nexcept RuntimeError: pass\n"
    verdict = judged(text, driver, Raises("grad can be implicitly created only for scalar outputs"))
    assert verdict.status == "confirmed"
    assert "which the program handles" in verdict.evidence


def test_the_same_error_elsewhere_confirms_nothing(judged: Judged) -> None:
    text = "import torch\ndef f(w):\n    w.sum().backward()  # HERE\n"
    driver = (
        "import torch, pkg\npkg.f(torch.ones(2, requires_grad=True))\n"
        "(torch.ones(2, requires_grad=True) * 2).backward()\n"
    )
    verdict = judged(text, driver, Raises("grad can be implicitly created only for scalar outputs"))
    assert verdict.status != "confirmed"


def test_a_warning_that_was_not_shown_again_refutes_nothing(judged: Judged) -> None:
    text = "import warnings\ndef f():\n    warnings.warn('odd')  # HERE\n"
    confirmed = judged(text, "import pkg\npkg.f()\n", Warns("UserWarning: odd"))
    assert confirmed.status == "confirmed"
    driver = "import pkg, warnings\nwarnings.simplefilter('ignore')\npkg.f()\n"
    assert judged(text, driver, Warns("UserWarning: odd")).status == "inconclusive"


def test_what_claims_a_change_is_not_run_again(judged: Judged) -> None:
    text = "import torch\ndef f(w):\n    w.sum().backward(retain_graph=True)  # HERE\n"
    driver = "import torch, pkg\npkg.f(torch.ones(2, requires_grad=True))\n"
    verdict = judged(text, driver, Observed("retained-graph", other="needless"))
    assert verdict.status == "inconclusive"
    assert "changed program" in verdict.evidence


def test_a_file_that_has_changed_since_is_not_watched(judged: Judged) -> None:
    driver = "import torch, pkg\npkg.f(torch.ones(2))\n"
    verdict = judged(NEGATIVE, driver, POSITIVE, change="# more\n")
    assert verdict.status == "inconclusive"
    assert verdict.evidence.endswith("(it has changed since it was linted)")


def test_lines_and_source_are_those_of_the_user(judged: Judged) -> None:
    text = "import inspect, sys, torch\ndef f(x):\n    y = x * 2  # HERE\n    return sys._getframe().f_lineno\n"
    driver = (
        "import inspect, torch, pkg\nassert pkg.f(torch.ones(2)) == 4\n"
        "assert inspect.getsource(pkg.f).count('\\n') == 3\nassert pkg.__cached__ is None or True\n"
        "assert __name__ == '__main__' and __file__ == 'it.py'\n"
    )
    assert judged(text, driver, POSITIVE).status == "confirmed"


def test_a_child_process_tells_nothing(judged: Judged) -> None:
    driver = (
        "import os, torch, pkg\nchild = os.fork()\nif child == 0:\n    pkg.f(torch.ones(2))\n"
        "else:\n    os.waitpid(child, 0)\n"
    )
    assert "was not reached" in judged(NEGATIVE, driver, POSITIVE).evidence


def test_a_program_that_ends_itself(judged: Judged) -> None:
    verdict = judged(NEGATIVE, "import os\nos._exit(3)\n", POSITIVE)
    assert verdict.evidence == "line 3 was not reached by `it`: it ended without an answer"


@pytest.mark.slow
def test_a_program_that_takes_no_notice(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "GRACE", 1.0)
    driver = "import time\nwhile True:\n    try:\n        time.sleep(60)\n    except BaseException:\n        pass\n"
    verdict = judged(NEGATIVE, driver, POSITIVE, limits=own.Limits(seconds=20.0))
    assert "did not end when it was asked to" in verdict.evidence


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_a_program_that_takes_too_much_memory(judged: Judged) -> None:
    driver = "import time, torch, pkg\npkg.f(torch.ones(2))\nx = torch.ones(1 << 28)\ntime.sleep(60)\n"
    verdict = judged(NEGATIVE, driver, POSITIVE, limits=own.Limits(memory_mb=1000))
    assert verdict.status == "confirmed", "what was seen before it was stopped counts"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pytest tests -x", ({}, "", Command("pytest", "", ("tests", "-x")))),
        ("python -m pytest", ({}, "python", Command("pytest", "pytest", ()))),
        ("A=1 B='x y' train.py --n 2", ({"A": "1", "B": "x y"}, "", Command("script", "train.py", ("--n", "2")))),
        ("-m a.b c", ({}, "", Command("module", "a.b", ("c",)))),
        (".venv/bin/python3 run", ({}, ".venv/bin/python3", Command("script", "run", ()))),
    ],
)
def test_commands(text: str, expected: object) -> None:
    assert parsed(text) == expected


@pytest.mark.parametrize("text", ["", "make", "python", "-x", "python -c 1", "torchrun train.py"])
def test_commands_that_cannot_be_watched(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be run under observation"):
        parsed(text)
