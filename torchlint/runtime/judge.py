"""
From observations to verdicts: what must have been seen for a finding to be confirmed, and what refutes it.

Pure functions of a finding, its places and what the child saw; nothing runs here. A verdict never rests on the
static claim: "confirmed" needs the symptom at the finding's own place, "refuted" needs that the program came through
all places of the proof without it; all else is "inconclusive", with the reason.

Messages of torch by which symptoms are known: torch/csrc/autograd/saved_variable.cpp, variable.cpp,
VariableTypeUtils.h, torch/autograd/__init__.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from torchlint.rule import Finding, Level
from torchlint.runtime import programs
from torchlint.runtime.programs import Statement
from torchlint.runtime.protocol import Execution, Facts, Outcome, Raised, Seen, Watch, Write
from torchlint.runtime.run import describe_ending

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
    "TLN103": ("grad can be implicitly created only for scalar outputs",),
    "TLN104": NO_GRAD,
    "TLN201": (OVERWRITTEN,),
    "TLN203": LEAF_WRITTEN,
    "TLN204": (OVERWRITTEN, *LEAF_WRITTEN),
    "TLN205": (OVERWRITTEN, *LEAF_WRITTEN),
    "TLN301": (FREED,),
    "TLN401": ("'NoneType' object has no attribute",),
}
"""Per code, parts of the messages by which torch shows it; a code that is not here may show any exception."""

RAISING = frozenset({"TLN101", "TLN103", "TLN104", "TLN201", "TLN203"})
"""Codes that claim an exception, whatever their level; TLN101 as a warning claims a gradient that counts twice."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """
    A verdict in the making.

    Attributes
    ----------
    status
        As in `torchlint.rule.Verdict`.
    evidence
        What was seen.
    unreached
        Inconclusive because the finding's own statement was not executed.
    error
        The exception that confirmed it.
    """

    status: Literal["confirmed", "refuted", "inconclusive"]
    evidence: str
    unreached: bool = False
    error: Raised | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """
    A finding and what is watched for it.

    Attributes
    ----------
    finding
        The finding.
    places
        Its own statement first, then those of its trace.
    watched
        Per statement that is watched: its index in the request.
    """

    finding: Finding
    places: tuple[Statement, ...]
    watched: Mapping[Statement, int]

    @property
    def own(self) -> Statement:
        """The statement the finding points at."""
        return self.places[0]

    def seen(self, outcome: Outcome, statement: Statement) -> Seen:
        """What was seen of one of its statements."""
        index = self.watched[statement]
        return outcome.seen[index] if index < len(outcome.seen) else Seen()

    def details(self, outcome: Outcome) -> list[tuple[Statement, Execution]]:
        """The detailed executions of all statements the finding spans."""
        return [(s, e) for s in self.watched for e in self.seen(outcome, s).executions if e.before or e.value]


def expressions(finding: Finding, statement: Statement, own: Statement, places: Sequence[Statement]) -> Watch:
    """What to look at around a statement of a finding."""
    found: list[str] = []
    capture = False
    node = statement.node
    if statement is own or finding.code == "TLN401":
        match finding.code:
            case "TLN206":
                found = programs.quoted_names(finding)
                for place in places:
                    found += programs.assigned(place.node) + programs.places_in(place.node)
            case "TLN301":
                found = programs.assigned(node)
            case "TLN401":
                found = programs.grad_places(node)
            case "TLN212":
                receiver = programs.dropped_receiver(node)
                found, capture = [receiver] if receiver else [], True
    return Watch(statement.line, statement.column, tuple(dict.fromkeys(found))[:24], capture)


def judge(case: Case, outcome: Outcome, *, timeout: float, memory_mb: int) -> Opinion:
    """
    What one run says about one finding.

    Parameters
    ----------
    timeout, memory_mb
        The limits, to be named where one was hit.
    """
    shown = _shown(case, outcome)
    if shown is not None:
        return shown
    code = case.finding.code
    if code in RAISING or (case.finding.level is Level.ERROR and code not in ("TLN212", "TLN301")):
        opinion = None
        if code == "TLN101" and case.finding.level is not Level.ERROR:
            opinion = _accumulated(case, outcome)
    else:
        look = _OBSERVATIONS.get(code)
        if look is None:
            return Opinion("inconclusive", f"the runtime mode has no way yet to observe {code}")
        opinion = look(case, outcome)
    return opinion or _not_shown(case, outcome, timeout=timeout, memory_mb=memory_mb)


def _shown(case: Case, outcome: Outcome) -> Opinion | None:
    """The exception the finding claims, at a place of its proof."""
    for raised in (*outcome.caught, *([outcome.raised] if outcome.raised else [])):
        if not _fits(case.finding, raised):
            continue
        implicit = not raised.lines and raised.phase != "program"
        if not implicit and not any(place.covers(line) for place in case.places for line in raised.lines):
            continue
        started = case.seen(outcome, case.own).started
        if not started:
            continue
        if case.finding.code == "TLN201" and not _is_culprit(case, outcome, raised):
            return Opinion(
                "inconclusive",
                f"{message(raised)}; but the version counters do not name the write in line {case.own.line}",
            )
        extra = ""
        if case.finding.code == "TLN301":
            look = _unregistered(case, outcome)
            if look is None or look.status != "confirmed":
                continue
            extra = f"{look.evidence}; "
        return Opinion("confirmed", extra + message(raised) + _how(outcome, raised), error=raised)
    return None


def _fits(finding: Finding, raised: Raised) -> bool:
    parts = SYMPTOMS.get(finding.code)
    if parts is None:
        return finding.level is Level.ERROR and finding.code not in _OBSERVATIONS and finding.code != "TLN102"
    return any(part in raised.message for part in parts)


def message(raised: Raised) -> str:
    """`RuntimeError in line 7: …`, torch's own words on one line, without its hints."""
    where = f" in line {raised.lines[-1]}" if raised.lines else f" in its {raised.phase}"
    text = " ".join(raised.message.partition(" Hint: ")[0].split()).rstrip(".")
    return f"{raised.type}{where}: {text}"


