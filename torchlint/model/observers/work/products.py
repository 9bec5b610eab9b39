"""
Sees products of matrices that cost more than they must: chains in a dear order, diagonal matrices and Jacobians built
in full only to be multiplied.

What is built and given a name counts as "only multiplied" when every place that reads the name is such a product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import libcst as cst

from torchlint.model.events.work import DiagonalMultiplied, JacobianMultiplied, Order, Product, ProductsChained
from torchlint.model.state.computations import Computation, Computations, constant
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Constant, Scalar, Tensor, Unknown, Value
from torchlint.syntax import ir
from torchlint.syntax.features import CHAIN, PRODUCTS, anywhere, here
from torchlint.syntax.tree import written

_PRODUCTS = PRODUCTS | {"@"}
_JACOBIANS: dict[str, Literal["jacobian", "hessian"]] = {
    "torch.autograd.functional.jacobian": "jacobian", "torch.autograd.functional.hessian": "hessian",
}  # fmt: skip
_TRANSFORMS: dict[str, Literal["jacobian", "hessian"]] = {
    f"{module}.{name}": "hessian" if name == "hessian" else "jacobian"
    for module in ("torch.func", "functorch")
    for name in ("jacrev", "jacfwd", "hessian")
}
_VECTORS_OF_SPECTRUM = ("svd", "eigh", "svdvals", "eigvalsh")
_SAVED_AT_LEAST = 1_000
"""A chain that saves fewer operations is not worth a word."""


@dataclass(slots=True, eq=False)
class _Built:
    """A matrix that may be built for nothing but products."""

    value: Value
    origin: ir.Node
    diagonal: Computation | None
    kind: Literal["jacobian", "hessian", ""] = ""
    reads: int = 0
    escaped: bool = False
    products: list[DiagonalMultiplied | JacobianMultiplied] = field(default_factory=list)


class Products(Computations):
    """Raises `ProductsChained`, `DiagonalMultiplied`, `JacobianMultiplied`."""

    concerns = (
        anywhere("diag diag_embed eye jacobian hessian jacrev jacfwd"),
        here(CHAIN),
    )

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._built: dict[int, _Built] = {}
        self._chains: dict[int, ProductsChained] = {}
        self._transforms: dict[int, tuple[Value, ir.Call, Literal["jacobian", "hessian"]]] = {}
        self._transformed: dict[int, Literal["jacobian", "hessian"]] = {}
        self._spectra: set[int] = set()

    # -- what is built

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified.startswith("torch.") and qualified.endswith(_VECTORS_OF_SPECTRUM):
            self._spectra.add(id(origin))
        if result is not None and qualified in _JACOBIANS:
            self._built[id(result)] = _Built(result, origin, None, _JACOBIANS[qualified])
        elif result is not None and qualified in _TRANSFORMS:
            self._transforms[id(result)] = (result, origin, _TRANSFORMS[qualified])

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        if id(callee) in self._transforms:
            self._transformed[id(origin)] = self._transforms[id(callee)][2]

    def computed(self, made: Computation) -> None:
        if self._is_diagonal(made):
            self._built[id(made.result)] = _Built(made.result, made.origin, made)
        elif made.name in _PRODUCTS and len(made.operands) == 2:
            factors = [self._matrix(value) for value in made.operands]
            if not any(factors):
                self._chained(made)
            for position, matrix in enumerate(factors):
                if matrix is not None:
                    self._multiplied(made, position, matrix)

    def _is_diagonal(self, made: Computation) -> bool:
        if made.name in ("diag", "diag_embed"):
            offset = made.get(1, "diagonal", "offset")
            plain = (offset is None or constant(offset) == 0) and len(made.operands) + len(made.keywords) <= 2
            return plain and (made.name == "diag_embed" or self._is_vector(made.get(0, "input")))
        return made.name == "*" and self._eye(made) is not None

    def _eye(self, made: Computation) -> int | None:
        """In `eye(n) * d` the position of `eye(n)`, if the other factor is a vector or a number."""
        for position in (0, 1):
            eye = self.maker(made.operands[position])
            if eye is None or eye.name != "eye" or len(eye.operands) != 1 or set(eye.keywords) - {"device", "dtype"}:
                continue
            other = made.operands[1 - position]
            number = isinstance(other, Scalar) or (isinstance(other, Constant) and not isinstance(other.value, bool))
            if number or self._rank(other) in (0, 1):
                return position
        return None

    def _is_vector(self, value: Value | None) -> bool:
        if self._rank(value) == 1:
            return True
        if isinstance(value, Unknown) and value.source is not None and id(value.source) in self._spectra:
            return True
        tensor = self.tensor(value)
        return tensor is not None and tensor.shape is None and tensor.op.endswith(_VECTORS_OF_SPECTRUM)

    def _rank(self, value: Value | None) -> int | None:
        tensor = self.tensor(value)
        return len(tensor.shape) if tensor is not None and tensor.shape is not None else None

    def _matrix(self, value: Value) -> _Built | None:
        if isinstance(value, Tensor) and value.made_by == "":
            value = next((each for each in self._log.unknowns if each.tensor is value), value)
        known = self._built.get(id(value))
        if known is not None:
            # written in place since, it is no diagonal matrix any more
            return known if known.diagonal is None or self.maker(value) is known.diagonal else None
        if isinstance(value, Unknown) and value.source is not None and id(value.source) in self._transformed:
            kind = self._transformed[id(value.source)]
            return self._built.setdefault(id(value), _Built(value, value.source, None, kind))
        return None

    # -- what becomes of it

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        if id(value) in self._built:
            self._built[id(value)].reads += 1

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if id(value) in self._built:
            self._built[id(value)].escaped = True

    def _multiplied(self, made: Computation, position: int, built: _Built) -> None:
        matrix, other = made.written(position, "input"), made.written(1 - position, "other", "mat2", "vec")
        if matrix is None or other is None:
            return
        nested = matrix is built.origin.origin
        event = self._product_event(made, position, built, matrix, other, nested)
        if event is None:
            built.escaped = True
        elif nested:
            self.machine.emit(event)
        elif isinstance(matrix, cst.Name):
            built.products.append(event)

    def _product_event(
        self,
        made: Computation,
        position: int,
        built: _Built,
        matrix: cst.BaseExpression,
        other: cst.BaseExpression,
        nested: bool,
    ) -> DiagonalMultiplied | JacobianMultiplied | None:
        side: Literal["left", "right"] = "left" if position == 0 else "right"
        if built.kind:
            return self._jacobian_event(made, side, built, other, nested)
        diagonal = built.diagonal
        assert diagonal is not None
        eye = self._eye(diagonal) if diagonal.name == "*" else None
        place = 0 if eye is None else 1 - eye
        written = diagonal.written(place, "input")
        if written is None:
            return None
        of = diagonal.get(place, "input")
        rank = 0 if isinstance(of, (Scalar, Constant)) else self._rank(of)
        tensor = self.tensor(of)
        size: object = tensor.shape[-1] if tensor is not None and tensor.shape else None
        if eye is not None:
            made_eye = self.maker(diagonal.operands[eye])
            size = constant(made_eye.operands[0]) if made_eye is not None else None
        return DiagonalMultiplied(
            node=made.node,
            statement=made.line,
            truth=self.now(),
            side=side,
            matrix=matrix,
            other=other,
            diagonal=written,
            built=diagonal.node,
            diagonal_rank=1 if rank is None and diagonal.name == "diag" else rank,
            other_rank=self._rank(made.operands[1 - position]),
            nested=nested,
            size=size if isinstance(size, int) else None,
        )

    def _jacobian_event(
        self,
        made: Computation,
        side: Literal["left", "right"],
        built: _Built,
        other: cst.BaseExpression,
        nested: bool,
    ) -> JacobianMultiplied | None:
        vector = made.operands[1 if side == "left" else 0]
        if self._rank(vector) != 1 or not built.kind:
            return None
        function, point = _function_and_point(built.origin)
        return JacobianMultiplied(
            node=made.node,
            statement=made.line,
            truth=self.now(),
            kind=built.kind,
            side=side,
            vector=other,
            function=function,
            point=point,
            nested=nested,
        )

    # -- chains

    def _chained(self, made: Computation) -> None:
        self._chains.pop(id(made.origin), None)
        leaves = self._leaves(made)
        if leaves is None or len(leaves) < 3:
            return
        factors, products = [node for node, _ in leaves], self._products(made)
        for inner in products:
            self._chains.pop(id(inner.origin), None)
        sizes = self._sizes([value for _, value in leaves])
        order: Order
        cost: int | None
        least: int | None
        ranks = [self._rank(value) for _, value in leaves]
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
        self._chains[id(made.origin)] = ProductsChained(
            node=made.node,
            statement=made.line,
            truth=self.now(),
            factors=tuple(factors),
            function=_function(products),
            order=order,
            cost=cost,
            least=least,
        )

    def _inner(self, made: Computation, position: int) -> Computation | None:
        """The product that is written as an operand of a product."""
        inner = self.maker(made.operands[position])
        if inner is None or inner.name not in _PRODUCTS or len(inner.operands) != 2:
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
            tensor = self.tensor(value)
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

    # -- the end

    def concluded(self) -> None:
        for chain in self._chains.values():
            self.machine.emit(chain)
        for built in self._built.values():
            if built.products and not built.escaped and built.reads == len(built.products):
                for event in built.products:
                    self.machine.emit(event)
        self._chains, self._built, self._transforms, self._transformed = {}, {}, {}, {}


def _function_and_point(origin: ir.Node) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    calls = [origin, origin.function] if isinstance(origin, ir.Call) else []
    arguments = [each for call in reversed(calls) if isinstance(call, ir.Call) for each in call.arguments]
    if len(arguments) != 2 or any(each.star or each.keyword for each in arguments):
        return None, None
    function, point = (each.value.origin for each in arguments)
    if isinstance(function, cst.BaseExpression) and isinstance(point, cst.BaseExpression):
        return (None, None) if isinstance(point, (cst.Tuple, cst.List)) else (function, point)
    return None, None


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
