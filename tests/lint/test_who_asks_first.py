"""Who asks first which torch there is, as packages of all kinds do it; and what a remedy has to say and keep."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import lint

DECORATES = """
import torch
from functools import wraps
from packaging.version import Version

def requires_torch(version):
    def decorate(function):
        @wraps(function)
        def inner(*given):
            if Version(torch.__version__) < Version(version):
                raise RuntimeError("an old torch")
            return function(*given)
        return inner
    return decorate
"""


def messages(folder: Path, text: str, torch: str = ">=1.13", **files: str) -> list[str]:
    (folder / "pyproject.toml").write_text(f'[project]\nname = "made"\ndependencies = ["torch{torch}"]\n')
    (folder / "made").mkdir()
    for name, each in {"__init__": "", **files, "file": text}.items():
        (folder / "made" / f"{name}.py").write_text(each)
    return [each.message for each in lint(text, path=str(folder / "made" / "file.py")).findings]


@pytest.mark.parametrize(
    ("importing", "asks"),
    [
        ("from .flags import MODERN\nif MODERN:\n    from .file import compiled\n", True),
        ("from . import flags\nif flags.MODERN:\n    from .file import compiled\n", True),
        ("from .flags import OTHER\nif OTHER:\n    from .file import compiled\n", False),
    ],
)
def test_a_file_that_is_imported_under_the_flag_of_another_one(tmp_path: Path, importing: str, asks: bool) -> None:
    flags = "import torch\nMODERN = torch.__version__ >= '2.0'\nOTHER = bool(print())\n"
    text = "from torch.func import vmap\n\ncompiled = vmap(abs)\n"
    assert (not messages(tmp_path, text, __init__=importing, flags=flags)) is asks


@pytest.mark.parametrize("spelled", ["typing.TYPE_CHECKING", "t.TYPE_CHECKING", "typing.TEXT"])
def test_what_only_a_type_checker_reads(tmp_path: Path, spelled: str) -> None:
    text = f"import typing, typing as t\nif {spelled}:\n    from torch.nn.attention import SDPBackend\n"
    assert (not messages(tmp_path, text)) is spelled.endswith("CHECKING")


@pytest.mark.parametrize(
    ("around", "asks"),
    [
        ("@requires_torch('2.0')\ndef made(x): return torch.compile(x)\n", True),
        ("@wraps('2.0')\ndef made(x): return torch.compile(x)\n", False),
        ("@unittest.skipUnless(HAS, '')\nclass Test:\n    def test(self): return torch.compile(abs)\n", True),
        ("@unittest.skip('')\nclass Test:\n    def test(self): return torch.compile(abs)\n", False),
    ],
)
def test_a_decorator_that_asks(tmp_path: Path, around: str, asks: bool) -> None:
    text = f"import unittest{DECORATES}\nHAS = hasattr(torch, 'compile')\n\n{around}"
    assert (not messages(tmp_path, text)) is asks


@pytest.mark.parametrize(
    ("torch", "cure"),
    [(">=1.13,<2.3", "raise both ends, or ask"), (">=1.13", "raise that, or ask"), ("==2.0.*", "raise that, or ask")],
)
def test_a_range_that_ends_before_is_raised_at_both_ends(tmp_path: Path, torch: str, cure: str) -> None:
    (message,) = messages(tmp_path, "import torch\n\nlayer = torch.nn.RMSNorm(3)\n", torch)
    assert cure in message


@pytest.mark.parametrize(
    ("used", "safe"),
    [("with torch.cuda.amp.autocast():\n    pass\n", True), ("scaler = torch.cuda.amp.GradScaler()\n", False)],
)
def test_an_object_of_a_derived_class_may_be_asked_for_elsewhere(used: str, safe: bool) -> None:
    """`isinstance(scaler, torch.cuda.amp.GradScaler)` is False of an object of the base."""
    (found,) = [each for each in lint(f"import torch\n\n{used}").findings if each.code == "TLN902"]
    assert found.fix is not None
    assert found.fix.safe is safe
