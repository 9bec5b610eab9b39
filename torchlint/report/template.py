"""
One line per finding in a form of the user's own: `--template "{path}:{line} {code} {message}"`.

See `torchlint.report`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Formatter
from typing import Any

from torchlint.config import ConfigError, near_miss
from torchlint.finding import Finding
from torchlint.report import Style
from torchlint.results import RunResult

FIELDS = (
    "path", "line", "column", "end_line", "end_column", "cell", "code", "name", "level", "message", "fix", "verdict"
)  # fmt: skip


def body(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """A line for each; what there is nothing for is empty."""
    for finding in findings:
        yield _unescaped(style.template).format(**_fields(finding)) + "\n"


def closing(run: RunResult, style: Style) -> Iterator[str]:
    """Nothing."""
    yield from ()


def check(template: str) -> None:
    """
    See whether a template can be filled in.

    Raises
    ------
    ConfigError
        if it names something else than `FIELDS`, or is not of the form that `str.format` takes.
    """
    try:
        named = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
        for name in named:
            if name not in FIELDS:
                known = near_miss(name, list(FIELDS)) or f" (there are {', '.join(FIELDS)})"
                raise ConfigError(f"--template: there is no field `{{{name}}}`{known}")
        template.format(**dict.fromkeys(FIELDS, 0))
    except (ValueError, IndexError, KeyError) as error:
        raise ConfigError(f"--template: `{template}`: {error}") from None


def _unescaped(template: str) -> str:
    """With a new line and a tab where a shell's quotes leave `\\n` and `\\t`."""
    return template.replace("\\n", "\n").replace("\\t", "\t")


def _fields(finding: Finding) -> dict[str, Any]:
    span = finding.span
    return {
        "path": finding.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "cell": "" if finding.cell is None else finding.cell,
        "code": finding.code,
        "name": finding.name,
        "level": finding.level.value,
        "message": finding.message,
        "fix": finding.fix.title if finding.fix else "",
        "verdict": finding.verdict.status if finding.verdict else "",
    }
