"""
Whether all the layers that a function puts into a list, for `nn.Sequential(*layers)`, are of certain classes of torch.

A list that a loop fills has an unknown length, and the model holds none of its layers: they are read where they are
written. Reads the IR alone. Whatever else is done with the list, nothing is known of it. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from torchlint.model.observers.numerics.enclosing import definitions_of
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted, last_word


def holds_only(program: ir.Program, call: ir.Call, given: ir.Expression, classes: Collection[str]) -> bool:
    """Whether the list that a call is given (`*given`) holds nothing but layers of these classes of `torch.nn`."""
    around = definitions_of(program, {id(call)}).get(id(call), [])
    if not isinstance(given, ir.Name) or not around or not isinstance(around[-1], ir.FunctionDef):
        return False
    name = given.id
    understood: set[int] = set()
    filled = False
    for node in ir.walk(around[-1]):
        if (isinstance(node, ir.Parameter) and node.name == name) or isinstance(node, ir.Scope):
            return False  # it is, or may be, not the function's alone
        held, put = _put(node, name)
        if held is None:
            continue
        if not all(_is_one(each, classes) for each in put):
            return False
        filled = filled or bool(put)
        understood.add(id(held))
    names = [each for each in ir.walk(around[-1]) if isinstance(each, ir.Name) and each.id == name]
    return filled and all(id(each) in understood for each in names)


def _put(node: ir.Node, name: str) -> tuple[ir.Expression | None, list[ir.Expression]]:
    """Where a node names the list, and what it puts there: `name = [...]`, `name += [...]`, `name.append(...)`."""
    if isinstance(node, ir.Assign) and len(node.targets) == 1:
        return _listed(node.targets[0], node.value, name)
    if isinstance(node, ir.AugmentedAssign) and node.op == "+":
        return _listed(node.target, node.value, name)
    if isinstance(node, ir.Argument) and node.star == "*" and getattr(node.value, "id", "") == name:
        return node.value, []
    if not isinstance(node, ir.Call) or not isinstance(node.function, ir.Attribute) or len(node.arguments) != 1:
        return None, []
    if node.function.attr == "append" and not node.arguments[0].star:
        owner = node.function.value
        return (owner, [node.arguments[0].value]) if getattr(owner, "id", "") == name else (None, [])
    return _listed(node.function.value, node.arguments[0].value, name) if node.function.attr == "extend" else (None, [])


def _listed(
    target: ir.Expression, value: ir.Expression | None, name: str
) -> tuple[ir.Expression | None, list[ir.Expression]]:
    if getattr(target, "id", "") != name or not isinstance(value, ir.Sequence):
        return None, []
    return target, value.elements


def _is_one(layer: ir.Expression, classes: Collection[str]) -> bool:
    """Whether an expression makes a layer of one of these classes: `nn.ReLU()`, `torch.nn.Linear(2, 2)`."""
    if not isinstance(layer, ir.Call):
        return False
    made = dotted(layer.function)
    return made.rpartition(".")[0] in ("nn", "torch.nn") and last_word(layer.function) in classes
