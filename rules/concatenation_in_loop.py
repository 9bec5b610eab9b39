from collections.abc import Iterator

from torchlint.fixes.rewrites import code, preceded_by
from torchlint.model.events import work
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class ConcatenationInLoop(Rule):
    """
    A loop grows a tensor by concatenating to it in every round.

    ## What it does
    Finds `out = torch.cat([out, x])` (also `hstack`, `vstack`, …) in a loop that doesn't read `out` for anything else.
    One finding per loop, which names the others.

    ## Why is this bad?
    Each round copies everything that was collected before: n rounds copy n²/2 pieces, and where gradients are recorded
    the graph is a chain of n concatenations, which the backward pass copies back again.

    ## Cure
    Collect the pieces in a list, and concatenate once, after the loop.

    ## Fix safety
    Unsafe: in the loop the name is a list then. Offered where the tensor starts empty and a statement follows the loop.

    ## Known limits
    Silent where the loop reads the tensor (a generated sequence that goes back into the model must grow), where it
    starts anew in each round, and for loops of at most four rounds. With `--strict` only: copies of little cost little,
    beside what computes the pieces.

    ## References
    - [torch.cat](https://docs.pytorch.org/docs/stable/generated/torch.cat.html)
    """

    code = "TLN705"
    name = "concatenation-in-loop"
    level = Level.STRICT
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            outputs = torch.empty(0, 1)
            for _ in range(100):
                outputs = torch.cat([outputs, model(torch.rand(4, 2))])  # strict: [TLN705]
            depth = outputs.grad_fn.next_functions[0][0].name()
            """,
            shows=Holds("depth == 'CatBackward0'"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            outputs = []
            for _ in range(100):
                outputs.append(model(torch.rand(4, 2)))
            outputs = torch.cat(outputs)
            depth = outputs.grad_fn.next_functions[0][0].name()
            """,
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            outputs = []
            for _ in range(8):
                outputs.append(model(torch.rand(4, 2)))
            outputs = torch.cat(outputs)
            sequence = torch.rand(1, 2)
            for _ in range(8):
                following = model(sequence).mean(0, keepdim=True).expand(1, 2)
                sequence = torch.cat([sequence, following])  # the model reads what was generated
            """
        ),
    )

    def check(self, event: work.GrownInLoop) -> Iterator[Diagnostic]:
        name = event.name
        message = f"`{name}` is copied as a whole in every round: collect in a list, and `{event.function}` once"
        claims = (Observed("cheaper"), Observed("copied-again", name))
        yield Diagnostic(
            event.node,
            message,
            event.trace,
            _fix(event),
            group=event.loop,
            label=f"`{name}`",
            others="tensor",
            claims=claims,
        )


def _fix(event: work.GrownInLoop) -> Fix | None:
    line, initial, after = event.statement, event.initial, event.after
    if event.piece is None or initial is None or after is None:
        return None
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return None
    if not isinstance(initial, cst.SimpleStatementLine) or len(initial.body) > 1:
        return None
    match initial.body[0]:
        case cst.Assign(targets=[cst.AssignTarget(cst.Name())]) | cst.AnnAssign():
            pass
        case _:  # it binds other names, too
            return None
    rest = "".join(f", {code(each.with_changes(comma=cst.MaybeSentinel.DEFAULT))}" for each in event.rest)
    text = preceded_by(after, f"{event.name} = {event.function}({event.name}{rest})")
    if text is None:
        return None
    edits = (
        Edit(initial, f"{event.name} = []"),
        Edit(line, f"{event.name}.append({code(event.piece)})"),
        Edit(after, text),
    )
    return Fix("collect in a list, and concatenate after the loop", edits, safe=False)
