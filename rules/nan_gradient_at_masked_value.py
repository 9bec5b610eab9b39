from collections.abc import Iterator

from torchlint.fixes.rewrites import shown
from torchlint.model.events import numerics
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule, spelled


class NanGradientAtMaskedValue(Rule):
    """
    A singular value is masked after it was computed: the result is right, and the gradient is NaN.

    ## What it does
    Finds `torch.where(x > 0, f(x), …)` and `f(x).masked_fill(x == 0, …)` with a mask that tests `x` itself, and an `f`
    that is infinite, or has an infinite derivative, at a point that the mask drops: `sqrt`, `log`, `1 / x`, `acos`, ….
    And a `sqrt` or `** 0.5` that a backward comes through, of what is certainly zero somewhere: fresh zeros, or the
    differences of all pairs, `x[:, None] - x[None]`, where each row meets itself.

    ## Why is this bad?
    The backward of `where` hands a gradient of 0 to what it dropped, and `f` multiplies it by its derivative there: 0
    times infinity is NaN. One masked element makes the gradients of all parameters NaN. Distances of all pairs have
    zeros on their diagonal, and it does not help to drop them afterwards.

    ## Cure
    Mask the input too: `safe = torch.where(x > 0, x, 1.0)`, then `torch.where(x > 0, f(safe), 0.0)`. Of distances:
    `torch.cdist`, `torch.linalg.vector_norm` (their gradient is 0 at zero), or `(squares + eps).sqrt()`.

    ## Known limits
    The mask must compare the very tensor that `f` is applied to with a number. Of zeros only those are known that no
    rounding decides: `|x|² + |y|² - 2xy` is not.

    ## References
    - [Autograd mechanics](https://docs.pytorch.org/docs/stable/notes/autograd.html#gradients-for-non-differentiable-functions)
    - [pytorch#68425](https://github.com/pytorch/pytorch/issues/68425): the gradient of `torch.where`
    """

    code = "TLN604"
    name = "nan-gradient-at-masked-value"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            x = torch.tensor([0.0, 4.0], requires_grad=True)
            y = torch.where(x > 0, torch.sqrt(x), torch.zeros_like(x))  # warning: [TLN604]
            y.sum().backward()
            """,
            shows=Holds("x.grad.isnan().any()"),
        ),
        Example(
            """
            import torch

            w = torch.tensor([0.0, 2.0], requires_grad=True)
            scale = w * 3
            inverse = (1 / scale).masked_fill(scale == 0, 0.0)  # warning: [TLN604]
            inverse.sum().backward()
            """,
            shows=Holds("w.grad.isnan().any()"),
        ),
        Example(
            """
            import torch

            points = torch.ones(3, 2, requires_grad=True)
            gaps = points[:, None] - points[None]
            distances = gaps.square().sum(-1).sqrt()  # warning: [TLN604]
            distances.triu(1).sum().backward()
            """,
            shows=Holds("points.grad.isnan().any()"),
        ),
    )
    good = (
        Example(
            """
            import torch

            points = torch.ones(3, 2, requires_grad=True)
            gaps = points[:, None] - points[None]
            near = (gaps.square().sum(-1) + 1e-12).sqrt()
            far = torch.linalg.vector_norm(gaps, dim=-1)
            (near + far).sum().backward()
            """
        ),
        Example(
            """
            import torch

            x = torch.tensor([0.0, 4.0], requires_grad=True)
            safe = torch.where(x > 0, x, torch.ones_like(x))
            y = torch.where(x > 0, torch.sqrt(safe), torch.zeros_like(x))
            z = torch.where(x > 1, torch.exp(x), x)
            (y + z).sum().backward()
            """
        ),
    )

    def check(self, event: numerics.MaskedSingularity | numerics.DifferentiatedAtZero) -> Iterator[Diagnostic]:
        if isinstance(event, numerics.DifferentiatedAtZero):
            where = "where an index meets itself" if event.how == "itself" else "where nothing has been written yet"
            message = f"the root of what is zero {where}: its gradient is infinite or NaN there, masked or not"
            yield Diagnostic(event.node, message, event.trace, claims=(Observed("gradient-not-a-number"),))
            return
        message = (
            f"`{event.how}` drops {shown(event.computed)} where it is singular; its gradient is NaN there all the same"
            f"{spelled(event.conditions)}: mask {shown(event.operand, limit=20)} before"
        )
        yield Diagnostic(event.node, message, event.trace, claims=(Observed("gradient-not-a-number"),))
