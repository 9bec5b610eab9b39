"""
Symptoms that are no exceptions: what must have been seen at a finding's place, per code.

Pure functions of a case and what the child saw; nothing runs here. Each returns None where the run does not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torchlint.verify import programs, symptoms_training
from torchlint.verify.case import Case, Opinion, in_words
from torchlint.verify.protocol import Execution, Facts, Outcome

DATA = ("tensor", "ndarray")


def graph_write(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN204, TLN205: a tensor that is recorded, or becomes so, was written at the place."""
    writes = case.writes(outcome)
    for write in writes:
        if write.grad_mode and (write.requires_grad or write.requires_grad_after):
            was = f"recorded by {write.grad_fn}" if write.grad_fn else "not recorded before"
            now = f"recorded by {write.grad_fn_after}" if write.grad_fn_after else "a leaf"
            return Opinion(
                "confirmed",
                f"`{write.op}` wrote a tensor that was {was} and is now {now}; its version went "
                f"{write.before} → {write.after}{in_words(outcome)}",
            )
    if not case.seen(outcome, case.own).finished or outcome.caught:
        return None
    if writes:
        return Opinion("refuted", f"`{writes[0].op}` wrote a tensor that is in no graph, before or after")
    return Opinion("refuted", "the statement ran, and no tensor was written in place")


def alias_changed(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN206: a tensor or array shares the memory that the statement writes, and changes with it."""
    claimed = programs.quoted_names(case.finding)
    target = programs.written(case.own.node)
    same_values = ""
    apart = False
    for execution in case.details(outcome):
        for name in _aliases(execution, claimed, target):
            partner = _partner(execution, name, target)
            old, new = execution.before[name], execution.after.get(name)
            if partner is None or name == target or new is None or new.get("memory") != old.get("memory"):
                apart = apart or (name in claimed and not execution.raised)
                continue
            if old["numbers"] != new["numbers"]:
                change = f"it was {old['shown']}, is {new['shown']}"
                return Opinion("confirmed", f"`{name}` shares memory with `{partner}`: {change}{in_words(outcome)}")
            if partner == target and case.writes(outcome):
                same_values = f"`{name}` shares the memory that `{target}` was written in; the values came out the same"
    if same_values:
        return Opinion("confirmed", same_values)
    if apart and not outcome.caught:
        return Opinion("refuted", "the write ran, and nothing that shares its memory changed")
    return None


def _aliases(execution: Execution, claimed: list[str], target: str | None) -> list[str]:
    """What the finding names, what is cut from the graph first; if it names nothing, all that is cut from the graph."""
    data = [name for name, found in execution.before.items() if found["kind"] in DATA]
    named = [name for name in claimed if name in data and name != target]
    cut = [name for name in named or data if not execution.before[name]["requires_grad"]]
    return cut + [name for name in named if name not in cut]


def _partner(execution: Execution, name: str, target: str | None) -> str | None:
    """Another object on the same memory: the one the statement names, if it names one that was found."""
    memory = execution.before[name].get("memory")
    holders = [
        other
        for other, found in execution.before.items()
        if memory and found.get("memory") == memory and found.get("identity") != execution.before[name].get("identity")
    ]
    if target is not None and execution.before.get(target, {}).get("kind") in DATA:
        return target if target in holders else None
    return holders[0] if holders else None


def unregistered(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN301: the attribute is no Parameter and the Module does not know it."""
    for execution in case.details(outcome):
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


def zeroed(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN401: the statement turned a gradient into zeros or None."""
    empty = kept = False
    for execution in case.details(outcome):
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


def dropped(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN212: the statement's value is a tensor (or a truth value) that is lost, and the receiver is as before."""
    for execution in case.details(outcome):
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


def accumulated(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN101 that claims no error: the backward runs, and adds to a gradient that is there already."""
    ran = False
    for backward in outcome.backwards:
        if backward.raised or not any(case.own.covers(line) for line in backward.lines):
            continue
        for name, old in backward.before.items():
            new = backward.after.get(name)
            if old is not None and new is not None and old["numbers"] != new["numbers"]:
                return Opinion("confirmed", f"`{name}.grad` was {old['shown']}, is {new['shown']}")
        ran = True
    if ran and outcome.ending == "ended" and not outcome.caught:
        return Opinion("refuted", "the backward ran, and added to no gradient that was there before")
    return None


OBSERVATIONS: Mapping[str, Callable[[Case, Outcome], Opinion | None]] = {
    "TLN101": accumulated,
    "TLN106": symptoms_training.graph_kept,
    "TLN109": symptoms_training.none_read,
    "TLN204": graph_write,
    "TLN205": graph_write,
    "TLN206": alias_changed,
    "TLN212": dropped,
    "TLN213": symptoms_training.written,
    "TLN301": unregistered,
    "TLN306": symptoms_training.leaf_lost,
    "TLN310": symptoms_training.flag_without_effect,
    "TLN401": zeroed,
    "TLN402": symptoms_training.adds_up,
    "TLN504": symptoms_training.written,
    "TLN511": symptoms_training.written,
}
