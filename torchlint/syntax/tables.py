"""
Tables of functions and classes that a file only speaks of: it wraps or registers what is in them, asks whether
something is one of them, or leaves them to others.

Told from Python's own tree. Knows no package, and does not follow what happens in other files.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TypeAlias

from torchlint.syntax.children import children, walk

_MANY = 12
"""Entries from which on a table that the file itself does nothing with is one of what there is."""
_REGISTERS = re.compile(
    r"regist|wrap|patch|implement|overrid|decorat|docstr|convert|dispatch|forbid|ban|disallow|allow|skip|add$|append$",
    re.IGNORECASE,
)
"""In the names of functions that take another one to note it, or to put something around it."""
_SPEAKS = re.compile(r"_?add_docstr|wraps|update_wrapper|implements\w*|signature|getdoc|overrides?", re.IGNORECASE)
_COLLECTS = frozenset({"set", "frozenset", "list", "tuple", "sorted", "len"})
_Loop: TypeAlias = "ast.For | ast.comprehension"


def asks_for_kinds(node: ast.Call) -> bool:
    """Whether a call asks of which kind something is."""
    return isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass")


def is_membership(node: ast.Compare) -> bool:
    """Whether a comparison asks whether something is one of several, and nothing else."""
    return all(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops)


def makes_members(node: ast.Call) -> bool:
    """Whether a call makes a set of what it is given, or keys of a table: `frozenset([…])`, `dict.fromkeys([…])`."""
    if isinstance(node.func, ast.Name):
        return node.func.id in ("set", "frozenset")
    return isinstance(node.func, ast.Attribute) and node.func.attr == "fromkeys" and _last(node.func.value) == "dict"


def kinds(tree: ast.Module) -> frozenset[str]:
    """The names that a file reads only to ask whether something is one of the things that they stand for."""
    asked, read = Counter[str](), Counter[str]()
    for node in walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read[node.id] += 1
        elif isinstance(node, ast.Call) and asks_for_kinds(node):
            among = node.args[1] if len(node.args) > 1 else node
            parts = among.elts if isinstance(among, ast.Tuple) else [among]
            asked.update(
                name.id
                for part in parts
                if isinstance(name := part.value if isinstance(part, ast.Starred) else part, ast.Name)
            )
        elif isinstance(node, ast.Compare):
            asked.update(
                part.id
                for op, part in zip(node.ops, node.comparators, strict=True)
                if isinstance(op, (ast.In, ast.NotIn)) and isinstance(part, ast.Name)
            )
    return frozenset(name for name, count in asked.items() if count == read[name])


def speaks_of_it(called: str) -> bool:
    """Whether a function, by its last name, says something of one that it is given, and does not call it."""
    return _SPEAKS.fullmatch(called) is not None


def is_entry(node: ast.AST) -> bool:
    """Whether an entry of a table is a plain name, or one of something."""
    return isinstance(node, (ast.Attribute, ast.Name))


def only_speaks(assigned: ast.Assign | ast.AnnAssign, tree: ast.Module) -> bool:
    """
    Whether what is in the table that a statement gives a name is not called by the file, as far as can be told: each
    loop over it registers or wraps, or there is no use of it at all, and it is long.
    """
    target = assigned.targets[0] if isinstance(assigned, ast.Assign) else assigned.target
    if not isinstance(target, ast.Name) or assigned.value is None:
        return False
    entries = _entries(assigned.value)
    if entries < 2:
        return False
    loops: list[tuple[_Loop, ast.AST]] = []
    looped = 0
    for node in walk(tree):
        of = [(each, node) for each in getattr(node, "generators", ())]
        of += [(node, node)] if isinstance(node, ast.For) else []
        for loop, around in of:
            names = _reads(loop.iter, target.id)
            if names:
                looped += names
                loops.append((loop, around))
    others = _reads(tree, target.id) - looped - _collected(tree, target.id)
    if others > 0:
        return False
    return all(_registers(*each) for each in loops) if loops else entries >= _MANY


def _entries(value: ast.expr) -> int:
    """How many entries a table has, in lists inside it as well; 0 if it holds anything else."""
    pending, count = [value], 0
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Dict):
            pending += node.values
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            pending += node.elts
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.BitOr)):  # put together from several
            pending += [node.left, node.right]
        elif is_entry(node):
            count += 1
        else:
            return 0
    return count if not is_entry(value) else 0


def _reads(node: ast.AST, name: str) -> int:
    return sum(isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load) for each in walk(node))


def _collected(tree: ast.Module, name: str) -> int:
    """How often it is asked whether something is in a table, or its entries are put into another collection."""
    count = 0
    for node in walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            count += _reads(node.comparators[0], name)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _COLLECTS:
            count += sum(isinstance(each, ast.Name) and each.id == name for each in node.args)
    return count


def _registers(loop: _Loop, around: ast.AST) -> bool:
    """Whether a loop calls nothing that it takes from a table, and hands it only to what notes or wraps it."""
    taken = {each.id for each in walk(loop.target) if isinstance(each, ast.Name)}
    done = [part for each in children(around) if each is not loop.target for part in walk(each)]
    is_noted = False
    for node in done:
        if not isinstance(node, ast.Call):
            continue
        if _within(node.func, taken):
            return False
        given = [*node.args, *(each.value for each in node.keywords)]
        if any(isinstance(each, ast.Name) and each.id in taken for each in given):
            if not _REGISTERS.search(_last(node.func)):
                return False
            is_noted = True
    stored = any(isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) for node in done)
    return is_noted or stored or isinstance(around, (ast.DictComp, ast.SetComp))


def _within(function: ast.expr, names: set[str]) -> bool:
    """Whether a call's function is one of some names: not a method of what they have, `f.__name__.upper()`."""
    return isinstance(function, ast.Name) and function.id in names


def _last(function: ast.expr) -> str:
    """The last name of what is called; of `register(name)(…)` that of the inner call."""
    while isinstance(function, ast.Call):
        function = function.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
