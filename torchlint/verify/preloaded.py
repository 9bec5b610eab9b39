"""
What several programs of one project import, imported once: a process that has it forks for each of them.

Runs on the server's side of the child. Imports are code of the project: they run confined like a program, in a process
that serves only programs with the same imports. Where that does not go well (they start threads or take too long, or
load the very file that is to be watched), the programs run without it. Never for torch and its kin, nor for the
standard library: what an import of these says belongs to the program.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache

from torchlint.verify.confinement import adopt_orphans, confine, descendants, kill_orphans
from torchlint.verify.protocol import Request, decode, encode, receive, send
from torchlint.verify.sandbox import PROCESSES, WAITING, limit_resources, remember_address_space, stay_inside
from torchlint.verify.spent import Spent, scheduled, used

LOOK = 0.5
"""Its processes are counted so often, in seconds."""
REPLY_MB = 64
GRACE = 10.0
"""Seconds beyond a program's own limit before its process is given up."""
READY = b"ready"
Forked = Callable[[Request, int, int], "bytes | None"]


def imports(request: Request) -> tuple[str, ...]:
    """The modules, by dotted name, that a program imports at its top level and that are worth a process."""
    return _imports(request.text)


@lru_cache(maxsize=8)
def _imports(text: str) -> tuple[str, ...]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return tuple(dict.fromkeys(name for name in names if _worth_it(name.partition(".")[0])))


def _worth_it(package: str) -> bool:
    known = package in sys.stdlib_module_names or package in sys.modules
    return not known and not package.startswith(("torch", "functorch", "numpy"))


class Preloaded:
    """
    A process with the imports of a project.

    Parameters
    ----------
    request
        The first of the programs.
    forked
        Runs a program in a fork of this process and gives its answer.
    inherited
        Descriptors that are the server's alone.
    """

    def __init__(self, request: Request, forked: Forked, inherited: tuple[int, ...]) -> None:
        self.key = key(request)
        self.directory = tempfile.mkdtemp(prefix="torchlint-")
        questions, self.questions = os.pipe()
        self.answers, answers = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            for descriptor in (*inherited, self.questions, self.answers):
                os.close(descriptor)
            _serve(request, forked, questions, answers, self.directory)
        os.close(questions)
        os.close(answers)
        self.alive = self._heard(request.timeout, None) and self._read(len(READY)) == READY

    def run(self, request: Request, requests: int) -> tuple[bytes | None, bool]:
        """The answer to a request, None where the process does not give one; and whether the linter is gone."""
        try:
            send(self.questions, encode(request))
        except OSError:
            return None, False
        heard = self._heard(request.timeout + GRACE, requests)
        return (None, True) if heard is None else (self._read(REPLY_MB << 20) if heard else None, False)

    def _heard(self, seconds: float, requests: int | None) -> bool | None:
        """Whether it begins to answer, in so many seconds that it has had; None if the linter is gone first."""
        end, spent = time.monotonic() + WAITING * seconds, Spent(lambda: used(self.process), scheduled(self.process))
        asked = [self.answers] if requests is None else [self.answers, requests]
        while True:
            ready, _, _ = select.select(asked, [], [], max(0.0, min(LOOK, end - time.monotonic())))
            if self.answers in ready:
                return True
            if ready:
                return None
            if spent.look() >= seconds or time.monotonic() >= end or descendants(self.process) > PROCESSES:
                return False

    def _read(self, most: int) -> bytes | None:
        return receive(self.answers, most, time.monotonic() + GRACE)

    def close(self) -> None:
        """End it, and all that it has started."""
        for descriptor in (self.questions, self.answers):
            os.close(descriptor)
        with contextlib.suppress(ProcessLookupError, PermissionError, ChildProcessError):
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        kill_orphans()
        shutil.rmtree(self.directory, ignore_errors=True)


def key(request: Request) -> tuple[object, ...]:
    """What programs have in common that one process can serve."""
    return imports(request), os.path.dirname(os.path.abspath(request.path)), request.path, request.memory_mb


def _serve(request: Request, forked: Forked, questions: int, answers: int, directory: str) -> None:
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        adopt_orphans()
        limit_resources(request.timeout, 2 * request.memory_mb)
        os.chdir(directory)
        tempfile.tempdir = directory
        stay_inside(directory)
        confine(directory)
        if _imported(request):
            remember_address_space()
            send(answers, READY)
            while (data := receive(questions)) is not None:
                answer = forked(decode(Request, data), questions, answers)
                if answer is None:
                    break
                send(answers, answer)
    finally:
        os._exit(0)


def _imported(request: Request) -> bool:
    """Import what is wanted; whether a fork can go on from here."""
    directory = os.path.dirname(os.path.abspath(request.path)) if os.path.exists(request.path) else ""
    if directory:
        sys.path.insert(0, directory)
        while os.path.isfile(os.path.join(directory, "__init__.py")):
            directory = os.path.dirname(directory)
        sys.path.insert(1, directory)
    for name in imports(request):
        with contextlib.suppress(Exception):  # the program will say it
            importlib.import_module(name)
    own = os.path.realpath(request.path)
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    if any(file is not None and os.path.realpath(file) == own for file in files):
        return False
    return len(os.listdir("/proc/self/task")) == 1 if os.path.isdir("/proc/self/task") else True
