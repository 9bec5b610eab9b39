from collections.abc import Iterator
from functools import partial

from torchlint.fixes.renames import renamed
from torchlint.model.events import api
from torchlint.rule import Claim, Diagnostic, Example, Holds, Level, Observed, Rule, Warns


class DeprecatedApi(Rule):
    """
    The program names something that torch will remove.

    ## What it does
    Finds what is deprecated in a release of the target (see TLN901 for what that is, and for which mentions count).
    Silent where the oldest release has no replacement yet. A warning where torch shows one. Strict where only its
    documentation says so (`torch.ger`, `torch.svd`), or Python hides a `DeprecationWarning` (`torch.jit.script`). One
    finding per file for names of one module that went together. Silent where a name is only spoken of: the key of a
    table, a member of a set, one side of a comparison. Strict where it is an annotation or an unused import; where
    nothing of the project imports the file or names the function; in a copy of what others wrote (`_vendor`); and where
    no range is stated and only the last three releases have what takes its place. Strict in what a module does as a
    script. At the first call, if there is one. `isinstance` of a class that another one took the place of, its own
    base, is told as what it is: False for the new ones.

    ## Why is this bad?
    A later torch removes it.

    ## Cure
    What the message names.

    ## Fix safety
    Safe where the name alone changes, or where the call shows that it means the same (`torch.cuda.amp.autocast()` is
    `torch.amp.autocast("cuda")`). Others have no fix: `torch.svd` gives V, `torch.linalg.svd` its conjugate transpose.
    The import that a fix leaves without any use is removed by an unsafe one: somebody may import it from there.

    ## Known limits
    Methods of tensors (`x.ger(y)`) are found where the model knows that the receiver is a tensor.

    ## References
    - [What changed, and how the table is made](https://github.com/torchlint/torchlint/blob/main/docs/api-changes.md)
    """

    code = "TLN902"
    name = "deprecated-api"
    level = Level.WARNING
    fixes = "both"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch
            from torch import nn

            layer = nn.Linear(2, 3)
            nn.init.xavier_uniform(layer.weight)  # warning: [TLN902]
            """,
            shows=Warns("`nn.init.xavier_uniform` is now deprecated in favor of `nn.init.xavier_uniform_`"),
            fixed="""
            import torch
            from torch import nn

            layer = nn.Linear(2, 3)
            nn.init.xavier_uniform_(layer.weight)
            """,
        ),
        Example(
            """
            import torch
            from torch import ger  # strict: [TLN902]

            print(ger(torch.ones(2), torch.ones(3)))
            """,
            strict=True,
            shows=Holds("ger.__name__ == 'ger'"),
            fixed="""
            import torch
            from torch import outer as ger

            print(ger(torch.ones(2), torch.ones(3)))
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch import nn

            layer = nn.Linear(2, 3)
            nn.init.xavier_uniform_(layer.weight)
            try:
                from torch.amp import GradScaler
            except ImportError:
                from torch.cuda.amp import GradScaler
            """
        ),
        Example(
            """
            # /// script
            # dependencies = ["torch>=2.0,<2.6"]
            # ///
            import torch

            scaler = torch.cuda.amp.GradScaler  # torch.amp has one from 2.3 on
            """
        ),
    )

    def check(self, event: api.DeprecatedApi) -> Iterator[Diagnostic]:
        change, target = event.change, event.target
        said = "deprecated"
        if change.deprecated is not None:
            said = f"deprecated since {change.dated}"
            said += " or earlier" if change.earlier else ""
        if change.removed is not None:
            said += f", and gone in {change.removed[0]}.{change.removed[1]}"
        why = target.allowing(target.newest) if change.deprecated and target.begins_before(change.deprecated) else ""
        is_type = event.annotates or event.is_base
        is_value = event.call is None and not (event.imports or event.decorates or is_type)
        given = "" if event.annotates else change.given(event.positional)
        new = change.as_value if is_value else f"`{change.instead}{given}`"
        shown, other = f"`{change.instead}`", is_value and not change.is_drop_in
        differs = change.differs or ("" if change.how else "which is no drop-in")
        more = ("" if target.said else change.came) + (f", {differs}" if differs else "")
        instead = f": use {new}{more}" if change.instead else ""
        fix = partial(renamed, event, change, mends=False)
        level = Level.STRICT if event.is_demo else Level.WARNING
        unused = event.is_idle or (event.compared and not change.derived)
        if change.quiet or unused or (change.is_young and not target.said):
            level = Level.STRICT  # who says no range has users without what is young
        message = f"`{event.spelled}` is {said}{why}{instead}"
        if event.compared and change.derived:
            new = shown
            message = f"a {new}, which takes its place, is no `{event.spelled}`: ask for {new}, the base of both"
        since = "" if change.deprecated is None else ".".join(map(str, change.deprecated))
        claim: Claim = Observed("documented", event.name) if change.quiet else Observed("deprecated", event.name, since)
        if event.compared and change.derived:
            known = f"issubclass({event.name}, {change.instead}) and {event.name} is not {change.instead}"
            claim = Holds(known, True, f"a `{change.instead}` is no `{event.spelled}`, which derives from it")
        yield Diagnostic(
            event.node,
            message,
            event.trace,
            fix,
            level,
            group=(change.cause, event.compared and change.derived, other, "=..." in given),
            weight=(event.call is not None or event.decorates,),
            label=f"`{event.spelled}`" + (f" (now {new})" if change.instead else ""),
            others="mention",
            claims=(claim,),
        )
