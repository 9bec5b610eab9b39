from collections.abc import Iterator

from torchlint.fixes.rewrites import code, operand, shown
from torchlint.model.events import writes
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst

_OPERATORS = {"add_": "+=", "sub_": "-=", "mul_": "*=", "div_": "/="}


class WriteIntoCopy(Rule):
    """
    An in-place method is called on what an index has copied: the write is lost.

    ## What it does
    Finds `t[mask].fill_(0)`, `t[indices].mul_(2)` and `t[mask][0] = 1`: in-place methods, functions of `torch.nn.init`
    and indexed assignments on the result of an index with tensors or lists, where nothing holds that result.

    ## Why is this bad?
    Integers and slices give views, masks and index tensors give copies. The copy is written and thrown away; `t` stays
    as it was, and torch says nothing.

    ## Cure
    Assign to the index: `t[mask] = 0`, `t[indices] *= 2`.

    ## Fix safety
    Unsafe: now it happens, and autograd sees a write to `t`.

    ## Known limits
    Silent where `t` is not known to be a tensor, or the index not known to copy (an integer tensor without dimensions
    gives a view), and where the work may be meant and not the result: between two readings of a clock, in a loop that
    only repeats it.

    ## References
    - [Tensor views](https://docs.pytorch.org/docs/stable/tensor_view.html): "indexing [by a tensor] returns a copy",
      basic indexing returns a view
    """

    code = "TLN214"
    name = "write-into-copy"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            scores = torch.tensor([0.5, -0.5, 2.0])
            scores[scores < 0].fill_(0)  # warning: [TLN214]
            """,
            shows=Holds("(scores < 0).any()"),
            fixed="""
            import torch

            scores = torch.tensor([0.5, -0.5, 2.0])
            scores[scores < 0] = 0
            """,
        ),
        Example(
            """
            import torch

            layer = torch.nn.Linear(4, 4)
            pruned = torch.tensor([0, 2])
            with torch.no_grad():
                layer.weight[pruned].mul_(0.0)  # warning: [TLN214]
            """,
            shows=Holds("layer.weight[pruned].abs().sum() > 0"),
            fixed="""
            import torch

            layer = torch.nn.Linear(4, 4)
            pruned = torch.tensor([0, 2])
            with torch.no_grad():
                layer.weight[pruned] *= 0.0
            """,
        ),
        Example(
            """
            import torch

            table = torch.zeros(3, 2)
            rows = table[[0, 2]]
            table[[0, 2]][:, 1] = 5.0  # warning: [TLN214]
            """,
            shows=Holds("(table == 0).all()"),
        ),
    )
    good = (
        Example(
            """
            import torch

            scores = torch.tensor([0.5, -0.5, 2.0])
            scores[scores < 0] = 0
            scores[1:].mul_(2)  # a view
            chosen = scores[[0, 1]].add_(1)  # the copy has a name
            """
        ),
    )

    def check(self, event: writes.CopyWritten) -> Iterator[Diagnostic]:
        copied = shown(event.subscript)
        source = f"`{event.source.name}`" if event.source.name else "what is indexed"
        what = "the assignment" if event.op == "[...] =" else f"`{event.op}`"
        message = f"{what} writes into a copy that is lost: {copied} copies, and {source} stays as it was"
        claims = (Observed("write-lost", event.source.name),) if event.source.name else ()
        yield Diagnostic(event.node, message, event.trace, _fix(event), claims=claims)


def _fix(event: writes.CopyWritten) -> Fix | None:
    call, line = event.node, event.statement
    if not event.direct or event.spelling != "method" or not isinstance(call, cst.Call):
        return None
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1 or not isinstance(call.func, cst.Attribute):
        return None
    if call.func.value is not event.subscript or any(each.keyword or each.star for each in call.args):
        return None
    target = code(event.subscript)
    given = [code(each.value) for each in call.args]
    if event.op == "zero_" and not given:
        text = f"{target} = 0"
    elif event.op in ("fill_", "copy_") and len(given) == 1:
        text = f"{target} = {given[0]}"
    elif event.op in _OPERATORS and len(given) == 1:
        text = f"{target} {_OPERATORS[event.op]} {operand(call.args[0].value)}"
    else:
        return None
    return Fix(f"write `{text}`", (Edit(line, text),), safe=False)
