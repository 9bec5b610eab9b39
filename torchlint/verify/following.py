"""
The inputs that something is called with first, and those that follow from a refusal of some.

Runs inside the child. Calls nothing, and orders nothing: the driver does the one, `waiting` the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from torch import nn

from torchlint.verify import mutations, origins, refusals, wished
from torchlint.verify.bare import SHAPE, made_of
from torchlint.verify.constructions import Construction
from torchlint.verify.documented import Example
from torchlint.verify.inputs import OF_INSTANCE, Inputs, first_inputs, use_for
from torchlint.verify.repairs import repaired
from torchlint.verify.shown import as_documented, as_shown


def first(
    function: Callable[..., Any],
    built: Any,
    examples: Sequence[Example],
    construction: Construction,
) -> list[Inputs]:
    """The inputs that are tried first: as the project shows them, as it documents them, then by what is read."""
    found = first_inputs(function, built if isinstance(built, nn.Module) else None)
    return [
        *as_shown(function, found[0], examples, construction),
        *as_documented(function, built, found[0]),
        *found,
    ]


def whole(chosen: Inputs, given: Mapping[str, Any], built: Any) -> tuple[Inputs, dict[str, Any]]:
    """
    Inputs, and what was made for them, with the attributes of an instance that were made up.

    Parameters
    ----------
    given
        What was made of the chosen ones.
    built
        The instance that was called; None of a plain function.
    """
    held = {} if built is None else made_of(built)
    made = {**{f"{OF_INSTANCE}{name}": getattr(built, name, None) for name in held}, **given}
    return (chosen.with_attributes(held, SHAPE) if held else chosen), made


def asked(error: Exception, chosen: Inputs, given: Mapping[str, Any], function: Callable[..., Any]) -> Iterator[Inputs]:
    """
    Inputs that a refusal of some asks for: those of which it is said which, then guesses.

    Parameters
    ----------
    chosen, given
        The whole of what was refused.
    function
        What was called; of a Module its `forward`.
    """
    for wishes in (refusals.at_a_layer(error, given), refusals.wishes(error, given)):
        yield from wished.inputs(chosen, wishes, lambda name: use_for(function, name))
    yield from mutations.keyword(chosen, function, error)
    yield from mutations.with_key(chosen, given, error)
    shapes = {name: tuple(each.shape) for name, each in origins.tensors_of(given).items()}
    yield from repaired(chosen, str(error), origins.spoken_of(error, given), shapes)


def shapes_of(error: Exception, given: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors that were given, those first that the refused statement speaks of."""
    shapes = {name: tuple(each.shape) for name, each in origins.tensors_of(given).items()}
    order = dict.fromkeys([*(name for name in origins.spoken_of(error, given) if name in shapes), *shapes])
    return {name: shapes[name] for name in order}


def unasked(error: Exception, chosen: Inputs, given: Mapping[str, Any]) -> list[Inputs]:
    """Inputs of which no refusal speaks, for when all of which one does are tried."""
    shapes = {name: tuple(each.shape) for name, each in origins.tensors_of(given).items()}
    return list(mutations.inputs(chosen, origins.spoken_of(error, given), shapes))
