"""
Findings of a file that are one (`Diagnostic.group`): what is said of the others, and the fix of all.

Only data in and out. Does not know which findings are of a group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from torchlint.fixes import edits
from torchlint.rule import Diagnostic, Finding, FindingFix, TraceLine

_FEW = 3
"""Labels of other findings of a group that are named; of more, that they are more."""


def counted(first: Diagnostic, others: Sequence[Diagnostic]) -> str:
    """How many others a group has, and what they are where they are not the same as the first."""
    many = f"{len(others)} more {first.others}{'s' if len(others) > 1 else ''}"
    labels = [label for label in dict.fromkeys(each.label for each in others) if label and label != first.label]
    if not labels:
        return many
    many_of = Counter(each.label for each in others)
    named = labels[:_FEW]
    if first.label in many_of or max(many_of.values()) > 1:  # else it would seem that all are those
        labels = [*([first.label] if first.label in many_of else ()), *labels]
        named = [f"{many_of[label]} of {label}" for label in labels[:_FEW]]
    more = len(labels) - len(named)
    return f"{many}: {', '.join(named)}" + (f" and {more} other{'s' if more > 1 else ''}" if more else "")


def place_of(finding: Finding) -> TraceLine:
    span = finding.span
    return TraceLine(finding.path, span.line, span.column, "", span.end_line, span.end_column)


def together(findings: Sequence[Finding]) -> FindingFix | None:
    """
    One fix for all findings of a group that have one, the first of them where they touch.

    If some are safe, it is that of the safe ones: the others stay to be fixed by themselves. A fix that leaves some as
    they are says where it is made.
    """
    fixable = [(finding.fix, finding.span.line) for finding in findings if finding.fix is not None]
    fixable = [(fix, line) for fix, line in fixable if fix.safe] or fixable
    if not fixable:
        return None
    first, line = fixable[0]
    ordered = sorted({edit for fix, _ in fixable for edit in fix.edits}, key=lambda edit: edit.span)
    if any(edits.clash(a, b) for a, b in pairwise(ordered)):
        return replace(first, title=f"in line {line}: {first.title}")
    title = "; ".join(dict.fromkeys(fix.title for fix, _ in fixable))
    if len(fixable) < len(findings):
        where = f"in line {line}" if len(fixable) == 1 else f"at {len(fixable)} of {len(findings)} places"
        title = f"{where}: {title}"
    return FindingFix(title, first.safe, tuple(ordered))
