"""
The options of `torchlint check`: how they are spelled, what they may be, and which exclude each other.

Reads no file and does nothing: `checking` does what they ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import click

import torchlint
from torchlint.cache.replay import CACHE_VARIABLE
from torchlint.config import LEVELS, Overrides

OUTPUT_FORMATS = (
    "text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "html", "rdjson", "azure"
)  # fmt: skip
ALIASES = {"full": "text", "json-lines": "jsonl"}
"""What Ruff calls them."""
STDIN = "-"
AUTO, ALWAYS, NEVER = "auto", "always", "never"
_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for; one field per option, None where it was not said."""

    paths: tuple[str, ...]
    select: tuple[str, ...]
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    strict: bool
    preview: bool
    target_torch: str | None
    per_file_ignores: tuple[str, ...]
    exclude: tuple[str, ...]
    extend_exclude: tuple[str, ...]
    force_exclude: bool | None
    config: tuple[str, ...]
    isolated: bool
    fix: bool | None
    unsafe_fixes: bool | None
    fix_only: bool
    diff: bool
    add_noqa: bool
    verify: bool
    driver: str | None
    baseline: str | None
    write_baseline: str | None
    since: str | None
    output_format: str | None
    template: str | None
    output_file: str | None
    show_trace: bool
    color: str
    quiet: bool
    verbose: bool
    show_files: bool
    show_settings: bool
    show_state: bool
    statistics: bool
    jobs: int | None
    executor: str | None
    no_cache: bool
    cache_dir: str | None
    stdin_filename: str | None
    exit_zero: bool
    exit_on: str | None
    exit_non_zero_on_fix: bool
    watch: bool

    @property
    def stdin(self) -> bool:
        """Whether standard input is to be checked."""
        return STDIN in self.paths

    def overrides(self) -> Overrides:
        """
        What of it holds on top of every configuration.

        Raises
        ------
        click.UsageError
            for a pattern without codes.
        """
        return Overrides(
            select=_split(self.select) if self.select else None,
            extend_select=_split(self.extend_select),
            ignore=_split(self.ignore),
            strict=self.strict,
            preview=self.preview,
            target_torch=self.target_torch,
            exit_on=self.exit_on,
            exclude=_split(self.exclude) if self.exclude else None,
            extend_exclude=_split(self.extend_exclude),
            per_file_ignores=_by_pattern(self.per_file_ignores),
            root=Path.cwd() if self.exclude or self.extend_exclude or self.per_file_ignores else None,
        )

    def check(self) -> None:
        """
        Refuse what cannot be meant.

        Raises
        ------
        click.UsageError
            which says what excludes what.
        """
        for one, other, why in _EXCLUSIVE:
            if getattr(self, one) and getattr(self, other):
                raise click.UsageError(f"{_spelled(one)} and {_spelled(other)} {why}")
        if self.driver is not None and (not self.verify or self.stdin):
            raise click.UsageError("--with COMMAND is for --verify, and not for standard input (-)")
        if "" in self.paths:
            raise click.UsageError("a path is empty; the current directory is `.`")
        if self.stdin:
            if len(self.paths) > 1:
                raise click.UsageError("standard input (-) cannot be checked together with files")
            for name in ("watch", "since", "write_baseline", "show_files"):
                if getattr(self, name):
                    raise click.UsageError(f"{_spelled(name)} is for files, not for standard input (-)")
        elif self.stdin_filename is not None:
            raise click.UsageError("--stdin-filename is for standard input (-), not for files")
        selected = set(_split(self.select))
        if self.select and not selected:
            raise click.UsageError("--select names no rule: leave it out for the rules that are on by default")
        if selected and selected <= set(_split(self.ignore)):
            raise click.UsageError("--ignore takes away all that --select names: nothing is left to look for")


