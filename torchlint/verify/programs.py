"""
Which program shows a finding: the file as a script, a Module of it, or the file with one thing changed.

Reads the text with Python's `ast` (the child compiles with it, so both mean the same places) and writes changed texts
in which every other statement keeps its line. Runs nothing and knows nothing of torch.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchlint.rule import Finding, TextEdit
from torchlint.syntax.tree import Source


@dataclass(frozen=True, slots=True)
class Statement:
    """
    A statement of the program.

    Attributes
    ----------
    node
        Its syntax tree.
    line, column
        Where it starts, as `ast` counts.
    end_line
        Last line; of a compound statement, the last of its header.
    classes, functions
        Names of the enclosing classes and functions, outermost first.
    in_loop
        Whether a loop of the same function encloses it.
    block
        Identity of the list of statements it stands in.
    """

    node: ast.stmt
    line: int
    column: int
    end_line: int
    classes: tuple[str, ...]
    functions: tuple[str, ...]
    in_loop: bool
    block: int

    def covers(self, line: int) -> bool:
        """Whether the line is one of the statement's own."""
        return self.line <= line <= self.end_line


class Program:
    """
    A file as a program.

    Raises
    ------
    SyntaxError
        if Python cannot compile the text (libcst accepts some that it does not).
    """

    def __init__(self, text: str, path: str = "<program>") -> None:
        self.text = text
        self.path = os.path.abspath(path) if os.path.exists(path) else path
        self.tree = ast.parse(text)
        self.lines = text.splitlines(keepends=True)
        self.statements = list(_statements(self.tree.body, (), (), in_loop=False))

    @classmethod
    def of(cls, source: Source) -> Program:
        """The program of a parsed file."""
        return cls(source.text, source.path)

    def statement_at(self, line: int, column: int = 1) -> Statement | None:
        """
        The innermost statement that holds a place (both counted from 1, columns in characters).
        """
        found = [s for s in self.statements if s.line <= line <= (s.node.end_lineno or s.line)]
        if not found:
            return None
        inner = max(found, key=lambda s: (s.line, s.column))
        if column > 1:
            offset = len(self.lines[line - 1][: column - 1].encode())
            at = [s for s in found if (s.line, s.column) <= (line, offset)]
            if at:
                return max(at, key=lambda s: (s.line, s.column))
        return inner

    def within(self, first: int, last: int) -> list[Statement]:
        """The simple statements that start on these lines."""
        return [s for s in self.statements if first <= s.line <= last and not hasattr(s.node, "body")]

    def replaced(self, changes: Sequence[tuple[Statement, str]]) -> str:
        """The text with simple statements replaced by others; every other statement keeps its line."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line.encode()))
        text = self.text.encode() + (b"" if self.text.endswith("\n") else b"\n")
        for statement, new in sorted(changes, key=lambda c: (c[0].line, c[0].column), reverse=True):
            node = statement.node
            end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[end_line - 1] + end_column
            padding = b"\\\n" * (end_line - node.lineno)
            text = text[:start] + new.encode() + padding + text[end:]
        return text.decode()

    def edited(self, edits: Sequence[TextEdit]) -> str:
        """The text after the edits of a fix."""
        text = self.text
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line))
        starts.append(starts[-1])
        for edit in sorted(edits, key=lambda e: e.span, reverse=True):
            start = starts[edit.span.line - 1] + edit.span.column - 1
            end = starts[edit.span.end_line - 1] + edit.span.end_column - 1
            text = text[:start] + edit.replacement + text[end:]
        return text


def _statements(
    body: Sequence[ast.stmt], classes: tuple[str, ...], functions: tuple[str, ...], *, in_loop: bool
) -> Iterator[Statement]:
    for node in body:
        nested = list(_blocks(node))
        end = node.end_lineno or node.lineno
        if nested and nested[0]:
            end = max(node.lineno, nested[0][0].lineno - 1)
        yield Statement(node, node.lineno, node.col_offset, end, classes, functions, in_loop, id(body))
        inner_classes, inner_functions, inner_loop = classes, functions, in_loop
        if isinstance(node, ast.ClassDef):
            inner_classes, inner_loop = (*classes, node.name), False
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner_functions, inner_loop = (*functions, node.name), False
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            inner_loop = True
        for block in nested:
            yield from _statements(block, inner_classes, inner_functions, in_loop=inner_loop)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                yield value
            else:
                for item in value:
                    if isinstance(item, (ast.ExceptHandler, ast.match_case)):
                        yield from _blocks(item)


def places(finding: Finding, program: Program) -> tuple[Statement, ...]:
    """The finding's own statement, then those of its trace in this file, each once."""
    found: list[Statement] = []
    spots = [(finding.span.line, finding.span.column)]
    spots += [(step.line, step.column) for step in finding.trace if step.path == finding.path]
    for line, column in spots:
        statement = program.statement_at(line, column)
        if statement is not None and statement not in found:
            found.append(statement)
    return tuple(found)


