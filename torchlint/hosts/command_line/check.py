"""
`torchlint check`: its options and exit statuses, no logic.

The work is done by `torchlint.run.run`, `torchlint.report`, `torchlint.verify`; they are imported when it begins.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from torchlint.cache.replay import CACHE_VARIABLE, wants_color
from torchlint.config import LEVELS, Overrides
from torchlint.hosts.command_line.output import complain, explained, write

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from torchlint.cache.replay import Asked
    from torchlint.results import Run
    from torchlint.run.job import Fixing
    from torchlint.run.run import Opened

OUTPUT_FORMATS = ("text", "concise", "json", "jsonl")
VERIFY_SECONDS = 30.0
VERIFY_MEMORY_MB = 4096
STDIN = "-"
_CACHE_DIR: dict[str, Any] = {"metavar": "PATH", "envvar": CACHE_VARIABLE, "type": click.Path(file_okay=False)}


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--select", metavar="CODES", multiple=True, help="Only these: codes, prefixes (TLN2), names, or ALL.")
@click.option("--extend-select", metavar="CODES", multiple=True, help="These too.")
@click.option("--ignore", metavar="CODES", multiple=True, help="Not these.")
@click.option("--strict", is_flag=True, help="Strict-level findings too: correct code that a purist would change.")
@click.option("--fix", is_flag=True, help="Apply safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: unsafe fixes too.")
@click.option("--diff", is_flag=True, help="Print what --fix would change as a unified diff, and change nothing.")
@click.option("--verify", is_flag=True, help="Run the program of every finding under torch, and say what it showed.")
@click.option("--output-format", type=click.Choice(OUTPUT_FORMATS), default="text", show_default=True)
@click.option("-o", "--output-file", type=click.Path(dir_okay=False), help="Write the report there.")
@click.option("--show-trace/--no-trace", default=True, help="Show the steps that lead to a finding (default: yes).")
@click.option("--show-state", is_flag=True, help="Print the abstract state after each line instead of linting.")
@click.option("--statistics", is_flag=True, help="Counts and time per rule.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes (default: one per core).")
@click.option("--executor", metavar="dask://HOST:PORT", help="Let the workers of a Dask scheduler do it.")
@click.option("--no-cache", is_flag=True, help="Neither use nor keep results of earlier runs.")
@click.option("--cache-dir", **_CACHE_DIR, help="Where they are kept (default: .torchlint_cache in the project).")
@click.option("--stdin-filename", metavar="PATH", help="What standard input is called, for - (and its configuration).")
@click.option("--force-exclude", is_flag=True, help="Leave out what is excluded though it is named here (for hooks).")
@click.option("--exit-zero", is_flag=True, help="Exit status 0 even with findings.")
@click.option("--exit-on", type=click.Choice(LEVELS), help="The mildest level that fails a run (default: warning).")
@click.option("--target-torch", metavar="RANGE", help="The torch it must run on: 2.4 (or later), '>=2.1,<3'.")
@click.pass_context
def command(context: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """
    Lint files and directories; "." if none is named, "-" is standard input.

    A finding is silenced by "# noqa: CODE" or "# torchlint: ignore[CODE] reason" on its first or last line, or on the
    first or last line of the statement it is in (of a compound statement: of its header), and in a whole file by
    "# torchlint: ignore-file[CODE]". CODE may be a prefix (TLN2); torchlint's own comments take names too.

    Exit status: 0 nothing to report (smells alone do not fail a run), 1 findings at --exit-on or above, 2 wrong use or
    an internal error, 130 interrupted.
    """
    name = options["stdin_filename"]
    if name is not None and paths and STDIN not in paths:
        raise click.UsageError("--stdin-filename is for standard input (-), not for files")
    with explained():
        status = _check(context.obj, paths or (".",) if name is None else (STDIN,), **options)
    context.exit(status)


def _check(
    asked: Asked | None,
    paths: tuple[str, ...],
    *,
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    strict: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    verify: bool,
    output_format: str,
    output_file: str | None,
    show_trace: bool,
    show_state: bool,
    statistics: bool,
    jobs: int | None,
    executor: str | None,
    no_cache: bool,
    cache_dir: str | None,
    stdin_filename: str | None,
    force_exclude: bool,
    exit_zero: bool,
    exit_on: str | None,
    target_torch: str | None,
) -> int:
    from torchlint import report
    from torchlint.cache import results as cache
    from torchlint.project import files as project
    from torchlint.run import run

    opened = _executor(executor) if executor else None
    overrides = Overrides(
        select=_split(select) if select else None,
        extend_select=_split(extend_select),
        ignore=_split(ignore),
        strict=strict,
        exit_on=exit_on,
        target_torch=target_torch,
    )
    fixing: Fixing = "no" if not (fix or diff) else "unsafe" if unsafe_fixes else "safe"
    texts: dict[str, str] = {}
    notes: list[str] = []
    misused = False
    found, store = None, None
    if show_state:
        return _show_state(paths, stdin_filename)
    if STDIN in paths:
        if len(paths) > 1:
            raise click.UsageError("standard input (-) cannot be checked together with files")
        name = stdin_filename or "<stdin>"
        data = sys.stdin.buffer.read()
        result = run.check_data(data, name, overrides, fixing=fixing)
        texts[name] = result.outcomes[0].text or _decoded(data)
        if fix and not diff:
            write(sys.stdout, [texts[name]])
    else:
        found = project.find_files(paths, exclude_named=force_exclude)
        for path in found.missing:
            complain(f"no such file or directory: {path}")
        for path, why in (*found.refused, *found.unreadable):
            complain(f"{path}: {why}")
        for path in found.empty:
            complain(f"no Python files in {path}")
        misused = bool(found.missing or found.refused or found.unreadable)
        writing = fix and not diff
        # what was found in the cache has taken no time that could be counted
        store = None if no_cache or statistics else cache.Cache.of_project(cache_dir)
        result = run.check_files(
            found.files, overrides, fixing=fixing, write=writing, workers=jobs, store=store, executor=opened
        )
    notes += [note for outcome in result.outcomes for note in outcome.notes]
    if store is not None and store.foreign:
        notes.append(f"{store.foreign} is not torchlint's: no results are kept")
    for note in notes:
        complain(note)
    if diff:
        write(sys.stdout, [result.diff])
        return 2 if result.failed or misused else int(bool(result.diff) and not exit_zero)
    if verify:
        result, unverified = _verified(result, texts, jobs or 1, opened)
        misused |= unverified
    # with --fix, standard output is the fixed program
    usual = sys.stderr if STDIN in paths and fix else sys.stdout
    with (
        open(output_file, "w", encoding="utf-8", errors="backslashreplace") if output_file else nullcontext(usual) as to
    ):
        style = report.Style(color=wants_color(to), trace=show_trace, texts=texts)
        text = "".join(report.render(output_format, result, style))
        write(to, [text])
        if statistics:
            write(to if output_format in ("text", "concise") else sys.stderr, ["\n", *_statistics(result)])
    status = result.exit_status()
    status = 2 if misused else 0 if exit_zero and status == 1 else status
    if asked is not None and found is not None and store is not None and not (fix or verify or output_file or misused):
        from torchlint.cache import record as recording

        recording.keep(asked, found, store, text, status, "".join(f"torchlint: {note}\n" for note in notes))
    return status


def _verified(result: Run, texts: dict[str, str], workers: int, executor: Opened | None) -> tuple[Run, bool]:
    """The run with torch's verdicts; whether that failed."""
    from torchlint.verify import ServerError, TorchMissing
    from torchlint.verify.run import verify_run

    try:
        judged = verify_run(
            result, texts, timeout=VERIFY_SECONDS, memory_mb=VERIFY_MEMORY_MB, workers=workers, executor=executor
        )
        return judged, False
    except TorchMissing:
        message = "--verify runs programs under torch, which is not installed: pip install 'torchlint[runtime]'"
        complain(message)
    except ServerError as error:
        complain(f"--verify: {error}")
    return result, True


