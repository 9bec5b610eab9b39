"""
Observers: parts of the model that watch a run and report what no single transfer function sees.

A transfer function says what one operation does; an observer remembers what happened over a run (the order of
`backward`, `step` and `zero_grad`, what a loop keeps, what a class registers) and raises events of its own. Each
family of facts is one module in `torchlint/model/observers/`, with one class derived from `Observer` that overrides
the hooks it needs. Observers see the run, change nothing in it, do not judge, and know nothing of each other.

State that must not survive from one entry point to the next is dropped in `concluded`. What is noted on a branch is
not undone when the branch is: note `machine.path` and `machine.assumed` with it, and compare guards (`truth.conjoin`,
`truth.implied`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from torchlint.model.events import BackwardCallee
from torchlint.model.state.values import Class, Function, GraphNode, Instance, Module, Optimizer, Tensor, Value, Write
from torchlint.syntax import cst, ir
from torchlint.syntax.features import Concern

if TYPE_CHECKING:
    from torchlint.model.state.computations import Computation
    from torchlint.model.state.machine import Machine


class Observer:
    """
    Base class: every hook does nothing. Only hooks that a subclass overrides are called.

    `self.machine` is the running machine: `machine.emit(event)`, `machine.facts(tensor)`, `machine.line()`,
    `machine.path`, `machine.assumed`, `machine.grad_mode`, `machine.iteration`, `machine.trail`, `machine.statement`.
    """

    words: ClassVar[tuple[str, ...]] = ()
    """
    Its events point at places where one of these is written: a file whose text has none is not watched for them. Empty
    where they may point anywhere.
    """

    concerns: ClassVar[tuple[Concern, ...] | None] = None
    """
    What must be written in an entry point, or in what it calls, for it to have anything to say that is more than
    strict; one of these is enough. None: any entry point may concern it.
    """

    rests_on: ClassVar[tuple[type[Observer], ...]] = ()
    """Observers without which it cannot watch."""

    follows_foreign_calls: ClassVar[bool] = False
    """
    Whether what it is told of another file's code (`ForeignWatch.HOOKS`) is all that it asks of it. For any other
    observer, a function of another file is unknown code (`unknown_called`), even where it is followed.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def concerned_with(self, instance: Instance) -> bool:
        """Whether it waits to see what the methods of an object do that was built on its own."""
        return False

    def computed(self, made: Computation) -> None:
        """
        A computation ran and was noted: `ComputationLog` tells it. Those of its operands can be asked for; its own is
        noted already.
        """

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        """
        An operation of the table ran: function, method or operator. `spelling` is its qualified name
        (`torch.Tensor.matmul` for `@`), `bound` its arguments by parameter name.
        """

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        """
        Something imported was called by its qualified name: any function or class of torch (operations, layers, losses,
        optimizers, `torch.save`, `torch.no_grad`), NumPy, or another package. `result` is None where the model knows
        nothing of it.
        """

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        """A method was called on a tensor, a module, an optimizer, a container, or an unknown value."""

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        """Code that the model doesn't follow was run: it may have done anything with `receiver` and `arguments`."""

    def iterated(self, value: Value) -> None:
        """A value was iterated over: by a loop, a comprehension, `list()`, `sum()`, unpacking, …"""

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        """`owner.name` was read (tensors, instances, layers; not methods about to be called)."""

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        """`owner.name = value`."""

    def name_set(self, name: str, value: Value, node: ir.Node) -> None:
        """A variable was bound by an assignment statement."""

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        """A variable was read."""

    def indexed(self, tensor: Tensor, result: Value, origin: ir.Node) -> None:
        """`tensor[...]` was read (not written)."""

    def expression_statement(self, node: ir.ExpressionStatement, value: Value) -> None:
        """An expression stands as a statement; `value` is what it gave."""

    def compared(self, op: str, left: Value, right: Value, origin: ir.Node) -> None:
        """`left op right` for `==` and `!=`."""

    def binary(self, op: str, left: Value, right: Value, result: Value, origin: ir.Binary) -> None:
        """`left op right` was evaluated, whatever the operands are (for tensors, `operation` was called before)."""

    def unary(self, op: str, operand: Value, result: Value, origin: ir.Unary) -> None:
        """`op operand` was evaluated (`-x`), as `binary` tells of two operands; not of numbers, and not `not`."""

    def wrote(self, tensor: Tensor, write: Write) -> None:
        """A tensor was written in place (also by an optimizer)."""

    def required_grad(self, tensor: Tensor, value: Value | None, how: str, origin: ir.Node) -> None:
        """
        `tensor.requires_grad = value`, `tensor.requires_grad_(value)`; called before it takes effect. `how`
        as written.
        """

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
        """
        A backward pass ran: the nodes it visited, the leaves it reached. `inputs` are those of `autograd.grad`.
        """

    def stepped(self, optimizer: Value, origin: ir.Call) -> None:
        """`optimizer.step()`; the optimizer may be an `Unknown` whose method `step` was called."""

    def zeroed(self, owner: Value, origin: ir.Node) -> None:
        """`zero_grad()` on an optimizer, a module, or an unknown value; or `.grad` of a tensor reset by hand."""

    def mode_set(self, module: Value, training: bool | None, origin: ir.Call) -> None:
        """`module.train(...)` or `module.eval()`; the module may be unknown."""

    def loop_started(self, node: ir.For | ir.While) -> None:
        """A loop is entered."""

    def iteration_started(self, node: ir.For | ir.While, number: int) -> None:
        """The body runs for the first (0), second (1), … time."""

    def iteration_ended(self, node: ir.For | ir.While, number: int) -> None:
        """The body has run; the state is the one at its end."""

    def loop_left(self, node: ir.For | ir.While) -> None:
        """A loop is over."""

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        """A function of the file starts to run (called, or analysed by itself)."""

    def function_ended(self, function: Function, result: Value) -> None:
        """A function of the file has run."""

    def entered(self, node: ir.With, contexts: list[Value]) -> None:
        """A `with` block is entered."""

    def left(self, node: ir.With) -> None:
        """A `with` block is left."""

    def class_defined(self, cls: Class) -> None:
        """A class statement was run."""

    def class_built(self, cls: Class, instance: Instance) -> None:
        """
        A class is analysed by itself: its `__init__` has run on unknown arguments and `instance` is what it
        built.
        """

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        """A module of the file or a layer of torch was called."""

    def optimizer_built(self, optimizer: Optimizer, parameters: Value | None, origin: ir.Call) -> None:
        """An optimizer of torch was constructed over `parameters`."""

    def returned(self, value: Value, node: cst.CSTNode) -> None:
        """A function returns a value."""

    def ran(self, statement: ir.Statement) -> None:
        """A statement has run (and the path goes on)."""

    def entry_started(self, function: Function | None) -> None:
        """An entry point starts: the file as a script (None), or a function or method by itself."""

    def concluded(self) -> None:
        """An entry point is over; the last chance to raise events about it."""

    def finished(self) -> None:
        """All entry points of the file have been run."""


