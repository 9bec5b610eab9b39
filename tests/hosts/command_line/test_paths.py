"""What is named on the command line is checked, or it is said why not: no false all-clear, no hang."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from process import Torchlint


def test_files_that_hooks_name_are_excluded_if_they_say_so(torchlint: Torchlint, overwritten: str) -> None:
    for name in ("third_party/sub", "build", "src"):
        os.makedirs(name)
        Path(name, "a.py").write_text(overwritten)
    Path("torchlint.toml").write_text('extend-exclude = ["third_party/"]\n')
    named = ("third_party/sub/a.py", "build/a.py", "src/a.py", str(Path("third_party/sub/a.py").absolute()))
    ran = torchlint("check", "--output-format", "concise", *named)
    assert ran.out.count("TLN201") == 3
    ran = torchlint("check", "--output-format", "concise", "--force-exclude", *named)
    assert [line.partition(":")[0] for line in ran.out.splitlines() if "TLN201" in line] == ["src/a.py"]
    assert (torchlint("check", "--force-exclude", "third_party").status, ran.err) == (0, "")


def test_directories_above_the_working_directory_exclude_nothing(
    torchlint: Torchlint, overwritten: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.makedirs("build/project")
    monkeypatch.chdir("build/project")
    Path("a.py").write_text(overwritten)
    assert torchlint("check", "--force-exclude", "a.py").status == 1
    assert torchlint("check", "--force-exclude", str(Path("a.py").absolute())).status == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX's")
def test_a_pipe_is_refused(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    os.mkfifo("pipe.py")
    ran = torchlint("check", "pipe.py", "a.py")
    assert (ran.status, ran.err) == (2, "torchlint: pipe.py: not a regular file\n")
    assert "a.py:5:1" in ran.out
    assert torchlint("check").err == ""


def test_a_file_that_is_named_twice_is_checked_once(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    ran = torchlint("check", "--output-format", "concise", "a.py", str(Path("a.py").absolute()), ".", "./a.py")
    assert ran.out.count("TLN201") == 1
    assert ran.out.startswith("a.py:5:1")


def test_standard_input_that_is_named_is_read(torchlint: Torchlint, overwritten: str) -> None:
    Path("other.py").write_text(overwritten)
    ran = torchlint("check", "--output-format", "concise", "--stdin-filename", "x.py", stdin=overwritten.encode())
    assert ran.status == 1
    assert [line.partition(":")[0] for line in ran.out.splitlines() if "TLN" in line] == ["x.py"]
    ran = torchlint("check", "--stdin-filename", "x.py", "other.py", stdin=overwritten.encode())
    assert ran.status == 2
    assert "--stdin-filename is for standard input (-), not for files" in ran.err


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"def f(:\n", "1:7: error[TLN001] invalid syntax"),
        ("x = 1\n".encode("utf-16"), "1:1: error[TLN001] not utf-8: cannot decode byte 0xff"),
        ("import torch\n".encode("utf-16-le"), "1:2: error[TLN001] source code cannot contain null bytes"),
        (b"x = 1\n\0\n", "2:1: error[TLN001] source code cannot contain null bytes"),
    ],
)
def test_what_is_not_python_is_reported_though_it_does_not_mention_torch(
    torchlint: Torchlint, data: bytes, place: str
) -> None:
    Path("a.py").write_bytes(data)
    for _ in range(2):  # the second answer is the cache's
        ran = torchlint("check", "--output-format", "concise", "--select", "TLN2")
        assert (ran.status, ran.out.splitlines()[0]) == (1, f"a.py:{place}")
    ran = torchlint("check", "--output-format", "concise", "-", "--stdin-filename", "a.py", stdin=data)
    assert (ran.status, ran.out.splitlines()[0]) == (1, f"a.py:{place}")


def test_python_of_another_version_is_python(torchlint: Torchlint) -> None:
    Path("new.py").write_text("type X = int\ndef f[T](a: T) -> T:\n    return a\n")
    Path("deep.py").write_text("x = " + " + ".join(["1"] * 20_000) + "\n")
    ran = torchlint("check")
    assert (ran.status, ran.out) == (0, "No findings in 2 files.\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("cached", [False, True])
def test_a_full_disk(torchlint: Torchlint, overwritten: str, cached: bool) -> None:
    import subprocess

    Path("a.py").write_text(overwritten)
    os.utime("a.py", (1e9, 1e9))
    if cached:
        torchlint("check")
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "torchlint", "check"], stdout=full, stderr=subprocess.PIPE, timeout=100
        )
    assert (ran.returncode, ran.stderr) == (2, b"torchlint: standard output: No space left on device\n")
    written = torchlint("check", "-o", "/dev/full")
    assert written.status == 2
    assert "No space left on device" in written.err


@pytest.mark.skipif(shutil.which("sh") is None, reason="closes it by a shell")
def test_no_standard_output(torchlint: Torchlint, overwritten: str) -> None:
    import subprocess

    Path("a.py").write_text(overwritten)
    command = f"'{sys.executable}' -m torchlint check --no-cache >&-"
    ran = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, timeout=100)
    assert (ran.returncode, ran.stderr) == (1, b"")


def test_plugins_lie_beside_the_configuration(torchlint: Torchlint) -> None:
    os.makedirs("project/sub")
    Path("project/torchlint.toml").write_text('plugins = ["no_rules_here"]\n')
    Path("project/no_rules_here.py").write_text("from torchlint.rule import Rule\n")
    Path("project/sub/a.py").write_text("import torch\n")
    ran = torchlint("check", "--output-format", "concise", "project/sub")
    assert ran.status == 2
    assert "the module `no_rules_here` has no subclass of torchlint.rule.Rule" in ran.out


@pytest.mark.parametrize(
    "comment", ["# flake8: noqa", "# ruff: noqa", "# ruff: noqa: E501, TLN2", "#flake8:noqa:TLN201"]
)
def test_comments_for_a_whole_file(torchlint: Torchlint, overwritten: str, comment: str) -> None:
    Path("a.py").write_text(overwritten + comment + "\n")
    assert "TLN201" not in torchlint("check", "--output-format", "concise").out
    Path("a.py").write_text(overwritten + "x = 1  " + comment + "\n")
    assert "TLN201" in torchlint("check", "--output-format", "concise").out


def test_a_hint_is_close_or_there_is_none(torchlint: Torchlint) -> None:
    assert "Did you mean" not in torchlint("check", "--isolated").err
    assert "Did you mean '--output-format'?" in torchlint("check", "--output-formt", "json").err
    Path("torchlint.toml").write_text('extend-exclude = "third_party/"\n')
    assert '`extend-exclude` must be a list of strings, such as ["third_party/"]' in torchlint("check").err


def test_other_files_are_shown_as_the_finding_s_own_is(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    os.makedirs("net")
    Path("net/layers.py").write_text(
        "import torch\nfrom torch import nn\n\nclass Head(nn.Module):\n    def forward(self, x):\n"
        "        return torch.softmax(x, dim=-1)\n"
    )
    Path("net/train.py").write_text(
        "import torch\nfrom torch import nn\nfrom layers import Head\n\nhead = Head()\nloss = nn.CrossEntropyLoss()\n"
        "x = torch.randn(2, 3, requires_grad=True)\nloss(head(x), torch.tensor([0, 1])).backward()\n"
    )
    whole = str(Path("net").absolute())
    for _ in range(2):  # the second time from the cache, which keeps whole paths
        assert "  ::: net/layers.py:6:16\n" in torchlint("check", "net/train.py").out
        assert f"  ::: {whole}/layers.py:6:16\n" in torchlint("check", f"{whole}/train.py").out
    monkeypatch.chdir("net")
    assert "  ::: layers.py:6:16\n" in torchlint("check", "train.py").out
    monkeypatch.chdir("..")
    assert "  ::: net/layers.py:6:16\n" in torchlint("check", "--no-cache", "net").out
