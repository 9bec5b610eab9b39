"""`torchlint rules`: the rules that hold here, one per line or as JSON, all or those that speak of something."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchlint.config import LEVELS
from torchlint.hosts.command_line.options import Choice
from torchlint.hosts.command_line.output import complain, explained, write

if TYPE_CHECKING:
    from torchlint.config import Config
    from torchlint.lint.registry import Registry
    from torchlint.report import About
    from torchlint.rule import Rule


@click.command("rules", short_help="All rules, or those that speak of something.")
@click.argument("words", nargs=-1)
@click.option("--level", type=Choice(LEVELS), help="Only rules of this level.")
@click.option("--fixable", is_flag=True, help="Only rules that have a fix.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(words: tuple[str, ...], level: str | None, fixable: bool, output_format: str) -> None:
    """One line per rule: code, name, level, fix, summary; with WORDS, the rules whose pages have all of them."""
    import json

    with explained():
        known = known_rules()
    found = [item for item in known.rules if (level is None or item.level.value == level)]
    found = [item for item in found if item.fixes != "none" or not fixable]
    found = searched(found, words)
    rows = [
        {
            "code": item.code,
            "name": item.name,
            "level": item.level.value,
            "fixes": item.fixes,
            "summary": item.summary(),
            "preview": item.preview,
            "options": dict(item.options),
        }
        for item in found
    ]
    if output_format == "json":
        write(sys.stdout, [json.dumps(rows, indent=2), "\n"])
        return
    if words and not rows:
        complain(f"no rule speaks of {' '.join(words)}")
    widths = {key: max((len(str(row[key])) for row in rows), default=0) for key in ("code", "name", "level", "fixes")}
    for row in rows:
        columns = (f"{row[key]:<{width}}" for key, width in widths.items())
        write(sys.stdout, ["  ".join((*columns, str(row["summary"]))), "\n"])


def searched(rules: Sequence[Rule], words: Sequence[str]) -> list[Rule]:
    """The rules whose code, name or documentation has all words, those that have them in their names first."""
    wanted = [word.lower() for word in words]
    found = []
    for item in rules:
        head = f"{item.code} {item.name} {item.summary()}".lower()
        text = f"{head} {' '.join(item.sections().values())}".lower()
        if all(word in text for word in wanted):
            found.append((not all(word in head for word in wanted), item))
    return [item for _, item in sorted(found, key=lambda pair: (pair[0], pair[1].code))]


def known_rules() -> Registry:
    """
    The rules of the working directory's configuration; what is wrong with its plugins goes to standard error.

    Raises
    ------
    ConfigError, RegistryError
        if the configuration or torchlint's own set is not sound.
    """
    from torchlint import config
    from torchlint.lint import registry

    settings = config.for_directory(Path.cwd())
    known = registry.load(settings.plugins, str(settings.file))
    for plugin in known.broken:
        complain(str(plugin))
    return known


def about(code: str, settings: Config) -> About | None:
    """What a report says of the rule with a code, under a configuration; None if there is no such rule."""
    from torchlint.lint import registry
    from torchlint.report import About, rule_page

    try:
        found = registry.load(settings.plugins, str(settings.file)).find(code)
    except KeyError:
        return None
    if isinstance(found, registry.DriverCode):
        return About(found.summary, found.level)
    return About(found.summary(), found.level, rule_page.page(found))
