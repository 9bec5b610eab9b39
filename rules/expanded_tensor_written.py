from collections.abc import Iterator

from torchlint.fixes.rewrites import operand
from torchlint.model.events import writes
from torchlint.rule import Claim, Diagnostic, Edit, Example, Fix, Holds, Level, Raises, Rule
from torchlint.truth import Truth


class ExpandedTensorWritten(Rule):
    """
    A tensor made by `expand` is written in place: several of its elements are one place in memory.

    ## What it does
    Finds in-place operations and indexed assignments on results of `expand`, `expand_as` and `broadcast_to`.

    ## Why is this bad?
    Expanding copies nothing: all rows are the same memory. Torch refuses most in-place operations on it; an indexed
    assignment passes and changes *every* row.

    ## Cure
    Copy before writing: `t.expand(n, -1).clone()`, or `t.repeat(n, 1)`; or write out of place.

    ## Fix safety
    Unsafe: on a path that does not write, the copy no longer shows what is written to its source; after an indexed
    assignment the other rows keep their values.

    ## Known limits
    Silent where the sizes before and after aren't known. `fill_` and `zero_` write the same everywhere: allowed. If
    the new size isn't known, it is a warning: expanded to a size of 1, it's fine.

    ## References
    - [torch.Tensor.expand](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html): "more than one
      element of an expanded tensor may refer to a single memory location"
    """

    code = "TLN208"
    name = "expanded-tensor-written"
    level = Level.ERROR
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            bias = torch.zeros(1, 3)
            rows = bias.expand(4, 3)
            rows += torch.ones(4, 3)  # error: [TLN208]
            """,
            shows=Raises("more than one element of the written-to tensor refers to a single memory location"),
            fixed="""
            import torch

            bias = torch.zeros(1, 3)
            rows = bias.expand(4, 3).clone()
            rows += torch.ones(4, 3)
            """,
        ),
        Example(
            """
            import torch

            mask = torch.zeros(3).expand(4, 3)
            mask[0] = torch.ones(3)  # warning: [TLN208]
            """,
            shows=Holds("mask.sum() == 12"),
            fixed="""
            import torch

            mask = torch.zeros(3).expand(4, 3).clone()
            mask[0] = torch.ones(3)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            bias = torch.zeros(1, 3)
            rows = bias.expand(4, 3) + torch.ones(4, 3)
            rows[0] = 0.0
            copies = bias.repeat(4, 1)
            copies += 1
            """
        ),
    )

    def check(self, event: writes.ExpandedWritten) -> Iterator[Diagnostic]:
        target = f"`{event.target.name}`" if event.target.name else "a tensor"
        message = f"`{event.op}` writes into {target}, which `{event.expand_op}` made"
        if not event.refused:
            message += ": all elements that share a place in memory change"
        elif event.overlaps is Truth.YES:
            message += ": its elements share memory, and torch refuses"
        elif event.may_be_empty:
            message += ": its elements share memory, and torch refuses unless there are none"
        else:
            message += ": torch refuses as soon as its size is over 1"
        text = f"{operand(event.expand_node)}.clone()"
        fix = Fix("copy first: append `.clone()`", (Edit(event.expand_node, text),), safe=False)
        level = None if event.refused and event.overlaps is Truth.YES else Level.WARNING
        claims: tuple[Claim, ...] = (
            Raises("more than one element of the written-to tensor refers to a single memory location"),
        )
        if not event.refused:
            name = event.target.name
            shared = f"any(step == 0 and size > 1 for step, size in zip({name}.stride(), {name}.shape))"
            words = f"several elements of `{name}` lie at one place in memory (a stride is 0)"
            claims = (Holds(shared, before=True, words=words),) if name else ()
        yield Diagnostic(event.node, message, event.trace, fix, level, claims=claims)
