"""
Findings that are about what a change would do: the program is run with the change, and both runs are compared.

Called with an observed run of the program as it stands; the runs happen in the child. Gradients are compared as torch's
own `allclose` does, on samples and norms (`observe.sample`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from torchlint.verify import programs
from torchlint.verify.case import Case, Opinion
from torchlint.verify.judge import FREED, message
from torchlint.verify.programs import Program
from torchlint.verify.protocol import Facts, Outcome

Run = Callable[[str], Outcome]
"""Runs a changed text of the program, observed, under the same conditions."""

Gradients = Mapping[str, "Facts | None"]


def needed_graph(case: Case, program: Program, base: Outcome, run: Run) -> Opinion | None:
    """
    TLN102: is `retain_graph=True` needed? Runs without it.

    A finding with a safe fix claims that it is needless. One without claims that another backward reads the graph,
    if it has a trace that leads there; without a trace it only points at the argument, and either answer bears it out.

    Returns
    -------
    Opinion | None
        None if the statement was not executed.
    """
    if not any(any(case.own.covers(n) for n in b.lines) for b in base.backwards):
        return None
    fix = case.finding.fix
    if fix is not None and fix.safe:
        text: str | None = program.edited(fix.edits)
    else:
        text = programs.without_argument(program, case.own, "retain_graph", 1)
    if text is None:
        return Opinion("inconclusive", f"no `retain_graph` argument was found in line {case.own.line}")
    without = run(text)
    claims_needless = fix is not None and fix.safe
    claims_reader = not claims_needless and len(case.places) > 1
    if without.raised is not None and FREED in without.raised.message and without.raised != base.raised:
        needed = f"without it: {message(without.raised)}"
        if claims_needless:
            return Opinion("refuted", f"the graph is read again; {needed}")
        return Opinion("confirmed", f"needed as written; {needed}{_cure(case, program, base, without, run)}")
    if without.ending != base.ending:
        return Opinion("inconclusive", "the program ends otherwise without it, for another reason")
    passes = _same_passes(base, without)
    if not passes:
        return Opinion("inconclusive", "it runs without it, with other gradients: the program is not repeatable")
    count = sum(len(b.after) for b in base.backwards[:passes])
    same = f"runs without it, same gradients ({count} compared over {_times(passes, 'backward pass')})"
    return Opinion("refuted" if claims_reader else "confirmed", same)


def _times(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 'es'}"


def _cure(case: Case, program: Program, base: Outcome, without: Outcome, run: Run) -> str:
    """Whether the finding's fix, or else one backward on the sum, gives the same gradients, in words."""
    fix = case.finding.fix
    if fix is not None:
        cured = run(program.edited(fix.edits))
        return f"; with the fix ({fix.title}) the same gradients" if _same_end(base, cured) else ""
    lines = without.raised.lines if without.raised else ()
    reader = program.statement_at(lines[-1]) if lines else None
    text = programs.summed(program, case.own, reader) if reader else None
    if text is None or reader is None:
        return ""
    if not _same_end(base, run(text)):
        return ""
    return f"; one backward on the sum, in line {reader.line}, gives the same gradients"


def same_without_zeroing(case: Case, program: Program, base: Outcome, run: Run) -> str:
    """TLN401: what the cure does, in words, or ""."""
    fix = case.finding.fix
    owners = programs.grad_places(case.own.node)
    if fix is not None:
        text, words = program.edited(fix.edits), f"with the fix ({fix.title})"
    elif len(owners) == 1 and not hasattr(case.own.node, "body"):
        text, words = program.replaced([(case.own, f"{owners[0]} = None")]), f"with `{owners[0]} = None` instead"
    else:
        return ""
    cured = run(text)
    if _same_end(base, cured):
        return f"; {words} the same gradients"
    return ""


def with_fix(case: Case, program: Program, run: Run) -> str:
    """What a confirmed error becomes with the finding's fix, in words, or "" if it is not cured or there is none."""
    fix = case.finding.fix
    if fix is None:
        return ""
    return f"; with the fix ({fix.title}) it runs" if run(program.edited(fix.edits)).ending == "ended" else ""


def _same_passes(one: Outcome, other: Outcome) -> int:
    """How many backward passes left the same gradients; 0 if one of them, or the end, did not."""
    pairs = list(zip(one.backwards, other.backwards, strict=False))
    if not all(_same(a.after, b.after) for a, b in pairs):
        return 0
    if one.ending == "time":  # both were stopped, not at the same place
        return len(pairs)
    return len(pairs) if len(one.backwards) == len(other.backwards) and _same_end(one, other) else 0


def _same_end(one: Outcome, other: Outcome) -> bool:
    """Whether both ended alike, with the same gradients on every leaf, and there were some."""
    return one.ending == other.ending and bool(one.gradients) and _same(one.gradients or {}, other.gradients or {})


def _same(one: Gradients, other: Gradients) -> bool:
    return one.keys() == other.keys() and all(_close(one[name], other[name]) for name in one)


def _close(one: Facts | None, other: Facts | None) -> bool:
    if one is None or other is None:  # no gradient counts as zero: a zeroed and an absent one lead the same way
        rest = one or other
        return rest is None or not any(rest["numbers"])
    return bool(one["shape"] == other["shape"]) and all(
        math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(one["numbers"], other["numbers"], strict=True)
    )


def widened(opinion: Opinion, words: str) -> Opinion:
    """The opinion with more evidence."""
    return replace(opinion, evidence=opinion.evidence + words)
