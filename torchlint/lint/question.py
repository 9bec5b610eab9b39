"""
Whom to ask about what: what is told of a file (`facts`), and asked at the nodes of its tree (`pipeline`).

Only data: it needs no tree, and loads none.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.model.events import Event
from torchlint.rule import Rule
from torchlint.syntax import cst


@dataclass(frozen=True, slots=True, eq=False)
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
