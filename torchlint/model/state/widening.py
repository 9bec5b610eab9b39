"""
Widening: what a loop that was followed twice may have done in all the iterations that were not.

The two iterations are real ones, so what is found in them stands. After the loop, whatever the second iteration
changed once more may have gone on changing: numbers lose their value, lists their length, tensors the sizes that
grew. Works on the variables of the running function and on the attributes of its `self`.
"""

from __future__ import annotations

from torchlint.model.state.guards import ALWAYS
from torchlint.model.state.trail import Trail, widen
from torchlint.model.state.values import (
    CONTAINERS,
    Constant,
    Frame,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Tensor,
    Value,
    alternatives,
)


class Snapshot:
    """The variables after the first iteration, and the lengths of the lists among them."""

    def __init__(self, frame: Frame) -> None:
        own = frame.variables.get("self")
        self._records = [frame.variables] + ([own.attributes] if isinstance(own, Instance) else [])
        self._before = [dict(record) for record in self._records]
        self._items = {
            id(each): each.items
            for record in self._before
            for value in record.values()
            if type(value) in CONTAINERS
            for _, each in alternatives(value)
            if isinstance(each, (Sequence, Mapping))
        }

    def widen(self, trail: Trail) -> None:
        """Forget what the iterations that were not followed may have changed."""
        for record, before in zip(self._records, self._before, strict=True):
            for name, value in list(record.items()):
                old = before.get(name)
                if type(value) in CONTAINERS:
                    self._widen_lengths(value, trail)
                if value is not old:
                    widened = _widened(old, value, trail)
                    if widened is not value:
                        trail.set(record, name, widened)

    def _widen_lengths(self, value: Value, trail: Trail) -> None:
        for _, each in alternatives(value):
            if not isinstance(each, (Sequence, Mapping)) or each.items is None:
                continue
            if self._items.get(id(each), each.items) is each.items:
                continue
            every = list(each.items.values() if isinstance(each, Mapping) else each.items)
            if every:
                trail.set(each, "element", widen([(ALWAYS, one) for one in every]))
            trail.set(each, "items", None)


def _widened(old: Value | None, new: Value, trail: Trail) -> Value:
    options = [each for _, each in alternatives(new)]
    if options and all(isinstance(each, Constant) and _is_number(each.value) for each in options):
        known = [each for _, each in alternatives(old)] if old is not None else []
        return new if options == known else Scalar(_kind(options))
    tensors = [each for each in options if isinstance(each, Tensor)]
    before = [each for _, each in alternatives(old) if isinstance(each, Tensor)] if old is not None else []
    shapes = {each.shape for each in (*tensors, *before)}
    if len(shapes) > 1:
        ranks = {None if shape is None else len(shape) for shape in shapes}
        common = None
        if len(ranks) == 1 and None not in ranks:
            sizes = zip(*(shape for shape in shapes if shape is not None), strict=True)
            common = tuple(size[0] if len(set(size)) == 1 else None for size in sizes)
        for tensor in tensors:
            if tensor not in before:
                trail.set(tensor, "shape", common)
                trail.set(tensor, "axes", None)
    return new


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, complex))


def _kind(options: list[Value]) -> str:
    kinds = {type(each.value).__name__ for each in options if isinstance(each, Constant)}
    return kinds.pop() if len(kinds) == 1 and kinds <= {"int", "float", "bool"} else "number"
