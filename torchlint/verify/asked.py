"""
What is asked of a file: a case for each of its findings, and what is watched for all of them together.

Pure data, from the findings and the text; runs nothing, and knows no rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torchlint.rule import Finding
from torchlint.verify.case import Case
from torchlint.verify.judge import claims_error
from torchlint.verify.programs import Program, Statement, places
from torchlint.verify.protocol import WatchedStatement
from torchlint.verify.watches import called, differentiated, observed, watched


class Asked:
    """
    The questions of a file's findings.

    Parameters
    ----------
    program
        The file.
    findings
        The findings.

    Attributes
    ----------
    cases
        One per finding; None where its place holds no statement.
    claims_error
        Whether one of them claims that torch raises.
    observe, calls, functions
        As in `protocol.Request`.
    """

    def __init__(self, program: Program, findings: Sequence[Finding]) -> None:
        self._watches: dict[Statement, WatchedStatement] = {}
        self.cases = [self._case(finding, program) for finding in findings]
        claims = [claim for finding in findings for claim in finding.claims]
        self.claims_error = claims_error(claims)
        self.observe = observed(claims)
        self.calls = called(claims)
        self.functions = differentiated(claims)

    @property
    def watches(self) -> tuple[WatchedStatement, ...]:
        """The statements to be observed."""
        return tuple(self._watches.values())

    def _case(self, finding: Finding, program: Program) -> Case | None:
        found = places(finding, program)
        if not found:
            return None
        asked, entry, readers = watched(finding, found, program)
        indices = {}
        for statement, watch in asked.items():
            known = self._watches.get(
                statement, WatchedStatement(statement.line, statement.column, compound=watch.compound)
            )
            self._watches[statement] = replace(
                known,
                expressions=tuple(dict.fromkeys([*known.expressions, *watch.expressions])),
                capture=known.capture or watch.capture,
                variables=known.variables or watch.variables,
                bound=known.bound or watch.bound,
            )
            indices[statement] = (list(self._watches).index(statement), watch)
        return Case(finding, found, entry, readers, indices)
