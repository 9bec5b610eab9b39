"""
Where the elements of an abstract tensor lie: its strides, and with them whether it is contiguous.

Asks `torchlint.knowledge.shapes.strides` and writes the answer to new tensors; runs no operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many

from torchlint.knowledge.shapes import infer as shapes
from torchlint.knowledge.shapes import strides
from torchlint.knowledge.shapes.contiguity import flattens_no_gap, gaps_after, order_after
from torchlint.knowledge.shapes.strides import Strides
from torchlint.model.events import Shape
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import Constant, Scalar, Sequence, Tensor, Value
from torchlint.model.torch.torch import Torch


def strides_of(tensor: Tensor) -> Strides | None:
    """The strides of a tensor, if all its sizes are known and they are."""
    sizes = strides.sizes(tensor.shape)
    if sizes is None:
        return None
    if tensor.contiguous is Truth.YES:
        return strides.dense(sizes)
    return tensor.strides if tensor.strides is not None and len(tensor.strides) == len(sizes) else None


def view_layout(
    name: str, arguments: Mapping[str, object], source: Tensor, shape: Shape
) -> tuple[Truth, Strides | None]:
    """Whether a view that an operation gives of `source` is contiguous, and its strides."""
    known = strides_of(source)
    values = {**arguments, "self": shapes.Sized(source.shape, source.dtype)}
    found = strides.viewed(name, values, known, shape) if known is not None else None
    sizes = strides.sizes(shape)
    if found is not None and sizes is not None:
        return Truth.of(strides.is_contiguous(sizes, found)), found
    if sizes is not None and all(size == 1 for size in sizes):
        return Truth.YES, None
    if source.contiguous is not Truth.YES:
        return Truth.MAYBE, None
    return Truth.of(shapes.contiguous_after(name, values)), None


def order_of(tensor: Tensor) -> tuple[int, ...] | None:
    """The dimensions of a tensor from the largest stride to the smallest, if they are known."""
    if tensor.contiguous is Truth.YES and tensor.shape is not None:
        return tuple(range(len(tensor.shape)))
    return tensor.order


def gaps_of(tensor: Tensor) -> frozenset[int] | None:
    """Between which dimensions of a tensor there may be gaps in memory; None where that is not known."""
    return frozenset() if tensor.contiguous is Truth.YES else tensor.gaps


def keeps_order(tensor: Tensor, order: tuple[int, ...]) -> bool:
    """Whether a tensor is computed element by element from one whose dimensions lie in an order: its first operand."""
    for _ in range(_MOST_STEPS):
        if not tensor.inputs or not strides.is_elementwise(tensor.op.rpartition(".")[2]):
            return False
        tensor = tensor.inputs[0]
        if order_of(tensor) is not None:
            return order_of(tensor) == order
    return False


_MOST_STEPS = 8


def lies_in_order(tensor: Tensor) -> bool:
    """
    Whether no dimension of a tensor has a larger stride than one before it, whatever gaps there are; expanded ones
    aside.
    """
    return tensor.contiguous is Truth.YES or tensor.in_order is True


def order_view(view: Tensor, name: str, arguments: Mapping[str, object], source: Tensor) -> None:
    """Note in which order the dimensions of a view lie, and where there may be gaps between them."""
    if view is source:
        return
    rank = None if view.shape is None else len(view.shape)
    view.in_order = (name in _IN_ORDER and lies_in_order(source)) or None
    gaps = gaps_of(source)
    had = None if source.shape is None else len(source.shape)
    view.gaps = None if gaps is None else gaps_after(name, arguments, gaps, had, rank)
    order = order_of(source)
    if order is None:
        return
    found = order_after(name, arguments, order, rank)
    if source.laid_by and (found is None or name not in _WITHOUT_GAP):
        return
    view.order, view.laid_by = found, source.laid_by


_IN_ORDER = frozenset(
    {
        *("slice", "narrow", "split", "split_with_sizes", "chunk", "tensor_split", "select", "unbind", "getitem"),
        *("unsqueeze", "squeeze", "unflatten", "detach", "alias", "hsplit", "vsplit", "dsplit"),
        *("expand", "expand_as", "broadcast_to", "view", "reshape", "flatten"),
    }
)
"""
Views that leave the dimensions which they keep where they are, or split and merge them in place. A dimension that was
expanded has no place: its stride of 0 is compared with no other (aten/src/ATen/TensorIterator.cpp: reorder_dimensions).
"""
_WITHOUT_GAP = frozenset(
    {
        *("transpose", "swapaxes", "swapdims", "permute", "movedim", "moveaxis", "mT"),
        *("view", "reshape", "flatten", "unflatten", "contiguous"),
    }
)
"""Views of all that their input has."""


def is_dense_by(tensor: Tensor) -> str:
    """The operation by whose fused kernel a tensor would be contiguous; "" if there is none."""
    return tensor.laid_by if tensor.order == tuple(range(len(tensor.order or ()))) else ""


def may_be_whole(tensor: Tensor) -> bool:
    """Whether a tensor is what is read of a contiguous one by ranges (`w[:n, :m]`), which may be all that it has."""
    read = tensor.made_by == "[...]" and tensor.contiguous is Truth.MAYBE and bool(tensor.inputs)
    return read and tensor.order == order_of(tensor.inputs[0]) and tensor.inputs[0].contiguous is Truth.YES


def lay(tensor: Tensor, layout: tuple[Truth, Strides | None]) -> None:
    """Give a new tensor its layout."""
    tensor.contiguous, tensor.strides = layout


def result_layout(name: str, operands: Many[Tensor], shape: Shape) -> tuple[Truth, Strides | None]:
    """The layout of a new tensor that an elementwise operation computes of operands that are not all contiguous."""
    found = strides.elementwise(name, [(tensor.shape, strides_of(tensor)) for tensor in operands], shape)
    sizes = strides.sizes(shape)
    if found is None or sizes is None:
        return Truth.MAYBE, None
    return Truth.of(strides.is_contiguous(sizes, found)), found


def flatten_shares(source: Tensor, start: object, end: object) -> bool:
    """Whether `flatten` surely gives a view of its input: what becomes one dimension lies as one does."""
    gaps = gaps_of(source)
    rank = None if source.shape is None else len(source.shape)
    return gaps is not None and flattens_no_gap(gaps, rank, start, end)


def reshape_shares(source: Tensor, shape: Shape, asked: Value | None) -> Truth:
    """Whether `reshape` gives a view of its input rather than a copy; `asked` is the shape as the program has it."""
    known, own, wanted = strides_of(source), strides.sizes(source.shape), strides.sizes(shape)
    if source.contiguous is Truth.YES or (source.shape is not None and 0 in source.shape):
        return Truth.YES  # of nothing there is nothing to copy (aten/src/ATen/TensorUtils.cpp: computeStride_impl)
    if known is None or own is None or wanted is None:
        return Truth.of(any(_splits_one(each, asked) for each in _of_one_order(source)) or None)
    return Truth.of(strides.reviewed(own, known, wanted) is not None)


def told_apart(torch: Torch, tensor: Tensor) -> tuple[object, ...]:
    """The sizes of a tensor of which the rank is known, with something that stands for each unknown one."""
    assert tensor.shape is not None
    if tensor.axes is None or len(tensor.axes) != len(tensor.shape):
        axes = tuple(object() if size is None else size for size in tensor.shape)
        torch.machine.trail.set(tensor, "axes", axes)
        return axes
    return tensor.axes


def keep_axes(name: str, source: Value | None, result: Tensor, dim: object = None) -> None:
    """
    Note which sizes a new tensor has from what it was computed of, if anybody has asked for those: all but that of one
    dimension, or that of the first.
    """
    if not isinstance(source, Tensor) or source.axes is None or source.shape is None or result.shape is None:
        return
    if name in _OF_LAST:
        dim = -1
    elif name in _OF_BATCH and source.axes and result.shape:
        result.axes = (source.axes[0], *(object() if size is None else size for size in result.shape[1:]))
        return
    elif name not in _OF_A_RANGE or not isinstance(dim, int):
        return
    rank = len(source.shape)
    if len(source.axes) == len(result.shape) == rank and -rank <= dim < rank:
        axes = list(source.axes)
        axes[dim] = result.shape[dim]  # the last of several parts may be shorter: nothing stands for it
        result.axes = tuple(axes)


def shape_of_part(name: str, shape: Shape, dim: object) -> Shape:
    """The shape of each part that a tensor is cut into along a dimension, nobody knows how many there are."""
    if shape is None or name not in _OF_A_RANGE or not isinstance(dim, int) or not -len(shape) <= dim < len(shape):
        return None
    cut = dim % len(shape)
    return tuple(None if axis == cut else size for axis, size in enumerate(shape))


_OF_LAST = frozenset({"linear"})
_OF_BATCH = frozenset({"conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
_OF_A_RANGE = frozenset({"chunk", "split", "split_with_sizes", "tensor_split"})


def _of_one_order(source: Tensor) -> Iterator[Tensor]:
    """A tensor, and those of which it is nothing but the same elements in the same order under another shape."""
    yield source
    while source.base is not None and source.op in _OTHER_SHAPE and source.inputs:
        source = source.inputs[0]
        yield source


_OTHER_SHAPE = frozenset(
    f"torch.Tensor.{name}" for name in ("reshape", "view", "unflatten", "flatten", "unsqueeze", "squeeze")
)


def _splits_one(source: Tensor, asked: Value | None) -> bool:
    """
    Whether a shape has all dimensions of a tensor as they are but one, which may be in several parts: that is a view
    however the tensor lies in memory (computeStride_impl). Or but some that stand together and can be one.
    """
    axes = source.axes
    if axes is None or not isinstance(asked, Sequence) or asked.items is None:
        return False
    wanted = [_size_of(each) for each in asked.items]
    most = min(len(axes), len(wanted))
    before = 0
    while before < most and _is_one(axes[before], wanted[before]):
        before += 1
    after = 0
    while before + after < most and _is_one(axes[-1 - after], wanted[-1 - after]):
        after += 1
    if before + after >= len(axes) - 1:
        return True
    gaps = gaps_of(source)
    return gaps is not None and gaps.isdisjoint(range(before, len(axes) - after - 1))


def _size_of(value: Value) -> object:
    return value.value if isinstance(value, Constant) else value.size if isinstance(value, Scalar) else None


def _is_one(axis: object, size: object) -> bool:
    return size is not None and (axis is size or (type(axis) is int and type(size) is int and axis == size))
