"""What a build needs: seconds and setuptools, unless somebody asks for the compiled model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def _in_the_build(folder: Path, program: str, compiled: str | None) -> str:
    """What a program prints last that stands where pip calls the backend: in the folder of some project."""
    (folder / "pyproject.toml").write_text('[project]\nname = "empty"\nversion = "1"\n')
    environment = {name: value for name, value in os.environ.items() if name != "TORCHLINT_COMPILED"}
    if compiled is not None:
        environment["TORCHLINT_COMPILED"] = compiled
    environment["PYTHONPATH"] = str(ROOT / "packaging")
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, timeout=100
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()[-1]


@pytest.mark.parametrize(("compiled", "needs"), [(None, False), ("", False), ("0", False), ("1", True)])
def test_the_compiler_is_required_only_where_it_is_asked_for(tmp_path: Path, compiled: str | None, needs: bool) -> None:
    asked = "import backend; print(backend.COMPILER == backend.get_requires_for_build_wheel()[-3:])"
    assert _in_the_build(tmp_path, asked, compiled) == str(needs)
    editable = "import backend; print(any('mypy' in each for each in backend.get_requires_for_build_editable()))"
    assert _in_the_build(tmp_path, editable, compiled) == "False"


def test_the_source_distribution_holds_what_builds_it() -> None:
    assert (ROOT / "MANIFEST.in").read_text(encoding="utf-8") == "include packaging/backend.py\n"
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'build-backend = "backend"\nbackend-path = ["packaging"]\n' in project


def test_the_compiler_is_the_one_that_checks() -> None:
    """One version of mypy compiles in a release, in `.ci/compiled` and on a developer's machine."""
    from importlib.metadata import version

    assert f"mypy[mypyc]=={version('mypy')}" in (ROOT / "packaging" / "backend.py").read_text(encoding="utf-8")
