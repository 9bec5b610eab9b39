"""
Events about tensors written in place: through `.data`, expanded, as an argument, between a forward and its backward.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from torchlint.model.events import Event, TensorFacts, WriteSpelling
from torchlint.model.events.trace import Step
from torchlint.record import record
from torchlint.syntax import cst
from torchlint.truth import Truth

Copying: TypeAlias = Literal["each", "detached", "parameter", ""]
"""The copy that a kept tensor, or a mapping of some, lacks."""


@record(frozen=True, kw_only=True)
class StaleGradient(Event):
    """
    A backward reaches a leaf that was written after the forward had used it; nothing raises, since the operation
    did not save it. The gradient is that of the old value. `node` is the write.

    Attributes
    ----------
    leaf
        The leaf written.
    op
        How: `step()`, `sub_`, `-=`.
    forward, backward
        The steps of the operation that used the old value, and of the backward.
    """

    leaf: TensorFacts
    op: str
    forward: Step
    backward: Step


@record(frozen=True, kw_only=True)
class GivenNetworkStepped(Event):
    """
    An optimizer steps over a network that the program is given, between a call of it and the backward through that
    call. `node` is the step.

    Attributes
    ----------
    network
        How the program calls the network.
    """

    network: str


@record(frozen=True, kw_only=True)
class DataWritten(Event):
    """
    A tensor is written through its `.data`: the version counter does not see it.

    Attributes
    ----------
    target
        The tensor whose `.data` it is.
    target_node
        The expression that is written.
    owner_node
        The expression whose `.data` that is; the same where it is none.
    op
        `mul_`, `*=`, `.data =`.
    saved_by
        The step of an operation that had saved the old value, and whose backward comes later; None if there is none.
    perhaps_saved
        Whether some operation or unknown code may have kept the old value.
    was_saved
        Whether an operation is known to have saved it before, whatever has become of that graph.
    temporary
        The tensor is what an index of another has just given, and nothing else names it: `.data =` gives this one other
        memory, and nothing is written.
    of_leaf
        The tensor is a leaf, or a view of one: a part of a parameter is old style as much as the whole.
    """

    target: TensorFacts
    target_node: cst.BaseExpression
    owner_node: cst.BaseExpression
    op: str
    saved_by: Step | None
    perhaps_saved: bool
    was_saved: bool
    temporary: bool = False
    of_leaf: bool = False


@record(frozen=True, kw_only=True)
class ExpandedWritten(Event):
    """
    A tensor made by `expand` is written in place: several of its elements are one place in memory.

    Attributes
    ----------
    target
        The tensor written.
    op
        As in `InplaceWrite`.
    expand_node
        The expression that expanded it.
    expand_op
        `expand`, `expand_as`, `broadcast_to`.
    overlaps
        YES: some dimension is known to be expanded to a size over 1. MAYBE: the size is not known.
    may_be_empty
        Nothing but another size, which may be 0, leaves it open: what has no elements is written without a complaint.
    refused
        Whether torch raises (else it writes all elements that share the place).
    """

    target: TensorFacts
    op: str
    expand_node: cst.BaseExpression
    expand_op: str
    overlaps: Truth
    refused: bool
    may_be_empty: bool = False


@record(frozen=True, kw_only=True)
class InplaceResultBound(Event):
    """
    The result of an in-place method is bound to a second name, and both names are read afterwards.

    Attributes
    ----------
    op
        `add_`.
    name
        The new name.
    target
        The old one.
    value_node
        The right-hand side.
    target_node
        The expression of the tensor that is written.
    """

    op: str
    name: str
    target: str
    value_node: cst.BaseExpression
    target_node: cst.BaseExpression


@record(frozen=True, kw_only=True)
class ArgumentWritten(Event):
    """
    A function writes in place into a tensor that its caller passed.

    Attributes
    ----------
    function
        Its name.
    parameter
        The parameter.
    op
        As in `InplaceWrite`.
    read
        The step where the caller, who gave the result another name, reads the tensor it passed; None if no such
        caller is seen.
    read_name
        Its name there.
    """

    function: str
    parameter: str
    op: str
    read: Step | None
    read_name: str = ""


@record(frozen=True, kw_only=True)
class GraphTensorIndexed(Event):
    """
    A part of a tensor of the graph is read by index.

    Attributes
    ----------
    tensor
        The tensor indexed; `node` is the whole expression.
    tensor_node
        The expression that names it.
    kind
        "view" for integers and slices, "copy" for index tensors and masks.
    """

    tensor: TensorFacts
    tensor_node: cst.BaseExpression
    kind: Literal["view", "copy"]


@record(frozen=True, kw_only=True)
class SnapshotWritten(Event):
    """
    A name is kept for what a Module holds, without a copy; something writes the Module's parameters, and the name is
    then loaded back or read. `node` is the expression that a copy belongs at.

    Attributes
    ----------
    kept
        The name it is kept under.
    source
        What the program calls the Module.
    how
        The method that gave it: "state_dict", "named_parameters", "parameters".
    copying
        Which copy is missing: "each" of a mapping, of a "detached" tensor, of a "parameter"; "" where no single edit
        makes one.
    """

    kept: str
    source: str
    how: str
    copying: Copying


@record(frozen=True, kw_only=True)
class CopyWritten(Event):
    """
    What an index has copied is written in place, and nothing holds the copy: `t[mask].fill_(0)`. `node` is the call, or
    what is assigned to.

    Attributes
    ----------
    op
        `fill_`, `[...] =`, `+=`.
    spelling
        "method": of the copy, or of something made from it. "function": of `torch.nn.init`. "indexed": a part of the
        copy is assigned to.
    subscript
        The expression that copies.
    direct
        It is that expression which is written, and not something made from it.
    source
        The tensor that is indexed, and stays as it was.
    """

    op: str
    spelling: Literal["method", "function", "indexed"]
    subscript: cst.Subscript
    direct: bool
    source: TensorFacts


@record(frozen=True, kw_only=True)
class OverlapWritten(Event):
    """
    A part of a tensor is written with another part of it, and both share elements: `x[:, 1:] = x[:, :-1]`; or a tensor
    is written at the places that it holds itself: `m[m] = 0`. `node` is what is assigned to.

    Attributes
    ----------
    target
        The tensor.
    source
        The expression that is read from the same memory.
    op
        `=`, `+=`.
    dimension
        Along which the part is moved.
    shift
        How far: more than 0 to the back, less to the front; 0 where a tensor is its own index.
    refused
        Whether torch sees it and raises: it looks only at tensors whose elements lie side by side.
    """

    target: TensorFacts
    source: cst.BaseExpression
    op: str
    dimension: int
    shift: int
    refused: Truth


@record(frozen=True, kw_only=True)
class OldValueRead(Event):
    """
    A name, or an element of a list or dictionary, holds a tensor from before an in-place write, and is read after it:
    what is read there is the new value. Nothing had saved the old one, so torch does not raise. `node` is the write; of
    a tensor that is "repeated", the expression that is kept.

    Attributes
    ----------
    op
        As in `InplaceWrite`.
    spelling
        See `WriteSpelling`.
    target
        The tensor written.
    target_node
        The expression that names it.
    target_is_view
        Whether it is a view of another tensor.
    grad_mode
        Whether it was on at the write.
    how
        How the old value is held. "argument": by the name that the write is given, whose result goes on under another
        one. "name": by a second name. "element": in a list or dictionary. "repeated": in a list or dictionary that gets
        the same tensor again after the write.
    name
        What holds it, as the program spells it.
    read
        The step that reads it.
    layer
        The call that builds the layer which writes; None where it is none of the file.
    """

    op: str
    spelling: WriteSpelling
    target: TensorFacts
    target_node: cst.BaseExpression
    target_is_view: Truth
    grad_mode: Truth
    how: Literal["argument", "name", "element", "repeated"]
    name: str
    read: Step
    layer: cst.Call | None = None
