"""
Products of matrices of which each is written as a factor of the next: the order that is written, and the cheapest.

Counts operations; what else is known of the factors is the business of `products`.
"""

from __future__ import annotations

from itertools import pairwise

from torchlint.model.events.work import Order, Product, ProductsChained
from torchlint.model.state.computations import Computation
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Tensor, Unknown, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import PRODUCTS
from torchlint.syntax.tree import written

PRODUCT_NAMES = PRODUCTS | {"@"}
_SAVED_AT_LEAST = 1_000
"""A chain that saves fewer operations is not worth a word."""


class Chains:
    """
    The chains of a run: raises `ProductsChained` for those in a dear order.

    Is no observer: `Products` says which products it is to look at, and when an entry point is over.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._log = machine.computations
        self._found: dict[int, ProductsChained] = {}

    def note(self, made: Computation) -> None:
        """A product ran; it may be of products that are written in it."""
        self._found.pop(id(made.origin), None)
        leaves = self._leaves(made)
        if leaves is None or len(leaves) < 3:
            return
        factors, products = [node for node, _ in leaves], self._products(made)
        for inner in products:
            self._found.pop(id(inner.origin), None)
        sizes = self._sizes([value for _, value in leaves])
        order: Order
        cost: int | None
        least: int | None
        ranks = [rank(value) for _, value in leaves]
        if sizes is not None:
            order, lowest = _cheapest(sizes)
            spent = self._cost(made, sizes, [0])[0]
            if spent - lowest < _SAVED_AT_LEAST or spent * 2 < lowest * 3:
                return
            cost, least = spent, lowest
        elif ranks == [2, 2, 1] and self._inner(made, 0) is not None:
            order, cost, least = Product(0, Product(1, 2)), None, None
        else:
            return
        chain = ProductsChained(
            node=made.node,
            statement=made.line,
            factors=tuple(factors),
            function=_function(products),
            order=order,
            cost=cost,
            least=least,
        )
        self._found[id(made.origin)] = self._machine.with_truth(chain)

    def _inner(self, made: Computation, position: int) -> Computation | None:
        """The product that is written as an operand of a product."""
        inner = self._log.maker(made.operands[position])
        if inner is None or inner.name not in PRODUCT_NAMES or len(inner.operands) != 2:
            return None
        return inner if made.written(position, "input", "other", "mat2", "vec") is inner.node else None

    def _products(self, made: Computation) -> list[Computation]:
        inner = [self._inner(made, position) for position in (0, 1)]
        return [made, *(each for product in inner if product is not None for each in self._products(product))]

    def _leaves(self, made: Computation) -> list[tuple[cst.BaseExpression, Value]] | None:
        found: list[tuple[cst.BaseExpression, Value]] = []
        for position, names in enumerate((("input",), ("other", "mat2", "vec"))):
            inner = self._inner(made, position)
            written = made.written(position, *names)
            if inner is not None:
                leaves = self._leaves(inner)
                if leaves is None:
                    return None
                found += leaves
            elif written is not None:
                found.append((written, made.operands[position]))
            else:
                return None
        return found

    def _sizes(self, factors: list[Value]) -> list[int] | None:
        """The sizes of a chain of matrices, one more than there are of these; a vector at an end is a thin matrix."""
        shapes: list[list[int]] = []
        for position, value in enumerate(factors):
            tensor = _tensor(value)
            if tensor is None or tensor.shape is None or not 1 <= len(tensor.shape) <= 2:
                return None
            shape = [size for size in tensor.shape if size is not None]
            if len(shape) < len(tensor.shape):
                return None
            if len(shape) == 1:
                if position not in (0, len(factors) - 1):
                    return None
                shape = [1, *shape] if position == 0 else [*shape, 1]
            shapes.append(shape)
        if any(left[1] != right[0] for left, right in pairwise(shapes)):
            return None
        return [shapes[0][0], *(shape[1] for shape in shapes)]

    def _cost(self, made: Computation, sizes: list[int], leaf: list[int]) -> tuple[int, int, int]:
        """Operations of a chain as written, and the numbers of its first factor and of the one after its last."""
        cost, bounds = 0, []
        for position in (0, 1):
            inner = self._inner(made, position)
            if inner is not None:
                spent, first, last = self._cost(inner, sizes, leaf)
                cost += spent
            else:
                first, last = leaf[0], leaf[0] + 1
                leaf[0] = last
            bounds.append((first, last))
        (first, middle), (_, last) = bounds
        return cost + _product(sizes[first], sizes[middle], sizes[last]), first, last

    def conclude(self) -> None:
        """An entry point is over: say what was found."""
        for chain in self._found.values():
            self._machine.emit(chain)
        self._found = {}


def rank(value: Value | None) -> int | None:
    """The number of dimensions of a tensor whose shape is known."""
    tensor = _tensor(value)
    return len(tensor.shape) if tensor is not None and tensor.shape is not None else None


def _tensor(value: Value | None) -> Tensor | None:
    found = value.tensor if isinstance(value, Unknown) else value
    return found if isinstance(found, Tensor) else None


def _function(products: list[Computation]) -> str | None:
    if all(each.how == "operator" for each in products):
        return ""
    texts = {
        written(each.origin.function.origin)
        for each in products
        if each.how == "function" and isinstance(each.origin, ir.Call)
    }
    return texts.pop() if len(texts) == 1 and all(each.how == "function" for each in products) else None


def _product(rows: int, inner: int, columns: int) -> int:
    return rows * columns * (2 * inner - 1)


def _cheapest(sizes: list[int]) -> tuple[Order, int]:
    """The cheapest order of a chain of matrices (the textbook's dynamic programme), and its operations."""
    count = len(sizes) - 1
    best: dict[tuple[int, int], tuple[int, Order]] = {(i, i + 1): (0, i) for i in range(count)}
    for length in range(2, count + 1):
        for first in range(count - length + 1):
            last = first + length
            options: list[tuple[int, Order]] = []
            for middle in range(first + 1, last):
                (left, left_order), (right, right_order) = best[first, middle], best[middle, last]
                cost = left + right + _product(sizes[first], sizes[middle], sizes[last])
                options.append((cost, Product(left_order, right_order)))
            best[first, last] = min(options, key=lambda option: option[0])
    cost, order = best[0, count]
    return order, cost
