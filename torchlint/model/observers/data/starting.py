"""
Sees loaders with workers that are gone through while their file runs, without asking for the file's `__name__`.

Where a worker is a new process, that runs the main file again under another name
(https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors). Read from the text.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Final, NamedTuple

from torchlint.knowledge.names import DATA_LOADER
from torchlint.model.events.data import WorkersStarted
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import argument
from torchlint.model.observers.written import Imports, assignments, words
from torchlint.model.state.hooks import Observer
from torchlint.syntax import ir
from torchlint.syntax.cells import are_cells
from torchlint.syntax.spelling import dotted

_THROUGH = frozenset({"enumerate", "tqdm", "iter", "next", "list", "tuple", "sum", "zip", "islice", "cycle"})
_DECIDING: Final = frozenset(
    {"set_start_method", "platform", "system", "get_start_method", "spawn", "mp", "multiprocessing"}
)
"""Words of those who think of how processes are started."""
_READING = frozenset({"next", "list", "tuple"})
"""Functions that go through what they are given."""


class _Read(NamedTuple):
    """A loader that is gone through: where, by what name, and in which function."""

    node: ir.Expression
    name: str
    call: ir.Call
    function: str


class LoaderStarts(Observer):
    """Raises `WorkersStarted`, once for a file: it is the file that wants a guard."""

    words = ("DataLoader",)
    concerns = ()

    def finished(self) -> None:
        program = self.machine.program
        if are_cells(program.text):
            return
        functions = {each.name: each for each in program.body if isinstance(each, ir.FunctionDef)}
        top = [
            each for each in program.body if not isinstance(each, (ir.FunctionDef, ir.ClassDef)) and not _guards(each)
        ]
        going = [(node, each) for each in top for node in ir.walk(each) if _may_read(node, functions)]
        if not going:  # nearly every file that somebody imports
            return
        file = _File(program)
        loaders = file.loaders(top, {})
        for node, statement in going:
            read = file.read(node, loaders, "")
            called = functions.get(dotted(node.function)) if isinstance(node, ir.Call) else None
            if read is None and called is not None and isinstance(node, ir.Call):
                read = next(file.inside(called, node, loaders), None)
            if read is not None:
                if not words(program.body) & _DECIDING:
                    self._tell(read, statement, node, top)
                return

    def _tell(self, read: _Read, statement: ir.Statement, node: ir.Node, top: list[ir.Statement]) -> None:
        within = (Step(node.origin, f"`{read.function}` is called while the file runs"),) if read.function else ()
        last = statement is self.machine.program.body[-1]
        self.machine.emit(
            WorkersStarted(
                node=read.node.origin,
                statement=statement.line,
                trace=(Step(read.call.origin, "with workers"), *within),
                loader=read.name if not read.function else "",
                function=read.function,
                whole=statement.line if last and not _is_within(read.call, statement) else None,
            )
        )


def _may_read(node: ir.Node, functions: Container[str]) -> bool:
    """Whether a node may go through something, itself or in one of the file's functions (see `_File.read`)."""
    if isinstance(node, ir.Call):
        name = dotted(node.function)
        return name in _READING or name in functions
    return isinstance(node, (ir.For, ir.Generator))


def _is_within(node: ir.Node, statement: ir.Statement) -> bool:
    return any(each is node for each in ir.walk(statement))


def _guards(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.If) and "__name__" in words(statement.test)


class _File:
    """What the names of a file stand for."""

    def __init__(self, program: ir.Program) -> None:
        self.imports = Imports(program)
        self.numbers: dict[str, list[ir.Expression | None]] = {}
        for target, value, _ in assignments(program.body):
            self.numbers.setdefault(dotted(target), []).append(value)

    def loaders(self, body: list[ir.Statement], outer: dict[str, ir.Call]) -> dict[str, ir.Call]:
        """The loaders with workers of a scope, by name: of those that are bound once."""
        bound: dict[str, list[ir.Expression | None]] = {}
        for target, value, _ in assignments(body):
            bound.setdefault(dotted(target), []).append(value)
        found = {name: call for name, call in outer.items() if name not in bound}
        for name, values in bound.items():
            if name and len(values) == 1 and isinstance(values[0], ir.Call) and self.has_workers(values[0]):
                found[name] = values[0]
        return found

    def has_workers(self, call: ir.Call) -> bool:
        if self.imports.qualified(call.function) not in DATA_LOADER or any(each.star for each in call.arguments):
            return False
        if any(each.keyword == "multiprocessing_context" for each in call.arguments):
            context = argument(call, 11, "multiprocessing_context")
            if context is None or not isinstance(context.value, ir.Constant) or context.value.value == "fork":
                return False
        given = argument(call, 5, "num_workers")
        return given is not None and self._is_positive(given.value)

    def _is_positive(self, node: ir.Expression | None) -> bool:
        if isinstance(node, ir.Constant):
            return isinstance(node.value, int) and node.value > 0
        if isinstance(node, ir.Name):
            known = self.numbers.get(node.id, [])
            return len(known) == 1 and not isinstance(known[0], ir.Name) and self._is_positive(known[0])
        return isinstance(node, ir.Call) and self.imports.qualified(node.function) == "os.cpu_count"

    def read(self, node: ir.Node, loaders: dict[str, ir.Call], function: str) -> _Read | None:
        """The loader that a loop, a comprehension or a call such as `next(iter(loader))` goes through."""
        source: ir.Expression | None = None
        if isinstance(node, (ir.For, ir.Generator)):
            source = node.iterable
        elif isinstance(node, ir.Call) and dotted(node.function) in _READING and node.arguments:
            source = node.arguments[0].value
        if source is None:
            return None
        inner = _through(source)
        if isinstance(inner, ir.Call) and self.has_workers(inner):
            return _Read(source, "", inner, function)
        made = loaders.get(dotted(inner))
        return _Read(source, dotted(inner), made, function) if made is not None else None

    def inside(self, called: ir.FunctionDef, call: ir.Call, outer: dict[str, ir.Call]) -> Iterator[_Read]:
        """The loaders that a function goes through: its own, those of the file, and those that it is given."""
        if called.is_generator:
            return
        names = {each.name for each in called.parameters}
        known = self.loaders(called.body, {name: made for name, made in outer.items() if name not in names})
        for index, given in enumerate(call.arguments):
            made = outer.get(dotted(given.value))
            at = given.keyword or (called.parameters[index].name if index < len(called.parameters) else "")
            if made is not None and not given.star and at and at not in called.assigned:
                known[at] = made
        for node in ir.walk(called.body):
            read = self.read(node, known, called.name)
            if read is not None:
                yield read


def _through(node: ir.Expression) -> ir.Expression:
    while isinstance(node, ir.Call) and node.arguments and dotted(node.function).rpartition(".")[2] in _THROUGH:
        node = node.arguments[0].value
    return node
