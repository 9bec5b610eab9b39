"""
Transfer function of gradients as values: of `create_graph=True`, whether a gradient has a graph of its own, and where
that leads; and whether the gradient is a view.

The gradient of a node depends on what the node saved; so it requires grad if one of the saved tensors does, and
differentiating it again leads to them. Where a node's formula is not known to use all it saved, nothing is claimed.
Says what happens; does not judge. The formulas are those of tools/autograd/derivatives.yaml.
"""

from __future__ import annotations

import math

from torchlint.knowledge.ops.find import Op
from torchlint.model.autograd.backward import BackwardMachine, leads
from torchlint.model.state.guards import ALWAYS, Guard, Truth, unconditional
from torchlint.model.state.values import (
    GRAD_NO,
    GRAD_YES,
    NONE,
    Constant,
    Grad,
    GraphNode,
    Scalar,
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
# Of these the gradient of each input depends on all of them.
_SYMMETRIC = frozenset({"MseLoss", "SmoothL1Loss", "HuberLoss"})
# Of these the gradient saves the saved tensor itself once more, whatever comes in: `grad * self.cos()`, `grad / self`.
_SAVES_AGAIN = frozenset({"Pow", "Sin", "Cos", "Log", "Tanh", "Sigmoid"}) | _SYMMETRIC
_ZEROS = (Constant(0), Constant(0.0), Constant(False))
# Of these the gradient is the incoming one with another shape: a view, made under `no_grad` without `create_graph`.
_RESHAPES = frozenset(
    {"Sum", "View", "ReshapeAlias", "UnsafeView", "Unsqueeze", "Squeeze", "T", "Transpose", "Permute"}
)


class SecondOrderMachine(BackwardMachine):
    """A machine that differentiates gradients."""

    def record(
        self, op: Op, bound: dict[str, Value], origin: ir.Node, display: str, *, saved_before: int | None = None
    ) -> tuple[Grad, GraphNode | None]:
        """Record an operation, and what its arguments tell of the formula of its gradient."""
        grad, node = super().record(op, bound, origin, display, saved_before=saved_before)
        if node is not None:
            node.formula = _formula(_operation(node), bound)
        return grad, node

    def first_order(self, target: Tensor, origin: ir.Node) -> Tensor:
        """The gradient of `target` in the backward pass that has just run without `create_graph=True`."""
        gradient = self.fresh(origin, "autograd.grad", shape=target.shape, dtype=target.dtype, precise=target.precise)
        gradient.cut = "`autograd.grad` without `create_graph=True` returns tensors without a graph"
        if not self._reshaped(target):
            return gradient
        mode, self.grad_mode = self.grad_mode, Truth.NO
        view = self.view_of(gradient, origin, "autograd.grad", None, GRAD_NO, target.shape, "view")
        self.grad_mode = mode
        return view

    def _reshaped(self, target: Tensor) -> bool:
        """Whether the gradient certainly comes from one node, and is what came to that in another shape."""
        ends = {id(node) for _, node in self.edges(target)}
        if len(ends) != 1 or self.starts & ends or target.hooked:
            return False  # a hook may give another gradient back
        uses = [
            (node, guard, guards)
            for node, guards in self.visited.values()
            for guard, end in node.edges
            if id(end) in ends
        ]
        if len(uses) != 1:
            return False
        node, guard, guards = uses[0]
        sure = not guard and any(unconditional(each) <= self.guard for each in guards)
        return sure and not node.composed and not node.opaque and _operation(node) in _RESHAPES

    def second_order(self, target: Tensor, given: Grad, origin: ir.Node) -> Value:
        """
        The gradient of `target` in the backward pass that has just run with `create_graph=True`; `given` is the
        requires_grad of the gradients passed to it.
        """
        ends = {id(node) for _, node in self.edges(target)}
        if self.starts == ends:
            return self._given(target, given, origin)
        known: dict[int, bool] = {}
        on_the_way = [(node, guards) for node, guards in self.visited.values() if leads(node, ends, known)]
        depends = given.truth()
        edges: list[tuple[Guard, GraphNode | Tensor]] = []
        for node, guards in on_the_way:
            truth, inner = self._depends_on_saved(node)
            if not any(unconditional(guard) <= self.guard for guard in guards):
                truth = Truth.MAYBE if truth is Truth.YES else truth
            depends = depends | truth
            edges += inner
        # No way from the root to the target was seen: then nothing is known of what the gradient is made of.
        if depends is Truth.MAYBE or given != GRAD_NO or not on_the_way:
            return Unknown([target], source=origin)
        own = GRAD_YES if depends is Truth.YES else GRAD_NO
        graph = self.node("", "autograd.grad", origin, own, edges, Truth.YES) if own == GRAD_YES else None
        gradient = self.fresh(
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
            self._saved_again(graph, [node for node, _ in on_the_way], origin)
        return gradient

    def _saved_again(self, graph: GraphNode, nodes: list[GraphNode], origin: ir.Node) -> None:
        """The gradient's own graph saves some tensors once more; of most nodes it is not told here which."""
        known = [saved for node in nodes if _operation(node) in _SAVES_AGAIN for saved in node.saved]
        for saved in known:
            if saved.tensor.requires_grad == GRAD_YES and not saved.guard:
                again = self._save(graph, saved.what, saved.tensor, self.tick(), ALWAYS)
                graph.saved = (*graph.saved, again)
        self.escape([saved.tensor for node in nodes for saved in node.saved], origin)

    def _given(self, target: Tensor, given: Grad, origin: ir.Node) -> Value:
        """The gradient of the root itself is the one that was passed, or ones."""
        if given != GRAD_NO:
            return Unknown([target], source=origin)
        return self.fresh(
            origin,
            "autograd.grad",
            shape=target.shape,
            dtype=target.dtype,
            precise=target.precise,
            cut="it is the gradient of the root itself",
        )

    def gradient_with_graph(self, leaf: Tensor, create: Truth, origin: ir.Node) -> Value:
        """A `.grad` made with `create_graph=True`."""
        return self.second_order(leaf, GRAD_NO, origin) if create is Truth.YES else Unknown([leaf])

    def _depends_on_saved(self, node: GraphNode) -> tuple[Truth, list[tuple[Guard, GraphNode | Tensor]]]:
        """
        Whether the gradient that a node passes on depends on a recorded tensor that it saved, and where these lead.
        """
        if node.opaque:
            return Truth.MAYBE, []
        saved = [each for each in node.saved if each.tensor.requires_grad != GRAD_NO]
        if not saved:
            if node.op.endswith(("_", "=")) and node.holds is not Truth.NO and _operation(node) not in _LINEAR:
                return Truth.MAYBE, []  # `x **= 2` saves a copy of `x`, which no list has
            return Truth.NO if node.name or (not node.saved and node.holds is Truth.NO) else Truth.MAYBE, []
        smooth = _operation(node) in _SMOOTH and node.formula != "constant"
        symmetric = _operation(node) in _SYMMETRIC
        recorded = [each.tensor.requires_grad == GRAD_YES for each in node.saved]
        certain = smooth and (any(recorded) if symmetric else all(recorded))
        # Which of several saved tensors the gradient of one input depends on, is known only where it is on all of them.
        alone = len({id(each.tensor) for each in saved}) == 1 or symmetric or node.formula == "all"
        edges = [
            (guard if alone and certain else guard | unknown_guard(), end)
            for each in saved
            for guard, end in self.edges(each.tensor)
        ]
        return (Truth.YES if certain else Truth.MAYBE), edges


def _formula(operation: str, bound: dict[str, Value]) -> str:
    if operation == "Pow":
        exponent = bound.get("exponent", Constant(2))  # `square` has none
        return "constant" if isinstance(exponent, Scalar) or exponent in _ZEROS else ""
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


def _operation(node: GraphNode) -> str:
    return node.name.rstrip("0123456789").removesuffix("Backward")
