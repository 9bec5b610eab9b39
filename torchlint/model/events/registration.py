"""
Events of what a Module registers, and what an optimizer is given.

Raised by the observers `registration`, `forwarding`, `lost_leaves` and `optimizing` of `torchlint.model.observers`.
Registered is what `parameters()` and `state_dict()` find: `nn.Parameter`s and modules assigned to attributes, and
buffers.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from torchlint.model.events import Event
from torchlint.model.events.trace import Step
from torchlint.record import record
from torchlint.syntax import cst

Given: TypeAlias = Literal["non-leaf", "cut", "tensor", "module", "method", "generator"]
Missing: TypeAlias = Literal["consumed", "empty", "replaced", "unreached"]


@record(frozen=True, kw_only=True)
class HeldInPlainContainer(Event):
    """
    A Module's attribute is a list, tuple or dict of Python that holds parameters or modules with parameters, which are
    registered nowhere. `node` is the value assigned.

    Attributes
    ----------
    attribute, module
        The attribute and the class.
    container
        "list", "tuple", "set" or "dict".
    held
        What it holds.
    value_node
        The value assigned.
    flat
        Everything in it is of that kind, and the keys of a dict can name modules.
    namespace
        How the class writes `torch.nn` ("nn"), or "".
    """

    attribute: str
    module: str
    container: str
    held: Literal["parameters", "modules"]
    value_node: cst.BaseExpression
    flat: bool
    namespace: str


@record(frozen=True, kw_only=True)
class SuperInitMissing(Event):
    """
    The `__init__` of a Module assigns a parameter or module before `nn.Module.__init__` has run, or never runs it.

    Attributes
    ----------
    module
        The class.
    attribute
        What is assigned too early; "" if nothing is, and the call is missing all the same.
    first
        The first statement of the body that is no docstring.
    call_statement
        The statement that runs `nn.Module.__init__` too late, if one does.
    plain
        The class derives from `nn.Module` itself, and the late call is a plain one, without arguments of its own.
    certain
        Making an object raises, whatever `__init__` is given: the assignment is on every path through it.
    astray
        A call of `nn.Module.__init__` in the same method that is not given `self`: `nn.Module.__init__()`,
        `nn.Module().__init__()`.
    proven
        Torch raises, and nothing is unknown: what is assigned is on every path, and no derived class may have seen to
        it before; or, if nothing is assigned, the program itself calls the object. Otherwise that is a condition.
    """

    module: str
    attribute: str
    first: cst.CSTNode
    call_statement: cst.CSTNode | None
    plain: bool
    certain: bool
    proven: bool
    astray: cst.Call | None = None


@record(frozen=True, kw_only=True)
class ParameterReplaced(Event):
    """
    A registered `nn.Parameter` of a module is assigned a tensor that is none. `node` is the target.

    Attributes
    ----------
    attribute
        How the program writes the target: `self.weight`.
    """

    attribute: str


@record(frozen=True, kw_only=True)
class BuiltInForward(Event):
    """
    A Module's `forward` builds a parameter, or a layer that has parameters, on every call.

    Attributes
    ----------
    what
        `Parameter`, `Linear`, …
    module
        The class.
    """

    what: str
    module: str


@record(frozen=True, kw_only=True)
class ForwardCalled(Event):
    """
    `m.forward(...)` of a module `m` is called by its name; not through `super()`, nor from its own `forward` or
    `__call__`.

    Attributes
    ----------
    call
        The call.
    receiver
        `m`.
    hooked
        Whether the file registers a hook, or asks for what works by hooks (spectral norm, sharding).
    """

    call: cst.Call
    receiver: cst.BaseExpression
    hooked: bool = False


@record(frozen=True, kw_only=True)
class GradFlagSet(Event):
    """
    An attribute that nobody reads is set where `requires_grad` of tensors is meant. `node` is the target.

    Attributes
    ----------
    attribute
        As written: `require_grad`.
    owner
        The source of the owner.
    of
        "tensor": the name is misspelt. "module": modules have no such attribute.
    target
        The target of the assignment.
    value
        The value assigned, if it is a plain assignment with one target.
    holds
        The tensor requires no grad, as the program wants it.
    """

    attribute: str
    owner: cst.BaseExpression
    of: Literal["tensor", "module"]
    target: cst.Attribute
    value: cst.BaseExpression | None
    holds: bool = False


@record(frozen=True, kw_only=True)
class TensorAttributeUsed(Event):
    """
    A Module's `__init__` sets an attribute to a plain tensor that requires no grad, and `forward` computes with it.
    `node` is the value.

    Attributes
    ----------
    attribute, module
        The attribute and the class.
    owner
        The expression before the attribute: `self`.
    value_node
        The value assigned.
    used
        The step of the operation in `forward`.
    moves
        Whether the project may move or convert its Modules: False where none of its files names a device.
    """

    attribute: str
    module: str
    owner: str
    value_node: cst.BaseExpression
    used: Step
    moves: bool = True


@record(frozen=True, kw_only=True)
class OptimizerGiven(Event):
    """
    An optimizer is built over something that it cannot optimize. `node` is what it is given.

    Attributes
    ----------
    what
        "non-leaf": a tensor with a history. "cut": a tensor made by `detach()`, `.data` or a factory that still
        requires no grad when the optimizer steps. "tensor": one tensor instead of an iterable. "module": a module.
        "method": `parameters` without a call. "generator": a generator inside a list.
    name
        How the program calls it, or "".
    op
        The operation that made the tensor, or "".
    """

    what: Given
    name: str
    op: str


@record(frozen=True, kw_only=True)
class OptimizerMisses(Event):
    """
    An optimizer doesn't hold the parameters that it is meant for. `node` is the call that builds it, or the assignment
    that comes too late, or the call of `step`.

    Attributes
    ----------
    why
        "consumed": the generator it is given was iterated over before. "empty": it is given nothing. "replaced": a
        module is assigned after the optimizer took the parameters. "unreached": no backward has reached any of its
        parameters.
    optimizer
        How the program calls it, or its class.
    name
        The generator, the source of the empty parameters, or the attribute assigned.
    """

    why: Missing
    optimizer: str
    name: str


@record(frozen=True, kw_only=True)
class IteratorUsedUp(Event):
    """
    An iterator over parameters is gone through a second time, and gives nothing. `node` is what names it there.

    Attributes
    ----------
    name
        What the program calls it.
    again
        Whether the first time was at the same place, in an earlier iteration of a loop.
    """

    name: str
    again: bool


@record(frozen=True, kw_only=True)
class LeafLost(Event):
    """
    A tensor that requires grad is replaced by the result of an operation on it, and its gradient can't be read any
    more.

    Attributes
    ----------
    how
        "created": `torch.rand(n, requires_grad=True) * s`: a backward reaches the leaf, and nothing holds it.
        "rebound": `w = w - lr * w.grad`.
    name
        What the program calls the result.
    op
        The operation.
    factory
        The call that creates the leaf, if how is "created".
    value_node
        The value assigned.
    """

    how: Literal["created", "rebound"]
    name: str
    op: str
    factory: cst.Call | None
    value_node: cst.BaseExpression


@record(frozen=True, kw_only=True)
class GradFlagCompared(Event):
    """
    `p.requires_grad == False` stands as a statement, in a function or a loop: nothing is set. `node` is the comparison.

    Attributes
    ----------
    target
        The attribute.
    owner
        What has it.
    wanted
        What it is compared with.
    """

    target: cst.BaseExpression
    owner: cst.BaseExpression
    wanted: bool


@record(frozen=True, kw_only=True)
class ParameterRebound(Event):
    """
    A loop over parameters binds its variable to a tensor computed from it, and nothing in the loop reads that: the
    parameter keeps its value. `node` is the value.

    Attributes
    ----------
    name
        The variable.
    value_node
        The value assigned.
    """

    name: str
    value_node: cst.BaseExpression


@record(frozen=True, kw_only=True)
class ParameterUnused(Event):
    """
    A layer or parameter that the `__init__` of a Module registers, and that nothing in the file reads; an object of the
    class is wrapped in `DistributedDataParallel`, which is not asked to look for unused parameters. `node` is the
    target.

    Attributes
    ----------
    attribute, module
        The attribute and the class.
    """

    attribute: str
    module: str
