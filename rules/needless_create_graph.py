from collections.abc import Iterator

from torchlint.fixes.rewrites import without_argument
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class NeedlessCreateGraph(Rule):
    """
    A graph of the gradients is created, and nobody differentiates them.

    ## What it does
    Finds `create_graph=True` where no later backward goes through the gradients, and none reads the graph again.

    ## Why is this bad?
    The backward pass itself is recorded, and everything it computes is kept in memory. With
    `.backward(create_graph=True)` the gradients in `.grad` refer to the parameters, and these to their gradients: a
    cycle that is freed late or never.

    ## Cure
    Leave it out. For second derivatives, use `torch.autograd.grad`, which leaves `.grad` alone.

    ## Fix safety
    Unsafe: the argument retains the graph as well, gradients are printed with their `grad_fn`, and code that is not in
    sight may differentiate them.

    ## Known limits
    Silent where the gradients are returned, kept on an object, or handed to other code, hooks among it.

    ## References
    - [torch.autograd.grad](https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html)
    - [torch.Tensor.backward](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html)
    """

    code = "TLN108"
    name = "needless-create-graph"
    level = Level.STRICT
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            x = torch.rand(3, requires_grad=True)
            (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)  # strict: [TLN108]
            print(slope)
            """,
            shows=Holds("slope.grad_fn is not None"),
            fixed="""
            import torch

            x = torch.rand(3, requires_grad=True)
            (slope,) = torch.autograd.grad((x**3).sum(), x)
            print(slope)
            """,
            strict=True,
        ),
        Example(
            """
            import torch

            w = torch.rand(3, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            (w**3).sum().backward(create_graph=True)  # strict: [TLN108]
            optimizer.step()
            """,
            shows=Holds("w.grad.grad_fn is not None"),
            fixed="""
            import torch

            w = torch.rand(3, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            (w**3).sum().backward()
            optimizer.step()
            """,
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.rand(3, requires_grad=True)
            (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
            (curvature,) = torch.autograd.grad(slope.sum(), x)
            """
        ),
    )

    def check(self, event: gradients.CreatedGraphUnused) -> Iterator[Diagnostic]:
        message = "`create_graph=True` records the backward pass, and nobody differentiates the gradients"
        if event.accumulated:
            message += "; in `.grad` they form a cycle with their parameters"
        text = without_argument(event.call, event.argument)
        fix = Fix("remove `create_graph=True`", (Edit(event.call, text),), safe=False) if text is not None else None
        claims = (Observed("argument-needless", "create_graph"),)
        yield Diagnostic(event.argument, message, event.trace, fix, claims=claims)
