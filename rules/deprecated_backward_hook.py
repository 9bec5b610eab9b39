from collections.abc import Iterator
from functools import partial

from torchlint.model.events import custom
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Observed, Rule, Warns
from torchlint.syntax import cst


class DeprecatedBackwardHook(Rule):
    """
    A module's backward hook is registered with `register_backward_hook`, which sees the wrong gradients.

    ## What it does
    Finds calls of `Module.register_backward_hook`; with `--strict` only, where the hook looks at
    no gradient of the inputs, and returns nothing made of the others: those of the outputs are the module's; and where
    the module is an activation, which is one operation.

    ## Why is this bad?
    The hook sits on the last operation of `forward`, not on the module: where `forward` has several operations,
    `grad_input` is that of the last one, and gradients of some inputs are missing. Torch warns, and will remove it.

    ## Cure
    `register_full_backward_hook`, with the same arguments. The module's inputs and outputs must not be modified in
    place then.

    ## Fix safety
    Unsafe: the hook sees other gradients where `forward` is more than one operation, and a full backward hook makes
    torch refuse in-place operations on the module's output (TLN512): `nn.ReLU(inplace=True)` behind it raises.

    ## References
    - [torch.nn.Module.register_backward_hook](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_backward_hook):
      "This function is deprecated in favor of `register_full_backward_hook`"
    """

    code = "TLN510"
    name = "deprecated-backward-hook"
    level = Level.WARNING
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            def watch(module, grad_input, grad_output):
                print(module, [g.shape for g in grad_input if g is not None])

            model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
            model.register_backward_hook(watch)  # warning: [TLN510]
            model(torch.rand(4, 2)).sum().backward()
            """,
            shows=Warns(
                "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated"
            ),
            fixed="""
            import torch

            def watch(module, grad_input, grad_output):
                print(module, [g.shape for g in grad_input if g is not None])

            model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
            model.register_full_backward_hook(watch)
            model(torch.rand(4, 2)).sum().backward()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 3)
            seen = []
            model.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_output))
            model.register_forward_hook(lambda module, inputs, output: seen.append(output.shape))
            model(torch.rand(4, 2, requires_grad=True)).sum().backward()
            """
        ),
    )

    def check(self, event: custom.BackwardHookRegistered) -> Iterator[Diagnostic]:
        message = "`register_backward_hook` is deprecated: it sees the last operation; "
        message += "`register_full_backward_hook` sees the module, and refuses in-place changes of its output"
        said = Observed("documented", "torch.nn.Module.register_backward_hook")
        claims = (Warns("non-full backward hook", here=False), said)
        # none of the wrong gradients is read, or none is wrong
        level = Level.STRICT if event.ignores or event.alone else Level.WARNING
        yield Diagnostic(event.node, message, event.trace, partial(_fix, event.call), level, claims=claims)


def _fix(call: cst.Call) -> Fix:
    assert isinstance(call.func, cst.Attribute)
    edit = Edit(call.func.attr, "register_full_backward_hook")
    return Fix("register a full backward hook", (edit,), safe=False)
