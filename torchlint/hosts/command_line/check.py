"""
`torchlint check`: the command, its help and its exit status.

What it does is the business of `checking`, which is imported when it begins.
"""

from __future__ import annotations

from typing import Any

import click

from torchlint.hosts.command_line.options import STDIN, Options, declared
from torchlint.hosts.command_line.output import explained


@click.command("check", short_help="Lint files, directories, notebooks or standard input.")
@declared
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """
    Lint files and directories; "." if none is named, "-" is standard input.

    A finding is silenced by "# noqa: CODE" or "# torchlint: ignore[CODE] reason" on its first or last line, or on the
    first or last line of the statement it is in (of a compound statement: of its header), and in a whole file by
    "# torchlint: ignore-file[CODE]". CODE may be a prefix (TLN2); torchlint's own comments take names too.

    Exit status: 0 nothing to report (smells alone do not fail a run), 1 findings at --exit-on or above that torch has
    not refuted, 2 wrong use or an internal error, 130 interrupted.
    """
    usual = (".",) if options["stdin_filename"] is None else (STDIN,)
    asked_for = Options(paths=paths or usual, **options)
    asked_for.check()
    with explained():
        if asked_for.watch:
            from torchlint.hosts.command_line import watching

            status = watching.watch(asked_for)
        else:
            from torchlint.hosts.command_line import checking

            status = checking.Check(asked_for, context.obj).status()
    context.exit(status)
