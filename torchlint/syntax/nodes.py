"""
The libcst nodes of a file at the places of its IR: parsed when somebody wants one, of the file only what is wanted.

In the text that libcst is given, the functions and classes that nobody asks for, and the methods of a class of which
others are asked for, have a docstring of as many lines in the place of what they hold, so that everything else stands
where it stood. When more is wanted, the functions and classes in question take the place of their empty ones in the
tree; of a class, the methods that were parsed before stay what they are.

Knows the IR; runs nothing.
"""

from __future__ import annotations

import ast
import operator
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from torchlint.record import changed_in
from torchlint.syntax import cst, ir
from torchlint.syntax.children import children as parts_of
from torchlint.syntax.children import first_line
from torchlint.syntax.children import walk as all_of
from torchlint.syntax.place import (
    Key,
    NodeWantedError,
    Place,
    Spans,
    code_at,
    has_key,
    is_place,
    key,
    keys,
    line_of,
    span_of,
    text_at,
)
from torchlint.syntax.places import places
from torchlint.syntax.text import NEWLINE, Span, lines_of
from torchlint.syntax.tree import Source, SourceError, children, walk
from torchlint.truth import Truth

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
        self._partly: dict[int, set[int]] = {}
        """By the numbers of classes of which only some methods are parsed, where these begin."""
        self._methods: dict[int, dict[int, _Method]] = {}
        self._body: list[ast.stmt] = getattr(self._tree, "body", [])
        self._own: dict[int, set[int]] = {}
        """By the numbers of statements, what is in them; under -1 the whole file."""
        self._held: set[int] = set()
        """Of the nodes of the parser's tree, which lives as long, those found to be in it: some are asked for often."""
        self._split: list[str] | None = None

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

    def span(self, place: Place) -> Span:
        """
        Where the node at a place stands. Parses nothing.

        Raises
        ------
        NodeWantedError
            Only the tree tells, or the place is of another file, or no place.
        """
        if not is_place(place) or not self._holds(place):
            raise NodeWantedError
        line, column, end_line, end_column = span_of(place, self._lines)
        return Span(line, column + 1, end_line, end_column + 1)

    def code(self, place: Place) -> str:
        """How the node at a place is written. Parses nothing, and raises as `span`."""
        if not is_place(place) or not self._holds(place):
            raise NodeWantedError
        return code_at(place, self._lines)

    def with_nodes(self, records: Iterable[_Record]) -> tuple[_Record, ...]:
        """Events, with the nodes in the stead of their places; all are looked for at once."""
        records = list(records)
        asked: list[Place] = []
        seen: set[int] = set()
        for record in records:
            _note_places(record, asked, seen)
        found = self._found(asked, by_methods=True)
        done: dict[int, object] = {}
        return tuple([_replaced(record, found, done) for record in records])

    def release(self) -> None:
        """
        Nobody asks any more: take the program apart. The values of a run refer to each other in circles, and to the
        functions they came from; so the program is gone now, and not when the garbage collector comes by.
        """
        _take_apart(self._program)
        self._source, self._nodes = None, {}

    def _found(self, wanted: list[Place], *, by_methods: bool = False) -> dict[int, cst.CSTNode]:
        """
        The nodes at those places that are of this file, by the identities of the places. `by_methods`: of a class only
        the methods in question are parsed; who asks for one node after the other asks for more of it.
        """
        own = [place for place in wanted if self._holds(place)]
        numbers: set[int] = set()
        methods: dict[int, set[int]] = {}
        for place in own:
            line = line_of(place)
            number = bisect_right(self._starts, line) - 1
            method = self._method_at(number, line) if by_methods and line and number >= 0 else None
            if method is not None:
                methods.setdefault(number, set()).add(method)
            else:
                numbers |= {number} if line else set(range(len(self._starts)))
        methods = {
            number: starts
            for number, starts in methods.items()
            if number not in numbers | self._parsed and not starts <= self._partly.get(number, set())
        }
        if own and (methods or not numbers <= self._parsed):
            self._parse(numbers, methods)
        found = {id(place): self._nodes.get(key(place, self._lines)) for place in own}
        return {place: node for place, node in found.items() if node is not None}

    def _method_at(self, number: int, line: int) -> int | None:
        """Where the method begins that stands on a line of a class; None of any other line."""
        for start, method in self._methods_of(number).items():
            if start <= line <= method.last:
                return start
        return None

    def _methods_of(self, number: int) -> dict[int, _Method]:
        """The methods of a class that can be left out, by their first lines."""
        known = self._methods.get(number)
        if known is None:
            statement = self._body[number]
            body = statement.body if isinstance(statement, ast.ClassDef) and self._program.held[number] else []
            known = self._methods[number] = {}
            for each in body:
                if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    first = each.body[0]
                    before = self._lines[first.lineno - 1].encode()[: first.col_offset]
                    if not before.strip():
                        known[first_line(each)] = _Method(first_line(first), each.end_lineno or first.lineno)
        return known

    def _holds(self, place: Place) -> bool:
        """Whether a place is of this file: looked for in the statement on its line first."""
        at, line = place.at, line_of(place)
        if id(at) in self._held:
            return True
        number = bisect_right(self._starts, line) - 1
        while number >= 0 and line and (self._body[number].end_lineno or 0) >= line:
            statement = self._body[number]
            is_long = statement.lineno != statement.end_lineno
            if (is_long and _is_in(at, statement, line)) or id(at) in self._inside(number):
                self._held.add(id(at))
                return True
            number -= 1
        return id(at) in self._inside(-1)

    def _inside(self, number: int) -> set[int]:
        known = self._own.get(number)
        if known is None:
            top = self._tree if number < 0 else self._body[number]
            known = self._own[number] = set(map(id, all_of(top)))
        return known

    @cached_property
    def _starts(self) -> list[int]:
        """The first lines of the file's statements: of most files no node is asked for."""
        return [first_line(statement) for statement in self._body]

    @property
    def _lines(self) -> list[str]:
        if self._split is None:
            self._split = lines_of(self._program.text)
        return self._split

    def _parse(self, wanted: set[int], methods: Mapping[int, set[int]] = MappingProxyType({})) -> None:
        """
        Parse some statements of the program, some methods of others, and what holds nothing to leave out. More of a
        class that is partly parsed is all of it.
        """
        if self._failed:
            return
        held, everything = self._program.held, set(range(len(self._program.held)))
        self._times += 1
        if self._whole or self._times > _MOST_TIMES:
            wanted, methods = everything, {}
        else:
            # what stands on one line is one statement of the tree
            wanted = wanted | {number for number in everything if held[number] is None} | self._partly.keys() & methods
            methods = {number: starts for number, starts in methods.items() if number not in wanted}
        new = wanted - self._parsed
        left_out = [lines for number, lines in enumerate(held) if lines and number not in new and number not in methods]
        for number, starts in methods.items():
            left_out += [each for start, each in self._methods_of(number).items() if start not in starts]
        text = _emptied(self._program.text, left_out) if left_out else self._program.text
        try:
            module = Source.parse(self._path, text).module
        except SourceError:
            self._failed, self._source, self._nodes = True, None, {}
            return
        spans = places(module)
        at_lines = {first_line(self._body[number]): number for number in (*new, *methods)}
        body = list(module.body if self._source is None else self._source.module.body)
        for index, statement in enumerate(module.body):
            number = at_lines.get(_first_line(statement, spans), -1)
            if number >= 0:
                body[index] = self._noted(number, statement, body[index], methods.get(number), spans)
        if self._source is None:
            self._source = Source(self._path, self._program.text, module, spans)
        else:
            module = module.with_changes(body=body)
            self._source = Source(self._path, self._program.text, module)
        self._parsed |= new
        self._partly = {number: starts for number, starts in self._partly.items() if number not in new}
        self._partly.update(methods)
        if self._parsed == everything:
            self._nodes[("module",)] = module

    def _noted(
        self,
        number: int,
        statement: cst.SimpleStatementLine | cst.BaseCompoundStatement,
        known: cst.SimpleStatementLine | cst.BaseCompoundStatement,
        methods: set[int] | None,
        spans: Spans,
    ) -> cst.SimpleStatementLine | cst.BaseCompoundStatement:
        """
        Note the nodes of a statement, of a class those of some methods (None: of all); what takes its place in the
        tree, with the methods that are known already.
        """
        before = self._partly.get(number, set())
        left = before | (set() if methods is None else self._methods_of(number).keys() - methods)
        pending: list[cst.CSTNode] = [statement]
        block = statement.body if isinstance(statement, cst.ClassDef) else None
        while pending:
            node = pending.pop()
            if has_key(type(node)):
                for each in keys(node, spans):
                    self._nodes[each] = node
            pending += [
                child
                for child in children(node)
                if node is not block or not isinstance(child, cst.FunctionDef) or _first_line(child, spans) not in left
            ]
        if not before or not isinstance(statement, cst.ClassDef) or not isinstance(known, cst.ClassDef):
            return statement
        inside = zip(statement.body.body, known.body.body, strict=True)
        kept = [
            former if isinstance(each, cst.FunctionDef) and _first_line(each, spans) in before else each
            for each, former in inside
        ]
        made = statement.with_changes(body=statement.body.with_changes(body=kept))
        for each in keys(statement, spans):
            self._nodes[each] = made
        return made


