"""
Events about gradients: `.grad` read and kept, values that leave the graph, leaves, `torch.autograd.grad`.

Facts only, in PyTorch's words; `torchlint.model.observers` raises them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from torchlint.model.events import Event, TensorFacts
from torchlint.model.events.trace import Step
from torchlint.record import record
from torchlint.syntax import cst
from torchlint.truth import Truth

GradWrite: TypeAlias = Literal["zero_", "none", "scale", "fill", "assign", "zeros"]


@record(frozen=True, kw_only=True)
class GradWritten(Event):
    """
    `.grad` of a tensor is written by hand.

    Attributes
    ----------
    how
        "zero_": `x.grad.zero_()`, also through `.data`; "none": `x.grad = None`; "scale": `x.grad *= 0`;
        "fill": `x.grad.fill_(0)`; "zeros": `x.grad = torch.zeros_like(x)`; "assign": anything else.
    owner
        The tensor whose gradient it is.
    grad_is_none
        YES: no backward has reached the tensor yet.
    parameters_of
        In `for p in m.parameters(): ...`, the source of `m`; else "".
    optimizer
        The name of an optimizer known to hold the tensor, else "".
    object
        Of what the tensor is known as an attribute, unless that is certainly no Module; else "".
    loop
        The `for` statement over the parameters, if its body is nothing but this write (and a guard against None).
    function
        The name of the function it is written in, or "": somebody has to implement `zero_grad`.
    alone
        The run has seen a backward fill the gradient, and no parameters beside it, as far as the graph is known.
    row
        The same for what is written right before and behind it, in statements of their own; 0 if nothing is.
    all_at_once
        Those of all parameters of something are written in one place, or all that the last backward has filled, after
        a step by hand has used them; and no variable in sight holds this one.
    read_here
        The running function reads the gradient, which may otherwise be for code that reads it off the tensor.
    """

    how: GradWrite
    owner: TensorFacts
    grad_is_none: Truth
    parameters_of: str = ""
    optimizer: str = ""
    object: str = ""
    loop: cst.For | None = None
    function: str = ""
    alone: bool = False
    row: int = 0
    all_at_once: bool = False
    read_here: bool = True


@record(frozen=True, kw_only=True)
class NonLeafGradRead(Event):
    """
    `.grad` of a tensor is read that is no leaf and whose `retain_grad()` was not called: it is None.

    Attributes
    ----------
    owner
        The tensor; `node` is the attribute.
    owner_node
        The expression that names it.
    made_by
        The operation that computed it.
    made_statement
        The statement that assigns it to that name, if there is one.
    """

    owner: TensorFacts
    owner_node: cst.BaseExpression
    made_by: str
    made_statement: cst.CSTNode | None


@record(frozen=True, kw_only=True)
class NonLeafFlagSet(Event):
    """
    `requires_grad` of a tensor that is no leaf is set.

    Attributes
    ----------
    owner
        The tensor.
    written
        As written: `requires_grad = True`, `requires_grad_(False)`.
    made_by
        The operation that computed it.
    """

    owner: TensorFacts
    written: str
    made_by: str


@record(frozen=True, kw_only=True)
class GraphTensorToNumpy(Event):
    """
    A tensor that requires grad is handed to NumPy while gradients are recorded.

    Attributes
    ----------
    tensor
        The tensor.
    tensor_node
        The expression that gives it.
    how
        `numpy()`, `np.asarray`, `plt.plot`.
    inside
        It stands in a list or tuple.
    """

    tensor: TensorFacts
    tensor_node: cst.BaseExpression
    how: str
    inside: bool


@record(frozen=True, kw_only=True)
class GraphTensorCopied(Event):
    """
    `copy.deepcopy` of a tensor that is no leaf, or of something that holds one.

    Attributes
    ----------
    tensor
        The tensor that is no leaf.
    copied_node
        The expression that is copied.
    path
        How to get from there to the tensor: "", "[0]", ".hidden".
    call
        The call.
    """

    tensor: TensorFacts
    copied_node: cst.BaseExpression
    path: str
    call: cst.Call


Refound: TypeAlias = Literal["copied", "root", "parameter", "written"]


@record(frozen=True, kw_only=True)
class GraphRestarted(Event):
    """
    A value is cut from its graph and made a leaf that requires grad.

    Attributes
    ----------
    how
        "copied": `torch.tensor(t, requires_grad=True)` of a graph tensor `t`. "root": the leaf is what a backward
        starts from. "parameter": `nn.Parameter(t)` of a graph tensor, in `forward` or in a loop. "written": a leaf is
        given the value of a graph tensor, and a backward reaches the leaf and nothing that the value came from.
    leaf
        The new leaf, or for "copied" and "parameter" the graph tensor it was made from.
    call
        The call that made it, for "copied" and "parameter".
    source_node
        The graph tensor's expression there.
    source_kind
        "tensor", or "sequence": several graph tensors in a list.
    made_by
        The operation that computed the leaf's value, for "root".
    told
        For "root": `node` is where the leaf is told to require grad, and the backward is a step of the trace.
    """

    how: Refound
    leaf: TensorFacts
    call: cst.Call | None = None
    source_node: cst.BaseExpression | None = None
    source_kind: Literal["tensor", "sequence"] = "tensor"
    made_by: str = ""
    told: bool = False


@record(frozen=True, kw_only=True)
class SumOfGradientsRead(Event):
    """
    `.grad` of a leaf was read after one backward, another one accumulated into it, and it is read again.
    `node` is the second read.

    Attributes
    ----------
    owner
        The leaf.
    first_read
        The step of the first read.
    first, second
        The steps of the two backwards.
    repeated
        Both backwards are one call, in two iterations of a loop.
    """

    owner: TensorFacts
    first_read: Step
    first: Step
    second: Step
    repeated: bool


@record(frozen=True, kw_only=True)
class KeptGradientWritten(Event):
    """
    A name is kept for `x.grad` itself, the gradient is then written in place, and the name is read.
    `node` is the expression that was kept (`x.grad`).

    Attributes
    ----------
    kept
        The name it is kept under.
    owner
        The leaf whose gradient it is.
    written
        What writes it: "a backward accumulates into it", "`zero_` overwrites it".
    read
        The step of the later read.
    """

    kept: str
    owner: TensorFacts
    written: str
    read: Step


@record(frozen=True, kw_only=True)
class ConstantGradientTerm(Event):
    """
    A backward starts from a sum with a term that is computed, by more than a scaling, from the result of a
    `torch.autograd.grad` without `create_graph=True`: for that backward the term is a constant.

    Attributes
    ----------
    call
        The `torch.autograd.grad` call; `node` is it, too.
    term
        The term.
    root
        What the backward starts from.
    """

    call: cst.Call
    term: TensorFacts
    root: TensorFacts


@record(frozen=True, kw_only=True)
class CreatedGraphUnused(Event):
    """
    A backward with `create_graph=True` whose gradients no later backward differentiates, and whose graph none reads.

    Attributes
    ----------
    argument
        The `create_graph=True` argument.
    call
        The call.
    accumulated
        It is a `.backward(...)`, so that the gradients stay in `.grad`, together with their graph.
    """

    argument: cst.Arg
    call: cst.Call
    accumulated: bool


@record(frozen=True, kw_only=True)
class GraphKeptByLoop(Event):
    """
    A tensor with its graph is added to something that lives longer than the iteration that made it, although a backward
    of that iteration has used the graph up, and nothing ever differentiates the collection.

    Attributes
    ----------
    value
        The tensor added.
    value_node
        The expression that names it.
    container
        How the program calls what it is added to: `total`, `history["loss"]`.
    how
        "sum": `total += loss`; "list": `losses.append(loss)`.
    """

    value: TensorFacts
    value_node: cst.BaseExpression
    container: str
    how: Literal["sum", "list"]


@record(frozen=True, kw_only=True)
class OnlyZeroGradients(Event):
    """
    A backward reaches a leaf only through operations whose gradient is zero everywhere, and no other backward reaches
    it otherwise. `node` is the call.

    Attributes
    ----------
    op
        The operation that the backward comes to first: `round`.
    leaf
        The leaf; of several the first with a name.
    count
        How many there are.
    """

    op: str
    leaf: TensorFacts
    count: int


@record(frozen=True, kw_only=True)
class TermWithoutGradient(Event):
    """
    A backward starts at a sum, and one of its terms was cut from the graph while another was not. `node` is the call.

    Attributes
    ----------
    term_node
        The expression that is added, if it is written as an operand.
    cut
        Why it has no graph: "`detach()` cuts it from the graph".
    """

    term_node: cst.BaseExpression | None
    cut: str


@record(frozen=True, kw_only=True)
class GivenNetworkFreed(Event):
    """
    Two backwards go through one call of a network that the program is given: the first has freed the graph of that
    call. `node` is the second. An optimizer steps over the network, or the second comes to the call through another
    one, of a later iteration, that was given what it returned.

    Attributes
    ----------
    network
        How the program calls the network.
    root
        The root of the second backward.
    carried
        How the program writes what the later call is given; "" if both go through one call.
    """

    network: str
    root: TensorFacts
    carried: str


@record(frozen=True, kw_only=True)
class CutLossDifferentiated(Event):
    """
    `loss.backward()` where all that `loss` is made of is cut from the graph, or comes from a loop over data.

    Attributes
    ----------
    root
        The loss.
    root_node
        The expression that names it.
    cut
        Why the rest has no graph: "`detach()` cuts it from the graph", "it is computed under `no_grad`".
    source
        How the program calls what it loops over: the loss has a graph if what that gives requires grad.
    """

    root: TensorFacts
    root_node: cst.BaseExpression
    cut: str
    source: str
