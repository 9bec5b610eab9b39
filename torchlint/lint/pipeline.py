"""
One visit of a tree, in which every rule is asked once: event rules at the nodes where something happened, visitor rules
at the kinds of node they subscribe to.

Finds and orders who is to be asked; what comes of the answers is the engine's business. Loads libcst: the engine
imports this where there is a tree to visit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import libcst as cst

from torchlint.lint.question import Question
from torchlint.rule import Rule
from torchlint.syntax.tree import Source


class Pipeline(cst.CSTVisitor):
    """
    Visits a tree once and asks rules.

    Parameters
    ----------
    source
        The file.
    ask
        Is given each question when its node is visited.
    questions
        About events.
    visitors
        The visitor rules, in the order of their codes.
    """

    def __init__(
        self,
        source: Source,
        ask: Callable[[Question], None],
        questions: Iterable[Question],
        visitors: Sequence[Rule],
    ) -> None:
        super().__init__()
        self._source = source
        self._ask = ask
        self._at: defaultdict[int, list[Question]] = defaultdict(list)
        for question in questions:
            self._at[id(question.node)].append(question)
        self._nodes = sorted([many[0].node for many in self._at.values()], key=self._order)
        self._visitors = tuple(visitors)
        self._by_kind: dict[type[cst.CSTNode], tuple[Rule, ...]] = {}

    def run(self) -> None:
        """Visit the tree; where all that is to be asked about has a place, only that."""
        if self._visitors:
            self._source.module.visit(self)
            return
        for node in self._nodes:
            for question in self._at[id(node)]:
                self._ask(question)

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Ask whoever has to do with a node; whether to go on below it."""
        for question in self._at.get(id(node), ()):
            self._ask(question)
        kind = type(node)
        rules = self._by_kind.get(kind)
        if rules is None:
            rules = self._by_kind[kind] = tuple(rule for rule in self._visitors if issubclass(kind, rule.visits))
        for rule in rules:
            self._ask(Question(rule, node))
        return True

    def _order(self, node: cst.CSTNode) -> tuple[int, int, int, int]:
        """A key by which nodes come in the order of the text, and one before those within it."""
        span = self._source.span(node)
        return span.line, span.column, -span.end_line, -span.end_column
