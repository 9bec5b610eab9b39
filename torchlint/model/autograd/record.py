"""
Transfer functions of autograd: recording an operation, writing in place, views and aliases.

What each operation saves comes from the table in `torchlint.knowledge.ops.find`; how nodes, versions and views behave
follows PyTorch's
autograd notes (https://docs.pytorch.org/docs/stable/notes/autograd.html) and `torch/csrc/autograd`
(`VariableTypeUtils.h`:
`check_inplace`; `variable.cpp`: regeneration of a view's `grad_fn`). Says what happens; does not judge, and runs no
Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst

from torchlint.knowledge.ops.find import Op, is_one_node, last_node_holds
from torchlint.model.events import AliasWritten, AutogradRefused, Refusal, Shape, TensorFacts, WriteSpelling
from torchlint.model.events.trace import Step
from torchlint.model.state.guards import ALWAYS, Guard, Truth, conjoin, implied
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_NO,
    GRAD_YES,
    NONE,
    Alias,
    Bound,
    Choice,
    Constant,
    External,
    Family,
    Grad,
    GraphNode,
    Instance,
    Saved,
    Sequence,
    Storage,
    Tensor,
    Unknown,
    Use,
    Value,
    VersionCounter,
    Write,
    alternatives,
    fits,
    is_foreign,
    is_value_of_elsewhere,
    reachable_tensors,
    unknown_guard,
)
from torchlint.syntax import ir
from torchlint.syntax.tree import parsed

MOST_SAVES = 8
MOST_WRITES = 128
"""Saves and writes of one storage that are remembered, the latest; a forgotten one proves nothing any more."""
MOST_ESCAPED = 64
"""Leaves in the hands of unknown code that are remembered, the latest."""
INPLACE_VIEWS = frozenset({"unsqueeze", "squeeze", "t", "transpose", "swapaxes", "swapdims"})
"""Operations whose in-place twin changes sizes and strides alone (PyTorch: tag `inplace_view`)."""
MOST_STEPS = 4
"""Operations that saved an old value, as many as a trace names."""


@dataclass(slots=True, eq=False)
class WriteRecord:
    """A write with what was true of its target before it, until the run is over and its event can be told."""

    write: Write
    target: TensorFacts
    leaf_raises: Truth
    leaf_view: Truth
    in_graph: Truth
    old_value_in_graph: Truth
    old_value_needed: Truth
    saved_by: tuple[Step, ...]
    value_in_graph: Truth
    line: cst.CSTNode
    is_view: Truth
    read_since: bool
    """A part of the memory was read by index after an earlier write."""


_CAST = frozenset(
    """
    addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
    conv_transpose3d convolution einsum linear matmul mm multi_dot mv prelu scaled_dot_product_attention
    """.split()  # noqa: SIM905
)
"""Operations before which `torch.autocast` casts their inputs (aten/src/ATen/autocast_mode.h, `lower_precision_fp`)."""
_ELSEWHERE = cst.Name("tensor")
"""For the target of a write that stands in another file: a rule may show it, but finds nothing to rewrite."""


class GraphMachine(Machine):
    """A machine that records graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.may_cast = False
        """Whether an autocast may be around what runs: what it casts is saved as a copy."""
        self.escaped: tuple[Tensor, ...] = ()
        """The latest leaves that unknown code was given."""
        self._imported: dict[str, Unknown] = {}
        self.saved: list[Saved] = []
        """All that any node saves."""
        self.write_records: list[WriteRecord] = []
        self.pending_alias_writes: list[tuple[Alias, Family, Write]] = []
        self.refusals: dict[tuple[int, Refusal, Guard], list[tuple[Guard, AutogradRefused]]] = {}
        """By statement, kind and path: what torch refuses of one of the values that something may be."""

    # -- tensors in values

    def tensor_options(self, value: Value) -> list[tuple[Guard, Tensor]]:
        """The tensors a value may be, each with its guard; an unknown value is taken for a tensor from now on."""
        if type(value) is Tensor:
            return [(ALWAYS, value)]
        found = []
        for guard, each in alternatives(value, self.guard):
            if isinstance(each, Tensor):
                found.append((guard, each))
            elif isinstance(each, Unknown):
                found.append((guard, self.materialise(each)))
        return found

    def all_tensor_options(self, value: Value) -> list[tuple[Guard, Tensor]]:
        """As `tensor_options`, and the tensors inside a list or tuple."""
        if not fits(value):
            return [(unknown_guard(), each) for each in reachable_tensors(value)]
        if isinstance(value, Sequence):
            inner = value.items if value.items is not None else ((value.element,) if value.element is not None else ())
            found = [option for each in inner for option in self.all_tensor_options(each)]
            return found if value.items is not None else [(guard | unknown_guard(), each) for guard, each in found]
        if isinstance(value, Choice):
            return [
                (both, tensor)
                for guard, each in alternatives(value, self.guard)
                for inner, tensor in self.all_tensor_options(each)
                if (both := conjoin(guard, inner)) is not None
            ]
        return self.tensor_options(value)

    def possible_options(self, value: Value) -> list[tuple[Guard, Tensor]]:
        """
        As `all_tensor_options`, of an argument that need not be a tensor: an unknown value is held for what it is if it
        is one, and stays unknown.
        """
        if type(value) is Tensor:
            return [(ALWAYS, value)]
        if isinstance(value, Unknown):
            if value.foreign and value.tensor is None:
                return []
            return [(ALWAYS, value.tensor or self.guess(value))]
        if not fits(value):
            return [(unknown_guard(), each) for each in reachable_tensors(value)]
        if isinstance(value, Sequence):
            if value.items is not None:
                return [option for each in value.items for option in self.possible_options(each)]
            found = self.possible_options(value.element) if value.element is not None else []
            return [(guard | unknown_guard(), each) for guard, each in found]
        if isinstance(value, External) and is_value_of_elsewhere(value):
            return [(ALWAYS, self.guess(self.imported(value)))]
        if isinstance(value, Choice):
            return [
                (both, tensor)
                for guard, each in alternatives(value, self.guard)
                for inner, tensor in self.possible_options(each)
                if (both := conjoin(guard, inner)) is not None
            ]
        return []

    def imported(self, value: External) -> Unknown:
        """What is imported from elsewhere, used as a value: it may be a tensor."""
        known = self._imported.get(value.qualified)
        if known is None:
            known = self._imported[value.qualified] = Unknown()
        return known

    def materialise(self, unknown: Unknown) -> Tensor:
        """The tensor that an unknown value has turned out to be: nothing is known of how it was made."""
        if unknown.tensor is None:
            unknown.tensor = self.guess(unknown)
        return unknown.tensor

    def guess(self, unknown: Unknown) -> Tensor:
        """The tensor that an unknown value is if it is one."""
        if unknown.guess is not None:
            return unknown.guess
        edges: list[tuple[Guard, GraphNode | Tensor]] = []
        own = GRAD_NO if unknown.hint and not unknown.depends else GRAD_MAYBE
        for tensor in unknown.depends:
            sure = ALWAYS if unknown.certain_edge else unknown_guard()
            edges += [(guard | sure, node) for guard, node in self.edges(tensor)]
            if unknown.certain_edge:
                own = own.either(tensor.requires_grad)
        for tensor in unknown.possible:
            edges += [(guard | unknown_guard(), node) for guard, node in self.edges(tensor)]
        if unknown.hint and not unknown.depends:
            own = Grad(Truth.NO, frozenset({unknown.hint}))
        origin = self.here(unknown.source or self._origin())
        time = self.tick()
        node = GraphNode(
            name="",
            op="",
            origin=origin,
            line=self.line(),
            time=time,
            condition=own,
            edges=tuple(edges),
            holds=Truth.MAYBE,
            opaque=True,
            built_in=self.built_in,
            iteration=self.iteration,
            excursion=self.excursion,
        )
        tensor = Tensor(
            origin=origin,
            line=self.line(),
            born=time,
            made_by="",
            own=own,
            grad_fn=((ALWAYS, node),),
            is_parameter=Truth.YES if unknown.element_of_parameters else Truth.MAYBE,
            # An input of a `forward` is the tensor that it depends on.
            contiguous=unknown.depends[0].contiguous if unknown.hint and unknown.depends else Truth.MAYBE,
        )
        tensor.grad = Unknown()
        tensor.name = unknown.hint
        tensor.storage.given = True
        unknown.guess = tensor
        return tensor

    def _origin(self) -> ir.Node:
        assert self.statement is not None
        return self.statement

    # -- edges

    def edges(self, tensor: Tensor) -> tuple[tuple[Guard, GraphNode | Tensor], ...]:
        """Where a gradient of this tensor flows: its `grad_fn`, or itself if it is a leaf that may require grad."""
        self.regenerate(tensor)
        if tensor.grad_fn:
            return tensor.grad_fn
        if tensor.own == GRAD_NO:
            return ()  # also a view, made under `no_grad`, of a tensor that requires grad
        return ((ALWAYS, tensor),)

    def regenerate(self, tensor: Tensor) -> None:
        """Give a view a new `grad_fn` if its base was written in place since (PyTorch: AsStridedBackward)."""
        base = tensor.base
        if base is None or (not tensor.grad_fn and base.requires_grad == GRAD_NO):
            return
        write = self._moved(tensor)
        if write is None:
            return
        edges = self.edges(base)
        self.trail.set(tensor, "grad_time", self.tick())
        if tensor.view in ("multi", "no_grad"):
            sure = implied(write.path | write.assumed | self.assumed, self.path)
            kind: Refusal = "multi-view" if tensor.view == "multi" else "no-grad-view"
            known = sure and self.grad_mode is not Truth.MAYBE
            truth = tensor.requires_grad.truth() if known else Truth.MAYBE
            self.refuse(kind, write.op, tensor, self._origin(), truth)
            return
        if not edges:
            return
        node = self.node("AsStridedBackward0", "as_strided", tensor.origin, base.own, edges, Truth.NO)
        self.trail.set(tensor, "grad_fn", ((ALWAYS, node),))

    def _moved(self, tensor: Tensor) -> Write | None:
        """The last write since the tensor got its `grad_fn`, through any alias that shares its version counter."""
        for write in reversed(tensor.storage.writes):
            if write.time <= tensor.grad_time:
                return None
            if (
                write.counter is tensor.counter
                and conjoin(write.path, write.assumed, self.path, self.assumed) is not None
            ):
                return write
        return None

    def refuse(
        self,
        kind: Refusal,
        op: str,
        tensor: Tensor,
        origin: ir.Node,
        truth: Truth = Truth.YES,
        target: cst.BaseExpression | None = None,
        name: str = "",
    ) -> None:
        """
        Torch raises here, if `truth`. Where the tensor is one of several, what it refuses of all of them is told once
        they are all seen.
        """
        if truth is Truth.NO or self.of_elsewhere(tensor):
            return
        event = AutogradRefused(
            node=self.here(origin).origin,
            statement=self.line(),
            truth=truth if self.assumed <= self.path else Truth.MAYBE,
            moment=self.tick(),
            kind=kind,
            op=op,
            target=self.facts(tensor, name),
            target_node=target,
        )
        self.emit(event)
        if truth is not event.truth and not self.expected_errors and self.excursion is None:
            options = self.refusals.setdefault((id(event.node), kind, self.path), [])
            options.append((self.assumed - self.path, event))

    def node(
        self,
        name: str,
        op: str,
        origin: ir.Node,
        condition: Grad,
        edges: Iterable[tuple[Guard, GraphNode | Tensor]],
        holds: Truth,
    ) -> GraphNode:
        """Record a graph node now."""
        if self.travelling:
            self.outside_left -= 1
        return GraphNode(
            name=name,
            op=op,
            origin=origin,
            line=self.line(),
            time=self.tick(),
            condition=condition,
            edges=tuple(edges),
            holds=holds,
            built_in=self.built_in,
            iteration=self.iteration,
            excursion=self.excursion,
        )

    def outputs(self, op: Op, node: GraphNode | None, count: int) -> list[GraphNode | None]:
        """
        The nodes that the results of an operation have, where there are several: a gradient of one is none of another.
        """
        if node is None or count < 2 or (op.probed and not op.view):
            return [node] * count
        # `tensor_split` and its kin: each part is a slice with a node of its own, and they share none
        apart = op.sequence and op.view == "view" and op.probed and op.node != ""
        found: list[GraphNode | None] = []
        for _ in range(count):
            edges = node.edges if apart else [(ALWAYS, node)]
            output = self.node(node.name, node.op, node.origin, node.condition, edges, Truth.NO)
            output.output_of = None if apart else node
            found.append(output)
        return found

    # -- operations

    def recorded(self, grad: Grad) -> Grad:
        """The requires_grad of a result whose inputs have `grad`, in the present grad mode."""
        if self.grad_mode is Truth.NO:
            return GRAD_NO
        return grad if self.grad_mode is Truth.YES or grad == GRAD_NO else GRAD_MAYBE

    def input_grad(self, op: Op, bound: dict[str, Value]) -> Grad:
        """Whether any differentiable input requires grad."""
        grad = GRAD_NO
        for parameter in op.differentiable:
            if parameter in bound:
                grad = grad.either(self.value_grad(bound[parameter]))
        if grad is not GRAD_YES and any(
            tensor.requires_grad.truth() is not Truth.NO
            for parameter in op.may_differentiate
            if parameter in bound
            for _, tensor in self.possible_options(bound[parameter])
        ):
            grad = grad.either(GRAD_MAYBE)
        return grad

    def value_grad(self, value: Value) -> Grad:
        """requires_grad of a value: of all its alternatives, and of any element of a list."""
        if not fits(value):
            return GRAD_MAYBE
        if isinstance(value, Sequence):
            grad = GRAD_NO
            for each in value.items if value.items is not None else (value.element or Unknown(),):
                grad = grad.either(self.value_grad(each))
            return grad
        options = alternatives(value, self.guard)
        joined: Grad | None = None
        for _, each in options:
            if isinstance(each, Tensor):
                grad = each.requires_grad
            elif isinstance(each, Unknown):
                grad = GRAD_NO if is_foreign(each) else (each.tensor or self.guess(each)).requires_grad
            elif isinstance(each, Sequence):
                grad = self.value_grad(each)
            elif isinstance(each, External) and is_value_of_elsewhere(each):
                grad = self.guess(self.imported(each)).requires_grad
            elif isinstance(each, (Instance, Bound)):
                grad = GRAD_MAYBE  # an object may be a tensor of its own kind, what is bound a property
            else:
                grad = GRAD_NO
            joined = grad if joined is None else joined.join(grad)
        return joined or GRAD_NO

    def record(
        self, op: Op, bound: dict[str, Value], origin: ir.Node, display: str, *, saved_before: int | None = None
    ) -> tuple[Grad, GraphNode | None]:
        """
        Record an operation if grad mode and inputs ask for it: the requires_grad of its result, and its node (without
        what it
        saves of the result: see `save_results`).
        """
        grad = self.recorded(self.input_grad(op, bound))
        if grad == GRAD_NO or not (op.differentiable or op.may_differentiate):
            return GRAD_NO, None
        edges: list[tuple[Guard, GraphNode | Tensor]] = []
        for parameter in op.differentiable:
            for guard, tensor in self.possible_options(bound[parameter]) if parameter in bound else ():
                edges += [
                    (both, node) for inner, node in self.edges(tensor) if (both := conjoin(guard, inner)) is not None
                ]
        for parameter in op.may_differentiate:
            for guard, tensor in self.possible_options(bound[parameter]) if parameter in bound else ():
                edges += [
                    (both | unknown_guard(), node)
                    for inner, node in self.edges(tensor)
                    if (both := conjoin(guard, inner)) is not None
                ]
        # what is saved for the gradient of an input is not saved where no input takes one (see `_without_edge`)
        idle = not edges and op.saves and all(save.guard for save in op.saves)
        node = self.node(op.node, display, origin, grad, edges, Truth.NO if idle else op.holds_saved)
        node.composed = not is_one_node(op)
        if node.composed:
            node.last_holds = last_node_holds(op)
        saved: list[Saved] = []
        for save in op.saves:
            if save.what not in bound:
                continue
            copied = self.may_cast and not save.what.startswith("result") and op.name in _CAST
            needed = self._save_guard(save.guard, save.certain and not copied, bound)
            if needed is None:
                continue
            for inner, tensor in self.possible_options(bound[save.what]):
                both = conjoin(needed, inner)
                if both is not None:
                    saved.append(self._save(node, save.what, tensor, saved_before or node.time, both))
        node.saved = tuple(saved)
        return grad, node

    def _save_guard(self, needed: tuple[str, ...], certain: bool, bound: dict[str, Value]) -> Guard | None:
        guard: Guard | None = ALWAYS
        if needed:
            grad = GRAD_NO
            for parameter in needed:
                if parameter in bound and not _without_edge(bound[parameter]):
                    grad = grad.either(self.value_grad(bound[parameter]))
            guard = grad.guard()
        if guard is None or certain:
            return guard
        return guard | unknown_guard()

    def save_results(self, op: Op, node: GraphNode, results: list[Tensor], bound: dict[str, Value]) -> None:
        """Record what a node saves of its results, after they were made (or written)."""
        time = self.tick()
        saved = list(node.saved)
        for save in op.saves:
            if not save.what.startswith("result"):
                continue
            index = int(save.what[6:] or 0)
            guard = self._save_guard(save.guard, save.certain, bound)
            if index < len(results) and guard is not None:
                saved.append(self._save(node, save.what, results[index], time, guard))
        node.saved = tuple(saved)

    def _save(self, node: GraphNode, what: str, tensor: Tensor, time: int, guard: Guard) -> Saved:
        saved = Saved(
            what=what,
            name=tensor.name,
            tensor=tensor,
            storage=tensor.storage,
            counter=tensor.counter,
            time=time,
            guard=guard,
            node=node,
            path=self.guard,
        )
        self.trail.set(tensor.storage, "saves", (*tensor.storage.saves[-MOST_SAVES:], saved))
        self.saved.append(saved)
        return saved

    def fresh(
        self,
        origin: ir.Node,
        made_by: str,
        *,
        own: Grad = GRAD_NO,
        node: GraphNode | None = None,
        shape: Shape = None,
        dtype: str | None = None,
        contiguous: Truth = Truth.YES,
        cut: str = "",
        precise: str = "",
    ) -> Tensor:
        """A new tensor with memory of its own."""
        return Tensor(
            origin=self.here(origin),
            line=self.line(),
            born=self.tick(),
            made_by=made_by,
            own=own,
            shape=shape,
            dtype=dtype,
            contiguous=contiguous,
            grad_fn=((ALWAYS, node),) if node is not None else (),
            cut=cut,
            precise=precise,
        )

    def view_of(
        self, source: Tensor, origin: ir.Node, made_by: str, node: GraphNode | None, own: Grad, shape: Shape, kind: str
    ) -> Tensor:
        """A differentiable view: shares memory, version counter and base."""
        base = source.base or source
        view = Tensor(
            origin=self.here(origin),
            line=self.line(),
            born=self.tick(),
            made_by=made_by,
            own=own,
            shape=shape,
            dtype=source.dtype,
            grad_fn=((ALWAYS, node),) if node is not None else (),
            storage=source.storage,
            counter=source.counter,
            family=source.family,
            base=base,
            view=self._view_kind(source, kind),
            cut=source.cut,
            precise=source.precise,
        )
        view.name = source.name
        return view

    def _view_kind(self, source: Tensor, kind: str) -> str:
        """Views of views of several views stay what they are (`propagate_creation_meta`)."""
        made = kind if self.grad_mode is not Truth.NO else "no_grad"
        return source.view if made == "view" and source.base is not None and source.view else made

    def detached(
        self,
        source: Tensor,
        origin: ir.Node,
        how: str,
        *,
        own_counter: bool = False,
        own: Grad = GRAD_NO,
        temporary: bool = True,
    ) -> Tensor:
        """
        A tensor cut from the graph that shares memory: `detach()` shares the version counter too, `.data` does not.
        """
        origin = self.here(origin)
        tensor = Tensor(
            origin=origin,
            line=self.line(),
            born=self.tick(),
            made_by=how,
            own=own,
            shape=source.shape,
            dtype=source.dtype,
            contiguous=source.contiguous,
            storage=source.storage,
            counter=VersionCounter() if own_counter else source.counter,
            cut=f"`{how}` cuts it from the graph",
            precise=source.precise,
        )
        tensor.strides = source.strides
        if source.alias is not None and not source.alias.bound:
            # `out.detach().numpy()`: what nobody has a name for is no party to it.
            how = f"{source.alias.how}.{how.lstrip('.')}"
            source = source.alias.source
        alias = Alias(how, source, tensor, origin, self.line(), tensor.born)
        tensor.alias = alias
        self.trail.set(source.storage, "aliases", (*source.storage.aliases[-MOST_SAVES:], alias))
        return tensor

    # -- uses

    def use(self, tensor: Tensor, origin: ir.Node, name: str = "") -> None:
        """The program reads a tensor's values: an alias of it may have been written meanwhile."""
        if not self.pending_alias_writes:
            return
        for pending in list(self.pending_alias_writes):
            alias, family, write = pending
            if tensor.family is not family or conjoin(write.path, write.assumed, self.path, self.assumed) is None:
                continue
            if tensor.storage is not alias.source.storage:
                continue
            self.pending_alias_writes.remove(pending)
            by_alias = write.target.family is alias.alias.family
            read_name = name or tensor.name
            read = Step(
                self.here(origin).origin, f"`{read_name}` is read here" if read_name else "its values are read here"
            )
            alias_name, source_name = alias.alias.name, alias.source.name
            self.emit(
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
                    truth=Truth.YES if implied(write.assumed | self.assumed, write.path | self.path) else Truth.MAYBE,
                )
            )

    def escape(self, tensors: Iterable[Tensor], origin: ir.Node) -> None:
        """Hand tensors to code the model does not know."""
        origin = self.here(origin)
        for tensor in tensors:
            self.use(tensor, origin)
            if not tensor.storage.uses:
                self.trail.set(tensor.storage, "uses", (Use(self.tick(), origin),))
                if not tensor.grad_fn and tensor.own != GRAD_NO:
                    self.trail.set(self, "escaped", (*self.escaped[-MOST_ESCAPED:], tensor))

    # -- writes

    def write(
        self,
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
    ) -> None:
        """
        Write a tensor in place: check it as autograd does, bump its version, record the write in its graph.

        `record` is the operation and its arguments where it is an operation of the table; otherwise the new value
        depends
        on the old one and on a value with `value_grad`. `subject` is the tensor the program names, where `tensor` is a
        view of it made for the write.
        """
        facts = self.facts(subject or tensor, name)
        grad = tensor.requires_grad
        recorded = self.recorded(grad.either(value_grad))
        own = not tensor.storage.given and tensor.storage.born >= self.entered_at
        if not own or (spelling == "indexed" and recorded.truth() is Truth.MAYBE):
            self.contained = False
        if record is not None and not record[0].differentiable and not record[0].may_differentiate:
            recorded = GRAD_NO  # `logical_not_`: torch neither records nor checks it
        raises, leaf_view = Truth.NO, Truth.NO
        if recorded != GRAD_NO:
            refused = self._refuses_view(tensor, recorded)
            if refused is not None:
                self.refuse(refused, op, tensor, origin, target=target, name=name)
                return
            self.regenerate(tensor)
            raises, leaf_view = self._leaf_check(tensor)
        storage = tensor.storage
        needed, saved_by = self._needed(tensor)
        old_in_graph = grad.truth() & ~tensor.is_leaf
        node: GraphNode | None = None
        if recorded != GRAD_NO and raises is not Truth.YES:
            node = self._record_write(tensor, origin, op, recorded, value_grad, record)
        write = Write(
            time=self.tick(),
            op=op,
            spelling=spelling,
            origin=self.here(origin),
            line=self.line(),
            target_node=target if self.excursion is None else _ELSEWHERE,
            target=tensor,
            name=name or tensor.name,
            counter=tensor.counter,
            path=self.path,
            assumed=self.assumed if certain else self.assumed | unknown_guard(),
            inside=None if self.excursion is None else origin,
            excursion=self.excursion,
        )
        read_since = bool(storage.writes) and storage.read > storage.writes[0].time
        if raises is not Truth.YES:
            self.trail.set(storage, "writes", (*storage.writes[-MOST_WRITES:], write))
            for hook in self.watch.wrote:
                hook(tensor, write)
            self._alias_written(tensor, write)
            if node is not None and record is not None:
                self.save_results(record[0], node, [tensor], record[1])
            if node is not None and record is not None and record[0].name in INPLACE_VIEWS:
                self.trail.set(tensor, "grad_time", self.tick())
            elif node is not None:
                self.regenerate(tensor)
        if spelling not in ("optimizer", "backward") and not self.expected_errors and not self.of_elsewhere(tensor):
            self.write_records.append(
                WriteRecord(
                    write,
                    facts,
                    raises,
                    leaf_view,
                    recorded.truth() if raises is not Truth.YES else Truth.NO,
                    old_in_graph if self.grad_mode is Truth.YES else Truth.NO,
                    needed,
                    saved_by,
                    value_grad.truth(),
                    self.line(),
                    Truth.of((subject or tensor).base is not None),
                    read_since,
                )
            )

    def _refuses_view(self, tensor: Tensor, recorded: Grad) -> Refusal | None:
        """Whether torch certainly refuses a recorded write into this view (`handle_view_on_rebase`)."""
        if tensor.view not in ("multi", "no_grad") or recorded.truth() is not Truth.YES:
            return None
        return "multi-view" if tensor.view == "multi" else "no-grad-view"

    def _leaf_check(self, tensor: Tensor) -> tuple[Truth, Truth]:
        base = tensor.base
        if base is not None:
            truth = tensor.requires_grad.truth() & base.is_leaf
            if any(node.opaque for _, node in base.grad_fn):
                truth = Truth.NO if truth is Truth.NO else Truth.MAYBE
            return truth & self.grad_mode, truth
        truth = tensor.own.truth() & tensor.is_leaf
        return truth & self.grad_mode, Truth.NO

    def _needed(self, tensor: Tensor) -> tuple[Truth, tuple[Step, ...]]:
        needed = Truth.NO
        steps: list[Step] = []
        for saved in reversed(tensor.storage.saves):
            if needed is Truth.YES and len(steps) == MOST_STEPS:
                break
            together = conjoin(saved.path, self.path, self.assumed)
            if together is not None and saved.counter is tensor.counter and not self._released(saved.node):
                sure = implied(saved.guard | saved.path, self.guard)
                needed = needed | (Truth.YES if sure else Truth.MAYBE)
                if sure and len(steps) < MOST_STEPS:
                    steps.append(saved_step(saved))
        if len(tensor.storage.saves) > MOST_SAVES:
            needed = needed | Truth.MAYBE
        if tensor.storage.uses or any(node.opaque for _, node in tensor.grad_fn):
            needed = needed | Truth.MAYBE
        return needed, tuple(reversed(steps))

    def _released(self, node: GraphNode) -> bool:
        """Whether a backward has certainly freed what the node saved: then nobody needs it any more."""
        return any(
            not release.partly and implied(release.path | release.assumed, self.path) for release in node.releases
        )

    def _record_write(
        self,
        tensor: Tensor,
        origin: ir.Node,
        op: str,
        grad: Grad,
        value_grad: Grad,
        record: tuple[Op, dict[str, Value]] | None,
    ) -> GraphNode | None:
        edges = list(self.edges(tensor))
        node: GraphNode | None = None
        if record is not None:
            _, node = self.record(record[0], record[1], origin, op)
        if node is None:
            node = self.node("CopyBackwards" if value_grad != GRAD_NO else "", op, origin, grad, edges, Truth.NO)
        base = tensor.base
        self.trail.set(tensor, "own", tensor.own.either(grad))
        if base is None or (record is not None and record[0].name in INPLACE_VIEWS):
            # of a view, too: the memory that it shares with its base is as it was
            self.trail.set(tensor, "grad_fn", ((ALWAYS, node),))
            self.trail.set(tensor, "grad_time", self.tick())
        else:
            slices = self.node(
                "CopySlices", op, origin, base.own.either(grad), (*self.edges(base), (ALWAYS, node)), Truth.YES
            )
            self.trail.set(base, "own", base.own.either(grad))
            self.trail.set(base, "grad_fn", ((ALWAYS, slices),))
            self.trail.set(base, "grad_time", self.tick())
        return node

    def _alias_written(self, tensor: Tensor, write: Write) -> None:
        for alias in tensor.storage.aliases:
            if not alias.bound or alias.time > write.time:
                continue
            if tensor.family is alias.alias.family:
                # Writing a leaf through an alias is how hand-written optimizers and initialisers update parameters.
                if alias.source.is_leaf is not Truth.YES and not alias.how.startswith("."):
                    self.pending_alias_writes.append((alias, alias.source.family, write))
            elif tensor.family is alias.source.family:
                self.pending_alias_writes.append((alias, alias.alias.family, write))

    def rebind_grad(self, tensor: Tensor, value: Value) -> None:
        """Set `tensor.grad`: after `tensor.grad = None` it is as if it had never had one."""
        self.trail.set(tensor, "grad", NONE if is_none(value) is Truth.YES else value)

    def require_grad(self, tensor: Tensor, value: Truth, how: str = "requires_grad") -> None:
        """`tensor.requires_grad_(value)` or `tensor.requires_grad = value`, where torch allows it."""
        # C++ asks here for the grad_fn it has, not for that of a view whose base was written since
        if tensor.grad_fn and tensor.is_leaf is Truth.NO:
            refused = Truth.YES if how == "requires_grad" else ~value
            self.refuse("flag-on-non-leaf", how, tensor, self._origin(), refused)
            return
        own = {Truth.YES: GRAD_YES, Truth.NO: GRAD_NO, Truth.MAYBE: GRAD_MAYBE}[value]
        self.trail.set(tensor, "own", own)
        if value is Truth.YES and tensor.grad_fn and tensor.is_leaf is Truth.MAYBE:
            # It may be the leaf that is told so: then no gradient flows on to what it was computed from.
            self.trail.set(tensor, "grad_fn", tuple((guard | unknown_guard(), node) for guard, node in tensor.grad_fn))
        if value is Truth.YES and any(node.opaque for _, node in tensor.grad_fn):
            return
        if value is Truth.NO:
            self.trail.set(tensor, "cut", "`requires_grad` was set to False")


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
    written = tensor.origin.origin
    if not tensor.view or not isinstance(written, cst.Subscript):
        return ""
    text = cst.Module([]).code_for_node(parsed(written))
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


def _without_edge(value: Value) -> bool:
    """A view made before its base was told to require grad: it says that it does, and no gradient flows to it."""
    return isinstance(value, Tensor) and value.base is not None and value.own == GRAD_NO and not value.grad_fn


def storage_of(tensor: Tensor) -> Storage:
    """The memory a tensor lives in."""
    return tensor.storage
