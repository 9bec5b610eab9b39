from collections.abc import Iterator

from torchlint.fixes.rewrites import assignable, code, shown
from torchlint.model import events
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule, spelled
from torchlint.syntax import cst
from torchlint.truth import Truth

_CHECKS = frozenset({"allclose", "equal"})
_SHOWS = frozenset({"view", "view_as"})
"""What makes no value: what reads the tensor afterwards takes its shape as it is, or torch says so."""


class TensorResultDropped(Rule):
    """
    A tensor operation that is not in place stands alone as a statement: its result is lost.

    ## What it does
    Finds expression statements such as `mask.masked_fill(m, v)`, `state.detach()`, `x.clamp(0)`, `t.to(dtype)`, and
    `torch.allclose(a, b)` without an `assert`. A warning: torch raises nothing.

    ## Why is this bad?
    Nothing happens, and the code reads as if it did: the state stays in the graph, the values aren't clamped, the test
    tests nothing.

    ## Cure
    Assign the result, use the in-place form (`masked_fill_`) where no gradient needs the old value, or `assert`.

    ## Fix safety
    Unsafe: now it happens.

    ## Known limits
    Silent where the work may be meant and not the result: what draws random numbers, what stands between two readings
    of a clock, in a loop that only repeats it, under a profiler or another context that is not one of torch's grad
    modes. Silent where the result would change nothing: `detach()` of what requires no grad.
    The receiver must be known to be a tensor: modules (`model.cuda()`), containers and other classes change
    themselves. Bodies of `pytest.raises` and a notebook cell's last expression are left alone.
    With `--strict` only: a `view`, whose elements are the same; torch raises where another shape is needed.

    ## References
    - [torch.Tensor](https://docs.pytorch.org/docs/stable/tensors.html): "methods which mutate a tensor are marked with
      an underscore suffix"
    """

    code = "TLN212"
    name = "tensor-result-dropped"
    level = Level.WARNING
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            scores = torch.randn(2, 4)
            scores.masked_fill(scores < 0, 0.0)  # warning: [TLN212]
            """,
            shows=Holds("(scores < 0).any()"),
            fixed="""
            import torch

            scores = torch.randn(2, 4)
            scores = scores.masked_fill(scores < 0, 0.0)
            """,
        ),
        Example(
            """
            import torch

            cell = torch.nn.RNNCell(2, 2)
            h = cell(torch.ones(1, 2))
            h.detach()  # warning: [TLN212]
            """,
            shows=Holds("h.requires_grad"),
            fixed="""
            import torch

            cell = torch.nn.RNNCell(2, 2)
            h = cell(torch.ones(1, 2))
            h = h.detach()
            """,
        ),
        Example(
            """
            import torch

            a, b = torch.zeros(3), torch.ones(3)
            torch.allclose(a, b)  # warning: [TLN212]
            """,
            shows=Holds("not torch.allclose(a, b)"),
            fixed="""
            import torch

            a, b = torch.zeros(3), torch.ones(3)
            assert torch.allclose(a, b)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 2)
            model.double()  # a module converts itself
            x = torch.ones(2, dtype=torch.float64)
            x.clamp_(0)
            assert torch.allclose(x, x.clone())
            """
        ),
    )

    def check(self, event: events.ResultDropped) -> Iterator[Diagnostic]:
        function = event.call.func
        receiver = function.value if isinstance(function, cst.Attribute) else function
        message = f"the result of `{event.op}` is dropped"
        text = code(event.call)
        claims = (Observed("result-dropped"),)
        if event.op.rpartition(".")[2] in _CHECKS:
            message += ": nothing is checked"
            yield Diagnostic(event.node, message, event.trace, _fix(event, f"assert {text}"), claims=claims)
            return
        if "." in event.op:
            message = f"the result of `{code(function)}` is dropped"
            yield Diagnostic(event.node, message, event.trace, claims=claims)
            return
        new = None
        if event.receiver.is_parameter is not Truth.YES and assignable(receiver):
            new = f"{code(receiver)} = {text}"
        elif event.inplace_twin and isinstance(function, cst.Attribute):
            new = code(event.call.with_changes(func=function.with_changes(attr=cst.Name(event.inplace_twin))))
        message += f": {shown(receiver, event.receiver.name)} stays as it was{spelled(event.conditions)}"
        level = Level.STRICT if event.op in _SHOWS else None
        yield Diagnostic(event.node, message, event.trace, _fix(event, new) if new else None, level, claims=claims)


def _fix(event: events.ResultDropped, text: str) -> Fix | None:
    line = event.statement
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return None
    return Fix(f"write `{text}`", (Edit(line, text),), safe=False)
