from collections.abc import Iterator

import libcst as cst

from torchlint.fixes.rewrites import code
from torchlint.model.events import custom
from torchlint.rule import Claim, Diagnostic, Edit, Example, Fix, Level, Raises, Rule


class NonStaticFunctionMethod(Rule):
    """
    A custom Function is written in the old style: without `@staticmethod`, or called as an object.

    ## What it does
    Finds `forward` and `backward` of an `autograd.Function` that aren't static methods, and objects of such a class
    that are called, `MyFunction()(x)`.

    ## Why is this bad?
    Torch refuses to run an object of a Function. With `apply` a method without `@staticmethod` still works, by luck:
    torch looks it up on the class.

    ## Cure
    `@staticmethod` on both methods, `MyFunction.apply(x)` to call it.

    ## Fix safety
    Unsafe: for a call, what the constructor was given must become arguments of `apply`; a static method can no longer
    be called on an object, and one that reads attributes of `self` finds none of them on its context.

    ## References
    - [torch.autograd.Function](https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.Function): "To create
      a custom autograd.Function, subclass this class and implement the `forward` and `backward` static methods. …
      Do not instantiate"
    """

    code = "TLN502"
    name = "non-static-function-method"
    level = Level.ERROR
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            class Double(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return 2 * x

                @staticmethod
                def backward(ctx, grad):
                    return 2 * grad

            y = Double()(torch.ones(2, requires_grad=True))  # error: [TLN502]
            """,
            shows=Raises("Legacy autograd function with non-static forward method is deprecated"),
            fixed="""
            import torch

            class Double(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return 2 * x

                @staticmethod
                def backward(ctx, grad):
                    return 2 * grad

            y = Double.apply(torch.ones(2, requires_grad=True))
            """,
        ),
        Example(
            """
            import torch

            class Double(torch.autograd.Function):
                def forward(self, x):  # smell: [TLN502]
                    return 2 * x

                @staticmethod
                def backward(ctx, grad):
                    return 2 * grad

            y = Double()(torch.ones(2, requires_grad=True))  # error: [TLN502]
            """,
            shows=Raises("Legacy autograd function with non-static forward method is deprecated"),
            fixed="""
            import torch

            class Double(torch.autograd.Function):
                @staticmethod
                def forward(self, x):
                    return 2 * x

                @staticmethod
                def backward(ctx, grad):
                    return 2 * grad

            y = Double.apply(torch.ones(2, requires_grad=True))
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            class Double(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return 2 * x

                @staticmethod
                def backward(ctx, grad):
                    return 2 * grad

            double = Double.apply
            y = double(torch.ones(2, requires_grad=True))
            """
        ),
    )

    def check(self, event: custom.FunctionMethodNotStatic | custom.FunctionInstanceCalled) -> Iterator[Diagnostic]:
        if isinstance(event, custom.FunctionMethodNotStatic):
            message = f"`{event.cls}.{event.method}` must be a static method: torch makes no object to call it on"
            refusals = ("Legacy autograd function", "positional argument")
            claims: tuple[Claim, ...] = tuple(Raises(message, here=False) for message in refusals)
            level = Level.SMELL if event.named else Level.STRICT
            yield Diagnostic(event.node, message, event.trace, _static(event.definition), level, claims=claims)
            return
        message = f"torch refuses to call an object of the Function `{event.cls}`: use `{event.cls}.apply`"
        claims = (Raises("Legacy autograd function with non-static forward method"),)
        yield Diagnostic(event.node, message, event.trace, _applied(event), claims=claims)


def _static(method: cst.FunctionDef) -> Fix:
    title = "make it a static method"
    if method.decorators:
        first = method.decorators[0].decorator
        return Fix(title, (Edit(first, f"staticmethod\n@{code(first)}"),), safe=False)
    return Fix(title, (Edit(method, "@staticmethod", before=True),), safe=False)


def _applied(event: custom.FunctionInstanceCalled) -> Fix | None:
    made = event.call.func
    if not isinstance(made, cst.Call) or made.args:
        return None
    edit = Edit(made, f"{code(made.func)}.apply")
    return Fix(f"call `{event.cls}.apply`", (edit,), safe=False)
