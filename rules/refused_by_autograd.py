from collections.abc import Iterator

from torchlint.model import events
from torchlint.model.events import custom
from torchlint.rule import Diagnostic, Example, Level, Raises, Rule, spelled
from torchlint.truth import Truth

_SAYS = {
    "out": "arguments don't support automatic differentiation",
    "detach-view": "Can't detach views in-place",
    "hook": "cannot register a hook on a tensor that doesn't require gradient",
    "retain-grad": "can't retain_grad on Tensor that has requires_grad=False",
    "accumulated-hook": "post accumulate grad hooks cannot be registered on non-leaf tensors",
    "integers": "can require gradients",
    "gradient-shape": "",
    "gradient-kind": "attempting to assign a gradient with dtype",
    "no-derivative": "is not implemented",
    "parameter-twice": "some parameters appear in more than one parameter group",
    "inference": "",
    "inference-write": "Inplace update to inference tensor",
    "not-called": "object has no attribute 'backward'",
}


class RefusedByAutograd(Rule):
    """
    Autograd is asked for what it refuses.

    ## What it does
    Finds `out=` where an operand or the target requires grad, `detach_()` on a view, `register_hook` and `retain_grad`
    on a tensor that doesn't require grad, `register_post_accumulate_grad_hook` on a non-leaf, and integers or booleans
    that are told to require grad; a gradient of another shape than the tensor's, given to a backward or assigned to
    `.grad`; and a backward through an operation that has no derivative (`heaviside`, `//`, `bincount`, `unique`);
    a gradient of another shape that a custom `backward` returns, and tensors that it unpacks and nobody saved;
    a tensor in two parameter groups of an optimizer; what was made under `torch.inference_mode()`, saved by autograd or
    written outside of that; and `backward` of a loss that was built and never called: `nn.MSELoss(output, target)`.

    ## Why is this bad?
    Torch raises as soon as the line runs.

    ## Cure
    Leave `out=` away, or compute under `torch.no_grad()`; `detach()` instead of `detach_()`; ask for a hook or a kept
    gradient where there is a graph; make the tensor of floats: `torch.tensor([1.0, 2.0], requires_grad=True)`. A
    gradient has the shape of its tensor: `torch.ones_like(y)`. `detach()` what goes into an operation without a
    derivative.

    ## Known limits
    Silent where it is not known whether the tensor requires grad, is a view, or holds integers, or which shapes they
    have. Other refusals have rules of their own: TLN111, TLN113 to TLN115, TLN203, TLN209, TLN304.

    ## References
    - [torch.Tensor.detach_](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach_.html): not of views
    - [torch.Tensor.register_hook](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html)
    - [torch.Tensor.retain_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html)
    """

    code = "TLN118"
    name = "refused-by-autograd"
    level = Level.ERROR
    bad = (
        Example(
            """
            import torch

            w = torch.ones(2, 2, requires_grad=True)
            product = torch.empty(2, 2)
            torch.mm(w, w, out=product)  # error: [TLN118]
            """,
            shows=Raises(_SAYS["out"]),
        ),
        Example(
            """
            import torch

            steps = torch.tensor([1, 2, 3], requires_grad=True)  # error: [TLN118]
            """,
            shows=Raises(_SAYS["integers"]),
        ),
        Example(
            """
            import torch

            w = torch.ones(3, requires_grad=True)
            (w // 0.3).sum().backward()  # error: [TLN118]
            """,
            shows=Raises(_SAYS["no-derivative"]),
        ),
    )
    good = (
        Example(
            """
            import torch

            w = torch.ones(2, 2, requires_grad=True)
            product = torch.empty(2, 2)
            with torch.no_grad():
                torch.mm(w, w, out=product)
            last = (w * 2)[-1].detach()
            hidden = w.exp()
            hidden.retain_grad()
            steps = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
            """
        ),
    )

    def check(self, event: events.AutogradRefused | custom.NothingSaved) -> Iterator[Diagnostic]:
        if isinstance(event, custom.NothingSaved):
            message = f"`{event.cls}.forward` saves nothing, and `backward` unpacks what was saved"
            claims = (Raises("not enough values to unpack", here=False),)
            yield Diagnostic(event.node, message, event.trace, claims=claims)
            return
        leaf = event.kind == "out" and (event.target.requires_grad & event.target.is_leaf) is Truth.YES
        if event.kind not in _SAYS or leaf:  # a leaf that is written in place: TLN203
            return
        says = _SAYS[event.kind]
        name = f"`{event.target.name}`" if event.target.name else "a tensor"
        if event.kind == "out":
            message = f"`{event.op}` would have to be recorded, as one of its tensors requires grad: torch refuses"
        elif event.kind == "detach-view":
            message = f"`detach_()` of {name}, which is a view: torch refuses"
        elif event.kind == "accumulated-hook":
            message = f"`{event.op}` on {name}, which is no leaf, so that nothing is accumulated in it: torch refuses"
        elif event.kind == "gradient-shape" and event.op.endswith(".backward") and "autograd." not in event.op:
            message = f"`{event.op}` returns a gradient of another shape than {name}, its input: torch refuses"
            says = "returned an invalid gradient"
        elif event.kind == "gradient-shape":
            given = "assigned to `.grad` of" if event.op == "grad" else f"given to `{event.op}` for"
            message = f"the gradient {given} {name} has another shape than the tensor: torch refuses"
            says = "attempting to assign a gradient of size" if event.op == "grad" else "Mismatch in shape"
        elif event.kind == "gradient-kind":
            message = f"the gradient assigned to `.grad` of {name} holds another kind of number: torch refuses"
        elif event.kind == "parameter-twice":
            message = f"{name} is in two parameter groups of one optimizer: torch refuses"
        elif event.kind == "inference":
            saves = "requires_grad" not in event.op
            what = f"`{event.op}` {'would save' if saves else 'of'} {name}, which was made in inference mode"
            message = f"{what}: torch refuses; `clone()` it first"
            says = "Inference tensors cannot be saved for backward" if saves else "on inference tensor"
        elif event.kind == "inference-write":
            message = f"`{event.op}` writes into {name}, which was made in inference mode, outside of it: torch refuses"
        elif event.kind == "not-called":
            message = f"{name} was built and not called, and has no `backward`: `{event.target.name}()(input, target)`"
        elif event.kind == "no-derivative":
            message = f"the backward comes through `{event.op}`, which has no derivative: torch refuses"
        elif event.kind == "integers":
            other = f", and {name} holds none" if event.target.name else ""
            message = f"`{event.op}` for integers or booleans: only floating-point tensors can require grad{other}"
        else:
            message = f"`{event.op}` on {name}, which doesn't require grad: torch refuses"
        yield Diagnostic(event.node, message + spelled(event.conditions), event.trace, claims=(Raises(says),))
