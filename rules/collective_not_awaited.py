from collections.abc import Iterator

from torchlint.model.events import data
from torchlint.rule import Diagnostic, Example, Holds, Level, Rule


class CollectiveNotAwaited(Rule):
    """
    Communication between processes is started, and nobody waits for it.

    ## What it does
    Finds `isend`, `irecv`, `batch_isend_irecv` and collectives with `async_op=True` of `torch.distributed` whose handle
    is dropped, or kept under a name that nobody reads.

    ## Why is this bad?
    The call returns at once. Until `wait()` has returned, what stands in the tensor is undefined: what is read may be
    the old values, half of the new ones, or, of a tensor that is being sent, what is written into it next.

    ## Cure
    Keep the handle and call `wait()` before the tensor is used, or use the call that waits by itself (`send`, `recv`,
    without `async_op`).

    ## Known limits
    Silent where the function synchronises with the device, where the handle is kept in a list or an attribute, and
    inside of a coalescing manager.

    ## References
    - [Synchronous and asynchronous collective operations](https://docs.pytorch.org/docs/stable/distributed.html#synchronous-and-asynchronous-collective-operations)
    """

    code = "TLN812"
    name = "collective-not-awaited"
    level = Level.WARNING
    bad = (
        Example(
            """
            import os
            import time
            import torch
            import torch.distributed as dist

            rank = 0 if os.fork() else 1
            dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
            x = torch.zeros(1)
            if rank == 1:
                time.sleep(1)
                dist.send(torch.ones(1), dst=0)
                time.sleep(60)
            dist.irecv(x, src=1)  # warning: [TLN812]
            seen = x.item()
            """,
            shows=Holds("seen == 0"),
        ),
    )
    good = (
        Example(
            """
            import os
            import time
            import torch
            import torch.distributed as dist

            rank = 0 if os.fork() else 1
            dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
            x = torch.zeros(1)
            if rank == 1:
                time.sleep(1)
                dist.send(torch.ones(1), dst=0)
                time.sleep(60)
            handle = dist.irecv(x, src=1)
            handle.wait()
            assert x.item() == 1
            """
        ),
    )

    def check(self, event: data.WorkDropped) -> Iterator[Diagnostic]:
        lost = f"`{event.name}` is never read" if event.name else "its handle is dropped"
        message = f"nobody waits for `{event.function}`: {lost}"
        yield Diagnostic(event.node, message, event.trace)
