from collections.abc import Iterator

from torchlint.fixes.rewrites import operand, shown
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Raises, Rule


class NumpyOnGraphTensor(Rule):
    """
    A tensor that requires grad is handed to NumPy.

    ## What it does
    Finds `t.numpy()` and functions of NumPy and of `matplotlib.pyplot` that convert their argument, where `t`
    requires grad and gradients are recorded.

    ## Why is this bad?
    An array has no history: torch refuses rather than cut the graph silently.

    ## Cure
    Say that it's cut: `t.detach().numpy()`. A value that shall be differentiated stays in torch: `torch.sqrt` for
    `np.sqrt`.

    ## Fix safety
    Safe: before, it raised. Unsafe where that may be expected: in a `try`, or in a function of a file that has one.

    ## Known limits
    In a function, reported only where it runs a backward itself: others may be called under `no_grad`, where
    `numpy()` is fine. NumPy functions that first try a method of the tensor (`np.sum`) are left alone.

    ## References
    - [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
    """

    code = "TLN111"
    name = "numpy-on-graph-tensor"
    level = Level.ERROR
    fixes = "safe"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            prediction = model(torch.ones(4, 2))
            curve = prediction.numpy()  # error: [TLN111]
            """,
            shows=Raises("Can't call numpy() on Tensor that requires grad"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            prediction = model(torch.ones(4, 2))
            curve = prediction.detach().numpy()
            """,
        ),
        Example(
            """
            import numpy as np
            import torch

            w = torch.ones(3, requires_grad=True)
            scale = np.sqrt(w * 4)  # error: [TLN111]
            """,
            shows=Raises("Can't call numpy() on Tensor that requires grad"),
            fixed="""
            import numpy as np
            import torch

            w = torch.ones(3, requires_grad=True)
            scale = np.sqrt((w * 4).detach())
            """,
        ),
    )
    good = (
        Example(
            """
            import numpy as np
            import torch

            model = torch.nn.Linear(2, 1)
            with torch.no_grad():
                curve = model(torch.ones(4, 2)).numpy()
            weight = np.sqrt(model.weight.detach().abs())
            """
        ),
    )

    def check(self, event: gradients.GraphTensorToNumpy) -> Iterator[Diagnostic]:
        tensor = shown(event.tensor_node, "" if event.inside else event.tensor.name)
        has = f"{tensor} holds a tensor that requires grad" if event.inside else f"{tensor} requires grad"
        fix = None
        if not event.inside:
            text = f"{operand(event.tensor_node)}.detach()"
            fix = Fix(f"cut it from the graph: `{text}`", (Edit(event.tensor_node, text),), safe=True, mends=True)
        claims = (Raises("Can't call numpy() on Tensor that requires grad"),)
        yield Diagnostic(event.node, f"`{event.how}` can't convert it: {has}", event.trace, fix, claims=claims)
