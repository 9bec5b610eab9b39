"""
A call of `DataLoader`, read: its options by name, how many workers it starts, the dataset behind it. No observer.

What is not known is None or "unknown", never a default: an option may hide in a `**kwargs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from torchlint.knowledge.names import DATA_LOADER, DATASET, ITERABLE_DATASET
from torchlint.model.observers.pending import only
from torchlint.model.state.values import (
    NONE,
    Constant,
    External,
    Function,
    Globals,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Unknown,
    Value,
    globals_of,
)
from torchlint.syntax import ir

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine

WRAPPERS = frozenset(
    f"torch.utils.data.{module}{name}"
    for module in ("", "dataset.")
    for name in ("Subset", "random_split", "ConcatDataset", "ChainDataset")
)
"""What stands before a dataset and takes its samples from there, in the same process."""
OPTIONS = (
    *("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory"),
    *("drop_last", "timeout", "worker_init_fn", "multiprocessing_context", "generator"),
)
"""In the order of the parameters; those that follow must be named."""

Workers = Literal["none", "some", "unknown"]


@dataclass(slots=True, eq=False)
class Loading:
    """
    One call of `DataLoader`.

    `complete`: every option that is given is in `options`. `count` is how the program writes the number of workers.
    """

    origin: ir.Call
    options: dict[str, Value]
    complete: bool
    workers: Workers
    count: str

    def known(self, option: str) -> Value | None:
        """The value of an option that is given; None if that may be several, or if it is not given."""
        return self.options.get(option)

    def constant(self, option: str) -> object:
        """The constant that an option is given; None (as `None` itself) for everything else."""
        value = self.options.get(option)
        return value.value if isinstance(value, Constant) else None

    def is_something(self, option: str) -> bool:
        """Whether an option is certainly given something that is not None."""
        return is_something(self.options.get(option))

    def may_be_given(self, option: str) -> bool:
        """Whether an option may have been given anything but None."""
        return self.options.get(option, NONE if self.complete else None) != NONE


def loading(
    qualified: str, positional: list[Value], keywords: dict[str, Value], origin: ir.Call, machine: Machine
) -> Loading | None:
    """What a call says, if it is one of `DataLoader`."""
    if qualified not in DATA_LOADER:
        return None
    starred = [each for each in origin.arguments if each.star]
    given = dict(zip(OPTIONS, positional, strict=False)) if not any(each.star == "*" for each in starred) else {}
    given |= keywords
    options = {name: value for name, each in given.items() if (value := only(each, machine)) is not None}
    for name in given.keys() - options.keys():
        options[name] = Unknown()
    complete = not starred
    workers = options.get("num_workers", Constant(0) if complete else None)
    known: Workers = "unknown"
    if isinstance(workers, Constant):
        known = "some" if isinstance(workers.value, int) and workers.value > 0 else "none"
    place = next((each.value for each in origin.arguments if each.keyword == "num_workers"), None)
    return Loading(origin, options, complete, known, _written(place))


def is_something(value: Value | None) -> bool:
    """Whether a value is certainly not None: an object that a call of a class has made, or what is written out."""
    if isinstance(value, Constant):
        return value.value is not None
    if isinstance(value, Unknown):
        return value.layer and isinstance(value.source, ir.Call)
    return value is not None and not isinstance(value, (Scalar, External))


def _written(node: ir.Expression | None) -> str:
    """A name, or a chain of attributes, as the program writes it; "num_workers" for anything else."""
    words: list[str] = []
    while isinstance(node, ir.Attribute):
        words.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(words)]) if isinstance(node, ir.Name) else "num_workers"


class Datasets:
    """The datasets of the file that loaders get, through `Subset` and `random_split` too; and what they hold."""

    def __init__(self) -> None:
        self._behind: dict[int, list[Instance]] = {}

    def wrapped(self, qualified: str, positional: list[Value], keywords: dict[str, Value], origin: ir.Call) -> None:
        """Note a call that may stand before a dataset."""
        if qualified in WRAPPERS:
            found = [each for value in (*positional, *keywords.values()) for each in self.of(value)]
            if found:
                self._behind[id(origin)] = found

    def of(self, value: Value | None) -> Iterator[Instance]:
        """The datasets whose samples a value gives, as far as they are objects of classes of the file."""
        if isinstance(value, Instance):
            yield value
        elif isinstance(value, Unknown) and value.source is not None:
            yield from self._behind.get(id(value.source), ())
        elif isinstance(value, Sequence):
            for each in value.items or ():
                yield from self.of(each)
        elif isinstance(value, Mapping):
            return


def is_of_file(instance: Instance) -> bool:
    """Whether the class of an object, and its bases as far as they are known, stand in the file under analysis."""
    functions = [each for cls in instance.cls.ancestry() for each in cls.attributes.values()]
    return not any(isinstance(each, Function) and is_of_another_file(each) for each in functions)


def is_of_another_file(function: Function) -> bool:
    """Whether a function stands in another file of the project: no place of this one can be named for it."""
    file = globals_of(function.closure)
    return isinstance(file, Globals) and file.other


def outside(instance: Instance) -> set[str]:
    """The qualified names of the bases of an object that are not in the file; "" for one that nobody knows."""
    return {base.qualified if isinstance(base, External) else "" for base in instance.cls.outside()}


PLAIN_BASES = frozenset({"builtins.object", "abc.ABC", "typing.Generic"})


def is_iterable_dataset(instance: Instance) -> bool:
    """Whether an object is an `IterableDataset`, and none of the data pipes that derive from it."""
    bases = outside(instance)
    return bool(bases & ITERABLE_DATASET) and bases <= ITERABLE_DATASET | DATASET | PLAIN_BASES