HOOKS: Final = tuple(
    name
    for name, value in vars(Observer).items()
    if callable(value) and not name.startswith("_") and name != "concerned_with"
)


Listeners: TypeAlias = "tuple[Callable[..., None], ...]"
"""One hook of all observers that override it."""


class Watch:
    """The observers of a run, per hook only those that override it (a hook nobody overrides costs nothing)."""

    computed: Listeners = ()
    operation: Listeners = ()
    called: Listeners = ()
    method: Listeners = ()
    unknown_called: Listeners = ()
    iterated: Listeners = ()
    attribute_read: Listeners = ()
    attribute_set: Listeners = ()
    name_set: Listeners = ()
    name_read: Listeners = ()
    indexed: Listeners = ()
    expression_statement: Listeners = ()
    compared: Listeners = ()
    binary: Listeners = ()
    unary: Listeners = ()
    wrote: Listeners = ()
    required_grad: Listeners = ()
    backward: Listeners = ()
    stepped: Listeners = ()
    zeroed: Listeners = ()
    mode_set: Listeners = ()
    loop_started: Listeners = ()
    iteration_started: Listeners = ()
    iteration_ended: Listeners = ()
    loop_left: Listeners = ()
    function_started: Listeners = ()
    function_ended: Listeners = ()
    entered: Listeners = ()
    left: Listeners = ()
    class_defined: Listeners = ()
    class_built: Listeners = ()
    module_called: Listeners = ()
    optimizer_built: Listeners = ()
    returned: Listeners = ()
    ran: Listeners = ()
    entry_started: Listeners = ()
    concluded: Listeners = ()
    finished: Listeners = ()
    foreign_called: Listeners = ()
    """`unknown_called` of those for whom a function of another file is unknown code."""

    def __init__(self, observers: tuple[Observer, ...] = ()) -> None:
        told: defaultdict[str, list[Callable[..., None]]] = defaultdict(list)
        for observer in observers:
            for hook in _overridden(type(observer)):
                told[hook].append(getattr(observer, hook))
        for hook, listeners in told.items():
            setattr(self, hook, tuple(listeners))
        self.foreign_called = tuple(
            observer.unknown_called
            for observer in observers
            if not observer.follows_foreign_calls and "unknown_called" in _overridden(type(observer))
        )


NOBODY = Watch()
"""Whose hooks are told of nothing."""
_of_kind: Final[dict[type[Observer], tuple[str, ...]]] = {}


def _overridden(kind: type[Observer]) -> tuple[str, ...]:
    known = _of_kind.get(kind)
    if known is None:
        hooks = [hook for hook in HOOKS if getattr(kind, hook) is not getattr(Observer, hook)]
        known = _of_kind[kind] = tuple(hooks)
    return known


def looks_at_objects(kind: type[Observer]) -> bool:
    """Whether observers of a kind look at each object that is built by itself, whatever is written in its class."""
    return "class_built" in _overridden(kind) or kind.concerned_with is not Observer.concerned_with


class ForeignWatch(Watch):
    """
    What observers are told of another file's code: that an optimizer stepped, that gradients were zeroed, and the like;
    each at a place of their own file, `here`.
    """

    HOOKS = ("stepped", "zeroed", "mode_set", "required_grad", "backward", "optimizer_built", "unknown_called")

    def __init__(self, home: Watch, here: Callable[[ir.Node], ir.Node]) -> None:
        super().__init__()
        for hook in self.HOOKS:
            listeners = getattr(home, hook)
            if listeners:
                setattr(self, hook, tuple([partial(_at, each, here) for each in listeners]))


def _at(hook: Callable[..., None], here: Callable[[ir.Node], ir.Node], *arguments: object) -> None:
    placed: list[object] = []
    for each in arguments:
        if not isinstance(each, ir.Node):
            placed.append(each)
            continue
        place = here(each)
        if isinstance(each, ir.Call) and not isinstance(place, ir.Call):
            return  # done while a definition of this file is run, for a default or a decorator: at no call of this file
        placed.append(place)
    hook(*placed)
