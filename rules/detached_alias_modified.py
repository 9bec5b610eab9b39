import re
from collections.abc import Iterator

from torchlint.fixes.rewrites import code, copied, operand
from torchlint.model import events
from torchlint.model.events import writes
from torchlint.rule import Diagnostic, Edit, Example, Fix, Holds, Level, Observed, Rule
from torchlint.truth import Truth


class DetachedAliasModified(Rule):
    """
    A detached tensor shares memory with its source, and one of the two is modified.

    ## What it does
    Finds names kept from `t.detach()`, `t.data`, `t.numpy()` or `torch.from_numpy(a)`, where one side is written in
    place (an optimizer's step is such a write) and the other one is used afterwards; and names kept for
    `model.state_dict()` or the parameters, where a step follows before they are loaded back or compared with.

    ## Why is this bad?
    Nothing is copied. The "old" value changes together with the new one: the best weights are the last ones.

    ## Cure
    `t.detach().clone()` for a tensor, `.numpy().copy()` for an array, `copy.deepcopy(model.state_dict())` for a state.

    ## Fix safety
    Unsafe: the copy keeps the value it was taken for, where now it follows the source; that may have been the intent.

    ## Known limits
    Silent where a leaf is written through its alias: that is how updates were written before `no_grad`. A state that is
    not loaded back is reported only under a name that speaks of an earlier one (`best`, `old`, `initial`, …).

    ## References
    - [torch.Tensor.detach](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
    """

    code = "TLN206"
    name = "detached-alias-modified"
    level = Level.WARNING
    fixes = "unsafe"
    bad = (
        Example(
            """
            import torch

            p = torch.tensor(2.0, requires_grad=True)
            c = 2 * p
            c_copy = c.detach()  # note: `detach()` shares memory with `c`
            c.mul_(2)  # warning: [TLN206]  # note: `mul_` overwrites `c`
            print(c_copy)  # note: `c_copy` is read here
            """,
            shows=Holds("c_copy.item() == 8"),
            fixed="""
            import torch

            p = torch.tensor(2.0, requires_grad=True)
            c = 2 * p
            c_copy = c.detach().clone()
            c.mul_(2)
            print(c_copy)
            """,
        ),
        Example(
            """
            import torch

            w = torch.ones(2, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            before = w.data
            (w**2).sum().backward()
            optimizer.step()  # warning: [TLN206]
            moved = (w - before).norm()
            """,
            shows=Holds("moved.item() == 0"),
            fixed="""
            import torch

            w = torch.ones(2, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1)
            before = w.data.clone()
            (w**2).sum().backward()
            optimizer.step()
            moved = (w - before).norm()
            """,
        ),
        Example(
            """
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            best = model.state_dict()  # warning: [TLN206]
            at_best = model.bias.item()
            model(torch.ones(4, 2)).sum().backward()
            optimizer.step()  # note: `optimizer.step()` changes them
            model.load_state_dict(best)  # note: `model` is given its own tensors here
            """,
            shows=Holds("model.bias.item() != at_best"),
            fixed="""
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            best = {name: value.clone() for name, value in model.state_dict().items()}
            at_best = model.bias.item()
            model(torch.ones(4, 2)).sum().backward()
            optimizer.step()
            model.load_state_dict(best)
            """,
        ),
    )
    good = (
        Example(
            """
            import torch

            w = torch.ones(2, requires_grad=True)
            before = w.detach()  # read before the write, and never again
            print(before)
            with torch.no_grad():
                w.mul_(2)
            """
        ),
    )

    def check(self, event: events.AliasWritten | writes.SnapshotWritten) -> Iterator[Diagnostic]:
        if isinstance(event, writes.SnapshotWritten):
            yield _snapshot(event)
            return
        if event.written == "alias" and event.source_is_leaf is not Truth.NO:
            return
        written, other = event.source, event.alias
        bound = re.match(r"([A-Za-z_][\w.]*) *=[^=]", code(event.alias_statement))
        if other == written and bound is not None:  # `.data` goes by the name of its source
            other = bound[1]
        if event.written == "alias":
            written, other = other, written
        message = f"`{written}` is modified in place, and `{other}` with it: `{event.how}` shares memory"
        call = ".copy()" if event.how.endswith("numpy()") else ".clone()"
        fix = Fix(f"copy: append `{call}`", (Edit(event.alias_node, operand(event.alias_node) + call),), safe=False)
        yield Diagnostic(event.node, message, event.trace, fix, claims=(Observed("alias-written", written, other),))


def _snapshot(event: writes.SnapshotWritten) -> Diagnostic:
    message = f"`{event.kept}` shares memory with the parameters of `{event.source}`: `{event.how}()` copies nothing"
    text = copied(event.node, event.copying)
    fix = Fix("copy each tensor with `.clone()`", (Edit(event.node, text),), safe=False) if text else None
    held = " & ".join(f"{{t.data_ptr() for t in tensors_({name})}}" for name in (event.kept, event.source))
    words = f"`{event.kept}` and `{event.source}` share memory"
    return Diagnostic(event.node, message, event.trace, fix, claims=(Holds(f"bool({held})", words=words),))
