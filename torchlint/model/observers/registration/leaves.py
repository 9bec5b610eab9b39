"""
Leaves and what is none: `.grad` and `requires_grad` of computed tensors, `numpy()`, `deepcopy`, values cut and made
leaves again.

Says where torch treats a computed tensor otherwise than a leaf (`torch/csrc/autograd/python_variable.cpp`,
`torch/_tensor.py`: `__deepcopy__`); does not judge.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from torchlint.model.events import BackwardCallee
from torchlint.model.events.gradients import (
    GraphRestarted,
    GraphTensorCopied,
    GraphTensorToNumpy,
    NonLeafFlagSet,
    NonLeafGradRead,
)
from torchlint.model.events.trace import Step
from torchlint.model.observers.moved import moved
from torchlint.model.observers.pending import PendingEvents, argument, derived, expression, is_true, only
from torchlint.model.state.computations import VIEWS
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.values import (
    Constant,
    Function,
    GraphNode,
    Instance,
    Mapping,
    Optimizer,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    reachable_tensors,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import (
    CALLS_NUMPY,
    CONVERTING,
    CONVERTING_LISTS,
    CONVERTS,
    DEEPCOPIES,
    DEEPCOPIES_HELD,
    DIFFERENTIATING,
    PLOTTING,
    anywhere,
    here,
)
from torchlint.syntax.spelling import dotted
from torchlint.syntax.tree import statements_at

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine

_FRESH_COPIES = frozenset(
    {"tensor", "as_tensor", "Variable()", "detach()", ".data", "from_numpy", "torch.from_numpy()"}
)


class Leaves(Observer):
    """Watches what is done to tensors that are no leaves, or no longer, or again."""

    concerns = (
        DIFFERENTIATING,
        anywhere(f"requires_grad requires_grad_ {CALLS_NUMPY} {CONVERTS} {DEEPCOPIES} Parameter"),
        here(DEEPCOPIES_HELD),
    )

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.pending = PendingEvents(machine, attested=True)
        self._forwards = 0
        self._optimized: list[Tensor] = []
        self._told: dict[int, tuple[Tensor, ir.Node, cst.CSTNode]] = {}
        """Where this file told a tensor to require grad: the assignment or the call, and its statement."""
        self._copies: dict[int, tuple[Tensor, Value, ir.Call]] = {}
        """What `torch.tensor` and its like have made, and of what."""

    def entry_started(self, function: Function | None) -> None:
        self.pending.start(function is None)
        self._forwards = 0
        self._optimized.clear()
        self._told.clear()
        self._copies.clear()

    def concluded(self) -> None:
        self.pending.flush()
        self._told.clear()
        self._copies.clear()

    # -- flags and gradients

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if name != "grad" or not isinstance(origin, ir.Attribute):
            return
        found = moved(owner)
        tensor = found[0] if found is not None else only(owner, self.machine)
        node, owner_node = expression(origin), expression(origin.value)
        if not isinstance(tensor, Tensor) or node is None or owner_node is None:
            return
        if not derived(tensor) or tensor.retains_grad or self.machine.grad_mode is Truth.MAYBE:
            return
        event = NonLeafGradRead(
            node=node,
            statement=self.machine.line(),
            trace=tuple(step for step in (self.machine.created(tensor),) if step is not None),
            conditions=(found[1],) if found is not None else (),
            owner=self.machine.facts(tensor, dotted(origin.value)),
            owner_node=owner_node,
            made_by=tensor.made_by,
            made_statement=_assigning(tensor.line, dotted(origin.value)),
        )
        self.pending.add(event)

    def required_grad(self, tensor: Tensor, value: Value | None, how: str, origin: ir.Node) -> None:
        setting = value.value if isinstance(value, Constant) and isinstance(value.value, bool) else None
        if setting is True or (value is None and how == "requires_grad_"):
            self._told[id(tensor)] = (tensor, origin, self.machine.line())
            _, source, call = self._copies.get(id(tensor), (tensor, None, origin))
            if source is not None and isinstance(call, ir.Call):
                self._restarted(source, "copied", call)
        if not derived(tensor) or (how == "requires_grad_" and setting is not False):
            return
        if how == "requires_grad":
            written = f"requires_grad = {setting}" if setting is not None else "requires_grad"
        else:
            written = "requires_grad_(False)"
        event = NonLeafFlagSet(
            node=origin.origin,
            statement=self.machine.line(),
            trace=tuple(step for step in (self.machine.created(tensor),) if step is not None),
            owner=self.machine.facts(tensor),
            written=written,
            made_by=tensor.made_by,
        )
        self.pending.add(event)

    # -- numpy

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if isinstance(receiver, Unknown) and receiver.tensor is not None:
            receiver = receiver.tensor
        if name != "numpy" or not isinstance(receiver, Tensor) or not isinstance(origin.function, ir.Attribute):
            return
        if positional or "force" in keywords:
            return
        self._to_numpy(receiver, origin.function.value, "numpy()", origin, inside=False)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if isinstance(result, Tensor) and is_true(keywords.get("requires_grad")):
            self._told[id(result)] = (result, origin, self.machine.line())
        if qualified.startswith("numpy.") and qualified[6:] in CONVERTING:
            self._handed_over(f"np.{qualified[6:]}", positional, origin)
        elif qualified.startswith("numpy.") and qualified[6:] in CONVERTING_LISTS:
            if positional and isinstance(positional[0], Sequence) and positional[0].kind in ("list", "tuple"):
                self._handed_over(f"np.{qualified[6:]}", positional[:1], origin)
        elif qualified.startswith("matplotlib.pyplot.") and qualified[18:] in PLOTTING:
            self._handed_over(f"plt.{qualified[18:]}", positional, origin)
        elif qualified == "copy.deepcopy" and positional:
            self._copied(positional[0], origin)
        elif qualified == "torch.tensor" and positional and is_true(keywords.get("requires_grad")):
            self._restarted(positional[0], "copied", origin)
        elif qualified in ("torch.tensor", "torch.as_tensor") and positional and isinstance(result, Tensor):
            if qualified == "torch.tensor" or isinstance(positional[0], Sequence):
                self._copies[id(result)] = result, positional[0], origin
        elif qualified == "torch.nn.Parameter" and positional and (self._forwards or self.machine.iteration):
            self._restarted(positional[0], "parameter", origin)

    def _handed_over(self, how: str, positional: list[Value], origin: ir.Call) -> None:
        for index, value in enumerate(positional):
            written = argument(origin, index)
            if written is None:
                continue
            inner: tuple[Value, ...] = (value,)
            if isinstance(value, Sequence):
                inner = value.items if value.items is not None else self._elements(value)
            for each in inner:
                tensor = only(each, self.machine)
                if isinstance(tensor, Tensor) and tensor.requires_grad.truth() is Truth.YES:
                    self._to_numpy(tensor, written.value, how, origin, inside=isinstance(value, Sequence))
                    return

    def _elements(self, values: Sequence) -> tuple[Value, ...]:
        """One element of a list of unknown length, if it has one for certain, and whichever it is requires grad."""
        if values.last is None and not values.filled and not values.among:
            return ()  # what an arm appends in a loop may never have been
        options = [each for _, each in alternatives(values.element, self.machine.guard)] if values.element else []
        graphs = [each for each in options if isinstance(each, Tensor) and each.requires_grad.truth() is Truth.YES]
        return (graphs[0],) if graphs and len(graphs) == len(options) else ()

    def _to_numpy(self, tensor: Tensor, written: ir.Expression, how: str, origin: ir.Call, *, inside: bool) -> None:
        node = expression(written)
        if tensor.requires_grad.truth() is not Truth.YES or self.machine.grad_mode is not Truth.YES or node is None:
            return
        event = GraphTensorToNumpy(
            node=origin.origin,
            statement=self.machine.line(),
            trace=tuple(step for step in (self.machine.created(tensor),) if step is not None),
            tensor=self.machine.facts(tensor),
            tensor_node=node,
            how=how,
            inside=inside,
        )
        self.pending.add(event)

    # -- copies

    def _copied(self, value: Value, origin: ir.Call) -> None:
        written = argument(origin, 0, "x")
        node = expression(written.value) if written is not None else None
        found = _computed_inside(value, "", self.machine)
        if found is None or node is None or not isinstance(origin.origin, cst.Call):
            return
        path, tensor = found
        event = GraphTensorCopied(
            node=origin.origin,
            statement=self.machine.line(),
            trace=tuple(step for step in (self.machine.created(tensor),) if step is not None),
            tensor=self.machine.facts(tensor),
            copied_node=node,
            path=path,
            call=origin.origin,
        )
        self.pending.add(event)

    # -- leaves again

    def _restarted(self, value: Value, how: str, origin: ir.Call) -> None:
        written = argument(origin, 0, "data")
        node = expression(written.value) if written is not None else None
        tensors = [t for t in reachable_tensors(value) if t.requires_grad.truth() is Truth.YES]
        if not tensors or node is None or not isinstance(origin.origin, cst.Call):
            return
        if how == "parameter" and not (isinstance(value, Tensor) and derived(value) and not _is_a_leaf_again(value)):
            return
        event = GraphRestarted(
            node=origin.origin,
            statement=self.machine.line(),
            trace=tuple(step for step in (self.machine.created(tensors[0]),) if step is not None),
            how="copied" if how == "copied" else "parameter",
            leaf=self.machine.facts(tensors[0]),
            call=origin.origin,
            source_node=node,
            source_kind="sequence" if isinstance(value, Sequence) else "tensor",
        )
        self.pending.add(event)

    def backward(
        self,
        callee: BackwardCallee,
        root: Tensor,
        nodes: list[GraphNode],
        leaves: list[Tensor],
        inputs: list[Tensor] | None,
        create_graph: bool | None,
        origin: ir.Node,
    ) -> None:
        self.pending.ran_backward()
        if root.grad_fn or root.base is not None or root.requires_grad.truth() is not Truth.YES:
            return
        if root.is_parameter is not Truth.NO or any(root is tensor for tensor in self._optimized):
            return
        if root.made_by == "Variable()" and root.alias is not None and _is_data(root.alias.source):
            return  # the way to make a leaf before there were factories that do
        if callee == "autograd.grad" or not (root.op or (root.made_by in _FRESH_COPIES and not _literal(root.origin))):
            return
        made = self.machine.created(root)
        _, told, line = self._told.get(id(root), (root, origin, self.machine.line()))
        started = Step(origin.origin, "a backward starts from it here") if told is not origin else None
        event = GraphRestarted(
            node=told.origin,
            statement=line,
            trace=tuple(step for step in (made, started) if step is not None and step.node is not told.origin),
            how="root",
            leaf=self.machine.facts(root),
            made_by=root.made_by,
            told=told is not origin,
        )
        self.pending.add(event)

    def optimizer_built(self, optimizer: Optimizer, parameters: Value | None, origin: ir.Call) -> None:
        self._optimized += optimizer.parameters

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._forwards += function.name == "forward"

    def function_ended(self, function: Function, result: Value) -> None:
        self._forwards -= function.name == "forward"


def _is_data(tensor: Tensor) -> bool:
    """Whether a tensor comes straight from a factory: it has no history that could be cut."""
    return not (tensor.op or tensor.inputs or tensor.grad_fn or tensor.alias) and tensor.made_by != ""


def _assigning(line: cst.CSTNode, name: str) -> cst.CSTNode | None:
    """The statement, if all it does is to assign to that name."""
    statements = statements_at(line)
    if len(statements) == 1 and isinstance(statements[0], ast.Assign):
        targets = statements[0].targets
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name:
            return line
    return None


def _literal(origin: ir.Node) -> bool:
    """Whether a `torch.tensor(...)` call has nothing but numbers in it."""
    if not isinstance(origin, ir.Call) or not origin.arguments:
        return False
    pending: list[ir.Expression] = [origin.arguments[0].value]
    while pending:
        node = pending.pop()
        if isinstance(node, ir.Sequence):
            pending += node.elements
        elif isinstance(node, ir.Unary):
            pending.append(node.operand)
        elif not isinstance(node, ir.Constant):
            return False
    return True


def _computed_inside(value: Value, path: str, machine: Machine, depth: int = 3) -> tuple[str, Tensor] | None:
    """A computed tensor in a value, and the way to it."""
    value_here = only(value, machine)
    if isinstance(value_here, Tensor):
        return (path, value_here) if derived(value_here) else None
    inner: list[tuple[str, Value]] = []
    if isinstance(value_here, Sequence) and value_here.items is not None:
        inner = [(f"{path}[{index}]", each) for index, each in enumerate(value_here.items)]
    elif isinstance(value_here, Mapping) and value_here.items is not None:
        inner = [(f"{path}[{key!r}]", each) for key, each in value_here.items.items()]
    elif isinstance(value_here, Instance) and not _copies_itself(value_here):
        inner = [(f"{path}.{name}", each) for name, each in value_here.attributes.items()]
    for way, each in inner if depth else ():
        found = _computed_inside(each, way, machine, depth - 1)
        if found is not None:
            return found
    return None


def _copies_itself(instance: Instance) -> bool:
    names = ("__deepcopy__", "__getstate__", "__reduce__", "__reduce_ex__", "__copy__")
    return any(name in cls.attributes for cls in instance.cls.ancestry() for name in names)


def _is_a_leaf_again(tensor: Tensor) -> bool:
    """
    Whether a tensor has the numbers of one leaf in another shape, type or place: nothing computed them that could
    learn, and what is made of it mostly takes that leaf's place (`conv.bias = nn.Parameter(conv.bias.view(-1))`).
    """
    leaves: set[int] = set()
    pending: list[GraphNode | Tensor] = [node for _, node in tensor.grad_fn]
    while pending:
        each = pending.pop()
        if isinstance(each, Tensor):
            leaves.add(id(each))
        elif each.opaque or each.op not in VIEWS:
            return False
        else:
            pending += [edge for _, edge in each.edges]
    return len(leaves) == 1