def _take_apart(program: ir.Program) -> None:
    """A program, and Python's tree with it: a class that is still referred to holds neither."""
    for node in program.defined:
        node.body.clear()
        tree: Any = node.at.at if is_place(node.at) else node.at
        tree.body.clear()
    program.body.clear()
    program.defined = ()


def node_at(source: Source, place: Place) -> cst.CSTNode | None:
    """The node at a place, in the tree of the whole file."""
    spans, wanted = places(source.module), key(place, source.lines)
    return next((node for node in walk(source.module) if wanted in keys(node, spans)), None)


class _Method(NamedTuple):
    """The first and the last line of what a method holds."""

    first: int
    last: int


def _is_in(at: ast.AST, top: ast.AST, line: int) -> bool:
    """Whether a node that stands on a line is found there in a tree; in an f-string it may say another line."""
    pending = [top]
    while pending:
        node = pending.pop()
        if node is at:
            return True
        for part in parts_of(node):
            first = first_line(part) if isinstance(part, ast.stmt) else getattr(part, "lineno", line)
            if first <= line <= (getattr(part, "end_lineno", None) or line):
                pending.append(part)
    return False


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


def _note_places(part: Any, asked: list[Place], seen: set[int]) -> None:
    """The places in an event, or in a part of one; `seen`: the records that were looked through."""
    if type(part) is tuple:
        for each in part:
            if type(each) not in _PLAIN:
                _note_places(each, asked, seen)
    elif is_place(part):
        asked.append(part)
    elif id(part) not in seen:
        kind: type = type(part)
        names = _fields_of(kind)
        if names:
            seen.add(id(part))
        for name in names:
            each = getattr(part, name)
            if type(each) not in _PLAIN:  # most of what is told, and a call costs more than asking
                _note_places(each, asked, seen)


