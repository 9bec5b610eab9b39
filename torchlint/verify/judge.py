"""
From observations to verdicts: what must have been seen for a finding to be confirmed, and what refutes it.

Pure functions of a finding, its places and what the child saw; nothing runs here. A verdict never rests on the
static claim: "confirmed" needs the symptom at the finding's own place, "refuted" needs that the program came through
all places of the proof without it; all else is "inconclusive", with the reason.

Messages of torch by which symptoms are known: torch/csrc/autograd/saved_variable.cpp, variable.cpp,
VariableTypeUtils.h, torch/autograd/__init__.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from torchlint.rule import Finding, Level
from torchlint.verify.case import Case, Opinion, in_words
from torchlint.verify.execute import describe_ending
from torchlint.verify.protocol import Outcome, Raised
from torchlint.verify.symptoms import OBSERVATIONS

FREED = "Trying to backward through the graph a second time"
OVERWRITTEN = "modified by an inplace operation"
LEAF_WRITTEN = (
    "a leaf Variable that requires grad is being used in an in-place operation",
    "a view of a leaf Variable that requires grad is being used in an in-place operation",
    "a leaf Variable that requires grad has been used in an in-place operation",
)
NO_GRAD = (
    "does not require grad and does not have a grad_fn",
    "has no attribute 'backward'",
    "One of the differentiated Tensors does not require grad",
)

SYMPTOMS: Mapping[str, tuple[str, ...]] = {
    "TLN101": (FREED,),
    "TLN102": (),
    "TLN103": ("grad can be implicitly created only for scalar outputs",),
    "TLN104": NO_GRAD,
    "TLN201": (OVERWRITTEN,),
    "TLN203": LEAF_WRITTEN,
    "TLN204": (OVERWRITTEN, *LEAF_WRITTEN),
    "TLN205": (OVERWRITTEN, *LEAF_WRITTEN),
    "TLN206": (),
    "TLN212": (),
    "TLN301": (FREED,),
    "TLN401": ("'NoneType' object has no attribute",),
}
"""
Per code, parts of the messages by which torch shows it. A code that is not here, a later rule or somebody else's, is
confirmed by an exception at its own place, and never refuted: an error may also be a program that cannot learn.
"""
_FOREIGN = frozenset({"FileNotFoundError", "ImportError", "ModuleNotFoundError", "OSError", "RefusedError"})
"""Exceptions that speak of the machine, not of the program."""

SILENT = frozenset({"TLN102", "TLN206", "TLN212", "TLN301"})
"""Codes that claim no exception, whatever their level."""
RAISING = frozenset({"TLN103", "TLN104", "TLN201", "TLN203"})
"""Codes that claim an exception, whatever their level."""
WARNED = frozenset({"TLN101", "TLN205"})
"""Codes that as a warning claim an exception under a condition, which the message names."""


def judge(case: Case, outcome: Outcome, *, timeout: float, memory_mb: int) -> Opinion:
    """
    What one run says about one finding.

    Parameters
    ----------
    timeout, memory_mb
        The limits, to be named where one was hit.
    """
    if claims_error(case.finding):
        opinion = _shown(case, outcome)
    else:
        look = OBSERVATIONS.get(case.finding.code)
        if look is None and case.finding.code not in SYMPTOMS:
            return Opinion("inconclusive", f"the runtime mode has no way yet to observe {case.finding.code}")
        opinion = look(case, outcome) if look else None
        if opinion is None or opinion.status == "inconclusive":
            opinion = _shown(case, outcome) or opinion
        elif case.finding.code == "TLN301" and opinion.status == "confirmed":
            opinion = _with_second_backward(case, outcome, opinion)
    return opinion or _not_shown(case, outcome, timeout=timeout, memory_mb=memory_mb)


def claims_error(finding: Finding) -> bool:
    """Whether the finding says that torch raises; a TLN101 that says "accumulated" says that it does not."""
    if finding.code in SILENT:
        return False
    if finding.code == "TLN101" and "accumulated" in finding.message:
        return False
    known = finding.code in RAISING or (finding.code in WARNED and finding.level is Level.WARNING)
    return known or finding.level is Level.ERROR


def _shown(case: Case, outcome: Outcome) -> Opinion | None:
    """The exception the finding claims, at a place of its proof."""
    if not case.seen(outcome, case.own).started:
        return None
    for raised in (*outcome.caught, *([outcome.raised] if outcome.raised else [])):
        if not _fits(case, raised):
            continue
        culprit = ""
        if OVERWRITTEN in raised.message:
            named = _culprit(case, outcome, raised)
            if named is None:
                words = f"what backward found overwritten was not written in line {case.own.line}"
                return Opinion("inconclusive", f"{message(raised)}; but {words}")
            culprit = named
        return Opinion("confirmed", f"{message(raised)}{culprit}{in_words(outcome, raised.phase)}", error=raised)
    return None


def _fits(case: Case, raised: Raised) -> bool:
    parts = SYMPTOMS.get(case.finding.code)
    if parts is None:
        return raised.type not in _FOREIGN and any(case.own.covers(line) for line in raised.lines)
    if not any(part in raised.message for part in parts):
        return False
    drivers_own = not raised.lines and raised.phase != "program"
    return drivers_own or any(place.covers(line) for place in case.places for line in raised.lines)


def _with_second_backward(case: Case, outcome: Outcome, opinion: Opinion) -> Opinion:
    raised = outcome.raised
    if raised is None or FREED not in raised.message:
        return opinion
    named = raised if any(p.covers(line) for p in case.places for line in raised.lines) else None
    evidence = f"{opinion.evidence}; {message(raised)}{in_words(outcome, raised.phase)}"
    return Opinion("confirmed", evidence, error=named)


def message(raised: Raised) -> str:
    """`RuntimeError in line 7: …`, torch's own words on one line, without its explanations and hints."""
    where = f" in line {raised.lines[-1]}" if raised.lines else f" in its {raised.phase}"
    text = " ".join(raised.message.partition(" Hint: ")[0].split())
    if FREED in text:
        text = text.partition(" (or directly")[0]
    return f"{raised.type}{where}: {text[:400].rstrip('.')}"


