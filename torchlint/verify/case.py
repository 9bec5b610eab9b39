"""
A finding as the cross-check sees it, and what is thought of it so far.

Pure data; runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from torchlint.rule import Finding
from torchlint.verify import programs
from torchlint.verify.programs import Statement
from torchlint.verify.protocol import Execution, Facts, Outcome, Raised, Seen, Watch, Write


@dataclass(frozen=True, slots=True)
class Opinion:
    """
    A verdict in the making.

    Attributes
    ----------
    status
        As in `torchlint.rule.Verdict`.
    evidence
        What was seen.
    unreached
        The run did not come to the finding's place, or not to the backward that its proof ends in: another may.
    error
        The exception that confirmed it.
    """

    status: Literal["confirmed", "refuted", "inconclusive"]
    evidence: str
    unreached: bool = False
    error: Raised | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """
    A finding and what is watched for it.

    Attributes
    ----------
    finding
        The finding.
    places
        Its own statement first, then those of its trace.
    watched
        Per watched statement: the index of its watch in the request, and what this finding wants to know there.
    """

    finding: Finding
    places: tuple[Statement, ...]
    watched: Mapping[Statement, tuple[int, Watch]]

    @property
    def own(self) -> Statement:
        """The statement the finding points at."""
        return self.places[0]

    def seen(self, outcome: Outcome, statement: Statement) -> Seen:
        """What was seen of one of its statements."""
        index = self.watched[statement][0]
        return outcome.seen[index] if index < len(outcome.seen) else Seen()

    def details(self, outcome: Outcome) -> Iterator[Execution]:
        """The recorded executions of its statements, with what this finding asked for."""
        for statement, (_, watch) in self.watched.items():
            if not (watch.expressions or watch.capture or watch.variables):
                continue
            for execution in self.seen(outcome, statement).executions:
                before, after = (_asked(facts, watch) for facts in (execution.before, execution.after))
                yield Execution(before, after, execution.value, execution.raised)

    def writes(self, outcome: Outcome) -> list[Write]:
        """The in-place writes that its own statement made, directly or in what it called."""
        return [w for w in outcome.writes if any(self.own.covers(line) for line in w.lines)]


def _asked(facts: Mapping[str, Facts], watch: Watch) -> dict[str, Facts]:
    return {name: found for name, found in facts.items() if watch.variables or name in watch.expressions}


def wanted(finding: Finding, statement: Statement, found: Sequence[Statement]) -> Watch:
    """
    What to look at around a statement of a finding.

    Parameters
    ----------
    found
        The finding's places, its own first.
    """
    names: list[str] = []
    capture = variables = False
    node = statement.node
    if statement is found[0] or finding.code == "TLN401":
        match finding.code:
            case "TLN206":
                names = programs.quoted_names(finding)
                for place in found:
                    names += programs.assigned(place.node) + programs.places_in(place.node)
                variables = True
            case "TLN106":
                kept = programs.quoted_names(finding)[:1]
                names = [*kept, *(f"{name}[-1]" for name in kept)]
            case "TLN109":
                read = programs.grad_places(node)
                names = [*read, *(place.removesuffix(".grad") for place in read)]
            case "TLN301" | "TLN306":
                names = programs.assigned(node)
            case "TLN310":
                owner = programs.flag_owner(node)
                names = [owner, programs.parameter_flags(owner)] if owner else []
            case "TLN401":
                names = programs.grad_places(node)
            case "TLN212":
                receiver = programs.dropped_receiver(node)
                names, capture = [receiver] if receiver else [], True
    return Watch(statement.line, statement.column, tuple(dict.fromkeys(names))[:24], capture, variables)


def in_words(outcome: Outcome, phase: str = "") -> str:
    """How a Module was driven, in brackets, or "" for a script."""
    return f" ({', '.join(filter(None, [outcome.driven, phase]))})" if outcome.driven else ""
