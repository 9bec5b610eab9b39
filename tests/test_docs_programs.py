"""The programs in the hand-written documentation: linted against their markers, and run under torch."""

from __future__ import annotations

import re
from pathlib import Path

import expectations
import pytest

from torchlint.verify.execute import run_program

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
PROGRAMS = [
    pytest.param(text, id=f"{name}-{number}")
    for name in ("model.md",)
    for number, text in enumerate(BLOCK.findall((DOCS / name).read_text(encoding="utf-8")), start=1)
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_program_is_flagged_at_its_markers(text: str) -> None:
    assert expectations.check(text) is None


@pytest.mark.parametrize("text", [p for p in PROGRAMS if "import somewhere" not in p.values[0]])
def test_torch_raises_where_an_error_is_marked(text: str) -> None:
    outcome = run_program(expectations.stripped(text))
    raises = bool(expectations.expected(text).findings)
    assert (outcome.ending == "raised") == raises, outcome
