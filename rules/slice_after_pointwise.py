from collections.abc import Iterator

from torchlint.fixes.rewrites import code, operand, shown
from torchlint.model.events import work
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class SliceAfterPointwise(Rule):
    """
    A part is taken from the result of an operation that could have been applied to that part alone.

    ## What it does
    Finds slices, `select` and `narrow` of the results of convolutions with `kernel_size=1`, linear layers and
    elementwise functions, along dimensions that these treat position by position, where nothing else reads the result.
    One finding per file, which counts the others.

    ## Why is this bad?
    The operation is computed, and differentiated, for positions that are thrown away: the last step of a sequence needs
    one row of the output layer, not all of them.

    ## Cure
    Slice first: `conv(x[:, :, -5:])` instead of `conv(x)[:, :, -5:]`. Outputs and gradients are the same.

    ## Fix safety
    Unsafe: forward hooks see another shape.

    ## Known limits
    Never for kernels larger than 1, norms, softmax, or along the features of a linear layer. Only what is certain by
    the layer's kind and the number of indices. With `--strict` only where the sizes, and so what it costs, are unknown,
    or less than half is dropped.

    ## References
    - [torch.nn.Conv1d](https://docs.pytorch.org/docs/stable/generated/torch.nn.Conv1d.html)
    """

    code = "TLN701"
    name = "slice-after-pointwise"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch
            from torch.utils.flop_counter import FlopCounterMode

            conv = torch.nn.Conv1d(8, 16, kernel_size=1)
            x = torch.rand(2, 8, 100)
            with FlopCounterMode(display=False) as counter:
                tail = conv(x)[:, :, -5:]  # smell: [TLN701]
            """,
            shows=Holds("counter.get_total_flops() == 20 * 2 * 2 * 8 * 16 * 5"),
            fixed="""
            import torch
            from torch.utils.flop_counter import FlopCounterMode

            conv = torch.nn.Conv1d(8, 16, kernel_size=1)
            x = torch.rand(2, 8, 100)
            with FlopCounterMode(display=False) as counter:
                tail = conv(x[:, :, -5:])
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            x = torch.rand(2, 8, 100)
            causal = torch.nn.Conv1d(8, 8, kernel_size=3, padding=2)(x)[..., :100]  # neighbours matter
            gates = torch.nn.Linear(100, 20)(x)
            left, right = gates[..., :10], gates[..., 10:]  # both halves are used
            probability = torch.softmax(x, dim=-1)[:, :, 0]
            """
        ),
    )

    def check(self, event: work.SlicedAfterPointwise) -> Iterator[Diagnostic]:
        assert isinstance(event.node, (cst.Subscript, cst.Call))
        counts = ""
        if event.cost is not None and event.least is not None:
            counts = f" ({event.cost:,} operations, {event.least:,} are enough)"
        message = f"{shown(event.node)} computes `{event.op}` for positions that are dropped: slice its input{counts}"
        fix = _fix(event, event.node)
        # what it would save is not known, or little: the last position of a sequence, which has no next one to predict
        saves = event.cost is not None and event.least is not None and 2 * event.least <= event.cost
        level = None if saves else Level.STRICT
        claims = (Observed("cheaper", other=_of_a_part(event)),)
        yield Diagnostic(event.node, message, event.trace, fix, level, group=self.code, others="slice", claims=claims)


def _of_a_part(event: work.SlicedAfterPointwise) -> str:
    """The same of a part of the input, where the part is taken by a method: `fc(x).select(1, 0)`; else nothing."""
    taken = event.node
    if not event.nested or not isinstance(taken, cst.Call) or not isinstance(taken.func, cst.Attribute):
        return ""
    part = taken.with_changes(func=taken.func.with_changes(value=cst.parse_expression(operand(event.argument))))
    call = event.call.deep_replace(event.argument, part)
    return code(call) if isinstance(call, cst.CSTNode) else ""


def _fix(event: work.SlicedAfterPointwise, node: cst.Subscript | cst.Call) -> Fix | None:
    if isinstance(node, cst.Call) or not event.nested or "\n" in code(node):
        return None
    index = code(node.with_changes(value=cst.Name("x"), lpar=[], rpar=[]))[1:]
    call = event.call.deep_replace(event.argument, cst.parse_expression(f"{operand(event.argument)}{index}"))
    assert isinstance(call, cst.CSTNode)
    return Fix("slice the input", (Edit(node, code(call)),), safe=False)
