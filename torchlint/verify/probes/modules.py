"""
Probes for Modules: what they do not know of, what they build in every call, and the mode they are in.

Pure functions of a case and what the child saw.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import pairwise

from torchlint.rule import Observed
from torchlint.verify import programs
from torchlint.verify.case import Case, DraftVerdict, in_words
from torchlint.verify.probe import Probe
from torchlint.verify.protocol import Execution, Outcome


def unregistered(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The subject, an attribute of a Module, holds tensors that the Module does not know when the program ends."""
    later = [each for reader in case.readers for each in case.executions(outcome, reader)]  # it may be filled there
    for execution in (*case.executions(outcome), *later):
        found = execution.after.get(claim.subject)
        if found is None or execution.raised or not found.get("held"):
            continue
        held, known = found["held"], found.get("known", 0)
        if known:
            return DraftVerdict(
                "refuted", f"`{found['owner']}` knows {known} of the {held} tensors in `{claim.subject}`"
            )
        what = "is a tensor" if found["kind"] == "tensor" else f"holds {held} tensors"
        words = f"`{claim.subject}` {what}; `{found['owner']}` has neither a parameter nor a buffer of it"
        return DraftVerdict("confirmed", words + in_words(outcome))
    return None


def _attribute(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return (claim.subject,) if programs.is_place(claim.subject) else ()


def built_per_call(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement registers, or binds, new parameters in each of several calls on the same object."""
    built = [
        sum(execution.order < each.order < execution.end for each in outcome.built) + _bound(execution)
        for execution in case.executions(outcome)
    ]
    owners = [execution.before.get("self", {}).get("identity") for execution in case.executions(outcome)]
    calls = [count for count, owner in zip(built, owners, strict=True) if owner is not None and owner == owners[0]]
    if not any(calls):
        return None  # what the statement builds is not seen to be one
    if len(calls) > 1 and all(calls):
        words = f"in each of {len(calls)} calls it built new parameters: {calls[-1]} in the last"
        return DraftVerdict("confirmed", words + in_words(outcome))
    if len(calls) > 1 and not calls[-1]:
        return DraftVerdict("refuted", "a later call built no parameters")
    if len(calls) == 1 and calls[0]:
        return DraftVerdict("inconclusive", "it built parameters in the one call that was seen", unreached=True)
    return None


def _bound(execution: Execution) -> int:
    """How many names hold a Parameter after it that they did not hold before: one that no Module is told of."""
    return sum(
        bool(new.get("is_parameter")) and new["identity"] != execution.before.get(name, {}).get("identity")
        for name, new in execution.after.items()
    )


def module_changed(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The Module bound by the statement to the subject has other parameters where that is read later."""
    (name,) = _parameters(claim, case.own.node) or ("",)
    made = [each for each in case.executions(outcome) if not each.raised]
    if not made:
        return None
    for first, second in pairwise(made):
        kept, found = first.after.get(name), second.before.get(name)
        if kept is None or found is None or "numbers" not in kept:
            continue
        if found.get("memories") == kept.get("memories") and found.get("numbers") != kept["numbers"]:
            words = f"the parameters of `{claim.subject}` have changed since it was bound, where that is done again"
            return DraftVerdict("confirmed", words + in_words(outcome))
    kept = made[-1].after.get(name)
    for statement in (*case.places[1:], *case.readers):
        for later in case.executions(outcome, statement):
            found = later.before.get(name)
            if kept is None or found is None or later.order <= made[-1].end or "numbers" not in kept:
                continue
            if found.get("memories") == kept.get("memories") and found.get("numbers") != kept["numbers"]:
                words = (
                    f"the parameters of `{claim.subject}` have changed since, where line {statement.line} is reached"
                )
                return DraftVerdict("confirmed", words + in_words(outcome))
    return None


def _parameters(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return (f"tensors_({claim.subject})",) if programs.is_place(claim.subject) else ()


def _self(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return ("self", *(name for name in programs.assigned(statement) if "." not in name))


def trains_in_eval(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement leaves the subject in evaluation mode, and a backward runs before anything sets it back."""
    mode = _mode(claim, case.own.node)[0]
    rounds = [each for each in case.executions(outcome) if not each.raised]
    for first, second in pairwise(rounds):
        after, before = first.after.get(mode), second.before.get(mode)
        started = first.before.get(mode)
        passes = [b for b in outcome.backwards if first.end < b.order < second.order]
        if after is None or before is None or started is None or not passes:
            continue
        if started.get("truth") and after.get("truth") is False and before.get("truth") is False:
            words = f"`{mode}` is False after it, and still when it is executed again"
            return DraftVerdict("confirmed", f"{words}: the backward in line {passes[0].line} ran in between")
        if before.get("truth"):
            return DraftVerdict("refuted", f"`{mode}` is True again when the statement is executed once more")
    for left in (each for each in rounds if each.before.get(mode, {}).get("truth")):
        if left.after.get(mode, {}).get("truth") is not False:
            continue
        for place in case.places[1:]:
            for later in case.executions(outcome, place):
                passes = [b for b in outcome.backwards if later.order < b.order < later.end]
                modes = [facts.get(mode, {}).get("truth") for facts in (later.before, later.after)]
                if later.order > left.end and passes and modes == [False, False]:
                    words = f"`{mode}` is False after it, and still when the backward in line {passes[0].line} runs"
                    return DraftVerdict("confirmed", words + in_words(outcome))
    return None


def _mode(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return (f"{claim.subject}.training",)


def takes_no_part(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """A wrapper waits for all gradients of the Module; others came, and none for what the subject holds."""
    for execution in case.executions(outcome):
        found = execution.after.get(claim.subject)
        if found is None or execution.raised or not found.get("held") or not found.get("reached"):
            continue
        if not found["distributed"]:
            return DraftVerdict("inconclusive", "no `DistributedDataParallel` was seen to wait for its gradient")
        if found["held_reached"]:
            return DraftVerdict("refuted", f"`{claim.subject}` got a gradient")
        words = f"a backward gave {found['reached']} parameters of `{found['owner']}` a gradient, and none of the"
        return DraftVerdict("confirmed", f"{words} {found['held']} in `{claim.subject}`" + in_words(outcome))
    return None


PROBES: Mapping[str, Probe] = {
    "takes-no-part": Probe(takes_no_part, _attribute),
    "unregistered": Probe(unregistered, _attribute, everywhere=True, reads=True, filled=True),
    "built-per-call": Probe(built_per_call, _self),
    "module-changed": Probe(module_changed, _parameters, everywhere=True, reads=True),
    "trains-in-evaluation-mode": Probe(trains_in_eval, _mode, everywhere=True),
}
