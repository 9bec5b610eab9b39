"""
Two runs of a program compared: as it stands, and with one thing changed.

Gradients are compared as torch's own `allclose` does, on samples and norms (`observe.sample`). Runs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from torchlint.verify.case import DraftVerdict
from torchlint.verify.protocol import Facts, Outcome

Gradients = Mapping[str, "Facts | None"]


def same_passes(one: Outcome, other: Outcome) -> int:
    """How many backward passes left the same gradients; 0 if one of them, or the end, did not."""
    pairs = list(zip(one.backwards, other.backwards, strict=False))
    if not all(_same(a.after, b.after) for a, b in pairs):
        return 0
    if one.ending == "time":  # both were stopped, not at the same place
        return len(pairs)
    return len(pairs) if len(one.backwards) == len(other.backwards) and same_end(one, other) else 0


def same_end(one: Outcome, other: Outcome) -> bool:
    """Whether both ended alike, with the same gradients on every leaf, and there were some."""
    return one.ending == other.ending and bool(one.gradients) and _same(one.gradients or {}, other.gradients or {})


def same_results(one: Outcome, other: Outcome) -> bool:
    """Whether both ended alike, with the same gradients on every leaf, if there were any."""
    return one.ending == other.ending and _same(one.gradients or {}, other.gradients or {})


def _same(one: Gradients, other: Gradients) -> bool:
    return all(close(one.get(name), other.get(name)) for name in {**one, **other})


def close(one: Facts | None, other: Facts | None) -> bool:
    """Whether two gradients, or values, are the same up to round-off."""
    if one is None or other is None:  # no gradient counts as zero: a zeroed and an absent one lead the same way
        rest = one or other
        return rest is None or not any(rest["numbers"])
    return bool(one["shape"] == other["shape"]) and all(
        math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(one["numbers"], other["numbers"], strict=True)
    )


def widened(draft: DraftVerdict, words: str) -> DraftVerdict:
    """The draft with more evidence."""
    return replace(draft, evidence=draft.evidence + words)
