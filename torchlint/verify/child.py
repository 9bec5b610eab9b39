"""
The process that has torch: a server that forks per program, and the program itself in the fork.

The server imports torch once and never computes with it (a fork after a backward would lose autograd's threads). Each
program runs in a fork with a session, a directory and limits of its own, and its standard streams on the null device;
it answers with one frame. What it shows is reported as it is: nothing here knows what the linter claims.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import linecache
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Collection
from typing import Any

import torch

from torchlint.verify import driver as drive
from torchlint.verify import instrument, options
from torchlint.verify.applied import applied
from torchlint.verify.confinement import adopt_orphans, confine, descendants, kill_orphans
from torchlint.verify.derivatives import Calls
from torchlint.verify.documented import Example, examples, texts
from torchlint.verify.loading import Loading, without
from torchlint.verify.machine import OnThisMachine
from torchlint.verify.missing import Missing, inheriting, module_of
from torchlint.verify.observe import Clock, Watcher, describe, facts
from torchlint.verify.preloaded import Preloaded, key
from torchlint.verify.protocol import (
    STOOD_IN,
    Derivative,
    Facts,
    Outcome,
    Raised,
    Request,
    decode,
    encode,
    receive,
    send,
)
from torchlint.verify.recorder import Meter, Observer
from torchlint.verify.sandbox import (
    FILE_MB,
    PROCESSES,
    WAITING,
    RefusedError,
    TimeLimit,
    going_on,
    lift_memory_limit,
    limit_resources,
    name_semaphores,
    remove_semaphores,
    shorten_time_limit,
    stay_inside,
    stop_if_over,
    time_limit,
)
from torchlint.verify.spent import Spent, scheduled, used
from torchlint.verify.waiting import KEPT, SECONDS_EVER

GRACE = 2.0
"""Seconds between asking a program to stop and killing it."""
READING = 10.0
"""Seconds in which a report that has begun has to come to its end."""
LOOK = 0.5
"""A program is looked at from outside so often, in seconds."""
WARNINGS = 60
REPLY_MB = 64
"""No report is longer; a longer one is not the report."""
PRINTED = 100_000
"""At most so many characters of what a program prints are kept."""
PRELOADED = ("optim", "checkpoint", "compile")
"""Words that announce `torch._dynamo`, whose import takes longer than torch's own: done once, in the server."""


def serve(requests: int, replies: int, directory: str) -> None:
    """
    Answer requests until the other side closes.

    Parameters
    ----------
    requests, replies
        File descriptors of pipes.
    directory
        The server's own. It is removed when the other side has closed: a linter that was killed cannot do so.
    """
    server = _Server(requests, replies)
    with contextlib.suppress(BrokenPipeError):  # closed before the answer
        _answer_all(server)
    server.close()
    shutil.rmtree(directory, ignore_errors=True)


def _answer_all(server: _Server) -> None:
    adopt_orphans()
    if "numpy" in sys.modules:
        with contextlib.suppress(Exception):
            __import__("numpy.random")  # loaded on first use, which would be in each fork: 9 ms of the 28 it takes
    send(server.replies, f"torch {torch.__version__}".encode())
    while (data := receive(server.requests)) is not None:
        request = decode(Request, data)
        if any(word in request.text for word in PRELOADED):
            with contextlib.suppress(Exception):
                __import__("torch._dynamo")
        answer = server.answer(request)
        if answer is None:
            return
        send(server.replies, answer)


