"""`torchlint clean`: removes what earlier runs have kept, and nothing else."""

from __future__ import annotations

import click

from torchlint.cache.replay import CACHE_VARIABLE
from torchlint.hosts.command_line.output import explained


@click.command("clean")
@click.option(
    "--cache-dir",
    metavar="PATH",
    envvar=CACHE_VARIABLE,
    type=click.Path(file_okay=False),
    help="Where it is (default: .torchlint_cache in the project).",
)
def command(cache_dir: str | None) -> None:
    """Remove what is kept of earlier runs."""
    from torchlint.cache.results import Cache

    store = Cache.of_project(cache_dir)
    with explained():
        removed = store.clear()
    if not removed:
        said = f"Nothing to remove in {store.directory}"
    elif store.directory.exists():
        said = f"Removed what torchlint kept in {store.directory}; what else is in it stays"
    else:
        said = f"Removed {store.directory}"
    click.echo(said)
