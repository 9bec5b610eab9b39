"""
Expressions that are a value by themselves: names, literals, displays, f-strings, `lambda`, `yield`.

Operators, attributes, subscripts, calls and comprehensions have modules of their own; `interpreter` puts the tables
together.
"""

from __future__ import annotations

from torchlint.model.autograd.writes import escape, show
from torchlint.model.python.binding import assign
from torchlint.model.python.containers import MOST_ITEMS, any_key, any_of
from torchlint.model.python.run import Expressions, Run
from torchlint.model.python.variables import lookup
from torchlint.model.state.budget import TooDeepError
from torchlint.model.state.values import (
    NONE,
    Constant,
    Function,
    Mapping,
    Scalar,
    Sequence,
    Unknown,
    Value,
    reachable_tensors,
)
from torchlint.syntax import ir


def _name(run: Run, node: ir.Name) -> Value:
    value = lookup(run, node.id)
    for hook in run.machine.watch.name_read:
        hook(node.id, value, node)
    return value


def _constant(run: Run, node: ir.Constant) -> Value:
    return Constant(node.value)


def _formatted(run: Run, node: ir.FormattedString) -> Value:
    for part in node.parts:
        for tensor in reachable_tensors(run.evaluate(part)):
            show(run.autograd, tensor, part)
    return Scalar("str")


def _sequence(run: Run, node: ir.Sequence) -> Value:
    """A display. Beside something starred whose length nobody knows, the others are in it all the same."""
    items: list[Value] = []
    others: list[Value] = []
    for element in node.elements:
        if not isinstance(element, ir.Starred):
            items.append(run.evaluate(element))
            continue
        value = run.evaluate(element.value)
        if isinstance(value, Sequence) and value.items is not None:
            items += value.items
        elif isinstance(value, Sequence):
            items += value.among
            others.append(value.element or Unknown())
        else:
            others.append(Unknown(reachable_tensors(value)))
    if not others:
        return Sequence(node.kind, tuple(items))
    found = Sequence(node.kind, None, any_of([*items, *others]))
    found.among = tuple(items[:MOST_ITEMS])
    if node.kind != "set" and not isinstance(node.elements[-1], ir.Starred):
        found.last = items[-1]
    return found


def _dict(run: Run, node: ir.Dict) -> Value:
    items: dict[object, Value] = {}
    keys: list[Value] = []
    known = True
    for key, each in zip(node.keys, node.values, strict=True):
        value = run.evaluate(each)
        if key is None:
            if isinstance(value, Mapping) and value.items is not None:
                items.update(value.items)
            else:
                known = False
                items[object()] = Unknown(reachable_tensors(value))
                keys += [value.keys] if isinstance(value, Mapping) and value.keys is not None else []
            continue
        evaluated = run.evaluate(key)
        if isinstance(evaluated, Constant):
            items[evaluated.value] = value
        else:
            known = False
            items[object()] = value
            keys.append(evaluated)
    if known:
        return Mapping(items)
    return Mapping(None, any_of(list(items.values())), any_key(keys))


def _too_deep(run: Run, node: ir.TooDeep) -> Value:
    raise TooDeepError


def _starred(run: Run, node: ir.Starred) -> Value:
    return run.evaluate(node.value)


def _lambda(run: Run, node: ir.Lambda) -> Value:
    defaults = {p.name: run.evaluate(p.default) for p in node.parameters if p.default is not None}
    run.machine.frame.capture()
    return Function(node, run.machine.frame, defaults)


def _assigned(run: Run, node: ir.Assigned) -> Value:
    value = run.evaluate(node.value)
    assign(run, node.target, value)
    return value


def _yield(run: Run, node: ir.Yield) -> Value:
    value = run.evaluate(node.value) if node.value is not None else NONE
    if run.suspended is not None:
        run.suspended(value)
    else:
        escape(run.autograd, reachable_tensors(value), node)
    return Unknown()


def _await(run: Run, node: ir.Await) -> Value:
    return Unknown(reachable_tensors(run.evaluate(node.value)))


EXPRESSIONS: Expressions = {
    ir.Name: _name,
    ir.Constant: _constant,
    ir.FormattedString: _formatted,
    ir.Sequence: _sequence,
    ir.Starred: _starred,
    ir.Dict: _dict,
    ir.Lambda: _lambda,
    ir.Assigned: _assigned,
    ir.Yield: _yield,
    ir.Await: _await,
    ir.Slice: lambda run, node: Unknown(),
    ir.TooDeep: _too_deep,
}
