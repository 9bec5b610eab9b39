"""
A file as the linter sees it: bytes, text, libcst tree, positions.

Ground floor: imports nothing of torchlint but `text` and `places`, judges nothing. Positions and parents are computed
only when somebody asks.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from functools import cached_property
from typing import TypeAlias, TypeVar

from torchlint.syntax import cst
from torchlint.syntax.place import NodeWantedError, Place, is_place
from torchlint.syntax.places import places
from torchlint.syntax.text import NEWLINE as NEWLINE
from torchlint.syntax.text import Decoded as Decoded
from torchlint.syntax.text import SourceError as SourceError
from torchlint.syntax.text import Span as Span
from torchlint.syntax.text import decode as decode
from torchlint.syntax.text import lines_of


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
    spans
        The places of its nodes, if they are known.
    """

    def __init__(
        self,
        path: str,
        text: str,
        module: cst.Module,
        spans: Mapping[cst.CSTNode, tuple[int, int, int, int]] | None = None,
    ) -> None:
        self.path = path
        self.text = text
        self.module = module
        self._known = spans

    @classmethod
    def parse(cls, path: str, text: str) -> Source:
        """
        Parse a text.

        Raises
        ------
        SourceError
            with line and column, if it is not valid Python, or nested too deeply.
        """
        _refuse_depth(text)
        try:
            module = cst.parse_module(text)
        except cst.ParserSyntaxError as error:
            raise _syntax_error(text, error) from error
        except RecursionError as error:
            raise SourceError(_TOO_DEEP) from error
        return cls(path, text, module)

    @cached_property
    def _places(self) -> Mapping[cst.CSTNode, tuple[int, int, int, int]]:
        return places(self.module) if self._known is None else self._known

    @cached_property
    def parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        """The parent of every node of the tree but the module."""
        return {child: node for node in walk(self.module) for child in children(node)}

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text without their newlines; line n is `lines[n - 1]`."""
        return lines_of(self.text)

    def span(self, node: cst.CSTNode) -> Span:
        """
        Where a node of this file's tree stands, without surrounding white space and comments.

        Raises
        ------
        KeyError
            if the node is not of this tree.
        """
        line, column, end_line, end_column = self._places[node]
        return Span(line, column + 1, end_line, end_column + 1)

    def code(self, node: cst.CSTNode) -> str:
        """The source text of a node as it stands in the file."""
        return self.module.code_for_node(node)


_Find: TypeAlias = "Callable[[Place], cst.CSTNode | None]"
_Read: TypeAlias = "Callable[[Place], str | None]"
_finders: ContextVar[tuple[_Find, _Read] | None] = ContextVar("finders", default=None)


@contextmanager
def finding_nodes(find: _Find, read: _Read) -> Iterator[None]:
    """While it is open, `parsed` asks the one function, and `written` the other."""
    token = _finders.set((find, read))
    try:
        yield
    finally:
        _finders.reset(token)


def written(place: cst.CSTNode) -> str:
    """
    What the program writes at a place (see `text_at`). Nothing is parsed for it.

    Raises
    ------
    LookupError
        if nobody can tell.
    """
    finders = _finders.get()
    text = finders[1](place) if finders is not None and is_place(place) else None  # type: ignore[arg-type]
    if text is None:
        raise LookupError("no file has that place")
    return text


def statements_at(place: cst.CSTNode) -> list[ast.stmt]:
    """
    The statements of a line, or the compound statement, at a place, as Python's tree has them. libcst parses nothing.

    Raises
    ------
    LookupError
        if nobody can tell.
    """
    found = python_node(place)
    if isinstance(place, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
        return ast.parse(written(place)).body
    assert isinstance(found, ast.stmt)
    return [found]


def python_node(place: cst.CSTNode) -> ast.AST:
    """The node of Python's tree at a place; of a line its first statement."""
    assert is_place(place)
    return place.at  # type: ignore[attr-defined,no-any-return]


Node = TypeVar("Node", bound="cst.CSTNode")


def parsed(node: Node) -> Node:
    """
    The node that one stands for, to look into; of one that is parsed, the node itself.

    Raises
    ------
    LookupError
        if nobody can tell.
    """
    if not is_place(node):
        return node
    finders = _finders.get()
    found = finders[0](node) if finders is not None else None  # type: ignore[arg-type]
    if found is None:
        raise LookupError("the tree has no node at that place")
    return found  # type: ignore[return-value]


_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """
    The nodes right below a node, white space and comments included, in the order of its fields.

    `CSTNode.children` has them in the order of the text, and takes thirty times as long.
    """
    kind = type(node)
    names = _FIELDS.get(kind)
    if names is None:
        if is_place(node):
            raise NodeWantedError
        names = _FIELDS[kind] = tuple(item.name for item in fields(kind))
    found: list[cst.CSTNode] = []
    for name in names:
        value = getattr(node, name)
        if isinstance(value, (list, tuple)):
            found += [item for item in value if _is_node(item)]
        elif _is_node(value):
            found.append(value)
    return found


