from collections.abc import Iterator

from torchlint.fixes.rewrites import shown
from torchlint.model.events import custom
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class IncomingGradientIgnored(Rule):
    """
    The `backward` of a custom Function returns a gradient without using the one it is given.

    ## What it does
    Finds `backward` methods that return something computed from what `ctx` holds, and mention none of their gradient
    arguments; and those that leave out the gradient of one of several outputs, where a backward comes through that
    output.

    ## Why is this bad?
    `backward` has to return the product of the incoming gradient and the derivative. Without the first, a weight on
    the loss (`0.1 * loss`), a mean over micro-batches, or the scale of a `GradScaler` has no effect on what is behind
    the function; torch raises nothing. It is right only where the incoming gradient is 1.

    ## Cure
    Multiply: `return grad_output * ctx.slope`. A loss without dimensions needs it, too.

    ## Known limits
    Silent where `backward` calls other code than torch's, returns only None or zeros, or has a gradient from elsewhere
    (another process, `autograd.grad`); and where `forward` returns what it was given, so that the Function is there for
    nothing but another gradient (a target, say).

    ## References
    - [Extending PyTorch](https://docs.pytorch.org/docs/stable/notes/extending.html): "it should return as many tensors
      as there were inputs, with each of them containing the gradient w.r.t. its corresponding input"
    """

    code = "TLN507"
    name = "incoming-gradient-ignored"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            class SquaredError(torch.autograd.Function):
                @staticmethod
                def forward(ctx, prediction, target):
                    difference = prediction - target
                    ctx.save_for_backward(difference)
                    return difference.square().sum()

                @staticmethod
                def backward(ctx, grad_output):
                    (difference,) = ctx.saved_tensors
                    return 2 * difference, None  # warning: [TLN507]

            x = torch.ones(2, requires_grad=True)
            loss = 0.1 * SquaredError.apply(x, torch.zeros(2))
            loss.backward()
            """,
            shows=Holds("(x.grad == 2).all()"),
        ),
    )
    good = (
        Example(
            """
            import torch

            class SquaredError(torch.autograd.Function):
                @staticmethod
                def forward(ctx, prediction, target):
                    difference = prediction - target
                    ctx.save_for_backward(difference)
                    return difference.square().sum()

                @staticmethod
                def backward(ctx, grad_output):
                    (difference,) = ctx.saved_tensors
                    return grad_output * 2 * difference, None

            x = torch.ones(2, requires_grad=True)
            loss = 0.1 * SquaredError.apply(x, torch.zeros(2))
            loss.backward()
            """
        ),
    )

    def check(self, event: custom.IncomingGradientIgnored) -> Iterator[Diagnostic]:
        assert isinstance(event.node, cst.BaseExpression)
        given = " and ".join(f"`{name}`" for name in event.incoming)
        if event.others:
            message = f"`backward` leaves out {given}, the gradient of an output of `{event.cls}` that is used"
            yield Diagnostic(event.node, message, event.trace)
            return
        message = f"`backward` returns {shown(event.node)} and ignores {given}: right only where that is 1"
        yield Diagnostic(event.node, message, event.trace, claims=(Observed("gradient-ignored"),))
