"""
Harmless stand-ins for what a program under the cross-check must not be able to do: `hostile/`, each on its own.

None of them may change a file outside its directory, be heard on a socket, leave a process or a file behind, end or
stop what runs it, take more than it is given, or be refuted or hang; and what comes after it is judged as before.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import expectations
import pytest

from torchlint.syntax.tree import Source
from torchlint.verify import server
from torchlint.verify.confinement import children
from torchlint.verify.execute import run_program
from torchlint.verify.verify import verify_findings

FOLDER = Path(__file__).parent / "hostile"
PROGRAMS = sorted(FOLDER.glob("*.txt"))
SUCCESSES = {
    "l1_rlimit_raise": "-> (-1, ",
    "l2_many_files": "wrote 300 MB",
    "l3_big_message": "x" * 5000,
    "n3_torch_tcpstore": "TCP through C++ works",
    "n4_ctypes_connect": "connect -> 0",
    "p7_many_forks": "forked 300",
    "r2_environ_of_linter": "linter's env: PATH",
}
"""What they say where they get what they are after."""
READS = {"r1_read_file": "programs may read files: `docs/runtime.md` says so"}
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel's own confinement is Linux's")


def _tree(folder: Path) -> dict[str, tuple[int, float, bytes]]:
    found = {}
    for path in folder.rglob("*"):
        state = path.lstat()
        found[str(path)] = (state.st_mode, state.st_mtime, path.read_bytes() if path.is_file() else b"")
    return found


@pytest.fixture
def listeners() -> Iterator[tuple[int, Callable[[], bool]]]:
    """A port on which both protocols are listened to, and whether anybody has been heard."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as stream,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        stream.bind(("127.0.0.1", 0))
        port = stream.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        stream.listen()
        stream.setblocking(False)
        datagrams.setblocking(False)

        def heard() -> bool:
            for ask in (stream.accept, lambda: datagrams.recv(64)):
                try:
                    ask()
                    return True
                except BlockingIOError:
                    continue
            return False

        yield port, heard


_NEW_MOUNTS = 0x20000
_REC, _PRIVATE = 0x4000, 0x40000


@pytest.fixture(autouse=True, scope="module")
def shared_memory() -> Iterator[None]:
    """
    `/dev/shm` as these tests alone see it, with a server that does, too: what other processes of the machine do there
    is no part of what is measured. Where that takes rights that a test has not, it is the machine's.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/mnt", "rb") as before:
        own = libc.unshare(_NEW_MOUNTS) == 0
        if own:
            assert libc.mount(b"none", b"/", None, _REC | _PRIVATE, None) == 0
            assert libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, None) == 0
        _without_server()
        yield
        _without_server()
        if own:
            libc.setns(before.fileno(), _NEW_MOUNTS)


def _without_server() -> None:
    known = server._shared.pop(os.getpid(), None)
    if known is not None:
        known.close()


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in PROGRAMS if path.stem not in READS])
def test_does_not_succeed(path: Path, tmp_path: Path, listeners: tuple[int, Callable[[], bool]]) -> None:
    port, heard = listeners
    words = {}
    for name in ("victim", "secret", "project"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"keep{path.stem[1:2]}").write_text("as it was")
        words[f"{{{name.upper()}}}"] = str(tmp_path / name)
    text = path.read_text()
    left = Path("/dev/shm", f"left-{os.getpid()}")
    for word, value in {**words, "{PORT}": str(port), "{SHM}": left.name}.items():
        text = text.replace(word, value)
    findings = list(expectations.lint(text, codes=["TLN201"]).findings)
    assert findings
    run_program("pass")  # the server, and whatever else is started once
    started, shared, before = set(children()), set(os.listdir("/dev/shm")), _tree(tmp_path)
    begun = time.monotonic()
    verdicts = [f.verdict for f in verify_findings(Source.parse(str(tmp_path / "program.py"), text), findings)]
    assert time.monotonic() - begun < 120
    assert _tree(tmp_path) == before
    assert not heard()
    assert set(os.listdir("/dev/shm")) <= shared
    assert not left.exists()
    assert set(children()) <= started
    assert not [child for one in children() for child in children(one) if _runs_a_program(child)]
    for verdict in verdicts:
        assert verdict is not None
        assert verdict.status != "refuted"
        assert SUCCESSES.get(path.stem, "no such words") not in verdict.evidence
    assert run_program("assert 1 + 1 == 2").ending == "ended"


def _runs_a_program(process: int) -> bool:
    try:
        return b"torchlint.verify.child" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def test_each_of_them_is_tried() -> None:
    assert len(PROGRAMS) == 36
    assert {*SUCCESSES, *READS} <= {path.stem for path in PROGRAMS}


@pytest.mark.parametrize("loop", ["while True:\n    pass", "while True:\n    try:\n        1 / 0\n    except: pass"])
def test_an_endless_loop_costs_ten_seconds(loop: str) -> None:
    loads, begun = [os.getloadavg()[0]], time.monotonic()
    assert run_program(f"import torch\n{loop}").ending == "time"
    took = time.monotonic() - begun
    loads.append(os.getloadavg()[0])  # it follows a load by a minute: of what began meanwhile it tells afterwards
    busy = max(1.0, *(load / (os.cpu_count() or 1) for load in loads))  # what is counted is processor time
    assert took < 10 * busy


def test_a_long_import_is_no_endless_loop(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\nend = time.process_time() + 9\nwhile time.process_time() < end: pass\n"
    )
    path = tmp_path / "program.py"
    path.write_text("import slow\nvalue = 1\n")
    outcome = run_program(path.read_text(), path=str(path), timeout=300.0)
    assert outcome.ending == "ended", outcome
