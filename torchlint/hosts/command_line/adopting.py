"""
What is done with findings that are to stay: a comment that silences each (`--add-noqa`), or a baseline that knows them
(`--write-baseline`).

Says how many there were; the comments are written by `torchlint.fixes`, the text of a baseline by
`torchlint.run.baseline`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from torchlint import report
from torchlint.config import ConfigError
from torchlint.hosts.command_line.output import complain, write, written_whole
from torchlint.hosts.command_line.printing import Printer
from torchlint.results import RunResult


def comments_written(result: RunResult, printer: Printer) -> None:
    """Say what was silenced, and what was not."""
    files = sum(outcome.fixed > 0 for outcome in result.outcomes)
    noun = "finding" if result.fixed == 1 else "findings"
    said = f"Silenced {result.fixed} {noun} in {files} {'file' if files == 1 else 'files'}."
    options = printer.options
    complain(said) if options.stdin else write(sys.stdout, [] if options.quiet else [f"{said}\n"])
    rest = result.findings
    if rest:
        write(sys.stderr, report.body("concise", rest, report.Style(texts=printer.texts)))


def write_baseline(result: RunResult, to: str, printer: Printer) -> None:
    """
    Write what is found now to a baseline, in the place of what it held.

    Raises
    ------
    ConfigError
        if something else is there.
    """
    from torchlint.run import baseline

    file = Path(to)
    try:
        before = baseline.Baseline.read(file) if file.exists() else None
    except ConfigError:
        raise ConfigError(f"{file}: is there, and is not a baseline: it is left as it is") from None
    text, count = baseline.written(result, file, printer.line, printer.request.found.files, before)
    with written_whole(str(file)) as output:
        write(output, [text])
    if not printer.options.quiet:
        noun = "finding" if count == 1 else "findings"
        write(sys.stdout, [f"Wrote {count} {noun} to {file}: --baseline {file} leaves them out.\n"])
    failures = [finding for finding in result.findings if finding.code == baseline.NEVER]
    write(sys.stderr, report.body("concise", failures, report.Style()))
