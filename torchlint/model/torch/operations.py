"""
Applying operations of torch to abstract values: one door, `apply`, for functions, methods and operators alike.

What an operation does to autograd is the table's word (`torchlint.knowledge.ops.find`), what shape comes out the
shape knowledge's; an operation that neither knows is not guessed at.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from functools import partial
from typing import Final

from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.ops.find import Known, Op
from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.autograd.record import input_grad, recorded_grad, value_grad
from torchlint.model.autograd.refusals import refuse
from torchlint.model.autograd.tensors import guess, materialise, tensor_options
from torchlint.model.autograd.writes import INPLACE_VIEWS, use, write
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    Sequence,
    Tensor,
    Unbound,
    Unknown,
    Value,
    alternatives,
    reachable_tensors,
)
from torchlint.model.torch.arguments import as_argument, comes_of_inputs, kind_of, known_of
from torchlint.model.torch.results import operation_layout, out_of_place, present
from torchlint.model.torch.torch import Torch
from torchlint.syntax import cst, ir

_TAKES_NUMBERS: Final = frozenset({"add", "sub", "mul", "div", "true_divide"})
"""As functions these take a number for the first tensor, too: `torch.mul(2, x)`."""
RENORMS: Final = frozenset({"embedding", "embedding_bag"})
"""Look-ups that write their table where `max_norm` is given (`embedding_renorm_` in torch/nn/functional.py)."""


_OPEN: Final = frozenset({Unknown, Unbound, Sequence})
"""Of values of other kinds an operation says nothing new by taking them."""
_MATMULS: Final = frozenset({"torch.matmul", "torch.Tensor.matmul", "torch.linalg.matmul"})


def _is_vector(value: Value) -> bool:
    return isinstance(value, Tensor) and value.shape is not None and len(value.shape) == 1


def apply(
    torch: Torch,
    spelling: str,
    positional: Many[Value],
    keywords: dict[str, Value],
    origin: ir.Node,
    display: str,
    *,
    target: cst.BaseExpression | None = None,
    name: str = "",
) -> Value | None:
    """
    Run one operation. `display` is how the program writes it (`*`, `mul_`); for an in-place operation `target` is
    the
    expression that names the tensor written, `name` its text. None if the table does not know the call.
    """
    machine, autograd = torch.machine, torch.autograd
    if spelling in _MATMULS and not keywords and len(positional) == 2 and all(map(_is_vector, positional)):
        spelling = "torch.dot"  # at::matmul calls it, whose node is one
    known: dict[int | str, Known] = {}
    if ops.asks_for_more(spelling):
        places: list[tuple[int | str, Value]] = [*enumerate(positional), *keywords.items()]
        for place, value in places:
            if isinstance(value, Unknown) and comes_of_inputs(value):
                guess(autograd, value)  # of which its layout is known
            fact = known_of(value)
            if fact is not None:
                known[place] = fact
    selected = ops.select(
        spelling,
        [kind_of(value) for value in positional],
        {key: kind_of(value) for key, value in keywords.items()},
        known,
    )
    if selected is None:
        return None
    op, binding = selected
    bound = _bind(op, binding, positional, keywords)
    for value in bound.values() if autograd.pending_alias_writes else ():
        for _, tensor in present(torch, value):
            use(autograd, tensor, origin)
    for parameter in op.parameters if not _OPEN.isdisjoint(map(type, bound.values())) else ():
        wraps = parameter.wraps or (op.name in _TAKES_NUMBERS and spelling.startswith("torch.Tensor.") is False)
        if parameter.kind == "tensor" and parameter.required and not wraps:
            given = bound.get(parameter.name)
            if isinstance(given, Unknown):
                bound[parameter.name] = materialise(autograd, given)
        elif parameter.kind == "tensors":
            # `torch.cat(values)` shows that `values` holds tensors, not that it is one.
            given = bound.get(parameter.name)
            if isinstance(given, Unknown) and given.tensor is None:
                element = given.attributes.setdefault("[]", Unknown(reachable_tensors(given), source=given.source))
                bound[parameter.name] = Sequence("tuple", None, element)
            elif parameter.required and isinstance(given, Sequence) and given.items == ():
                # torch refuses an empty list: who comes past this has filled it elsewhere
                bound[parameter.name] = Sequence(given.kind, None, Unknown(source=origin))
    if op.returns_self and op.writes and op.writes[0] in bound:
        written = _in_place(torch, op, op.writes[0], bound, origin, display, target, name)
        for hook in machine.watch.operation:
            hook(spelling, bound, written, origin, display)
        return written
    if "out" in bound and "out" in op.writes:
        _refuse_out(torch, op, bound, origin, display)
    result = out_of_place(torch, op, bound, origin, display)
    if "out" in bound and "out" in op.writes and isinstance(result, Tensor):
        for _, tensor in tensor_options(autograd, bound["out"]):
            if tensor.shape != result.shape:
                machine.trail.set(tensor, "shape", result.shape)
                machine.trail.set(tensor, "axes", None)
    _write_others(torch, op, bound, origin, display, target)
    if "out" in bound and "out" in op.writes:
        result = bound["out"]
    for hook in machine.watch.operation:
        hook(spelling, bound, result, origin, display)
    return result


def _bind(
    op: Op, binding: dict[str, int | str], positional: Many[Value], keywords: dict[str, Value]
) -> dict[str, Value]:
    bound: dict[str, Value] = {}
    variadic = {parameter.name for parameter in op.parameters if parameter.variadic}
    for name, place in binding.items():
        if isinstance(place, str):
            bound[name] = keywords[place]
        elif name in variadic and not isinstance(positional[place], Sequence):
            bound[name] = Sequence("tuple", tuple(positional[place:]))
        else:
            bound[name] = positional[place]
    return bound


def _in_place(
    torch: Torch,
    op: Op,
    own: str,
    bound: dict[str, Value],
    origin: ir.Node,
    display: str,
    target: cst.BaseExpression | None,
    name: str,
) -> Value:
    autograd = torch.autograd
    receiver = bound[own]
    others = {key: value for key, value in bound.items() if key != own}
    grad = GRAD_NO
    for parameter in op.differentiable:
        if parameter in others:
            grad = grad.either(value_grad(autograd, others[parameter]))
    for parameter in op.may_differentiate:
        if parameter in others and value_grad(autograd, others[parameter]) != GRAD_NO:
            grad = grad.either(GRAD_MAYBE)
    options = tensor_options(autograd, receiver)
    where = target if target is not None else _expression(origin)

    def run(tensor: Tensor) -> Value:
        write(
            autograd,
            tensor,
            origin,
            where,
            display,
            "method" if display.endswith("_") else "augmented",
            name=name,
            value_grad=grad,
            record=(op, {**bound, own: tensor}),
        )
        _reshape(torch, op, bound, own, tensor)
        return tensor

    if len(options) == 1 and not options[0][0]:
        run(options[0][1])
    else:
        torch.machine.fork([(guard, partial(run, tensor)) for guard, tensor in options], assume=True)
    return receiver


def _refuse_out(torch: Torch, op: Op, bound: dict[str, Value], origin: ir.Node, display: str) -> None:
    """`out=`: torch refuses to record it (`throw_error_out_requires_grad`), before it looks at anything else."""
    machine, autograd = torch.machine, torch.autograd
    assumed = machine.assumed
    given = [tensor for value in bound.values() for _, tensor in present(torch, value)]
    in_sight = [each for _, each in alternatives(bound["out"], machine.guard) if type(each) is Tensor]
    for guard, tensor in tensor_options(autograd, bound["out"]):
        machine.assumed = assumed | guard
        grad = recorded_grad(autograd, input_grad(autograd, op, bound).either(tensor.requires_grad))
        # A cast to what nobody knows may give integers, which require none.
        known = any(each.dtype is not None for each in given if each.requires_grad.truth() is not Truth.NO)
        # What nobody knows may be None, of which `out=` takes no notice.
        known = known and any(each is tensor for each in in_sight)
        truth = grad.truth() if known else grad.truth() & Truth.MAYBE
        refuse(autograd, "out", f"{display}(out=...)", tensor, origin, truth)
    machine.assumed = assumed


def _reshape(torch: Torch, op: Op, bound: dict[str, Value], own: str, tensor: Tensor) -> None:
    """`unsqueeze_` and its kin give the tensor itself another shape."""
    machine = torch.machine
    if op.name not in INPLACE_VIEWS:
        return
    (shape, *_) = shapes.infer(op.name, {key: as_argument(value) for key, value in {**bound, own: tensor}.items()})
    contiguous, steps = operation_layout(op.name, {**bound, own: tensor}, tensor, shape)
    machine.trail.set(tensor, "contiguous", contiguous)
    machine.trail.set(tensor, "strides", steps)
    machine.trail.set(tensor, "order", None)
    machine.trail.set(tensor, "gaps", None)
    machine.trail.set(tensor, "in_order", None)
    machine.trail.set(tensor, "axes", None)
    machine.trail.set(tensor, "shape", shape)


def _write_others(
    torch: Torch, op: Op, bound: dict[str, Value], origin: ir.Node, display: str, target: cst.BaseExpression | None
) -> None:
    machine = torch.machine
    mode = machine.grad_mode
    # `max_norm`: the rows are scaled down under `no_grad`, and the version counts whether any was too long or not
    renormed = op.name in RENORMS
    for parameter in op.writes:
        if parameter not in bound:
            continue
        if renormed:
            machine.grad_mode = Truth.NO
        for guard, tensor in tensor_options(torch.autograd, bound[parameter]):
            assumed = machine.assumed
            machine.assumed = assumed | guard
            write(
                torch.autograd,
                tensor,
                origin,
                target if target is not None else _expression(origin),
                f"{display}(out=...)" if parameter == "out" else display,
                "out" if parameter == "out" else "function",
                certain=renormed or parameter in ("out", "self"),
            )
            machine.assumed = assumed
        machine.grad_mode = mode


def _expression(node: ir.Node) -> cst.BaseExpression:
    assert isinstance(node.origin, cst.BaseExpression)
    return node.origin
