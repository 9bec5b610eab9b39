from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class TensorAttributeNotABuffer(Rule):
    """
    A plain tensor is kept on a Module and computed with in `forward`: it should be a buffer.

    ## What it does
    Finds `self.mean = torch.tensor(...)` in the `__init__` of a Module where `forward` computes with it and with its
    inputs or parameters.

    ## Why is this bad?
    `module.to(device)`, `.half()` and `.double()` move and convert parameters and buffers only: on another device the
    operation raises. And `state_dict()` doesn't hold the tensor.

    ## Cure
    `self.register_buffer("mean", torch.tensor(...))`; with `persistent=False` where it needn't be saved.

    ## Fix safety
    Unsafe: the buffer is a new key in `state_dict()`, which checkpoints saved before don't have.

    ## Known limits
    Silent where the tensor is created on a device or moved by hand, in another file too (`head.x = fn(head.x)`), where
    it is assigned anew outside `__init__`, and for scalars, which work with tensors of every device:
    `torch.ones(size)` may be one where `size` isn't known. With `--strict` only in
    tests, and in a project of several files none of which names a device.

    ## References
    - [torch.nn.Module.register_buffer](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer)
    """

    code = "TLN311"
    name = "tensor-attribute-not-a-buffer"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch
            from torch import nn

            class Normalise(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.mean = torch.tensor([0.5, 0.2, 0.1])  # smell: [TLN311]
                    self.head = nn.Linear(3, 1)

                def forward(self, x):
                    return self.head(x - self.mean)

            model = Normalise().double()
            """,
            shows=Holds("model.mean.dtype == torch.float32 and 'mean' not in model.state_dict()"),
            fixed="""
            import torch
            from torch import nn

            class Normalise(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("mean", torch.tensor([0.5, 0.2, 0.1]))
                    self.head = nn.Linear(3, 1)

                def forward(self, x):
                    return self.head(x - self.mean)

            model = Normalise().double()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch import nn

            class Normalise(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("mean", torch.tensor([0.5, 0.2, 0.1]))
                    self.eps = torch.tensor(1e-6)  # a scalar

                def forward(self, x):
                    return (x - self.mean) / (x.std() + self.eps)

            Normalise()(torch.rand(2, 3))
            """
        ),
    )

    def check(self, event: registration.TensorAttributeUsed) -> Iterator[Diagnostic]:
        message = f"`{event.owner}.{event.attribute}` is a plain tensor: `{event.module}.to(device)` leaves it behind"
        text = f'{event.owner}.register_buffer("{event.attribute}", {code(event.value_node)})'
        fix = Fix("make it a buffer", (Edit(event.statement, text),), safe=False)
        claims = (Observed("unregistered", f"{event.owner}.{event.attribute}"),)
        group, label = (event.module, event.owner), f"`{event.owner}.{event.attribute}`"
        level = None if event.moves else Level.STRICT
        yield Diagnostic(
            event.node, message, event.trace, fix, level, group=group, label=label, others="tensor", claims=claims
        )
