"""
What stands for a finding where line numbers do not: its rule, its code, and the code around it.

Lines that are added or removed elsewhere in a file change nothing here; white space counts for nothing. Compares
no runs: that is the baseline's business.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from torchlint.finding import Finding

_FEW = 20
"""Lines of a finding that count; of a longer one the first."""
_NEAR = 30
"""Lines that are searched for one that is not blank."""
LineOf = Callable[[str, int, "int | None"], "str | None"]
"""(path, line, cell) → its text; None where there is none."""


class Fingerprint(NamedTuple):
    """
    What stands for a finding in its file.

    Attributes
    ----------
    code
        The rule.
    text
        Of the lines that it spans, without white space.
    context
        Of these and their neighbours that are not blank: tells equal lines apart.
    stable
        Of path, rule and text, and of how many equal ones come before it: no two findings of a run share it.
    """

    code: str
    text: str
    context: str
    stable: str


def of_findings(findings: Sequence[Finding], line_of: LineOf) -> Iterator[Fingerprint]:
    """The fingerprint of each finding."""
    met: Counter[tuple[str, ...]] = Counter()
    for finding in findings:
        lines = _lines(finding, line_of)
        around = (_neighbour(finding, line_of, -1), *lines, _neighbour(finding, line_of, 1))
        text = _digest(lines)
        key = (finding.path.replace("\\", "/"), str(finding.cell or ""), finding.code, text)
        met[key] += 1
        yield Fingerprint(finding.code, text, _digest(around), _digest((*key, str(met[key]))))


def _lines(finding: Finding, line_of: LineOf) -> tuple[str, ...]:
    last = min(max(finding.span.end_line, finding.span.line), finding.span.line + _FEW - 1)
    return tuple(_bare(line_of(finding.path, number, finding.cell)) for number in range(finding.span.line, last + 1))


def _neighbour(finding: Finding, line_of: LineOf, step: int) -> str:
    number = finding.span.line if step < 0 else max(finding.span.end_line, finding.span.line)
    for _ in range(_NEAR):
        number += step
        line = line_of(finding.path, number, finding.cell) if number > 0 else None
        if line is None:
            return ""
        if line.strip():
            return _bare(line)
    return ""


def _bare(line: str | None) -> str:
    return "".join((line or "").split())


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:20]
