"""
Probes about what a change of the program would do: it is run with the change, and both runs are compared.

Called with an observed run of the program as it stands; the runs happen in the child. Gradients are compared as torch's
own `allclose` does, on samples and norms (`observe.sample`).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from itertools import pairwise

from torchlint.finding import TextEdit
from torchlint.rule import Observed
from torchlint.verify import programs
from torchlint.verify.case import Case, DraftVerdict, in_words, is_data, shown
from torchlint.verify.counterfactual import same_end, same_passes, same_results
from torchlint.verify.messages import FREED, message
from torchlint.verify.probe import Probe, Run
from torchlint.verify.probes.seeds import begun
from torchlint.verify.programs import Program
from torchlint.verify.protocol import Facts, Outcome

_POSITIONS = {"retain_graph": 1, "create_graph": 2}


def needed_graph(case: Case, claim: Observed, program: Program, base: Outcome, run: Run) -> DraftVerdict | None:
    """
    Is `retain_graph=True` needed? Runs without it.

    A claim with `other` "needless" says that it is not. One without says that another backward reads the graph, if its
    trace leads there; without a trace it only points at the argument, and either answer bears it out.

    Returns
    -------
    DraftVerdict | None
        None if the statement was not executed.
    """
    if not case.backwards(base):
        return None
    text = programs.without_argument(program, case.own, "retain_graph", 1)
    if text is None:
        return DraftVerdict("inconclusive", f"no `retain_graph` argument was found in line {case.own.line}")
    without = run(text, False)
    needless = claim.other == "needless"
    reader = not needless and len(case.places) > 1
    if without.raised is not None and FREED in without.raised.message and without.raised != base.raised:
        needed = f"without it: {message(without.raised)}"
        if needless:
            return DraftVerdict("refuted", f"the graph is read again; {needed}")
        words = f"needed as written; {needed}{_cure(case, program, base, without, run)}"
        return DraftVerdict("confirmed", words, at_once=True)
    if without.ending != base.ending:
        return DraftVerdict("inconclusive", "the program ends otherwise without it, for another reason")
    passes = same_passes(base, without)
    if not passes:
        return DraftVerdict("inconclusive", "it runs without it, with other gradients: the program is not repeatable")
    count = sum(len(b.after) for b in base.backwards[:passes])
    evidence = f"runs without it, same gradients: {count} compared in {passes} pass{'' if passes == 1 else 'es'}"
    if reader:
        return DraftVerdict("refuted", evidence)
    return DraftVerdict("confirmed", evidence)


def _cure(case: Case, program: Program, base: Outcome, without: Outcome, run: Run) -> str:
    """Whether the finding's fix, or else one backward on the sum, gives the same gradients, in words."""
    fix = case.finding.fix
    if fix is not None:
        cured = run(program.edited(fix.edits), False)
        return f"; with the fix ({fix.title}) the same gradients" if same_end(base, cured) else ""
    lines = without.raised.lines if without.raised else ()
    reader = program.statement_at(lines[-1]) if lines else None
    text = programs.summed(program, case.own, reader) if reader else None
    if text is None or reader is None:
        return ""
    if not same_end(base, run(text, False)):
        return ""
    return f"; one backward on the sum, in line {reader.line}, gives the same gradients"


def needless(case: Case, claim: Observed, program: Program, base: Outcome, run: Run) -> DraftVerdict | None:
    """The argument `subject` of the statement's backward or `grad` changes nothing: the program is run without it."""
    if not case.backwards(base) or base.ending != "ended":
        return None
    text = programs.without_argument(program, case.own, claim.subject, _POSITIONS.get(claim.subject, 99))
    if text is None:
        return DraftVerdict("inconclusive", f"no argument `{claim.subject}` was found in line {case.own.line}")
    without = run(text, False)
    if without.ending != "ended":
        ended = message(without.raised) if without.raised else without.note
        return DraftVerdict("refuted", f"without `{claim.subject}` it does not run: {ended}")
    if not same_results(base, without):
        return DraftVerdict("refuted", f"without `{claim.subject}` the gradients are others")
    return DraftVerdict("confirmed", f"runs without `{claim.subject}`, same gradients in {len(base.backwards)} passes")


