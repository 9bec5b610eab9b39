from collections.abc import Iterator

from torchlint.model.events import data
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule, Settings

_SEEDED = (1, 9)
"""The release that seeds NumPy's global generator in each worker."""


class GeneratorCopiedToWorkers(Rule):
    """
    A dataset draws from a random generator that every worker of its loader has a copy of.

    ## What it does
    Finds generators (`np.random.default_rng`, `RandomState`, `random.Random`, `torch.Generator`) that a dataset or one
    of its transforms makes or is given once, or that the file makes, that `__getitem__` or `__iter__` draws from, and a
    loader with workers.

    ## Why is this bad?
    Every worker draws the same numbers: the samples of a batch repeat the augmentation, the noise or the crop of
    another worker's. Without `persistent_workers` the workers of the next epoch begin with the same state again, so
    that every epoch repeats the last one. torch seeds only the global generators of torch, `random` and (since 1.9)
    NumPy in each worker.

    ## Cure
    Make the generator where it is used: in a `worker_init_fn` (`get_worker_info().dataset.rng = …`, seeded with
    `torch.initial_seed()`), or from the index of the sample (`np.random.default_rng((seed, index))`); or draw from
    torch's global generator.

    ## Known limits
    Silent where the dataset, or what stands between it and the loader, comes from another file, where a
    `worker_init_fn` is given that may see to it, and where the class says anything about workers. The global generator
    of NumPy is seeded in each worker since torch 1.9: told of only where an earlier one is meant.

    ## References
    - [Reproducibility: DataLoader](https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader)
    - [My data loader workers return identical random numbers](https://docs.pytorch.org/docs/stable/notes/faq.html#my-data-loader-workers-return-identical-random-numbers)
    """

    code = "TLN801"
    name = "generator-copied-to-workers"
    level = Level.WARNING
    bad = (
        Example(
            """
            import numpy as np
            from torch.utils.data import DataLoader, Dataset

            class Noise(Dataset):
                def __init__(self, n):
                    self.n = n
                    self.rng = np.random.default_rng()  # warning: [TLN801]

                def __len__(self):
                    return self.n

                def __getitem__(self, i):
                    return self.rng.integers(1_000_000)

            if __name__ == "__main__":
                first, second = (int(x) for x in DataLoader(Noise(2), num_workers=2))
            """,
            shows=Holds("first == second"),
        ),
    )
    good = (
        Example(
            """
            import numpy as np
            from torch.utils.data import DataLoader, Dataset

            class Noise(Dataset):
                def __init__(self, n, seed):
                    self.n, self.seed = n, seed

                def __len__(self):
                    return self.n

                def __getitem__(self, i):
                    return np.random.default_rng((self.seed, i)).integers(1_000_000)

            if __name__ == "__main__":
                first, second = (int(x) for x in DataLoader(Noise(2, seed=0), num_workers=2))
                assert first != second
            """
        ),
    )

    def check(self, event: data.GeneratorCopied, settings: Settings) -> Iterator[Diagnostic]:
        if event.is_global and not settings.target.begins_before(_SEEDED):
            return
        where = "where workers are forked, " if event.in_module else ""
        where = f"where `{event.workers}` is not 0, " if event.workers and not where else where
        generator = f"`{event.generator}` in `{event.holder}`" if event.holder else f"`{event.generator}`"
        message = f"{where}every worker has a copy of {generator}: all draw the same numbers for `{event.dataset}`"
        if event.is_global:
            message += f", before torch 1.9{settings.target.allowing(settings.target.oldest)}"
        claim = Observed("copied-generator", event.generator)
        if event.is_global:
            claim = Observed("other-release", event.generator, "before 1.9")
        yield Diagnostic(event.node, message, event.trace, claims=(claim,))
