"""
Probes for what functions of torch are given: the result of another function, sizes that are broadcast, equal floats.

Pure functions of a case and what the child saw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from torchlint.rule import Observed
from torchlint.verify.case import Case, DraftVerdict, in_words
from torchlint.verify.probe import Probe
from torchlint.verify.protocol import TWICE, Called, Facts, Outcome

_DIFFERENCES = ("sub", "__sub__", "__rsub__", "rsub", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_COMPARISONS = ("equal", "eq", "__eq__", "ne", "__ne__")


def _own(case: Case, outcome: Outcome) -> list[Called]:
    return [call for call in outcome.called if case.own_line(call.lines)]


def given(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The function `subject`, called by the statement, is given the result of the function `other`."""
    node = f"{claim.other.replace('_', '')}backward0"
    found = ""
    unknown = False
    for call in _own(case, outcome):
        if call.name != claim.subject or not call.given:
            continue
        argument = call.given[0]
        if argument["grad_fn"].lower() == node or claim.other in argument["results_of"]:
            words = f"`{call.name}` was given the result of `{claim.other}`, {argument['shown']}"
            return DraftVerdict("confirmed", words + in_words(outcome))
        found = found or argument["grad_fn"]
        unknown = unknown or not argument["grad_fn"] or argument["grad_fn"].startswith(_MOVES)
    return (
        DraftVerdict("refuted", f"`{claim.subject}` was given the result of {found}") if found and not unknown else None
    )


_MOVES = (
    *("View", "UnsafeView", "ReshapeAlias", "Alias", "AsStrided", "Squeeze", "Unsqueeze", "Transpose", "Permute"),
    *("TBackward", "Clone", "ToCopy", "Index", "Select", "Slice", "Split", "Unbind", "Narrow", "Gather", "Take"),
    *("Masked", "Expand", "Repeat", "Stack", "Cat"),
)
"""How the names of nodes begin that compute nothing: behind them may be anything."""


