"""
Where the nodes of a libcst tree stand.

Ground floor: imports nothing of torchlint. The same places as libcst's `PositionProvider`, in a quarter of the time:
that, too, has the tree write its program once more and notes line and column before and after each node; here, neither
what is written is kept nor an object per place, and no generator is made per node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from torchlint.syntax import cst

Place: TypeAlias = "tuple[int, int, int, int]"
"""Line, column, end line, end column; lines count from 1, columns from 0, the end is exclusive."""

_NEWLINE = re.compile(r"\r\n?|\n")


def places(module: cst.Module) -> Mapping[cst.CSTNode, Place]:
    """The place of every node of a tree, without white space around it that means nothing."""
    writing: Any = _Writing(module)
    try:
        module._codegen(writing)
    except (AttributeError, TypeError):  # how trees write programs is libcst's own business, and may change
        return _provided(module)
    return writing.found  # type: ignore[no-any-return]


def _provided(module: cst.Module) -> dict[cst.CSTNode, Place]:
    from libcst.metadata import MetadataWrapper, PositionProvider

    found = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return {
        node: (place.start.line, place.start.column, place.end.line, place.end.column) for node, place in found.items()
    }


class _Writing:
    """What libcst's nodes write themselves to, as its `CodegenState`."""

    def __init__(self, module: cst.Module) -> None:
        self.default_indent = module.default_indent
        self.default_newline = module.default_newline
        self.indent_tokens: list[str] = []
        # a module looks whether anything has been written at its end
        self.tokens = [""] if module.header or module.body or module.footer else []
        self.found: dict[cst.CSTNode, Place] = {}
        self.line = 1
        self.column = 0
        self._indent = 0
        self._begun: list[tuple[int, int]] = []

    def increase_indent(self, value: str) -> None:
        self.indent_tokens.append(value)
        self._indent += len(value)

    def decrease_indent(self) -> None:
        self._indent -= len(self.indent_tokens.pop())

    def add_indent_tokens(self) -> None:
        self.column += self._indent

    def add_token(self, value: str) -> None:
        if "\n" in value or "\r" in value:
            lines = _NEWLINE.split(value)
            self.line += len(lines) - 1
            self.column = len(lines[-1])
        else:
            self.column += len(value)

    def pop_trailing_newline(self) -> None:
        """Nothing is kept; libcst's provider, too, leaves the place as it is."""

    def before_codegen(self, node: cst.CSTNode) -> None:
        self._begun.append((self.line, self.column))

    def after_codegen(self, node: cst.CSTNode) -> None:
        begin = self._begun.pop()
        if node not in self.found:  # else the node has said what of it counts
            self.found[node] = (*begin, self.line, self.column)

    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Noting:
        return _Noting(self, node, start_node, end_node)


class _Noting:
    """Notes the place of what is written inside a `with`."""

    __slots__ = ("_begin", "_end_node", "_node", "_start_node", "_writing")

    def __init__(
        self, writing: _Writing, node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self._writing = writing
        self._node = node
        self._start_node = start_node
        self._end_node = end_node

    def __enter__(self) -> None:
        self._begin = (self._writing.line, self._writing.column)

    def __exit__(self, *error: object) -> None:
        found = self._writing.found
        begin = self._begin if self._start_node is None else found[self._start_node][:2]
        end = (self._writing.line, self._writing.column) if self._end_node is None else found[self._end_node][2:]
        found[self._node] = (*begin, *end)
