"""`torchlint help [COMMAND]`: the same as `torchlint COMMAND --help`, for those who try this first."""

from __future__ import annotations

import click


@click.command("help")
@click.argument("wanted", metavar="[COMMAND]", required=False)
@click.pass_context
def command(context: click.Context, wanted: str | None) -> None:
    """What a command does and takes."""
    group = context.find_root()
    assert isinstance(group.command, click.Group)
    if wanted is None:
        click.echo(group.get_help())
        return
    name, found, _ = group.command.resolve_command(group, [wanted])
    assert found is not None
    with click.Context(found, info_name=name, parent=group) as inner:
        click.echo(found.get_help(inner))
