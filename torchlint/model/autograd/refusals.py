"""
What torch refuses where it is asked for: a write to a leaf or to a view, a hook without a graph.

Says that it is refused, and of which tensor; where a tensor is one of several, once all are seen
(`conclusions`). The conditions are those of `check_inplace` (torch/csrc/autograd/VariableTypeUtils.h).
"""

from __future__ import annotations

from typing import Final

from torchlint.condition import Condition
from torchlint.model.autograd.autograd import Autograd, RefusedWhere
from torchlint.model.events import AutogradRefused, Refusal
from torchlint.model.events.trace import Step
from torchlint.model.state.alternatives import emit_each
from torchlint.model.state.guards import ALWAYS, Truth
from torchlint.model.state.guards import conditions as named_conditions
from torchlint.model.state.machine import records
from torchlint.model.state.values import Grad, GraphNode, Tensor
from torchlint.syntax import cst, ir

_RECORDED: frozenset[Refusal] = frozenset(
    {"multi-view", "no-grad-view", "custom-view", "flag-on-non-leaf", "numpy", "deepcopy", "out", "inference",
     "inference-write"}
)  # fmt: skip
"""What torch refuses only where grad mode was on."""
_MOST_VIEWS = 6
"""Views of views that are looked through."""
_BY_VIEW: Final[dict[str, Refusal]] = {"multi": "multi-view", "no_grad": "no-grad-view", "custom": "custom-view"}
_OF_VIEWS: frozenset[Refusal] = frozenset(_BY_VIEW.values())


def refuse(
    autograd: Autograd,
    kind: Refusal,
    op: str,
    tensor: Tensor,
    origin: ir.Node,
    truth: Truth = Truth.YES,
    target: cst.BaseExpression | None = None,
    name: str = "",
    trace: tuple[Step, ...] = (),
) -> None:
    """
    Torch raises here, if `truth`. Where the tensor is one of several, what it refuses of all of them is told once
    they are all seen.
    """
    machine = autograd.machine
    if truth is Truth.NO or machine.of_elsewhere(tensor):
        return
    conditions: tuple[Condition, ...] = ()
    if kind in _RECORDED:
        conditions = machine.callers.conditions(machine, machine.here(origin), spares_graph=kind == "out")
    if conditions:
        machine.externally_pure = False  # its callers may say what the mode is
    event = AutogradRefused(
        node=machine.here(origin).origin,
        statement=machine.line(),
        truth=truth,
        conditions=conditions,
        moment=machine.tick(),
        kind=kind,
        op=op,
        target=machine.facts(tensor, name),
        target_node=target,
        trace=trace,
    )
    if kind in _OF_VIEWS and not machine.is_certain():
        machine.open_write = True  # who knows more may know that it is this view that is written
    emit_each(machine, event, kind)
    if kind in _OF_VIEWS and truth is Truth.YES and not machine.is_certain():
        _note(autograd, event, origin)


def _note(autograd: Autograd, event: AutogradRefused, origin: ir.Node) -> None:
    """Torch refuses it under what the run of a `forward`, whose callers decide, has to show to be one condition."""
    machine = autograd.machine
    if machine.callers.kind == "forward" and not machine.expected_errors and not machine.callers.infers(machine):
        need = machine.assumed - machine.path
        autograd.refused_where.append(RefusedWhere(event, machine.here(origin), need, machine.path))


def refuses_view(tensor: Tensor, recorded: Grad) -> Refusal | None:
    """Whether torch certainly refuses a recorded write into this view (`handle_view_on_rebase`)."""
    return kind_of_view(tensor) if recorded.truth() is Truth.YES else None


def kind_of_view(tensor: Tensor) -> Refusal | None:
    """As what torch refuses recorded writes into this view, if it does."""
    return _BY_VIEW.get(tensor.view)


def note_refused_view(
    autograd: Autograd,
    tensor: Tensor,
    recorded: Grad,
    op: str,
    origin: ir.Node,
    target: cst.BaseExpression,
    name: str,
) -> None:
    """A write into a view that torch refuses if an input of the `forward` requires grad that runs."""
    machine = autograd.machine
    kind = kind_of_view(tensor)
    if kind is None or not recorded.inputs or machine.of_elsewhere(tensor) or _is_row(tensor):
        return
    event = AutogradRefused(
        node=machine.here(origin).origin,
        statement=machine.line(),
        truth=Truth.YES,
        conditions=named_conditions(recorded.guard() or ALWAYS),
        moment=machine.tick(),
        kind=kind,
        op=op,
        target=machine.facts(tensor, name),
        target_node=target,
    )
    _note(autograd, event, origin)


def _is_row(tensor: Tensor) -> bool:
    """Whether it is of what a loop goes over, which may as well be a list of tensors that are no views."""
    base = tensor.base
    if base is None or not base.storage.given:
        return False
    pending: list[GraphNode | Tensor] = [node for _, node in tensor.grad_fn]
    for _ in range(_MOST_VIEWS):
        nodes = [each for each in pending if isinstance(each, GraphNode)]
        if any(each.op == "unbind" and each.origin is base.origin for each in nodes):
            return True
        pending = [node for each in nodes for _, node in each.edges]
    return False


def taken_for_leaf(autograd: Autograd, tensor: Tensor) -> Truth:
    """
    Whether torch takes a view for a leaf that requires grad: it was made before its base was written in the graph, and
    nobody has asked for its `grad_fn` since (`check_inplace` asks `requires_grad`, which is the base's, and
    `is_leaf`, which looks at the `grad_fn` that is there).
    """
    base = tensor.base
    if base is None or tensor.grad_fn or tensor.view != "view" or tensor.storage.uses:
        return Truth.NO
    return base.own.truth() & ~base.is_leaf & records(autograd.machine) & ~tensor.own.truth()


def leaf_check(autograd: Autograd, tensor: Tensor) -> tuple[Truth, Truth]:
    """Whether torch raises because a leaf that requires grad is written; and whether because of a view of one."""
    base = tensor.base
    if base is not None:
        truth = tensor.requires_grad.truth() & base.is_leaf
        if any(node.opaque for _, node in base.grad_fn):
            truth = Truth.NO if truth is Truth.NO else Truth.MAYBE
        return truth & records(autograd.machine), truth
    truth = tensor.own.truth() & tensor.is_leaf
    return truth & records(autograd.machine), Truth.NO
