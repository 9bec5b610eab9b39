"""
The linter's side of the child process: starts it, sends requests, and survives whatever happens there.

Does not import torch. One server per process of the linter, started on first use and closed at exit.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from torchlint.verify import ServerError, TorchMissing
from torchlint.verify.protocol import Outcome, Request, decode, encode, receive, send
from torchlint.verify.sandbox import environment

START_SECONDS = 120.0
"""`import torch` may take long on a busy machine with cold files."""


class Server:
    """
    A child that has imported torch.

    Parameters
    ----------
    fork
        Whether the child forks per program (20 ms each); otherwise each program gets a fresh process (seconds
        each). Default: fork where the platform has it.

    Raises
    ------
    TorchMissing
        if torch cannot be imported.
    """

    def __init__(self, *, fork: bool | None = None) -> None:
        require_torch()
        self.forks = hasattr(os, "fork") if fork is None else fork
        self.directory = tempfile.mkdtemp(prefix="torchlint-")
        self.process: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()
        self.requests = self.replies = -1

    def run(self, request: Request) -> Outcome:
        """
        Run one program.

        Raises
        ------
        TorchMissing
            if torch is there and cannot be imported.
        ServerError
            if the child cannot be started.
        """
        with self.lock:
            if not self.forks:
                return self._run_once(request)
            if self.process is None or self.process.poll() is not None:
                self._start()
            try:
                send(self.requests, encode(request))
                answer = receive(self.replies)
            except OSError:
                answer = None
            except BaseException:
                self._stop()
                raise
            if answer is None:
                self._stop()
                return Outcome("died", note="ends together with the process that runs it")
            return decode(Outcome, answer)

    def close(self) -> None:
        """End the child and remove its directory."""
        with self.lock:
            self._stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _start(self) -> None:
        self._stop()
        child_in, self.requests = os.pipe()
        self.replies, child_out = os.pipe()
        os.makedirs(self.directory, mode=0o700, exist_ok=True)  # a server that ended has removed it
        error_file = Path(self.directory, "stderr")
        try:
            with error_file.open("wb") as errors:
                self.process = subprocess.Popen(
                    [sys.executable, "-c", _SERVE, str(child_in), str(child_out), self.directory],
                    pass_fds=(child_in, child_out),
                    start_new_session=True,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    cwd=self.directory,
                    env=self._environment(),
                )
        except OSError as error:
            raise ServerError(f"cannot start {sys.executable} to run programs: {error}") from error
        finally:
            os.close(child_in)
            os.close(child_out)
        if receive(self.replies) is None:
            self._stop()
            self._explain(error_file.read_text(errors="replace"))

    def _run_once(self, request: Request) -> Outcome:
        with tempfile.TemporaryDirectory(dir=self.directory) as place:
            question, answer = Path(place, "request"), Path(place, "reply")
            question.write_bytes(encode(request))
            process = subprocess.Popen(
                [sys.executable, "-c", _ONCE, str(question), str(answer)],
                start_new_session=hasattr(os, "setsid"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=self.directory,
                env=self._environment(),
            )
            try:
                _, errors = process.communicate(timeout=START_SECONDS + request.timeout)
            except subprocess.TimeoutExpired:
                _end(process)
                return Outcome("time", seconds=request.timeout)
            if answer.exists() and answer.stat().st_size:
                return decode(Outcome, answer.read_bytes())
            text = errors.decode(errors="replace")
            if "import torch\n" in text and "ImportError" in text.rpartition("import torch\n")[2]:
                self._explain(text)
            return Outcome("died", note=f"ended the process with status {process.returncode}")

    def _explain(self, errors: str) -> None:
        lines = errors.strip().splitlines() or ["no message"]
        if any(word in lines[-1] for word in ("ImportError", "ModuleNotFoundError", "OSError")):
            raise TorchMissing(
                f"torch is installed for {sys.executable} but cannot be imported ({lines[-1]}); reinstall it: "
                "pip install --force-reinstall 'torchlint[runtime]'"
            )
        raise ServerError(f"the process that runs programs did not start: {lines[-1]}")

    def _environment(self) -> dict[str, str]:
        found = environment(self.directory)
        own = str(Path(__file__).resolve().parents[2])
        found["PYTHONPATH"] = os.pathsep.join(filter(None, [found.get("PYTHONPATH"), own]))
        return found

    def _stop(self) -> None:
        for descriptor in (self.requests, self.replies):
            if descriptor >= 0:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        self.requests = self.replies = -1
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=2.0)  # it ends by itself, and its fork with it, when the pipe closes
            _end(self.process)
        self.process = None


_LEAN = (
    "import gc, os, sys; gc.disable(); from torchlint.verify.child import {0}; gc.freeze(); gc.enable(); "
    "{0}({1}); os._exit(0)"
)
"""
The collector would go over what is imported again and again, in every fork too, and taking it down at the end takes
half as long as importing it: together two fifths of the processor time of a child that runs one program.
"""
_SERVE = _LEAN.format("serve", "int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]")
_ONCE = _LEAN.format("once", "sys.argv[1], sys.argv[2]")


def require_torch() -> None:
    """
    Check, without importing it, that there is a torch.

    Raises
    ------
    TorchMissing
        if there is none.
    """
    try:
        found = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise TorchMissing(
            f"running programs needs torch, and {sys.executable} has none; install it with: "
            "pip install 'torchlint[runtime]'"
        )


_shared: dict[int, Server] = {}


def shared() -> Server:
    """
    The server of this process.

    Raises
    ------
    TorchMissing
        if torch cannot be imported.
    """
    server = _shared.get(os.getpid())
    if server is None:
        server = _shared[os.getpid()] = Server()
        atexit.register(server.close)
    return server


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
