from collections.abc import Iterator

from torchlint.model.events import data
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class SamplerEpochNotSet(Rule):
    """
    A `DistributedSampler` gives every epoch the same order, because nobody tells it which one it is.

    ## What it does
    Finds a shuffling `DistributedSampler` whose loader is gone through in each round of a loop, in a file that nowhere
    calls `set_epoch`.

    ## Why is this bad?
    The sampler shuffles with its seed plus its epoch, and the epoch stays 0: every epoch sees the same batches in the
    same order, and every process the same part of the data.

    ## Cure
    `sampler.set_epoch(epoch)` at the beginning of each epoch.

    ## Fix safety
    Unsafe: the order of the batches changes.

    ## Known limits
    Silent with `shuffle=False`, where the sampler or its loader is handed to code that is not in the file, and in files
    that import a library that sets the epoch itself (Lightning, Accelerate, Ignite, …). A loader that another object
    holds is known only if the file itself makes all that is under its name.

    ## References
    - [DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler):
      "calling the `set_epoch()` method at the beginning of each epoch […] is necessary to make shuffling work properly"
    """

    code = "TLN803"
    name = "sampler-epoch-not-set"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            data = list(range(100))
            sampler = DistributedSampler(data, num_replicas=2, rank=0)  # note: its epoch stays 0
            loader = DataLoader(data, batch_size=10, sampler=sampler)
            orders = []
            for epoch in range(2):
                orders.append([])
                for batch in loader:  # warning: [TLN803]
                    orders[-1].extend(batch.tolist())
            """,
            shows=Holds("orders[0] == orders[1]"),
            fixed="""
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            data = list(range(100))
            sampler = DistributedSampler(data, num_replicas=2, rank=0)
            loader = DataLoader(data, batch_size=10, sampler=sampler)
            orders = []
            for epoch in range(2):
                sampler.set_epoch(epoch)
                orders.append([])
                for batch in loader:
                    orders[-1].extend(batch.tolist())
            """,
        ),
    )
    good = (
        Example(
            """
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            data = list(range(100))
            sampler = DistributedSampler(data, num_replicas=2, rank=0, shuffle=False)
            loader = DataLoader(data, batch_size=10, sampler=sampler)
            for epoch in range(2):
                for batch in loader:
                    print(epoch, batch)
            """
        ),
    )

    def check(self, event: data.SamplerEpochKept) -> Iterator[Diagnostic]:
        message = f"nothing calls `{event.sampler}.set_epoch`: every epoch has the same order"
        claims = (Observed("same-order", event.sampler, "shuffled"),)
        yield Diagnostic(event.node, message, event.trace, _fix(event), claims=claims)


def _fix(event: data.SamplerEpochKept) -> Fix | None:
    if not event.epoch:
        return None
    text = f"{event.sampler}.set_epoch({event.epoch})"
    return Fix(f"call `{text}` in each epoch", (Edit(event.first, text, before=True),), safe=False)
