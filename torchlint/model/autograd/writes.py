"""
Writing in place: versions, views and aliases, what a write overwrites, and hands that tensors get into.

How versions and views behave follows PyTorch's autograd notes
(https://docs.pytorch.org/docs/stable/notes/autograd.html). Whether a write does harm is concluded at the end
(`conclusions`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from torchlint.knowledge.ops.find import Op
from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.autograd.autograd import Autograd, WriteRecord
from torchlint.model.autograd.edges import edges_of, new_node, regenerate, running_statement
from torchlint.model.autograd.record import record_operation, recorded_grad, save_results
from torchlint.model.autograd.refusals import leaf_check, note_refused_view, refuse, refuses_view, taken_for_leaf
from torchlint.model.autograd.tensors import MOST_SAVES, possible_gradient
from torchlint.model.events import AliasWritten, WriteSpelling, WrittenPart
from torchlint.model.events.trace import Step
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conjoin, implied
from torchlint.model.state.machine import records
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    GRAD_YES,
    NONE,
    Choice,
    Constant,
    External,
    Grad,
    GraphNode,
    Saved,
    Storage,
    Tensor,
    Unknown,
    Use,
    Value,
    Write,
    choose,
    unknown_guard,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted, same
from torchlint.syntax.tree import written

MOST_WRITES = 128
"""Saves and writes of one storage that are remembered, the latest; a forgotten one proves nothing any more."""
MOST_ESCAPED = 64
"""Leaves in the hands of unknown code that are remembered, the latest."""
INPLACE_VIEWS = frozenset({"unsqueeze", "squeeze", "t", "transpose", "swapaxes", "swapdims"})
"""Operations whose in-place twin changes sizes and strides alone (PyTorch: tag `inplace_view`)."""
MOST_STEPS = 4
"""Operations that saved an old value, as many as a trace names."""


def use(autograd: Autograd, tensor: Tensor, origin: ir.Node, name: str = "") -> None:
    """The program reads a tensor's values: an alias of it may have been written meanwhile."""
    machine = autograd.machine
    if not autograd.pending_alias_writes:
        return
    for pending in list(autograd.pending_alias_writes):
        cut, alias, family, write = pending
        if tensor.family is not family or conjoin(write.path, write.assumed, machine.path, machine.assumed) is None:
            continue
        if tensor.storage is not alias.source.storage:
            continue
        autograd.pending_alias_writes.remove(pending)
        by_alias = write.target.family is cut.family
        read_name = name or tensor.name
        read = Step(
            machine.here(origin).origin, f"`{read_name}` is read here" if read_name else "its values are read here"
        )
        alias_name, source_name = cut.name, alias.source.name
        machine.emit(
            AliasWritten(
                node=write.origin.origin,
                statement=write.line,
                trace=(
                    Step(alias.origin.origin, f"`{alias.how}` shares memory with `{source_name}`"),
                    Step(write.origin.origin, f"`{write.op}` overwrites `{write.name}`"),
                    read,
                ),
                how=alias.how,
                alias=alias_name,
                source=source_name,
                alias_node=_expression(alias.origin),
                alias_statement=alias.line,
                written="alias" if by_alias else "source",
                source_is_leaf=alias.source.is_leaf,
                read=read,
                truth=Truth.YES if implied(write.assumed, write.path | machine.path) else Truth.MAYBE,
            )
        )


def show(autograd: Autograd, tensor: Tensor, origin: ir.Node) -> None:
    """The program prints a tensor, or makes a text of it: torch asks for its `grad_fn`, and bears that it has none."""
    use(autograd, tensor, origin)
    if tensor.view == "view":
        regenerate(autograd, tensor)


def escape(autograd: Autograd, tensors: Iterable[Tensor], origin: ir.Node, *, saved: bool = False) -> None:
    """Hand tensors to code the model does not know; `saved`: to a graph, of which nobody knows which it saves."""
    machine = autograd.machine
    origin = machine.here(origin)
    for tensor in tensors:
        if autograd.pending_alias_writes:
            use(autograd, tensor, origin)
        uses, sure = tensor.storage.uses, not tensor.may_be_copy
        if not uses or (sure and not any(each.sure for each in uses)) or not (saved or tensor.storage.handed_on()):
            kept = tuple(each for each in uses if each.sure)
            machine.trail.set(tensor.storage, "uses", (*kept, Use(machine.tick(), origin, sure, saved)))
            if not tensor.grad_fn and tensor.own != GRAD_NO:
                machine.trail.set(autograd, "escaped", (*autograd.escaped[-MOST_ESCAPED:], tensor))


