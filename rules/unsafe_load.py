from collections.abc import Iterator
from functools import partial

from torchlint.fixes.renames import WEIGHTS_ONLY, loading_weights
from torchlint.model.events import api
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class UnsafeLoad(Rule):
    """
    A file is loaded with `torch.load` in a way that runs what the file says.

    ## What it does
    Finds `torch.load(…, weights_only=False)`, and `torch.load` that does not say `weights_only` where the target (see
    TLN901) reaches below torch 2.6: there that means False.

    Silent without `weights_only` from torch 2.6 on, and for a value that is not written in the call. Strict where the
    target ends before torch 1.13, which has no `weights_only`, and where the same file writes what it loads: both calls
    name the place in the same words, in one function, or in two of which the one that loads was not given the place.

    ## Why is this bad?
    The file is unpickled, and a pickle can run anything: whoever can write the file, can run code where it is loaded.

    ## Cure
    `weights_only=True` loads tensors, state dicts and plain containers of them; `torch.serialization.add_safe_globals`
    allows classes of your own. Save `model.state_dict()`, not the model. A file that the same program writes with
    `torch.save(model, …)` is refused by `weights_only=True`, which torch 2.6 takes for said: the message names the
    line, and there is no fix.

    ## Fix safety
    Unsafe: a file with other things in it is refused then.

    ## Known limits
    What `functools.partial` or `**` gives to `torch.load` is not seen. What another file of the same program has
    written is reported as well. Whole objects are seen where the same file saves them.

    ## References
    - [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    - [What changed in torch 2.6](https://github.com/pytorch/pytorch/releases/tag/v2.6.0)
    """

    code = "TLN904"
    name = "unsafe-load"
    level = Level.WARNING
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import io
            import pickle
            import torch

            class Surprise:
                def __reduce__(self):
                    return exec, ("import builtins; builtins.ran = True",)

            file = io.BytesIO()
            torch.save(Surprise(), file)
            file.seek(0)
            def restored(file):
                return torch.load(file, weights_only=False)  # warning: [TLN904]
            try:
                restored(file)
            except pickle.UnpicklingError as error:
                print(error)
            """,
            shows=Holds("getattr(__import__('builtins'), 'ran', False)"),
            fixed="""
            import io
            import pickle
            import torch

            class Surprise:
                def __reduce__(self):
                    return exec, ("import builtins; builtins.ran = True",)

            file = io.BytesIO()
            torch.save(Surprise(), file)
            file.seek(0)
            def restored(file):
                return torch.load(file, weights_only=True)
            try:
                restored(file)
            except pickle.UnpicklingError as error:
                print(error)
            """,
        ),
    )
    good = (
        Example(
            """
            import io
            import torch

            file = io.BytesIO()
            torch.save(torch.nn.Linear(2, 3).state_dict(), file)
            file.seek(0)
            torch.load(file)  # from torch 2.6 on: weights only
            """
        ),
        Example(
            """
            # /// script
            # dependencies = ["torch>=2.0"]
            # ///
            import io
            import torch

            file = io.BytesIO()
            torch.save(torch.ones(2), file)
            file.seek(0)
            torch.load(file, weights_only=True)
            """
        ),
    )

    def check(self, event: api.UnsafeLoad) -> Iterator[Diagnostic]:
        assert event.call is not None
        own = event.writes and not (event.saves and event.argument is None)  # a whole object is refused from 2.6 on
        level = Level.STRICT if own else self.level
        if event.argument is not None:
            message = f"`{event.spelled}` with `weights_only=False` runs what the file tells it to"
            claim = Observed("foreign-code", event.name)
        else:
            claim = Observed("other-release", event.name, "before 2.6")
            oldest = event.target.oldest
            message = (
                f"`{event.spelled}` runs what the file tells it to before torch 2.6{event.target.allowing(oldest)}"
            )
            if not event.target.reaches(WEIGHTS_ONLY):
                level = Level.STRICT  # nothing that is allowed can do better
        said = f"{message}: {_remedy(event)}"
        fix = None if event.saves else partial(loading_weights, event)
        yield Diagnostic(event.node, said, event.trace, fix, level, claims=(claim,))


def _remedy(event: api.UnsafeLoad) -> str:
    target = event.target
    if not target.reaches(WEIGHTS_ONLY):
        return "no release that is allowed has `weights_only`; load only files that nobody else could write"
    if event.saves:
        refuses = "`weights_only=True` refuses"
        if event.argument is None and target.reaches((2, 6)):
            refuses = "torch refuses from 2.6 on"
        return f"line {event.saves} saves a whole object, which {refuses}; save its `state_dict()` and load that"
    if event.argument is None and target.begins_before(WEIGHTS_ONLY):
        return "from 1.13 on there is `weights_only=True`, from 2.6 on it is the default: raise the lower end"
    return "`weights_only=True` loads tensors and plain containers of them"
