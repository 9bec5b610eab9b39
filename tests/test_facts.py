"""What is told of a file before it has a tree is what the tree tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import libcst as cst
import pytest
from expectations import own, stripped

from torchlint.lint import engine
from torchlint.lint.engine import FileReport, check_text
from torchlint.lint.facts import Facts, listeners
from torchlint.lint.registry import Registry, Selection
from torchlint.model import events, interpret
from torchlint.rule import Diagnostic, File, Level, Rule, Settings, Target
from torchlint.syntax.lowering import program_of
from torchlint.syntax.nodes import Nodes
from torchlint.syntax.place import NodeWantedError
from torchlint.syntax.tree import finding_nodes
from torchlint.truth import Truth

ROOT = Path(__file__).parents[1]
RULES = own()
EVERYTHING = Selection(frozenset((*RULES.names, "TLN002")), strict=True)
DEFAULT = Selection(frozenset((*RULES.names, "TLN002")))
PROGRAMS = {
    **{path.name: path for path in sorted((ROOT / "tests" / "cases").glob("*.py"))},
    **{f"examples/{path.name}": path for path in sorted((ROOT / "docs" / "examples").glob("*.py"))},
    **{f"rules/{path.name}": path for path in sorted((ROOT / "rules").glob("*.py"))},
}
SOME = {name: path for number, (name, path) in enumerate(PROGRAMS.items()) if number % 4 == 0 or "rules/" not in name}
"""All but three rules of four, which hardly mention torch in their code."""


class OnTopLevel(Rule):
    """A backward is called on top level."""

    code = "TST001"
    name = "backward-on-top-level"
    level = Level.WARNING

    def check(self, event: events.BackwardCalled, file: File) -> Iterator[Diagnostic]:
        if isinstance(file.parent(file.statement(event.node)), cst.Module):
            yield Diagnostic(event.node, "on top level")


GIVEN = Registry((OnTopLevel(),))


@cache
def _reported(name: str, piece: str) -> FileReport:
    """What is said of a piece by default; both comparisons below begin with it."""
    return check_text(name, piece, RULES, DEFAULT)


def _hold_dismissed(name: str, pieces: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for piece in pieces:
        for selection in (EVERYTHING, DEFAULT):
            report = _reported(name, piece) if selection is DEFAULT else check_text(name, piece, RULES, selection)
            with monkeypatch.context() as patch:
                patch.setattr(Facts, "_dismisses", lambda *_: False)
                patch.setattr(Facts, "held_back", lambda *_, **__: None)
                patch.setattr(engine, "_told", lambda *_: None)
                patch.setattr(engine, "Nodes", lambda path, program, whole: Nodes(path, program, whole=True))
                asked = check_text(name, piece, RULES, selection)
            assert (report.findings, report.held_back) == (asked.findings, asked.held_back), piece


def _hold_not_followed(name: str, pieces: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for piece in pieces:
        report = _reported(name, piece)
        with monkeypatch.context() as patch:
            patch.setattr(engine, "is_thorough", lambda *_: True)
            thorough = check_text(name, piece, RULES, DEFAULT)
        assert report.findings == thorough.findings, piece
        assert report.held_back <= thorough.held_back


@pytest.mark.parametrize("path", SOME.values(), ids=SOME)
def test_what_is_dismissed_has_nothing_to_say(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = stripped(path.read_text(encoding="utf-8"))
    _hold_dismissed(path.name, [text, *_definitions(text)[::4]], monkeypatch)


@pytest.mark.parametrize("path", SOME.values(), ids=SOME)
def test_what_is_not_followed_has_nothing_to_say(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = stripped(path.read_text(encoding="utf-8"))
    _hold_not_followed(path.name, [text, *_definitions(text)[::4]], monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS.values(), ids=PROGRAMS)
def test_neither_has_any_definition_of_any_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same of all that the two tests above take a fourth of."""
    text = stripped(path.read_text(encoding="utf-8"))
    pieces = [text, *_definitions(text)]
    _hold_dismissed(path.name, pieces, monkeypatch)
    _hold_not_followed(path.name, pieces, monkeypatch)


@pytest.mark.parametrize("path", PROGRAMS.values(), ids=PROGRAMS)
def test_levels_told_without_a_tree_are_those_of_the_findings(path: Path) -> None:
    """What is held back is counted by them; and a rule that reports at the strict level says so."""
    _hold_levels(path.name, stripped(path.read_text(encoding="utf-8")), RULES)


def test_so_are_those_of_a_rule_that_is_given_the_file() -> None:
    """It looks into what surrounds the event: it is asked at the node, and for its level no sooner."""
    program = "import torch\n\nx = torch.ones(3, requires_grad=True)\nx.sum().backward()\n"
    assert _hold_levels("program.py", program, GIVEN) == [Level.WARNING]


def _hold_levels(name: str, text: str, rules: Registry) -> list[Level]:
    """The levels of all that is found; what is told without the tree must be the same."""
    every: list[Level] = []
    program = program_of(text)
    nodes = Nodes(name, program)
    happened = [each for each in interpret(program) if each.truth is Truth.YES]
    asked = Selection(frozenset(rules.names), strict=True)
    for event, located in zip(happened, nodes.with_nodes(happened), strict=True):
        for rule in listeners(type(event), rules, asked):
            settings: tuple[Settings | File, ...] = (Settings(Target(), rule.options),) if rule.given else ()
            if rule.given is File:
                source = nodes.source()
                assert source is not None
                settings = (File(source, Settings(Target(), rule.options)),)
            found = [each.level or rule.level for each in rule.check(located, *settings)]
            assert rule.may_be_strict or rule.level is Level.STRICT or Level.STRICT not in found, rule.code
            every += found
            if rule.given is File:
                continue  # it is asked at the node
            try:
                with finding_nodes(nodes.find, nodes.text):
                    told = [each.level or rule.level for each in rule.check(event, *settings)]
            except NodeWantedError:
                continue  # it is asked at the node
            assert told == found, rule.code
    return every


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
def test_what_is_passed(
    text: str, passed: bool, recwarn: pytest.WarningsRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = _parsed(monkeypatch)
    report = check_text("x.py", text, RULES, EVERYTHING)
    assert (report.followed and not parsed) is passed
    assert not recwarn.list


def test_what_is_held_back_is_counted_without_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    x.data.mul_(2)\n    x.data.add_(1)\n    return x\n"
    parsed = _parsed(monkeypatch)
    strict = check_text("x.py", text, RULES, EVERYTHING).findings
    assert strict
    assert all(finding.level is Level.STRICT for finding in strict)
    assert parsed
    parsed.clear()
    assert check_text("x.py", text, RULES, DEFAULT).held_back == len(strict)
    assert not parsed
    assert check_text("x.py", text + "# noqa\n", RULES, DEFAULT).held_back == len(strict)
    assert parsed


def _parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that libcst is given from now on."""
    texts: list[str] = []
    parse = cst.parse_module
    monkeypatch.setattr(
        "torchlint.syntax.cst.parse_module", lambda text, *rest: (texts.append(text), parse(text, *rest))[1]
    )
    return texts
