from collections.abc import Iterator
from functools import partial

from torchlint.fixes.rewrites import code, shown
from torchlint.model.events import numerics
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class ExactFloatComparison(Rule):
    """
    Floating-point tensors that were computed in two different ways are compared exactly.

    ## What it does
    Finds `torch.equal(a, b)`, `a.equal(b)` and `(a == b).all()` on floating-point results of different computations:
    other operations, another order, gradients of two losses. All other exact comparisons of floating-point tensors are
    reported with `--strict`.

    ## Why is this bad?
    Floating-point addition isn't associative: what is equal on paper differs in the last digits, or on another machine.
    The comparison says no, or says yes by luck.

    ## Cure
    `torch.allclose(a, b)`, or in tests `torch.testing.assert_close(a, b)`, which says where they differ.

    ## Fix safety
    Unsafe: a comparison with a tolerance is another one.

    ## Known limits
    The same computation run twice (a copied model, a saved one, a compiled one) may well agree exactly: silent.

    ## References
    - [Numerical accuracy](https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html)
    - [torch.testing.assert_close](https://docs.pytorch.org/docs/stable/testing.html)
    """

    code = "TLN603"
    name = "exact-float-comparison"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            torch.manual_seed(0)
            A, B = torch.rand(100, 100), torch.rand(100, 100)
            one = (A @ B).sum(0)
            other = A.sum(0) @ B
            same = torch.equal(one, other)  # smell: [TLN603]
            """,
            shows=Holds("not same and torch.allclose(one, other)"),
            fixed="""
            import torch

            torch.manual_seed(0)
            A, B = torch.rand(100, 100), torch.rand(100, 100)
            one = (A @ B).sum(0)
            other = A.sum(0) @ B
            same = torch.allclose(one, other)
            """,
        ),
        Example(
            """
            import torch

            torch.manual_seed(0)
            x = torch.rand(1000, requires_grad=True)
            y = x.detach().clone().requires_grad_()
            (x**5).sum().backward()
            (y * y * y * y * y).sum().backward()
            same = (x.grad == y.grad).all()  # smell: [TLN603]
            """,
            shows=Holds("not same and torch.allclose(x.grad, y.grad)"),
            fixed="""
            import torch

            torch.manual_seed(0)
            x = torch.rand(1000, requires_grad=True)
            y = x.detach().clone().requires_grad_()
            (x**5).sum().backward()
            (y * y * y * y * y).sum().backward()
            same = torch.allclose(x.grad, y.grad)
            """,
        ),
    )
    good = (
        Example(
            """
            import copy
            import torch

            model, x = torch.nn.Linear(4, 2), torch.rand(3, 4)
            twin = copy.deepcopy(model)
            assert torch.equal(model(x), twin(x))  # one computation, run twice
            assert torch.equal(x.argmax(1), x.max(1).indices)
            assert torch.allclose(x.sum(0).sum(), x.sum())
            """
        ),
    )

    def check(self, event: numerics.FloatsCompared) -> Iterator[Diagnostic]:
        sides = f"{shown(event.left)} and {shown(event.right)}"
        if event.different:
            message = f"{sides} are computed in different ways: they agree up to round-off at best"
        else:
            message = f"exact comparison of the floating-point tensors {sides}"
        level, fix = (self.level, partial(_fix, event)) if event.different else (Level.STRICT, None)
        claims = (Observed("compared-exactly"),)
        yield Diagnostic(event.node, message, event.trace, fix, level, claims=claims)


def _fix(event: numerics.FloatsCompared) -> Fix | None:
    text = f"torch.allclose({code(event.left)}, {code(event.right)})"
    if "\n" in text or _has_more(event.call):
        return None
    edit = Edit(event.call, f"({text})" if event.call.lpar else text)
    return Fix("compare with a tolerance", (edit,), safe=False, imports=("import torch",))


def _has_more(call: cst.Call) -> bool:
    """Whether the call has further arguments (`dim=`), so that its result is no single truth value."""
    return len(call.args) > 2 or any(each.keyword is not None for each in call.args)
