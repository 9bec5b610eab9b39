"""
Inputs as a project itself shows or documents them.

Runs inside the child. Takes what `documented` reads; what it leaves open stays as it was guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from torchlint.verify.constructions import Construction
from torchlint.verify.documented import Called, Example, Made, shapes
from torchlint.verify.inputs import Inputs, parameters
from torchlint.verify.repairs import with_use
from torchlint.verify.usage import Use

SHOWN = 4
"""So many examples are followed."""


def as_shown(
    function: Callable[..., Any], known: Inputs, examples: Sequence[Example], construction: Construction
) -> Iterator[Inputs]:
    """The inputs of examples, those first that construct it in the same way."""
    names = [each.name for each in parameters(function) if each.kind is not each.VAR_KEYWORD]
    same = [each for each in examples if construction.shown is not None and each.construction == construction.shown]
    found: list[Inputs] = []
    for call in (each.call for each in (*same, *examples) if each.call is not None):
        inputs = _of(call, names, known)
        if inputs != known and inputs not in found:
            found.append(inputs)
    yield from found[:SHOWN]


def _of(call: Called, names: Sequence[str], known: Inputs) -> Inputs:
    for name, value in (*zip(names, call.positional, strict=False), *call.keywords):
        if name not in names:
            continue
        if isinstance(value, Made):
            known = with_use(known, name, Use("integers" if value.integers else "tensor"))
            known = replace(known, shapes=tuple({**dict(known.shapes), name: value.shape}.items()))
        elif isinstance(value, (int, float, str, type(None))):
            known = with_use(known, name, Use("value", value=value))
    return known


def as_documented(function: Callable[..., Any], built: Any, known: Inputs) -> Iterator[Inputs]:
    """Inputs of the shapes that documentation names."""
    held = {} if hasattr(built, "__code__") else getattr(built, "__dict__", {})
    sizes = {name.lower().lstrip("_"): value for name, value in held.items() if type(value) is int and value > 0}
    masks = (name for name, use in known.others if use.kind == "mask")
    found = shapes(function, (*known.names, *known.integers, *masks), sizes)
    if found:
        yield replace(known, shapes=tuple({**dict(known.shapes), **found}.items()))
