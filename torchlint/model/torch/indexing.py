"""
Transfer functions of indexing: `x[i]` as view or copy, `x[i] = v` as an in-place write.

Basic indices (integers, slices, None, Ellipsis) give differentiable views, tensors and lists give copies
(https://docs.pytorch.org/docs/stable/tensor_view.html). Knows only tensors; lists and dicts are Python's, see
`model/python/subscripts`.
"""

from __future__ import annotations

from typing import Final

from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.autograd.record import record_operation, value_grad
from torchlint.model.autograd.tensors import fresh, materialise, view_of
from torchlint.model.autograd.writes import use, write
from torchlint.model.events import WrittenPart
from torchlint.model.state.values import (
    NONE,
    Choice,
    Constant,
    Grad,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    fits,
    is_foreign,
    made_of,
)
from torchlint.model.torch.arguments import kind_of
from torchlint.model.torch.layout import lay, order_view, view_layout
from torchlint.model.torch.operations import apply
from torchlint.model.torch.results import derive
from torchlint.model.torch.torch import Torch
from torchlint.syntax import cst, ir


class SliceValue:
    """A slice with evaluated parts."""

    __slots__ = ("lower", "step", "upper")

    def __init__(self, lower: Value | None, upper: Value | None, step: Value | None) -> None:
        self.lower = lower
        self.upper = upper
        self.step = step


def _trues(mask: Tensor) -> int | None:
    """How many elements of a mask are true, if it is as the literal it was made of says."""
    storage = mask.storage
    return None if storage.writes or storage.aliases or storage.uses else mask.trues


def index_structure(index: Value | SliceValue | list[Value | SliceValue]) -> object:
    """An evaluated index as the shape knowledge takes it."""
    if isinstance(index, Sequence) and not fits(index):
        return shapes.UNKNOWN
    if isinstance(index, list):
        return tuple(index_structure(each) for each in index)
    if isinstance(index, SliceValue):
        return slice(*(_part(part) for part in (index.lower, index.upper, index.step)))
    if isinstance(index, Tensor):
        return shapes.Sized(index.shape, index.dtype, _trues(index))
    if isinstance(index, Scalar) and index.kind == "slice":
        return slice(shapes.UNKNOWN, shapes.UNKNOWN, shapes.UNKNOWN)
    if isinstance(index, Scalar):
        return shapes.INTEGER if index.kind in ("int", "number") else shapes.UNKNOWN
    if isinstance(index, Sequence) and index.kind == "tuple" and index.items is not None:
        return tuple(index_structure(each) for each in index.items)
    if isinstance(index, Sequence) and index.items is None:
        return shapes.Sized((None,), "int") if kind_of(index) == "ints" else shapes.UNKNOWN
    if isinstance(index, Sequence):
        return list((index.items and (index_structure(each) for each in index.items)) or [shapes.INTEGER])
    if isinstance(index, Constant):
        return index.value
    if isinstance(index, Choice):
        kinds = {kind_of(each) for _, each in index.alternatives}
        if kinds <= {"int", "number"}:
            return shapes.INTEGER
    return shapes.UNKNOWN


def _part(part: Value | None) -> object:
    if part is None:
        return None
    return part.value if isinstance(part, Constant) else shapes.UNKNOWN


def index_tensors(index: Value | SliceValue | list[Value | SliceValue]) -> list[Tensor]:
    """The tensors among the indices."""
    if isinstance(index, list):
        return [tensor for each in index for tensor in index_tensors(each)]
    if isinstance(index, SliceValue):
        return []
    if isinstance(index, Sequence) and index.kind == "tuple":
        given = (index.items or ()) if fits(index) else ()
        return [tensor for each in given for tensor in index_tensors(each)]
    return [each for _, each in alternatives(index) if isinstance(each, Tensor)]


def is_whole(index: Value | SliceValue | list[Value | SliceValue]) -> bool:
    """Whether torch writes the tensor itself, and no view of it: `x[...]`, `x[:]`, `x[..., :]`."""
    structure = index_structure(index)
    parts = structure if isinstance(structure, tuple) else (structure,)
    return all(part is Ellipsis or (isinstance(part, slice) and part == slice(None)) for part in parts)


def _may_be_false(index: Value | SliceValue | list[Value | SliceValue]) -> bool:
    """
    Whether an index may be a plain False, with which torch writes nothing (python_variable_indexing.cpp): a comparison
    of what nobody knows for tensors.
    """
    if isinstance(index, (list, SliceValue)):
        return False
    for _, each in alternatives(index):
        compared = isinstance(each, Unknown) and each.tensor is None and isinstance(each.source, _TESTS)
        if compared or (isinstance(each, Scalar) and each.kind == "bool") or each == Constant(False):
            return True
    return False


_TESTS: Final = (ir.Compare, ir.Boolean)


def tensor_getitem(
    torch: Torch, tensor: Tensor, index: Value | SliceValue | list[Value | SliceValue], origin: ir.Node
) -> Value:
    """`tensor[index]`."""
    use(torch.autograd, tensor, origin)
    shape, memory = shapes.getitem(tensor.shape, index_structure(index))
    if memory == "view":
        return _view(torch, tensor, shape, origin, index)
    copy = _copy(torch, tensor, shape, index, origin)
    if memory == "copy":
        return copy
    number = torch.machine.branch((id(origin), "indexes with a tensor"))
    view = _view(torch, tensor, shape, origin, index)
    view.may_be_copy = True
    return choose([(frozenset({(number, 1)}), view), (frozenset({(number, 0)}), copy)])


