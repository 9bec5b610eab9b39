"""
Sees programs that seed torch's generator and draw from another one that nothing in the file seeds
(https://docs.pytorch.org/docs/stable/notes/randomness.html). Read from the text.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.model.events.data import GeneratorNotSeeded
from torchlint.model.events.trace import Step
from torchlint.model.observers.data.written import Imports, words
from torchlint.model.observers.pending import dotted
from torchlint.model.state.hooks import Observer
from torchlint.syntax import ir

_TORCH = frozenset({"torch.manual_seed", "torch.random.manual_seed"})
_OF_TORCH = frozenset({"manual_seed", "manual_seed_all", "initial_seed"})
_DRAWS = {
    "random": frozenset(
        (
            "random",
            "randint",
            "randrange",
            "choice",
            "choices",
            "sample",
            "shuffle",
            "uniform",
            "gauss",
            "normalvariate",
        )
    ),
    "numpy": frozenset(
        ["rand", "randn", "randint", "random", "random_sample", "choice", "shuffle", "permutation", "uniform", "normal"]
    ),
}
_LOADED = frozenset({"__getitem__", "__iter__", "__getitems__", "__call__"})
"""Methods that a loader's workers run, where torch seeds the generators of `random` and NumPy from its own."""


class Seeds(Observer):
    """Raises `GeneratorNotSeeded`."""

    words = ("manual_seed",)
    concerns = ()

    def finished(self) -> None:
        program = self.machine.program
        if any("seed" in word.lower() for word in _called(program.body) - _OF_TORCH):
            return
        imports = Imports(program)
        for body in _scripts(program.body):
            for seeding, statement in _seedings(body, imports):
                for generator, draws in _DRAWS.items():
                    prefix = "random" if generator == "random" else "numpy.random"
                    draw = _draw(program.body, imports, {f"{prefix}.{name}" for name in draws})
                    if draw is not None and isinstance(seeding.origin, cst.Call):
                        name = "NumPy's generator" if generator == "numpy" else "the generator of `random`"
                        self.machine.emit(
                            GeneratorNotSeeded(
                                node=seeding.origin,
                                statement=statement.line,
                                trace=(Step(draw.origin, f"drawn from {name} here"),),
                                call=seeding.origin,
                                generator=generator,
                                module=dotted(draw.function).rpartition(".")[0],
                            )
                        )
                return


def _called(body: list[ir.Statement]) -> set[str]:
    """The last names of all that is called, and of all that is handed on under a name with "seed" in it."""
    found = {dotted(each.function).rpartition(".")[2] for each in ir.walk(body) if isinstance(each, ir.Call)}
    return found | {name for each in ir.walk(body) if isinstance(each, ir.FunctionDef) for name in [each.name]}


def _scripts(body: list[ir.Statement]) -> Iterator[list[ir.Statement]]:
    """What runs when the file is a script: its own statements, what stands under its guard, and its `main`."""
    yield [each for each in body if not isinstance(each, (ir.FunctionDef, ir.ClassDef))]
    guarded = any(isinstance(each, ir.If) and "__name__" in words(each.test) for each in body)
    for each in body:
        if isinstance(each, ir.FunctionDef) and each.name == "main" and guarded:
            yield each.body


def _seedings(body: list[ir.Statement], imports: Imports) -> Iterator[tuple[ir.Call, ir.Statement]]:
    for statement in ir.everything(body):
        call = statement.value if isinstance(statement, ir.ExpressionStatement) else None
        if isinstance(call, ir.Call) and imports.qualified(call.function) in _TORCH:
            yield call, statement
            return


def _draw(body: list[ir.Statement], imports: Imports, names: set[str]) -> ir.Call | None:
    """The first draw in the file, but for what a dataset does."""
    pending: list[ir.Node] = list(reversed(body))
    while pending:
        each = pending.pop()
        if isinstance(each, ir.ClassDef):
            own = {one.name for one in each.body if isinstance(one, ir.FunctionDef)}
            if own & _LOADED:
                continue
        if isinstance(each, ir.FunctionDef) and "collate" in each.name:
            continue
        if isinstance(each, ir.Call) and imports.qualified(each.function) in names:
            return each
        for name in ir.parts(type(each)):
            part = getattr(each, name)
            pending += reversed(part) if isinstance(part, list) else [part]
        pending = [one for one in pending if isinstance(one, ir.Node)]
    return None
