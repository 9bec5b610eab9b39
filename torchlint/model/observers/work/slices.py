"""Sees parts taken from the result of an operation that treats each position by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from torchlint.knowledge.shapes import infer as shapes
from torchlint.model.events.work import SlicedAfterPointwise
from torchlint.model.state.computations import VIEWS, Computation, Computations, constant
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Tensor, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import PARTS, POINTWISE, SLICED, here
from torchlint.syntax.spelling import index_kind, leaves_out

_CONVOLUTIONS: Final = {"conv1d": 1, "conv2d": 2, "conv3d": 3}
_BY_POSITION: Final = POINTWISE | VIEWS


@dataclass(slots=True, eq=False)
class _Pointwise:
    """A result that may be read for a part only."""

    made: Computation
    tensor: Tensor
    reads: int = 0
    event: SlicedAfterPointwise | None = None
    escaped: bool = False


class Slices(Computations):
    """Raises `SlicedAfterPointwise`."""

    concerns = (here(SLICED),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._results: dict[int, _Pointwise] = {}

    def computed(self, made: Computation) -> None:
        if made.name in PARTS and made.how == "method":
            self._part(made)
        if not isinstance(made.result, Tensor):
            return
        if not (made.name in POINTWISE or made.name == "linear" or _is_pointwise_convolution(made)):
            return
        # a causal convolution pads both ends, and what it computes too much is cut afterwards
        if made.written(0, "input") is not None and not self._is_padded(made.get(0, "input")):
            self._results[id(made.result)] = _Pointwise(made, made.result)

    def _is_padded(self, value: Value | None) -> bool:
        """Whether a value comes from a convolution that may pad, through what treats each position by itself."""
        if self._log.names.isdisjoint(_CONVOLUTIONS):
            return False
        for _ in range(6):
            made = self.maker(value)
            if made is None:
                return False
            if made.name in _CONVOLUTIONS and not _is_pointwise_convolution(made):
                return made.module is None or _each(made.module.config.get("padding")) != {0}
            if made.name not in _BY_POSITION and made.name not in _CONVOLUTIONS:
                return False
            value = made.get(0, "input")
        return False

    def name_read(self, name: str, value: Value, origin: ir.Node) -> None:
        if id(value) in self._results:
            self._results[id(value)].reads += 1

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if id(value) in self._results:
            self._results[id(value)].escaped = True

    def indexed(self, tensor: Tensor, result: Value, origin: ir.Node) -> None:
        found = self._results.get(id(tensor))
        node = origin.origin
        if found is not None and isinstance(node, cst.Subscript) and isinstance(origin, ir.Subscript):
            event = self._event(found.made, tensor, result, node, origin)
            if event is not None and event.nested:
                self.machine.emit(event)
            elif event is not None and isinstance(origin.value, ir.Name):
                found.event = self.machine.with_truth(event)

    def _part(self, taken: Computation) -> None:
        """`select` and `narrow`: the result is a part along one dimension."""
        found = self._results.get(id(taken.operands[0]))
        dim = constant(taken.get(1, "dim"))
        if found is None or type(dim) is not int or not isinstance(taken.origin, ir.Call):
            return
        tensor, made = found.tensor, found.made
        whole = shapes.numel(tensor.shape)
        part = self.tensor(taken.result)
        kept = shapes.numel(part.shape) if part is not None else None
        argument, function = made.written(0, "input"), taken.origin.function
        if argument is None or tensor.shape is None or whole is None or kept is None or kept >= whole:
            return
        place = dim % len(tensor.shape) - len(tensor.shape)
        if made.name == "linear" and place == -1:
            return
        if made.name in _CONVOLUTIONS and (taken.name == "select" or place == -1 - _CONVOLUTIONS[made.name]):
            return
        cost, least = self._costs(made, tensor, taken.result)
        nested = isinstance(function, ir.Attribute) and function.value is made.origin
        event = SlicedAfterPointwise(
            node=taken.node,
            statement=self.machine.line(),
            op=made.name,
            call=made.node,
            argument=argument,
            nested=nested,
            cost=cost,
            least=least,
        )
        if nested:
            self.machine.emit(event)
        else:
            found.event = self.machine.with_truth(event)

    def _event(
        self, made: Computation, tensor: Tensor, result: Value, node: cst.Subscript, read: ir.Subscript
    ) -> SlicedAfterPointwise | None:
        argument = made.written(0, "input")
        rank = len(tensor.shape) if tensor.shape is not None else None
        if argument is None or not _commutes(made.name, rank, read.index) or not self._drops(tensor, result, read):
            return None
        cost, least = self._costs(made, tensor, result)
        if cost is not None and cost == least:
            return None
        return SlicedAfterPointwise(
            node=node,
            statement=self.machine.line(),
            op=made.name,
            call=made.node,
            argument=argument,
            nested=read.value is made.origin,
            cost=cost,
            least=least,
        )

    def _drops(self, tensor: Tensor, result: Value, read: ir.Subscript) -> bool:
        """Whether an index with a step that is no number written there leaves something out: a step of 1 does not."""
        parts = read.index.elements if isinstance(read.index, ir.Sequence) else [read.index]
        named = [each for each in parts if isinstance(each, ir.Slice) and not _is_number(each.step)]
        part = self.tensor(result)
        if not named or part is None:
            return not named
        whole, kept = shapes.numel(tensor.shape), shapes.numel(part.shape)
        return whole is not None and kept is not None and kept < whole

    def _costs(self, made: Computation, tensor: Tensor, result: Value) -> tuple[int | None, int | None]:
        given, part = self.tensor(made.get(0, "input")), self.tensor(result)
        if made.name in POINTWISE or given is None or part is None or given.shape is None:
            return None, None
        features = given.shape[-1] if made.name == "linear" else given.shape[-1 - _CONVOLUTIONS[made.name]]
        whole, kept = shapes.numel(tensor.shape), shapes.numel(part.shape)
        if features is None or whole is None or kept is None:
            return None, None
        return whole * (2 * features - 1), kept * (2 * features - 1)

    def concluded(self) -> None:
        for found in self._results.values():
            if found.event is not None and found.reads == 1 and not found.escaped:
                self.machine.emit(found.event)
        self._results = {}


def _is_pointwise_convolution(made: Computation) -> bool:
    """A layer that convolves with a kernel of size 1, stride 1 and no padding."""
    if made.name not in _CONVOLUTIONS or made.module is None:
        return False
    config = made.module.config
    return (
        _each(config.get("kernel_size")) == {1}
        and _each(config.get("stride")) == {1}
        and _each(config.get("padding")) == {0}
    )


def _is_number(step: ir.Expression | None) -> bool:
    return step is None or isinstance(step, ir.Constant)


def _each(value: object) -> set[object]:
    return set(value) if isinstance(value, tuple) else {value}


def _commutes(name: str, rank: int | None, index: ir.Expression) -> bool:
    """Whether the index may as well be applied to the operation's input; it must leave something out."""
    if not leaves_out(index):
        return False
    kinds = [index_kind(each) for each in (index.elements if isinstance(index, ir.Sequence) else [index])]
    if name in POINTWISE:
        return True
    dots = [number for number, kind in enumerate(kinds) if kind == "ellipsis"]
    if len(dots) > 1:
        return False
    count = len(kinds)
    ahead = dots[0] if dots else count
    behind = count - ahead - 1 if dots else 0
    if rank is None and name in _CONVOLUTIONS and not dots and count == _CONVOLUTIONS[name] + 2:
        rank = count
    places: list[tuple[int, str]] = []
    for number, kind in enumerate(kinds):
        if kind == "whole" or number in dots:
            continue
        if number < ahead:
            if rank is None and not (name == "linear" and not dots and number < count - 1):
                return False
            places.append((number - (rank if rank is not None else count), kind))
        else:
            places.append((number - ahead - 1 - behind, kind))
    if name == "linear":
        return all(place != -1 for place, _ in places)
    channel = -1 - _CONVOLUTIONS[name]
    return all(place != channel and kind in ("slice", "step") for place, kind in places)
