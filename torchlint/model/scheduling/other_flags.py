"""
What other methods of an object's class freeze, or thaw: `self.encoder.requires_grad_(False)` in a hook of a trainer.

When one of its methods is called, another may have set the flags of its layers since the constructor ran: whether they
require grad is a condition then. Reads what the methods write; runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.model.python.flags import FLAGS, unsettle
from torchlint.model.python.run import Run
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import Instance, Module, Tensor, alternatives
from torchlint.syntax import ir
from torchlint.syntax.spelling import bound_by, last_word

_ALL = frozenset({"parameters", "named_parameters", "modules", "named_modules", "children", "named_children"})
_FREEZES = "freeze"


def leave_flags_open(run: Run, instance: Instance, definition: ir.FunctionDef) -> None:
    """Whether the layers and parameters whose flags a method sets require grad is a condition for the others."""
    named = run.flagged.get(definition)
    if named is None:
        named = run.flagged[definition] = frozenset([name for part in _set_in(definition) for name in _held(part)])
    if not named:
        return
    for name, value in ((name, each) for name, held in instance.attributes.items() for _, each in alternatives(held)):
        layer = isinstance(value, (Module, Instance)) or (
            isinstance(value, Tensor) and value.is_parameter is not Truth.NO
        )
        if layer and (name in named or "" in named):
            unsettle(run, value, slightly=True, called=f"self.{name}")


def _set_in(definition: ir.FunctionDef) -> Iterator[ir.Node]:
    """The expressions that lead to what has its flags set."""
    sources: dict[str, ir.Node] = {}
    for statement in ir.everything(definition.body):
        if isinstance(statement, ir.For):
            sources |= dict.fromkeys(bound_by(statement.target), statement.iterable)
        elif isinstance(statement, ir.Assign):
            for target in statement.targets:
                if isinstance(target, ir.Attribute) and target.attr == "requires_grad":
                    yield sources.get(getattr(target.value, "id", ""), target.value)
    for node in ir.walk(definition.body):
        if not isinstance(node, ir.Call):
            continue
        word = last_word(node.function)
        if word not in FLAGS and _FREEZES not in word:
            continue
        receiver = node.function.value if isinstance(node.function, ir.Attribute) else None
        own = word == "requires_grad_"  # else `self` is whose method freezes what it is given
        if receiver is not None and (own or not is_self(receiver)):
            yield sources.get(getattr(receiver, "id", ""), receiver)
        for argument in () if own else node.arguments:
            yield argument.value


def _held(part: ir.Node) -> Iterator[str]:
    """The attributes of `self` in an expression; "" for all of them, as where something else is made of it."""
    owners: set[int] = set()
    for node in ir.walk(part):  # from the outside to the inside
        if isinstance(node, ir.Attribute) and is_self(node.value):
            owners.add(id(node.value))
            yield "" if node.attr in _ALL else node.attr
        elif is_self(node) and id(node) not in owners:
            yield ""


def is_self(node: ir.Node) -> bool:
    """Whether an expression is the object whose method it stands in, by the name that everybody gives it."""
    return isinstance(node, ir.Name) and node.id == "self"
