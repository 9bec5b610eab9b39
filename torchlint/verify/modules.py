"""
The findings that a script does not come to: their Modules are built and driven, their functions called.

Says which of them is run, with what, and what of it counts; how that is done is the child's (`driver`). A part of the
cross-check of a file (`verify.Check`), whose drafts it settles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.rule import Observed, Raises
from torchlint.verify import programs
from torchlint.verify.case import Case, DraftVerdict, in_words
from torchlint.verify.messages import OVERWRITTEN
from torchlint.verify.probes import PROBES
from torchlint.verify.protocol import STOOD_IN, Outcome

if TYPE_CHECKING:
    from torchlint.verify.verify import Check

NOTHING = DraftVerdict("inconclusive", "")


def as_modules(check: Check) -> None:
    """Build and drive the Modules that hold findings which the script did not come to."""
    unreached = [i for i, draft in enumerate(check.drafts) if draft is not None and draft.unreached]
    inside: dict[str, list[int]] = {}
    alone: dict[str, list[int]] = {}
    for index in unreached:
        case = check.cases[index]
        if case is None or not case.own.functions or len(case.own.classes) > 1:
            continue
        if case.own.classes and len(case.own.functions) == 1:
            inside.setdefault(case.own.classes[0], []).append(index)
        if case.own.functions[0] not in ("forward", "__init__"):
            alone.setdefault(".".join((*case.own.classes, case.own.functions[0])), []).append(index)
    for name, indices in inside.items():
        if not _drive(check, name, indices):  # it has a `forward` all the same
            alone.setdefault(f"{name}.forward", []).extend(indices)
    for name, indices in alone.items():
        left = [index for index in indices if (check.drafts[index] or NOTHING).unreached]
        _drive_function(check, name, [index for index in left if _shown_by_any_input(check.cases[index])])
    for index in unreached:
        case, draft = check.cases[index], check.drafts[index]
        if case is None or draft is None or not draft.unreached or not case.own.functions:
            continue
        if "was not reached" in draft.evidence:
            function = ".".join((*case.own.classes, *case.own.functions))
            if draft.entered:
                if ": the program " not in draft.evidence:
                    words = f"{draft.evidence}; `{function}` was called, and took another way"
                    check.drafts[index] = replace(draft, evidence=words)
                continue
            named = programs.mentioned(check.program, case.own)
            words = "no call of" if named else "the file itself does not call"
            here = " came about in this run" if named else ""
            evidence = f"{draft.evidence}; {words} `{function}`{here}"
            check.drafts[index] = replace(draft, evidence=evidence)


def _drive(check: Check, name: str, indices: Sequence[int]) -> bool:
    """
    Drive a Module, with inputs that require no grad and, for what that leaves open, with inputs that do.

    Only both together refute: a proof may rest on either. Of a custom Function, which is applied, nothing is refuted.

    Returns
    -------
    bool
        Whether it is a Module, or a custom Function.
    """
    for input_grad in (False, True):
        left = [i for i in indices if (check.drafts[i] or NOTHING).status != "confirmed"]
        if not left:
            return True
        first = [check.drafts[i] for i in left]
        outcome = check.run(check.request(check.program.text, module=name, input_grad=input_grad))
        check.judge(left, outcome, check.program.text, [], module=name, input_grad=input_grad)
        for index, before in zip(left, first, strict=True):
            now = check.drafts[index] or NOTHING
            applied = outcome.driven.startswith(f"`{name}` called")
            if now.status == "refuted" and (applied or STOOD_IN in outcome.driven):
                why = "a caller may give others" if applied else "something is missing"
                words = f"it did not show, but {why}{in_words(outcome)}"
                check.drafts[index] = now = DraftVerdict("inconclusive", words)
            if input_grad and now.status == "refuted" and before is not None and before.status != "refuted":
                check.drafts[index] = replace(now, status="inconclusive")
        if outcome.ending == "unbuilt":
            return "is no torch.nn.Module" not in outcome.note
        _drive_mended(check, name, indices, outcome, input_grad=input_grad)
    return True


def _drive_mended(check: Check, name: str, indices: Sequence[int], outcome: Outcome, *, input_grad: bool) -> None:
    """Drive a Module with the fix of the finding whose error ended it, for what shows then behind that."""
    culprit = check.confirmed_end(outcome)
    cured = None if culprit is None else check.mended(check.program.text, culprit[0])
    left = {i: check.drafts[i] for i in indices if (check.drafts[i] or NOTHING).unreached}
    if culprit is None or cured is None or not left:
        return
    again = check.run(check.request(cured, module=name, input_grad=input_grad))
    words = f" (with the fix in line {culprit[0].own.line})"
    check.judge([*left], again, cured, [], module=name, input_grad=input_grad, mended=words)
    for index, before in left.items():
        if (check.drafts[index] or NOTHING).status != "confirmed":
            check.drafts[index] = before


def _drive_function(check: Check, name: str, indices: Sequence[int]) -> None:
    """
    Call a function, or a method that is no `forward`, with made-up arguments.

    What a caller gives it is not known: nothing is refuted, and confirmed only what no argument could bring about
    by itcheck.
    """
    for input_grad in (True, False):
        left = [index for index in indices if (check.drafts[index] or NOTHING).status == "inconclusive"]
        if not left:
            return
        before = {index: check.drafts[index] for index in left}
        outcome = check.run(check.request(check.program.text, module=name, input_grad=input_grad))
        check.judge(left, outcome, check.program.text, [], module=name, input_grad=input_grad)
        for index in left:
            now = check.drafts[index] or NOTHING
            if now.status == "refuted":
                words = f"it did not show with made-up arguments{in_words(outcome)}; a caller may give others"
                check.drafts[index] = DraftVerdict("inconclusive", words, unreached=True)
            elif now.status == "inconclusive" and outcome.ending in ("unbuilt", "raised"):
                check.drafts[index] = before[index]


def _shown_by_any_input(case: Case | None) -> bool:
    """Whether what a finding claims says something of the program, whatever its arguments are."""
    claims = () if case is None else case.finding.claims
    return any(
        OVERWRITTEN in claim.text if isinstance(claim, Raises) else isinstance(claim, Observed) and _own(claim.probe)
        for claim in claims
    )


def _own(probe: str) -> bool:
    return probe in _OWN or PROBES[probe].any_arguments


_OWN = frozenset(
    {
        "graph-written",
        "argument-written",
        "alias-written",
        "unseen-write",
        "kept-written",
        "result-dropped",
        "old-value-read",
    }
)
"""Probes for what a statement does to the tensors it is given."""
