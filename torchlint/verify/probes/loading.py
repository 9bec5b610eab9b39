"""
Probes for what is handed to a program from outside of it: samples of loaders, items of iterators, code in files.

Pure functions of a case and what the child saw (`loaders`, and the audit events of `recorder`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from torchlint.rule import Observed
from torchlint.verify import programs
from torchlint.verify.case import Case, DraftVerdict, in_words
from torchlint.verify.probe import Probe, Run
from torchlint.verify.probes.seeds import begun
from torchlint.verify.programs import Program
from torchlint.verify.protocol import Facts, Outcome

ROUND = "loader-order"
SEVERAL = 2
"""Of one sample or one number nothing can be told."""
_CODE = ("pickle.find_class", "ctypes.dlopen", "urllib.Request")


def _rounds(case: Case, outcome: Outcome) -> list[Facts]:
    """The rounds over a loader that the statement makes, or begins."""
    found = [call for call in outcome.called if call.name == ROUND]
    return [c.result for c in found if case.own_line(c.result["built"][-1:]) or case.own_line(c.lines[-1:])]


def _within(case: Case, outcome: Outcome) -> list[Facts]:
    """The rounds that begin while the statement runs, in what it calls."""
    return [c.result for c in outcome.called if c.name == ROUND and case.own_line(c.lines)]


def used_up(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The iterator `subject` gives nothing any more when the statement is run; with `other` "again", a second time."""
    seen = []
    for execution in case.executions(outcome):
        found = execution.before.get(_iterator(claim), {})
        if found.get("truth"):
            words = f"when line {case.own.line} runs, `{claim.subject}` is at its end{in_words(outcome)}"
            return DraftVerdict("confirmed", words)
        seen += [found] if found.get("kind") == "number" else []  # else it is no iterator, or does not show it
    if len(seen) > (claim.other == "again"):
        return DraftVerdict("refuted", f"`{claim.subject}` is not at its end when line {case.own.line} runs")
    return None


def _iterator(claim: Observed) -> str:
    return f"used_up_({claim.subject})"


