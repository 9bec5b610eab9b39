from collections.abc import Iterator

from torchlint.fixes.rewrites import shown
from torchlint.model import events
from torchlint.model.events import numerics
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule, Warns


class BroadcastInLoss(Rule):
    """
    Prediction and target of a loss have shapes that broadcast to a square.

    ## What it does
    Finds `mse_loss`, `l1_loss`, `smooth_l1_loss`, `huber_loss` and their layers, and `((p - y) ** 2).mean()` of the
    output of a linear layer, where one side is (N, 1) and the other (N,). Of torch's own losses also, as a smell, a
    target with an axis of 1 against a prediction with more: (1, 1) against (N, 1).

    ## Why is this bad?
    Each prediction is compared with each target. The loss falls until the model predicts the mean, and stays there.
    Torch warns for its own losses, and says nothing for one written by hand.

    ## Cure
    `prediction.squeeze(-1)`, or `y.unsqueeze(-1)`.

    ## Known limits
    Only where the number of dimensions of both is known.

    ## References
    - [torch.nn.functional.mse_loss](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.mse_loss.html)
    - [Broadcasting semantics](https://docs.pytorch.org/docs/stable/notes/broadcasting.html)
    """

    code = "TLN606"
    name = "broadcast-in-loss"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(3, 1)
            x, y = torch.rand(8, 3), torch.rand(8)
            loss = torch.nn.functional.mse_loss(model(x), y)  # warning: [TLN606]
            """,
            shows=Warns("Using a target size (torch.Size([8])) that is different to the input size"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(3, 1)
            x, y = torch.rand(8, 3), torch.rand(8)
            loss = ((model(x) - y) ** 2).mean()  # warning: [TLN606]
            """,
            shows=Holds("(model(x) - y).shape == (8, 8)"),
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(3, 1)
            x, y = torch.rand(8, 3), torch.rand(8)
            loss = torch.nn.functional.mse_loss(model(x).squeeze(-1), y)
            weighted = ((model(x) - y.unsqueeze(-1)) ** 2 * torch.tensor(0.5)).mean()
            distances = (y.unsqueeze(-1) - y).abs().mean()  # of all pairs, on purpose
            """
        ),
    )

    def check(self, event: numerics.LossBroadcast) -> Iterator[Diagnostic]:
        sides = f"{shown(event.left)} {_size(event.left_shape)} and {shown(event.right)} {_size(event.right_shape)}"
        claims = (Warns("that is different to the input size"), Observed("broadcast"))
        message = f"{sides} are broadcast: each is compared with each"
        if not event.square:
            message = f"{sides} are broadcast: one target for all predictions"
        level = self.level if event.square else Level.SMELL
        yield Diagnostic(event.node, message, event.trace, level=level, claims=claims)


def _size(shape: events.Shape) -> str:
    if shape is None:
        return "(?)"
    sizes = ", ".join("?" if size is None else str(size) for size in shape)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"
