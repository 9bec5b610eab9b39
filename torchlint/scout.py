"""
A first look at a file: can any rule have something to say about it?

Driver group. Runs the model over what Python's own parser makes of the file (`model.lower_ast`), which costs a tenth of
libcst's tree, and asks the rules. Nine files in ten are done with that: nothing was reported, so there is nothing whose
place, fix or comment needs a tree. Of the tenth it only says that it must be parsed; it never makes a finding.
"""

from __future__ import annotations

from torchlint.model import interpret_unparsed
from torchlint.model.events import Event
from torchlint.registry import UNUSED_SUPPRESSION, Registry, Selection
from torchlint.rule import Rule
from torchlint.source import TreeNeededError
from torchlint.suppress import may_be_judged
from torchlint.truth import Truth


def silent(text: str, registry: Registry, selection: Selection, *, noqa: bool = True) -> bool:
    """
    Whether a file is sure to be without any finding, shown or held back.

    Parameters
    ----------
    text
        The file.
    registry, selection, noqa
        As for `engine.check_text`.
    """
    if UNUSED_SUPPRESSION.code in selection.enabled and may_be_judged(text, registry, noqa=noqa):
        return False
    chosen: dict[type[Event], list[Rule]] = {}
    try:
        for event in interpret_unparsed(text):
            if event.truth is not Truth.YES:
                continue
            kind = type(event)
            if kind not in chosen:
                chosen[kind] = listeners(kind, registry, selection)
            if any(list(rule.check(event)) for rule in chosen[kind]):
                return False
        return True
    except TreeNeededError:
        return False
    except Exception:  # whatever it is, the engine meets it again with the tree, and reports it
        return False


def listeners(kind: type[Event], registry: Registry, selection: Selection) -> list[Rule]:
    """The enabled rules that subscribe to a kind of event."""
    return [rule for rule in registry.rules if rule.code in selection.enabled and issubclass(kind, rule.subscriptions)]
