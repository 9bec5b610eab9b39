"""
The runtime cross-check: every finding of a file gets a verdict from torch itself.

Runs the file as a script first; after an error that confirms a finding, again with that statement's error passed over,
so that later findings get their turn; then builds and drives the Modules whose findings the script does not reach; then
runs the file with one change where the finding is about what the change does (`retain_graph`, manual zeroing).
Imports no torch: see `server`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from torchlint.rule import Finding, Verdict
from torchlint.syntax.tree import Source
from torchlint.verify.case import Case, Opinion, wanted
from torchlint.verify.counterfactual import needed_graph, same_without_zeroing, widened, with_fix
from torchlint.verify.judge import claims_error, judge
from torchlint.verify.programs import Program, Statement, places
from torchlint.verify.protocol import Outcome, Request, Watch
from torchlint.verify.server import shared

OBSERVED = frozenset(
    "TLN101 TLN102 TLN201 TLN204 TLN205 TLN206 TLN213 TLN401 TLN402 TLN504 TLN511".split()  # noqa: SIM905
)
"""Codes whose verdict needs writes or gradients; the others run without a mode in between."""
SETTLE = 3.0
"""Seconds that a long program may go on after it has been through all places, where no finding claims an error."""


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
    server = shared()
    if not findings:
        return []
    try:
        program = Program.of(source)
    except (SyntaxError, ValueError) as error:
        verdict = Verdict("inconclusive", f"Python cannot compile the file: {error}", 0.0)
        return [replace(f, verdict=verdict) for f in findings]
    check = _Check(program, findings, server.run, timeout, memory_mb)
    check.as_script()
    check.as_modules()
    return [replace(f, verdict=check.verdict(index)) for index, f in enumerate(findings)]


class _Check:
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
        self.watches: dict[Statement, Watch] = {}
        self.cases = [self._case(finding) for finding in findings]
        self.opinions: list[Opinion | None] = [None] * len(findings)
        self.seconds = [0.0] * len(findings)
        self.claims_error = any(claims_error(f) for f in findings)
        self.observe = any(f.code in OBSERVED for f in findings)

    def verdict(self, index: int) -> Verdict:
        """The last word on a finding."""
        opinion = self.opinions[index]
        if opinion is None:
            return Verdict("inconclusive", "its place holds no statement of the program", 0.0)
        return Verdict(opinion.status, opinion.evidence, round(self.seconds[index], 3))

    def as_script(self) -> None:
        """Run the file; after each error that a finding claims, run it again and pass over that statement."""
        caught: list[tuple[int, int]] = []
        for _ in range(len(self.cases) + 1):
            outcome = self._script_run(caught)
            self._judge(self._open(), outcome, caught)
            culprit = self._confirmed_end(outcome)
            if culprit is None or (culprit.line, culprit.column) in caught or not self._open():
                return
            caught.append((culprit.line, culprit.column))

    def _script_run(self, caught: Sequence[tuple[int, int]]) -> Outcome:
        """One run of the file; without the observing mode, if that is what the program fails with."""
        outcome = self.run(self._request(self.program.text, catch=caught))
        if self.observe and outcome.raised is not None:
            plain = self.run(self._request(self.program.text, catch=caught, observe=False))
            if (plain.raised is None) or (plain.raised.type, plain.raised.lines) != (
                outcome.raised.type,
                outcome.raised.lines,
            ):
                return plain
        return outcome

    def as_modules(self) -> None:
        """Build and drive the Modules that hold findings which the script did not come to."""
        unreached = [i for i, opinion in enumerate(self.opinions) if opinion is not None and opinion.unreached]
        inside: dict[str, list[int]] = {}
        for index in unreached:
            case = self.cases[index]
            if case is not None and len(case.own.classes) == 1 and len(case.own.functions) == 1:
                inside.setdefault(case.own.classes[0], []).append(index)
        for name, indices in inside.items():
            self._drive(name, indices)
        for index in unreached:
            case, opinion = self.cases[index], self.opinions[index]
            if case is not None and opinion is not None and opinion.unreached and case.own.functions:
                function = ".".join((*case.own.classes, *case.own.functions))
                evidence = f"{opinion.evidence}; the file itself does not call `{function}`"
                self.opinions[index] = replace(opinion, evidence=evidence)

    def _drive(self, name: str, indices: Sequence[int]) -> None:
        """
        Drive a Module, with inputs that require no grad and, for what that leaves open, with inputs that do.

        Only both together refute: a proof may rest on either.
        """
        for input_grad in (False, True):
            left = [i for i in indices if (self.opinions[i] or _NOTHING).status != "confirmed"]
            if not left:
                return
            first = [self.opinions[i] for i in left]
            outcome = self.run(self._request(self.program.text, module=name, input_grad=input_grad))
            self._judge(left, outcome, [], module=name, input_grad=input_grad)
            for index, before in zip(left, first, strict=True):
                now = self.opinions[index] or _NOTHING
                if input_grad and now.status == "refuted" and before is not None and before.status != "refuted":
                    self.opinions[index] = replace(now, status="inconclusive")
            if outcome.ending == "unbuilt":
                return

    def _case(self, finding: Finding) -> Case | None:
        found = places(finding, self.program)
        if not found:
            return None
        spanned = self.program.within(finding.span.line, finding.span.end_line) if finding.code == "TLN401" else []
        watched = {}
        for statement in dict.fromkeys([*found, *spanned]):
            watch = wanted(finding, statement, found)
            known = self.watches.get(statement, Watch(statement.line, statement.column))
            texts = dict.fromkeys([*known.expressions, *watch.expressions])
            self.watches[statement] = replace(
                known,
                expressions=tuple(texts),
                capture=known.capture or watch.capture,
                variables=known.variables or watch.variables,
            )
            watched[statement] = (list(self.watches).index(statement), watch)
        return Case(finding, found, watched)

    def _request(
        self,
        text: str,
        *,
        catch: Sequence[tuple[int, int]] = (),
        module: str = "",
        input_grad: bool = False,
        timeout: float | None = None,
        observe: bool = True,
    ) -> Request:
        changed = text != self.program.text
        return Request(
            text=text,
            path=self.program.path,
            watches=() if changed else tuple(self.watches.values()),
            catch=tuple(catch),
            observe=observe and (self.observe or changed),
            module=module,
            input_grad=input_grad,
            timeout=timeout or self.timeout,
            memory_mb=self.memory_mb,
            settle=0.0 if self.claims_error else SETTLE,
        )

    def _open(self) -> list[int]:
        return [
            index
            for index, opinion in enumerate(self.opinions)
            if self.cases[index] is not None and (opinion is None or opinion.status == "inconclusive")
        ]

    def _judge(
        self,
        indices: Sequence[int],
        outcome: Outcome,
        caught: Sequence[tuple[int, int]],
        *,
        module: str = "",
        input_grad: bool = False,
    ) -> None:
        for index in indices:
            case = self.cases[index]
            if case is None:
                continue
            started = time.monotonic()
            limit = min(self.timeout, 5.0 + 2.0 * outcome.seconds)

            def changed(text: str, limit: float = limit) -> Outcome:
                catch = caught if text.count("\n") == self.program.text.count("\n") else ()
                return self.run(self._request(text, catch=catch, module=module, input_grad=input_grad, timeout=limit))

            opinion = self._opinion(case, outcome, changed)
            self.seconds[index] += outcome.seconds + time.monotonic() - started
            before = self.opinions[index]
            if before is None or opinion.status != "inconclusive" or before.unreached or before.status == "refuted":
                self.opinions[index] = opinion

    def _opinion(self, case: Case, outcome: Outcome, changed: Callable[[str], Outcome]) -> Opinion:
        if case.finding.code == "TLN102":
            found = needed_graph(case, self.program, outcome, changed)
            if found is not None:
                return found
        opinion = judge(case, outcome, timeout=self.timeout, memory_mb=self.memory_mb)
        if opinion.status != "confirmed":
            return opinion
        if case.finding.code == "TLN401" and outcome.ending == "ended":
            return widened(opinion, same_without_zeroing(case, self.program, outcome, changed))
        if outcome.ending == "raised":
            return widened(opinion, with_fix(case, self.program, changed))
        return opinion

    def _confirmed_end(self, outcome: Outcome) -> Statement | None:
        """The statement whose error ended the program, if that error confirmed a finding."""
        raised = outcome.raised
        if raised is None or not raised.lines or all(o is None or o.error != raised for o in self.opinions):
            return None
        return self.program.statement_at(raised.lines[-1])


_NOTHING = Opinion("inconclusive", "")
