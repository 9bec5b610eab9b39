from collections.abc import Iterator

from torchlint.fixes.rewrites import code, operand, shown
from torchlint.model.events import work
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class MatmulChainOrder(Rule):
    """
    A chain of matrix products is evaluated in an order that costs more than another one.

    ## What it does
    Finds chains such as `A @ B @ v` whose sizes are known, counts the floating-point operations of the order as
    written and of the cheapest one (a product of m×k by k×n takes m·n·(2k−1)), and reports where they differ by half
    or more. Where only the ranks are known, it reports a product of matrices that is applied to a vector.

    ## Why is this bad?
    Python evaluates from left to right: two matrices are multiplied, only to be applied to a vector. The backward pass
    pays the difference twice more, and keeps the big intermediate result in memory.

    ## Cure
    Brackets, `A @ (B @ v)`, or `torch.linalg.multi_dot([A, B, v])`, which finds the cheapest order itself.

    ## Fix safety
    Unsafe: the product is associative on paper. Round-off differs, which a sum near zero magnifies, half precision may
    overflow in one order only, and the factors are evaluated before the first product.

    ## Known limits
    Only products written as one expression. A product with a name of its own may have other uses.

    ## References
    - [torch.linalg.multi_dot](https://docs.pytorch.org/docs/stable/generated/torch.linalg.multi_dot.html)
    """

    code = "TLN702"
    name = "matmul-chain-order"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch
            from torch.utils.flop_counter import FlopCounterMode

            A, B, v = torch.randn(100, 100), torch.randn(100, 10), torch.randn(10, 1)
            with FlopCounterMode(display=False) as counter:
                y = A @ B @ v  # smell: [TLN702]
            """,
            shows=Holds("counter.get_total_flops() > 200_000"),
            fixed="""
            import torch
            from torch.utils.flop_counter import FlopCounterMode

            A, B, v = torch.randn(100, 100), torch.randn(100, 10), torch.randn(10, 1)
            with FlopCounterMode(display=False) as counter:
                y = A @ (B @ v)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            A, B, v = torch.randn(100, 100), torch.randn(100, 10), torch.randn(10, 1)
            y = A @ (B @ v)
            rotation = torch.eye(3) @ torch.eye(3) @ torch.ones(3)  # too small to matter
            """
        ),
    )

    def check(self, event: work.ProductsChained) -> Iterator[Diagnostic]:
        assert isinstance(event.node, cst.BaseExpression)
        cheap = _bracketed(event, event.order, "")
        if event.cost is None or event.least is None:
            counts = "multiplies two matrices, only to apply the product to a vector"
        else:
            plain = f"`{cheap}`" if len(cheap) <= 60 and "\n" not in cheap else "the cheapest order"
            counts = f"takes {event.cost:,} operations, {plain} {event.least:,}"
        fix = None
        if event.function is not None and "\n" not in code(event.node):
            text = _bracketed(event, event.order, event.function)
            fix = Fix("multiply in the cheapest order", (Edit(event.node, text),), safe=False)
        claims = (Observed("cheaper", other=f"({cheap})"),)
        yield Diagnostic(event.node, f"{shown(event.node, limit=50)} {counts}", event.trace, fix, claims=claims)


def _bracketed(event: work.ProductsChained, order: work.Order, function: str) -> str:
    if isinstance(order, int):
        return code(event.factors[order]) if function else operand(event.factors[order])
    left, right = order
    one, other = _bracketed(event, left, function), _bracketed(event, right, function)
    if function:
        return f"{function}({one}, {other})"
    return f"{one} @ {other if isinstance(right, int) else f'({other})'}"
