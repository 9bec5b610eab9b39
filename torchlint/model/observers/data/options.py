"""Sees calls of `DataLoader` whose options contradict each other. Says what torch checks there; does not judge."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.model.events.data import LoaderRefused
from torchlint.model.observers.data.loading import Loading, is_iterable_dataset, loading
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Constant, Instance, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import here


class LoaderOptions(Observer):
    """
    Raises `LoaderRefused`.

    The checks are those of `DataLoader.__init__`, in its order
    (https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader); a timeout without workers is refused
    by the iterator.
    """

    words = ("DataLoader",)
    concerns = (here("DataLoader"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._tried: set[int] | None = None

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        made = loading(qualified, positional, keywords, origin, self.machine)
        if made is None or not isinstance(origin.origin, cst.Call):
            return
        for option, reason in _refused(made):
            if id(origin) in self._in_try():
                return
            written = [each for each in origin.arguments if each.keyword == option]
            argument = written[0].origin if len(written) == 1 else None
            self.machine.emit(
                LoaderRefused(
                    node=origin.origin,
                    statement=self.machine.line(),
                    call=origin.origin,
                    option=option,
                    reason=reason,
                    argument=argument if isinstance(argument, cst.Arg) else None,
                    void=reason == "workers",
                    late=option == "timeout" and reason == "workers",
                )
            )
            return  # torch raises for the first

    def _in_try(self) -> set[int]:
        """The calls of the file that stand where an exception is caught: what they raise is expected there."""
        if self._tried is None:
            self._tried = {
                id(each)
                for statement in ir.everything(self.machine.program.body)
                if isinstance(statement, ir.Try) and statement.handlers
                for each in ir.walk(statement.body)
                if isinstance(each, ir.Call)
            }
        return self._tried


def _refused(made: Loading) -> Iterator[tuple[str, str]]:
    for option in ("num_workers", "timeout", "prefetch_factor"):
        if _is_number(made.constant(option)) and _number(made.constant(option)) < 0:
            yield option, "negative"
    without = made.workers == "none"
    for option in ("prefetch_factor", "multiprocessing_context"):
        if without and isinstance(made.known(option), Constant) and made.constant(option) is not None:
            yield option, "workers"
    if without and made.constant("persistent_workers") is True:
        yield "persistent_workers", "workers"
    shuffled, sampled = made.constant("shuffle") is True, made.is_something("sampler")
    dataset = made.known("dataset")
    if isinstance(dataset, Instance) and is_iterable_dataset(dataset):
        for option, wrong in (("shuffle", shuffled), ("sampler", sampled)):
            if wrong:
                yield option, "iterable"
        if made.is_something("batch_sampler"):
            yield "batch_sampler", "iterable"
    if shuffled and sampled:
        yield "shuffle", "sampler"
    if made.is_something("batch_sampler"):
        size = made.constant("batch_size")
        if _is_number(size) and size != 1:
            yield "batch_size", "batch_sampler"
        if shuffled:
            yield "shuffle", "batch_sampler"
        if sampled:
            yield "sampler", "batch_sampler"
        if made.constant("drop_last") is True:
            yield "drop_last", "batch_sampler"
    elif (
        isinstance(made.known("batch_size"), Constant)
        and made.constant("batch_size") is None
        and made.constant("drop_last") is True
        and not made.may_be_given("batch_sampler")
    ):
        yield "drop_last", "batch_size"
    if without and _is_number(made.constant("timeout")) and _number(made.constant("timeout")) > 0:
        yield "timeout", "workers"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: object) -> float:
    assert isinstance(value, (int, float))
    return value
