"""
Events of custom autograd functions (subclasses of `torch.autograd.Function`) and of hooks.

Raised by the observers `custom` and `hooks`.
"""

from __future__ import annotations

from typing import Literal

from torchlint.model.events import Event
from torchlint.record import record
from torchlint.syntax import cst


@record(frozen=True, kw_only=True)
class TensorKeptOnContext(Event):
    """
    `forward` of a custom Function sets an attribute of `ctx` to a tensor. `node` is the assignment's target.

    Attributes
    ----------
    context, attribute
        `ctx` and `x` in `ctx.x = x`.
    what
        "input", "output" of the function, or "intermediate".
    value
        The assigned expression.
    reads
        All places in `backward` that read the attribute; None if it is used in a way that is not seen through.
    written
        A tensor that the Function was applied to is written in place later.
    saves
        Whether the class calls `save_for_backward`, or keeps more than this one tensor.
    """

    context: str
    attribute: str
    what: Literal["input", "output", "intermediate"]
    value: cst.BaseExpression
    reads: tuple[cst.BaseExpression, ...] | None
    saves: bool
    written: bool = False


@record(frozen=True, kw_only=True)
class FunctionMethodNotStatic(Event):
    """
    `forward` or `backward` of a custom Function, or both, are no static methods. Raised once for the class; `node` is
    the name of the first of them.

    Attributes
    ----------
    cls
        The name of the class.
    definitions
        The methods.
    reads
        An attribute that `__init__` sets on the object and one of these methods reads; "" if there is none. With
        `apply` they are given a context that does not have it.
    called
        Whether the file calls an object of the class, which a `FunctionInstanceCalled` reports.
    named
        Whether the file names the class anywhere else. Of one that nobody names nothing can fail here.
    """

    cls: str
    definitions: tuple[cst.FunctionDef, ...]
    reads: str = ""
    called: bool = False
    named: bool = True


@record(frozen=True, kw_only=True)
class FunctionInstanceCalled(Event):
    """
    An object of a custom Function is called, `MyFunction()(x)`, or its `forward` without a context.

    Attributes
    ----------
    cls
        The name of the class.
    call
        The call.
    bare
        It is a call of `forward`.
    missing
        What `apply` needs beside the arguments of the call of the object.
    """

    cls: str
    call: cst.Call
    bare: bool = False
    missing: tuple[str, ...] = ()


@record(frozen=True, kw_only=True)
class GradientsReturned(Event):
    """
    `backward` of a custom Function returns. `node` is the returned expression, or the `return`.

    Attributes
    ----------
    cls
        The name of the class.
    count
        How many values are returned.
    surplus_none
        How many of the last ones are `None`, or may be.
    least, most
        How many inputs `forward` takes: without and with those that have defaults; or how many it is given.
    nothing
        `backward` computes gradients and has no `return` for them; `node` is its name.
    applied
        The call of `apply` that gives as many, where `forward` itself leaves their number open.
    """

    cls: str
    count: int
    surplus_none: int
    least: int
    most: int
    nothing: bool = False
    applied: cst.CSTNode | None = None

    @property
    def fits(self) -> bool:
        """Whether torch takes as many: surplus values at the end may be `None`."""
        return self.least <= self.count and self.count - self.surplus_none <= self.most


@record(frozen=True, kw_only=True)
class InputWritten(Event):
    """
    A custom Function writes in place into a tensor that it was given.

    Attributes
    ----------
    method
        In which of the two.
    what
        An input of `forward` that `ctx.mark_dirty` does not name, the incoming gradient, or a saved tensor.
    name
        How the program calls it.
    op
        How it is written.
    returned
        Whether `forward` returns this very tensor: only then may `mark_dirty` name it.
    """

    method: Literal["forward", "backward"]
    what: Literal["input", "gradient", "saved"]
    name: str
    op: str
    returned: bool = False


@record(frozen=True, kw_only=True)
class DerivativeRebuilt(Event):
    """
    `backward` of a custom Function computes a factor of the derivative from the saved result.

    Attributes
    ----------
    how
        "division": the saved result is divided by another saved tensor. "root": `sqrt(1 - s * s)` of something
        computed from the saved result.
    """

    how: Literal["division", "root"]


@record(frozen=True, kw_only=True)
class BackwardNotDifferentiable(Event):
    """
    `backward` of a custom Function does what a second backward cannot differentiate, and does not say so with
    `once_differentiable`. `node` is where it does.

    Attributes
    ----------
    how
        "numpy", "detach", "foreign" (code that is no Python), "intermediate" (a tensor was saved that is neither input
        nor output).
    written
        The callee, or the name of the tensor.
    definition
        `backward`.
    """

    how: Literal["numpy", "detach", "foreign", "intermediate"]
    written: str
    definition: cst.FunctionDef


@record(frozen=True, kw_only=True)
class BackwardHookRegistered(Event):
    """
    `module.register_backward_hook(...)`.

    Attributes
    ----------
    call
        The call.
    ignores
        The hook is known, reads no gradient of the inputs, and returns none made of those of the outputs.
    alone
        The module is one operation on one tensor, so that the last operation's gradients are the module's.
    """

    call: cst.Call
    ignores: bool = False
    alone: bool = False


@record(frozen=True, kw_only=True)
class HookWritesGradient(Event):
    """
    A tensor hook writes in place into the gradient it is given. `node` is the write.

    Attributes
    ----------
    name
        The hook's parameter.
    op
        As written: `mul_`, `*=`, `[...] =`.
    returned
        The write is a method call that is the value of a lambda, or of a `return`: it may be written out of place.
    registered
        The call of `register_hook`.
    """

    name: str
    op: str
    returned: bool
    registered: cst.CSTNode


@record(frozen=True, kw_only=True)
class HookedTensorWritten(Event):
    """
    The input or output of a module with a full backward hook is written in place.

    Attributes
    ----------
    module
        How the program calls the module.
    name, op
        The tensor, and how it is written.
    what
        Which of the two.
    """

    module: str
    name: str
    op: str
    what: Literal["input", "output"]


@record(frozen=True, kw_only=True)
class IncomingGradientIgnored(Event):
    """
    `backward` of a custom Function returns a gradient made of what the context holds, and mentions none of the
    gradients it is given. `node` is what it returns.

    Attributes
    ----------
    cls
        The name of the class.
    incoming
        The parameters of `backward` after the context; with `others`, those that are not mentioned.
    others
        Some of the gradients are used, and these are not, though a backward comes through their outputs.
    """

    cls: str
    incoming: tuple[str, ...]
    others: bool = False


@record(frozen=True, kw_only=True)
class NothingSaved(Event):
    """
    `backward` of a custom Function unpacks `ctx.saved_tensors`, and `forward` saves nothing. `node` is the assignment.

    Attributes
    ----------
    cls
        The name of the class.
    """

    cls: str
