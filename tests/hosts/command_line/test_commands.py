"""`torchlint rule`, `torchlint rules`, `--version`, and torch's verdicts on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from process import Torchlint

from torchlint import __version__
from torchlint.lint import registry

ROOT = Path(__file__).parents[3]


def test_rules(torchlint: Torchlint) -> None:
    known = registry.load().rules
    lines = torchlint("rules").out.splitlines()
    assert [line.split()[:2] for line in lines] == [[rule.code, rule.name] for rule in known]
    items = json.loads(torchlint("rules", "--output-format", "json").out)
    assert [(item["code"], item["level"], item["summary"]) for item in items] == [
        (rule.code, rule.level.value, rule.summary()) for rule in known
    ]


def test_rule(torchlint: Torchlint) -> None:
    from torchlint.report import rule_page

    page = rule_page.page(registry.load().find("TLN201"))
    assert torchlint("rule", "TLN201").out.strip() == page.strip()
    assert torchlint("rule", "saved-tensor-overwritten").out.strip() == page.strip()
    own = torchlint("rule", "TLN001")
    assert own.status == 0
    assert own.out.startswith("# invalid-syntax (TLN001)\n")
    unknown = torchlint("rule", "saved-tensor-overwriten")
    assert unknown.status == 2
    assert "did you mean `saved-tensor-overwritten`?" in unknown.err


def test_version_imports_nothing_heavy() -> None:
    program = (
        "import sys; from torchlint.hosts.command_line import main; main(['--version'], standalone_mode=False);"
        "print(sorted({'libcst', 'torch', 'pathspec', 'torchlint.lint.engine'} & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [f"torchlint, version {__version__}", "[]"]


def test_linting_does_not_import_torch(tmp_path: Path, overwritten: str) -> None:
    (tmp_path / "a.py").write_text(overwritten)
    program = (
        "import sys; from torchlint.hosts.command_line import main;"
        "main(['check', sys.argv[1]], standalone_mode=False);"
        "print('torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "Found 1 error." in ran.stdout
    assert ran.stdout.splitlines()[-1] == "False"


def test_verify(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    ran = torchlint("check", "--verify")
    assert ran.status == 1
    (verdict,) = (line for line in ran.out.splitlines() if line.startswith("   = torch: "))
    assert verdict.startswith("   = torch: confirmed: ")
    assert "modified by an inplace operation" in verdict
    assert ran.err == "torchlint: --verify runs the code of 1 file under torch, for 1 finding\n"
    assert torchlint("check", "--verify", "--quiet").err == ""


def test_a_run_leaves_nothing_in_the_temporary_directory(
    torchlint: Torchlint, overwritten: str, tmp_path: Path
) -> None:
    (tmp_path / "temporary").mkdir()
    Path("a.py").write_text(overwritten)
    for arguments in (("check", "--verify"), ("verify", "a.py"), ("verify", "a.py", "--with", "a.py")):
        ran = torchlint(*arguments, TMPDIR=str(tmp_path / "temporary"))
        assert (ran.status, "torch: confirmed" in ran.out) == (1, True)
        assert list((tmp_path / "temporary").iterdir()) == []


def test_verdicts_come_in_the_order_of_the_files(torchlint: Torchlint, overwritten: str, needless: str) -> None:
    Path("a.py").write_text(overwritten)
    Path("b.py").write_text("import torch\n")
    Path("c.py").write_text(needless)
    ran = torchlint("check", "--verify", "--jobs", "2", "--output-format", "jsonl")
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert [Path(each["path"]).name for each in found] == ["a.py", "c.py"]
    assert [each["verdict"]["status"] for each in found] == ["confirmed", "confirmed"]
    whole = json.loads(torchlint("check", "--verify", "--output-format", "json").out)
    assert [each["code"] for each in whole] == [each["code"] for each in found]


@pytest.fixture
def without_torch(tmp_path: Path) -> str:
    """A directory that hides torch from everybody who has it on the path."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "torch.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n"
    )
    return str(tmp_path / "hidden")


def test_verify_without_torch_names_the_extra(torchlint: Torchlint, overwritten: str, without_torch: str) -> None:
    Path("a.py").write_text(overwritten)
    ran = torchlint("check", "--verify", "a.py", PYTHONPATH=without_torch)
    assert ran.status == 2
    assert "pip install 'torchlint[runtime]'" in ran.err
    assert "Traceback" not in ran.err
    assert "a.py:5:1: error[TLN201]" in ran.out
    assert torchlint("check", "a.py", PYTHONPATH=without_torch).status == 1
