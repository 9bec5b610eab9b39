"""
Where a watched run begins, in the user's interpreter: sets up what watches, runs the program, and tells.

The program runs as `python SCRIPT` or `python -m MODULE` would run it: the same arguments, the same `__main__`, the
same standard streams, the same end. What is told goes to standard error, or to a file, after what the program printed.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import io
import json
import os
import runpy
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from torchlint.sanitizer import page, story
from torchlint.sanitizer.calls import Calls
from torchlint.sanitizer.gradients import Gradients
from torchlint.sanitizer.growth import Growth
from torchlint.sanitizer.optimizers import Optimizers
from torchlint.sanitizer.page import Page, Section
from torchlint.sanitizer.passes import Passes
from torchlint.verify import quiet


def main(asked: str) -> None:
    """
    Run a program, and end as it ends.

    Parameters
    ----------
    asked
        What is asked for, as `launch` writes it.
    """
    task: dict[str, Any] = json.loads(asked)
    if sys.path and sys.path[0] == "":
        del sys.path[0]
    calls = Calls()
    passes = Passes(calls)
    passes.install()
    quiet.install()
    _watch_functions(calls)
    report = _Report(task, calls, passes)
    if task["trace"]:
        report.gradients = Gradients(passes, task["backward"])
    else:
        passes.after.append(report.growth.after)
        report.optimizers.install()
    sys.excepthook = report.hook(sys.excepthook)
    torch.overrides  # noqa: B018 (loaded before the program can shadow it)
    with calls:
        try:
            _run(task["module"], task["target"], task["arguments"])
        except SystemExit:
            report.tell(None)
            raise
    report.tell(None)


class _Report:
    """What is told, once."""

    def __init__(self, task: dict[str, Any], calls: Calls, passes: Passes) -> None:
        self.task = task
        self.calls = calls
        self.passes = passes
        self.growth = Growth()
        self.optimizers = Optimizers()
        self.gradients: Gradients | None = None
        self.told = False

    def hook(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def excepthook(kind: Any, error: BaseException, traceback: Any) -> None:
            quiet.strip(error)
            original(kind, error, error.__traceback__)
            self.tell(error)

        return excepthook

    def tell(self, error: BaseException | None) -> None:
        """Write the page; never raises into the program."""
        if self.told:
            return
        self.told = True
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        if self.gradients is not None:
            text = self.gradients.told(self.task)
            story_page = Page([each for each in [self._of(error)] if each is not None])
            if story_page.sections:
                text += "\n" + page.text(story_page)
        else:
            told = self._page(error)
            text = page.as_json(told) if self.task["format"] == "json" else page.text(told)
        if self.task["output"]:
            try:
                with open(self.task["output"], "w", encoding="utf-8") as file:
                    file.write(text)
                return
            except OSError as broken:
                text = f"torchlint: cannot write {self.task['output']}: {broken.strerror}\n{text}"
        if sys.__stderr__ is not None:
            os.write(2, text.encode("utf-8", "replace"))

    def _of(self, error: BaseException | None) -> Section | None:
        seen: set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            found = story.of_error(error, self.calls, self.passes.failures)
            if found is not None:
                return found
            error = error.__cause__ or error.__context__
        return None

    def _page(self, error: BaseException | None) -> Page:
        found = self._of(error)
        sections = [] if found is None else [found]
        if found is None:
            for failure in self.passes.failures:  # the program has handled them
                told = story.of_error(failure.error, self.calls, self.passes.failures)
                if told is not None:
                    title = f"{told.title} (the program handled the error)"
                    sections.append(Section(told.kind, title, told.steps, told.cure, told.culprit))
        if self.passes.broken is not None:
            sections.append(story.of_broken(self.passes.broken))
        sections += [story.of_growing(each) for each in self.growth.found]
        sections += [each for each in (story.of_optimizer(o, self.calls) for o in self.optimizers.all) if each]
        number = self.passes.number
        words = f"watched {number} {'backward' if number == 1 else 'backwards'}"
        if not sections:
            words += (
                "; nothing to tell" if error is None else "; neither a recorded call nor a backward raised this error"
            )
        return Page(sections, words)


def _watch_functions(calls: Calls) -> None:
    """A custom Function is no function of torch that a mode is asked for: its `apply` is."""
    from torchlint.sanitizer.functions import install

    install(calls)


def _run(module: bool, target: str, arguments: list[str]) -> None:
    main_module = types.ModuleType("__main__")
    main_module.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.argv = [target, *arguments]
    sys.modules["__main__"] = main_module
    if module:
        sys.path.insert(0, os.getcwd())
        runpy._run_module_as_main(target)  # type: ignore[attr-defined]
        return
    path = os.path.join(os.getcwd(), target.removeprefix(f".{os.sep}"))  # as Python names the file since 3.9
    sys.path.insert(0, os.path.dirname(os.path.abspath(target)))
    main_module.__file__ = path
    main_module.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    with io.open_code(path) as file:
        data = file.read()
    exec(compile(data, path, "exec", dont_inherit=True), main_module.__dict__)
