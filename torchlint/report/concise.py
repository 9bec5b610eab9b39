"""
One line per finding: `path:line:column: level[CODE] message`, with `[*]` where `--fix` would change it.

See `torchlint.report`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchlint.finding import Finding
from torchlint.report import Style
from torchlint.report.text import headline, summary
from torchlint.results import RunResult


def body(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """The lines."""
    for finding in findings:
        fixable = " [*]" if finding.fix is not None and finding.fix.safe else ""
        verdict = f" (torch: {finding.verdict.status})" if finding.verdict is not None else ""
        yield f"{headline(finding, style)}{fixable}{verdict}\n"


def closing(run: RunResult, style: Style) -> Iterator[str]:
    """The summary."""
    if not style.quiet:
        yield from (f"{line}\n" for line in summary(run))
