from collections.abc import Iterator

from torchlint.fixes.rewrites import calls_method, no_freed_graph
from torchlint.model import events
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Example, Level, Observed, Raises, Rule, spelled
from torchlint.truth import Truth

_RAISES, _ADDED = Raises("Trying to backward through the graph a second time"), Observed("gradient-accumulated")


class BackwardThroughFreedGraph(Rule):
    """
    Backward comes to a part of the graph that an earlier backward has freed.

    ## What it does
    Finds a `backward()` or `torch.autograd.grad()` that reaches a node whose saved tensors an earlier one has freed:
    the same loss twice, losses that share a part of the graph, carried state, a graph built once.

    ## Why is this bad?
    Operations save tensors for their gradient; a backward frees them, and the next one there raises. Nodes that save
    none (`+`, `sum`, `view`, `cat`) don't raise: the same loss then adds its gradient twice, a warning, as for unknown
    code.

    ## Cure
    Two losses, one graph: one backward on their sum, or `fake.detach()` in the first. One loss, several steps: compute
    it anew. State that outlives an iteration: `h = h.detach()`. `retain_graph=True` is rarely what you want.

    ## Fix safety
    Unsafe: the first loss now waits for the second, and a detached state doesn't learn through earlier iterations.

    ## Known limits
    Silent where it isn't sure that the freed node saved something, which two losses may well share. Of a network that
    is given it speaks where an optimizer is built over its parameters in sight, or where it is given its last result.

    ## References
    - [torch.Tensor.backward](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html)
    - [Saved tensors](https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors)
    """

    code = "TLN101"
    name = "backward-through-freed-graph"
    level = Level.ERROR
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch
            x1, x2 = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
            y = x1 * (x1 + x2)  # note: `*` is recorded here
            y.backward()  # note: backward frees the graph here
            y.backward()  # error: [TLN101]  # note: backward comes to the freed node of `*` here
            """,
            shows=Raises("Trying to backward through the graph a second time"),
        ),
        Example(
            """
            import torch
            p = torch.tensor(2.0, requires_grad=True)
            c = p * p  # note: `*` is recorded here
            a, b = c + 1, c * p
            a.backward()  # note: backward frees the graph here
            b.backward()  # error: [TLN101]  # note: backward comes to the freed node of `*` here
            """,
            shows=Raises("Trying to backward through the graph a second time"),
            fixed="""
            import torch
            p = torch.tensor(2.0, requires_grad=True)
            c = p * p
            a, b = c + 1, c * p
            (a + b).backward()
            """,
        ),
        Example(
            """
            import torch
            w, h = torch.full((2, 2), 0.5, requires_grad=True), torch.ones(1, 2)
            for _ in range(3):
                h = torch.tanh(h @ w)
                h.sum().backward()  # error: [TLN101]
            """,
            shows=Raises("Trying to backward through the graph a second time"),
            fixed="""
            import torch
            w, h = torch.full((2, 2), 0.5, requires_grad=True), torch.ones(1, 2)
            for _ in range(3):
                h = torch.tanh(h @ w)
                h.sum().backward()
                h = h.detach()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            shared = (x := torch.ones(3, requires_grad=True)) + 1  # saves nothing: both backwards may pass
            shared.sum().backward()
            shared.mean().backward()
            """
        ),
    )

    def check(self, event: events.FreedGraphRead | gradients.GivenNetworkFreed) -> Iterator[Diagnostic]:
        root = f"`{event.root.name}`" if event.root.name else "the same tensor"
        if isinstance(event, gradients.GivenNetworkFreed):
            yield Diagnostic(event.node, _of_given(event, root), event.trace, level=Level.WARNING, claims=(_RAISES,))
        elif event.saves is Truth.YES:
            said = _message(event, root) + spelled(event.conditions)
            yield Diagnostic(event.node, said, event.trace, no_freed_graph(event), claims=(_RAISES,))
        elif event.unseen:
            message = _of_unseen(event, root) + spelled(event.conditions)
            fix = no_freed_graph(event) if event.carried else None
            yield Diagnostic(event.node, message, event.trace, fix, level=Level.WARNING, claims=(_RAISES, _ADDED))
        elif event.same_root and calls_method(event.node, "backward") and calls_method(event.freed_by.node, "backward"):
            message = f"backward runs twice from {root}: its gradient is accumulated twice"
            yield Diagnostic(event.node, message, event.trace, level=Level.WARNING, claims=(_ADDED,))


def _carried(*names: str) -> str:
    return f"backward goes through `{'` and `'.join(names)}` into the iteration before, whose graph is freed"


def _of_given(event: gradients.GivenNetworkFreed, root: str) -> str:
    if event.carried:
        return f"{_carried(event.carried)}, unless `{event.network}` detaches what it is given or returns"
    call = f"{root if event.root.name else 'backward'} goes back through a call of `{event.network}`"
    return f"{call} that an earlier backward has freed, where `{event.network}` is not frozen"


def _of_unseen(event: events.FreedGraphRead, root: str) -> str:
    root = f"every iteration calls backward on {root}" if event.same_call else f"second backward from {root}"
    return _carried(*event.carried.names) if event.carried else f"{root}, whose graph the first has freed"


def _message(event: events.FreedGraphRead, root: str) -> str:
    shared = f"`{event.result}`" if event.result else f"a `{event.op}`"
    if event.built_in_init:
        return f"the graph of {shared} is built once, in `__init__`, and the first backward has freed it"
    if event.carried or (event.same_root and event.same_call):
        return _of_unseen(event, root)
    if event.same_root:
        return f"second backward from {root}: the first has freed what `{event.op}` saved"
    if event.built_before:
        made = "`" + "` and `".join(event.built_before) + "`, made before the loop, whose graph the first has freed"
        return f"every iteration goes back through {made}: `.detach()` there, or compute it in the loop"
    if event.same_call:
        return f"every iteration goes back through {shared}, and the first has freed what `{event.op}` saved"
    root = root if event.root.name else "this backward"
    return f"{root} shares {shared} with an earlier backward, which has freed what `{event.op}` saved"