def _is_node(value: object) -> bool:
    """As `isinstance` says, which goes through more of abstract classes than is wanted for each part of each node."""
    kind = type(value)
    known = _NODES.get(kind)
    if known is None:
        known = _NODES[kind] = isinstance(value, cst.CSTNode)
    return known


_NODES: dict[type, bool] = {}


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and everything below it, parents first, siblings in the order of `children`."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += reversed(children(current))


def python_tree(text: str) -> ast.Module:
    """
    What Python's own parser makes of a text. Its warnings (an invalid escape, a comparison `is 1`) concern the file.

    Raises
    ------
    SyntaxError, ValueError, RecursionError, MemoryError
        as `ast.parse`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


MOST_NESTED = 1_800
"""
Expressions inside each other, or `elif` after each other, that are looked into. libcst takes the square of it in time,
and goes down a stack that ends the process.
"""


def _refuse_depth(text: str) -> None:
    try:
        tree = python_tree(text)
    except (MemoryError, RecursionError) as error:
        raise SourceError(_TOO_DEEP) from error
    except SyntaxError as error:
        if not error.msg.startswith("too many nested"):
            return  # libcst says what it makes of it
        raise SourceError(_sentence(error.msg), max(error.lineno or 1, 1), max(error.offset or 1, 1)) from error
    except ValueError:
        return
    lines = text.splitlines()
    statements: list[ast.AST] = [*tree.body]
    for _ in range(MOST_NESTED):
        if not statements:
            return
        inner: list[ast.AST] = []
        for statement in statements:
            for part in ast.iter_child_nodes(statement):
                if isinstance(part, (ast.stmt, ast.excepthandler, ast.match_case)):
                    inner.append(part)
                elif _is_long(part, lines) and _is_deep(part):
                    raise SourceError(_TOO_DEEP, getattr(statement, "lineno", 1))
        statements = inner
    if statements:
        raise SourceError(_TOO_DEEP, getattr(statements[0], "lineno", 1))


def _is_long(node: ast.AST, lines: list[str]) -> bool:
    """Whether a node has the characters that it takes to be deep."""
    if not isinstance(node, (ast.expr, ast.keyword)):
        return True
    first, last = node.lineno, node.end_lineno or node.lineno
    if first == last:
        return (node.end_col_offset or 0) - node.col_offset > MOST_NESTED
    return sum(map(len, lines[first - 1 : last])) > MOST_NESTED


def _is_deep(node: ast.AST) -> bool:
    level = [node]
    for _ in range(MOST_NESTED):
        if not level:
            return False
        if any(isinstance(each, ast.BoolOp) and len(each.values) > MOST_NESTED for each in level):
            return True  # libcst nests `a and b and c` to the left
        level = [part for each in level for part in ast.iter_child_nodes(each)]
    return bool(level)


def described(error: BaseException) -> str:
    """An exception in one line, with the place that raised it: what a report of the bug needs."""
    text = textwrap.shorten(str(error), 300, placeholder=" …")
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{what} ({os.path.basename(place.filename)}, line {place.lineno})"


def is_python(text: str) -> bool:
    """
    Whether Python's own parser takes a text, or cannot tell because it is nested too deeply.

    Asks for the names in it and not for a tree, which would take half as long again to be made into objects.
    """
    import symtable

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            symtable.symtable(text, "<text>", "exec")
        except (SyntaxError, ValueError):
            return False
        except (RecursionError, MemoryError):
            return True
    return True


_TOO_DEEP = "nested too deeply to be parsed"
_NATIVE_PLACE = re.compile(r"error at (\d+):(\d+)")


def refusal(text: str, error: BaseException) -> SourceError:
    """
    Why Python's own parser does not take a text, in its words: they say far more than the list of tokens that libcst
    expects. What libcst takes is the syntax of a newer Python.

    Parameters
    ----------
    text
        The text.
    error
        What `ast.parse`, or who went through its tree, raised.
    """
    null = text.find("\0")
    if null >= 0:
        before = NEWLINE.split(text[:null])
        return SourceError("source code cannot contain null bytes", len(before), len(before[-1]) + 1)
    if not isinstance(error, SyntaxError):
        return SourceError(_TOO_DEEP)
    place = max(error.lineno or 1, 1), max(error.offset or 1, 1)
    if error.msg.startswith("too many nested"):
        return SourceError(_sentence(error.msg), *place)
    try:
        cst.parse_module(text)
    except Exception:  # neither takes it
        return SourceError(_sentence(error.msg), *place)
    ours = ".".join(map(str, sys.version_info[:2]))
    return SourceError(f"needs a newer Python than the {ours} that torchlint runs on: {_sentence(error.msg)}", *place)


def _syntax_error(text: str, error: cst.ParserSyntaxError) -> SourceError:
    try:
        python_tree(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as refused:
        return refusal(text, refused)
    place = _NATIVE_PLACE.search(error.message)
    line, column = (int(place[1]), int(place[2])) if place else (error.raw_line, error.raw_column)
    return SourceError(f"libcst cannot parse this: {_sentence(error.message)}", max(line, 1), column + 1)


def _sentence(message: str) -> str:
    line = message.strip().partition("\n")[0].rstrip(".")
    return line[:1].lower() + line[1:]
