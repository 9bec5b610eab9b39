"""Files that are no programs, names that are no files, full disks: said in a line, and nothing else is lost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from process import Ran, Torchlint

CONCISE = ("check", "--output-format", "concise", "-q")
HEAD = "import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny.mul_(2)\ny.sum().backward()\n"


@pytest.fixture
def beside(torchlint: Torchlint, overwritten: str) -> Callable[[str, bytes], Ran]:
    """What is said of a file, which must not cost the finding of the file beside it."""
    Path("zz.py").write_text(overwritten)

    def checked(name: str, content: bytes) -> Ran:
        Path(name).write_bytes(content)
        ran = torchlint(*CONCISE, name, "zz.py")
        assert "zz.py:5:1: error[TLN201]" in ran.out
        assert "Traceback" not in ran.err
        return ran

    return checked


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.py", bytes(range(256)) * 10, "error[TLN001] "),
        ("a.py", b"import torch\n\xff\xfe\x00", "a.py:2:1: error[TLN001] not utf-8"),
        ("a.py", b"# coding: nonsense\nimport torch\n", "a.py:1:1: error[TLN001] unknown encoding `nonsense`"),
        ("a.py", b"import torch\ns = '\xe9'\n", "a.py:2:6: error[TLN001] not utf-8: cannot decode byte 0xe9"),
        ("a.py", b"import torch\nx = (1\n", "error[TLN001] '(' was never closed"),
        ("a.py", b"import torch\nx = " + b"[" * 5000 + b"]" * 5000, "error[TLN001] too many nested parentheses"),
        ("a.ipynb", b"", "a.ipynb:1:1: error[TLN001] not a notebook"),
        ("a.ipynb", b'{"cells": [', "error[TLN001] not a notebook"),
        ("a.ipynb", b"[]", "a.ipynb:1:1: error[TLN001] not a notebook: it has no list of cells"),
        (
            "a.ipynb",
            b'{"cells": [{"cell_type": "code", "source": 5}]}',
            "error[TLN001] not a notebook: the source of cell 1 is no text",
        ),
        ("a.ipynb", b"\x89PNG\r\n\x1a\n", "a.ipynb:1:1: error[TLN001] not utf-8"),
        ("a.ipynb", b"[" * 100_000, "error[TLN001] not a notebook"),
    ],
    ids=[
        *("binary", "utf-16", "unknown-coding", "latin-1", "syntax", "nested", "empty-notebook", "half-a-notebook"),
        *("no-notebook", "no-text", "picture", "nested-notebook"),
    ],
)
def test_what_is_no_program(beside: Callable[[str, bytes], Ran], name: str, content: bytes, said: str) -> None:
    ran = beside(name, content)
    assert ran.status == 1
    (line,) = (line for line in ran.out.splitlines() if line.startswith("a."))
    assert said in line


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (HEAD.replace("\n", "\r\n").encode(), 5),
        (HEAD.replace("\n", "\r").encode(), 5),
        (b"\xef\xbb\xbf" + HEAD.encode(), 5),
        (HEAD.replace("y = x", "\x0cy = x").encode(), 5),
        (b"# coding: latin-1\n# \xe9\n" + HEAD.encode(), 7),
        (HEAD.rstrip("\n").encode(), 5),
        (HEAD.encode() + b"z = " + b"(" * 150 + b"1" + b")" * 150 + b"\n", 5),
        (HEAD.encode() + b"z = " + b" + ".join([b"x"] * 500) + b"\n", 5),
    ],
    ids=["crlf", "cr", "bom", "form-feed", "coding", "no-newline", "brackets", "long-expression"],
)
def test_what_is_one_all_the_same(beside: Callable[[str, bytes], Ran], content: bytes, line: int) -> None:
    ran = beside("a.py", content)
    assert ran.out.startswith(f"a.py:{line}:1: error[TLN201]")


def test_fixes_leave_the_form_of_a_file_alone(torchlint: Torchlint, needless: str) -> None:
    content = b"\xef\xbb\xbf" + needless.replace("\n", "\r\n").replace("y = x", "\x0cy = x").encode()
    Path("a.py").write_bytes(content)
    assert torchlint("check", "--fix").status == 0
    assert Path("a.py").read_bytes() == content.replace(b"retain_graph=True", b"")


@pytest.mark.slow
def test_a_hundred_thousand_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(HEAD + "".join(f"z{number} = {number}\n" for number in range(100_000)))
    command = [sys.executable, "-m", "torchlint", *CONCISE]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert ran.stdout.startswith("a.py:5:1: error[TLN201]")
    assert ran.returncode == 1


def test_links_in_circles_and_pipes(torchlint: Torchlint, overwritten: str) -> None:
    Path("zz.py").write_text(overwritten)
    Path("folder").mkdir()
    os.symlink("../folder", "folder/loop")
    os.symlink("two.py", "one.py")
    os.symlink("one.py", "two.py")
    os.mkfifo("pipe.py")
    ran = torchlint(*CONCISE)
    assert (ran.status, len(ran.out.splitlines())) == (1, 1)
    ran = torchlint(*CONCISE, "one.py", "pipe.py", "folder", "zz.py")
    assert ran.status == 2
    assert "one.py:1:1: error[TLN000] cannot be read: Too many levels of symbolic links" in ran.out
    assert "torchlint: pipe.py: not a regular file" in ran.err
    assert "zz.py:5:1: error[TLN201]" in ran.out


@pytest.mark.parametrize("name", ["torchlint.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "not valid TOML"),
        (b"select = [", "not valid TOML"),
        (b"a = " + b"[" * 100_000, "not valid TOML"),
    ],
    ids=["binary", "half", "nested"],
)
def test_a_configuration_that_is_none(torchlint: Torchlint, name: str, content: bytes, said: str) -> None:
    Path(name).write_bytes(content)
    ran = torchlint("check")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"torchlint: {Path.cwd() / name}: {said}")
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('extend = "nowhere.toml"\n', "`extend`: there is no file"),
        ('extend = "torchlint.toml"\n', "`extend` goes in a circle"),
        ("extend = 1\n", "`extend` must be the path of a configuration file, not the integer 1"),
        ("[rules.TLN201]\nnope = 1\n", "rules.TLN201: no option `nope`"),
        ("[rules.saved-tensor-overwriten]\n", "did you mean `saved-tensor-overwritten`?"),
        ("jobs = 0\n", "`jobs` must be a number from 1 on, not the integer 0"),
    ],
)
def test_a_configuration_that_cannot_be_meant(torchlint: Torchlint, clean: str, text: str, said: str) -> None:
    Path("a.py").write_text(clean)
    Path("torchlint.toml").write_text(text)
    ran = torchlint("check")
    assert ran.status == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def _with_little_room(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A process whose files may have a thousand bytes, as on a disk that is nearly full."""
    return subprocess.run(
        [sys.executable, "-m", "torchlint", "check", "--no-cache", *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )


@pytest.mark.parametrize("before", ["", "what was there\n"])
def test_a_report_is_there_as_a_whole_or_not_at_all(torchlint: Torchlint, overwritten: str, before: str) -> None:
    Path("a.py").write_text(overwritten)
    if before:
        Path("report.html").write_text(before)
    ran = _with_little_room("--output-format", "html", "-o", "report.html")
    assert ran.returncode == 2
    assert ran.stderr == "torchlint: report.html: File too large\n"
    assert (Path("report.html").read_text() if Path("report.html").exists() else "") == before
    assert sorted(os.listdir()) == sorted(["a.py", *(["report.html"] if before else [])])


def test_comments_baselines_and_fixes_that_do_not_fit(torchlint: Torchlint, overwritten: str, needless: str) -> None:
    for number in range(5):
        Path(f"a{number}.py").write_text(overwritten + f"# {number}\n" + "#" * 900 + "\n")
    before = {path: path.read_text() for path in Path().glob("*.py")}
    ran = _with_little_room("--add-noqa")
    assert ran.returncode == 2
    assert ran.stderr.count("TLN000] the fixes could not be written: File too large") == 5
    assert ran.stderr.count("error[TLN201]") == 5
    ran = _with_little_room("--write-baseline", "known.json")
    assert (ran.returncode, ran.stderr) == (2, "torchlint: known.json: File too large\n")
    assert {path: path.read_text() for path in Path().iterdir()} == before


def test_nowhere_to_write(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_text(overwritten)
    assert torchlint(*CONCISE, "--cache-dir", "/proc/nowhere").out.startswith("a.py:5:1:")
    for option in ("-o", "--write-baseline"):
        ran = torchlint("check", option, "/proc/nowhere/x")
        assert (ran.status, ran.out) == (2, "")
        assert ran.err == "torchlint: /proc/nowhere/x: No such file or directory\n"


def test_runs_at_once(torchlint: Torchlint, needless: str, overwritten: str) -> None:
    """They fix the same files, and share a cache: each file is fixed once, and no run fails."""
    for number in range(8):
        Path(f"a{number}.py").write_text(needless + f"# {number}\n")
    Path("b.py").write_text(overwritten)
    command = [sys.executable, "-m", "torchlint", "check", "--fix", "--output-format", "json"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for run in runs:
        out, err = run.communicate(timeout=100)
        assert "Traceback" not in err
        found = {(item["path"], item["code"]) for item in json.loads(out)}
        assert ("b.py", "TLN201") in found
        # who came second says that the file was changed meanwhile, or finds it fixed
        assert {code for _, code in found} <= {"TLN201", "TLN000", "TLN102"}
    for number in range(8):
        text = needless.replace("retain_graph=True", "") + f"# {number}\n"
        assert Path(f"a{number}.py").read_text() == text
    assert not [name for name in os.listdir() if name.startswith(".a") or name.endswith(".tmp")]
    assert torchlint(*CONCISE).status == 1


def test_the_template_of_a_project_configures_nothing(torchlint: Torchlint) -> None:
    template = Path("templates/{{ cookiecutter.name }}")
    template.mkdir(parents=True)
    (template / "pyproject.toml").write_text("[project]\nname = {{ cookiecutter.name }}\n")
    (template / "train.py").write_text(HEAD)
    ran = torchlint(*CONCISE)
    assert (ran.status, ran.err) == (1, "")
    assert "train.py:5:1: error[TLN201]" in ran.out
    (template / "pyproject.toml").write_text("[project]\nname = {{ cookiecutter.name }}\n[tool.torchlint]\n")
    assert torchlint(*CONCISE).status == 2


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_modules_of_the_project_that_have_names_of_pythons_own(tmp_path: Path, jobs: str) -> None:
    for name in ("signal", "selectors", "queue", "click", "libcst"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"open('{name} was run', 'w').close()\nraise ImportError\n")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("import torch\n\ntorch.rand(3, requires_grad=True).sum().backward\n")
    command = [sys.executable, "-m", "torchlint", "check", "--no-cache", "--jobs", jobs, "a.py", "b.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout.count("TLN110")) == (1, 2), ended.stderr
    assert not list(tmp_path.glob("* was run"))
