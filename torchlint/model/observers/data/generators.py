"""
Sees random generators that a dataset, or a transform that it holds, makes once and draws from in the workers of a
loader.

A worker gets a copy of the dataset, and of the file's variables where it is forked. torch seeds its own global
generator, that of `random` and, since torch 1.9, that of NumPy anew in each worker
(https://docs.pytorch.org/docs/stable/notes/randomness.html#dataloader); it knows of no others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, TypeGuard

from torchlint.model.events.data import GeneratorCopied
from torchlint.model.events.trace import Step
from torchlint.model.observers.data.loading import Datasets, Loading, is_of_file, loading
from torchlint.model.observers.pending import only
from torchlint.model.observers.written import Imports, assignments, may_set_by_name, methods, own, reached, words
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Function, Instance, Unknown, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import here
from torchlint.syntax.spelling import dotted

_MAKERS = frozenset(
    {"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random"}
    | {"torch.Generator"}
)
_SETTING = frozenset({"seed", "manual_seed", "set_state", "setstate"})
_NO_DRAWS = _SETTING | {"initial_seed", "get_state", "getstate", "bit_generator", "spawn", "jumped", "device"}
_DRAWING = ("__getitem__", "__getitems__", "__iter__", "__next__")
_GLOBAL_DRAWS = frozenset(
    f"numpy.random.{name}"
    for name in (
        *("rand", "randn", "randint", "random", "random_sample", "ranf", "sample", "choice", "shuffle", "permutation"),
        *("uniform", "normal", "beta", "binomial", "poisson", "exponential", "gamma", "laplace", "standard_normal"),
    )
)
"""What draws from the generator that torch gives every worker a copy of, up to 1.8."""
_CALLED: Final = ("__call__", "forward")
_DEEPEST = 3
"""How far down objects are looked for that a dataset holds."""


class _Made(NamedTuple):
    """
    One generator.

    Attributes
    ----------
    text
        How it is written where it is drawn from.
    maker, statement
        What makes it.
    bound
        The statement that gives it that name.
    in_module
        A statement of the file itself makes it.
    """

    text: str
    maker: ir.Call
    statement: ir.Statement
    bound: ir.Statement
    in_module: bool


class _Holder(NamedTuple):
    """A dataset or a transform, and what of its methods runs for a sample."""

    object: Instance
    methods: dict[str, ir.FunctionDef]
    drawing: list[ir.FunctionDef]


class CopiedGenerators(Observer):
    """Raises `GeneratorCopied`."""

    words = ("DataLoader",)
    concerns = (here("DataLoader"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._datasets = Datasets()
        self._imports: Imports | None = None

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        self._datasets.wrapped(qualified, positional, keywords, origin)
        made = loading(qualified, positional, keywords, origin, self.machine)
        if made is None or made.workers == "none" or made.constant("num_workers") == 1:
            return  # of one worker there is no other copy
        for dataset in self._datasets.of(made.known("dataset")):
            if not is_of_file(dataset):
                continue
            holders = list(self._holders(dataset, _DRAWING, 0))
            if any(self._reseeds(made, each.object) for each in holders):
                continue
            for holder in holders:
                self._look_at(holder, dataset, made)
            if not made.may_be_given("worker_init_fn"):
                self._look_at_global(holders, dataset, made)

    def _holders(self, holder: Instance, entries: tuple[str, ...], depth: int) -> Iterator[_Holder]:
        """An object, and those of the file's classes that it holds and calls for a sample."""
        known = methods(holder.cls)
        drawing = reached(known, *entries)
        yield _Holder(holder, known, drawing)
        if depth == _DEEPEST:
            return
        for name, value in holder.attributes.items():
            called = {
                each.function.attr
                for body in drawing
                for each in ir.walk(body.body)
                if isinstance(each, ir.Call)
                and isinstance(each.function, ir.Attribute)
                and own(each.function.value, name)
            }
            if called or any(own(each, name) for body in drawing for each in ir.walk(body.body)):
                for part in self._datasets.of(only(value, self.machine)):
                    if is_of_file(part) and part is not holder:
                        yield from self._holders(part, (*_CALLED, *_DRAWING, *sorted(called)), depth + 1)

    def _reseeds(self, made: Loading, dataset: Instance) -> bool:
        """Whether anybody may give each worker a generator of its own."""
        if any("worker" in word for cls in dataset.cls.ancestry() for word in words(cls.definition)):
            return True
        if not made.may_be_given("worker_init_fn"):
            return False
        function = made.known("worker_init_fn")
        if not isinstance(function, Function):
            return True
        return bool(words(function.definition) & {"get_worker_info", "dataset", "global"}) or any(
            isinstance(each, ir.Scope) for each in ir.walk(function.definition)
        )

    def _look_at(self, holder: _Holder, dataset: Instance, made: Loading) -> None:
        if self._imports is None:
            self._imports = Imports(self.machine.program)
        for each in (*self._of_object(holder), *self._given(holder), *self._of_file()):
            draw = next((found for body in holder.drawing if (found := _draw(each, body)) is not None), None)
            if draw is None or self._set_again(each):
                continue
            with_workers = f"{made.constant('num_workers')} workers" if made.workers == "some" else "workers"
            self.machine.emit(
                GeneratorCopied(
                    node=each.maker.origin,
                    statement=each.statement.line,
                    trace=(
                        Step(draw.origin, f"drawn from `{each.text}` here, in every worker"),
                        Step(made.origin.origin, f"loaded with {with_workers} here"),
                    ),
                    generator=each.text,
                    holder=holder.object.cls.name if holder.object is not dataset and not each.in_module else "",
                    dataset=dataset.cls.name,
                    in_module=each.in_module,
                    workers=made.count if made.workers == "unknown" else "",
                    is_global=False,
                )
            )

    def _look_at_global(self, holders: list[_Holder], dataset: Instance, made: Loading) -> None:
        """The first draw from NumPy's global generator; what seeds it per sample, or anywhere for workers, is seen."""
        assert self._imports is not None
        for body in (each for holder in holders for each in holder.drawing):
            called = [(each, self._imports.qualified(each.function)) for each in ir.walk(body.body) if _is_call(each)]
            drawn = [each for each, name in called if name in _GLOBAL_DRAWS]
            if any("seed" in name or "state" in name for _, name in called):
                return
            statement = self._statement(drawn[0]) if drawn else None
            if statement is not None:
                self.machine.emit(
                    GeneratorCopied(
                        node=drawn[0].origin,
                        statement=statement.line,
                        trace=(Step(made.origin.origin, "loaded with workers here"),),
                        generator=dotted(drawn[0].function).rpartition(".")[0],
                        holder="",
                        dataset=dataset.cls.name,
                        in_module=False,
                        workers=made.count if made.workers == "unknown" else "",
                        is_global=True,
                    )
                )
                return

    def _of_object(self, holder: _Holder) -> list[_Made]:
        constructor = holder.methods.get("__init__")
        found = []
        for target, value, statement in assignments(constructor.body) if constructor is not None else ():
            maker = self._maker(value)
            if own(target) and maker is not None:
                found.append(_Made(f"self.{own(target)}", maker, statement, statement, False))
        return found

    def _given(self, holder: _Holder) -> Iterator[_Made]:
        """The generators that are made elsewhere in the file, and given to the constructor."""
        constructor = holder.methods.get("__init__")
        for name, value in holder.object.attributes.items():
            given = only(value, self.machine)
            source = given.source if isinstance(given, Unknown) else None
            maker = self._maker(source) if isinstance(source, ir.Call) else None
            if maker is None or constructor is None:
                continue
            bound = [
                statement
                for target, _, statement in assignments(constructor.body)
                if any(own(each, name) for each in ir.walk(target))
            ]
            statement = self._statement(maker)
            if len(bound) == 1 and statement is not None and statement is not bound[0]:
                yield _Made(f"self.{name}", maker, statement, bound[0], False)

    def _statement(self, call: ir.Call) -> ir.Statement | None:
        """The innermost statement of the file in which a call stands."""
        holding = [
            each for each in ir.everything(self.machine.program.body) if any(part is call for part in ir.walk(each))
        ]
        return holding[-1] if holding else None

    def _of_file(self) -> list[_Made]:
        found = []
        for statement in self.machine.program.body:
            if isinstance(statement, ir.Assign) and isinstance(statement.targets[0], ir.Name):
                maker = self._maker(statement.value)
                if maker is not None and len(statement.targets) == 1:
                    found.append(_Made(statement.targets[0].id, maker, statement, statement, True))
        return found

    def _maker(self, value: ir.Expression | None) -> ir.Call | None:
        """The call that makes a generator, seeded by a method behind it or not."""
        if not isinstance(value, ir.Call) or not isinstance(value.origin, cst.Call):
            return None
        assert self._imports is not None
        if self._imports.qualified(value.function) in _MAKERS:
            return value
        seeded = isinstance(value.function, ir.Attribute) and value.function.attr == "manual_seed"
        return self._maker(value.function.value) if seeded and isinstance(value.function, ir.Attribute) else None

    def _set_again(self, made: _Made) -> bool:
        """Whether another statement of the file gives it another generator or state."""
        name = made.text.rpartition(".")[2]
        for target, _, statement in assignments(self.machine.program.body):
            for each in ir.walk(target):
                named = isinstance(each, ir.Name) and each.id == name and made.in_module
                named = named or (isinstance(each, ir.Attribute) and each.attr == name)
                if named and statement is not made.bound:
                    return True
        for each in ir.walk(self.machine.program.body):
            if may_set_by_name(each, name):
                return True
            method = each.function if isinstance(each, ir.Call) else None
            if isinstance(method, ir.Attribute) and method.attr in _SETTING and _is(made, method.value):
                return True
            if isinstance(each, ir.Attribute) and each.attr == "bit_generator" and _is(made, each.value):
                return True
        return False


def _is_call(node: ir.Node) -> TypeGuard[ir.Call]:
    return isinstance(node, ir.Call)


def _is(made: _Made, node: ir.Node) -> bool:
    if made.in_module:
        return isinstance(node, ir.Name) and node.id == made.text
    return own(node) == made.text.removeprefix("self.")


def _draw(made: _Made, body: ir.FunctionDef) -> ir.Node | None:
    """Where a method draws from a generator: calls one of its methods, or hands it on as `generator=`."""
    if made.in_module and (made.text in body.assigned or any(each.name == made.text for each in body.parameters)):
        return None
    for each in ir.walk(body.body):
        if not isinstance(each, ir.Call):
            continue
        method = each.function
        if isinstance(method, ir.Attribute) and method.attr not in _NO_DRAWS and _is(made, method.value):
            return each
        if any(given.keyword == "generator" and _is(made, given.value) for given in each.arguments):
            return each
    return None
