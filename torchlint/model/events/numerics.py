"""
Events of numerics: operations that are right on paper and wrong, or fragile, in floating point.

Raised by the observers below `torchlint/model/observers/numerics/`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from torchlint.model.events import Event, Shape
from torchlint.record import record
from torchlint.syntax import cst

Activation: TypeAlias = Literal[
    "softmax", "log_softmax", "sigmoid", "logsigmoid", "linear", "conv1d", "conv2d", "conv3d"
]


@record(frozen=True, kw_only=True)
class LossOfActivation(Event):
    """
    A loss of `torch.nn` is given the result of a softmax or sigmoid, or `nll_loss` the scores of a layer and its result
    is differentiated as it is. `node` is the call of the loss.

    Attributes
    ----------
    loss
        Its functional name: `cross_entropy`, `nll_loss`, `kl_div`, `binary_cross_entropy`, ….
    written
        How the program writes the loss: "CrossEntropyLoss" for a layer, else the functional name.
    activation
        What was computed before.
    activation_node
        The call that computed it.
    argument
        The expression handed to the loss.
    logits
        The expression that went into the activation, if the call runs nothing else.
    nested
        `argument` is `activation_node`: it can be replaced where it stands.
    """

    loss: str
    written: str
    activation: Activation
    activation_node: cst.BaseExpression
    argument: cst.BaseExpression | None
    logits: cst.BaseExpression | None
    nested: bool


@record(frozen=True, kw_only=True)
class DimensionImplied(Event):
    """
    A softmax is called, or built as a layer, without saying over which dimension.

    Attributes
    ----------
    name
        As written: `softmax`, `LogSoftmax`.
    rank
        The number of dimensions of the input, if known.
    inside
        The class that it stands in, or else the outermost function; "" on the level of the file.
    unread
        The attribute that holds the layer, if nothing in the file reads it: as far as that shows, it is never called.
    maps
        The input is made of maps or volumes, (N, C, H, W), by a convolution or the like.
    few
        It has one or two dimensions: what takes the result refuses more.
    """

    name: str
    rank: int | None
    inside: str = ""
    unread: str = ""
    maps: bool = False
    few: bool = False


Stable: TypeAlias = Literal["log_softmax", "logsigmoid", "log1p", "softplus", "expm1", "logsumexp", "logaddexp"]


@record(frozen=True, kw_only=True)
class LogarithmComposed(Event):
    """
    Logarithms and exponentials for which torch has one stable function. `node` is the whole expression.

    Attributes
    ----------
    stable
        That function.
    written
        The inner part of the expression: `softmax`, `sigmoid`, `1 + x`, `exp`, `sum(exp)`.
    operands
        The expressions that the stable function takes, if they are all written inside `node`.
    arguments
        Further arguments of the inner call, as written (`dim=1`).
    nested
        All of it is one expression.
    real
        What the stable function takes is known to be a tensor of real floating-point numbers.
    recorded
        Autograd may record it; not so under `no_grad`.
    divides
        The inner result is also divided by: where it is 0, that is infinite whatever is done about the logarithm.
    overflows
        What is exponentiated may be so large that it overflows; not so where it is never positive, a negated distance.
    inner
        The inner part: several logarithms may be of one softmax.
    complement
        Not of the sigmoid, but of what it lacks to 1.
    reference
        The function around it is there to be compared with, or defines the stable one, by its name.
    infers
        Nobody differentiates it: grad mode is off, or names say that it is for inference.
    mended
        So it is, and infinite entries are taken out of the result, or only some entries are read.
    discarded
        A `torch.where` discards what has overflowed; what is left is the NaN of its gradient.
    """

    stable: Stable
    written: str
    operands: tuple[cst.BaseExpression, ...]
    arguments: tuple[cst.Arg, ...]
    nested: bool
    real: bool
    recorded: bool = True
    divides: bool = False
    overflows: bool = True
    inner: cst.CSTNode | None = None
    complement: bool = False
    reference: bool = False
    infers: bool = False
    mended: bool = False
    discarded: bool = False


@record(frozen=True, kw_only=True)
class LossBroadcast(Event):
    """
    Prediction and target of a loss have different shapes, broadcast to a larger one. `node` is the loss, or the
    subtraction in a loss written by hand.

    Attributes
    ----------
    loss
        How the program writes the loss; "-" for one by hand.
    left, right
        The expressions of prediction and target.
    left_shape, right_shape
        Their shapes.
    square
        Both are stretched; else the target alone.
    """

    loss: str
    left: cst.BaseExpression
    right: cst.BaseExpression
    left_shape: Shape
    right_shape: Shape
    square: bool = True


@record(frozen=True, kw_only=True)
class FloatsCompared(Event):
    """
    Two floating-point tensors are compared exactly: `torch.equal(a, b)`, `a.equal(b)`, `(a == b).all()`.

    Attributes
    ----------
    call
        The call.
    left, right
        The expressions compared.
    different
        Both are results of rounding operations, put together in different ways.
    """

    call: cst.Call
    left: cst.BaseExpression
    right: cst.BaseExpression
    different: bool


@record(frozen=True, kw_only=True)
class MaskedSingularity(Event):
    """
    A value that may be infinite, or has an infinite derivative, is computed everywhere and masked out afterwards.
    `node` is the masking.

    Attributes
    ----------
    how
        "where" or "masked_fill".
    function
        The singular operation: `sqrt`, `log`, `/`, `norm`, ….
    computed
        Its expression.
    operand
        The expression that the mask tests, and the singular operation is applied to.
    """

    how: Literal["where", "masked_fill"]
    function: str
    computed: cst.BaseExpression
    operand: cst.BaseExpression


@record(frozen=True, kw_only=True)
class DifferentiatedAtZero(Event):
    """
    A backward comes through a root of what is zero somewhere, whatever the numbers are. `node` is the root.

    Attributes
    ----------
    function
        `sqrt`, `**`, `pow`.
    how
        "zeros" (a factory made them, and nothing wrote there since) or "itself" (what is subtracted from itself
        where two indices are the same).
    """

    function: str
    how: Literal["zeros", "itself"]


@record(frozen=True, kw_only=True)
class SoftmaxOverBatch(Event):
    """
    A softmax normalises over the dimension that what follows takes for the batch. `node` is the softmax.

    Attributes
    ----------
    consumer
        What takes it so: `bmm`, `matmul`, `nll_loss`.
    dimension
        The expression of the dimension, if it is written in the call.
    """

    consumer: str
    dimension: cst.BaseExpression | None
