import re
from collections.abc import Iterator

from torchlint.model.events import training
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule
from torchlint.truth import Truth

# What is run to see that it runs, or how long.
_TRIED_OUT = re.compile(r"(^|_)(test|tests|bench|benchmark|warm|warmup|profile|time|timing|check|demo|debug)(_|\d|$)")


class LossBuiltAndDropped(Rule):
    """
    A loss is computed, and nothing differentiates it.

    ## What it does
    Finds losses that are bound to a name which is bound anew before anything reads it, or which nothing reads while
    another loss is differentiated or returned; and losses that a loop binds anew in each iteration, where the backward
    stands after the loop.

    ## Why is this bad?
    A term of the objective is missing. Torch can't know: the model learns from what is left, and the printed loss goes
    down.

    ## Cure
    Add the terms (`loss = loss + ...`), call `backward` on their sum, or put the backward into the loop. If the loss is
    not wanted, don't compute it.

    ## Known limits
    Silent where anything may read the name: an inner function, `locals()`, `del`; where it is logged, printed or
    returned; under `no_grad`, and in functions that are only called so; in functions that are called tests, benchmarks
    or warm-ups; and where a function is called that does something beside computing the loss.

    ## References
    - [torch.Tensor.backward](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html)
    """

    code = "TLN408"
    name = "loss-built-and-dropped"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch
            from torch import nn

            model, criterion = nn.Linear(2, 1), nn.MSELoss()
            x, y, y_cycle = torch.ones(3, 2), torch.zeros(3, 1), torch.ones(3, 1)
            loss = criterion(model(x), y)  # warning: [TLN408]
            loss = criterion(model(2 * x), y_cycle)  # note: `loss` is bound anew
            loss.backward()
            """,
            shows=Holds("loss == criterion(model(2 * x), y_cycle)"),
        ),
        Example(
            """
            import torch
            import torch.nn.functional as F
            from torch import nn

            model = nn.Linear(2, 1)
            x, y = torch.ones(3, 2), torch.zeros(3, 1)
            out = model(x)
            fit_loss = F.mse_loss(out, y)
            size_loss = 0.1 * out.abs().mean()  # warning: [TLN408]
            fit_loss.backward()  # note: another loss is differentiated
            """,
            shows=Holds("size_loss.requires_grad"),
        ),
        Example(
            """
            import torch
            from torch import nn

            model, criterion = nn.Linear(2, 1), nn.MSELoss()
            data = [(torch.ones(3, 2), torch.zeros(3, 1)), (torch.zeros(3, 2), torch.ones(3, 1))]
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x, y in data:
                loss = criterion(model(x), y)  # warning: [TLN408]
            optimizer.zero_grad()
            loss.backward()  # note: the backward starts at the last one alone
            optimizer.step()
            """,
            shows=Holds("(model.weight.grad == 0).all()"),
        ),
    )
    good = (
        Example(
            """
            import torch
            import torch.nn.functional as F
            from torch import nn

            model = nn.Linear(2, 1)
            x, y = torch.ones(3, 2), torch.zeros(3, 1)
            out = model(x)
            loss = F.mse_loss(out, y)
            loss = loss + 0.1 * out.abs().mean()
            shown = F.l1_loss(out, y)
            print(shown.item())
            loss.backward()
            """
        ),
    )

    def check(self, event: training.LossDropped) -> Iterator[Diagnostic]:
        if event.for_inference or _TRIED_OUT.search(event.function.lower()):
            return
        if event.how == "overwritten":
            message = f"`{event.name}` is overwritten before anything differentiates it: this term is lost"
        elif event.how == "unread":
            message = f"nothing uses the loss `{event.name}`: it takes no part in what is differentiated"
        else:
            message = (
                f"every `{event.name}` but that of the last iteration is dropped: the backward comes after the loop"
            )
        if event.requires_grad is not Truth.YES:
            message += ", if it requires grad"
        yield Diagnostic(event.node, message, event.trace, claims=(Observed("loss-dropped", event.name, event.name),))
