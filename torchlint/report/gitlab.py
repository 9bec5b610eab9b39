"""
GitLab's code quality report: a JSON array that merge requests show.

See `torchlint.report`. Paths are relative to the repository, which is where GitLab's runners start a job.
Source: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from torchlint.finding import Level
from torchlint.report import Style
from torchlint.report.fingerprint import of_findings
from torchlint.results import RunResult

SEVERITIES = {Level.ERROR: "critical", Level.WARNING: "major", Level.SMELL: "minor", Level.STRICT: "info"}


def render(run: RunResult, style: Style) -> Iterator[str]:
    """The array, indented; fingerprints do not change when lines move, and no two are equal."""
    top = os.environ.get("CI_PROJECT_DIR") or os.getcwd()
    findings = run.findings
    yield (
        json.dumps(
            [
                {
                    "description": f"{finding.code} {finding.message}",
                    "check_name": finding.code,
                    "fingerprint": which.stable,
                    "severity": SEVERITIES[finding.level],
                    "location": {
                        "path": _relative(finding.path, top),
                        "lines": {"begin": finding.span.line, "end": max(finding.span.end_line, finding.span.line)},
                    },
                }
                for finding, which in zip(findings, of_findings(findings, style.line), strict=True)
            ],
            indent=2,
        )
        + "\n"
    )


def _relative(path: str, top: str) -> str:
    relative = os.path.relpath(os.path.realpath(path), os.path.realpath(top))
    return Path(path if relative.startswith(os.pardir) else relative).as_posix()
