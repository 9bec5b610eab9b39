from collections.abc import Iterator

from torchlint.fixes.rewrites import code, shown
from torchlint.model import events
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Raises, Rule, spelled
from torchlint.syntax import cst

_VIEWS = {
    "multi-view": "one of several views that one operation returned",
    "no-grad-view": "a view made under `no_grad`",
    "custom-view": "a view that a custom Function returned",
}


class MultiViewWritten(Rule):
    """
    One of several views that an operation returned is written in place, or a view made under `no_grad`.

    ## What it does
    Finds recorded in-place operations on outputs of `unbind`, `split` and `chunk`, on the rows of `for row in
    tensor`, on views made under `no_grad` and written under grad mode, and on views of an input that a custom
    `Function` returned; and uses of such a view after its base, or another of the views, was written.

    ## Why is this bad?
    After a write into a view, the base needs a new history. Autograd can't rebuild it for one of several outputs of a
    node, or for a view that it didn't see being made, nor does it replace a custom backward: torch refuses.

    ## Cure
    Write out of place, `a = a * 2`, and join the parts again with `torch.cat` or `torch.stack`. Or cut the parts by
    plain slices, `x[:, :n]`: `tensor_split` does that, and its outputs may be written.

    ## Fix safety
    Unsafe: the base no longer sees the new value.

    ## Known limits
    Silent where it isn't sure that the view is in a graph; of a `forward`, a warning where one condition, or an input
    that must require grad, decides. A warning where nobody knows whether the callers have grad mode on.

    ## References
    - [torch.Tensor.split](https://docs.pytorch.org/docs/stable/generated/torch.split.html)
    - [handle_view_on_rebase](https://github.com/pytorch/pytorch/blob/main/torch/csrc/autograd/variable.cpp)
    """

    code = "TLN209"
    name = "multi-view-written"
    level = Level.ERROR
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            h = torch.nn.Linear(2, 4)(torch.ones(3, 2))
            gate, value = h.chunk(2, dim=1)
            gate.sigmoid_()  # error: [TLN209]
            """,
            shows=Raises("This view is the output of a function that returns multiple views"),
            fixed="""
            import torch

            h = torch.nn.Linear(2, 4)(torch.ones(3, 2))
            gate, value = h.chunk(2, dim=1)
            gate = gate.sigmoid()
            """,
        ),
        Example(
            """
            import torch

            scores = torch.nn.Linear(2, 4)(torch.ones(3, 2))
            for row in scores:
                row -= row.mean()  # error: [TLN209]
            """,
            shows=Raises("This view is the output of a function that returns multiple views"),
        ),
        Example(
            """
            import torch

            h = torch.nn.Linear(2, 4)(torch.ones(3, 2))
            with torch.no_grad():
                first = h[:, :2]
            first.mul_(2)  # error: [TLN209]
            """,
            shows=Raises("A view was created in no_grad mode and is being modified inplace"),
            fixed="""
            import torch

            h = torch.nn.Linear(2, 4)(torch.ones(3, 2))
            with torch.no_grad():
                first = h[:, :2]
            first = first.mul(2)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            h = torch.nn.Linear(2, 4)(torch.ones(3, 2))
            gate, value = h.chunk(2, dim=1)
            out = gate.sigmoid() * value
            buffer = torch.zeros(2, 3)  # in no graph
            for row in buffer:
                row += 1
            """
        ),
    )

    def check(self, event: events.AutogradRefused) -> Iterator[Diagnostic]:
        why = _VIEWS.get(event.kind)
        if why is None:
            return
        claims = (
            Raises("This view is the output of a function that returns multiple views"),
            Raises("is a view and its base or another view of its base has been modified inplace"),
            Raises("A view was created in no_grad mode and is being modified inplace"),
            Raises("This view was created inside a custom Function"),
        )
        named = spelled(event.conditions)
        if event.target_node is None:
            message = f"this uses {why}, whose memory `{event.op}` has written since: torch refuses{named}"
            yield Diagnostic(event.node, message, event.trace, claims=claims)
            return
        message = f"`{event.op}` writes into {shown(event.target_node, event.target.name)}, {why}: torch refuses{named}"
        # q, k and v of one split; parts of one argument
        made = event.target.name if event.target.created is None else event.target.created.node
        yield Diagnostic(
            event.node, message, event.trace, _fix(event), group=made or None, others="write", claims=claims
        )


def _fix(event: events.AutogradRefused) -> Fix | None:
    """`gate.sigmoid_()` as `gate = gate.sigmoid()`; none for rows of a loop: nothing would be left of the write."""
    line, node, target, made = event.statement, event.node, event.target_node, event.target.created
    if made is None or not isinstance(made.node, cst.Call | cst.Subscript):
        return None
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
        return None
    small = line.body[0]
    if not isinstance(small, cst.Expr) or small.value is not node or not isinstance(target, cst.Name):
        return None
    function = node.func if isinstance(node, cst.Call) else None
    if not isinstance(node, cst.Call) or not isinstance(function, cst.Attribute) or function.value is not target:
        return None
    twin = node.with_changes(func=function.with_changes(attr=cst.Name(function.attr.value.removesuffix("_"))))
    text = f"{target.value} = {code(twin)}"
    return Fix(f"write `{text}`", (Edit(line, text),), safe=False)
