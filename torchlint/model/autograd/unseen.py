"""
What a program proves about values that code nobody knows has made.

A backward that came back shows that its root was a tensor with a graph, if the root can be nothing but a tensor: other
objects have a method `backward`, too (an engine, a layer written by hand). Reads; changes nothing.
"""

from __future__ import annotations

import re
from typing import Final

from torchlint.syntax import ir

_LOSS: Final = re.compile(r"(?:^|_|(?<=[a-z]))(?:[Ll]oss|[Cc]ost|[Nn]ll|[Mm]se|[Ee]lbo|[Bb]ce|[Cc]riterion)(?![a-z])")
"""The last part of a name that people give to a loss: `loss`, `loss_d`, `critic_loss`, `totalLoss`."""


def is_loss(origin: ir.Node, name: str) -> bool:
    """
    Whether what unknown code has returned at `origin`, and what has a `backward`, is a tensor: it is called a loss, or
    its function is, and that was given something. What a class makes (`loss = Hinge(model)`) is an object.
    """
    if not isinstance(origin, ir.Call) or not origin.arguments:
        return False
    function = origin.function
    called = ""
    if isinstance(function, (ir.Attribute, ir.Name)):
        called = function.attr if isinstance(function, ir.Attribute) else function.id
    named = _LOSS.search(name.rpartition(".")[2]) is not None or _LOSS.search(called) is not None
    return named and not called[:1].isupper()


def adds_loss(origin: ir.Node, name: str) -> bool:
    """Whether what was computed at `origin` is as `is_loss` says, or arithmetic on that: `loss + criterion(y) / n`."""
    if isinstance(origin, ir.AugmentedAssign):
        return adds_loss(origin.value, name)
    if isinstance(origin, ir.Binary):
        return adds_loss(origin.left, name) or adds_loss(origin.right, name)
    return is_loss(origin, name)
