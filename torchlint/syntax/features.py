"""
The features of a function's text that decide whether it need be run: its identifiers, and names for the spellings that
some part of the model depends on.

An observer lists in `Concern`s what must be written for it to raise an event (`Observer.concerns`), the model does so
with `WRITES` and the like; `scheduling/callgraph` looks it up. Reads nothing itself (`reading` does), judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Features begin with a character that no identifier has.
WRITES = "!writes"
"""Anything spelt as if it wrote in place."""
BUILDS_WRITER = "!inplace"
"""A layer is built, or a function called, that works in place if its argument says so."""
DIFFERENTIATES = "!differentiates"
"""Anything spelt as if it ran a backward, or an optimizer."""
NAMES_LOSS = "!named-loss"
"""A variable, and no attribute, is called as a loss is that another file has made (`LOSS_NAMES`)."""
DROPS = "!drops"
"""A statement that calls what only returns."""
DEFINES = "!defines"
"""A class is defined in a function."""
BARE = "!bare"
"""An attribute or a grad mode (`GRAD_MODES`) stands as a statement, or what nobody calls as the context of a `with`."""
SETS = "!sets"
"""An attribute is assigned that may be a parameter."""
CALLS_NUMPY = "!numpy"
"""An attribute `numpy` is read: a method, and not the package."""
DATA_SET = "!data"
"""An attribute `data` is assigned."""
HIDES = "!hides"
"""An attribute is given a list, a tuple, a set or a dictionary that may hold more than numbers and texts."""
COPIES = "!copies"
"""`tensor` or `new_tensor` is called on what may be a tensor by the look of it."""
COPIES_HELD = "!held"
"""The same on what an attribute holds: whoever calls knows no more of it."""
ALL_EQUAL = "!equal"
"""`equal` is called, or `all` where something is compared by `==`."""
DEEPCOPIES = "!deepcopies"
"""`deepcopy` is called on what may be, or hold, a tensor by the look of it."""
DEEPCOPIES_HELD = "!deepcopies-held"
"""The same on what an attribute holds."""
FORWARDS = "!forwards"
"""`forward` is called by name."""
FORWARDS_HELD = "!forwards-held"
"""The same on the object itself, or what an attribute holds: whoever calls knows no more of it."""
IMPLIED_DIM = "!dim"
"""A softmax is called without a word about its dimension."""
OPEN_SOFTMAX = "!softmax"
"""A softmax over what may be the first dimension: it is not counted from the second, nor called the last."""
HELD_SOFTMAX = "!softmax-held"
"""A softmax that the object holds: over which dimension it goes is said where it is made."""
WEIGHS = "!weighs"
"""All that is done with a softmax is that it weighs the other factor of a product of matrices: attention."""
SWAPS_FIRST = "!swaps"
"""A transposition that may move the first of three dimensions."""
SWAPS_LAST = "!swaps-last"
"""A transposition of the last two dimensions, counted from the end: of two the first is moved."""
SQUARED_MEAN = "!mean"
"""A mean or a sum over all elements, a power, and a difference."""
MASKED = "!masked"
"""Something is compared that is also the argument of a function with a singular point."""
CHAIN = "!chain"
"""A product of matrices is written as a factor of another."""
SLICED = "!sliced"
"""The result of a call is read by index."""
CUSTOM = "!custom"
"""A class is named that derives from something called `Function`."""
KEEPS_BEST = "!best"
"""In a loop something is given as it is to a name that says that it is the best."""
GROWS = "!grows"
"""In a loop a name is bound to a concatenation."""
BINDS_LOSS = "!loss"
"""A name that says that it is a loss is bound, and perhaps not read; or it is in a loop."""
TENSORS = "!tensors"
"""`torch` is named, or something of it that is no layer."""
CONVERTS = "!converts"
"""A function of NumPy or Matplotlib is named that makes arrays of the tensors it is given."""

EACH = "each "
"""Before the name of an attribute: its elements; before that of a callee: what an element is made by."""
SINGULAR = frozenset({"sqrt", "rsqrt", "log", "log2", "log10", "reciprocal", "acos", "asin", "acosh", "atanh"})
"""Functions whose derivative is infinite at a finite point."""
CONCATENATIONS = frozenset({"cat", "concat", "concatenate", "hstack", "vstack", "dstack", "row_stack"})
"""What joins tensors along a dimension that they have."""
SOFTMAXES = frozenset({"softmax", "log_softmax", "softmin", "Softmax", "LogSoftmax", "Softmin"})
"""Functions and layers that choose a dimension themselves if they are told none."""
# Functions of NumPy that convert their tensor arguments by `__array__` (held against torch in the tests); others, as
# `np.sum`, try the tensor's own method first.
CONVERTING = frozenset(
    """
    asarray array asanyarray sqrt exp log log2 log10 log1p expm1 abs absolute sin cos tan tanh arctan arctan2 sign
    isnan isinf isfinite round maximum minimum add subtract multiply divide power square dot argmax argmin argsort
    sort concatenate stack vstack hstack column_stack allclose isclose median percentile quantile histogram clip where
    unique ravel transpose save savetxt linalg.norm testing.assert_allclose testing.assert_almost_equal
    testing.assert_array_equal testing.assert_array_almost_equal
    """.split()  # noqa: SIM905
)
CONVERTING_LISTS = frozenset({"mean", "std", "average"})
"""Of a list these make an array, too."""
PLOTTING = frozenset("plot scatter imshow hist bar contourf fill_between semilogy semilogx loglog errorbar".split())  # noqa: SIM905
CONVERSIONS = frozenset(name.rpartition(".")[2] for name in CONVERTING | CONVERTING_LISTS | PLOTTING)
"""The last names of all that makes arrays of tensors."""
GRAD_MODES = frozenset({"no_grad", "inference_mode", "enable_grad"})
"""What makes a context in which grad mode is another."""
PRODUCTS = frozenset({"matmul", "mm", "mv"})
"""Products of matrices, besides `@`."""
LOSS_NAMES = frozenset({"criterion", "loss_fn", "loss_func", "loss_function"})
"""How a loss is called that another file has made."""
PARTS = frozenset({"select", "narrow"})
"""Methods that give a part of a tensor along one dimension, as an index does."""
POINTWISE = frozenset(
    """
    acos asin atan cos cosh elu erf erfc exp expm1 gelu leaky_relu lgamma log log10 log1p log2 logsigmoid mish relu
    relu6 rsqrt selu sigmoid silu sin sinh softplus softsign sqrt tan tanh
    """.split()  # noqa: SIM905
)
"""Functions of each element by itself."""
POINTWISE_LAYERS = frozenset(
    """
    linear conv1d conv2d conv3d Linear Conv1d Conv2d Conv3d LogSigmoid ReLU ReLU6 GELU SiLU ELU SELU Mish LeakyReLU
    Softplus Softsign Sigmoid Tanh
    """.split()  # noqa: SIM905
)
"""Layers and their functions that treat each position by itself (a convolution does if its kernel has size 1)."""


@dataclass(frozen=True, slots=True)
class Concern:
    """
    What must be written for an observer to have anything to say of an entry point: of each group one identifier or
    mark at least. `*part` stands for any identifier that has it, `+Layer` also for what the constructor of an object
    builds that is involved; functions with a word `-mark` do not count.

    Attributes
    ----------
    anywhere
        Groups of words that may stand in the entry point, or in any function of the file that it may call.
    here
        Groups of words that stand in the entry point itself: for what is seen as well when the called function is
        followed by itself.
    near
        Groups of words that may stand in the entry point, or in a function that it calls itself.
    called
        The same, but for what the objects do that it holds: that is followed by itself.
    in_constructors
        Whether what constructors do is of concern, too.
    writes
        The entry point writes in place, or what it calls may write to what it is given.
    """

    anywhere: tuple[frozenset[str], ...] = ()
    here: tuple[frozenset[str], ...] = ()
    near: tuple[frozenset[str], ...] = ()
    called: tuple[frozenset[str], ...] = ()
    in_constructors: bool = True
    writes: bool = False


def anywhere(*groups: str) -> Concern:
    """A concern of words in the entry point or what it calls, each group a text with blanks between them."""
    return Concern(anywhere=tuple(frozenset(group.split()) for group in groups))


def here(*groups: str) -> Concern:
    """A concern of words in the entry point itself."""
    return Concern(here=tuple(frozenset(group.split()) for group in groups))


def near(*groups: str) -> Concern:
    """A concern of words in the entry point or what it calls itself."""
    return Concern(near=tuple(frozenset(group.split()) for group in groups))


def one_of(words: Iterable[str]) -> Concern:
    """A concern of one of these words, anywhere."""
    return Concern(anywhere=(frozenset(words),))


WRITING = Concern(writes=True)
"""The concern of who asks for writes in place."""
DIFFERENTIATING = anywhere(DIFFERENTIATES)
"""The concern of who asks for backwards, gradients and steps."""
