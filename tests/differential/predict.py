"""
What the model says of a program: the first error that its events amount to, in the words of the oracle.

Reads events only; what it cannot read there it does not say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchlint.model import interpret
from torchlint.model.events import (
    AutogradRefused,
    BackwardCalled,
    Event,
    FreedGraphRead,
    InplaceWrite,
    SavedTensorRead,
)
from torchlint.syntax.lowering import program_of
from torchlint.syntax.place import line_of
from torchlint.truth import Truth


@dataclass(frozen=True, slots=True)
class Prediction:
    """
    The first error predicted.

    Attributes
    ----------
    kind
        "ok" or one of the oracle's classes.
    line
        The line of the statement that fails.
    culprit
        For "saved": the line of the write.
    abstains
        Whether the model says of some backward or write that it may or may not fail.
    """

    kind: str
    line: int = 0
    culprit: int = 0
    abstains: bool = False


def predict(program: str) -> Prediction:
    """Follow a program with the model."""
    first: tuple[int, str, Event] | None = None
    abstains = False
    for event in interpret(program_of(program)):
        for kind, truth in _errors(event):
            sure = truth is Truth.YES and event.truth is Truth.YES and not event.conditions
            abstains = abstains or not sure
            if sure and (first is None or event.moment < first[0] or _comes_first(kind, event, first)):
                first = (min(event.moment, first[0]) if first is not None else event.moment, kind, event)
    if first is None:
        return Prediction("ok", abstains=abstains)
    _, kind, event = first
    if isinstance(event, SavedTensorRead):
        return Prediction(kind, line_of(event.backward.node), line_of(event.node), abstains)
    return Prediction(kind, line_of(event.node), 0, abstains)


def _comes_first(kind: str, event: Event, first: tuple[int, str, Event]) -> bool:
    """Of several roots torch first asks for their sizes (`torch.autograd._make_grads`), then for `requires_grad`."""
    return kind == "non-scalar" and first[1] == "no-grad-root" and event.node is first[2].node


def _errors(event: Event) -> Iterator[tuple[str, Truth]]:
    """The errors an event may amount to, in the order in which torch looks for them."""
    if isinstance(event, BackwardCalled):
        implicit = ~event.gradient_given & event.root.requires_grad
        unrecorded = ~event.recorded
        if implicit & ~event.is_scalar is not Truth.NO:
            yield "non-scalar", implicit & ~event.is_scalar
        elif unrecorded is not Truth.NO:
            yield "no-grad-root", unrecorded
    elif isinstance(event, FreedGraphRead):
        if event.saves is not Truth.NO:
            yield "freed", event.saves
    elif isinstance(event, SavedTensorRead):
        if not event.implicit:  # what a caller's backward would find is no prediction about this program
            yield "saved", Truth.YES
    elif isinstance(event, InplaceWrite):
        if event.leaf_raises is not Truth.NO:
            yield ("leaf-view" if event.leaf_view is Truth.YES else "leaf"), event.leaf_raises
    elif isinstance(event, AutogradRefused):
        yield event.kind, Truth.YES
