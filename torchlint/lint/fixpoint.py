"""
Applies fixes: those that do not overlap, lints again, until nothing changes.

Works on texts and writes no file. A fix whose result is not valid Python, or cannot be written in
the file's encoding, is dropped and named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torchlint.fixes import edits
from torchlint.lint.engine import FileReport
from torchlint.rule import Finding, FindingFix, TextEdit
from torchlint.syntax.tree import Decoded, Source, SourceError

ROUNDS = 10
"""Rounds after which fixes that go on undoing each other are stopped."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """
    A file after its fixes.

    Attributes
    ----------
    text
        The new text.
    report
        The findings that remain.
    applied
        How many fixes were applied.
    notes
        What did not work, for people.
    """

    text: str
    report: FileReport
    applied: int = 0
    notes: tuple[str, ...] = ()


def fix(
    decoded: Decoded,
    check: Callable[[str], FileReport],
    *,
    unsafe: bool,
    report: FileReport | None = None,
    admit: Callable[[str, Finding], str] | None = None,
) -> Fixed:
    """
    Fix a file until nothing changes.

    Parameters
    ----------
    decoded
        The file.
    check
        Lints a text of that file.
    unsafe
        Apply unsafe fixes too.
    report
        The findings of the text as it is, where they are known.
    admit
        Is asked of a text and a finding in it why its fix must not be applied: "" if it may. Then one fix is applied
        at a time, so that each is weighed alone.
    """
    text = decoded.text
    report = report or check(text)
    applied = 0
    dropped: dict[tuple[str, str], str] = {}
    for _ in range(ROUNDS if admit is None else ROUNDS * ROUNDS):
        chosen = [] if not report.followed else _choose(report.findings, unsafe, dropped)
        kept = _sound(decoded, text, chosen, dropped)
        if admit is not None:
            kept = _admitted(text, kept, admit, dropped)
        if not kept:
            return Fixed(text, report, applied, tuple(dropped.values()))
        changed = edits.apply(text, [edit for item in kept for edit in _fix_of(item).edits])
        after = check(changed)
        if not after.followed:
            note = f"{report.path}: the fixes were dropped: the result could not be checked"
            return Fixed(text, report, applied, (*dropped.values(), note))
        text, report, applied = changed, after, applied + len(kept)
    note = f"{report.path}: after {ROUNDS} rounds there is still something to fix: two fixes undo each other"
    return Fixed(text, report, applied, (*dropped.values(), note))


def applicable(finding: Finding, *, unsafe: bool) -> bool:
    """Whether a finding has a fix that may be applied."""
    return finding.fix is not None and (finding.fix.safe or unsafe)


def _fix_of(finding: Finding) -> FindingFix:
    assert finding.fix is not None
    return finding.fix


def _choose(findings: Sequence[Finding], unsafe: bool, dropped: dict[tuple[str, str], str]) -> list[Finding]:
    """The findings, first come first served, whose fixes do not clash with one chosen before."""
    chosen: list[Finding] = []
    taken: list[TextEdit] = []
    for finding in findings:
        if not applicable(finding, unsafe=unsafe) or (finding.code, finding.message) in dropped:
            continue
        own = _fix_of(finding).edits
        if own and not any(edits.clash(edit, other) for edit in own for other in taken):
            chosen.append(finding)
            taken += own
    return chosen


def _sound(decoded: Decoded, text: str, chosen: list[Finding], dropped: dict[tuple[str, str], str]) -> list[Finding]:
    """Those of the chosen fixes that together leave a valid file; the others are dropped and named."""
    if not chosen or _complaint(decoded, text, chosen) is None:
        return chosen
    kept: list[Finding] = []
    for finding in chosen:
        complaint = _complaint(decoded, text, [finding])
        if complaint is not None:
            dropped[finding.code, finding.message] = (
                f"{finding.path}:{finding.span.line}: the fix of {finding.code} was dropped: {complaint}"
            )
        elif _complaint(decoded, text, [*kept, finding]) is None:
            kept.append(finding)  # else its turn comes in the next round
    return kept


def _admitted(
    text: str, chosen: list[Finding], admit: Callable[[str, Finding], str], dropped: dict[tuple[str, str], str]
) -> list[Finding]:
    """The first of the chosen fixes to which there is no objection; those before it are dropped and named."""
    for finding in chosen:
        objection = admit(text, finding)
        if not objection:
            return [finding]
        place = f"{finding.path}:{finding.span.line}"
        dropped[finding.code, finding.message] = f"{place}: the fix of {finding.code} was not applied: {objection}"
    return []


def _complaint(decoded: Decoded, text: str, chosen: list[Finding]) -> str | None:
    """Why a file cannot be changed so, or None."""
    changed = edits.apply(text, [edit for item in chosen for edit in _fix_of(item).edits])
    if changed == text:
        return "it changes nothing"
    try:
        decoded.encode(changed)
        Source.parse(chosen[0].path, changed)
    except SourceError as error:
        return f"the result is not valid Python ({error.message}, line {error.line})"
    except UnicodeEncodeError:
        return f"the result cannot be written in the file's encoding, {decoded.encoding}"
    return None
