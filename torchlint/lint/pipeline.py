"""
One visit of a tree, in which every rule is asked once: event rules at the nodes where something happened, visitor rules
at the kinds of node they subscribe to.

Finds and orders who is to be asked; what comes of the answers is the engine's business. Loads libcst: the engine
imports this where there is a tree to visit.
"""

from __future__ import annotations

from bisect import bisect_left
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
        self._lines = sorted({source.span(one.node).line for many in self._at.values() for one in many[:1]})
        self._visitors = tuple(visitors)
        self._by_kind: dict[type[cst.CSTNode], tuple[Rule, ...]] = {}

    def run(self) -> None:
        """Visit the tree."""
        self._source.module.visit(self)

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Ask whoever has to do with a node; whether to go on below it."""
        for question in self._at.get(id(node), ()):
            self._ask(question)
        if not self._visitors:
            return not isinstance(node, _STATEMENTS) or self._happened_in(node)
        kind = type(node)
        rules = self._by_kind.get(kind)
        if rules is None:
            rules = self._by_kind[kind] = tuple(rule for rule in self._visitors if issubclass(kind, rule.visits))
        for rule in rules:
            self._ask(Question(rule, node))
        return True

    def _happened_in(self, statement: cst.CSTNode) -> bool:
        """Whether an event is in one of a statement's lines: what holds none is not looked through."""
        span = self._source.span(statement)
        first = span.line  # that of `def`: decorators stand before it
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and statement.decorators:
            first = self._source.span(statement.decorators[0]).line
        place = bisect_left(self._lines, first)
        return place < len(self._lines) and self._lines[place] <= span.end_line


_STATEMENTS = (cst.BaseCompoundStatement, cst.SimpleStatementLine)
