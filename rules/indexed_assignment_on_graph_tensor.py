from collections.abc import Iterator
from functools import partial

from torchlint.fixes.rewrites import out_of_place, shown
from torchlint.model import events
from torchlint.rule import Claim, Diagnostic, Example, Holds, Level, Observed, Raises, Rule, spelled
from torchlint.truth import Truth

_CURES: dict[str, str] = {
    "mask": "`torch.where` or `masked_fill` gives a new tensor",
    "places": "`index_copy` or `index_put` gives a new tensor",
    "round": "collect the parts for `torch.stack`",
    "part": "build it with `torch.cat`",
}
_RISKS = {
    Truth.YES: ", which was read and saved: a backward through that raises",
    Truth.MAYBE: ", which was read and may be saved: a backward through that raises then",
    Truth.NO: ", which nothing has saved",
}


class IndexedAssignmentOnGraphTensor(Rule):
    """
    A graph tensor is written by index, or a graph tensor is written into another one.

    ## What it does
    Finds `y[i] = v` and `y[i] += v` where `y` or `v` is part of a recorded graph: loops that fill, masks, caches. Where
    a backward is proven to read the overwritten value, it is an error. One finding per tensor: further writes to it are
    counted. Strict where nothing is known to have saved what it overwrites, and where no graph is left of it, names
    say so (`if not self.training`), or all calls do.

    ## Why is this bad?
    Indexing is in place, too, and it always bumps the version of the *whole* tensor: `y[2] = x[0] * y[0]` overwrites
    what `*` saved. Each assignment copies the full gradient in backward, n times in n.

    ## Cure
    What a loop fills: `torch.stack` or `torch.cat` of the parts; rounds that need what others wrote read a `clone()`.
    What a mask selects: `torch.where`. Rows: `index_copy`, `index_put`. A part: `torch.cat`, `slice_scatter`.

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

            cell, y = torch.nn.Linear(2, 2), torch.zeros(3, 2)
            for t in range(1, 3):
                y[t] = cell(y[t - 1])  # smell: [TLN205]
            """,
            shows=Holds("'CopySlices' in y.grad_fn.name()"),
        ),
        Example(
            """
            import torch

            x = torch.ones(2, requires_grad=True)
            y = torch.empty(3)
            y[:2] = x
            y[2] = x[0] * y[0]  # error: [TLN205]  # note: `*` saves its input `y[0]`; `[...] =` writes into `y`
            y[0].backward()  # note: backward reads it here
            """,
            shows=Raises("modified by an inplace operation"),
            fixed="""
            import torch

            x = torch.ones(2, requires_grad=True)
            y = torch.empty(3)
            y[:2] = x
            y = torch.select_scatter(y, x[0] * y[0], 0, 2)
            y[0].backward()
            """,
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
            torch.zeros(3)[0] = 1.0  # in no graph
            torch.cat([x, (x[0] * x[0]).reshape(1)]).sum().backward()
            """
        ),
    )

    def check(self, event: events.InplaceWrite | events.SavedTensorRead) -> Iterator[Diagnostic]:
        level = _level(event)
        if level is None:
            return
        target = shown(event.target_node, event.target.name)
        made: object = (event.target.name, event.conditions) if event.conditions else None
        if isinstance(event, events.SavedTensorRead):
            saved = f"`{event.name}`" if event.name else "a tensor"
            message = f"`{event.write_op}` overwrites {target} after `{event.saver}` saved {saved} for backward"
            message += f"{spelled(event.conditions)}: build it with `torch.cat`, `torch.stack` or `torch.where`"
            claims: tuple[Claim, ...] = (Raises("modified by an inplace operation", here=False),)
        else:
            wrote = "writes a graph tensor into" if event.value_in_graph is Truth.YES else "overwrites a part of"
            message = f"`{event.op}` {wrote} {target}{spelled(event.conditions)}"
            copied = event.old_value_needed is not Truth.NO and event.index in ("round", "part", "")
            message += f"{'' if event.filled else _RISKS[event.old_value_needed]}; "
            message += f"{'read a `clone()`, or ' if copied else ''}{_CURES[event.index or 'part']}"
            made, claims = event.made, (Observed("graph-written", event.target.name),)
        fix = partial(out_of_place, event)
        yield Diagnostic(event.node, message, event.trace, fix, level, group=made, others="write", claims=claims)


def _level(event: events.InplaceWrite | events.SavedTensorRead) -> Level | None:
    if event.spelling != "indexed":
        return None
    if isinstance(event, events.SavedTensorRead):
        return Level.STRICT if event.for_inference else Level.ERROR
    if event.in_graph is not Truth.YES or Truth.YES in (event.leaf_raises, event.broken):
        return None
    # Of fourteen that "may be saved" in draws, one was worth reading, and four were wrong.
    kept = event.old_value_needed is Truth.YES and not event.filled and not event.for_inference
    return Level.SMELL if kept else Level.STRICT
