from collections.abc import Iterator

from torchlint.model.events import training
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class ZeroGradBreaksAccumulation(Rule):
    """
    The gradients are zeroed in the wrong loop: those that should add up are lost, or those that shouldn't add up.

    ## What it does
    Finds zeroing on every micro-batch where the step is taken only every few of them, or after the loop; and zeroing
    once per epoch where a step is taken for every batch.

    ## Why is this bad?
    In the first case the step uses the gradient of the last micro-batch alone; the work of the others is thrown away.
    In the second each step follows the sum of all gradients since the start of the epoch.

    ## Cure
    Zero exactly once per step: right after it, or before the first backward that belongs to the next one.

    ## Known limits
    A step that is skipped for another reason than a count (`if isfinite(norm)`) isn't taken for accumulation. Silent
    where code that isn't in the file is given the optimizer or the model.

    ## References
    - [Gradient accumulation](https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation)
    """

    code = "TLN405"
    name = "zero-grad-breaks-accumulation"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
            start = model.bias.item()
            for i in range(4):
                optimizer.zero_grad()  # warning: [TLN405]
                model(torch.ones(1, 2)).sum().backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
            """,
            shows=Holds("abs(start - model.bias.item() - 1) < 1e-5"),  # and not 4
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(2):
                optimizer.zero_grad()
                for batch in range(3):
                    model(torch.ones(1, 2)).sum().backward()
                    optimizer.step()  # warning: [TLN405]
            """,
            shows=Holds("model.bias.grad.item() == 3"),
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
            for i in range(8):
                (model(torch.ones(1, 2)).sum() / 4).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
                    optimizer.zero_grad()
            """
        ),
    )

    def check(self, event: training.GradientsDiscarded | training.GradientsCarried) -> Iterator[Diagnostic]:
        if isinstance(event, training.GradientsDiscarded):
            message = f"`{event.optimizer}.zero_grad()` throws away gradients that are accumulated for a later step"
            yield Diagnostic(
                event.node, message, event.trace, claims=(Observed("gradients-discarded", event.optimizer),)
            )
        elif event.zeroed == "outside":
            message = (
                f"`{event.optimizer}.step()` uses the sum of all gradients since the loop began: zeroed outside it"
            )
            yield Diagnostic(event.node, message, event.trace, claims=(Observed("gradients-carried", event.optimizer),))
