"""
Sees products of matrices that cost more than they must: diagonal matrices and Jacobians built in full only to be
multiplied, and products of several factors, which `chains` looks at.

What is built and given a name counts as "only multiplied" when every place that reads the name is such a product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from torchlint.model.events.work import DiagonalMultiplied, JacobianMultiplied
from torchlint.model.observers.work.chains import PRODUCT_NAMES, Chains, rank
from torchlint.model.state.computations import Computation, Computations, constant
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Constant, Scalar, Sequence, Tensor, Unknown, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import CHAIN, anywhere, here

_JACOBIANS: dict[str, Literal["jacobian", "hessian"]] = {
    "torch.autograd.functional.jacobian": "jacobian", "torch.autograd.functional.hessian": "hessian",
}  # fmt: skip
_TRANSFORMS: dict[str, Literal["jacobian", "hessian"]] = {
    f"{module}.{name}": "hessian" if name == "hessian" else "jacobian"
    for module in ("torch.func", "functorch")
    for name in ("jacrev", "jacfwd", "hessian")
}
_VECTORS_OF_SPECTRUM = ("svd", "eigh", "svdvals", "eigvalsh")


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
    """Raises `DiagonalMultiplied`, `JacobianMultiplied`, and by `Chains` `ProductsChained`."""

    concerns = (
        anywhere("diag diag_embed eye jacobian hessian jacrev jacfwd"),
        here(CHAIN),
    )

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._built: dict[int, _Built] = {}
        self._chains = Chains(machine)
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
        elif made.name in PRODUCT_NAMES and len(made.operands) == 2:
            factors = [self._matrix(value) for value in made.operands]
            if not any(factors):
                self._chains.note(made)
            for position, matrix in enumerate(factors):
                if matrix is not None:
                    self._multiplied(made, position, matrix)
        elif made.name == "multi_dot":
            self._in_chain(made)
        elif made.name == "bmm" and len(made.operands) == 2:
            for position, value in enumerate(made.operands):
                batch = self._matrix(value)
                if batch is not None and batch.diagonal is not None:
                    self._multiplied(made, position, batch)

    def _in_chain(self, made: Computation) -> None:
        """`torch.linalg.multi_dot([a, torch.diag(d), b])`."""
        given, origin = made.get(0, "tensors"), made.origin
        written = origin.arguments[0].value if isinstance(origin, ir.Call) and origin.arguments else None
        if not isinstance(given, Sequence) or given.items is None or not isinstance(written, ir.Sequence):
            return
        if len(given.items) != len(written.elements) or len(given.items) < 2:
            return
        for place, value in enumerate(given.items):
            built = self._matrix(value)
            of = built.diagonal.get(0, "input") if built is not None and built.diagonal is not None else None
            neighbour = place + 1 if place + 1 < len(given.items) else place - 1
            matrix, other = (written.elements[each].origin for each in (place, neighbour))
            diagonal = built.diagonal.written(0, "input") if built is not None and built.diagonal is not None else None
            if built is None or built.diagonal is None or diagonal is None or built.diagonal.name == "*":
                continue
            if not isinstance(matrix, cst.BaseExpression) or not isinstance(other, cst.BaseExpression):
                continue
            tensor = self.tensor(of)
            size = tensor.shape[-1] if tensor is not None and tensor.shape else None
            self.machine.emit(
                DiagonalMultiplied(
                    node=matrix,
                    statement=made.line,
                    side="left" if neighbour > place else "right",
                    matrix=matrix,
                    other=other,
                    diagonal=diagonal,
                    built=built.diagonal.node,
                    diagonal_rank=rank(of),
                    other_rank=rank(given.items[neighbour]),
                    nested=False,
                    size=size,
                )
            )

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
            if number or rank(other) in (0, 1):
                return position
        return None

    def _is_vector(self, value: Value | None) -> bool:
        if rank(value) == 1:
            return True
        if isinstance(value, Unknown) and value.source is not None and id(value.source) in self._spectra:
            return True
        tensor = self.tensor(value)
        return tensor is not None and tensor.shape is None and tensor.op.endswith(_VECTORS_OF_SPECTRUM)

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
            built.products.append(self.machine.with_truth(event))

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
        of_rank = 0 if isinstance(of, (Scalar, Constant)) else rank(of)
        tensor = self.tensor(of)
        size: object = tensor.shape[-1] if tensor is not None and tensor.shape else None
        if eye is not None:
            made_eye = self.maker(diagonal.operands[eye])
            size = constant(made_eye.operands[0]) if made_eye is not None else None
        return DiagonalMultiplied(
            node=made.node,
            statement=made.line,
            side=side,
            matrix=matrix,
            other=other,
            diagonal=written,
            built=diagonal.node,
            diagonal_rank=1 if of_rank is None and diagonal.name == "diag" else of_rank,
            other_rank=rank(made.operands[1 - position]),
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
        if rank(vector) != 1 or not built.kind:
            return None
        function, point = _function_and_point(built.origin)
        return JacobianMultiplied(
            node=made.node,
            statement=made.line,
            kind=built.kind,
            side=side,
            vector=other,
            function=function,
            point=point,
            nested=nested,
        )

    # -- the end

    def concluded(self) -> None:
        self._chains.conclude()
        for built in self._built.values():
            if built.products and not built.escaped and built.reads == len(built.products):
                for event in built.products:
                    self.machine.emit(event)
        self._built, self._transforms, self._transformed = {}, {}, {}


def _function_and_point(origin: ir.Node) -> tuple[cst.BaseExpression | None, cst.BaseExpression | None]:
    calls = [origin, origin.function] if isinstance(origin, ir.Call) else []
    arguments = [each for call in reversed(calls) if isinstance(call, ir.Call) for each in call.arguments]
    if len(arguments) != 2 or any(each.star or each.keyword for each in arguments):
        return None, None
    function, point = (each.value.origin for each in arguments)
    if isinstance(function, cst.BaseExpression) and isinstance(point, cst.BaseExpression):
        return (None, None) if isinstance(point, (cst.Tuple, cst.List)) else (function, point)
    return None, None