def write(
    autograd: Autograd,
    tensor: Tensor,
    origin: ir.Node,
    target: cst.BaseExpression,
    op: str,
    spelling: WriteSpelling,
    *,
    name: str = "",
    value_grad: Grad = GRAD_NO,
    certain: bool = True,
    record: tuple[Op, dict[str, Value]] | None = None,
    subject: Tensor | None = None,
    index: WrittenPart = "",
) -> None:
    """
    Write a tensor in place: check it as autograd does, bump its version, record the write in its graph.

    `record` is the operation and its arguments where it is an operation of the table; otherwise the new value
    depends
    on the old one and on a value with `value_grad`. `subject` is the tensor the program names, where `tensor` is a
    view of it made for the write.
    """
    machine = autograd.machine
    told = spelling not in ("optimizer", "backward")
    told = told and not machine.expected_errors and not machine.of_elsewhere(tensor)
    facts = machine.facts(subject or tensor, name) if told else None
    grad = tensor.requires_grad
    recorded = recorded_grad(autograd, grad.either(value_grad))
    own = not tensor.storage.given and tensor.storage.born >= machine.entered_at
    if not own or (spelling == "indexed" and recorded.truth() is Truth.MAYBE):
        machine.externally_pure = False
    if record is not None and not record[0].differentiable and not record[0].may_differentiate:
        recorded = GRAD_NO  # `logical_not_`: torch neither records nor checks it
    raises, leaf_view, outdated = Truth.NO, Truth.NO, Truth.NO
    if _is_of_inference(autograd, tensor) and spelling not in ("optimizer", "backward"):
        refuse(autograd, "inference-write", op, tensor, origin, target=target, name=name)
        return
    if recorded != GRAD_NO:
        refused = refuses_view(tensor, recorded)
        if refused is not None:
            refuse(autograd, refused, op, tensor, origin, target=target, name=name)
            return
        note_refused_view(autograd, tensor, recorded, op, origin, target, name)
        outdated = taken_for_leaf(autograd, tensor) if recorded.truth() is Truth.YES else Truth.NO
        regenerate(autograd, tensor)
        raises, leaf_view = leaf_check(autograd, tensor)
        outdated = outdated if raises is Truth.NO and outdated is Truth.YES else Truth.NO
        raises = raises | outdated
    storage = tensor.storage
    needed, saved_by, savers = _needed(autograd, tensor) if told else _NOT_ASKED
    handed = told and any(each.sure and _may_be_by_layer(autograd, each) for each in storage.uses)
    handed = handed or (told and _read_with_parameters(autograd, tensor))
    old_in_graph = grad.truth() & ~tensor.is_leaf
    node: GraphNode | None = None
    if recorded != GRAD_NO and raises is not Truth.YES and not _refused_if_recorded(tensor, value_grad):
        node = _record_write(autograd, tensor, origin, op, recorded, value_grad, record)
    write = Write(
        time=machine.tick(),
        op=op,
        spelling=spelling,
        origin=machine.here(origin),
        line=machine.line(),
        # of a write that stands in another file a rule may show the target, but finds nothing to rewrite
        target_node=target if machine.foreign_call is None else cst.Name("tensor"),
        target=tensor,
        name=name or tensor.name,
        counter=tensor.counter,
        path=machine.path,
        assumed=machine.assumed if certain else machine.assumed | unknown_guard(),
        inside=None if machine.foreign_call is None else origin,
        foreign_call=machine.foreign_call,
        index=index,
        grad_mode=machine.grad_mode,
        callers=machine.callers.conditions(machine, machine.here(origin)),
        for_inference=recorded != GRAD_NO and machine.callers.infers(machine),
    )
    if raises is Truth.YES and write.callers:
        machine.externally_pure = False  # its callers may say what the mode is
    read_since = bool(storage.writes) and storage.read > storage.writes[0].time
    if raises is not Truth.YES:
        machine.trail.set(storage, "writes", (*storage.writes[-MOST_WRITES:], write))
        if storage.saves:
            autograd.overwritten = True
        for hook in machine.watch.wrote:
            hook(tensor, write)
        if record is None or record[0].name not in INPLACE_VIEWS:  # they write no element
            _alias_written(autograd, tensor, write)
        if node is not None and record is not None:
            save_results(autograd, record[0], node, [tensor], record[1])
        if node is not None and record is not None and record[0].name in INPLACE_VIEWS:
            machine.trail.set(tensor, "grad_time", machine.tick())
        elif node is not None:
            regenerate(autograd, tensor)
    if facts is not None:
        autograd.write_records.append(
            WriteRecord(
                write,
                facts,
                raises,
                leaf_view,
                recorded.truth() if raises is not Truth.YES else Truth.NO,
                old_in_graph if records(machine) is Truth.YES else Truth.NO,
                needed,
                saved_by,
                savers,
                value_grad.truth(),
                machine.line(),
                Truth.of((subject or tensor).base is not None),
                read_since,
                handed,
                outdated is Truth.YES,
            )
        )


