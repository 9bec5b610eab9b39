"""
Probes for what is not the same in all releases of torch: refused, deprecated, renamed, new, or with another meaning.

Pure functions of a case and what the child saw. Only the installed torch speaks: by an exception or a warning that
names what the finding names, or by the documentation that it carries. What only another release can show stays open,
and the verdict says which one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from torchlint.rule import Observed
from torchlint.verify import programs
from torchlint.verify.case import Case, DraftVerdict, in_words
from torchlint.verify.messages import message
from torchlint.verify.probe import Probe
from torchlint.verify.protocol import Outcome, Raised

_MISSING = ("AttributeError", "ImportError", "ModuleNotFoundError")
_GIVEN_UP = re.compile(
    r"removed|deprecated|no longer|not supported|only supported|unsupported|unexpected keyword"
    r"|requires the \w+ parameter|cannot find|gone",
    re.IGNORECASE,
)
_DEPRECATION = re.compile(r"^(Future|(Pending)?Deprecation)Warning|deprecat|will be (required|removed)", re.IGNORECASE)


def _release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def _last(subject: str) -> str:
    return subject.rpartition(".")[2]


def _names(text: str, subject: str) -> bool:
    return bool(subject) and re.search(rf"\b{re.escape(_last(subject))}\b", text) is not None


def _lacks_its_module(raised: Raised, subject: str) -> bool:
    """Whether what is not there is the module of torch that has it."""
    found = re.match(r"No module named '(torch\.[\w.]+)'", raised.message)
    return raised.type == "ModuleNotFoundError" and found is not None and f"{subject}.".startswith(f"{found[1]}.")


def _here(case: Case, outcome: Outcome, subject: str) -> Iterator[Raised]:
    for raised in (*outcome.handled, *outcome.caught, *([outcome.raised] if outcome.raised else [])):
        if raised.lines and _placed(case, raised.lines[-1], subject) and not raised.own:
            yield raised


def _placed(case: Case, line: int, subject: str) -> bool:
    """
    Whether a line is the finding's; or, where that gives what it names another name or keeps it in a table, and calls
    nothing, one that uses this and does not name it itself.
    """
    if case.own.covers(line):
        return True
    if any(_last(subject) in _words(call) for call in _calls(case.own.node)):
        return False
    imported = isinstance(case.own.node, (ast.Import, ast.ImportFrom))
    return any(
        each.covers(line)
        and (imported or _last(subject) not in _mentioned(each.node) - {*programs.bound(case.own.node)})
        for each in case.readers
    )


def _mentioned(node: ast.AST) -> set[str]:
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def refused(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """
    Torch has no `subject` (an API, or an argument of what is called), or has it only to raise; gone since release
    `other`, or new in it where that begins with "+".
    """
    for raised in _here(case, outcome, claim.subject):
        given_up = (
            raised.type in _MISSING
            or (raised.type == "TypeError" and "argument" in raised.message)
            or _GIVEN_UP.search(raised.message)
        )
        if given_up and (_names(raised.message, claim.subject) or _lacks_its_module(raised, claim.subject)):
            error = raised if raised == outcome.raised else None
            return DraftVerdict("confirmed", message(raised) + in_words(outcome, raised.phase), error=error)
    installed = _release(outcome.torch)
    if not installed or not claim.other or not case.seen(outcome, case.own).started:
        return None
    new, release = claim.other.startswith("+"), _release(claim.other)
    if installed >= release if new else installed < release:
        which = f"before {claim.other[1:]} lacks it" if new else f"from {claim.other} on refuses it"
        return _elsewhere(case, outcome, f"only a torch {which}")
    if _ran(case, outcome, claim.subject):
        return DraftVerdict("refuted", f"torch {outcome.torch} took `{claim.subject}` without an error")
    return None


def deprecated(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """Torch warns at the statement, and names `subject`, an API or an argument; deprecated since release `other`."""
    given = [each for each in outcome.warned if each.lines and _placed(case, each.lines[-1], claim.subject)]
    told = [each for each in given if _DEPRECATION.search(each.text)]
    for warned in (*told, *given):
        if _names(warned.text.partition(": ")[2], claim.subject):
            return DraftVerdict("confirmed", f"{warned.text[:400]}{in_words(outcome)}")
    gone = refused(case, Observed(claim.probe, claim.subject), outcome)
    if gone is not None:
        return gone
    installed = _release(outcome.torch)
    if not installed or not case.seen(outcome, case.own).started:
        return None
    if installed < _release(claim.other):
        return _elsewhere(case, outcome, f"only a torch from {claim.other} on warns")
    if told:
        return DraftVerdict("inconclusive", f"a warning was given that names something else: {told[0].text[:200]}")
    if claim.other and _ran(case, outcome, claim.subject):
        return DraftVerdict("refuted", f"torch {outcome.torch} ran it, and gave no such warning")
    return None


def documented(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """
    The documentation that torch carries of `subject` says that it is deprecated. A warning that names it, or an error,
    will do as well.
    """
    shown = deprecated(case, Observed(claim.probe, claim.subject), outcome)
    if shown is not None:
        return shown
    for execution in case.executions(outcome):
        for subject in (claim.subject, _function(claim.subject)):
            text = " ".join(str(execution.before.get(_documentation(subject), {}).get("shown", "")).split())
            found = _of_itself(subject).search(text)
            if found is not None:
                return _says(Observed(claim.probe, subject), outcome, text, found)
            if f"torch.{_last(subject)}`" not in text:
                break
    if not case.seen(outcome, case.own).started:
        return None
    return DraftVerdict(
        "inconclusive", f"line {case.own.line} ran; the documentation in torch {outcome.torch} says nothing"
    )


def _says(claim: Observed, outcome: Outcome, text: str, found: re.Match[str]) -> DraftVerdict:
    start, end = text.rfind(". ", 0, found.start()) + 1, text.find(". ", found.end())
    words = text[start : end + 1 or None].strip()[:300]
    return DraftVerdict("confirmed", f"the documentation of `{claim.subject}` in torch {outcome.torch}: {words}")


def changed(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """
    The documentation that torch carries of `subject` says that its meaning changed within the releases meant.

    `other` is "OLDEST CHANGED", the oldest release that is meant and the one that changed it, and behind them the
    argument that keeps the old meaning: what says that is not meant.
    """
    oldest, release, *arguments = claim.other.split()
    if not case.seen(outcome, case.own).started:
        return None
    if _release(oldest) >= _release(release):
        return DraftVerdict("refuted", f"its meaning changed in torch {release}, and no earlier one is meant")
    calls = [call for call in ast.walk(case.own.node) if isinstance(call, ast.Call)]
    named = [call for call in calls if _last(claim.subject) in _words(call)]
    said = [k for call in named for k in call.keywords if k.arg is None or k.arg in arguments]
    if said or not named:
        return None
    for execution in case.executions(outcome):
        text = " ".join(str(execution.before.get(_documentation(claim.subject), {}).get("shown", "")).split())
        found = _changed(release).search(text)
        if found is not None:
            return _says(claim, outcome, text, found)
    return _elsewhere(case, outcome, f"only a torch before {release} does what it did")


def _documentation(subject: str) -> str:
    return f"getattr({subject}, '__doc__', '')"


def _of_itself(subject: str) -> re.Pattern[str]:
    name = re.escape(_last(subject))
    itself = rf"(\bthis (function|method|class|module|api)|\b{name}\b)[^.]{{0,60}}\bdeprecated\b"
    return re.compile(rf"{itself}|\bdeprecated(::| in favor of)", re.IGNORECASE)


def _changed(release: str) -> re.Pattern[str]:
    number = re.escape(release)
    return re.compile(rf"(versionchanged:: |(before|until|since|prior to) (py)?torch ){number}\b", re.IGNORECASE)


def twin(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """The private `subject` is the very same object as the public `other`, or a class derived from it."""
    gone = refused(case, Observed(claim.probe, claim.subject), outcome)
    if gone is not None:
        return gone
    for execution in case.executions(outcome):
        for text, words in zip(_twins(claim), ("is", "is a class derived from"), strict=True):
            if execution.before.get(text, {}).get("truth"):
                return DraftVerdict("confirmed", f"`{claim.subject}` {words} `{claim.other}` in torch {outcome.torch}")
    return None


def _twins(claim: Observed) -> tuple[str, str]:
    return f"{claim.subject} is {claim.other}", f"issubclass({claim.subject}, {claim.other})"


def other_release(case: Case, claim: Observed, outcome: Outcome) -> DraftVerdict | None:
    """Only a torch `other` ("before 2.6") shows it, and nothing that this one does says anything of it."""
    if not case.seen(outcome, case.own).started:
        return None
    return _elsewhere(case, outcome, f"only a torch {claim.other} shows it")


def _elsewhere(case: Case, outcome: Outcome, words: str) -> DraftVerdict:
    what = f"line {case.own.line} ran under torch {outcome.torch}; {words}: `torchlint verify --with … --python` of"
    return DraftVerdict("inconclusive", f"{what} an environment with that torch shows it")


def _ran(case: Case, outcome: Outcome, subject: str) -> bool:
    """Whether the statement ran to its end, and what it names was called there, whatever the way through it."""
    node = case.own.node
    if not case.seen(outcome, case.own).finished or hasattr(node, "body") or programs.branches_inside(node):
        return False
    return any(_last(subject) in _words(call) for call in _calls(node))


def _words(call: ast.Call) -> set[str]:
    names = {keyword.arg for keyword in call.keywords if keyword.arg}
    function = call.func
    if isinstance(function, ast.Attribute):
        return {*names, function.attr}
    return {*names, function.id} if isinstance(function, ast.Name) else names


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls that are made whenever a statement runs: none in what is only defined there."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            continue
        if isinstance(inner, ast.Call):
            yield inner
        yield from _calls(inner)


def _document(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    subjects = dict.fromkeys((claim.subject, _function(claim.subject)))
    return tuple(_documentation(each) for each in subjects) if programs.is_place(claim.subject) else ()


def _function(subject: str) -> str:
    """The function of a method of tensors, to which the documentation of most of them leads."""
    return f"torch.{_last(subject)}" if subject.startswith("torch.Tensor.") else subject


def _compared(claim: Observed, statement: ast.stmt) -> tuple[str, ...]:
    return _twins(claim) if programs.is_place(claim.subject) and programs.is_place(claim.other) else ()


PROBES: Mapping[str, Probe] = {
    "refused": Probe(refused, any_arguments=True, bound=True),
    "deprecated": Probe(deprecated, any_arguments=True, once=True, bound=True),
    "documented": Probe(documented, _document, any_arguments=True, once=True, bound=True),
    "meaning-changed": Probe(changed, _document, any_arguments=True),
    "private-twin": Probe(twin, _compared, any_arguments=True),
    "other-release": Probe(other_release, any_arguments=True),
}
