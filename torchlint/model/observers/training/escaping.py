"""
Whether a loop hands on what a call in it gives with its graph, or only numbers made from it: by the names, as they
are written.

A value that a name carries out of the loop (returned, yielded, appended, stored) may be differentiated by somebody
else; `.item()`, `.detach()`, comparisons and `argmax` carry no graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.syntax import ir

_CUTS = frozenset({"item", "detach", "tolist", "numpy", "argmax", "argmin", "data", "long", "int", "bool", "round"})
_KEEPS = frozenset({"append", "extend", "insert", "put", "add", "setdefault", "appendleft", "write"})
_PLAIN: Final = frozenset({"float", "int", "bool", "len", "str", "print"})


def keeps_graph(loop: ir.For | ir.While, function: ir.Node | None, call: ir.Node) -> bool:
    """
    Whether something made from the call's result, with its graph, may leave the loop.

    Without a function (a script) names that are used after the loop aren't looked at: a script has no caller.
    """
    tainted: set[str] = set()
    for _ in range(3):
        size = len(tainted)
        for node in ir.walk(loop):
            if isinstance(node, (ir.Assign, ir.AugmentedAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ir.Assign) else [node.target]
                if _carries(node.value, tainted, call):
                    if any(not isinstance(each, (ir.Name, ir.Sequence)) or _is_list(each) for each in targets):
                        return True
                    tainted |= {part.id for target in targets for part in ir.walk(target) if isinstance(part, ir.Name)}
        if len(tainted) == size:
            break
    for node in ir.walk(loop):
        if isinstance(node, (ir.Return, ir.Yield)) and _carries(node.value, tainted, call):
            return True
        kept = isinstance(node, ir.Call) and isinstance(node.function, ir.Attribute) and node.function.attr in _KEEPS
        if kept and any(_carries(part, tainted, call) for part in _parts(node)):
            return True
    returned = (node for node in ir.walk(function) if isinstance(node, ir.Return)) if function is not None else ()
    return any(_carries(node.value, tainted, call) for node in returned)


def _is_list(target: ir.Expression) -> bool:
    return isinstance(target, ir.Sequence) and target.kind != "tuple"


def _carries(node: ir.Node | None, tainted: set[str], call: ir.Node) -> bool:
    """Whether an expression's value may hold the graph of a tainted name, or of the call."""
    if node is None or isinstance(node, ir.Compare):
        return False
    if node is call:
        return True
    if isinstance(node, ir.Name):
        return node.id in tainted
    if isinstance(node, ir.Call):
        function = node.function
        last = function.attr if isinstance(function, ir.Attribute) else ""
        if last in _CUTS or (isinstance(function, ir.Name) and function.id in _PLAIN):
            return False
    if isinstance(node, ir.Attribute):
        return node.attr not in _CUTS and _carries(node.value, tainted, call)
    return any(_carries(part, tainted, call) for part in _parts(node))


def _parts(node: ir.Node) -> Iterator[ir.Node]:
    """The nodes right below a node."""
    for name in ir.parts(type(node)):
        value = getattr(node, name)
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ir.Node))