def _refused_if_recorded(tensor: Tensor, value_grad: Grad) -> bool:
    """Whether torch would have raised had it recorded the write: who comes past it leaves the leaf that it was."""
    owner = tensor.base or tensor
    return owner.is_leaf is Truth.YES and (value_grad == GRAD_NO or owner.own.truth() is Truth.YES)


def _is_of_inference(autograd: Autograd, tensor: Tensor) -> bool:
    """
    Whether a tensor has no version counter, and is certainly not written where it needs none: it was made in inference
    mode (c10/core/TensorImpl.h). What `detach()` cuts from it afterwards has one. With grad mode off it is the callers
    of a function who may have turned on inference mode; a script has none.
    """
    machine = autograd.machine
    of_script = machine.grad_mode is Truth.NO and machine.callers.entry is None
    outside = machine.inference is Truth.NO and (machine.grad_mode is Truth.YES or of_script)
    return outside and tensor.storage.inference and (tensor.base or tensor).alias is None


_Needed: TypeAlias = "tuple[Truth, tuple[Step, ...], tuple[GraphNode, ...]]"
_NOT_ASKED: Final[_Needed] = Truth.NO, (), ()
"""Of a write that nothing is told of."""


def _needed(autograd: Autograd, tensor: Tensor) -> _Needed:
    """Whether a graph needs the old value, where it was saved, and the nodes that certainly hold it."""
    machine = autograd.machine
    needed = Truth.NO
    steps: list[Step] = []
    savers: list[GraphNode] = []
    for saved in reversed(tensor.storage.saves):
        if needed is Truth.YES and len(steps) == MOST_STEPS:
            break
        together = conjoin(saved.path, machine.path, machine.assumed)
        if together is not None and saved.counter is tensor.counter and not _released(autograd, saved.node):
            sure = implied(saved.guard | saved.path, machine.guard)
            needed = needed | (Truth.YES if sure else Truth.MAYBE)
            savers += [saved.node] if sure else []
            if sure and len(steps) < MOST_STEPS:
                steps.append(saved_step(saved))
    if len(tensor.storage.saves) > MOST_SAVES:
        needed = needed | Truth.MAYBE
    if tensor.storage.uses or any(node.opaque for _, node in tensor.grad_fn):
        needed = needed | Truth.MAYBE
    return needed, tuple(reversed(steps)), tuple(savers)


def _may_be_by_layer(autograd: Autograd, use: Use) -> bool:
    """
    Whether what was given the memory may be a layer, which saves it: what `self` or a variable holds, and no imported
    function. Not where the statement that writes gave away the very part that it writes: `x[i] = self.rotated(x[i])`.
    """
    root = dotted(use.origin.function).partition(".")[0] if isinstance(use.origin, ir.Call) else ""
    held = autograd.machine.frame.variables.get(root)
    if held is None or isinstance(held, External):
        return False
    statement = autograd.machine.statement
    if not isinstance(statement, ir.Assign) or statement.value is None:
        return True
    parts = list(ir.walk(statement.value))
    return not any(each is use.origin for each in parts) or not any(
        isinstance(target, ir.Subscript) and isinstance(each, ir.Subscript) and same(target, each)
        for target in statement.targets
        for each in parts
    )


def _read_with_parameters(autograd: Autograd, tensor: Tensor) -> bool:
    """Whether an operation with a parameter has read it, and so has saved it unless the parameter is frozen."""
    machine = autograd.machine
    return any(
        saved.counter is tensor.counter
        and not saved.tensor.may_be_copy
        and conjoin(saved.path, machine.path, machine.assumed) is not None
        and any(isinstance(edge, Tensor) and edge.is_parameter is Truth.YES for _, edge in saved.node.edges)
        and not _released(autograd, saved.node)
        for saved in tensor.storage.saves
    )


def _released(autograd: Autograd, node: GraphNode) -> bool:
    """Whether a backward has certainly freed what the node saved: then nobody needs it any more."""
    return any(
        not release.partly and implied(release.path | release.assumed, autograd.machine.path)
        for release in node.releases
    )


