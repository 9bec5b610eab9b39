from collections.abc import Iterator

from torchlint.model.events import data
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class IterableDatasetNotSharded(Rule):
    """
    An `IterableDataset` that gives every worker the same samples is loaded by several.

    ## What it does
    Finds loaders with workers over an `IterableDataset` of the file whose `__iter__` goes over a range, a file, or
    other data that is whole in each process, and asks nobody which worker it is.

    ## Why is this bad?
    Each worker runs `__iter__` from beginning to end on a copy of its own: every sample arrives once per worker, and an
    epoch is as many times as long.

    ## Cure
    Give each worker its part: `info = torch.utils.data.get_worker_info()`, then `islice(samples, info.id, None,
    info.num_workers)` (`info` is None in the main process); or do the same in a `worker_init_fn`.

    ## Known limits
    Silent where what `__iter__` goes over may divide itself (a dataset of another library, an argument of which nothing
    is known), where it draws random samples (to shuffle all of them draws none), where any word of the class is about
    workers, ranks or shards, and where a `worker_init_fn` is given.

    ## References
    - [torch.utils.data.IterableDataset](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset):
      "each replica must be configured differently to avoid having duplicate data"
    """

    code = "TLN802"
    name = "iterable-dataset-not-sharded"
    level = Level.WARNING
    bad = (
        Example(
            """
            from torch.utils.data import DataLoader, IterableDataset

            class Numbers(IterableDataset):
                def __init__(self, n):
                    self.n = n

                def __iter__(self):
                    for i in range(self.n):
                        yield i * i

            loader = DataLoader(Numbers(4), batch_size=None, num_workers=2)  # warning: [TLN802]
            if __name__ == "__main__":
                got = list(loader)
            """,
            shows=Holds("len(got) == 8"),
        ),
    )
    good = (
        Example(
            """
            from itertools import islice
            from torch.utils.data import DataLoader, IterableDataset, get_worker_info

            class Numbers(IterableDataset):
                def __init__(self, n):
                    self.n = n

                def __iter__(self):
                    info = get_worker_info()
                    first, step = (0, 1) if info is None else (info.id, info.num_workers)
                    for i in islice(range(self.n), first, None, step):
                        yield i * i

            if __name__ == "__main__":
                got = list(DataLoader(Numbers(4), batch_size=None, num_workers=2))
                assert len(got) == 4
            """
        ),
    )

    def check(self, event: data.StreamNotDivided) -> Iterator[Diagnostic]:
        if event.count is None:
            message = f"where `{event.workers}` is more than 1, every worker goes over all of `{event.dataset}`"
        else:
            message = f"each of {event.count} workers goes over all of `{event.dataset}`"
        message = f"{message}: every sample arrives once per worker"
        yield Diagnostic(event.node, message, event.trace, claims=(Observed("not-divided"),))
