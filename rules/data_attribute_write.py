import re
from collections.abc import Iterator
from functools import partial

from torchlint.fixes.rewrites import code, shown, under_no_grad
from torchlint.model.events import writes
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.syntax import cst

_INITIALISES = re.compile(r"^(\w+\.)*init\.\w+_\(")


class DataAttributeWrite(Rule):
    """
    A tensor is written through `.data`, where autograd can't see it.

    ## What it does
    Finds `t.data.mul_(2)`, `t.data += 1`, `t.data[i] = 0` and `t.data = ...`. If an operation had saved the old value
    for a backward that comes later, it is a warning; if one had saved it, and nobody sees what becomes of that, a
    smell. Where nothing is known to have saved it (a mask before `softmax`, a leaf) it is merely old style, and
    reported with `--strict` only.

    ## Why is this bad?
    `.data` has a version counter of its own. Autograd checks the other one, finds it unchanged, and computes with the
    new value what needed the old one: wrong gradients, and no error.

    ## Cure
    `with torch.no_grad(): t.mul_(2)`: then the check works. In a computation, write out of place.

    ## Fix safety
    Unsafe: a backward that needs the old value now raises. Where something has kept it, there's no fix.

    ## Known limits
    `t.data = t.data.to(device)` isn't reported, and neither are writes to `.grad.data`.

    ## References
    - [.data after 0.4](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/#what-about-data)
    """

    code = "TLN207"
    name = "data-attribute-write"
    level = Level.WARNING
    fixes = "unsafe"
    may_be_strict = True
    bad = (
        Example(
            """
            import torch

            w = torch.tensor(2.0, requires_grad=True)
            y = w * w  # note: `*` saves its input `w`
            w.data.mul_(10)  # warning: [TLN207]  # note: `mul_` overwrites it unseen
            y.backward()  # note: backward reads it here
            """,
            shows=Holds("w.grad == 40"),  # and not 4
        ),
        Example(
            """
            import torch

            h = torch.sigmoid(torch.nn.Linear(2, 2)(torch.ones(1, 2)))
            h.data.mul_(2)  # smell: [TLN207]
            """,
            shows=Holds("h._version == 0"),
        ),
        Example(
            """
            import torch

            layer = torch.nn.Linear(2, 2)
            version = layer.bias._version
            layer.bias.data.zero_()  # strict: [TLN207]
            """,
            shows=Holds("layer.bias._version == version"),
            fixed="""
            import torch

            layer = torch.nn.Linear(2, 2)
            version = layer.bias._version
            with torch.no_grad():
                layer.bias.zero_()
            """,
            strict=True,
        ),
    )
    good = (
        Example(
            """
            import torch

            w = torch.ones(3, requires_grad=True)
            (w * w).sum().backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
            """
        ),
    )

    def check(self, event: writes.DataWritten) -> Iterator[Diagnostic]:
        if event.temporary:
            node = event.owner_node
            source = node.value if isinstance(node, cst.Subscript) else node
            message = f"`.data =` gives other memory to what the index has just made: {shown(source)} stays as it was"
            lost = (Observed("write-lost", code(source)),)
            yield Diagnostic(event.node, message, event.trace, level=Level.WARNING, claims=lost)
            return
        level = _level(event)
        said, claims = partial(_message, event, level), partial(_claims, event, level)
        yield Diagnostic(event.node, said, event.trace, partial(_fix, event), level, claims=claims)


def _level(event: writes.DataWritten) -> Level:
    if event.saved_by is not None:
        return Level.WARNING
    return Level.SMELL if event.was_saved and not event.of_leaf else Level.STRICT


def _message(event: writes.DataWritten, level: Level) -> str:
    message = f"`{event.op}` writes {shown(event.owner_node)} through `.data`, unseen by autograd"
    if level is Level.WARNING:
        message += ", although an operation saved the old value: the gradient is wrong"
    elif level is Level.SMELL:
        message += ", though an operation saved the old value: a backward through that computes with the new one"
    return message


def _claims(event: writes.DataWritten, level: Level) -> tuple[Observed]:
    return (Observed("unseen-write", code(event.owner_node), "saved" if level is Level.WARNING else ""),)


def _fix(event: writes.DataWritten) -> Fix | None:
    if event.perhaps_saved or event.op == ".data =":
        return None
    target = event.target_node
    if _INITIALISES.search(code(event.node)) and isinstance(target, cst.Attribute):
        edits = (Edit(target, code(target.value)),)
        return Fix("leave `.data` out: `nn.init` records nothing", edits, safe=False)
    text = under_no_grad(event.statement)
    if text is None or text.count(".data") != 1:
        return None
    edits = (Edit(event.statement, text.replace(".data", "")),)
    return Fix("write it under `torch.no_grad()`", edits, safe=False, imports=("import torch",))
