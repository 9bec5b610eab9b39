"""Fixes are applied until nothing changes, and never make a file worse."""

from __future__ import annotations

import pytest
from toy import EVERYTHING, REGISTRY

from torchlint.lint.engine import check_text
from torchlint.lint.fixpoint import ROUNDS, Fixed, fix
from torchlint.lint.registry import Selection
from torchlint.syntax.tree import Decoded

pytestmark = pytest.mark.usefixtures("toy_model")

RULES = Selection(EVERYTHING.enabled - {"TLN002"})


def _fix(text: str, *, unsafe: bool = False, encoding: str = "utf-8") -> Fixed:
    return fix(Decoded(text, encoding), lambda changed: check_text("x.py", changed, REGISTRY, RULES), unsafe=unsafe)


def test_safe_fixes_are_applied_and_the_rest_is_reported() -> None:
    fixed = _fix("torch.old(torch.old(1))\ntorch.bad()\ntorch.risky()\n")
    assert fixed.text == "torch.new(torch.new(1))\ntorch.bad()\ntorch.risky()\n"
    assert [finding.message for finding in fixed.report.findings] == ["`bad` is called", "`risky` is called"]
    assert (fixed.applied, fixed.notes) == (2, ())


def test_unsafe_fixes_only_on_request() -> None:
    assert _fix("torch.risky()\n").text == "torch.risky()\n"
    assert _fix("torch.risky()\n", unsafe=True).text == "torch.new()\n"


def test_removing_a_whole_block_piece_by_piece_leaves_a_pass() -> None:
    fixed = _fix("if x:\n    torch.drop()\n    torch.drop()\ny = 1\n")
    assert fixed.text == "if x:\n    pass\ny = 1\n"
    assert fixed.applied == 2


def test_layout_survives() -> None:
    text = "\x0cif x:\r\n\ttorch.old()  # why\r\n\r\ny = 'ü'"
    assert _fix(text).text == text.replace("old", "new")


def test_one_import_for_several_fixes() -> None:
    assert _fix("torch.numpy()\ntorch.numpy()\n").text == "import numpy as np\nnp.new()\nnp.new()\n"


def test_a_fix_that_breaks_the_file_is_dropped_and_named() -> None:
    fixed = _fix("torch.old()\ntorch.invalid()\n")
    assert fixed.text == "torch.new()\ntorch.invalid()\n"
    assert fixed.notes == (
        "x.py:2: the fix of PRB001 was dropped: the result is not valid Python (invalid syntax, line 2)",
    )
    assert [finding.message for finding in fixed.report.findings] == ["`invalid` is called"]


def test_a_fix_that_the_encoding_cannot_say_is_dropped_and_named() -> None:
    fixed = _fix("torch.umlaut()\ntorch.old()\n", encoding="latin-1")
    assert fixed.text == "torch.umlaut()\ntorch.new()\n"
    assert "cannot be written in the file's encoding, latin-1" in fixed.notes[0]
    assert _fix("torch.umlaut()\n").text == "torch.üł()\n"


def test_fixes_that_undo_each_other_end() -> None:
    fixed = _fix("torch.ping()\n")
    assert fixed.applied == ROUNDS
    assert fixed.notes == ("x.py: after 10 rounds there is still something to fix: two fixes undo each other",)


def test_what_could_not_be_checked_is_left_alone() -> None:
    for text in ("torch.old(\n", "torch.old()\ntorch.crash()\n"):
        fixed = _fix(text)
        assert (fixed.text, fixed.applied) == (text, 0)
