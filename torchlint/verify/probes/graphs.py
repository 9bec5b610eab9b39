"""
Probes for graphs: kept by a loop, cut, or leading to a leaf that nobody can reach any more.

Pure functions of a case and what the child saw.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from torchlint.rule import Observed
from torchlint.verify import programs
from torchlint.verify.case import Case, DraftVerdict, in_words
from torchlint.verify.probe import Probe
from torchlint.verify.protocol import Execution, Facts, Outcome


def graph_kept(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """After a later iteration the subject, or its last element, leads into a graph that no backward goes through."""
    names = _kept(claim, case.own.node)
    rounds = [e for e in case.executions(outcome) if not e.raised and any(_is_tensor(e.after.get(n)) for n in names)]
    if len(rounds) < 2:
        return None
    found = [(name, facts) for name in names if _is_tensor(facts := rounds[-1].after.get(name))]
    for name, facts in found:
        if facts is None or not facts["requires_grad"]:
            continue
        trained = any(rounds[0].order < b.order < rounds[-1].end for b in outcome.backwards)
        if not trained:
            return DraftVerdict("inconclusive", f"`{name}` has a graph, but no backward was seen between the rounds")
        kept = {e.after[name]["sequence"] for e in rounds if _is_tensor(e.after.get(name))}
        reader = next((b for b in outcome.backwards if b.order > rounds[0].end and kept & set(b.nodes)), None)
        if reader is not None and name == claim.subject:
            return DraftVerdict("refuted", f"the backward in line {reader.line} goes through the graph of `{name}`")
        if reader is not None and len([n for n in kept if n in reader.nodes]) > 1:
            return DraftVerdict(
                "refuted", f"the backward in line {reader.line} goes through the graphs in `{claim.subject}`"
            )
        if outcome.ending != "ended" and outcome.note != _SETTLED:
            return DraftVerdict(
                "inconclusive", f"`{name}` has a graph; whether a backward goes through it later is not known"
            )
        words = f"after {len(rounds)} rounds `{name}` has a graph: its grad_fn is {facts['grad_fn']}"
        return DraftVerdict("confirmed", words + in_words(outcome))
    name = found[0][0]
    return DraftVerdict("refuted", f"after {len(rounds)} rounds `{name}` has no graph")


_SETTLED = "was stopped after all places had been seen"


def _kept(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    name = claim.subject  # itself, its last element, and the last tensor in it
    return (name, f"{name}[-1]", f"(tensors_({name}) or [None])[-1]") if programs.is_place(name) else ()


def _is_tensor(found: Facts | None) -> bool:
    return found is not None and found["kind"] == "tensor"


def leaf_lost(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """
    What the statement binds is no leaf, and its graph leads to one that nothing names any more.

    With `other` "parameter" it is an attribute that its Module does not know, and the lost leaf a Parameter.
    """
    leaf = ""
    for execution in case.executions(outcome):
        for name in _bound(claim, case.own.node)[::2]:
            found, lost = execution.after.get(name), execution.after.get(f"nameless_({name})")
            if found is None or found["kind"] != "tensor" or execution.raised:
                continue
            if claim.other == "parameter" and "owner" not in found:
                continue
            known = found.get("registered") or found["is_parameter"]
            if claim.other == "parameter" and found["is_leaf"] and not known and not found["requires_grad"]:
                if "Parameter" not in _called(case.own.node):
                    continue  # what is made of a frozen Parameter has no graph that would lead to it
                words = f"`{name}` is no Parameter, and none of the {len(found.get('parameters', []))} of"
                return DraftVerdict("confirmed", f"{words} `{found['owner']}`{in_words(outcome)}")
            if found["is_leaf"] or known:
                leaf = name
                continue
            if lost is None or not lost.get("length"):
                why = f"`{name}` is the result of {found['grad_fn']}, and the leaves in its graph have names"
                return DraftVerdict("refuted", why)
            if claim.other != "parameter":
                words = f"`{name}` is the result of {found['grad_fn']} (is_leaf False): it gets no gradient"
                return DraftVerdict("confirmed", words + in_words(outcome))
            count = len(found.get("parameters", []))
            return DraftVerdict(
                "confirmed",
                f"`{name}` is no Parameter but the result of {found['grad_fn']} (is_leaf False); "
                f"`named_parameters()` of `{found['owner']}` has {count}, without it{in_words(outcome)}",
            )
    if not leaf:
        return None
    return DraftVerdict("refuted", f"`{leaf}` is a registered Parameter" if claim.other else f"`{leaf}` is a leaf")


def _called(node: ast.AST) -> set[str]:
    calls = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    return {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in calls}


def _bound(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    names = [claim.subject] if claim.subject else programs.assigned(statement)
    return tuple(text for name in names for text in (name, f"nameless_({name})"))


def bound_anew(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The subject was a Parameter, and is another tensor after the statement, which wrote nothing."""
    for execution in case.executions(outcome):
        old, new = execution.before.get(claim.subject), execution.after.get(claim.subject)
        if old is None or new is None or execution.raised or not old.get("is_parameter") or not _is_tensor(new):
            continue
        if new["identity"] == old["identity"] or any(each.memory == old["memory"] for each in case.writes(outcome)):
            return DraftVerdict("refuted", f"`{claim.subject}` is the same tensor, or that was written")
        made = new["grad_fn"] or "an operation"
        words = f"`{claim.subject}` was a Parameter, and is now the result of {made}; the Parameter was not written"
        return DraftVerdict("confirmed", words + in_words(outcome))
    return None


