"""The pages in `docs/rules/` are the generated ones, all of them and no others."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import expectations
import pytest

from torchlint.report import rule_page
from torchlint.rule import SECTIONS, Rule

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "rules"
Bless = Callable[[Path, str, str], None]


@pytest.mark.parametrize("rule", [pytest.param(rule, id=expectations.rule_id(rule)) for rule in expectations.rules()])
def test_page_is_the_generated_one(rule: Rule, bless: Bless) -> None:
    path = PAGES / f"{rule.name}.md"
    bless(path, path.read_text(encoding="utf-8") if path.exists() else "", rule_page.page(rule))


@pytest.mark.parametrize("rule", [pytest.param(rule, id=expectations.rule_id(rule)) for rule in expectations.rules()])
def test_page_says_everything(rule: Rule) -> None:
    page = rule_page.page(rule)
    assert page.startswith(f"# {rule.code} {rule.name}\n\n{rule.summary()}\n")
    titles = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert [title for title in titles if title in SECTIONS] == list(rule.sections())
    for example in (*rule.bad, *rule.good):
        assert f"```python\n{example.source}```\n" in page
        assert example.fixed is None or f"```python\n{example.fixed}```\n" in page
    assert all(f"`{kind.__name__}`" in page for kind in rule.subscriptions)


def test_index_is_the_generated_one(bless: Bless) -> None:
    path = PAGES / "README.md"
    bless(path, path.read_text(encoding="utf-8") if path.exists() else "", rule_page.index(expectations.rules()))


def test_every_word_of_the_glossary_is_used() -> None:
    """On another page, or by the program: what nobody says needs no explanation."""
    page = ROOT / "docs" / "contributing.md"
    rows = page.read_text(encoding="utf-8").partition("| word | meaning |\n| --- | --- |\n")[2].splitlines()
    words = [word for row in rows for word in row.split(" | ")[0].removeprefix("| ").split(", ")]
    assert 15 <= len(words) <= 30
    others = [path for path in (ROOT / "docs").glob("*.md") if path != page] + [*(ROOT / "torchlint").rglob("*.py")]
    said = " ".join(path.read_text(encoding="utf-8") for path in others).lower()
    assert not [word for word in words if not re.search(rf"\b{word.lower()}s?\b", said)]


def test_index_links_every_page_and_no_other() -> None:
    linked = {part.partition(")")[0] for part in rule_page.index(expectations.rules()).split("](")[1:]}
    assert linked == {path.name for path in PAGES.glob("*.md")} - {"README.md"}
