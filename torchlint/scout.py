"""
A first look at a file: can any rule have something to say about it?

Driver group. Runs the model over what Python's own parser makes of the file (`model.lower_ast`), which costs a tenth of
libcst's tree, and asks the rules. Most files are done with that: nothing was reported (or only what is held back and
counted), so there is nothing whose place, fix or comment needs a tree. Of the others it only says that they must be
parsed; it never makes a finding.
"""

from __future__ import annotations

from torchlint.model import interpret_unparsed
from torchlint.model.events import Event
from torchlint.project_index import ProjectIndex
from torchlint.registry import UNUSED_SUPPRESSION, Registry, Selection
from torchlint.rule import Level, Rule
from torchlint.source import TreeNeededError
from torchlint.suppress import has_directive, may_be_judged
from torchlint.truth import Truth


def held_back(
    text: str, registry: Registry, selection: Selection, *, noqa: bool = True, project: ProjectIndex | None = None
) -> int | None:
    """
    The number of strict findings that are held back in a file that is sure to have no other; None if that is not sure.

    Parameters
    ----------
    text
        The file.
    registry, selection, noqa
        As for `engine.check_text`.
    project
        The other files of its project.
    """
    if UNUSED_SUPPRESSION.code in selection.enabled and may_be_judged(text, registry, noqa=noqa):
        return None
    chosen: dict[type[Event], list[Rule]] = {}
    held: set[tuple[str, int]] = set()
    try:
        for event in interpret_unparsed(text, project):
            if event.truth is not Truth.YES:
                continue
            kind = type(event)
            if kind not in chosen:
                chosen[kind] = listeners(kind, registry, selection)
            for rule in chosen[kind]:
                if rule.level_of is None:
                    if list(rule.check(event)):
                        return None
                elif (level := rule.level_of(event)) is not None:
                    if level is not Level.STRICT or selection.shows(rule.code, level):
                        return None
                    held.add((rule.code, id(event.node)))
    except TreeNeededError:
        return None
    except Exception:  # whatever it is, the engine meets it again with the tree, and reports it
        return None
    return None if held and has_directive(text) else len(held)


def listeners(kind: type[Event], registry: Registry, selection: Selection) -> list[Rule]:
    """The enabled rules that subscribe to a kind of event."""
    return [rule for rule in registry.rules if rule.code in selection.enabled and issubclass(kind, rule.subscriptions)]
