"""
Why a program may compute what it does not take: to draw, to be timed or profiled, to see whether it raises, to be shown
by a notebook.

Looks at what is written around a statement, and only for statements whose result is dropped, which are few. Runs
nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from torchlint.syntax import ir
from torchlint.syntax.text import lines_of
from torchlint.syntax.tree import python_node, written

_DRAWS = frozenset(
    {"bernoulli", "multinomial", "normal", "poisson", "rand", "randn", "randint", "randperm", "rand_like", "randn_like",
     "randint_like", "binomial", "dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "dropout1d",
     "dropout2d", "dropout3d", "gumbel_softmax", "rrelu", "rand_int", "_standard_gamma", "_sample_dirichlet"}
)  # fmt: skip
_CHECKS = frozenset({"allclose", "equal", "is_nonzero", "isclose"})
_TRANSPARENT = re.compile(r"\b(no_grad|enable_grad|inference_mode|set_grad_enabled|autocast|device|nullcontext)\b")
_CLOCK = re.compile(
    r"\b(perf_counter|monotonic|process_time|time_ns|elapsed_time|timeit|synchronize|profile\w*|benchmark\w*|Timer)\b"
    r"|\btime\(\)"
)
_TIMED_NAME = re.compile(r"bench|warm|profil|time|trace|memory|flops?\b|cost", re.IGNORECASE)
_CELL = re.compile(r"#+ ?(In ?\[|%%|\+|COMMAND -)|#{20,}", re.ASCII)


def is_for_effect(program: ir.Program, function: ir.Node | None, statement: ir.Statement, name: str) -> bool:
    """
    Whether a call whose result is dropped may be there for something else than the result.

    Parameters
    ----------
    program
        The file.
    function
        The function that the statement stands in, or None.
    statement
        The statement.
    name
        The last part of the name that is called.
    """
    if name in _DRAWS:
        return True
    body = program.body if function is None else function.body if isinstance(function, ir.FunctionDef) else []
    outer = around(body, statement)
    if any(isinstance(each, ir.With) and not _is_transparent(each) for each in outer):
        return True
    if outer and isinstance(outer[-1], ir.Try) and _is_probe(outer[-1], statement):
        return True
    if name in _CHECKS:
        return False  # what is checked is neither timed nor shown
    if any(isinstance(each, ir.For) and _only_repeats(each) for each in outer):
        return True
    if isinstance(function, ir.FunctionDef):
        if _TIMED_NAME.search(function.name) or _CLOCK.search(written(function.origin)):
            return True
        alone = all(isinstance(each, ir.ExpressionStatement) for each in function.body)
        return alone and _CLOCK.search(program.text) is not None
    return _is_timed(program, statement) or _is_shown(program, statement)


def _is_probe(attempt: ir.Try, statement: ir.Statement) -> bool:
    """
    Whether a `try` asks whether a statement raises, and does something else then: it is the last of what is tried, and
    a handler does more than to tell.
    """
    if not attempt.body or attempt.body[-1] is not statement:
        return False
    return any(not _only_tells(each) for handler in attempt.handlers for each in handler.body)


def _only_tells(statement: ir.Statement) -> bool:
    value = statement.value if isinstance(statement, ir.ExpressionStatement) else None
    return isinstance(value, ir.Call)


def is_shown(program: ir.Program, statement: ir.Statement) -> bool:
    """Whether a statement stands where a module is run as a script (`if __name__ == "__main__":`)."""
    guarded = [each for each in program.body if isinstance(each, ir.If) and _asks_its_name(each.test)]
    return any(each is statement for block in guarded for each in ir.walk(block.body))


def _asks_its_name(test: ir.Expression) -> bool:
    return any(isinstance(each, ir.Name) and each.id == "__name__" for each in ir.walk(test))


def is_fallback(program: ir.Program, statement: ir.Statement, name: str) -> bool:
    """
    Whether a statement runs only where torch is too old, or lacks something: an `if` around it asks for `name` or for a
    version, or it stands beside a `try`.

    Parameters
    ----------
    program, statement
        As for `is_for_effect`.
    name
        What the newer torch has.
    """
    asked = re.compile(rf"\b{name}\b|version", re.IGNORECASE)
    for each in around(program.body, statement, into_definitions=True):
        if isinstance(each, ir.Try) or (isinstance(each, ir.If) and asked.search(written(each.test.origin))):
            return True
    return False


def around(body: Sequence[ir.Node], statement: ir.Statement, *, into_definitions: bool = False) -> list[ir.Node]:
    """The statements that hold another, the outermost first; [] if it stands in the body itself."""
    for each in body:
        for block in ("body", "orelse", "final", "handlers", "cases"):
            inner = getattr(each, block, None)
            if not isinstance(inner, list) or (
                isinstance(each, (ir.FunctionDef, ir.ClassDef)) and not into_definitions
            ):
                continue
            if any(part is statement for part in inner):
                return [each]
            found = around(inner, statement, into_definitions=into_definitions)
            if found:
                return [each, *found]
    return []


def _is_transparent(node: ir.With) -> bool:
    return all(_TRANSPARENT.search(written(item.context.origin)) for item in node.items)


def _only_repeats(node: ir.For) -> bool:
    """`for _ in range(10): torch.mm(a, b)`: the same again and again, for nothing that comes of it."""
    named = re.findall(r"\w+", written(node.target.origin))
    body = [written(each.line) for each in node.body if isinstance(each, ir.ExpressionStatement)]
    return len(body) == len(node.body) and not any(re.search(rf"\b{name}\b", line) for name in named for line in body)


def _is_timed(program: ir.Program, statement: ir.Statement) -> bool:
    """Whether a clock is read before and after a statement of the script."""
    index = next((at for at, each in enumerate(program.body) if _holds(each, statement)), None)
    if index is None or not _CLOCK.search(program.text):
        return False
    before = any(_CLOCK.search(written(each.line)) for each in program.body[max(index - 3, 0) : index])
    return before and any(_CLOCK.search(written(each.line)) for each in program.body[index + 1 : index + 4])


def _is_shown(program: ir.Program, statement: ir.Statement) -> bool:
    """Whether a statement is the last of a notebook's cell, or of a block of a gallery: its value is shown."""
    if not _CELL.search(program.text):
        return False
    index = next((at for at, each in enumerate(program.body) if each is statement), None)
    if index is None:
        return False
    if index + 1 == len(program.body):
        return True
    following = python_node(program.body[index + 1].line)
    assert isinstance(following, ast.stmt)
    first = min([following.lineno, *(each.lineno for each in getattr(following, "decorator_list", []))])
    for line in reversed(lines_of(program.text)[: first - 1]):
        if line.strip() and not line.startswith("#"):
            return False
        if _CELL.match(line):
            return True
    return False


def _holds(outer: ir.Statement, statement: ir.Statement) -> bool:
    return outer is statement or bool(around([outer], statement))
