"""
Recording an operation: whether its result requires grad, its node, and what that saves.

What each operation saves comes from the table in `torchlint.knowledge.ops.find`. Writes to no tensor.
"""

from __future__ import annotations

import math
from typing import Final

from torchlint.knowledge.ops.find import Op, is_one_node, last_node_holds
from torchlint.knowledge.ops.find import Saved as SavedBy
from torchlint.knowledge.ops.kernels import FUSED, saves
from torchlint.model.autograd.autograd import Autograd
from torchlint.model.autograd.edges import edges_of, new_node
from torchlint.model.autograd.refusals import refuse
from torchlint.model.autograd.tensors import MOST_SAVES, guess, imported, possible_options
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conjoin, implied, kept_by
from torchlint.model.state.machine import records
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    GRAD_YES,
    NONE,
    Bound,
    Choice,
    Constant,
    External,
    Grad,
    GraphNode,
    Instance,
    Saved,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    fits,
    is_foreign,
    is_open,
    is_value_of_elsewhere,
    unknown_guard,
)
from torchlint.syntax import ir

RECOMPUTED: Final[Guard] = frozenset({(("unknown", -(1 << 62)), 1)})
"""Under this is saved what is run again for its backward: whether that reads these very tensors is not known."""
_CAST: Final = frozenset(
    """
    addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
    conv_transpose3d convolution einsum linear matmul mm multi_dot mv prelu scaled_dot_product_attention
    """.split()  # noqa: SIM905
)
"""Operations before which `torch.autocast` casts their inputs (aten/src/ATen/autocast_mode.h, `lower_precision_fp`)."""


def recorded_grad(autograd: Autograd, grad: Grad) -> Grad:
    """The requires_grad of a result whose inputs have `grad`, in the present grad mode; inference mode outdoes it."""
    recorded = records(autograd.machine)
    if recorded is Truth.NO:
        return GRAD_NO
    return grad if recorded is Truth.YES or grad == GRAD_NO else GRAD_MAYBE


def input_grad(autograd: Autograd, op: Op, bound: dict[str, Value]) -> Grad:
    """Whether any differentiable input requires grad."""
    grad = GRAD_NO
    for parameter in op.differentiable:
        if parameter in bound:
            grad = grad.either(value_grad(autograd, bound[parameter]))
    if grad is not GRAD_YES and any(
        tensor.requires_grad.truth() is not Truth.NO
        for parameter in op.may_differentiate
        if parameter in bound
        for _, tensor in possible_options(autograd, bound[parameter])
    ):
        grad = grad.either(GRAD_MAYBE)
    return grad


def value_grad(autograd: Autograd, value: Value) -> Grad:
    """requires_grad of a value: of all its alternatives, and of any element of a list."""
    if type(value) is Tensor:
        return value.requires_grad
    if type(value) is Constant or type(value) is Scalar:
        return GRAD_NO
    if not fits(value):
        return GRAD_MAYBE
    if isinstance(value, Sequence):
        grad = GRAD_NO
        for each in value.items if value.items is not None else (value.element or Unknown(),):
            grad = grad.either(value_grad(autograd, each))
        return grad
    options = alternatives(value, autograd.machine.guard)
    joined: Grad | None = None
    under: Guard | None = None
    for guard, each in options:
        if isinstance(each, Tensor):
            grad = each.requires_grad
        elif isinstance(each, Unknown):
            grad = GRAD_NO if is_foreign(each) else (each.tensor or guess(autograd, each)).requires_grad
        elif isinstance(each, Sequence):
            grad = value_grad(autograd, each)
        elif isinstance(each, External) and is_value_of_elsewhere(each):
            grad = guess(autograd, imported(autograd, each)).requires_grad
        elif isinstance(each, (Instance, Bound)):
            grad = GRAD_MAYBE  # an object may be a tensor of its own kind, what is bound a property
        else:
            grad = GRAD_NO
        joined = grad if joined is None else joined.join(grad)
        own = grad.guard() if under is None else None
        both = None if own is None else conjoin(guard, own)
        under = both if both is not None and not is_open(both) else under
    if joined is None:
        return GRAD_NO
    # of two values of which one requires grad it is known by which decisions it is that one
    return Grad(Truth.MAYBE, under=under) if joined == GRAD_MAYBE and under is not None else joined


def edges_into(autograd: Autograd, value: Value) -> list[tuple[Guard, GraphNode | Tensor]]:
    """Where a gradient flows of an argument; what torch refuses of one of several tensors it refuses on its path."""
    machine = autograd.machine
    assumed = machine.assumed
    found: list[tuple[Guard, GraphNode | Tensor]] = []
    for guard, tensor in possible_options(autograd, value):
        machine.assumed = assumed | guard
        there = ALWAYS if _without_edge(tensor) is not Truth.MAYBE else unknown_guard()
        edges = edges_of(autograd, tensor)
        if not guard and not there:
            found += edges
            continue
        ways = ((conjoin(guard, inner, there), node) for inner, node in edges)
        found += [(both, node) for both, node in ways if both is not None]
    machine.assumed = assumed
    return found


