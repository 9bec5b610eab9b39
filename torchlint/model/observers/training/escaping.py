"""
Whether a loop hands on what a call in it gives with its graph, or only numbers made from it: by the names, as they
are written.

A value that a name carries out of the loop (returned, yielded, appended, stored) may be differentiated by somebody
else; `.item()`, `.detach()`, comparisons and `argmax` carry no graph.
"""

from __future__ import annotations

import libcst as cst

from torchlint.syntax import ir
from torchlint.syntax.tree import parsed, walk

_CUTS = frozenset({"item", "detach", "tolist", "numpy", "argmax", "argmin", "data", "long", "int", "bool", "round"})
_KEEPS = frozenset({"append", "extend", "insert", "put", "add", "setdefault", "appendleft", "write"})
_PLAIN = frozenset({"float", "int", "bool", "len", "str", "print"})


def keeps_graph(loop: cst.For | cst.While, function: ir.Node | None, call: cst.Call) -> bool:
    """
    Whether something made from the call's result, with its graph, may leave the loop.

    Without a function (a script) names that are used after the loop aren't looked at: a script has no caller.
    """
    loop, call = parsed(loop), parsed(call)
    tainted: set[str] = set()
    for _ in range(3):
        size = len(tainted)
        for node in walk(loop):
            if isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign)) and node.value is not None:
                targets = [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]
                if _carries(node.value, tainted, call):
                    if any(not isinstance(target, (cst.Name, cst.Tuple)) for target in targets):
                        return True
                    tainted |= {part.value for target in targets for part in walk(target) if isinstance(part, cst.Name)}
        if len(tainted) == size:
            break
    for node in walk(loop):
        if isinstance(node, (cst.Return, cst.Yield)) and _carries(node.value, tainted, call):
            return True
        kept = isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _KEEPS
        if kept and any(_carries(argument, tainted, call) for argument in node.children):
            return True
    body = parsed(function.origin) if function is not None else None
    returned = (node for node in walk(body) if isinstance(node, cst.Return)) if body is not None else ()
    return any(_carries(node.value, tainted, call) for node in returned)


def _carries(node: cst.CSTNode | None, tainted: set[str], call: cst.Call) -> bool:
    """Whether an expression's value may hold the graph of a tainted name, or of the call."""
    if node is None or isinstance(node, cst.Comparison):
        return False
    if node is call:
        return True
    if isinstance(node, cst.Name):
        return node.value in tainted
    if isinstance(node, cst.Call):
        function = node.func
        last = function.attr.value if isinstance(function, cst.Attribute) else ""
        if last in _CUTS or (isinstance(function, cst.Name) and function.value in _PLAIN):
            return False
        return any(_carries(argument.value, tainted, call) for argument in node.args) or _carries(
            function, tainted, call
        )
    if isinstance(node, cst.Attribute):
        return node.attr.value not in _CUTS and _carries(node.value, tainted, call)
    return any(_carries(child, tainted, call) for child in node.children if isinstance(child, cst.CSTNode))
