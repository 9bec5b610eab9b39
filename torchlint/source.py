"""
A file as the linter sees it: text, libcst tree, positions.

Ground floor: imports nothing of torchlint, judges nothing. Positions are computed only when somebody asks
(libcst's position provider costs twice what parsing does).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range in a file: lines and columns count from 1, columns in characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class SourceError(Exception):
    """
    The file cannot be read as Python: says what is wrong and where.

    Attributes
    ----------
    message
        One line, lower case.
    line, column
        Counted from 1.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class Source:
    """
    One parsed Python file.

    Parameters
    ----------
    path
        As shown to the user.
    text
        The whole text.
    module
        Its libcst tree.
    """

    def __init__(self, path: str, text: str, module: cst.Module) -> None:
        self.path = path
        self.text = text
        self.module = module
        self._positions: Mapping[cst.CSTNode, CodeRange] | None = None

    @classmethod
    def parse(cls, path: str, text: str) -> Source:
        """
        Parse a text.

        Raises
        ------
        SourceError
            with line and column, if it is not valid Python.
        """
        try:
            module = cst.parse_module(text)
        except cst.ParserSyntaxError as error:
            raise SourceError(_first_line(error.message), error.raw_line, error.raw_column + 1) from error
        except RecursionError as error:
            raise SourceError("nested too deeply to be parsed") from error
        return cls(path, text, module)

    def span(self, node: cst.CSTNode) -> Span:
        """
        Where a node of this file's tree stands, without surrounding white space and comments.

        Raises
        ------
        KeyError
            if the node is not of this tree.
        """
        if self._positions is None:
            wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
            self._positions = wrapper.resolve(PositionProvider)
        found = self._positions[node]
        return Span(found.start.line, found.start.column + 1, found.end.line, found.end.column + 1)

    def code(self, node: cst.CSTNode) -> str:
        """The source text of a node as it stands in the file."""
        return self.module.code_for_node(node)


def _first_line(message: str) -> str:
    line = message.strip().partition("\n")[0].rstrip(".")
    return line[:1].lower() + line[1:]
