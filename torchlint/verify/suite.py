"""
A pytest suite under observation: each test is a scene, and the collection is one.

Only loaded where pytest runs, in its process. Orders, skips and fails no test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from torchlint.verify.scenes import Scenes
from torchlint.verify.session import Stopped


class Suite:
    """
    Hooks of pytest.

    Parameters
    ----------
    scenes
        What is watched.
    """

    def __init__(self, scenes: Scenes) -> None:
        self.scenes = scenes
        self.error: BaseException | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """Pytest has put its own import hook in front: a test file with findings is watched, its asserts are plain."""
        self.scenes.finder.install()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self) -> Iterator[None]:
        """Modules are imported here."""
        self.scenes.begin("the collection of tests")
        yield
        self.scenes.end(None)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """A test, with what is set up for it."""
        self.error = None
        self.scenes.begin(item.nodeid)
        yield
        self.scenes.end(self.error)

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
        """The first exception of a test is the one that ended it."""
        if call.excinfo is not None and self.error is None:
            self.error = call.excinfo.value
            if isinstance(self.error, Stopped):
                item.session.shouldstop = str(self.error)
