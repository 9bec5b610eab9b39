"""
Which qualified names a text mentions, and on which lines, told before libcst has made a tree of it.

An over-approximation without scopes: an import anywhere in the file counts everywhere in it. It decides only whether,
and where, those that need a name look for themselves. Knows no torch.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any

from torchlint.syntax.children import walk
from torchlint.syntax.text import lines_at


def are_spelled(text: str, needs: Iterable[str]) -> bool:
    """Whether the last part of one of some names is written in a text: a first, cheap question."""
    words = {re.escape(need.rpartition(".")[2]) for need in needs}
    return bool(words) and re.search(rf"\b(?:{'|'.join(sorted(words))})\b", text) is not None


def mentioned(tree: ast.Module, needs: Collection[str]) -> frozenset[str]:
    """
    Those of some names that a text mentions.

    Parameters
    ----------
    tree
        The text.
    needs
        Qualified names (`torch.load`; also what is below them counts, and an import), or attributes of anything
        (`.data`).
    """
    imported: dict[str, set[str]] = {}
    found: set[str] = set()
    attributes: set[str] = set()
    chains: list[ast.Attribute | ast.Name] = []
    for node in walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                imported.setdefault(bound, set()).add(alias.name if alias.asname else bound)
                found.add(alias.name)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                if alias.name == "*":  # whatever is in it may be meant by any name
                    found.add(str(node.module))
                    found.update(need for need in needs if need.startswith(f"{node.module}."))
                    continue
                imported.setdefault(alias.asname or alias.name, set()).add(f"{node.module}.{alias.name}")
                found.add(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Attribute):
            attributes.add(node.attr)
            chains.append(node)
        elif isinstance(node, ast.Name):
            chains.append(node)
    for chain in chains:
        found |= _qualified(chain, imported)
    return frozenset(
        need
        for need in needs
        if (need[1:] in attributes if need.startswith(".") else any(_is_below(name, need) for name in found))
    )


def _qualified(node: ast.expr, imported: dict[str, set[str]]) -> set[str]:
    rest = ""
    while isinstance(node, ast.Attribute):
        rest = f".{node.attr}{rest}"
        node = node.value
    return {name + rest for name in imported.get(node.id, ())} if isinstance(node, ast.Name) else set()


def _is_below(name: str, need: str) -> bool:
    return name == need or name.startswith(f"{need}.")


def statements(tree: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> Sequence[ast.stmt]:
    """Every statement in a file or a function, outer ones first, in the order of `ast.walk`. Looks at no expression."""
    return _of_file(tree) if isinstance(tree, ast.Module) else list(_statements(tree))


@lru_cache(maxsize=1)
def _of_file(tree: ast.Module) -> tuple[ast.stmt, ...]:
    """Those of the file that is read: half a dozen readers ask for them, one after the other."""
    return tuple(_statements(tree))


def _statements(tree: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.stmt]:
    pending: list[Any] = [*tree.body]
    for node in pending:
        kind = type(node)
        for name in _BLOCKS[kind]:
            pending += getattr(node, name)
        if kind not in _BETWEEN_BLOCKS:
            yield node


_BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name in ("body", "handlers", "orelse", "finalbody", "cases"))
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, (ast.stmt, ast.ExceptHandler, ast.match_case))
}
_BETWEEN_BLOCKS = frozenset({ast.ExceptHandler, ast.match_case})
"""What holds statements of one, and is none itself."""
_BETWEEN = r"(?:\s|\\|\#[^\r\n]*(?![^\r\n]))*"
"""A comment goes to the end of its line: could it end sooner, forty hashes in a row were read in 2 ** 40 ways."""
_MAY_GO_ON = r"[ \t\f]*(?:[.\\#\r\n]|\)[\s).])"
"""What a chain of attributes on one line is followed by where it may not be all: most are all."""
_AT_LENGTH = re.compile(rf"((?:{_BETWEEN}\.{_BETWEEN}\w+)*)({_BETWEEN}\)[\s)]*\.)?")
_NOT_NAMES = re.compile(_BETWEEN)
_MOST_PARTS = 12
"""Of a name: an assignment that makes it longer and longer is not followed."""


def names_of(naming: Iterable[ast.stmt], packages: Collection[str]) -> Names | None:
    """
    What the names of a file may stand for of some packages, by imports and plain assignments; None where an import of
    everything may bind any name. Of its statements these alone are looked at (`ir.Program.naming`).
    """
    names, assigned = Names(), list[tuple[str, str, str]]()
    for node in naming:
        if type(node) is ast.Import:
            for alias in node.names:
                first = alias.name.partition(".")[0]
                if first in packages:
                    names.may_be.setdefault(alias.asname or first, set()).add(alias.name if alias.asname else first)
                    names.imports.append((alias.name, node.lineno))
        elif type(node) is ast.ImportFrom:
            if node.level or not node.module or node.module.partition(".")[0] not in packages:
                continue
            for alias in node.names:
                if alias.name == "*":
                    return None
                full = f"{node.module}.{alias.name}"
                names.may_be.setdefault(alias.asname or alias.name, set()).add(full)
                names.imports.append((full, node.lineno))
        elif type(node) is ast.Assign and type(node.targets[0]) is ast.Name and len(node.targets) == 1:
            root, rest = _chain(node.value)
            if root:
                assigned.append((node.targets[0].id, root, rest))
    return names if _assign(names.may_be, assigned) else None


@dataclass(slots=True)
class Names:
    """
    What names may stand for, in whatever scope.

    Attributes
    ----------
    may_be
        Names in full, by name.
    imports
        What is imported, with the line.
    """

    may_be: dict[str, set[str]] = field(default_factory=dict)
    imports: list[tuple[str, int]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.may_be)


def spelled(
    text: str, names: Names, wanted: Container[str], beginnings: Container[str] | None = None
) -> dict[int, set[str]]:
    """
    By line, what a file may name there that is wanted, or begins with what is; "" where only a beginning is told.

    Parameters
    ----------
    text
        The file.
    names
        Its names.
    wanted
        Names in full.
    beginnings
        What such a name begins with, part by part; None if that is not known.
    """
    found: dict[int, set[str]] = {}
    for full, line in names.imports:
        if _reaches(full, wanted):
            found.setdefault(line, set()).add(full)
    leading = [
        name
        for name, fulls in names.may_be.items()
        if beginnings is None or any(full in beginnings or _reaches(full, wanted) for full in fulls)
    ]
    if not leading:
        return found
    reaching: dict[str, set[str]] = {}
    met: list[tuple[int, set[str]]] = []
    for match in itertools.chain.from_iterable(_on_one_line(root).finditer(text) for root in leading):
        start = match.start()
        before = text[start - 1 : start]  # to look behind would take three times as long
        if before == "." or before == "_" or before.isalnum():
            continue
        root, rest, more = match.groups()
        closed = None
        if more is not None:
            whole = _AT_LENGTH.match(text, match.end(1))
            assert whole is not None  # it may be empty
            rest, closed = whole.groups()  # of `(torch.nn).functional` only the beginning is told
            closed = closed if closed and _may_be_bracketed(text, start) else None
        written = root + rest
        hits = reaching.get(written)
        if hits is None:
            plain = _NOT_NAMES.sub("", rest) if more is not None else rest
            fulls = {full + plain for full in names.may_be[root]}
            hits = reaching[written] = {full for full in fulls if _reaches(full, wanted)}
        if hits or closed:
            met.append((start, {*hits, ""} if closed else hits))
    met.sort(key=itemgetter(0))
    for line, (_, named) in zip(lines_at(text, (start for start, _ in met)), met, strict=True):
        found.setdefault(line, set()).update(named)
    return found


def _may_be_bracketed(text: str, start: int) -> bool:
    """Whether a bracket may open right before a name: of `f(a, dtype=torch.float).to` it is the bracket of a call."""
    while text[start - 1 : start] in (" ", "\t"):
        start -= 1
    return text[start - 1 : start] in ("", "(", "\n", "\r", "\f")  # what stands on the line above is not looked at


@lru_cache(maxsize=512)
def _on_one_line(root: str) -> re.Pattern[str]:
    """
    A name, and what follows it on its line. One pattern for each name: files share names, and hardly two of them all
    that they import, so that a pattern for all would be compiled for every file.
    """
    return re.compile(rf"({re.escape(root)})\b((?:\.\w+)*)({_MAY_GO_ON})?")


def lines_of(found: Mapping[int, Iterable[str]], wanted: Container[str]) -> list[int]:
    """Of what is `spelled` in a file, the lines that may name something wanted, in order."""
    return sorted(line for line, fulls in found.items() if any(not full or _reaches(full, wanted) for full in fulls))


def _chain(node: ast.expr) -> tuple[str, str]:
    """The name that a chain of attributes begins with, and the rest of it; "" of anything else."""
    rest = ""
    while isinstance(node, ast.Attribute):
        rest = f".{node.attr}{rest}"
        node = node.value
    return (node.id, rest) if isinstance(node, ast.Name) else ("", "")


def _assign(roots: dict[str, set[str]], assigned: Iterable[tuple[str, str, str]]) -> bool:
    """Note what plain assignments make of names; whether that comes to an end."""
    changed = True
    while changed:
        changed = False
        for name, root, rest in assigned:
            new = {full + rest for full in roots.get(root, ())} - roots.get(name, set())
            if any(each.count(".") > _MOST_PARTS for each in new):
                return False
            if new:
                roots.setdefault(name, set()).update(new)
                changed = True
    return True


def _reaches(name: str, wanted: Container[str]) -> bool:
    """Whether a name, or what it begins with, is wanted."""
    while name:
        if name in wanted:
            return True
        name = name.rpartition(".")[0]
    return False
