from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import training
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule


class ModelKeptAsBest(Rule):
    """
    The best model is kept as another name of the model that goes on training.

    ## What it does
    Finds `best_model = model` in a loop that trains `model`, where the name (it has "best" in it) is read after the
    loop.

    ## Why is this bad?
    Both names are the same object. The next step changes its parameters, so that after the loop the best model is the
    last one, whatever the validation said.

    ## Cure
    `best_model = copy.deepcopy(model)`, or keep a copy of its state: `copy.deepcopy(model.state_dict())`.

    ## Fix safety
    Unsafe: after the loop it is another model, and each copy takes memory.

    ## Known limits
    Silent where each round of the loop makes a model of its own, where the loop is left after the assignment, and where
    nothing in the loop is seen to train. Of a `state_dict()` without a copy: TLN206.

    ## References
    - [Saving and loading models](https://docs.pytorch.org/tutorials/beginner/saving_loading_models.html): "you must
      serialize best_model_state or use best_model_state = deepcopy(model.state_dict())"
    """

    code = "TLN312"
    name = "model-kept-as-best"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.6)
            best_error, best_model = float("inf"), None
            for epoch in range(4):
                error = (model(torch.ones(1, 1)) - 3).square().mean()
                if error.item() < best_error:
                    best_error = error.item()
                    best_model = model  # warning: [TLN312]
                optimizer.zero_grad()
                error.backward()  # note: `model` is trained here, in the same loop
                optimizer.step()
            print(best_model(torch.ones(1, 1)))
            """,
            shows=Holds("best_model is model"),
            fixed="""
            import torch
            import copy

            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.6)
            best_error, best_model = float("inf"), None
            for epoch in range(4):
                error = (model(torch.ones(1, 1)) - 3).square().mean()
                if error.item() < best_error:
                    best_error = error.item()
                    best_model = copy.deepcopy(model)
                optimizer.zero_grad()
                error.backward()
                optimizer.step()
            print(best_model(torch.ones(1, 1)))
            """,
        ),
    )
    good = (
        Example(
            """
            import copy
            import torch

            best_error, best_model = float("inf"), None
            for rate in (0.1, 0.6):
                model = torch.nn.Linear(1, 1)  # a model of its own in each round
                optimizer = torch.optim.SGD(model.parameters(), lr=rate)
                for epoch in range(4):
                    optimizer.zero_grad()
                    error = (model(torch.ones(1, 1)) - 3).square().mean()
                    error.backward()
                    optimizer.step()
                if error.item() < best_error:
                    best_error = error.item()
                    best_model = model
            print(best_model(torch.ones(1, 1)))
            """
        ),
    )

    def check(self, event: training.ModelKept) -> Iterator[Diagnostic]:
        message = f"`{event.name}` is `{event.model}` itself, which is trained on: after the loop it is the last one"
        text = f"copy.deepcopy({code(event.value_node)})"
        edits = (Edit(event.value_node, text),)
        fix = Fix(f"keep a copy: `{text}`", edits, safe=False, imports=("import copy",))
        claims = (Observed("module-changed", event.name, event.name),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
