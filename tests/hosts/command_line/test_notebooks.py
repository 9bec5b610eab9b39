"""Notebooks on the command line: linted across cells, shown by cell, fixed in place."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from process import Torchlint

SAVED = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()"
WRITTEN = "%matplotlib inline\ny.mul_(2)"
READ = "y.sum().backward(retain_graph=True)"


def _notebook(*sources: str) -> str:
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# torch"]}]
    for source in sources:
        code = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
        cells.append({**code, "source": source.splitlines(True)})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


@pytest.fixture(autouse=True)
def _written(tmp_path: Path) -> None:
    (tmp_path / "n.ipynb").write_text(_notebook(SAVED, WRITTEN, READ))


def test_a_finding_names_the_cell_and_the_line_in_it(torchlint: Torchlint) -> None:
    for _ in range(3):  # from the cache, too
        ran = torchlint("check", "--select", "TLN201")
        assert ran.status == 1
        assert ran.out.startswith("n.ipynb:cell 3:2:1: error[TLN201] `mul_` overwrites `y`")
        assert " 2 | y.mul_(2)\n" in ran.out
        assert "  ::: n.ipynb:cell 2:3:5\n 3 | y = x.exp()\n" in ran.out
        assert "  ::: n.ipynb:cell 4:1:1\n" in ran.out


def test_json_has_the_cell(torchlint: Torchlint) -> None:
    for _ in range(2):
        first, second = json.loads(torchlint("check", "--output-format", "json").out)
        assert (first["code"], first["cell"], first["line"], first["column"]) == ("TLN201", 3, 2, 1)
        assert [(step["cell"], step["line"]) for step in first["trace"]] == [(2, 3), (3, 2), (4, 1)]
        assert (first["fix"]["edits"][0]["cell"], first["fix"]["edits"][0]["line"]) == (3, 2)
        assert (second["code"], second["cell"], second["line"]) == ("TLN102", 4, 1)


def test_an_edit_is_noticed(torchlint: Torchlint) -> None:
    assert torchlint("check", "n.ipynb").status == 1
    Path("n.ipynb").write_text(_notebook(SAVED, "y = y * 2", "y.sum().backward()"))
    assert torchlint("check", "n.ipynb").out == "No findings in 1 file.\n"


def test_fixes_are_written_and_nothing_else_is(torchlint: Torchlint) -> None:
    ran = torchlint("check", "--fix", "--unsafe-fixes", "n.ipynb")
    assert ran.out == "No findings in 1 file.\n2 fixes applied.\n"
    fixed = _notebook(SAVED, "%matplotlib inline\ny = y.mul(2)", "y.sum().backward()")
    assert Path("n.ipynb").read_text() == fixed


def test_a_diff_is_one_of_cells(torchlint: Torchlint) -> None:
    before = Path("n.ipynb").read_text()
    ran = torchlint("check", "--diff", "n.ipynb")
    assert ran.status == 1
    assert ran.out.splitlines()[:5] == [
        "--- n.ipynb:cell 4", "+++ n.ipynb:cell 4", "@@ -1 +1 @@", f"-{READ}", "\\ No newline at end of file",
    ]  # fmt: skip
    assert Path("n.ipynb").read_text() == before


def test_comments_in_cells_suppress(torchlint: Torchlint) -> None:
    Path("n.ipynb").write_text(_notebook(SAVED, f"{WRITTEN}  # noqa: TLN201", f"{READ}  # torchlint: ignore[TLN102]"))
    assert torchlint("check").status == 0
    Path("n.ipynb").write_text(_notebook("# torchlint: ignore-file[TLN]", SAVED, WRITTEN, READ))
    assert torchlint("check").status == 0


def test_changed_lines_are_those_of_the_file(torchlint: Torchlint) -> None:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "--quiet"], ["add", "n.ipynb"], [*identity, "commit", "--quiet", "--message=first"]):
        subprocess.run(["git", *arguments], check=True, capture_output=True)
    assert torchlint("check", "--since", "HEAD", "n.ipynb").out == "No findings in 0 files.\n"
    Path("n.ipynb").write_text(_notebook(SAVED, WRITTEN.replace("2", "3"), READ))
    assert "n.ipynb:cell 3:2:1: error[TLN201]" in torchlint("check", "--since", "HEAD", "n.ipynb").out
    Path("n.ipynb").write_text(_notebook(SAVED + " ", WRITTEN, READ))  # a step of its proof
    assert "n.ipynb:cell 3:2:1: error[TLN201]" in torchlint("check", "--since", "HEAD", "n.ipynb").out
    Path("n.ipynb").write_text(_notebook("# new\n" + SAVED, WRITTEN, READ))
    assert "No findings" in torchlint("check", "--since", "HEAD", "n.ipynb").out.splitlines()[0]


def test_what_a_cell_ends_with_is_shown(torchlint: Torchlint) -> None:
    Path("n.ipynb").write_text(
        _notebook(SAVED, "y.add(1)", "y.add(2)\ny.add(3)", "%time y.add(4)\n%timeit y.add(5)\n6")
    )
    found = json.loads(torchlint("check", "--output-format", "json").out)
    assert [(each["code"], each["cell"], each["line"]) for each in found] == [("TLN212", 4, 1)]


def test_one_broken_cell_hides_no_finding(torchlint: Torchlint) -> None:
    Path("n.ipynb").write_text(_notebook(SAVED, "def f(:", WRITTEN, READ))
    found = json.loads(torchlint("check", "--output-format", "json").out)
    assert [(each["code"], each["cell"], each["line"]) for each in found] == [
        ("TLN001", 3, 1), ("TLN201", 4, 2), ("TLN102", 5, 1)
    ]  # fmt: skip


def test_no_fix_touches_a_magic(torchlint: Torchlint) -> None:
    Path("n.ipynb").write_text(_notebook(SAVED, "%time z = y.sum()", f"%time {READ}"))
    (found,) = json.loads(torchlint("check", "--output-format", "json").out)
    assert (found["code"], found["cell"], found["column"], found["fix"]) == ("TLN102", 4, 24, None)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": {}}', "version https://git-lfs.github.com/spec/v1\n"])
def test_what_is_no_notebook_is_an_error(torchlint: Torchlint, text: str) -> None:
    Path("n.ipynb").write_text(text)
    ran = torchlint("check", "--output-format", "concise")
    assert ran.status == 1
    assert ran.out.startswith("n.ipynb:1:")
    assert "error[TLN001] not a notebook: " in ran.out


def test_standard_input(torchlint: Torchlint) -> None:
    data = Path("n.ipynb").read_bytes()
    ran = torchlint("check", "-", "--stdin-filename", "a/b.ipynb", stdin=data)
    assert ran.out.startswith("a/b.ipynb:cell 3:2:1: error[TLN201]")
    assert " 2 | y.mul_(2)\n" in ran.out
    ran = torchlint("check", "-", "--stdin-filename", "b.ipynb", "--fix", stdin=data)
    assert ran.out == _notebook(SAVED, WRITTEN, "y.sum().backward()")


def test_the_state_is_shown(torchlint: Torchlint) -> None:
    assert "y = x.exp()" in torchlint("check", "--show-state", "n.ipynb").out


def test_verdicts_speak_of_cells(torchlint: Torchlint) -> None:
    first = json.loads(torchlint("check", "--verify", "--select", "TLN201", "--output-format", "json").out)[0]
    assert first["verdict"]["status"] == "confirmed"
    assert "line 1 of cell 4" in first["verdict"]["evidence"]
    assert first["cell"] == 3


def test_a_program_may_display(torchlint: Torchlint) -> None:
    Path("n.ipynb").write_text(_notebook(SAVED, f"display(y, metadata={{}})\n{WRITTEN}", READ))
    found = json.loads(torchlint("check", "--verify", "--select", "TLN201", "--output-format", "json").out)
    assert found[0]["verdict"]["status"] == "confirmed"


@pytest.mark.parametrize("form", ["sarif", "github", "gitlab", "junit", "azure", "rdjson"])
def test_who_annotates_files_is_told_the_line_of_the_file(torchlint: Torchlint, form: str) -> None:
    line = next(
        number for number, text in enumerate(Path("n.ipynb").read_text().splitlines(), 1) if '"y.mul_(2)"' in text
    )
    report = torchlint("check", "--select", "TLN201", "--output-format", form).out
    assert "cell 3, line 2: `mul_` overwrites" in report
    patterns = {
        "sarif": f'"startLine": {line},', "github": f"line={line},", "gitlab": f'"begin": {line},',
        "junit": f'line="{line}"', "azure": f"linenumber={line};", "rdjson": f'"line": {line},',
    }  # fmt: skip
    compact = report.replace('":', '": ').replace('":  ', '": ')
    assert patterns[form].rstrip(",") in compact
    assert '"replacement' not in report  # an edit of a cell is none of the file
    assert '"suggestions"' not in report


def test_a_line_of_a_notebook_is_named_with_its_cell(torchlint: Torchlint) -> None:
    ran = torchlint("verify", "n.ipynb:cell 3:2")
    assert ran.status == 1
    assert "n.ipynb:cell 3:2:1: error[TLN201]" in ran.out
    assert "TLN102" not in ran.out
    assert "n.ipynb:cell 2:2: no finding there" in torchlint("verify", "n.ipynb:cell 2:2").err
    ran = torchlint("verify", "n.ipynb:2")
    assert (ran.status, ran.out) == (2, "")
    assert "n.ipynb:2: a line of a notebook is one of a cell: 'n.ipynb:cell N:2'" in ran.err
    Path("n.py").write_text("import torch\n")
    assert "n.py is no notebook, and has no cells" in torchlint("verify", "n.py:cell 1:1").err


def test_nobody_is_sent_to_drive_a_notebook_by_a_program(torchlint: Torchlint) -> None:
    Path("n.ipynb").write_text(_notebook("import of_no_such_package", SAVED, WRITTEN, READ))
    ran = torchlint("check", "--verify", "n.ipynb")
    assert "line 1 of cell 2" in ran.out
    assert "--with" not in ran.out


def test_steps_in_other_cells_are_named_where_lines_are_those_of_the_file(torchlint: Torchlint) -> None:
    ran = torchlint("check", "--output-format", "github", "n.ipynb")
    assert "cell 3, line 2: `mul_` overwrites `y`" in ran.out
    assert ": cell 2, line 3: `exp` " in ran.out
