"""Many files: processes, fixes on disk, exit statuses."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy import REGISTRY

from torchlint import config
from torchlint.config import ConfigError, Overrides
from torchlint.lint import registry
from torchlint.results import FileOutcome, FileReport
from torchlint.run import job as work
from torchlint.run import run

pytestmark = pytest.mark.usefixtures("toy_model")

NOTHING = Overrides()


@pytest.fixture(autouse=True)
def _toy_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "load", lambda plugins=(), origin="": REGISTRY)
    work.selection.cache_clear()
    config.forget()
    yield
    work.selection.cache_clear()  # what the toys gave is nothing for the tests after these
    config.forget()


def _write(**texts: str | bytes) -> list[str]:
    for name, text in texts.items():
        Path(f"{name}.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    return [f"{name}.py" for name in texts]


def test_outcomes_are_sorted_and_files_without_torch_have_none_unless_they_are_not_python() -> None:
    files = _write(b="torch.bad()\n", a="import torch\n", d="this is ( not Python", c="x = 1\n")
    result = run.check_files(files, NOTHING)
    assert [outcome.report.path for outcome in result.outcomes] == ["a.py", "b.py", "d.py"]
    assert result.files == 4
    assert [(finding.path, finding.code) for finding in result.findings] == [("b.py", "PRB001"), ("d.py", "TLN001")]


def test_processes_find_the_same() -> None:
    """The rules and the model of a worker are torchlint's own: what both agree on is syntax errors and their order."""
    texts = {f"f{number:02}": "import torch\n" + "x = 1\n" * number + "x = (\n" for number in range(run.POOL_FROM + 2)}
    files = _write(**texts)
    alone = run.check_files(files, NOTHING, workers=1)
    together = run.check_files(files, NOTHING, workers=2)
    assert together.findings == alone.findings
    assert [(finding.path, finding.span.line) for finding in together.findings] == [
        (f"f{number:02}.py", number + 2) for number in range(run.POOL_FROM + 2)
    ]


def test_a_process_that_dies_loses_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    files = _write(**{f"f{number:02}": f"torch.bad({number})\n" for number in range(run.POOL_FROM)}, killer="torch.x()")
    monkeypatch.setattr(work, "perform", _dying)
    result = run.check_files(files, NOTHING, workers=2)
    by_path = {outcome.report.path: outcome.report for outcome in result.outcomes}
    assert set(by_path) == set(files)
    assert [finding.message for finding in by_path.pop("killer.py").findings] == [
        "the process that checked this file died (it ended with status 1)"
    ]
    assert all(not report.findings for report in by_path.values())
    assert result.exit_status() == 2


def _dying(job: work.Job) -> FileOutcome:
    if job.path == "killer.py":
        os._exit(1)
    return FileOutcome(FileReport(job.path))


def test_an_unreadable_file_is_reported_beside_the_others() -> None:
    files = _write(a="torch.bad()\n")
    os.symlink("loop.py", "loop.py")
    result = run.check_files([*files, "loop.py"], NOTHING)
    assert [(finding.path, finding.code) for finding in result.findings] == [("a.py", "PRB001"), ("loop.py", "TLN000")]
    assert "cannot be read: Too many levels of symbolic links" in result.findings[1].message
    assert result.exit_status() == 2


@pytest.mark.parametrize(
    ("text", "overrides", "status"),
    [
        ("torch.ok()\n", NOTHING, 0),
        ("torch.bad()\n", NOTHING, 1),
        ("torch.bad()\n", Overrides(exit_on="error"), 0),
        ("torch.fatal()\n", Overrides(exit_on="error"), 1),
        ("torch.purist()\n", NOTHING, 0),
        ("torch.purist()\n", Overrides(strict=True), 0),
        ("torch.purist()\n", Overrides(strict=True, exit_on="strict"), 1),
        ("torch.bad(\n", Overrides(exit_on="error"), 1),
        ("torch.boom()\n", Overrides(exit_on="error", ignore=("PRB001",)), 2),
    ],
)
def test_exit_status(text: str, overrides: Overrides, status: int) -> None:
    assert run.check_files(_write(a=text), overrides).exit_status() == status


def test_exit_on_of_the_configuration() -> None:
    Path("torchlint.toml").write_text('exit-on = "error"\n')
    assert run.check_files(_write(a="torch.bad()\n"), NOTHING).exit_status() == 0
    assert run.check_files(_write(a="torch.bad()\n"), Overrides(exit_on="smell")).exit_status() == 1


