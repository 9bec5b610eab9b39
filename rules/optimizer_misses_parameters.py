from collections.abc import Iterator

from torchlint.model.events import registration
from torchlint.rule import Claim, Diagnostic, Example, Holds, Level, Observed, Raises, Rule


class OptimizerMissesParameters(Rule):
    """
    An optimizer doesn't hold the parameters that it should train.

    ## What it does
    Finds optimizers over a generator that is used up, over nothing, over a module of which a layer is replaced
    afterwards, and steps of an optimizer none of whose parameters a backward has reached.

    ## Why is this bad?
    An optimizer takes the parameters once, when it is built. `parameters()` is a generator: iterated over, it is empty,
    and torch refuses. A layer that is assigned later isn't known to it, and stays as it is.

    ## Cure
    Build the optimizer last, over `model.parameters()` called anew (or `list(model.parameters())`); or
    `optimizer.add_param_group` for what comes later.

    ## Known limits
    Silent where a module registers its layers by hand or by names that are computed, and where code that isn't in the
    file could run the backward.

    ## References
    - [torch.optim](https://docs.pytorch.org/docs/stable/optim.html#constructing-it)
    - [torch.optim.Optimizer.add_param_group](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.add_param_group.html)
    """

    code = "TLN305"
    name = "optimizer-misses-parameters"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            parameters = model.parameters()
            print(sum(p.numel() for p in parameters))
            optimizer = torch.optim.SGD(parameters, lr=0.1)  # error: [TLN305]
            """,
            shows=Raises("optimizer got an empty parameter list"),
        ),
        Example(
            """
            import torch
            from torch import nn

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.body = nn.Linear(2, 2)
                    self.head = nn.Linear(2, 1)

                def forward(self, x):
                    return self.head(self.body(x))

            net = Net()
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            net.head = nn.Linear(2, 3)  # warning: [TLN305]
            before = net.head.bias.detach().clone()
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            """,
            shows=Holds("torch.equal(net.head.bias, before)"),
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch import nn

            net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
            parameters = list(net.parameters())
            print(sum(p.numel() for p in parameters))
            optimizer = torch.optim.SGD(parameters, lr=0.1)
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            """
        ),
    )

    def check(self, event: registration.OptimizerMisses) -> Iterator[Diagnostic]:
        level = Level.ERROR if event.why in ("consumed", "empty") else None
        source = f"`{event.name}` has no parameters" if event.name else "the list is empty"
        message = {
            "consumed": f"`{event.optimizer}` gets an empty list: `{event.name}` is a generator and used up",
            "empty": f"`{event.optimizer}` gets an empty list: {source}",
            "replaced": f"`{event.name}` isn't trained: it is assigned after `{event.optimizer}` took the parameters",
            "unreached": f"`{event.optimizer}.step()` changes nothing: no backward has reached its parameters",
        }[event.why]
        claims: tuple[Claim, ...] = (Raises("optimizer got an empty parameter list"),)
        if event.why == "replaced":
            left_out = f"tensors_({event.name}) and not optimized_({event.name})"
            root = event.name.rpartition(".")[0] or event.name
            words = f"an optimizer holds parameters that `{root}` has or had, and none of `{event.name}`"
            held = f"(optimized_({root}) or optimized_())"
            claims = (Holds(f"bool({left_out} and {held})", words=words),) if root != event.name else ()
        elif event.why == "unreached":
            claims = (Observed("step-without-gradients", event.optimizer, "never"),)
        yield Diagnostic(event.node, message, event.trace, level=level, claims=claims)
