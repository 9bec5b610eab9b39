"""
Special methods that Python runs where no call is written, with what they are given: `x + it`, `x in it`, `it[i] = x`.

Those of an object that nobody knows, and those of an object of the file, may keep it and change its flags. Arithmetic
on a tensor and something unknown is a rule of thumb: what that is computes, as a number or a tensor does.

Runs nothing: says what is left of the values.
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge import foreign
from torchlint.model.python.callbacks import hand_on, havoc
from torchlint.model.python.flags import give, given_to
from torchlint.model.python.run import Run
from torchlint.model.state.values import (
    Bound,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Module,
    Partial,
    Scalar,
    Tensor,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    is_value_of_elsewhere,
)
from torchlint.syntax import ir

_OPERATORS: Final = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "|": "or", "&": "and", "^": "xor", "<<": "lshift", ">>": "rshift",
    "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
}  # fmt: skip
_PLAIN: Final = frozenset({Constant, Scalar})


def given_by_operator(run: Run, op: str, left: Value, right: Value, node: ir.Node) -> None:
    """`left op right`: one may have a method that is given the other."""
    name = _OPERATORS.get(op)
    if name is None or type(left) in _PLAIN or type(right) in _PLAIN:
        return
    names = (f"__{name}__", f"__r{name}__", f"__i{name}__")
    for owner, given in ((left, right), (right, left)):
        if isinstance(owner, (Unknown, External)) and not isinstance(
            given, (Module, Instance, Class, Function, Bound, Partial)
        ):
            given_to_what_it_may_be(run, owner, [given], names)
            continue  # computes
        given_to_special(run, owner, [given], names, node)


def given_to_special(run: Run, owner: Value, values: list[Value], names: tuple[str, ...], node: ir.Node) -> None:
    """An object is given values by one of its special methods."""
    values = [each for each in values if not isinstance(each, (Constant, Scalar, External))]
    if not values or isinstance(owner, (Tensor, Constant, Scalar)):
        return
    for _, each in alternatives(owner):
        if _is_of_elsewhere(each):
            give(run, values, "", node)
            hand_on(run, values)
            for value in values:
                if isinstance(value, Instance):
                    havoc(run, value)
        elif isinstance(each, Instance):
            _given_by_class(run, each.cls, values, names)


def given_to_what_it_may_be(run: Run, owner: Value, values: list[Value], names: tuple[str, ...]) -> None:
    """The same, of what unknown code has made of objects and classes of the file: `same(it)[x]`."""
    for each in owner.may_be if isinstance(owner, Unknown) else ():
        cls = each.cls if isinstance(each, Instance) else each
        if isinstance(cls, Class):
            _given_by_class(run, cls, values, names)


def _given_by_class(run: Run, cls: Class, values: list[Value], names: tuple[str, ...]) -> None:
    for each in cls.ancestry():
        for name in names:
            method = each.attributes.get(name)
            if isinstance(method, Function):
                given_to(run, method, values, name)
                hand_on(run, values)


def _is_of_elsewhere(value: Value) -> bool:
    if isinstance(value, External):
        return is_value_of_elsewhere(value) and not foreign.keeps_flags(value.qualified)
    return isinstance(value, Unknown) and value.tensor is None and not is_foreign(value)
