from collections.abc import Iterator
from functools import partial

from torchlint.fixes.rewrites import code, shown
from torchlint.model.events import custom
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class TensorKeptOnCtx(Rule):
    """
    A custom Function keeps a tensor as an attribute of `ctx` instead of saving it for backward.

    ## What it does
    Finds `ctx.x = x` in `forward` of an `autograd.Function`, where `x` is an input or an output of the function.
    Numbers, shapes and flags belong there and are fine. An input that nothing in sight writes after the call, and a
    tensor that `forward` itself has made and doesn't return, are reported with `--strict` only.

    ## Why is this bad?
    Torch checks saved tensors: one that is modified between forward and backward raises. Of an attribute it knows
    nothing, and the gradient is silently wrong. An output kept this way holds its own graph: a reference cycle, whose
    memory stays until the garbage collector comes by. Hooks on saved tensors (offloading) don't see it either.

    ## Cure
    `ctx.save_for_backward(x)` in `forward`, `ctx.saved_tensors` in `backward`.

    ## Fix safety
    Unsafe: it is the same tensor, checked: a write that went unseen raises, and so does a second backward without
    `retain_graph=True`. Offered where it is the only tensor kept.

    ## Known limits
    An input counts as a tensor if it is annotated, or used as only tensors can be.

    ## References
    - [Extending PyTorch](https://docs.pytorch.org/docs/stable/notes/extending.html): "Tensors should not be stored
      directly on ctx"
    """

    code = "TLN501"
    name = "tensor-kept-on-ctx"
    level = Level.WARNING
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            class Square(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.x = x  # warning: [TLN501]
                    return x.square()

                @staticmethod
                def backward(ctx, grad):
                    return 2 * ctx.x * grad

            w = torch.ones(2, requires_grad=True)
            h = w * 3
            y = Square.apply(h)
            with torch.no_grad():
                h.zero_()
            try:
                y.sum().backward()
            except RuntimeError as error:
                print(error)
            """,
            shows=Holds("w.grad is not None and w.grad.sum() == 0"),
            fixed="""
            import torch

            class Square(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.save_for_backward(x)
                    return x.square()

                @staticmethod
                def backward(ctx, grad):
                    return 2 * ctx.saved_tensors[0] * grad

            w = torch.ones(2, requires_grad=True)
            h = w * 3
            y = Square.apply(h)
            with torch.no_grad():
                h.zero_()
            try:
                y.sum().backward()
            except RuntimeError as error:
                print(error)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            class Power(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, exponent):
                    ctx.save_for_backward(x)
                    ctx.exponent = exponent
                    ctx.shape = x.shape
                    return x**exponent

                @staticmethod
                def backward(ctx, grad):
                    (x,) = ctx.saved_tensors
                    return grad * ctx.exponent * x ** (ctx.exponent - 1), None

            Power.apply(torch.rand(3, requires_grad=True), 3).sum().backward()
            """
        ),
    )

    def check(self, event: custom.TensorKeptOnContext) -> Iterator[Diagnostic]:
        kept = f"`{event.context}.{event.attribute}`"
        why = {
            "input": "a write to it before the backward goes unseen",
            "output": "its graph holds itself alive, and a write to it goes unseen",
            "intermediate": "hooks on saved tensors do not see it",
        }[event.what]
        if event.written:
            why = "the write to it goes unseen, and the gradient is computed from the new value"
        message = f"{kept} keeps {shown(event.value)}, an {event.what} of `forward`: {why}"
        attribute = f"{event.context}.{event.attribute}"
        claims = (Observed("kept-on-context", attribute, "written" if event.written else event.what),)
        harms = event.what == "output" or event.written  # a cycle, or a write in sight
        level = Level.WARNING if harms else Level.STRICT
        yield Diagnostic(event.node, message, event.trace, partial(_fix, event), level, claims=claims)


def _fix(event: custom.TensorKeptOnContext) -> Fix | None:
    line = event.statement
    if event.saves or not event.reads or not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return None
    saving = Edit(line, f"{event.context}.save_for_backward({code(event.value)})")
    contexts = {code(read).partition(".")[0] for read in event.reads}
    reading = [Edit(read, f"{contexts.copy().pop()}.saved_tensors[0]") for read in event.reads]
    return Fix("save it for backward", (saving, *reading), safe=False)
