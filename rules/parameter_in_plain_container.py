from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule, spelled


class ParameterInPlainContainer(Rule):
    """
    Parameters or modules in a list, tuple or dict of a Module are not registered.

    ## What it does
    Finds `self.layers = [nn.Linear(...), ...]`, `self.heads = {"a": nn.Linear(...)}`, comprehensions, and lists that
    are filled with `append`, in the `__init__` of a Module.

    ## Why is this bad?
    `nn.Module` registers what is assigned to an attribute, and doesn't look into Python's containers: these parameters
    are missing in `parameters()`, so no optimizer trains them, in `state_dict()`, so no checkpoint holds them, and
    `.to(device)` leaves them where they are.

    ## Cure
    `nn.ModuleList`, `nn.ModuleDict`, `nn.ParameterList`, `nn.ParameterDict`: they can be indexed and iterated alike.

    ## Fix safety
    Unsafe: the parameters become part of `parameters()`, of `state_dict()` (checkpoints saved before don't have them)
    and of what is printed. There is no fix for containers that hold other things as well.

    ## Known limits
    What is registered elsewhere as well (`self.net = nn.Sequential(*self.layers)`, `add_module`) is fine. So is a list
    of one, the usual way to hide a module on purpose, and what has no parameters, or parameters that nothing reads.

    ## References
    - [torch.nn.ModuleList](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    - [torch.nn.ParameterList](https://docs.pytorch.org/docs/stable/generated/torch.nn.ParameterList.html)
    """

    code = "TLN302"
    name = "parameter-in-plain-container"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch
            from torch import nn

            class Net(nn.Module):
                def __init__(self, depth):
                    super().__init__()
                    self.layers = [nn.Linear(4, 4) for _ in range(depth)]  # warning: [TLN302]

                def forward(self, x):
                    for layer in self.layers:
                        x = torch.relu(layer(x))
                    return x

            net = Net(3)
            """,
            shows=Holds("len(list(net.parameters())) == 0"),
            fixed="""
            import torch
            from torch import nn

            class Net(nn.Module):
                def __init__(self, depth):
                    super().__init__()
                    self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(depth)])

                def forward(self, x):
                    for layer in self.layers:
                        x = torch.relu(layer(x))
                    return x

            net = Net(3)
            """,
        ),
        Example(
            """
            import torch

            class Mixture(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.means = {  # warning: [TLN302]
                        "a": torch.nn.Parameter(torch.zeros(3)),
                        "b": torch.nn.Parameter(torch.ones(3)),
                    }

            mixture = Mixture()
            """,
            shows=Holds("not mixture.state_dict()"),
            fixed="""
            import torch

            class Mixture(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.means = torch.nn.ParameterDict({
                        "a": torch.nn.Parameter(torch.zeros(3)),
                        "b": torch.nn.Parameter(torch.ones(3)),
                    })

            mixture = Mixture()
            """,
        ),
    )
    good = (
        Example(
            """
            from torch import nn

            class Net(nn.Module):
                def __init__(self, depth):
                    super().__init__()
                    layers = [nn.Linear(4, 4) for _ in range(depth)]
                    self.net = nn.Sequential(*layers)
                    self.sizes = [4] * depth

                def forward(self, x):
                    return self.net(x)

            assert len(list(Net(3).parameters())) == 6
            """
        ),
    )

    def check(self, event: registration.HeldInPlainContainer) -> Iterator[Diagnostic]:
        plural = f"a {event.container} of {event.held}"
        message = f"`self.{event.attribute}` is {plural}, which `{event.module}` doesn't register"
        message += spelled(event.conditions)
        container = _REGISTERED[event.held, event.container == "dict"]
        fix = None
        if event.flat and event.container in ("list", "tuple", "dict"):
            namespace = event.namespace or "nn"
            text = code(event.value_node)
            content = "" if text in ("[]", "list()", "{}", "dict()", "()") else text
            edits = (Edit(event.value_node, f"{namespace}.{container}({content})"),)
            imports = () if event.namespace else ("from torch import nn",)
            fix = Fix(f"make it an `{namespace}.{container}`", edits, safe=False, imports=imports)
        claims = (Observed("unregistered", f"self.{event.attribute}"),)
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)


_REGISTERED = {
    ("modules", False): "ModuleList",
    ("modules", True): "ModuleDict",
    ("parameters", False): "ParameterList",
    ("parameters", True): "ParameterDict",
}
