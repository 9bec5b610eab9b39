"""
The rows of the talk and of the two threads (T1 to T21, S1 to S4) with torch's verdicts, as the table of
`docs/runtime.md`: `python -m tests.verdicts talk --write`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import expectations
import test_talk
import test_talk_gradients
import test_talk_numerics
import test_talk_rows

from torchlint.syntax.tree import Source
from torchlint.verify.execute import describe_ending, run_program
from torchlint.verify.verify import verify_findings

PAGE = Path(__file__).parents[2] / "docs" / "runtime.md"
BEGIN, END = "<!-- rows: python -m tests.verdicts talk --write -->\n", "<!-- end of rows -->\n"
WIDTH = 170


def programs() -> Iterator[tuple[str, str, bool]]:
    """Each row's faulty programs, or, where no program is at fault, those that show so; and whether it is strict."""
    for module in (test_talk, test_talk_gradients, test_talk_numerics):
        for name, row in module.ROWS.items():
            yield name, expectations.stripped(row.faulty), getattr(row, "strict", False)
    yield "T18", textwrap.dedent(test_talk_numerics.T18).lstrip("\n"), False
    for name, (text, _) in test_talk_rows.UNROLLED.items():
        yield f"T20 {name}", expectations.stripped(textwrap.dedent(text).lstrip("\n")), False
    for name, expression in test_talk_rows.FUNCTIONS.items():
        text = "import torch\n\nx = torch.rand(3).requires_grad_()\nw = torch.rand(3).requires_grad_()\n"
        yield f"T21 {name}", f"{text}y = {expression}\ny.sum().backward()\n", False


def table() -> Iterator[str]:
    """The lines of the table."""
    yield "| row | finding | torch | what it showed |"
    yield "| --- | --- | --- | --- |"
    for name, text, strict in sorted(programs(), key=lambda each: _order(each[0])):
        findings = list(expectations.lint(text, strict=strict).findings)
        if not findings:
            yield f"| {name} | none | – | {_short(describe_ending(run_program(text)))} |"
        for finding in verify_findings(Source.parse("row.py", text), findings):
            assert finding.verdict is not None
            yield f"| {name} | {finding.code} | {finding.verdict.status} | {_short(finding.verdict.evidence)} |"


def written(text: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "".join(f"{line}\n" for line in table()) + END + after


def _order(name: str) -> tuple[bool, int, str]:
    found = re.match(r"([TS])(\d+)(.*)", name)
    assert found is not None
    return found[1] == "S", int(found[2]), found[3]


def _short(words: str) -> str:
    words = " ".join(words.split()).replace("|", "\\|")
    return words if len(words) <= WIDTH else words[: WIDTH - 2].rstrip() + " …"
