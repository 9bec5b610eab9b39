"""
Faulty programs by somebody who had read the catalogue of rules and nothing else: what is found, and its verdicts.

`strangers/index.jsonl` says where each fault stands and which code it was written for. A finding is of that fault if it
has its code or stands within two lines of it. Of others that are true in the same program nothing is counted but their
verdicts: most lie behind the error that ends it.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import expectations

from torchlint.rule import Finding
from torchlint.syntax.tree import Source
from torchlint.verify.verify import verify_findings

FOLDER = Path(__file__).parent / "strangers"
NEAR = 2
"""Lines."""


def table(every: int) -> list[str]:
    """The figures, and a line for each fault that is not found and each finding that is not confirmed."""
    rows = [json.loads(line) for line in (FOLDER / "index.jsonl").read_text(encoding="utf-8").splitlines()][::every]
    verdicts: Counter[str] = Counter()
    lines = []
    found = 0
    for row in rows:
        findings = _judged(FOLDER / row["file"])
        own = [each for each in findings if _is_of(each, row)]
        found += bool(own)
        if not own:
            lines.append(f"not found: {row['file']}:{row['line']} {row['code']}")
        for each in findings:
            assert each.verdict is not None
            which = "of the fault" if each in own else "elsewhere"
            verdicts[f"{which}, {each.verdict.status}"] += 1
            if each.verdict.status != "confirmed":
                place = f"{row['file']}:{each.span.line} {each.code}"
                lines.append(f"{which}, {each.verdict.status}: {place}: {each.verdict.evidence}")
    counted = [f"{what:26} {count}" for what, count in sorted(verdicts.items())]
    return [*lines, f"{'faults found':26} {found} of {len(rows)}", *counted]


def _is_of(finding: Finding, row: dict[str, object]) -> bool:
    related = row.get("related_lines", [])
    assert isinstance(related, list)
    places = [row["line"], *related]
    return finding.code == row["code"] or any(abs(finding.span.line - place) <= NEAR for place in places)


def _judged(path: Path) -> list[Finding]:
    text = path.read_text(encoding="utf-8")
    return list(verify_findings(Source.parse(path.name, text), list(expectations.lint(text).findings)))
