"""The first look and the whole pipeline never disagree: what either says of a file is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from expectations import stripped

from torchlint.lint import engine, registry, scout
from torchlint.lint.engine import check_text
from torchlint.lint.registry import Selection
from torchlint.lint.scout import Look, listeners, look
from torchlint.model import interpret
from torchlint.rule import Level
from torchlint.syntax.tree import Source
from torchlint.truth import Truth

ROOT = Path(__file__).parents[1]
RULES = registry.load()
EVERYTHING = Selection(frozenset((*RULES.names, "TLN002")), strict=True)
DEFAULT = Selection(frozenset((*RULES.names, "TLN002")))
PROGRAMS = {
    **{path.name: path for path in sorted((ROOT / "tests" / "cases").glob("*.py"))},
    **{f"examples/{path.name}": path for path in sorted((ROOT / "docs" / "examples").glob("*.py"))},
    **{f"rules/{path.name}": path for path in sorted((ROOT / "rules").glob("*.py"))},
}


@pytest.mark.parametrize("path", PROGRAMS.values(), ids=PROGRAMS)
def test_a_first_look_finds_what_the_tree_finds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = stripped(path.read_text(encoding="utf-8"))
    pieces = [text, *_definitions(text)]
    for piece in pieces:
        for selection in (EVERYTHING, DEFAULT):
            looked = check_text(path.name, piece, RULES, selection)
            with monkeypatch.context() as patch:
                patch.setattr(engine, "look", lambda *_, **__: Look(None))
                report = check_text(path.name, piece, RULES, selection)
            assert (looked.findings, looked.held_back) == (report.findings, report.held_back), piece


@pytest.mark.parametrize("path", PROGRAMS.values(), ids=PROGRAMS)
def test_what_is_not_followed_has_nothing_to_say(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = stripped(path.read_text(encoding="utf-8"))
    for piece in (text, *_definitions(text)):
        report = check_text(path.name, piece, RULES, DEFAULT)
        with monkeypatch.context() as patch:
            for module in (scout, engine):
                patch.setattr(module, "is_thorough", lambda *_: True)
            thorough = check_text(path.name, piece, RULES, DEFAULT)
        assert report.findings == thorough.findings, piece
        assert report.held_back <= thorough.held_back


def test_files_are_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "interpret", lambda *_, **__: pytest.fail("followed again"))
    for path in PROGRAMS.values():
        check_text(path.name, stripped(path.read_text(encoding="utf-8")), RULES, EVERYTHING)


def _held_back(text: str, selection: Selection) -> int | None:
    return look("x.py", text, RULES, selection).held_back


@pytest.mark.parametrize("path", PROGRAMS.values(), ids=PROGRAMS)
def test_a_level_told_without_the_text_is_the_level_of_the_finding(path: Path) -> None:
    for event in interpret(Source.parse(path.name, stripped(path.read_text(encoding="utf-8")))):
        for rule in listeners(type(event), RULES, EVERYTHING) if event.truth is Truth.YES else ():
            if rule.level_of is not None:
                level = rule.level_of(event)
                found = [(each.level or rule.level, each.node) for each in rule.check(event)]
                assert found == ([] if level is None else [(level, event.node)])


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
    assert (_held_back(text, EVERYTHING) == 0) is passed
    assert not recwarn.list


def test_what_is_held_back_is_counted_without_a_tree() -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    x.data.mul_(2)\n    x.data.add_(1)\n    return x\n"
    report = check_text("x.py", text, RULES, EVERYTHING)
    strict = [finding for finding in report.findings if finding.level is Level.STRICT]
    assert strict
    assert strict == list(report.findings)
    assert _held_back(text, DEFAULT) == len(strict)
    assert _held_back(text, EVERYTHING) is None
    assert _held_back(text + "# noqa\n", DEFAULT) is None


def test_nothing_is_parsed_where_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.Source, "parse", lambda *_: pytest.fail("parsed"))
    report = check_text("x.py", "import torch\n\n\ndef f(x: torch.Tensor):\n    return x * 2\n", RULES, EVERYTHING)
    assert not report.findings
    assert report.followed
