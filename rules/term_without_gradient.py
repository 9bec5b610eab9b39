import re
from collections.abc import Iterator

from torchlint.fixes.rewrites import code, shown
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Example, Holds, Level, Rule

_TAKEN = re.compile(r"\.(item|detach|tolist|cpu|numpy)\(\)")
"""Calls that give back what a tensor holds, and do nothing else."""


class TermWithoutGradient(Rule):
    """
    A term of a loss was cut from the graph: it changes the number and teaches nothing.

    ## What it does
    Finds losses that are a sum of which one term came from a graph and was cut from it (`.item()`, `.detach()`,
    `.data`, `argmax`), while another was not.

    ## Why is this bad?
    The gradient of a sum is the sum of the gradients, and that of a constant is zero. The printed loss contains the
    penalty, and no parameter hears of it; torch raises nothing, because the other terms have a graph.

    ## Cure
    Add the term with its graph: `loss + 0.1 * penalty`, not `penalty.item()`. Where only the printed number is meant,
    add it after the backward.

    ## Known limits
    Looks at terms of the sum that backward starts from, and through weights that are numbers. Targets, baselines and
    weights inside a product or another loss may well be constants: silent. So is `x - x.detach()`, where the value is
    taken away on purpose, and a running mean, `mean = 0.9 * mean.detach() + 0.1 * loss`.

    ## References
    - [torch.Tensor.detach](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html): "the result will
      never require gradient"
    """

    code = "TLN117"
    name = "term-without-gradient"
    level = Level.WARNING
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            prediction = model(torch.ones(4, 2))
            error = (prediction - 1).square().mean()
            penalty = model.weight.abs().sum().item()
            loss = error + 0.1 * penalty  # note: it is added here
            loss.backward()  # warning: [TLN117]
            """,
            shows=Holds("isinstance(penalty, float)"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            hidden = model(torch.ones(4, 2))
            error = (hidden - 1).square().mean()
            sparsity = hidden.abs().mean().detach()
            loss = error + sparsity  # note: it is added here
            loss.backward()  # warning: [TLN117]
            """,
            shows=Holds("not sparsity.requires_grad"),
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            prediction = model(torch.ones(4, 2))
            error = (prediction - 1).square().mean()
            penalty = model.weight.abs().sum()
            loss = error + 0.1 * penalty
            loss.backward()
            advantage = 3.0 - prediction.detach()
            (-(model(torch.ones(4, 2)) * advantage).mean()).backward()
            """
        ),
    )

    def check(self, event: gradients.TermWithoutGradient) -> Iterator[Diagnostic]:
        term = shown(event.term_node) if event.term_node is not None else "a term"
        message = f"{term} is added to the loss without a graph, and teaches nothing: {event.cut}"
        text = code(event.term_node) if event.term_node is not None else "("
        words = f"`{text}` requires no grad"
        claims = (
            (Holds(f"not getattr({text}, 'requires_grad', False)", words=words),)
            if "(" not in _TAKEN.sub("", text)
            else ()
        )
        yield Diagnostic(event.node, message, event.trace, claims=claims)
