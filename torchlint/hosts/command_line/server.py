"""`torchlint server`: the language server on standard input and output; all it does is in `hosts.language_server`."""

from __future__ import annotations

import sys

import click

from torchlint.hosts.command_line.output import complain


@click.command("server")
def command() -> None:
    """The language server, for editors: speaks the Language Server Protocol on standard input and output."""
    try:
        from torchlint.hosts.language_server.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        complain("the language server needs pygls, which is not installed: pip install 'torchlint[lsp]'")
        sys.exit(2)
    serve()
