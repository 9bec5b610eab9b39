"""
The verdicts of a file read together: an exception that several speak of is told in whole by one, and named by others.

Pure functions of drafts; changes no status, and knows no rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from torchlint.verify.case import Case, DraftVerdict
from torchlint.verify.messages import message
from torchlint.verify.protocol import Raised


def told_once(
    drafts: Sequence[DraftVerdict | None], cases: Sequence[Case | None], ends: Iterable[Raised]
) -> list[DraftVerdict | None]:
    """
    The drafts with each exception in one of them.

    Parameters
    ----------
    drafts, cases
        One per finding.
    ends
        The exceptions that ended runs of the file.
    """
    found = list(drafts)
    for raised in dict.fromkeys(ends):
        words = message(raised)
        named, _, rest = words.partition(": ")
        tellers = [
            (draft.status != "confirmed", not draft.evidence.startswith(words), not case.own_line(raised.lines), index)
            for index, (draft, case) in enumerate(zip(found, cases, strict=True))
            if draft is not None and case is not None and rest and words in draft.evidence
        ]
        first = cases[min(tellers)[-1]] if tellers else None
        for *_, index in sorted(tellers)[1:]:
            draft = found[index]
            if draft is not None and first is not None:
                see = f"{named} (see {first.finding.code} in line {first.own.line})"
                found[index] = replace(draft, evidence=draft.evidence.replace(words, see))
    return found
