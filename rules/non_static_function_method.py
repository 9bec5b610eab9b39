from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import custom
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Raises, Rule
from torchlint.syntax import cst


class NonStaticFunctionMethod(Rule):
    """
    A custom Function is written in the old style: without `@staticmethod`, or called as an object.

    ## What it does
    Finds objects of an `autograd.Function` that are called, `MyFunction()(x)`, a `forward` without its context, and
    classes with a `forward` or `backward` that isn't static: one finding each, of a called object the call alone.

    ## Why is this bad?
    Torch refuses to call an object of a Function. With `apply`, methods without `@staticmethod` still work, because
    torch looks them up on the class: but their `self` is the context then, which has nothing of what `__init__` has
    set. Where they read something of that and the file uses the class, it's a smell; a class that nothing in its file
    uses, and methods that are right as they stand, are strict.

    ## Cure
    `@staticmethod` on both methods, `MyFunction.apply(x)` to call it.

    ## Fix safety
    Unsafe: for a call, what the constructor was given must become arguments of `apply`; a static method can no longer
    be called on an object.

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

            class Scale(torch.autograd.Function):
                def __init__(self, factor):
                    self.factor = factor

                def forward(self, x):  # smell: [TLN502]
                    return self.factor * x

                def backward(self, grad):
                    return self.factor * grad

            y = Scale.apply(torch.ones(2, requires_grad=True))
            """,
            shows=Raises("object has no attribute 'factor'"),
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
            if not event.called:
                yield _not_static(event)
            return
        message = f"torch refuses to call an object of the Function `{event.cls}`: use `{event.cls}.apply`"
        says = "required positional argument" if event.bare else "Legacy autograd function with non-static forward"
        if event.bare:
            message = f"`{event.cls}.forward` is called without its context: use `{event.cls}.apply`"
        message += "".join(f", with `{each}`" for each in event.missing)
        yield Diagnostic(event.node, message, event.trace, _applied(event), claims=(Raises(says),))


def _not_static(event: custom.FunctionMethodNotStatic) -> Diagnostic:
    names = " and ".join(f"`{each.name.value}`" for each in event.definitions)
    no = "is no static method" if len(event.definitions) == 1 else "are no static methods"
    message = f"{names} of `{event.cls}` {no}: "
    message += f"`apply` gives them a context without `{event.reads}`" if event.reads else "`apply` works even so"
    message += ", and torch refuses to call an object of the class"
    claims = tuple(Raises(each, here=False) for each in ("Legacy autograd function", "object has no attribute"))
    level = Level.SMELL if event.named and event.reads else Level.STRICT
    fix = Fix("make it static", tuple(map(_static, event.definitions)), safe=False) if not event.reads else None
    return Diagnostic(event.node, message, event.trace, fix, level, claims=claims)


def _static(method: cst.FunctionDef) -> Edit:
    if method.decorators:
        first = method.decorators[0].decorator
        return Edit(first, f"staticmethod\n@{code(first)}")
    return Edit(method, "@staticmethod", before=True)


def _applied(event: custom.FunctionInstanceCalled) -> Fix | None:
    made = event.call.func
    inner = made.value if event.bare and isinstance(made, cst.Attribute) else None
    inner = made.func if isinstance(made, cst.Call) and not (made.args or event.missing) else inner
    edits = (Edit(made, f"{code(inner)}.apply"),) if inner is not None else ()
    return Fix(f"call `{event.cls}.apply`", edits, safe=False) if edits else None
