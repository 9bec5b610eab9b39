from collections.abc import Iterator

from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class ZeroGradientOperation(Rule):
    """
    A backward reaches a parameter only through an operation whose gradient is zero everywhere.

    ## What it does
    Finds backward passes where every way back to some leaf leads through `round`, `floor`, `ceil`, `trunc`, `sign` or
    `bernoulli`, and no other backward in sight reaches it otherwise.

    ## Why is this bad?
    These operations are flat nearly everywhere, and torch gives them the gradient zero. Nothing raises; what stands
    before them gets zeros and does not learn.

    ## Cure
    A straight-through estimator, `x + (x.round() - x).detach()`; or a smooth stand-in: `tanh` for `sign`, a sigmoid for
    a step; for draws, the log-probability of what was drawn, or `torch.distributions` with `rsample`.

    ## Known limits
    Silent where code in between isn't known. What leaves the graph altogether (`argmax`, comparisons, casts to
    integers) makes backward raise: TLN104.

    ## References
    - [torch.round](https://docs.pytorch.org/docs/stable/generated/torch.round.html)
    - [derivatives.yaml](https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml): `round`, `sign`
      and the like have the formula `zeros_like(grad)`
    """

    code = "TLN116"
    name = "zero-gradient-operation"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            w = torch.tensor([0.4, 1.6], requires_grad=True)
            quantized = torch.round(w)  # note: the gradient of `round` is zero everywhere
            loss = (quantized - 3).square().sum()
            loss.backward()  # warning: [TLN116]
            """,
            shows=Holds("(w.grad == 0).all()"),
        ),
        Example(
            """
            import torch

            weight = torch.ones(2, requires_grad=True)
            vote = (torch.ones(4, 2) @ weight).sign()  # note: the gradient of `sign` is zero everywhere
            (vote - 1).square().mean().backward()  # warning: [TLN116]
            """,
            shows=Holds("(weight.grad == 0).all()"),
        ),
    )
    good = (
        Example(
            """
            import torch

            w = torch.tensor([0.4, 1.6], requires_grad=True)
            quantized = w + (w.round() - w).detach()  # straight through
            loss = (quantized - 3).square().sum()
            loss.backward()
            phase = w - w.floor()
            phase.sum().backward()
            """
        ),
    )

    def check(self, event: gradients.OnlyZeroGradients) -> Iterator[Diagnostic]:
        name = f"`{event.leaf.name}`" if event.leaf.name else "what it reaches"
        others = event.count - 1
        if others:
            name += f" and {others} other{'s' if others > 1 else ''}"
        message = f"the gradient of {name} is zero: every way back leads through `{event.op}`"
        leaf = event.leaf.name
        claims = (Observed("gradient-zero", leaf),) if leaf else ()
        yield Diagnostic(event.node, message, event.trace, claims=claims)
