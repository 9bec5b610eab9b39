"""Answers given again: exactly those that the run would give, for as long as nothing that it looked at has changed."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from torchlint import config
from torchlint.cache import record as recording
from torchlint.cache import replay
from torchlint.cache import stamp as installed
from torchlint.hosts import command_line
from torchlint.hosts.command_line import printing
from torchlint.run import job as work
from torchlint.run import watched

OVERWRITTEN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward()
"""
CLEAN = OVERWRITTEN.replace("y.mul_(2)", "y = y * 2")
MAKES = "import torch\n\n\ndef make():\n    return torch.ones(3, requires_grad=True)\n"
USES = "import torch\nfrom {} import make\n\ny = make().exp()\ny.mul_(2)\ny.sum().backward()\n"


class Said(NamedTuple):
    """What a run printed, and how it ended."""

    out: str
    status: object


class Torchlint:
    """`torchlint check` as a process of its own would do it, some time after all files were written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.replayed = False
        self.linted: list[str] = []
        perform = work.perform

        def noted(job: work.Job) -> work.Outcome:
            self.linted.append(job.path)
            return perform(job)

        monkeypatch.setattr(work, "perform", noted)
        monkeypatch.setattr(
            watched, "one_by_one", lambda function, jobs: ((job, tag, function(job)) for job, tag in jobs)
        )
        real = time.time_ns
        monkeypatch.setattr(replay.time, "time_ns", lambda: real() + 10_000_000_000)
        for variable in ("NO_COLOR", "FORCE_COLOR", "TORCHLINT_CACHE_DIR"):
            monkeypatch.delenv(variable, raising=False)

    def __call__(self, *arguments: str) -> Said:
        """Check; `replayed` and `linted` say how it was done."""
        config.forget()
        self.linted.clear()
        out = io.StringIO()
        with redirect_stdout(out), redirect_stderr(out):
            asked = replay.asked(("check", *arguments))
            status: object = replay.answered(asked) if asked is not None else None
            self.replayed = status is not None
            if not self.replayed:
                with pytest.raises(SystemExit) as ended:
                    command_line.main(["check", *arguments], obj=asked)
                status = ended.value.code
        return Said(out.getvalue(), status)

    def settled(self, *arguments: str) -> Said:
        """Check until the answer is given again: the first run keeps results, the second the answer."""
        said = [self(*arguments) for _ in range(3)]
        assert self.replayed
        assert len(set(said)) == 1
        return said[0]


@pytest.fixture
def torchlint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Torchlint:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return Torchlint(monkeypatch)


def _write(path: str, text: str) -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--output-format", "json"),
        ("--output-format", "concise", "--exit-zero"),
        ("--select", "TLN1", "a.py", "sub"),
        ("--strict", "--exit-on", "smell", "sub"),
        ("--cache-dir", "../elsewhere"),
        ("--cache-dir=../elsewhere", "--no-trace"),
    ],
    ids=" ".join,
)
def test_the_answer_is_that_of_the_run(torchlint: Torchlint, options: tuple[str, ...]) -> None:
    _write("a.py", OVERWRITTEN)
    _write("sub/b.py", CLEAN)
    _write("sub/c.py", "import torch\nx = (  # grün\n")
    _write("sub/d.py", "x = 1\n")
    said = torchlint.settled(*options)
    fresh = torchlint("--no-cache", *options)
    assert said == fresh


def test_colours(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    _write("a.py", OVERWRITTEN)
    plain = torchlint.settled()
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = torchlint.settled()
    assert "\x1b[" in painted.out
    monkeypatch.setenv("NO_COLOR", "1")
    assert torchlint() == plain
    assert torchlint.replayed is False or "\x1b[" not in plain.out


def test_from_another_directory(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    _write("a.py", OVERWRITTEN)
    _write("sub/a.py", CLEAN)
    torchlint.settled("a.py")
    monkeypatch.chdir("sub")
    assert torchlint("a.py").status == 0
    assert not torchlint.replayed


# What a run looks at.


def _same_size(text: str = OVERWRITTEN) -> None:
    """Other content, the same size, and the time that it had."""
    stamp = os.stat("a.py")
    with open("a.py", "r+", encoding="utf-8") as file:
        file.write(text.replace("y.mul_(2)", "x.mul_(2)"))
    os.utime("a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert (os.stat("a.py").st_size, os.stat("a.py").st_mtime_ns) == (stamp.st_size, stamp.st_mtime_ns)


def _moved(old: str, new: str) -> Callable[[], None]:
    return lambda: os.rename(old, new)


def _written(path: str, text: str) -> Callable[[], None]:
    return lambda: _write(path, text)


def _linked_anew() -> None:
    os.unlink("link.py")
    os.symlink("a.py", "link.py")


CHANGES: dict[str, Callable[[], None]] = {
    "content": _written("a.py", CLEAN),
    "content of the same size": _written("a.py", OVERWRITTEN.replace("y.mul_(2)", "x.mul_(2)")),
    "content of a file without torch": _written("sub/plain.py", OVERWRITTEN),
    "a new file": _written("sub/new.py", OVERWRITTEN),
    "a new file in a new directory": _written("sub/more/new.py", OVERWRITTEN),
    "a file gone": lambda: os.unlink("sub/b.py"),
    "a file renamed": _moved("sub/b.py", "sub/renamed.py"),
    "a directory renamed": _moved("sub", "renamed"),
    "a file taken out of sight": _moved("sub/b.py", "sub/b.txt"),
    "a file replaced by one that is as old": _moved("sub/b.py", "a.py"),
    "a link that leads elsewhere": _linked_anew,
    "what a link leads to": _written("../outside/linked.py", OVERWRITTEN),
    "a link that leads somewhere now": _written("../outside/later.py", OVERWRITTEN),
    "a link that leads nowhere now": lambda: os.unlink("../outside/linked.py"),
    ".gitignore": _written(".gitignore", "sub\n"),
    ".gitignore in a directory": _written("sub/.gitignore", "b.py\n"),
    ".gitignore changed": _written("kept/.gitignore", "\n"),
    "another repository": lambda: os.mkdir("sub/.git"),
    "a configuration": _written("pyproject.toml", '[tool.torchlint]\nignore = ["TLN201"]\n'),
    "a configuration in a directory": _written("sub/torchlint.toml", 'ignore = ["TLN201"]\n'),
    "a configuration changed": _written("kept/torchlint.toml", ""),
    "a configuration gone": lambda: os.unlink("kept/torchlint.toml"),
    "an environment that is none": lambda: os.unlink("venvlike/pyvenv.cfg"),
    "an environment": _written("sub/pyvenv.cfg", ""),
    "a module that is imported": _written("sub/makes.py", "def make():\n    return 1\n"),
    "a module that is imported gone": lambda: os.unlink("sub/makes.py"),
    "a module that was looked for": _written("later.py", MAKES),
    "a package that was looked for": _written("later/__init__.py", MAKES),
    "where imports are looked for": _written("sub/__init__.py", ""),
    "where imports are looked for, above": _written("__init__.py", ""),
}


def _laid_out() -> None:
    _write("a.py", OVERWRITTEN)
    _write("sub/b.py", OVERWRITTEN)
    _write("sub/plain.py", "x = 1\n")
    _write("sub/makes.py", MAKES)
    _write("sub/uses.py", USES.format("makes"))
    _write("sub/hopes.py", USES.format("later"))
    _write("kept/c.py", OVERWRITTEN)
    _write("kept/torchlint.toml", 'ignore = ["TLN201"]\n')
    _write("kept/.gitignore", "d.py\n")
    _write("kept/d.py", OVERWRITTEN)
    _write("venvlike/pyvenv.cfg", "")
    _write("venvlike/e.py", OVERWRITTEN)
    _write("../outside/linked.py", CLEAN)
    os.symlink("../outside/linked.py", "link.py")
    os.symlink("../outside/later.py", "broken.py")


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(torchlint: Torchlint, change: str) -> None:
    _laid_out()
    torchlint.settled()
    CHANGES[change]()
    after = torchlint()
    assert not torchlint.replayed
    assert after == torchlint("--no-cache")
    assert torchlint.settled() == after


def test_time_and_size_restored(torchlint: Torchlint) -> None:
    """The time of the last change of anything, which nobody can set, tells."""
    _write("a.py", OVERWRITTEN)
    before = torchlint.settled()
    _same_size()
    torchlint()
    assert not torchlint.replayed
    assert torchlint("--no-cache") != before


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (_written("../pyproject.toml", '[tool.torchlint]\nignore = ["TLN201"]\n'), "../outer"),
        (_written("../outer/torchlint.toml", 'ignore = ["TLN201"]\n'), "../outer/inner"),
        (_written("../outer/__init__.py", ""), "../outer/inner"),
        (_written("../outer/setup.py", ""), "../outer/inner"),
        (_written("../outer/src/makes.py", MAKES), "../outer/inner"),
        (_written("../outer/.gitignore", "*.py\n"), "../outer/inner"),
        (_written("../outer/makes.py", MAKES), "../outer/inner"),
    ],
)
def test_a_change_above_what_is_searched(torchlint: Torchlint, change: Callable[[], None], where: str) -> None:
    for path in ("a.py", "b.py"):
        _write(f"../outer/inner/{path}", USES.format("makes"))
    _write("../outer/setup.cfg", "")
    os.makedirs("../outer/.git")
    os.makedirs("../outer/src")
    torchlint.settled(where)
    change()
    after = torchlint(where)
    assert not torchlint.replayed
    assert after == torchlint("--no-cache", where)


LOOKED_FOR_IN_VAIN: dict[str, Callable[[], None]] = {
    "a module": _written("sub/later.py", MAKES),
    "a package": _written("sub/later/__init__.py", MAKES),
    "what a link leads to": _written("outside/later.py", MAKES),
    "a folder of sources": _written("src/later.py", MAKES),
    "a configuration": _written("sub/torchlint.toml", 'ignore = ["TLN201"]\n'),
    "a mark of a project": _written("sub/setup.py", ""),
    "a package around": _written("sub/__init__.py", ""),
}


@pytest.mark.parametrize("change", LOOKED_FOR_IN_VAIN)
def test_what_was_looked_for_in_vain(torchlint: Torchlint, change: str) -> None:
    """Nothing is searched: the times of directories, or the names themselves, tell of what is there now."""
    _write("sub/uses.py", USES.format("later"))
    _write("outside/other.py", MAKES)
    if "link" in change:
        os.symlink("../outside/later.py", "sub/later.py")
    torchlint.settled("sub/uses.py")
    LOOKED_FOR_IN_VAIN[change]()
    after = torchlint("sub/uses.py")
    assert not torchlint.replayed
    assert after == torchlint("--no-cache", "sub/uses.py")
    assert torchlint.settled("sub/uses.py") == after


def test_another_name_in_a_directory_of_which_some_were_looked_for(torchlint: Torchlint) -> None:
    """The time of the directory is another; the names are not there, as before."""
    _write("sub/uses.py", USES.format("later"))
    torchlint.settled("sub/uses.py")
    _write("sub/notes.txt", "")
    _write("notes.txt", "")
    torchlint("sub/uses.py")
    assert torchlint.replayed
    _write("sub/later.py", MAKES)
    torchlint("sub/uses.py")
    assert not torchlint.replayed


def test_names_that_a_directory_tells_of(torchlint: Torchlint) -> None:
    """One question for all of them, but not of a directory that was written a moment ago, nor for links."""
    _write("sub/a.py", CLEAN)
    os.symlink("nowhere.py", "sub/link.py")
    asked = replay.asked(("check",))
    assert asked is not None
    here = os.getcwd()
    vain = [f"{here}/sub/{name}" for name in ("x.py", "x/__init__.py", "y/z/w.py", "link.py", "a.py/b.py")]
    one, links = vain[:3], set(vain[3:])
    parts, single = recording._in_vain(asked, vain)
    assert (parts[0], parts[2], single) == (f"{here}/sub", "x.py/x/y", links)
    assert replay.absent(parts)
    _write("sub/other.py", CLEAN)
    assert replay.absent(parts)
    os.mkdir("sub/y")
    assert not replay.absent(parts)
    asked.started = os.stat("sub").st_mtime_ns + 1_900_000_000
    assert recording._in_vain(asked, one[:2]) == ([], set(one[:2]))


@pytest.mark.parametrize("change", ["pyproject.toml", "torchlint.toml", "../torchlint.toml"])
def test_a_change_above_a_file_that_is_named(torchlint: Torchlint, change: str) -> None:
    os.rmdir(".git")
    _write("sub/a.py", OVERWRITTEN)
    torchlint.settled("sub/a.py")
    _write(change, '[tool.torchlint]\nignore = ["TLN201"]\n' if "pyproject" in change else 'ignore = ["TLN201"]\n')
    assert torchlint("sub/a.py").status == 0
    assert not torchlint.replayed


def test_touched(torchlint: Torchlint) -> None:
    """The same content: the answer is not known, and yet nothing is linted."""
    _write("a.py", OVERWRITTEN)
    before = torchlint.settled()
    os.utime("a.py")
    assert torchlint() == before
    assert not torchlint.replayed
    assert not torchlint.linted
    assert torchlint() == before
    assert torchlint.replayed


def test_what_lies_beside_does_not_matter(torchlint: Torchlint) -> None:
    _write("sub/a.py", OVERWRITTEN)
    torchlint.settled("sub")
    _write("other/b.py", OVERWRITTEN)
    _write("notes.txt", "")
    torchlint("sub")
    assert torchlint.replayed


def test_torchlint_itself(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    _write("a.py", OVERWRITTEN)
    torchlint.settled()
    around = installed.around
    monkeypatch.setattr(installed, "around", lambda: around() + "\nanother")
    torchlint()
    assert not torchlint.replayed


OWN_CHANGES: dict[str, Callable[[], None]] = {
    "content": _written("../torchlint/model/a.py", "x = 2\n"),
    "data": _written("../torchlint/model/table.json", "[]"),
    "a file gone": lambda: os.unlink("../torchlint/model/a.py"),
    "a new file": _written("../torchlint/model/new.py", ""),
    "a new rule": _written("../rules/new.py", ""),
    "a file replaced by one that is as old": _moved("../torchlint/model/b.py", "../torchlint/model/a.py"),
}


@pytest.mark.parametrize("change", OWN_CHANGES)
def test_files_of_torchlint(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    for path in ("model/a.py", "model/b.py", "model/table.json", "cache/stamp.py", "verify/judge.py", "../rules/a.py"):
        _write(f"../torchlint/{path}", "x = 1\n")
    monkeypatch.setattr(installed, "__file__", os.path.abspath("../torchlint/cache/stamp.py"))
    _write("a.py", OVERWRITTEN)
    torchlint.settled()
    _write("../torchlint/verify/judge.py", "x = 2\n")  # verdicts are not kept
    torchlint()
    assert torchlint.replayed
    OWN_CHANGES[change]()
    torchlint()
    assert not torchlint.replayed


PLUGIN = '''
from torchlint.model import events
from torchlint.rule import Diagnostic, Level, Rule


class Own(Rule):
    """
    Own.

    ## What it does
    Something.
    ## Why is this bad?
    It is not.
    ## Cure
    None.
    ## References
    None.
    """

    code, name, level = "OWN002", "own-for-replay", Level.SMELL

    def check(self, event: events.BackwardCalled):
        yield Diagnostic(event.node, "own")
'''


def test_plugins(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Their files lie anywhere; the configuration names them."""
    file = tmp_path / "plugin_for_replay.py"
    file.write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    _write("torchlint.toml", 'plugins = ["plugin_for_replay"]\n')
    _write("a.py", OVERWRITTEN)
    assert "OWN002" in torchlint.settled().out
    file.write_text(PLUGIN.replace("own", "other"))
    torchlint()
    assert not torchlint.replayed


