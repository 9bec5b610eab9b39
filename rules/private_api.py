from collections.abc import Iterator
from functools import partial

from torchlint.fixes.renames import renamed
from torchlint.model.events import api
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule


class PrivateApi(Rule):
    """
    The program names something private of torch that has a public twin.

    ## What it does
    Finds names of modules that begin with an underscore, and others that torch never documented, where every release of
    the target (see TLN901) has a public name for the same.

    ## Why is this bad?
    Private names go without notice: `torch._six` went with torch 2.0.

    ## Cure
    The public name.

    ## Fix safety
    Safe where both names are the very same object, and unsafe for `_LRScheduler`, whose twin is its base class.

    ## Known limits
    A private name without a public twin is not reported, whatever may become of it; nor is what `getattr` gives.

    ## References
    - [torch.utils.data.default_collate](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_collate)
    - [What changed, and how the table is made](https://github.com/torchlint/torchlint/blob/main/docs/api-changes.md)
    """

    code = "TLN906"
    name = "private-api"
    level = Level.STRICT
    fixes = "both"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch
            from torch.optim.lr_scheduler import _LRScheduler  # strict: [TLN906]

            class Constant(_LRScheduler):
                def get_lr(self):
                    return self.base_lrs
            """,
            strict=True,
            shows=Holds("Constant.__bases__[0].__name__ == '_LRScheduler'"),
            fixed="""
            import torch
            from torch.optim.lr_scheduler import LRScheduler as _LRScheduler

            class Constant(_LRScheduler):
                def get_lr(self):
                    return self.base_lrs
            """,
        ),
    )
    good = (
        Example(
            """
            import torch
            from torch.utils.data import default_collate

            print(default_collate([torch.ones(2), torch.zeros(2)]))
            """
        ),
        Example(
            """
            # /// script
            # dependencies = ["torch>=1.13"]
            # ///
            from torch.optim.lr_scheduler import _LRScheduler

            print(_LRScheduler)
            """
        ),
    )

    def check(self, event: api.PrivateApi) -> Iterator[Diagnostic]:
        message = f"`{event.spelled}` is private: the public name is `{event.change.instead}`"
        fix = partial(renamed, event, event.change, mends=False)
        claims = (Observed("private-twin", event.name, event.change.instead),)
        level, group = Level.STRICT if event.is_left_out else None, event.name
        yield Diagnostic(event.node, message, event.trace, fix, level, group=group, others="mention", claims=claims)
