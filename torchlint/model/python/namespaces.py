"""
Classes that a program looks up among the names of one of torch's files: `vars(torch.nn.modules.activation).values()`.

Says what passes a test for Modules' classes, of which it is known which there are. Of what else stands among the names
nothing is said, so that only a comprehension that asks for such classes is told. Runs nothing and writes nothing.
"""

from __future__ import annotations

from torchlint.knowledge.modules import namespaces
from torchlint.knowledge.names import MODULE
from torchlint.model.python.run import Run
from torchlint.model.python.variables import lookup
from torchlint.model.state.values import Constant, External, Sequence, Value
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_SHOWN = frozenset({"items", "values"})


def classes_among(run: Run, generator: ir.Generator) -> list[Value]:
    """
    What a `for` of a comprehension goes through that asks `issubclass(each, nn.Module)` of the values of a namespace;
    empty where it does another thing. To look is no change of the namespace.
    """
    if not generator.tests or not isinstance(generator.iterable, ir.Call):
        return []
    shown = generator.iterable.function
    if not isinstance(shown, ir.Attribute) or shown.attr not in _SHOWN or generator.iterable.arguments:
        return []
    owner, target = _owner(run, shown.value), generator.target
    if shown.attr == "items" and isinstance(target, ir.Sequence) and len(target.elements) == 2:
        target = target.elements[1]
    if owner is None or not isinstance(target, ir.Name) or not _asked(run, generator.tests, target.id):
        return []
    file = run.evaluate(owner)
    names = namespaces.classes(file.qualified) if isinstance(file, External) else ()
    if any(map(run.is_replaced, names)):
        return []
    if shown.attr == "values":
        return [External(each) for each in names]
    return [Sequence("tuple", (Constant(each.rpartition(".")[2]), External(each))) for each in names]


def _owner(run: Run, node: ir.Expression) -> ir.Expression | None:
    """The text of what `vars(it)`, or `it.__dict__`, is asked of."""
    if isinstance(node, ir.Attribute) and node.attr == "__dict__":
        owner = node.value
    elif (
        isinstance(node, ir.Call)
        and len(node.arguments) == 1
        and isinstance(node.function, ir.Name)
        and lookup(run, node.function.id) == External("builtins.vars")
    ):
        owner = node.arguments[0].value
    else:
        return None
    return owner if dotted(owner) else None


def _asked(run: Run, tests: list[ir.Expression], name: str) -> bool:
    """Whether one of the tests that all must hold is that what has the name is a class of Modules."""
    for test in tests:
        if isinstance(test, ir.Boolean) and test.op == "and":
            if _asked(run, test.operands, name):
                return True
        elif isinstance(test, ir.Call) and len(test.arguments) == 2 and isinstance(test.function, ir.Name):
            first, kind = (each.value for each in test.arguments)
            if isinstance(first, ir.Name) and first.id == name and dotted(kind):
                called = lookup(run, test.function.id)
                value = run.evaluate(kind) if called == External("builtins.issubclass") else None
                if isinstance(value, External) and value.qualified in MODULE:
                    return True
    return False
