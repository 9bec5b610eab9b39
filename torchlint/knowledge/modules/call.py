"""
How a module's `forward` is written down: functional calls over its inputs, its own tensors and constants.

Only the notation, and the reading of one call from the table; which class has which forward is said elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from torchlint.knowledge.shapes.domain import UNKNOWN, Sized


@dataclass(frozen=True, slots=True)
class Input:
    """The i-th argument of `forward`; one that the caller did not give is left out of the call."""

    index: int


@dataclass(frozen=True, slots=True)
class Own:
    """A parameter or buffer of the module that is surely registered."""

    name: str


@dataclass(frozen=True, slots=True)
class Value:
    """A Python value, or `UNKNOWN`."""

    value: object | None


@dataclass(frozen=True, slots=True)
class Result:
    """What an earlier call gave, by its `Application.result`."""

    name: str


Operand: TypeAlias = "Input | Own | Value | Result"


@dataclass(frozen=True, slots=True)
class Application:
    """
    One call in a forward.

    Attributes
    ----------
    spelling
        The function's qualified name: "torch.nn.functional.linear", "torch.Tensor.flatten" (the receiver is `self`).
    arguments
        What may be a tensor, by the function's parameter names.
    keywords
        The options, by the function's parameter names.
    result
        The name that later `Result` operands use. The last call's result is the module's.
    """

    spelling: str
    arguments: tuple[tuple[str, Operand], ...]
    keywords: tuple[tuple[str, Operand], ...] = ()
    result: str = "output"


_ROOTS: Final = {"F": "torch.nn.functional", "torch": "torch"}


def ntuple(value: object, count: int) -> object:
    """A number repeated, a sequence as it is (a list becomes a tuple), None as it is, UNKNOWN otherwise."""
    if value is None:
        return None
    if isinstance(value, (int, float)):
        return (value,) * count
    if isinstance(value, (tuple, list)) and not isinstance(value, Sized):
        return tuple(value)
    return UNKNOWN


@cache
def parsed(call: str) -> ast.Call:
    """The tree of a call in the table. Raises `ValueError` if it is not a call."""
    tree = ast.parse(call, mode="eval").body
    if not isinstance(tree, ast.Call):
        raise ValueError(f"not a call: {call}")
    return tree


def spelling(node: ast.expr) -> str:
    """The qualified name of the function of a call in the table."""
    root, dot, rest = ast.unparse(node).partition(".")
    return _ROOTS[root] + dot + rest


def application(
    call: str,
    inputs: Sequence[str],
    config: Mapping[str, object],
    own: Mapping[str, bool | None],
    training: bool | None,
) -> Application:
    """
    A call of the table for one module.

    Parameters
    ----------
    call
        Its text.
    inputs
        The names of forward's parameters.
    config
        The constructor's arguments.
    own
        Parameters and buffers: whether they are registered, None if unknown; absent means no.
    training
        The mode, None if unknown.
    """
    tree = parsed(call)
    arguments: list[tuple[str, Operand]] = []
    keywords: list[tuple[str, Operand]] = []
    for parameter, node in [
        *((_own_name(one), one) for one in tree.args),
        *((one.arg, one.value) for one in tree.keywords),
    ]:
        if parameter is None:
            raise ValueError(f"an argument without a name: {call}")
        operand, tensor = _operand(node, inputs, config, own, training)
        (arguments if tensor else keywords).append((parameter, operand))
    return Application(spelling(tree.func), tuple(arguments), tuple(keywords))


def _own_name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _operand(
    node: ast.expr,
    inputs: Sequence[str],
    config: Mapping[str, object],
    own: Mapping[str, bool | None],
    training: bool | None,
) -> tuple[Operand, bool]:
    """The operand, and whether it stands where a tensor may."""
    if isinstance(node, ast.Name):
        if node.id in inputs:
            return Input(inputs.index(node.id)), True
        if node.id == "training":
            return Value(UNKNOWN if training is None else training), False
        return Value(config.get(node.id, UNKNOWN)), False
    if isinstance(node, ast.Attribute):
        return own_operand(node.attr, own), True
    if isinstance(node, ast.Call):
        of, count = node.args
        assert isinstance(of, ast.Name)
        return Value(ntuple(config.get(of.id, UNKNOWN), int(ast.literal_eval(count)))), False
    # most are plain constants, and a `literal_eval` leaves a circle of functions behind
    return Value(node.value if isinstance(node, ast.Constant) else ast.literal_eval(node)), False


def own_operand(name: str, own: Mapping[str, bool | None]) -> Operand:
    """The module's tensor, None if it has none of that name, UNKNOWN if that cannot be told."""
    registered = own.get(name, False)
    return Own(name) if registered else Value(None if registered is False else UNKNOWN)
