"""
From observations to verdicts: what must have been seen for a claim to be confirmed, and what refutes it.

Pure functions of a finding's case and what the child saw; nothing runs here, and no rule is known: a verdict follows
from the claims that the finding carries. "Confirmed" needs what is claimed, at the finding's own statement and of the
tensor it names; after an error that was passed over it is nothing but what torch says of an API. "Refuted" needs that
all places of the proof were executed under its own conditions, that nothing raised in between, and, for a claim about a
backward, that one went through the nodes of the proof without an error. All else is "inconclusive", with what was
missing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from torchlint.rule import Claim, Holds, Observed, Raises, Warns
from torchlint.verify import programs
from torchlint.verify.case import Case, DraftVerdict, in_words
from torchlint.verify.execute import describe_ending
from torchlint.verify.messages import BASE_WRITTEN, FREED, OVERWRITTEN, message
from torchlint.verify.probes import PROBES
from torchlint.verify.programs import Statement
from torchlint.verify.protocol import Facts, Outcome, Raised, Write


def judge(case: Case, outcome: Outcome, *, timeout: float, memory_mb: int) -> DraftVerdict:
    """
    What one run says about one finding.

    Parameters
    ----------
    timeout, memory_mb
        The limits, to be named where one was hit.
    """
    drafts = [_judged(case, claim, outcome, timeout, memory_mb) for claim in case.finding.claims]
    return weighed(drafts)


def weighed(drafts: Sequence[DraftVerdict]) -> DraftVerdict:
    """The draft on claims that are alternatives: one that is shown will do, and all must fail."""
    for draft in drafts:
        if draft.status == "confirmed":
            return draft
    open_ones = [draft for draft in drafts if draft.status == "inconclusive"]
    return open_ones[0] if open_ones else drafts[0]


def claims_error(claims: Sequence[Claim]) -> bool:
    """Whether one of the claims is that torch raises: then the program is not stopped before its end."""
    return any(isinstance(claim, Raises) for claim in claims)


def _judged(case: Case, claim: Claim, outcome: Outcome, timeout: float, memory_mb: int) -> DraftVerdict:
    missing = _not_run(case, outcome, timeout, memory_mb)
    match claim:
        case Raises():
            draft = _raises(case, claim, outcome)
        case Warns():
            draft = _warns(case, claim, outcome)
        case Holds():
            draft = _holds(case, claim, outcome)
        case Observed():
            draft = PROBES[claim.probe].look(case, claim, outcome)
    if draft is None:
        failed = _without_truth(case, claim, outcome) if isinstance(claim, Holds) else ""
        unseen = failed or "what the finding is about was not seen"
        return missing or _open(case, outcome, f"line {case.own.line} ran, but {unseen}")
    if draft.status == "refuted":
        return missing or sound(case, outcome, draft)
    whatever_came_before = isinstance(claim, Observed) and PROBES[claim.probe].any_arguments
    if draft.status == "confirmed" and outcome.caught and not whatever_came_before:
        words = f"it shows, but only once the error before it is passed over: {message(outcome.caught[0])}"
        return DraftVerdict("inconclusive", words, late=True)
    return draft


def _ended(outcome: Outcome, *, timeout: float = 30.0, memory_mb: int = 4096) -> str:
    """How a run ended, in words; of an exception those by which `telling` knows it."""
    if outcome.ending == "raised" and outcome.raised is not None:
        return f"raises {message(outcome.raised)}"
    return describe_ending(outcome, timeout=timeout, memory_mb=memory_mb)


def sound(case: Case, outcome: Outcome, draft: DraftVerdict, *, to_the_end: bool = False) -> DraftVerdict:
    """
    A refutation, or why it does not count.

    Parameters
    ----------
    to_the_end
        The claim is about what comes later: an error after the finding's place matters, too.
    """
    condition = _condition_missed(case, outcome)
    if condition:
        return DraftVerdict("inconclusive", f"{draft.evidence}; but {condition}")
    if outcome.caught:
        words = "it did not show, but the program went on after an error that would have ended it"
        return DraftVerdict("inconclusive", words)
    first = min((each.order for each in case.executions(outcome)), default=0)
    handled = [each for each in outcome.handled if each.order > first]
    if handled:
        words = f"it did not show, but the program itself handled an error in between: {message(handled[0])}"
        return DraftVerdict("inconclusive", words)
    if outcome.ending == "unbuilt" or (outcome.ending != "ended" and (to_the_end or not _came_after(case, outcome))):
        return DraftVerdict("inconclusive", f"it did not show, but the program {_ended(outcome)}")
    return draft


def _open(case: Case, outcome: Outcome, words: str) -> DraftVerdict:
    ended = "" if outcome.ending == "ended" else f"; the program {_ended(outcome)}"
    return DraftVerdict("inconclusive", words + ended, unreached=bool(case.own.functions) and not outcome.driven)


def _raises(case: Case, claim: Raises, outcome: Outcome) -> DraftVerdict | None:
    """The exception the finding claims, at its place."""
    culprits: list[DraftVerdict] = []
    for raised in (*outcome.handled, *([outcome.raised] if outcome.raised else [])):
        if (
            raised.own
            or claim.text not in f"{raised.type}: {raised.message}"
            or not _placed(case, claim, raised, outcome)
        ):
            continue
        culprit = ""
        if OVERWRITTEN in raised.message:
            named = _culprit(case, outcome, raised)
            if not named:
                words = f"what backward found overwritten was not written in line {case.own.line}"
                culprits.append(DraftVerdict("inconclusive", f"{message(raised)}; but {words}"))
                continue
            culprit = named
        uses = claim.here and programs.written(case.own.node) is None  # what another line has written
        if BASE_WRITTEN in raised.message and not (uses or case.writes(outcome) or _seen_writes(case, outcome)):
            words = f"line {case.own.line} wrote nothing in place in this run"
            culprits.append(DraftVerdict("inconclusive", f"{message(raised)}; but {words}"))
            continue
        handled = "" if raised == outcome.raised else ", which the program handles"
        evidence = f"{message(raised)}{culprit}{handled}{in_words(outcome, raised.phase)}"
        return DraftVerdict("confirmed", evidence, error=raised)
    if culprits:
        return culprits[0]
    if outcome.raised is not None and case.own_line(outcome.raised.lines) and not outcome.raised.own:
        return DraftVerdict("inconclusive", f"it raises something else: {message(outcome.raised)}")
    return _no_error(case, claim, outcome)


def _placed(case: Case, claim: Raises, raised: Raised, outcome: Outcome) -> bool:
    """Whether an exception came from where the claim says."""
    if claim.here:
        ran = FREED in claim.text and bool({"backward", "grad"} & called_in(case.own.node))  # in a Function's backward
        return bool(raised.lines) and (case.own.covers(raised.lines[-1]) or (ran and case.own_line(raised.lines)))
    if not case.seen(outcome, case.own).started:
        return False
    if not raised.lines:
        return raised.phase != "program"
    later = [place for place in case.places[1:] if place.line > case.own.line]  # a proof may end at the finding
    return OVERWRITTEN in raised.message or not later or any(p.covers(n) for p in case.places for n in raised.lines)


def _culprit(case: Case, outcome: Outcome, raised: Raised) -> str:
    """
    The write at the finding's place that hit the saved tensor between the version that was saved and the one that
    backward found, in words; "" if none did.
    """
    numbers = re.search(r"is at version (\d+); expected version (\d+)", raised.message)
    if numbers is None:
        return ""
    found, expected = int(numbers[1]), int(numbers[2])
    broken = {memory for b in outcome.backwards if b.raised for memory in b.overwritten}
    for write in case.writes(outcome) or _seen_writes(case, outcome):
        if broken and write.memory not in broken:
            continue
        if write.before >= expected and write.after <= found:
            return f"; `{write.op}` in line {write.line} took it from version {write.before} to {write.after}"
    return ""


def _seen_writes(case: Case, outcome: Outcome) -> list[Write]:
    """Writes of the finding's statement as far as the values around it tell, for a run that was not observed."""
    found = []
    for execution in case.executions(outcome):
        for name, old in execution.before.items():
            new = execution.after.get(name)
            if new is None or old.get("kind") != "tensor" or new.get("memory") != old["memory"]:
                continue
            if new["version"] > old["version"]:
                flags = (bool(old["requires_grad"]), bool(old["is_leaf"]), str(old["grad_fn"]))
                after = (bool(new["requires_grad"]), str(new["grad_fn"]), True)
                line = case.own.line
                found.append(Write(line, (line,), name, old["version"], new["version"], *flags, *after, old["memory"]))
    return found


