"""
Puts probes around statements of a program, without moving its lines.

Works on Python's own `ast`: the program is compiled from the changed tree with every statement at its old place, so
tracebacks, `inspect` and line numbers stay the user's. Knows neither torch nor the linter; runs inside the child.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import CodeType

from torchlint.verify.protocol import WatchedStatement

BEFORE, AFTER, VALUE, CAUGHT, HANDLED = (
    f"__torchlint_{word}__" for word in ("before", "after", "value", "caught", "handled")
)
"""Names under which the child puts its callbacks into `builtins`; dunder, so that class bodies do not mangle them."""


def instrument(
    text: str,
    filename: str,
    watches: Sequence[WatchedStatement] = (),
    catch: Sequence[tuple[int, int]] = (),
    *,
    definitions_only: bool = False,
    handled: bool = False,
    first: int = 0,
) -> CodeType:
    """
    Compile a program with probes.

    Parameters
    ----------
    text, filename
        The program and the name its code objects carry.
    handled
        Whether handlers and `with` blocks call `HANDLED(error)` with each exception that comes to them.
    watches
        Statements that call `BEFORE(index)` and `AFTER(index)` around themselves; a compound statement only `BEFORE`,
        unless it defines a function.
    catch
        Places of statements whose exceptions go to `CAUGHT(error)` and no further.
    definitions_only
        Load a file for its classes: at top level keep imports, definitions, assignments and options of a command, pass
        over what fails, and leave out expression statements, loops and the `__main__` block.
    first
        The index of the first of the watches, where those of several files are counted through.

    Raises
    ------
    SyntaxError
        if Python cannot compile the text.
    """
    tree = ast.parse(text, filename)
    if definitions_only:
        tree.body = [
            _caught(s) if isinstance(s, _GUARDED) else s
            for s in tree.body
            if (isinstance(s, _KEPT) or _is_option(s)) and not _is_main_block(s)
        ]
    at: dict[tuple[int, int], int] = {(w.line, w.column): index for index, w in enumerate(watches)}
    _Probes(at, watches, frozenset(catch), handled, first).children(tree)
    return compile(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True)


_GUARDED = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.Try, ast.With)
_KEPT = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    *_GUARDED,
)


def _is_option(statement: ast.stmt) -> bool:
    """`parser.add_argument(…)`: without it a name that is read of what was parsed would not be there."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(_, "add_argument" | "set_defaults"))):
            return True
    return False


def _is_main_block(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.If)
        and isinstance(statement.test, ast.Compare)
        and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(statement.test))
    )


class _Probes:
    def __init__(
        self,
        at: Mapping[tuple[int, int], int],
        watches: Sequence[WatchedStatement],
        catch: frozenset[tuple[int, int]],
        handled: bool,
        first: int = 0,
    ) -> None:
        self.at = at
        self.watches = watches
        self.catch = catch
        self.handled = handled
        self.first = first

    def children(self, node: ast.AST) -> None:
        for name, value in ast.iter_fields(node):
            if not isinstance(value, list):
                continue
            if value and isinstance(value[0], ast.stmt):
                setattr(node, name, [new for old in value for new in self.statement(old)])
            else:
                for item in value:
                    if isinstance(item, (ast.ExceptHandler, ast.match_case)):
                        self.children(item)
                        if self.handled and isinstance(item, ast.ExceptHandler):
                            item.body.insert(0, _expression(HANDLED, item.body[0]))

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        place = (statement.lineno, statement.col_offset)
        self.children(statement)
        if _must_stay_first(statement):
            return [statement]
        if self.handled and isinstance(statement, (ast.With, ast.AsyncWith)):
            statement.body = [_told(statement.body)]
        new: list[ast.stmt] = [statement]
        index = self.at.get(place)
        if index is not None:
            number = self.first + index
            if self.watches[index].capture and isinstance(statement, (ast.Expr, ast.Return)) and statement.value:
                statement.value = _call(VALUE, statement, ast.Constant(number), statement.value)
            before = _expression(BEFORE, statement, ast.Constant(number))
            after = _expression(AFTER, statement, ast.Constant(number))
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                new = [before, statement, after]
            elif hasattr(statement, "body"):
                new = [before, statement]
            else:
                new = [before, ast.copy_location(ast.Try([statement], [], [], [after]), statement)]
        if place in self.catch:
            new = [_caught(*new)]
        return new


def _must_stay_first(statement: ast.stmt) -> bool:
    match statement:
        case ast.ImportFrom(module="__future__") | ast.Expr(ast.Constant(str())):
            return True
    return False


def _caught(*statements: ast.stmt) -> ast.stmt:
    first = statements[0]
    name = "__torchlint_error__"
    report = _expression(CAUGHT, first, ast.copy_location(ast.Name(name, ast.Load()), first))
    handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), name, [report])
    return ast.copy_location(ast.Try(list(statements), [handler], [], []), first)


def _told(body: list[ast.stmt]) -> ast.stmt:
    """A block that tells of each exception that leaves it, and lets it go on."""
    first = body[0]
    raised = ast.copy_location(ast.Raise(None, None), first)
    handler = ast.ExceptHandler(ast.Name("BaseException", ast.Load()), None, [_expression(HANDLED, first), raised])
    return ast.copy_location(ast.Try(body, [handler], [], []), first)


def raising_lines(text: str) -> frozenset[int]:
    """The lines on which a `raise` or an `assert` stands: an exception that starts there is the program's own."""
    return frozenset(
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Raise, ast.Assert))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def _call(name: str, where: ast.stmt, *arguments: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), where)


def _expression(name: str, where: ast.stmt, *arguments: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(_call(name, where, *arguments)), where)
