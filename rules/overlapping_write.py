from collections.abc import Iterator

from torchlint.fixes.rewrites import code, operand, shown
from torchlint.model.events import writes
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Raises, Rule
from torchlint.truth import Truth

_REFUSED = "refer to a single memory location"


class OverlappingWrite(Rule):
    """
    A part of a tensor is overwritten with another part of it that shares memory with it.

    ## What it does
    Finds `x[:, 1:] = x[:, :-1]`, `x[1:] += x[:-1]`, `x[1:].add_(x[:-1])` and the like, where both parts surely share
    elements, `x -= x[0]`, and `m[m] = 0` of a tensor of integers.

    ## Why is this bad?
    The right side is a view: it is read while the left side overwrites it. Torch raises where both parts lie in one
    piece (a shift along the first dimension). Elsewhere it does not look, and each element gets what the one before
    has just been given: the first value runs through to the end.

    ## Cure
    Copy the source first: `x[:, 1:] = x[:, :-1].clone()`, or build the result with `torch.roll` or `torch.cat`.

    ## Fix safety
    Safe where torch raises: then nothing else changes. Unsafe elsewhere: the values change, to what is written there.

    ## Known limits
    Silent where the bounds are not written as numbers, and where the sizes are not known and the shift is by more than
    one. A shift to the front along a later dimension comes out right on the CPU, and is left alone.

    ## References
    - [torch.Tensor.copy_](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.copy_.html)
    - [MemoryOverlap.cpp](https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/MemoryOverlap.cpp)
    """

    code = "TLN215"
    name = "overlapping-write"
    level = Level.WARNING
    fixes = "both"
    bad = (
        Example(
            """
            import torch

            history = torch.arange(12.0).view(2, 6)
            history[:, 1:] = history[:, :-1]  # warning: [TLN215]
            """,
            shows=Holds("(history[0] == 0).all()"),
            fixed="""
            import torch

            history = torch.arange(12.0).view(2, 6)
            history[:, 1:] = history[:, :-1].clone()
            """,
        ),
        Example(
            """
            import torch

            queue = torch.arange(6.0)
            queue[:-1] = queue[1:]  # warning: [TLN215]
            """,
            shows=Raises(_REFUSED),
            fixed="""
            import torch

            queue = torch.arange(6.0)
            queue[:-1] = queue[1:].clone()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            history = torch.arange(12.0).view(2, 6)
            history[:, 1:] = history[:, :-1].clone()
            history[:, :3] = history[:, 3:]  # two halves
            history[:, 1:] = history[:, :-1] * 0.9  # the product is a tensor of its own
            """
        ),
    )

    def check(self, event: writes.OverlapWritten) -> Iterator[Diagnostic]:
        name = event.target.name
        if not event.shift:
            message = f"`{name}` is its own index, read while it is overwritten: torch refuses"
        elif event.refused is Truth.YES:
            message = f"{shown(event.source)} is overwritten while it is read: torch refuses"
        elif event.shift < 0 or not event.dimension:
            message = (
                f"{shown(event.source)} is overwritten while it is read: torch refuses where `{name}` is contiguous"
            )
        else:
            message = f"{shown(event.source)} is overwritten while it is read: what was just written is read again"
        text = f"{operand(event.source)}.clone()"
        safe = event.refused is Truth.YES
        fix = Fix(f"copy it first: `{text}`", (Edit(event.source, text),), safe=safe)
        claims = (Raises(_REFUSED), Observed("source-overwritten", code(event.node), code(event.source)))
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims[: 2 if event.op in ("=", "copy_") else 1])
