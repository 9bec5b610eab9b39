"""Whatever ends a process, a file, a rule, Ctrl-C, a signal: only what was hit is lost, and it is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from deadly import RULE, lives, until
from process import Torchlint

ENDS = {"exit": "it ended with status 0", "crash": "SIGSEGV", "kill": "SIGKILL"}


@pytest.fixture
def project(tmp_path: Path, torchlint: Torchlint, overwritten: str, needless: str) -> Torchlint:
    (tmp_path / "killing_rule.py").write_text(RULE)
    Path("torchlint.toml").write_text('plugins = ["killing_rule"]\nexclude = ["killing_rule.py"]\n')
    Path("a.py").write_text(needless)
    Path("deadly.py").write_text(overwritten)
    return torchlint


def _check(project: Torchlint, how: str, *arguments: str, stdin: bytes = b"") -> tuple[int, list[str]]:
    ran = project(
        *("check", "--output-format", "concise", *arguments), stdin=stdin, HOW=how, PYTHONPATH=str(Path.cwd())
    )
    assert "Traceback" not in ran.err
    return ran.status, [line.removesuffix(" [*]") for line in ran.out.splitlines() if "[TLN" in line]


@pytest.mark.parametrize("how", ENDS)
def test_one_job(project: Torchlint, how: str) -> None:
    status, lines = _check(project, how)
    assert status == 2
    assert lines[0].startswith("a.py:5:")
    assert lines[1:] == [f"deadly.py:1:1: error[TLN000] the process that checked this file died ({ENDS[how]})"]
    assert _check(project, how) == (status, lines)  # nothing of it is kept


def test_many_jobs(project: Torchlint, overwritten: str) -> None:
    for number in range(24):
        Path(f"f{number:02}.py").write_text(Path("a.py").read_text())
    Path("second.py").write_text(overwritten)
    status, lines = _check(project, "crash", "--jobs", "2")
    assert status == 2
    assert len(lines) == 27
    died = [line for line in lines if "TLN000" in line]
    assert died == [
        f"{name}.py:1:1: error[TLN000] the process that checked this file died (SIGSEGV)"
        for name in ("deadly", "second")
    ]


def test_standard_input(project: Torchlint, overwritten: str) -> None:
    assert _check(project, "crash", "-", "--stdin-filename", "x.py", stdin=overwritten.encode()) == (
        2,
        ["x.py:1:1: error[TLN000] the process that checked this file died (SIGSEGV)"],
    )


def test_fixes_of_other_files_are_written(project: Torchlint, overwritten: str) -> None:
    status, _ = _check(project, "kill", "--fix")
    assert status == 2
    assert "retain_graph" not in Path("a.py").read_text()
    assert Path("deadly.py").read_text() == overwritten


def test_a_rule_that_leaves(project: Torchlint) -> None:
    status, lines = _check(project, "leave")
    assert status == 2
    assert [line.partition("] ")[0] for line in lines] == [
        "a.py:5:18: smell[TLN102",
        "deadly.py:5:1: error[TLN000",
        "deadly.py:5:1: error[TLN201",
    ]
    assert "the rule KIL001 (killing) failed: SystemExit: 0" in lines[1]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("files", [1, 24])
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_no_process_is_left(
    project: Torchlint, overwritten: str, tmp_path: Path, files: int, number: int, status: int
) -> None:
    for index in range(files):
        Path(f"f{index:02}.py").write_text(overwritten)
    pids = tmp_path / "pids"
    environment = {**os.environ, "HOW": "wait", "PIDS": str(pids), "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "torchlint", "check", "--jobs", "2"]
    if (
        signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    ):  # as for a shell's background jobs; whoever is started inherits it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        until(lambda: pids.exists() and pids.read_text().count("\n") >= min(files, 2))
        if number == signal.SIGINT:  # a terminal sends it to all
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        assert process.wait(60) == status
        assert process.stderr is not None
        assert process.stderr.read() in (b"", b"torchlint: interrupted\n")
    until(lambda: not any(lives(int(pid)) for pid in pids.read_text().split()))
