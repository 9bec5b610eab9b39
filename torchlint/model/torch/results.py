"""
What an operation gives back: a new tensor with its shape, dtype and node, a view of an argument, or the argument
itself.

The facts are the operation table's. Writes to no argument.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import Final

from torchlint.knowledge.factories import find as factories
from torchlint.knowledge.ops.find import Op
from torchlint.knowledge.ops.kernels import FUSED, HEADS_INSIDE, of_cpu
from torchlint.knowledge.promotion import ANYTHING, Operand, result_dtype
from torchlint.knowledge.shapes import infer as shapes
from torchlint.knowledge.shapes.layout import flattens_one
from torchlint.knowledge.shapes.strides import Strides
from torchlint.model.autograd.edges import edges_of, new_node, outputs
from torchlint.model.autograd.record import record_operation, recorded_grad, save_results
from torchlint.model.autograd.tensors import all_tensor_options, detached_alias, fresh, view_of
from torchlint.model.events import Shape
from torchlint.model.state.guards import ALWAYS, Guard, Truth
from torchlint.model.state.values import (
    FROM_DATA,
    GRAD_NO,
    NONE,
    NOT_RECORDED,
    Choice,
    Constant,
    Grad,
    GraphNode,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    fits,
    made_of,
    reachable_tensors,
)
from torchlint.model.torch.arguments import (
    CASTS,
    NUMBERS,
    as_argument,
    class_of,
    dtype_of,
    kind_of,
    precise_dtype,
)
from torchlint.model.torch.defaults import MOVES, asked_device
from torchlint.model.torch.layout import (
    flatten_shares,
    keep_axes,
    keeps_order,
    lay,
    lies_in_order,
    order_of,
    order_view,
    reshape_shares,
    result_layout,
    shape_of_part,
    view_layout,
)
from torchlint.model.torch.sharing import RESHAPES, cast_to, same_device, same_dtype, sharing
from torchlint.model.torch.torch import Torch
from torchlint.syntax import ir

_OPERANDS: Final = frozenset({"self", "input", "other", "tensors", "exponent", "min", "max"})
_KEEPS_NAME = frozenset({"detach", "view", "reshape", "to", "cpu", "cuda", "float", "contiguous"})


def out_of_place(torch: Torch, op: Op, bound: dict[str, Value], origin: ir.Node, display: str) -> Value:
    """What an operation gives back that writes to none of its arguments."""
    autograd = torch.autograd
    if not op.outputs:
        return Unknown(tensor for value in bound.values() for tensor in reachable_tensors(value) if op.differentiable)
    inferred = shapes.infer(op.name, {key: as_argument(value) for key, value in bound.items()})
    itself = _itself(torch, op, bound, inferred[0])
    if itself is not None:
        return itself
    grad, node = record_operation(autograd, op, bound, origin, display)
    aliased = [(parameter, truth) for parameter, truth in op.aliases if parameter in bound and truth is not Truth.NO]
    if aliased and not (op.name == "einsum" and _several(bound["operands"])):
        return _aliasing(torch, op, bound, aliased, grad, node, inferred, origin, display)
    count = len(inferred) if op.sequence and inferred != (None,) else len(op.outputs)
    if op.sequence and inferred == (None,):
        element = _result(torch, op, bound, grad, node, None, origin, display, 0)
        return Sequence("tuple", None, element)
    results = [
        _result(
            torch, op, bound, grad, output, inferred[index] if index < len(inferred) else None, origin, display, index
        )
        for index, output in enumerate(outputs(autograd, op, node, count))
    ]
    if node is not None:
        save_results(autograd, op, node, results, bound)
    if op.name == "repeat_interleave" and op.node == "ViewBackward0":
        return _view_of_copy(torch, op, bound, results[0], node, origin, display)
    return results[0] if len(op.outputs) == 1 and not op.sequence else Sequence("tuple", tuple(results))


def _view_of_copy(
    torch: Torch, op: Op, bound: dict[str, Value], copy: Tensor, node: GraphNode | None, origin: ir.Node, display: str
) -> Tensor:
    """`repeat_interleave(2)`: a flattened view of a copy that nobody sees (aten/src/ATen/native/Repeat.cpp)."""
    autograd = torch.autograd
    last: GraphNode | None = None
    if node is not None and copy.grad_fn:
        node.name = "CloneBackward0"
        last = new_node(autograd, op.node, display, origin, copy.own, edges_of(autograd, copy), Truth.NO)
    view = view_of(autograd, copy, origin, display, last, copy.own, copy.shape, "view")
    lay(view, (copy.contiguous, copy.strides))
    derive(torch, view, op, bound)
    return view


def _several(operands: Value) -> bool:
    """Whether `einsum` multiplies: of two operands it computes a new tensor, of one it may give a view."""
    return isinstance(operands, Sequence) and operands.items is not None and len(operands.items) > 1


def _result(
    torch: Torch,
    op: Op,
    bound: dict[str, Value],
    grad: Grad,
    node: GraphNode | None,
    shape: Shape,
    origin: ir.Node,
    display: str,
    index: int,
) -> Tensor:
    differentiable = op.outputs[min(index, len(op.outputs) - 1)]
    own = grad if differentiable else GRAD_NO
    cut = ""
    if own == GRAD_NO:
        cut = _why_cut(torch, op, bound, display, differentiable)
    dtype, precise = _dtype_of(torch, op, bound, differentiable)
    if dtype in ("int", "bool") and own != GRAD_NO:
        own, cut, differentiable = GRAD_NO, f"`{display}` is not differentiable", False
    result = fresh(
        torch.autograd,
        origin,
        display,
        own=own,
        node=node if differentiable else None,
        shape=shape,
        dtype=dtype,
        cut=cut,
        precise=precise,
    )
    derive(torch, result, op, bound)
    few = shape is not None and sum(size != 1 for size in shape) < 2
    if "memory_format" in bound:
        result.contiguous = Truth.MAYBE
    elif not few and op.name not in DENSE:
        if op.name in _LAID_OUT or op.name.startswith(_LIBRARIES):
            result.contiguous = Truth.MAYBE
            if op.name in FUSED:
                query = bound.get("query")
                options = [each for _, each in alternatives(query, torch.machine.guard)] if query is not None else []
                queries = [each for each in options if isinstance(each, Tensor)]
                usual = all(order_of(each) == HEADS_INSIDE for each in queries)
                known = bool(queries) and len(queries) == len(options)  # one that nobody knows may lie in any way
                if known and (usual or all(keeps_order(each, HEADS_INSIDE) for each in queries)):
                    result.order, result.laid_by = HEADS_INSIDE, op.name if usual else of_cpu(op.name)
        elif not all(map(lies_in_order, result.inputs)):
            # Elementwise operations and reductions keep the order of their input's strides.
            lay(result, result_layout(op.name, result.inputs, shape))
    keep_axes(op.name, bound.get("input"), result)
    return result


def derive(torch: Torch, result: Tensor, op: Op, bound: dict[str, Value]) -> None:
    """Note what a tensor was computed from."""
    result.op = op.spelling
    result.inputs = tuple(tensor for value in bound.values() for _, tensor in present(torch, value))
    result.device = _device_after(op, result.inputs, bound)


def _device_after(op: Op, inputs: tuple[Tensor, ...], bound: dict[str, Value]) -> str:
    """The type of the device that a result is on: where its operands are, or where it is moved to."""
    method = op.spelling.rpartition(".")[2]  # `cpu` and `cuda` are one operation
    if method in MOVES or (op.name in CASTS and bound.keys() & {"device", "other"}):
        return asked_device(method, bound)
    device = inputs[0].device if inputs else ""
    return device if device and all(each.device == device for each in inputs) and op.name != "type" else ""


def _why_cut(torch: Torch, op: Op, bound: dict[str, Value], display: str, differentiable: bool) -> str:
    inputs = [tensor for value in bound.values() for _, tensor in present(torch, value)]
    if op.cuts or not differentiable:
        return f"`{display}` is not differentiable"
    if torch.machine.grad_mode is Truth.NO and any(tensor.requires_grad != GRAD_NO for tensor in inputs):
        return NOT_RECORDED
    reasons = {tensor.cut for tensor in inputs if tensor.cut}
    return reasons.pop() if len(reasons) == 1 else FROM_DATA


def present(torch: Torch, value: Value) -> list[tuple[Guard, Tensor]]:
    """The tensors that an argument is known to be or to hold, not what is unknown in it."""
    if type(value) is Tensor:
        return [(ALWAYS, value)]
    if isinstance(value, Unknown):
        return [(ALWAYS, value.tensor)] if value.tensor is not None else []
    if not isinstance(value, (Sequence, Choice)) or not fits(value):
        return []
    if isinstance(value, Sequence):
        inner = value.items if value.items is not None else ((value.element,) if value.element is not None else ())
        return [option for each in inner for option in present(torch, each)]
    return [option for _, each in alternatives(value, torch.machine.guard) for option in present(torch, each)]


def _dtype_of(torch: Torch, op: Op, bound: dict[str, Value], differentiable: bool) -> tuple[str | None, str]:
    """The class of a result's dtype, and the dtype itself; None and "" where they are not known."""
    wanted = bound.get("dtype")
    if op.name in CASTS:
        precise = cast_to(torch, op.name, bound)
        if precise or wanted is not None or "other" in bound:
            return factories.dtype_class(precise), precise
    elif wanted is not None and wanted != NONE:
        dtype = as_argument(wanted)
        precise = precise_dtype(dtype) if isinstance(dtype, str) else ""
        return factories.dtype_class(precise), precise
    if not differentiable and len(op.outputs) > 1:
        return "int", ""
    operands = [
        each
        for name, value in bound.items()
        if name in _OPERANDS or name in op.differentiable or name in op.may_differentiate
        for each in _operands_by_default(torch, value)
        if name not in op.may_differentiate or name in _OPERANDS or not each.number
    ]
    dtype_class, precise = result_dtype(op.name, tuple(operands), differentiable, torch.default_dtype)
    if torch.by_default and not precise and dtype_class == "float":  # of what has no dtype the default is believed
        precise = next((each.dtype for each in operands if each.dtype not in ("", torch.default_dtype)), "")
    return dtype_class, precise if torch.very_dtypes or torch.by_default else ""