def mentioned(program: Program, own: Statement) -> bool:
    """
    Whether the text names the function that a statement is in, or its class, outside that function: then something
    in the file may call it.
    """
    wanted = {*own.functions[-1:], *own.classes[:1]}
    return any(
        isinstance(node, ast.Name | ast.Attribute) and (node.id if isinstance(node, ast.Name) else node.attr) in wanted
        for statement in program.statements
        if statement.functions[: len(own.functions)] != own.functions or statement.classes != own.classes
        for node in _headed(statement.node)
    )


def _headed(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are in no statement of its own blocks."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from ast.walk(child)


def without_argument(program: Program, statement: Statement, name: str, position: int) -> str | None:
    """
    The text with an argument left out of every `backward` / `grad` call of a statement.

    Parameters
    ----------
    name, position
        The keyword, or its place among positional arguments.
    """
    tree = ast.parse(ast.unparse(statement.node)).body[0]
    changed = False
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and _callee(call) in ("backward", "grad")):
            continue
        kept = [k for k in call.keywords if k.arg != name]
        if len(kept) < len(call.keywords):
            call.keywords, changed = kept, True
        elif _callee(call) == "backward" and len(call.args) > position:
            call.args[position], changed = ast.Constant(value=False), True
    return program.replaced([(statement, ast.unparse(tree))]) if changed else None


def with_argument(program: Program, statement: Statement, name: str) -> str | None:
    """The text with an argument set to True in every `backward` / `grad` call of a statement that does not name it."""
    tree = ast.parse(ast.unparse(statement.node)).body[0]
    changed = False
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _callee(call) in ("backward", "grad"):
            call.keywords = [k for k in call.keywords if k.arg != name]
            call.keywords.append(ast.keyword(name, ast.Constant(value=True)))
            changed = True
    return program.replaced([(statement, ast.unparse(tree))]) if changed else None


def with_value_named(program: Program, line: int, column: int, name: str) -> str | None:
    """The text in which what a statement gives back, yields or drops has a name first; None where it does none."""
    statement = program.statement_at(line, column)
    if statement is None:
        return None
    tree = ast.parse("def _():\n " + ast.unparse(statement.node)).body[0].body[0]  # type: ignore[attr-defined]
    holder = tree.value if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Yield) else tree
    if not isinstance(holder, (ast.Return, ast.Expr, ast.Yield)) or holder.value is None:
        return None
    value, holder.value = holder.value, ast.Name(name, ast.Load())
    return program.replaced([(statement, f"{name} = {ast.unparse(value)}; {ast.unparse(tree)}")])


def summed(program: Program, first: Statement, second: Statement) -> str | None:
    """
    The text with two statements `a.backward(...)`, `b.backward(...)` of one block made one `(a + b).backward()`.
    """
    roots = [_root(s.node) for s in (first, second)]
    if first.block != second.block or (first.line, first.column) >= (second.line, second.column) or None in roots:
        return None
    return program.replaced([(first, "pass"), (second, f"(({roots[0]}) + ({roots[1]})).backward()")])


