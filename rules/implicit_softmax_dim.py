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
    sequences (N, L, C) that normalises over the batch. Torch warns.

    With 3 dimensions it is a warning; with more a smell; with two or less, where torch takes the only one or the last,
    strict, as for the maps of a convolution, where it takes the channels, and where their number isn't known: of
    twenty of these that strangers read, eight were worth it. A layer
    counts by what it's called with, or what stands before it in an `nn.Sequential`; what callers in the file give
    counts, and not what others might; so does what takes the result (`multinomial`: no more than two). One in an
    attribute that nothing in the file reads is strict. One finding per class or function, which counts the others.

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
                return torch.nn.LogSoftmax()(scores)  # strict: [TLN602]

            head(eval("torch.rand(2, 4)"))
            """,
            shows=Warns("Implicit dimension choice for log_softmax has been deprecated"),
            strict=True,
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
            case None if event.few:
                takes = "torch takes the only dimension or the second of 2, and warns: write `dim=-1`"
            case None:
                takes = "torch takes dimension 1 of 2 or 4, but 0, the batch, of 3, and warns: write"
                takes += " `dim=1` for channels, `dim=-1` for the last"
            case 3:
                takes = "torch takes dimension 0 of 3, normally the batch, and warns; write the one meant"
            case rank:
                taken = 0 if rank < 2 else 1
                takes = f"torch takes dimension {taken} of {rank}, and warns: write `dim={taken}`"
        message = f"`{event.name}` without `dim`: {takes}"
        if event.unread:
            message = f"`{event.name}` without `dim`, in `{event.unread}`, which nothing in this file reads"
        warning = "Implicit dimension choice"
        claims = (Warns(warning), Warns(warning, here=False))  # where it is called, or where the layer is made
        level = Level.STRICT if event.unread or event.maps or event.few else _level(event.rank)
        weight = () if event.rank is None else (1,)
        yield Diagnostic(
            event.node,
            message,
            event.trace,
            level=level,
            group=event.inside,
            others="call",
            weight=weight,
            claims=claims,
        )


def _level(rank: int | None) -> Level:
    """A warning where it is the batch; strict where there is nothing to mistake, or nobody knows."""
    if rank == 3:
        return Level.WARNING
    return Level.SMELL if rank is not None and rank > 3 else Level.STRICT
