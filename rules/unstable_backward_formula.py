from collections.abc import Iterator

from torchlint.fixes.rewrites import shown
from torchlint.model.events import custom
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class UnstableBackwardFormula(Rule):
    """
    The `backward` of a custom Function rebuilds a factor of the derivative from the saved result.

    ## What it does
    Finds, in `backward`, a saved result that is divided by another saved tensor (`result / a`), and `sqrt(1 - s * s)`
    of something computed from the saved result.

    ## Why is this bad?
    `a * b / a` is `b` on paper. Where `a` is 0 it is NaN, where `a` is small it has no digits left. And a root has lost
    the sign: `sqrt(1 - sin(b)**2)` is the cosine's absolute value; a sign put back by comparing `b` with a bound is
    right in that range only.

    ## Cure
    Save the inputs, and compute the derivative from them. `torch.autograd.gradcheck` over a wide range of inputs shows
    whether it's right.

    ## Known limits
    A derivative that really has a quotient or a root (`asin`, `sqrt`) of the inputs is fine.

    ## References
    - [torch.autograd.gradcheck](https://docs.pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html)
    """

    code = "TLN505"
    name = "unstable-backward-formula"
    level = Level.SMELL
    bad = (
        Example(
            """
            import math
            import torch

            class ScaledSine(torch.autograd.Function):
                @staticmethod
                def forward(ctx, a, b):
                    result = a * torch.sin(b)
                    ctx.save_for_backward(a, b, result)
                    return result

                @staticmethod
                def backward(ctx, grad):
                    a, b, result = ctx.saved_tensors
                    sine = result / a  # smell: [TLN505]
                    cosine = torch.sqrt(1 - sine * sine)  # smell: [TLN505]
                    cosine = torch.where(b.abs() < math.pi / 2, cosine, -cosine)
                    return grad * sine, grad * a * cosine

            a = torch.tensor(2.0, requires_grad=True)
            b = torch.tensor(5.0, requires_grad=True)
            ScaledSine.apply(a, b).backward()
            """,
            shows=Holds("abs(b.grad - a * b.cos()) > 1 and (0 * a / (0 * a)).isnan()"),
        ),
    )
    good = (
        Example(
            """
            import torch

            class ScaledSine(torch.autograd.Function):
                @staticmethod
                def forward(ctx, a, b):
                    ctx.save_for_backward(a, b)
                    return a * torch.sin(b)

                @staticmethod
                def backward(ctx, grad):
                    a, b = ctx.saved_tensors
                    return grad * torch.sin(b), grad * a * torch.cos(b)

            a = torch.tensor(2.0, requires_grad=True, dtype=torch.float64)
            b = torch.tensor(5.0, requires_grad=True, dtype=torch.float64)
            torch.autograd.gradcheck(ScaledSine.apply, (a, b))
            """
        ),
    )

    def check(self, event: custom.DerivativeRebuilt) -> Iterator[Diagnostic]:
        assert isinstance(event.node, cst.BaseExpression)
        if event.how == "division":
            why = "divides the saved result by a saved tensor: NaN where that is 0, and inexact near it"
        else:
            why = "rebuilds a factor from the saved result: the root has lost its sign"
        claims = (Observed("derivative-wrong"),)
        yield Diagnostic(event.node, f"{shown(event.node)} {why}", event.trace, claims=claims)
