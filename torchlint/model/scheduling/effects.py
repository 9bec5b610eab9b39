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


def writing_methods(cls: ir.ClassDef, elsewhere: Callable[[ir.FunctionDef], bool]) -> frozenset[str]:
    """
    The methods of a class that write in place, themselves or through another method of `self`; all of them where the
    class builds layers that do (`inplace=True`, or a class of another file). `elsewhere` says who calls what writes to
    its arguments in another file.
    """
    methods = [each for each in _statements(cls.body) if isinstance(each, ir.FunctionDef)]
    calls: dict[str, set[str]] = {}
    writers: set[str] = set()
    for method in methods:
        called = calls.setdefault(method.name, set())
        if elsewhere(method):
            if method.name == "__init__":
                return frozenset(each.name for each in methods)
            writers.add(method.name)
        may_write = WRITES in written(method).words  # a list that grows is told apart there
        for node in ir.walk(method.body):
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


def _statements(body: list[ir.Statement]) -> Iterator[ir.Statement]:
    for statement in body:
        yield statement
        if isinstance(statement, ir.If):
            yield from _statements(statement.body)
            yield from _statements(statement.orelse)
