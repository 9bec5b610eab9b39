"""
Look-through: small projects of several files, in which a finding rests on what another file says.

Each folder in `projects/` is one project. Every file of it bears markers (see `expectations`) for what is found in it;
its `main.py` is run under torch and must show what its docstring says (`Raises: text`), or run to its end.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from expectations import actual, described, expected, lint, stripped

from torchlint.rule import Raises
from torchlint.verify.execute import describe_ending, run_program, shows

FOLDER = Path(__file__).parent / "projects"
FILES = sorted(FOLDER.rglob("*.py"))
MAINS = sorted(FOLDER.rglob("main.py"))


def _name(path: Path) -> str:
    return path.relative_to(FOLDER).as_posix()


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_findings(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    report = lint(stripped(text), path=str(path))
    assert actual(report).findings == expected(text).findings, described(text, report.findings)


@pytest.mark.parametrize("path", MAINS, ids=_name)
def test_torch_agrees(path: Path) -> None:
    documentation = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    source = path.parents[1] / "src"
    program = (
        f"import sys, runpy; sys.path[:0] = [{str(path.parent)!r}, {str(source)!r}]; runpy.run_path({str(path)!r})"
    )
    if documentation.startswith("Raises: "):
        shown, seen = shows(program, Raises(documentation.removeprefix("Raises: ")))
        assert shown, seen
    else:
        outcome = run_program(program)
        assert outcome.ending == "ended", describe_ending(outcome)


def test_the_trace_names_the_other_file() -> None:
    path = FOLDER / "layers_package" / "main.py"
    first, second = lint(stripped(path.read_text(encoding="utf-8")), path=str(path)).findings
    gates = str(path.parent / "layers" / "gates.py")
    assert [(step.path, step.line, step.message) for step in first.trace if step.path != str(path)] == [
        (gates, 13, "`sigmoid` saves its result")
    ]
    assert [(step.path, step.line, step.message) for step in second.trace if step.path != str(path)] == [
        (gates, 17, "`mul_` overwrites `tensor`")
    ]
    assert second.fix is None


def test_the_trace_names_where_the_other_file_applies_the_softmax() -> None:
    path = FOLDER / "model_in_another_file" / "main.py"
    first = lint(stripped(path.read_text(encoding="utf-8")), path=str(path)).findings[0]
    nets = str(path.parent / "nets" / "classifier.py")
    assert [(step.path, step.line, step.message) for step in first.trace] == [(nets, 12, "`softmax` is applied here")]


def test_what_a_result_depends_on(tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("def act(x):\n    return x.exp()\n", encoding="utf-8")
    text = (
        "import torch\nfrom other import act\nfrom absent import nothing\n\n"
        "x = torch.ones(2, requires_grad=True)\ny = act(x)\ny.mul_(2)\nnothing()\ny.sum().backward()\n"
    )
    report = lint(text, path=str(tmp_path / "program.py"))
    assert [finding.code for finding in report.findings] == ["TLN201"]
    assert [each.path for each in report.depends if each.digest] == [str(other)]
    assert str(tmp_path / "absent.py") in [each.path for each in report.depends if not each.digest]
    assert all(each.holds() for each in report.depends)
    other.write_text("def act(x):\n    return x + 1\n", encoding="utf-8")
    assert [each.path for each in report.depends if not each.holds()] == [str(other)]
    assert not [f for f in lint(text, path=str(tmp_path / "program.py")).findings if f.code == "TLN201"]


def test_a_broken_file_is_unknown_code(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def act(x:\n", encoding="utf-8")
    text = "import torch\nfrom other import act\n\nx = torch.ones(2, requires_grad=True)\ny = act(x)\ny.mul_(2)\n"
    assert not lint(text, path=str(tmp_path / "program.py")).findings
