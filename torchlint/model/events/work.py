"""
Events of work that need not be done: copies, products, slices and concatenations that cost more than they must.

Raised by the observers `copies`, `products`, `slices` and `growth`. Counts of floating-point operations are those of
the forward pass, an (m×k)(k×n) product counted as m·n·(2k−1).
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from torchlint.model.events import Event
from torchlint.record import record
from torchlint.syntax import cst


@record(frozen=True, kw_only=True)
class TensorCopied(Event):
    """
    A tensor is copied by a constructor that takes data: `torch.tensor(t)`, `x.new_tensor(t)`.

    Attributes
    ----------
    how
        "tensor" or "new_tensor".
    call
        The call.
    data
        The expression that is the copied tensor.
    argument
        The argument that holds it.
    receiver
        `x` in `x.new_tensor(t)`.
    in_graph
        Whether the tensor is known to require grad: the copy leaves the graph.
    plain
        No argument is a `*args` or `**kwargs`.
    certain
        Whatever comes by here is a tensor of torch's own class: it was made in the same call of the same function, by a
        function of torch or from what such a function made. What a caller gives, an attribute holds or an annotation
        says may be something else another time.
    annotated
        That it is a tensor is only what an annotation says.
    shown
        The function was given it where the module is run as a script (`if __name__ == "__main__":`). What others give
        it is not known.
    either
        Other callers in the file give it numbers.
    """

    how: Literal["tensor", "new_tensor"]
    call: cst.Call
    data: cst.BaseExpression
    argument: cst.Arg
    receiver: cst.BaseExpression | None
    in_graph: bool
    plain: bool
    certain: bool
    annotated: bool
    shown: bool = False
    either: bool = False


class Product(NamedTuple):
    """How a chain of products is bracketed: each side the number of a factor, or a product again."""

    left: int | Product
    right: int | Product


Order: TypeAlias = int | Product


@record(frozen=True, kw_only=True)
class ProductsChained(Event):
    """
    A product of three or more matrices is evaluated in one order, and another one is cheaper. `node` is the chain.

    Attributes
    ----------
    factors
        The expressions multiplied, from left to right.
    function
        "" if all products are written with `@`, else how the program writes the function all of them are (`torch.mm`);
        None if it is neither.
    order
        The cheapest order.
    cost, least
        Floating-point operations of the order as written and of the cheapest; None where a size is unknown, and the
        last (or first) factor is a vector.
    """

    factors: tuple[cst.BaseExpression, ...]
    function: str | None
    order: Order
    cost: int | None
    least: int | None


@record(frozen=True, kw_only=True)
class DiagonalMultiplied(Event):
    """
    A diagonal matrix is built from its diagonal, and only multiplied. `node` is the product.

    Attributes
    ----------
    side
        Where the diagonal matrix stands.
    matrix, other
        The expressions of the diagonal matrix and of the other factor, as they are in the product.
    diagonal
        The expression of the diagonal.
    built
        The expression that builds the matrix: `torch.diag(d)`.
    diagonal_rank, other_rank
        The number of dimensions of both; None if unknown.
    nested
        The matrix is built inside the product, so that the product alone can be replaced.
    size
        The number of rows of the matrix, if known.
    """

    side: Literal["left", "right"]
    matrix: cst.BaseExpression
    other: cst.BaseExpression
    diagonal: cst.BaseExpression
    built: cst.BaseExpression
    diagonal_rank: int | None
    other_rank: int | None
    nested: bool
    size: int | None


@record(frozen=True, kw_only=True)
class JacobianMultiplied(Event):
    """
    A Jacobian or Hessian is computed in full, and only multiplied by one vector. `node` is the product.

    Attributes
    ----------
    kind
        Which of the two.
    side
        Where it stands.
    vector
        The expression of the vector.
    function, point
        The expressions of the function and of the point; None if they are not written as two plain arguments.
    nested
        It is computed inside the product.
    """

    kind: Literal["jacobian", "hessian"]
    side: Literal["left", "right"]
    vector: cst.BaseExpression
    function: cst.BaseExpression | None
    point: cst.BaseExpression | None
    nested: bool


@record(frozen=True, kw_only=True)
class SlicedAfterPointwise(Event):
    """
    A part is taken from the result of an operation that treats each position by itself. `node` is the indexing.

    Attributes
    ----------
    op
        The operation: `conv1d`, `linear`, `exp`.
    call
        Its call.
    argument
        The expression it is applied to.
    nested
        The call stands inside the indexing.
    cost, least
        Multiplications and additions of the operation on all positions, and on those that are kept; None if sizes are
        unknown or the operation is elementwise.
    """

    op: str
    call: cst.BaseExpression
    argument: cst.BaseExpression
    nested: bool
    cost: int | None
    least: int | None


@record(frozen=True, kw_only=True)
class GrownInLoop(Event):
    """
    In a loop, a tensor is replaced by its concatenation with another one, and not read for anything else there.
    `node` is the call.

    Attributes
    ----------
    name
        The tensor's name.
    function
        How the program writes the function: `torch.cat`.
    piece
        What is appended at the end; None if the tensor is not the first of two.
    rest
        Further arguments of the call.
    initial
        The statement before the loop that makes the tensor an empty one, if that is so.
    after
        The statement after the loop, if it is a simple one.
    loop
        The loop.
    """

    name: str
    function: str
    piece: cst.BaseExpression | None
    rest: tuple[cst.Arg, ...]
    initial: cst.CSTNode | None
    after: cst.CSTNode | None
    loop: cst.CSTNode | None = None


@record(frozen=True, kw_only=True)
class Synchronised(Event):
    """
    In a loop that calls `backward` and `step`, every round waits for a tensor's value. `node` is the call.

    Attributes
    ----------
    how
        As written: `item()`, `cpu()`, `print`, `float`.
    tensor
        How the program calls the tensor, or "".
    """

    how: str
    tensor: str