def _no_error(case: Case, claim: Raises, outcome: Outcome) -> DraftVerdict | None:
    seen = case.seen(outcome, case.own)
    if not seen.started or seen.finished < seen.started:
        return None
    if programs.branches_inside(case.own.node):
        return None
    if claim.here:
        if not _shows_backward(case, outcome):
            return None
        came = "ran through all places of the proof" if outcome.ending == "ended" else _ended(outcome)
        return DraftVerdict("refuted", f"the program {came}, and torch did not complain{in_words(outcome)}")
    if OVERWRITTEN in claim.text:
        return _went_through(case, outcome)
    return None


def called_in(statement: ast.stmt) -> set[str]:
    """The attributes that a simple statement speaks of."""
    nodes = () if hasattr(statement, "body") else ast.walk(statement)
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def _shows_backward(case: Case, outcome: Outcome) -> bool:
    """A statement that calls backward was seen to do so, where backward passes are observed at all."""
    return "backward" not in called_in(case.own.node) or outcome.gradients is None or bool(case.backwards(outcome))


def _went_through(case: Case, outcome: Outcome) -> DraftVerdict | None:
    """A backward after the write came through the nodes of the proof, and nothing it needed was overwritten."""
    writes = case.writes(outcome)
    if not writes:
        words = f"line {case.own.line} ran, and wrote no tensor in place in this run"
        return DraftVerdict("inconclusive", words, unreached=not outcome.driven)
    savers = [place for place in case.places[1:] if not programs.branches_inside(place.node)]
    for write in writes:
        made = [
            (each.first, each.last)
            for place in savers
            for each in case.executions(outcome, place)
            if each.last and each.end < write.order
        ]
        for backward in outcome.backwards:
            if backward.order < write.order or backward.raised:
                continue
            if any(first <= node < last for node in backward.nodes for first, last in made):
                if outcome.ending != "ended":
                    return DraftVerdict("inconclusive", f"torch did not complain, but the program {_ended(outcome)}")
                words = f"a backward went through what the proof says had saved it{in_words(outcome)}"
                return DraftVerdict("refuted", f"the program ran through all places of the proof, {words}")
    words = "torch did not complain, but no backward was seen to go through what saved the tensor"
    return DraftVerdict("inconclusive", words, unreached=True)


