"""
A first look at a file: can any rule have something to say about it?

Runs the model over what Python's own parser makes of the file (`syntax.lowering`), which costs a tenth of
libcst's tree, and asks the rules. Most files are done with that: nothing was reported (or only what is held back and
counted), so there is nothing whose place, fix or comment needs a tree. Of the others it says what happened in them, at
the nodes of the tree; it never makes a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torchlint.lint.registry import UNUSED_SUPPRESSION, Registry, Selection
from torchlint.lint.suppressions import has_directive, may_be_judged
from torchlint.model import Twins, interpret_unparsed
from torchlint.model.events import EntryLost, Event
from torchlint.project.index import ProjectIndex
from torchlint.rule import Level, Rule
from torchlint.syntax.mentions import are_spelled, mentioned
from torchlint.syntax.tree import Source, TreeNeededError, python_tree
from torchlint.truth import Truth


@dataclass(frozen=True, slots=True)
class Look:
    """
    What a first look has told.

    Attributes
    ----------
    held_back
        The number of strict findings that are held back in a file that is sure to have no other; None if that is not
        sure.
    source, events
        Of the others: the tree, and what happened, at its nodes. None where the model must run again on the tree.
    """

    held_back: int | None
    source: Source | None = None
    events: tuple[Event, ...] | None = None


_NOTHING = Look(None)


def look(
    path: str,
    text: str,
    registry: Registry,
    selection: Selection,
    *,
    noqa: bool = True,
    project: ProjectIndex | None = None,
    is_whole: bool = False,
) -> Look:
    """
    Look at a file without its tree.

    Parameters
    ----------
    path, text
        The file.
    registry, selection, noqa
        As for `engine.check_text`.
    project
        The other files of its project.
    is_whole
        The tree of the whole file is wanted, whatever happens in it.
    """
    own = may_be_judged(text, registry, noqa=noqa)
    wanted = visitors(text, registry, selection)
    judged = UNUSED_SUPPRESSION.code in selection.enabled and own
    own = own or is_whole
    judged = judged or is_whole
    twins: Twins | None = None
    try:
        thorough = is_thorough(registry, selection)
        happened, twins = interpret_unparsed(text, project, path, thorough=thorough, whole=own or bool(wanted))
        held = None if judged or wanted else _held_back(happened, twins, text, registry, selection)
        if held is not None:
            return Look(held)
        events = twins.with_nodes([event for event in happened if event.truth is Truth.YES])
        source = twins.tree()
        return Look(None, source, events) if source is not None else _NOTHING
    except TreeNeededError:
        return _NOTHING
    except (Exception, SystemExit):  # whatever it is, the engine meets it again with the tree, and reports it
        return _NOTHING
    finally:
        if twins is not None:
            twins.release()


def _held_back(
    happened: Sequence[Event], twins: Twins, text: str, registry: Registry, selection: Selection
) -> int | None:
    chosen: dict[type[Event], list[Rule]] = {}
    held: set[tuple[str, int]] = set()
    for event in happened:
        if event.truth is not Truth.YES:
            continue
        if isinstance(event, EntryLost):
            return None
        kind = type(event)
        if kind not in chosen:
            chosen[kind] = listeners(kind, registry, selection)
        for rule in chosen[kind]:
            if rule.level_of is None:
                if _found(rule, event, twins):
                    return None
            elif (level := rule.level_of(event)) is not None:
                if level is not Level.STRICT or selection.shows(rule.code, level):
                    return None
                held.add((rule.code, id(event.node)))
    return None if held and has_directive(text) else len(held)


def _found(rule: Rule, event: Event, twins: Twins) -> bool:
    """Whether a rule finds fault; one that must look into the tree is given it."""
    try:
        return bool(list(rule.check(event)))
    except TreeNeededError:
        return bool(list(rule.check(twins.with_nodes([event])[0])))


def is_thorough(registry: Registry, selection: Selection) -> bool:
    """
    Whether all that a file defines must be followed: where strict findings are asked for (nearly every function has
    some, and only a few functions have others), or a rule of somebody else makes more of what we take for strict.
    """
    enabled = [rule for rule in registry.rules if rule.code in selection.enabled]
    strict = tuple({kind for rule in registry.rules if rule.level is Level.STRICT for kind in rule.subscriptions})
    return any(
        selection.shows(rule.code, Level.STRICT)
        if rule.level is Level.STRICT or rule.level_of is not None
        else any(issubclass(kind, wanted) for kind in strict for wanted in rule.subscriptions)
        for rule in enabled
    )


def visitors(text: str, registry: Registry, selection: Selection) -> list[Rule]:
    """The enabled visitor rules that have something to look for in a text, in the order of their codes."""
    rules = [rule for rule in registry.rules if rule.visits and rule.code in selection.enabled]
    needs = {need for rule in rules for need in rule.needs}
    if not are_spelled(text, needs):
        return []
    try:
        found = mentioned(python_tree(text), needs)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # libcst says what it is
        return []
    return [rule for rule in rules if not found.isdisjoint(rule.needs)]


def listeners(kind: type[Event], registry: Registry, selection: Selection) -> list[Rule]:
    """The enabled rules that subscribe to a kind of event."""
    return [rule for rule in registry.rules if rule.code in selection.enabled and issubclass(kind, rule.subscriptions)]
