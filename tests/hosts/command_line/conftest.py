"""A process for each run, in a directory of its own, without colours and without a configuration above it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import prepared
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # `process`

from process import Ran, Torchlint


@pytest.fixture
def torchlint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Torchlint:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
        clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
        ran = prepared.run_module("torchlint", *arguments, env={**clean, **environment}, stdin=stdin, timeout=300)
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    return run


OVERWRITTEN = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y.mul_(2)
y.sum().backward()
"""
CLEAN = OVERWRITTEN.replace("y.mul_(2)", "y = y * 2")


@pytest.fixture
def overwritten() -> str:
    """A program with one TLN201, in line 5, whose fix is unsafe."""
    return OVERWRITTEN


@pytest.fixture
def needless() -> str:
    """A program with one TLN102, in line 5, whose fix is safe."""
    return OVERWRITTEN.replace("y.mul_(2)\ny.sum().backward()", "y.sum().backward(retain_graph=True)")


@pytest.fixture
def clean() -> str:
    """A program without findings."""
    return CLEAN
