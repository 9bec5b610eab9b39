from collections.abc import Iterator

from torchlint.fixes.rewrites import code, inside_parameter
from torchlint.model import events
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Raises, Rule, spelled
from torchlint.syntax import cst


class NonLeafParameter(Rule):
    """
    An operation on an `nn.Parameter` is assigned to a module's attribute: the result is no parameter.

    ## What it does
    Finds `self.w = nn.Parameter(e)` followed by an operation: `** 2`, `* 0.01`, `.to(device)`, `.cuda()`, `.view(...)`,
    `.repeat(...)`, `.exp()`.

    ## Why is this bad?
    The operation returns an ordinary tensor with a history. The module doesn't register it: it is missing in
    `parameters()`, so no optimizer trains it, and in `state_dict()`, so no checkpoint holds it. Its graph is built
    once, in `__init__`, and freed by the first backward: the second one raises (TLN101).

    ## Cure
    Move the operation into the parameter, `nn.Parameter(e ** 2)`, if it only prepares the first value. Do it in
    `forward`, `self.w ** 2`, if the weight shall always be of that form.

    ## Fix safety
    Unsafe: moved inside, the operation is applied once and not learned through.

    ## Known limits
    Operations that return the parameter itself (`requires_grad_()`) are fine, and so is `.to(...)` where it is known
    to change nothing. Of a frozen parameter (`requires_grad=False`) it is a smell: it misses in `state_dict()` alone.

    ## References
    - [torch.nn.parameter.Parameter](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html)
    - [torch.Tensor.is_leaf](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html)
    """

    code = "TLN301"
    name = "non-leaf-parameter"
    level = Level.ERROR
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch
            from torch import nn

            class Scale(nn.Module):
                def __init__(self, n):
                    super().__init__()
                    self.weights = nn.Parameter(torch.rand(n)) ** 2  # error: [TLN301]

                def forward(self, x):
                    return x * self.weights

            scale = Scale(5)
            """,
            shows=Holds("len(list(scale.parameters())) == 0 and not scale.weights.is_leaf"),
            fixed="""
            import torch
            from torch import nn

            class Scale(nn.Module):
                def __init__(self, n):
                    super().__init__()
                    self.weights = nn.Parameter(torch.rand(n) ** 2)

                def forward(self, x):
                    return x * self.weights

            scale = Scale(5)
            """,
        ),
        Example(
            """
            import torch

            class Prior(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.log_scale = torch.nn.Parameter(torch.zeros(3) + 1).double()  # error: [TLN301]

            optimizer = torch.optim.SGD(Prior().parameters(), lr=0.1)  # error: [TLN305]
            """,
            shows=Raises("optimizer got an empty parameter list"),
            fixed="""
            import torch

            class Prior(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.log_scale = torch.nn.Parameter((torch.zeros(3) + 1).double())

            optimizer = torch.optim.SGD(Prior().parameters(), lr=0.1)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch import nn

            class Scale(nn.Module):
                def __init__(self, n):
                    super().__init__()
                    self.weights = nn.Parameter(torch.rand(n))
                    self.frozen = nn.Parameter(torch.rand(n)).requires_grad_(False)

                def forward(self, x):
                    return x * self.weights**2 * self.frozen

            assert len(list(Scale(5).parameters())) == 2
            """
        ),
    )

    def check(self, event: events.ParameterDerived) -> Iterator[Diagnostic]:
        where = spelled(event.conditions).removeprefix(", ")  # the condition comes first
        message = f"{where}, " if where else ""
        message += f"`self.{event.attribute}` is the result of `{event.op}` on a parameter, and no parameter of "
        text = inside_parameter(event.value_node, event.parameter_node)
        edits = (Edit(event.value_node, text),) if text is not None else ()
        fix = Fix(f"move `{event.op}` inside: `{text}`", edits, safe=False) if edits else None
        flag = _flag(event.parameter_node)
        frozen = flag == "False"
        lost = "no `state_dict` holds it" if frozen else "no optimizer gets it"
        open_flag = flag not in ("True", "False")
        message += f"`{event.module}`: {lost}" + (f", where `{flag}` is true" if open_flag else "")
        claims = (Observed("leaf-lost", f"self.{event.attribute}", "parameter"),)
        level = Level.SMELL if frozen else Level.WARNING if open_flag else None
        group = (event.module, where) if where else None  # one condition of one class is one thing to change
        label = f"`self.{event.attribute}`"
        yield Diagnostic(
            event.node, message, event.trace, fix, level, group=group, label=label, others="result", claims=claims
        )


def _flag(call: cst.Call) -> str:
    """What is given as `requires_grad`."""
    named = (each.value for each in call.args if each.keyword is not None and each.keyword.value == "requires_grad")
    second = (each.value for each in call.args[1:2] if each.keyword is None and not each.star)
    given = next(named, None) or next(second, None)
    return "True" if given is None else code(given.with_changes(lpar=(), rpar=()))