_EXCLUSIVE: Sequence[tuple[str, str, str]] = (
    ("quiet", "verbose", "exclude each other"),
    ("add_noqa", "fix", "both change files: one after the other, please"),
    ("add_noqa", "fix_only", "both change files: one after the other, please"),
    ("add_noqa", "baseline", "are two ways to do the same: take one"),
    ("add_noqa", "write_baseline", "are two ways to do the same: take one"),
    ("baseline", "write_baseline", "exclude each other: --write-baseline FILE writes an existing one anew"),
    ("since", "write_baseline", "exclude each other: a baseline is of all lines"),
    ("diff", "write_baseline", "exclude each other: --diff changes nothing"),
    ("add_noqa", "verify", "exclude each other: --add-noqa reports no finding"),
    ("write_baseline", "verify", "exclude each other: --write-baseline reports no finding"),
    ("diff", "output_file", "exclude each other: a diff goes to standard output"),
    ("add_noqa", "output_file", "exclude each other: --add-noqa reports no finding"),
    ("write_baseline", "output_file", "exclude each other: --write-baseline reports no finding"),
    ("diff", "verify", "exclude each other: --diff reports no finding"),
    ("fix_only", "verify", "exclude each other: --fix-only reports no finding"),
    ("diff", "watch", "exclude each other"),
    ("add_noqa", "watch", "exclude each other"),
    ("write_baseline", "watch", "exclude each other"),
    ("template", "output_format", "exclude each other: a template is a format"),
    ("show_state", "fix", "exclude each other: --show-state lints nothing"),
    ("show_state", "fix_only", "exclude each other: --show-state lints nothing"),
    ("show_state", "verify", "exclude each other: --show-state lints nothing"),
    ("show_state", "output_format", "exclude each other: --show-state lints nothing"),
    ("show_state", "watch", "exclude each other"),
    ("show_files", "show_settings", "exclude each other"),
    ("show_files", "show_state", "exclude each other"),
    ("show_settings", "show_state", "exclude each other"),
    *(
        (shown, other, f"exclude each other: --{shown.replace('_', '-')} lints nothing")
        for shown in ("show_files", "show_settings")
        for other in ("fix", "fix_only", "diff", "add_noqa", "verify", "write_baseline", "watch")
    ),
)


class Choice(click.Choice[str]):
    """A choice that says which word somebody meant."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if isinstance(value, str) and value not in self.choices:
            close = get_close_matches(value, list(self.choices), n=1, cutoff=0.5)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            self.fail(f"{value!r} is not one of {', '.join(self.choices)}.{meant}", parameter, context)
        return super().convert(value, parameter, context)


class _Format(Choice):
    """Takes other tools' names of formats too."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        return super().convert(ALIASES.get(value, value), parameter, context)


def codes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """For a shell's completion: codes and names of rules."""
    from torchlint.lint import registry

    names = registry.load().names
    words = [*names, *names.values(), "ALL"]
    return [word for word in words if word.lower().startswith(incomplete.lower())]


