from collections.abc import Iterator

from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule


class RequiresGradSetOnNonLeaf(Rule):
    """
    The flag `requires_grad` is set on a computed tensor.

    ## What it does
    Finds `t.requires_grad = ...` and `t.requires_grad_(False)` where `t` is the result of a recorded operation.

    ## Why is this bad?
    Whether a computed tensor requires grad follows from its inputs. Torch refuses to change it, even to what it is.

    ## Cure
    To stop the gradient, `t = t.detach()`. To get the gradient of an intermediate value, `t.retain_grad()`. To freeze
    a layer, set the flag of its parameters before the forward.

    ## Known limits
    Silent where it isn't sure that the tensor is computed under grad mode. `t.requires_grad_()` on a computed tensor
    changes nothing and is allowed.

    ## References
    - [torch.Tensor.requires_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad.html)
    - [torch.Tensor.requires_grad_](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad_.html)
    """

    code = "TLN114"
    name = "requires-grad-set-on-non-leaf"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch

            encoder, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
            code = encoder(torch.ones(4, 2))
            code.requires_grad = False  # error: [TLN114]
            head(code).mean().backward()
            """,
            shows=Raises("you can only change requires_grad flags of leaf variables"),
        ),
        Example(
            """
            import torch

            w = torch.ones(3, requires_grad=True)
            scaled = w * 0.1
            scaled.requires_grad = True  # error: [TLN114]
            """,
            shows=Raises("you can only change requires_grad flags of leaf variables"),
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.ones(4, 2) * 0.5  # made from data alone: a leaf
            x.requires_grad = True
            encoder = torch.nn.Linear(2, 3)
            encoder.weight.requires_grad = False
            encoder(x).sum().backward()
            """
        ),
    )

    def check(self, event: gradients.NonLeafFlagSet) -> Iterator[Diagnostic]:
        name = f"`{event.owner.name}`" if event.owner.name else "a tensor"
        made = f" (`{event.made_by}` computed it)" if event.made_by else ""
        message = f"`{event.written}` is set on {name}, which is no leaf{made}: torch refuses"
        claims = (Raises("you can only change requires_grad flags of leaf variables"),)
        yield Diagnostic(event.node, message, event.trace, claims=claims)