def test_per_file_ignores() -> None:
    Path("torchlint.toml").write_text('[per-file-ignores]\n"a*.py" = ["called"]\n"/b.py" = ["PRB003"]\n')
    result = run.check_files(_write(a1="torch.bad()\n", b="torch.bad()\n"), NOTHING)
    assert [finding.path for finding in result.findings] == ["b.py"]


def test_per_file_ignores_must_match_a_rule() -> None:
    Path("torchlint.toml").write_text('[per-file-ignores]\n"a*.py" = ["PRB9"]\n')
    with pytest.raises(ConfigError, match=r"per-file-ignores of a\*\.py: no rule matches `PRB9`"):
        run.check_files(_write(b="torch.bad()\n"), NOTHING)


def test_every_directory_has_its_configuration() -> None:
    os.mkdir("sub")
    Path("sub/torchlint.toml").write_text('select = ["PRB003"]\n')
    files = [*_write(a="torch.bad()\n"), *_write(**{"sub/a": "torch.bad()\n"})]
    assert [finding.path for finding in run.check_files(files, NOTHING).findings] == ["a.py"]


@pytest.mark.parametrize(
    "data",
    [
        b"import torch\r\n\ttorch\n".replace(b"\t", b"") + b"if x:\r\n\ttorch.old()  # why\r\n",
        codecs.BOM_UTF8 + "torch.old('ü')\n".encode(),
        b"# coding: latin-1\ntorch.old('\xfc')\n",
        b"torch.old()",
    ],
)
def test_fixes_on_disk_keep_every_other_byte(data: bytes) -> None:
    files = _write(a=data)
    result = run.check_files(files, NOTHING, fixing="safe", write=True)
    assert Path("a.py").read_bytes() == data.replace(b"old", b"new")
    assert (result.fixed, result.findings, result.exit_status()) == (1, (), 0)


def test_a_diff_changes_nothing() -> None:
    files = _write(a="x = 1\r\ntorch.old()", b="torch.bad()\n")
    result = run.check_files(files, NOTHING, fixing="safe")
    assert Path("a.py").read_bytes() == b"x = 1\r\ntorch.old()"
    end = "\\ No newline at end of file\n"
    assert result.diff == (f"--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n x = 1\r\n-torch.old()\n{end}+torch.new()\n{end}")


@pytest.mark.parametrize("data", [b"torch.old()\nx = (\n", b"torch.old()\n\xff\n", b"torch.old()\ntorch.crash()\n"])
def test_a_file_that_could_not_be_checked_is_not_written(data: bytes) -> None:
    files = _write(a=data)
    before = os.stat("a.py").st_mtime_ns
    run.check_files(files, NOTHING, fixing="unsafe", write=True)
    assert Path("a.py").read_bytes() == data
    assert os.stat("a.py").st_mtime_ns == before


def test_fixes_that_cannot_be_written_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    files = _write(a="torch.old()\n", b="torch.bad()\n")

    def refuse(path: str, before: bytes, after: bytes) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(work.writing, "replace", refuse)
    result = run.check_files(files, NOTHING, fixing="safe", write=True)
    assert [(finding.code, finding.message) for finding in result.findings] == [
        ("TLN000", "the fixes could not be written: Permission denied"),
        ("PRB001", "`old` is called"),
        ("PRB001", "`bad` is called"),
    ]
    assert result.fixed == 0
    assert result.exit_status() == 2


def test_what_was_written_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    files = _write(a="torch.old()\n")
    perform = work.perform

    def edited(job: work.Job) -> FileOutcome:
        Path(job.path).write_text("torch.old()\nmine = 1\n")
        return perform(job)

    monkeypatch.setattr(work, "perform", edited)
    result = run.check_files(files, NOTHING, fixing="safe", write=True)
    assert [finding.message for finding in result.findings] == [
        "the fixes were not written: the file was changed while it was checked",
        "`old` is called",
    ]
    assert result.exit_status() == 2
    assert Path("a.py").read_text() == "torch.old()\nmine = 1\n"


def test_standard_input_is_fixed_in_memory() -> None:
    result = run.check_data(b"torch.old()\ntorch.bad()\n", "a.py", NOTHING, fixing="safe")
    assert result.outcomes[0].text == "torch.new()\ntorch.bad()\n"
    assert [finding.message for finding in result.findings] == ["`bad` is called"]
    assert not Path("a.py").exists()