def _callee(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _root(node: ast.stmt) -> str | None:
    match node:
        case ast.Expr(ast.Call(ast.Attribute(value, "backward"), [], keywords)) if all(
            k.arg == "retain_graph" for k in keywords
        ):
            return ast.unparse(value)
    return None


def quoted_names(finding: Finding) -> list[str]:
    """Names and attribute chains that the finding and its trace put in backquotes, in order, each once."""
    text = "\n".join([finding.message, *(step.message for step in finding.trace)])
    return [name for name in dict.fromkeys(re.findall(r"`([^`]+)`", text)) if is_place(name)]


def is_pure(text: str) -> bool:
    """Whether the text is made of names, attributes, constants, comparisons and logic: its evaluation does nothing."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return not any(isinstance(node, _ACTING) for node in ast.walk(tree))


_ACTING = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.BinOp, ast.Lambda, ast.comprehension)


def branches_inside(node: ast.stmt) -> bool:
    """Whether which part of a statement runs is decided inside it: that it ran does not say what of it."""
    header = [getattr(node, name) for name in ("test", "iter", "items") if hasattr(node, name)]
    parts = header if hasattr(node, "body") else [node]
    flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    return any(isinstance(inner, (ast.IfExp, ast.BoolOp)) for part in flat for inner in ast.walk(part))


def is_place(text: str) -> bool:
    """Whether the text is a name, attribute chain or constant subscript: something whose evaluation does nothing."""
    try:
        node: ast.expr = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return False
    while True:
        match node:
            case ast.Name():
                return True
            case ast.Attribute(value, _) | ast.Subscript(value, ast.Constant()):
                node = value
            case _:
                return False


def places_in(node: ast.AST) -> list[str]:
    """The names, attribute chains and constant subscripts read or written in a statement, longest first as met."""
    found: list[str] = []

    def walk(inner: ast.AST) -> None:
        if isinstance(inner, (ast.Name, ast.Attribute, ast.Subscript)) and is_place(text := ast.unparse(inner)):
            found.append(text)
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            return
        for child in ast.iter_child_nodes(inner):
            walk(child)

    walk(node)
    return list(dict.fromkeys(found))


def written(node: ast.stmt) -> str | None:
    """
    What a statement writes in place, as far as its text says: `c` in `c *= 2`, `c[0] = 1`, `c.data.mul_(2)`.
    """
    target: ast.expr | None = None
    match node:
        case ast.AugAssign(found, _, _) | ast.Assign([ast.Subscript() as found]):
            target = found
        case ast.Expr(ast.Call(ast.Attribute(found, name))) | ast.Assign(_, ast.Call(ast.Attribute(found, name))) if (
            name.endswith("_") and not name.startswith("_")
        ):
            target = found
    while isinstance(target, ast.Subscript):
        target = target.value
    while isinstance(target, ast.Attribute) and target.attr in ("data", "T", "mT", "real"):
        target = target.value
    return None if target is None or not is_place(text := ast.unparse(target)) else text


def assigned(node: ast.stmt) -> list[str]:
    """The names and attributes a statement binds."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign(found, _):
            targets = found
        case ast.AnnAssign(found, _, _) | ast.AugAssign(found, _, _):
            targets = [found]
    flat = [e for t in targets for e in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]
    return [text for t in flat if isinstance(t, (ast.Name, ast.Attribute)) and is_place(text := ast.unparse(t))]


def bound(node: ast.stmt) -> list[str]:
    """The same, and the names that an import binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [each.asname or each.name.partition(".")[0] for each in node.names if each.name != "*"]
    return assigned(node)


def grad_places(node: ast.stmt) -> list[str]:
    """The `x.grad` that a statement speaks of."""
    found = [n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == "grad"]
    return [text for n in found if is_place(text := ast.unparse(n))]


def reads_gradient(node: ast.stmt) -> bool:
    """Whether a statement speaks of the `grad` of anything."""
    return any(isinstance(inner, ast.Attribute) and inner.attr == "grad" for inner in ast.walk(node))


def dropped_receiver(node: ast.stmt) -> str | None:
    """`x` in a statement `x.clamp(0)`."""
    match node:
        case ast.Expr(ast.Call(ast.Attribute(value, _))) if is_place(text := ast.unparse(value)):
            return text
    return None
