from collections.abc import Iterator

from torchlint.fixes.rewrites import attributes, code, has_comment
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Raises, Rule, Settings
from torchlint.syntax import cst
from torchlint.truth import Truth


class ManualGradZeroing(Rule):
    """
    A gradient is reset by hand.

    ## What it does
    Finds `x.grad.zero_()`, `x.grad.data.zero_()`, `x.grad = None`, `x.grad *= 0`, `x.grad.fill_(0)`, for one tensor or
    in a loop over `parameters()`.

    ## Why is this bad?
    It is easy to forget one tensor, and gradients of two passes add up. What is zeroed in place is zero for whoever
    kept it (`g = x.grad`), too. Before the first backward `.grad` is None: then `x.grad.zero_()` raises.

    ## Cure
    `optimizer.zero_grad()` or `module.zero_grad()`. For bare tensors `torch.autograd.grad(loss, (x1, x2))`: it returns
    the gradients and accumulates nothing.

    ## Fix safety
    Unsafe: `zero_grad()` resets all parameters, and sets `.grad` to None rather than to zeros.

    ## Known limits
    Scaling, clipping or setting a gradient isn't reported, nor what stands in a function `zero_grad` of your own, nor
    what isn't known to be a tensor's. With `--strict` only: `x.grad = None`, as `zero_grad()` does since torch 2.0;
    what forgets none (a loop over `parameters()`, all leaves after a step by hand), unless a name holds the gradient;
    and where no optimizer or module is known to hold the tensor, or a loop over parameters does more than this, and no
    backward is known to have reached it (it may fill others, as `torch.autograd.grad` would not; the loop may choose).

    ## References
    - [torch.optim.Optimizer.zero_grad](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html)
    - [torch.autograd.grad](https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html)
    """

    code = "TLN401"
    name = "manual-grad-zeroing"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            x = torch.tensor(2.0, requires_grad=True)
            (x**2).backward()
            slope = x.grad
            x.grad.zero_()  # smell: [TLN401]
            (x**3).backward()
            """,
            shows=Holds("slope.item() == 12"),  # and not 4: zeroed and filled again
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            model(torch.ones(1, 2)).sum().backward()
            before = model.weight.grad
            for p in model.parameters():
                p.grad.zero_()  # smell: [TLN401]
            """,
            shows=Holds("before.abs().sum() == 0"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            model(torch.ones(1, 2)).sum().backward()
            before = model.weight.grad
            model.zero_grad()
            """,
        ),
        Example(
            """
            import torch

            x = torch.tensor(2.0, requires_grad=True)
            x.grad.zero_()  # error: [TLN401]
            """,
            shows=Raises("'NoneType' object has no attribute 'zero_'"),
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.tensor(2.0, requires_grad=True)
            (x * x).backward()
            x.grad *= 0.5  # scaled, not reset
            (slope,) = torch.autograd.grad(x * x, x)
            """
        ),
    )

    def check(self, event: gradients.GradWritten, settings: Settings) -> Iterator[Diagnostic]:
        if event.how == "assign" or event.function == "zero_grad":
            return
        owner, anew = _gradient(event), event.how in ("none", "zeros")  # whoever else holds the old gradient keeps it
        if event.grad_is_none is Truth.YES and not anew:
            message = f"{owner} is still None here: no backward has reached the tensor"
            claims = (Raises("'NoneType' object has no attribute"),)
            yield Diagnostic(event.node, message, event.trace, level=Level.ERROR, claims=claims)
            return
        tensor = owner.strip("`").removesuffix(".grad") if owner.startswith("`") else "x"
        holder = event.optimizer or event.parameters_of
        if not holder and event.owner.is_parameter is Truth.YES:
            here = tensor.startswith(f"{event.object}.")
            holder = event.object if here else event.object and tensor.rpartition(".")[0]
        statement, fix = event.loop if event.loop is not None else event.statement, None
        if holder and (event.loop is not None or event.optimizer) and not _loses_comment(statement):
            fix = Fix(f"call `{holder}.zero_grad()`", (Edit(statement, f"{holder}.zero_grad()"),), safe=False)
        older = settings.target.begins_before((2, 0))  # there `zero_grad` fills with zeros itself
        what = "reset" if anew or older else "zeroed"
        cure = _cure(event, tensor, holder, what)
        message = f"{owner} is {what} by hand, as backward adds to it: {cure}"
        some = bool(event.parameters_of) and event.loop is None  # perhaps of those alone that a condition names
        level = None if (holder and not some) or event.alone else Level.STRICT
        level = Level.STRICT if anew or event.all_at_once else level  # that is what `zero_grad` does (since torch 2.0)
        of, seen = event.row or None, (Observed("gradient-zeroed"),)
        yield Diagnostic(event.node, message, event.trace, fix, level, group=of, others="gradient", claims=seen)


def _gradient(event: gradients.GradWritten) -> str:
    """The gradient as this line spells it; the tensor may have another name where it was made."""
    written = [code(node) for node in attributes(event.node, "grad")]
    return f"`{(written or [f'{event.owner.name}.grad'])[0]}`" if written or event.owner.name else "a gradient"


def _cure(event: gradients.GradWritten, tensor: str, holder: str, what: str) -> str:
    if holder:
        kept = "is for that" if what == "reset" or event.loop is not None else "forgets none"
        return f"`{holder}.zero_grad()` {kept}{'' if what == 'reset' else ', and leaves one that you kept as it was'}"
    if not event.read_here:  # but by what reads it off the tensor
        return f"`{tensor}.grad = None` leaves a gradient that somebody kept as it was"
    write = "" if event.row else f"; write `(g,) = torch.autograd.grad(loss, {tensor})`"
    return f"`torch.autograd.grad` doesn't{write}"


def _loses_comment(statement: cst.CSTNode) -> bool:
    if isinstance(statement, cst.For):
        return has_comment(statement.with_changes(leading_lines=[]))
    return not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) > 1
