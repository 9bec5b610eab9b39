"""Whatever is wrong with a file or with the user's words: a sentence, a status, and the other findings."""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from deadly import RULE, lives, until
from process import Ran, Torchlint

PAGE = Path(__file__).parents[3] / "docs" / "bad-input.md"
PROGRAM = "import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny.mul_(2)\ny.sum().backward()\n"
NEEDLESS = "import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny.sum().backward(retain_graph=True)\n"
FIXED = NEEDLESS.replace("retain_graph=True", "")
BESIDE = "zz.py:5:1: error[TLN201]"
"""What is said of a file that lies beside each case."""
CONCISE = ("check", "--output-format", "concise")


# The page: a case per row, under the row's first cell.

WORDS: dict[str, Sequence[str]] = {
    "a code that no rule has": ("check", "--select", "TLN2O1"),
    "the code of another tool": ("check", "--extend-select", "E501"),
    "a name that is misspelt": ("check", "--ignore", "retain-grph"),
    "a misspelt option": ("check", "--output-formt", "json"),
    "a misspelt command": ("chek",),
    "the name that another tool has for a command": ("explain", "TLN201"),
    "a file without a command": ("zz.py",),
    "a format that does not exist": ("check", "--output-format", "jsn"),
    "a level that does not exist": ("check", "--exit-on", "never"),
    "no processes": ("check", "--jobs", "0"),
    "a pattern without codes": ("check", "--per-file-ignores", "a.py"),
    "a range that is none": ("check", "--target-torch", "banana"),
    "a range without a release": ("check", "--target-torch", ">=3,<2"),
    "a revision that git does not know": ("check", "--since", "nowhere"),
    "a baseline that is not there": ("check", "--baseline", "nowhere.json"),
    "a baseline that is none": ("check", "--baseline", "notes.json"),
    "a field that does not exist": ("check", "--template", "{nope}"),
    "an executor that is none": ("check", "--executor", "ray://somewhere"),
    "an empty path": ("check", ""),
    "a variable that is not set": ("check", "--select", ""),
    "all that is selected is ignored": ("check", "--select", "TLN201", "--ignore", "TLN201"),
    "two options that write files": ("check", "--add-noqa", "--fix"),
    "a baseline that is read and written": ("check", "--baseline", "a.json", "--write-baseline", "b.json"),
    "a template and a format": ("check", "--template", "{path}", "--output-format", "json"),
    "silent and talkative": ("check", "-q", "-v"),
    "fixes while nothing is linted": ("check", "--show-files", "--fix"),
    "verdicts for a diff": ("check", "--diff", "--verify"),
    "a file, and no configuration at all": ("check", "--config", "notes.json", "--isolated"),
    "standard input and files": ("check", "-", "zz.py"),
    "watching standard input": ("check", "--watch", "-"),
    "a configuration that is not there": ("check", "--config", "nowhere.toml"),
}
CONFIGURATIONS: dict[str, tuple[str, bytes]] = {
    "half a configuration": ("pyproject.toml", b"[tool.torchlint\nselect = ["),
    "a binary configuration": ("torchlint.toml", bytes(range(256))),
    "a configuration that may not be read": ("torchlint.toml", b"strict = true\n"),
    "an unknown key": ("pyproject.toml", b"[tool.torchlint]\nselct = []\n"),
    "a selection of nothing": ("torchlint.toml", b"select = []\n"),
    "the header of another file": ("torchlint.toml", b"[tool.torchlint]\nstrict = true\n"),
    "a value of another type": ("torchlint.toml", b"strict = 'yes'\n"),
    "a configuration that extends itself": ("torchlint.toml", b"extend = 'torchlint.toml'\n"),
    "an unknown option of a rule": ("torchlint.toml", b"[rules.TLN201]\nnope = 1\n"),
}
FILES: dict[str, tuple[str, bytes]] = {
    "a binary file": ("a.py", b"\x7fELF\x02\x01\x01\x00" * 10),
    "UTF-16": ("a.py", PROGRAM.encode("utf-16")),
    "a file that is not UTF-8": ("a.py", b"import torch\ns = '\xe9'\n"),
    "an unknown coding line": ("a.py", b"# coding: nonsense\nimport torch\n"),
    "a syntax error": ("a.py", b"import torch\nx = f(1,\n"),
    "the syntax of a newer Python": ("a.py", b"import torch\nlazy import json\n"),
    "brackets that are nested too deeply": ("a.py", b"import torch\nx = " + b"[" * 5000 + b"]" * 5000),
    "an expression that is nested too deeply": ("a.py", b"import torch\nx = " + b"-" * 20_000 + b"1\n"),
    "a notebook that is not JSON": ("a.ipynb", b'{"cells" [}'),
    "an empty notebook": ("a.ipynb", b""),
    "JSON that is no notebook": ("a.ipynb", b"[]"),
    "a picture called a notebook": ("a.ipynb", b"\x89PNG\r\n\x1a\n"),
    "a coding line": ("a.py", b"# coding: latin-1 \xe9\n" + PROGRAM.encode()),
    "lines that end in CRLF": ("a.py", PROGRAM.replace("\n", "\r\n").encode()),
    "lines that end in CR": ("a.py", PROGRAM.replace("\n", "\r").encode()),
    "a BOM": ("a.py", b"\xef\xbb\xbf" + PROGRAM.encode()),
    "form feeds": ("a.py", PROGRAM.replace("y = x", "\x0cy = x").encode()),
    "no newline at the end": ("a.py", PROGRAM.rstrip("\n").encode()),
    "a hundred brackets": ("a.py", (PROGRAM + "z = " + "(" * 100 + "1" + ")" * 100 + "\n").encode()),
    "a sum of five hundred terms": ("a.py", (PROGRAM + "z = " + " + ".join(["x"] * 500) + "\n").encode()),
    "100,000 lines": ("a.py", (PROGRAM + "".join(f"z{n} = {n}\n" for n in range(100_000))).encode()),
    "more statements than are followed": (
        "a.py",
        (PROGRAM + "z = x.exp()\n" * 7000 + PROGRAM.replace("y", "late")).encode(),
    ),
    "an empty file": ("a.py", b""),
    "a file that may not be read": ("a.py", PROGRAM.encode()),
}
NOT_FOR_ALL = {"a configuration that may not be read", "a file that may not be read"}
"""Root may read them, so they are run without that right."""

