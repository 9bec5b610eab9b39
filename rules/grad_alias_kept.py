from collections.abc import Iterator

from torchlint.fixes.rewrites import operand
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class GradAliasKept(Rule):
    """
    A gradient is kept without a copy, and written while it is kept.

    ## What it does
    Finds `g = x.grad`, or a list of gradients, where a later backward accumulates into the same tensor, or `zero_()`
    clears it, and `g` is read afterwards.

    ## Why is this bad?
    `x.grad` is the accumulator itself, not a snapshot. The "old" gradient changes with every backward: comparisons of
    before and after compare a tensor with itself.

    ## Cure
    `g = x.grad.clone()`, or `torch.autograd.grad(loss, x)`, which returns a tensor of its own.

    ## Fix safety
    Unsafe: the copy keeps the value it was taken for, where now it follows the gradient.

    ## Known limits
    `zero_grad()` sets `.grad` to None by default and leaves the kept tensor alone: silent.

    ## References
    - [torch.Tensor.grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.grad.html): "future calls to
      backward() will accumulate (add) gradients into it"
    """

    code = "TLN210"
    name = "grad-alias-kept"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            x = torch.tensor(2.0, requires_grad=True)
            (x**2).backward()
            first = x.grad  # warning: [TLN210]
            (x**3).backward()  # note: backward accumulates into it here
            print(first)  # note: `first` is read here
            """,
            shows=Holds("first == 16"),  # and not 4
            fixed="""
            import torch

            x = torch.tensor(2.0, requires_grad=True)
            (x**2).backward()
            first = x.grad.clone()
            (x**3).backward()
            print(first)
            """,
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(torch.ones(1, 2)).sum().backward()
            before = [p.grad for p in model.parameters()]  # warning: [TLN210]
            optimizer.zero_grad(set_to_none=False)
            norms = [g.norm() for g in before]
            """,
            shows=Holds("sum(norms) == 0"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(torch.ones(1, 2)).sum().backward()
            before = [p.grad.clone() for p in model.parameters()]
            optimizer.zero_grad(set_to_none=False)
            norms = [g.norm() for g in before]
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(torch.ones(1, 2)).sum().backward()
            before = model.weight.grad
            optimizer.zero_grad()  # a new gradient from now on
            model(torch.zeros(1, 2)).sum().backward()
            change = model.weight.grad - before
            """
        ),
    )

    def check(self, event: gradients.KeptGradientWritten) -> Iterator[Diagnostic]:
        gradient = f"`{event.owner.name}.grad`" if event.owner.name else "the gradient"
        message = f"`{event.kept}` is {gradient} itself, no copy: {event.written}"
        text = f"{operand(event.node)}.clone()"  # type: ignore[arg-type]
        fix = Fix("copy: append `.clone()`", (Edit(event.node, text),), safe=False)
        claims = (Observed("kept-written", f"{event.owner.name}.grad" if event.owner.name else "", event.kept),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
