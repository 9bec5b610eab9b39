from collections.abc import Iterator
from functools import partial

from torchlint.fixes.rewrites import old_value_kept, shown
from torchlint.model.events import writes
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class InPlaceChangesValueReadLater(Rule):
    """
    An in-place operation changes a value that is read afterwards as if it were unchanged.

    ## What it does
    Finds a tensor that an in-place layer or function overwrites while its result goes on under another name, and that
    is then read by the old one: a block that begins with `nn.ReLU(inplace=True)` and ends with `out + x`. Finds `old =
    h` before `h += y`, where `old` is read as well, and lists that get the same tensor again after it was written: all
    their elements are one.

    ## Why is this bad?
    Torch raises only if an operation had saved the old value. A sum saves nothing: the skip connection adds `relu(x)`
    in place of `x`, and the network trains a little worse, without a word.

    ## Cure
    Leave out `inplace=True` at the head of a branch, write `h = h + y`, or keep `h.clone()`.

    ## Fix safety
    Unsafe: the numbers that are computed change.

    ## Known limits
    A `relu` of what has no negative element changes nothing; that is seen only where the text shows how the tensor was
    made, not of an argument. Silent where a second branch begins with the same `relu`, where code that is not
    followed reads the tensor, and where it is read for its shape alone. `y = x.relu_()` is TLN211, a function that
    writes into its argument TLN213, and what torch refuses TLN201.

    ## References
    - [torch.nn.ReLU](https://docs.pytorch.org/docs/stable/generated/torch.nn.ReLU.html): "can optionally do the
      operation in-place"
    - [Tensor.clone](https://docs.pytorch.org/docs/stable/generated/torch.clone.html)
    """

    code = "TLN216"
    name = "in-place-changes-value-read-later"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch
            from torch import nn

            torch.manual_seed(0)
            block = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4))
            x = torch.tensor([-1.0, 2.0, -3.0, 4.0])
            out = block(x)  # warning: [TLN216]  # note: `relu(inplace=True)` overwrites it
            out = out + x  # note: `x` is read here
            """,
            shows=Holds("x.min() == 0"),
            fixed="""
            import torch
            from torch import nn

            torch.manual_seed(0)
            block = nn.Sequential(nn.ReLU(), nn.Linear(4, 4))
            x = torch.tensor([-1.0, 2.0, -3.0, 4.0])
            out = block(x)
            out = out + x
            """,
        ),
        Example(
            """
            import torch

            h = torch.zeros(3)
            states = []
            for x in torch.ones(4, 3):
                h += x  # note: `+=` overwrites it
                states.append(h)  # warning: [TLN216]
            unrolled = torch.stack(states)  # note: `states` is read here
            """,
            shows=Holds("(unrolled == 4).all()"),
            fixed="""
            import torch

            h = torch.zeros(3)
            states = []
            for x in torch.ones(4, 3):
                h += x
                states.append(h.clone())
            unrolled = torch.stack(states)
            """,
        ),
        Example(
            """
            import torch

            w = torch.ones(3)
            old = w
            w -= 0.5  # warning: [TLN216]  # note: `-=` overwrites it
            moved = (w - old).abs().sum()  # note: `old` is read here
            """,
            shows=Holds("moved == 0"),
            fixed="""
            import torch

            w = torch.ones(3)
            old = w
            w = w - 0.5
            moved = (w - old).abs().sum()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch import nn
            import torch.nn.functional as F

            act, linear = nn.ReLU(inplace=True), nn.Linear(4, 4)
            x = torch.randn(2, 4)
            x = act(x)  # the name means the new value
            out = linear(x) + x
            x.mul_(0.5)
            F.relu_(x)
            out = out + x
            """
        ),
    )

    def check(self, event: writes.OldValueRead) -> Iterator[Diagnostic]:
        target = shown(event.target_node, event.target.name)
        if event.how == "repeated":
            message = (
                f"`{event.name}` gets {target} again after `{event.op}` has changed it: its elements are one tensor"
            )
            claims = (Observed("kept-again", event.name),)
        else:
            message = f"`{event.op}` changes {target}, and `{event.name}` is read afterwards as if it were unchanged"
            claims = (Observed("old-value-read", event.target.name, event.name),)
        yield Diagnostic(event.node, message, event.trace, partial(old_value_kept, event), claims=claims)
