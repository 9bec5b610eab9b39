"""
What a function that is handed on gives, passes on and writes into, by the names in its text.

Reads expressions; follows nothing, and knows no values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.knowledge import foreign
from torchlint.model.python.flags import FLAGS
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted, identifier

OF_CONTAINERS: Final = frozenset(
    {
        "append",
        "extend",
        "insert",
        "add",
        "update",
        "setdefault",
        "pop",
        "popitem",
        "clear",
        "remove",
        "appendleft",
        "extendleft",
        "popleft",
    }
)


def given_back(body: list[ir.Statement] | ir.Expression, nodes: list[ir.Node]) -> Iterator[ir.Expression]:
    """What a function returns or yields, as it is written; `nodes` are all of its body."""
    if not isinstance(body, list):
        yield body  # of a lambda
    for node in [each for each in nodes if type(each) in _GIVING]:
        if isinstance(node, (ir.Return, ir.Yield)) and node.value is not None:
            yield node.value


def paths_in(node: ir.Expression) -> Iterator[tuple[str, ...]]:
    """The variables and attributes that an expression is, is a part of, or puts together in a container."""
    if isinstance(node, ir.Sequence):
        for each in node.elements:
            yield from paths_in(each)
    elif isinstance(node, ir.Conditional):
        yield from paths_in(node.body)
        yield from paths_in(node.orelse)
    elif isinstance(node, ir.Boolean):
        for each in node.operands:
            yield from paths_in(each)
    elif path := path_of(node):
        yield path
    elif isinstance(node, (ir.Attribute, ir.Subscript, ir.Starred)):
        yield from paths_in(node.value)
    elif isinstance(node, ir.Call) and dotted(node.function) == "getattr" and node.arguments:
        yield from paths_in(node.arguments[0].value)


def written_paths(node: ir.Node) -> list[tuple[str, ...]]:
    """The variables and attributes that a statement or a call sets, or writes into ("" at the end)."""
    if type(node) not in _SETTING:
        return []  # most of what is written
    if isinstance(node, ir.Call):
        if isinstance(node.function, ir.Name):
            return []
        path = path_of(node.function.value) if isinstance(node.function, ir.Attribute) else ()
        if not path:  # `getattr(seen, name)(x)`, `{"train": seen}[phase].append(x)`: any of these may be written into
            return [(each.id, "") for each in ir.walk(node.function) if isinstance(each, ir.Name)]
        assert isinstance(node.function, ir.Attribute)
        inside = node.function.attr in OF_CONTAINERS
        return [(*path, "")] if path and inside else [path] if path and node.function.attr in FLAGS else []
    if isinstance(node, ir.Scope):
        return [(name,) for name in node.names]
    targets: list[ir.Expression] = []
    if isinstance(node, ir.Assign):
        targets = list(node.targets)
    elif isinstance(node, (ir.AugmentedAssign, ir.For)):
        targets = [node.target]
    found: list[tuple[str, ...]] = []
    while targets:
        target = targets.pop()
        if isinstance(target, ir.Sequence):
            targets += target.elements
        elif isinstance(target, ir.Starred):
            targets.append(target.value)
        elif isinstance(target, ir.Subscript) and (path := path_of(target.value)):
            found.append((*path, ""))
        elif isinstance(target, ir.Attribute) and (path := path_of(target)):
            found.append(path)
        elif isinstance(target, ir.Name) and isinstance(node, ir.AugmentedAssign):
            found.append((target.id, ""))
    return found


_GIVING: Final = frozenset({ir.Return, ir.Yield})
_SETTING: Final = frozenset({ir.Call, ir.Scope, ir.Assign, ir.AugmentedAssign, ir.For})
"""What may set or write into something itself, and not by what stands in it."""


def path_of(node: ir.Expression) -> tuple[str, ...]:
    """`("self", "net")` of `self.net`; empty for anything else than a name with attributes."""
    names: list[str] = []
    while isinstance(node, ir.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ir.Name) else ()


def set_between(nodes: list[ir.Node]) -> set[str]:
    """What a generator leaves set where it yields: the mode of a `with` that it yields inside of, known or not."""
    yielding = [
        each for each in nodes if type(each) is ir.With and any(type(n) is ir.Yield for n in ir.walk(each.body))
    ]
    contexts = [item.context for each in yielding for item in each.items]
    words = {dotted(each.function if isinstance(each, ir.Call) else each) for each in contexts}
    words.update(word for each in contexts for node in ir.walk(each) if (word := identifier(node)))
    return {"set_grad_enabled"} if any(foreign.may_set_mode(each) for each in words) else set()
