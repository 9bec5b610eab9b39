"""
Sees programs that seed torch's generator and draw from another one that nothing in the file seeds, and those that seed
it after parameters were drawn or data were split
(https://docs.pytorch.org/docs/stable/notes/randomness.html). Read from the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.knowledge.names import MODULE, RANDOM_SPLIT
from torchlint.model.events.data import GeneratorNotSeeded, SeededLate
from torchlint.model.events.trace import Step
from torchlint.model.observers.written import Imports, words
from torchlint.model.state.hooks import Observer
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted

_TORCH: Final = frozenset({"torch.manual_seed", "torch.random.manual_seed"})
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


_LAYERS = ("Linear", "Conv", "LSTM", "GRU", "RNN", "Embedding", "Transformer", "MultiheadAttention", "Bilinear")
"""How the names of layers begin that draw their parameters."""
_OVERWRITING = frozenset({"load_state_dict", "from_pretrained", "reset_parameters", "apply", "init"})
"""Words of those who give parameters other values than the drawn ones."""


class Seeds(Observer):
    """Raises `GeneratorNotSeeded` and `SeededLate`."""

    words = ("manual_seed",)
    concerns = ()

    def finished(self) -> None:
        program = self.machine.program
        if any("seed" in word.lower() for word in _called(program.body) - _OF_TORCH):
            return
        imports = Imports(program)
        self._look_for_late(imports)
        for body in _scripts(program.body):
            for seeding, statement in _seedings(body, imports):
                for generator, draws in _DRAWS.items():
                    prefix = "random" if generator == "random" else "numpy.random"
                    draw = _draw(_run_with(statement, program.body), imports, {f"{prefix}.{name}" for name in draws})
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

    def _look_for_late(self, imports: Imports) -> None:
        """What is drawn in the statements before the one that seeds, where it is the only one of the file."""
        program = self.machine.program
        seeding = [
            each
            for each in ir.walk(program.body)
            if isinstance(each, ir.Call) and dotted(each.function).rpartition(".")[2] in _OF_TORCH - {"initial_seed"}
        ]
        if len(seeding) != 1 or imports.qualified(seeding[0].function) not in _TORCH:
            return
        modules = _modules(program.body, imports)
        for body in _scripts(program.body):
            for index, statement in enumerate(body):
                if not isinstance(statement, ir.ExpressionStatement) or statement.value is not seeding[0]:
                    continue
                for before in body[:index]:
                    drawn = _drawn(before, imports, modules)
                    splits = drawn is not None and imports.qualified(drawn.function) in RANDOM_SPLIT
                    if drawn is None or (not splits and words(program.body) & _OVERWRITING):
                        continue
                    made = "split" if splits else "drawn"
                    self.machine.emit(
                        SeededLate(
                            node=seeding[0].origin,
                            statement=statement.line,
                            trace=(Step(drawn.origin, f"{made} here, before"),),
                            drawn=dotted(drawn.function),
                            splits=splits,
                        )
                    )
                    return


def _modules(body: list[ir.Statement], imports: Imports) -> set[str]:
    """The Modules of a file whose constructor makes a layer that draws its parameters."""
    return {
        each.name
        for each in body
        if isinstance(each, ir.ClassDef)
        and any(imports.qualified(base.value) in MODULE for base in each.bases)
        and any(_is_layer(part, imports) for part in ir.walk(each))
    }


def _is_layer(node: ir.Node, imports: Imports) -> bool:
    """Whether a call makes a layer of torch that draws its parameters."""
    qualified = imports.qualified(node.function) if isinstance(node, ir.Call) else ""
    return qualified.startswith("torch.nn.") and qualified.rpartition(".")[2].startswith(_LAYERS)


def _drawn(statement: ir.Statement, imports: Imports, modules: set[str]) -> ir.Call | None:
    """The call in an assignment that draws parameters or splits data with torch's own generator."""
    for each in ir.walk(statement) if isinstance(statement, ir.Assign) else ():
        if not isinstance(each, ir.Call):
            continue
        if imports.qualified(each.function) in RANDOM_SPLIT:
            return each if not any(given.star or given.keyword == "generator" for given in each.arguments) else None
        if _is_layer(each, imports) or (isinstance(each.function, ir.Name) and each.function.id in modules):
            return each
    return None


def _called(body: list[ir.Statement]) -> set[str]:
    """The last names of all that is called, and of all that is handed on under a name with "seed" in it."""
    found = {dotted(each.function).rpartition(".")[2] for each in ir.walk(body) if isinstance(each, ir.Call)}
    return found | {name for each in ir.walk(body) if isinstance(each, ir.FunctionDef) for name in [each.name]}


def _scripts(body: list[ir.Statement]) -> Iterator[list[ir.Statement]]:
    """What runs when the file is a script: its own statements, what stands under its guard, and its `main`."""
    yield [each for each in body if not isinstance(each, (ir.FunctionDef, ir.ClassDef))]
    guarded = any(map(_is_guard, body))
    for each in body:
        if isinstance(each, ir.FunctionDef) and each.name == "main" and guarded:
            yield each.body


def _run_with(seeding: ir.Statement, body: list[ir.Statement]) -> list[ir.Statement]:
    """
    What of a file runs together with a statement of it: below the guard of a script only what is named from there on;
    elsewhere whatever anybody calls who imports the file.
    """
    own = [each for each in body if not isinstance(each, (ir.FunctionDef, ir.ClassDef))]
    guards = [each for each in own if _is_guard(each)]
    mains = [each for each in body if guards and isinstance(each, ir.FunctionDef) and each.name == "main"]
    if not any(seeding is each for each in ir.everything([*guards, *mains])):
        return body
    defined = {each.name: each for each in body if isinstance(each, (ir.FunctionDef, ir.ClassDef))}
    named: set[str] = set()
    pending = words(own)
    while pending:
        named |= pending
        pending = {word for name in pending & defined.keys() for word in words(defined[name])} - named
    return [each for each in body if not isinstance(each, (ir.FunctionDef, ir.ClassDef)) or each.name in named]


def _is_guard(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.If) and "__name__" in words(statement.test)


def _seedings(body: list[ir.Statement], imports: Imports) -> Iterator[tuple[ir.Call, ir.Statement]]:
    for statement in ir.everything(body):
        call = statement.value if isinstance(statement, ir.ExpressionStatement) else None
        if isinstance(call, ir.Call) and imports.qualified(call.function) in _TORCH:
            yield call, statement
            return


def _draw(body: list[ir.Statement], imports: Imports, names: set[str]) -> ir.Call | None:
    """The first draw in the file, but for what a dataset does, and for a seed."""
    pending: list[object] = list(reversed(body))
    while pending:
        each = pending.pop()
        if not isinstance(each, ir.Node):
            continue
        if isinstance(each, ir.ClassDef):
            own = {one.name for one in each.body if isinstance(one, ir.FunctionDef)}
            if own & _LOADED:
                continue
        if isinstance(each, ir.FunctionDef) and "collate" in each.name:
            continue
        if isinstance(each, ir.Assign) and any("seed" in dotted(target).lower() for target in each.targets):
            continue  # what is drawn is a seed: it is to be another one each time
        if isinstance(each, ir.Call) and imports.qualified(each.function) in names:
            return each
        for name in ir.parts(type(each)):
            part = getattr(each, name)
            pending += reversed(part) if isinstance(part, list) else [part]
    return None
