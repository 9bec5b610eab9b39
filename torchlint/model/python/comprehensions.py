"""
Comprehensions: lists, sets, dictionaries and generators, element by element where the elements are known.

A variable of a comprehension is bound in a frame of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from torchlint.model.python.binding import assign
from torchlint.model.python.containers import MOST_ITEMS, any_key, any_of, elements_of
from torchlint.model.python.decisions import evaluate_test
from torchlint.model.python.elements import another, is_recorded, note_alike
from torchlint.model.python.namespaces import classes_among
from torchlint.model.python.run import Expressions, Run
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.values import Constant, Frame, Mapping, Sequence, Value
from torchlint.syntax import ir
from torchlint.syntax.reading import differentiates


def _comprehension(run: Run, node: ir.Comprehension) -> Value:
    machine = run.machine
    outer = machine.frame
    machine.frame = Frame({}, outer)
    keys: list[Value] = []
    bound: list[tuple[ir.Expression, Value]] = []
    other: Value | None = None
    try:
        items, complete = _generate(run, node, 0, keys, bound)
        recorded = not complete and len(items) == 1 and is_recorded(items[0]) and not machine.dead
        if recorded or (not complete and len(items) == 1 and differentiates(node.element)):
            for target, element in bound:
                assign(run, target, another(run, element))
            if recorded:
                other = run.evaluate(node.element)
            else:
                _once_more(run, node)
    finally:
        machine.frame = outer
    if node.kind == "dict":
        names = [each.value for each in keys if isinstance(each, Constant)]
        if complete and len(names) == len(items) <= MOST_ITEMS:
            return Mapping(dict(zip(names, items, strict=True)))
        held = any_of(items) if items else None
        if other is not None and held is not None:
            note_alike(run, held, other)
        return Mapping(None, held, any_key(keys))
    kind = {"generator": "generator"}.get(node.kind, node.kind)
    if complete and len(items) <= MOST_ITEMS:
        return Sequence(kind, tuple(items))
    made = Sequence(kind, None, any_of(items) if items else None)
    if other is not None and made.element is not None:
        note_alike(run, made.element, other)
    made.filled = bool(items) and not any(each.tests for each in node.generators)
    return made


def _once_more(run: Run, node: ir.Comprehension) -> None:
    """A second element, if there is one: its backward meets what that of the first has read, kept and freed."""
    machine = run.machine
    number = machine.branch((id(node), "comprehension", machine.clock))
    again: tuple[Guard, Callable[[], object]] = (frozenset({(number, 1)}), lambda: run.evaluate(node.element))
    machine.fork([again, (frozenset({(number, 0)}), lambda: None)])


def _generate(
    run: Run, node: ir.Comprehension, depth: int, keys: list[Value], bound: list[tuple[ir.Expression, Value]]
) -> tuple[list[Value], bool]:
    """The elements, and whether these are all; `bound` gets what stands for all that an iterable gives."""
    if depth == len(node.generators):
        if node.key is not None:
            keys.append(run.evaluate(node.key))
        return [run.evaluate(node.element)], True
    generator = node.generators[depth]
    classes = classes_among(run, generator)
    known, elements = (True, classes) if classes else elements_of(run, run.evaluate(generator.iterable))
    found: list[Value] = []
    complete = known
    for element in elements if len(elements) <= MOST_ITEMS else elements[:2]:
        assign(run, generator.target, element)
        if not known:
            bound.append((generator.target, element))
        keep = Truth.YES
        for test in generator.tests:
            keep = keep & evaluate_test(run, test)
        if keep is Truth.NO:
            continue
        inner, all_known = _generate(run, node, depth + 1, keys, bound)
        complete = complete and all_known and keep is Truth.YES
        found += inner
    return found, complete and len(elements) <= MOST_ITEMS


EXPRESSIONS: Expressions = {
    ir.Comprehension: _comprehension,
}
