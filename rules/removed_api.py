from collections.abc import Iterator
from functools import partial

from torchlint.fixes.renames import renamed
from torchlint.model.events import api
from torchlint.rule import Diagnostic, Example, Level, Observed, Raises, Rule


class RemovedApi(Rule):
    """
    The program names something that is gone from a torch it has to run on.

    ## What it does
    Finds what a release of the target no longer has, or has only to raise: functions, classes, modules. Every mention
    counts: imports, aliases, attributes, decorators, also in code that is never run. Of what is still there by its name
    (`torch.eig`) only what calls it counts: a table may have it as a key. Names that went together are one finding per
    file.

    The target is what `--target-torch` says, or `target-torch` in the configuration, or a script's own metadata (PEP
    723), or those of the project: its dependencies, requirements, environment or lock file. Where nobody says
    anything, it is the newest torch that torchlint knows. Where the author asks first (`hasattr`, a version, a `try`
    that catches `ImportError` or `AttributeError`), there is nothing to report.

    ## Why is this bad?
    It raises. `hasattr` is no evidence to the contrary: some functions are still there, and do nothing but raise.

    ## Cure
    What the message names. It may take other arguments, in another order: `torch.solve(B, A)` is
    `torch.linalg.solve(A, B)`.

    ## Fix safety
    Safe where the name alone changes, or where the call shows that it means the same: `torch.rfft(x, 1)` becomes
    `torch.view_as_real(torch.fft.rfft(x))`. Unsafe for `torch.symeig` with eigenvectors, which may come with other
    signs; for `torch.solve` of which only the solution is used, as the two read the dimensions of batches differently;
    and for the transforms of complex numbers, whose pairs must lie together in memory. A method of a tensor is
    rewritten as the function of its name, the tensor first: `b.solve(A)[0]` is `torch.linalg.solve(A, b)`.

    Others have no fix. The solution of `torch.lstsq` has rows that `torch.linalg.lstsq` does not give, and
    `torch.irfft` without `signal_sizes` took the last dimension for odd.

    ## Known limits
    Methods of tensors (`A.symeig()`) are found where the model knows that the receiver is a tensor.

    ## References
    - [What changed, and how the table is made](https://github.com/torchlint/torchlint/blob/main/docs/api-changes.md)
    - [torch.linalg](https://docs.pytorch.org/docs/stable/linalg.html)
    """

    code = "TLN901"
    name = "removed-api"
    level = Level.ERROR
    fixes = "both"
    bad = (
        Example(
            """
            import torch

            A = torch.rand(3, 3)
            print(torch.matrix_rank(A))  # error: [TLN901]
            """,
            shows=Raises("This function was deprecated since version 1.9 and is now removed"),
            fixed="""
            import torch

            A = torch.rand(3, 3)
            print(torch.linalg.matrix_rank(A))
            """,
        ),
        Example(
            """
            import torch

            A = torch.eye(3)
            values, vectors = torch.symeig(A, eigenvectors=True)  # error: [TLN901]
            """,
            shows=Raises("This function was deprecated since version 1.9 and is now removed"),
            fixed="""
            import torch

            A = torch.eye(3)
            values, vectors = torch.linalg.eigh(A, UPLO="U")
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            A = torch.eye(3)
            if hasattr(torch, "linalg"):
                values, vectors = torch.linalg.eigh(A)
            else:
                values, vectors = torch.symeig(A, eigenvectors=True)
            """
        ),
        Example(
            """
            # /// script
            # dependencies = ["torch<1.7"]
            # ///
            import torch
            def spectrum(signal):
                return torch.rfft(signal, 1)
            """
        ),
    )

    def check(self, event: api.RemovedApi) -> Iterator[Diagnostic]:
        change, target = event.change, event.target
        assert change.removed is not None
        release = f"{change.removed[0]}.{change.removed[1]}"
        instead = ""
        if change.instead and not event.is_listed:
            instead = f"; `{change.written}` takes its place{change.apart}"
        elif change.how.startswith("transform") and not event.is_listed:
            instead = "; `signal_ndim` and `onesided` say what of `torch.fft` takes its place"
        gone = "does nothing but raise" if change.stub else "is gone"
        allowed = target.allowing(target.newest)
        message = f"`{event.spelled}` {gone} since torch {release}{change.with_module}{allowed}{event.if_new}{instead}"
        fix = None if event.is_listed else partial(renamed, event, change, mends=True)
        claims = (Observed("refused", event.name, release),)
        module = change.whole
        group = "listed" if event.is_listed else module or change.cause
        first = (-change.removed[0], -change.removed[1])  # what is met first, by whoever moves on
        named = change.instead and not event.is_listed
        label = f"`{event.spelled}`" + (f" (now `{change.written}`)" if named else "")
        yield Diagnostic(
            event.node,
            message,
            (*event.trace, *event.doubt_new),
            fix,
            Level.WARNING if event.if_new or event.doubt_new else None,
            group=group,
            weight=first,
            label=label,
            others="mention",
            claims=claims,
        )
