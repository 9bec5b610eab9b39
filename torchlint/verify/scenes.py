"""
Watches a program of the user's while it runs, scene by scene: a script is one, each test of a suite is one.

Runs in the user's process, beside the program: limits nothing, changes no tensor, and tells what was seen of each file
with findings as if that were the program. Only the thread that starts a scene is watched.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import torch

from torchlint.verify import instrument
from torchlint.verify.derivatives import Calls
from torchlint.verify.hook import Files, Finder
from torchlint.verify.observe import Clock, Watcher, describe
from torchlint.verify.protocol import Derivative, Ending, Outcome
from torchlint.verify.recorder import Most, Observer
from torchlint.verify.session import SCENES, STRIDE, Session, Stopped, Told

BACKWARDS = 96
EVENTS = 400
"""Of backward passes, and of steps, calls and registrations each, so many are kept of a scene."""
_Placed = TypeVar("_Placed")


class Scenes:
    """
    Records what a session asks for.

    Parameters
    ----------
    session
        What is watched.
    tell
        Takes what was seen of a file in a scene.
    full
        Called when a scene is not watched any further: nothing more can come of it.
    """

    def __init__(self, session: Session, tell: Callable[[Told], None], full: Callable[[], None] | None = None) -> None:
        self.session = session
        self.tell = tell
        self.full = full
        self.files = Files(session.files)
        self.files.already()
        self.finder = Finder(self.files)
        clock = Clock()
        watches = [watch for each in session.files for watch in each.watches]
        self.watcher = Watcher(watches, self.files.offsets, _nothing, clock, self.files.raising, among_others=True)
        self.observer: Observer | None = None
        if session.observe:
            most = Most(BACKWARDS, EVENTS, session.steps, self._full)
            self.observer = Observer(self.files.offsets, clock, session.calls, most)
        self.functions = Calls(session.functions) if session.functions else None
        self.process = os.getpid()
        self.scene = ""
        self.closed = ""
        self.copies: contextlib.AbstractContextManager[object] | None = None
        self.reported = [0] * len(watches)
        self.skipped = [0] * len(session.files)
        self._listen(False)
        _callbacks(self.watcher)
        _hear_warnings(self._warned)
        self.finder.install()

    def begin(self, scene: str) -> None:
        """Watch from now on."""
        self.scene, self.closed = scene, ""
        self.watcher.reset()
        if self.observer is not None:
            self.observer.reset()
        if self.session.copies:
            self.copies = torch.autograd.graph.allow_mutation_on_saved_tensors()
            self.copies.__enter__()
        self._listen(True)
        if self.observer is not None:
            self.observer.__enter__()

    def end(self, error: BaseException | None, ending: Ending = "ended", note: str = "") -> None:
        """Watch no longer, and tell what was seen; `error` is the exception that ended the scene."""
        if self.observer is not None:
            self.observer.__exit__(None, None, None)
        self._listen(False)
        if self.copies is not None:
            self.copies.__exit__(None, None, None)
            self.copies = None
        if os.getpid() != self.process:
            return
        if isinstance(error, Stopped):
            error, ending, note = None, "time", str(error)
        if any(self.watcher.started) or self.scene in self.session.told:
            self.watcher.let_go()
            if self.closed:
                error, ending, note = None, "time", self.closed
            outcome = self._outcome(error, ending, note)
            for index in range(len(self.session.files)):
                self._report(index, outcome)
        self.watcher.reset()
        if self.observer is not None:
            self.observer.reset()

    def close(self, note: str) -> None:
        """Tell what there is to say of files, and of the run."""
        if os.getpid() != self.process:
            return
        for index in range(len(self.session.files)):
            known = index in self.files.loaded
            words = "" if known else self.files.refused.get(index, "the program did not import it")
            self.tell(Told(index, skipped=self.skipped[index], note=words))
        self.tell(Told(-1, note=note))

    def _report(self, index: int, outcome: Outcome) -> None:
        part = self.files.part(index)
        started = [number for number in part if self.watcher.started[number]]
        if not started and self.scene not in self.session.told:
            return
        if started and all(self.reported[number] >= SCENES for number in started):
            self.skipped[index] += 1
            return
        for number in started:
            self.reported[number] += 1
        seen = outcome.seen[part.start : part.stop]
        self.tell(Told(index, self.scene, _of_file(replace(outcome, seen=seen), index * STRIDE)))

    def _outcome(self, error: BaseException | None, ending: Ending, note: str) -> Outcome:
        watcher, observer = self.watcher, self.observer
        end = None
        failed = observer.failed if observer is not None else {}
        if error is not None:
            ending = "raised"
            end = failed[id(error)][1] if id(error) in failed else None
            told = describe(error, self.files.offsets, raising=self.files.raising, order=watcher.clock())
            end = told if end is None else replace(told, phase=end.phase)
        handled = [*watcher.handled_before(error)]
        known = {id(each) for each, _ in watcher.handled_errors.values()}
        handled += [told for each, told in failed.values() if each is not error and id(each) not in known]
        return Outcome(
            ending=ending,
            raised=end,
            handled=tuple(handled),
            warnings=tuple(each.text for each in watcher.warned),
            warned=tuple(watcher.warned),
            seen=watcher.seen(),
            writes=observer.writes() if observer else (),
            backwards=tuple(observer.backwards) if observer else (),
            steps=tuple(observer.steps) if observer else (),
            called=observer.told() if observer else (),
            built=tuple(observer.built) if observer else (),
            gradients={} if observer else None,
            derivatives=self._derivatives(),
            note=note,
            torch=str(torch.__version__),
        )

    def _derivatives(self) -> tuple[Derivative, ...]:
        if self.functions is None:
            return ()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.functions.checked()

    def _listen(self, on: bool) -> None:
        self.watcher.listens = on
        if self.observer is not None:
            self.observer.listens = on

    def _full(self) -> None:
        if not self.closed:
            steps = self.observer.stepped - 1 if self.observer else 0
            enough = 0 < self.session.steps <= steps
            what = f"{steps} steps of optimizers (--steps)" if enough else "as much as is kept of a run"
            self.closed = f"was not watched any further after {what}"
            self._listen(False)
            if self.full is not None:
                self.full()

    def _warned(self, category: str, message: str) -> None:
        if self.watcher.listening and len(self.watcher.warned) < EVENTS:
            self.watcher.warning(category, message)


def _nothing() -> None:
    """What is watched may have been seen: the program goes on."""


def _of_file(outcome: Outcome, offset: int) -> Outcome:
    """What was seen as if the file whose lines begin there were the program."""

    def placed(each: _Placed) -> _Placed:
        lines = tuple(line - offset for line in each.lines if offset < line <= offset + STRIDE)  # type: ignore[attr-defined]
        last = {"line": lines[-1] if lines else 0} if hasattr(each, "line") else {}
        return replace(each, lines=lines, **last)  # type: ignore[type-var]

    return replace(
        outcome,
        raised=None if outcome.raised is None else placed(outcome.raised),
        handled=tuple(map(placed, outcome.handled)),
        warned=tuple(each for each in map(placed, outcome.warned) if each.lines),
        writes=tuple(map(placed, outcome.writes)),
        backwards=tuple(map(placed, outcome.backwards)),
        steps=tuple(map(placed, outcome.steps)),
        called=tuple(map(placed, outcome.called)),
        built=tuple(map(placed, outcome.built)),
    )


def _hear_warnings(tell: Callable[[str, str], None]) -> None:
    """
    Be told of each warning that is shown, or recorded by `warnings.catch_warnings`, and let it go its way.

    What a filter holds back, a second one from the same place among them, is not heard.
    """
    for name in ("warnings", "_py_warnings"):  # from Python 3.14 on the second holds what the first did
        module = sys.modules.get(name)
        show = getattr(module, "_showwarnmsg", None)
        if module is None or show is None:
            continue

        def heard(message: Any, show: Callable[[Any], None] = show) -> None:
            tell(message.category.__name__, str(message.message))
            show(message)

        module._showwarnmsg = heard  # type: ignore[attr-defined]


def _callbacks(watcher: Watcher) -> None:
    builtins = sys.modules["builtins"]
    for name, callback in (
        (instrument.BEFORE, watcher.before),
        (instrument.AFTER, watcher.after),
        (instrument.VALUE, watcher.value),
        (instrument.HANDLED, watcher.handled),
    ):
        setattr(builtins, name, callback)
