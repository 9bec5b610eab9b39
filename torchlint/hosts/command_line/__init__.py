"""
The command line: one module per command, each with its options and exit statuses, no logic.

A command's module is imported when that command is named, and what does its work when it is done, so that
`--version` and `--help` answer at once.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import click

import torchlint

COMMANDS: Mapping[str, str] = {
    "check": "torchlint.hosts.command_line.check",
    "verify": "torchlint.hosts.command_line.verify",
    "run": "torchlint.hosts.command_line.run",
    "trace": "torchlint.hosts.command_line.trace",
    "rule": "torchlint.hosts.command_line.rule",
    "rules": "torchlint.hosts.command_line.rules",
    "new-rule": "torchlint.hosts.command_line.new_rule",
    "clean": "torchlint.hosts.command_line.clean",
    "server": "torchlint.hosts.command_line.server",
    "completion": "torchlint.hosts.command_line.completion",
    "help": "torchlint.hosts.command_line.helping",
}
"""Name → module, in the order of --help; each module has a `click.Command` called `command`."""
_ELSEWHERE = {"explain": "rule", "lint": "check", "linter": "rules", "version": "--version"}
"""What other tools call theirs."""
INTERRUPTED = 130
"""The exit status of a shell's command that Ctrl-C ended."""


class _Commands(click.Group):
    """Loads a command when it is named, and says what click would say otherwise: how an interrupted run ends, and which
    option or command somebody meant."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        module = COMMANDS.get(name)
        if module is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = [_ELSEWHERE[args[0]]] if args[0] in _ELSEWHERE else get_close_matches(args[0], list(COMMANDS), n=1)
            if not close and os.path.exists(args[0]):
                close = [f"check {args[0]}"]
            meant = f" Did you mean '{close[0]}'?" if close else ""
            context.fail(f"No such command '{args[0]}'.{meant}")
        return super().resolve_command(context, args)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            click.echo("torchlint: interrupted", err=True)
            context.exit(INTERRUPTED)
        except click.NoSuchOption as error:
            close = get_close_matches(error.option_name, error.possibilities or (), cutoff=0.75)
            raise click.NoSuchOption(error.option_name, possibilities=close, ctx=error.ctx) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(torchlint.__version__, "-V", "--version", prog_name="torchlint")
def main() -> None:
    """A linter for PyTorch that knows autograd: it proves its findings, and lets torch confirm them."""
