from collections.abc import Iterator

from torchlint.model.events import data
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule


class NondeterministicOperation(Rule):
    """
    An operation is called that has no deterministic algorithm, and the program has asked for those alone.

    ## What it does
    Finds operations of torch's own list (`put_`, `MaxUnpool2d`; on a GPU `histc`, and the backward of `interpolate`,
    `grid_sample`, `AdaptiveAvgPool2d` to another size than 1, …) after `torch.use_deterministic_algorithms(True)`.

    ## Why is this bad?
    Torch raises a `RuntimeError`, for the operations of the GPU only there, and some of them only in the backward.

    ## Cure
    Another operation (`index_put` for `put_`, `index_select` or `scatter` for unpooling, a pooling to
    size 1, which is a mean), or `warn_only=True` where a result that differs in the last digits will do.

    ## Known limits
    Silent where the mode is set elsewhere than on the way to the operation, where it is not a constant, and, for what
    is refused on a GPU alone, in files that never mention CUDA.

    ## References
    - [torch.use_deterministic_algorithms](https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html)
    """

    code = "TLN809"
    name = "nondeterministic-operation"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch

            torch.use_deterministic_algorithms(True)  # note: torch is told to allow deterministic algorithms only
            x = torch.zeros(4)
            x.put_(torch.tensor([1, 2]), torch.ones(2))  # error: [TLN809]
            """,
            shows=Raises("put_ does not have a deterministic implementation"),
        ),
    )
    good = (
        Example(
            """
            import torch

            torch.use_deterministic_algorithms(True)
            x = torch.zeros(4)
            x.index_put_((torch.tensor([1, 2]),), torch.ones(2))
            """
        ),
    )

    def check(self, event: data.NondeterministicCalled) -> Iterator[Diagnostic]:
        claims = (Raises("does not have a deterministic implementation", here=event.when != "differentiated on a GPU"),)
        if event.when == "always":
            message = f"`{event.operation}` has no deterministic algorithm, and only such are allowed: torch raises"
            yield Diagnostic(event.node, message, event.trace, claims=claims)
            return
        raises = "its backward raises" if event.when.startswith("differentiated") else "torch raises"
        message = (
            f"`{event.operation}` has no deterministic algorithm on a GPU, and only such are allowed: {raises} there"
        )
        yield Diagnostic(event.node, message, event.trace, level=Level.WARNING, claims=claims)
