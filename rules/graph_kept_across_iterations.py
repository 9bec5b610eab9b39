from collections.abc import Iterator

from torchlint.fixes.rewrites import operand, shown
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class GraphKeptAcrossIterations(Rule):
    """
    A loop collects tensors together with their graphs.

    ## What it does
    Finds `total += loss` and `losses.append(loss)` where a backward of the same iteration has already used the graph,
    and nothing differentiates the collection.

    ## Why is this bad?
    Every iteration's graph stays alive as long as the sum or the list does: memory grows with the number of
    iterations, until it runs out late in the epoch. What is wanted is only the number.

    ## Cure
    `total += loss.item()`, `losses.append(loss.detach())`. `detach()` doesn't wait for the GPU.

    ## Fix safety
    Unsafe: what is printed has no `grad_fn` any more, and code that is not in sight may differentiate the collection.

    ## Known limits
    A sum that is differentiated at the end is accumulation by intent: silent. So are loops without a backward.

    ## References
    - [Memory: don't accumulate history across your training
      loop](https://docs.pytorch.org/docs/stable/notes/faq.html)
    """

    code = "TLN106"
    name = "graph-kept-across-iterations"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            total = 0.0
            for batch in torch.ones(3, 4, 2):
                optimizer.zero_grad()
                loss = model(batch).pow(2).mean()
                loss.backward()
                optimizer.step()
                total += loss  # warning: [TLN106]
            """,
            shows=Holds("total.grad_fn is not None"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            total = 0.0
            for batch in torch.ones(3, 4, 2):
                optimizer.zero_grad()
                loss = model(batch).pow(2).mean()
                loss.backward()
                optimizer.step()
                total += loss.detach()
            """,
        ),
        Example(
            """
            import torch

            w = torch.ones(2, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            history = []
            for _ in range(3):
                optimizer.zero_grad()
                loss = (w**2).sum()
                loss.backward()
                optimizer.step()
                history.append(loss)  # warning: [TLN106]
            """,
            shows=Holds("all(loss.grad_fn is not None for loss in history)"),
            fixed="""
            import torch

            w = torch.ones(2, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            history = []
            for _ in range(3):
                optimizer.zero_grad()
                loss = (w**2).sum()
                loss.backward()
                optimizer.step()
                history.append(loss.detach())
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            w = torch.ones(2, requires_grad=True)
            total, history = 0.0, []
            for _ in range(3):
                total += (w**2).sum()  # differentiated below
                history.append(total.item())
            total.backward()
            """
        ),
    )

    def check(self, event: gradients.GraphKeptByLoop) -> Iterator[Diagnostic]:
        value = shown(event.value_node, event.value.name)
        message = f"`{event.container}` keeps the graph of {value} of every iteration, and nothing differentiates it"
        text = f"{operand(event.value_node)}.detach()"
        fix = Fix(f"keep the value alone: `{text}`", (Edit(event.value_node, text),), safe=False)
        claims = (Observed("graph-kept", event.container),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
