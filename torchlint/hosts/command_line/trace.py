"""
`torchlint trace`: the gradient at each named intermediate of a script, in backward order, without an edit.

Chooses what is traced and hands over to `torchlint.sanitizer`; the exit status is the program's.
"""

from __future__ import annotations

import click

from torchlint.hosts.command_line.run import PASSED_ON, program_and_page, started


@click.command("trace", short_help="Run a script; the gradient at each named intermediate.", context_settings=PASSED_ON)
@program_and_page("table")
@click.option(
    "--backward", type=click.IntRange(min=1), default=1, show_default=True, help="Which backward of the run is traced."
)
@click.option("--svg", metavar="FILE", default="", help="Draw its graph: what nodes saved, where a write hit it.")
@click.pass_context
def command(
    context: click.Context,
    program: tuple[str, ...],
    module: str | None,
    python: str | None,
    backward: int,
    svg: str,
    format_: str,
    output_file: str,
) -> None:
    """
    Gradients of one backward of your program: of what, where, its shape and norm, NaN and zero.

    The program is run as you would run it. Names are those that statements assign; nothing is edited.
    """
    started(
        context, program, module, python, trace=True, backward=backward, svg=svg, output=output_file, format=format_
    )
