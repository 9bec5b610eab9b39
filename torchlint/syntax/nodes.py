"""
The libcst nodes of a file at the places of its IR: parsed when somebody wants one, of the file only what is wanted.

In the text that libcst is given, the functions and classes that nobody asks for have a docstring of as many lines in
the place of what they hold, so that everything else stands where it stood. When more is wanted, the functions and
classes in question take the place of their empty ones in the tree.

Knows the IR; runs nothing.
"""

from __future__ import annotations

import ast
import operator
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

import libcst as cst

from torchlint.syntax import ir
from torchlint.syntax.place import Key, Place, Spans, has_key, is_place, key, keys, line_of, text_at
from torchlint.syntax.places import places
from torchlint.syntax.text import NEWLINE
from torchlint.syntax.tree import Source, SourceError, walk

_LINES = re.compile(f"({NEWLINE.pattern})")
_INDENTATION = re.compile(r"[ \t\f]*")
_MOST_TIMES = 3
"""After so many parts, the rest of the file is parsed at once."""
_Record = TypeVar("_Record")


class Nodes:
    """
    The nodes of one file.

    Parameters
    ----------
    path
        As shown to the user.
    program
        The file's IR.
    whole
        The tree is to be that of the whole file, as soon as there is one.
    """

    def __init__(self, path: str, program: ir.Program, *, whole: bool = False) -> None:
        self._path = path
        self._program = program
        self._tree: ast.AST = program.at
        self._whole = whole or len(program.held) != len(program.body)
        self._source: Source | None = None
        self._failed = False
        self._times = 0
        self._nodes: dict[Key, cst.CSTNode] = {}
        self._parsed: set[int] = set()
        """The statements of the program whose nodes are found."""
        self._body: list[ast.stmt] = getattr(self._tree, "body", [])
        self._starts = [_start(statement) for statement in self._body]
        self._own: set[int] = set()
        self._lines: list[str] = []

    def source(self) -> Source | None:
        """The file with its tree, empty where nobody has asked for anything; None if libcst does not parse it."""
        if self._source is None:
            self._parse(set())
        return self._source

    def find(self, place: Place) -> cst.CSTNode | None:
        """The node at a place; None if it is of another file, or libcst takes the file for something else."""
        return self._found([place]).get(id(place))

    def text(self, place: Place) -> str | None:
        """What stands at a place; None if it is of another file. Parses nothing."""
        return text_at(place, self._lines) if self._holds(place) else None

    def with_nodes(self, records: Iterable[_Record]) -> tuple[_Record, ...]:
        """Events, with the nodes in the stead of their places; all are looked for at once."""
        asked: list[Place] = []

        def note(place: Place) -> Place:
            asked.append(place)
            return place

        records = list(records)
        for record in records:
            _replaced(record, note)
        found = self._found(asked)
        return tuple([_replaced(record, lambda place: found.get(id(place), place)) for record in records])

    def release(self) -> None:
        """
        Nobody asks any more: take the program apart. The values of a run refer to each other in circles, and to the
        functions they came from; so the program is gone now, and not when the garbage collector comes by.
        """
        for node in list(ir.everything(self._program.body)):
            if isinstance(node, (ir.FunctionDef, ir.ClassDef)):
                node.body.clear()
        self._program.body.clear()
        self._source, self._nodes = None, {}

    def _found(self, wanted: list[Place]) -> dict[int, cst.CSTNode]:
        """The nodes at those places that are of this file, by the identities of the places."""
        own = [place for place in wanted if self._holds(place)]
        numbers: set[int] = set()
        for place in own:
            at = line_of(place)
            numbers |= {bisect_right(self._starts, at) - 1} if at else set(range(len(self._starts)))
        if own and not numbers <= self._parsed:
            self._parse(numbers)
        found = {id(place): self._nodes.get(key(place, self._lines)) for place in own}
        return {place: node for place, node in found.items() if node is not None}

    def _holds(self, place: Place) -> bool:
        if not self._own:
            self._own = set(map(id, ast.walk(self._tree)))
            self._lines = NEWLINE.split(self._program.text)
        return id(place.at) in self._own

    def _parse(self, wanted: set[int]) -> None:
        """Parse some statements of the program, and those that hold nothing to leave out."""
        if self._failed:
            return
        held, everything = self._program.held, set(range(len(self._program.held)))
        self._times += 1
        if self._whole or self._times > _MOST_TIMES:
            wanted = everything
        else:
            # what stands on one line is one statement of the tree
            wanted = wanted | {number for number in everything if held[number] is None}
        new = wanted - self._parsed
        text = self._program.text
        if new != everything:
            text = _emptied(text, [lines for number, lines in enumerate(held) if lines and number not in new])
        try:
            module = Source.parse(self._path, text).module
        except SourceError:
            self._failed, self._source, self._nodes = True, None, {}
            return
        spans = places(module)
        at_lines = {_start(self._body[number]) for number in new}
        body = list(module.body if self._source is None else self._source.module.body)
        for number, statement in enumerate(module.body):
            if _first_line(statement, spans) in at_lines:
                body[number] = statement
                for node in walk(statement):
                    if has_key(type(node)):
                        for each in keys(node, spans):
                            self._nodes[each] = node
        if self._source is None:
            self._source = Source(self._path, self._program.text, module, spans)
        else:
            module = module.with_changes(body=body)
            self._source = Source(self._path, self._program.text, module)
        self._parsed |= new
        if self._parsed == everything:
            self._nodes[("module",)] = module


def node_at(source: Source, place: Place) -> cst.CSTNode | None:
    """The node at a place, in the tree of the whole file."""
    spans, wanted = places(source.module), key(place, source.lines)
    return next((node for node in walk(source.module) if wanted in keys(node, spans)), None)


def _start(statement: ast.stmt) -> int:
    """The first line of a statement, its decorators among it."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _first_line(statement: cst.CSTNode, spans: Spans) -> int:
    decorators = statement.decorators if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) else ()
    return min([spans[statement][0], *(spans[each.decorator][0] for each in decorators)])


def _emptied(text: str, parts: list[tuple[int, int]]) -> str:
    """A text with a docstring in the place of what stands from one line to another, as many lines long."""
    lines = _LINES.split(text)
    for first, last in parts:
        start, end = 2 * first - 2, 2 * last - 2
        indentation = _INDENTATION.match(lines[start])
        assert indentation is not None
        for index in range(start, end + 1, 2):
            lines[index] = ""
        lines[start] = indentation[0] + '"""'
        lines[end] += '"""'
    return "".join(lines)


def _replaced(part: Any, by: Callable[[Place], object]) -> Any:
    """An event, or a part of one, with something else in the stead of places."""
    if is_place(part):
        return by(part)
    if type(part) is tuple:
        parts = tuple([_replaced(each, by) for each in part])
        return parts if any(map(operator.is_not, parts, part)) else part
    changed: dict[str, object] = {}
    kind: type = type(part)
    for name in _fields_of(kind):
        before = getattr(part, name)
        after = _replaced(before, by)
        if after is not before:
            changed[name] = after
    return replace(part, **changed) if changed else part


@cache
def _fields_of(kind: type) -> tuple[str, ...]:
    """
    The fields of a record that says what happened; none of anything else. Those records are frozen, and the nodes of a
    tree are not looked through.
    """
    if not is_dataclass(kind) or issubclass(kind, cst.CSTNode) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return ()
    return tuple(item.name for item in fields(kind))
