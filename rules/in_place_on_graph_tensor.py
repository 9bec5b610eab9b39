from collections.abc import Iterator
from functools import partial

from torchlint.fixes.rewrites import out_of_place, shown
from torchlint.model import events
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule, spelled
from torchlint.truth import Truth


class InPlaceOnGraphTensor(Rule):
    """
    A tensor of the graph is modified in place.

    ## What it does
    Finds in-place operations on a tensor that has a history, where no error is proven (TLN201 reports those). If
    it is not known that an operation has saved the old value, it is reported only with `--strict`.

    ## Why is this bad?
    Whether it works depends on what every operation before it saved, on the order of the statements, and on whoever
    holds a view or a detached alias. It saves little memory, and breaks when somebody changes a line above.

    ## Cure
    Be explicit: `c = c * 2` instead of `c *= 2` or `c.mul_(2)`.

    ## Fix safety
    Unsafe: views and other names of the tensor don't see the new value any more.

    ## Known limits
    Silent where it isn't sure that the tensor is in a graph. With `--strict` only: code that its name calls inference,
    or that the project only calls with grad mode off; what only dropped results have saved. Indexed writes are TLN205.

    ## References
    - [In-place operations with autograd](https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd)
    """

    code = "TLN204"
    name = "in-place-on-graph-tensor"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            y = torch.sigmoid(x)  # note: `y` created here; `sigmoid` saves its result
            y += 1  # smell: [TLN204]  # note: `+=` overwrites `y`
            """,
            shows=Holds("y._version == 1"),
            fixed="""
            import torch

            x = torch.ones(3, requires_grad=True)
            y = torch.sigmoid(x)
            y = y + 1
            """,
        ),
        Example(
            """
            import torch

            p = torch.tensor(2.0, requires_grad=True)
            c = 2 * p
            c.mul_(1.0)  # strict: [TLN204]
            (c**2).backward()
            """,
            shows=Holds("c._version == 1"),
            fixed="""
            import torch

            p = torch.tensor(2.0, requires_grad=True)
            c = 2 * p
            c = c.mul(1.0)
            (c**2).backward()
            """,
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            noise = torch.empty(3)
            noise.normal_()  # in no graph
            y = torch.sigmoid(x) + noise
            y.sum().backward()
            """
        ),
    )

    def check(self, event: events.InplaceWrite) -> Iterator[Diagnostic]:
        level = _level(event)
        if level is None:
            return
        message = partial(_message, event)
        claims = (Observed("graph-written", event.target.name),)
        yield Diagnostic(event.node, message, event.trace, partial(out_of_place, event), level, claims=claims)


def _message(event: events.InplaceWrite) -> str:
    target = shown(event.target_node, event.target.name)
    if event.target_node is event.node:
        target = f"a result inside {target}"  # of the layer before it in a `Sequential`
    message = f"`{event.op}` modifies {target} in place, "
    if event.old_value_needed is Truth.YES:
        message += "after an operation saved it: a backward through that would raise"
    elif event.old_value_needed is Truth.MAYBE:
        message += "a tensor of the graph that another operation may have saved"
    else:
        message += "a tensor of the graph; harmless, since nothing has saved the old value"
    return message + spelled(event.conditions)


def _level(event: events.InplaceWrite) -> Level | None:
    if event.spelling in ("indexed", "optimizer") or event.old_value_in_graph is not Truth.YES:
        return None
    if event.leaf_raises is Truth.YES or event.broken is Truth.YES:
        return None
    # What an unknown operation has made may be saved by it; most save their inputs alone.
    told = event.old_value_needed is Truth.YES and not event.filled and not event.for_inference
    return Level.SMELL if told else Level.STRICT
