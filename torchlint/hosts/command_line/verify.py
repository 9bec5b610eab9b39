"""
`torchlint verify`: the runtime cross-check of files, of one finding, or by the user's own program.

Lints as `check` does, with those of its options that choose findings and their report; the verdicts are those of
`torchlint.verify`.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import click

from torchlint.hosts.command_line import check
from torchlint.hosts.command_line.checking import Check
from torchlint.hosts.command_line.driven import MEMORY_MB, SECONDS, STEPS, Driver
from torchlint.hosts.command_line.options import Options
from torchlint.hosts.command_line.output import complain, explained
from torchlint.results import RunResult
from torchlint.rule import Finding
from torchlint.syntax.notebook import is_notebook

_SHARED = frozenset(
    {
        *("select", "extend_select", "ignore", "strict", "preview", "target_torch", "per_file_ignores", "config"),
        *("exclude", "extend_exclude", "force_exclude", "isolated", "baseline", "since", "output_format", "template"),
        *("output_file", "show_trace", "color", "quiet", "verbose", "jobs", "no_cache", "cache_dir"),
        *("exit_zero", "exit_on"),
    }
)
"""The options of `check` that it has too."""
_LINE = re.compile(r"(.+?)(?::cell ([0-9]+))?:([0-9]+)(?::[0-9]+)?")
_Place = tuple[int | None, int]
"""The cell, of a notebook, and the line in it."""


def _parameters() -> list[click.Parameter]:
    own: list[click.Parameter] = [
        click.Argument(["paths"], nargs=-1, required=True, metavar="PATH[:[cell N:]LINE]..."),
        click.Option(["--with", "command_"], metavar="COMMAND", help="Run this program, watched, as the driver."),
        click.Option(["--python"], metavar="PATH", help="With --with: the interpreter (default: the active one)."),
        click.Option(
            ["--steps"],
            type=click.IntRange(min=1),
            default=STEPS,
            show_default=True,
            help="With --with: the steps of optimizers after which a script is stopped, a test no longer watched.",
        ),
        click.Option(
            ["--seconds"],
            type=click.FloatRange(min=0, min_open=True),
            default=SECONDS,
            show_default=True,
            help="With --with: the time after which the program is stopped.",
        ),
        click.Option(
            ["--memory"],
            type=click.IntRange(min=1),
            default=MEMORY_MB,
            show_default=True,
            metavar="MB",
            help="With --with: the resident memory at which it is stopped (Linux).",
        ),
    ]
    shared = [each for each in check.command.params if each.name in _SHARED]
    return [*own, *shared]


@click.command("verify", short_help="Run findings under torch: confirmed, refuted, inconclusive.", params=_parameters())
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], command_: str | None, **options: Any) -> None:
    """
    The findings of files, each with torch's verdict and its evidence; PATH:LINE for the findings of one line, in a
    notebook "PATH:cell N:LINE", as the report names it.

    Without --with the program of each finding is run as `check --verify` does: the file as a script, its Modules with
    made-up inputs, confined. With --with your own program is run once, as yourself and not confined, and each
    finding is judged by what was seen at its lines: "pytest tests -x", "train.py --epochs 1", "-m package.train".

    Exit status as of `check`: 0 nothing to report, 1 findings at --exit-on or above that torch has not refuted, 2 wrong
    use or an internal error, 130 interrupted.
    """
    named = {name: options.pop(name) for name in ("python", "steps", "seconds", "memory")}
    if command_ is None and any(
        context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE for name in named
    ):
        raise click.UsageError("--python, --steps, --seconds and --memory are for --with")
    program = None if command_ is None else Driver(command_, **named)
    files, lines = _places(paths)
    usual = check.command.make_context("check", ["."]).params
    asked_for = Options(**{**usual, **options, "paths": files, "verify": True, "fix": False})
    asked_for.check()
    if asked_for.stdin:
        raise click.UsageError("verify runs files, not standard input (-)")
    with explained():
        status = _Verify(asked_for, lines, program).status()
    context.exit(status)


def _places(paths: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, set[_Place]]]:
    """The paths, and for each that names a line, by its real path: the lines."""
    files: list[str] = []
    lines: dict[str, set[_Place]] = {}
    for path in paths:
        found = None if os.path.exists(path) else _LINE.fullmatch(path)
        files.append(found[1] if found else path)
        if found is None:
            head, _, word = path.rpartition(":")
            if not os.path.exists(path) and os.path.isfile(head):
                raise click.UsageError(f"{path}: `{word}` is no line of {head}, write its number: {head}:LINE")
            continue
        file, cell, line = found[1], found[2] and int(found[2]), int(found[3])
        if is_notebook(file) and not cell:
            raise click.UsageError(f"{path}: a line of a notebook is one of a cell: '{file}:cell N:{line}'")
        if cell and not is_notebook(file):
            raise click.UsageError(f"{path}: {file} is no notebook, and has no cells")
        lines.setdefault(os.path.realpath(file), set()).add((cell or None, line))
    return tuple(dict.fromkeys(files)), lines


class _Verify(Check):
    def __init__(self, options: Options, lines: dict[str, set[_Place]], program: Driver | None) -> None:
        super().__init__(options, None)
        self.lines = lines
        self.program = program

    def _verified(self, result: RunResult) -> RunResult:
        result = self._of_lines(result)
        if self.program is None:
            return super()._verified(result)
        from torchlint.verify import ServerError, TorchMissing

        try:
            return self.program.verdicts(result, quiet=bool(self.options.quiet))
        except (TorchMissing, ServerError) as error:
            complain(f"--with: {error}")
        self.request.misused = True
        return result

    def _of_lines(self, result: RunResult) -> RunResult:
        if not self.lines:
            return result
        outcomes = []
        met: set[tuple[str, _Place]] = set()
        for outcome in result.outcomes:
            path = os.path.realpath(outcome.report.path)
            lines = self.lines.get(path)
            if lines is not None:
                kept = tuple(finding for finding in outcome.report.findings if lines & _covered(finding))
                met |= {(path, place) for finding in kept for place in _covered(finding)}
                outcome = replace(outcome, report=replace(outcome.report, findings=kept))
            outcomes.append(outcome)
        for path, lines in self.lines.items():
            if not os.path.exists(path):  # that is said
                continue
            for cell, line in sorted(lines, key=lambda place: (place[0] or 0, place[1])):
                if (path, (cell, line)) not in met:
                    named = os.path.relpath(path) + (f":cell {cell}" if cell else "")
                    complain(f"{named}:{line}: no finding there")
        return replace(result, outcomes=tuple(outcomes))


def _covered(finding: Finding) -> set[_Place]:
    return {(finding.cell, line) for line in range(finding.span.line, finding.span.end_line + 1)}