def _operands_by_default(torch: Torch, value: Value) -> list[Operand]:
    """`_operands`; where a `forward` runs as it does by default, one that requires grad has the default dtype."""
    precise = dtype_of(torch, value) if torch.by_default and type(value) is Tensor else ""
    if not precise:
        return _operands(value)
    kind = class_of(precise) or "float"
    return [Operand(kind, kind, precise)]


def _operands(value: Value, known: dict[int, list[Operand]] | None = None) -> list[Operand]:
    """What is known of the dtypes of an argument, each once; `known` is what was found of its parts so far."""
    if isinstance(value, Unknown):
        value = value.tensor or value
    if type(value) is Tensor:
        dtype = value.dtype or class_of(value.precise)
        if dtype is None:
            return [Operand(dtype=value.precise)]
        return [Operand(dtype, dtype, value.precise)]
    if isinstance(value, (Constant, Scalar)):
        kind = kind_of(value)
        if kind == "none":
            return []
        low, high = ("int", "float") if kind == "number" else (kind, kind)
        return [Operand(low, high, number=True)] if kind in NUMBERS else [ANYTHING]
    if not isinstance(value, (Sequence, Choice)) or (known is None and not fits(value)):
        return [ANYTHING]
    known = {} if known is None else known
    found = known.get(id(value))
    if found is not None:
        return found
    found = known[id(value)] = []
    if isinstance(value, Sequence):
        inner = value.items if value.items is not None else (value.element or Unknown(),)
        found += dict.fromkeys(each for item in inner for each in _operands(item, known))
        return found
    options = dict.fromkeys(each for _, option in value.alternatives for each in _operands(option, known))
    found += options if len(options) <= 1 else (ANYTHING,)
    return found


