"""`torchlint completion SHELL`: the script that lets a shell complete commands, options, formats and codes; click's."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_TORCHLINT_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """
    Print the completion script of a shell.

    bash: eval "$(torchlint completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc;
    fish: torchlint completion fish > ~/.config/fish/completions/torchlint.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "torchlint", VARIABLE).source())
