from collections.abc import Iterator

from torchlint.fixes.rewrites import operand, shown
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Raises, Rule


class DeepcopyOfGraphTensor(Rule):
    """
    A computed tensor is copied with `copy.deepcopy`, or an object that holds one.

    ## What it does
    Finds deep copies of tensors with a history, and of lists, dicts, modules and other objects of the file in which
    such a tensor is kept: `self.hidden`, `self.loss`, a cached output.

    ## Why is this bad?
    A copy of a node of a graph would belong to no graph. Torch copies leaves only, and raises for the rest.

    ## Cure
    `t.detach().clone()` for the values, `t.clone()` to stay in the graph. Don't keep graph tensors on a module that
    is copied (for an EMA, a target network, early stopping): `self.hidden = h.detach()`.

    ## Fix safety
    Unsafe: the copy is cut from the graph.

    ## Known limits
    Silent where it isn't sure what an attribute holds, and on classes with a `__deepcopy__` of their own.

    ## References
    - [Only leaves support deepcopy](https://github.com/pytorch/pytorch/blob/main/torch/_tensor.py)
    """

    code = "TLN115"
    name = "deepcopy-of-graph-tensor"
    level = Level.ERROR
    fixes = "unsafe"
    bad = (
        Example(
            """
            import copy

            import torch

            h = torch.nn.Linear(2, 2)(torch.ones(1, 2))
            first = copy.deepcopy(h)  # error: [TLN115]
            """,
            shows=Raises("Only Tensors created explicitly by the user"),
            fixed="""
            import copy

            import torch

            h = torch.nn.Linear(2, 2)(torch.ones(1, 2))
            first = h.detach().clone()
            """,
        ),
        Example(
            """
            import copy

            import torch

            class Cell(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.linear = torch.nn.Linear(2, 2)

                def forward(self, x):
                    self.hidden = torch.tanh(self.linear(x))
                    return self.hidden

            cell = Cell()
            cell(torch.ones(1, 2))
            target = copy.deepcopy(cell)  # error: [TLN115]
            """,
            shows=Raises("Only Tensors created explicitly by the user"),
        ),
    )
    good = (
        Example(
            """
            import copy

            import torch

            model = torch.nn.Linear(2, 2)
            target = copy.deepcopy(model)
            x = torch.ones(2, requires_grad=True)
            start = copy.deepcopy(x)
            best = copy.deepcopy(model.state_dict())
            """
        ),
    )

    def check(self, event: gradients.GraphTensorCopied) -> Iterator[Diagnostic]:
        copied = shown(event.copied_node, event.tensor.name if not event.path else "")
        claims = (Raises("Only Tensors created explicitly by the user"),)
        if not event.path:
            text = f"{operand(event.copied_node)}.detach().clone()"
            fix = Fix(f"copy the values: `{text}`", (Edit(event.call, text),), safe=False)
            message = f"`deepcopy` of {copied}, which is no leaf: torch refuses"
            yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
            return
        message = f"`deepcopy` of {copied}, which holds a computed tensor in `{event.path}`: torch refuses"
        yield Diagnostic(event.node, message, event.trace, claims=claims)
