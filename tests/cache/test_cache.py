"""Results kept between runs: as true as if they had been found now, and never in the way."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from torchlint import config
from torchlint.cache import fingerprint, store
from torchlint.cache import results as caching
from torchlint.cache import stamp as installed
from torchlint.cache.results import Cache
from torchlint.config import Overrides
from torchlint.project.files import find_files
from torchlint.results import RunResult
from torchlint.run import job as work
from torchlint.run import run, watched

NOTHING = Overrides()
OVERWRITTEN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward()
"""
CLEAN = "import torch\n\nprint(torch.ones(3))\n"


@pytest.fixture
def linted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """In an empty project; the paths of the files that were really linted since it was emptied last."""
    monkeypatch.chdir(tmp_path)
    config.forget()
    seen: list[str] = []
    perform = work.perform

    def noted(job: work.Job) -> work.Outcome:
        seen.append(job.path)
        return perform(job)

    monkeypatch.setattr(work, "perform", noted)
    monkeypatch.setattr(watched, "one_by_one", lambda function, jobs: ((job, tag, function(job)) for job, tag in jobs))
    return seen


def _write(path: str, text: str, *, age: float = 100.0) -> None:
    """A file that was written some time ago; one written just now is read again whatever its time says."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    then = time.time() - age
    os.utime(file, (then, then))


def _check(*paths: str, overrides: Overrides = NOTHING, **options: str | bool) -> RunResult:
    """What a process of its own would do."""
    config.forget()
    files = find_files(paths or (".",)).files
    return run.check_files(files, overrides, workers=1, store=Cache.of_project(), **options)  # type: ignore[arg-type]


def test_what_is_unchanged_is_not_linted_and_nothing_is_lost(linted: list[str]) -> None:
    _write("bad.py", OVERWRITTEN)
    _write("clean.py", CLEAN)
    _write("other.py", "x = 1\n")
    _write("broken.py", "import torch\nx = (\n")
    _write("silenced.py", OVERWRITTEN.replace("mul_(2)", "mul_(2)  # noqa: TLN201"))
    _write("strict.py", OVERWRITTEN.replace("x.exp()", "x + 1"))
    first = _check()
    assert sorted(linted) == ["bad.py", "broken.py", "clean.py", "other.py", "silenced.py", "strict.py"]
    linted.clear()
    second = _check()
    assert not linted
    assert second.findings == first.findings
    assert any(finding.fix and finding.trace for finding in second.findings)
    assert (second.held_back, second.files, second.exit_status()) == (first.held_back, first.files, 1)
    assert second.held_back == 1
    assert [each.report.suppressed for each in second.outcomes] == [each.report.suppressed for each in first.outcomes]
    assert [each.report.followed for each in second.outcomes] == [each.report.followed for each in first.outcomes]


def test_content_decides_and_not_time(linted: list[str]) -> None:
    _write("a.py", CLEAN)
    _check()
    linted.clear()
    _write("a.py", CLEAN, age=50)
    assert not _check().findings
    assert not linted
    _write("a.py", OVERWRITTEN, age=50)
    assert [finding.code for finding in _check().findings] == ["TLN201"]
    assert linted == ["a.py"]


def test_a_file_written_again_within_one_tick_of_the_clock(linted: list[str]) -> None:
    """Same size, same inode, same time: only its content can tell, so a young time is not believed."""
    first, second = OVERWRITTEN, OVERWRITTEN.replace("y.mul_(2)", "x.mul_(2)")
    _write("a.py", first, age=0)
    stamp = os.stat("a.py")
    before = _check().findings
    with open("a.py", "r+", encoding="utf-8") as file:
        file.write(second)
    os.utime("a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = _check().findings
    assert [finding.code for finding in before] != [finding.code for finding in after]


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        (Overrides(ignore=("TLN204",)), True),
        (Overrides(select=("TLN201",)), True),
        (Overrides(extend_select=("TLN201",)), True),
        (Overrides(strict=True), True),
        (Overrides(preview=True), True),
        (Overrides(target_torch="2.4"), True),
        (Overrides(per_file_ignores=(("a.py", ("TLN2",)),), root=Path()), True),
        (Overrides(extend_exclude=("b.py",), root=Path()), False),
        (Overrides(exit_on="error"), False),
    ],
)
def test_the_command_line_is_part_of_it(linted: list[str], changed: Overrides, again: bool) -> None:
    _write("a.py", OVERWRITTEN)
    _check()
    linted.clear()
    _check(overrides=changed)
    assert bool(linted) is again
    linted.clear()
    _check()
    _check(overrides=changed)
    assert not linted  # both are kept


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ('ignore = ["TLN201"]\n', True),
        ("strict = true\n", True),
        ('[per-file-ignores]\n"a.py" = ["TLN201"]\n', True),
        ("preview = true\n", True),
        ("[rules.TLN101]\n", True),
        ('exit-on = "error"\nextend-exclude = ["b.py"]\n', False),
        ('fix = true\nunsafe-fixes = true\noutput-format = "json"\njobs = 3\nforce-exclude = true\n', False),
        ('baseline = "known.json"\ncache-dir = "kept"\n', False),
    ],
)
def test_the_configuration_is_part_of_it(linted: list[str], text: str, again: bool) -> None:
    _write("a.py", OVERWRITTEN)
    _write("torchlint.toml", "")
    found = _check().findings
    linted.clear()
    _write("torchlint.toml", text)
    after = _check().findings
    assert bool(linted) is again
    assert (after == found) is ("TLN201" not in text)


def test_every_setting_but_those_named_is_part_of_the_key() -> None:
    """A setting that somebody adds changes what is found, until it is said that it does not."""
    names = {each.name for kind in (config.Config, Overrides) for each in caching.fields(kind)}
    assert names >= caching._NOT_IN_KEY
    assert {"select", "ignore", "extend_select", "strict", "plugins", "per_file_ignores"} <= names - caching._NOT_IN_KEY


def test_a_wrong_selector_is_an_error_in_every_run(linted: list[str]) -> None:
    _write("a.py", OVERWRITTEN)
    for _ in range(2):
        with pytest.raises(config.ConfigError, match="no rule matches `TLN9999`"):
            _check(overrides=Overrides(select=("TLN9999",)))


def test_other_files_of_the_project(linted: list[str]) -> None:
    """What another file says decides; so does one that was not there, and where imports are looked for."""
    _write("main.py", "import torch\nfrom pack.part import make\n\ny = make().exp()\ny.mul_(2)\ny.sum().backward()\n")
    _write("pack/__init__.py", "")
    _write("pack/part.py", "import torch\n\n\ndef make():\n    return torch.ones(3)\n")
    assert {finding.code for finding in _check("main.py").findings} == {"TLN104"}
    linted.clear()
    _check("main.py")
    assert not linted
    _write("pack/part.py", "import torch\n\n\ndef make():\n    return torch.ones(3, requires_grad=True)\n")
    found = _check("main.py").findings
    assert linted == ["main.py"]
    assert {finding.code for finding in found} == {"TLN201"}
    for change in (
        lambda: os.unlink("pack/part.py"),
        lambda: _write("pack/part.py", "def make():\n    return 1\n"),
        lambda: _write("__init__.py", ""),
    ):
        linted.clear()
        _check("main.py")
        assert not linted
        change()
        _check("main.py")
        assert linted == ["main.py"]


def test_what_the_project_says_of_its_torch(linted: list[str]) -> None:
    Path(".git").mkdir()
    _write("a.py", "import torch\n\nmodel = torch.load('a')\n")
    assert not _check().findings
    assert not _check().findings
    assert linted == ["a.py"]
    _write("requirements.txt", "torch>=2.0\n")
    assert [finding.code for finding in _check().findings] == ["TLN904"]
    _write("requirements.txt", "torch>=2.6\n", age=50)
    assert not _check().findings
    assert linted == ["a.py"] * 3


def test_a_file_that_was_looked_for_in_vain(linted: list[str]) -> None:
    _write("main.py", "import torch\nfrom later import make\n\ny = make().exp()\ny.mul_(2)\ny.sum().backward()\n")
    assert not _check("main.py").findings
    linted.clear()
    _check("main.py")
    assert not linted
    _write("later.py", "import torch\n\n\ndef make():\n    return torch.ones(3, requires_grad=True)\n")
    assert _check("main.py").findings
    assert linted == ["main.py"]


def test_the_folder_can_be_carried_elsewhere(
    linted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write("here/torchlint.toml", '[per-file-ignores]\n"b.py" = ["TLN201"]\n')
    _write("here/a.py", OVERWRITTEN)
    _write("here/b.py", OVERWRITTEN)
    monkeypatch.chdir("here")
    found = _check().findings
    monkeypatch.chdir(tmp_path)
    os.rename("here", "there")
    for file in ("there/a.py", "there/b.py"):
        os.utime(file)  # as in a fresh checkout
    monkeypatch.chdir("there")
    linted.clear()
    assert _check().findings == found
    assert not linted


def test_findings_are_shown_as_they_are_asked_for(linted: list[str], tmp_path: Path) -> None:
    _write("sub/a.py", OVERWRITTEN)
    _check("sub/a.py")
    linted.clear()
    absolute = str(tmp_path / "sub" / "a.py")
    (finding,) = _check(absolute).findings
    assert not linted
    assert finding.path == absolute
    assert {step.path for step in finding.trace} == {absolute}


def test_what_failed_is_tried_again(linted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _write("a.py", CLEAN)
    with monkeypatch.context() as patch:
        patch.setattr("torchlint.lint.engine.interpret", _fails)
        assert _check().failed
    linted.clear()
    assert not _check().failed
    assert linted == ["a.py"]


def _fails(*_: object) -> None:
    raise MemoryError


def test_fixing_uses_it_where_there_is_nothing_to_fix(linted: list[str]) -> None:
    _write("a.py", OVERWRITTEN)
    _write("b.py", CLEAN)
    _check()
    linted.clear()
    shown = _check(fixing="unsafe")
    assert linted == ["a.py"]
    assert shown.diff
    _check(fixing="unsafe", write=True)
    assert not _check().findings
    linted.clear()
    assert not _check().findings
    assert not linted


def test_torchlint_itself_is_part_of_it(linted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _write("a.py", OVERWRITTEN)
    _check()
    linted.clear()
    taken = fingerprint.take
    monkeypatch.setattr(installed, "stamp", lambda plugins: "another")
    _check()
    assert not linted  # copied, installed anew: the same content

    def changed(plugins: tuple[str, ...]) -> fingerprint.Fingerprint | None:
        known = taken(plugins)
        return known and fingerprint.Fingerprint(known.text + "0", known.plugins)

    monkeypatch.setattr(installed, "stamp", lambda plugins: "a third")
    monkeypatch.setattr(fingerprint, "take", changed)
    _check()
    assert linted == ["a.py"]


def test_stamp_and_fingerprint_look_at_every_file_of_torchlint() -> None:
    names = {name for name, _, _ in installed.own_files()}
    root = Path(installed.__file__).parents[1]
    assert {f"torchlint/{path.relative_to(root).as_posix()}" for path in root.rglob("*.py")} <= names
    assert "torchlint/rules/saved_tensor_overwritten.py" in names
    assert any(name.endswith(".json") for name in names)


RULE = '''
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

    code, name, level = "OWN001", "own", Level.SMELL

    def check(self, event: events.BackwardCalled):
        yield Diagnostic(event.node, "MESSAGE")
'''


def test_plugins_are_part_of_it(tmp_path: Path) -> None:
    """In processes of their own: a module is imported once in one."""
    (tmp_path / "own_rules.py").write_text(RULE)
    (tmp_path / "torchlint.toml").write_text('plugins = ["own_rules"]\n')
    (tmp_path / "a.py").write_text(OVERWRITTEN)

    def said() -> tuple[str, bool]:
        *lines, modules = _process(tmp_path, "['a.py']").splitlines()
        return next(line for line in lines if "OWN" in line or "no rules" in line), " torchlint.rule " in modules

    assert said() == ("a.py:6:1: smell[OWN001] MESSAGE", True)
    assert said() == ("a.py:6:1: smell[OWN001] MESSAGE", False)
    (tmp_path / "own_rules.py").write_text(RULE.replace("MESSAGE", "another message"))
    assert said() == ("a.py:6:1: smell[OWN001] another message", True)
    (tmp_path / "own_rules.py").write_text("import nowhere\n")
    assert "no rules from `" in said()[0]
    assert "no rules from `" in said()[0]


def _process(directory: Path, paths: str, *, options: str = "") -> str:
    """What a run in a process of its own prints, and then the modules it has loaded."""
    program = f"""