NOWHERE_TO_TELL = {
    *("a full disk under standard output", "a full disk under a report", "a full disk under a baseline"),
    *("a report in a read-only project", "standard output is closed", "Ctrl-C", "SIGTERM"),
    "Ctrl-C for a shell's background job, then SIGTERM",
}
"""Rows whose run has no place for its findings, or did not come to them."""


def _started(
    *arguments: str, limit: int = 0, stdout: int = subprocess.PIPE, closed: bool = False
) -> subprocess.CompletedProcess[str]:
    """
    A process that may not pass over the modes of files, as root may.

    Parameters
    ----------
    limit
        How many bytes a file may have, as on a disk that is nearly full.
    closed
        Whether it has no standard output.
    """

    def prepare() -> None:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
        ctypes.CDLL(None).prctl(24, 2, 0, 0, 0)  # CAP_DAC_READ_SEARCH
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        if closed:
            os.close(1)

    return subprocess.run(
        [sys.executable, "-m", "torchlint", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=900,
        preexec_fn=prepare,
    )


def _ran(process: subprocess.CompletedProcess[str]) -> Ran:
    return Ran(process.returncode, process.stdout or "", process.stderr)


def _linked(target: str) -> Callable[[Torchlint], Ran]:
    def case(torchlint: Torchlint) -> Ran:
        os.symlink(target, "a.py")
        return torchlint(*CONCISE, "a.py", "zz.py")

    return case


def _pipe(torchlint: Torchlint) -> Ran:
    os.mkfifo("a.py")
    return torchlint(*CONCISE, "a.py", "zz.py")


def _missing(torchlint: Torchlint) -> Ran:
    return torchlint(*CONCISE, "a.py", "zz.py")


def _full_output(torchlint: Torchlint) -> Ran:
    with open("/dev/full", "w") as full:
        ran = _started(*CONCISE, "--no-cache", stdout=full.fileno())
    return _ran(ran)


def _no_output(torchlint: Torchlint) -> Ran:
    ran = _started(*CONCISE, "--no-cache", closed=True)
    assert ran.stderr == ""
    return _ran(ran)


def _full_report(torchlint: Torchlint) -> Ran:
    Path("report.json").write_text("what was there")
    ran = _started("check", "--no-cache", "--output-format", "html", "-o", "report.json", limit=1000)
    assert Path("report.json").read_text() == "what was there"
    return _ran(ran)


def _full_fix(torchlint: Torchlint) -> Ran:
    text = NEEDLESS + "# the last line\n" * 100
    Path("a.py").write_text(text)
    ran = _started(*CONCISE, "--no-cache", "--fix", limit=1000)
    assert Path("a.py").read_text() == text
    return _ran(ran)


def _full_baseline(torchlint: Torchlint) -> Ran:
    for number in range(5):
        Path(f"b{number}.py").write_text(PROGRAM)
    Path("known.json").write_text(json.dumps({"tool": "torchlint", "version": 1, "findings": {}}))
    before = Path("known.json").read_text()
    ran = _started("check", "--no-cache", "--write-baseline", "known.json", limit=1000)
    assert Path("known.json").read_text() == before
    return _ran(ran)


def _read_only(*arguments: str) -> Callable[[Torchlint], Ran]:
    def case(torchlint: Torchlint) -> Ran:
        Path("a.py").write_text(NEEDLESS)
        os.chmod(".", 0o555)
        try:
            ran = _started(*CONCISE, *arguments)
        finally:
            os.chmod(".", 0o755)
        assert Path("a.py").read_text() == NEEDLESS
        return _ran(ran)

    return case


def _two_runs(torchlint: Torchlint) -> Ran:
    for number in range(8):
        Path(f"a{number}.py").write_text(NEEDLESS + f"# {number}\n")
    command = [sys.executable, "-m", "torchlint", *CONCISE, "--fix"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for run in runs:
        out, err = run.communicate(timeout=300)
        assert "Traceback" not in err
        assert BESIDE in out
        others = [line for line in out.splitlines() if re.match(r"a\d\.py", line)]
        assert run.returncode == (2 if any("TLN000" in line for line in others) else 1)
        assert all("TLN000" in line or "TLN102" in line for line in others)
    for number in range(8):
        assert Path(f"a{number}.py").read_text() == FIXED + f"# {number}\n"
    return torchlint(*CONCISE)


def _signalled(number: signal.Signals, ignored: signal.Handlers = signal.SIG_DFL) -> Callable[[Torchlint], Ran]:
    """A run that a rule holds up, with two processes of its own; `ignored`: what it is told to do on Ctrl-C."""

    def case(torchlint: Torchlint) -> Ran:
        Path("killing_rule.py").write_text(RULE)
        Path("torchlint.toml").write_text('plugins = ["killing_rule"]\nexclude = ["killing_rule.py"]\n')
        for name in range(24):
            Path(f"f{name:02}.py").write_text(PROGRAM)
        pids = Path("pids").absolute()
        environment = {**os.environ, "HOW": "wait", "PIDS": str(pids)}
        before = set(os.listdir())
        run = subprocess.Popen(
            [sys.executable, "-m", "torchlint", *CONCISE, "--fix", "--unsafe-fixes", "--no-cache", "--jobs", "2"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=partial(signal.signal, signal.SIGINT, ignored),  # a shell's background jobs inherit another one
        )
        until(lambda: pids.exists() and pids.read_text().count("\n") >= 2)
        if ignored == signal.SIG_IGN:
            os.killpg(run.pid, signal.SIGINT)
            time.sleep(1)
            assert run.poll() is None
        if number == signal.SIGINT:  # a terminal sends it to all
            os.killpg(run.pid, number)
        else:
            run.send_signal(number)
        _, err = run.communicate(timeout=60)
        until(lambda: not any(lives(int(pid)) for pid in pids.read_text().split()))
        assert all(path.read_text() == PROGRAM for path in Path().glob("f*.py"))
        assert set(os.listdir()) - before <= {"pids", "__pycache__"}
        return Ran(run.returncode, "", err)

    return case


CASES: dict[str, Callable[[Torchlint], Ran]] = {
    "a symlink loop": _linked("a.py"),
    "a symlink to nothing": _linked("nowhere.py"),
    "a FIFO": _pipe,
    "a path that is not there": _missing,
    "a full disk under standard output": _full_output,
    "a full disk under a report": _full_report,
    "a full disk under a fix": _full_fix,
    "a full disk under a baseline": _full_baseline,
    "a read-only project": _read_only(),
    "a fix in a read-only project": _read_only("--fix"),
    "a report in a read-only project": _read_only("-o", "report.json"),
    "standard output is closed": _no_output,
    "two runs that fix the same files": _two_runs,
    "Ctrl-C": _signalled(signal.SIGINT),
    "Ctrl-C for a shell's background job, then SIGTERM": _signalled(signal.SIGTERM, signal.SIG_IGN),
    "SIGTERM": _signalled(signal.SIGTERM),
}


def _rows() -> Iterator[tuple[str, str, int]]:
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        found = re.fullmatch(r"\| (.+?) \| (`.*`)? ?\| (-?\d+) \|", line)
        if found is not None:
            yield found[1], (found[2] or "").strip("`").strip(), int(found[3])


def test_a_case_for_every_row_and_a_row_for_every_case() -> None:
    rows = [row[0] for row in _rows()]
    assert len(rows) == len(set(rows))
    assert set(rows) == {*WORDS, *CONFIGURATIONS, *FILES, *CASES}


@pytest.mark.skipif(sys.platform != "linux", reason="pipes, modes, limits and devices of Linux")
@pytest.mark.parametrize(
    ("what", "said", "status"),
    [pytest.param(*row, id=row[0], marks=[pytest.mark.slow] if row[0] == "100,000 lines" else []) for row in _rows()],
)
def test_rows_of_the_page(torchlint: Torchlint, what: str, said: str, status: int) -> None:
    Path("zz.py").write_text(PROGRAM)
    Path("notes.json").write_text('{"my": "notes"}')
    if what in WORDS:
        ran = torchlint(*WORDS[what])
    elif what in CONFIGURATIONS:
        ran = _in_a_file(torchlint, what, CONFIGURATIONS[what], ("check",))
    elif what in FILES:
        ran = _in_a_file(torchlint, what, FILES[what], (*CONCISE, FILES[what][0], "zz.py"))
    else:
        ran = CASES[what](torchlint)
    assert (ran.status, "Traceback" in ran.err) == (status, False), ran
    assert said in ran.out + ran.err
    if what in (*WORDS, *CONFIGURATIONS, *NOWHERE_TO_TELL):
        assert ran.out == ""
    else:
        assert BESIDE in ran.out
    assert Path("zz.py").read_text() == PROGRAM
    assert Path("notes.json").read_text() == '{"my": "notes"}'


def _in_a_file(torchlint: Torchlint, what: str, file: tuple[str, bytes], arguments: Sequence[str]) -> Ran:
    name, content = file
    Path(name).write_bytes(content)
    if what not in NOT_FOR_ALL:
        return torchlint(*arguments)
    os.chmod(name, 0)
    return _ran(_started(*arguments))


# What is said of files, one by one.


@pytest.fixture
def with_other(overwritten: str, torchlint: Torchlint) -> Torchlint:
    """A directory that has one ordinary finding already."""
    Path("other.py").write_text(overwritten)
    return torchlint


def _concise(torchlint: Torchlint, *paths: str) -> tuple[int, list[str]]:
    ran = torchlint("check", "--output-format", "concise", *paths)
    assert "Traceback" not in ran.err
    return ran.status, [line.partition("] ")[0] + "] " + line.partition("] ")[2] for line in ran.out.splitlines()]


def test_syntax_error(with_other: Torchlint) -> None:
    Path("bad.py").write_text("import torch\nx = f(1,\n")
    status, lines = _concise(with_other)
    assert status == 1
    assert lines[0] == "bad.py:2:6: error[TLN001] '(' was never closed"
    assert lines[1].startswith("other.py:5:1: error[TLN201]")


def test_not_utf_8(with_other: Torchlint) -> None:
    Path("bad.py").write_bytes(b"import torch\ns = 'caf\xe9'\n")
    status, lines = _concise(with_other)
    assert status == 1
    assert lines[0] == "bad.py:2:9: error[TLN001] not utf-8: cannot decode byte 0xe9"
    assert lines[1].startswith("other.py:5:1: error[TLN201]")
    text = with_other("check", "bad.py").out.splitlines()
    assert text[1:3] == [" 2 | s = 'caf\ufffd'", "   |         ^"]


def test_a_declared_encoding_is_read(torchlint: Torchlint, overwritten: str) -> None:
    Path("a.py").write_bytes(b"# coding: latin-1\n# \xe9\n" + overwritten.encode())
    status, lines = _concise(torchlint)
    assert (status, lines[0][:7]) == (1, "a.py:7:")


def test_empty_file_and_directory_without_python(torchlint: Torchlint) -> None:
    Path("empty.py").write_text("")
    ran = torchlint("check", "empty.py")
    assert (ran.status, ran.out, ran.err) == (0, "No findings in 1 file.\n", "")
    os.mkdir("folder")
    ran = torchlint("check", "folder")
    assert (ran.status, ran.err) == (0, "torchlint: no Python files in folder\n")


def test_an_unreadable_file(with_other: Torchlint) -> None:
    os.symlink("loop.py", "loop.py")
    status, lines = _concise(with_other, "loop.py", "other.py")
    assert status == 2
    assert lines[0].startswith("loop.py:1:1: error[TLN000] cannot be read: ")
    assert lines[1].startswith("other.py:5:1: error[TLN201]")


def test_a_missing_path(with_other: Torchlint) -> None:
    ran = with_other("check", "nowhere.py", "other.py")
    assert ran.status == 2
    assert ran.err == "torchlint: no such file or directory: nowhere.py\n"
    assert "other.py:5:1" in ran.out
    alone = with_other("check", "nowhere.py")
    assert (alone.status, alone.out, alone.err) == (2, "", ran.err)


def test_a_plugin_rule_that_raises(with_other: Torchlint, tmp_path: Path) -> None:
    Path("broken_rule.py").write_text(
        '''
from torchlint.model import events
from torchlint.rule import Level, Rule

class Broken(Rule):
    """
    Breaks.

    ## What it does
    Breaks.
    ## Why is this bad?
    It is not.
    ## Cure
    None.
    ## References
    None.
    """

    code, name, level = "BRO001", "broken", Level.ERROR

    def check(self, event: events.InplaceWrite):
        raise LookupError("never mind")
'''
    )
    Path("torchlint.toml").write_text('plugins = ["broken_rule"]\nexclude = ["broken_rule.py"]\n')
    ran = with_other("check", "--output-format", "concise", PYTHONPATH=str(tmp_path))
    assert ran.status == 2
    assert "other.py:5:1: error[TLN201]" in ran.out
    (line,) = (line for line in ran.out.splitlines() if "TLN000" in line)
    assert line == (
        "other.py:5:1: error[TLN000] the rule BRO001 (broken) failed: "
        "LookupError: never mind (broken_rule.py, line 22); the other findings stand"
    )


def test_a_plugin_that_cannot_be_loaded(with_other: Torchlint) -> None:
    Path("torchlint.toml").write_text('plugins = ["no_such_module"]\n')
    ran = with_other("check", "--output-format", "concise")
    assert ran.status == 2
    assert (
        "torchlint.toml:1:1: error[TLN000] no rules from `no_such_module`: ModuleNotFoundError: No module named"
        in ran.out
    )
    assert "other.py:5:1: error[TLN201]" in ran.out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[tool.torchlint]\nselct = []\n", "pyproject.toml: unknown key `selct`; did you mean `select`?"),
        ("[tool.torchlint]\nstrict = 'yes'\n", "pyproject.toml: `strict` must be true or false, not the string 'yes'"),
        ("[tool.torchlint\n", "pyproject.toml: not valid TOML: "),
        ("[tool.torchlint]\nignore = ['TLN999']\n", "pyproject.toml:2: no rule matches `TLN999`"),
    ],
)
def test_wrong_configuration(with_other: Torchlint, text: str, complaint: str) -> None:
    Path("pyproject.toml").write_text(text)
    ran = with_other("check")
    assert ran.status == 2
    assert complaint in ran.err
    assert ran.err.count("\n") == 1
    assert ran.out == ""


def test_the_code_of_another_tool_is_no_misspelt_one(with_other: Torchlint) -> None:
    ran = with_other("check", "--select", "E501")
    assert "command line: no rule matches `E501`; it is another tool's code" in ran.err
    assert "did you mean" not in ran.err


def test_all_wrong_codes_of_a_configuration_are_told_at_once(with_other: Torchlint) -> None:
    Path("pyproject.toml").write_text("[tool.torchlint]\nselect = [\n  'TLN2',\n  'E501',\n]\nignore = ['TLN999']\n")
    ran = with_other("check", "--select", "TLN7x")
    first, second, third = ran.err.splitlines()
    assert "pyproject.toml:4: no rule matches `E501`; it is another tool's code" in first
    assert "pyproject.toml:6: no rule matches `TLN999`" in second
    assert third.startswith("torchlint: command line: no rule matches `TLN7x`")


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--output-format", "yaml"),
        ("check", "--jobs", "0"),
        ("chek",),
        ("check", "--nope"),
        ("rule", "TLN2O1"),
    ],
)
def test_wrong_use(torchlint: Torchlint, arguments: tuple[str, ...]) -> None:
    ran = torchlint(*arguments)
    assert ran.status == 2
    assert "Traceback" not in ran.err
    assert ran.err.startswith("Usage: ")
