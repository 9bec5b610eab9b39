from collections.abc import Iterator

from torchlint.model.events import custom
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule


class WrongNumberOfGradients(Rule):
    """
    The `backward` of a custom Function does not return one value for each input of its `forward`.

    ## What it does
    Counts what each `return` of `backward` gives, and what `forward` takes beside `ctx`. Surplus values at the end may
    be `None`; inputs with a default, and those that go into `*args`, are counted where `apply` is called. A `backward`
    that computes something of the gradients it is given and has no `return` gives nothing.

    ## Why is this bad?
    Torch matches gradients and inputs by their position, and raises when their numbers differ.

    ## Cure
    Return `None` for each input that isn't a tensor: `return grad_x, None`.

    ## Known limits
    Silent where the number of returned values isn't known, and where `backward` never returns more than `None`: a
    Function whose results are indices has no derivative, and torch doesn't call it.

    ## References
    - [torch.autograd.Function.backward](https://docs.pytorch.org/docs/stable/generated/torch.autograd.Function.backward.html):
      "it should return as many tensors, as there were inputs to forward()"
    """

    code = "TLN503"
    name = "wrong-number-of-gradients"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch

            class Scale(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, factor):
                    ctx.factor = factor
                    return x * factor

                @staticmethod
                def backward(ctx, grad):
                    return grad * ctx.factor  # error: [TLN503]

            Scale.apply(torch.ones(2, requires_grad=True), 3.0).sum().backward()
            """,
            shows=Raises("returned an incorrect number of gradients (expected 2, got 1)"),
        ),
    )
    good = (
        Example(
            """
            import torch

            class Scale(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, factor, offset=0.0):
                    ctx.factor = factor
                    return x * factor + offset

                @staticmethod
                def backward(ctx, grad):
                    return grad * ctx.factor, None, None

            Scale.apply(torch.ones(2, requires_grad=True), 3.0).sum().backward()
            """
        ),
    )

    def check(self, event: custom.GradientsReturned) -> Iterator[Diagnostic]:
        if event.fits and not event.nothing:
            return
        if event.fits:
            message = f"`{event.cls}.backward` computes a gradient and returns nothing: its input gets none"
            yield Diagnostic(event.node, message, event.trace, level=Level.WARNING)
            return
        returned = "nothing" if event.nothing else "one value" if event.count == 1 else f"{event.count} values"
        wanted = f"{event.least}" if event.least == event.most else f"{event.least} to {event.most}"
        inputs = "input" if wanted == "1" else "inputs"
        takes = "`apply` is given" if event.applied is not None else "`forward` takes"
        message = f"`{event.cls}.backward` returns {returned}, and {takes} {wanted} {inputs}"
        claims = (Raises(f"{event.cls}Backward returned an incorrect number of gradients", here=False),)
        yield Diagnostic(event.node, message, event.trace, claims=claims)
