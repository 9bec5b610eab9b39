from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from torchlint.fixes.renames import with_argument_said
from torchlint.model.events import Step, api
from torchlint.rule import Diagnostic, Example, Fix, Holds, Level, Observed, Rule


class ChangedDefault(Rule):
    """
    A call means one thing on one torch it has to run on, and another on another.

    ## What it does
    Finds calls whose meaning changes within the target (see TLN901 for what that is) because they leave an argument
    out: `dynamo` of `torch.onnx.export` (2.9), `trust_repo` of `torch.hub.load` (2.11); and `torch.floor_divide`,
    which rounds down since 1.13. `torch.load` (2.6) is TLN904.

    ## Why is this bad?
    The same program gives different results on two installations, both of which the project allows.

    ## Cure
    Say the argument. For `floor_divide`: `torch.div(a, b, rounding_mode="floor")`, or `"trunc"` for what it did.

    ## Fix safety
    Unsafe: the argument gets the value that it had before the change. No fix where the oldest torch has no such
    argument.

    ## Known limits
    Methods (`x.floor_divide(y)`) and what `functools.partial` is given are not seen.

    ## References
    - [torch.floor_divide](https://docs.pytorch.org/docs/stable/generated/torch.floor_divide.html)
    - [torch.onnx.export](https://docs.pytorch.org/docs/stable/onnx_export.html)
    """

    code = "TLN908"
    name = "changed-default"
    level = Level.WARNING
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            # /// script
            # dependencies = ["torch>=1.10"]
            # ///
            import torch

            half = torch.floor_divide(torch.tensor(-3.0), 2)  # warning: [TLN908]
            """,
            shows=Holds("half.item() == -2.0 != (-3.0 / 2).__trunc__()"),
        ),
        Example(
            """
            # /// script
            # dependencies = ["torch>=2.5,<2.12"]
            # ///
            import torch

            def save(model, path):
                torch.onnx.export(model, torch.rand(1, 3), path)  # warning: [TLN908]
            """,
            shows=Holds("('dynamo',) not in save.__code__.co_consts"),
            fixed="""
            # /// script
            # dependencies = ["torch>=2.5,<2.12"]
            # ///
            import torch

            def save(model, path):
                torch.onnx.export(model, torch.rand(1, 3), path, dynamo=False)
            """,
        ),
    )
    good = (
        Example(
            """
            # /// script
            # dependencies = ["torch>=1.10"]
            # ///
            import torch

            half = torch.div(torch.tensor(-3.0), 2, rounding_mode="floor")
            """
        ),
        Example(
            """
            import torch

            half = torch.floor_divide(torch.tensor(-3.0), 2)
            """
        ),
    )

    def check(self, event: api.UnsaidArgument) -> Iterator[Diagnostic]:
        unsaid, target = event.unsaid, event.target
        if not target.spans(unsaid.changes):
            return
        assert unsaid.changes is not None
        release = _release(unsaid.changes)
        call = f"`{event.spelled}`{f' without `{unsaid.name}`' if unsaid.name else ''}"
        both = f"{target.said.partition(' in ')[0]} allows both" if target.said else "the target holds both"
        say = f": say `{unsaid.name}`" if unsaid.name else ""
        if say and unsaid.keyword is not None and target.begins_before(unsaid.keyword):
            say += f", which is there from {_release(unsaid.keyword)} on"
        message = f"{call} {unsaid.was} before torch {release}, and from it on {unsaid.now}; {both}{say}"
        oldest = ".".join(map(str, target.oldest))
        within = f"{oldest} {release} {unsaid.name}".strip()
        claims = (Observed("meaning-changed", event.name, within),)
        fix, trace = partial(_as_before, event), (*event.trace, *_told(event))
        level = Level.STRICT if event.is_left_out else None
        yield Diagnostic(event.node, message, trace, fix, level, group=event.name, others="call", claims=claims)


def _told(event: api.UnsaidArgument) -> Iterator[Step]:
    """What follows from the change, what allows both, and what says which is meant."""
    unsaid, target = event.unsaid, event.target
    if target.said:
        yield Step(event.node, f"{target.said} allows torch {_release(target.oldest)} and {_release(target.newest)}")
    if unsaid.needs and unsaid.changes is not None:
        yield Step(event.node, f"from torch {_release(unsaid.changes)} on it {unsaid.needs}")
    if unsaid.cure:
        yield Step(event.node, unsaid.cure)
    elif unsaid.keyword is not None and target.begins_before(unsaid.keyword):
        yield Step(
            event.node, f"`{unsaid.name}` is there from torch {_release(unsaid.keyword)} on: begin there, and say it"
        )
    elif unsaid.say:
        yield Step(event.node, f"`{unsaid.name}={unsaid.say}` is what it did before")


def _release(of: tuple[int, int]) -> str:
    return f"{of[0]}.{of[1]}"


def _as_before(event: api.UnsaidArgument) -> Fix | None:
    fix = with_argument_said(event)
    return None if fix is None else replace(fix, safe=False)
