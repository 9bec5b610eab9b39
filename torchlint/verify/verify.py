"""
The runtime cross-check: every finding of a file gets a verdict from torch itself.

Runs the file as a script first; after an error that confirms a finding, again with that finding's fix, or with its
statement's error passed over, so that later findings get their turn; then builds and drives the Modules whose findings
the script does not reach; then runs the file with one change where a claim is about what the change does. What is run
and watched follows from the claims of the findings; without any, nothing is run. Imports no torch: see `server`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from torchlint.rule import Finding, Observed, Verdict
from torchlint.syntax.notebook import is_notebook
from torchlint.syntax.tree import Source
from torchlint.verify.asked import Asked
from torchlint.verify.case import Case, DraftVerdict
from torchlint.verify.judge import claims_error, judge, sound, weighed, with_later_error, with_words
from torchlint.verify.messages import message
from torchlint.verify.modules import NOTHING, as_modules
from torchlint.verify.probe import Run
from torchlint.verify.probes import PROBES
from torchlint.verify.programs import Program, Statement
from torchlint.verify.protocol import Outcome, Raised, Request
from torchlint.verify.server import shared
from torchlint.verify.telling import told_once

PASSED = 3
"""So many errors that no finding explains are passed over."""
SETTLE = 3.0
"""
Seconds of processor time that a long program may go on after it has been through all places, where no finding claims an
error.
"""


def verify_findings(
    source: Source,
    findings: Sequence[Finding],
    *,
    timeout: float = 30.0,
    memory_mb: int = 4096,
) -> list[Finding]:
    """
    Run the program of each finding under torch.

    Parameters
    ----------
    source
        The file.
    findings
        Findings in it.
    timeout
        Wall-clock seconds per run.
    memory_mb
        Address space per run, beyond what torch itself takes.

    Returns
    -------
    list[Finding]
        The same findings in the same order, each with a verdict.

    Raises
    ------
    TorchMissing
        if torch cannot be imported.
    ServerError
        if the child process cannot be started.
    """
    verdicts = [not_judged(finding) for finding in findings]
    judged = [index for index, verdict in enumerate(verdicts) if verdict is None]
    if judged:
        server = shared()
        found = _verdicts(source, [findings[index] for index in judged], server.run, timeout, memory_mb)
        for index, verdict in zip(judged, found, strict=True):
            verdicts[index] = verdict
    return [replace(finding, verdict=verdict) for finding, verdict in zip(findings, verdicts, strict=True)]


def not_judged(finding: Finding) -> Verdict | None:
    """The verdict on a finding for which there is nothing to run."""
    unknown = [c.probe for c in finding.claims if isinstance(c, Observed) and c.probe not in PROBES]
    if not finding.claims:
        return Verdict("inconclusive", f"{finding.code} does not say what torch would show: nothing was run", 0.0)
    if unknown:
        return Verdict("inconclusive", f"{finding.code} names the probe `{unknown[0]}`, which is not there", 0.0)
    return None


def _verdicts(
    source: Source,
    findings: Sequence[Finding],
    run: Callable[[Request], Outcome],
    timeout: float,
    memory_mb: int,
) -> list[Verdict]:
    try:
        program = Program.of(source)
    except (SyntaxError, ValueError) as error:
        return [Verdict("inconclusive", f"Python cannot compile the file: {error}", 0.0)] * len(findings)
    check = Check(program, findings, run, timeout, memory_mb)
    check.as_script()
    as_modules(check)
    check.drafts = told_once(check.drafts, check.cases, check.ends)
    return [check.verdict(index) for index in range(len(findings))]


class Check:
    """The findings of one file, and what is thought of them so far."""

    def __init__(
        self,
        program: Program,
        findings: Sequence[Finding],
        run: Callable[[Request], Outcome],
        timeout: float,
        memory_mb: int,
    ) -> None:
        self.program = program
        self.run = run
        self.timeout = timeout
        self.memory_mb = memory_mb
        self.asked = Asked(program, findings)
        self.cases = self.asked.cases
        self.drafts: list[DraftVerdict | None] = [None] * len(findings)
        self.seconds = [0.0] * len(findings)
        self.ends: list[Raised] = []

    def verdict(self, index: int) -> Verdict:
        """The last word on a finding."""
        draft, case = self.drafts[index], self.cases[index]
        if draft is None or case is None:
            return Verdict("inconclusive", "its place holds no statement of the program", 0.0)
        evidence = draft.evidence
        if draft.status == "inconclusive" and draft.unreached and not is_notebook(case.finding.path):
            finding = case.finding  # (a program of the user's cannot run a notebook's cells)
            evidence += f'; your own program may: `torchlint verify {finding.path}:{finding.span.line} --with "…"`'
        return Verdict(draft.status, evidence, round(self.seconds[index], 3))

    def as_script(self) -> None:
        """Run the file; after each error that a finding claims, run it again with that mended, or passed over."""
        text = self.program.text
        caught: list[tuple[int, int]] = []
        mended = ""
        for _ in range(len(self.cases) + 1):
            outcome = self._script_run(text, caught)
            asked = self._open()
            self.judge(asked, outcome, text, caught, mended=mended)
            self._unwatched(asked, outcome, text, caught)
            culprit = self.confirmed_end(outcome)
            if culprit is None or not self._open():
                break
            case, place = culprit
            cured = self.mended(text, case)
            if cured is not None and not caught:
                text, mended = cured, f" (with the fix in line {case.own.line})"
            elif (place.line, place.column) in caught:
                break
            else:
                caught.append((place.line, place.column))
        self._past(outcome, text, caught)

    def _unwatched(self, asked: Sequence[int], outcome: Outcome, text: str, caught: Sequence[tuple[int, int]]) -> None:
        """
        Where a claimed exception did not come, run the file once more as nobody watches it.

        To look at a view brings its history up to date, and a write that torch refuses is one that it accepts then.
        """
        denied = [i for i in asked if (draft := self.drafts[i]) is not None and draft.status == "refuted"]
        denied = [i for i in denied if (case := self.cases[i]) is not None and claims_error(case.finding.claims)]
        if not denied or outcome.raised is not None:
            return
        plain = self.run(replace(self.request(text, catch=caught, observe=False), watches=()))
        if plain.raised is not None:
            self.judge(denied, replace(outcome, ending="raised", raised=plain.raised), text, caught)
            for index in denied:
                draft = self.drafts[index]
                if draft is not None and draft.status == "refuted":
                    words = f"it is refused only where nobody looks at the tensors: {message(plain.raised)}"
                    self.drafts[index] = DraftVerdict("inconclusive", words)

    def _past(self, outcome: Outcome, text: str, caught: list[tuple[int, int]]) -> None:
        """
        Run the file with statements passed over that end it and that no finding explains, for those not reached.

        Only what shows then counts: what comes after an error that has other causes is not what the program does. An
        error that the program raises itself is its end.
        """
        for _ in range(PASSED):
            left = [index for index in self._open() if (self.drafts[index] or NOTHING).unreached]
            raised = outcome.raised
            place = self.program.statement_at(raised.lines[-1]) if raised is not None and raised.lines else None
            if (
                raised is None or raised.own or outcome.ending != "raised" or outcome.note
            ):  # (a note: it is our refusal)
                return
            if not left or place is None or (place.line, place.column) in caught:
                return
            caught.append((place.line, place.column))
            before = {index: self.drafts[index] for index in left}
            outcome = self._script_run(text, caught)
            self.judge(left, outcome, text, caught)
            for index in left:
                now = self.drafts[index] or NOTHING
                if now.status != "confirmed" and not now.late:
                    self.drafts[index] = before[index]

    def mended(self, text: str, case: Case) -> str | None:
        """The program with a finding's fix, where that moves no line, so that all places stay what they are."""
        fix = case.finding.fix
        if fix is None or text != self.program.text:
            return None
        cured = self.program.edited(fix.edits)
        return cured if cured != text and cured.count("\n") == text.count("\n") else None

    def _script_run(self, text: str, caught: Sequence[tuple[int, int]]) -> Outcome:
        """One run of the file; without the observing mode, if that is what the program fails with."""
        outcome = self.run(self.request(text, catch=caught))
        if self.asked.observe and outcome.raised is not None:
            plain = self.run(self.request(text, catch=caught, observe=False))
            if (plain.raised is None) or (plain.raised.type, plain.raised.lines) != (
                outcome.raised.type,
                outcome.raised.lines,
            ):
                return plain
        return outcome

    def request(
        self,
        text: str,
        *,
        catch: Sequence[tuple[int, int]] = (),
        module: str = "",
        input_grad: bool = False,
        timeout: float | None = None,
        observe: bool = True,
        measure: bool = False,
    ) -> Request:
        changed = text != self.program.text
        moved = text.count("\n") != self.program.text.count("\n")
        return Request(
            text=text,
            path=self.program.path,
            watches=() if moved else self.asked.watches,
            catch=tuple(catch),
            observe=observe and (self.asked.observe or changed),
            module=module,
            input_grad=input_grad,
            calls=self.asked.calls,
            functions=() if changed else self.asked.functions,
            measure=measure,
            timeout=timeout or self.timeout,
            memory_mb=self.memory_mb,
            settle=0.0 if self.asked.claims_error else SETTLE,
        )

    def _open(self) -> list[int]:
        return [
            index
            for index, draft in enumerate(self.drafts)
            if self.cases[index] is not None and (draft is None or draft.status == "inconclusive")
        ]

    def judge(
        self,
        indices: Sequence[int],
        outcome: Outcome,
        text: str,
        caught: Sequence[tuple[int, int]],
        *,
        module: str = "",
        input_grad: bool = False,
        mended: str = "",
    ) -> None:
        self.ends += [*outcome.caught, *([outcome.raised] if outcome.raised is not None else [])]
        for index in indices:
            case = self.cases[index]
            if case is None:
                continue
            started = time.monotonic()
            limit = min(self.timeout, 5.0 + 2.0 * outcome.seconds)

            def changed(new: str, measure: bool, limit: float = limit) -> Outcome:
                catch = caught if new.count("\n") == self.program.text.count("\n") else ()
                asked = self.request(
                    new, catch=catch, module=module, input_grad=input_grad, timeout=limit, measure=measure
                )
                return self.run(asked)

            draft = self._draft(case, outcome, changed)
            if mended and draft.status == "confirmed":
                draft = with_words(draft, mended)
            self.seconds[index] += outcome.seconds + time.monotonic() - started
            before = self.drafts[index]
            if mended and before is not None and draft.status == "inconclusive":
                continue  # what stops the changed program is not what stops the user's
            if before is None or draft.status != "inconclusive" or before.unreached or before.status == "refuted":
                self.drafts[index] = draft

    def _draft(self, case: Case, outcome: Outcome, changed: Run) -> DraftVerdict:
        compared = [] if outcome.caught else list(_compared(self.program, case, outcome, changed))
        if any(draft.status == "confirmed" for draft in compared) or len(compared) == len(case.finding.claims):
            return weighed(compared)
        draft = judge(case, outcome, timeout=self.timeout, memory_mb=self.memory_mb)
        if draft.status != "confirmed":
            return compared[0] if compared else draft
        if draft.error is None:
            draft = with_later_error(case, outcome, draft)
        words = ""
        for claim in case.finding.claims:
            add = PROBES[claim.probe].add if isinstance(claim, Observed) else None
            if isinstance(claim, Observed) and add is not None:
                words += add(case, claim, self.program, outcome, changed)
        if outcome.ending == "raised" and draft.error is not None:
            words += _with_fix(self.program, case, changed)
        return with_words(draft, words)

    def confirmed_end(self, outcome: Outcome) -> tuple[Case, Statement] | None:
        """The case whose error ended the program, and the statement that raised it."""
        raised = outcome.raised
        if raised is None or not raised.lines:
            return None
        for case, draft in zip(self.cases, self.drafts, strict=True):
            if case is not None and draft is not None and draft.error == raised:
                place = self.program.statement_at(raised.lines[-1])
                return (case, place) if place is not None else None
        return None


def _with_fix(program: Program, case: Case, changed: Run) -> str:
    """What a confirmed error becomes with the finding's fix, in words, or "" if it is not cured."""
    fix = case.finding.fix
    if fix is None:
        return ""
    ended = changed(program.edited(fix.edits), False).ending == "ended"
    return f"; with the fix ({fix.title}) it runs" if ended else ""


def _compared(program: Program, case: Case, outcome: Outcome, changed: Run) -> list[DraftVerdict]:
    found = []
    for claim in case.finding.claims:
        if not isinstance(claim, Observed) or not case.seen(outcome, case.own).started:
            continue
        compare = PROBES[claim.probe].compare
        if compare is None:
            continue
        draft = compare(case, claim, program, outcome, changed)
        if outcome.raised is not None and not outcome.raised.own and draft is not None and not draft.at_once:
            words = f"{draft.evidence}; but the program ends before its end: {message(outcome.raised)}"
            draft = DraftVerdict("inconclusive", words)
        if draft is not None:
            found.append(sound(case, outcome, draft) if draft.status == "refuted" else draft)
    return found
