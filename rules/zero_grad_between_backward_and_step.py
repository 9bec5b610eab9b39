from collections.abc import Iterator

from torchlint.fixes.rewrites import code, followed_by
from torchlint.model.events import training
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Raises, Rule


class ZeroGradBetweenBackwardAndStep(Rule):
    """
    The gradients are zeroed after `backward()` and before `step()`: nothing is learned.

    ## What it does
    Finds `optimizer.zero_grad()` between a `backward()` and the `step()` of the same optimizer, with no other backward
    in between.

    ## Why is this bad?
    `zero_grad()` sets every `.grad` to None, and `step()` skips parameters without a gradient: the program runs, the
    loss is printed, and no parameter ever changes. A gradient scaler raises instead.

    ## Cure
    Zero before the backward, or after the step.

    ## Fix safety
    Unsafe: the call moves behind the step, which does nothing as written, and then learns.

    ## Known limits
    Silent where the two may be different optimizers, and where code that isn't in the file is called between zeroing
    and step: it could run a backward of its own.

    ## References
    - [torch.optim.Optimizer.zero_grad](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html)
    """

    code = "TLN403"
    name = "zero-grad-between-backward-and-step"
    level = Level.ERROR
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            before = model.weight.detach().clone()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                loss = model(torch.ones(1, 2)).sum()
                loss.backward()
                optimizer.zero_grad()
                optimizer.step()  # error: [TLN403]
            """,
            shows=Holds("torch.equal(before, model.weight)"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            before = model.weight.detach().clone()
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

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scaler = torch.amp.GradScaler("cpu")
            loss = model(torch.ones(1, 2)).sum()
            scaler.scale(loss).backward()
            optimizer.zero_grad()
            scaler.step(optimizer)  # error: [TLN403]
            scaler.update()
            """,
            shows=Raises("No inf checks were recorded for this optimizer"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scaler = torch.amp.GradScaler("cpu")
            loss = model(torch.ones(1, 2)).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            optimizer.zero_grad()
            scaler.update()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """
        ),
    )

    def check(self, event: training.SteppedWithoutGradients) -> Iterator[Diagnostic]:
        if event.when != "before":
            return
        message = f"`{event.optimizer}.step()` finds no gradients: they are zeroed between the backward and the step"
        fix = None
        moved = code(event.zeroing)
        text = followed_by(event.statement, moved) if event.together else None
        if text is not None:
            edits = (Edit(event.zeroing_statement, ""), Edit(event.statement, text))
            fix = Fix(f"move `{moved}` behind the step", edits, safe=False)
        claims = (Observed("gradients-zeroed-before-step", event.optimizer), Raises("No inf checks were recorded"))
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
