from collections.abc import Iterator

from torchlint.model.events import api
from torchlint.rule import Diagnostic, Example, Level, Observed, Raises, Rule


class UnsafeDeserialization(Rule):
    """
    The program runs code that somebody else sends.

    ## What it does
    Finds `torch.hub.load` of a repository on GitHub that is not PyTorch's own, without a tag or commit, and
    `torch.classes.load_library`, and what unpickles: object collectives (`broadcast_object_list`,
    `all_gather_object`), `torch.package`. Only with `--strict`: the owners of programs that nobody had looked at knew
    what they load.

    ## Why is this bad?
    The code of a repository is run as it is at that moment: another commit, another program. A library is run when it
    is loaded. An object that another process sends is unpickled, which may run anything.

    ## Cure
    `torch.hub.load("owner/repository:v1.2", …)`; collectives of tensors.

    ## Known limits
    Silent where the repository is not written in the call.

    ## References
    - [torch.hub](https://docs.pytorch.org/docs/stable/hub.html)
    - [torch.distributed.broadcast_object_list](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast_object_list)
    """

    code = "TLN905"
    name = "unsafe-deserialization"
    level = Level.STRICT
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            torch.classes.load_library("./somebody_elses.so")  # strict: [TLN905]
            """,
            strict=True,
            shows=Raises("somebody_elses.so"),
        ),
    )
    good = (
        Example(
            """
            import torch

            def model():
                return torch.hub.load("pytorch/vision:v0.20.0", "resnet18", weights=None)

            def another():
                return torch.hub.load("owner/repository:v1.2", "model", trust_repo=True)

            def local(path):
                return torch.hub.load(path, "model", source="local")
            """
        ),
    )

    def check(self, event: api.UnsafeDeserialization) -> Iterator[Diagnostic]:
        if event.name == "torch.hub.load":
            message = f"`{event.spelled}` runs what is in the repository at that moment: name a tag or a commit"
        elif event.name == "torch.classes.load_library":
            message = f"`{event.spelled}` runs the library that it loads"
        else:
            message = f"`{event.spelled}` unpickles: what is sent can run anything"
        level = Level.STRICT if event.is_left_out else None
        yield Diagnostic(event.node, message, event.trace, level=level, claims=(Observed("foreign-code", event.name),))
