"""`pytest --bless` accepts what the tests would generate: pages of the documentation, notes of traces."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # `expectations`, for tests in any folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite generated pages and the notes in examples")


@pytest.fixture(autouse=True, scope="session")
def _plain_suites() -> Iterator[None]:
    """The suites that tests start load no plugin that just happens to be installed: that takes longer than they do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


@pytest.fixture
def fresh_configuration() -> None:
    """No configuration is remembered from another test."""
    from torchlint import config

    config.forget()


@pytest.fixture
def toy_model(monkeypatch: pytest.MonkeyPatch, fresh_configuration: None) -> None:
    """The toy model (`toy`) instead of the real one: what is tested fails for its own faults alone."""
    import toy

    from torchlint.lint import engine

    monkeypatch.setattr(engine, "interpret", toy.interpret)


def pytest_collection_finish() -> None:
    """What is collected and imported stays: no collection need look at it, and no fork copies it for one."""
    gc.freeze()


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> Callable[[Path, str, str], None]:
    """`bless(path, is_now, should_be)`: replaces that part of a file with `--bless`, and fails without."""

    def accept(path: Path, is_now: str, should_be: str) -> None:
        if is_now == should_be:
            return
        if not request.config.getoption("--bless"):
            assert is_now == should_be, f"{path.name} differs; `pytest --bless` accepts"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        assert is_now in text
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(is_now, should_be, 1) if is_now else should_be, encoding="utf-8")

    return accept
