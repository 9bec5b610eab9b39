"""
Which entry points may have to do with what other files of the project say.

To look into another file is the most expensive thing the model does, and nearly always for nothing: only a function
that itself writes in place, or calls a method that does, can overwrite what another file's operation saved, and only
one that runs a backward meets what is left of its graph. Purely syntactic, no knowledge of torch, except that what
initialises weights is no such write. (Whether such a write leaves a question open is told by running it: `analysis`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from torchlint.syntax import ir, spelling
from torchlint.syntax.features import WRITES
from torchlint.syntax.reading import written


def writes_in_place(node: ir.Node) -> bool:
    """Whether anything in a piece of program is spelt as if it wrote in place."""
    return any(spelling.writes(each) for each in ir.walk(node))


def writing_methods(
    cls: ir.ClassDef, elsewhere: Callable[[list[ir.Statement]], bool], *, defaults: bool = False
) -> frozenset[str]:
    """
    The methods of a class that write in place, themselves or through another method of `self`; all of them where the
    class builds layers that do (`inplace=True`, or a class of another file). `elsewhere` says what calls what writes to
    its arguments in another file. With `defaults`, of `forward` counts only what runs if every input but the first is
    left out.
    """
    methods = [each for each in _statements(cls.body) if isinstance(each, ir.FunctionDef)]
    calls: dict[str, set[str]] = {}
    writers: set[str] = set()
    for method in methods:
        called = calls.setdefault(method.name, set())
        body = _by_default(method) if defaults and method.name == "forward" else method.body
        if elsewhere(body):
            if method.name == "__init__":
                return frozenset(each.name for each in methods)
            writers.add(method.name)
        may_write = WRITES in written(method).words  # a list that grows is told apart there
        for node in ir.walk(body):
            if isinstance(node, ir.Call) and any(argument.keyword == "inplace" for argument in node.arguments):
                return frozenset(each.name for each in methods)
            if may_write and spelling.writes(node):
                writers.add(method.name)
            if isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name):
                called.add(node.attr)
    grown = True
    while grown:
        more = {name for name, called in calls.items() if name not in writers and called & writers}
        writers |= more
        grown = bool(more)
    return frozenset(writers)


def _by_default(forward: ir.FunctionDef) -> list[ir.Statement]:
    """The statements of a `forward`, without the arms that wait for an input that is left out."""
    left_out = {
        each.name: each.default.value for each in forward.parameters[2:] if isinstance(each.default, ir.Constant)
    }
    body: list[ir.Statement] = []
    for statement in forward.body:
        told = _truth(statement.test, left_out) if left_out and isinstance(statement, ir.If) else None
        if isinstance(statement, ir.If) and told is not None:
            run = statement.body if told else statement.orelse
        else:
            run = [statement]
        for name in _names(run) if left_out else ():
            left_out.pop(name, None)  # from here on it may be bound to something else
        body += run
    return body


def _truth(test: ir.Expression, given: dict[str, object]) -> bool | None:
    """What a test gives where names stand for these constants; None if it asks for more."""
    if isinstance(test, ir.Name):
        return bool(given[test.id]) if test.id in given else None
    if isinstance(test, ir.Compare):
        named, (operator, *more), right = test.left, test.ops, test.rights[0]
        asks_for_none = operator in ("is", "is not") and isinstance(right, ir.Constant) and right.value is None
        if more or not asks_for_none or not isinstance(named, ir.Name) or named.id not in given:
            return None
        return (given[named.id] is None) is (operator == "is")
    if isinstance(test, ir.Unary) and test.op == "not":
        told = _truth(test.operand, given)
        return None if told is None else not told
    if isinstance(test, ir.Boolean):
        decides = test.op == "or"
        parts = [_truth(each, given) for each in test.operands]
        return decides if decides in parts else None if None in parts else not decides
    return None


def _names(body: list[ir.Statement]) -> Iterator[str]:
    """All names that stand in statements, those that they bind among them."""
    for node in ir.walk(body):
        if isinstance(node, ir.Name):
            yield node.id
        elif isinstance(node, (ir.FunctionDef, ir.ClassDef, ir.Handler)):
            yield node.name
        elif isinstance(node, ir.Import):
            yield from [each.bound for each in node.names]
        elif isinstance(node, ir.Case):
            yield from node.bound


def _statements(body: list[ir.Statement]) -> Iterator[ir.Statement]:
    for statement in body:
        yield statement
        if isinstance(statement, ir.If):
            yield from _statements(statement.body)
            yield from _statements(statement.orelse)
