from collections.abc import Iterator

from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class ParameterCreatedInForward(Rule):
    """
    A parameter, or a layer that has parameters, is built in `forward`: fresh weights on every call.

    ## What it does
    Finds `nn.Parameter(...)`, `nn.Linear(...)` and other layers with parameters that the `forward` of a Module builds
    unconditionally.

    ## Why is this bad?
    An optimizer that was built before the first call doesn't know these parameters, and the next call makes new ones:
    they stay random for ever, and `state_dict()` holds at best the last ones.

    ## Cure
    Build it in `__init__`. Where a size is known only then, use the lazy modules (`nn.LazyLinear`). For an operation
    without parameters of its own use `torch.nn.functional`.

    ## Known limits
    Layers without parameters (`nn.Softmax(dim=1)(x)`, `nn.MSELoss()`) are fine. Silent where it is built on a condition
    (`if self.proj is None`), under `no_grad`, where `forward` makes optimizer steps itself, and on a layer whose
    parameters `forward` sets, which only computes.

    ## References
    - [torch.nn.Module](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
    - [torch.nn.LazyLinear](https://docs.pytorch.org/docs/stable/generated/torch.nn.LazyLinear.html)
    """

    code = "TLN303"
    name = "parameter-created-in-forward"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch
            from torch import nn

            class Net(nn.Module):
                def forward(self, x):
                    return nn.Linear(x.shape[1], 1)(x)  # warning: [TLN303]

            net, x = Net(), torch.ones(1, 3)
            """,
            shows=Holds("net(x).item() != net(x).item()"),
        ),
        Example(
            """
            import torch

            class Bias(torch.nn.Module):
                def forward(self, x):
                    self.bias = torch.nn.Parameter(torch.zeros(x.shape[-1]))  # warning: [TLN303]
                    return x + self.bias

            bias = Bias()
            bias(torch.ones(3))
            first = bias.bias
            bias(torch.ones(3))
            """,
            shows=Holds("bias.bias is not first"),
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch import nn

            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = nn.Linear(3, 2)

                def forward(self, x):
                    return nn.Softmax(dim=1)(self.layer(x))

            Net()(torch.ones(1, 3))
            """
        ),
    )

    def check(self, event: registration.BuiltInForward) -> Iterator[Diagnostic]:
        message = f"`forward` of `{event.module}` builds a new `{event.what}` on every call: none is ever trained"
        group = (message, event.statement)  # one line that says the same twice
        claims = (Observed("built-per-call"),)
        yield Diagnostic(event.node, message, event.trace, group=group, others="layer", claims=claims)