def _replaced(part: Any, found: Mapping[int, cst.CSTNode], done: dict[int, object]) -> Any:
    """
    An event, or a part of one, with nodes in the stead of places, by their identities. `done`: what became of the
    records before, by theirs, for many events have steps and facts in common; they must live as long as it does.
    """
    if type(part) is tuple:
        parts = tuple([_replaced(each, found, done) for each in part])
        return parts if any(map(operator.is_not, parts, part)) else part
    if is_place(part):
        return found.get(id(part), part)
    kind: type = type(part)
    names = _fields_of(kind)
    if not names:
        return part
    known = done.get(id(part))
    if known is not None:
        return known
    changed: dict[str, object] = {}
    for name in names:
        before = getattr(part, name)
        if type(before) in _PLAIN:
            continue
        after = _replaced(before, found, done)
        if after is not before:
            changed[name] = after
    made = done[id(part)] = changed_in(part, changed) if changed else part
    return made


_PLAIN: Final = frozenset({bool, float, int, str, type(None), Truth})
"""What is no place and holds none."""


@cache
def _fields_of(kind: type) -> tuple[str, ...]:
    """
    The fields of a record that says what happened; none of anything else. Those records are frozen, and the nodes of a
    tree are not looked through.
    """
    if not is_dataclass(kind) or issubclass(kind, cst.CSTNode) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return ()
    return tuple(item.name for item in fields(kind))
