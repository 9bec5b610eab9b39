"""What a fixture asks for, and what a rewriting is compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from .fixtures import asked, compared, table, unasked
from .joined import Said
from .tools import torchlint


def test_a_finding_is_looked_for_at_its_line_and_else_in_its_file(tmp_path: Path) -> None:
    """Another kind at the same line is no answer; what nobody asked for is told apart."""
    checker = tmp_path / "checker"
    checker.mkdir()
    (checker / "a.txt").write_text("2:1 TOR101 x\n5:1 TOR103 x\n7:1 TOR201 x\n9:1 TOR901 x\n")
    said = [Said("checker/a.py", line, "torchlint", code, "") for line, code in ((2, "TLN902"), (7, "TLN902"))]
    first, second, third, fourth = asked(tmp_path, said)
    assert first.is_found
    assert [each.line for each in first.found] == [2]
    assert not second.is_found
    assert [each.line for each in second.found] == [2, 7]
    assert third.found == ()
    assert fourth.found == ()
    assert unasked(tmp_path, [*said, Said("checker/a.py", 4, "torchlint", "TLN904", "")]) == [
        Said("checker/a.py", 4, "torchlint", "TLN904", "")
    ]


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        ("from torch import outer as ger\nx = ger(a, b)  # kept\n", "equal"),
        ("from torch import ger\nx = ger(a, b)\n", "not fixed"),
        ("import torch\nx = torch.outer(b, a)\n", "other"),
    ],
)
def test_statements_are_compared_by_what_their_names_stand_for(written: str, verdict: str) -> None:
    """How a function is imported, and comments, make no difference."""
    before, wanted = "from torch import ger\nx = ger(a, b)\n", "import torch\nx = torch.outer(a, b)\n"
    (one,) = compared("a.py", before, wanted, written)
    assert one.verdict == verdict


def test_what_none_rewrites_is_no_statement_to_compare() -> None:
    """Imports alone are not compared either."""
    assert list(compared("a.py", "import torch\nx = 1\n", "x = 1\n", "import torch as t\nx = 1\n")) == []


def test_every_place_of_a_grouped_finding_answers(tmp_path: Path) -> None:
    """One finding of two places, and the fix of both."""
    program = "import torch\nx = torch.qr(torch.eye(2))\ny = torch.qr(torch.eye(3))\n"
    for name in ("checker/a.py", "codemod/a.in.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(program)
    (tmp_path / "checker/a.txt").write_text("2:5 TOR101 x\n3:5 TOR101 x\n")
    (tmp_path / "codemod/a.out.py").write_text(program.replace("torch.qr", "torch.linalg.qr"))
    report = list(table(tmp_path, torchlint(tmp_path, "2.13"), "2.13"))
    assert report[-2:] == [
        "2 of 2 findings at their line, 0 at another mention of the file",
        "2 of 2 statements rewritten equally",
    ]
