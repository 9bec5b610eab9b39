"""
A finding as the cross-check sees it, what is watched for it, and what is thought of it so far.

Pure data and questions to what was observed; runs nothing, and knows no rule: what is watched follows from the
finding's claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from torchlint.rule import Finding
from torchlint.verify import programs
from torchlint.verify.programs import Statement
from torchlint.verify.protocol import Backward, Execution, Facts, Outcome, Raised, Seen, Step, WatchedStatement, Write


@dataclass(frozen=True, slots=True)
class DraftVerdict:
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
    late
        What is claimed did show, but after an error that was passed over.
    entered
        The function that the finding's place is in was called all the same.
    at_once
        It holds however the program goes on.
    """

    status: Literal["confirmed", "refuted", "inconclusive"]
    evidence: str
    unreached: bool = False
    error: Raised | None = None
    late: bool = False
    entered: bool = False
    at_once: bool = False


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
    entry
        The first statement of the function that its own statement is in; that itself at top level.
    readers
        Statements that mention what a claim says is read later.
    watched
        Per watched statement: the index of its watch in the request, and what this finding wants to know there.
    """

    finding: Finding
    places: tuple[Statement, ...]
    entry: Statement
    readers: tuple[Statement, ...]
    watched: Mapping[Statement, tuple[int, WatchedStatement]]

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
        for statement in self.watched:
            yield from self.executions(outcome, statement)

    def executions(self, outcome: Outcome, statement: Statement | None = None) -> list[Execution]:
        """The recorded executions of one of its statements, its own by default, with what this finding asked for."""
        statement = statement or self.own
        watch = self.watched[statement][1]
        return [
            Execution(
                _asked(each.before, watch),
                _asked(each.after, watch),
                each.value if watch.capture else None,
                each.raised,
                *(each.order, each.end, each.first, each.last, each.warnings),
            )
            for each in self.seen(outcome, statement).executions
        ]

    def writes(self, outcome: Outcome) -> list[Write]:
        """The in-place writes that its own statement made, directly or in what it called."""
        return [w for w in outcome.writes if self.own_line(w.lines)]

    def backwards(self, outcome: Outcome) -> list[Backward]:
        """The backward passes that its own statement called."""
        return [b for b in outcome.backwards if self.own_line(b.lines)]

    def backwards_on_the_way(self, outcome: Outcome) -> list[Backward]:
        """The backward passes that its own statement called, or one that its trace names."""
        return [b for b in outcome.backwards if any(place.covers(line) for place in self.places for line in b.lines)]

    def steps(self, outcome: Outcome, kind: str) -> list[Step]:
        """What its own statement called of an optimizer."""
        return [s for s in outcome.steps if s.kind == kind and self.own_line(s.lines)]

    def own_line(self, lines: Sequence[int]) -> bool:
        """Whether its own statement is among lines on the stack."""
        return any(self.own.covers(line) for line in lines)

    def read_after(self, outcome: Outcome, name: str, order: int) -> Statement | None:
        """A statement that mentions a name and was executed later than so."""
        for statement in (*self.places[1:], *self.readers):
            if name in programs.places_in(statement.node) and any(
                each.order > order for each in self.seen(outcome, statement).executions
            ):
                return statement
        return None


def _asked(facts: Mapping[str, Facts], watch: WatchedStatement) -> dict[str, Facts]:
    return {name: found for name, found in facts.items() if watch.variables or name in watch.expressions}


def in_words(outcome: Outcome, phase: str = "") -> str:
    """How a Module was driven, in brackets, or "" for a script."""
    return f" ({', '.join(filter(None, [outcome.driven, phase]))})" if outcome.driven else ""


def is_data(found: Facts | None) -> bool:
    """Whether a value is a tensor or an array."""
    return found is not None and found["kind"] in ("tensor", "ndarray")


def nonzero(found: Facts | None) -> bool:
    """Whether a gradient is there, and is not zero."""
    return found is not None and any(found.get("numbers") or ())


def shown(found: Facts | None) -> str:
    """A value in words."""
    return "None" if found is None else str(found.get("shown") or found.get("type"))
