from collections.abc import Iterator
from functools import partial

from torchlint.fixes.renames import with_argument_said, without_old_argument
from torchlint.model.events import api
from torchlint.rule import Diagnostic, Example, Level, Observed, Raises, Rule, Warns


class DeprecatedArgument(Rule):
    """
    A call says an argument that torch gave up, or leaves out one that it wants said.

    ## What it does
    Finds arguments that are deprecated or gone in a release of the target (see TLN901 for what that is): `size_average`
    and `reduce` of losses, `verbose` of schedulers, `retain_variables`, `volatile`, `pretrained` of torchvision's
    models; an error where a release of the target raises. And calls without an argument that torch warns to say, as it
    will be required or its default is to change: `indexing` of `torch.meshgrid`, `use_reentrant` of `checkpoint`, `dim`
    of `torch.cross`, `return_complex` of `torch.stft`. One warning per argument and file. An error where `checkpoint`
    is given keywords for the function, which need `use_reentrant=False`. Silent where a loss is given None, or what is
    None unless somebody gives it. Strict where nothing uses it, in copies (`_vendor`), and in a demo.

    ## Why is this bad?
    What is ignored or refused does not do what it says; what is left out will mean something else.

    ## Cure
    `reduction="sum"` for `size_average=False`, `reduction="none"` for `reduce=False`; for `verbose`, print
    `scheduler.get_last_lr()`; for `volatile`, `with torch.no_grad():`.

    ## Fix safety
    Safe where the value is written in the call and the new one means the same: what is left unsaid is said as it is
    meant now, and `pretrained=True` as the weights that it stands for. `verbose=True` and `volatile=True` are left out
    as unsafe fixes. No fix for a call with `*` or `**`.

    ## Known limits
    What a call is given by `**` or `functools.partial`, and what `getattr` gives, is not seen.

    ## References
    - [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
    - [What changed, and how the table is made](https://github.com/torchlint/torchlint/blob/main/docs/api-changes.md)
    """

    code = "TLN903"
    name = "deprecated-argument"
    level = Level.WARNING
    fixes = "both"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            criterion = torch.nn.MSELoss(size_average=False)  # warning: [TLN903]
            loss = criterion(torch.ones(3), torch.zeros(3))
            """,
            shows=Warns("size_average and reduce args will be deprecated, please use reduction='sum' instead"),
            fixed="""
            import torch

            criterion = torch.nn.MSELoss(reduction="sum")
            loss = criterion(torch.ones(3), torch.zeros(3))
            """,
        ),
        Example(
            """
            import torch

            optimizer = torch.optim.SGD(torch.nn.Linear(2, 3).parameters(), lr=0.1)
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, verbose=True)  # error: [TLN903]
            """,
            shows=Raises("got an unexpected keyword argument 'verbose'"),
            fixed="""
            import torch

            optimizer = torch.optim.SGD(torch.nn.Linear(2, 3).parameters(), lr=0.1)
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
            """,
        ),
        Example(
            """
            import torch

            rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3))  # warning: [TLN903]
            """,
            shows=Warns("it will be required to pass the indexing argument"),
            fixed="""
            import torch

            rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            criterion = torch.nn.MSELoss(reduction="sum")
            rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="xy")
            settings = {"indexing": "ij"}
            rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), **settings)
            """
        ),
    )

    def check(self, event: api.OldArgument | api.UnsaidArgument) -> Iterator[Diagnostic]:
        usual = Level.STRICT if event.is_asleep or event.is_moot or event.is_demo else Level.WARNING
        if isinstance(event, api.OldArgument):
            change, names = event.change, " and ".join(f"`{each.name}`" for each in event.every)
            if event.target.reaches(change.removed):
                release = ".".join(map(str, change.removed or ()))
                why = event.target.allowing(event.target.newest)
                message = f"`{event.spelled}` takes no {names} since torch {release}{why}{event.if_new}"
                level, trace = Level.WARNING if event.if_new or event.doubt_new else Level.ERROR, event.doubt_new
                claim = Observed("refused", change.name, release)
            else:
                since = "" if change.deprecated is None else ".".join(map(str, change.deprecated))
                verb = "are deprecated" if event.others else "is deprecated"
                happens = f"{verb}{' since ' * bool(change.instead_of)}{change.instead_of}"
                happens = f"has had no effect since torch {since}" if change.ignored else happens
                message, level, trace = f"{names} of `{event.spelled}` {happens}", usual, ()
                claim = Observed("deprecated", change.name, since)
            message += f": {event.cure}" if event.cure else ""
            if change.instead and event.target.begins_before(change.instead_since):  # leaving it out needs no release
                of, vision = change.instead_of, event.target.torchvision
                came = f", there since torch {'.'.join(map(str, change.instead_since or ()))}"
                message += f", which needs {of} ({vision})" * bool(vision) if of else came
            fix = partial(without_old_argument, event)
            by = (event.name if not event.name.startswith("torchvision.") else "torchvision", change.name + change.cure)
            group = None if event.target.reaches(change.removed) else by
            claims = (claim, *((Raises("positional argument"),) if level is Level.ERROR else ()))
            trace = (*event.trace, *trace)
            yield Diagnostic(event.node, message, trace, fix, level, group=group, others="call", claims=claims)
        elif event.refused:
            names = " and ".join(f"`{name}`" for name in event.refused)
            message = f"`{event.spelled}` without `{event.unsaid.name}=False` takes no {names}: ValueError"
            message += event.if_reached
            level, fix = Level.WARNING if event.if_reached else Level.ERROR, partial(with_argument_said, event)
            refused = Observed("refused", event.refused[0], "0.4")
            yield Diagnostic(event.node, message, event.trace, fix, level, claims=(refused,))
        elif event.unsaid.changes is None:
            why = event.unsaid.why
            if event.unsaid.keyword is not None and event.target.begins_before(event.unsaid.keyword):
                came = ".".join(map(str, event.unsaid.keyword))
                why += f". To say it, require torch>={came}: {event.target.said} allows older ones"
            message = f"`{event.spelled}` without `{event.unsaid.name}`: {why}"
            since = "" if event.unsaid.since is None else ".".join(map(str, event.unsaid.since))
            claim = Observed("deprecated", event.unsaid.name, since)
            fix, group = partial(with_argument_said, event), (event.name, event.unsaid.name)
            usual = Level.STRICT if event.is_off else usual
            yield Diagnostic(event.node, message, event.trace, fix, usual, group=group, others="call", claims=(claim,))
