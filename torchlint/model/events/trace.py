"""
What happened to a value, in order.

A `Step` is one line of a finding's proof. Steps are written by the model when it happens and are
never made up by a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from torchlint.syntax import cst


@dataclass(frozen=True, slots=True)
class Step:
    """
    One thing that happened: where, and in words.

    Attributes
    ----------
    node
        The CST node it happened at; its position is resolved only if a finding shows it.
    message
        One line, lower case, no full stop, the user's names in backquotes:
        "`sigmoid` saves its result for backward".
    path
        The file, when it is not the file under analysis (look-through into a project's other modules).
    """

    node: cst.CSTNode
    message: str
    path: str | None = None


StateKind: TypeAlias = Literal["tensor", "tuple", "list", ""]


@dataclass(frozen=True, slots=True)
class Carried:
    """
    The state that brings a graph from one iteration of a loop into the next.

    Attributes
    ----------
    names
        Names that an iteration reads and sets anew for the next one (`h`, `self.h`): one, or those that one call set
        together (`h, c = cell(x, (h, c))`).
    kind
        What each is, wherever the statement of the backward ends: a "tensor", a "tuple" or "list" of tensors. "":
        something else, or not known, or another function's variable.
    """

    names: tuple[str, ...]
    kind: StateKind
