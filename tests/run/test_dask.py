"""A real Dask scheduler and two workers on the loopback interface lint for us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from torchlint.config import ConfigError, Overrides
from torchlint.run import run
from torchlint.run.executors import connected

distributed = pytest.importorskip("distributed")

OVERWRITTEN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward()
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes that are started again when they die."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1", silence_logs=50
    ) as started:
        yield started


@pytest.fixture
def address(cluster: Any) -> str:
    return str(cluster.scheduler_address).replace("tcp://", "dask://")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    for number in range(30):
        Path(f"f{number:02}.py").write_text(OVERWRITTEN + "#\n" * number if number % 3 else "import torch\n")
    return [f"f{number:02}.py" for number in range(30)]


def test_the_same_findings(files: list[str], address: str) -> None:
    here = run.check_files(files, Overrides(), workers=1)
    there = run.check_files(files, Overrides(), executor=lambda: connected(address))
    assert there.findings == here.findings
    assert len(there.findings) == 20
    assert [outcome.report.path for outcome in there.outcomes] == files


USED = "import torch\n\ndef double(t):\n    t.mul_(2)\n    return t\n"
USES = """\
import torch
from used import double

x = torch.ones(3, requires_grad=True)
y = x.exp()
double(y)
y.sum().backward()
"""


def test_a_worker_in_another_directory_sees_the_other_files(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("used.py").write_text(USED)
    Path("uses.py").write_text(USES)
    Path("torchlint.toml").write_text('per-file-ignores = {"used.py" = ["ALL"]}\n')
    here = run.check_files(["uses.py", "used.py"], Overrides(), workers=1)
    there = run.check_files(["uses.py", "used.py"], Overrides(), executor=lambda: connected(address))
    assert [finding.code for finding in here.findings] == ["TLN201"]
    assert there.findings == here.findings
    assert not any(outcome.notes for outcome in there.outcomes)


def test_a_worker_that_does_not_see_the_project_says_so(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(OVERWRITTEN)
    monkeypatch.setattr("torchlint.run.run.os.getcwd", lambda: "/nowhere/at/all")
    there = run.check_files(["a.py"], Overrides(), executor=lambda: connected(address))
    assert [finding.code for finding in there.findings] == ["TLN201"]
    assert [outcome.notes for outcome in there.outcomes] == [
        ("/nowhere/at/all cannot be seen by every worker: findings that rest on other files may be missing",)
    ]


def test_a_lost_worker_loses_no_file(files: list[str], address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = run.check_files(files, Overrides(), workers=1)
    with distributed.Client(address.replace("dask://", "tcp://"), set_as_default=False) as client:
        pids = client.run(os.getpid)
    lost = False
    finished = run._Linting._finished

    def with_a_loss(self: Any, done: Any) -> Any:
        nonlocal lost
        for outcome in finished(self, done):
            if not lost:
                os.kill(next(iter(pids.values())), signal.SIGKILL)
                lost = True
            yield outcome

    monkeypatch.setattr(run._Linting, "_finished", with_a_loss)
    there = run.check_files(files, Overrides(), executor=lambda: connected(address))
    assert lost
    assert there.findings == here.findings
    assert [outcome.report.path for outcome in there.outcomes] == files


def test_the_command(files: list[str], address: str) -> None:
    command = [sys.executable, "-m", "torchlint", "check", "--no-cache", "--output-format", "concise"]
    here = subprocess.run([*command, "."], capture_output=True, text=True, timeout=300)
    there = subprocess.run([*command, "--executor", address, "."], capture_output=True, text=True, timeout=300)
    assert (there.returncode, there.stdout) == (1, here.stdout)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("ray://127.0.0.1:1", "is not of the form dask://HOST:PORT"),
        ("dask://", "is not of the form dask://HOST:PORT"),
    ],
)
def test_a_wrong_address(wrong: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message), connected(wrong):
        pass


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.run.executors.CONNECT_SECONDS", 1)
    start = time.monotonic()
    with pytest.raises(ConfigError, match="no Dask scheduler answers there"), connected("dask://127.0.0.1:9"):
        pass
    assert time.monotonic() - start < 60