def _aliasing(
    torch: Torch,
    op: Op,
    bound: dict[str, Value],
    aliased: Many[tuple[str, Truth]],
    grad: Grad,
    node: GraphNode | None,
    inferred: tuple[Shape, ...],
    origin: ir.Node,
    display: str,
) -> Value:
    parameter, truth = aliased[0]
    several = bound[parameter]
    if op.sequence and isinstance(several, Sequence) and several.items is not None:
        return _views_of_each(torch, op, several.items, inferred, origin, display)
    options = all_tensor_options(torch.autograd, several)
    results: list[tuple[Guard, Value]] = []
    for guard, source in options:
        results.append((guard, _alias(torch, op, bound, source, truth, grad, node, inferred, origin, display)))
    if not results:
        return Unknown()
    if op.sequence or len(op.outputs) > 1:
        return results[0][1] if len(results) == 1 else choose(results)
    return choose(results)


def _views_of_each(
    torch: Torch, op: Op, items: tuple[Value, ...], inferred: tuple[Shape, ...], origin: ir.Node, display: str
) -> Value:
    """`meshgrid`: each output is a view of its own input."""
    autograd = torch.autograd
    views: list[Value] = []
    for place, item in enumerate(items):
        options = all_tensor_options(autograd, item)
        if len(options) != 1:
            views.append(made_of([item], source=origin))
            continue
        source = options[0][1]
        grad = recorded_grad(autograd, source.requires_grad)
        node = (
            new_node(autograd, op.node, display, origin, grad, edges_of(autograd, source), Truth.NO)
            if grad != GRAD_NO
            else None
        )
        shape = inferred[place] if len(inferred) == len(items) else None
        view = view_of(autograd, source, origin, display, node, grad, shape, "view")
        lay(view, view_layout("meshgrid", {}, source, shape))
        views.append(view)
    return Sequence("tuple", tuple(views))


