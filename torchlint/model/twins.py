"""
The CST nodes of a program that was lowered without them: found when somebody wants to look into one.

libcst's tree is made at that moment, lowered, and laid beside the program that runs: both lowerings make the same IR,
node by node, so that what stands at the same place is the same node (held by the tests of `lower_ast`). The run goes
on; nothing is interpreted twice.

Knows the IR and the lowering; runs nothing.
"""

from __future__ import annotations

import operator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import libcst as cst

from torchlint.model import ir
from torchlint.model.events import Event
from torchlint.model.lower import LoweringError, lower
from torchlint.source import Source, SourceError, Unparsed


class Twins:
    """
    The nodes of one file.

    Parameters
    ----------
    path
        As shown to the user.
    program
        What `lower_ast` has made of the file.
    """

    def __init__(self, path: str, program: ir.Program) -> None:
        self._path = path
        self._program = program
        self._nodes: dict[int, cst.CSTNode] | None = None
        self._source: Source | None = None

    def tree(self) -> Source | None:
        """The file with its tree; None if libcst does not parse it as Python's parser does."""
        if self._nodes is None:
            self._nodes = self._found()
        return self._source

    def find(self, node: Unparsed) -> cst.CSTNode | None:
        """The node that one stands for; None if it is of another file, or libcst takes the file for something else."""
        self.tree()
        assert self._nodes is not None
        return self._nodes.get(id(node))

    def with_nodes(self, event: Event) -> Event:
        """An event with the nodes of the tree in the place of what stands for them."""
        found: Event = self._with_nodes(event)
        return found

    def _with_nodes(self, part: Any) -> Any:
        if issubclass(type(part), Unparsed):
            return self.find(part) or part
        if type(part) is tuple:
            parts = tuple([self._with_nodes(each) for each in part])
            return parts if any(map(operator.is_not, parts, part)) else part
        if not is_dataclass(part) or not _is_fact(type(part)):
            return part
        before = {item.name: getattr(part, item.name) for item in fields(part)}
        after = {name: self._with_nodes(value) for name, value in before.items()}
        changed = {name: value for name, value in after.items() if value is not before[name]}
        return replace(part, **changed) if changed else part  # type: ignore[type-var]

    def _found(self) -> dict[int, cst.CSTNode]:
        try:
            source = Source.parse(self._path, self._program.text)
            parsed = lower(source.module, source.text)
        except (SourceError, LoweringError):
            return {}
        nodes: dict[int, cst.CSTNode] = {}
        ours, theirs = list(ir.walk(self._program)), list(ir.walk(parsed))
        if list(map(type, ours)) != list(map(type, theirs)):
            return {}
        for mine, twin in zip(ours, theirs, strict=True):
            nodes[id(mine.origin)] = twin.origin
            if isinstance(mine, ir.Statement) and isinstance(twin, ir.Statement):
                nodes[id(mine.line)] = twin.line
        self._source = source
        return nodes


def _is_fact(kind: type) -> bool:
    """Whether a record says what happened: those are frozen, and the nodes of a tree are not looked through."""
    return kind.__dataclass_params__.frozen and not issubclass(kind, cst.CSTNode)  # type: ignore[attr-defined]
