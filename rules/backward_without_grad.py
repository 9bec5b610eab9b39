from collections.abc import Iterator

from torchlint.fixes.rewrites import shown
from torchlint.model import events
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule, spelled
from torchlint.truth import Truth

_CLAIMS = (
    Raises("does not require grad and does not have a grad_fn"),
    Raises("has no attribute 'backward'"),
    Raises("One of the differentiated Tensors does not require grad"),
)


class BackwardWithoutGrad(Rule):
    """
    Backward starts from a value that doesn't require grad.

    ## What it does
    Finds backward calls on a value that has no graph, and says where it was lost: made from data alone, under
    `no_grad`, after `.item()`, `.data`, `detach()`, `.numpy()`, `torch.tensor(t)`, or behind an operation that has no
    derivative (`argmax`, comparisons, rounding to integers).

    ## Why is this bad?
    There is nothing to go back through: torch raises. (Setting `requires_grad` on the cut value silences that, and
    then nothing learns.)

    ## Cure
    Keep the value in the graph: compute the loss from the model's output under grad mode, `detach()` and `.item()`
    only what is printed, and use a differentiable stand-in for hard decisions (`softmax` for `argmax`, the distance
    for "equal").

    ## Known limits
    Silent where it isn't sure that no input requires grad, so about most function arguments. Of the examples that a
    loop over data gives it says "unless what `loader` gives does", where the rest of the loss is cut.

    ## References
    - [Setting requires_grad](https://docs.pytorch.org/docs/stable/notes/autograd.html#setting-requires-grad)
    - [Locally disabling gradient computation](https://docs.pytorch.org/docs/stable/notes/autograd.html#grad-modes)
    """

    code = "TLN104"
    name = "backward-without-grad"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            x, y = torch.ones(4, 2), torch.ones(4, 1)
            with torch.no_grad():
                prediction = model(x)
            loss = ((prediction - y) ** 2).mean()
            loss.backward()  # error: [TLN104]
            """,
            shows=Raises("does not require grad and does not have a grad_fn"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 3)
            x, labels = torch.ones(4, 2), torch.zeros(4)
            guess = model(x).argmax(dim=1)
            wrong = (guess != labels).float().mean()
            wrong.backward()  # error: [TLN104]
            """,
            shows=Raises("does not require grad and does not have a grad_fn"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            loss = model(torch.ones(4, 2)).mean().item()
            loss.backward()  # error: [TLN104]
            """,
            shows=Raises("'float' object has no attribute 'backward'"),
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            for p in model.parameters():
                p.requires_grad = False
            x = torch.ones(4, 2)
            x.requires_grad = True  # the input may be what learns
            model(x).mean().backward()
            """
        ),
    )

    def check(self, event: events.BackwardCalled | gradients.CutLossDifferentiated) -> Iterator[Diagnostic]:
        if isinstance(event, gradients.CutLossDifferentiated):
            root = shown(event.root_node, event.root.name)
            message = (
                f"backward starts from {root}, which does not require grad unless what `{event.source}` gives does"
            )
            yield Diagnostic(event.node, f"{message}: {event.cut}", event.trace, level=Level.WARNING, claims=_CLAIMS)
            return
        if event.root.requires_grad is not Truth.NO and event.recorded is not Truth.NO:
            return
        cause = f": {event.cut}" if event.cut else ""
        if event.root.requires_grad is not Truth.NO:
            cause = ": it is a view made under `no_grad`, and has no history of its own"
        root = shown(event.root_node, event.root.name)
        message = f"backward starts from {root}, which does not require grad{cause}{spelled(event.conditions)}"
        yield Diagnostic(event.node, message, event.trace, claims=_CLAIMS)