import sys
from torchlint.hosts.command_line import main
try:
    main(["check", "--output-format", "concise", *{options or "[]"}, *{paths}])
except SystemExit:
    pass
print(*sorted(name for name in sys.modules))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(directory), os.environ.get("PYTHONPATH", "")])}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=directory, capture_output=True, text=True, env=environment, timeout=100
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_an_unchanged_run_loads_neither_libcst_nor_the_rules(tmp_path: Path) -> None:
    _write(str(tmp_path / "a.py"), OVERWRITTEN)
    _write(str(tmp_path / "b.py"), "x = 1\n")
    assert " torchlint.rule " in _process(tmp_path, "['.']")
    _process(tmp_path, "['.']")  # the folder was made in a directory that Python imports from: who knows what else was
    *said, modules = _process(tmp_path, "['.']").splitlines()
    assert said[0].startswith("a.py:5:1: error[TLN201]")
    loaded = set(modules.split())
    heavy = {
        "libcst",
        "torchlint.lint.engine",
        "torchlint.lint.registry",
        "torchlint.rule",
        "torchlint.model",
        "torchlint.rules",
    }
    heavy |= {"multiprocessing", "concurrent.futures", "importlib.metadata", "hashlib", "distributed", "pathspec"}
    assert sorted(heavy & loaded) == []
    assert "torchlint.cache.results" in loaded