def _view(
    torch: Torch,
    tensor: Tensor,
    shape: shapes.Shape,
    origin: ir.Node,
    index: Value | SliceValue | list[Value | SliceValue],
) -> Tensor:
    op = ops.find("getitem.basic")[0]
    grad, node = record_operation(torch.autograd, op, {"self": tensor}, origin, "[...]")
    view = view_of(torch.autograd, tensor, origin, "[...]", node, grad, shape, "view")
    structure: dict[str, object] = {"index": index_structure(index)}
    lay(view, view_layout("getitem", structure, tensor, shape))
    order_view(view, "getitem", structure, tensor)
    view.name = ""
    derive(torch, view, op, {"self": tensor})
    return view


def _copy(
    torch: Torch,
    tensor: Tensor,
    shape: shapes.Shape,
    index: Value | SliceValue | list[Value | SliceValue],
    origin: ir.Node,
) -> Tensor:
    op = ops.find("getitem.advanced")[0]
    indices = Sequence("tuple", tuple(index_tensors(index)))
    grad, node = record_operation(torch.autograd, op, {"self": tensor, "indices": indices}, origin, "[...]")
    result = fresh(
        torch.autograd,
        origin,
        "[...]",
        own=grad,
        node=node,
        shape=shape,
        dtype=tensor.dtype,
        cut=tensor.cut,
        precise=tensor.precise,
    )
    derive(torch, result, op, {"self": tensor, "indices": indices})
    return result


def tensor_setitem(
    torch: Torch,
    tensor: Tensor,
    index: Value | SliceValue | list[Value | SliceValue],
    value: Value,
    origin: ir.Node,
    target: cst.BaseExpression,
    name: str,
    op: str = "[...] =",
    augmented: str = "",
) -> None:
    """
    `tensor[index] = value`: an in-place write, through a view for a basic index. `augmented` is the operator of
    `tensor[index] += value`: that reads the part, changes it in place and, if it is a copy, puts it back.
    """
    autograd = torch.autograd
    _, memory = shapes.getitem(tensor.shape, index_structure(index))
    value_grad = _value_grad(torch, value)
    for each in index_tensors(index):
        use(autograd, each, origin)
    if isinstance(value, Tensor):
        use(autograd, value, origin)
    if memory == "copy":
        if augmented:
            part = tensor_getitem(torch, tensor, index, origin)
            changed = apply(torch, ops.operator_spelling(augmented), [part, value], {}, origin, op)
            value = changed if changed is not None else made_of([value])
            value_grad = value_grad.either(_value_grad(torch, value))
        put = ops.find("setitem.advanced")[0]
        subject = tensor
        if _slices_too(index):
            tensor = _view(torch, tensor, None, origin, index)
        indices = Sequence("tuple", tuple(index_tensors(index)))
        write(
            autograd,
            tensor,
            origin,
            target,
            op,
            "indexed",
            name=name,
            value_grad=value_grad,
            record=(put, {"self": tensor, "indices": indices, "values": value}),
            subject=subject,
            index="mask" if all(each.dtype == "bool" for each in index_tensors(index) or [tensor]) else "places",
        )
        return
    certain = not _may_be_false(index)
    whole = not augmented and is_whole(index)
    view = tensor if whole else _view(torch, tensor, None, origin, index)
    record = (ops.find("setitem.basic")[0], {"self": view, "src": value})
    if augmented:
        kinds = [kind_of(view), kind_of(value)]
        selected = ops.select(ops.operator_spelling(f"{augmented}="), kinds, {})
        if selected is not None:
            record = (selected[0], dict(zip(selected[1], (view, value), strict=True)))
    write(
        autograd,
        view,
        origin,
        target,
        op,
        "indexed",
        name=name,
        value_grad=value_grad,
        certain=certain,
        record=record,
        subject=tensor,
        index=_part_of(torch, index, memory),
    )


def _part_of(torch: Torch, index: Value | SliceValue | list[Value | SliceValue], memory: str) -> WrittenPart:
    """What a basic index names, or one that may be basic."""
    if memory != "view":
        return "places"
    parts = index if isinstance(index, list) else [index]
    numbers = any(isinstance(each, (Scalar, Constant, Unknown)) and each != NONE for each in parts)
    return "round" if numbers and torch.machine.iteration else "part"


def _slices_too(index: Value | SliceValue | list[Value | SliceValue]) -> bool:
    """Whether an index with tensors has a basic part as well: torch takes that part as a view first."""
    items = index if isinstance(index, list) else [index]
    for item in items:
        structure = index_structure(item)
        if structure is None or (isinstance(structure, int) and not isinstance(structure, bool)):
            return True
        if isinstance(structure, slice) and structure != slice(None):
            return True
        if isinstance(structure, shapes.Sized) and structure.shape == ():
            return True
    return False


def _value_grad(torch: Torch, value: Value) -> Grad:
    if isinstance(value, Unknown) and value.tensor is None:
        if not value.depends and not is_foreign(value):
            torch.machine.externally_pure = False  # whoever calls may know it for a graph tensor
        if value.depends:
            materialise(torch.autograd, value)
    return value_grad(torch.autograd, value)
