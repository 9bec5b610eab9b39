"""
Gradients as values: of `create_graph=True`, whether a gradient has a graph of its own, and where that leads; and
whether the gradient is a view.

The gradient of a node depends on what the node saved; so it requires grad if one of the saved tensors does, and
differentiating it again leads to them. Where a node's formula is not known to use all it saved, nothing is claimed.
The formulas are those of tools/autograd/derivatives.yaml.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.autograd.autograd import Autograd
from torchlint.model.autograd.edges import edges_of, new_node
from torchlint.model.autograd.record import operation_of, save_tensor
from torchlint.model.autograd.tensors import fresh, view_of
from torchlint.model.autograd.walk import leads
from torchlint.model.autograd.writes import escape
from torchlint.model.state.guards import ALWAYS, Guard, Truth, unconditional
from torchlint.model.state.values import (
    GRAD_NO,
    GRAD_YES,
    Grad,
    GraphNode,
    Saved,
    Tensor,
    Unknown,
    Value,
    unknown_guard,
)
from torchlint.syntax import ir

# Nodes whose gradient is a differentiable function of every tensor they saved.
_SMOOTH = frozenset(
    {
        *("Pow", "Exp", "Sigmoid", "Tanh", "Sqrt", "Rsqrt", "Reciprocal", "Log", "Log1P", "Sin", "Cos", "Tan", "Sinh"),
        *("Cosh", "Atan", "Expm1", "Erf", "Abs", "Softmax", "LogSoftmax", "Logsumexp", "Relu", "LeakyRelu", "Elu"),
        *("Gelu", "Silu", "Softplus", "Std", "Var", "Prod", "Mul", "Div", "Mm", "Dot", "Bmm", "Mv", "MseLoss"),
        *("SmoothL1Loss", "HuberLoss", "LinalgVectorNorm", "Norm", "Celu", "Mish", "Hardswish", "LogSigmoid"),
        *("Hardtanh", "Softshrink", "Hardshrink", "Asin", "Acos", "Asinh", "Atanh", "Log2", "Log10", "Exp2"),
        *("Erfinv", "Erfc", "Lgamma", "Digamma", "Sinc", "Logit"),
    }
)
# Whose gradient depends on no input, unless several require grad.
_LINEAR = frozenset({"Add", "Sub", "Mul", "Div", "Neg"})
# Of these the gradient of each of the two inputs depends on the other one alone.
_BILINEAR = frozenset({"Mul", "Mm", "Dot", "Bmm", "Mv"})
# Of these the gradient uses what was saved for a comparison, or for where it goes: it has no graph.
_PIECEWISE = frozenset(
    {
        *("Max", "Min", "Amax", "Amin", "Median", "Nanmedian", "Maximum", "Minimum", "Fmax", "Fmin", "Mode", "Topk"),
        *("Clamp", "ClampMin", "ClampMax", "Cummax", "Cummin", "Sort", "Kthvalue", "Aminmax", "Where", "MaskedFill"),
        *("Gather", "Index", "IndexSelect", "MaskedSelect"),
    }
)
# Functions of several operations whose last node holds nothing of those before it, whose gradients are no constants.
_COMPOSED = frozenset(
    """
    chain_matmul cond cosine_similarity cross_entropy einsum gumbel_softmax hinge_embedding_loss instance_norm kron
    linalg_cond linalg_multi_dot linalg_norm local_response_norm matmul multi_dot ndtr norm normalize
    scaled_dot_product_attention special_ndtr tanhshrink tensordot
    """.split()  # noqa: SIM905
)
# Of these the gradient is a new zero, whatever comes in: it depends on nothing, nor on what came to it on the way.
_ZERO = frozenset({"Round", "Floor", "Ceil", "Trunc", "Sign", "Bernoulli"})
# Of these the gradient of the prediction depends on prediction and target, that of the target on the prediction alone.
_LIKELIHOODS = frozenset({"BinaryCrossEntropy", "BinaryCrossEntropyWithLogits"})
# Of these the gradient of each input depends on all of them.
_SYMMETRIC: Final = frozenset({"MseLoss", "SmoothL1Loss", "HuberLoss"})
# Of these the gradient saves the saved tensor itself once more, whatever comes in: `grad * self.cos()`, `grad / self`.
_SAVES_AGAIN = _SYMMETRIC | frozenset(
    {
        *("Pow", "Sin", "Cos", "Log", "Tanh", "Sigmoid", "Sinh", "Cosh", "Asin", "Acos", "Atan", "Asinh", "Atanh"),
        *("Erf", "Erfc", "Erfinv", "Lgamma", "Digamma", "Sinc", "Logit", "Abs", "LeakyRelu", "Elu", "Celu", "Gelu"),
        *("Silu", "Mish", "Softplus", "LogSigmoid", "Hardswish", "Hardtanh", "Softshrink", "Hardshrink"),
    }
)
# Of these the gradient is the incoming one with another shape: a view, made under `no_grad` without `create_graph`.
_RESHAPES = frozenset(
    {"Sum", "View", "ReshapeAlias", "UnsafeView", "Unsqueeze", "Squeeze", "T", "Transpose", "Permute"}
)


def first_order(autograd: Autograd, target: Tensor, origin: ir.Node) -> Tensor:
    """The gradient of `target` in the backward pass that has just run without `create_graph=True`."""
    machine = autograd.machine
    gradient = fresh(autograd, origin, "autograd.grad", shape=target.shape, dtype=target.dtype, precise=target.precise)
    gradient.cut = "`autograd.grad` without `create_graph=True` returns tensors without a graph"
    if not _reshaped(autograd, target):
        return gradient
    mode, machine.grad_mode = machine.grad_mode, Truth.NO
    view = view_of(autograd, gradient, origin, "autograd.grad", None, GRAD_NO, target.shape, "view")
    machine.grad_mode = mode
    return view


def _reshaped(autograd: Autograd, target: Tensor) -> bool:
    """Whether the gradient certainly comes from one node, and is what came to that in another shape."""
    ends = {id(node) for _, node in edges_of(autograd, target)}
    if len(ends) != 1 or autograd.starts & ends or target.hooked:
        return False  # a hook may give another gradient back
    uses = [
        (node, guard, guards)
        for node, guards in autograd.visited.values()
        for guard, end in node.edges
        if id(end) in ends
    ]
    if len(uses) != 1:
        return False
    node, guard, guards = uses[0]
    sure = not guard and any(unconditional(each) <= autograd.machine.guard for each in guards)
    return sure and not node.composed and not node.opaque and operation_of(node) in _RESHAPES


def second_order(autograd: Autograd, target: Tensor, given: Grad, origin: ir.Node) -> Value:
    """
    The gradient of `target` in the backward pass that has just run with `create_graph=True`; `given` is the
    requires_grad of the gradients passed to it.
    """
    ends = {id(node) for _, node in edges_of(autograd, target)}
    if autograd.starts == ends:
        return _given(autograd, target, given, origin)
    known = _zeros(autograd)
    whole: dict[int, bool] = {}
    every = [(node, guards) for node, guards in autograd.visited.values() if leads(node, ends, whole)]
    on_the_way = [(node, guards) for node, guards in every if leads(node, ends, known)]
    depends = given.truth()
    if any(node.opaque for node, _ in every if not known[id(node)]):
        depends = Truth.MAYBE  # what unknown code has made of a zero, it may have made of the target, too
    edges: list[tuple[Guard, GraphNode | Tensor]] = []
    for node, guards in on_the_way:
        truth, inner = _depends_on_saved(autograd, node, ends, known)
        if not any(unconditional(guard) <= autograd.machine.guard for guard in guards):
            truth = Truth.MAYBE if truth is Truth.YES else truth
        depends = depends | truth
        edges += inner
    # No way from the root to the target was seen: then nothing is known of what the gradient is made of.
    if depends is Truth.MAYBE or given != GRAD_NO or not every:
        return Unknown([target], source=origin)
    own = GRAD_YES if depends is Truth.YES else GRAD_NO
    graph = new_node(autograd, "", "autograd.grad", origin, own, edges, Truth.YES) if own == GRAD_YES else None
    gradient = fresh(
        autograd,
        origin,
        "autograd.grad",
        own=own,
        node=graph,
        shape=target.shape,
        dtype=target.dtype,
        precise=target.precise,
        cut="" if graph is not None else "its formula uses nothing that requires grad",
    )
    if graph is not None:
        graph.composed = True  # it stands for all the operations of a formula
        _saved_again(autograd, graph, [node for node, _ in on_the_way], origin)
    return gradient


def _zeros(autograd: Autograd) -> dict[int, bool]:
    """The nodes of the pass that pass on a zero: no gradient that depends on anything leads over them to its ends."""
    return {id(node): False for node, _ in autograd.visited.values() if operation_of(node) in _ZERO}


def _saved_again(autograd: Autograd, graph: GraphNode, nodes: list[GraphNode], origin: ir.Node) -> None:
    """The gradient's own graph saves some tensors once more; of most nodes it is not told here which."""
    known = [saved for node in nodes if operation_of(node) in _SAVES_AGAIN for saved in node.saved]
    for saved in known:
        if saved.tensor.requires_grad == GRAD_YES and not saved.guard:
            again = save_tensor(autograd, graph, saved.what, saved.tensor, autograd.machine.tick(), ALWAYS)
            graph.saved = (*graph.saved, again)
    escape(autograd, [saved.tensor for node in nodes for saved in node.saved], origin, saved=True)


