"""
Writes whose source is a part of the memory that they overwrite: `x[:, 1:] = x[:, :-1]`, `x[1:].add_(x[:-1])`,
`x -= x[0]`.

What overlaps follows `at::get_overlap_status` (ATen/MemoryOverlap.cpp). Does not judge.
"""

from __future__ import annotations

from torchlint.knowledge.ops import find as ops
from torchlint.model.events.writes import OverlapWritten
from torchlint.model.observers.pending import expression, only
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Tensor, Value, Write
from torchlint.syntax import cst, ir
from torchlint.syntax.features import WRITING
from torchlint.syntax.spelling import dotted, indices, integer

_CHECKED = frozenset(
    """
    add_ addcdiv_ addcmul_ atan2_ copy_ div_ divide_ floor_divide_ fmod_ lerp_ mul_ multiply_ pow_ remainder_ sub_
    subtract_ true_divide_
    """.split()  # noqa: SIM905
)
"""In-place methods that read their operands element by element, and refuse those that overlap what is written."""


class OverlappingWrites(Observer):
    """Watches `x[:, 1:] = x[:, :-1]` and its like."""

    concerns = (WRITING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._parts: dict[int, Tensor] = {}
        """What each subscript of the running statement gave, if it is a view."""

    def entry_started(self, function: Function | None) -> None:
        self._parts.clear()

    def indexed(self, tensor: Tensor, result: Value, origin: ir.Node) -> None:
        part = only(result, self.machine)
        if isinstance(part, Tensor) and part.view and part.storage is tensor.storage:
            self._parts[id(origin)] = part
        else:
            self._parts.pop(id(origin), None)

    def ran(self, statement: ir.Statement) -> None:
        self._parts.clear()

    def wrote(self, tensor: Tensor, write: Write) -> None:
        if write.foreign_call is not None or self.machine.expected_errors:
            return
        if write.spelling == "indexed":
            self._by_index(tensor, write)
        elif write.spelling in ("method", "augmented") and self._parts:
            self._by_operation(tensor, write)

    def _by_operation(self, tensor: Tensor, write: Write) -> None:
        """`x[1:].add_(x[:-1])`, `x -= x[0]`: torch looks at what is written and at what is read."""
        origin = write.origin
        if isinstance(origin, ir.AugmentedAssign):
            written, operands = origin.target, [origin.value]
        elif isinstance(origin, ir.Call) and isinstance(origin.function, ir.Attribute) and write.op in _CHECKED:
            written, operands = origin.function.value, [each.value for each in origin.arguments if not each.star]
        else:
            return
        while isinstance(written, ir.Call) and isinstance(written.function, ir.Attribute):
            if not any(each.returns_self for each in ops.find(f"torch.Tensor.{written.function.attr}")):
                return
            written = written.function.value
        name = dotted(written.value if isinstance(written, ir.Subscript) else written)
        for each in operands:
            part = self._parts.get(id(each))
            if not name or not isinstance(each, ir.Subscript) or dotted(each.value) != name or part is None:
                continue
            if part.storage is not tensor.storage or part is tensor:
                continue
            base = next((one for one in part.inputs if one.storage is tensor.storage), None)
            if base is None:
                continue
            if isinstance(written, ir.Subscript):
                found = _shift(indices(written), indices(each), base.shape)
            else:
                found = (0, -1) if base is tensor and _is_first_part(indices(each), base, part) else None
            # along another dimension torch does not look, and what comes out depends on sizes
            if found is not None and (not found[0] or write.op == "copy_"):
                self._judge(write.line, written, each, base, name, write.op, found)

    def _by_index(self, tensor: Tensor, write: Write) -> None:
        statement = self.machine.statement
        if isinstance(statement, ir.Assign) and len(statement.targets) == 1:
            target, op = statement.targets[0], "="
        elif isinstance(statement, ir.AugmentedAssign):
            target, op = statement.target, f"{statement.op}="
        else:
            return
        if not isinstance(target, ir.Subscript) or write.line is not statement.line:
            return
        name = dotted(target.value)
        if name and name == dotted(target.index):
            if tensor.dtype == "int" and op == "=":
                self._tell(write.line, target, target.index, tensor, name, op, 0, 0, Truth.YES)
            return
        value = statement.value
        if not name or not isinstance(value, ir.Subscript) or name != dotted(value.value):
            return
        whole = next((each for each in tensor.inputs if each.storage is tensor.storage), None)
        found = _shift(indices(target), indices(value), whole.shape) if whole is not None else None
        if found is None or whole is None:
            return
        self._judge(write.line, target, value, whole, name, op, found)

    def _judge(
        self,
        line: cst.CSTNode,
        target: ir.Expression,
        value: ir.Expression,
        whole: Tensor,
        name: str,
        op: str,
        found: tuple[int, int],
    ) -> None:
        """Raise the event, if torch refuses or what was just written is read again."""
        dimension, shift = found
        dense = whole.contiguous
        if dimension:
            before = whole.shape[:dimension] if whole.shape is not None else (None,)
            parts = [Truth.MAYBE if size is None else Truth.of(size == 1) for size in before]
            for part in parts:
                dense = dense & part
        if shift > 0 or dense is Truth.YES or (dense is Truth.MAYBE and not dimension):
            self._tell(line, target, value, whole, name, op, dimension, shift, dense)

    def _tell(
        self,
        line: cst.CSTNode,
        target: ir.Expression,
        value: ir.Expression,
        tensor: Tensor,
        name: str,
        op: str,
        dimension: int,
        shift: int,
        refused: Truth,
    ) -> None:
        node, source = expression(target), expression(value)
        if node is None or source is None:
            return
        self.machine.emit(
            OverlapWritten(
                node=node,
                statement=line,
                target=self.machine.facts(tensor, name),
                source=source,
                op=op,
                dimension=dimension,
                shift=shift,
                refused=refused,
            )
        )


def _is_first_part(parts: list[ir.Expression], whole: Tensor, part: Tensor) -> bool:
    """Whether an index takes less than the whole of a tensor, in one piece: along the first dimension."""
    size = whole.shape[0] if whole.shape else None
    if size == 1 or any(_bounds(each) != (None, None) for each in parts[1:]):
        return False
    if isinstance(parts[0], ir.Slice):
        bounds = _bounds(parts[0])
        if bounds is None:
            return False
        return bounds in ((0, 1), (None, 1), (-1, None)) or (
            size is not None and len(range(size)[slice(*bounds)]) < size
        )
    ranks = [len(each.shape) if each.shape is not None else None for each in (whole, part)]
    return integer(parts[0]) is not None or (ranks[0] is not None and ranks[1] == ranks[0] - len(parts[:1]))


def _bounds(node: ir.Expression) -> tuple[int | None, int | None] | None:
    """The bounds of a slice with step 1, None for one that is left out; None if it is anything else."""
    if not isinstance(node, ir.Slice) or node.step is not None:
        return None
    found: list[int | None] = []
    for part in (node.lower, node.upper):
        number = integer(part) if part is not None else None
        if part is not None and number is None:
            return None
        found.append(number)
    return found[0], found[1]


def _shift(
    target: list[ir.Expression], value: list[ir.Expression], shape: tuple[int | None, ...] | None
) -> tuple[int, int] | None:
    """
    The dimension along which a part is moved onto a part of itself, and by how much: more than 0 to the back, less to
    the front. None where the two parts are the same, or may be apart.
    """
    if len(target) != len(value):
        return None
    found: tuple[int, int] | None = None
    for dimension, (to, source) in enumerate(zip(target, value, strict=True)):
        one, other = _bounds(to), _bounds(source)
        if one is None or other is None:
            return None
        if one == other:
            continue
        if found is not None:
            return None
        size = shape[dimension] if shape is not None and dimension < len(shape) else None
        shift = _between(one, other, size)
        if shift == 0:
            return None
        found = dimension, shift
    return found


def _between(to: tuple[int | None, int | None], source: tuple[int | None, int | None], size: int | None) -> int:
    """How far a slice lies behind another one that it surely overlaps; 0 if it may not."""
    if size is not None:
        one, other = range(size)[slice(*to)], range(size)[slice(*source)]
        apart = len(one) == 0 or len(one) != len(other) or abs(one.start - other.start) >= len(one)
        return 0 if apart else one.start - other.start
    # of unknown size: all but the first onto all but the last overlaps from three elements on
    if to[0] == 1 and to[1] is None and source[0] in (None, 0) and source[1] == -1:
        return 1
    return -1 if source[0] == 1 and source[1] is None and to[0] in (None, 0) and to[1] == -1 else 0
