"""
The CST nodes of a program that was lowered without them: found when somebody wants to look into one.

libcst's tree is made at that moment, lowered, and laid beside the program that runs: both lowerings make the same IR,
node by node, so that what stands at the same place is the same node (held by the tests of `lower_ast`). The run goes
on; nothing is interpreted twice.

Of a file only the functions and classes are parsed that somebody asks for: in the text that libcst is given the others
have a docstring of as many lines in the place of what they hold, so that everything else stands where it stood. When
more is wanted, the functions and classes in question take the place of their empty ones in the tree.

Knows the IR and the lowering; runs nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import libcst as cst

from torchlint.model.events import Event
from torchlint.syntax import ir
from torchlint.syntax.lowering_libcst import LoweringError, lower
from torchlint.syntax.text import NEWLINE
from torchlint.syntax.tree import Source, SourceError, Unparsed

_LINES = re.compile(f"({NEWLINE.pattern})")
_INDENTATION = re.compile(r"[ \t\f]*")
_MOST_TIMES = 3
"""After so many parts, the rest of the file is parsed at once."""


class Twins:
    """
    The nodes of one file.

    Parameters
    ----------
    path
        As shown to the user.
    program
        What `lower_ast` has made of the file.
    whole
        The tree is to be that of the whole file, as soon as there is one.
    """

    def __init__(self, path: str, program: ir.Program, *, whole: bool = False) -> None:
        self._path = path
        self._program = program
        self._whole = whole or len(program.held) != len(program.body)
        self._source: Source | None = None
        self._failed = False
        self._times = 0
        self._nodes: dict[int, cst.CSTNode] = {}
        self._parsed: set[int] = set()
        """The statements of the program whose nodes are found."""
        self._number: dict[int, int] = {}
        """Which statement of the program a node belongs to."""

    def tree(self) -> Source | None:
        """
        The file with its tree, empty where nobody has asked for anything; None if libcst does not parse it as Python's
        parser does.
        """
        if self._source is None:
            self._parse(set())
        return self._source

    def find(self, node: Unparsed) -> cst.CSTNode | None:
        """The node that one stands for; None if it is of another file, or libcst takes the file for something else."""
        if id(node) not in self._nodes:
            self._ask([node])
        return self._nodes.get(id(node))

    def with_nodes(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Events with the nodes of the tree in the place of what stands for them; all are looked for at once."""
        asked: list[Unparsed] = []

        def note(node: Unparsed) -> Unparsed:
            asked.append(node)
            return node

        for event in events:
            _replaced(event, note)
        self._ask(asked)
        return tuple([_replaced(event, lambda node: self._nodes.get(id(node), node)) for event in events])

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

    def _ask(self, nodes: list[Unparsed]) -> None:
        if not self._number:
            for number, statement in enumerate(self._program.body):
                for node in ir.walk(statement):
                    self._number[id(node.origin)] = number
                    if isinstance(node, ir.Statement):
                        self._number[id(node.line)] = number
        wanted = {self._number[id(node)] for node in nodes if id(node) in self._number}
        if id(self._program.origin) in map(id, nodes):
            wanted = set(range(len(self._program.body)))
        if not wanted <= self._parsed:
            self._parse(wanted)

    def _parse(self, wanted: set[int]) -> None:
        """Parse some statements of the program, and those that hold nothing to leave out."""
        if self._failed:
            return
        held, everything = self._program.held, set(range(len(self._program.body)))
        self._times += 1
        if self._whole or self._times > _MOST_TIMES:
            wanted = everything
        else:
            wanted = wanted | {number for number in everything if held[number] is None}
        new = wanted - self._parsed
        text = self._program.text
        if new != everything:
            text = _emptied(text, [lines for number, lines in enumerate(held) if lines and number not in new])
        found = self._found(text, new)
        if found is None:
            self._failed, self._source, self._nodes = True, None, {}
            return
        parsed, module = found
        if self._source is not None:
            into = list(self._source.module.body)
            places = {id(statement): number for number, statement in enumerate(module.body)}
            for number in new:
                place = places[id(parsed.body[number].line)]
                into[place] = module.body[place]
            module = self._source.module.with_changes(body=into)
        self._source = Source(self._path, self._program.text, module)
        self._parsed |= new
        if self._parsed == everything:
            self._nodes[id(self._program.origin)] = module

    def _found(self, text: str, numbers: set[int]) -> tuple[ir.Program, cst.Module] | None:
        """Note the nodes of some statements of a text; None if it is not the same program there."""
        try:
            source = Source.parse(self._path, text)
            parsed = lower(source.module, source.text)
        except (SourceError, LoweringError):
            return None
        if len(parsed.body) != len(self._program.body):
            return None
        nodes: dict[int, cst.CSTNode] = {}
        for number in numbers:
            ours, theirs = list(ir.walk(self._program.body[number])), list(ir.walk(parsed.body[number]))
            if list(map(type, ours)) != list(map(type, theirs)):
                return None
            for mine, twin in zip(ours, theirs, strict=True):
                nodes[id(mine.origin)] = twin.origin
                if isinstance(mine, ir.Statement) and isinstance(twin, ir.Statement):
                    nodes[id(mine.line)] = twin.line
        self._nodes.update(nodes)
        return parsed, source.module


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


def _replaced(part: Any, by: Callable[[Unparsed], object]) -> Any:
    """An event, or a part of one, with something else in the place of what stands for nodes."""
    if issubclass(type(part), Unparsed):
        return by(part)
    if type(part) is tuple:
        parts = tuple([_replaced(each, by) for each in part])
        return parts if any(map(operator.is_not, parts, part)) else part
    if not is_dataclass(part) or not _is_fact(type(part)):
        return part
    before = {item.name: getattr(part, item.name) for item in fields(part)}
    after = {name: _replaced(value, by) for name, value in before.items()}
    changed = {name: value for name, value in after.items() if value is not before[name]}
    return replace(part, **changed) if changed else part  # type: ignore[type-var]


def _is_fact(kind: type) -> bool:
    """Whether a record says what happened: those are frozen, and the nodes of a tree are not looked through."""
    return kind.__dataclass_params__.frozen and not issubclass(kind, cst.CSTNode)  # type: ignore[attr-defined]
