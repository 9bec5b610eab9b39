from collections.abc import Iterator

from torchlint.fixes.rewrites import followed_by
from torchlint.model.events import training
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class MissingZeroGrad(Rule):
    """
    A training loop calls `backward()` and `step()`, and nothing zeroes the gradients.

    ## What it does
    Finds a loop in which `optimizer.step()` uses gradients that every iteration's `backward()` was added to, while no
    `zero_grad()` of this optimizer, of its model, or by hand, is in sight on any path. Helpers and methods of the same
    file are looked through.

    ## Why is this bad?
    `backward()` adds to `.grad`. Without zeroing, each step follows the sum of all gradients since the start of the
    training: the loss still falls for a while, then the training oscillates or diverges.

    ## Cure
    `optimizer.zero_grad()` before the backward, or after the step. Both are right.

    ## Fix safety
    Unsafe: the steps are other ones, which is the point.

    ## Known limits
    An accumulation over several iterations, zeroed when its step is done, is fine. Silent where code that isn't in the
    file is given the optimizer or the model inside the loop, since it could zero. An optimizer that isn't known to be
    one of torch is recognised by its name.

    ## References
    - [torch.optim.Optimizer.zero_grad](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html)
    - [Zeroing out gradients](https://docs.pytorch.org/tutorials/recipes/recipes/zeroing_out_gradients.html)
    """

    code = "TLN402"
    name = "missing-zero-grad"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                loss = model(torch.ones(1, 2)).sum()
                loss.backward()
                optimizer.step()  # warning: [TLN402]
            """,
            shows=Holds("model.bias.grad.item() == 3"),  # three times the slope, which is 1
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                loss = model(torch.ones(1, 2)).sum()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
            """,
        ),
        Example(
            """
            import torch

            def train(model, loader, optimizer):
                for x, y in loader:
                    torch.nn.functional.mse_loss(model(x), y).backward()
                    optimizer.step()  # warning: [TLN402]

            net = torch.nn.Linear(2, 1)
            batches = [(torch.ones(1, 2), torch.ones(1, 1) * 1000)] * 2
            train(net, batches, torch.optim.SGD(net.parameters(), lr=0.0))
            """,
            # With a learning rate of 0 both gradients are the same, and .grad is twice that.
            shows=Holds("net.bias.grad.item() < -3900"),
            fixed="""
            import torch

            def train(model, loader, optimizer):
                for x, y in loader:
                    torch.nn.functional.mse_loss(model(x), y).backward()
                    optimizer.step()
                    optimizer.zero_grad()

            net = torch.nn.Linear(2, 1)
            batches = [(torch.ones(1, 2), torch.ones(1, 1) * 1000)] * 2
            train(net, batches, torch.optim.SGD(net.parameters(), lr=0.0))
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i in range(8):
                model(torch.ones(1, 2)).sum().backward()
                if (i + 1) % 4 == 0:  # four batches per step
                    optimizer.step()
                    optimizer.zero_grad()
            """
        ),
    )

    def check(self, event: training.GradientsCarried) -> Iterator[Diagnostic]:
        if event.zeroed != "never":
            return
        zeroing = f"{event.optimizer}.zero_grad()" if event.optimizer else "zero_grad()"
        stepping = f"{event.optimizer}.step()" if event.optimizer else "step()"
        message = f"`{stepping}` uses the sum of all gradients so far: nothing in this loop calls `{zeroing}`"
        if not event.known:
            message += f", unless `{stepping}` itself does"
        fix = None
        text = followed_by(event.statement, zeroing) if event.nameable else None
        if text is not None:
            fix = Fix(f"call `{zeroing}` after the step", (Edit(event.statement, text),), safe=False)
        claims = (Observed("gradients-carried", event.optimizer),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
