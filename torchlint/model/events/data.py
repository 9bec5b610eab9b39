"""
Events of loading data and of what makes a run repeatable: loaders, workers, samplers, generators.

Raised by the observers of `observers/data`.
"""

from __future__ import annotations

from torchlint.model.events import Event
from torchlint.record import record
from torchlint.syntax import cst

SPAWNED = ("macOS", "Windows", "Linux from Python 3.14")
"""Where processes are spawned, or come from a fork server."""


@record(frozen=True, kw_only=True)
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


@record(frozen=True, kw_only=True)
class GeneratorCopied(Event):
    """
    A random generator is made once, and drawn from in the workers of a loader, each of which has a copy of it. `node`
    is the expression that makes it, or, of NumPy's global one, the draw.

    Attributes
    ----------
    generator
        How the program calls it: `self.rng`.
    holder
        The class of the transform that holds it; "" if the dataset or the file does.
    dataset
        The class whose samples are drawn with it.
    in_module
        It is a variable of the file, not of the dataset.
    workers
        How the program writes the number of workers where that is not known; "" if there are some.
    is_global
        It is NumPy's global one, which torch seeds in each worker since 1.9.
    """

    generator: str
    holder: str
    dataset: str
    in_module: bool
    workers: str
    is_global: bool


@record(frozen=True, kw_only=True)
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


@record(frozen=True, kw_only=True)
class LocalFunctionLoaded(Event):
    """
    A function that cannot be pickled, a lambda or one defined in a function, is given to a loader with workers. `node`
    is the call of `DataLoader`.

    Attributes
    ----------
    function
        "a lambda", or the function's name in backquotes.
    holder
        What holds it: "collate_fn", "worker_init_fn", or the attribute of the dataset.
    dataset
        The class of the dataset that holds it; "" if the loader is given it.
    context
        How processes are started, if the loader is told a way that pickles; else "".
    literal
        The lambda, if it is written as the loader's argument, means the same wherever in the file it stands, and is the
        first such; else None.
    whole
        The statement of the file around `literal`.
    taken
        The identifiers of the file; none without `literal`.
    spawned
        Where the project runs and processes are not forked.
    """

    function: str
    holder: str
    dataset: str
    context: str
    literal: cst.CSTNode | None = None
    whole: cst.CSTNode | None = None
    taken: frozenset[str] = frozenset()
    spawned: tuple[str, ...] = SPAWNED


@record(frozen=True, kw_only=True)
class WorkersStarted(Event):
    """
    A loader with workers is gone through while its file runs, whatever the file's `__name__` is. `node` is where.

    Attributes
    ----------
    loader
        How the program calls it; "" where it has no name.
    function
        The function that goes through it; "" if the file's own statements do.
    whole
        The statement of the file in which it happens, if it is the last one and nothing that is bound in it is read in
        another; else None.
    spawned
        Where the project runs and processes are not forked.
    """

    loader: str
    function: str
    whole: cst.CSTNode | None
    spawned: tuple[str, ...] = SPAWNED


@record(frozen=True, kw_only=True)
class WorkerOnDevice(Event):
    """
    A dataset puts samples on a CUDA device, or takes them from a tensor there, and a loader runs it in workers. `node`
    is what does so.

    Attributes
    ----------
    dataset
        The class.
    holds
        The attribute that is on the device; "" where the sample is moved.
    workers
        How the program writes the number of workers where that is not known; "" if there are some.
    """

    dataset: str
    holds: str
    workers: str


@record(frozen=True, kw_only=True)
class SamplerEpochKept(Event):
    """
    A `DistributedSampler` that shuffles is gone through in each round of a loop, and nothing in the file sets its
    epoch. `node` is where its loader is gone through.

    Attributes
    ----------
    sampler
        How the program calls it: `sampler`, `loader.sampler`.
    epoch
        The variable of the loop, if it counts and nothing but this sampler stands under the name; else "".
    first
        The first statement in the loop.
    """

    sampler: str
    epoch: str
    first: cst.CSTNode


@record(frozen=True, kw_only=True)
class SharedDatasetChanged(Event):
    """
    An attribute is set on the dataset behind one part of a split: that of the other parts is the same. `node` is what
    is assigned to.

    Attributes
    ----------
    part, others
        How the program calls the part, and the parts that share its dataset.
    attribute
        What is set.
    """

    part: str
    others: tuple[str, ...]
    attribute: str


@record(frozen=True, kw_only=True)
class NondeterministicCalled(Event):
    """
    An operation is called that torch refuses while only deterministic ones are allowed. `node` is the call.

    Attributes
    ----------
    operation
        As torch's documentation calls it: `put_`, `MaxUnpool2d`.
    when
        "always", "on a GPU", or "differentiated on a GPU" (and it is).
    """

    operation: str
    when: str


@record(frozen=True, kw_only=True)
class GeneratorNotSeeded(Event):
    """
    torch's generator is seeded, and another one that the program draws from nowhere in the file. `node` is the call
    that seeds.

    Attributes
    ----------
    call
        The same.
    generator
        "random" or "numpy".
    module
        How the program calls the module whose generator it is: `np.random`.
    """

    call: cst.Call
    generator: str
    module: str


@record(frozen=True, kw_only=True)
class SeededLate(Event):
    """
    torch's generator is seeded for the first time after parameters were drawn, or data were split. `node` is the call
    that seeds.

    Attributes
    ----------
    drawn
        What was made before, as the program writes it: `nn.Linear`, `random_split`.
    splits
        It was a split of data.
    """

    drawn: str
    splits: bool


@record(frozen=True, kw_only=True)
class HandleDropped(Event):
    """
    A communication is started that goes on while the program does, and nothing can wait for its end. `node` is the
    call.

    Attributes
    ----------
    function
        As the program writes it: `dist.isend`.
    name
        The variable that holds the handle, and that nothing reads; "" if there is none.
    received
        The function writes the tensor that it is given.
    """

    function: str
    name: str
    received: bool


@record(frozen=True, kw_only=True)
class EvaluatedShuffled(Event):
    """
    A loader that shuffles is gone through in a loop that evaluates, and in none that trains. `node` is the call of
    `DataLoader`.

    Attributes
    ----------
    loader
        How the program calls it.
    argument
        The argument that says so.
    """

    loader: str
    argument: cst.CSTNode


@record(frozen=True, kw_only=True)
class TrainedInOrder(Event):
    """
    A loader that keeps the order of a map-style dataset is gone through in a loop that trains, in each of several
    epochs. `node` is the call of `DataLoader`.

    Attributes
    ----------
    call
        The call.
    loader
        How the program calls it.
    few
        The epochs are written to be a few.
    """

    call: cst.Call
    loader: str
    few: bool = False
