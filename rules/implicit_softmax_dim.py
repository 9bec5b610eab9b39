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

    With 3 dimensions it is a warning; with more, or where their number isn't known, a smell; with two or less, where
    torch takes the only one or the last, strict. A layer counts by what it's called with.

    ## Cure
    `dim=-1` for scores of shape (N, C) or (N, L, C), `dim=1` for (N, C, H, W).

    ## References
    - [torch.nn.functional.softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html)
    - `_get_softmax_dim` in `torch/nn/functional.py`
    """

    code = "TLN602"
    name = "implicit-softmax-dim"
    level = Level.WARNING
    may_be_strict = True
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

            def head(scores):
                return torch.nn.LogSoftmax()(scores)  # smell: [TLN602]

            head(eval("torch.rand(2, 4)"))
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
        match event.rank:
            case None:
                guess = "takes dimension 1, or 0 if the input has 3 dimensions"
            case 3:
                guess = "takes dimension 0 of 3, normally the batch"
            case rank:
                guess = f"takes dimension {0 if rank < 2 else 1} of {rank}"
        message = f"`{event.name}` without `dim`: torch warns that this is deprecated, and {guess}"
        warning = "Implicit dimension choice"
        claims = (Warns(warning), Warns(warning, here=False))  # where it is called, or where the layer is made
        yield Diagnostic(event.node, message, event.trace, level=_level(event.rank), claims=claims)


def _level(rank: int | None) -> Level:
    """A warning where it is the batch; strict where there is nothing to mistake."""
    if rank is None or rank > 3:
        return Level.SMELL
    return Level.WARNING if rank == 3 else Level.STRICT