def _given(autograd: Autograd, target: Tensor, given: Grad, origin: ir.Node) -> Value:
    """The gradient of the root itself is the one that was passed, or ones."""
    if given != GRAD_NO:
        return Unknown([target], source=origin)
    return fresh(
        autograd,
        origin,
        "autograd.grad",
        shape=target.shape,
        dtype=target.dtype,
        precise=target.precise,
        cut="it is the gradient of the root itself",
    )


def _depends_on_saved(
    autograd: Autograd, node: GraphNode, ends: set[int], known: dict[int, bool]
) -> tuple[Truth, list[tuple[Guard, GraphNode | Tensor]]]:
    """
    Whether the gradient that a node passes on to these ends depends on a recorded tensor that it saved, and where these
    lead.
    """
    if node.opaque or node.formula == "unknown":
        return Truth.MAYBE, []
    if operation_of(node) in _PIECEWISE:
        return Truth.NO, []
    if node.formula == "inputs":
        return node.condition.truth(), list(node.edges)
    saved = _used(autograd, node, ends, known)
    if not saved:
        if node.op.endswith(("_", "=")) and node.holds is not Truth.NO and operation_of(node) not in _LINEAR:
            return Truth.MAYBE, []  # `x **= 2` saves a copy of `x`, which no list has
        if node.op.rpartition(".")[2] in _COMPOSED:
            return Truth.MAYBE, []
        return Truth.NO if node.name or (not node.saved and node.holds is Truth.NO) else Truth.MAYBE, []
    smooth = operation_of(node) in _SMOOTH and node.formula != "constant"
    symmetric = operation_of(node) in _SYMMETRIC
    recorded = [each.tensor.requires_grad == GRAD_YES for each in node.saved]
    certain = smooth and (any(recorded) if symmetric else all(recorded))
    if operation_of(node) in _LIKELIHOODS:
        certain = len(saved) == 1 and saved[0].what in ("self", "input") and saved[0].tensor.requires_grad == GRAD_YES
    # Which of several saved tensors the gradient of one input depends on, is known only where it is on all of them.
    bilinear = operation_of(node) in _BILINEAR
    alone = (
        len({id(each.tensor) for each in saved}) == 1
        or symmetric
        or node.formula == "all"
        or (bilinear and all(_leads(autograd, each, ends, known, certainly=True) for each in saved))
    )
    edges = [
        (guard if alone and certain else guard | unknown_guard(), end)
        for each in saved
        for guard, end in edges_of(autograd, each.tensor)
    ]
    return (Truth.YES if certain else Truth.MAYBE), edges


def _used(autograd: Autograd, node: GraphNode, ends: set[int], known: dict[int, bool]) -> list[Saved]:
    """The recorded tensors that a node saved, without those that are certainly no part of these ends' gradient."""
    saved = [each for each in node.saved if each.tensor.requires_grad != GRAD_NO]
    written = node.op.endswith(("_", "="))  # then the tensor has another history by now
    if len(node.saved) != 2 or len(saved) != 2 or written or operation_of(node) not in _BILINEAR:
        return saved
    leading = [_leads(autograd, each, ends, known) for each in saved]
    used = [each for each, leads_on in zip(saved, reversed(leading), strict=True) if leads_on]
    return used or saved


def _leads(
    autograd: Autograd, saved: Saved, ends: set[int], known: dict[int, bool], *, certainly: bool = False
) -> bool:
    """Whether a saved tensor was made of these ends; `certainly`: by a way without unknown code or a condition."""
    seen = _zeros(autograd) if certainly else known
    return any(
        id(end) in ends or (isinstance(end, GraphNode) and leads(end, ends, seen, sure=certainly))
        for guard, end in edges_of(autograd, saved.tensor)
        if not certainly or not guard
    )
