from collections.abc import Iterator

from torchlint.model import events
from torchlint.model.events import writes
from torchlint.rule import Claim, Diagnostic, Example, Holds, Level, Observed, Raises, Rule


class StepBetweenForwardAndBackward(Rule):
    """
    An optimizer steps between a forward and its backward.

    ## What it does
    Finds `optimizer.step()` (or another update of a parameter in place) after a forward that used the parameters, and
    before a backward through it: the generator's loss computed before the discriminator's step, actor and critic, two
    losses of one forward. Of a network that is an argument the layers aren't known: that is a warning, and says so.

    ## Why is this bad?
    The step overwrites the weights that the layers saved: with two or more layers the backward raises. With a single
    layer that didn't need its weight for backward nothing raises, and the gradient is that of the weights before the
    step: silently wrong, reported as a warning.

    ## Cure
    Backward first, then step: `zero_grad`, all backwards, all steps. Or compute the second loss anew after the first
    step. `detach()` what shall not be trained by the second loss.

    ## Known limits
    Silent where the optimizer isn't known to hold the parameters, or isn't known to have gradients for them. A given
    network is followed through functions of torch, other networks and what is called a loss or a criterion, and by an
    optimizer built over `network.parameters()` alone.

    ## References
    - [In-place correctness
      checks](https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks)
    - [torch.optim](https://docs.pytorch.org/docs/stable/optim.html#taking-an-optimization-step)
    """

    code = "TLN202"
    name = "step-between-forward-and-backward"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch
            from torch import nn

            critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
            optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
            real, fake = critic(torch.ones(4, 2)), critic(torch.zeros(4, 2))
            real.mean().backward()
            optimizer.step()  # error: [TLN202]
            fake.mean().backward()
            """,
            shows=Raises("modified by an inplace operation"),
        ),
        Example(
            """
            import torch

            layer = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
            x = torch.ones(4, 2)
            first, second = layer(x).pow(2).mean(), layer(x).pow(2).mean()
            first.backward()
            optimizer.step()  # warning: [TLN202]
            optimizer.zero_grad()
            second.backward()
            stale = layer.weight.grad.clone()
            layer.zero_grad()
            layer(x).pow(2).mean().backward()
            """,
            shows=Holds("not torch.allclose(stale, layer.weight.grad)"),
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch import nn

            critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
            optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
            for batch in torch.ones(2, 4, 2):
                optimizer.zero_grad()
                critic(batch).mean().backward()
                optimizer.step()
            """
        ),
    )

    def check(
        self, event: events.SavedTensorRead | writes.StaleGradient | writes.GivenNetworkStepped
    ) -> Iterator[Diagnostic]:
        if isinstance(event, writes.GivenNetworkStepped):
            message = (
                f"`step()` overwrites the weights that a call of `{event.network}` saved for a backward still to come, "
                "if it has more than one layer"
            )
            claims: tuple[Claim, ...] = (Raises("modified by an inplace operation", here=False),)
            yield Diagnostic(event.node, message, event.trace, level=Level.WARNING, claims=claims)
        elif isinstance(event, writes.StaleGradient):
            leaf = f"`{event.leaf.name}`" if event.leaf.name else "a parameter"
            message = f"`{event.op}` updates {leaf} between a forward and its backward: the gradient is the old one's"
            claims = (Observed("gradient-of-old-value", event.leaf.name),)
            yield Diagnostic(event.node, message, event.trace, level=Level.WARNING, claims=claims)
        elif event.spelling == "optimizer":
            saved = f"`{event.name}`" if event.name else "a parameter"
            message = f"`{event.write_op}` overwrites {saved}, which `{event.saver}` saved for a backward still to come"
            claims = (Raises("modified by an inplace operation", here=False),)
            yield Diagnostic(event.node, message, event.trace, claims=claims)
