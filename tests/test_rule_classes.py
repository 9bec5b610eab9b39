"""`docs/rule-classes.md`: what a rule is made of, yields and may ask, from the classes' own documentation."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import class_pages

from torchlint import claims, rule

PAGE = Path(__file__).parents[1] / "docs" / "rule-classes.md"
PARTS = {
    "What a rule is": ("Rule", "Example", "Level"),
    "What it yields": ("Diagnostic", "Fix", "Edit", "Step", "Condition", "ConditionKind"),
    "What it claims": ("Raises", "Warns", "Holds", "Observed", "Claim", "Symptom"),
    "What it may ask": ("File", "Settings", "Target", "Release", "Extra", "Span", "Truth"),
}
ELSEWHERE = {
    "ConditionKind": "torchlint.condition",
    "Release": "torchlint.target",
    "Extra": "torchlint.target",
    "Span": "torchlint.syntax.text",
    "Truth": "torchlint.truth",
}
Bless = Callable[[Path, str, str], None]


def _module(name: str) -> str:
    """Where a rule imports it from: `torchlint.rule`, if that has it."""
    if hasattr(rule, name):
        return rule.__name__
    return ELSEWHERE[name]


def _page() -> Iterator[str]:
    yield "# What a rule is made of\n"
    yield "The classes that a rule derives from, yields and is given; how they are used stands in"
    yield "[Writing a rule](writing-a-rule.md), what an event carries in [Events and their fields](events.md)."
    yield "The page is made of the classes' own documentation (`pytest tests/test_rule_classes.py --bless`)."
    for title, names in PARTS.items():
        yield f"\n## {title}"
        for name in names:
            yield from class_pages.section(name, _module(name), level="###", usual=True)


@class_pages.interpreted
def test_the_page_is_the_generated_one(bless: Bless) -> None:
    bless(PAGE, PAGE.read_text(encoding="utf-8") if PAGE.exists() else "", class_pages.page(_page()))


@class_pages.interpreted
def test_all_that_a_rule_yields_and_claims_is_there() -> None:
    listed = {name for names in PARTS.values() for name in names}
    kinds = [getattr(importlib.import_module(_module(name)), name) for name in listed]
    named = class_pages.named(kind for kind in kinds if inspect.isclass(kind))
    assert not named.keys() - listed, "a field names a class without a section"
    assert {
        name for name, kind in vars(claims).items() if inspect.isclass(kind) and kind.__module__ == claims.__name__
    } <= listed
