"""
Comparisons that stand where a flag is meant to be set: `p.requires_grad == False` as a statement.

What they give is dropped. On the level of a file a notebook or a console shows it, so there they are passed over.
Reads; does not judge.
"""

from __future__ import annotations

from torchlint.model.events.registration import GradFlagCompared
from torchlint.model.observers.pending import expression
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import Value
from torchlint.syntax import ir
from torchlint.syntax.features import one_of


class ComparedFlags(Observer):
    """Raises `GradFlagCompared`."""

    words = ("requires_grad",)
    concerns = (one_of({"requires_grad"}),)

    def expression_statement(self, node: ir.ExpressionStatement, value: Value) -> None:
        compared = node.value
        machine = self.machine
        if not isinstance(compared, ir.Compare) or compared.ops != ["=="]:
            return
        left, right = compared.left, compared.rights[0]
        if not isinstance(left, ir.Attribute) or left.attr != "requires_grad":
            return
        if not isinstance(right, ir.Constant) or not isinstance(right.value, bool):
            return
        written, target, owner = expression(compared), expression(left), expression(left.value)
        if written is None or target is None or owner is None:
            return
        if machine.frame.enclosing is not None or machine.iteration:
            machine.emit(
                GradFlagCompared(node=written, statement=machine.line(), target=target, owner=owner, wanted=right.value)
            )