def constant(case: Case, claim: Observed, program: Program, base: Outcome, run: Run) -> DraftVerdict | None:
    """With `create_graph=True` in the statement a backward leaves other gradients: a term was taken for a constant."""
    if not case.backwards(base) or base.ending != "ended":
        return None
    text = programs.with_argument(program, case.own, "create_graph")
    if text is None:
        return None
    recorded = run(text, False)
    if recorded.ending != "ended" or len(recorded.backwards) != len(base.backwards):
        return DraftVerdict("inconclusive", "the program ends otherwise with `create_graph=True`")
    if same_results(base, recorded):
        return DraftVerdict("refuted", "with `create_graph=True` the gradients are the same")
    repeated = run(program.text, False)
    if not same_results(base, repeated):
        return DraftVerdict("inconclusive", "the program is not repeatable: two runs leave different gradients")
    for name, old in (base.gradients or {}).items():
        new = (recorded.gradients or {}).get(name)
        if shown(old) != shown(new):
            return DraftVerdict(
                "confirmed", f"with `create_graph=True` `{name}.grad` is {shown(new)}, and not {shown(old)}"
            )
    return DraftVerdict("confirmed", "with `create_graph=True` the gradients are others")


def cheaper(case: Case, claim: Observed, program: Program, base: Outcome, run: Run) -> DraftVerdict | None:
    """
    With the finding's fix, or where there is none with `other` written at the finding's place, the program computes
    fewer elements, or takes fewer operations for its products, prints the same, and leaves the same gradients and
    values.
    """
    fix = case.finding.fix
    if base.ending != "ended" or not case.seen(base, case.own).finished:
        return None
    if fix is None and not claim.other:
        return DraftVerdict("inconclusive", "there is no fix to measure it against")
    edits = (TextEdit(case.finding.span, claim.other),) if fix is None else fix.edits
    changed = f"the fix ({fix.title})" if fix is not None else f"`{claim.other}`"
    now, then = run(program.text, True), run(program.edited(edits), True)
    if then.ending != "ended" or now.ending != "ended":
        return DraftVerdict("inconclusive", "with the fix the program does not run to its end")
    if not same_results(now, then) or now.printed != then.printed or not _same_values(case, now, then):
        return DraftVerdict("inconclusive", "with the fix the results are not the same")
    words = f"its operations compute {now.elements:,} elements, with {changed} {then.elements:,}"
    if then.elements < now.elements:
        return DraftVerdict("confirmed", words)
    if then.flops < now.flops:
        return DraftVerdict("confirmed", f"its products take {now.flops:,} operations, with {changed} {then.flops:,}")
    return DraftVerdict("refuted", words) if fix is not None else None


def _same_values(case: Case, now: Outcome, then: Outcome) -> bool:
    """Whether what the finding's statement binds is the same in both runs, as far as it was seen in both."""
    pairs = zip(*(case.executions(each) for each in (now, then)), strict=False)
    for old, new in pairs:
        for name in programs.assigned(case.own.node):
            value, other = old.after.get(name), new.after.get(name)
            if value is None or not is_data(value):
                continue
            if other is None or not is_data(other) or value["shape"] != other["shape"]:
                return False
            size = 1e-5 * max(1.0, value["numbers"][-1])  # the norm: another order of additions rounds otherwise
            pairs = zip(value["numbers"], other["numbers"], strict=True)
            if not all(math.isclose(a, b, rel_tol=1e-4, abs_tol=size) or (a != a and b != b) for a, b in pairs):
                return False
    return True


