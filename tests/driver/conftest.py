"""Tests of the driver use a toy model and toy rules (`probe`), so that they fail for the driver's faults alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import probe

from torchlint import config
from torchlint.lint import engine


@pytest.fixture(autouse=True)
def toy_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy model instead of the real one, and no configuration remembered from another test."""
    monkeypatch.setattr(engine, "interpret", probe.interpret)
    config.forget()
