import re
from collections.abc import Iterator

from torchlint.fixes.rewrites import code, operand, shown
from torchlint.model.events import work
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Rule, Warns
from torchlint.syntax import cst


class TensorFromTensor(Rule):
    """
    A tensor is copied by `torch.tensor` or `new_tensor`, which are for data.

    ## What it does
    Finds `torch.tensor(t)` and `x.new_tensor(t)` where `t` is known to be a tensor.

    ## Why is this bad?
    The copy leaves the graph without saying so: no gradient flows through it. Torch warns each time it's run.

    ## Cure
    `t.detach().clone()` for a copy without gradients, `t.clone()` for one that keeps them, `torch.as_tensor` where the
    argument may be either.

    ## Fix safety
    Safe where `t` is made by torch's functions in the same function: `torch.tensor(t)` is `t.detach().clone()`, which
    the fix writes out. Unsafe where a caller gives it, an attribute holds it or an annotation says so: another caller
    may pass a list of numbers, which `torch.tensor` takes, too.

    ## Known limits
    Silent where the value is tested with `isinstance`, and for lists of tensors. With `--strict` only where nothing but
    an annotation says that it is a tensor, or where other callers in the file give numbers.

    ## References
    - [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html): "When working with tensors
      prefer using `torch.Tensor.clone`, `torch.Tensor.detach`, …"
    """

    code = "TLN706"
    name = "tensor-from-tensor"
    level = Level.WARNING
    fixes = "both"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            batch = torch.rand(4, 3)
            noisy = torch.tensor(batch)  # warning: [TLN706]
            noisy += 0.1
            """,
            shows=Warns("To copy construct from a tensor"),
            fixed="""
            import torch

            batch = torch.rand(4, 3)
            noisy = batch.detach().clone()
            noisy += 0.1
            """,
        ),
        Example(
            """
            import torch

            w = torch.rand(3)
            start = torch.tensor(w * 2, dtype=torch.float64, requires_grad=True)  # warning: [TLN706]
            """,
            shows=Warns("To copy construct from a tensor"),
            fixed="""
            import torch

            w = torch.rand(3)
            start = (w * 2).detach().to(dtype=torch.float64, copy=True).requires_grad_(True)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            losses = [torch.rand(()).item() for _ in range(3)]
            mean = torch.tensor(losses).mean()
            again = torch.as_tensor(mean)
            """
        ),
    )

    def check(self, event: work.TensorCopied) -> Iterator[Diagnostic]:
        consequence = "cuts the graph and torch warns" if event.in_graph else "torch warns"
        given = re.fullmatch(r"[\w.]+", code(event.data)) and not event.certain  # perhaps numbers, from other callers
        named = {arg.keyword.value: code(arg.value) for arg in event.call.args if arg.keyword is not None}
        # `as_tensor` takes neither of the two
        given = given and event.plain and named.keys().isdisjoint(("requires_grad", "pin_memory"))
        cure = _either(event) if given else f"`{_way(event, named)}` is the same"
        data = shown(event.data, limit=40 if len(cure) < 50 else 24)
        message = f"`{event.how}(...)` is for data, and {data} is a tensor: {consequence}; {cure}"
        if event.annotated:
            message += f", where {data} is one, as its annotation or its use says"
        elif event.either or event.shown:
            why = ": the file gives numbers as well" if event.either else ", as where the module is run as a script"
            message += f", where {data} is one{why}"
        text = _copy(event)
        edits = (Edit(event.node, text),) if text is not None else ()
        fix = Fix("copy with `detach()` and `clone()`", edits, safe=event.certain) if edits else None
        # annotations often lie, and callers differ: numbers and arrays come here as well
        level = Level.STRICT if event.annotated or event.shown or event.either else None
        claims, line = (Warns("To copy construct from a tensor"),), event.statement  # which may say the same twice
        yield Diagnostic(event.node, message, event.trace, fix, level, group=line, others="call", claims=claims)


def _either(event: work.TensorCopied) -> str:
    """What takes numbers as well, and what it does otherwise."""
    way = "`as_tensor` with its dtype" if event.how == "new_tensor" else "`as_tensor`"
    return f"{way} takes those, too{', and keeps the graph' if event.in_graph else ''}"


def _way(event: work.TensorCopied, named: dict[str, str]) -> str:
    """What does the same, in short: with "…" for the dtype and the device that the call gives, and for a flag."""
    moved = event.how == "new_tensor" or not event.plain or not named.keys().isdisjoint(("dtype", "device"))
    way = "detach().to(…, copy=True)" if moved else "detach().clone()"
    pinned = ".pin_memory()" if named.get("pin_memory", "False") != "False" else ""
    flag = named.get("requires_grad", "False")
    leaf = {"False": "", "True": ".requires_grad_()"}.get(flag, ".requires_grad_(…)")
    return f"{way}{pinned}{leaf}"


def _copy(event: work.TensorCopied) -> str | None:
    if not event.plain:
        return None
    moved: list[str] = []
    leaf = ""
    for argument in event.call.args:
        if argument is event.argument:
            continue
        if argument.keyword is None or argument.keyword.value == "pin_memory":
            return None
        if argument.keyword.value == "requires_grad":
            leaf = f".requires_grad_({code(argument.value)})"
        else:
            moved.append(f"{argument.keyword.value}={code(argument.value)}")
    detached = f"{operand(event.data)}.detach()"
    if event.how == "new_tensor":
        if event.receiver is None or not isinstance(event.receiver, cst.Name | cst.Attribute):
            return None
        if moved:
            return None
        return f"{detached}.to({code(event.receiver)}, copy=True){leaf}"
    return f"{detached}.to({', '.join([*moved, 'copy=True'])}){leaf}" if moved else f"{detached}.clone(){leaf}"
