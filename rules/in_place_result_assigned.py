from collections.abc import Iterator

from torchlint.fixes.rewrites import NO_TWIN, code
from torchlint.model.events import writes
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Rule
from torchlint.syntax import cst


class InPlaceResultAssigned(Rule):
    """
    The result of an in-place method gets a new name, and the old name is used as well.

    ## What it does
    Finds `z = x.add_(y)` where both `z` and `x` are read afterwards.

    ## Why is this bad?
    It reads as if `z` were a new tensor and `x` the old one. They are one and the same tensor, and the old value is
    gone.

    ## Cure
    `z = x.add(y)` if `x` shall stay as it is. If not, say so in two statements.

    ## Fix safety
    Unsafe: `x` stays as it was, which is what the code reads like, and not what it did.

    ## Known limits
    Silent where only one of the two names is read afterwards: then it's a matter of style.

    ## References
    - [torch.Tensor](https://docs.pytorch.org/docs/stable/tensors.html): "methods which mutate a tensor are marked
      with an underscore suffix"
    """

    code = "TLN211"
    name = "in-place-result-assigned"
    level = Level.SMELL
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            x = torch.ones(3)
            doubled = x.mul_(2)  # smell: [TLN211]
            ratio = doubled / x
            """,
            shows=Holds("(ratio == 1).all()"),
            fixed="""
            import torch

            x = torch.ones(3)
            doubled = x.mul(2)
            ratio = doubled / x
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.ones(3)
            doubled = x.mul(2)
            ratio = doubled / x
            noise = torch.empty(3).normal_()
            x = x.clamp_(0, 1)
            """
        ),
    )

    def check(self, event: writes.InplaceResultBound) -> Iterator[Diagnostic]:
        message = f"`{event.name}` and `{event.target}` are one tensor: `{event.op}` returns the tensor it writes"
        call = event.value_node
        fix = None
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.value is event.target_node:
            name = call.func.attr.value
            if name not in NO_TWIN:
                twin = code(call.with_changes(func=call.func.with_changes(attr=cst.Name(name[:-1]))))
                fix = Fix(f"write `{event.name} = {twin}`", (Edit(call, twin),), safe=False)
        words = f"`{event.name}` and `{event.target}` are one and the same tensor"
        claims = (Holds(f"{event.name} is {event.target}", words=words),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