def _alias(
    torch: Torch,
    op: Op,
    bound: dict[str, Value],
    source: Tensor,
    truth: Truth,
    grad: Grad,
    node: GraphNode | None,
    inferred: tuple[Shape, ...],
    origin: ir.Node,
    display: str,
) -> Value:
    autograd = torch.autograd
    if op.cuts and op.name == "detach":
        return detached_alias(autograd, source, origin, "detach()")
    if op.sequence or len(op.outputs) > 1:
        dim = as_argument(bound["dim"]) if "dim" in bound else 0
        shapes_ = inferred if inferred != (None,) else (shape_of_part(op.name, source.shape, dim),)
        views = tuple(
            view_of(autograd, source, origin, display, output, grad, shape, op.view or "view")
            for shape, output in zip(shapes_, outputs(autograd, op, node, len(shapes_)), strict=True)
        )
        for each in views:
            lay(each, operation_layout(op.name, bound, source, each.shape))
            order_view(each, op.name, _arguments(bound), source)
            keep_axes(op.name, source, each, dim)
        if inferred != (None,):
            return Sequence("tuple", views)
        views[0].one_of_many = True
        return Sequence("tuple", None, views[0])
    if truth is Truth.MAYBE or "memory_format" in bound:
        truth = _shares(torch, op, source, bound, inferred[0])
    if truth is Truth.NO:
        return _result(torch, op, bound, grad, node, inferred[0], origin, display, 0)
    same = _is_same(op, source, bound)
    if same is Truth.MAYBE:
        return Unknown([source], source=origin, certain_edge=True)
    view: Value = (
        source
        if same is Truth.YES
        else view_of(autograd, source, origin, display, node, grad, inferred[0], op.view or "view")
    )
    if isinstance(view, Tensor) and same is Truth.NO:
        lay(view, operation_layout(op.name, bound, source, inferred[0]))
        order_view(view, op.name, _arguments(bound), source)
        derive(torch, view, op, bound)
        if op.name in ("real", "imag", "view_as_real", "view_as_complex"):
            view.dtype, view.precise = _dtype_of(torch, op, bound, True)
    if truth is Truth.YES:
        return view
    number = torch.machine.branch(sharing(torch, op, bound, source, origin))
    copy = _result(torch, op, bound, grad, node, inferred[0], origin, display, 0)
    if not copy.name:
        copy.name = source.name if op.name in _KEEPS_NAME else ""
    return choose([(frozenset({(number, 1)}), view), (frozenset({(number, 0)}), copy)])


def operation_layout(name: str, bound: dict[str, Value], source: Tensor, shape: Shape) -> tuple[Truth, Strides | None]:
    """The layout of a view that an operation gives of an argument."""
    return view_layout(name, _arguments(bound), source, shape)


def _arguments(bound: dict[str, Value]) -> dict[str, object]:
    return {key: as_argument(value) for key, value in bound.items()}


def _itself(torch: Torch, op: Op, bound: dict[str, Value], shape: Shape) -> Tensor | None:
    """What an operation returns that certainly does nothing: torch does not even ask for its grad_fn."""
    dropped = bound.get("input") if "dropout" in op.name else None
    if isinstance(dropped, Tensor) and dropped.shape is not None and 0 in dropped.shape:
        return dropped  # aten/src/ATen/native/Dropout.cpp: nothing to draw
    if op.sequence or op.cuts or not op.aliases or op.aliases[0][0] not in bound:
        return None
    parameter, truth = op.aliases[0]
    source = bound[parameter]
    if not isinstance(source, Tensor) or _is_same(op, source, bound) is not Truth.YES:
        return None
    if truth is Truth.MAYBE or "memory_format" in bound:
        truth = _shares(torch, op, source, bound, shape)
    return source if truth is Truth.YES else None


