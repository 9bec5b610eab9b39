from collections.abc import Iterator

from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class IteratorUsedUp(Rule):
    """
    An iterator over parameters is gone through a second time, and is empty by then.

    ## What it does
    Finds names for `model.parameters()`, a `filter`, `map`, `zip` or `itertools.chain` over parameters or a generator
    expression, where an optimizer, a loop or a sum takes all that it gives, and a later statement, or the same one in
    the next iteration, goes through it again.

    ## Why is this bad?
    The second pass sees no parameters, and nothing says so: gradients aren't clipped, a penalty is 0, a copy of the
    weights is an empty list.

    ## Cure
    `parameters = list(model.parameters())`, or `model.parameters()` called anew each time.

    ## Known limits
    Silent where nobody knows whether it is an iterator: `parameters()` of an object that another file makes may return
    a list. An optimizer that gets a used up iterator is TLN305.

    ## References
    - [torch.nn.Module.parameters](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.parameters):
      "return an iterator over module parameters"
    - [Python's glossary: iterator](https://docs.python.org/3/glossary.html#term-iterator)
    """

    code = "TLN314"
    name = "iterator-used-up"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            trained = filter(lambda p: p.requires_grad, model.parameters())
            optimizer = torch.optim.SGD(trained, lr=0.1)
            (100 * model(torch.ones(4, 2))).sum().backward()
            norm = torch.nn.utils.clip_grad_norm_(trained, 1.0)  # warning: [TLN314]
            optimizer.step()
            """,
            shows=Holds("norm == 0 and model.weight.grad.norm() > 1"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            parameters = model.parameters()
            penalties = []
            for batch in torch.ones(3, 4, 2):
                penalty = sum(p.pow(2).sum() for p in parameters)  # warning: [TLN314]
                penalties.append(float(penalty))
            """,
            shows=Holds("penalties[0] > 0 and penalties[1:] == [0, 0]"),
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            trained = list(filter(lambda p: p.requires_grad, model.parameters()))
            optimizer = torch.optim.SGD(trained, lr=0.1)
            (100 * model(torch.ones(4, 2))).sum().backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            """
        ),
    )

    def check(self, event: registration.IteratorUsedUp) -> Iterator[Diagnostic]:
        when = "from the second iteration on" if event.again else "here"
        message = f"`{event.name}` is empty {when}: it is an iterator, and used up"
        claims = (Observed("used-up", event.name, "again" if event.again else ""),)
        yield Diagnostic(event.node, message, event.trace, claims=claims)