def cut(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The subject is a leaf that requires grad, made from what `other` holds; or a backward starts there."""
    started = [] if claim.other else case.backwards_on_the_way(outcome)
    for backward in started:
        if backward.from_leaf and not backward.raised:
            words = "the backward starts from a leaf: there is no graph, and nothing else gets a gradient"
            return DraftVerdict("confirmed", words + in_words(outcome))
    for execution in case.executions(outcome):
        name = _leaf(claim, case.own.node)
        leaf = execution.after.get(name)
        source = execution.before.get(_GRAPH.format(claim.other))
        if leaf is None or leaf["kind"] != "tensor" or source is None or source["kind"] == "missing":
            continue
        if leaf["is_leaf"] and source.get("truth"):
            if not leaf["requires_grad"] and not _told_later(case, outcome, name, leaf):
                continue
            words = f"`{name}` is a leaf without a graph, and `{claim.other}`, which it is made from, requires grad"
            return DraftVerdict("confirmed", words + in_words(outcome))
        return DraftVerdict("refuted", f"`{name}` is no leaf, or `{claim.other}` does not require grad")
    if started:
        return DraftVerdict("refuted", "the backward starts from the result of an operation")
    return None


def _told_later(case: Case, outcome: Outcome, name: str, leaf: Facts) -> bool:
    """Whether a later statement of the proof finds, or leaves, the same leaf to require grad."""
    for place in case.places[1:]:
        for later in case.executions(outcome, place):
            for found in (later.before.get(name), later.after.get(name)):
                if found is not None and found["identity"] == leaf["identity"] and found.get("requires_grad"):
                    return bool(found.get("is_leaf"))
    return False


_GRAPH = "any(t.requires_grad for t in tensors_({}))"


def _leaf_and_source(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    name = _leaf(claim, statement)
    return (name, _GRAPH.format(claim.other)) if name and claim.other else ()


def _leaf(claim: Observed, statement: ast.stmt) -> str:
    """What the statement binds or writes; a subject that it does neither to is what it was made from."""
    assigned = programs.assigned(statement)
    name = claim.subject
    bound = name and (not assigned or any(each == name or each.startswith(f"{name}.") for each in assigned))
    return name if bound else next(iter(assigned), "")


def loss_dropped(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """What the statement binds to the subject requires grad, nothing reads it, and no backward goes through it."""
    name = claim.subject
    if name not in programs.assigned(case.own.node):
        return None
    made = [each for each in case.executions(outcome) if not each.raised and _is_tensor(each.after.get(name))]
    ends = [*(each.order for each in made[1:]), _NEVER][: len(made)]
    readers = [(statement, each) for statement in case.readers if _reads(statement.node, name)
               for each in case.executions(outcome, statement)]  # fmt: skip
    why = ""
    for execution, end in zip(made, ends, strict=True):
        loss = execution.after[name]
        if not loss["requires_grad"] or loss["is_leaf"]:
            why = why or f"`{name}` does not require grad"
            continue
        reader = next((b for b in outcome.backwards if b.order > execution.end and loss["sequence"] in b.nodes), None)
        if reader is not None:
            why = why or f"the backward in line {reader.line} goes through the graph of `{name}`"
            continue
        read = next((s for s, e in readers if execution.end < e.order < end and _still(e, name, loss)), None)
        if read is not None:
            why = why or f"`{name}` is read in line {read.line}"
            continue
        later = [b for b in outcome.backwards if b.order > execution.end]
        if not later and not outcome.driven:
            return DraftVerdict("inconclusive", f"`{name}` requires grad, and no backward was seen after it")
        words = (
            f"`{name}` requires grad (its grad_fn is {loss['grad_fn']}), and none of {len(later)} backwards came to it"
        )
        return DraftVerdict("confirmed", words + in_words(outcome))
    return DraftVerdict("refuted", why) if why else None


_NEVER = 1 << 62


def _still(execution: Execution, name: str, loss: Facts) -> bool:
    """Whether a name still stood for the same tensor when a statement began."""
    found = execution.before.get(name)
    return found is None or not _is_tensor(found) or found["identity"] == loss["identity"]


def _reads(node: ast.stmt, name: str) -> bool:
    """Whether a statement reads a name, and does not only bind it."""
    return any(
        isinstance(each, ast.Name) and each.id == name and not isinstance(each.ctx, ast.Store)
        for each in ast.walk(node)
    )


def _named(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return (claim.subject,) if programs.is_place(claim.subject) else ()


PROBES: Mapping[str, Probe] = {
    "graph-kept": Probe(graph_kept, _kept),
    "loss-dropped": Probe(loss_dropped, _named, everywhere=True, reads=True),
    "name-bound-anew": Probe(bound_anew, _named),
    "leaf-lost": Probe(leaf_lost, _bound),
    "graph-cut": Probe(cut, _leaf_and_source, everywhere=True),
}