def _is_same(op: Op, source: Tensor, bound: dict[str, Value]) -> Truth:
    """Whether an aliasing operation returns the tensor itself rather than a view of it."""
    if op.name in _SAME_OBJECT or "dropout" in op.name:
        return Truth.YES
    if source.shape is None:
        by_rank = op.name in ("adjoint", "flatten") or op.name in _ATLEAST
        return Truth.MAYBE if by_rank else _is_same_of_dtype(op, source)
    if op.name == "adjoint" and source.shape == ():
        return Truth.MAYBE if source.dtype is None else Truth.of(source.dtype != "complex")
    if op.name == "flatten":
        start = as_argument(bound["start_dim"]) if "start_dim" in bound else 0
        end = as_argument(bound["end_dim"]) if "end_dim" in bound else -1
        return Truth.of(flattens_one(len(source.shape), start, end))
    if op.name in _ATLEAST:
        return Truth.of(len(source.shape) >= _ATLEAST[op.name])
    return _is_same_of_dtype(op, source)


def _is_same_of_dtype(op: Op, source: Tensor) -> Truth:
    if op.name in ("real", "conj", "conj_physical", "resolve_conj", "resolve_neg"):
        return Truth.MAYBE if source.dtype is None else Truth.of(source.dtype != "complex")
    return Truth.NO


_ENDS = (("start_dim", 0), ("end_dim", -1))


def _shares(torch: Torch, op: Op, source: Tensor, bound: dict[str, Value], shape: Shape) -> Truth:
    if (op.name in CASTS or op.name in MOVES) and not bound.keys() & {"copy", "memory_format"}:
        return same_dtype(torch, op, source, bound) & same_device(torch, op, source, bound)
    if op.name == "contiguous":
        return source.contiguous if "memory_format" not in bound else Truth.MAYBE
    asked = bound.get("shape", bound.get("size"))
    shared = reshape_shares(source, shape, asked) if op.name in RESHAPES else Truth.MAYBE
    if op.name == "flatten" and shared is Truth.MAYBE:
        start, end = (as_argument(bound.get(name, Constant(usual))) for name, usual in _ENDS)
        shared = Truth.of(flatten_shares(source, start, end) or None)
    if op.name == "ravel" and source.contiguous is not Truth.YES:
        # it makes a tensor contiguous first (aten/src/ATen/native/TensorShape.cpp): what is in order in memory is not
        # copied, what lies there with gaps is, though a view could go through it
        few = source.shape is not None and all(size in (0, 1) for size in source.shape)
        return shared if shared is Truth.NO else Truth.of(few or None) & shared
    return shared


DENSE: Final = frozenset(
    {
        *("contiguous", "linear", "matmul", "__rmatmul__", "mm", "bmm", "mv", "dot", "addmm"),
        *("reshape", "flatten", "ravel", "repeat", "index_select", "gather", "embedding", "one_hot", "topk"),
        *("masked_fill", "masked_scatter", "softmax", "log_softmax", "layer_norm", "baddbmm", "cumsum", "cumprod"),
        *("tril", "triu", "repeat_interleave", "scatter", "scatter_add", "index_add"),
    }
)
"""Operations whose new results are contiguous, however their inputs lie in memory (their kernels make them so)."""
_LAID_OUT: Final = frozenset(
    {
        *(
            "einsum",
            "tensordot",
            "bilinear",
            "scaled_dot_product_attention",
            "stft",
            "istft",
            "quantile",
            "nanquantile",
        ),
        *("cholesky", "cholesky_inverse", "cholesky_solve", "geqrf", "lu", "lu_solve", "lu_unpack", "ormqr", "orgqr"),
        *("qr", "svd", "triangular_solve", "lstsq", "inverse", "pinverse", "matrix_power", "symeig", "eig"),
        *("rot90", "nonzero", "argwhere", "unique_consecutive", "unique", "empty_strided", "empty_permuted"),
    }
)
"""Operations whose results lie in memory as the kernel or its library pleases (measured on OpInfo's samples)."""
_LIBRARIES: Final = ("linalg_", "fft_")
_RESHAPING = frozenset({"unsqueeze", "squeeze", "t", "transpose", "swapaxes", "swapdims"})
_ATLEAST: Final = {"atleast_1d": 1, "atleast_2d": 2, "atleast_3d": 3}
_SAME_OBJECT: Final = frozenset({"positive", "contiguous", "dropout", *MOVES, *CASTS})
