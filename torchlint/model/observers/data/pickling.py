"""
Sees functions that cannot be pickled and that a loader has to hand to its workers.

Where a worker is a new process, it is sent the dataset, `collate_fn` and `worker_init_fn` pickled
(https://docs.pytorch.org/docs/stable/data.html#platform-specific-behaviors). A lambda cannot be, nor can a function
that is defined in another one.
"""

from __future__ import annotations

from torchlint.model.events.data import LocalFunctionLoaded
from torchlint.model.events.trace import Step
from torchlint.model.observers.data.loading import Datasets, Loading, is_of_another_file, loading
from torchlint.model.observers.data.written import methods, words
from torchlint.model.observers.pending import only
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Globals, Value
from torchlint.syntax import ir
from torchlint.syntax.features import here

_GIVEN = ("collate_fn", "worker_init_fn")
_PICKLING = frozenset({"__getstate__", "__reduce__", "__reduce_ex__"})
_DECIDING = frozenset({"set_start_method", "platform", "cloudpickle", "dill"})
"""Words of those who think of how processes are started."""


class LocalFunctions(Observer):
    """Raises `LocalFunctionLoaded`."""

    words = ("DataLoader",)
    concerns = (here("DataLoader"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._datasets = Datasets()
        self._deciding: bool | None = None

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        self._datasets.wrapped(qualified, positional, keywords, origin)
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
                self._tell(made, function, option, None)
        for dataset in self._datasets.of(made.known("dataset")):
            if _PICKLING & methods(dataset.cls).keys():
                continue
            for name, value in dataset.attributes.items():
                if (function := _local(only(value, self.machine))) is not None:
                    self._tell(made, function, name, dataset.cls.name)

    def _decides(self) -> bool:
        if self._deciding is None:
            self._deciding = bool(words(self.machine.program.body) & _DECIDING)
        return self._deciding

    def _tell(self, made: Loading, function: Function, holder: str, dataset: str | None) -> None:
        step = Step(function.definition.origin, "pickled by name, which leads nowhere in another process")
        is_lambda = isinstance(function.definition, ir.Lambda)
        context = made.constant("multiprocessing_context")
        self.machine.emit(
            LocalFunctionLoaded(
                node=made.origin.origin,
                statement=self.machine.line(),
                trace=() if is_of_another_file(function) else (step,),
                truth=Truth.YES if self.machine.assumed <= self.machine.path else Truth.MAYBE,
                function="a lambda" if is_lambda else f"`{function.name}`",
                holder=holder,
                dataset=dataset or "",
                context=context if isinstance(context, str) else "",
            )
        )


def _local(value: Value | None) -> Function | None:
    """A lambda, or a function that another one defines; one under a decorator may be something else."""
    if not isinstance(value, Function) or value.kind == "opaque" or value.owner is not None:
        return None
    if isinstance(value.definition, ir.Lambda) or not isinstance(value.closure, Globals):
        return value
    return None
