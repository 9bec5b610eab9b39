"""
One JSON object per line and finding: for programs that read while torchlint writes.

See `torchlint.report`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from torchlint.finding import Finding
from torchlint.report import Style
from torchlint.report.json_array import as_object
from torchlint.results import RunResult


def body(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """The lines."""
    for finding in findings:
        yield json.dumps(as_object(finding)) + "\n"


def closing(run: RunResult, style: Style) -> Iterator[str]:
    """Nothing: every line is a finding."""
    yield from ()
