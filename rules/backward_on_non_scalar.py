from collections.abc import Iterator

from torchlint.fixes.rewrites import shown
from torchlint.model import events
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule, spelled
from torchlint.truth import Truth


class BackwardOnNonScalar(Rule):
    """
    Backward starts from a tensor with more than one element, and no `gradient=` says how to weigh them.

    ## What it does
    Finds `y.backward()` and `torch.autograd.grad(y, ...)` without `gradient=` / `grad_outputs=` where `y` is known to
    have more (or fewer) than one element: vector outputs, losses with `reduction="none"`.

    ## Why is this bad?
    Autograd computes vector-Jacobian products. For a scalar the vector is 1; for anything else somebody has to give
    it, and torch raises.

    ## Cure
    Reduce first (`y.sum().backward()`, `loss.mean().backward()`, `reduction="mean"`), or pass the vector:
    `y.backward(gradient=torch.ones_like(y))` is the gradient of the sum.

    ## Known limits
    Silent where the shape isn't known: a batch that may have one element is no proof.

    ## References
    - [torch.Tensor.backward](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html)
    """

    code = "TLN103"
    name = "backward-on-non-scalar"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            y = x**2
            y.backward()  # error: [TLN103]
            """,
            shows=Raises("grad can be implicitly created only for scalar outputs"),
        ),
        Example(
            """
            import torch
            import torch.nn.functional as F

            model = torch.nn.Linear(2, 1)
            x, target = torch.ones(5, 2), torch.ones(5, 1)
            loss = F.mse_loss(model(x), target, reduction="none")
            loss.backward()  # error: [TLN103]
            """,
            shows=Raises("grad can be implicitly created only for scalar outputs"),
        ),
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            (slope,) = torch.autograd.grad(torch.sin(x), x)  # error: [TLN103]
            """,
            shows=Raises("grad can be implicitly created only for scalar outputs"),
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            y = x**2
            y.backward(gradient=torch.ones_like(y))
            """
        ),
        Example(
            """
            import torch

            x = torch.ones(1, requires_grad=True)
            y = x**2
            y.backward()  # shape (1,): one element is enough
            """
        ),
    )

    def check(self, event: events.BackwardCalled) -> Iterator[Diagnostic]:
        if event.is_scalar is not Truth.NO or event.gradient_given is not Truth.NO:
            return
        if event.root.requires_grad is Truth.NO:
            return
        argument = "grad_outputs" if event.callee == "autograd.grad" else "gradient"
        if event.callee == "autograd.backward":
            argument = "grad_tensors"
        root = shown(event.root_node, event.root.name)
        shape = f"has shape {_sizes(event.root.shape)}" if event.root.shape is not None else "is no scalar"
        message = f"backward starts from {root}, which {shape}, without `{argument}=`"
        claims = (Raises("grad can be implicitly created only for scalar outputs"),)
        yield Diagnostic(event.node, message + spelled(event.conditions), event.trace, claims=claims)


def _sizes(shape: tuple[int | None, ...]) -> str:
    """As torch writes it: `(3, ?)`, `(5,)`."""
    sizes = ["?" if size is None else str(size) for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"
