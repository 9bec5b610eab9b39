import re
from collections.abc import Iterator

from torchlint.fixes.rewrites import code
from torchlint.model.events import writes
from torchlint.rule import Diagnostic, Example, Holds, Level, Observed, Rule

# Names that say that the argument is there to be written.
_MEANT = re.compile(
    r"(^|_)(out|output|outputs|buffer|buf|state|states|cache|dest|dst|target|result|acc|grad|memory)(_|\d|$)"
)
_WRITER = re.compile(
    r"[^_]_$|^_?(init|reset|fill|zero|update|set|copy|load|clip|clamp|step|apply|scale|add|write|mask_fill)"
)

# A number so small that it only keeps others from an edge: from 0, from the end of an interval.
_NUDGE = re.compile(r"=[^=]*\beps(?:ilon)?\b")


class ArgumentModifiedInPlace(Rule):
    """
    A function writes in place into a tensor that its caller passed.

    ## What it does
    Finds functions of the file that modify a tensor argument, return a value, and whose caller gives that value
    another name and goes on using the tensor it passed. Without such a caller in sight it is reported with `--strict`
    only.

    ## Why is this bad?
    The caller's tensor changes behind its back: data are normalised twice, a mask is applied to the original, a
    comparison of before and after is one of after and after.

    ## Cure
    Write out of place in the function, or name it as torch does: with a trailing underscore.

    ## Known limits
    Silent on parameters called `out`, `buffer`, `state`, `cache` and the like, on functions whose names say that they
    write, on those with an `inplace` switch, and under `no_grad`. With `--strict` only: what is written is an `eps`.

    ## References
    - [torch.Tensor](https://docs.pytorch.org/docs/stable/tensors.html): "methods which mutate a tensor are marked
      with an underscore suffix"
    """

    code = "TLN213"
    name = "argument-modified-in-place"
    level = Level.WARNING
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            def normalise(x):
                x -= x.mean()  # warning: [TLN213]  # note: `-=` overwrites `x`
                return x

            data = torch.ones(3)
            centred = normalise(data)
            change = centred - data  # note: `data` is read here, modified
            """,
            shows=Holds("(data == 0).all()"),
        ),
        Example(
            """
            import torch

            def shifted(x: torch.Tensor):
                x += 1  # strict: [TLN213]
                return x * 2

            data = torch.ones(3)
            print(shifted(data))
            """,
            shows=Holds("data.sum() == 6"),
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            def normalise(x):
                x = x.clone()
                x -= x.mean()
                return x

            def fill(buffer, value):
                buffer += value
                return buffer

            data = torch.ones(3)
            centred = normalise(data)
            total = fill(data, 2.0)
            change = total - data
            """,
            strict=True,
        ),
    )

    def check(self, event: writes.ArgumentWritten) -> Iterator[Diagnostic]:
        if event.parameter == "self" or _MEANT.search(event.parameter.lower()):
            return
        if _WRITER.search(event.function.lower()):
            return
        message = f"`{event.function}` modifies its argument `{event.parameter}` in place"
        if event.read is not None:
            message += f", and the caller goes on using it as `{event.read_name}`"
        claims = (Observed("argument-written", event.parameter, event.read_name),)
        nudged = _NUDGE.search(code(event.statement)) is not None  # what reads it afterwards meets nearly the same
        level = Level.WARNING if event.read is not None and not nudged else Level.STRICT
        yield Diagnostic(event.node, message, event.trace, level=level, claims=claims)
