from collections.abc import Iterator

from torchlint.fixes.rewrites import shown
from torchlint.model.events import writes
from torchlint.rule import Diagnostic, Example, Holds, Level, Rule


class IndexingInGraph(Rule):
    """
    A part of a graph tensor is read by index.

    ## What it does
    With `--strict`, reports `x[i]` and `x[a:b]` where `x` requires grad.

    ## Why is this bad?
    It is correct. But each read of an element adds a node whose backward makes a full-size gradient of zeros with one
    element set, so a loop over elements costs the square of the size. And what is read is a view: a later write into
    `x` changes it.

    ## Cure
    Compute on whole tensors: `unbind` for all rows at once (one node), `gather`, `index_select`, `narrow`, or a mask.

    ## Known limits
    Strict only: the talk's rule of thumb, not a fault.

    ## References
    - [Tensor views](https://docs.pytorch.org/docs/stable/tensor_view.html)
    """

    code = "TLN220"
    name = "indexing-in-graph"
    level = Level.STRICT
    bad = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            y = x[0] * x[1]  # strict: [TLN220, TLN220]
            y.backward()
            """,
            shows=Holds("'SelectBackward0' in str(y.grad_fn.next_functions)"),
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            first, second, _ = x.unbind()
            (first * second).backward()
            weights = torch.ones(3)
            print(weights[0], x.shape[0])
            """,
            strict=True,
        ),
    )

    def check(self, event: writes.GraphTensorIndexed) -> Iterator[Diagnostic]:
        tensor = shown(event.tensor_node, event.tensor.name)
        what = "a view of it" if event.kind == "view" else "a copy"
        message = f"indexing {tensor}, a graph tensor, records a node and gives {what}"
        name = event.tensor.name
        claims = (Holds(f"{name}.requires_grad", before=True, words=f"`{name}` requires grad"),) if name else ()
        yield Diagnostic(event.node, message, event.trace, claims=claims)
