from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import registration
from torchlint.rule import Claim, Diagnostic, Example, Holds, Level, Raises, Rule, spelled


class OptimizerOverNonLeaf(Rule):
    """
    An optimizer is given something that it cannot optimize.

    ## What it does
    Finds optimizers over a tensor with a history, over a detached copy or a tensor that requires no grad, over one
    tensor instead of a list, over a module, over `parameters` without a call, and over a list of generators; in groups
    and in `add_param_group`, too.

    ## Why is this bad?
    Only leaves accumulate a gradient. Torch refuses non-leaves and what is no iterable of tensors. A tensor that
    requires no grad it takes, and never changes.

    ## Cure
    Give it the leaf: `x = torch.rand(n).mul(s).requires_grad_()`. For modules `model.parameters()`, for several
    `[*a.parameters(), *b.parameters()]`.

    ## Known limits
    A tensor without grad is only reported where the optimizer steps while it still requires none. Frozen parameters of
    a module are fine. A leaf moved to a device that the text leaves open is a warning: on the CPU the move gives the
    leaf itself.

    ## References
    - [Constructing an optimizer](https://docs.pytorch.org/docs/stable/optim.html#constructing-it)
    """

    code = "TLN304"
    name = "optimizer-over-non-leaf"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch

            start = torch.rand(3, requires_grad=True)
            image = start * 0.1
            optimizer = torch.optim.Adam([image])  # error: [TLN304]
            """,
            shows=Raises("can't optimize a non-leaf Tensor"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters, lr=0.1)  # error: [TLN304]
            """,
            shows=Raises("'method' object is not iterable"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            weight = model.weight.detach()
            optimizer = torch.optim.SGD([weight], lr=0.1)  # error: [TLN304]
            before = weight.clone()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            """,
            shows=Holds("torch.equal(weight, before)"),
        ),
    )
    good = (
        Example(
            """
            import torch

            image = (torch.rand(3) * 0.1).requires_grad_()
            optimizer = torch.optim.Adam([image])
            image.sum().backward()
            optimizer.step()
            """
        ),
    )

    def check(self, event: registration.OptimizerGiven) -> Iterator[Diagnostic]:
        name = f"`{event.name}`" if event.name else "a tensor"
        made = f", the result of `{event.op}`" if event.op else ""
        text = " ".join(code(event.node).split())
        shown = f"`{text}`" if len(text) <= 40 else "this"
        message = {
            "non-leaf": f"the optimizer is given {name}{made}: no leaf{spelled(event.conditions)}",
            "cut": f"the optimizer is given {name}{made}, which requires no grad: it never changes",
            "tensor": f"the optimizer is given the tensor {name} instead of a list of tensors",
            "module": f"the optimizer is given the module {shown} instead of its `parameters()`",
            "method": f"{shown} is a method: the call's parentheses are missing",
            "generator": f"the optimizer is given a list that holds a generator, {name}, instead of tensors",
        }[event.what]
        yield Diagnostic(event.node, message, event.trace, claims=_claims(event))


def _claims(event: registration.OptimizerGiven) -> tuple[Claim, ...]:
    if event.what == "cut":
        never = f"optimized_({event.name}) and not {event.name}.requires_grad"
        nameless = "not min(t.requires_grad for t in tensors_(bound_) if not isinstance(t, torch.nn.Parameter))"
        words = "the optimizer holds {}, which requires no grad"
        given = Holds(nameless, words=words.format("a tensor that is no Parameter"))
        return (*([Holds(never, words=words.format(f"`{event.name}`"))] if event.name else []), given)
    return tuple(
        Raises(text)
        for text in (
            "can't optimize a non-leaf Tensor",
            "optimizer should be an iterable of Tensors or dicts",
            "optimizer can only optimize Tensors",
            "object is not iterable",
        )
    )