def test_no_file_mentions_torch(tmp_path: Path) -> None:
    """Not even the first time is more loaded than it takes to see whether the selectors are right."""
    (tmp_path / "b.py").write_text("x = 1\n")
    _process(tmp_path, "['.']")
    assert " torchlint.rule " not in _process(tmp_path, "['.']")


# What can go wrong with the store.


@pytest.mark.parametrize("damage", ["garbage", "cut", "empty", "foreign", "old", "folder"])
def test_a_damaged_store_is_made_anew(linted: list[str], damage: str) -> None:
    _write("a.py", OVERWRITTEN)
    _check()
    linted.clear()
    file = Path(".torchlint_cache/results.sqlite")
    for beside in file.parent.glob("results.sqlite-*"):
        beside.unlink()
    data = file.read_bytes()
    if damage == "garbage":
        file.write_bytes(b"no database" * 1000)
    elif damage == "cut":
        file.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage in ("foreign", "old"):
        file.unlink()
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE result (x)")
            connection.execute(f"PRAGMA user_version = {0 if damage == 'foreign' else store.FORMAT + 1}")
        connection.close()
    else:
        file.unlink()
        file.mkdir()
    assert [finding.code for finding in _check().findings] == ["TLN201"]
    assert linted == ["a.py"]
    linted.clear()
    assert [finding.code for finding in _check().findings] == ["TLN201"]
    assert bool(linted) is (damage == "folder")


