from collections.abc import Iterator

from torchlint.fixes.rewrites import followed_by, shown
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Observed, Rule, Warns, spelled


class NonLeafGradRead(Rule):
    """
    The gradient of a computed tensor is read, and nothing retains it: it is None.

    ## What it does
    Finds `h.grad` where `h` is the result of an operation and `h.retain_grad()` was not called.

    ## Why is this bad?
    Only leaves keep their gradient. That of an intermediate value is passed on and freed, so `.grad` is None, with a
    warning that is easily lost. Who debugs a backward pass this way concludes that no gradient arrives.

    ## Cure
    `h.retain_grad()` before the backward, or `h.register_hook(print)`. `torchlint trace` prints the gradient at each
    named intermediate of a script, without edits.

    ## Fix safety
    Unsafe: the gradient is kept in memory from now on.

    ## Known limits
    Silent where it isn't sure that the tensor is computed under grad mode: function arguments, unknown layers.

    ## References
    - [torch.Tensor.grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.grad.html)
    - [torch.Tensor.retain_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html)
    """

    code = "TLN109"
    name = "non-leaf-grad-read"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            h = 2 * x  # note: `h` created here
            (h**2).sum().backward()
            print(h.grad)  # warning: [TLN109]
            """,
            shows=Warns("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"),
            fixed="""
            import torch

            x = torch.ones(3, requires_grad=True)
            h = 2 * x
            h.retain_grad()
            (h**2).sum().backward()
            print(h.grad)
            """,
        ),
        Example(
            """
            import torch

            net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
            loss = net(torch.ones(5, 2)).pow(2).mean()
            loss.backward()
            print(loss.grad)  # warning: [TLN109]
            """,
            shows=Warns("not a leaf Tensor"),
            fixed="""
            import torch

            net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
            loss = net(torch.ones(5, 2)).pow(2).mean()
            loss.retain_grad()
            loss.backward()
            print(loss.grad)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            h = 2 * x
            h.retain_grad()
            (h**2).sum().backward()
            print(x.grad, h.grad)
            """
        ),
    )

    def check(self, event: gradients.NonLeafGradRead) -> Iterator[Diagnostic]:
        owner = shown(event.owner_node, event.owner.name)
        made = f" (`{event.made_by}` computed it)" if event.made_by else ""
        message = f"the gradient of {owner} is None: it is no leaf{made}, and nothing retains its gradient"
        message += spelled(event.conditions)
        fix = None
        if event.made_statement is not None:
            text = followed_by(event.made_statement, f"{event.owner.name}.retain_grad()")
            if text is not None:
                edits = (Edit(event.made_statement, text),)
                fix = Fix(f"call `{event.owner.name}.retain_grad()` where it is made", edits, safe=False)
        name = event.owner.name
        claims = (Observed("gradient-none", name),) if name else (Warns("not a leaf Tensor is being accessed"),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
