from collections.abc import Iterator

from torchlint.fixes.rewrites import code, operand, without_argument
from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Raises, Rule, spelled
from torchlint.syntax import cst


class LeafLost(Rule):
    """
    A tensor that requires grad is bound to a name only after an operation on it: its gradient can't be read.

    ## What it does
    Finds `x = torch.rand(n, requires_grad=True) * 0.01` (also `.exp()`, `.view(...)`) where a backward reaches the
    leaf and the gradient of `x` is asked for, `w = w - lr * w.grad` in a loop, and `p = p - lr * p.grad` in a loop over
    parameters.

    ## Why is this bad?
    The name holds the result of the operation, which is no leaf: `.grad` is None, and an optimizer refuses it. The
    gradient goes to the leaf, which nothing holds. A variable that loops over parameters is only a name: bound anew,
    it leaves the parameter as it was.

    ## Cure
    Require grad last: `x = (torch.rand(n) * 0.01).requires_grad_()`. Update a leaf in place under
    `torch.no_grad()`: `w -= lr * w.grad`.

    ## Fix safety
    Unsafe: the gradient is that of the result instead of the leaf's.

    ## Known limits
    `.clone()`, `* 1`, `retain_grad()`, a hook or a write in place say that a non-leaf is meant. Of a move to a
    device that the text leaves open it says "where `device` is another device than the CPU"; it is silent on a leaf
    that may be on another device itself, and on a type that may be the leaf's.

    ## References
    - [torch.Tensor.is_leaf](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html)
    """

    code = "TLN306"
    name = "leaf-lost"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            w = torch.ones(3, requires_grad=True) * 0.01  # warning: [TLN306]
            loss = (w - 1).pow(2).sum()
            loss.backward()
            print(w.grad)  # warning: [TLN109]
            """,
            shows=Holds("not w.is_leaf"),
            fixed="""
            import torch

            w = (torch.ones(3) * 0.01).requires_grad_()
            loss = (w - 1).pow(2).sum()
            loss.backward()
            print(w.grad)
            """,
        ),
        Example(
            """
            import torch

            w = torch.zeros(2, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            for _ in range(2):
                optimizer.zero_grad()
                loss = (w - 1).pow(2).sum()
                loss.backward()
                w = w - 0.1 * w.grad  # warning: [TLN306]
            """,
            shows=Raises("unsupported operand type(s) for *: 'float' and 'NoneType'"),
            fixed="""
            import torch

            w = torch.zeros(2, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            for _ in range(2):
                optimizer.zero_grad()
                loss = (w - 1).pow(2).sum()
                loss.backward()
                with torch.no_grad():
                    w -= 0.1 * w.grad
            """,
        ),
        Example(
            """
            import torch
            net = torch.nn.Linear(2, 1)
            before = net.weight.detach().clone()
            net(torch.ones(1, 2)).sum().backward()
            for p in net.parameters():
                p = p - 0.1 * p.grad  # warning: [TLN306]
            """,
            shows=Holds("torch.equal(net.weight, before)"),
        ),
    )
    good = (
        Example(
            """
            import torch
            w = (torch.ones(3) * 0.01).requires_grad_()
            for _ in range(2):
                (slope,) = torch.autograd.grad((w - 1).pow(2).sum(), w)
                with torch.no_grad():
                    w -= 0.1 * slope
            """
        ),
    )

    def check(self, event: registration.LeafLost | registration.ParameterRebound) -> Iterator[Diagnostic]:
        if isinstance(event, registration.ParameterRebound):
            message = f"this binds only the name `{event.name}`: the parameter keeps its value"
            yield Diagnostic(event.node, message, claims=(Observed("name-bound-anew", event.name),))
            return
        claims = (Observed("leaf-lost", event.name),)
        if event.how == "rebound":
            message = f"`{event.name}` is no leaf any more: from now on `{event.name}.grad` is None"
            yield Diagnostic(event.node, message, event.trace, _in_place(event), claims=claims)
            return
        message = f"`{event.name}` is the result of `{event.op}`, no leaf: `{event.name}.grad` stays None"
        message += spelled(event.conditions)
        yield Diagnostic(event.node, message, event.trace, _required_last(event), claims=claims)


def _required_last(event: registration.LeafLost) -> Fix | None:
    factory = event.factory
    given = [arg for arg in factory.args if arg.keyword and arg.keyword.value == "requires_grad"] if factory else []
    plain = without_argument(factory, given[0]) if factory is not None and given else None
    if factory is None or plain is None:
        return None
    moved = event.value_node.deep_replace(factory, cst.parse_expression(plain))
    assert isinstance(moved, cst.BaseExpression)
    text = f"{operand(moved)}.requires_grad_()"
    return Fix(f"require grad last: `{text}`", (Edit(event.value_node, text),), safe=False)


def _in_place(event: registration.LeafLost) -> Fix | None:
    value = event.value_node
    if not isinstance(value, cst.BinaryOperation) or not isinstance(value.operator, cst.Add | cst.Subtract):
        return None
    if code(value.left) != event.name or not isinstance(event.statement, cst.SimpleStatementLine):
        return None
    sign = "+=" if isinstance(value.operator, cst.Add) else "-="
    text = f"with torch.no_grad():\n    {event.name} {sign} {code(value.right)}"
    return Fix("update it in place", (Edit(event.statement, text),), safe=False, imports=("import torch",))
