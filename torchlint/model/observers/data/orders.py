"""
Sees loaders that give a training loop the same batches in the same order in every epoch, and those that shuffle what is
only evaluated.

Without `shuffle` and without a sampler, `DataLoader` goes through a map-style dataset by index
(https://docs.pytorch.org/docs/stable/data.html#data-loading-order-and-sampler). Read from the text, where the loader,
its dataset and the loops stand in one scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.knowledge.names import DATA_LOADER, DATASET, TENSOR_DATASET
from torchlint.model.events.data import EvaluatedShuffled, TrainedInOrder
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import argument
from torchlint.model.observers.written import Imports, Scope, assignments, scopes, words
from torchlint.model.state.hooks import Observer
from torchlint.syntax import cst, ir
from torchlint.syntax.spelling import dotted, runs_few_times

_OF_IMAGES = "torchvision.datasets."
_DECIDING: Final = frozenset({"shuffle", "sampler", "batch_sampler"})
_IN_ORDER = ("seq", "series", "window", "token", "text", "stream", "curriculum", "hidden", "overfit", "order")
"""Parts of the words of a scope in which the order may be meant."""
_CONTAINERS: Final = frozenset({"Sequential", "OrderedDict"})
"""Words of which that is not so: what layers are put into."""
_RANDOM = ("rand", "rng", "generator", "shuffle", "perm", "choice", "sample")
"""Parts of the words by which a dataset may have a random order of its own."""
_DRAW = frozenset({"rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "random", "standard_normal"})
"""Words by which values are drawn; `random` is also the module of NumPy that has them."""
_STAYS = frozenset({"float", "double", "to", "cuda", "reshape", "view", "from_numpy", "tensor", "astype", "abs"})
"""What changes nothing of which sample stands where."""
_THROUGH = frozenset({"enumerate", "tqdm"})


class TrainingOrders(Observer):
    """Raises `TrainedInOrder` and `EvaluatedShuffled`."""

    words = ("DataLoader",)
    concerns = ()

    def finished(self) -> None:
        program = self.machine.program
        imports = Imports(program)
        classes = {each.name: each for each in program.body if isinstance(each, ir.ClassDef)}
        for scope in scopes(program):
            if scope.methods:
                continue
            values: dict[str, list[ir.Expression | None]] = {}
            for target, value, _ in assignments(scope.own):
                values.setdefault(dotted(target), []).append(value)
            for target, value, statement in assignments(scope.own):
                name = dotted(target)
                if not isinstance(value, ir.Call) or imports.qualified(value.function) not in DATA_LOADER or not name:
                    continue
                if len(values[name]) != 1:
                    continue
                if not _decides(value) and _is_map_style(value, values, imports, classes):
                    self._look_at(name, value, statement, scope)
                self._look_at_shuffled(name, value, statement, scope, imports)

    def _look_at(self, name: str, call: ir.Call, statement: ir.Statement, scope: Scope) -> None:
        for epochs in ir.everything(scope.own):
            if not isinstance(epochs, (ir.For, ir.While)):
                continue
            for loop in ir.everything(epochs.body):
                if not isinstance(loop, ir.For) or _through(loop.iterable) != name or not _trains(loop.body):
                    continue
                written = {word.lower() for word in words(scope.whole) if word not in _CONTAINERS}
                if any(part in word for part in _IN_ORDER for word in written) or not isinstance(call.origin, cst.Call):
                    return
                self.machine.emit(
                    TrainedInOrder(
                        node=call.origin,
                        statement=statement.line,
                        trace=(Step(loop.iterable.origin, "trained on in this order in every epoch"),),
                        call=call.origin,
                        loader=name,
                        few=runs_few_times(epochs),
                    )
                )
                return

    def _look_at_shuffled(
        self, name: str, call: ir.Call, statement: ir.Statement, scope: Scope, imports: Imports
    ) -> None:
        shuffle = argument(call, 2, "shuffle")
        if shuffle is None or not isinstance(shuffle.value, ir.Constant) or shuffle.value.value is not True:
            return
        evaluated = list(_without_gradients(scope.own, imports))
        loops = [
            each for each in ir.everything(scope.whole) if isinstance(each, ir.For) and _through(each.iterable) == name
        ]
        if not loops or any(all(each is not one for one in evaluated) for each in loops):
            return
        if sum(dotted(each) == name for each in ir.walk(scope.whole) if isinstance(each, ir.Name)) != len(loops) + 1:
            return  # it is used in another way, too
        if not any("eval" in words(each) for each in scope.own) or not isinstance(shuffle.origin, cst.Arg):
            return
        self.machine.emit(
            EvaluatedShuffled(
                node=call.origin,
                statement=statement.line,
                trace=(Step(loops[0].iterable.origin, "only evaluated on"),),
                loader=name,
                argument=shuffle.origin,
            )
        )


def _without_gradients(body: list[ir.Statement], imports: Imports) -> Iterator[ir.For]:
    """The loops inside `with torch.no_grad():` or the like."""
    for statement in ir.everything(body):
        if not isinstance(statement, ir.With):
            continue
        contexts = [each.context for each in statement.items]
        calls = [imports.qualified(each.function) for each in contexts if isinstance(each, ir.Call)]
        if {"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"} & set(calls):
            yield from (each for each in ir.everything(statement.body) if isinstance(each, ir.For))


def _decides(call: ir.Call) -> bool:
    """Whether the order may be said, or the whole dataset is one batch."""
    size = argument(call, 1, "batch_size")
    whole = size is not None and isinstance(size.value, ir.Call) and dotted(size.value.function) == "len"
    unpacked = any(each.star or each.keyword in _DECIDING for each in call.arguments)
    return whole or unpacked or sum(not each.keyword for each in call.arguments) > 2


def _is_map_style(
    call: ir.Call,
    values: dict[str, list[ir.Expression | None]],
    imports: Imports,
    classes: dict[str, ir.ClassDef],
) -> bool:
    """Whether the dataset is known to be one that is read by index, and in no random order of its own."""
    given = argument(call, 0, "dataset")
    made: ir.Expression | None = given.value if given is not None else None
    if isinstance(made, ir.Name):
        known = values.get(made.id, [])
        made = known[0] if len(known) == 1 else None
    if not isinstance(made, ir.Call):
        return False
    qualified = imports.qualified(made.function)
    if qualified in TENSOR_DATASET:
        return not made.arguments or not _is_drawn(made.arguments[0].value, values)
    if qualified.startswith(_OF_IMAGES):
        return True
    cls = classes.get(dotted(made.function))
    if cls is None or [imports.qualified(each.value) in DATASET for each in cls.bases] != [True]:
        return False
    constructor = [each for each in cls.body if isinstance(each, ir.FunctionDef) and each.name == "__init__"]
    reading = {word.lower() for each in cls.body if each not in constructor for word in words(each)}
    # what a constructor draws is the same in all epochs, unless it is an order, or keeps what draws
    kept = {word.lower() for each in constructor for word in words(each)} - _DRAW
    return not any(part in word for word in reading | kept for part in _RANDOM)


def _is_drawn(samples: ir.Expression, values: dict[str, list[ir.Expression | None]]) -> bool:
    """Whether all samples are drawn in one call, one like the other: any order is as good."""
    if isinstance(samples, ir.Name) and len(known := values.get(samples.id, [])) == 1 and known[0] is not None:
        samples = known[0]
    called = [dotted(each.function).rpartition(".")[2] for each in ir.walk(samples) if isinstance(each, ir.Call)]
    return any(name in _DRAW for name in called) and all(name in _DRAW or name in _STAYS for name in called)


def _trains(body: list[ir.Statement]) -> bool:
    called = {
        each.function.attr
        for each in ir.walk(body)
        if isinstance(each, ir.Call) and isinstance(each.function, ir.Attribute)
    }
    return {"backward", "step"} <= called


def _through(node: ir.Expression) -> str:
    while isinstance(node, ir.Call) and node.arguments and dotted(node.function).rpartition(".")[2] in _THROUGH:
        node = node.arguments[0].value
    return dotted(node)
