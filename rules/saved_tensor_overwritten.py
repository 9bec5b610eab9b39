from collections.abc import Iterator

from torchlint.fixes.rewrites import out_of_place, shown
from torchlint.model import events
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule, spelled


class SavedTensorOverwritten(Rule):
    """
    Backward needs a tensor that was overwritten after an operation saved it.

    ## What it does
    Finds in-place writes (`t.mul_(2)`, `t += 1`, `out=`, `inplace=True`) to a tensor that an earlier operation saved
    for its gradient, where a backward reads it later. The write may go through a view, or through a `detach()`: both
    share the memory and the version counter. It may hit tensors without gradient, too: masks, indices, targets.

    ## Why is this bad?
    Autograd compares the tensor's version counter with the one it saved, and raises in backward, far away from the
    write. What an operation saves is its own business: `exp`, `sigmoid`, `relu`, `softmax` save their result, `*`, `@`,
    `**` and convolutions their inputs, `+`, `sum` and `view` nothing. So a harmless write turns into an error when
    somebody changes the activation in front of it.

    ## Cure
    Write out of place: `t = t.mul(2)`, `t = t + 1`. The saved tensor then stays as it was.

    ## Fix safety
    Unsafe: views and other names of the tensor don't see the new value any more.

    ## Known limits
    A proof about eager mode. If it holds only for inputs of a `forward` that require grad, or only where one condition
    of the program holds (an `if` that comes before the write), it is a warning that says so. With `--strict` only where
    names (`if not self.training`), or all calls of it, say that nobody differentiates what is returned. Indexed
    assignments (`t[i] = ...`) are reported by TLN205. Writes through `.data` don't move the version counter: torch
    doesn't see them, and the gradient is silently wrong.

    ## References
    - [In-place correctness checks](https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks)
    - [Saved tensors](https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors)
    """

    code = "TLN201"
    name = "saved-tensor-overwritten"
    level = Level.ERROR
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            x = torch.ones(3, requires_grad=True)
            y = torch.sigmoid(x)  # note: `sigmoid` saves its result
            y.mul_(2)  # error: [TLN201]  # note: `mul_` overwrites `y`
            y.sum().backward()  # note: backward reads it here
            """,
            shows=Raises("modified by an inplace operation"),
            fixed="""
            import torch

            x = torch.ones(3, requires_grad=True)
            y = torch.sigmoid(x)
            y = y.mul(2)
            y.sum().backward()
            """,
        ),
        Example(
            """
            import torch

            p = torch.tensor(2.0, requires_grad=True)
            q = torch.tensor(3.0, requires_grad=True)
            c = 2 * p
            c_copy = c.detach()  # note: `detach()` shares memory with `c`
            b = c_copy * q  # note: `*` saves its input `c_copy`
            c *= 1.0  # error: [TLN201]  # note: `*=` overwrites `c`
            b.backward()  # note: backward reads it here
            """,
            shows=Raises("modified by an inplace operation"),
            fixed="""
            import torch

            p = torch.tensor(2.0, requires_grad=True)
            q = torch.tensor(3.0, requires_grad=True)
            c = 2 * p
            c_copy = c.detach()
            b = c_copy * q
            c = c * 1.0
            b.backward()
            """,
        ),
        Example(
            """
            import torch
            import torch.nn.functional as F

            model = torch.nn.Linear(2, 2)
            h = torch.exp(model(torch.ones(1, 2)))  # note: `exp` saves its result
            h = F.relu(h, inplace=True)  # error: [TLN201]  # note: `relu(inplace=True)` overwrites `h`
            h.sum().backward()  # note: backward reads it here
            """,
            shows=Raises("modified by an inplace operation"),
            fixed="""
            import torch
            import torch.nn.functional as F

            model = torch.nn.Linear(2, 2)
            h = torch.exp(model(torch.ones(1, 2)))
            h = F.relu(h)
            h.sum().backward()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 2)
            h = model(torch.ones(1, 2)) + 1  # `+` saves nothing: the old value may go
            h.mul_(2)
            h.sum().backward()
            """
        ),
    )

    def check(self, event: events.SavedTensorRead) -> Iterator[Diagnostic]:
        if event.spelling in ("optimizer", "indexed"):
            return
        part = "result" if event.saved.startswith("its result") else "input"
        saved = f"`{event.name}`, the {part} that" if event.name else f"the {part} that"
        message = f"`{event.write_op}` overwrites {saved} `{event.saver}` saved for backward"
        target = shown(event.target_node, event.target.name)
        if event.through == "detach":
            message += f": {target} shares its memory"
        elif event.through and event.target.name != event.name:
            message += f", through {target}, its {event.through}"
        message += spelled(event.conditions)
        claims = (Raises("modified by an inplace operation", here=False),)
        level = Level.STRICT if event.for_inference else None
        yield Diagnostic(event.node, message, event.trace, out_of_place(event), level, claims=claims)
