"""
A pytest plugin: which lines of some files a test run executes, the exceptions and warnings it meets, and how tests end.

Stands alone, so that it runs where neither torchlint nor its tests are installed. What it is to do comes from the
environment: RECORDER_OUT (a file), RECORDER_ROOT (a folder), RECORDER_FILES (a JSON list of files in it whose lines are
wanted; without it nothing is traced), RECORDER_SECONDS (counted from the first test; after them no
further one is begun).
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

LONGEST = 300


class Recorder:
    """What was seen; the tracer follows frames of the root's files only, and lines of the wanted files only."""

    def __init__(self, root: str, files: list[str], seconds: float) -> None:
        self.root = os.path.join(os.path.realpath(root), "")
        self.wanted = {self.root + file: file for file in files}
        self.seconds = seconds
        self.end = 0.0
        self.lines: dict[str, set[int]] = {file: set() for file in files}
        self.met: set[str] = set()
        self.outcomes: dict[str, str] = {}
        self._real: dict[str, str] = {}

    def begin(self) -> None:
        threading.settrace(self.enter)
        sys.settrace(self.enter)

    def enter(self, frame: FrameType, event: str, value: Any) -> Any:
        name = frame.f_code.co_filename
        path = self._real.get(name)
        if path is None:
            path = self._real[name] = os.path.realpath(name)
        if path in self.wanted:
            self.lines[self.wanted[path]].add(frame.f_lineno)
            return self._line
        if path.startswith(self.root):
            frame.f_trace_lines = False
            return self._exception
        return None

    def _line(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "line":
            self.lines[self.wanted[self._real[frame.f_code.co_filename]]].add(frame.f_lineno)
        return self._exception(frame, event, value) and self._line

    def _exception(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "exception":
            kind, error, _ = value
            if not issubclass(kind, (StopIteration, GeneratorExit)):
                self.meet(kind.__name__, error)
        return self._exception

    def meet(self, kind: str, message: object) -> None:
        try:
            self.met.add(f"{kind}: {message}"[:LONGEST])
        except Exception:
            self.met.add(kind)

    @pytest.hookimpl
    def pytest_warning_recorded(self, warning_message: Any) -> None:
        self.meet(warning_message.category.__name__, warning_message.message)

    @pytest.hookimpl
    def pytest_collection_finish(self) -> None:
        self.end = time.monotonic() + self.seconds

    @pytest.hookimpl
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if time.monotonic() > self.end:
            item.session.shouldstop = "the time is up"

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = report.outcome
        if report.failed:
            self.meet("failed", report.longreprtext[-LONGEST:])

    @pytest.hookimpl
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.outcomes[report.nodeid] = "not collected"

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        sys.settrace(None)
        lines = {file: sorted(numbers) for file, numbers in self.lines.items()}
        result = {"lines": lines, "met": sorted(self.met), "outcomes": self.outcomes}
        Path(os.environ["RECORDER_OUT"]).write_text(json.dumps(result), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Begin, before any test module is imported."""
    wanted = os.environ.get("RECORDER_FILES")
    seconds = float(os.environ["RECORDER_SECONDS"])
    recorder = Recorder(os.environ["RECORDER_ROOT"], json.loads(wanted or "[]"), seconds)
    config.pluginmanager.register(recorder)
    if wanted:
        recorder.begin()
