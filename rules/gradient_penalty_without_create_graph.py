from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import gradients
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class GradientPenaltyWithoutCreateGraph(Rule):
    """
    A loss has a term computed from a gradient that has no graph.

    ## What it does
    Finds `torch.autograd.grad(...)` without `create_graph=True` whose result, by way of a norm, a square or the like,
    becomes a term of what is then differentiated: gradient penalties, Jacobian and smoothness terms.

    ## Why is this bad?
    Without `create_graph=True` the gradient is a plain number. The term is in the printed loss, and contributes
    nothing to any parameter: the penalty doesn't penalise.

    ## Cure
    `torch.autograd.grad(..., create_graph=True)`.

    ## Fix safety
    Unsafe: it makes the term what it's written as, and with it the gradients other ones.

    ## Known limits
    Steps that use a gradient without differentiating through it are right as they are, and silent: `w - lr * g`
    (first-order meta-learning), `x + eps * g.sign()` (adversarial examples).

    ## References
    - [torch.autograd.grad](https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html)
    - [Improved Training of Wasserstein GANs](https://arxiv.org/abs/1704.00028)
    """

    code = "TLN107"
    name = "gradient-penalty-without-create-graph"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            critic = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
            x = torch.rand(8, 2, requires_grad=True)
            (slope,) = torch.autograd.grad(critic(x).sum(), x)  # warning: [TLN107]
            penalty = (slope.norm(dim=1) - 1).pow(2).mean()
            loss = critic(torch.ones(8, 2)).mean() + 10 * penalty
            loss.backward()
            """,
            shows=Holds("not penalty.requires_grad"),
            fixed="""
            import torch

            critic = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
            x = torch.rand(8, 2, requires_grad=True)
            (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
            penalty = (slope.norm(dim=1) - 1).pow(2).mean()
            loss = critic(torch.ones(8, 2)).mean() + 10 * penalty
            loss.backward()
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
            x = torch.rand(8, 2, requires_grad=True)
            (slope,) = torch.autograd.grad(net(x).sum(), x)
            adversarial = x.detach() + 0.1 * slope.sign()
            loss = net(adversarial).mean()
            loss.backward()
            """
        ),
    )

    def check(self, event: gradients.ConstantGradientTerm) -> Iterator[Diagnostic]:
        term = f"`{event.term.name}`" if event.term.name else "a term of the loss"
        message = f"{term} is computed from a gradient without a graph: backward takes it for a constant"
        claims = (Observed("constant-gradient", event.term.name),)
        yield Diagnostic(event.node, message, event.trace, _fix(event), claims=claims)


def _fix(event: gradients.ConstantGradientTerm) -> Fix | None:
    call = event.call
    if any(arg.star for arg in call.args):
        return None
    named = [arg for arg in call.args if arg.keyword is not None and arg.keyword.value == "create_graph"]
    if named:
        return Fix("set `create_graph=True`", (Edit(named[0].value, "True"),), safe=False)
    if len(call.args) > 4 and all(arg.keyword is None for arg in call.args[:5]):
        return None
    argument = cst.Arg(
        keyword=cst.Name("create_graph"),
        value=cst.Name("True"),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    last = call.args[-1]
    if last.comma is cst.MaybeSentinel.DEFAULT:
        args = [
            *call.args[:-1],
            last.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))),
            argument,
        ]
    else:
        args = [*call.args, argument.with_changes(comma=last.comma)]
    return Fix("add `create_graph=True`", (Edit(call, code(call.with_changes(args=args))),), safe=False)