def over_batch(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The weights of a softmax in the statement sum to 1 over the first dimension, and not over the last."""
    apart = False
    for call in _own(case, outcome):
        shape, numbers = call.result.get("shape", []), call.result.get("numbers", [])[:-1]
        if call.name not in _SOFTMAX or len(shape) < 2 or shape[0] < 2 or math.prod(shape) != len(numbers):
            continue
        weights = [math.exp(each) for each in numbers] if "log" in call.name else numbers
        rest = len(weights) // shape[0]
        columns = [sum(weights[start::rest]) for start in range(rest)]
        rows = [sum(weights[start : start + shape[-1]]) for start in range(0, len(weights), shape[-1])]
        if not _ones(columns):
            apart = True
        elif not _ones(rows):
            words = f"the weights of `{call.name}` sum to 1 over the {shape[0]} samples, those of one sample to"
            return DraftVerdict("confirmed", f"{words} {rows[0]:.3g}, {rows[1]:.3g}{in_words(outcome)}")
    return DraftVerdict("refuted", "the weights do not sum to 1 over the first dimension") if apart else None


def _ones(sums: list[float]) -> bool:
    return all(math.isclose(each, 1.0, abs_tol=1e-3) for each in sums)


_SOFTMAX = ("softmax", "log_softmax")


def broadcast(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """A difference of a prediction and a target of as many elements is broadcast to more: each against each."""
    agreed = False
    for call in _own(case, outcome):
        if call.name not in _DIFFERENCES or len(call.given) < 2:
            continue
        one, other = call.given[:2]
        sizes = [math.prod(side["shape"]) for side in (one, other)]
        if one["shape"] == other["shape"]:
            agreed = True
        elif sizes[0] == sizes[1] > 1 and one["requires_grad"] != other["requires_grad"]:
            words = f"`{call.name}` was given shapes {_size(one)} and {_size(other)}"
            return DraftVerdict("confirmed", f"{words}, which are broadcast{in_words(outcome)}")
    return DraftVerdict("refuted", "the shapes are the same") if agreed else None


def _size(found: Facts) -> str:
    return str(tuple(found["shape"]))


def compared(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """A comparison for equality finds floats different that agree up to round-off."""
    seen = False
    for call in _own(case, outcome):
        if call.name not in _COMPARISONS or len(call.given) < 2:
            continue
        one, other = call.given[:2]
        if one["shape"] != other["shape"]:
            continue
        pairs = list(zip(one["numbers"][:-1], other["numbers"][:-1], strict=False))
        seen = True
        if any(a != b for a, b in pairs) and all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-7) for a, b in pairs):
            a, b = next((a, b) for a, b in pairs if a != b)
            return DraftVerdict("confirmed", f"`{call.name}` compared {a!r} with {b!r}{in_words(outcome)}")
    return DraftVerdict("inconclusive", "the values it compared do not differ by round-off alone") if seen else None


def formula(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """
    The backward of the Function `subject`, or of the one around the statement, agrees with finite differences at some
    inputs, and not at others.

    One that agrees nowhere is another function on purpose: a straight-through estimator, a reversed gradient.
    """
    name = claim.subject or "".join(case.own.classes[-1:])
    found = [each for each in outcome.derivatives if each.function == name and not each.twice and not each.ignored]
    right = [each for each in found if each.agrees]
    wrong = [each for each in found if not each.agrees]
    if right and wrong:
        words = f"at ({wrong[0].inputs}) its backward is wrong, at ({right[0].inputs}) it is right: {wrong[0].message}"
        return DraftVerdict("confirmed", words)
    if wrong:
        return DraftVerdict("inconclusive", "its backward agrees with finite differences nowhere: that may be meant so")
    return (
        DraftVerdict("inconclusive", f"its backward is right at {len(right)} inputs that were tried") if right else None
    )


def formula_twice(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """
    The backward of the Function around the statement agrees with finite differences, and its own derivative does not.

    At one input it may be a kink of the function; at two of those that are tried it is not.
    """
    name = "".join(case.own.classes[-1:])
    found = [each for each in outcome.derivatives if each.function == name and each.twice]
    wrong = [each for each in found if not each.agrees]
    if len(wrong) > 1:
        words = f"at ({wrong[0].inputs}) its backward is right, and the derivative of that wrong: {wrong[0].message}"
        return DraftVerdict("confirmed", words)
    return DraftVerdict("inconclusive", f"its second derivatives are right at {len(found)} inputs") if found else None


def ignored(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The backward of the Function around the statement returns the same, not zero, whatever gradient it is given."""
    name = "".join(case.own.classes[-1:])
    found = [each for each in outcome.derivatives if each.function == name and each.ignored]
    same = [each for each in found if not each.agrees]
    if found and len(same) == len(found):
        words = f"its backward returns the same for three incoming gradients, at {len(same)} inputs: ({same[0].inputs})"
        return DraftVerdict("confirmed", words + in_words(outcome))
    if same:
        return DraftVerdict("inconclusive", f"its backward ignores the incoming gradient at ({same[0].inputs}) alone")
    return DraftVerdict("refuted", "what its backward returns changes with what it is given") if found else None


def waits(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """In each of several rounds the statement asks for a value that has to be computed first."""
    calls = [call for call in _own(case, outcome) if call.name in _WAITING]
    if len(calls) > 1:
        return DraftVerdict(
            "confirmed", f"`{calls[0].name}` was called in each of {len(calls)} rounds{in_words(outcome)}"
        )
    return None


_WAITING = (
    "item",
    "tolist",
    "cpu",
    "numpy",
    "__bool__",
    "__float__",
    "__int__",
    "__array__",
    "nonzero",
    "is_nonzero",
    "__repr__",
    "__format__",
)


PROBES: Mapping[str, Probe] = {
    "given": Probe(given, calls=lambda claim: (claim.subject, claim.other, f"{claim.other}_")),
    "sums-over-batch": Probe(over_batch, calls=lambda claim: _SOFTMAX),
    "broadcast": Probe(broadcast, calls=lambda claim: _DIFFERENCES),
    "derivative-wrong": Probe(formula, functions=lambda claim: (claim.subject or "*",)),
    "gradient-ignored": Probe(ignored, functions=lambda claim: ("*",)),
    "second-derivative-wrong": Probe(formula_twice, functions=lambda claim: (f"{claim.subject or '*'}{TWICE}",)),
    "waits-for-values": Probe(waits, calls=lambda claim: _WAITING),
    "compared-exactly": Probe(compared, calls=lambda claim: _COMPARISONS),
}
