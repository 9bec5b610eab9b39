"""`torchlint rules`: all rules that hold here, one per line or as JSON; selects none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from torchlint.hosts.command_line.output import complain, explained, write

if TYPE_CHECKING:
    from torchlint.config import Config
    from torchlint.lint.registry import Registry
    from torchlint.report import About


@click.command("rules")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(output_format: str) -> None:
    """One line per rule: code, name, level, fix, summary."""
    import json

    with explained():
        known = known_rules()
    rows = [
        {
            "code": item.code,
            "name": item.name,
            "level": item.level.value,
            "fixes": item.fixes,
            "summary": item.summary(),
        }
        for item in known.rules
    ]
    if output_format == "json":
        write(sys.stdout, [json.dumps(rows, indent=2), "\n"])
        return
    widths = {key: max((len(row[key]) for row in rows), default=0) for key in ("code", "name", "level", "fixes")}
    for row in rows:
        columns = (f"{row[key]:<{width}}" for key, width in widths.items())
        write(sys.stdout, ["  ".join((*columns, row["summary"])), "\n"])


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
        complain(f"{plugin.origin}: no rules from it: {plugin.reason}")
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
