from collections.abc import Iterator

from torchlint.fixes.rewrites import code, preceded_by
from torchlint.model.events import registration
from torchlint.rule import Diagnostic, Edit, Example, Fix, Level, Raises, Rule
from torchlint.syntax import cst

_EARLY, _LATE = Raises("before Module.__init__() call"), Raises("object has no attribute '_", here=False)
_CALL, _FIRST = "`super().__init__()`", ": torch raises where this runs first"
_SAID, _ASTRAY = (_EARLY, _LATE), (Raises("argument"), _EARLY, Raises(_EARLY.text, False))


class MissingSuperInit(Rule):
    """
    A Module's `__init__` assigns parameters or modules before `super().__init__()`, or doesn't call it at all.

    ## What it does
    Finds a parameter or module assigned to `self` while `nn.Module.__init__` has not run, directly or in a base of the
    same file, and `__init__` methods that never run it, or run it without `self`.

    ## Why is this bad?
    `nn.Module.__init__` makes the dicts that parameters, modules and hooks are kept in. Before it the assignment
    raises; without it, calling the module does.

    ## Cure
    `super().__init__()` as the first statement. Plain values (`self.n = n`) may be set before it.

    ## Fix safety
    Safe where the class derives from `nn.Module` itself and its `__init__` raises on every path: the call is put at the
    top. Unsafe where only some paths raise, or calling the module would.

    ## Known limits
    Silent where the object is handed to code that isn't in the file, and where more than `__init__` makes it: a
    metaclass, a decorator, `__new__`, `__setattr__`, a base class elsewhere. A warning where a derived class may have
    run `nn.Module.__init__` before, and, if nothing is registered, where the program itself doesn't call the object.
    There is no fix where a base class wants arguments.

    ## References
    - [torch.nn.Module](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html): "an `__init__()` call to
      the parent class must be made before assignment on the child"
    """

    code = "TLN308"
    name = "missing-super-init"
    level = Level.ERROR
    fixes = "both"
    bad = (
        Example(
            """
            from torch import nn
            class Net(nn.Module):
                def __init__(self, n):
                    self.n = n
                    self.layer = nn.Linear(n, 1)  # error: [TLN308]

                def forward(self, x):
                    return self.layer(x)

            net = Net(3)
            """,
            shows=Raises("cannot assign module before Module.__init__() call"),
            fixed="""
            from torch import nn
            class Net(nn.Module):
                def __init__(self, n):
                    super().__init__()
                    self.n = n
                    self.layer = nn.Linear(n, 1)

                def forward(self, x):
                    return self.layer(x)

            net = Net(3)
            """,
        ),
        Example(
            """
            import torch
            from torch import nn
            class Scale(nn.Module):
                def __init__(self):
                    self.scale = nn.Parameter(torch.ones(1))  # error: [TLN308]
                    super().__init__()

                def forward(self, x):
                    return x * self.scale

            scale = Scale()
            """,
            shows=Raises("cannot assign parameters before Module.__init__() call"),
            fixed="""
            import torch
            from torch import nn
            class Scale(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.scale = nn.Parameter(torch.ones(1))

                def forward(self, x):
                    return x * self.scale

            scale = Scale()
            """,
        ),
    )
    good = (
        Example(
            """
            from torch import nn

            class Net(nn.Module):
                def __init__(self, n):
                    self.n = n  # plain values may come first
                    super().__init__()
                    self.layer = nn.Linear(n, 1)
            net = Net(3)
            """
        ),
    )

    def check(self, event: registration.SuperInitMissing) -> Iterator[Diagnostic]:
        level = None if event.proven else Level.WARNING
        if event.astray is not None:
            made = "making" if event.proven else f"where `self.{event.attribute}` is assigned first, making"
            raises = f"{made} a `{event.module}` raises" if event.attribute else "calling the module raises"
            message = f"`{code(event.astray.func)}()` does not initialise `self`: {raises}"
            yield Diagnostic(event.astray, message, event.trace, _given_self(event.astray), level, claims=_ASTRAY)
            return
        if not event.attribute:
            message = f"`{event.module}.__init__` never calls `super().__init__()`: calling the module raises"
        else:
            when = f", and {_CALL} is never called" if event.call_statement is None else f" before {_CALL}"
            message = f"`self.{event.attribute}` is assigned{when}{'' if event.proven else _FIRST}"
        group, fix = None if event.proven or event.attribute else "never", _fix(event)  # one pattern in a file
        yield Diagnostic(event.node, message, event.trace, fix, level, group=group, others="constructor", claims=_SAID)


def _given_self(call: cst.Call) -> Fix | None:
    of = code(call.func).removesuffix(".__init__").removesuffix("()")
    text = "super().__init__()" if of.startswith("super") else f"{of}.__init__(self)"
    return None if call.args else Fix(f"write `{text}`", (Edit(call, text),), safe=False)


def _fix(event: registration.SuperInitMissing) -> Fix | None:
    text, call = preceded_by(event.first, "super().__init__()") if event.plain else None, event.call_statement
    if text is None or (call is not None and (not isinstance(call, cst.SimpleStatementLine) or call is event.first)):
        return None
    edits = [Edit(event.first, text), *([Edit(call, "")] if call is not None else [])]
    return Fix("call `super().__init__()` first", tuple(edits), safe=event.certain, mends=True)
