"""What a rule looks like: one class per file, named after it, documented, short, and with a message for people."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import expectations
import pytest

from torchlint.rule import OPTIONAL_SECTIONS, SECTIONS, Finding, Holds, Rule

RULES = Path(__file__).parent.parent / "rules"
FILES = sorted(path for path in RULES.glob("*.py") if path.name != "__init__.py")
EVERY_RULE = [pytest.param(rule, id=expectations.rule_id(rule)) for rule in expectations.rules()]
MAY_IMPORT = {
    "torchlint.rule",
    "torchlint.model",
    "torchlint.model.events",
    "torchlint.fixes.rewrites",
    "torchlint.fixes.renames",
    "torchlint.truth",
    "torchlint.syntax.cst",
    "libcst",
}
FORBIDDEN_IN_NAMES = re.compile(r"^(no|ban|avoid|dont|use|prefer|missing-no)-")


def test_every_file_is_a_rule_of_its_own() -> None:
    assert [path.stem for path in FILES] == sorted(rule.name.replace("-", "_") for rule in expectations.rules())


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_a_file_holds_one_class_named_after_it(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    assert classes == ["".join(word.capitalize() for word in path.stem.split("_"))]
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in FILES])
def test_a_rule_imports_little(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.cst"] if [each.name for each in node.names] == ["cst"] else [node.module or ""]
        foreign = {name for name in names if name.split(".")[0] in ("torch", "torchlint", "libcst", "rules")}
        assert foreign <= MAY_IMPORT


def test_rules_keep_no_state() -> None:
    """What a rule says of one event rests on nothing that it has seen before: files are linted in any order."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            assert not stored, f"{path}:{node.lineno}: sets an attribute"
            assert not isinstance(node, (ast.Global, ast.Nonlocal)), f"{path}:{node.lineno}: sets a variable elsewhere"


def test_codes_and_names_are_unique() -> None:
    rules = expectations.rules()
    assert len({rule.code for rule in rules}) == len({rule.name for rule in rules}) == len(rules)


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_documentation(rule: Rule) -> None:
    titles = list(rule.sections())
    assert titles == [title for title in SECTIONS if title in titles]
    assert set(SECTIONS) - OPTIONAL_SECTIONS <= set(titles)
    assert all(rule.sections().values())
    assert re.fullmatch(r"[A-Z].*[^.]\.", rule.summary())
    assert ("Fix safety" in titles) == (rule.fixes != "none")
    assert re.search(r"https://", rule.sections()["References"])
    assert not FORBIDDEN_IN_NAMES.match(rule.name)


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_examples(rule: Rule) -> None:
    assert 1 <= len(rule.bad) <= 3
    assert 1 <= len(rule.good) <= 3
    assert all(example.shows is not None for example in rule.bad)
    assert all(example.shows is None and example.fixed is None for example in rule.good)
    longest = max(len(line) for example in (*rule.bad, *rule.good) for line in example.source.splitlines())
    assert longest <= 108


def _findings(rule: Rule) -> Iterator[Finding]:
    for example in rule.bad:
        yield from expectations.lint(expectations.stripped(example.source), strict=True).findings


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_messages_are_for_people(rule: Rule) -> None:
    found = list(_findings(rule))
    assert any(finding.code == rule.code for finding in found)
    texts = [finding.message for finding in found]
    texts += [step.message for finding in found for step in finding.trace]
    texts += [finding.fix.title for finding in found if finding.fix]
    for text in texts:
        assert "\n" not in text
        assert not re.match(r"[A-Z]", text), text
        assert not text.endswith((".", " ", "!")), text
        assert text.count("`") % 2 == 0, text
        assert "``" not in text, text
        assert len(text) <= 160, text


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_what_a_rule_claims_of_an_expression_has_words(rule: Rule) -> None:
    """A verdict tells them in the place of the expression, which is ours and not the program's."""
    for finding in _findings(rule):
        for claim in finding.claims:
            if isinstance(claim, Holds):
                assert claim.words, claim.expression
                assert not re.search(r"_\([^)]|lambda|value_|bound_", claim.words), claim.words
                assert claim.words.count("`") % 2 == 0, claim.words


def test_the_rule_class_is_found_in_its_file() -> None:
    for rule in expectations.rules():
        assert Path(inspect.getfile(type(rule))).stem == rule.name.replace("-", "_")
