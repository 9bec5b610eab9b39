"""
`torchlint run`: the user's own program, watched: what autograd refused or lost is told with the lines behind it.

Chooses the interpreter and hands over to `torchlint.sanitizer`; the exit status is the program's.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from typing import Any, TypeAlias

import click

from torchlint.config import near_miss
from torchlint.hosts.command_line.output import complain

Callback: TypeAlias = Callable[..., Any]
PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""What stands after the script is the script's."""


def started(
    context: click.Context,
    program: tuple[str, ...],
    module: str | None,
    python: str | None,
    **asked: str | int | bool,
) -> None:
    """
    Run a program, watched, and end with its status.

    Raises
    ------
    click.UsageError
        if there is none.
    """
    from torchlint.sanitizer.launch import Watched, run
    from torchlint.verify import ServerError
    from torchlint.verify.own import python_of

    if module is None:
        if not program:
            raise click.UsageError("which program? Name a script (train.py), or a module (-m package.train)")
        if program[0].startswith("-") and not os.path.exists(program[0]):
            raise click.UsageError(_misplaced(context, program))
        if not os.path.isfile(program[0]):
            raise click.UsageError(f"there is no file {program[0]}")
    target, arguments = (program[0], program[1:]) if module is None else (module, program)
    watched = Watched(target, arguments, module is not None, **asked)  # type: ignore[arg-type]
    try:
        context.exit(run(python_of("", python), watched))
    except ServerError as error:
        complain(str(error))
        context.exit(2)


def _misplaced(context: click.Context, program: tuple[str, ...]) -> str:
    """What to say of an option that is none of ours: the program's own stand after it."""
    own = [name for option in context.command.params for name in option.opts if name.startswith("--")]
    command = f"torchlint {context.info_name}"
    words = f"`{command}` has no option {program[0]}{near_miss(program[0], own)}; options of the program stand after it"
    script = next((each for each in program if os.path.isfile(each)), "train.py")
    return f"{words}: {command} {shlex.join([script, *(each for each in program if each != script)])}"


def program_and_page(page: str) -> Callable[[Callback], Callback]:
    """The program and its interpreter, and in which form and where to the page (the table, ...) goes."""
    options = (
        click.argument("program", nargs=-1, metavar="SCRIPT [ARGS]...", type=click.UNPROCESSED),
        click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does."),
        click.option("--python", metavar="PATH", help="The interpreter (default: the active one)."),
        click.option(
            "--output-format",
            "format_",
            type=click.Choice(["text", "json"]),
            default="text",
            show_default=True,
            help=f"Of the {page}.",
        ),
        click.option(
            "-o",
            "--output-file",
            metavar="FILE",
            default="",
            help=f"Write the {page} there, not to standard error.",
        ),
    )

    def declare(command: Callback) -> Callback:
        for option in reversed(options):
            command = option(command)
        return command

    return declare


@click.command("run", short_help="Run a program, watched: who is behind an autograd error.", context_settings=PASSED_ON)
@program_and_page("page")
@click.pass_context
def command(
    context: click.Context,
    program: tuple[str, ...],
    module: str | None,
    python: str | None,
    format_: str,
    output_file: str,
) -> None:
    """
    Your own program, run as you would run it, and watched. Nothing confines it.

    Where autograd raises: which operation saved, what wrote it since, which backward read it. At the end: parameters
    that never had a gradient, the first NaN of a gradient, graphs that grow. The page follows what the program prints,
    on standard error; output and exit status are the program's own.
    """
    started(context, program, module, python, output=output_file, format=format_)
