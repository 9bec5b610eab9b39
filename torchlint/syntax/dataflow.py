"""
Plain data flow over the IR: which names and attributes a block reads before it sets them, and sets at all.

Purely syntactic: no values, no calls followed. For the question which variables a loop carries from one iteration to
the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted


def read_before_set(body: list[ir.Statement]) -> tuple[str, ...]:
    """
    The names and `self.x`-like paths that a block may read before it sets them, and that it sets: what one run of the
    block hands to the next.
    """
    reads: dict[str, None] = {}
    sets: set[str] = set()
    for kind, name in _accesses(body):
        if kind == "set":
            sets.add(name)
        elif name not in sets:
            reads.setdefault(name)
    return tuple(name for name in reads if name in sets)


def sets(body: list[ir.Statement]) -> frozenset[str]:
    """The names and `self.x`-like paths that a block sets."""
    found: set[str] = set()
    pending = list(body)
    while pending:  # not by `_accesses`, which reads the expressions as well: they set nothing
        statement = pending.pop()
        targets: list[ir.Expression] = []
        if isinstance(statement, ir.Assign):
            targets = statement.targets
        elif isinstance(statement, ir.AugmentedAssign):
            targets = [statement.target]
        elif isinstance(statement, ir.For):
            targets = [statement.target]
            pending += statement.body
        elif isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
            found.add(statement.name)
        else:
            for block in ir.blocks(statement):
                pending += block
        for target in targets:
            found.update(name for kind, name in _targets(target) if kind == "set")
    return frozenset(found)


def _accesses(node: object) -> Iterator[tuple[str, str]]:
    """Reads and sets in the order of execution, as far as syntax tells."""
    if isinstance(node, list):
        for each in node:
            yield from _accesses(each)
    elif isinstance(node, ir.Assign):
        yield from _accesses(node.value)
        for target in node.targets:
            yield from _targets(target)
    elif isinstance(node, ir.AugmentedAssign):
        yield from _accesses(node.target)
        yield from _accesses(node.value)
        yield from _targets(node.target)
    elif isinstance(node, ir.For):
        yield from _accesses(node.iterable)
        yield from _targets(node.target)
        yield from _accesses(node.body)
    elif isinstance(node, (ir.FunctionDef, ir.ClassDef)):
        yield "set", node.name
    elif isinstance(node, ir.Name):
        yield "read", node.id
    elif isinstance(node, ir.Attribute):
        path = dotted(node)
        if path:
            yield "read", path
        yield from _accesses(node.value)
    elif isinstance(node, ir.Node):
        for name in ir.named(type(node)):
            yield from _accesses(getattr(node, name))


def _targets(node: ir.Expression) -> Iterator[tuple[str, str]]:
    if isinstance(node, ir.Sequence):
        for element in node.elements:
            yield from _targets(element)
    elif isinstance(node, ir.Starred):
        yield from _targets(node.value)
    elif isinstance(node, ir.Name):
        yield "set", node.id
    elif isinstance(node, ir.Attribute) and dotted(node):
        yield "set", dotted(node)
    elif isinstance(node, ir.Subscript):
        yield from _accesses(node.value)
        yield from _accesses(node.index)


def alike(one: object, other: object) -> bool:
    """Whether two pieces of a program are written alike, but for white space, brackets and quotes."""
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(alike, one, other))
    if not isinstance(one, ir.Node):
        return type(one) is type(other) and one == other
    return type(one) is type(other) and all(
        alike(getattr(one, name), getattr(other, name)) for name in ir.named(type(one))
    )
