"""The first look and the whole pipeline never disagree: a file that the scout passes has no finding."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import stripped

from torchlint import engine, registry
from torchlint.engine import check_text
from torchlint.registry import Selection
from torchlint.scout import silent

ROOT = Path(__file__).parents[1]
RULES = registry.load()
EVERYTHING = Selection(frozenset((*RULES.names, "TLN002")), strict=True)
PROGRAMS = {
    **{path.name: path for path in sorted((ROOT / "tests" / "cases").glob("*.py"))},
    **{f"examples/{path.name}": path for path in sorted((ROOT / "docs" / "examples").glob("*.py"))},
    **{f"rules/{path.name}": path for path in sorted((ROOT / "rules").glob("*.py"))},
}


@pytest.mark.parametrize("path", PROGRAMS.values(), ids=PROGRAMS)
def test_a_file_that_is_passed_has_no_finding(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = stripped(path.read_text(encoding="utf-8"))
    pieces = [text, *_definitions(text)]
    for piece in pieces:
        if silent(piece, RULES, EVERYTHING):
            with monkeypatch.context() as patch:
                patch.setattr(engine, "silent", lambda *_, **__: False)
                report = check_text(path.name, piece, RULES, EVERYTHING)
            assert (report.findings, report.held_back) == ((), 0), piece


def _definitions(text: str) -> list[str]:
    """Each top-level definition by itself, with the imports: small files, most of which have no finding."""
    blocks = [block for block in text.split("\n\n\n") if block.strip()]
    imports = "\n".join(line for line in text.splitlines() if line.startswith(("import ", "from ")))
    return [f"{imports}\n\n\n{block}\n" for block in blocks if block.startswith(("def ", "class "))]


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("import torch\nx = torch.ones(3)\n", True),
        ("import torch\nx = torch.ones(3, requires_grad=True)\nx.add_(1)\n", False),
        ("import torch\nx = 1  # noqa: TLN201\n", False),
        ("import torch\nx = 1  # noqa: E501\n", True),
        ("import torch\nx = 1  # noqa\n", True),
        ("import torch\nx = 1  # torchlint: ignore\n", False),
        ('import torch\nx = "\\d"\ny = x is 1\n', True),
        ("import torch\nx = (\n", False),
        ("import torch\nx = " + "(" * 300 + ")" * 300 + "\n", False),
    ],
)
def test_what_is_passed(text: str, passed: bool, recwarn: pytest.WarningsRecorder) -> None:
    assert silent(text, RULES, EVERYTHING) is passed
    assert not recwarn.list


def test_nothing_is_parsed_where_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.Source, "parse", lambda *_: pytest.fail("parsed"))
    report = check_text("x.py", "import torch\n\n\ndef f(x: torch.Tensor):\n    return x * 2\n", RULES, EVERYTHING)
    assert not report.findings
    assert report.followed
