"""
A module run as `python -m` runs it, in a process that is forked from one that has imported torchlint.

To import torchlint takes many times as long as to lint a small file. All else is a process of its own, as users have
it: its arguments, directory, environment, standard streams, exit status, and the processes it starts itself. Nothing is
run in the process that imports, so a run finds caches as empty as Python leaves them.

What a start itself does (what is imported when, what happens to a closed stream or a signal) is tested with
`subprocess`. So is everything where there is no fork, and where Python reads something of the environment at its start.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
NOT_IMPORTED = ("torchlint.__main__", "torchlint.verify", "torchlint.optable", "torchlint.hosts.language_server")
"""What is run, what needs torch, and what needs packages that not every run needs."""
BESIDE = ("flake8.main.cli", "pycodestyle", "pyflakes.checker")
FRAME = 1 << 20
ENVIRONMENT = {**os.environ, "PYTHONIOENCODING": "utf-8"}
"""That of the process that imports."""


def run_module(
    name: str,
    *arguments: str,
    cwd: str | os.PathLike[str] = ".",
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    together: bool = False,
    timeout: float = 100.0,
) -> subprocess.CompletedProcess[bytes]:
    """
    Run `python -m NAME ARGUMENTS...`.

    Parameters
    ----------
    name
        `torchlint`, or the name of another module.
    cwd, env, stdin
        Its directory, its environment (default: that of this process; it writes UTF-8 in any), and what it reads.
    together
        Let what it writes to standard error go where its standard output goes.
    timeout
        Seconds until it is killed.

    Raises
    ------
    subprocess.TimeoutExpired
        if it does not end.
    """
    environment = {**(os.environ if env is None else env), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", name, *arguments]
    if not hasattr(os, "fork") or _for_python(environment) != _for_python(ENVIRONMENT):
        errors = subprocess.STDOUT if together else subprocess.PIPE
        ran = subprocess.run(
            command, cwd=cwd, env=environment, input=stdin, stdout=subprocess.PIPE, stderr=errors, timeout=timeout
        )
        ran.stderr = ran.stderr or b""
        return ran
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        request = {"name": name, "arguments": arguments, "cwd": os.path.abspath(cwd), "env": environment}
        streams = [given.fileno(), out.fileno(), out.fileno() if together else err.fileno()]
        with _connection(request, streams) as connection:
            process = int(connection.recv(FRAME))
            connection.settimeout(timeout)
            try:
                status = int(connection.recv(FRAME))
            except TimeoutError:
                os.kill(process, 9)
                raise subprocess.TimeoutExpired(command, timeout) from None
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, status, out.read(), err.read())


def _for_python(environment: Mapping[str, str]) -> dict[str, str]:
    """What Python reads at its start; of `PYTHONPATH` a fork can do the same."""
    return {name: value for name, value in environment.items() if name.startswith("PYTHON") and name != "PYTHONPATH"}


def _connection(request: Mapping[str, Any], streams: Sequence[int]) -> socket.socket:
    """A socket of the request's own, handed over with it; on it come the number of the process, and its status."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        socket.send_fds(_server(), [json.dumps(request).encode()], [theirs.fileno(), *streams])
    return ours


@cache
def _server() -> socket.socket:
    """The way to the process that has imported torchlint; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, FRAME)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=ROOT,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def _serve(requests: socket.socket) -> None:
    """Fork a process for each request, until nobody can ask any more."""
    _import_all()
    gc.freeze()  # else a fork in which the collector works copies all that is imported
    while True:
        data, descriptors, _, _ = socket.recv_fds(requests, FRAME, 4)
        if not data:
            return
        reply = socket.socket(fileno=descriptors[0])
        process = os.fork()
        if not process:
            requests.close()
            reply.close()
            for descriptor, stream in enumerate(descriptors[1:]):
                os.dup2(stream, descriptor)
            for stream in descriptors[1:]:
                os.close(stream)
            _end(_become(**json.loads(data)))
        for stream in descriptors[1:]:
            os.close(stream)
        with reply:
            reply.send(str(process).encode())
            reply.send(str(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])).encode())


def _import_all() -> None:
    import torchlint
    from torchlint.lint import registry

    for package in (torchlint, registry._own_package()):
        todo = [package]
        while todo:
            each = todo.pop()
            for info in pkgutil.iter_modules(each.__path__, each.__name__ + "."):
                if info.name not in NOT_IMPORTED:
                    module = importlib.import_module(info.name)
                    todo += [module] if info.ispkg else []
    for name in BESIDE:
        importlib.import_module(name)


def _become(name: str, arguments: Sequence[str], cwd: str, env: Mapping[str, str]) -> int:
    """The status with which Python ends after it has run the module; what it would print then is printed."""
    import runpy

    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    added = env.get("PYTHONPATH", "")
    sys.path[:1] = [cwd, *(added.split(os.pathsep) if added and added != ENVIRONMENT.get("PYTHONPATH") else [])]
    sys.argv = [name, *arguments]
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def _end(status: int) -> NoReturn:
    """
    End the process as Python does, but for taking down, object by object, what was imported: in a fork that first
    copies it, which takes half a second.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as _requests:
        _serve(_requests)
