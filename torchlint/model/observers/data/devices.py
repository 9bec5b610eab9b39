"""
Sees datasets that use a CUDA device in the workers of a loader.

A process that is forked from one that has used CUDA cannot use it
(https://docs.pytorch.org/docs/stable/notes/multiprocessing.html#cuda-in-multiprocessing), and the documentation advises
against CUDA tensors from workers elsewhere (https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading).
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final

from torchlint.model.events.data import WorkerOnDevice
from torchlint.model.events.trace import Step
from torchlint.model.observers.data.loading import Datasets, Loading, is_of_file, loading
from torchlint.model.observers.pending import only
from torchlint.model.observers.written import Imports, assignments, methods, own, reached, words
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Constant, Instance, Tensor, Unknown, Value, alternatives
from torchlint.syntax import ir
from torchlint.syntax.features import here
from torchlint.syntax.spelling import dotted

_DRAWING = ("__getitem__", "__getitems__", "__iter__", "__next__")
_DECIDING: Final = frozenset({"set_start_method", "get_worker_info"})
"""Words of those who think of how processes are started, and in which one they are."""
_DEEPEST = 3
"""How many names and conditions lie between an expression and the text of a device."""


class DevicesInWorkers(Observer):
    """Raises `WorkerOnDevice`."""

    words = ("DataLoader",)
    concerns = (here("DataLoader"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._datasets = Datasets()
        self._devices: _Devices | None = None

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        self._datasets.wrapped(qualified, positional, keywords, origin)
        made = loading(qualified, positional, keywords, origin, self.machine)
        if made is None or made.workers == "none":
            return
        if made.may_be_given("multiprocessing_context") and made.constant("multiprocessing_context") != "fork":
            return
        for dataset in self._datasets.of(made.known("dataset")):
            if is_of_file(dataset) and not words(self.machine.program.body) & _DECIDING:
                self._look_at(dataset, made)

    def _look_at(self, dataset: Instance, made: Loading) -> None:
        if self._devices is None:
            self._devices = _Devices(self.machine)
        known = methods(dataset.cls)
        drawing = reached(known, *_DRAWING)
        for body in drawing:
            local = body.assigned | {each.name for each in body.parameters}
            for statement in _come_to(body.body, dataset):
                if ir.blocks(statement):
                    continue
                skipped = {id(each) for part in _passed_over(statement, dataset) for each in ir.walk(part)}
                for each in ir.walk(statement):
                    if (
                        isinstance(each, ir.Call)
                        and id(each) not in skipped
                        and self._devices.uses(each, dataset, local)
                    ):
                        self._tell(each, statement, "", dataset, made, ())
                        return
        constructor = known.get("__init__")
        if constructor is None:
            return
        local = constructor.assigned | {each.name for each in constructor.parameters}
        come_to = list(_come_to(constructor.body, dataset))
        for target, value, statement in assignments(constructor.body):
            name = own(target)
            if not name or not isinstance(value, ir.Call) or not self._devices.uses(value, dataset, local):
                continue
            held = dataset.attributes.get(name)  # None: it was set by a name that nobody knows, if at all
            if not any(each is statement for each in come_to) and (held is None or not _is_on_device(held)):
                continue
            read = next((each for body in drawing for each in ir.walk(body.body) if own(each, name)), None)
            if read is not None:
                self._tell(value, statement, f"self.{name}", dataset, made, (Step(read.origin, "read in a worker"),))
                return

    def _tell(
        self,
        node: ir.Node,
        statement: ir.Statement,
        holds: str,
        dataset: Instance,
        made: Loading,
        trace: tuple[Step, ...],
    ) -> None:
        with_workers = f"{made.constant('num_workers')} workers" if made.workers == "some" else "workers"
        self.machine.emit(
            WorkerOnDevice(
                node=node.origin,
                statement=statement.line,
                trace=(*trace, Step(made.origin.origin, f"loaded with {with_workers} here")),
                dataset=dataset.cls.name,
                holds=holds,
                workers=made.count if made.workers == "unknown" else "",
            )
        )


def _come_to(body: list[ir.Statement], dataset: Instance) -> Iterator[ir.Statement]:
    """The statements that a dataset comes to on a machine with a device; of what else decides nothing is known."""
    for statement in body:
        yield statement
        if isinstance(statement, ir.If):
            taken = _holds(statement.test, dataset)
            yield from _come_to(statement.body, dataset) if taken is Truth.YES else ()
            yield from _come_to(statement.orelse, dataset) if taken is Truth.NO else ()
        elif not isinstance(statement, (ir.FunctionDef, ir.ClassDef)):
            for block in ir.blocks(statement):
                yield from _come_to(block, dataset)


def _passed_over(statement: ir.Statement, dataset: Instance) -> Iterator[ir.Expression]:
    """The operands of `x if test else y` that a dataset may not come to."""
    for node in ir.walk(statement):
        if isinstance(node, ir.Conditional):
            taken = _holds(node.test, dataset)
            yield from [node.body] if taken is not Truth.YES else []
            yield from [node.orelse] if taken is not Truth.NO else []


def _is_on_device(value: Value) -> bool:
    """Whether the constructor, as it was called, has come to where the attribute is put on a device."""
    tensors = [each for _, each in alternatives(value) if isinstance(each, Tensor)]
    return bool(tensors) and all(each.device == "cuda" for each in tensors)


def _holds(test: ir.Expression, dataset: Instance) -> Truth:
    """What a condition says of a dataset, on a machine with a device."""
    if isinstance(test, ir.Unary) and test.op == "not":
        return ~_holds(test.operand, dataset)
    if isinstance(test, ir.Call) and dotted(test.function).endswith("cuda.is_available"):
        return Truth.YES
    known = dataset.attributes.get(own(test))
    return Truth.of(bool(known.value)) if isinstance(known, Constant) else Truth.MAYBE


class _Devices:
    """Which expressions of a file stand for a CUDA device, on a machine that has one."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.imports = Imports(machine.program)
        self.of_file: dict[str, list[ir.Expression | None]] = {}
        for statement in machine.program.body:
            if isinstance(statement, ir.Assign):
                for target in statement.targets:
                    self.of_file.setdefault(dotted(target), []).append(statement.value)

    def uses(self, call: ir.Call, dataset: Instance, local: Set[str]) -> bool:
        """Whether a call certainly gives a tensor on such a device; `local` are the variables of its function."""
        function = call.function
        moves = isinstance(function, ir.Attribute) and not self.imports.qualified(function)
        if moves and function.attr == "cuda":  # type: ignore[union-attr]
            return True
        moves = moves and function.attr == "to"  # type: ignore[union-attr]
        makes = self.imports.qualified(function).startswith("torch.")
        return any(
            self.is_device(each.value, dataset, local)
            for each in call.arguments
            if (each.keyword == "device" and (moves or makes))
            or (moves and each is call.arguments[0] and not each.star)
        )

    def is_device(self, node: ir.Expression | None, dataset: Instance, local: Set[str], depth: int = 0) -> bool:
        if depth > _DEEPEST:
            return False
        if isinstance(node, ir.Constant):
            return isinstance(node.value, str) and node.value.partition(":")[0] == "cuda"
        if isinstance(node, ir.Conditional):  # "cuda" where there is a device
            return any(self.is_device(each, dataset, local, depth + 1) for each in (node.body, node.orelse))
        if isinstance(node, ir.Call):
            first = node.arguments[0].value if node.arguments else None
            is_device = self.imports.qualified(node.function) == "torch.device"
            return is_device and self.is_device(first, dataset, local, depth + 1)
        if isinstance(node, ir.Name):
            known = self.of_file.get(node.id, []) if node.id not in local else []
            return len(known) == 1 and self.is_device(known[0], dataset, frozenset(), depth + 1)
        return self._is_held(dataset.attributes.get(own(node)), dataset) if own(node) else False

    def _is_held(self, value: Value | None, dataset: Instance) -> bool:
        known = only(value, self.machine) if value is not None else None
        if isinstance(known, Constant):
            return isinstance(known.value, str) and known.value.partition(":")[0] == "cuda"
        source = known.source if isinstance(known, Unknown) else None
        return isinstance(source, ir.Call) and self.is_device(source, dataset, frozenset())
