"""Visitor rules: asked once per node, in files that mention what they need, with names, places and settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import libcst as cst
import pytest

from torchlint.config import Config, ConfigError, Overrides
from torchlint.lint import engine, registry
from torchlint.lint.engine import FileReport, check_text
from torchlint.lint.pipeline import Pipeline
from torchlint.lint.registry import Registry, Selection
from torchlint.model import events
from torchlint.report import rule_page
from torchlint.rule import Diagnostic, Edit, File, Fix, Level, Rule, RuleDefinitionError, Settings, Target

DOCUMENTATION = "Summary.\n\n## What it does\nx\n\n## Why is this bad?\nx\n\n## Cure\nx\n\n## References\nx\n"


class Loaded(Rule):
    __doc__ = DOCUMENTATION
    code = "VIS001"
    name = "loaded"
    level = Level.WARNING
    needs = ("torch.load", ".symeig")
    options: ClassVar[dict[str, object]] = {"said": "is called", "lines": ()}

    def visit(self, node: cst.Call, file: File) -> Iterator[Diagnostic]:
        if "torch.load" in file.names(node):
            fix = Fix("call `fetch`", (Edit(node.func, "torch.fetch"),), safe=True, imports=("import torch",))
            said = f"`{file.code(node.func)}` {file.settings.options['said']} in line {file.span(node).line}"
            yield Diagnostic(node, f"{said} of a {type(file.statement(node)).__name__}", fix=fix)
        elif isinstance(node.func, cst.Attribute) and node.func.attr.value == "symeig":
            yield Diagnostic(node.func.attr, "`symeig` is called")


class Both(Rule):
    __doc__ = DOCUMENTATION
    code = "VIS002"
    name = "both"
    level = Level.SMELL
    needs = ("torch.nn",)

    def check(self, event: events.InplaceWrite, settings: Settings) -> Iterator[Diagnostic]:
        yield Diagnostic(event.node, f"`{event.op}` at {settings.target.oldest}")

    def visit(self, node: cst.ClassDef | cst.FunctionDef, file: File) -> Iterator[Diagnostic]:
        if node.name.value == "broken":
            raise ValueError("toy")
        yield Diagnostic(node.name, f"`{node.name.value}`")


RULES = Registry((Loaded(), Both()))
EVERYTHING = Selection(frozenset(RULES.names))


def _lint(text: str, selection: Selection = EVERYTHING) -> FileReport:
    return check_text("program.py", text, RULES, selection)


def _said(text: str, selection: Selection = EVERYTHING) -> list[tuple[int, str, str]]:
    return [(each.span.line, each.code, each.message) for each in _lint(text, selection).findings]


def test_a_page_says_what_a_rule_is_found_by() -> None:
    mentioned = "in files that mention `torch.load` or `.symeig`\n"
    assert f"found by `Call` of libcst's nodes, {mentioned}" in rule_page.page(Loaded)
    found = "found by `InplaceWrite` of the model's events; `ClassDef` and `FunctionDef` of libcst's nodes, in files"
    assert found in rule_page.page(Both)


@pytest.mark.parametrize(
    ("imports", "callee"),
    [
        ("import torch", "torch.load"),
        ("import torch as t", "t.load"),
        ("from torch import load", "load"),
        ("from torch import load as read", "read"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None", "torch.load"),
    ],
)
def test_names_are_resolved_through_imports(imports: str, callee: str) -> None:
    text = f"{imports}\nx = {callee}('a')\n"
    line = text.count("\n")
    assert _said(text) == [(line, "VIS001", f"`{callee}` is called in line {line} of a SimpleStatementLine")]


@pytest.mark.parametrize(
    "text",
    [
        "import json, torch\njson.load('a')\n",
        "import torch\ndef load(x): ...\nload('a')\n",
        "import torch\ndef f(torch):\n    torch.load('a')\n",
    ],
)
def test_what_is_called_alike_is_another(text: str) -> None:
    assert _said(text) == []


def test_attributes_of_anything() -> None:
    assert _said("import torch\n\n\ndef f(x):\n    return x.symeig()\n") == [(5, "VIS001", "`symeig` is called")]


def test_a_rule_is_asked_once_per_node_and_of_events_too() -> None:
    text = "from torch import nn, ones\n\n\nclass A:\n    def f(self):\n        x = ones(2)\n        x.add_(1)\n"
    selection = Selection(frozenset(RULES.names), target=Target((2, 0), (2, 6)))
    assert _said(text, selection) == [(4, "VIS002", "`A`"), (5, "VIS002", "`f`"), (7, "VIS002", "`add_` at (2, 0)")]


def test_a_file_that_does_not_mention_what_is_needed_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.syntax.cst.parse_module", lambda *_: pytest.fail("parsed"))
    text = "import torch, json\n\n\ndef f(x, load):\n    return json.load(x), load, 'torch.load'\n"
    assert _said(text, Selection(frozenset(("VIS001",)))) == []


def test_a_file_without_torch_makes_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry.load()
    selection = known.select(Config(), Overrides())
    parsed: list[object] = []
    text = "import json\n\n\ndef f(x):\n    return json.load(x)\n"
    with monkeypatch.context() as patch:
        for module, name in ((cst, "parse_module"), (ast, "parse")):
            whole = getattr(module, name)
            patch.setattr(
                module, name, lambda *given, whole=whole, **named: parsed.append(given) or whole(*given, **named)
            )
        report = engine.check_bytes("/other.py", text.encode(), known, selection)
        seen = list(parsed)
        engine.check_bytes("/other.py", f"import torch\n{text}\ntorch.load(0)\n".encode(), known, selection)
    assert report.findings == ()
    assert seen == []
    assert parsed


def test_findings_are_fixed_suppressed_and_sorted_like_others() -> None:
    text = "import torch\n\nb = [torch.load('b')]\ntorch.load('a')  # noqa: VIS001\ntorch.load(1)  # noqa: VIS002\n"
    report = _lint(text, Selection(frozenset((*RULES.names, "TLN002"))))
    assert [(each.span.line, each.code) for each in report.findings] == [(3, "VIS001"), (5, "VIS001"), (5, "TLN002")]
    fix = report.findings[0].fix
    assert fix is not None
    assert [edit.replacement for edit in fix.edits] == ["torch.fetch"]
    assert report.suppressed == 1


def test_a_rule_that_fails_costs_its_own_findings_alone() -> None:
    text = "from torch import nn, load\n\n\ndef broken(): ...\n\n\nload('a')\n"
    report = _lint(text)
    assert [(each.span.line, each.code) for each in report.findings] == [(4, "TLN000"), (7, "VIS001")]
    assert "the rule VIS002 (both) failed: ValueError: toy" in report.findings[0].message
    assert report.failed


def test_a_strict_rule_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loaded, "level", Level.STRICT)
    text = "import torch\ntorch.load('a')\ntorch.load('b')\n"
    assert _lint(text).held_back == 2
    assert len(_lint(text, Selection(frozenset(RULES.names), strict=True)).findings) == 2


def test_settings_reach_a_rule() -> None:
    config = Config(file=Path("torchlint.toml"), target_torch=">=2.4", rules=(("loaded", (("said", "is read"),)),))
    selection = RULES.select(config, Overrides())
    assert _said("import torch\ntorch.load('a')\n", selection)[0][2].startswith("`torch.load` is read in line 2")
    both = _said("import torch\nimport torch.nn\nx = torch.ones(2)\nx.add_(1)\n", selection)
    assert both == [(4, "VIS002", "`add_` at (2, 4)")]


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ((("loadde", ()),), "no rule `loadde`; did you mean `loaded`?"),
        ((("loaded", (("sayd", "x"),)),), "rules.loaded: no option `sayd`; did you mean `said`?"),
        ((("loaded", (("said", 3),)),), "rules.loaded: `said` must be like 'is called', not 3"),
        ((("TLN001", (("x", 3),)),), "rules.TLN001: no option `x`"),
    ],
)
def test_a_wrong_option_is_refused(
    rules: tuple[tuple[str, tuple[tuple[str, object], ...]], ...], complaint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        RULES.select(Config(rules=rules), Overrides())
    assert complaint in str(caught.value)


def _defined(**attributes: object) -> None:
    type("Wrong", (Rule,), {"code": "VIS009", "name": "wrong", "level": Level.SMELL, **attributes})


def _untyped(self: object, node: int, file: File) -> None: ...


def _short(self: object, node: cst.Call) -> None: ...


def _right(self: object, node: cst.Call, file: File) -> None: ...


@pytest.mark.parametrize(
    ("attributes", "complaint"),
    [
        ({"visit": _right}, "`needs` says what a file must mention"),
        ({"visit": _right, "needs": "torch.load"}, "`needs` says what a file must mention"),
        ({"visit": _untyped, "needs": ("torch",)}, "use a class of libcst nodes"),
        ({"visit": _short, "needs": ("torch",)}, "takes 1 arguments; it must take the node, and the file"),
        ({}, "define `check(self, event: events.SomeEvent)`, or `visit(self, node: cst.Call, file: File)`"),
    ],
)
def test_a_visitor_rule_that_is_not_well_formed(attributes: dict[str, object], complaint: str) -> None:
    with pytest.raises(RuleDefinitionError) as caught:
        _defined(**attributes)
    assert complaint in str(caught.value)


class InLoop(Rule):
    __doc__ = DOCUMENTATION
    code = "VIS004"
    name = "in-loop"
    level = Level.SMELL

    def check(self, event: events.BackwardCalled, file: File) -> Iterator[Diagnostic]:
        holder = file.parent(file.parent(file.statement(event.node)))
        if isinstance(holder, cst.For):
            yield Diagnostic(event.node, f"`{file.code(event.node)}` in a loop")


def test_an_event_rule_may_look_at_what_holds_the_event() -> None:
    rules = Registry((InLoop(),))
    text = "import torch\nx = torch.ones(1, requires_grad=True)\nx.backward()\nfor _ in range(2):\n    x.backward()\n"
    found = check_text("program.py", text, rules, Selection(frozenset(rules.names))).findings
    assert [(each.span.line, each.message) for each in found] == [(5, "`x.backward()` in a loop")]


def _wants_an_int(self: object, event: events.BackwardCalled, file: int) -> None: ...


def test_what_an_event_rule_is_given_beside_the_event_is_settings_or_the_file() -> None:
    with pytest.raises(RuleDefinitionError, match=r"use torchlint\.rule\.Settings or torchlint\.rule\.File"):
        _defined(check=_wants_an_int)


def test_the_tree_is_visited_once(monkeypatch: pytest.MonkeyPatch) -> None:
    visits = []
    run = Pipeline.run
    monkeypatch.setattr(Pipeline, "run", lambda self: (visits.append(self), run(self)))
    _lint("from torch import nn, load\nx = load('a')\nx.add_(1)\n\n\nclass A: ...\n")
    assert len(visits) == 1


class Exponential(Rule):
    __doc__ = DOCUMENTATION
    code = "VIS003"
    name = "exponential"
    level = Level.WARNING

    def check(self, event: events.OpCalled) -> Iterator[Diagnostic]:
        if event.name in ("torch.exp", "torch.Tensor.exp"):
            known = [facts.name for _, facts in event.arguments if facts is not None]
            yield Diagnostic(event.call.func, f"`{event.name}` of {known}")


def test_every_call_of_torch_is_an_event_where_a_rule_listens() -> None:
    rules = Registry((Exponential(),))
    text = "import torch as t\nfrom a import y\n\nx = t.ones(3)\nt.exp(x) + x.exp() + y.exp() + t.log(x)\n"
    found = check_text("program.py", text, rules, Selection(frozenset(rules.names))).findings
    assert [(each.span.line, each.span.column, each.message) for each in found] == [
        (5, 1, "`torch.exp` of ['x']"),
        (5, 12, "`torch.Tensor.exp` of []"),
    ]
