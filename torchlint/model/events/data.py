"""
Events of loading data and of what makes a run repeatable: loaders, workers, samplers, generators.

Raised by the observers of `observers/data`.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from torchlint.model.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderRefused(Event):
    """
    `DataLoader` is given options that it raises for. `node` is the call.

    Attributes
    ----------
    call
        The call.
    option
        The option that is one too many.
    reason
        What it contradicts: "workers" (there are none), "iterable" (the dataset is an `IterableDataset`), "negative"
        (it is less than zero), or the name of another option.
    argument
        The argument that gives the option, if it is written as a keyword.
    void
        Whether the loader would be the same without it, were it not refused.
    late
        It raises only when the loader is iterated over.
    """

    call: cst.Call
    option: str
    reason: str
    argument: cst.Arg | None
    void: bool
    late: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorCopied(Event):
    """
    A random generator is made once, and drawn from in the workers of a loader, each of which has a copy of it. `node`
    is the expression that makes it.

    Attributes
    ----------
    generator
        How the program calls it: `self.rng`.
    dataset
        The class whose samples are drawn with it.
    in_module
        It is a variable of the file, not of the dataset.
    workers
        How the program writes the number of workers where that is not known; "" if there are some.
    """

    generator: str
    dataset: str
    in_module: bool
    workers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamNotDivided(Event):
    """
    An `IterableDataset` whose `__iter__` gives the same samples in each process is loaded by several workers. `node` is
    the call of `DataLoader`.

    Attributes
    ----------
    dataset
        The class.
    workers
        How the program writes the number of workers where that is not known; "" if it is.
    count
        The number of workers; None where it is not known.
    """

    dataset: str
    workers: str
    count: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFunctionLoaded(Event):
    """
    A function that cannot be pickled, a lambda or one defined in a function, is given to a loader with workers. `node`
    is the argument, or the place where the dataset is given the function.

    Attributes
    ----------
    function
        "a lambda", or the function's name.
    holder
        What holds it: "collate_fn", "worker_init_fn", or the attribute of the dataset.
    of_dataset
        Whether it is the dataset that holds it.
    workers
        How the program writes the number of workers where that is not known; "" if there are some.
    """

    function: str
    holder: str
    of_dataset: bool
    workers: str
