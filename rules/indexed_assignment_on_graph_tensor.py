from collections.abc import Iterator
from functools import partial

from torchlint.fixes.rewrites import out_of_place, shown
from torchlint.model import events
from torchlint.rule import Claim, Diagnostic, Example, Holds, Level, Observed, Raises, Rule, spelled
from torchlint.truth import Truth


class IndexedAssignmentOnGraphTensor(Rule):
    """
    A graph tensor is written by index, or a graph tensor is written into another one.

    ## What it does
    Finds `y[i] = v` and `y[i] += v` where `y` or `v` is part of a recorded graph: buffers filled in a loop, masks,
    caches. Where a backward is proven to read the overwritten value, it is an error. One finding per tensor: further
    writes to it are counted. Writes that cannot harm are strict: nothing has saved the old value, and no part of the
    tensor is read before the last of them.

    ## Why is this bad?
    Indexing is in place, too, and it always bumps the version of the *whole* tensor: `y[2] = x[0] * y[0]` overwrites
    what `*` saved, although `y[0]` itself stays. Each assignment adds a node that copies the full gradient in
    backward, so a loop of n assignments costs n full copies.

    ## Cure
    Build the tensor from its parts: `torch.stack`, `torch.cat`. For masks: `torch.where`, `masked_fill`. For places:
    `torch.select_scatter`, `torch.slice_scatter`, `index_put`, `scatter`.

    ## Fix safety
    Unsafe: `select_scatter` and `slice_scatter` don't broadcast the value, and views of `y` don't see the new one.

    ## Known limits
    Silent on lists, dicts and NumPy arrays, on tensors outside of any graph, and where that isn't known.

    ## References
    - [In-place correctness checks](https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks)
    - [torch.select_scatter](https://docs.pytorch.org/docs/stable/generated/torch.select_scatter.html)
    """

    code = "TLN205"
    name = "indexed-assignment-on-graph-tensor"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            x = torch.ones(2, requires_grad=True)
            y = torch.empty(3)  # note: `y` created here
            y[:2] = x  # smell: [TLN205]  # note: `[...] =` writes into `y`
            y[2] = x[0] * y[0]  # error: [TLN205]  # note: `*` saves its input `y[0]`; `[...] =` writes into `y`
            y[0].backward()  # note: backward reads it here
            """,
            shows=Raises("modified by an inplace operation"),
            fixed="""
            import torch

            x = torch.ones(2, requires_grad=True)
            y = torch.empty(3)
            y = torch.slice_scatter(y, x, 0, 0, 2)
            y = torch.select_scatter(y, x[0] * y[0], 0, 2)
            y[0].backward()
            """,
        ),
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            out = torch.empty(3)
            for i, each in enumerate(x):
                out[i] = each.sin()  # strict: [TLN205]
            out.sum().backward()
            """,
            shows=Holds("'CopySlices' in out.grad_fn.next_functions[0][0].name()"),
            strict=True,
        ),
        Example(
            """
            import torch

            scores = torch.nn.Linear(4, 4)(torch.ones(2, 4))
            scores[scores < 0] = 0  # strict: [TLN205]
            scores.sum().backward()
            """,
            shows=Holds("scores._version == 1"),
            fixed="""
            import torch

            scores = torch.nn.Linear(4, 4)(torch.ones(2, 4))
            scores = scores.masked_fill(scores < 0, 0)
            scores.sum().backward()
            """,
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.ones(2, requires_grad=True)
            y = torch.cat([x, (x[0] * x[0]).reshape(1)])
            weights = torch.zeros(3)
            weights[0] = 1.0  # in no graph
            (weights * y).sum().backward()
            """
        ),
    )

    def check(self, event: events.InplaceWrite | events.SavedTensorRead) -> Iterator[Diagnostic]:
        level = _level(event)
        if level is None:
            return
        target = shown(event.target_node, event.target.name)
        if isinstance(event, events.SavedTensorRead):
            saved = f"`{event.name}`" if event.name else "a tensor"
            message = f"`{event.write_op}` overwrites {target} after `{event.saver}` saved {saved} for backward"
            cure = "torch.where` or `torch.cat"
        elif event.value_in_graph is Truth.YES:
            message, cure = f"`{event.op}` writes a graph tensor into {target}", "torch.cat` or `torch.stack"
        else:
            message, cure = (
                f"`{event.op}` overwrites a part of {target}, a graph tensor",
                "torch.where` or `masked_fill",
            )
        message += f"{spelled(event.conditions)}: build it with `{cure}`"
        made = event.made if isinstance(event, events.InplaceWrite) else None
        claims: tuple[Claim, ...] = (Observed("graph-written", event.target.name),)
        if isinstance(event, events.SavedTensorRead):
            claims = (Raises("modified by an inplace operation", here=False),)
        fix = partial(out_of_place, event)
        yield Diagnostic(event.node, message, event.trace, fix, level, group=made, others="write", claims=claims)


def _level(event: events.InplaceWrite | events.SavedTensorRead) -> Level | None:
    """Strict where the tensor is only written: nothing can go wrong before somebody reads it in between."""
    if event.spelling != "indexed":
        return None
    if isinstance(event, events.SavedTensorRead):
        return Level.ERROR
    if event.in_graph is not Truth.YES or event.leaf_raises is Truth.YES or event.broken is Truth.YES:
        return None
    return Level.STRICT if event.filled else Level.SMELL
