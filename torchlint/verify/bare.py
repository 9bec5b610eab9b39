"""
An instance of a class without its constructor: a method reads made-up attributes, by what it does with them.

Runs inside the child, for methods of what cannot be built. Only what a statement does to the tensors it is given is
asked of it.
"""

from __future__ import annotations

import ast
import functools
import types
from typing import Any

import torch

from torchlint.verify import values
from torchlint.verify.anything import Anything
from torchlint.verify.usage import Use, source_of, uses

SIZE = 8
SHAPE = (2, 8)
"""Of a tensor that an instance holds."""


def without_constructor(target: type[Any], method: str) -> Any:
    """
    An instance that has every attribute that is read.

    Parameters
    ----------
    target
        The class.
    method
        What is to be called; all methods of the class tell what its attributes are.
    """
    known = attributes(target)  # type: ignore[arg-type]

    def made_up(instance: Any, name: str) -> Any:
        if name.startswith("__") or (isinstance(instance, torch.nn.Module) and name.startswith("_")):
            raise AttributeError(name)
        use = known.get(name, Use(""))
        value = values.make(name, use, SHAPE, SIZE, False, computes=use.kind == "tensor")
        if not use.kind and type(value) is int:
            value = Anything(value)
        object.__setattr__(instance, name, value)
        made_of(instance)[name] = use
        return value

    derived = types.new_class(target.__name__, (target,), exec_body=lambda names: names.update(__getattr__=made_up))
    instance: Any = object.__new__(derived)
    if isinstance(instance, torch.nn.Module):
        torch.nn.Module.__init__(instance)
    return instance


def made_of(instance: Any) -> dict[str, Use]:
    """The attributes of an instance that were made up until now."""
    known: dict[str, Use] = getattr(instance, "__dict__", {}).setdefault(_MADE, {})
    return known


_MADE = "_made_up_by_torchlint"


@functools.lru_cache(maxsize=64)
def attributes(target: type[Any]) -> dict[str, Use]:
    """What the attributes of a class must be, as its methods use them: as arguments of one function."""
    tree = source_of(target)
    if tree is None:
        return {}
    names = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and _of_self(n)}
    arguments = ast.arguments([], [ast.arg(name) for name in sorted(names)], None, [], [], None, [])
    body = [_Plain().visit(tree)]
    return uses(ast.FunctionDef("whole", arguments, body, []), computes=True)


def _of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


class _Plain(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        return ast.copy_location(ast.Name(node.attr, ast.Load()), node) if _of_self(node) else node
