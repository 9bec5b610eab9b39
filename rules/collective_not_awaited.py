from collections.abc import Iterator

from torchlint.model.events import data
from torchlint.rule import Diagnostic, Example, Holds, Level, Rule


class CollectiveNotAwaited(Rule):
    """
    A communication is started, and nothing can wait for its end.

    ## What it does
    Finds `isend`, `irecv`, `batch_isend_irecv` and collectives with `async_op=True` whose handle is dropped, or bound
    to a name that nothing reads.

    ## Why is this bad?
    The call returns before the tensor is sent or received. Until `wait()` of the handle has returned, what is received
    is not there, and what is sent must not be written: the program reads a tensor that is half done, or not at all, and
    no error says so.

    ## Cure
    Keep the handle and call `wait()` before the tensor is used; or leave `async_op` out.

    ## Known limits
    Silent where the same function calls `barrier` or `synchronize`, where the handle is bound to a name that begins
    with an underscore, and where the call is expected to raise.

    ## References
    - [Synchronous and asynchronous collective operations](https://docs.pytorch.org/docs/stable/distributed.html#synchronous-and-asynchronous-collective-operations)
    """

    code = "TLN812"
    name = "collective-not-awaited"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch
            import torch.distributed as dist
            from torch.testing._internal.distributed.fake_pg import FakeStore

            dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
            total = torch.ones(3)
            dist.all_reduce(total, async_op=True)  # warning: [TLN812]
            mean = total / 2
            """,
            shows=Holds("hasattr(dist.all_reduce(total, async_op=True), 'wait')"),
        ),
    )
    good = (
        Example(
            """
            import torch
            import torch.distributed as dist
            from torch.testing._internal.distributed.fake_pg import FakeStore

            dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
            total = torch.ones(3)
            work = dist.all_reduce(total, async_op=True)
            work.wait()
            mean = total / 2
            """
        ),
    )

    def check(self, event: data.HandleDropped) -> Iterator[Diagnostic]:
        handle = f"nothing reads its handle `{event.name}`" if event.name else "its handle is dropped"
        use = "is read" if event.received else "is written"
        lost = f"nothing can wait before the tensor {use}"
        if event.function.endswith("isend"):
            lost = "nothing can wait for it, and what is sent may never arrive"
        message = f"`{event.function}` goes on in the background, and {handle}: {lost}"
        subject = event.name or "value_"
        claim = f"any(hasattr(t, 'wait') for t in ({subject} if isinstance({subject}, list) else [{subject}]))"
        words = f"`{event.function}` returned a handle to wait for, and went on in the background"
        yield Diagnostic(event.node, message, event.trace, claims=(Holds(claim, words=words),))
