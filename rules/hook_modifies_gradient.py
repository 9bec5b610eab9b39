from collections.abc import Iterator

from torchlint.fixes.rewrites import NO_TWIN
from torchlint.model.events import custom
from torchlint.rule import Claim, Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Raises, Rule
from torchlint.syntax import cst


class HookModifiesGradient(Rule):
    """
    A tensor hook writes into the gradient that it is given.

    ## What it does
    Finds functions and lambdas handed to `Tensor.register_hook` that modify their argument in place.

    ## Why is this bad?
    The gradient isn't the hook's own: one buffer may be on its way to several tensors (an addition hands the same one
    to both of its operands), or be the caller's own. Which of them see the change depends on the order of the backward.

    ## Cure
    Return a new tensor: `lambda g: g.clamp(-1, 1)`.

    ## Fix safety
    Unsafe: other readers of the same buffer no longer see the change, which is the point.

    ## Known limits
    The hook must be a lambda, or a function or method of the same file.

    ## References
    - [torch.Tensor.register_hook](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html): "The
      hook should not modify its argument, but it can optionally return a new gradient which will be used in place of
      grad"
    """

    code = "TLN511"
    name = "hook-modifies-gradient"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            x = torch.ones(2, requires_grad=True)
            y = x * 2
            y.register_hook(lambda g: g.mul_(10))  # warning: [TLN511]
            seed = torch.ones(2)
            y.backward(seed)
            """,
            shows=Holds("seed[0] == 10"),
            fixed="""
            import torch

            x = torch.ones(2, requires_grad=True)
            y = x * 2
            y.register_hook(lambda g: g.mul(10))
            seed = torch.ones(2)
            y.backward(seed)
            """,
        ),
        Example(
            """
            import torch

            def freeze_first(grad):
                grad[0] = 0  # warning: [TLN511]
                return grad

            w, z = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
            a, b = w * 1, z * 1
            b.register_hook(freeze_first)
            (a + b).backward(torch.ones(2))
            """,
            shows=Holds("w.grad[0] == 0"),
        ),
    )
    good = (
        Example(
            """
            import torch

            def freeze_first(grad):
                grad = grad.clone()
                grad[0] = 0
                return grad

            w = torch.ones(2, requires_grad=True)
            w.register_hook(freeze_first)
            w.register_hook(lambda g: g.clamp(-1, 1))
            (w * 3).sum().backward()
            """
        ),
    )

    def check(self, event: custom.HookWritesGradient) -> Iterator[Diagnostic]:
        written = f"`{event.name}` in place ({event.op if ' ' in event.op else f'`{event.op}`'})"
        message = f"the hook modifies its argument {written}: it may be the gradient of another tensor, too"
        fix = None
        call = event.node
        if event.returned and event.op not in NO_TWIN and isinstance(call, cst.Call):
            assert isinstance(call.func, cst.Attribute)
            edit = Edit(call.func.attr, event.op[:-1])
            fix = Fix(f"return a new gradient: `{event.op[:-1]}`", (edit,), safe=False)
        refused = Raises("more than one element of the written-to tensor refers to a single memory location")
        claims: tuple[Claim, ...] = (Observed("argument-written", event.name), refused)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
