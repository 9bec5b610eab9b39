"""
Symptoms of training that goes wrong in silence: leaves that are none, graphs that are kept, gradients that add up.

As `symptoms`: pure functions of a case and what the child saw; nothing runs here. Each returns None where the run
does not tell. A refutation needs that the statement was seen to do the opposite of what the finding says.
"""

from __future__ import annotations

import ast

from torchlint.verify import programs
from torchlint.verify.case import Case, Opinion, in_words
from torchlint.verify.protocol import Facts, Outcome


def none_read(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN109: the tensor whose gradient is read is no leaf, and its gradient is None."""
    held = False
    for execution in case.details(outcome):
        for place in programs.grad_places(case.own.node):
            owner, gradient = execution.before.get(place.removesuffix(".grad")), execution.before.get(place)
            if owner is None or gradient is None or owner["kind"] != "tensor":
                continue
            if not owner["is_leaf"] and gradient["kind"] == "none":
                name = place.removesuffix(".grad")
                made = f"the result of {owner['grad_fn']}"
                return Opinion("confirmed", f"`{name}` is {made} (is_leaf False); `{place}` is None{in_words(outcome)}")
            held = True
    return Opinion("refuted", "the gradient was there, or its tensor a leaf") if held and not outcome.caught else None


def leaf_lost(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN306: what the statement binds is no leaf."""
    leaf = ""
    for execution in case.details(outcome):
        for name in programs.assigned(case.own.node):
            found = execution.after.get(name)
            if found is None or found["kind"] != "tensor" or execution.raised:
                continue
            if not found["is_leaf"]:
                words = f"`{name}` is the result of {found['grad_fn']} (is_leaf False): it gets no gradient"
                return Opinion("confirmed", words + in_words(outcome))
            leaf = name
    return Opinion("refuted", f"`{leaf}` is a leaf") if leaf and not outcome.caught else None


def graph_kept(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN106: after a later iteration the sum, or the list's last element, still leads into a graph."""
    named = programs.quoted_names(case.finding)[:1]
    names = [*named, *(f"{name}[-1]" for name in named)]
    rounds = [e for e in case.details(outcome) if not e.raised and any(_is_tensor(e.after.get(n)) for n in names)]
    if len(rounds) < 2:
        return None
    found = [(name, facts) for name in names if _is_tensor(facts := rounds[-1].after.get(name))]
    for name, facts in found:
        if facts is not None and facts["requires_grad"]:
            words = f"after {len(rounds)} rounds `{name}` has a graph: its grad_fn is {facts['grad_fn']}"
            return Opinion("confirmed", words + in_words(outcome))
    name = found[0][0]
    return Opinion("refuted", f"after {len(rounds)} rounds `{name}` has no graph") if not outcome.caught else None


def _is_tensor(found: Facts | None) -> bool:
    return found is not None and found["kind"] == "tensor"


def flag_without_effect(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN310: the value that was assigned is not the one that the tensor, or the module's parameters, have now."""
    node = case.own.node
    wanted = node.value.value if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) else None
    owner = programs.flag_owner(node)
    if not isinstance(wanted, bool) or not owner:
        return None
    for execution in case.details(outcome):
        tensor, flags = execution.after.get(owner), execution.after.get(programs.parameter_flags(owner))
        if execution.raised or tensor is None:
            continue
        if tensor["kind"] == "tensor":
            now, what = bool(tensor["requires_grad"]), f"`{owner}.requires_grad`"
        elif flags is not None and flags.get("shown") in ("True", "False"):
            now, what = flags["shown"] == "True", f"`requires_grad` of parameters of `{owner}`"
        else:
            continue
        if now != wanted:
            return Opinion("confirmed", f"{what} is {now} after it{in_words(outcome)}")
        return Opinion("refuted", f"{what} is {now} after it") if not outcome.caught else None
    return None


def adds_up(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN402: a backward finds gradients of the backward before it, and adds to them."""
    passes = [each for each in outcome.backwards if not each.raised]
    if len(passes) < 2 or not case.seen(outcome, case.own).started:
        return None
    for number, later in enumerate(passes[1:], start=2):
        for name, old in later.before.items():
            new = later.after.get(name)
            if old is not None and new is not None and any(old["numbers"]) and old["numbers"] != new["numbers"]:
                words = f"backward pass {number} found `{name}.grad` {old['shown']}, and made it {new['shown']}"
                return Opinion("confirmed", words + in_words(outcome))
    clean = all(old is None or not any(old["numbers"]) for each in passes[1:] for old in each.before.values())
    if clean and outcome.ending == "ended" and not outcome.caught:
        return Opinion("refuted", f"each of {len(passes)} backward passes found no gradient, or zeros")
    return None


def written(case: Case, outcome: Outcome) -> Opinion | None:
    """TLN213, TLN504, TLN511: the statement wrote a tensor in place."""
    for write in case.writes(outcome):
        words = f"`{write.op}` wrote a tensor that it was given; its version went {write.before} → {write.after}"
        return Opinion("confirmed", words + in_words(outcome))
    return None
