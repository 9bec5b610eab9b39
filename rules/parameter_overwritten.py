from collections.abc import Iterator

from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule


class ParameterOverwritten(Rule):
    """
    A registered parameter is assigned a plain tensor: torch refuses.

    ## What it does
    Finds `self.weight = f(self.weight)`, `model.bias = torch.zeros(n)` and the like, where the attribute is a
    registered `nn.Parameter`.

    ## Why is this bad?
    `nn.Module` raises a TypeError: a tensor in the place of a parameter would vanish from `parameters()`. The wish
    behind it is mostly one of two things, and neither is an assignment.

    ## Cure
    To compute with a changed weight, use another name: `weight = self.weight / norm`. To change the values that are
    learned, write them in place: `with torch.no_grad(): self.weight.copy_(...)`. To replace the parameter, assign
    an `nn.Parameter`.

    ## Known limits
    Silent in files that delete parameters or use parametrizations: there the attribute may be a plain one by then.

    ## References
    - [torch.nn.parameter.Parameter](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html)
    """

    code = "TLN307"
    name = "parameter-overwritten"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch
            from torch import nn

            class Cosine(nn.Module):
                def __init__(self, n, classes):
                    super().__init__()
                    self.weight = nn.Parameter(torch.rand(classes, n))

                def forward(self, x):
                    self.weight = self.weight / self.weight.norm(dim=1, keepdim=True)  # error: [TLN307]
                    return x @ self.weight.T

            Cosine(4, 2)(torch.rand(1, 4))
            """,
            shows=Raises("cannot assign 'torch.FloatTensor' as parameter 'weight'"),
        ),
        Example(
            """
            import torch

            layer = torch.nn.Linear(2, 2)
            layer.weight = torch.eye(2)  # error: [TLN307]
            """,
            shows=Raises("cannot assign 'torch.FloatTensor' as parameter 'weight'"),
        ),
    )
    good = (
        Example(
            """
            import torch

            layer = torch.nn.Linear(2, 2)
            layer.weight = torch.nn.Parameter(torch.eye(2))
            with torch.no_grad():
                layer.weight.mul_(2.0)
            """
        ),
    )

    def check(self, event: registration.ParameterReplaced) -> Iterator[Diagnostic]:
        message = f"`{event.attribute}` is a registered parameter and can't be assigned a plain tensor"
        yield Diagnostic(event.node, message, event.trace, claims=(Raises("as parameter '"),))
