from collections.abc import Iterator

from torchlint.model.events import custom
from torchlint.rule import Claim, Diagnostic, Example, Holds, Level, Observed, Rule


class UndeclaredInPlace(Rule):
    """
    A custom Function modifies in place a tensor that it was given.

    ## What it does
    Finds in-place operations in `forward` on an input where `ctx.mark_dirty` isn't called, and in `backward` on the
    incoming gradient or on a saved tensor. One finding per method for each of the three: further writes are counted.

    ## Why is this bad?
    The caller's tensor has other values, and autograd takes them for the old ones: whatever else reads it gets wrong
    gradients, without an error, and a backward that saved it raises. The incoming
    gradient may be on its way to other tensors, too. A saved tensor is checked when it is unpacked: a second backward
    that does so raises, with `retain_graph=True` or where two calls of the Function saved the same tensor.

    ## Cure
    Work on a copy (`grad.clone()`), or write out of place. Or `ctx.mark_dirty(x)`, where `forward` returns the input
    that it has written; of one that it doesn't return, torch refuses that.

    ## Known limits
    Silent as soon as `mark_dirty` is called at all, and on an input whose gradient is None. An input counts as a tensor
    if it's annotated, or used as only tensors can be.

    ## References
    - [FunctionCtx.mark_dirty](https://docs.pytorch.org/docs/stable/generated/torch.autograd.function.FunctionCtx.mark_dirty.html):
      "This should be called at most once …, in either the setup_context or forward methods, and all arguments should
      be inputs"
    - [Extending PyTorch](https://docs.pytorch.org/docs/stable/notes/extending.html): "never modify [grad_output]
      in-place"
    """

    code = "TLN504"
    name = "undeclared-in-place"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            class LeakyGate(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.save_for_backward(x)
                    return x.clamp(min=0)

                @staticmethod
                def backward(ctx, grad):
                    (x,) = ctx.saved_tensors
                    grad[x < 0] = 0  # warning: [TLN504]
                    return grad

            seed = torch.ones(2)
            LeakyGate.apply(torch.tensor([-1.0, 1.0], requires_grad=True)).backward(seed)
            """,
            shows=Holds("seed[0] == 0"),
        ),
        Example(
            """
            import torch

            class Halve(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    return x.mul_(0.5).clone()  # warning: [TLN504]

                @staticmethod
                def backward(ctx, grad):
                    return 0.5 * grad

            x = torch.ones(2)
            y = Halve.apply(x)
            """,
            shows=Holds("x[0] == 0.5 and x._version == 1 and y[0] == 0.5"),
        ),
    )
    good = (
        Example(
            """
            import torch

            class Gate(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.save_for_backward(x < 0)
                    ctx.mark_dirty(x)
                    return x.clamp_(min=0)

                @staticmethod
                def backward(ctx, grad):
                    (closed,) = ctx.saved_tensors
                    grad = grad.clone()
                    grad[closed] = 0
                    return grad

            h = torch.tensor([-1.0, 1.0], requires_grad=True) * 2
            Gate.apply(h).sum().backward()
            """
        ),
    )

    def check(self, event: custom.InputWritten) -> Iterator[Diagnostic]:
        op = event.op if " " in event.op and "=" not in event.op else f"`{event.op}`"
        cure = "write a copy, or return it under `mark_dirty`"
        if event.returned:
            cure = f"`mark_dirty({event.name})` is missing"
        why = {
            "input": f"an input of `forward`, which autograd takes for unchanged: {cure}",
            "gradient": "the gradient `backward` is given, which others may be given, too",
            "saved": "a saved tensor; where the same tensor was given to two calls, or with `retain_graph=True`, the"
            " next backward raises",
        }[event.what]
        claims: tuple[Claim, ...] = (Observed("argument-written", event.name),)
        if event.what == "gradient":
            claims = (*claims, Observed("incoming-written", event.name))
        key = (event.statement, event.what)
        yield Diagnostic(
            event.node,
            f"{op} modifies `{event.name}` in place: {why}",
            event.trace,
            group=key,
            others="write",
            claims=claims,
        )
