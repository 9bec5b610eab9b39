"""
The element of another iteration, where one stands for all that an iterable gives.

It is as unknown as the first, but another one: what one has recorded for itself the other has not. What a comprehension
or `map` computes for each is computed twice, and the two are noted as each other's (`Run.computed_alike`).
"""

from __future__ import annotations

from torchlint.model.python.run import Run
from torchlint.model.state.values import (
    Choice,
    Instance,
    Module,
    Sequence,
    Tensor,
    Unknown,
    Value,
    fits,
    reachable_tensors,
    unknown_guard,
)


def another(run: Run, element: Value) -> Value:
    """The element of the next iteration."""
    if isinstance(element, Tensor):
        known = run.computed_alike.get(id(element))
        if known is None:
            return element
        # of a third nobody knows more than that it is none of the two
        return known[1] if known[1] is not element else Unknown([element], source=element.origin)
    if isinstance(element, Unknown):
        other = Unknown(
            reachable_tensors(element),
            source=element.source,
            layer=element.layer,
            element_of_parameters=element.element_of_parameters,
            part_of=element.part_of,
        )
        other.take_after(element)
        return other
    if isinstance(element, Sequence) and element.items is not None and fits(element):
        return Sequence(element.kind, tuple(another(run, each) for each in element.items))
    if isinstance(element, (Module, Instance)):
        return run.prototypes.another(element)
    return element


def picked(run: Run, element: Value) -> Value:
    """One that is picked of a list, nobody knows which: of two that are picked, each may be one of its own."""
    if isinstance(element, Tensor):
        known = run.computed_alike.get(id(element))
        if known is None or known[1] is element:
            return element
        return Choice(((unknown_guard(), element), (unknown_guard(), known[1])))
    if isinstance(element, Sequence) and element.items is not None and fits(element) and is_recorded(element):
        return Sequence(element.kind, tuple(picked(run, each) for each in element.items))
    return element


def is_recorded(value: Value) -> bool:
    """Whether a value, or a part of a tuple, is a tensor that was computed in the graph."""
    if isinstance(value, Sequence):
        return value.items is not None and fits(value) and any(map(is_recorded, value.items))
    return isinstance(value, Tensor) and bool(value.grad_fn)


def note_alike(run: Run, one: Value, other: Value) -> None:
    """Two elements of one iterable were computed alike."""
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        for first, second in zip(one.items or (), other.items or (), strict=False):
            note_alike(run, first, second)
    elif isinstance(one, Tensor) and isinstance(other, Tensor) and one is not other and one.grad_fn:
        run.computed_alike.setdefault(id(one), (one, other))
        run.computed_alike.setdefault(id(other), (other, other))