def _executor(address: str) -> Opened:
    def opened() -> AbstractContextManager[tuple[Executor, int]]:
        from torchlint.run.executors import connected

        return connected(address)

    return opened


def _statistics(result: Run) -> Iterator[str]:
    from torchlint.hosts.command_line.rules import known_rules
    from torchlint.report import statistics

    return statistics.table(result, known_rules().names)


def _show_state(paths: tuple[str, ...], stdin_filename: str | None) -> int:
    """`check --show-state`: one file after the other, as the model sees it."""
    from torchlint.project import files as project
    from torchlint.report import state
    from torchlint.syntax.lowering_libcst import LoweringError
    from torchlint.syntax.notebook import Notebook, is_notebook
    from torchlint.syntax.tree import Source, SourceError, decode

    status = 0
    inputs = [(stdin_filename or "<stdin>", sys.stdin.buffer.read())] if STDIN in paths else []
    for name in project.find_files([path for path in paths if path != STDIN]).files:
        try:
            inputs.append((str(name), Path(name).read_bytes()))
        except OSError as error:
            complain(f"{name}: {error.strerror}")
            status = 2
    for name, data in inputs:
        try:
            text = Notebook.read(data).cells.text if is_notebook(name) else decode(data).text
            shown = list(state.lines(Source.parse(name, text)))
        except (SourceError, LoweringError) as error:
            complain(f"{name}: {error}")
            status = 2
            continue
        click.echo("\n".join([f"{name}:", *shown]))
    return status


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(code.strip() for value in values for code in value.split(",") if code.strip())


def _decoded(data: bytes) -> str:
    from torchlint.syntax.text import SourceError, decode

    try:
        return decode(data).text
    except SourceError:
        return data.decode("utf-8", errors="replace")
