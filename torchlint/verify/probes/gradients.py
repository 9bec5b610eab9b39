"""
Probes for gradients between backward passes and steps: added up, thrown away, zeroed, too late, NaN.

Pure functions of a case and what the child saw.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from itertools import pairwise

from torchlint.rule import Observed
from torchlint.verify import programs
from torchlint.verify.case import Case, DraftVerdict, in_words, is_data, nonzero, shown
from torchlint.verify.probe import Probe
from torchlint.verify.protocol import Backward, Outcome, Step


def accumulated(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement's backward goes through the graph of an earlier one, and adds to a gradient that is there."""
    ran = False
    for backward in case.backwards(outcome):
        if backward.raised:
            continue
        earlier = [b for b in outcome.backwards if b.order < backward.order and not b.raised]
        if any(set(b.nodes) == set(backward.nodes) for b in earlier):
            for name, old in backward.before.items():
                new = backward.after.get(name)
                if nonzero(old) and old is not None and new is not None and old["numbers"] != new["numbers"]:
                    words = f"`{name}.grad` was {old['shown']}, is {new['shown']}"
                    return DraftVerdict("confirmed", words + in_words(outcome))
        ran = ran or bool(earlier)
    return DraftVerdict("refuted", "the backward ran, and added to no gradient of the same graph") if ran else None