def _warns(case: Case, claim: Warns, outcome: Outcome) -> DraftVerdict | None:
    executions = case.executions(outcome)
    if claim.here:
        if hasattr(case.own.node, "body"):
            return None
        for execution in executions:
            for text in execution.warnings:
                if claim.text in text:
                    return DraftVerdict("confirmed", f"{text[:400]}{in_words(outcome)}")
        if executions and not programs.branches_inside(case.own.node):
            return DraftVerdict("refuted", "the statement ran, and gave no such warning")
        return None
    started = min((each.order for each in executions), default=None)
    for warned in outcome.warned:
        if started is not None and warned.order > started and claim.text in warned.text:
            where = f" (line {warned.lines[-1]})" if warned.lines else ""
            return DraftVerdict("confirmed", f"{warned.text[:400]}{where}{in_words(outcome)}")
    return None


def _holds(case: Case, claim: Holds, outcome: Outcome) -> DraftVerdict | None:
    known: Facts | None = None
    when = "before" if claim.before else "after"
    line = f"{when} line {case.own.line}"
    for execution in case.executions(outcome):
        found = (execution.before if claim.before else execution.after).get(claim.expression)
        if found is None or (execution.raised and not claim.before) or "truth" not in found:
            continue
        if found["truth"]:
            return DraftVerdict(
                "confirmed", (claim.words or f"`{claim.expression}` is true {line}") + in_words(outcome)
            )
        known = found
    if known is None:
        return None
    denied = f"it is not so that {claim.words}" if claim.words else f"`{claim.expression}` is false"
    return DraftVerdict("refuted", f"{denied}, {line}" if claim.words else f"{denied} {line}")