def _version(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(f"torchlint, version {torchlint.__version__}")
        context.exit()


_MANY: dict[str, Any] = {"metavar": "CODES", "multiple": True, "shell_complete": codes}
_FILE: dict[str, Any] = {"metavar": "FILE", "type": click.Path(dir_okay=False)}
_DECLARED = (
    click.argument("paths", nargs=-1, type=click.Path(readable=False)),
    # what to look for
    click.option("--select", **_MANY, help="Only these: codes, prefixes (TLN2), names, or ALL."),
    click.option("--extend-select", **_MANY, help="These too."),
    click.option("--ignore", "--extend-ignore", "ignore", **_MANY, help="Not these."),
    click.option("--strict", is_flag=True, help="Strict-level findings too: correct code that a purist would change."),
    click.option("--preview", is_flag=True, help="Rules that are in preview too."),
    click.option(
        "--per-file-ignores", metavar="PATTERN:CODES", multiple=True, help="Not these in the files of a pattern."
    ),
    click.option("--target-torch", metavar="RANGE", help="The torch it must run on: 2.4 (or later), '>=2.1,<3'."),
    # where
    click.option("--exclude", metavar="PATTERNS", multiple=True, help="Leave out these instead of the usual ones."),
    click.option("--extend-exclude", metavar="PATTERNS", multiple=True, help="Leave out these too."),
    click.option(
        "--force-exclude/--no-force-exclude", default=None, help="Leave out what is excluded though it is named here."
    ),
    click.option("--since", metavar="REV", help="Only what is new since a git revision: changed lines, new files."),
    click.option("--stdin-filename", metavar="PATH", help="What standard input is called (-, and its configuration)."),
    # configuration
    click.option("--config", metavar="FILE|TOML", multiple=True, help="This file, or KEY = VALUE on top of the files."),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
    # what to do
    click.option("--fix/--no-fix", default=None, help="Apply safe fixes."),
    click.option("--unsafe-fixes/--no-unsafe-fixes", default=None, help="With --fix or --diff: unsafe fixes too."),
    click.option("--fix-only", is_flag=True, help="Apply fixes and report nothing of what is left."),
    click.option("--diff", is_flag=True, help="Print what would change as a unified diff, and change nothing."),
    click.option("--add-noqa", is_flag=True, help="Write a # noqa comment for each finding."),
    click.option(
        "--verify", is_flag=True, help="Run the program of every finding under torch, and say what it showed."
    ),
    click.option("--with", "driver", metavar="COMMAND", help="With --verify: judge, and hold fixes, by this program."),
    click.option("--baseline", **_FILE, help="Leave out the findings that this file knows."),
    click.option("--write-baseline", **_FILE, help="Write what is found now to this file."),
    click.option("--watch", is_flag=True, help="Check again whenever a file changes (needs torchlint[watch])."),
    # the report
    click.option("--output-format", type=_Format(OUTPUT_FORMATS), help="How to report (default: text)."),
    click.option("--template", metavar="TEXT", help='One line per finding, as "{path}:{line} {code} {message}".'),
    click.option("-o", "--output-file", **_FILE, help="Write the report there."),
    click.option("--show-trace/--no-trace", default=True, help="Show the steps that lead to a finding (default: yes)."),
    click.option("--color", type=Choice((AUTO, ALWAYS, NEVER)), default=AUTO, help="Colours (default: auto)."),
    click.option("-q", "--quiet", is_flag=True, help="Findings only: no summary, no notes."),
    click.option("-v", "--verbose", is_flag=True, help="Say which configuration holds, and what the cache answered."),
    click.option("--statistics", is_flag=True, help="Counts and time per rule, instead of the findings."),
    click.option("--show-files", is_flag=True, help="Print the files that would be checked, and check none."),
    click.option("--show-settings", is_flag=True, help="Print the settings that hold, and check nothing."),
    click.option("--show-state", is_flag=True, help="Print the abstract state after each line instead of linting."),
    # how
    click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes (default: one per core)."),
    click.option("--executor", metavar="dask://HOST:PORT", help="Let the workers of a Dask scheduler do it."),
    click.option("--no-cache", is_flag=True, help="Neither use nor keep results of earlier runs."),
    click.option(
        "--cache-dir",
        metavar="PATH",
        envvar=CACHE_VARIABLE,
        type=click.Path(file_okay=False),
        help="Where they are kept (default: .torchlint_cache in the project).",
    ),
    # the exit status
    click.option("--exit-zero", is_flag=True, help="Exit status 0 even with findings."),
    click.option("--exit-on", type=Choice(LEVELS), help="The mildest level that fails a run (default: warning)."),
    click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit status 1 if anything was fixed."),
    click.option("-V", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, hidden=True),
)


def declared(command: _Command) -> _Command:
    """A command with all options of `check`."""
    for declare in reversed(_DECLARED):
        command = declare(command)
    return command


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(code.strip() for value in values for code in value.split(",") if code.strip())


def _by_pattern(values: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    pattern = ""
    for each in _split(values):  # PATTERN:CODE,CODE,PATTERN:CODE
        before, colon, code = each.rpartition(":")
        if colon:
            pattern = before
        if not pattern or not code:
            raise click.UsageError(f"--per-file-ignores: `{each}` is not of the form PATTERN:CODE, as in tests/*:TLN2")
        found.setdefault(pattern, []).append(code)
    return tuple((pattern, tuple(codes)) for pattern, codes in found.items())


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"
