"""
Probes for what a program draws from generators that it does not seed: it is run from two other states of them.

Called with an observed run of the program as it stands; the runs happen in the child. What is compared is printed by
the changed program, in lines that begin with a word of torchlint's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from torchlint.rule import Observed
from torchlint.verify.case import Case, DraftVerdict
from torchlint.verify.probe import Probe, Run
from torchlint.verify.programs import Program
from torchlint.verify.protocol import Outcome

_TOLD = re.compile(r"^torchlint-drawn (\w+)$", re.MULTILINE)
_STATES = {
    "random": ("__import__('random').seed({})", "__import__('random').getstate()"),
    "numpy": ("__import__('numpy').random.seed({})", "__import__('numpy').random.get_state()[1:3]"),
}
"""How a generator is seeded, and what tells its state."""
_DRAWN = (
    "[list(map(float, part.detach().reshape(-1)[:64])) if hasattr(part, 'detach') else list(map(int, part))[:256]"
    " for each in ({0} if isinstance({0}, (list, tuple)) else [{0}])"
    " for part in (each.parameters() if hasattr(each, 'parameters') else [getattr(each, 'indices', [])])]"
)
"""The numbers of a Module's parameters, or of the indices of the parts of a split."""


def _telling(expression: str) -> str:
    text = f"repr({expression}).encode()"
    return f"print('torchlint-drawn', __import__('hashlib').sha256({text}).hexdigest())"


def unseeded(case: Case, claim: Observed, program: Program, base: Outcome, run: Run) -> DraftVerdict | None:
    """The generator `subject` ("random", "numpy") is drawn from, and ends in another state if it begins in another."""
    if claim.subject not in _STATES or base.driven or base.ending != "ended" or not case.seen(base, case.own).finished:
        return None
    seed, state = _STATES[claim.subject]
    ends = []
    for number in (1, 2):
        begin = f"{seed.format(number)}; {_telling(state)}; "
        found = _TOLD.findall(run(_between(program, begin, f"\n{_telling(state)}\n"), True).printed)
        if len(found) != 2:
            return DraftVerdict(
                "inconclusive", "the program does not come to its end when it is run from another state"
            )
        ends.append(found)
    if any(first == last for first, last in ends):
        return DraftVerdict("inconclusive", f"nothing was drawn from the generator of `{claim.subject}` in this run")
    if ends[0][1] == ends[1][1]:
        return DraftVerdict(
            "refuted", f"the generator of `{claim.subject}` ends in the same state, whatever it begins with"
        )
    words = f"run from two states of the generator of `{claim.subject}`, the program draws other numbers from it"
    return DraftVerdict("confirmed", words)


def drawn_before(case: Case, claim: Observed, program: Program, base: Outcome, run: Run) -> DraftVerdict | None:
    """What a trace's statement has bound is drawn before the statement seeds: it depends on what was before."""
    names = [name for place in case.places[1:] for name in _bound(place.node)]
    if base.driven or not names or hasattr(case.own.node, "body") or not case.seen(base, case.own).finished:
        return None
    value = _DRAWN.format(names[0])
    drawn = []
    for number in (1, 2):
        text = _between(program, f"__import__('torch').manual_seed({number}); ", "", case, f"{_telling(value)}; ")
        found = _TOLD.findall(run(text, True).printed)
        if not found:
            return DraftVerdict("inconclusive", f"what `{names[0]}` holds cannot be told")
        drawn.append(found[0])
    if drawn[0] == drawn[1]:
        return DraftVerdict("refuted", f"`{names[0]}` is the same, whatever state torch's generator begins with")
    return DraftVerdict(
        "confirmed", f"run from two states of torch's generator, `{names[0]}` is another before the seed"
    )


def _bound(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else []
    flat = [each for target in targets for each in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [each.id for each in flat if isinstance(each, ast.Name)]


def begun(program: Program, first: str) -> str:
    """The program with a statement at its beginning; every other keeps its line."""
    return _between(program, first, "").removesuffix("\n") + ("\n" if program.text.endswith("\n") else "")


def _between(program: Program, first: str, last: str, case: Case | None = None, before: str = "") -> str:
    """The program with statements at its beginning, at its end, and before the finding's own."""
    lines = list(program.lines)
    places = [(_beginning(program), first)]
    if case is not None:
        places.append(((case.own.line, case.own.column), before))
    for (line, column), text in sorted(places, reverse=True):
        encoded = lines[line - 1].encode()
        lines[line - 1] = (encoded[:column] + text.encode() + encoded[column:]).decode()
    return "".join(lines).rstrip("\n") + "\n" + last.lstrip("\n")


def _beginning(program: Program) -> tuple[int, int]:
    """The first statement that is no documentation and no import from `__future__`; those that follow stay in place."""
    for statement in program.statements:
        node = statement.node
        documents = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        outside = not statement.functions and not statement.classes and statement.column == 0
        if outside and not documents and not future and not hasattr(node, "body"):
            return statement.line, statement.column
    return 1, 0


def _silent(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    return None


def _probe(compare: Callable[[Case, Observed, Program, Outcome, Run], DraftVerdict | None]) -> Probe:
    return Probe(_silent, compare=compare)


PROBES: Mapping[str, Probe] = {"unseeded": _probe(unseeded), "drawn-before-seed": _probe(drawn_before)}