def _how(outcome: Outcome, raised: Raised) -> str:
    return f" ({outcome.driven}, {raised.phase})" if outcome.driven else ""


def _is_culprit(case: Case, outcome: Outcome, raised: Raised) -> bool:
    """Whether the write at the finding's place lies between the version that was saved and the version found."""
    numbers = re.search(r"is at version (\d+); expected version (\d+)", raised.message)
    writes = [w for w in outcome.writes if any(case.own.covers(line) for line in w.lines)]
    if numbers is None or not writes:  # a write torch's Python does not see: NumPy, a Function's `mark_dirty`
        return True
    found, expected = int(numbers[1]), int(numbers[2])
    return any(w.before >= expected and w.after <= found for w in writes)


def _not_shown(case: Case, outcome: Outcome, *, timeout: float, memory_mb: int) -> Opinion:
    seen = [(place, case.seen(outcome, place)) for place in case.places]
    own = seen[0][1]
    ending = describe_ending(outcome, timeout=timeout, memory_mb=memory_mb)
    if outcome.ending == "unbuilt":
        return Opinion(
            "inconclusive", f"found no way to build and call {outcome.driven or 'the Module'}: {ending}", unreached=True
        )
    if not own.started:
        reason = f"line {case.own.line} was not reached"
        if outcome.ending != "ended":
            reason += f": the program {ending}"
        return Opinion("inconclusive", reason, unreached=True)
    missed = [place for place, s in seen if not s.started]
    if outcome.ending != "ended" and (outcome.ending != "raised" or missed or any(p.in_loop for p in case.places)):
        return Opinion("inconclusive", f"the program {ending}")
    if missed:
        return Opinion("inconclusive", f"line {missed[0].line}, which the proof goes through, was not reached")
    if outcome.caught:
        return Opinion(
            "inconclusive", "it did not show, but the program went on after an error that would have ended it"
        )
    what = "the program ran through all places of the proof" if outcome.ending == "ended" else f"the program {ending}"
    built = f" ({outcome.driven})" if outcome.driven else ""
    return Opinion("refuted", f"{what}, and torch did not complain{built}")


def _writes_at(case: Case, outcome: Outcome) -> list[Write]:
    return [w for w in outcome.writes if any(case.own.covers(line) for line in w.lines)]


