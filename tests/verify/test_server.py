"""The child process: what it takes, what it survives, and what happens without torch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchlint.rule import Finding, Holds, Level, Raises, Warns
from torchlint.syntax.tree import Source, Span
from torchlint.verify import TorchMissing, server
from torchlint.verify.execute import run_program, shows
from torchlint.verify.protocol import Request
from torchlint.verify.sandbox import KEPT, environment
from torchlint.verify.verify import verify_findings

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def own_server() -> Iterator[server.Server]:
    """A server for these tests, some of which kill it."""
    one = server.Server()
    yield one
    one.close()


def test_the_linter_never_imports_torch() -> None:
    code = (
        "import sys, torchlint.verify.verify, torchlint.verify.execute; "
        "print(*[m for m in sys.modules if m.partition('.')[0] in ('torch', 'numpy')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout.strip() == ""


def test_without_torch_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_shared", {})
    # Another test of this process may have imported torch itself.
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [_Blocker(), *sys.meta_path])
    finding = Finding(
        "a.py", Span(1, 1, 1, 2), "TLN103", "backward-on-non-scalar", Level.ERROR, "…", claims=(Raises("grad"),)
    )
    with pytest.raises(TorchMissing, match=r"pip install 'torchlint\[runtime\]'"):
        verify_findings(Source.parse("a.py", "1\n"), [finding])
    with pytest.raises(TorchMissing):
        run_program("1")


class _Blocker:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


def test_a_torch_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libtorch_cpu.so: cannot open shared object file')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for fork in (True, False):
        broken = server.Server(fork=fork)
        with pytest.raises(TorchMissing, match=r"cannot be imported .*libtorch_cpu\.so"):
            broken.run(Request("1"))
        broken.close()


def test_a_server_that_was_killed_is_started_again(own_server: server.Server) -> None:
    assert own_server.run(Request("x = 1")).ending == "ended"
    assert own_server.process is not None
    os.kill(own_server.process.pid, signal.SIGKILL)
    own_server.process.wait()
    assert own_server.run(Request("x = 1")).ending == "ended"


def test_a_program_that_kills_the_server_is_survived(own_server: server.Server) -> None:
    outcome = own_server.run(Request("import os, signal; os.kill(os.getppid(), signal.SIGKILL)"))
    assert outcome.ending in ("raised", "died")  # the kernel refuses the signal, where it can
    assert own_server.run(Request("x = 1")).ending == "ended"


def test_nothing_is_left_behind() -> None:
    own_server = server.Server()
    program = """
        import os, pathlib, subprocess, sys, time
        if os.fork() == 0:
            time.sleep(60)
        pathlib.Path("left").write_text("x")
        place = os.getcwd()
        """
    outcome = own_server.run(Request(textwrap.dedent(program), probes=("place", "os.getpgid(0)"), timeout=10.0))
    assert outcome.ending == "ended"
    assert outcome.probes is not None
    group = int(outcome.probes["os.getpgid(0)"]["numbers"][0])
    end = time.monotonic() + 5.0
    while time.monotonic() < end and _alive(group):
        time.sleep(0.05)
    assert not _alive(group)
    assert not list(Path(own_server.directory).glob("torchlint-*"))
    directory = own_server.directory
    own_server.close()
    assert not Path(directory).exists()


def test_nothing_is_left_behind_by_a_linter_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import os, signal; from torchlint.verify import server; from torchlint.verify.protocol import Request; "
        "one = server.shared(); one.run(Request('x = 1', timeout=10.0)); print(one.directory, flush=True); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
    assert found.returncode == -signal.SIGKILL, found.stderr
    assert found.stdout.startswith(str(tmp_path))
    end = time.monotonic() + 20.0
    while time.monotonic() < end and any(tmp_path.iterdir()):
        time.sleep(0.05)
    assert not list(tmp_path.iterdir())


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    # a zombie that its parent has not waited for yet still counts as a member of the group
    states = subprocess.run(["ps", "-o", "stat=", "-g", str(group)], capture_output=True, text=True, check=False)
    return any(not line.strip().startswith("Z") for line in states.stdout.splitlines())


def test_programs_do_not_see_each_other(own_server: server.Server) -> None:
    own_server.run(Request("import torch, builtins; torch.set_grad_enabled(False); builtins.left = 1"))
    outcome = own_server.run(Request("import torch", probes=("torch.is_grad_enabled()", "left")))
    assert outcome.probes is not None
    assert outcome.probes["torch.is_grad_enabled()"]["truth"] is True
    assert outcome.probes["left"]["error"].startswith("NameError")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="nothing tells what a process has taken")
def test_forks_are_cheap(own_server: server.Server) -> None:
    program = Request("import torch\nx = torch.ones(3, requires_grad=True)\n(x * x).sum().backward()\n")
    own_server.run(program)
    assert own_server.process is not None
    before = _processor_time(own_server.process.pid)
    for _ in range(20):
        assert own_server.run(program).ending == "ended"
    taken = (_processor_time(own_server.process.pid) - before) / 20
    assert taken < 0.15, "a fork takes 15 ms; importing torch again takes a second"


def _processor_time(process: int) -> float:
    """What a process and those it has waited for have taken, whatever else the machine does."""
    fields = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def test_without_fork_a_process_per_program() -> None:
    one = server.Server(fork=False)
    outcome = one.run(Request("import torch\nx = torch.ones(2)\nx.backward()\n"))
    assert outcome.raised is not None
    assert "does not require grad" in outcome.raised.message
    assert outcome.raised.lines == (3,)
    assert one.run(Request("while True: pass", timeout=1.0)).ending == "time"
    one.close()


def test_little_of_the_environment_is_passed_on(tmp_path: Path) -> None:
    parent = {"PATH": "/bin", "AWS_SECRET_ACCESS_KEY": "secret", "HOME": "/home/me", "DISPLAY": ":0"}
    child = environment(str(tmp_path), parent)
    assert child["PATH"] == "/bin"
    assert child["HOME"] == str(tmp_path)
    assert "secret" not in child.values()
    assert "DISPLAY" not in child
    assert "HOME" not in KEPT


def test_a_script_runs_as_main_with_its_directory_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("WIDTH = 3\n")
    script = tmp_path / "train.py"
    script.write_text(
        "import sys\nfrom settings import WIDTH\nran = __name__ == '__main__' and __file__ == sys.argv[0]\n"
    )
    outcome = run_program(script.read_text(), path=str(script), probes=("ran and WIDTH == 3",))
    assert outcome.ending == "ended", outcome
    assert outcome.probes is not None
    assert outcome.probes["ran and WIDTH == 3"]["truth"] is True


def test_a_file_of_a_package_can_import_relatively(tmp_path: Path) -> None:
    package = tmp_path / "outer" / "inner"
    package.mkdir(parents=True)
    for directory in (package.parent, package):
        (directory / "__init__.py").write_text("")
    (package.parent / "sizes.py").write_text("WIDTH = 3\n")
    script = package / "net.py"
    script.write_text("from ..sizes import WIDTH\n")
    outcome = run_program(script.read_text(), path=str(script), probes=("WIDTH == 3",))
    assert outcome.ending == "ended", outcome.raised


def test_symptoms() -> None:
    raising = "import torch\ntorch.ones(2, requires_grad=True).exp().backward()\n"
    assert shows(raising, Raises("grad can be implicitly created"))[0]
    assert shows(raising, Raises("RuntimeError: grad can"))[0]
    assert shows(raising, Raises("second time")) == (
        False,
        "raises RuntimeError: grad can be implicitly created only for scalar outputs (line 2)",
    )
    assert not shows("x = 1", Raises(""))[0]
    assert not shows(raising, Holds("True"))[0]
    assert shows("x = [1]", Holds("len(x) == 1")) == (True, "`len(x) == 1` is True")
    assert not shows("x = [1]", Holds("len(x) == 2"))[0]
    assert shows("x = [1]", Holds("y"))[1] == "`y` raises NameError: name 'y' is not defined"
    warning = "import warnings\nwarnings.warn('leaf accessed', UserWarning)\n"
    assert shows(warning, Warns("leaf accessed"))[0]
    assert not shows(warning, Warns("other"))[0]
    assert shows("x = 1", Warns(""))[1] == "no warning; runs to its end"


def test_torch_warnings_are_seen() -> None:
    program = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x * 2\ny.grad\n"
    assert shows(program, Warns("The .grad attribute of a Tensor that is not a leaf"))[0]


def test_observing_changes_nothing() -> None:
    program = textwrap.dedent(
        """
        import torch
        from torch import nn
        torch.manual_seed(3)
        net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(4 * 36, 2))
        optimizer = torch.optim.Adam(net.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(torch.randn(4, 1, 8, 8)), torch.tensor([0, 1, 0, 1]))
            loss.backward()
            optimizer.step()
        total = sum(p.double().abs().sum().item() for p in net.parameters())
        """
    )
    plain, observed = (
        server.shared().run(Request(program, probes=("total", "loss.item()"), observe=observe))
        for observe in (False, True)
    )
    assert plain.ending == observed.ending == "ended"
    assert plain.probes is not None
    assert observed.probes is not None
    assert plain.probes["total"]["numbers"] == observed.probes["total"]["numbers"]
    assert plain.probes["loss.item()"]["numbers"] == observed.probes["loss.item()"]["numbers"]
    assert [b.line for b in observed.backwards] == [10, 10, 10]
    assert {w.op for w in observed.writes} >= {"relu", "_foreach_addcdiv_"} or observed.writes
    assert set(observed.gradients or ()) == {"net.0.weight", "net.0.bias", "net.3.weight", "net.3.bias"}