def _culprit(case: Case, outcome: Outcome, raised: Raised) -> str | None:
    """
    The write at the finding's place that hit the saved tensor between the version that was saved and the one that
    backward found, in words; None if none did. "" for a write that torch's Python does not see (NumPy).
    """
    numbers = re.search(r"is at version (\d+); expected version (\d+)", raised.message)
    writes = case.writes(outcome)
    if numbers is None or not writes:
        return ""
    found, expected = int(numbers[1]), int(numbers[2])
    broken = {memory for b in outcome.backwards if b.raised for memory in b.overwritten}
    for write in writes:
        if broken and write.memory not in broken:
            continue
        if write.before >= expected and write.after <= found:
            return f"; `{write.op}` in line {write.line} took it from version {write.before} to {write.after}"
    return None


def _not_shown(case: Case, outcome: Outcome, *, timeout: float, memory_mb: int) -> Opinion:
    own = case.seen(outcome, case.own)
    ending = describe_ending(outcome, timeout=timeout, memory_mb=memory_mb)
    if outcome.ending == "unbuilt":
        words = f"found no way to build and call {outcome.driven}: {ending}" if outcome.driven else ending
        return Opinion("inconclusive", words, unreached=True)
    if not own.started:
        stopped = f": the program {ending}" if outcome.ending != "ended" or outcome.note else ""
        return Opinion("inconclusive", f"line {case.own.line} was not reached{stopped}", unreached=True)
    missed = [place for place in case.places if not case.seen(outcome, place).started]
    if outcome.ending != "ended" and (missed or not _came_after(case, outcome)):
        return Opinion("inconclusive", f"the program {ending}")
    if missed:
        words = f"line {missed[0].line}, which the proof goes through, was not reached"
        return Opinion("inconclusive", words, unreached=True)
    if outcome.caught:
        words = "it did not show, but the program went on after an error that would have ended it"
        return Opinion("inconclusive", words)
    if not claims_error(case.finding):
        return Opinion("inconclusive", f"line {case.own.line} ran, but what the finding is about was not seen there")
    if case.finding.code not in SYMPTOMS:
        words = f"line {case.own.line} ran without an error; what else shows {case.finding.code} is not known here"
        return Opinion("inconclusive", words)
    if _ends_in_return(case) and not outcome.driven:
        words = f"torch did not complain, but whether the file itself differentiates what line {case.places[-1].line} "
        return Opinion("inconclusive", words + "returns is not known", unreached=True)
    came = "ran through all places of the proof" if outcome.ending == "ended" else ending
    return Opinion("refuted", f"the program {came}, and torch did not complain{in_words(outcome)}")


def _came_after(case: Case, outcome: Outcome) -> bool:
    """Whether what ended the program is an error behind the proof's places, with no way back to them."""
    raised = outcome.raised
    if outcome.ending != "raised" or raised is None or any(place.in_loop for place in case.places):
        return False
    return not any(place.covers(line) for place in case.places for line in raised.lines)


def _ends_in_return(case: Case) -> bool:
    """The backward of the proof is that of whoever called the function."""
    return any(isinstance(place.node, ast.Return) and place.classes for place in case.places)
