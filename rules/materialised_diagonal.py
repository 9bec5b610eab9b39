from collections.abc import Iterator

from torchlint.fixes.rewrites import code, operand, shown
from torchlint.model.events import work
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class MaterialisedDiagonal(Rule):
    """
    A diagonal matrix is built in full, only to be multiplied.

    ## What it does
    Finds products in which a factor is `torch.diag(d)`, `torch.diag_embed(d)` or `torch.eye(n) * d`, in the product
    itself or under a name that is read in such products alone.

    ## Why is this bad?
    The matrix has n² elements, n of them other than zero; the product takes n times the operations, and autograd keeps
    all of it for the backward pass.

    ## Cure
    Scale the rows, `d.unsqueeze(-1) * A`, or the columns, `A * d`.

    ## Fix safety
    Unsafe: the same numbers as long as they're finite (`0 * inf` is NaN); under `torch.autocast` a product of matrices
    is computed in half precision, a product of elements is not.

    ## Known limits
    With `--strict` only: of eight in code that nobody had looked at, readers found one worth it, as most run once,
    beside a decomposition that costs more. Silent where `d` isn't known to be a vector: of a matrix, `torch.diag` takes
    the diagonal.

    ## References
    - [torch.diag](https://docs.pytorch.org/docs/stable/generated/torch.diag.html)
    """

    code = "TLN703"
    name = "materialised-diagonal"
    level = Level.STRICT
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            d = torch.rand(50, requires_grad=True)
            scaled = torch.diag(d) @ torch.rand(50, 3)  # strict: [TLN703]
            product = scaled.grad_fn.name()
            """,
            shows=Holds("product == 'MmBackward0'"),
            strict=True,
            fixed="""
            import torch

            d = torch.rand(50, requires_grad=True)
            scaled = d.unsqueeze(-1) * torch.rand(50, 3)
            product = scaled.grad_fn.name()
            """,
        ),
        Example(
            """
            import torch

            x = torch.rand(60, 40, requires_grad=True)
            u, s, vh = torch.linalg.svd(x, full_matrices=False)
            scaled = u @ torch.diag(s)  # strict: [TLN703]
            product = scaled.grad_fn.name()
            """,
            shows=Holds("product == 'MmBackward0'"),
            strict=True,
            fixed="""
            import torch

            x = torch.rand(60, 40, requires_grad=True)
            u, s, vh = torch.linalg.svd(x, full_matrices=False)
            scaled = u * s
            product = scaled.grad_fn.name()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            d, A = torch.rand(50), torch.rand(50, 3)
            scaled = d.unsqueeze(-1) * A
            covariance = A @ A.T + torch.diag(d)  # a sum needs the matrix
            middle = torch.diag(A @ A.T) @ A  # the diagonal of a matrix, a vector
            """
        ),
    )

    def check(self, event: work.DiagonalMultiplied) -> Iterator[Diagnostic]:
        text = _scaled(event)
        size = f"{event.size:,}×{event.size:,}" if event.size else "whole"
        plain = text if text is not None and "\n" not in text and len(text) <= 50 else None
        cure = f"`{plain}` gives the same" if plain else "scale the rows or columns instead"
        message = f"{shown(event.built)} builds a {size} matrix to multiply with its diagonal: {cure}"
        fix = None
        if text is not None and event.nested and isinstance(event.node, cst.BaseExpression) and not _laid_out(event):
            fix = Fix("scale instead of multiplying matrices", (Edit(event.node, text),), safe=False)
        claims = (Observed("cheaper", other=f"({text})" if text is not None and event.node is not event.built else ""),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)


def _laid_out(event: work.DiagonalMultiplied) -> bool:
    """Whether the product is laid out over lines, where a text of one line would not keep it so."""
    return "\n" in code(event.node)


def _scaled(event: work.DiagonalMultiplied) -> str | None:
    diagonal, other = operand(event.diagonal), operand(event.other)
    if event.diagonal_rank == 0:
        return f"{diagonal} * {other}" if event.side == "left" else f"{other} * {diagonal}"
    if event.other_rank is None:
        # a vector or a matrix times a diagonal matrix scales its last dimension either way
        return f"{other} * {diagonal}" if event.side == "right" and event.diagonal_rank == 1 else None
    if event.other_rank == 1:
        return f"{diagonal} * {other}" if event.diagonal_rank == 1 else None
    if event.side == "left":
        return f"{diagonal}.unsqueeze(-1) * {other}"
    return f"{other} * {diagonal}" if event.diagonal_rank == 1 else f"{other} * {diagonal}.unsqueeze(-2)"
