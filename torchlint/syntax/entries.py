"""
What stands in the arms of a branch that says which way was gone: a constant that a name is given, an entry that is put
into a table; and where an expression asks for such an entry.

Told from Python's own tree. An entry is called by the table and the key, as it is written: `TABLE['key']`, and
`TABLE[]` where the key is not written out. Knows not what the tests of branches ask.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_PUTS = frozenset({"add", "append", "setdefault"})
"""Methods that put their first argument into what they are called on, or something under it."""


def told(body: Iterable[ast.stmt]) -> Iterator[tuple[str, int]]:
    """The names that statements give a constant, and the entries that they put into tables, each with its line."""
    for node in body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant):
                    yield target.id, node.lineno
                elif isinstance(target, ast.Subscript):
                    yield from ((each, node.lineno) for each in _put(target.value, target.slice))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from ((each, node.lineno) for each in _put_by(node.value))


def _put_by(call: ast.Call) -> Iterator[str]:
    if not isinstance(call.func, ast.Attribute):
        return
    table = call.func.value
    if call.func.attr in _PUTS and call.args:
        yield from _put(table, call.args[0])
    elif call.func.attr == "update":
        written = [key for each in call.args if isinstance(each, ast.Dict) for key in each.keys if key is not None]
        named = [ast.Constant(each.arg) for each in call.keywords if each.arg is not None]
        for key in (*written, *named):
            yield from _put(table, key)


def _put(table: ast.expr, key: ast.expr) -> Iterator[str]:
    """What an entry is called that is put into a table: by its key, and as one of those that may be asked for."""
    name = dotted(table)
    if name:
        if isinstance(key, ast.Constant):
            yield f"{name}[{key.value!r}]"
        yield f"{name}[]"


def entry(node: ast.AST) -> str:
    """The entry that a node asks for: `key in TABLE`, `TABLE[key]`, `TABLE.get(key)`; "" of anything else."""
    table: ast.expr | None = None
    key: ast.expr | None = None
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        table, key = node.comparators[0], node.left
    elif isinstance(node, ast.Subscript):
        table, key = node.value, node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        table, key = node.func.value, node.args[0]
    name = "" if table is None else dotted(table)
    if not name:
        return ""
    return f"{name}[{key.value!r}]" if isinstance(key, ast.Constant) else f"{name}[]"


def last_name(node: ast.AST) -> str:
    """The last name of a chain of attributes; "" of anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def dotted(node: ast.expr) -> str:
    """A chain of attributes as it is written; "" of anything else."""
    of = node
    while isinstance(of, ast.Attribute):
        of = of.value
    return ast.unparse(node) if isinstance(of, ast.Name) else ""
