"""What a program under the cross-check cannot do: each attempt fails, and only a verdict comes of it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from torchlint.verify.execute import run_program
from torchlint.verify.protocol import Outcome
from torchlint.verify.server import shared

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's own confinement is Linux's")


def _refused(outcome: Outcome) -> None:
    assert outcome.ending == "raised", outcome
    assert outcome.raised is not None
    known = ("PermissionError", "RefusedError", "RuntimeError", "OSError", "OperationalError")
    assert outcome.raised.type in known, outcome.raised


@LINUX
@pytest.mark.parametrize(
    "attempt",
    [
        "import torch; torch.save(torch.ones(1), {file!r})",
        "import sqlite3; sqlite3.connect({file!r}).execute('create table t (x)')",
        "import os; os.open('new', os.O_WRONLY | os.O_CREAT, dir_fd=os.open({folder!r}, os.O_RDONLY))",
        "import os; os.path.realpath = lambda path: '/dev/null'; open({file!r}, 'w')",
        "import os; os.chmod({folder!r}, 0o777)",
        "import os; os.symlink('/', {file!r})",
        "import ctypes, os\nif ctypes.CDLL(None).system(b'touch ' + {file!r}.encode()): raise PermissionError('touch')",
        "import numpy; numpy.ones(3).tofile({file!r})",
        "import torch; torch.from_file({file!r}, shared=True, size=8)",
    ],
)
def test_nothing_is_written_elsewhere(tmp_path: Path, attempt: str) -> None:
    mode = tmp_path.stat().st_mode
    outcome = run_program(attempt.format(file=str(tmp_path / "file"), folder=str(tmp_path)))
    _refused(outcome)
    assert not list(tmp_path.iterdir())
    assert tmp_path.stat().st_mode == mode


@LINUX
@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import os; os.kill(os.getppid(), 15)",
        "import os; os.kill(os.getppid(), 19)",
        "import os; open(f'/proc/{os.getppid()}/mem', 'rb+')",
    ],
)
def test_no_way_to_others(attempt: str) -> None:
    _refused(run_program(attempt))
    assert run_program("assert 1 + 1 == 2").ending == "ended", "the server is still there"


def test_a_forged_report_is_none() -> None:
    forged = """
        import json, os, struct
        data = json.dumps({"ending": "ended"}).encode()
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, struct.pack(">Q", len(data)) + data)
            except OSError:
                pass
        os._exit(0)
        """
    import textwrap

    outcome = run_program(textwrap.dedent(forged))
    assert outcome.ending == "died"
    assert run_program("pass").ending == "ended"


def test_a_report_without_an_end_is_not_waited_for() -> None:
    text = """
        import os, struct, time
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, struct.pack(">Q", 1 << 60))
            except OSError:
                pass
        time.sleep(60)
        """
    import textwrap

    started = time.monotonic()
    assert run_program(textwrap.dedent(text), timeout=2.0).ending in ("died", "time")
    assert time.monotonic() - started < 20


@LINUX
def test_nothing_is_left_running(tmp_path: Path) -> None:
    text = """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                print(os.getpid())
                time.sleep(100)
            os._exit(0)
        time.sleep(0.3)
        open("pid", "w")
        """
    import textwrap

    run_program("pass")
    before = _sleeping()
    assert before, "the server itself is one"
    assert run_program(textwrap.dedent(text)).ending == "ended"
    time.sleep(0.3)
    assert _sleeping() <= before


def _sleeping() -> int:
    """How many processes of our server there are: others of this machine have another directory for their home."""
    found = 0
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                found += f"HOME={shared().directory}\0".encode() in Path("/proc", entry, "environ").read_bytes()
            except OSError:
                continue
    return found


def test_workers_of_a_loader_still_work() -> None:
    text = """
        import torch
        from torch.utils.data import DataLoader, TensorDataset
        loader = DataLoader(TensorDataset(torch.arange(8.0)), batch_size=2, num_workers=2)
        total = sum(float(x.sum()) for (x,) in loader)
        """
    import textwrap

    outcome = run_program(textwrap.dedent(text), probes=["total == 28"])
    assert outcome.ending == "ended", outcome
    assert (outcome.probes or {})["total == 28"]["truth"] is True


@LINUX
@pytest.mark.parametrize("end", ["", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_no_semaphore_stays(end: str) -> None:
    """One that a spawned process opens by its name is removed by nobody else, where a program is ended."""
    kept = set(os.listdir("/dev/shm"))
    program = (
        "import multiprocessing, os\nlock = multiprocessing.get_context('spawn').Lock()\nname = lock._semlock.name\n"
    )
    outcome = run_program(f"{program}raise RuntimeError(os.path.exists('/dev/shm/sem.' + name[1:]), name)")
    assert outcome.raised is not None
    there, name = eval(outcome.raised.message)
    assert there
    assert f"sem.{name[1:]}" not in os.listdir("/dev/shm")
    run_program(program + end)
    assert not [each for each in set(os.listdir("/dev/shm")) - kept if each.startswith("sem.torchlint-")]