@pytest.mark.parametrize("byte", range(0, 30_000, 1_777))
def test_one_wrong_byte_is_never_an_error(linted: list[str], byte: int) -> None:
    _write("a.py", OVERWRITTEN)
    expected = _check().findings
    file = Path(".torchlint_cache/results.sqlite")
    data = bytearray(file.read_bytes())
    data[byte % len(data)] ^= 0xFF
    file.write_bytes(data)
    assert {finding.code for finding in _check().findings} == {finding.code for finding in expected}


@pytest.mark.parametrize(
    "report", ["[", "[]", "[0,0,true]", "[0,0,true,[[1]]]", '{"a": 1}', "[0,0,true,[[[1,1,1,1],2]]]"]
)
def test_a_report_that_cannot_be_read_is_none(linted: list[str], report: str) -> None:
    _write("a.py", OVERWRITTEN)
    found = _check().findings
    with sqlite3.connect(".torchlint_cache/results.sqlite") as connection:
        connection.execute("UPDATE result SET report = ?", (report,))
    connection.close()
    linted.clear()
    assert _check().findings == found
    assert linted == ["a.py"]


def test_a_folder_that_cannot_be_made(linted: list[str]) -> None:
    _write("a.py", OVERWRITTEN)
    Path(".torchlint_cache").write_text("a file")
    assert [finding.code for finding in _check().findings] == ["TLN201"]


