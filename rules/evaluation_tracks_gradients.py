from collections.abc import Iterator

from torchlint.fixes.rewrites import block_under_no_grad
from torchlint.model.events import training
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Rule
from torchlint.syntax import cst


class EvaluationTracksGradients(Rule):
    """
    An evaluation loop records graphs that nobody differentiates.

    ## What it does
    Finds loops that call a model after `model.eval()`, with gradients recorded, no backward, and nothing that carries
    the outputs out of the loop with their graph.

    ## Why is this bad?
    Every batch keeps all its intermediate results in memory until the next one, as in training. `eval()` doesn't turn
    recording off.

    ## Cure
    `with torch.no_grad():` around the loop, or `@torch.no_grad()` on the function; `torch.inference_mode()` where
    the outputs never meet autograd again.

    ## Fix safety
    Unsafe: what the loop computes requires no grad any more.

    ## Known limits
    Silent where outputs are returned, yielded, appended or stored, where a backward follows, and where a caller in the
    same file calls the function under `no_grad`. Silent, too, in files that differentiate inside of a `forward`, for
    models of other files where one of the package does, and for loops over at most four values that are written out.
    With `--strict` only: loops of at most four rounds, those that give the model the same variables each time or wait
    for `input`, and tests.

    ## References
    - [Evaluation mode and no-grad mode](https://docs.pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval)
    """

    code = "TLN406"
    name = "evaluation-tracks-gradients"
    level = Level.SMELL
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            model.eval()
            correct = 0
            for x in torch.rand(4, 3, 2):
                output = model(x)  # smell: [TLN406]
                correct += (output > 0).sum().item()
            """,
            shows=Holds("output.requires_grad"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            model.eval()
            correct = 0
            with torch.no_grad():
                for x in torch.rand(4, 3, 2):
                    output = model(x)
                    correct += (output > 0).sum().item()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            @torch.no_grad()
            def evaluate(model, batches):
                model.eval()
                return sum(model(x).sum().item() for x in batches)

            evaluate(torch.nn.Linear(2, 1), torch.rand(4, 3, 2))
            """
        ),
    )

    def check(self, event: training.EvaluatedWithGraph) -> Iterator[Diagnostic]:
        when = "evaluated where this loop skips its backward" if event.skips else "only evaluated in this loop"
        message = f"`{event.module}` is {when}, and each call records a graph that no backward reads: "
        message += f"use `torch.no_grad()`{' there' if event.trains else ''}"
        message += ", unless it is frozen or takes gradients itself" if event.unknown else ""
        recorded = "max(t.requires_grad for t in tensors_(bound_))"  # (raises, and says nothing, where none is bound)
        words = f"`{event.module}` is in evaluation mode, and what it returns requires grad: a graph was recorded"
        claims = (Holds(f"{recorded} and not {event.module}.training", words=words),)
        fix, group = None if event.trains else _fix(event.loop), (event.module,)
        level = Level.STRICT if event.tried else None
        yield Diagnostic(event.node, message, event.trace, fix, level, group=group, others="loop", claims=claims)


def _fix(loop: cst.CSTNode) -> Fix | None:
    text = block_under_no_grad(loop)
    edits = (Edit(loop, text or ""),)
    return Fix("record nothing in the loop", edits, safe=False, imports=("import torch",)) if text else None
