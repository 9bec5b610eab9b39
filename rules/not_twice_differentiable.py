from collections.abc import Iterator

from torchlint.fixes.rewrites import code, shown
from torchlint.model.events import custom
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class NotTwiceDifferentiable(Rule):
    """
    The `backward` of a custom Function cannot be differentiated, and does not say so.

    ## What it does
    Finds `backward` methods without `@once_differentiable` that call NumPy, `detach()`, or a compiled kernel, and ones
    that use a saved tensor which is neither an input nor an output of the function.

    ## Why is this bad?
    With `create_graph=True` torch records what `backward` does and differentiates it. What left the graph counts as a
    constant: second derivatives (gradient penalties, Hessians, meta-learning) come out wrong, without an error.

    ## Cure
    `@once_differentiable` makes torch raise instead. Or save only inputs and outputs, and use differentiable
    operations; return an intermediate result as one more output to save it.

    ## Fix safety
    Unsafe: first derivatives stay as they are; second ones raise instead of being wrong, also where the part that is
    wrong does not matter.

    ## Known limits
    Strict: most custom Functions are differentiated once, and their owners shrug (accuracy.md, first readings).
    Compiled kernels are recognised by the name of their module (`_C`, `…_cuda`, `…_ext`) and by `kernel[grid](…)`.

    ## References
    - [Double backward with custom functions](https://docs.pytorch.org/tutorials/intermediate/custom_function_double_backward_tutorial.html)
    """

    code = "TLN506"
    name = "not-twice-differentiable"
    level = Level.STRICT
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            class Cube(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    square = torch.square(x)
                    ctx.save_for_backward(square)  # strict: [TLN506]
                    return square * x

                @staticmethod
                def backward(ctx, grad):
                    (square,) = ctx.saved_tensors
                    return 3 * square * grad

            x = torch.tensor(2.0, requires_grad=True)
            try:
                (slope,) = torch.autograd.grad(Cube.apply(x) ** 2, x, create_graph=True)
                slope.backward()  # should be 30 * x**4 = 480
            except RuntimeError as error:
                print(error)
            """,
            shows=Holds("x.grad is not None and x.grad < 300"),
            fixed="""
            import torch
            from torch.autograd.function import once_differentiable

            class Cube(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    square = torch.square(x)
                    ctx.save_for_backward(square)
                    return square * x

                @staticmethod
                @once_differentiable
                def backward(ctx, grad):
                    (square,) = ctx.saved_tensors
                    return 3 * square * grad

            x = torch.tensor(2.0, requires_grad=True)
            try:
                (slope,) = torch.autograd.grad(Cube.apply(x) ** 2, x, create_graph=True)
                slope.backward()  # should be 30 * x**4 = 480
            except RuntimeError as error:
                print(error)
            """,
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            class Cube(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.save_for_backward(x)
                    return x**3

                @staticmethod
                def backward(ctx, grad):
                    (x,) = ctx.saved_tensors
                    return 3 * x**2 * grad

            x = torch.tensor(2.0, requires_grad=True)
            (slope,) = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
            slope.backward()
            """
        ),
    )

    def check(self, event: custom.BackwardNotDifferentiable) -> Iterator[Diagnostic]:
        assert isinstance(event.node, cst.BaseExpression)
        if event.how == "intermediate":
            what = f"{shown(event.node)} is neither input nor output"
        else:
            what = f"{shown(event.node)} leaves the graph"
        message = f"{what}: second derivatives are silently wrong without `@once_differentiable`"
        claims = (Observed("second-derivative-wrong"),)
        yield Diagnostic(event.node, message, event.trace, _fix(event.definition), claims=claims)


def _fix(backward: cst.FunctionDef) -> Fix | None:
    if not backward.decorators:
        return None
    last = backward.decorators[-1].decorator
    edit = Edit(last, f"{code(last)}\n@once_differentiable")
    imports = ("from torch.autograd.function import once_differentiable",)
    return Fix("declare it `once_differentiable`", (edit,), safe=False, imports=imports)