class _Server:
    """Answers requests, by a fork with the imports of the last project where there is one."""

    def __init__(self, requests: int, replies: int) -> None:
        self.requests = requests
        self.replies = replies
        self.preloaded: Preloaded | None = None
        self.without: set[object] = set()

    def answer(self, request: Request) -> bytes | None:
        """The answer to a request; None where nobody waits for it any more."""
        found = self._preloaded(request)
        if found is not None:
            answer, gone = found.run(request, self.requests)
            if answer is not None:
                return answer
            self._leave(found)
            if gone:
                return None
        kept = 0 if self.preloaded is None else self.preloaded.process
        return _forked(request, self.requests, self.replies, kept)

    def close(self) -> None:
        """End the process that is kept for the last project."""
        if self.preloaded is not None:
            self.preloaded.close()
            self.preloaded = None

    def _preloaded(self, request: Request) -> Preloaded | None:
        wanted = key(request)
        if not wanted[0] or wanted in self.without:
            return None
        if self.preloaded is not None and self.preloaded.key != wanted:
            self.close()
        if self.preloaded is None:
            self.preloaded = Preloaded(request, _forked, (self.requests, self.replies))
            if not self.preloaded.alive:
                self._leave(self.preloaded)
        return self.preloaded

    def _leave(self, process: Preloaded) -> None:
        self.without.add(process.key)
        process.close()
        self.preloaded = None


def once(request_path: str, reply_path: str) -> None:
    """Run one program in this process: for platforms without fork. The frames lie in files."""
    with open(request_path, "rb") as file:
        request = decode(Request, file.read())
    limit_resources(request.timeout, request.memory_mb)
    with open(reply_path, "wb") as file:  # opened now: the program, and so this process, may only write into its own
        file.write(encode(_run(request, os.path.join(os.path.dirname(reply_path), "cwd"))))


