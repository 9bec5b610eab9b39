from collections.abc import Iterator

from torchlint.model.events import custom
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule, spelled


class FullBackwardHookWithInPlace(Rule):
    """
    A module has a full backward hook, and its input or output is modified in place.

    ## What it does
    Finds in-place operations on what goes into, or comes out of, a module on which `register_full_backward_hook` (or
    `register_full_backward_pre_hook`) was called: `out += x`, `relu_`, an `inplace=True` layer that follows, or one
    that has the hook itself.

    ## Why is this bad?
    To see the module's gradients, torch passes its inputs and outputs through a custom Function that returns views.
    Such views must not be written to: torch raises.

    ## Cure
    Write out of place, or build the layer with `inplace=False`.

    ## References
    - [torch.nn.Module.register_full_backward_hook](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook):
      "Modifying inputs or outputs inplace is not allowed when using backward hooks and will raise an error"
    """

    code = "TLN512"
    name = "full-backward-hook-with-in-place"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch

            layer, act = torch.nn.Linear(2, 2), torch.nn.ReLU(inplace=True)
            act.register_full_backward_hook(lambda module, grad_input, grad_output: None)
            out = act(layer(torch.rand(1, 2)))  # error: [TLN512]
            """,
            shows=Raises("is a view and is being modified inplace"),
        ),
        Example(
            """
            import torch

            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(inplace=True))
            model[0].register_full_backward_hook(lambda module, grad_input, grad_output: None)
            model(torch.rand(1, 2))  # error: [TLN512]
            """,
            shows=Raises("is a view and is being modified inplace"),
        ),
    )
    good = (
        Example(
            """
            import torch

            layer = torch.nn.Linear(2, 2)
            layer.register_full_backward_hook(lambda module, grad_input, grad_output: None)
            out = layer(torch.rand(1, 2)) + 1
            out += 1
            """
        ),
    )

    def check(self, event: custom.HookedTensorWritten) -> Iterator[Diagnostic]:
        name = f" `{event.name}`" if event.name else ""
        message = f"`{event.op}` modifies the {event.what}{name} of `{event.module}`, which has a full backward hook"
        message += spelled(event.conditions)
        claims = [Raises("is a view and is being modified inplace")]
        if event.what == "input":  # written after the call, what the module was given is refused when that is used
            claims.append(Raises("is a view and its base or another view of its base has been modified inplace", False))
        yield Diagnostic(event.node, message, event.trace, claims=tuple(claims))