def test_a_store_that_somebody_holds(linted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _write("a.py", OVERWRITTEN)
    _check()
    _write("a.py", CLEAN)
    connect = sqlite3.connect
    holder = connect(".torchlint_cache/results.sqlite")
    monkeypatch.setattr(store.sqlite3, "connect", lambda file, timeout: connect(file, timeout=0.1))
    holder.execute("BEGIN EXCLUSIVE")
    assert not _check().findings
    holder.rollback()
    holder.close()


def test_runs_at_the_same_time(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"f{number}.py").write_text(OVERWRITTEN + f"z = {number}\n")
    said: list[str] = []
    runs = [threading.Thread(target=lambda: said.append(_process(tmp_path, "['.']"))) for _ in range(3)]
    for each in runs:
        each.start()
    for each in runs:
        each.join()
    assert len(said) == 3
    assert all(text.count("error[TLN201]") == 12 for text in said)
    assert " torchlint.rule " not in _process(tmp_path, "['.']")


def test_a_run_that_is_killed_leaves_what_it_had(linted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "BATCH", 2)
    for number in range(6):
        _write(f"f{number}.py", CLEAN + "#" * number)
    perform = work.perform
    done: list[str] = []

    def killed(job: work.Job) -> work.Outcome:
        done.append(job.path)
        if len(done) > 4:
            raise KeyboardInterrupt
        return perform(job)

    with monkeypatch.context() as patch:
        patch.setattr(work, "perform", killed)
        with pytest.raises(KeyboardInterrupt):
            _check()
    linted.clear()
    _check()
    assert len(linted) == 2


def test_it_stays_small(linted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_BYTES", 200_000)
    file = Path(".torchlint_cache/results.sqlite")
    for round_ in range(6):
        for number in range(4):
            _write(f"r{round_}n{number}.py", "import torch\nx = (" + " " * number + "\n" + "# " + "x" * 50)
        with monkeypatch.context() as patch:
            # a lot to say about each file
            patch.setattr(Cache, "_written", lambda self, report: "[" + " " * 12_000 + "0,0,true,[0,0],[]]")
            _check()
        assert file.stat().st_size <= 300_000
    linted.clear()
    _check("r5n0.py", "r5n1.py", "r5n2.py", "r5n3.py")
    assert not linted  # the newest are kept


def test_where_a_script_was_given_up_is_kept(linted: list[str]) -> None:
    _write("long.py", CLEAN + "x = 1\n" * 7_000)
    for _ in range(2):
        (note,) = _check().notes
        assert note.startswith("long.py: too long to be followed to its end; what comes after line ")
    assert linted == ["long.py"]


def test_the_folder_says_what_it_is_and_is_removed(linted: list[str], tmp_path: Path) -> None:
    _write("a.py", CLEAN)
    _check()
    folder = tmp_path / ".torchlint_cache"
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert "*" in (folder / ".gitignore").read_text().splitlines()
    assert Cache.of_project().clear()
    assert not folder.exists()
    assert not Cache.of_project().clear()


def test_what_is_not_ours_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "CACHEDIR.TAG").write_text("Signature: somebody else's")
    (tmp_path / "precious").write_text("")
    assert not Cache.of_project(str(tmp_path)).clear()
    with Cache.of_project(str(tmp_path)).opened():
        pass
    assert Cache.of_project(str(tmp_path)).clear()
    assert {path.name for path in tmp_path.iterdir()} == {"CACHEDIR.TAG", "precious"}


@pytest.mark.parametrize(
    ("files", "where"),
    [
        (("pyproject.toml", "a/b/"), ""),
        (("pyproject.toml", "a/torchlint.toml", "a/b/"), "a"),
        (("a/.git/", "a/b/"), "a"),
    ],
)
def test_where_it_is(files: tuple[str, ...], where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in files:
        path = tmp_path / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert Cache.of_project().directory == tmp_path / where / ".torchlint_cache"