def _record_write(
    autograd: Autograd,
    tensor: Tensor,
    origin: ir.Node,
    op: str,
    grad: Grad,
    value_grad: Grad,
    record: tuple[Op, dict[str, Value]] | None,
) -> GraphNode | None:
    edges = list(edges_of(autograd, tensor))
    node: GraphNode | None = None
    if record is not None:
        _, node = record_operation(autograd, record[0], record[1], origin, op)
    if node is None:
        node = new_node(autograd, "CopyBackwards" if value_grad != GRAD_NO else "", op, origin, grad, edges, Truth.NO)
    alone = record is not None and record[0].name in INPLACE_VIEWS
    _rebase(autograd, tensor, node, origin, op, grad, alone=alone)
    return node


def _rebase(
    autograd: Autograd, tensor: Tensor, node: GraphNode, origin: ir.Node, op: str, grad: Grad, *, alone: bool
) -> None:
    """The history of what was written begins with this node (`rebase_history`); `alone`: no memory was written."""
    machine = autograd.machine
    base = tensor.base
    machine.trail.set(tensor, "own", tensor.own.either(grad))
    if base is None or alone:
        # of a view, too: the memory that it shares with its base is as it was
        machine.trail.set(tensor, "grad_fn", _history(autograd, tensor, node))
        machine.trail.set(tensor, "grad_time", machine.tick())
    else:
        slices = new_node(
            autograd,
            "CopySlices",
            op,
            origin,
            base.own.either(grad),
            (*edges_of(autograd, base), (ALWAYS, node)),
            Truth.YES,
        )
        machine.trail.set(base, "own", base.own.either(grad))
        machine.trail.set(base, "grad_fn", _history(autograd, base, slices))
        machine.trail.set(base, "grad_time", machine.tick())


def _history(autograd: Autograd, tensor: Tensor, node: GraphNode) -> tuple[tuple[Guard, GraphNode], ...]:
    """The new one; or the old one, where nobody knows whether a write is recorded."""
    if records(autograd.machine) is Truth.YES:
        return ((ALWAYS, node),)
    return tuple((guard | unknown_guard(), each) for guard, each in ((ALWAYS, node), *tensor.grad_fn))


def mark_dirty(
    autograd: Autograd, tensor: Tensor, node: GraphNode, origin: ir.Node, target: cst.BaseExpression, op: str
) -> None:
    """
    An input that a custom Function has written in its `forward` and says so: torch checks it afterwards as it does a
    write, and its history begins with the node of the call (custom_function.cpp, `_process_backward_mode_ad`).
    """
    if (refused := refuses_view(tensor, node.condition)) is not None:
        refuse(autograd, refused, op, tensor, origin, target=target, name=tensor.name)
        return
    regenerate(autograd, tensor)
    raises, _ = leaf_check(autograd, tensor)
    if raises is Truth.YES:
        write(autograd, tensor, origin, target, op, "inplace", value_grad=node.condition)
        return
    _rebase(autograd, tensor, node, origin, op, node.condition, alone=False)
    regenerate(autograd, tensor)


def _alias_written(autograd: Autograd, tensor: Tensor, write: Write) -> None:
    for cut in tensor.storage.aliases:
        alias = cut.alias
        if alias is None or not alias.bound or cut.born > write.time:
            continue
        if tensor.family is cut.family:
            # Writing a leaf through an alias is how hand-written optimizers and initialisers update parameters.
            if alias.source.is_leaf is not Truth.YES and not alias.how.startswith("."):
                autograd.pending_alias_writes.append((cut, alias, alias.source.family, write))
        elif tensor.family is alias.source.family:
            autograd.pending_alias_writes.append((cut, alias, cut.family, write))


def rebind_grad(autograd: Autograd, tensor: Tensor, value: Value) -> None:
    """Set `tensor.grad`: after `tensor.grad = None` it is as if it had never had one."""
    if is_none(value) is Truth.YES:
        drop_grad(autograd, tensor)
    else:
        autograd.machine.trail.set(tensor, "grad", value)