def _without_truth(case: Case, claim: Holds, outcome: Outcome) -> str:
    """Why the expression of a claim is neither true nor false wherever it was looked at, in words; "" if it was not."""
    for execution in case.executions(outcome):
        found = (execution.before if claim.before else execution.after).get(claim.expression)
        if found is None or "truth" in found or (execution.raised and not claim.before):
            continue
        when = "before it" if claim.before else "after it"
        if found["kind"] == "missing":
            return f"the claim's expression `{claim.expression}` raises {when}: {found['error']}"
        return f"the claim's expression `{claim.expression}` is {when} a {found['type']}, neither true nor false"
    return ""


def _not_run(case: Case, outcome: Outcome, timeout: float, memory_mb: int) -> DraftVerdict | None:
    """Why a run cannot tell anything of a finding, if its places were not come to."""
    ending = _ended(outcome, timeout=timeout, memory_mb=memory_mb)
    if outcome.ending == "unbuilt":
        words = f"found no way to build and call {outcome.driven}: {ending}" if outcome.driven else ending
        return DraftVerdict("inconclusive", words, unreached=True)
    if not case.seen(outcome, case.own).started:
        stopped = f": the program {ending}" if outcome.ending != "ended" or outcome.note else ""
        entered = case.entry is not case.own and case.seen(outcome, case.entry).started > 0
        words = f"line {case.own.line} was not reached{stopped}"
        return DraftVerdict("inconclusive", words, unreached=True, entered=entered)
    missed = [place for place in case.places if not case.seen(outcome, place).started]
    if outcome.ending != "ended" and (missed or not _came_after(case, outcome)):
        return DraftVerdict("inconclusive", f"the program {ending}")
    if missed:
        words = f"line {missed[0].line}, which the proof goes through, was not reached"
        return DraftVerdict("inconclusive", words, unreached=True)
    return None


def _condition_missed(case: Case, outcome: Outcome) -> str:
    """Which condition of the finding did not hold in the run, or was not seen to, in words."""
    for condition in case.finding.conditions:
        text = condition.expression
        if condition.kind in ("device", "copy"):
            return f"it is claimed for another device, or another conversion (`{text}`)"
        if condition.kind == "kernel":
            return f"it is claimed for another kernel of `{text}`"
        if condition.kind in ("differentiated", "reflection"):
            continue  # a driver differentiates all that comes back; what shows itself, nothing has changed
        held = False
        for execution in case.executions(outcome):
            found = execution.before.get(text)
            if found is None or found.get("kind") == "missing":
                continue
            value = found.get("requires_grad") if condition.kind == "requires_grad" else found.get("truth")
            held = held or value is condition.holds
        if not held:
            what = "requires grad" if condition.kind == "requires_grad" else "held"
            return f"whether `{text}` {what}, on which it rests, was not seen in this run"
    return ""


def _came_after(case: Case, outcome: Outcome) -> bool:
    """Whether what ended the program is an error behind the proof's places, with no way back to them."""
    raised = outcome.raised
    if outcome.ending == "time" and outcome.note:
        return True
    if outcome.ending != "raised" or raised is None or any(place.in_loop for place in case.places):
        return False
    return not any(_inside(place, raised) for place in case.places)


def _inside(place: Statement, raised: Raised) -> bool:
    return any(place.covers(line) for line in raised.lines)


def with_words(draft: DraftVerdict, words: str) -> DraftVerdict:
    """The draft with more evidence."""
    return replace(draft, evidence=draft.evidence + words)


def with_later_error(case: Case, outcome: Outcome, draft: DraftVerdict) -> DraftVerdict:
    """What was seen leads to an error at a place of the proof: that is told, too."""
    raised = outcome.raised
    if raised is None or raised.own or (not _at(case, raised) and raised.phase == "program"):
        return draft
    if raised.lines and not _at(case, raised):
        return draft
    driven = "" if outcome.driven and outcome.driven in draft.evidence else in_words(outcome, raised.phase)
    evidence = f"{draft.evidence}; {message(raised)}{driven}"
    return replace(draft, evidence=evidence, error=raised if raised.lines else None)


def _at(case: Case, raised: Raised) -> bool:
    return any(place.covers(line) for place in case.places for line in raised.lines)
