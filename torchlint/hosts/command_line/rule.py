"""`torchlint rule CODE|NAME`: a rule's page on standard output; no text of its own."""

from __future__ import annotations

import sys

import click

from torchlint.hosts.command_line.options import codes
from torchlint.hosts.command_line.output import explained, write
from torchlint.hosts.command_line.rules import known_rules, searched

MOST = 8
"""Rules that are offered where none has the name."""


@click.command("rule", short_help="The page of a rule: what, why, example, cure.")
@click.argument("wanted", metavar="CODE|NAME", shell_complete=codes)
def command(wanted: str) -> None:
    """A rule's page: what it finds, why that is bad, an example, the cure, what torch says."""
    from torchlint.lint.registry import DriverCode

    with explained():
        known = known_rules()
        try:
            found = known.find(wanted)
        except KeyError as error:
            others = [f"{item.code} {item.name}" for item in searched(known.rules, wanted.replace("-", " ").split())]
            hint = f"\nRules that speak of it: {', '.join(others[:MOST])}" if others else ""
            raise click.UsageError(f"{error.args[0]}{hint}") from None
    if isinstance(found, DriverCode):
        click.echo(f"# {found.name} ({found.code})\n\n{found.summary}")
        return
    from torchlint.report import rule_page

    write(sys.stdout, [rule_page.page(found).rstrip("\n"), "\n"])
