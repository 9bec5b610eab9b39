from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import api
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule
from torchlint.syntax import cst


class ApiNewerThanTarget(Rule):
    """
    The program names something that the oldest torch it has to run on does not have.

    ## What it does
    Finds names and arguments of torch that came with a later release than the oldest of the target (see TLN901 for
    what that is). The names come from the sources of torch's own releases, 1.13 and later. One finding per file: at
    what came last, which says where the range may begin; what came earlier is named.

    Silent where nobody says which releases are meant, and where the author asks first: `hasattr`, a version, a `try`
    (also one around the import of what is used elsewhere), an `assert`, a function that is called first and raises, a
    flag or a function that answers any of these, in this file or in the one that it is imported from; where all files
    of the package that import this one ask first, or are imported only by such that do; in an object whose constructor
    raises where it is missing; and where a file of the package that this one imports cannot be loaded before either.

    An error where it is evaluated whenever the package is imported, or the script is run. A warning where somebody has
    to come by, who calls a function or imports a module that nothing of the package imports: the message says who. A
    warning, too, where another requirement may ask for a later torch: one that has to do with torch by all that is
    known is named in the message, one of which nothing is known in the trace.

    ## Why is this bad?
    An installation that the project's own metadata allow raises AttributeError, ImportError or TypeError.

    ## Cure
    Raise the lower end of the project's range, or ask for the version.

    ## Known limits
    Of the native library only functions are known, and neither types nor attributes. Where a function has `**kwargs`,
    its arguments are not.

    ## References
    - [What changed, and how the table is made](https://github.com/torchlint/torchlint/blob/main/docs/api-changes.md)
    """

    code = "TLN907"
    name = "api-newer-than-target"
    level = Level.ERROR
    bad = (
        Example(
            """
            # /// script
            # dependencies = ["torch>=1.13"]
            # ///
            import torch

            def loss(x):
                return (x ** 2).sum()

            print(torch.func.grad(loss)(torch.ones(3)))  # error: [TLN907]
            """,
            shows=Holds("tuple(map(int, torch.__version__.split('.')[:2])) >= (2, 0)"),
        ),
    )
    good = (
        Example(
            """
            # /// script
            # dependencies = ["torch>=1.13"]
            # ///
            import torch

            model = torch.nn.Linear(2, 3)
            if hasattr(torch, "compile"):
                model = torch.compile(model)
            try:
                from torch.func import vmap
            except ImportError:
                from functorch import vmap
            """
        ),
        Example(
            """
            import torch

            print(torch.func.vmap(torch.sum)(torch.ones(2, 3)))
            """
        ),
    )

    def check(self, event: api.TooNewApi) -> Iterator[Diagnostic]:
        since, target = f"{event.since[0]}.{event.since[1]}", event.target
        new = event.came_with if event.imports and event.came_with else event.spelled
        what = f"`{event.argument}` of `{event.spelled}`" if event.argument else f"`{new}`"
        allowed = target.allowing(target.oldest) or f", and the target begins at {target.oldest[0]}.{target.oldest[1]}"
        capped = target.oldest != target.newest and not target.reaches(event.since)
        ends = "both ends" if capped else "that"
        needs = target.with_python(event.since).removeprefix(since)
        to = f" to {since}{needs}" if needs else ""
        cure = f"raise {ends}{to}{_further(event)}, or ask first"
        if event.by_import:
            what, cure = f"{what} without `import {event.by_import}`", "say that, or raise the lower end"
        then = f"{_then(event)}{event.if_old}"
        if event.imported and not event.is_import:  # the file does not come as far as the name
            then, cure = (
                f"`import {event.imported}` raises ModuleNotFoundError",
                cure.replace("ask first", "ask before it"),
            )
        message = f"{what} is new in torch {since}{allowed}: {then}; {cure}"
        claims = (Observed("refused", event.argument or event.name, f"+{since}"),)
        yield Diagnostic(
            event.node,
            message,
            (*event.trace, *event.doubt_old),
            level=Level.WARNING if event.if_old or event.doubt_old else None,
            group="target",
            weight=(*event.since, not event.reached),
            label=f"{what} ({since})",
            others="mention",
            claims=claims,
        )


def _further(event: api.TooNewApi) -> str:
    """What is taken from a module that is new, where it is not known when that came: perhaps later."""
    taken = event.reference if event.importing is not None and not event.imports else None
    return f", further if `{code(taken.name)}` came later" if isinstance(taken, cst.ImportAlias) else ""


def _then(event: api.TooNewApi) -> str:
    """What the oldest torch does there."""
    error, place = "AttributeError", " where it is used" if event.inside else " at load"
    if event.argument:
        error, place = "TypeError", " at the call"
    elif event.is_import:
        error, place = "ImportError", event.reached or " at the import"
    return error if event.reached and event.if_old == event.reached else error + place
