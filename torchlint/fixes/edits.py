"""
From edits of tree nodes, as rules write them, to edits of text, and their application.

Knows how Python is laid out (indentation, comments, semicolons, imports) and nothing of rules.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from torchlint.fixes.rewrites import is_atom
from torchlint.rule import Edit, FindingFix, Fix, TextEdit
from torchlint.syntax import cst
from torchlint.syntax.mentions import statements
from torchlint.syntax.place import is_place
from torchlint.syntax.tree import NEWLINE, Source, Span, python_tree, walk


class EditError(Exception):
    """A fix cannot be written as edits of this file: says why."""


def resolve(source: Source, fix: Fix) -> FindingFix:
    """
    A fix with places instead of nodes.

    A fix that would lose a comment is no longer safe, nor is one of what raises where that may be expected: in a `try`,
    under `pytest.raises` and the like, in a function of a file that has such places.

    Raises
    ------
    EditError
        if its edits overlap, or one of its nodes is not of this file.
    """
    removed = {id(edit.node) for edit in fix.edits if not edit.replacement}
    try:
        edits = [_edit(source, edit, removed) for edit in fix.edits]
    except KeyError as error:
        raise EditError("the fix edits a node that is not in this file") from error
    edits += (_import(source, line) for line in fix.imports if not _imported(source.module, line))
    ordered = sorted(edits, key=lambda edit: edit.span)
    if any(clash(first, second) for first, second in pairwise(ordered)):
        raise EditError("the edits of the fix overlap")
    safe = fix.safe and not any(_loses_comment(edit) for edit in fix.edits)
    if safe and fix.mends:
        safe = not any(_expects_failure(source, edit.node) for edit in fix.edits)
    return FindingFix(fix.title, safe, tuple(ordered))


def clash(first: TextEdit, second: TextEdit) -> bool:
    """Whether two edits touch the same text; two insertions at one place do not."""
    a, b = first.span, second.span
    empty = (a.line, a.column) == (a.end_line, a.end_column) or (b.line, b.column) == (b.end_line, b.end_column)
    if (a.line, a.column) == (b.line, b.column):
        return not empty
    return (a.line, a.column) < (b.end_line, b.end_column) and (b.line, b.column) < (a.end_line, a.end_column)


def apply(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after edits that do not clash; equal insertions at one place are made once."""
    starts = [0, *(found.end() for found in NEWLINE.finditer(text))]

    def offset(line: int, column: int) -> int:
        return min(starts[line - 1] + column - 1, len(text)) if line <= len(starts) else len(text)

    parts: list[str] = []
    done = 0
    for edit in sorted(set(edits), key=lambda edit: (edit.span, edit.replacement)):
        parts += (text[done : offset(edit.span.line, edit.span.column)], edit.replacement)
        done = offset(edit.span.end_line, edit.span.end_column)
    return "".join((*parts, text[done:]))