def drop_grad(autograd: Autograd, tensor: Tensor, to_none: Truth = Truth.YES) -> None:
    """
    `tensor.grad` is None from here on, as `zero_grad()` leaves it. `to_none`: whether it does; NO if it is filled with
    zeros, which leaves None where there was none.
    """
    machine = autograd.machine
    if to_none is Truth.NO:
        machine.trail.set(tensor, "grad_reset", machine.tick())
        return
    if to_none is Truth.MAYBE:
        if tensor.grad is not NONE:
            machine.trail.set(tensor, "grad", choose([(unknown_guard(), NONE), (unknown_guard(), tensor.grad)]))
        return
    if tensor.grad is not NONE:
        machine.trail.set(tensor, "grad", NONE)
    if tensor.born <= machine.called_at:
        machine.trail.set(tensor, "grad_dropped", machine.tick())


def leave_place(autograd: Autograd, tensors: Iterable[Tensor]) -> None:
    """A Parameter that something may hold goes where that goes: to another device, or dtype."""
    for tensor in tensors:
        if tensor.device and tensor.is_parameter is Truth.YES:
            autograd.machine.trail.set(tensor, "device", "")


def refuse_gradient(autograd: Autograd, tensor: Tensor, gradient: Tensor) -> None:
    """`tensor.grad = gradient`: torch asks for the kind of number and the size (`THPVariable_set_grad`)."""
    if tensor.dtype and gradient.dtype and tensor.dtype != gradient.dtype:
        refuse(autograd, "gradient-kind", "grad", tensor, running_statement(autograd))
    elif shapes.differ(tensor.shape, gradient.shape):
        refuse(autograd, "gradient-shape", "grad", tensor, running_statement(autograd))


def require_grad(autograd: Autograd, tensor: Tensor, value: Truth, how: str = "requires_grad") -> None:
    """`tensor.requires_grad_(value)` or `tensor.requires_grad = value`, where torch allows it."""
    machine = autograd.machine
    # C++ asks here for the grad_fn it has, not for that of a view whose base was written since
    if tensor.grad_fn and tensor.is_leaf is Truth.NO:
        refused = Truth.YES if how == "requires_grad" else ~value
        refuse(autograd, "flag-on-non-leaf", how, tensor, running_statement(autograd), refused)
        return
    if tensor.storage.inference and machine.inference is Truth.NO and value is Truth.YES:
        refuse(autograd, "inference", how, tensor, running_statement(autograd))
    own = {Truth.YES: GRAD_YES, Truth.NO: GRAD_NO, Truth.MAYBE: GRAD_MAYBE}[value]
    if tensor.one_of_many and tensor.own != own:
        own = GRAD_MAYBE  # the others are not told so
    machine.trail.set(tensor, "own", own)
    if value is not Truth.NO and tensor.grad_fn and tensor.grad is NONE:
        machine.trail.set(tensor, "grad", possible_gradient())  # of the leaf that it may be, on this path or another
    if value is Truth.YES and tensor.grad_fn and tensor.is_leaf is Truth.MAYBE:
        # It may be the leaf that is told so: then no gradient flows on to what it was computed from.
        machine.trail.set(tensor, "grad_fn", tuple((guard | unknown_guard(), node) for guard, node in tensor.grad_fn))
    if value is Truth.YES and any(node.opaque for _, node in tensor.grad_fn):
        return
    if value is Truth.NO:
        machine.trail.set(tensor, "cut", "`requires_grad` was set to False")


def saved_step(saved: Saved) -> Step:
    """The step that says what a node saved."""
    return Step(saved.node.origin.origin, f"`{saved.node.op}` saves {saved_words(saved)}")


def saved_words(saved: Saved) -> str:
    """What was saved, in words: "its result", "its input `c`"."""
    if saved.what.startswith("result"):
        return "its result"
    name = saved.name or _written(saved.tensor)
    return f"its input `{name}`" if name else "its input"


def _written(tensor: Tensor) -> str:
    """A view that has no name of its own, as the program writes it: `y[0]`."""
    place = tensor.origin.origin
    if not tensor.view or not isinstance(place, cst.Subscript):
        return ""
    text = written(place)
    return text if len(text) <= 24 else ""


def _expression(node: ir.Node) -> cst.BaseExpression:
    assert isinstance(node.origin, cst.BaseExpression)
    return node.origin


def is_none(value: Value) -> Truth:
    """Whether a value is None."""
    if isinstance(value, Constant):
        return Truth.of(value.value is None)
    if isinstance(value, Choice):
        joined = is_none(value.alternatives[0][1])
        for _, each in value.alternatives[1:]:
            joined = joined.join(is_none(each))
        return joined
    return Truth.MAYBE if isinstance(value, Unknown) and value.tensor is None else Truth.NO


def storage_of(tensor: Tensor) -> Storage:
    """The memory a tensor lives in."""
    return tensor.storage
