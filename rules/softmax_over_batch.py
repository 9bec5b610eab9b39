from collections.abc import Iterator

from torchlint.model.events import numerics
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class SoftmaxOverBatch(Rule):
    """
    A softmax normalises over the batch.

    ## What it does
    Finds `softmax` and `log_softmax` over the dimension that a later `bmm`, a `matmul` of three dimensions, or an
    `nll_loss` takes for the batch.

    ## Why is this bad?
    The weights of one sample depend on the other samples, and do not sum to one. Nothing raises; a batch of one, as in
    evaluation, gives weights that are all 1.

    ## Cure
    Normalise over what is summed: `dim=-1` for attention weights, `dim=1` for classes.

    ## Fix safety
    Unsafe: the result is another.

    ## Known limits
    Silent behind `view`, `permute` and whatever else may have moved the dimensions, and for an `nll_loss` of an unknown
    number of them.

    ## References
    - [torch.nn.functional.softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html)
    - [torch.bmm](https://docs.pytorch.org/docs/stable/generated/torch.bmm.html)
    """

    code = "TLN607"
    name = "softmax-over-batch"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            scores, values = torch.zeros(4, 9), torch.rand(4, 9, 6)
            weights = scores.softmax(dim=0)  # warning: [TLN607]
            context = torch.bmm(weights.unsqueeze(1), values)
            """,
            shows=Holds("not torch.allclose(weights.sum(1), torch.ones(4))"),
            fixed="""
            import torch

            scores, values = torch.zeros(4, 9), torch.rand(4, 9, 6)
            weights = scores.softmax(dim=-1)
            context = torch.bmm(weights.unsqueeze(1), values)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            scores, values = torch.zeros(4, 9), torch.rand(4, 9, 6)
            context = torch.bmm(scores.softmax(dim=-1).unsqueeze(1), values)
            energies = torch.zeros(9)
            one = torch.bmm(torch.softmax(energies, dim=0)[None, None], values[:1])
            loss = torch.nn.functional.nll_loss(torch.log_softmax(scores, dim=1), torch.tensor([0, 1, 2, 0]))
            """
        ),
    )

    def check(self, event: numerics.SoftmaxOverBatch) -> Iterator[Diagnostic]:
        wanted = "1" if event.consumer == "nll_loss" else "-1"
        message = f"the softmax goes over the dimension that `{event.consumer}` takes for the batch: use `dim={wanted}`"
        fix = None
        if event.dimension is not None:
            fix = Fix(f"normalise over dimension {wanted}", (Edit(event.dimension, wanted),), safe=False)
        yield Diagnostic(event.node, message, event.trace, fix, claims=(Observed("sums-over-batch"),))
