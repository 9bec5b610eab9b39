"""
What happened in a file, before it has a libcst tree: which rules are to be asked about it, and whether any need be.

Most files are done here: nothing happened that a rule finds fault with, or only what is held back and counted. Makes no
finding.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from time import perf_counter

from torchlint.lint.question import Question
from torchlint.lint.registry import Registry, Selection
from torchlint.model.events import EntryLost, Event, ScriptCut
from torchlint.project.index import ProjectIndex
from torchlint.rule import Diagnostic, File, Level, Rule, Settings
from torchlint.syntax.mentions import are_spelled, mentioned
from torchlint.syntax.nodes import Nodes
from torchlint.syntax.place import NodeWantedError, line_of
from torchlint.truth import Truth

_OPEN_SOFTMAX = re.compile(r"Soft(?:max|min)(?:\(\)|\b(?!\()(?:(?<=\bnn\.Soft...)|(?<=\bnn\.LogSoft...)))")
"""
A layer that is built so, or whose class is handed on to be built elsewhere. What comes before is looked at last: for
what begins alike whatever it is, `re` looks many times as fast.
"""


class Facts:
    """
    The events of one file, and the rules that listen.

    Parameters
    ----------
    text
        The file.
    happened
        What the model reports.
    registry, selection
        The rules, and which of them are asked for.
    project
        The file's project.
    seconds
        Where each rule's time is noted, by its code.

    Attributes
    ----------
    lost
        The entry points that the model failed to follow.
    cut
        The line at which the script became too long to be followed; 0 where it did not.
    """

    def __init__(
        self,
        text: str,
        happened: Iterable[Event],
        registry: Registry,
        selection: Selection,
        project: ProjectIndex,
        seconds: dict[str, float],
    ) -> None:
        self.project = project
        self._text = text
        self._registry = registry
        self.lost: list[EntryLost] = []
        self.cut = 0
        self._selection = selection
        self._target = selection.target
        self._questions: list[Question] = []
        """What no rule has dismissed."""
        self._held: set[tuple[str, int]] | None = set()
        """The strict findings that are held back, by place; None: there may be others."""
        listening: dict[type[Event], tuple[Rule, ...]] = {}
        for event in happened:
            if event.truth is not Truth.YES:
                continue
            kind = type(event)
            rules = listening.get(kind)
            if rules is None:
                if isinstance(event, EntryLost):
                    self.lost.append(event)
                    continue
                if isinstance(event, ScriptCut):
                    self.cut = self.cut or line_of(event.node)
                    continue
                rules = listening[kind] = listeners(kind, registry, selection)
            if not rules:
                continue
            start = perf_counter()
            for rule in rules:
                dismissed = self._dismisses(rule, event)
                end = perf_counter()
                seconds[rule.code] = seconds.get(rule.code, 0.0) + end - start
                start = end
                if not dismissed:
                    self._questions.append(Question(rule, event.node, event, len(self._questions)))

    def check(self, rule: Rule, event: Event) -> Iterator[Diagnostic]:
        """
        Ask a rule about an event.

        Raises
        ------
        NodeWantedError
            The rule wants the file around the event, which is not parsed here.
        """
        if rule.given is File:
            raise NodeWantedError
        return rule.check(event, self.settings(rule)) if rule.given is Settings else rule.check(event)

    def settings(self, rule: Rule) -> Settings:
        """What the configuration says to a rule."""
        if self._target is None:
            self._target = self.project.target(self._text)
        return self._selection.settings(rule, self._target)

    def held_back(self, *, suppressible: bool) -> int | None:
        """
        The number of strict findings that are held back in a file that is sure to have no other; None if that is not
        sure. Where comments may silence them only the findings themselves tell.
        """
        return None if self._held is None or (self._held and suppressible) else len(self._held)

    @property
    def questions(self) -> Sequence[Question]:
        """What the rules are to be asked, about events at places."""
        return self._questions

    def located(self, nodes: Nodes) -> list[Question]:
        """What the rules are to be asked, about events at the nodes of the tree."""
        happened = nodes.with_nodes([*self.lost, *(question.event for question in self._questions)])
        lost, events = happened[: len(self.lost)], happened[len(self.lost) :]
        self.lost = [event for event in lost if isinstance(event, EntryLost)]
        return [
            replace(question, event=event, node=event.node)
            for question, event in zip(self._questions, events, strict=True)
            if event is not None
        ]

    def _dismisses(self, rule: Rule, event: Event) -> bool:
        """
        Whether a rule has nothing to say about an event, told from the event's facts alone: what it finds fault with,
        or wants to look at a node for, it is asked again at the node.
        """
        try:
            said = list(self.check(rule, event))
        except (NodeWantedError, Exception, SystemExit):  # a failure is reported where it is asked again
            self._held = None
            return False
        for each in said:
            if self._held is None:
                break
            if self._selection.shows(rule.code, each.level or rule.level):
                self._held = None
            else:
                self._held.add((rule.code, id(each.node)))
        return not said


def is_thorough(registry: Registry, selection: Selection) -> bool:
    """
    Whether all that a file defines must be followed: where strict findings are asked for (nearly every function has
    some, and only a few functions have others), or a rule of somebody else makes more of what we take for strict.
    """
    strict = selection.enabled if selection.strict else selection.explicit
    return _is_thorough(tuple(registry.rules), selection.enabled, strict)


def leaves_dim_open(text: str) -> bool:
    """
    Whether a file builds a softmax layer without a dimension: all of it must be followed, for any function may say how
    many dimensions the layer is given (TLN602 tells which one torch takes of so many).
    """
    return "Softm" in text and _OPEN_SOFTMAX.search(text) is not None  # few have it, and to find a word takes no time


@lru_cache(maxsize=8)
def _is_thorough(rules: tuple[Rule, ...], enabled: frozenset[str], shown: frozenset[str]) -> bool:
    """The same, where strict findings of these rules are shown."""
    strict = tuple({kind for rule in rules if rule.level is Level.STRICT for kind in rule.subscriptions})
    return any(
        rule.code in shown
        if rule.level is Level.STRICT or rule.may_be_strict
        else any(issubclass(kind, wanted) for kind in strict for wanted in rule.subscriptions)
        for rule in rules
        if rule.code in enabled
    )


def visitors(text: str, tree: ast.Module, registry: Registry, selection: Selection) -> list[Rule]:
    """The enabled visitor rules that have something to look for in a text, in the order of their codes."""
    rules, needs = _visiting(registry.rules, selection.enabled)
    if not are_spelled(text, needs):
        return []
    found = mentioned(tree, needs)
    return [rule for rule in rules if not found.isdisjoint(rule.needs)]


@lru_cache(maxsize=8)
def _visiting(rules: tuple[Rule, ...], enabled: frozenset[str]) -> tuple[list[Rule], frozenset[str]]:
    """The enabled visitor rules, and what they look for."""
    found = [rule for rule in rules if rule.visits and rule.code in enabled]
    return found, frozenset(need for rule in found for need in rule.needs)


def listeners(kind: type[Event], registry: Registry, selection: Selection) -> tuple[Rule, ...]:
    """The enabled rules that subscribe to a kind of event."""
    asked = kind, selection.enabled
    known = registry.listeners.get(asked)
    if known is None:
        rules = [rule for rule in registry.rules if rule.code in selection.enabled]
        known = registry.listeners[asked] = tuple(rule for rule in rules if issubclass(kind, rule.subscriptions))
    return known
