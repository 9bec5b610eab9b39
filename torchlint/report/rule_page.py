"""
A rule as a Markdown page, and the index of all pages.

Turns what a rule's class says into text. Adds no knowledge of its own, reads and writes no file;
`torchlint rule CODE` prints the same text that lies in `docs/rules/`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchlint.rule import Holds, Raises, Rule, Symptom

NEEDS = 4
"""So many of the names that a visitor rule needs are told."""
_FIXES = {"none": "no fix", "safe": "safe fix", "unsafe": "unsafe fix", "both": "safe and unsafe fixes"}


def page(rule: Rule | type[Rule]) -> str:
    """
    The page of a rule: what it says, its examples, what torch says to them, and what it is found by.

    Parameters
    ----------
    rule
        The rule or its class.
    """
    sections = rule.sections()
    references = sections.pop("References", "")
    blocks = [
        f"# {rule.code} {rule.name}",
        rule.summary(),
        f"Level: **{rule.level.value}** · {_FIXES[rule.fixes]} · found by {_found_by(rule)}",
        *(f"## {title}\n\n{body}" for title, body in sections.items()),
        *_examples(rule),
        *([f"## References\n\n{references}"] if references else []),
    ]
    return "\n\n".join(blocks) + "\n"


def _found_by(rule: Rule | type[Rule]) -> str:
    """The events, and the kinds of nodes, that a rule subscribes to."""
    found = []
    if rule.subscriptions:
        found.append(f"{_listed(rule.subscriptions)} of the model's events")
    if rule.visits:
        others = f" or {len(rule.needs) - NEEDS} others" if len(rule.needs) > NEEDS else ""
        where = " or ".join(f"`{each}`" for each in rule.needs[:NEEDS]) + others
        found.append(f"{_listed(rule.visits)} of libcst's nodes, in files that mention {where}")
    return "; ".join(found)


def _listed(kinds: Iterable[type]) -> str:
    return " and ".join(f"`{kind.__name__}`" for kind in kinds)


def index(rules: Iterable[Rule | type[Rule]]) -> str:
    """
    The index of all pages, a table with one line per rule.

    Parameters
    ----------
    rules
        The rules or their classes.
    """
    lines = [
        "# Rules",
        "",
        "Levels: **error**, proven that torch raises or that the program cannot learn; **warning**, runs, and is wrong "
        "or leaks; **smell**, works today, fragile or needlessly slow; **strict**, correct code that a purist would "
        "change, reported with `--strict`. A rule reports at a level below or above its own where more or less is "
        "proven.",
        "",
        "These pages are generated from the rules (`pytest --bless`); torch has run every example.",
        "",
        "| code | name | level | fix | |",
        "| --- | --- | --- | --- | --- |",
    ]
    for rule in sorted(rules, key=lambda rule: rule.code):
        fix = "–" if rule.fixes == "none" else rule.fixes
        summary = rule.summary().rstrip(".").replace("|", "\\|")
        lines.append(f"| [{rule.code}]({rule.name}.md) | {rule.name} | {rule.level.value} | {fix} | {summary} |")
    return "\n".join(lines) + "\n"


def _examples(rule: Rule | type[Rule]) -> Iterator[str]:
    if rule.bad:
        yield "## Bad"
    for example in rule.bad:
        yield _program(example.source)
        if example.shows is not None:
            yield _symptom(example.shows)
        if example.fixed is not None:
            yield "Fixed:"
            yield _program(example.fixed)
    if rule.good:
        yield "## Good"
    for example in rule.good:
        yield _program(example.source)


def _program(text: str) -> str:
    return f"```python\n{text}```"


def _symptom(symptom: Symptom) -> str:
    if isinstance(symptom, Raises):
        return f'Torch says: "{symptom.text}".'
    if isinstance(symptom, Holds):
        return f"It runs, and then `{symptom.expression}`."
    return f'Torch warns: "{symptom.text}".'