def _graph_write(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN204, TLN205: a tensor that is recorded, or becomes so, was written at the place."""
    writes = _writes_at(case, outcome)
    for write in writes:
        if write.grad_mode and (write.requires_grad or write.requires_grad_after):
            was = f"recorded by {write.grad_fn}" if write.grad_fn else "not recorded before"
            now = f"recorded by {write.grad_fn_after}" if write.grad_fn_after else "a leaf"
            built = f" ({outcome.driven})" if outcome.driven else ""
            return Opinion(
                "confirmed",
                f"`{write.op}` wrote a tensor that was {was} and is now {now}; its version went "
                f"{write.before} → {write.after}{built}",
            )
    if not case.seen(outcome, case.own).finished or outcome.caught:
        return None
    if writes:
        return Opinion("refuted", f"`{writes[0].op}` wrote a tensor that is in no graph, before or after")
    return Opinion("refuted", "the statement ran, and no tensor was written in place")


def _alias_changed(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN206: a tensor other than the one the statement names changes with it, or shares the memory written."""
    target = programs.written(case.own.node)
    order = [*programs.quoted_names(case.finding), *(n for p in case.places[1:] for n in programs.assigned(p.node))]
    shared = ""
    finished = False
    for _, execution in case.details(outcome):
        finished = finished or not execution.raised
        names = sorted(execution.before, key=lambda n: order.index(n) if n in order else len(order))
        memories = {n: f.get("memory") for n, f in execution.before.items() if f["kind"] in ("tensor", "ndarray")}
        for name in names:
            partners = [n for n, m in memories.items() if n != name and m and m == memories.get(name)]
            if name == target or not partners or (target in memories and target not in partners):
                continue
            old, new = execution.before[name], execution.after.get(name)
            if new is None or new.get("memory") != old.get("memory"):
                continue
            if old["numbers"] != new["numbers"]:
                with_whom = target if target in partners else partners[0]
                return Opinion(
                    "confirmed",
                    f"`{name}` shares memory with `{with_whom}`: it was {old['shown']}, is {new['shown']}"
                    + (f" ({outcome.driven})" if outcome.driven else ""),
                )
            if target in partners and _writes_at(case, outcome):
                shared = f"`{name}` shares the memory that `{target}` was written in (the values came out the same)"
    if shared:
        return Opinion("confirmed", shared)
    if finished and not outcome.caught:
        return Opinion("refuted", "the write ran, and no other tensor of that name changed")
    return None


def _unregistered(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN301: the attribute is no Parameter and the Module does not know it."""
    for _, execution in case.details(outcome):
        for name, found in execution.after.items():
            if found["kind"] != "tensor" or "registered" not in found:
                continue
            if found["registered"] or found["is_parameter"]:
                return Opinion("refuted", f"`{name}` is a registered Parameter")
            if not found["is_leaf"]:
                count = len(found.get("parameters", []))
                return Opinion(
                    "confirmed",
                    f"`{name}` is no Parameter but the result of {found['grad_fn']} (is_leaf False); "
                    f"`named_parameters()` of `{found['owner']}` has {count}, without it",
                )
    return None


def _zeroed(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN401: the statement turned a gradient into zeros or None."""
    empty = kept = False
    for _, execution in case.details(outcome):
        for name, old in execution.before.items():
            new = execution.after.get(name)
            if old["kind"] == "none":
                empty = True
            elif old["kind"] == "tensor" and new is not None and not execution.raised:
                if new["kind"] == "none" or not any(new["numbers"]):
                    return Opinion("confirmed", f"`{name}` was {old['shown']}, is {new['shown']}")
                kept = True
    if kept and not outcome.caught:
        return Opinion("refuted", "the statement ran, and the gradient is not zero after it")
    if empty:
        return Opinion("inconclusive", "the gradient was None whenever the statement ran: there was nothing to zero")
    return None


def _dropped(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN212: the statement's value is a tensor (or a truth value) that is lost, and the receiver is as before."""
    for _, execution in case.details(outcome):
        value = execution.value
        if value is None:
            continue
        for name, old in execution.before.items():
            new = execution.after.get(name, old)
            if value["identity"] == old["identity"]:
                return Opinion("refuted", f"the call returns `{name}` itself")
            if _changed(old, new):
                return Opinion("refuted", f"the call changes `{name}`: it was {old['shown']}, is {new['shown']}")
        if value["kind"] not in ("tensor", "number"):
            return Opinion("refuted", f"the call returns {value['type']}, not a tensor")
        same = "".join(f"; `{name}` is as before: {f['shown']}" for name, f in execution.before.items() if f["shown"])
        return Opinion("confirmed", f"the result, a {value['type']} {value['shown']}, is lost{same}")
    return None


def _changed(old: Facts, new: Facts) -> bool:
    return any(old.get(key) != new.get(key) for key in ("version", "numbers", "requires_grad", "grad_fn"))


def _accumulated(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN101 as a warning: the backward runs, and adds to a gradient that is there already."""
    for backward in outcome.backwards:
        if backward.raised or not any(case.own.covers(line) for line in backward.lines):
            continue
        for name, old in backward.before.items():
            new = backward.after.get(name)
            if old is not None and new is not None and old["numbers"] != new["numbers"]:
                return Opinion("confirmed", f"`{name}.grad` was {old['shown']}, is {new['shown']}")
    return None


_OBSERVATIONS = {
    "TLN204": _graph_write,
    "TLN205": _graph_write,
    "TLN206": _alias_changed,
    "TLN212": _dropped,
    "TLN301": _unregistered,
    "TLN401": _zeroed,
}
