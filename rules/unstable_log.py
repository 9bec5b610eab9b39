from collections.abc import Iterator
from functools import partial

from torchlint.fixes.rewrites import STABLE, code, has_comment, shown, stable_form, stable_of_names
from torchlint.model.events import numerics
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst

_WHY: dict[numerics.Stable, str] = {
    "log_softmax": "is -inf as soon as a probability rounds to 0",
    "logsigmoid": "is -inf as soon as the sigmoid rounds to 0",
    "log1p": "loses the digits of a small argument",
    "softplus": "overflows where its `exp` does",
    "expm1": "loses the digits of a small argument",
    "logsumexp": "is -inf where every `exp` rounds to 0, and inf where one overflows",
    "logaddexp": "overflows for large arguments",
}
_UNDERFLOWS = "is -inf where every `exp` rounds to 0"
_OF_SMALL = frozenset({"log1p", "expm1"})


class UnstableLog(Rule):
    """
    A logarithm or exponential is put together by hand, and torch has a function that is exact where this one is not.

    ## What it does
    Finds `log(softmax(x))`, `log(sigmoid(x))`, `log(1 - sigmoid(x))`, `log(1 + x)`, `log(1 + exp(x))`,
    `log(sum(exp(x)))`, `log(exp(a) + exp(b))` and `exp(x) - 1`.

    ## Why is this bad?
    The intermediate result is rounded, or overflows, where the final one is harmless: a sigmoid of 1e-46 is 0, its
    logarithm -inf, and the gradient NaN.

    ## Cure
    `log_softmax`, `logsigmoid`, `log1p`, `softplus`, `logsumexp`, `logaddexp`, `expm1`.

    ## Fix safety
    `log1p` and `expm1` are safe where their argument is known to hold floating-point numbers: the same values and
    gradients up to the round-off of the sum. The others are unsafe: they are finite where the expression as written is
    infinite or NaN, and `softplus` is linear above 20.

    ## Known limits
    Silent where the hand has made it stable: `log(softmax(x) + eps)`, `log(p.clamp(min=eps))`, and sums of exponentials
    from which the maximum was subtracted. `log1p` and `expm1` only where it is all one expression, and the 1
    is written out: what has a name may be another number elsewhere. All but `logsigmoid` with `--strict` only: most
    code never meets values that are small or large enough. Silent on what has bounds, and cannot overflow or round to 0
    (`clamp(max=…)`, `tanh`, `-abs(x)`, `x[x < 0]`), and on a result that is asked afterwards whether it has (`isinf`,
    `== inf`).
    With `--strict` only: what is divided by as well, infinite there all the same; what nobody differentiates, and whose
    result is clamped, or read in parts; what `where` discards, in a file without autograd; `def loss_reference`.

    ## References
    - [torch.nn.functional.softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html)
    """

    code = "TLN605"
    name = "unstable-log"
    level = Level.SMELL
    fixes = "both"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            logits = torch.tensor([0.0, -200.0])
            logp = torch.log(torch.sigmoid(logits))  # smell: [TLN605]
            """,
            shows=Holds("logp.isinf().any()"),
            fixed="""
            import torch

            logits = torch.tensor([0.0, -200.0])
            logp = torch.nn.functional.logsigmoid(logits)
            """,
        ),
        Example(
            """
            import torch

            growth = torch.exp(torch.tensor([1e-9, 1e-3])) - 1  # strict: [TLN605]
            """,
            shows=Holds("growth[0] == 0"),
            fixed="""
            import torch

            growth = torch.expm1(torch.tensor([1e-9, 1e-3]))
            """,
            strict=True,
        ),
        Example(
            """
            import torch

            x = torch.tensor([[100.0, 90.0]])
            free_energy = x.exp().sum(1).log()  # strict: [TLN605]
            """,
            shows=Holds("free_energy.isinf().any()"),
            fixed="""
            import torch

            x = torch.tensor([[100.0, 90.0]])
            free_energy = torch.logsumexp(x, 1)
            """,
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            logits = torch.tensor([0.0, 200.0])
            logp = torch.log_softmax(logits, dim=0)
            guarded = torch.log(torch.softmax(logits, dim=0) + 1e-8)
            free_energy = logits.max() + torch.log(torch.exp(logits - logits.max()).sum())
            """
        ),
    )

    def check(self, event: numerics.LogarithmComposed) -> Iterator[Diagnostic]:
        assert isinstance(event.node, cst.BaseExpression)
        why = _WHY[event.stable] if event.overflows else _UNDERFLOWS
        nan = ", and any gradient is NaN" if event.recorded and event.stable not in _OF_SMALL else ""
        nan = "; `where` discards that, not the NaN of its gradient" if event.discarded else nan
        of = "`logsigmoid` of the negated logit" if event.complement else f"`{event.stable}`"
        why = "is -inf as soon as the sigmoid rounds to 1" if event.complement else why
        message = f"{shown(event.node)} {why}{nan}: {of} is one operation and exact"
        # most code has no values that are so small or large; and what is divided by is infinite there in any case
        moot = event.stable != "logsigmoid" or event.divides or event.reference or event.mended
        moot = moot or (event.discarded and event.infers)
        level = Level.STRICT if moot else None
        claims = (Observed("inexact", *stable_of_names(event)),)
        fix, weight, group = partial(_fix, event), (event.complement,), event.inner if moot else "logsigmoid"
        yield Diagnostic(
            event.node, message, event.trace, fix, level, group=group, weight=weight, others="logarithm", claims=claims
        )


def _fix(event: numerics.LogarithmComposed) -> Fix | None:
    text = stable_form(event)
    if not event.nested or text is None or has_comment(event.node) or "\n" in code(event.node):
        return None
    if event.stable == "logsumexp" and not event.arguments:
        return None
    safe = event.stable in ("log1p", "expm1") and event.real
    return Fix(f"use `{STABLE[event.stable]}`", (Edit(event.node, text),), safe, imports=("import torch",))