def record_operation(
    autograd: Autograd,
    op: Op,
    bound: dict[str, Value],
    origin: ir.Node,
    display: str,
    *,
    saved_before: int | None = None,
) -> tuple[Grad, GraphNode | None]:
    """
    Record an operation if grad mode and inputs ask for it: the requires_grad of its result, and its node (without
    what it
    saves of the result: see `save_results`).
    """
    grad = recorded_grad(autograd, input_grad(autograd, op, bound))
    if grad == GRAD_NO or not (op.differentiable or op.may_differentiate):
        return GRAD_NO, None
    edges: list[tuple[Guard, GraphNode | Tensor]] = []
    for parameter in op.differentiable:
        edges += edges_into(autograd, bound[parameter]) if parameter in bound else ()
    for parameter in op.may_differentiate:
        found = edges_into(autograd, bound[parameter]) if parameter in bound else []
        edges += [(guard | unknown_guard(), node) for guard, node in found]
    # what is saved for the gradient of an input is not saved where no input takes one (see `_without_edge`)
    holds = op.holds_saved
    if "dropout" in op.name:  # the noise of a product with it, saved for the gradient of what it is applied to
        holds = holds & ~_without_edge(bound[op.differentiable[0]]) if edges else Truth.NO
    elif op.saves and all(save.guard for save in op.saves):
        holds = Truth.NO if not edges else holds & _holds_any(autograd, op, bound, grad)
    node = new_node(autograd, op.node, display, origin, grad, edges, holds)
    node.composed = not is_one_node(op)
    node.formula = "inputs" if _of_hidden(op, bound) else _formula(operation_of(node), bound)
    if node.composed:
        node.last_holds = Truth.YES if _ends_in_likelihood(op, bound) else last_node_holds(op)
    saved: list[Saved] = []
    for save in _saves(op, bound):
        if save.what not in bound:
            continue
        copied = autograd.may_cast and not save.what.startswith("result") and op.name in _CAST
        needed = _save_guard(autograd, save, bound, copied=copied)
        if needed is None:
            continue
        for inner, tensor in possible_options(autograd, bound[save.what]):
            both = conjoin(needed, inner)
            if both is not None and tensor.storage.inference:
                _refuse_inference(autograd, display, tensor, origin, both | (grad.guard() or ALWAYS))
            if both is not None:
                saved.append(save_tensor(autograd, node, save.what, tensor, saved_before or node.time, both))
    node.saved = tuple(saved)
    return grad, node


def _refuse_inference(autograd: Autograd, display: str, tensor: Tensor, origin: ir.Node, guard: Guard) -> None:
    """What is made in inference mode has no version counter, so that it cannot be saved (saved_variable.cpp)."""
    machine = autograd.machine
    assumed = machine.assumed
    machine.assumed = assumed | guard
    refuse(autograd, "inference", display, tensor, origin, machine.grad_mode & ~machine.inference)
    machine.assumed = assumed


def _saves(op: Op, bound: dict[str, Value]) -> tuple[SavedBy, ...]:
    if op.name not in FUSED:
        return op.saves
    given = [bound.get(name) for name in ("query", "key", "value")]  # which have as many dimensions as each other
    shapes = [each.shape for each in given if isinstance(each, Tensor) and each.shape is not None]
    return saves(op, len(shapes[0]) if shapes else None)


def _save_guard(autograd: Autograd, save: SavedBy, bound: dict[str, Value], *, copied: bool = False) -> Guard | None:
    guard: Guard | None = ALWAYS
    if save.guard:
        grad = GRAD_NO
        for parameter in save.guard:
            without = _without_edge(bound[parameter]) if parameter in bound else Truth.YES
            if without is not Truth.YES:
                taken = value_grad(autograd, bound[parameter])
                grad = grad.either(GRAD_MAYBE if without is Truth.MAYBE else taken)
        guard = grad.guard()
    if guard is None or (save.certain and not copied):
        return guard
    if save.kernel and not copied:
        return guard | {(("kernel", save.kernel), 1)}
    return guard | unknown_guard()


def save_results(autograd: Autograd, op: Op, node: GraphNode, results: list[Tensor], bound: dict[str, Value]) -> None:
    """Record what a node saves of its results, after they were made (or written)."""
    time = autograd.machine.tick()
    saved = list(node.saved)
    for save in _saves(op, bound):
        if not save.what.startswith("result"):
            continue
        index = int(save.what[6:] or 0)
        guard = _save_guard(autograd, save, bound)
        if index < len(results) and guard is not None:
            saved.append(save_tensor(autograd, node, save.what, results[index], time, guard))
    node.saved = tuple(saved)


