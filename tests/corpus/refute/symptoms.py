"""
What torch says where a finding is right, by code; and what a recorded test run says of a finding.

A code without an entry has a symptom that no exception and no warning shows: a number is wrong, a parameter is not
trained. Then a run decides nothing, and somebody has to look.
"""

from __future__ import annotations

import re
from typing import Any

_FREED = "backward through the graph a second time|after they have already been freed"
_OVERWRITTEN = "modified by an inplace operation"
SAYS = {
    "TLN101": _FREED,
    "TLN103": "grad can be implicitly created only for",
    "TLN104": "does not require grad and does not have a grad_fn",
    "TLN109": r"\.grad attribute of a Tensor that is not a leaf",
    "TLN111": "Can't call numpy",
    "TLN113": "to not have been used in the graph",
    "TLN114": "only change requires_grad flags of leaf",
    "TLN115": "Only Tensors created explicitly by the user",
    "TLN201": _OVERWRITTEN,
    "TLN202": _OVERWRITTEN,
    "TLN203": "a leaf Variable that requires grad|a view of a leaf",
    "TLN208": "more than one element of the written-to tensor|internal overlap",
    "TLN209": "is a view and is being modified inplace|returns multiple views|modified inplace.*no_grad",
    "TLN304": "can't optimize a non-leaf|empty parameter list|can only optimize Tensors|should be an iterable",
    "TLN307": "cannot assign .* as parameter",
    "TLN308": r"before Module\.__init__\(\) call|super\(\).__init__|has no attribute '_(parameters|modules|buffers)'",
    "TLN404": r"Detected call of `lr_scheduler\.step\(\)` before",
    "TLN502": "[Ll]egacy autograd function|non-static forward",
    "TLN503": "returned an incorrect number of gradients",
    "TLN510": "non-full backward hook",
    "TLN512": "BackwardHookFunction",
    "TLN602": "Implicit dimension choice",
    "TLN606": "Using a target size|Using an input size|size of tensor",
    "TLN706": "To copy construct from a tensor",
}

NOT_RUN = "not run"
SHOWN = "shown"
ABSENT = "refuted"
A_VALUE = "not decided"


def judged(finding: dict[str, Any], recorded: dict[str, Any]) -> str:
    """
    What the run says of one finding: NOT_RUN, SHOWN (torch said it somewhere in the run), ABSENT (its lines and those
    of its trace were executed, and torch did not say it), A_VALUE (executed, and torch would not say anything).
    """
    places = [(finding["path"], finding["line"], finding["end_line"])]
    places += [(step["path"], step["line"], step["line"]) for step in finding["trace"]]
    if not all(_executed(recorded["lines"], *place) for place in places):
        return NOT_RUN
    says = SAYS.get(finding["code"])
    if says is None:
        return A_VALUE
    return SHOWN if any(re.search(says, each) for each in recorded["met"]) else ABSENT


def _executed(lines: dict[str, list[int]], path: str, first: int, last: int) -> bool:
    """A file that was not traced counts as executed: then it has no say."""
    return path not in lines or any(first <= line <= last for line in lines[path])


def unsafe(before: list[dict[str, str]], after: dict[str, str]) -> dict[str, tuple[str, str]]:
    """
    Tests that ended in another way after the fixes, with both outcomes. Those that do not end alike in all runs before
    them have no say, nor has one that no longer was begun when the time was up.
    """
    alike = {test: end for test, end in before[0].items() if all(run.get(test) == end for run in before)}
    changed = {test: (end, after[test]) for test, end in alike.items() if after.get(test, end) != end}
    new = {test: ("", end) for test, end in after.items() if end == "not collected" and test not in before[0]}
    return changed | new
