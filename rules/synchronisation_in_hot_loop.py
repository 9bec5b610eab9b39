from collections.abc import Iterator

from torchlint.model.events import work
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class SynchronisationInHotLoop(Rule):
    """
    A training loop waits in every step for a value that it need not know so often.

    ## What it does
    Finds `.item()`, `.tolist()`, `.cpu()`, `.numpy()`, `float(t)`, `int(t)`, `print(t)` of a computed tensor in a loop
    that calls `backward()` and `step()`, where they run in every round and decide nothing.

    ## Why is this bad?
    A GPU works through a queue. Each of these calls waits until it is empty; then the GPU waits until the program
    has filled it again.

    ## Cure
    Add up `loss.detach()` and call `.item()` once per epoch, or every hundred steps.

    ## Known limits
    On the CPU nothing is lost, and the linter doesn't know where the tensors are: with `--strict` only.

    ## References
    - [Performance tuning guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization)
    """

    code = "TLN707"
    name = "synchronisation-in-hot-loop"
    level = Level.STRICT
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            total, waits = 0.0, 0
            for _ in range(4):
                optimizer.zero_grad()
                loss = model(torch.rand(8, 2)).mean()
                loss.backward()
                optimizer.step()
                total += loss.item()  # strict: [TLN707]
                waits += 1
            """,
            shows=Holds("waits == 4 and isinstance(total, float)"),
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            total = torch.zeros(())
            for step in range(200):
                optimizer.zero_grad()
                loss = model(torch.rand(8, 2)).mean()
                loss.backward()
                optimizer.step()
                total += loss.detach()
                if step % 100 == 0:
                    print(loss.item())
            print(total.item())
            """
        ),
    )

    def check(self, event: work.Synchronised) -> Iterator[Diagnostic]:
        of = f" of `{event.tensor}`" if event.tensor else ""
        message = f"`{event.how}`{of} makes every step wait until the value is computed"
        yield Diagnostic(event.node, message, event.trace, claims=(Observed("waits-for-values"),))
