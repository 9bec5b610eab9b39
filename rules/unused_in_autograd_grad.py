from collections.abc import Iterator

from torchlint.model import events
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule
from torchlint.truth import Truth


class UnusedInAutogradGrad(Rule):
    """
    A gradient is asked for of something that the output doesn't depend on.

    ## What it does
    Finds `torch.autograd.grad(y, x)`, without `allow_unused=True`, where `y` is not computed from this very `x`, or
    where `x` doesn't require grad.

    ## Why is this bad?
    Torch raises. Mostly the tensor is a copy, a slice or a view made beside the computation: `net(points)` depends on
    `points`, not on the column `t = points[:, :1]` that was cut from it.

    ## Cure
    Compute the output from the tensor whose gradient is wanted: slice first, then join, `net(torch.cat([t, x], 1))`;
    or take the gradient of the whole and slice that.

    ## Known limits
    Silent where an operation between the two isn't known.

    ## References
    - [torch.autograd.grad](https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html)
    """

    code = "TLN113"
    name = "unused-in-autograd-grad"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch

            net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
            points = torch.rand(16, 2, requires_grad=True)
            t = points[:, :1]
            u = net(points)
            (u_t,) = torch.autograd.grad(u.sum(), t)  # error: [TLN113]
            """,
            shows=Raises("appears to not have been used in the graph"),
        ),
        Example(
            """
            import torch

            image = torch.rand(3, 8, 8)
            score = torch.nn.Conv2d(3, 1, 8)(image).sum()
            saliency = torch.autograd.grad(score, image)  # error: [TLN113]
            """,
            shows=Raises("One of the differentiated Tensors does not require grad"),
        ),
    )
    good = (
        Example(
            """
            import torch

            net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
            t = torch.rand(16, 1, requires_grad=True)
            x = torch.rand(16, 1, requires_grad=True)
            u = net(torch.cat([t, x], dim=1))
            u_t, u_x = torch.autograd.grad(u.sum(), (t, x))
            """
        ),
    )

    def check(self, event: events.AutogradRefused) -> Iterator[Diagnostic]:
        if event.kind != "unused":
            return
        name = f"`{event.target.name}`" if event.target.name else "an input"
        if event.target.requires_grad is Truth.NO:
            message = f"{name} doesn't require grad: there is no gradient with respect to it"
        else:
            message = f"the output isn't computed from {name}: it has no gradient with respect to it"
        claims = (
            Raises("appears to not have been used in the graph"),
            Raises("One of the differentiated Tensors does not require grad"),
        )
        yield Diagnostic(event.node, message, event.trace, claims=claims)