def copied_again(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The statement binds the subject to a larger tensor each time: all that it had before is copied once more."""
    sizes = []
    for execution in case.executions(outcome):
        found = execution.after.get(claim.subject)
        if not execution.raised and found is not None and found["kind"] == "tensor":
            sizes.append(math.prod(found["shape"]))
    growing = sizes[: 1 + next((i for i, (a, b) in enumerate(pairwise(sizes)) if b <= a), len(sizes))]
    if len(growing) < SEVERAL or growing[0] <= 0:
        return None
    words = f"{len(growing)} rounds wrote {sum(growing):,} elements for a `{claim.subject}` of {growing[-1]:,}"
    return DraftVerdict("confirmed", words + in_words(outcome))


def _subject(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return (claim.subject,) if programs.is_place(claim.subject) else ()


SEVERAL = 3
"""So many rounds show that something grows."""


def inexact(case: Case, claim: Observed, program: Program, base: Outcome, run: Run) -> DraftVerdict | None:
    """
    With the finding's fix the statement gives another value: what is there has lost digits, or is no number. Where
    there is no fix: it gives what is no number, and none with the same program in double precision.
    """
    fix = case.finding.fix
    made = [each for each in case.executions(base) if not each.raised]
    if not made:
        return None
    if fix is None:
        return _exact_beside(case, claim, base) or _finite_in_double(case, program, base, run)
    text = program.edited(fix.edits)
    if text.count("\n") != program.text.count("\n"):
        return DraftVerdict("inconclusive", "the fix moves lines, so that values cannot be compared")
    if not programs.assigned(case.own.node):
        place = (case.own.line, case.own.column + 1)
        now = programs.with_value_named(program, *place, _VALUE)
        then = programs.with_value_named(Program(text, program.path), *place, _VALUE)
        if now is None or then is None:
            return None
        made, text = [each for each in case.executions(run(now, False)) if not each.raised], then
    cured = [each for each in case.executions(run(text, False)) if not each.raised]
    for old, new in zip(made, cured, strict=False):
        for name, value in old.after.items():
            better = new.after.get(name)
            if name in _results(case.own.node) and (
                is_data(value)
                and is_data(better)
                and better is not None
                and not _close(value["numbers"], better["numbers"])
            ):
                said = "its value" if name == _VALUE else f"`{name}`"
                words = f"{said} is {shown(value)}, with the fix ({fix.title}) {shown(better)}"
                return DraftVerdict("confirmed", words)
    if cured:
        return DraftVerdict("inconclusive", "for the values of this run the fix changes nothing")
    return None


def _exact_beside(case: Case, claim: Observed, base: Outcome) -> DraftVerdict | None:
    """
    What stands there is no number, where what the claim holds to be exact is one; where both are, they are the same.
    """
    for execution in case.executions(base):
        value, better = (execution.before.get(text) for text in (claim.subject, claim.other))
        if value is None or better is None or not is_data(value) or not is_data(better):
            continue
        pairs = list(zip(value["numbers"][:-1], better["numbers"][:-1], strict=False))
        if value["shape"] != better["shape"] or not all(math.isfinite(new) for _, new in pairs):
            continue
        apart = [pair for pair in pairs if math.isfinite(pair[0]) and not math.isclose(*pair, rel_tol=0.1, abs_tol=0.1)]
        if not apart and any(not math.isfinite(old) for old, _ in pairs):
            words = f"`{claim.subject}` is {shown(value)}, and `{claim.other}` {shown(better)}"
            return DraftVerdict("confirmed", words + in_words(base))
    return None


def _finite_in_double(case: Case, program: Program, base: Outcome, run: Run) -> DraftVerdict | None:
    """A statement makes what is no number of numbers, and in double precision a number."""
    text = program.text
    if not programs.assigned(case.own.node):
        named = programs.with_value_named(program, case.own.line, case.own.column + 1, _VALUE)
        if named is None:
            return None
        text, base = named, run(named, False)
    double = run(begun(Program(text, program.path), _DOUBLE), False)
    results = _results(case.own.node)
    pairs = zip(*([e for e in case.executions(each) if not e.raised] for each in (base, double)), strict=False)
    for old, new in pairs:
        given = [facts for name, facts in old.before.items() if name not in results]
        if any(is_data(facts) and _is_no_number(facts) for facts in given):
            continue  # it was given some
        for name in results:
            value, better = old.after.get(name), new.after.get(name)
            if _has_numbers(value) and _has_numbers(better) and _is_no_number(value) and not _is_no_number(better):
                said = "its value" if name == _VALUE else f"`{name}`"
                return DraftVerdict("confirmed", f"{said} is {shown(value)}, in double precision {shown(better)}")
    return None


def _has_numbers(found: Facts | None) -> bool:
    """Whether a value is a tensor, an array, or several of them."""
    return is_data(found) or (found is not None and found["kind"] == "sequence" and bool(found.get("numbers")))


def _is_no_number(found: Facts | None) -> bool:
    return found is not None and not all(math.isfinite(each) for each in found["numbers"][:-1])


_DOUBLE = "import torch as torch_of_double; torch_of_double.set_default_dtype(torch_of_double.float64); "


def _close(one: list[float], other: list[float]) -> bool:
    return len(one) == len(other) and all(
        math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(one[:-1], other[:-1], strict=True)
    )


_VALUE = "value_of_the_statement"
"""What a statement that binds nothing gives back has this name in the runs that are compared."""


def _results(statement: ast.stmt) -> tuple[str, ...]:
    return tuple(programs.assigned(statement)) or (_VALUE,)


def _assigned(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    results = _results(statement)
    compared = (claim.subject, claim.other)
    if claim.subject and claim.other and all(map(_computes_only, compared)):
        results = (*compared, *results)
    given = {e.id for e in ast.walk(statement) if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Load)}
    return (*results, *sorted(given - {*results}))


def _computes_only(text: str) -> bool:
    """Whether an expression calls nothing but functions that compute: to evaluate it once more does nothing."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    nodes = list(ast.walk(tree))
    if any(isinstance(each, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)) for each in nodes):
        return False
    called = [each.func for each in nodes if isinstance(each, ast.Call)]
    return all(
        (each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "")) in _COMPUTING for each in called
    )