def _edit(source: Source, edit: Edit, removed: set[int]) -> TextEdit:
    span = source.span(edit.node)
    if edit.before:
        text = source.lines[span.line - 1]
        indent = text[: len(text) - len(text.lstrip())]
        laid = _laid_out(source, edit.replacement, span) + source.module.default_newline + indent
        return TextEdit(Span(span.line, span.column, span.line, span.column), laid)
    if isinstance(edit.node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
        return _statement_edit(source, edit, span, removed)
    if isinstance(edit.node, cst.BaseSmallStatement) and not edit.replacement:
        parent = source.parents[edit.node]
        if isinstance(parent, cst.SimpleStatementLine) and len(parent.body) == 1:
            return _statement_edit(source, Edit(parent, ""), source.span(parent), removed | {id(parent)})
        return TextEdit(span, "pass")
    return TextEdit(_with_parentheses(source, edit, span), _laid_out(source, edit.replacement, span))


def _with_parentheses(source: Source, edit: Edit, span: Span) -> Span:
    """The span with the parentheses around an expression, if the new text holds together without them."""
    node = edit.node
    if is_place(node):
        source.code(node)  # which wants the node where parentheses may be around it
        return span
    if not isinstance(node, cst.BaseExpression) or not node.lpar:
        return span
    first, last = source.span(node.lpar[0]), source.span(node.rpar[-1])
    whole = Span(first.line, first.column, last.end_line, last.end_column)
    opening = source.lines[first.line - 1][: span.column - 1]
    closing = source.lines[last.end_line - 1][span.end_column - 1 :]
    before, after = opening[: first.column - 1], closing[last.end_column - span.end_column :]
    alone = first.line == span.line and last.end_line == span.end_line
    stuck = before[-1:].isidentifier() or before[-1:].isdigit() or after[:1].isidentifier()
    if not alone or stuck or not is_atom(edit.replacement):
        return span
    return whole


def _statement_edit(source: Source, edit: Edit, span: Span, removed: set[int]) -> TextEdit:
    if edit.replacement:
        return TextEdit(span, _laid_out(source, edit.replacement, span))
    block = source.parents[edit.node]
    siblings = list(block.body) if isinstance(block, cst.IndentedBlock) else []
    if siblings and siblings[-1] is edit.node and all(id(sibling) in removed for sibling in siblings):
        return TextEdit(span, "pass")
    before = source.lines[span.line - 1][: span.column - 1]
    after = source.lines[span.end_line - 1][span.end_column - 1 :]
    if before.strip():
        return TextEdit(span, "pass")
    if after.strip():  # a trailing comment stays, on a line of its own
        gap = len(after) - len(after.lstrip())
        return TextEdit(Span(span.line, span.column, span.end_line, span.end_column + gap), "")
    return TextEdit(Span(span.line, 1, span.end_line + 1, 1), "")


def _laid_out(source: Source, replacement: str, span: Span) -> str:
    """The replacement with the file's newlines, and its continuation lines at the indentation of the place."""
    lines = NEWLINE.split(replacement)
    if len(lines) == 1:
        return replacement
    line = source.lines[span.line - 1]
    indent = line[: len(line) - len(line.lstrip())]
    unit = source.module.default_indent
    original = set(source.lines[span.line - 1 : span.end_line])
    in_string, in_brackets = _continuations("\n".join(lines))
    laid = [lines[0]]
    for number, text in enumerate(lines[1:], start=2):
        # white space in a string is its content; a line within brackets that was copied has its indentation already
        if not text.strip() or number in in_string or (number in in_brackets and text in original):
            laid.append(text)
            continue
        body = text.lstrip(" ")
        depth, rest = divmod(len(text) - len(body), 4)
        laid.append(indent + unit * depth + " " * rest + body)
    return source.module.default_newline.join(laid)


def _continuations(text: str) -> tuple[set[int], set[int]]:
    """The lines that start inside a string, and those that start inside brackets."""
    in_string: set[int] = set()
    in_brackets: set[int] = set()
    depth = 0
    seen = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            (first, _), (last, _) = token.start, token.end
            # A line lies in brackets if they are open at its first token; those it opens itself are its own affair.
            if depth and first > seen and first not in in_string:
                in_brackets.add(first)
            seen = max(seen, first)
            if last > first and token.type not in (tokenize.NEWLINE, tokenize.NL):
                in_string.update(range(first + 1, last + 1))
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
    except (tokenize.TokenError, SyntaxError):  # a fragment that does not stand alone; the fixer parses the whole
        pass
    return in_string, in_brackets


def _loses_comment(edit: Edit) -> bool:
    node = edit.node
    if edit.before or is_place(node):  # what can be written as it stands without its node is on one line
        return False
    own: set[int] = set()
    for name in ("leading_lines", "trailing_whitespace"):
        around = getattr(node, name, ())
        for outside in around if isinstance(around, Sequence) else (around,):
            own.update(id(inner) for inner in walk(outside))
    return any(
        isinstance(inner, cst.Comment) and id(inner) not in own and inner.value not in edit.replacement
        for inner in walk(node)
    )


def _expects_failure(source: Source, node: cst.CSTNode) -> bool:
    """
    Whether what the node raises may be caught, where it stands or, if it is in a function, by any `try` of the file: a
    program that is cured there takes another way.
    """
    inner, outer = node, source.parents.get(node)
    while outer is not None:
        if isinstance(outer, (cst.Lambda, cst.FunctionDef)) and _catches_anything(source.text):
            return True
        if isinstance(outer, cst.Lambda):
            return True
        if isinstance(outer, (cst.Try, cst.TryStar)) and inner is outer.body and outer.handlers:
            return True
        if isinstance(outer, cst.With) and inner is outer.body and any(_catches(item.item) for item in outer.items):
            return True
        inner, outer = outer, source.parents.get(outer)
    return False


@lru_cache(maxsize=4)
def _catches_anything(text: str) -> bool:
    """Whether a file has any place that may swallow an exception: of the whole file, whatever of it libcst has seen."""
    try:
        tree = python_tree(text)
    except (SyntaxError, ValueError):
        return True
    return any(map(_may_catch, statements(tree)))


def _may_catch(node: ast.stmt) -> bool:
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return any(_may_swallow(_path(item.context_expr)) for item in node.items)
    return bool(getattr(node, "handlers", ()))


def _path(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    rest = ""
    while isinstance(node, ast.Attribute):
        rest = f".{node.attr}{rest}"
        node = node.value
    return (node.id if isinstance(node, ast.Name) else "") + rest


def _catches(manager: cst.BaseExpression) -> bool:
    """Whether a context manager may swallow exceptions; those of torch do not."""
    return _may_swallow(_dotted(manager.func if isinstance(manager, cst.Call) else manager))


def _may_swallow(name: str) -> bool:
    return not name.startswith("torch.") and name not in ("open", "no_grad", "inference_mode", "enable_grad")


def _bindings(statement: cst.CSTNode) -> Iterable[tuple[str, str, str]]:
    """(module, member or "", bound name) of an import statement."""
    if isinstance(statement, cst.Import):
        for alias in statement.names:
            path = _dotted(alias.name)
            name = alias.evaluated_alias
            # `import torch.nn` binds `torch`
            yield (path, "", name) if name else (path.partition(".")[0], "", path.partition(".")[0])
    elif isinstance(statement, cst.ImportFrom) and statement.module and not isinstance(statement.names, cst.ImportStar):
        module = "." * len(statement.relative) + _dotted(statement.module)
        for alias in statement.names:
            member = _dotted(alias.name)
            yield (module, member, alias.evaluated_alias or member)


def _dotted(node: cst.BaseExpression) -> str:
    return f"{_dotted(node.value)}.{node.attr.value}" if isinstance(node, cst.Attribute) else getattr(node, "value", "")


def _imported(module: cst.Module, line: str) -> bool:
    wanted = {
        binding
        for statement in cst.parse_module(line).body
        if isinstance(statement, cst.SimpleStatementLine)
        for small in statement.body
        for binding in _bindings(small)
    }
    present = {
        (f"{path}.{member}".rstrip("."), bound)
        for statement in module.body
        if isinstance(statement, cst.SimpleStatementLine)
        for small in statement.body
        for path, member, bound in _bindings(small)
    }
    return {(f"{path}.{member}".rstrip("."), bound) for path, member, bound in wanted} <= present


def _import(source: Source, line: str) -> TextEdit:
    """An import after the file's first block of imports, else after its docstring, else before its first statement."""
    newline = source.module.default_newline
    after: cst.CSTNode | None = None
    for index, statement in enumerate(source.module.body):
        if not isinstance(statement, cst.SimpleStatementLine):
            break
        if isinstance(statement.body[0], (cst.Import, cst.ImportFrom)):
            after = statement
        elif not (index == 0 and _is_docstring(statement)):
            break
    if after is None and source.module.body and _is_docstring(source.module.body[0]):
        after, line = source.module.body[0], newline + line
    if after is not None:
        end = source.span(after).end_line
        if end == len(source.lines):
            column = len(source.lines[end - 1]) + 1
            return TextEdit(Span(end, column, end, column), newline + line)
        return TextEdit(Span(end + 1, 1, end + 1, 1), line + newline)
    first = source.span(source.module.body[0]).line if source.module.body else 1
    place = first
    while place > 1 and source.lines[place - 2].lstrip().startswith("#"):
        place -= 1
    # a comment right above the first statement belongs to it, unless it is the head of the file
    place = place if place > 1 else first
    return TextEdit(Span(place, 1, place, 1), line + newline)


def _is_docstring(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Expr):
        return False
    return isinstance(statement.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
