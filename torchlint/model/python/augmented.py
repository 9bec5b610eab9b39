"""
`x += y`: in place on tensors and lists, a new value otherwise.

An item or an attribute is read, changed, and bound again.
"""

from __future__ import annotations

from torchlint.knowledge.ops import find as ops
from torchlint.model.autograd.tensors import tensor_options
from torchlint.model.python.attributes import owner_of_dict
from torchlint.model.python.binding import assign, may_write, store
from torchlint.model.python.containers import elements_of, extend_list, extend_mapping, widen_list
from torchlint.model.python.derived_parameters import cst_expression
from torchlint.model.python.flags import keep_in_unknown, unsettle
from torchlint.model.python.members import patch_what_it_may_be, put_where_getter_says, set_members, written_to_mapping
from torchlint.model.python.operators import holds_tensor, operate
from torchlint.model.python.run import Run, Statements
from torchlint.model.python.subscripts import evaluate_index, subscript
from torchlint.model.python.unseen_classes import note_put
from torchlint.model.state.frames import is_compiled
from torchlint.model.state.guards import Truth
from torchlint.model.state.reachable import some_of
from torchlint.model.state.values import (
    NONE,
    Constant,
    External,
    Mapping,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    may_be_tensor,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.arrays import write_array
from torchlint.model.torch.gradients import grad_written, have_none
from torchlint.model.torch.indexing import tensor_setitem
from torchlint.model.torch.operations import apply
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_NOT_IN_PLACE = frozenset({"^", "|", "&", "**"})
_GROWING = ("list", "deque")
"""The augmented assignments of which TorchScript makes no in-place operation (`x ^= 1` is `x = x ^ 1`)."""


def augmented_statement(run: Run, node: ir.AugmentedAssign) -> None:
    """`target += value`."""
    target = node.target
    if isinstance(target, ir.Subscript):
        _augmented_item(run, node, target)
        return
    current = run.evaluate(target)
    value = run.evaluate(node.value)
    _scaled_grad(run, node, target, current, value)
    if node.op == "@" or (node.op in _NOT_IN_PLACE and is_compiled(run.machine)):
        # Tensors have no `__imatmul__`: Python computes the product and rebinds the name; TorchScript too, for some.
        assign(run, target, operate(run, node.op, current, value, node))
        return
    in_place = holds_tensor(run, current) and not run.replaces_operators()
    if in_place and all(not isinstance(e, (Constant, Scalar)) for _, e in alternatives(current)):
        spelling = ops.operator_spelling(f"{node.op}=")
        result = apply(
            run.torch,
            spelling,
            [current, value],
            {},
            node,
            f"{node.op}=",
            target=cst_expression(target),
            name=dotted(target),
        )
        assign(run, target, current if result is not None else Unknown(reachable_tensors(current)))
        return
    if isinstance(current, Sequence) and isinstance(value, Sequence) and node.op == "+" and current.kind in _GROWING:
        known, elements = elements_of(run, value)
        if known:
            extend_list(run, current, tuple(elements))
        else:
            widen_list(run, current, elements)
        return
    if write_array(run.torch, current, node, target, f"{node.op}="):
        assign(run, target, current)
        return
    if node.op == "|" and (owner := owner_of_dict(run, target)) is not None:
        named = value.items if isinstance(value, Mapping) else None
        if named is None:
            note_put(run.machine, owner, [value])
        set_members(run, owner, named, value, anew=False)
        return
    if node.op == "|" and isinstance(current, Mapping):
        written_to_mapping(run, current, some_of([value]))
        extend_mapping(run, current, [value])
        assign(run, target, current)
        return
    if node.op == "|" and isinstance(current, Unknown):
        put_where_getter_says(run, current.part_of, value)
        patch_what_it_may_be(run, current)
    if isinstance(current, (External, Unknown)) and isinstance(value, (Mapping, Sequence)):
        keep_in_unknown(run, [value])
    if not isinstance(value, Sequence):
        may_write(run, current, value)
        _may_take_part(run, current)
    computed = operate(run, node.op, current, value, node)
    if isinstance(computed, Tensor) and run.machine.grad_mode is not Truth.YES and may_be_tensor(current):
        # A tensor is written and stays what it is, whatever is computed while nothing is recorded.
        computed = choose([(unknown_guard(), current), (unknown_guard(), computed)])
    assign(run, target, computed)


def _may_take_part(run: Run, current: Value) -> None:
    """A value that may be a tensor, of which nobody knows, is changed in place: so that tensor may require grad now."""
    for tensor in reachable_tensors(current):
        if tensor.requires_grad.truth() is Truth.NO:
            unsettle(run, tensor, slightly=True)


def _augmented_item(run: Run, node: ir.AugmentedAssign, target: ir.Subscript) -> None:
    machine = run.machine
    container = run.evaluate(target.value)
    index = evaluate_index(run, target.index)
    value = run.evaluate(node.value)
    if node.op == "@":
        # Tensors have no `__imatmul__`: Python computes the product of what stands there and puts it there.
        product = operate(run, "@", subscript(run, container, index, target), value, node)
        store(run, container, index, product, target, target.value, "[...] =")
        return
    if holds_tensor(run, container):
        for guard, tensor in tensor_options(run.autograd, container):
            assumed = machine.assumed
            machine.assumed = assumed | guard
            # `x[i] += v` reads a view, adds in place, and writes it back: for autograd one write through a view.
            tensor_setitem(
                run.torch,
                tensor,
                index,
                value,
                node,
                cst_expression(target.value),
                dotted(target.value),
                f"[...] {node.op}=",
                node.op,
            )
            machine.assumed = assumed
        return
    element = subscript(run, container, index, target)
    if holds_tensor(run, element):
        apply(
            run.torch,
            ops.operator_spelling(f"{node.op}="),
            [element, value],
            {},
            node,
            f"{node.op}=",
            target=cst_expression(target),
        )
        return
    may_write(run, container, value)
    store(run, container, index, operate(run, node.op, element, value, node), target, target.value, "[...] =")


def _scaled_grad(run: Run, node: ir.AugmentedAssign, target: ir.Expression, current: Value, value: Value) -> None:
    if node.op != "*" or value not in (Constant(0), Constant(0.0)):
        return
    for _, each in alternatives(current):
        if isinstance(each, Tensor) and each.grad_of is not None:
            grad_written(run.torch, each, "scale", node, each.grad_of)
        elif each == NONE and isinstance(target, ir.Attribute) and target.attr == "grad":
            owners = alternatives(run.evaluate(target.value), run.machine.path)
            for _, owner in owners:
                if isinstance(owner, Tensor):
                    grad_written(run.torch, None, "scale", node, owner, have_none(run.torch, owners))


STATEMENTS: Statements = {
    ir.AugmentedAssign: augmented_statement,
}
