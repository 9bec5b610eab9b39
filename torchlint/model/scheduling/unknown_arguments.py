"""
Arguments of which nobody knows anything, but for their annotations: what an entry point is run on.

Makes values, and runs nothing but what `settings` does.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.autograd.tensors import materialise
from torchlint.model.python.attributes import evaluate_again
from torchlint.model.python.functions import bind_parameters
from torchlint.model.python.run import Run
from torchlint.model.python.variables import resolved
from torchlint.model.scheduling.settings import made_of_nothing
from torchlint.model.state.guards import ALWAYS, Truth
from torchlint.model.state.values import (
    External,
    Frame,
    Function,
    Grad,
    GraphNode,
    Scalar,
    Tensor,
    Unknown,
    Value,
)
from torchlint.syntax import ir

_NO_TENSORS: Final = {"builtins.int": "int", "builtins.str": "str"}
"""Annotations that say that an argument is no tensor; `float` is what people write of a loss, `bool` of a mask, too."""

_NUMBERS: Final = {"builtins.float", "builtins.bool", "builtins.complex"}
"""
Those of what nobody should be warned of, as if it required grad; it may be a tensor all the same. An argument without
an annotation, whose default is a number, is one of these, too.
"""


def unknown_arguments(
    run: Run, definition: ir.FunctionDef, first: list[Value], *, inputs: bool = False, defaults: bool = False
) -> tuple[list[Value], dict[str, Value]]:
    """
    Arguments of which nobody knows anything, but for their annotations; with `defaults`, only required ones, and of
    inputs the first: nobody calls a Module with nothing (`input_ids=None, …, inputs_embeds=None`).
    """
    positional = list(first)
    keywords: dict[str, Value] = {}
    for index, parameter in enumerate(definition.parameters):
        left_out = defaults and parameter.default is not None and not (inputs and index == len(first))
        if parameter.kind in ("*", "**") or index < len(first) or left_out:
            continue
        value = _unknown_argument(run, definition, parameter, inputs, defaults)
        if parameter.kind == "keyword-only":
            keywords[parameter.name] = value
        else:
            positional.append(value)
    return positional, keywords


def _unknown_argument(
    run: Run, definition: ir.FunctionDef, parameter: ir.Parameter, inputs: bool, defaults: bool
) -> Value:
    unknown = Unknown(source=parameter)
    if defaults and not inputs:
        made = made_of_nothing(run, definition, parameter)
        if made is not None:
            return made
    annotation = _annotation(run, parameter.annotation)
    number = annotation in _NUMBERS or (not annotation and _defaults_to_number(parameter.default))
    if inputs and not number:
        given = _input(run, parameter)
        if defaults:
            given.contiguous = Truth.YES  # as tensors are that nobody has transposed
        unknown = Unknown([given], source=parameter, hint=parameter.name, certain_edge=True)
    if annotation in _NO_TENSORS:
        kind = _NO_TENSORS[annotation]
        default = parameter.default
        if kind == "int" and isinstance(default, ir.Constant) and isinstance(default.value, float):
            kind = "number"  # `p: int = 0.1`
        return Scalar(kind, said_of=parameter.name)
    if annotation in ("torch.Tensor", "Tensor"):
        tensor = materialise(run.autograd, unknown)
        tensor.name = parameter.name
    return unknown


def _defaults_to_number(default: ir.Expression | None) -> bool:
    """`eta=0.5`, `p=-1`, `mask=False`, `mode="mean"`: who leaves it out, hands no tensor."""
    if isinstance(default, ir.Unary) and default.op in ("-", "+"):
        default = default.operand
    return isinstance(default, ir.Constant) and isinstance(default.value, int | float | complex | str)


def _annotation(run: Run, annotation: ir.Expression | None) -> str:
    if isinstance(annotation, ir.Constant) and isinstance(annotation.value, str):
        return annotation.value
    if isinstance(annotation, ir.Binary) and annotation.op == "|":
        sides = {_annotation(run, each) for each in (annotation.left, annotation.right)} - {"None"}
        return min(sides & _NUMBERS) if len(sides) == 1 and sides & _NUMBERS else ""
    if isinstance(annotation, ir.Constant) and annotation.value is None:
        return "None"
    if isinstance(annotation, (ir.Name, ir.Attribute)):
        value = resolved(run, evaluate_again(run, annotation))
        return value.qualified if isinstance(value, External) else ""
    return ""


def _input(run: Run, parameter: ir.Parameter) -> Tensor:
    """The tensor that an input of `forward` is, if it is one: it requires grad or not, and everything says so."""
    own = Grad(Truth.NO, frozenset({parameter.name}))
    time = run.machine.tick()
    node = GraphNode(
        name="", op="", origin=parameter, line=run.machine.line(), time=time, condition=own, edges=(),
        holds=Truth.MAYBE, opaque=True,
    )  # fmt: skip
    tensor = Tensor(
        origin=parameter, line=run.machine.line(), born=time, made_by="", own=own, grad_fn=((ALWAYS, node),),
        is_parameter=Truth.NO,
    )  # fmt: skip
    tensor.name = parameter.name
    return tensor


def frame_of(run: Run, function: Function, positional: list[Value], keywords: dict[str, Value]) -> Frame:
    frame = Frame({}, function.closure)
    bind_parameters(frame, function, positional, keywords, True, open_stars=("*", "**"))
    return frame
