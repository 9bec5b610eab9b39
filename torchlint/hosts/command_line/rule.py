"""`torchlint rule CODE|NAME`: a rule's page on standard output; no text of its own."""

from __future__ import annotations

import sys

import click

from torchlint.hosts.command_line.output import explained, write
from torchlint.hosts.command_line.rules import known_rules


@click.command("rule")
@click.argument("wanted", metavar="CODE|NAME")
def command(wanted: str) -> None:
    """A rule's page: what it finds, why that is bad, an example, the cure, what torch says."""
    from torchlint.lint.registry import DriverCode

    with explained():
        try:
            found = known_rules().find(wanted)
        except KeyError as error:
            raise click.UsageError(str(error.args[0])) from None
    if isinstance(found, DriverCode):
        click.echo(f"# {found.name} ({found.code})\n\n{found.summary}")
        return
    from torchlint.report import rule_page

    write(sys.stdout, [rule_page.page(found).rstrip("\n"), "\n"])
