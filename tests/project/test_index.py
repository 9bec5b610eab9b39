"""The other files of a project: how many are looked into for one, and how many are kept."""

from __future__ import annotations

from pathlib import Path

import expectations
import pytest

from torchlint import config
from torchlint.lint.engine import check_bytes
from torchlint.project import index as project_index
from torchlint.project.index import ProjectIndex
from torchlint.results import FileReport

MAKES = (
    "import torch\n\n\ndef make():\n    return torch.ones(3, requires_grad=True)\n\n\ndef spoil(y):\n    y.mul_(2)\n"
)
USES = "import torch\nfrom everything import make, spoil\n\ny = make().exp()\nspoil(y)\ny.sum().backward()\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that imports all there is from nine modules, and the name that is wanted comes from the last."""
    monkeypatch.setattr(project_index, "_kept", type(project_index._kept)())
    (tmp_path / ".git").mkdir()
    package = tmp_path / "everything"
    package.mkdir()
    names = [f"part{number}" for number in range(9)]
    (package / "__init__.py").write_text("".join(f"from everything.{name} import *\n" for name in names))
    for name in names:
        (package / f"{name}.py").write_text(MAKES if name == names[0] else "x = 1\n" + "#" * 994)
    (tmp_path / "uses.py").write_text(USES)
    return tmp_path


def _checked(path: Path) -> FileReport:
    rules = expectations.own()
    return check_bytes(str(path), path.read_bytes(), rules, rules.select(config.Config(), config.Overrides()))


def _looked_into(report: FileReport) -> int:
    return sum(bool(each.digest) for each in report.depends)


def test_a_file_does_not_look_through_everything(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _checked(project / "uses.py")
    assert {finding.code for finding in whole.findings} == {"TLN201"}
    assert _looked_into(whole) == 10
    monkeypatch.setattr(project_index, "MOST_LOOKED", 4_000)
    part = _checked(project / "uses.py")
    assert not part.findings
    assert not part.failed
    assert _looked_into(part) < 7


def test_what_is_kept_from_other_files_changes_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound counts what is looked into, and not what has to be read for it."""
    monkeypatch.setattr(project_index, "MOST_LOOKED", 4_000)
    first = ProjectIndex(str(project / "uses.py"))
    alone = [first.program(f"everything.part{number}") is not None for number in range(9)]
    assert alone == [True] * 4 + [False] * 5 or alone == [True] * 5 + [False] * 4
    for number in range(9):
        assert ProjectIndex(str(project / "uses.py")).program(f"everything.part{number}") is not None
    again = ProjectIndex(str(project / "uses.py"))
    assert [again.program(f"everything.part{number}") is not None for number in range(9)] == alone
    assert [first.program(f"everything.part{number}") is not None for number in range(9)] == alone
    assert again.depends == first.depends


def test_what_a_file_looks_into_is_kept_as_long_as_it_is_checked(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The steps of its findings stand there."""
    assert project_index.MOST_TEXT >= project_index.MOST_LOOKED + project_index.MOST_FILE
    found = _checked(project / "uses.py")
    monkeypatch.setattr(project_index, "MOST_LOOKED", 9_500)
    monkeypatch.setattr(project_index, "MOST_TEXT", 10_500)
    for number in range(30):  # others before it
        (project / "everything" / f"other{number}.py").write_text("y = 1\n" + "#" * 994)
        ProjectIndex(str(project / "uses.py")).program(f"everything.other{number}")
    assert sum(each.size for each in project_index._kept.values()) <= 10_500
    again = _checked(project / "uses.py")
    assert again.findings == found.findings
    assert any(step.path.endswith("part0.py") for finding in again.findings for step in finding.trace)


def test_a_folder_without_init_is_imported_from_above(tmp_path: Path) -> None:
    """A package whose folder has no `__init__.py` (PEP 420) imports its own modules by its name."""
    for below in (tmp_path / "everything", tmp_path / "everything" / "inner"):
        below.mkdir()
        (below / "part.py").write_text(MAKES)
        name = "everything.part" if below.name == "everything" else "everything.inner.part"
        (below / "uses.py").write_text(USES.replace("everything", name))
        assert {finding.code for finding in _checked(below / "uses.py").findings} == {"TLN201"}
