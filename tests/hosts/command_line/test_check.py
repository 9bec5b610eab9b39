"""`torchlint check` as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from process import Torchlint


def test_text_with_frame_and_trace(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    ran = torchlint("check")
    lines = ran.out.splitlines()
    assert ran.status == 1
    assert ran.err == ""
    assert lines[0].startswith("a.py:5:1: error[TLN201] `mul_` overwrites")
    assert " 4 | y = x.exp()" in lines
    assert any(line.startswith(("   | --", "   |     --")) for line in lines)
    assert lines[lines.index(" 5 | y.mul_(2)") + 1].startswith("   | ^^^^^^^^^")
    assert " 6 | y.sum().backward()" in lines
    assert any(line.startswith("   = fix: ") and line.endswith("(unsafe; --unsafe-fixes)") for line in lines)
    assert "Found 1 error." in lines


def test_no_trace(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    out = torchlint("check", "--no-trace").out
    assert " 5 | y.mul_(2)" in out
    assert " 6 | " not in out


def test_nothing_to_report(torchlint: Torchlint, clean: str) -> None:
    Path("a.py").write_text(clean)
    ran = torchlint("check", "--ignore", "TLN204")
    assert (ran.status, ran.out, ran.err) == (0, "No findings in 1 file.\n", "")


def test_concise_and_selection(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    ran = torchlint("check", "--output-format", "concise", "--select", "TLN2,backward-on-non-scalar")
    assert ran.out.splitlines()[0].startswith("a.py:5:1: error[TLN201] ")
    assert torchlint("check", "--ignore", "saved-tensor-overwritten").status == 0
    ran = torchlint("check", "--select", "TLN99")
    assert ran.status == 2
    assert ran.err.startswith("torchlint: command line: no rule matches `TLN99`; of `TLN9` there are `TLN901` to `TLN")
    assert ran.out == ""


@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_json(torchlint: Torchlint, overwritten: str, name: str) -> None:
    Path("a.py").write_text(overwritten)
    ran = torchlint("check", "--output-format", name, "-o", "report")
    assert (ran.status, ran.out) == (1, "")
    text = Path("report").read_text()
    (item,) = json.loads(text) if name == "json" else map(json.loads, text.splitlines())
    assert item.keys() == {
        *("path", "line", "column", "end_line", "end_column", "code", "name", "level", "message", "trace", "fix"),
        "verdict",
    }
    assert (item["path"], item["line"], item["column"], item["code"]) == ("a.py", 5, 1, "TLN201")
    assert (item["name"], item["level"], item["verdict"]) == ("saved-tensor-overwritten", "error", None)
    assert [step["line"] for step in item["trace"]] == [4, 5, 6]
    assert item["fix"]["safe"] is False


def test_an_output_file_that_cannot_be_written(torchlint: Torchlint, clean: str) -> None:
    Path("a.py").write_text(clean)
    ran = torchlint("check", "-o", "nowhere/report")
    assert ran.status == 2
    assert "nowhere/report: No such file or directory" in ran.err


def test_standard_input(torchlint: Torchlint, overwritten: str) -> None:
    ran = torchlint("check", "-", "--output-format", "concise", stdin=overwritten.encode())
    assert ran.status == 1
    assert ran.out.startswith("<stdin>:5:1: error[TLN201] ")
    Path("torchlint.toml").write_text('[per-file-ignores]\n"lib/*" = ["TLN201"]\n')
    named = torchlint("check", "-", "--stdin-filename", "lib/a.py", stdin=overwritten.encode())
    assert named.status == 0
    shown = torchlint("check", "-", "--stdin-filename", "src/a.py", stdin=overwritten.encode())
    assert "src/a.py:5:1" in shown.out
    assert " 5 | y.mul_(2)" in shown.out
    assert torchlint("check", "-", "a.py").status == 2


def test_fix(torchlint: Torchlint, needless: str, overwritten: str) -> None:
    Path("a.py").write_text(needless)
    Path("b.py").write_text(overwritten)
    ran = torchlint("check", "--fix", "--output-format", "concise")
    assert Path("a.py").read_text() == needless.replace("retain_graph=True", "")
    assert Path("b.py").read_text() == overwritten
    assert ran.status == 1
    assert "1 fix applied; 1 fixable with --fix --unsafe-fixes." in ran.out
    ran = torchlint("check", "--fix", "--unsafe-fixes", "b.py")
    assert "y.mul_(2)" not in Path("b.py").read_text()
    assert ran.status == 0


def test_diff(torchlint: Torchlint, needless: str) -> None:
    Path("a.py").write_text(needless)
    ran = torchlint("check", "--diff")
    assert ran.status == 1
    assert "-y.sum().backward(retain_graph=True)\n+y.sum().backward()\n" in ran.out
    assert ran.out.startswith("--- a.py\n+++ a.py\n@@ ")
    assert Path("a.py").read_text() == needless
    assert torchlint("check", "--diff", "--exit-zero").status == 0
    assert torchlint("check", "--diff", "--select", "TLN2").out == ""


@pytest.mark.parametrize("known", [False, True])
def test_what_rests_on_a_fixed_file_is_said_of_the_fixed_one(torchlint: Torchlint, known: bool) -> None:
    Path("layers.py").write_text(
        "import torch\nfrom torch import nn\n\n\nclass Gate(nn.Module):\n    def __init__(self, size):\n"
        "        super().__init__()\n        self.gate = nn.Parameter(torch.zeros(size)) * 1.0\n\n"
        "    def forward(self, x):\n        return x * self.gate\n"
    )
    Path("train.py").write_text(
        "import torch\nfrom torch import nn\nfrom layers import Gate\n\n"
        "model = nn.Sequential(nn.Linear(4, 4), Gate(4))\n"
        "for x in torch.randn(5, 8, 4):\n    model(x).pow(2).mean().backward()\n"
    )
    if known:
        assert "train.py:7" in torchlint("check", "--output-format", "concise").out
    result = torchlint("check", "--fix", "--unsafe-fixes", "--output-format", "concise")
    assert "train.py:7" not in result.out, result.out
    assert "Parameter(torch.zeros(size) * 1.0)" in Path("layers.py").read_text()
    assert torchlint("check", "--output-format", "concise").out.count("train.py:7") == 0


def test_fix_of_standard_input(torchlint: Torchlint, needless: str) -> None:
    ran = torchlint("check", "--fix", "-", stdin=needless.encode())
    assert (ran.status, ran.out) == (0, needless.replace("retain_graph=True", ""))
    assert "1 fix applied" in ran.err
    unfixable = "import torch\nx = (\n"
    ran = torchlint("check", "--fix", "-", stdin=unfixable.encode())
    assert (ran.status, ran.out) == (1, unfixable)


def test_levels_and_exit_status(torchlint: Torchlint, needless: str, overwritten: str) -> None:
    Path("a.py").write_text(needless)
    ran = torchlint("check", "--output-format", "concise")
    assert ran.out.startswith("a.py:5:")
    assert ran.status == 0
    assert torchlint("check", "--exit-on", "smell").status == 1
    Path("torchlint.toml").write_text('exit-on = "smell"\n')
    assert torchlint("check").status == 1
    assert torchlint("check", "--exit-on", "warning").status == 0
    Path("a.py").write_text(overwritten)
    assert torchlint("check", "--exit-on", "error").status == 1
    assert torchlint("check", "--exit-zero").status == 0


def test_statistics(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    out = torchlint("check", "--statistics").out
    (row,) = (line for line in out.splitlines() if " saved-tensor-overwritten " in line)
    assert row.split()[:2] == ["1", "TLN201"]
    assert "a.py" not in out  # the table stands for the findings
    assert "Found 1 error." in out
    ran = torchlint("check", "--statistics", "--output-format", "json")
    assert len(json.loads(ran.out)) == 1
    assert "following the program" in ran.err


def test_colors(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    assert "\x1b[" not in torchlint("check").out
    assert "\x1b[" in torchlint("check", FORCE_COLOR="1").out
    assert "\x1b[" not in torchlint("check", FORCE_COLOR="1", NO_COLOR="1").out


def test_suppressions(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten.replace("mul_(2)", "mul_(2)  # noqa: TLN201"))
    Path("b.py").write_text(overwritten.replace("mul_(2)", "mul_(2)  # torchlint: ignore[TLN2] on purpose"))
    assert torchlint("check").status == 0
    Path("c.py").write_text("import torch  # noqa: TLN201\n")
    assert torchlint("check", "--output-format", "concise").out.splitlines()[0] == (
        "c.py:1:15: smell[TLN002] the suppression of `TLN201` covers no finding [*]"
    )
    assert torchlint("check", "--fix").status == 0
    assert Path("c.py").read_text() == "import torch\n"


def test_many_files_in_processes(torchlint: Torchlint, overwritten: str) -> None:
    for number in range(24):
        Path(f"f{number:02}.py").write_text(overwritten)
    alone = torchlint("check", "--jobs", "1", "--output-format", "jsonl")
    together = torchlint("check", "--jobs", "2", "--output-format", "jsonl")
    assert together == alone
    assert len(alone.out.splitlines()) == 24


def test_a_reader_that_goes_away(tmp_path: Path, overwritten: str) -> None:
    for number in range(15):
        (tmp_path / f"f{number:02}.py").write_text(overwritten * 20)
    command = [sys.executable, "-m", "torchlint", "check", "--ignore", "TLN1", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(60)


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_output_in_any_encoding(torchlint: Torchlint, overwritten: str, encoding: str) -> None:
    Path("日本.py").write_text(overwritten.replace("mul_(2)", "mul_(2)  # 日本 ü \x1b[2J"), encoding="utf-8")
    ran = torchlint("check", PYTHONIOENCODING=encoding)
    assert ran.status == 1
    assert "Found 1 error." in ran.out
    assert "\x1b" not in ran.out


@pytest.mark.skipif(os.name == "nt", reason="file names are bytes only on POSIX")
def test_a_file_name_that_is_no_text(torchlint: Torchlint, overwritten: str) -> None:
    with open(b"a\xff.py", "w") as file:
        file.write(overwritten)
    ran = torchlint("check", "--output-format", "concise")
    assert ran.status == 1
    assert ran.out.startswith("a\\udcff.py:5:1: error[TLN201]")
    assert json.loads(torchlint("check", "--output-format", "json").out)[0]["path"] == "a\udcff.py"


def test_a_condition_is_data_beside_the_words(torchlint: Torchlint) -> None:
    Path("net.py").write_text(
        "import torch\n\n\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x):\n"
        "        y = torch.exp(x)\n"
        "        y.mul_(2)\n"
        "        return y\n"
    )
    for _ in ("first", "from the cache"):
        items = json.loads(torchlint("check", "--output-format", "json", "net.py").out)
        (item,) = (item for item in items if item["code"] == "TLN201")
        assert item["level"] == "warning"
        assert item["conditions"] == [{"kind": "requires_grad", "expression": "x", "holds": True}]
        assert "if `x` requires grad" in item["message"]
