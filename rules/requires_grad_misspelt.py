from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class RequiresGradMisspelt(Rule):
    """
    An attribute that nobody reads is set where `requires_grad` is meant.

    ## What it does
    Finds `p.require_grad = False` and similar misspellings on tensors, and `module.requires_grad = False` on modules,
    which have no such attribute; and `p.requires_grad == False` as a statement, which compares.

    ## Why is this bad?
    Python makes a new attribute and nothing happens: what should be frozen is trained.

    ## Cure
    `p.requires_grad = False` for a tensor, `module.requires_grad_(False)` for a module.

    ## Fix safety
    Unsafe: the line does nothing as it stands, and then it does what it says.

    ## Known limits
    Silent for objects that aren't known to be tensors or modules, and for modules of the file that keep such an
    attribute themselves.

    ## References
    - [torch.nn.Module.requires_grad_](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.requires_grad_)
    - [torch.Tensor.requires_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad.html)
    """

    code = "TLN310"
    name = "requires-grad-misspelt"
    may_be_strict = True
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            for p in model.parameters():
                p.require_grad = False  # warning: [TLN310]
            """,
            shows=Holds("model.weight.requires_grad"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            for p in model.parameters():
                p.requires_grad = False
            """,
        ),
        Example(
            """
            import torch

            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
            model[0].requires_grad = False  # warning: [TLN310]
            """,
            shows=Holds("model[0].weight.requires_grad"),
            fixed="""
            import torch

            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
            model[0].requires_grad_(False)
            """,
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            for p in model.parameters():
                p.requires_grad == False  # warning: [TLN310]
            """,
            shows=Holds("model.weight.requires_grad"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            for p in model.parameters():
                p.requires_grad = False
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
            model[0].requires_grad_(False)
            for p in model[1].parameters():
                p.requires_grad = False
            """
        ),
    )

    def check(self, event: registration.GradFlagSet | registration.GradFlagCompared) -> Iterator[Diagnostic]:
        owner = code(event.owner)
        fix: Fix | None
        if isinstance(event, registration.GradFlagCompared):
            text = f"{code(event.target)} = {event.wanted}"
            message = f"`==` compares and sets nothing: `{text}`"
            fix = Fix(f"write `{text}`", (Edit(event.node, text),), safe=False)
            yield Diagnostic(event.node, message, fix=fix, claims=(Observed("result-dropped"),))
            return
        if event.of == "tensor":
            fix = Fix("spell it `requires_grad`", (Edit(event.target, f"{owner}.requires_grad"),), safe=False)
            message = f"`{owner}.{event.attribute}` means nothing to torch: it is spelt `requires_grad`"
            words = f"`{owner}.requires_grad` is not what `{owner}.{event.attribute}` was set to"
            claims = (Holds(f"{owner}.requires_grad != {owner}.{event.attribute}", words=words),)
            if event.holds:  # what is set is so in any case: that it is set to nothing of torch's shows
                words = f"`{event.attribute}` is an attribute that torch does not know, of `{owner}` alone"
                known = f"{event.attribute!r} in {owner}.__dict__ and not hasattr(type({owner}), {event.attribute!r})"
                claims = (Holds(known, words=words),)
            level = Level.STRICT if event.holds else None  # such a tensor requires no grad in any case
            yield Diagnostic(event.node, message, event.trace, fix, level, claims=claims)
            return
        message = f"`{owner}` is a module: setting `{event.attribute}` on it does nothing to its parameters"
        line = event.statement
        alone = isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
        text = f"{owner}.requires_grad_({code(event.value)})" if event.value is not None and alone else ""
        edits = (Edit(event.statement, text),)
        fix = Fix(f"write `{text}`", edits, safe=False) if text and "\n" not in text else None
        words = f"`requires_grad` of the parameters of `{owner}` is not what `{owner}.{event.attribute}` was set to"
        claims = (
            Holds(f"any(p.requires_grad != {owner}.{event.attribute} for p in {owner}.parameters())", words=words),
        )
        yield Diagnostic(event.node, message, event.trace, fix, claims=claims)
