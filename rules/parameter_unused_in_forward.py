from collections.abc import Iterator

from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Example, Level, Observed, Raises, Rule


class ParameterUnusedInForward(Rule):
    """
    A Module is wrapped in `DistributedDataParallel`, and registers a layer or parameter that nothing reads.

    ## What it does
    Finds `self.x = nn.Linear(…)`, and whatever else has parameters, where the file never reads `x`, makes an object of
    the class, and wraps that in `DistributedDataParallel` without `find_unused_parameters=True`.

    ## Why is this bad?
    The wrapper waits in each backward for the gradients of all parameters. That of a parameter which took no part never
    comes, and the second step raises.

    ## Cure
    Remove the layer, or use it. If it is used in some steps only: `find_unused_parameters=True`, which costs a walk
    through the graph in each step.

    ## Known limits
    Silent where the class has other bases than `nn.Module`, where the Module is made in another file, or handed to code
    of one, and in files that freeze parameters, go through them, or read attributes by names that are not written.

    ## References
    - [DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html):
      `find_unused_parameters`
    - [Distributed Data Parallel](https://docs.pytorch.org/docs/stable/notes/ddp.html)
    """

    code = "TLN313"
    name = "parameter-unused-in-forward"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch
            import torch.distributed as dist
            from torch import nn
            from torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
            from torch.nn.parallel import DistributedDataParallel
            from torch.testing._internal.distributed.fake_pg import FakeStore


            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.body = nn.Linear(2, 2)
                    self.head = nn.Linear(2, 2)  # warning: [TLN313]

                def forward(self, x):
                    return self.body(x)


            dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
            model = DistributedDataParallel(Net())  # note: `Net` is wrapped here, and every parameter is waited for
            model.register_comm_hook(None, noop_hook)
            for step in range(2):
                model(torch.ones(1, 2)).sum().backward()
            """,
            shows=Raises("Expected to have finished reduction in the prior iteration"),
        ),
    )
    good = (
        Example(
            """
            import torch
            import torch.distributed as dist
            from torch import nn
            from torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
            from torch.nn.parallel import DistributedDataParallel
            from torch.testing._internal.distributed.fake_pg import FakeStore


            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.body = nn.Linear(2, 2)
                    self.head = nn.Linear(2, 2)

                def forward(self, x):
                    return self.body(x)


            dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
            model = DistributedDataParallel(Net(), find_unused_parameters=True)
            model.register_comm_hook(None, noop_hook)
            for step in range(2):
                model(torch.ones(1, 2)).sum().backward()
            """
        ),
    )

    def check(self, event: registration.ParameterUnused) -> Iterator[Diagnostic]:
        message = (
            f"nothing reads `{event.attribute}` of `{event.module}`: `DistributedDataParallel` waits for its gradient, "
            "and raises at the second step"
        )
        # What the wrapper raises needs a second step; that no gradient comes shows in the first.
        yield Diagnostic(
            event.node, message, event.trace, claims=(Observed("takes-no-part", f"self.{event.attribute}"),)
        )
