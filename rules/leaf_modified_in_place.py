from collections.abc import Iterator

from torchlint.fixes.rewrites import shown, under_no_grad
from torchlint.model import events
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Raises, Rule, spelled
from torchlint.syntax import cst
from torchlint.truth import Truth

_OF_A_LEAF = "a leaf Variable that requires grad"
_MAKING = frozenset({"arange", "eye", "full", "linspace", "logspace", "ones", "rand", "zeros"})
"""With `out=`, and grad mode off, these leave a leaf that requires no grad any more."""


class LeafModifiedInPlace(Rule):
    """
    A leaf that requires grad, or a view of one, is modified in place while gradients are recorded.

    ## What it does
    Finds in-place operations outside `no_grad` on parameters and on tensors made with `requires_grad=True`: updates
    written by hand, initialisation, clamping, `weight[0] = 0`.

    ## Why is this bad?
    A leaf holds its gradient and has no history; after a recorded write it would have to have one. Torch refuses.

    ## Cure
    If the write isn't part of the computation (an update, an initialisation), put it under `torch.no_grad()`. If it
    is, write out of place: `w2 = w * 2`.

    ## Fix safety
    Unsafe: under `no_grad` the write isn't differentiated; it is the cure for updates, not for computations.

    ## Known limits
    Silent where it isn't sure that the tensor is a leaf, or that grad mode is on. With `--strict` only
    where all callers in sight have it off.

    ## References
    - [In-place operations with autograd](https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd)
    - [torch.Tensor.is_leaf](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html)
    """

    code = "TLN203"
    name = "leaf-modified-in-place"
    level = Level.ERROR
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            w = torch.ones(3, requires_grad=True)
            loss = (w**2).sum()
            loss.backward()
            w -= 0.1 * w.grad  # error: [TLN203]
            """,
            shows=Raises("a leaf Variable that requires grad is being used in an in-place operation"),
            fixed="""
            import torch

            w = torch.ones(3, requires_grad=True)
            loss = (w**2).sum()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
            """,
        ),
        Example(
            """
            import torch

            table = torch.nn.Embedding(4, 2)
            table.weight[0] = 0.0  # error: [TLN203]
            """,
            shows=Raises("a view of a leaf Variable that requires grad is being used in an in-place operation"),
            fixed="""
            import torch

            table = torch.nn.Embedding(4, 2)
            with torch.no_grad():
                table.weight[0] = 0.0
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            layer = torch.nn.Linear(2, 2)
            torch.nn.init.zeros_(layer.weight)  # runs under no_grad
            with torch.no_grad():
                layer.bias.fill_(1.0)
            """
        ),
    )

    def check(self, event: events.InplaceWrite) -> Iterator[Diagnostic]:
        if event.leaf_raises is not Truth.YES:
            return
        what = "a view of a leaf" if event.leaf_view is Truth.YES else "a leaf"
        target = shown(event.target_node, event.target.name)
        if event.outdated:
            message = (
                f"`{event.op}` modifies {target} in place, a view from before its base was written: torch takes it"
            )
            claims = (Raises(_OF_A_LEAF),)
            yield Diagnostic(event.node, f"{message} for a leaf{spelled(event.conditions)}", event.trace, claims=claims)
            return
        called_later = any(each.kind == "grad_mode" for each in event.conditions)
        frozen = " unless it is frozen" if called_later and isinstance(event.target_node, cst.Attribute) else ""
        message = f"`{event.op}` modifies {target} in place, {what} that requires grad{frozen}: torch raises"
        made = event.op.endswith("(out=...)") and event.op.partition("(")[0] in _MAKING
        if made:
            message += "; under `torch.no_grad()`, `copy_` what is made"
        elif not called_later:
            message += " outside of `torch.no_grad()`"
        text = None if made else under_no_grad(event.statement)
        edits = (Edit(event.statement, text),) if text is not None else ()
        fix = Fix("put it under `torch.no_grad()`", edits, safe=False, imports=("import torch",)) if edits else None
        refused = "out=... arguments don't support automatic differentiation" if "(out=" in event.op else _OF_A_LEAF
        claims = (Raises(refused),)
        message += spelled(event.conditions)
        group = (event.made, event.target.name)  # the first of several that fill one tensor raises
        level = Level.STRICT if event.only_off else None
        yield Diagnostic(event.node, message, event.trace, fix, level, group=group, others="write", claims=claims)
