from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import calls
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Raises, Rule, spelled


class BackwardNotCalled(Rule):
    """
    A method of the training loop is named but not called: nothing happens.

    ## What it does
    Finds `loss.backward`, `optimizer.step`, `optimizer.zero_grad`, `model.eval` alone as statements,
    `torch.save(model.state_dict, path)`, `with torch.no_grad:`, and a bare `torch.no_grad()` statement.

    ## Why is this bad?
    Without parentheses Python looks the method up and drops it. The loop runs, the loss stays where it is, and the
    file holds a pickled method instead of weights. `torch.no_grad()` alone makes a context and enters nothing.

    ## Cure
    Call it: `loss.backward()`. Put what shall not be recorded under `with torch.no_grad():`, or call
    `torch.set_grad_enabled(False)`.

    ## Fix safety
    Adds the parentheses. Safe in `with torch.no_grad:`, which raises as it stands. Unsafe elsewhere: what was only
    named happens now. There's no fix for a bare `torch.no_grad()`, which would need to know where it ends.

    ## Known limits
    `step` is reported only on optimizers and on names that say so.

    ## References
    - [Optimizing model parameters](https://docs.pytorch.org/tutorials/beginner/basics/optimization_tutorial.html)
    - [torch.no_grad](https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html)
    """

    code = "TLN110"
    name = "backward-not-called"
    level = Level.ERROR
    fixes = "both"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            loss = model(torch.ones(4, 2)).mean()
            loss.backward  # error: [TLN110]
            """,
            shows=Holds("model.weight.grad is None"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            loss = model(torch.ones(4, 2)).mean()
            loss.backward()
            """,
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            torch.no_grad()  # error: [TLN110]
            out = model(torch.ones(4, 2))
            """,
            shows=Holds("out.requires_grad"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            with torch.no_grad:  # error: [TLN110]
                out = model(torch.ones(4, 2))
            """,
            shows=Raises("does not support the context manager protocol"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            with torch.no_grad():
                out = model(torch.ones(4, 2))
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            backward = model(torch.ones(4, 2)).mean().backward
            backward()
            torch.set_grad_enabled(False)
            """
        ),
    )

    def check(self, event: calls.MethodNotCalled | calls.GradModeNotEntered) -> Iterator[Diagnostic]:
        if isinstance(event, calls.GradModeNotEntered):
            message = f"`torch.{event.name}()` alone sets nothing: it is a context, and nobody enters it"
            entered = "isinstance(value_, torch.autograd.grad_mode._NoParamDecoratorContextManager)"
            still_on = "torch.is_grad_enabled()" if event.name != "enable_grad" else "not torch.is_grad_enabled()"
            still = "off" if event.name == "enable_grad" else "on"
            words = f"`torch.{event.name}()` made a context that nobody entered: recording is still {still}"
            still_there = Holds(f"{entered} and {still_on}", words=words)
            yield Diagnostic(event.node, message, event.trace, claims=(still_there,))
            return
        text = code(event.method)
        effect = {
            "statement": "nothing happens",
            "saved": "the method is saved, not the weights",
            "with": "it is no context without its parentheses",
        }[event.place]
        fix = Fix(f"call it: `{text}()`", (Edit(event.method, f"{text}()"),), safe=event.place == "with", mends=True)
        words = f"`{text}` is something to be called, and nothing has called it here"
        called = Holds(f"callable({text})", words=words)
        claims = (Raises("context manager protocol"),) if event.place == "with" else (called,)
        message = f"`{text}` isn't called: {effect}{spelled(event.conditions)}"
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
