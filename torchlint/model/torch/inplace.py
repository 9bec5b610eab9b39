"""
Functions and layers that work in place where `inplace` says so: `F.relu(x, inplace=True)`.

Where it is not known what `inplace` says, both ways are followed.
"""

from __future__ import annotations

from torchlint.knowledge.ops import find as ops
from torchlint.model.autograd.tensors import fresh
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import Constant, Tensor, Unknown, Value, choose, reachable_tensors
from torchlint.model.torch.arguments import truth_of
from torchlint.model.torch.operations import apply
from torchlint.model.torch.torch import Torch
from torchlint.syntax import cst, ir


def in_place_function(
    torch: Torch,
    display: str,
    positional: list[Value],
    keywords: dict[str, Value],
    origin: ir.Node,
    target: cst.BaseExpression | None,
    name: str,
    truth: Truth,
) -> Value | None:
    """`F.relu(x, inplace=True)`, or a layer built with `inplace=True`, as the in-place operation it runs."""
    autograd = torch.autograd
    if truth is Truth.MAYBE:
        return Unknown(tensor for value in positional for tensor in reachable_tensors(value))
    shown = f"{display}(inplace=True)"
    before = len(autograd.write_records)
    if "dropout" in display:
        result = _dropout_in_place(torch, positional, keywords, origin, shown, target, name)
    else:
        given = {**keywords, "inplace": Constant(True)}
        spelling = f"torch.nn.functional.{display}"
        result = apply(torch, spelling, positional, given, origin, shown, target=target, name=name)
    for record in autograd.write_records[before:]:
        record.write.spelling = "inplace"
    if result is not None:
        return result
    twin = {"relu6": "hardtanh", "dropout1d": "dropout", "dropout2d": "feature_dropout"}.get(display, display)
    for spelling in (f"torch.nn.functional.{display}_", f"torch.Tensor.{twin}_", f"torch.{twin}_"):
        if not ops.find(spelling):
            continue
        before = len(autograd.write_records)
        result = apply(
            torch,
            spelling,
            positional,
            keywords,
            origin,
            shown,
            target=target,
            name=name,
        ) or apply(torch, spelling, positional[:1], {}, origin, shown, target=target, name=name)
        for record in autograd.write_records[before:]:
            record.write.spelling = "inplace"
        if result is not None:
            return result
    return None


def _dropout_in_place(
    torch: Torch,
    positional: list[Value],
    keywords: dict[str, Value],
    origin: ir.Node,
    shown: str,
    target: cst.BaseExpression | None,
    name: str,
) -> Value | None:
    """In training it multiplies by a noise that nobody else sees (aten/src/ATen/native/Dropout.cpp)."""
    usual = Constant("alpha" not in shown)  # only these are off where nothing is said (torch/nn/functional.py)
    training = keywords.get("training", positional[2] if len(positional) > 2 else usual)
    probability = keywords.get("p", positional[1] if len(positional) > 1 else Constant(0.5))
    runs = truth_of(training) & truth_of(probability)
    empty = isinstance(positional[0], Tensor) and positional[0].shape is not None and 0 in positional[0].shape
    if runs is Truth.NO or empty:
        return positional[0]

    def drop() -> Value | None:
        noise = fresh(torch.autograd, origin, "noise", dtype="float")
        return apply(torch, "torch.Tensor.mul_", [positional[0], noise], {}, origin, shown, target=target, name=name)

    if runs is Truth.YES:
        return drop()
    # no branch of the program: whoever comes here need not have taken an arm of it, and the next time it may be another
    number = torch.machine.branch((id(origin), "drops", torch.machine.tick()))
    dropped, left = frozenset({(number, 1)}), frozenset({(number, 0)})
    arms = torch.machine.fork([(dropped, drop), (left, lambda: positional[0])], assume=True)
    return choose([(guard, value) for guard, value in arms if value is not None])