def zeroed(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement turned a gradient into zeros or None."""
    empty = kept = False
    for execution in case.details(outcome):
        for name, old in execution.before.items():
            new = execution.after.get(name)
            if old["kind"] == "none":
                empty = True
            elif old["kind"] == "tensor" and new is not None and not execution.raised:
                if new["kind"] == "none" or not any(new["numbers"]):
                    return DraftVerdict("confirmed", f"`{name}` was {old['shown']}, is {shown(new)}")
                kept = True
    if kept:
        return DraftVerdict("refuted", "the statement ran, and the gradient is not zero after it")
    if empty:
        return DraftVerdict(
            "inconclusive", "the gradient was None whenever the statement ran: there was nothing to zero"
        )
    return None


def _grads(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return tuple(programs.grad_places(statement))


def none_read(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement reads the gradient of the subject, which is no leaf: it is None."""
    gradient = f"{claim.subject}.grad"
    if gradient not in programs.grad_places(case.own.node):
        return None
    there = False
    for execution in case.executions(outcome):
        owner, found = execution.before.get(claim.subject), execution.before.get(gradient)
        if owner is None or found is None or owner["kind"] != "tensor":
            continue
        if not owner["is_leaf"] and not owner["retains_grad"] and found["kind"] == "none":
            made = f"`{claim.subject}` is the result of {owner['grad_fn']} (is_leaf False)"
            return DraftVerdict("confirmed", f"{made}; `{gradient}` is None{in_words(outcome)}")
        there = True
    return DraftVerdict("refuted", "the gradient was there, or its tensor a leaf") if there else None


def _owner(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return (claim.subject, f"{claim.subject}.grad") if programs.is_place(claim.subject) else ()


def carried(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """A step of the optimizer uses gradients that its step before has used already, with newer ones added."""
    steps = case.steps(outcome, "step")
    compared = 0
    for first, second in pairwise(steps):
        if first.optimizer != second.optimizer:
            continue
        between = [b for b in outcome.backwards if first.order < b.order < second.order and not b.raised]
        compared += bool(between)
        for backward in between:
            if any(z.kind == "zero" and _meets(z, second) for z in _between(outcome, first.order, backward.order)):
                continue
            for name, old in backward.before.items():
                leaf, new = backward.leaves.get(name), backward.after.get(name)
                if leaf in first.gradients and leaf in second.parameters and nonzero(old):
                    words = (
                        f"the backward in line {backward.line} found `{name}.grad` {shown(old)}, which a step had used"
                    )
                    return DraftVerdict("confirmed", f"{words}, and made it {shown(new)}{in_words(outcome)}")
    if compared:
        return DraftVerdict("refuted", f"no gradient of one of {len(steps)} steps was left for the next")
    return None


def _between(outcome: Outcome, start: int, end: int) -> list[Step]:
    return [s for s in outcome.steps if start < s.order < end]


def _meets(one: Step, other: Step) -> bool:
    return bool(set(one.parameters) & set(other.parameters))


def _reached(backward: Backward, step: Step) -> bool:
    """Whether a backward left a gradient other than zero on a parameter of the step's optimizer."""
    return any(leaf in step.parameters and nonzero(backward.after.get(name)) for name, leaf in backward.leaves.items())


def zeroed_before_step(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The optimizer steps without gradients: those of the backward before it were zeroed in between."""
    steps = case.steps(outcome, "step")
    for step in steps:
        if step.gradients:
            continue
        before = [b for b in outcome.backwards if b.order < step.order and _reached(b, step)]
        if not before:
            continue
        used = [s for s in _between(outcome, before[-1].order, step.order) if s.kind == "step" and _meets(s, step)]
        zeros = [z for z in _between(outcome, before[-1].order, step.order) if z.kind == "zero" and _meets(z, step)]
        if zeros and not used:
            words = f"all gradients are zero or None when the step in line {step.line} begins"
            why = f"; the backward in line {before[-1].line} had left some, and line {zeros[-1].line} zeroed them"
            return DraftVerdict("confirmed", words + why + in_words(outcome))
    if steps and all(step.gradients for step in steps):
        return DraftVerdict("refuted", f"each of {len(steps)} steps found gradients")
    return None


def idle(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The optimizer steps without gradients; a backward reaches its parameters later, or none (`other` "never")."""
    steps = case.steps(outcome, "step")
    for step in steps:
        if step.gradients:
            continue
        if any(b.order < step.order and _reached(b, step) and not _used(outcome, b, step) for b in outcome.backwards):
            continue
        later = [b for b in outcome.backwards if b.order > step.order and set(b.leaves.values()) & set(step.parameters)]
        words = f"no parameter has a gradient when the step in line {step.line} begins"
        if (
            claim.other == "never"
            and outcome.ending == "ended"
            and not any(set(b.leaves.values()) & set(step.parameters) for b in outcome.backwards)
        ):
            return DraftVerdict("confirmed", f"{words}, and no backward reached one{in_words(outcome)}")
        if claim.other != "never" and later:
            return DraftVerdict(
                "confirmed", f"{words}; the backward in line {later[0].line} comes after it{in_words(outcome)}"
            )
    if steps and all(step.gradients for step in steps):
        return DraftVerdict("refuted", f"each of {len(steps)} steps found gradients")
    return None


def _used(outcome: Outcome, backward: Backward, step: Step) -> bool:
    return any(s.kind == "step" and _meets(s, step) for s in _between(outcome, backward.order, step.order))


def late(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """What the statement writes are gradients that a step has used already, and no backward has added to since."""
    for execution in case.executions(outcome):
        steps = [s for s in outcome.steps if s.kind == "step" and s.order < execution.order and s.gradients]
        if not steps or not case.writes(outcome):
            continue
        events = [b for b in outcome.backwards if steps[-1].order < b.order < execution.order]
        if not events:
            return DraftVerdict(
                "confirmed", f"it writes gradients that the step in line {steps[-1].line} has used before"
            )
    return None


def scaled(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement takes gradients that the GradScaler `subject` has scaled, and of no optimizer unscaled."""
    watched = _scale(claim, case.own.node)
    for execution in case.executions(outcome) if watched else ():
        factor, done = (execution.before.get(text) for text in watched)
        if factor is None or done is None or factor["kind"] != "number" or "truth" not in done:
            continue
        if factor["numbers"] == [1.0] or done["truth"]:
            return DraftVerdict("refuted", f"`{claim.subject}` scales by {factor['shown']}, or has unscaled them")
        words = f"`{claim.subject}` scales by {factor['shown']}, and has unscaled no gradients when line"
        return DraftVerdict("confirmed", f"{words} {case.own.line} runs{in_words(outcome)}")
    return None


def _scale(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    states = f"{claim.subject}._per_optimizer_states.values()"
    unscaled = f"any(str(getattr(each['stage'], 'name', '')) == 'UNSCALED' for each in {states})"
    return (f"{claim.subject}.get_scale()", unscaled) if programs.is_place(claim.subject) else ()


def discarded(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """Between two steps the statement zeroes gradients of a backward that came after it was executed before."""
    zeros = case.steps(outcome, "zero")
    for first, second in pairwise(zeros):
        if not second.gradients or not _meets(first, second):
            continue
        if any(s.kind == "step" and _meets(s, second) for s in _between(outcome, first.order, second.order)):
            continue
        later = [s for s in outcome.steps if s.kind == "step" and s.order > second.order and _meets(s, second)]
        lost = [b for b in outcome.backwards if first.order < b.order < second.order and _reached(b, second)]
        if lost and later:
            words = f"it zeroes the gradients of the backward in line {lost[-1].line}, which no step has used"
            return DraftVerdict("confirmed", f"{words}; the next step is in line {later[0].line}{in_words(outcome)}")
    return None


def sum_read(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The subject's gradient is read after two backward passes, and was read between them: it is their sum."""
    name = claim.subject
    passes = [b for b in outcome.backwards if name in b.before and not b.raised]
    gradient = f"{name}.grad"
    reads = sorted(
        each.order
        for statement in case.places
        if gradient in programs.places_in(statement.node)
        for each in case.seen(outcome, statement).executions
    )
    for first, second in pairwise(passes):
        old, new = second.before[name], second.after.get(name)
        between = any(first.end < order < second.order for order in reads)
        after = [e for e in case.executions(outcome) if e.order > second.end]
        if between and after and nonzero(old):
            words = f"`{gradient}` was {shown(old)} before the backward in line {second.line}, which added to it"
            return DraftVerdict("confirmed", f"{words}: it is {shown(new)}{in_words(outcome)}")
    if len(passes) > 1 and not any(nonzero(b.before[name]) for b in passes[1:]):
        return DraftVerdict("refuted", f"each backward found no `{gradient}`, or zeros")
    return None


def stale(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """
    A backward after the step goes through a graph that was made before it, to a parameter the step has changed; or the
    statement writes a leaf itself, and the leaf `subject` is one that such a backward gives a gradient.
    """
    written = [w for w in case.writes(outcome) if w.is_leaf and w.requires_grad and w.after > w.before]
    for write in written if claim.subject else ():
        made = max((e.last for e in case.executions(outcome) if e.order < write.order), default=0)
        for backward in outcome.backwards:
            late = backward.order > write.order and not backward.raised and backward.nodes
            hit = [name for name in backward.leaves if name.rpartition(".")[2] == claim.subject.rpartition(".")[2]]
            if late and hit and max(backward.nodes) < made:
                words = f"the backward in line {backward.line} goes through a graph made before `{write.op}` wrote a"
                return DraftVerdict("confirmed", f"{words} leaf, and gives `{hit[0]}` a gradient{in_words(outcome)}")
    for step in case.steps(outcome, "step"):
        for backward in outcome.backwards:
            if backward.order < step.order or backward.raised or not backward.nodes:
                continue
            hit = [name for name, leaf in backward.leaves.items() if leaf in step.gradients]
            if hit and max(backward.nodes) < step.sequence:
                words = f"the backward in line {backward.line} goes through a graph made before the step"
                return DraftVerdict("confirmed", f"{words}, which has changed `{hit[0]}` since{in_words(outcome)}")
    return None


def not_a_number(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement's result is finite, and a backward through it leaves NaN, or infinity."""
    for execution in case.executions(outcome):
        results = [found for found in (*execution.after.values(), execution.value) if found and is_data(found)]
        if not results or any(not math.isfinite(number) for found in results for number in found["numbers"]):
            continue
        for backward in outcome.backwards:
            if not any(execution.first <= node < execution.last for node in backward.nodes):
                continue
            for name, new in backward.after.items():
                old = backward.before.get(name)
                if new is not None and not _finite(new["numbers"]) and (old is None or _finite(old["numbers"])):
                    words = f"the result is finite; the backward in line {backward.line} makes `{name}.grad`"
                    return DraftVerdict("confirmed", f"{words} {shown(new)}{in_words(outcome)}")
    return None


def zero(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement's backward gives a leaf called as the subject a gradient that is zero everywhere."""
    name = claim.subject.rpartition(".")[2]
    for backward in case.backwards(outcome):
        for leaf, new in backward.after.items():
            if leaf.rpartition(".")[2] == name and new is not None and not backward.raised and not any(new["numbers"]):
                return DraftVerdict("confirmed", f"`{leaf}.grad` is zero everywhere{in_words(outcome)}")
    return None


def _finite(numbers: list[float]) -> bool:
    return all(math.isfinite(number) for number in numbers)


def _assigned(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return tuple(programs.assigned(statement))


PROBES: Mapping[str, Probe] = {
    "gradient-accumulated": Probe(accumulated),
    "gradient-zero": Probe(zero),
    "gradient-zeroed": Probe(zeroed, _grads, everywhere=True),
    "gradient-none": Probe(none_read, _owner),
    "gradients-carried": Probe(carried),
    "gradients-zeroed-before-step": Probe(zeroed_before_step),
    "step-without-gradients": Probe(idle),
    "gradients-written-late": Probe(late),
    "gradients-scaled": Probe(scaled, _scale),
    "gradients-discarded": Probe(discarded),
    "gradients-summed": Probe(sum_read),
    "gradient-of-old-value": Probe(stale),
    "gradient-not-a-number": Probe(not_a_number, _assigned, capture=True),
}
