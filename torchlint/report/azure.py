"""
Logging commands of Azure Pipelines: one per finding.

See `torchlint.report`.
Source: https://learn.microsoft.com/en-us/azure/devops/pipelines/scripts/logging-commands
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.finding import Finding, Level
from torchlint.report import Style
from torchlint.results import RunResult


def body(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """The commands; Azure knows errors and warnings."""
    for finding in findings:
        properties = {
            "type": "error" if finding.level is Level.ERROR else "warning",
            "sourcepath": finding.path,
            "linenumber": str(finding.span.line),
            "columnnumber": str(finding.span.column),
            "code": finding.code,
        }
        listed = "".join(f"{key}={_property(value)};" for key, value in properties.items())
        yield f"##vso[task.logissue {listed}]{_data(finding.message)}\n"


def closing(run: RunResult, style: Style) -> Iterator[str]:
    """Nothing: every line is a command."""
    yield from ()


def _data(text: str) -> str:
    return text.replace("%", "%AZP25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(";", "%3B").replace("]", "%5D")
