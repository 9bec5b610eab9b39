from collections.abc import Iterator

from torchlint.fixes.rewrites import without_argument
from torchlint.model.events import data
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Raises, Rule

_LATE = (Raises("AssertionError"), Raises("AssertionError", here=False))
_REFUSALS = (
    "option should be non-negative",
    "prefetch_factor option could only be specified in multiprocessing",
    "persistent_workers option needs num_workers > 0",
    "multiprocessing_context can only be used with multi-process loading",
    "DataLoader with IterableDataset: expected unspecified",
    "mutually exclusive",
)
"""What `DataLoader` says."""


class ContradictoryLoaderOptions(Rule):
    """
    A `DataLoader` is given options that exclude each other.

    ## What it does
    Finds calls that torch refuses: `shuffle=True` with a sampler or an `IterableDataset`, `batch_sampler` with
    `batch_size`, `shuffle`, `sampler` or `drop_last`, and what is only for workers (`persistent_workers`,
    `prefetch_factor`, `multiprocessing_context`, `timeout`) where there are none.

    ## Why is this bad?
    The constructor raises a `ValueError`; for `timeout` the first batch does, with an `AssertionError`.

    ## Cure
    Leave one of the two out. A sampler decides the order by itself; without workers there is nothing to keep alive or
    to wait for.

    ## Fix safety
    Safe where the option is void: without workers it would do nothing. Unsafe otherwise: which of the two options was
    meant is the author's to say.

    ## Known limits
    Silent where an option is not known (`num_workers=args.workers`, `sampler=sampler if distributed else None`), where
    options may hide in a `**kwargs`, and where the call stands in a `try`.

    ## References
    - [torch.utils.data.DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
    """

    code = "TLN804"
    name = "contradictory-loader-options"
    level = Level.ERROR
    fixes = "both"
    bad = (
        Example(
            """
            from torch.utils.data import DataLoader
            loader = DataLoader(range(8), batch_size=4, persistent_workers=True)  # error: [TLN804]
            """,
            shows=Raises("persistent_workers option needs num_workers > 0"),
            fixed="""
            from torch.utils.data import DataLoader
            loader = DataLoader(range(8), batch_size=4)
            """,
        ),
        Example(
            """
            from torch.utils.data import DataLoader, RandomSampler
            sampler = RandomSampler(range(8))
            loader = DataLoader(range(8), sampler=sampler, shuffle=True)  # error: [TLN804]
            """,
            shows=Raises("sampler option is mutually exclusive with shuffle"),
            fixed="""
            from torch.utils.data import DataLoader, RandomSampler
            sampler = RandomSampler(range(8))
            loader = DataLoader(range(8), sampler=sampler)
            """,
        ),
    )
    good = (
        Example(
            """
            from torch.utils.data import DataLoader, RandomSampler
            sampler = RandomSampler(range(8))
            loader = DataLoader(range(8), sampler=sampler, shuffle=False, drop_last=True)
            other = DataLoader(range(8), num_workers=2, persistent_workers=True, prefetch_factor=4)
            """
        ),
    )

    def check(self, event: data.LoaderRefused) -> Iterator[Diagnostic]:
        if event.reason == "workers":
            why = f"`{event.option}` is for workers, and this `DataLoader` has none"
        elif event.reason == "iterable":
            why = f"`{event.option}` is given with an `IterableDataset`, which decides the order itself"
        elif event.reason == "negative":
            why = f"`{event.option}` is negative"
        elif event.option == "drop_last" and event.reason == "batch_size":
            why = "`drop_last` is given, and `batch_size=None` makes no batches"
        else:
            why = f"`{event.option}` and `{event.reason}` exclude each other"
        raises = "iterating over it raises" if event.late else "the constructor raises"
        claims = _LATE if event.late else tuple(map(Raises, _REFUSALS))
        yield Diagnostic(event.node, f"{why}: {raises}", event.trace, _fix(event), claims=claims)


def _fix(event: data.LoaderRefused) -> Fix | None:
    if event.argument is None or event.reason == "negative" or event.option in ("sampler", "batch_sampler"):
        return None
    text = without_argument(event.call, event.argument)
    if text is None:
        return None
    title = f"leave out `{event.option}`"
    return Fix(title, (Edit(event.call, text),), safe=event.void, mends=True)
