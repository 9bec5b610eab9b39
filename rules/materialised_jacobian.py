from collections.abc import Iterator

from torchlint.fixes.rewrites import code, shown
from torchlint.model.events import work
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class MaterialisedJacobian(Rule):
    """
    A Jacobian or a Hessian is computed in full, only to be multiplied by a vector.

    ## What it does
    Finds `jacobian(f, x) @ v`, `v @ jacobian(f, x)` and `hessian(f, x) @ v`, with the functions of
    `torch.autograd.functional` and of `torch.func`, where the matrix has no other use and `v` is known to be a vector.

    ## Why is this bad?
    Autograd is an engine for vector-Jacobian products: the matrix costs one backward pass for each of its rows, the
    product costs one in all.

    ## Cure
    `torch.func.vjp` for `v @ J`, `torch.func.jvp` for `J @ v`, `torch.autograd.functional.hvp` for `H @ v`; or
    `torch.autograd.grad(y, x, grad_outputs=v)`.

    ## Fix safety
    Unsafe: `torch.func` wants a function without side effects, and not every operation has a forward-mode formula.

    ## References
    - [torch.func.jvp](https://docs.pytorch.org/docs/stable/generated/torch.func.jvp.html)
    - [torch.autograd.functional.hvp](https://docs.pytorch.org/docs/stable/generated/torch.autograd.functional.hvp.html)
    """

    code = "TLN704"
    name = "materialised-jacobian"
    level = Level.SMELL
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch
            from torch.autograd.functional import jacobian

            passes = []

            def f(x):
                y = x.sin() * x.sum()
                if y.requires_grad:
                    y.register_hook(passes.append)
                return y

            x, v = torch.rand(5), torch.rand(5)
            pulled = v @ jacobian(f, x)  # smell: [TLN704]
            """,
            shows=Holds("len(passes) == 5"),
            fixed="""
            import torch
            from torch.autograd.functional import jacobian

            passes = []

            def f(x):
                y = x.sin() * x.sum()
                if y.requires_grad:
                    y.register_hook(passes.append)
                return y

            x, v = torch.rand(5), torch.rand(5)
            pulled = torch.autograd.functional.vjp(f, x, v)[1]
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch.autograd.functional import jacobian

            def f(x):
                return x.sin() * x.sum()

            x, v = torch.rand(5), torch.rand(5)
            directional = torch.func.jvp(f, (x,), (v,))[1]
            J = jacobian(f, x)  # read as a whole, too
            rank = torch.linalg.matrix_rank(J)
            row = v @ J
            """
        ),
    )

    def check(self, event: work.JacobianMultiplied) -> Iterator[Diagnostic]:
        assert isinstance(event.node, cst.BaseExpression)
        better = "hvp" if event.kind == "hessian" else "vjp" if event.side == "right" else "jvp"
        article = "a Jacobian" if event.kind == "jacobian" else "a Hessian"
        message = (
            f"{shown(event.node)} computes {article} in full, one backward per row, to multiply it by a vector:"
            f" `{better}` costs one"
        )
        yield Diagnostic(event.node, message, event.trace, _fix(event, better), claims=(Observed("cheaper"),))


def _fix(event: work.JacobianMultiplied, better: str) -> Fix | None:
    if not event.nested or event.function is None or event.point is None or "\n" in code(event.node):
        return None
    function, point, vector = code(event.function), code(event.point), code(event.vector)
    if better == "jvp":
        text = f"torch.func.jvp({function}, ({point},), ({vector},))[1]"
    else:
        text = f"torch.autograd.functional.{better}({function}, {point}, {vector})[1]"
    if isinstance(event.node, cst.BaseExpression) and event.node.lpar:
        text = f"({text})"
    return Fix(f"use `{better}`", (Edit(event.node, text),), safe=False, imports=("import torch",))