_COMPUTING = frozenset(
    {
        *(
            "log",
            "log2",
            "log10",
            "exp",
            "softmax",
            "log_softmax",
            "sigmoid",
            "logsigmoid",
            "logsumexp",
            "log1p",
            "expm1",
        ),
        *("softplus", "logaddexp", "sum", "mean", "abs", "square", "sqrt", "pow", "neg", "mul", "div", "add", "sub"),
        *("flatten", "view", "reshape", "squeeze", "unsqueeze", "transpose", "permute", "matmul", "mm", "bmm", "float"),
        *("double", "clamp", "max", "min", "tensor", "detach", "size", "dim", "expand", "to"),
    }
)
"""Functions that give back a value, and do nothing else."""


def _silent(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    return None


def _probe(
    compare: Callable[[Case, Observed, Program, Outcome, Run], DraftVerdict | None],
    expressions: Callable[[Observed, ast.stmt], tuple[str, ...]] = lambda claim, statement: (),
) -> Probe:
    return Probe(_silent, expressions, compare=compare)


PROBES: Mapping[str, Probe] = {
    "retained-graph": _probe(needed_graph),
    "argument-needless": _probe(needless),
    "constant-gradient": _probe(constant),
    "cheaper": _probe(cheaper, lambda claim, statement: tuple(programs.assigned(statement))),
    "copied-again": Probe(copied_again, _subject),
    "inexact": _probe(inexact, _assigned),
}


def without_zeroing(case: Case, claim: Observed, program: Program, base: Outcome, run: Run) -> str:
    """What the cure of a gradient that is zeroed by hand does, in words, or ""."""
    fix = case.finding.fix
    owners = programs.grad_places(case.own.node)
    if base.ending != "ended":
        return ""
    if fix is not None:
        text, words = program.edited(fix.edits), f"with the fix ({fix.title})"
    elif len(owners) == 1 and not hasattr(case.own.node, "body"):
        text, words = program.replaced([(case.own, f"{owners[0]} = None")]), f"with `{owners[0]} = None` instead"
    else:
        return ""
    return f"; {words} the same gradients" if same_end(base, run(text, False)) else ""
