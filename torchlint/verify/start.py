"""
Where a program of the user's begins, in the project's own interpreter: sets up what watches it, runs it, and tells.

Needs torch in that interpreter and of torchlint only `torchlint.verify`'s part for processes with torch. Limits
nothing by itself: who has started it asks it to stop, by signals.
"""

from __future__ import annotations

import builtins
import gc
import importlib.machinery
import io
import os
import runpy
import signal
import sys
import traceback
import types
from collections.abc import Callable

from torchlint.verify.protocol import decode, encode, send
from torchlint.verify.session import Command, Stopped, Task, Told

TIME, MEMORY = "SIGUSR1", "SIGUSR2"
"""The signals that ask it to stop, because of the time it takes or the memory; not on Windows."""
NO_TORCH = "there is no torch"
"""How the note begins with which it ends where torch cannot be imported."""


def main(task_file: str, report_file: str) -> None:
    """
    Run a task, tell what is seen, and end as the program ends.

    Parameters
    ----------
    task_file, report_file
        Where the task lies, and where what is told is written, frame by frame.
    """
    with open(task_file, "rb") as file:
        task = decode(Task, file.read())
    report = os.open(report_file, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))

    def tell(told: Told) -> None:
        send(report, encode(told))

    def stop(words: str) -> Callable[[int, object], None]:
        def handler(number: int, frame: object) -> None:
            raise Stopped(words)

        return handler

    if hasattr(signal, TIME):
        signal.signal(getattr(signal, TIME), stop("was stopped when its time was over (--seconds)"))
        signal.signal(getattr(signal, MEMORY), stop("was stopped when it took too much memory (--memory)"))
    tell(Told(-1, note="begins"))
    if sys.path and sys.path[0] == "":
        del sys.path[0]
    collecting = gc.isenabled()
    gc.disable()  # what is imported here stays: at the end, too, the collector would look at it for half a second
    try:
        from torchlint.verify import quiet
        from torchlint.verify.scenes import Scenes
    except ImportError as error:
        tell(Told(-1, note=f"{NO_TORCH}: {error}"))
        sys.exit(2)
    except Stopped as stopped:
        tell(Told(-1, note=str(stopped)))
        sys.exit(2)
    gc.freeze()
    if collecting:
        gc.enable()

    quiet.install()

    def enough() -> None:
        raise Stopped("has been watched long enough")

    suite = task.command.kind == "pytest"
    scenes = Scenes(task.session, tell, None if suite else enough)
    if suite:
        from torchlint.verify.suite import Suite

        if task.command.target:
            sys.path.insert(0, os.getcwd())
        import pytest

        status: object = 0
        note = ""
        try:
            status = int(pytest.main(list(task.command.arguments), plugins=[Suite(scenes)]))
        except Stopped as over:
            note = str(over)
        scenes.close(note or f"ended with status {status}")
    else:
        scenes.begin("")
        raised, status = _run(task.command)
        scenes.end(raised)
        scenes.close("ended" if raised is None else f"ended by {type(raised).__name__}: {str(raised)[:200]}")
    sys.exit(status)  # type: ignore[arg-type]


def _run(command: Command) -> tuple[BaseException | None, object]:
    """The exception that ended it, and its exit status; as Python would, the exception is printed."""
    sys.argv = [command.target, *command.arguments]
    try:
        if command.kind == "module":
            sys.path.insert(0, os.getcwd())
            runpy.run_module(command.target, run_name="__main__", alter_sys=True)
        else:
            _script(command.target)
    except SystemExit as end:
        return None, end.code
    except BaseException as error:
        if not isinstance(error, Stopped):
            from torchlint.verify import quiet

            quiet.strip(error)
            traceback.print_exception(error)
        return error, 1
    return None, 0


def _script(path: str) -> None:
    """Run a file as `python path` does."""
    from torchlint.verify.hook import Finder

    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    with io.open_code(os.path.abspath(path)) as file:
        data = file.read()
    path = os.path.join(os.getcwd(), path.removeprefix(f".{os.sep}"))  # as Python names the file since 3.9
    finder = next(each for each in sys.meta_path if isinstance(each, Finder))
    index = finder.files.of(path)
    code = None if index is None else finder.files.code(index, data, path)
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = builtins  # type: ignore[attr-defined]
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    sys.modules["__main__"] = module
    exec(compile(data, path, "exec", dont_inherit=True) if code is None else code, module.__dict__)
