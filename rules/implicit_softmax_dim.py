from collections.abc import Iterator

from torchlint.model.events import numerics
from torchlint.rule import Diagnostic, Example, Level, Rule, Warns


class ImplicitSoftmaxDim(Rule):
    """
    A softmax does not say over which dimension.

    ## What it does
    Finds `F.softmax(x)`, `F.log_softmax(x)`, `F.softmin(x)`, and the layers `nn.Softmax()`, `nn.LogSoftmax()`,
    `nn.Softmin()`, without `dim`.

    ## Why is this bad?
    Torch guesses by the number of dimensions: 0 for tensors of 0, 1 or 3 dimensions, 1 for all others. For a batch of
    sequences (N, L, C) that normalises over the batch. Torch warns, once.

    ## Cure
    `dim=-1` for scores of shape (N, C) or (N, L, C), `dim=1` for (N, C, H, W).

    ## References
    - [torch.nn.functional.softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html)
    - `_get_softmax_dim` in `torch/nn/functional.py`
    """

    code = "TLN602"
    name = "implicit-softmax-dim"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch
            import torch.nn.functional as F

            scores = torch.rand(2, 5, 7)
            attention = F.softmax(scores)  # warning: [TLN602]
            """,
            shows=Warns("Implicit dimension choice for softmax has been deprecated"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.LogSoftmax())  # warning: [TLN602]
            model(torch.rand(2, 4))
            """,
            shows=Warns("Implicit dimension choice for log_softmax has been deprecated"),
        ),
    )
    good = (
        Example(
            """
            import torch
            import torch.nn.functional as F

            scores = torch.rand(2, 5, 7)
            attention = F.softmax(scores, -1)
            model = torch.nn.LogSoftmax(dim=1)
            channels = torch.nn.Softmax2d()
            """
        ),
    )

    def check(self, event: numerics.DimensionImplied) -> Iterator[Diagnostic]:
        if event.rank is None:
            guess = "torch guesses it by the number of dimensions of the input"
        else:
            guess = f"torch takes {0 if event.rank in (0, 1, 3) else 1} for a tensor of {event.rank} dimensions"
        yield Diagnostic(event.node, f"`{event.name}` without `dim`: {guess}", event.trace)