def test_a_broken_plugin(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken_for_replay.py").write_text("import nowhere\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    _write("torchlint.toml", 'plugins = ["broken_for_replay"]\n')
    _write("a.py", CLEAN)
    for _ in range(3):
        assert torchlint().status == 2
        assert not torchlint.replayed


# Times that tell nothing, and changes while it runs.


@pytest.mark.parametrize("age", [0.0, 1.9])
def test_a_young_file_is_looked_at_again(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch, age: float) -> None:
    """Same size, same inode, within one tick of the clock: only its content can tell."""
    _write("a.py", OVERWRITTEN)
    written = os.stat("a.py").st_ctime_ns
    monkeypatch.setattr(replay.time, "time_ns", lambda: written + int(age * 1e9))
    for _ in range(4):
        torchlint("a.py")
        assert not torchlint.replayed
    monkeypatch.setattr(replay.time, "time_ns", lambda: written + 2_500_000_000)
    torchlint("a.py")
    torchlint("a.py")
    assert torchlint.replayed


@pytest.mark.parametrize(
    "change",
    [
        _written("a.py", CLEAN),
        _written("new.py", OVERWRITTEN),
        _written("torchlint.toml", 'ignore = ["TLN201"]\n'),
        _written("../torchlint.toml", 'ignore = ["TLN201"]\n'),
        _written("makes.py", MAKES),
        lambda: os.unlink("uses.py"),
    ],
)
def test_a_change_while_it_runs(
    torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch, change: Callable[[], None]
) -> None:
    """What was found is not what is there: the next run finds it."""
    _write("a.py", OVERWRITTEN)
    _write("uses.py", USES.format("makes"))
    os.rmdir(".git")
    torchlint()
    started = int(time.time() * 1e9)
    time.sleep(0.2)
    with monkeypatch.context() as patch:
        # all that was there has been there for long; what follows is written after the beginning
        patch.setattr(recording, "SETTLED", 0)
        patch.setattr(replay.time, "time_ns", lambda: started + 100_000_000)

        def changed(stream: object) -> bool:
            change()
            return False

        patch.setattr(printing, "wants_color", changed)
        torchlint()
        assert not torchlint.replayed
    after = torchlint()
    assert not torchlint.replayed
    assert after == torchlint("--no-cache")


# What has no answer.


@pytest.mark.parametrize(
    "options",
    [
        ("--no-cache",),
        ("--statistics",),
        ("--fix",),
        ("--diff",),
        ("--output-file", "report"),
        ("--show-state",),
        ("a.py", "missing.py"),
        (".", "empty"),
    ],
    ids=" ".join,
)
def test_what_is_never_answered(torchlint: Torchlint, options: tuple[str, ...]) -> None:
    _write("a.py", CLEAN)
    os.mkdir("empty")
    for _ in range(4):
        torchlint(*options)
        assert not torchlint.replayed


def test_a_file_that_failed(torchlint: Torchlint, monkeypatch: pytest.MonkeyPatch) -> None:
    _write("a.py", CLEAN)

    def fails(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("torchlint.lint.engine.interpret", fails)
        for _ in range(3):
            assert torchlint().status == 2
            assert not torchlint.replayed
    assert torchlint().status == 0


@pytest.mark.parametrize("arguments", [(), ("rules",), ("check", "-"), ("--help",), ("--version",)])
def test_other_commands_are_not_asked_for(arguments: tuple[str, ...]) -> None:
    assert replay.asked(arguments) is None


def test_completion_is_not_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TORCHLINT_COMPLETE", "bash_source")
    assert replay.asked(("check",)) is None


# What can go wrong with what is written.


def _answer() -> Path:
    (file,) = Path(".torchlint_cache/answers").iterdir()
    return file


def test_every_damaged_byte_is_noticed(torchlint: Torchlint) -> None:
    _write("a.py", OVERWRITTEN)
    torchlint.settled()
    whole = _answer().read_bytes()
    for place in (*range(80), *range(80, len(whole), 211), len(whole) - 1):
        _answer().write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        asked = replay.asked(("check",))
        assert asked is not None
        out = io.StringIO()
        with redirect_stdout(out):
            status = replay.answered(asked)
        assert status is None, place
        assert not out.getvalue()


@pytest.mark.parametrize("damage", ["", "garbage", "\n", "1\n2 3 4\n", "0\n0 0 0\n", "0\n", "0"])
def test_an_answer_that_is_none(torchlint: Torchlint, damage: str) -> None:
    _write("a.py", OVERWRITTEN)
    said = torchlint.settled()
    _answer().write_text(damage)
    assert torchlint() == said
    assert not torchlint.replayed
    assert torchlint() == said
    assert torchlint.replayed


def test_an_answer_that_was_cut_off(torchlint: Torchlint) -> None:
    _write("a.py", OVERWRITTEN)
    said = torchlint.settled()
    whole = _answer().read_bytes()
    for length in range(0, len(whole), 97):
        _answer().write_bytes(whole[:length])
        asked = replay.asked(("check",))
        assert asked is not None
        assert replay.answered(asked) is None
    assert torchlint() == said


def test_a_folder_that_cannot_be_written(torchlint: Torchlint) -> None:
    _write("a.py", OVERWRITTEN)
    torchlint()
    Path(".torchlint_cache/answers").write_text("a file")
    for _ in range(3):
        assert torchlint().status == 1
        assert not torchlint.replayed


def test_there_are_never_many(torchlint: Torchlint) -> None:
    _write("a.py", OVERWRITTEN)
    for number in range(recording.MOST + 5):
        torchlint("a.py", "--jobs", str(number + 1))
        torchlint("a.py", "--jobs", str(number + 1))
    assert len(list(Path(".torchlint_cache/answers").iterdir())) == recording.MOST
    torchlint("a.py", "--jobs", str(recording.MOST + 5))
    assert torchlint.replayed


def test_they_are_removed(torchlint: Torchlint) -> None:
    _write("a.py", OVERWRITTEN)
    torchlint.settled()
    with pytest.raises(SystemExit), redirect_stdout(io.StringIO()):
        command_line.main(["clean"])
    assert not Path(".torchlint_cache").exists()


# Processes.


def _process(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process that says at its end what it has loaded."""
    program = """
import sys
before = set(sys.modules)
from torchlint.__main__ import main
try:
    main()
finally:
    print(*sorted(set(sys.modules) - before), file=sys.stderr)
"""
    return subprocess.run(
        [sys.executable, "-I", "-c", program, *arguments], cwd=directory, capture_output=True, text=True, timeout=100
    )


OWN = {
    *("torchlint", "torchlint.__main__", "torchlint.cache", "torchlint.cache.stamp", "torchlint.cache.replay"),
    *("torchlint.project", "torchlint.project.roots"),
}


@pytest.mark.parametrize("arguments", [("--version",), ("check", "a.py"), ("check", ".")], ids=" ".join)
def test_an_answer_loads_nothing(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "a.py").write_text(OVERWRITTEN)
    time.sleep(2.1)
    ran = [_process(tmp_path, *arguments) for _ in range(4 if "check" in arguments else 1)]
    time.sleep(2.1)  # the folder of the cache has not been there for long
    loaded: set[str] = set()
    for _ in range(12):  # others that write beside this, and a busy machine, keep what was written too young
        ran += [_process(tmp_path, *arguments) for _ in range(2)]
        loaded = set(ran[-1].stderr.split())
        if loaded <= OWN | {"binascii", "__future__"}:
            break
        time.sleep(2.1)
    assert len({(each.stdout, each.returncode) for each in ran}) == 1
    assert loaded >= OWN
    assert loaded - OWN <= {"binascii", "__future__"}


def test_runs_at_the_same_time(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"f{number}.py").write_text(OVERWRITTEN + f"z = {number}\n")
    time.sleep(2.1)
    said: list[tuple[str, int]] = []

    def often() -> None:
        for _ in range(4):
            ran = _process(tmp_path, "check", "--output-format", "concise")
            said.append((ran.stdout, ran.returncode))

    runs = [threading.Thread(target=often) for _ in range(3)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert len(said) == 12
    assert len(set(said)) == 1
    assert said[0][0].count("error[TLN201]") == 4


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes")
def test_nobody_reads_the_answer(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(OVERWRITTEN)
    for arguments in (("check", "a.py"), ("--version",)):
        for wait in (2.1, 0, 0):
            time.sleep(wait)
            reader, writer = os.pipe()
            os.close(reader)
            ran = subprocess.run(
                [sys.executable, "-m", "torchlint", *arguments], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE
            )
            os.close(writer)
            assert ran.returncode == 1
            assert ran.stderr == b""
