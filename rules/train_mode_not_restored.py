from collections.abc import Iterator

from torchlint.fixes.rewrites import preceded_by
from torchlint.model.events import training
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class TrainModeNotRestored(Rule):
    """
    A training loop sets the model to evaluation mode, and nothing sets it back.

    ## What it does
    Finds `model.eval()` in a loop that trains the same model in its next iteration, where nothing in the loop calls
    `model.train()`, in helpers and methods neither, those of other files of the project included.

    ## Why is this bad?
    From the second iteration on the model trains without dropout, and normalises with statistics that are no longer
    updated. Nothing raises; the model only becomes worse.

    ## Cure
    `model.train()` at the start of each epoch.

    ## Fix safety
    Unsafe: it trains otherwise, which is the point.

    ## Known limits
    Silent where the model has no layer that the mode changes, and where code that isn't in the project is given the
    model inside the loop. `F.dropout(x, p)` without `training=self.training` stays active after `eval()`: no rule looks
    for that yet.

    ## References
    - [torch.nn.Module.eval](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval)
    """

    code = "TLN407"
    name = "train-mode-not-restored"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch
            from torch import nn

            model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            modes = []
            for epoch in range(2):
                modes.append(model.training)
                optimizer.zero_grad()
                model(torch.ones(4, 2)).mean().backward()
                optimizer.step()
                model.eval()  # warning: [TLN407]
                with torch.no_grad():
                    print(model(torch.ones(4, 2)).mean().item())
            """,
            shows=Holds("modes == [True, False]"),
            fixed="""
            import torch
            from torch import nn

            model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            modes = []
            for epoch in range(2):
                model.train()
                modes.append(model.training)
                optimizer.zero_grad()
                model(torch.ones(4, 2)).mean().backward()
                optimizer.step()
                model.eval()
                with torch.no_grad():
                    print(model(torch.ones(4, 2)).mean().item())
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch import nn

            model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(2):
                model.train()
                optimizer.zero_grad()
                model(torch.ones(4, 2)).mean().backward()
                optimizer.step()
                model.eval()
            """
        ),
    )

    def check(self, event: training.TrainedInEvalMode) -> Iterator[Diagnostic]:
        # What is loaded may be in that mode from the start: transformers' `from_pretrained` gives no other.
        since = "from the next iteration on" if event.certain else "from the next iteration on, if not before,"
        message = f"{since} `{event.module}` trains in evaluation mode: nothing sets it back"
        if not event.certain:
            message += ", which matters if it does otherwise there, as dropout and batch normalisation do"
        text = preceded_by(event.first, f"{event.module}.train()") if event.first is not None and event.module else None
        fix = None
        if event.first is not None and text is not None:
            edits = (Edit(event.first, text),)
            fix = Fix(f"call `{event.module}.train()` at the start of the loop", edits, safe=False)
        claims = (Observed("trains-in-evaluation-mode", event.module),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
