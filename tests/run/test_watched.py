"""A process that is watched: what kills it costs one job, and nothing of it is left."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from torchlint.run import watched

pytestmark = pytest.mark.skipif(not watched.POSSIBLE, reason="processes are forked on Linux alone")


def _perform(job: str) -> object:
    match job:
        case "exit":
            os._exit(3)
        case "crash":
            faulthandler.disable()
            ctypes.string_at(0)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "leave":
            sys.exit(0)
        case "fail":
            raise LookupError("never\nmind")
        case "function":
            return lambda: None
    return (job, os.getpid())


def test_a_death_costs_one_job_and_is_named() -> None:
    jobs = ["a", "exit", "b", "crash", "kill", "leave", "fail", "function", "x" * 3_000_000]
    found = {job: result for job, _, result in watched.one_by_one(_perform, ((job, None) for job in jobs))}
    assert list(found) == jobs
    assert found["exit"] == "the process that checked this file died (it ended with status 3)"
    assert found["crash"] == "the process that checked this file died (SIGSEGV)"
    assert found["kill"] == "the process that checked this file died (SIGKILL)"
    assert found["leave"] == "the worker that checked this file failed: SystemExit: 0"
    assert found["fail"] == "the worker that checked this file failed: LookupError: never"
    assert "the worker that checked this file failed: " in str(found["function"])
    assert {found[job][0] for job in ("a", "b", jobs[-1])} == {"a", "b", jobs[-1]}
    assert found["a"][1] != os.getpid()


def test_one_process_does_all_and_is_gone_then() -> None:
    with watched.Watched(_perform) as process:
        pids = {process.perform(str(number))[1] for number in range(20)}
    (pid,) = pids
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_what_kills_only_the_first_process_is_not_lost(tmp_path: Path) -> None:
    def once(_: None) -> str:
        if not (tmp_path / "met").exists():
            (tmp_path / "met").touch()
            os._exit(1)
        return "done"

    with watched.Watched(once) as process:
        assert process.perform(None) == "done"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_nobody_is_left_when_who_watches_is_gone(tmp_path: Path, number: int) -> None:
    """
    Whatever the process is doing: this one does not look at anything. The kernel ends it after its seconds, should
    nobody be there any more to see that it lives on.
    """
    program = (
        "import os, resource, sys\nfrom pathlib import Path\nfrom torchlint.run.watched import Watched\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (90, 90))\n"
        "def perform(path):\n"
        "    Path(path + '.new').write_text(str(os.getpid()))\n"
        "    os.rename(path + '.new', path)\n"
        "    while True: pass\n"
        "with Watched(perform) as process: process.perform(sys.argv[1])\n"
    )
    told = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", program, str(told)], stderr=subprocess.DEVNULL) as process:
        _until(told.exists)
        process.send_signal(number)
        process.wait(60)
    _until(lambda: not _lives(int(told.read_text())))


def _lives(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def _until(true: object) -> None:
    end = time.monotonic() + 60
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)
