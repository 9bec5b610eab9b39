"""
What of the value of a `forward` its caller differentiates, for certain or perhaps, and where it is returned.

Knows values and the texts of `return`s, not how an entry point is run.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.model.python.attributes import is_module
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.values import NONE, Choice, Instance, Mapping, Sequence, Tensor, Unknown, Value, choose, fits
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted
from torchlint.syntax.tree import written

MOST_OTHERS = 6
"""Parts of what is returned that are looked at beside what is differentiated for certain."""
_SHORT = 40


def return_of(definition: ir.FunctionDef) -> ir.Node:
    """The `return` that a function ends with, in whatever branch that stands; the function itself if it has none."""
    pending: list[ir.Statement] = list(definition.body)
    last: ir.Node = definition
    while pending:
        statement = pending.pop(0)
        if isinstance(statement, ir.Return):
            last = statement
        elif isinstance(statement, (ir.If, ir.For, ir.While)):
            pending += [*statement.body, *statement.orelse]
        elif isinstance(statement, ir.With):
            pending += statement.body
        elif isinstance(statement, ir.Try):
            pending += [*statement.body, *statement.orelse, *statement.final]
    return last


def differentiated_parts(value: Value) -> list[Value]:
    """
    What of the value of a `forward` its caller differentiates: the first part of it, and all that is a loss; of a
    dictionary, whose order says less, what is called a loss, or the one part that it has; of an object its losses.
    """
    if isinstance(value, Choice):
        return _of_each(value)
    if isinstance(value, Instance) and is_module(value) is Truth.NO:
        return [each for name, each in value.attributes.items() if "loss" in name and _is_tensor_or_none(each)]
    if isinstance(value, Mapping):
        named = list(value.items.items()) if value.items is not None and fits(value) else []
        if len(named) == 1:
            return differentiated_parts(named[0][1])
        return [each for key, each in named if isinstance(key, str) and "loss" in key and _is_tensor_or_none(each)]
    if not isinstance(value, Sequence):
        return [value]
    if not fits(value):
        return []
    if value.items is None:
        some = value.last or value.element
        return differentiated_parts(some) if some is not None else []
    losses = [each for each in value.items[1:] if isinstance(each, Tensor) and "loss" in each.name]
    return [*differentiated_parts(value.items[0]), *losses] if value.items else []


def _is_tensor_or_none(value: Value) -> bool:
    """Whether it is a tensor, or one of several, or none where there is no target to compare with."""
    if not isinstance(value, Choice):
        return isinstance(value, Tensor)
    options = [each for _, each in value.alternatives if each != NONE]
    return bool(options) and all(isinstance(each, Tensor) for each in options)


def _of_each(value: Choice) -> list[Value]:
    """The same where several `return`s may have answered: one first part for all of them, and the losses of each."""
    firsts: list[tuple[Guard, Value]] = []
    losses: list[Value] = []
    for guard, option in value.alternatives:
        found = differentiated_parts(option)
        firsts += [(guard, each) for each in found[:1]]
        losses += [Choice(((guard, each),)) for each in found[1:]]
    return [choose(firsts), *losses] if firsts else losses


def other_parts(value: Value, back: ir.Node) -> list[tuple[str, Value]]:
    """
    What the caller may differentiate beside: the other parts of what is returned, by name. None where a loss is
    returned, beside which what else there is is only looked at.
    """
    if isinstance(value, Unknown):
        return list(_given_to_class(value, back))[:MOST_OTHERS]
    if not isinstance(value, (Sequence, Mapping, Instance)) or not fits(value):
        return []
    if isinstance(value, Mapping) and value.items is not None and any("loss" in str(key) for key in value.items):
        return []
    named = list(_named_parts(value, back.value if isinstance(back, ir.Return) else None))
    if any("loss" in name or (isinstance(each, Tensor) and "loss" in each.name) for name, each in named):
        return []
    certain = differentiated_parts(value)
    return [(name, each) for name, each in named if name and not any(each is one for one in certain)][:MOST_OTHERS]


def _given_to_class(value: Unknown, back: ir.Node) -> Iterator[tuple[str, Value]]:
    """What an object of a class that nobody knows was made of where it is returned: it may hold each of these."""
    call = back.value if isinstance(back, ir.Return) else None
    if not isinstance(call, ir.Call) or call is not value.source:
        return
    if not dotted(call.function).rpartition(".")[2][:1].isupper():
        return
    for argument in call.arguments:
        text = written(argument.value.origin)
        for tensor in value.depends if not argument.star and len(text) <= _SHORT and "\n" not in text else ():
            named = isinstance(argument.value, ir.Name) and argument.value.id == tensor.name
            if named or tensor.origin.origin is argument.value.origin:
                yield text, tensor


def _named_parts(value: Value, returned: ir.Node | None, depth: int = 2) -> Iterator[tuple[str, Value]]:
    """The parts of a value that is returned, and what they are called: as they are written, or else as variables."""
    inner: list[ir.Expression] = []
    if isinstance(value, Sequence) and value.items is not None:
        if isinstance(returned, ir.Sequence) and len(returned.elements) == len(value.items):
            inner = returned.elements
        texts = [written(each.origin) for each in inner]
        named = list(zip(texts or [""] * len(value.items), value.items, strict=True))
    elif isinstance(value, Sequence):
        some = value.last or value.element  # a list of tensors is one of first parts
        named = _of_one_by_one(some) if isinstance(some, Choice) else [] if some is None else [("", some)]
        named = [(text, each) for text, each in named if text or not isinstance(each, Tensor)]
    elif isinstance(value, Mapping) and value.items is not None:
        named = [(str(key), each) for key, each in value.items.items()]
    elif isinstance(value, Mapping) and value.element is not None and isinstance(returned, ir.Name):
        yield f"{returned.id}[…]", value.element  # of keys that nobody knows
        return
    elif isinstance(value, Instance) and is_module(value) is Truth.NO:
        named = list(value.attributes.items())
    else:
        return
    for place, (text, each) in enumerate(named):
        if isinstance(each, Tensor) or (
            isinstance(each, Choice) and all(isinstance(option, Tensor) for _, option in each.alternatives)
        ):
            short = bool(text) and len(text) <= _SHORT and "\n" not in text
            yield text if short else each.name if isinstance(each, Tensor) else "", each
        elif depth:
            yield from _named_parts(each, inner[place] if inner else None, depth - 1)


def _of_one_by_one(value: Choice) -> list[tuple[str, Value]]:
    """The parts of what a loop appends, a dictionary of the same keys in each round."""
    options = [(guard, each.items) for guard, each in value.alternatives if isinstance(each, Mapping)]
    keys = list(options[0][1] or ()) if len(options) == len(value.alternatives) else []
    if any(items is None or list(items) != keys for _, items in options):
        return []
    return [(str(key), choose([(guard, items[key]) for guard, items in options if items])) for key in keys]