def _forked(request: Request, requests: int, replies: int, kept: int = 0) -> bytes | None:
    """The answer to a request, None where nobody waits for it any more; `kept` is a process that goes on."""
    started = time.monotonic()
    directory = tempfile.mkdtemp(prefix="torchlint-")
    reader, writer = os.pipe()
    token = os.urandom(16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: fork with threads; there are none
        process = os.fork()
    if process == 0:
        _in_fork(request, directory, writer, (reader, requests, replies), token)
    os.close(writer)
    try:
        watched = _Watched(process, directory)
        data, orphaned = _collect(reader, requests, request.timeout + GRACE - (time.monotonic() - started), watched)
        too_much = watched.too_much()
        _kill_group(process)
        _, status = os.waitpid(process, 0)
        kill_orphans(kept)
    finally:
        os.close(reader)
        shutil.rmtree(directory, ignore_errors=True)
        remove_semaphores(directory)
    if orphaned:
        return None
    if too_much:
        return encode(Outcome("died", note=too_much, seconds=time.monotonic() - started))
    if data.startswith(token):
        return data[len(token) :]
    return encode(_without_answer(request, status, time.monotonic() - started))


class _Watched:
    """What a program leaves in its directory, and the processes it starts, as seen from outside."""

    def __init__(self, process: int, directory: str) -> None:
        self.process = process
        self.directory = directory

    def too_much(self) -> str:
        """What is more than is allowed, in words, or ""."""
        if descendants(self.process) > PROCESSES:
            return f"ran more than {PROCESSES} processes at a time"
        size = 0
        for folder, _, files in os.walk(self.directory):
            for name in files:
                with contextlib.suppress(OSError):
                    size += os.lstat(os.path.join(folder, name)).st_blocks * 512
        return f"wrote more than {FILE_MB} MB" if size > FILE_MB << 20 else ""


def _collect(reader: int, requests: int, seconds: float, watched: _Watched) -> tuple[bytes, bool]:
    """The fork's frame ("" if none comes in time), and whether the other side has gone meanwhile."""
    end = time.monotonic() + WAITING * seconds
    spent = Spent(lambda: used(watched.process), scheduled(watched.process))
    while True:
        ready, _, _ = select.select([reader, requests], [], [], max(0.0, min(LOOK, end - time.monotonic())))
        if reader in ready:
            return receive(reader, REPLY_MB << 20, min(end, time.monotonic() + READING)) or b"", False
        if requests in ready:  # nobody sends before the answer: it is closed
            return b"", True
        if spent.look() >= seconds or time.monotonic() >= end or watched.too_much():
            return b"", False


def _kill_group(process: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(process, signal.SIGKILL)


def _without_answer(request: Request, status: int, seconds: float) -> Outcome:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU or (number == signal.SIGKILL and seconds >= request.timeout):
            return Outcome("time", seconds=seconds)
        return Outcome("died", note=f"killed by {signal.Signals(number).name}", seconds=seconds)
    return Outcome("died", note=f"ended the process with status {os.WEXITSTATUS(status)}", seconds=seconds)


def _in_fork(request: Request, directory: str, writer: int, servers: tuple[int, ...], token: bytes) -> None:
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        for descriptor in servers:
            os.close(descriptor)
        limit_resources(request.timeout, request.memory_mb)
        try:
            outcome = _run(request, directory)
        except BaseException as error:
            outcome = Outcome("died", note=f"the report failed: {type(error).__name__}: {error}")
        send(writer, token + encode(outcome))
    finally:
        os._exit(0)


def _run(request: Request, directory: str) -> Outcome:
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    tempfile.tempdir = directory
    os.environ.update(HOME=directory, TMPDIR=directory, TEMP=directory, XDG_CACHE_HOME=directory)
    name_semaphores(directory)
    stay_inside(directory)
    confine(directory)
    random.seed(0)
    torch.manual_seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    started = time.monotonic()
    outcome = _Program(request).run()
    lift_memory_limit()
    fields = {name: getattr(outcome, name) for name in Outcome.__slots__}
    return Outcome(**{**fields, "seconds": time.monotonic() - started})


class _Program:
    def __init__(self, request: Request) -> None:
        self.request = request
        clock = Clock()
        self.files = {request.path: 0}
        self.watcher = Watcher(
            request.watches,
            self.files,
            self._settle,
            clock,
            _raising(request.text),
            progress=going_on,
            between=stop_if_over,
        )
        self.settling = False
        self.observer = Observer(self.files, clock, request.calls) if request.observe else None
        self.meter = Meter() if request.measure else None
        self.printed = io.StringIO()
        self.functions = Calls(request.functions) if request.functions else None
        self.end: BaseException | None = None
        self.module = types.ModuleType("torchlint_program" if request.module else "__main__")
        self.driven = ""
        self.loading: Loading | None = None
        self.driver: drive.Driver | None = None

    def run(self) -> Outcome:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = self._warned  # type: ignore[assignment]
            torch.set_warn_always(True)  # else torch gives some of them once in a process
            with contextlib.redirect_stdout(self.printed) if self.meter else contextlib.nullcontext():
                ending, raised, note = self._attempt()
        lift_memory_limit()
        observer = self.observer
        warned = tuple(self.watcher.warned[:WARNINGS])
        return Outcome(
            ending=ending,  # type: ignore[arg-type]
            raised=raised,
            caught=tuple(self.watcher.caught_errors),
            handled=self.watcher.handled_before(self.end),
            warnings=tuple(each.text for each in warned),
            warned=warned,
            seen=self.watcher.seen(),
            writes=observer.writes() if observer else (),
            backwards=tuple(observer.backwards) if observer else (),
            steps=tuple(observer.steps) if observer else (),
            called=observer.told() if observer else (),
            built=tuple(observer.built) if observer else (),
            gradients=observer.gradients() if observer else None,
            probes={text: self._probe(text) for text in self.request.probes},
            derivatives=self._derivatives(),
            elements=self.meter.elements if self.meter else 0,
            flops=self.meter.flops if self.meter else 0,
            printed=self.printed.getvalue()[:PRINTED],
            driven=self.driven,
            note=note,
            torch=str(torch.__version__),
        )

    def _derivatives(self) -> tuple[Derivative, ...]:
        if self.functions is None:
            return ()
        try:
            with time_limit(self.request.timeout):
                return self.functions.checked()
        except TimeLimit:
            return ()

    def _warned(self, message: Warning | str, category: type[Warning], *_: object) -> None:
        self.watcher.warning(category.__name__, str(message))

    def _attempt(self) -> tuple[str, Raised | None, str]:
        try:
            with time_limit(self.request.timeout, self.files):
                self._load()
                if self.request.module:
                    return self._drive()
        except TimeLimit:
            return "time", None, "was stopped after all places had been seen" if self.settling else ""
        except SystemExit as end:
            return "ended", None, f"ended by SystemExit({end.code!r})"
        except BaseException as error:
            kind = "memory" if _out_of_memory(error) else "raised"
            note = str(error) if isinstance(error, RefusedError) else ""
            return kind, self._tell(error, "load" if self.request.module else "program"), note
        return "ended", None, ""

    def _tell(self, error: BaseException, phase: str) -> Raised:
        self.end = error
        raising, order = self.watcher.raising, self.watcher.clock()
        return describe(error, self.files, phase, raising=raising, order=order)

    def _settle(self) -> None:
        if self.request.settle and not (self.driver and self.driver.searching):
            self.settling = True
            shorten_time_limit(self.request.settle)

    def _load(self) -> None:
        request = self.request
        linecache.cache[request.path] = (len(request.text), None, request.text.splitlines(True), request.path)
        _callbacks(self.watcher)
        sys.argv = [request.path]  # as `python PATH`: what the program parses are no arguments of ours
        if request.module:
            argparse.ArgumentParser.parse_args = options.parsed  # type: ignore[method-assign,assignment]
            # what is compiled has no statements to be looked at
            getattr(getattr(torch.jit, "_state", None), "disable", int)()
        if request.module and request.path.endswith(".py") and os.path.isfile(request.path):
            self.loading = Loading(request.path, self._code)
            self.module = self.loading.module()
            return
        code = self._code(request.path)
        _place(self.module, request.path)
        observer = self.observer if self.observer and not request.module else contextlib.nullcontext()
        saved = torch.autograd.graph.allow_mutation_on_saved_tensors() if request.copies else contextlib.nullcontext()
        with observer, self.meter or contextlib.nullcontext(), saved:
            exec(code, self.module.__dict__)

    def _code(self, name: str) -> types.CodeType:
        request = self.request
        self.files[name] = 0
        linecache.cache[name] = (len(request.text), None, request.text.splitlines(True), name)
        return instrument.instrument(
            without(request.text, self.loading.left_out if self.loading else ()),
            name,
            request.watches,
            request.catch,
            definitions_only=bool(request.module),
            handled=True,
        )

    def _drive(self) -> tuple[str, Raised | None, str]:
        name, _, method = self.request.module.partition(".")
        target = self.module.__dict__.get(name)
        target = (None if method else applied(target)) or target
        mixed = isinstance(target, type) and not (method or issubclass(target, torch.nn.Module)) and module_of(target)
        target = mixed or target
        is_class = isinstance(target, type) and (bool(method) or issubclass(target, torch.nn.Module))
        if not is_class and (method or not callable(target) or isinstance(target, type)):
            return "unbuilt", None, f"`{self.request.module}` is no torch.nn.Module, and no function"
        own = is_class and not issubclass(target, torch.nn.Module)  # type: ignore[arg-type]
        tree, method = ast.parse(self.request.text), "" if method == "forward" and not own else method
        names = self.module.__dict__
        touched = self.loading.standins.touched if self.loading else set()
        touched.clear()
        touched.update({name} if mixed else ())  # what is derived may do more than its base
        OnThisMachine.absent = touched
        touched.update(f"what line {line} does" for line in (self.loading.left_out if self.loading else ()))
        absent = self.loading.absent if self.loading else None
        observers = [self.observer] if self.observer else []
        heirs = inheriting(target, method) if is_class and isinstance(target, type) else []
        began = time.process_time()
        tried: list[drive.Driver] = []
        failures: list[str] = []
        try:
            for each in (target, *heirs):
                self.driver = driver = drive.Driver(
                    *(each, method, self._tell, tree, names),
                    input_grad=self.request.input_grad,
                    missing=Missing(each, method, touched, absent),
                    shown=self._examples(getattr(each, "__name__", name) if tried or mixed else name, method),
                    seconds=SECONDS_EVER - (time.process_time() - began if tried else KEPT * len(heirs)),
                )
                if tried:
                    touched.add(name)  # what is derived may do more than its base
                tried.append(driver)
                try:
                    raised = driver.run(self.observer, self.watcher, _Attempt(), *observers)
                except drive.UnbuiltError as failure:
                    failures.append(str(failure))
                    continue
                return ("raised", raised, "") if raised else ("ended", None, "")
            note = f"`{name}` is no torch.nn.Module; `{mixed.__name__}` is: " if mixed else ""
            return "unbuilt", None, note + failures[0]  # of the class itself
        finally:
            told = tried[0] if len(failures) == len(tried) else tried[-1]
            self.driven = told.description + standing(touched, told.anything)

    def _examples(self, name: str, method: str) -> list[Example]:
        """How the project builds and calls it, as far as its texts show."""
        if self.loading is None:
            return list(examples(name, method, iter([self.request.text])))
        return list(examples(name, method, texts(self.loading.path, self.loading.root)))

    def _probe(self, text: str) -> Facts:
        found: Facts = {"kind": "missing"}
        try:
            value: Any = eval(text, self.module.__dict__)
            found = facts(value)
            return {**found, "truth": bool(value)}
        except Exception as error:
            return {**found, "error": f"{type(error).__name__}: {error}"}


class _Attempt:
    """Each attempt to drive has its own time to compute."""

    def reset(self) -> None:
        going_on()


def standing(touched: Collection[str], anything: bool = False) -> str:
    """Which packages were stood in for, and whether something of which nothing is known was, in words."""
    names = ", ".join([*(f"`{name}`" for name in sorted(touched)), *(["what nothing is known of"] if anything else [])])
    return f", {STOOD_IN} {names}" if names else ""


def _raising(text: str) -> frozenset[int]:
    try:
        return instrument.raising_lines(text)
    except (SyntaxError, ValueError):  # to be met again, and told, where the program is compiled
        return frozenset()


def _callbacks(watcher: Watcher) -> None:
    builtins = sys.modules["builtins"]
    for name, callback in (
        (instrument.BEFORE, watcher.before),
        (instrument.AFTER, watcher.after),
        (instrument.VALUE, watcher.value),
        (instrument.CAUGHT, watcher.caught),
        (instrument.HANDLED, watcher.handled),
    ):
        setattr(builtins, name, callback)


def _display(*shown: object, **_: object) -> None:
    """What IPython has under this name in every notebook, without its pictures."""
    print(*map(repr, shown))


def _place(module: types.ModuleType, path: str) -> None:
    """Make the file importable from as if Python ran it: its directory first on the path, its package as parent."""
    module.__file__ = path
    sys.modules[module.__name__] = module
    if path.endswith(".ipynb"):
        module.__dict__["display"] = _display
    directory = os.path.dirname(os.path.abspath(path)) if os.path.exists(path) else ""
    if not directory:
        return
    package = ""
    while os.path.isfile(os.path.join(directory, "__init__.py")):
        directory, name = os.path.split(directory)
        package = f"{name}.{package}".rstrip(".")
    sys.path.insert(0, directory)
    if package:
        module.__package__ = package
        sys.path.insert(1, os.path.dirname(os.path.abspath(path)))


def _out_of_memory(error: BaseException) -> bool:
    text = str(error)
    return isinstance(error, MemoryError) or "can't allocate memory" in text or "bad_alloc" in text
