from collections.abc import Iterator

from torchlint.fixes.rewrites import code, operand, shown
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class GraphCutAndReleafed(Rule):
    """
    A value is cut from its graph and made a leaf again, so that backward runs and nothing learns.

    ## What it does
    Finds `torch.tensor(loss, requires_grad=True)` of graph tensors, a backward that starts at such a leaf (a value
    after `argmax`, a comparison, `detach()`, or computed from numbers, with `requires_grad_()` set on it), and
    `nn.Parameter(t)` of a graph tensor in `forward` or in a loop. The finding stands where the flag is set.
    And a parameter that is given what a layer has computed with a graph (`p.data = layer(x)`), where a backward
    reaches the parameter, which nothing else trains, and not the layer.

    ## Why is this bad?
    "does not require grad" is torch's way to say that there is nothing to learn from. Setting the flag silences it:
    the backward stops at the new leaf, every parameter keeps `grad = None`, and the loss stays where it is.

    ## Cure
    Keep the value in the graph: use the tensor itself, `torch.stack(losses).mean()` for several, a differentiable
    stand-in for a hard decision.

    ## Fix safety
    Unsafe: now the gradient flows.

    ## Known limits
    `x.detach().requires_grad_()` in the middle of a computation is a common and right way to start anew: silent. So
    is `nn.Parameter(t)` in a constructor, where it's the first value.

    ## References
    - [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html): "creates a tensor with no
      autograd history"
    """

    code = "TLN105"
    name = "graph-cut-and-releafed"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            losses = [model(torch.ones(2)).sum(), model(torch.zeros(2)).sum()]
            total = torch.tensor(losses, requires_grad=True)  # warning: [TLN105]
            total.mean().backward()
            """,
            shows=Holds("model.weight.grad is None"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            losses = [model(torch.ones(2)).sum(), model(torch.zeros(2)).sum()]
            total = torch.stack(losses)
            total.mean().backward()
            """,
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 3)
            guess = model(torch.ones(4, 2)).argmax(dim=1)
            wrong = (guess != 1).float().mean()
            wrong.requires_grad_()  # warning: [TLN105]
            wrong.backward()
            """,
            shows=Holds("model.weight.grad is None"),
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            x = model(torch.ones(4, 2)).detach().requires_grad_()  # starts anew, on purpose
            (x**2).mean().backward()
            print(x.grad)
            """
        ),
    )

    def check(self, event: gradients.GraphRestarted) -> Iterator[Diagnostic]:
        leaf = f"`{event.leaf.name}`" if event.leaf.name else "the value"
        if event.how == "root":
            made = f" (`{event.made_by}` made it)" if event.made_by else ""
            message = f"backward starts from {leaf}, a leaf without a history{made}: nothing learns"
            if event.told:
                message = f"{leaf} has no history{made}, and is told to require grad: its backward reaches nothing else"
            yield Diagnostic(event.node, message, event.trace, claims=(Observed("graph-cut", event.leaf.name),))
            return
        assert event.source_node is not None
        source = shown(event.source_node)
        claims = (Observed("graph-cut", _written(event) or event.leaf.name, code(event.source_node)),)
        if event.how == "written":
            message = f"{leaf} is given {source}, which has a graph, and cuts it off: what computed it learns nothing"
            yield Diagnostic(event.node, message, event.trace, claims=claims)
            return
        if event.how == "parameter":
            message = f"`nn.Parameter` of {source}, a graph tensor, cuts it off: what computed it learns nothing"
            yield Diagnostic(event.node, message, event.trace, claims=claims)
            return
        made = code(event.call.func) if event.call is not None else "torch.tensor"
        message = f"`{made}` copies {source} out of the graph, and `requires_grad=True` hides it"
        yield Diagnostic(event.node, message, event.trace, _fix(event), claims=claims)


def _written(event: gradients.GraphRestarted) -> str:
    """The leaf that is written, as the statement spells it: `a.weight` in `a.weight.data = …`, `a.weight.copy_(…)`."""
    node = event.node.func if isinstance(event.node, cst.Call) else event.node
    return code(node.value).removesuffix(".data") if event.how == "written" and isinstance(node, cst.Attribute) else ""


def _fix(event: gradients.GraphRestarted) -> Fix | None:
    if event.source_node is None or event.call is None or len(event.call.args) != 2:
        return None
    text = operand(event.source_node)
    if event.source_kind == "sequence":
        text = f"torch.stack({code(event.source_node)})"
        if isinstance(event.source_node, cst.GeneratorExp):
            return None
    imports = ("import torch",) if event.source_kind == "sequence" else ()
    return Fix(f"keep it in the graph: `{text}`", (Edit(event.call, text),), safe=False, imports=imports)