def _watched(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return (_iterator(claim),) if programs.is_place(claim.subject) else ()


def copied(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The generator `subject` is in the same state in two workers of a loader, and both draw from it."""
    name = claim.subject.rpartition(".")[2]
    apart = False
    if not case.seen(outcome, case.own).started:
        return None
    for told in (call.result for call in outcome.called if call.name == ROUND):
        for one, other in combinations(_first(told["workers"]), SEVERAL):
            mine, theirs = one["states"].get(name), other["states"].get(name)
            if mine is None or theirs is None:
                continue
            if mine[0] != theirs[0]:
                apart = True
            elif all(_drew(told["workers"], each["worker"], name) for each in (one, other)):
                words = f"workers {one['worker']} and {other['worker']} began with `{name}` in the same state"
                return DraftVerdict("confirmed", f"{words}, and both drew from it{in_words(outcome)}")
    return DraftVerdict("refuted", f"each worker has `{name}` in another state") if apart else None


def _first(told: Sequence[Facts]) -> list[Facts]:
    """What each worker told first."""
    found: dict[int, Facts] = {}
    for each in told:
        found.setdefault(each["worker"], each)
    return list(found.values())


def _drew(told: Sequence[Facts], worker: int, name: str) -> bool:
    states = [each["states"].get(name, ["", ""]) for each in told if each["worker"] == worker]
    return any(before != after for before, after in states)


def not_divided(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """Two workers of the loader hand out the same samples, and those of one differ among each other."""
    apart = False
    for told in _rounds(case, outcome):
        handed: dict[int, list[str]] = {}
        samples: dict[int, list[str]] = {}
        for each in told["workers"]:
            handed.setdefault(each["worker"], []).append(each["data"])
            samples.setdefault(each["worker"], []).extend(each["samples"] or [each["data"]])
        for (one, first), (other, second) in combinations(handed.items(), SEVERAL):
            common = min(len(first), len(second))
            if not all(first + second) or len(set(first[:common])) < SEVERAL:
                continue
            if first[:common] == second[:common]:
                words = f"workers {one} and {other} handed out the same {common} samples or batches, in the same order"
                return DraftVerdict("confirmed", words + in_words(outcome))
            mine, theirs = samples[one], samples[other]
            if len(set(mine)) > SEVERAL and sorted(mine) == sorted(theirs):
                words = f"workers {one} and {other} handed out the same {len(mine)} samples, each in its own order"
                return DraftVerdict("confirmed", words + in_words(outcome))
            apart = apart or not set(mine) & set(theirs)
    return DraftVerdict("refuted", "the workers handed out other samples") if apart else None


def _pairs(rounds: Sequence[Facts]) -> Iterator[tuple[list[int], list[int], Facts]]:
    """Of each two rounds over the same loader: the order of the samples, as far as both went."""
    for one, other in combinations(rounds, SEVERAL):
        common = min(len(one["indices"]), len(other["indices"]))
        if one["loader"] == other["loader"] and len(set(one["indices"][:common])) >= SEVERAL:
            yield one["indices"][:common], other["indices"][:common], one


def same_order(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """Two rounds over the loader take samples in one order; with `other` "shuffled", of a sampler that shuffles."""
    apart = False
    for first, second, told in _pairs(_rounds(case, outcome)):
        if first == second and (claim.other != "shuffled" or told["shuffles"]):
            by = f" by `{told['sampler']}` of epoch {told['epoch']}" if claim.other == "shuffled" else ""
            words = f"two rounds took the same {len(first)} samples in the same order{by}: {_few(first)}"
            return DraftVerdict("confirmed", words + in_words(outcome))
        apart = apart or first != second
    for first, second, told in _pairs(_within(case, outcome)) if not apart and claim.other == "shuffled" else ():
        if first == second and told["shuffles"]:
            words = f"two rounds that it came to took the same {len(first)} samples in the same order: {_few(first)}"
            return DraftVerdict("confirmed", words + in_words(outcome))
    return DraftVerdict("refuted", "each round took the samples in another order") if apart else None


def starts_again(case: Case, claim: Observed, program: Program, base: Outcome, run: Run) -> DraftVerdict | None:
    """
    The statement starts workers in a process that was itself spawned as a worker: there a file is run once more, under
    the name `__mp_main__`, and so it is run.
    """
    if base.driven or not _with_workers(case, base):
        return None
    again = run(begun(program, "__name__ = '__mp_main__'; "), False)
    if _with_workers(case, again):
        words = "a spawned worker runs the file as `__mp_main__`, which begins a round with workers in the same line"
        return DraftVerdict("confirmed", words)
    if again.ending == "ended":
        return DraftVerdict("refuted", f"run as `__mp_main__`, the file does not come to line {case.own.line}")
    return DraftVerdict("inconclusive", "run as `__mp_main__`, the file does not come to its end")


def _with_workers(case: Case, outcome: Outcome) -> bool:
    found = [call for call in outcome.called if call.name == ROUND and case.own_line(call.lines)]
    return any(call.result["count"] for call in found)


def out_of_order(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """A round over the loader takes the samples in another order than that of the dataset."""
    for told in _rounds(case, outcome):
        if told["indices"] != sorted(told["indices"]):
            return DraftVerdict("confirmed", f"a round took the samples {_few(told['indices'])}{in_words(outcome)}")
    return None


def _few(indices: Sequence[int]) -> str:
    return ", ".join(map(str, indices[:6])) + (", …" if len(indices) > 6 else "")


def foreign_code(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """At the statement Python looks up what a pickle names, opens a library, or asks for what lies elsewhere."""
    for call in outcome.called:
        if call.name not in _CODE or not call.lines or not case.own.covers(call.lines[-1]):
            continue
        what = str(call.result.get("shown"))[:200]
        if call.name == "urllib.Request" and _trusted(case, what):
            continue
        words = {
            "pickle.find_class": f"the pickle named `{what}`, and Python looked it up to call it",
            "ctypes.dlopen": f"Python was told to open the library `{what}`, which runs it",
            "urllib.Request": f"it asked for {what}",
        }[call.name]
        return DraftVerdict("confirmed", words + in_words(outcome))
    return None


def _trusted(case: Case, url: str) -> bool:
    """Whether what is asked for is PyTorch's own repository, or one of which the statement names a tag or a commit."""
    constants = (node.value for node in ast.walk(case.own.node) if isinstance(node, ast.Constant))
    named = [text for text in constants if isinstance(text, str) and "/" in text]
    asked = [text for text in named if f"/{text.partition(':')[0]}/" in url]
    return any(":" in text or text.startswith("pytorch/") for text in asked)


PROBES: Mapping[str, Probe] = {
    "used-up": Probe(used_up, _watched),
    "copied-generator": Probe(copied, calls=lambda claim: (ROUND,)),
    "not-divided": Probe(not_divided, calls=lambda claim: (ROUND,)),
    "same-order": Probe(same_order, calls=lambda claim: (ROUND,)),
    "starts-again": Probe(lambda *_: None, calls=lambda claim: (ROUND,), compare=starts_again),
    "out-of-order": Probe(out_of_order, calls=lambda claim: (ROUND,)),
    "foreign-code": Probe(foreign_code, calls=lambda claim: _CODE, any_arguments=True),
}
