"""
Sees functions that cannot be pickled and that a loader has to hand to its workers.

Where a worker is a new process, it is sent the dataset, `collate_fn` and `worker_init_fn` pickled
(https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors). A lambda cannot be, nor can a function
that is defined in another one.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.events.data import LocalFunctionLoaded
from torchlint.model.events.trace import Step
from torchlint.model.observers.data.loading import Datasets, Loading, is_of_another_file, loading
from torchlint.model.observers.pending import only
from torchlint.model.observers.written import methods, words
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Globals, Unknown, Value
from torchlint.syntax import ir
from torchlint.syntax.features import here
from torchlint.syntax.spelling import dotted

_GIVEN = ("collate_fn", "worker_init_fn")
_PICKLING = frozenset({"__getstate__", "__reduce__", "__reduce_ex__"})
_DECIDING: Final = frozenset({"set_start_method", "platform", "cloudpickle", "dill"})
"""Words of those who think of how processes are started."""


class LocalFunctions(Observer):
    """Raises `LocalFunctionLoaded`."""

    words = ("DataLoader",)
    concerns = (here("DataLoader"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._datasets = Datasets()
        self._deciding: bool | None = None
        self._first: ir.Lambda | None = None
        """The first lambda of the file that could stand elsewhere in it."""
        self._held: dict[int, tuple[Function, str]] = {}
        """By the call of torchvision that was given it: a function, and under which name."""

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        self._datasets.wrapped(qualified, positional, keywords, origin)
        if qualified.startswith("torchvision."):
            self._note(qualified, positional, keywords, origin)
        made = loading(qualified, positional, keywords, origin, self.machine)
        if made is None or made.workers != "some":
            return
        context = made.constant("multiprocessing_context")
        if made.may_be_given("multiprocessing_context") and context not in ("spawn", "forkserver"):
            return
        if context is None and self._decides():
            return
        for option in _GIVEN:
            if (function := _local(made.known(option))) is not None:
                self._tell(made, function, option, None, self._around(made, option, function))
        held = self._behind(made.known("dataset"))
        if held is not None:
            self._tell(made, *held, _last_name(made.known("dataset")))
        for dataset in self._datasets.of(made.known("dataset")):
            if not _PICKLING.isdisjoint(methods(dataset.cls)):
                continue
            for name, value in dataset.attributes.items():
                known = only(value, self.machine)
                held = self._behind(known)
                if (function := _local(known)) is not None:
                    self._tell(made, function, name, dataset.cls.name)
                elif held is not None:
                    self._tell(made, held[0], name, dataset.cls.name)

    def _note(self, qualified: str, positional: list[Value], keywords: dict[str, Value], origin: ir.Call) -> None:
        """
        A transform or a dataset of torchvision keeps what it is given, and is pickled with it. What is in a list is
        read from the text: who is given a list may have changed it.
        """
        given = [(qualified.rpartition(".")[2], each) for each in positional] + list(keywords.items())
        for name, value in given:
            known = only(value, self.machine)
            function, behind = _local(known), self._behind(known)
            if function is not None:
                self._held.setdefault(id(origin), (function, name))
            elif behind is not None:
                self._held.setdefault(id(origin), behind)
        for each in origin.arguments:
            for part in each.value.elements if isinstance(each.value, ir.Sequence) else ():
                if id(part) in self._held:
                    self._held.setdefault(id(origin), self._held[id(part)])

    def _behind(self, value: Value | None) -> tuple[Function, str] | None:
        """The function that an object of torchvision holds."""
        return self._held.get(id(value.source)) if isinstance(value, Unknown) and value.source is not None else None

    def _decides(self) -> bool:
        if self._deciding is None:
            self._deciding = bool(words(self.machine.program.body) & _DECIDING)
        return self._deciding

    def _around(self, made: Loading, option: str, function: Function) -> ir.Statement | None:
        """
        The statement of the file around a lambda that is written as an option and reads only names of the file: around
        the first such, since two that are moved at once would get one name.
        """
        written = function.definition
        if not isinstance(written, ir.Lambda) or self._first not in (None, written):
            return None
        if all(each.keyword != option or each.value is not written for each in made.origin.arguments):
            return None
        for statement in self.machine.program.body:
            if any(node is written for node in ir.walk(statement)):
                if not _reads_the_file(written, statement):
                    return None
                self._first = written
                return statement
        return None

    def _tell(
        self,
        made: Loading,
        function: Function,
        holder: str,
        dataset: str | None,
        around: ir.Statement | None = None,
    ) -> None:
        step = Step(function.definition.origin, "pickled by name, which leads nowhere in another process")
        is_lambda = isinstance(function.definition, ir.Lambda)
        context = made.constant("multiprocessing_context")
        self.machine.emit(
            LocalFunctionLoaded(
                node=made.origin.origin,
                statement=self.machine.line(),
                trace=() if is_of_another_file(function) else (step,),
                function="a lambda" if is_lambda else f"`{function.name}`",
                holder=holder,
                dataset=dataset or "",
                context=context if isinstance(context, str) else "",
                literal=function.definition.origin if around is not None else None,
                whole=around.line if around is not None else None,
                taken=frozenset(words(self.machine.program.body)) if around is not None else frozenset(),
            )
        )


def _reads_the_file(function: ir.Lambda, statement: ir.Statement) -> bool:
    """Whether a lambda reads no name that a function, another lambda or a comprehension of a statement binds."""
    own = {each.name for each in function.parameters}
    inner: set[str] = set()
    for node in ir.walk(statement):
        if isinstance(node, ir.FunctionDef):
            inner |= node.assigned | {each.name for each in node.parameters}
        elif isinstance(node, ir.Lambda) and node is not function:
            inner |= {each.name for each in node.parameters}
        elif isinstance(node, ir.Generator):
            inner |= {each.id for each in ir.walk(node.target) if isinstance(each, ir.Name)}
    return not (words(function.body) - own) & inner


def _last_name(value: Value | None) -> str:
    """What an object is called that a call has made: `MNIST`."""
    source = value.source if isinstance(value, Unknown) else None
    return dotted(source.function).rpartition(".")[2] if isinstance(source, ir.Call) else ""


def _local(value: Value | None) -> Function | None:
    """A lambda, or a function that another one defines; one under a decorator may be something else."""
    if not isinstance(value, Function) or value.kind == "opaque" or value.owner is not None:
        return None
    if isinstance(value.definition, ir.Lambda) or not isinstance(value.closure, Globals):
        return value
    return None
