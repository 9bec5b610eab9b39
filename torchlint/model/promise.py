"""
Which entry points may have to do with what other files of the project say.

To look into another file is the most expensive thing the model does, and nearly always for nothing: only a function
that itself writes in place, or calls a method that does, can overwrite what another file's operation saved. Purely
syntactic, no knowledge of torch, except that what initialises weights is no such write.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.model import ir

_INITIALISERS = ("uniform_", "normal_", "constant_", "zeros_", "ones_", "orthogonal_", "eye_", "dirac_", "sparse_")


def writes_in_place(node: ir.Node) -> bool:
    """Whether anything in a piece of program is spelt as if it wrote in place."""
    return any(_writes(each) for each in ir.walk(node))


def differentiates(node: ir.Node) -> bool:
    """Whether anything in a piece of program is spelt as if it ran a backward, or an optimizer."""
    return any(_differentiates(each) for each in ir.walk(node))


def writing_methods(cls: ir.ClassDef) -> frozenset[str]:
    """
    The methods of a class that write in place, themselves or through another method of `self`; all of them where the
    class builds layers that do (`inplace=True`).
    """
    methods = [each for each in _statements(cls.body) if isinstance(each, ir.FunctionDef)]
    calls: dict[str, set[str]] = {}
    writers: set[str] = set()
    for method in methods:
        called = calls.setdefault(method.name, set())
        for node in ir.walk(method.body):
            if isinstance(node, ir.Call) and any(argument.keyword == "inplace" for argument in node.arguments):
                return frozenset(each.name for each in methods)
            if _writes(node):
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


def _differentiates(node: ir.Node) -> bool:
    return isinstance(node, ir.Attribute) and node.attr in ("backward", "grad", "step", "zero_grad")


def _writes(node: ir.Node) -> bool:
    if isinstance(node, ir.Call):
        function = node.function
        name = ""
        if isinstance(function, ir.Attribute):
            owner = function.value
            last = owner.attr if isinstance(owner, ir.Attribute) else owner.id if isinstance(owner, ir.Name) else ""
            name = "" if last == "init" else function.attr
        elif isinstance(function, ir.Name) and not function.id.endswith(_INITIALISERS):
            name = function.id
        in_place = name.endswith("_") and not name.startswith("__") and name != "requires_grad_"
        return in_place or any(argument.keyword in ("inplace", "out") for argument in node.arguments)
    if isinstance(node, ir.Assign):
        return any(isinstance(target, ir.Subscript) for target in node.targets)
    return isinstance(node, ir.AugmentedAssign)
