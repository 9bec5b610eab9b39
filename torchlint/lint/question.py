"""
Whom to ask about what: what is told of a file (`facts`), and asked at the nodes of its tree (`pipeline`).

Only data, and what a rule has left to be made: it needs no tree, and loads none.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.model.events import Event
from torchlint.record import changed_in
from torchlint.rule import Diagnostic, Rule
from torchlint.syntax import cst


@dataclass(slots=True, eq=False)
class Question:
    """
    A rule to ask, about an event or a node.

    Attributes
    ----------
    rule
        Who is asked.
    node
        Where.
    event
        About what happened there; None: about the node itself.
    order
        Its place among the questions about events: of two answers about one place the earlier one counts.
    """

    rule: Rule
    node: cst.CSTNode
    event: Event | None = None
    order: int = 0


def made(diagnostic: Diagnostic) -> Diagnostic:
    """A diagnostic whose message, fix and claims are made."""
    parts: dict[str, object] = {}
    for name in ("message", "fix", "claims"):
        part = getattr(diagnostic, name)
        if callable(part):
            parts[name] = part()
    return changed_in(diagnostic, parts) if parts else diagnostic