def save_tensor(autograd: Autograd, node: GraphNode, what: str, tensor: Tensor, time: int, guard: Guard) -> Saved:
    """A node saves a tensor."""
    if autograd.recomputed:
        guard |= RECOMPUTED
    if autograd.keeper:
        guard |= kept_by(autograd.keeper)
    saved = Saved(
        what=what,
        name=tensor.name,
        tensor=tensor,
        storage=tensor.storage,
        counter=tensor.counter,
        time=time,
        guard=guard,
        node=node,
        path=autograd.machine.guard,
    )
    autograd.machine.trail.set(tensor.storage, "saves", (*tensor.storage.saves[-MOST_SAVES:], saved))
    autograd.saved.append(saved)
    writes = tensor.storage.writes
    if writes and writes[-1].time > time:  # it is told late what was saved
        autograd.overwritten = True
    return saved


def _without_edge(value: Value) -> Truth:
    """
    Whether it is a view made before its base was told to require grad, or under `no_grad`: it says that it does, and no
    gradient flows to it.
    """
    if type(value) is Tensor:
        if value.base is None:
            return Truth.MAYBE if value.in_open_mode else Truth.NO  # what unknown code has made may be such a view
        # in a mode that nobody knows it has a node, or none
        open_mode = value.own == GRAD_MAYBE and (value.in_open_mode or value.base.own not in (GRAD_NO, GRAD_MAYBE))
        return ~value.own.truth() if open_mode or not value.grad_fn else Truth.NO
    if isinstance(value, Unknown):
        return Truth.MAYBE if value.in_open_mode else Truth.NO
    if not isinstance(value, Choice):
        return Truth.NO
    found = {_without_edge(each) for _, each in alternatives(value)}
    return found.pop() if len(found) == 1 else Truth.MAYBE


def _holds_any(autograd: Autograd, op: Op, bound: dict[str, Value], grad: Grad) -> Truth:
    """
    Whether a node surely saves something, wherever it is recorded (`grad`), though no gradient flows to one of its
    inputs: nobody knows whether one flows to the other, nor, of one of several values, that it is the one it flows to.
    """
    if all(_without_edge(bound[each]) is Truth.NO for each in op.differentiable if each in bound):
        return Truth.YES
    needed = [_save_guard(autograd, save, bound) for save in _saves(op, bound) if save.what in bound]
    path = autograd.machine.guard | (grad.guard() or ALWAYS)
    return Truth.YES if any(each is not None and implied(each, path) for each in needed) else Truth.MAYBE


def _of_hidden(op: Op, bound: dict[str, Value]) -> bool:
    """
    Whether a composed operation saves a result of all its inputs that nobody sees, on which each gradient depends: the
    difference of `l1_loss`; the `log_softmax` of `cross_entropy`, which knows nothing of a target that requires grad.
    """
    if op.name == "l1_loss":
        return True
    scores, target = bound.get("self", bound.get("input")), bound.get("target")
    return (
        op.name == "cross_entropy"
        and isinstance(scores, Tensor)
        and scores.requires_grad == GRAD_YES
        and isinstance(target, Tensor)
        and target.requires_grad == GRAD_NO
    )


def _ends_in_likelihood(op: Op, bound: dict[str, Value]) -> bool:
    """
    Whether a `cross_entropy` is a `log_softmax` and one of the nodes of `nll_loss`, which saves its input, and nothing
    behind it: of classes, reduced to a number, without smoothing (aten/src/ATen/native/LossNLL.cpp).
    """
    if op.name != "cross_entropy" or bound.keys() & {"size_average", "reduce"}:
        return False
    target, smoothing, reduction = bound.get("target"), bound.get("label_smoothing"), bound.get("reduction")
    classes = isinstance(target, Tensor) and target.dtype == "int"
    reduced = reduction is None or (isinstance(reduction, Constant) and reduction.value in ("mean", "sum"))
    return classes and reduced and (smoothing is None or smoothing in _ZEROS)


_ZEROS = (Constant(0), Constant(0.0), Constant(False))


def _formula(operation: str, bound: dict[str, Value]) -> str:
    if operation == "Pow":
        exponent = bound.get("exponent", Constant(2))  # `square` has none
        known = isinstance(exponent, (Constant, Tensor)) and exponent not in _ZEROS
        return "" if known else "constant"  # with an exponent of 0 the gradient is 0, whatever was saved
    if operation == "Prod":
        factors = bound.get("self")
        # of one number the gradient is the one that came in (`prod_backward`)
        return "" if isinstance(factors, Tensor) and factors.shape else "constant"
    if operation in ("Std", "Logsumexp"):
        return "all"
    if operation == "LinalgVectorNorm":
        power = bound.get("p", bound.get("ord", NONE))
        if not isinstance(power, Constant) or power in _ZEROS:
            return "constant"
        return "" if power.value in (1, math.inf, -math.inf) else "all"
    return ""


def operation_of(node: GraphNode) -> str:
    """A node's operation, from the name of its class in torch."""
    return node.name.rstrip("0123456789").removesuffix("Backward")
