"""
Whether a place is come to only where something was asked for by its name as a text: an argument, a device.

Told from Python's own tree. Knows not what the names are of, and judges nothing.
"""

from __future__ import annotations

import ast

from torchlint.lint.order import Order
from torchlint.syntax.availability import AvailabilityTests
from torchlint.syntax.children import walk
from torchlint.syntax.entries import last_name
from torchlint.syntax.unreachable import leaves

_BROUGHT = ("xpu", "mtia")
"""Devices whose module other packages put into torch before it came with that."""


class Named:
    """
    What a file asks for by name.

    Parameters
    ----------
    order, tests
        Where its nodes stand, and what its names are given.
    """

    def __init__(self, order: Order, tests: AvailabilityTests) -> None:
        self._order = order
        self._tests = tests

    def is_brought(self, node: ast.AST, name: str) -> bool:
        """
        Whether a node is come to on a device alone of which whoever brought it, before torch did, brought as well what
        torch has for it under a name.
        """
        device = next((each for each in _BROUGHT if f"{name}.".startswith(f"torch.{each}.")), "")
        return bool(device) and self.is_asked_for(node, device, f"is_{device}")

    def is_asked_for(self, node: ast.AST, name: str, flag: str = "") -> bool:
        """
        Whether a node is come to where something is asked for by its name as a text: `if "symmetric" in
        signature(function).parameters`. A test around it says so, or one before it that leaves, a `case`, the key of a
        table under which it stands; a test does, too, by a name that was given such an answer.

        Parameters
        ----------
        node, name
            The node, and what is asked for.
        flag
            An attribute that says it as well: `is_xpu`; "" for none.
        """
        for above, part in self._order.above(node):
            asked: list[ast.AST] = [
                each.test for each in before(above, part) if isinstance(each, ast.If) and leaves(each.body)
            ]
            if isinstance(above, (ast.If, ast.IfExp)) and part is not above.test:
                asked.append(above.test)
            elif isinstance(above, ast.match_case) and part in above.body:
                asked.append(above.pattern)
            elif isinstance(above, ast.Dict) and part in above.values:
                asked += filter(None, [above.keys[next(at for at, each in enumerate(above.values) if each is part)]])
            elif isinstance(above, ast.BoolOp):
                asked += above.values[: next(at for at, each in enumerate(above.values) if each is part)]
            if any(self._says_name(each, name, flag) for each in asked):
                return True
        return False

    def _says_name(self, asked: ast.AST, name: str, flag: str) -> bool:
        for part in walk(asked):
            if isinstance(part, ast.Constant) and part.value == name:
                return True
            if isinstance(part, (ast.Name, ast.Attribute)) and flag and last_name(part) == flag:
                return True
            for value in self._tests.values_of(part.id, part.lineno) if isinstance(part, ast.Name) else ():
                compared = [each for each in walk(value) if isinstance(each, ast.Compare)]
                if any(isinstance(each, ast.Constant) and each.value == name for one in compared for each in walk(one)):
                    return True
        return False


def before(above: ast.AST, part: ast.AST) -> list[ast.stmt]:
    """The statements before a part of something in the block that it stands in; none if it stands in no block."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(above, field, ())
        if isinstance(block, list) and part in block:
            return block[: block.index(part)]
    return []
