from collections.abc import Iterator

from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class ReadBetweenAccumulatingBackwards(Rule):
    """
    A gradient is read after each of two backwards, and nothing resets it in between: the second read is a sum.

    ## What it does
    Finds `x.grad` read after one backward, a second backward that reaches `x` (of another loss, of a rebuilt graph,
    in the next iteration), and `x.grad` read again, without zeroing in between and without an optimizer's step.

    ## Why is this bad?
    `backward` adds to `.grad`. Who reads it after each pass takes it for the gradient of that pass: comparisons fail,
    and a hand-written update runs on the sum of all gradients so far.

    ## Cure
    One of four: keep a clone of the first and subtract it; reset the gradient in between; one backward on the sum of
    the losses; or `torch.autograd.grad(loss, x)`, which returns the gradient and accumulates nothing.

    ## Known limits
    Silent if there is an optimizer that steps (then accumulating may be meant), and where the second read is compared
    with the first.

    ## References
    - [torch.Tensor.backward](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html): "This
      function accumulates gradients in the leaves"
    """

    code = "TLN112"
    name = "read-between-accumulating-backwards"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            x = torch.ones(4, requires_grad=True)
            a, b = (2 * x).sum(), (2 * x).mean()
            b.backward()  # note: this backward adds to `x.grad`
            first = torch.allclose(x.grad, torch.full((4,), 0.5))  # note: `x.grad` is read here
            a.backward()  # note: this backward adds to `x.grad`
            second = torch.allclose(x.grad, torch.full((4,), 2.0))  # warning: [TLN112]
            """,
            shows=Holds("first and not second"),
        ),
        Example(
            """
            import torch

            w = torch.tensor(4.0, requires_grad=True)
            for _ in range(2):
                loss = w**2 / 2
                loss.backward()
                with torch.no_grad():
                    w -= 0.5 * w.grad  # warning: [TLN112]
            """,
            shows=Holds("w == -1"),  # and not 1
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.ones(4, requires_grad=True)
            a, b = (2 * x).sum(), (2 * x).mean()
            b.backward()
            first = x.grad.clone()
            a.backward()
            assert torch.allclose(x.grad - first, torch.full((4,), 2.0))
            (slope,) = torch.autograd.grad((x**2).sum(), x)
            """
        ),
    )

    def check(self, event: gradients.SumOfGradientsRead) -> Iterator[Diagnostic]:
        owner = f"`{event.owner.name}.grad`" if event.owner.name else "a gradient"
        when = "in every iteration" if event.repeated else "after each of two backwards"
        message = f"{owner} is read {when}, and nothing resets it in between: this is the sum of the gradients"
        yield Diagnostic(event.node, message, event.trace, claims=(Observed("gradients-summed", event.owner.name),))
