from collections.abc import Iterator

from torchlint.fixes.rewrites import code, detached, followed_by, one_backward, one_for_all, replaced, without_argument
from torchlint.model import events
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule, spelled


class RetainGraph(Rule):
    """
    A backward keeps its graph with `retain_graph=True`.

    ## What it does
    Finds `retain_graph=True`, and says what it is there for: nothing (no later backward reads the graph), two losses
    that share a graph, or a state that drags the graphs of earlier iterations along.

    ## Why is this bad?
    The saved tensors of the whole graph stay in memory. Two losses that share a graph run the shared part twice. A
    carried state takes every backward through all iterations before, and raises once a step has overwritten weights.

    ## Cure
    Nobody reads it: leave it out. Two losses: one backward on the sum; with a step in between, both before it, with
    `inputs` of their own; in a GAN, `D(fake.detach())` first, `D(fake)` second. Carried state: `h = h.detach()`.

    ## Fix safety
    Removing what nothing needs is safe in a file without another backward. The others: see TLN101.

    ## Known limits
    Silent where a variable gives `retain_graph`, beside `create_graph=True`, where the two backwards have different
    `inputs` or a reset between, and where TLN202 says that the second raises. Strict: unknown readers, a step, a loop.

    ## References
    - [torch.Tensor.backward](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html)
    """

    code = "TLN102"
    name = "retain-graph"
    level = Level.SMELL
    fixes = "both"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch
            x = torch.ones(3, requires_grad=True)
            loss = (x * x).sum()
            loss.backward(retain_graph=True)  # smell: [TLN102]
            """,
            shows=Holds("loss.grad_fn.next_functions[0][0]._saved_self.numel() == 3"),
            fixed="""
            import torch
            x = torch.ones(3, requires_grad=True)
            loss = (x * x).sum()
            loss.backward()
            """,
        ),
        Example(
            """
            import torch
            c, visits = torch.ones(3, requires_grad=True).square(), []
            c.register_hook(visits.append)
            a, b = c.sum(), c.mean()
            b.backward(retain_graph=True)  # smell: [TLN102]
            a.backward()  # note: this backward reads the retained graph
            """,
            shows=Holds("len(visits) == 2"),
            fixed="""
            import torch
            c, visits = torch.ones(3, requires_grad=True).square(), []
            c.register_hook(visits.append)
            a, b = c.sum(), c.mean()
            (b + a).backward()
            """,
        ),
        Example(
            """
            import torch
            w, h, visits = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0), []
            for _ in range(3):
                h = h * w
                h.register_hook(visits.append)
                h.backward(retain_graph=True)  # smell: [TLN102]
            """,
            shows=Holds("len(visits) == 1 + 2 + 3"),
            fixed="""
            import torch
            w, h, visits = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0), []
            for _ in range(3):
                h = h * w
                h.register_hook(visits.append)
                h.backward()
                h = h.detach()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            c = torch.ones(3, requires_grad=True).square()
            c.backward(torch.full((3,), 4 / 3))  # the sum and the mean of `c`, in one pass
            """
        ),
    )

    def check(self, event: events.GraphRetained) -> Iterator[Diagnostic]:
        alone = not code(event.call.func).endswith(".backward")  # `autograd.grad` is asked for one loss
        if event.use in ("apart", "broken") or (alone and event.use in ("shared", "again", "stepped", "turns")):
            return
        loss = f"`{event.root.name}`" if event.root.name else "the loss"
        again = f"a later backward reads the graph of {loss}"
        match event.use:
            case "unread":
                message = f"no later backward reads the graph of {loss}: drop `retain_graph=True`"
            case "shared":
                message = f"{again} again: {one_for_all(event)} instead"
            case "again":
                message = f"a later backward of {loss} adds the same gradient once more: drop one of them"
            case "stepped":
                message = f"{again} after an optimizer's step: run both before it, each with its `inputs=`"
            case "turns":
                message = f"{again} for another optimizer: for this loss `detach()` what that one's network gives"
            case "carried":
                states = [f"`{name}`" for name in event.carried.names] if event.carried else ["a state"]
                takes = " and ".join(states) + (" takes" if len(states) == 1 else " take")
                message = f"{takes} every backward through all iterations before, until a step makes it raise"
            case "repeated":
                cure = "`is_grads_batched=True` takes all at once" if alone else one_for_all(event)
                message = f"every iteration runs backward through one graph, which `retain_graph=True` keeps: {cure}"
            case "unknown":
                message = f"`retain_graph=True` keeps the saved tensors of {loss} in memory after the backward"
        claim = Observed("retained-graph", other="needless" if (fix := _fix(event)) is not None and fix.safe else "")
        # Whoever wrote it may know who reads the graph; a step that breaks it is TLN202's; a loop may weigh its losses.
        in_loop = event.use == "shared" and any(step.node is event.call for step in event.readers)
        level = Level.STRICT if in_loop or event.use in ("unknown", "stepped", "repeated") else None
        yield Diagnostic(event.argument, message + spelled(event.conditions), event.trace, fix, level, claims=(claim,))


def _fix(event: events.GraphRetained) -> Fix | None:
    without = without_argument(event.call, event.argument)
    if event.use == "shared" and event.next_statement is not None and event.adds_up:
        text = one_backward(event.statement, event.next_statement)
        edits = (Edit(event.statement, ""), Edit(event.next_statement, text or ""))
        return Fix(f"call backward once, on the sum: `{text}`", edits, safe=False) if text else None
    if event.use == "unread" and without is not None:
        return Fix("remove `retain_graph=True`", (Edit(event.call, without),), safe=event.only)
    if event.use == "carried" and event.carried and without is not None:
        detach = detached(event.carried)
        text = followed_by(replaced(event.statement, event.call, without), detach) if detach else None
        return Fix(f"detach the state instead: `{detach}`", (Edit(event.statement, text),), False) if text else None
    return None
