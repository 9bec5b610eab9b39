"""
What a proof rests on beside the program's text: the one thing that a reader can check, and a run can establish.

Imports nothing of torchlint. The model puts conditions on its events, the engine carries them to the
findings, messages and reports spell them, and the runtime cross-check asks whether they held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

ConditionKind: TypeAlias = Literal[
    "requires_grad", "branch", "device", "copy", "grad_mode", "kernel", "differentiated", "reflection"
]
"""
"requires_grad": the tensor that `expression` names requires grad. "branch": `expression` is true where the program asks
it. "device": `expression` is a device other than the one the tensor is on, such as a GPU. "copy": the conversion
`expression` makes a tensor of its own, and does not give back the one it is called on. "grad_mode": whoever calls the
function has grad mode on (or off), which `expression` asks. "kernel": of the kernels that torch has for the
operation `expression`, a fused one runs, which saves what the composed one does not; after " on " stands the device
whose fused kernel it is, if only that one does so. "differentiated": whoever calls the `forward` differentiates the
part `expression` of what it returns, too. "reflection": `expression`, by which the program changes Python's own rules
(a `__getattribute__`, a class that is given a method under an unknown name, a text that is run), or by which unknown
code acts where no plain call of it is written (`getattr(x, name)()`, a class decorator, a base of elsewhere), leaves
all as it is that the proof rests on.
"""


@dataclass(frozen=True, slots=True)
class Condition:
    """
    One link of a proof that the program's text leaves open.

    Attributes
    ----------
    kind
        See `ConditionKind`.
    expression
        As the program spells it.
    holds
        Whether it must hold, or must not.
    """

    kind: ConditionKind
    expression: str
    holds: bool = True


def spelled(conditions: Sequence[Condition]) -> str:
    """What a message adds: ", if `x` requires grad", ", where `i < n` does not hold", "" without a condition."""
    words = ""
    for each in conditions:
        if each.kind == "branch":
            words += f", where `{each.expression}`" + ("" if each.holds else " does not hold")
        elif each.kind == "device":
            words += f", where `{each.expression}` is another device than the CPU"
        elif each.kind == "copy":
            words += f", where `{each.expression}` does not give back the same tensor"
        elif each.kind == "grad_mode":
            words += ", where grad mode is on" if each.holds else ", where no `create_graph=True` asks for grad mode"
        elif each.kind == "kernel":
            operation, _, device = each.expression.partition(" on ")
            kernel = f"the fused kernel of {device}" if device else "a fused kernel"
            words += f"{' and' if words else ', where'} {kernel} computes `{operation}`"
        elif each.kind == "differentiated":
            words += f", where the caller differentiates `{each.expression}`"
        elif each.kind == "reflection":
            words += f", where `{each.expression}` changes nothing of that"
    names = [f"`{each.expression}`" for each in conditions if each.kind == "requires_grad"]
    if names:
        words += f", if {' and '.join(names)} {'requires' if len(names) == 1 else 'require'} grad"
    return words


def without_reflection(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions of what is no error anyway: that the program changes Python's rules is told of errors alone."""
    return tuple(each for each in conditions if each.kind != "reflection")


def unseen_class(by: str) -> tuple[Condition, ...]:
    """The one condition of what would be an error: a decorator or a base of elsewhere ("": none) changes nothing."""
    return (Condition("reflection", by),) if by else ()


def naming_reflection(message: str, conditions: Sequence[Condition]) -> str:
    """A message that says by what the program changes Python's rules, whichever rule has written it."""
    words = spelled([each for each in conditions if each.kind == "reflection"])
    return message if words in message else message + words
