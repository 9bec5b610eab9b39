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
    Mapping,
    Module,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    explore,
    fits,
    parts,
    reachable_tensors,
    unknown_guard,
)


def another(run: Run, element: Value) -> Value:
    """The element of the next iteration."""
    known = run.computed_alike.get(id(element)) if run.computed_alike else None
    if known is not None:
        # of a third nobody knows more than that it is none of the two
        return known[1] if known[1] is not element else Unknown(reachable_tensors(element))
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
    if isinstance(element, Choice) and run.computed_alike:
        others = [(guard, another(run, each)) for guard, each in element.alternatives if isinstance(each, Tensor)]
        rest = [option for option in element.alternatives if not isinstance(option[1], Tensor)]
        return Choice((*others, *rest)) if others else element
    if isinstance(element, (Module, Instance)):
        return run.prototypes.another(element)
    return element


def picked(run: Run, element: Value, source: Value | None = None) -> Value:
    """
    One that is picked of a list or a dictionary, nobody knows which: of two that are picked, each may be one of its
    own. `source`: the container; what a loop has filled has only one element that stands for all.
    """
    if isinstance(element, Sequence):
        if element.kind != "tuple" or element.items is None or not is_recorded(element):
            return element
        return Sequence(element.kind, tuple(picked(run, each) for each in element.items))
    options = [each for _, each in alternatives(element)]
    options += [other for each in options if (other := _other(run, each)) is not None]
    filled = (
        isinstance(source, Mapping) or (isinstance(source, Sequence) and source.kind == "list")
    ) and source.element is element
    if filled and len(options) == 1 and isinstance(element, Tensor) and element.grad_fn:
        options.append(Unknown([element], source=element.origin))
    elif sum(map(_is_recorded_tensor, options)) < _SEVERAL:
        return element
    return Choice(tuple((unknown_guard(), each) for each in options))


_SEVERAL = 2


def _other(run: Run, element: Value) -> Value | None:
    known = run.computed_alike.get(id(element)) if isinstance(element, Tensor) else None
    return known[1] if known is not None and known[1] is not element else None


def is_recorded(value: Value) -> bool:
    """Whether a value, or what it holds, is a tensor that was computed in the graph."""
    return fits(value) and any(map(_is_recorded_tensor, explore(value, parts)))


def _is_recorded_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) and bool(value.grad_fn)


def note_alike(run: Run, one: Value, other: Value) -> None:
    """Two elements of one iterable were computed alike."""
    if one is other or not is_recorded(one):
        return
    run.computed_alike.setdefault(id(one), (one, other))
    run.computed_alike.setdefault(id(other), (other, other))
    if isinstance(one, Choice) and isinstance(other, Choice):
        for (_, first), (_, second) in zip(one.alternatives, other.alternatives, strict=False):
            note_alike(run, first, second)
    elif isinstance(one, Sequence) and isinstance(other, Sequence) and one.kind == "tuple":
        for first, second in zip(one.items or (), other.items or (), strict=False):
            note_alike(run, first, second)
