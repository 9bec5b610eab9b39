from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Rule


class ForwardCalledDirectly(Rule):
    """
    A module's `forward` is called by its name instead of calling the module.

    ## What it does
    Finds `m.forward(x)` where `m` is known to be a module. `super().forward(x)` is right, and left alone.
    One finding per file, which counts the others.

    ## Why is this bad?
    Calling the module runs its hooks around `forward`. Called by name, forward and backward hooks don't run: feature
    extractors, profilers, spectral norm, and sharded or quantized modules silently do nothing.

    ## Cure
    `m(x)`.

    ## Fix safety
    Unsafe: hooks run that did not run before; nobody knows who has registered one.

    ## Known limits
    With `--strict` only: `self.forward(x)` in another method of the same object, often on purpose, and every call of
    what the file gives no hook by its name, and nothing that works by one (spectral norm, `DataParallel`).
    Silent where the object isn't known to be a module, in `forward` and `__call__` of the same object, and for classes
    with a `__call__` of their own.

    ## References
    - [torch.nn.Module.forward](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.forward):
      "one should call the Module instance afterwards instead of this"
    """

    code = "TLN309"
    name = "forward-called-directly"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            seen = []
            layer = torch.nn.Linear(2, 2)
            layer.register_forward_hook(lambda module, inputs, output: seen.append(output))
            y = layer.forward(torch.ones(1, 2))  # smell: [TLN309]
            """,
            shows=Holds("seen == []"),
            fixed="""
            import torch

            seen = []
            layer = torch.nn.Linear(2, 2)
            layer.register_forward_hook(lambda module, inputs, output: seen.append(output))
            y = layer(torch.ones(1, 2))
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch import nn

            class Residual(nn.Linear):
                def forward(self, x):
                    return x + super().forward(x)

            Residual(2, 2)(torch.ones(1, 2))
            """
        ),
    )

    def check(self, event: registration.ForwardCalled) -> Iterator[Diagnostic]:
        receiver = code(event.receiver)
        text = code(event.call.with_changes(func=event.receiver))
        fix = Fix(f"call `{receiver}` itself", (Edit(event.call, text),), safe=False)
        message = f"`{receiver}.forward(...)` runs no hooks: call `{receiver}(...)`"
        level = Level.STRICT if receiver == "self" or not event.hooked else Level.SMELL
        claims = (Holds(f"isinstance({receiver}, torch.nn.Module)", words=f"`{receiver}` is a Module"),)
        yield Diagnostic(event.node, message, event.trace, fix, level, group=self.code, others="call", claims=claims)
