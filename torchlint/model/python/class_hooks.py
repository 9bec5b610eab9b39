"""
Methods of the file that Python runs where a class or an object is made, and no call of them is written:
`__init_subclass__`, `__new__`, `__set_name__`.

They are not followed there. One that hands the class or the object to code that nobody knows leaves a class of which
nobody knows all (`Class.unseen`). Of a class method that is called, it is known as little which class it is given.

Runs nothing.
"""

from __future__ import annotations

from torchlint.knowledge import foreign
from torchlint.model.python.attributes import evaluate_again
from torchlint.model.python.flags import calls_unknown
from torchlint.model.python.indirection import is_unknown_code, shown
from torchlint.model.python.run import Run, looking_from
from torchlint.model.python.variables import lookup
from torchlint.model.state.values import Class, External, Function, Instance, Unknown, Value, alternatives
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted


def handed_by_hook(run: Run, cls: Class) -> str:
    """What has shown a new class, or will show its objects, to unknown code, as a message may show it; or ""."""
    for number, each in enumerate(cls.ancestry()):
        for name in ("__new__", "__init_subclass__")[: 1 + bool(number)]:  # Python runs the second for derived classes
            method = each.attributes.get(name)
            if isinstance(method, Function) and _hands_on(run, method):
                return f"{each.name}.{name}"
    for value in cls.attributes.values():
        for _, held in alternatives(value):
            if by := _named_by(run, held):
                return by
    return ""


def _named_by(run: Run, value: Value) -> str:
    """What an attribute of a class does with the class when it is told its name."""
    if isinstance(value, Instance):
        method = value.cls.inherited("__set_name__")
        if isinstance(method, Function) and _hands_on(run, method):
            return f"{value.cls.name}.__set_name__"
    made_by = value.source.function if isinstance(value, Unknown) and isinstance(value.source, ir.Call) else None
    if made_by is not None and is_unknown_code(value):
        maker = evaluate_again(run, made_by)
        if is_unknown_code(maker) and not foreign.only_reads(dotted(made_by).rpartition(".")[2]):
            return f"{shown(made_by)}(…)"
    return ""


def hands_on_class(run: Run, method: Function) -> bool:
    """Whether a class method, which is not told of which class it runs, hands that to unknown code."""
    if method.kind != "class" or not method.definition.parameters:
        return False
    return _hands_on(run, method, method.definition.parameters[0].name)


def _hands_on(run: Run, function: Function, what: str = "") -> bool:
    """Whether a method calls code that nobody knows, more than to look or to collect; `what`: with that."""
    definition = function.definition
    own = {each.name for each in definition.parameters}
    if isinstance(definition, ir.FunctionDef):
        own |= definition.assigned
    calls = [each for each in ir.walk(definition.body) if isinstance(each, ir.Call)]
    if what:
        calls = [each for each in calls if any(_is_named(given.value, what) for given in each.arguments)]
    with looking_from(run.machine, function.closure):
        return any(_is_unknown(run, function, dotted(each.function), own) for each in calls)


def _is_named(node: ir.Expression, name: str) -> bool:
    return isinstance(node, ir.Name) and node.id == name


def _is_unknown(run: Run, function: Function, called: str, own: set[str]) -> bool:
    """Whether a name, looked up in the frame, is one of code that nobody knows; `super().…` has none."""
    root, *names = called.split(".")
    if not root or root in own or foreign.only_reads(names[-1] if names else root):
        return False
    found = lookup(run, root)
    if isinstance(found, Function):
        return found is not function and calls_unknown(run, found)
    if isinstance(found, External):
        found = External(".".join((found.qualified, *names)))
    return is_unknown_code(found)
