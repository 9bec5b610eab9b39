from collections.abc import Iterator

from torchlint.fixes.rewrites import code, followed_by, preceded_by
from torchlint.model.events import training
from torchlint.rule import Claim, Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule, Warns
from torchlint.syntax import cst


class StepOutOfOrder(Rule):
    """
    A call of `step()` comes before what it needs, or something that it needs comes after it.

    ## What it does
    Finds `optimizer.step()` before the `backward()` of its iteration, clipping after the step, clipping gradients that
    a `GradScaler` has scaled without `unscale_`, and a scheduler's `step()` before the optimizer's first.

    ## Why is this bad?
    A step before the backward finds no gradients. Gradients clipped after the step were used as they were. Scaled
    gradients are thousands of times too large: clipping makes all of them tiny. A scheduler that steps first skips the
    first value of its schedule.

    ## Cure
    The order is: zero, forward, backward, `unscale_`, clip, `optimizer.step()`, `scheduler.step()`.

    ## Fix safety
    Unsafe: the steps are other ones, which is the point.

    ## Known limits
    Silent where code that isn't in the file stands between, where a clipping call whose result is used may measure the
    norm (its `max_norm` is large or unknown), and of clipping between `zero_grad()` and `backward()`.

    ## References
    - [How to adjust learning rate](https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate)
    - [Working with unscaled gradients](https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping)
    """

    code = "TLN404"
    name = "step-out-of-order"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            before = model.bias.item()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                loss = model(torch.ones(1, 2)).sum()
                optimizer.step()  # warning: [TLN404]
                loss.backward()
            """,
            shows=Holds("model.bias.item() == before"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            before = model.bias.item()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                loss = model(torch.ones(1, 2)).sum()
                loss.backward()
                optimizer.step()
            """,
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
            for _ in range(3):
                scheduler.step()  # warning: [TLN404]
                optimizer.zero_grad()
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
            """,
            shows=Warns("Detected call of `lr_scheduler.step()` before `optimizer.step()`"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
            for _ in range(3):
                optimizer.zero_grad()
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
                scheduler.step()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                model(torch.ones(1, 2)).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """
        ),
    )

    def check(self, event: training.SteppedWithoutGradients | training.CalledOutOfOrder) -> Iterator[Diagnostic]:
        if isinstance(event, training.CalledOutOfOrder):
            message = _MESSAGES[event.what].format(event) + (f", if `{event.named}` is torch's" if event.named else "")
            claims = _CLAIMS.get(event.what, (Observed("gradients-scaled", event.scaler),))
            yield Diagnostic(event.node, message, event.trace, _reordered(event), claims=claims)
        elif event.when == "after":
            text = followed_by(event.backward_statement, code(event.node)) if event.together else None
            edits = (Edit(event.statement, ""), Edit(event.backward_statement, text or ""))
            fix = Fix(f"call `{event.optimizer}.step()` after the backward", edits, safe=False) if text else None
            message = f"`{event.optimizer}.step()` finds no gradients: the backward comes after it"
            claims = (Observed("step-without-gradients", event.optimizer),)
            yield Diagnostic(event.node, message, event.trace, fix, claims=claims)


_MESSAGES = {
    "clip-after-step": "`{0.call}` clips gradients that `{0.optimizer}.step()` has already used",
    "clip-before-unscale": "`{0.call}` clips gradients that `{0.scaler}` has scaled: `unscale_` is missing",
    "schedule-before-step": "`{0.call}()` comes before the first `{0.optimizer}.step()`: it skips a learning rate",
}

_CLAIMS: dict[str, tuple[Claim, ...]] = {
    "clip-after-step": (Observed("gradients-written-late"),),
    "schedule-before-step": (Warns("Detected call of `lr_scheduler.step()` before `optimizer.step()`"),),
}


def _reordered(event: training.CalledOutOfOrder) -> Fix | None:
    line = event.statement
    if not event.together or not event.optimizer or not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1:
        return None
    call, unscale = code(line.body[0]), f"{event.scaler}.unscale_({event.optimizer})"
    if event.what == "clip-before-unscale":
        return Fix(f"call `{unscale}` first", (Edit(line, f"{unscale}\n{call}"),), safe=False)
    late = event.what == "clip-after-step"
    text = preceded_by(event.other, call) if late else followed_by(event.other, call)
    title = f"move `{event.call}` {'before' if late else 'behind'} `{event.optimizer}.step()`"
    return Fix(title, (Edit(line, ""), Edit(event.other, text)), safe=False) if text else None
