"""
What a file does by hand: parameters that a class keeps in a plain container on purpose, and takes care of itself; an
`__init__` that is run otherwise than by making an object.

Reads the text alone; asked by `registration` where it is about to report a container, or an `__init__`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.knowledge.modules.optimizers import find
from torchlint.model.state.values import Class
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted, identifier
from torchlint.syntax.tree import statements_at

_FILLING = frozenset({"append", "extend", "insert"})


def are_kept_by_hand(cls: Class, attribute: str) -> bool:
    """
    Whether a class means the parameters in an attribute for none of its own: another method than `__init__` puts other
    tensors in their place (fast weights, which an inner loop computes), or an optimizer is given the list itself.
    """
    held = f"self.{attribute}"
    for each in cls.ancestry():
        for method in each.definition.body:
            if not isinstance(method, ir.FunctionDef):
                continue
            for node in ir.walk(method):
                if isinstance(node, ir.Call) and _is_optimizer(node) and _gives(node.arguments[0].value, held):
                    return True
                if method.name != "__init__" and isinstance(node, ir.Assign) and _computes(node, held):
                    return True
    return False


def are_left_alone(program: ir.Program, cls: Class, attribute: str) -> bool:
    """
    Whether nothing computes with what an attribute of a Module that is called holds: the file only puts things into it
    and counts them.
    """
    if not any(isinstance(each, ir.FunctionDef) and each.name == "forward" for each in cls.definition.body):
        return False
    counted: set[int] = set()
    for node in ir.walk(program.body):
        if isinstance(node, ir.Call) and dotted(node.function) == "len":
            counted |= {id(each.value) for each in node.arguments}
        elif isinstance(node, ir.Call) and isinstance(node.function, ir.Attribute) and node.function.attr in _FILLING:
            counted.add(id(node.function.value))
        elif isinstance(node, ir.Assign):
            counted |= {id(each) for each in node.targets}
        elif isinstance(node, ir.Attribute) and node.attr == attribute and id(node) not in counted:
            return False
    return True


def may_be_run_by_hand(program: ir.Program, cls: Class) -> bool:
    """
    Whether a file may take the `__init__` of a class out of it, and run that on what is initialised already:
    `Base.__init__(self, n)`, `wrap(Base.__init__)`, `getattr(Base, "__init__")`, `vars(Base)["__init__"]`.
    """
    others: set[str] = set()  # whose `__init__` is another one
    taken: list[ir.Expression] = []
    for node in ir.walk(program.body):
        if isinstance(node, ir.ClassDef) and node.name != cls.name:
            others.add(node.name)
        elif isinstance(node, ir.Import):
            others |= {each.bound for each in node.names}
        elif isinstance(node, ir.Attribute) and node.attr == "__init__":
            taken.append(node.value)
        elif isinstance(node, ir.Constant) and node.value == "__init__":
            return True
    for each in taken:
        if isinstance(each, ir.Call) and identifier(each.function) == "super":
            continue
        if isinstance(each, ir.Call) and each.arguments:
            return True  # `wrap(other).__init__`: what that gives may be the class
        root = dotted(each.function if isinstance(each, ir.Call) else each).partition(".")[0]
        if root not in others:
            return True
    return False


def is_given_away(program: ir.Program, cls: Class) -> bool:
    """
    Whether a class is an argument of a call, by its name or another one, alone or in a list: who is given it may derive
    from it, or run its `__init__`.
    """
    calls: list[ir.Call] = []
    names = {cls.name}
    for node in ir.walk(program.body):
        if isinstance(node, ir.Call):
            calls.append(node)
        elif isinstance(node, ir.Assign) and node.value is not None and not names.isdisjoint(_held_in(node.value)):
            names.update(each.id for each in node.targets if isinstance(each, ir.Name))
    return any(
        not names.isdisjoint(_held_in(each.value))
        for node in calls
        if dotted(node.function) not in _ONLY_ASKING
        for each in node.arguments
    )


def _held_in(node: ir.Expression) -> Iterator[str]:
    """The variables whose values an expression gives, alone or in a list or dictionary."""
    if isinstance(node, ir.Name):
        yield node.id
    elif isinstance(node, (ir.Sequence, ir.Dict)):
        for each in node.elements if isinstance(node, ir.Sequence) else node.values:
            yield from _held_in(each)
    elif isinstance(node, (ir.Starred, ir.Subscript)):
        yield from _held_in(node.value)
    elif isinstance(node, ir.Conditional):
        yield from _held_in(node.body)
        yield from _held_in(node.orelse)


def is_plain_call(line: cst.CSTNode) -> bool:
    """`super().__init__()` alone in its line, in any spelling without further arguments."""
    statements = statements_at(line)
    call = statements[0].value if len(statements) == 1 and isinstance(statements[0], ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    return len(call.args) + len(call.keywords) <= int("super" not in ast.unparse(call))


_ONLY_ASKING = frozenset({"isinstance", "issubclass", "super", "print", "repr", "id"})


def _is_optimizer(call: ir.Call) -> bool:
    kind = find(f"torch.optim.{dotted(call.function).rpartition('.')[2]}") if call.arguments else None
    return kind is not None and not kind.is_scheduler


def _gives(argument: ir.Expression, held: str) -> bool:
    """Whether the list itself is given, alone, beside others (`self.a + self.b`) or in a group."""
    if isinstance(argument, ir.Binary):
        return _gives(argument.left, held) or _gives(argument.right, held)
    if isinstance(argument, ir.Sequence):
        return any(_gives(each, held) for each in argument.elements)
    if isinstance(argument, ir.Dict):
        return any(_gives(each, held) for each in argument.values)
    if isinstance(argument, ir.Starred):
        return _gives(argument.value, held)
    return dotted(argument) == held


def _computes(node: ir.Assign, held: str) -> bool:
    """Whether an assignment replaces what is held, or a part of it, by something that is no new parameter."""
    if node.value is None or (isinstance(node.value, ir.Sequence) and not node.value.elements):
        return False
    for target in node.targets:
        place = target.value if isinstance(target, ir.Subscript) else target
        if dotted(place) == held and not _makes_parameters(node.value):
            return True
    return False


def _makes_parameters(value: ir.Expression) -> bool:
    return any(isinstance(each, ir.Call) and dotted(each.function).endswith("Parameter") for each in ir.walk(value))
