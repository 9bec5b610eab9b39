"""
Sees iterable datasets that are loaded by several workers and give each of them the same samples.

Each worker runs `__iter__` of a copy of its own
(https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset). Says so only where everything that
`__iter__` goes over is known to be the same in each.
"""

from __future__ import annotations

from torchlint.model.events.data import StreamNotDivided
from torchlint.model.events.trace import Step
from torchlint.model.observers.data.loading import Datasets, Loading, is_iterable_dataset, is_of_file, loading
from torchlint.model.observers.written import Imports, methods, own, reached, words
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Choice,
    Constant,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
)
from torchlint.syntax import ir
from torchlint.syntax.features import here

_SHARING = ("worker", "rank", "shard", "world", "process_index", "partition", "split")
"""Parts of the words that somebody uses who divides samples among processes."""
_DRAWING = ("rand", "sample", "choice", "perm")
"""Parts of the words that somebody uses who draws: the same samples need not come twice."""
_THROUGH = frozenset(
    ("enumerate", "zip", "iter", "list", "tuple", "sorted", "reversed", "map", "filter", "islice", "chain", "tqdm")
)
_OPENING = frozenset({"builtins.open", "gzip.open", "bz2.open", "csv.reader", "csv.DictReader", "os.listdir"})


class UndividedStreams(Observer):
    """Raises `StreamNotDivided`."""

    words = ("IterableDataset",)
    concerns = (here("DataLoader"),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._datasets = Datasets()

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        self._datasets.wrapped(qualified, positional, keywords, origin)
        made = loading(qualified, positional, keywords, origin, self.machine)
        if made is None or made.workers == "none" or made.may_be_given("worker_init_fn"):
            return
        for dataset in self._datasets.of(made.known("dataset")):
            if is_of_file(dataset) and is_iterable_dataset(dataset) and self._is_the_same_everywhere(dataset):
                self._tell(dataset, made)

    def _tell(self, dataset: Instance, made: Loading) -> None:
        count = made.constant("num_workers") if made.workers == "some" else None
        if count == 1 or not isinstance(count, (int, type(None))):
            return
        self.machine.emit(
            StreamNotDivided(
                node=made.origin.origin,
                statement=self.machine.line(),
                trace=(Step(methods(dataset.cls)["__iter__"].origin, "run by each worker, from the beginning"),),
                dataset=dataset.cls.name,
                workers=made.count if made.workers == "unknown" else "",
                count=count,
            )
        )

    def _is_the_same_everywhere(self, dataset: Instance) -> bool:
        """Whether `__iter__` goes over what is known to be whole in each process, and nothing else."""
        known = methods(dataset.cls)
        if "__iter__" not in known or "__next__" in known:
            return False
        if words(self.machine.program.body) & {"get_worker_info", "split_by_worker"}:
            return False
        written = {word.lower() for cls in dataset.cls.ancestry() for word in words(cls.definition)}
        if any(part in word for word in written for part in _SHARING):
            return False
        shuffles = [each for cls in dataset.cls.ancestry() for each in ir.walk(cls.definition) if _shuffles(each)]
        in_shuffles = {id(part) for each in shuffles for part in ir.walk(each)}
        drawn = {word.lower() for cls in dataset.cls.ancestry() for word in words(cls.definition, in_shuffles)}
        if any(part in word for word in drawn for part in _DRAWING):
            return False
        bodies = reached(known, "__iter__")
        if shuffles and any(isinstance(each, (ir.Slice, ir.Break)) for body in bodies for each in ir.walk(body.body)):
            return False  # of what is shuffled, a part is another one in each process
        sources = _Sources(dataset, Imports(self.machine.program), known)
        return sources.are_whole(bodies)


def _shuffles(node: ir.Node) -> bool:
    """Whether a call puts a list in another order: each sample is still there, once."""
    return isinstance(node, ir.Call) and isinstance(node.function, ir.Attribute) and node.function.attr == "shuffle"


class _Sources:
    """What the methods of a dataset go over."""

    def __init__(self, dataset: Instance, imports: Imports, known: dict[str, ir.FunctionDef]) -> None:
        self.dataset = dataset
        self.imports = imports
        self.methods = known
        self.locals: dict[str, list[ir.Expression]] = {}
        self.elements: set[str] = set()

    def are_whole(self, bodies: list[ir.FunctionDef]) -> bool:
        found: list[ir.Expression] = []
        for body in bodies:
            for each in ir.walk(body.body):
                if isinstance(each, (ir.While, ir.Await)):
                    return False
                if isinstance(each, (ir.For, ir.Generator)):
                    found.append(each.iterable)
                    self.elements |= {name.id for name in ir.walk(each.target) if isinstance(name, ir.Name)}
                elif isinstance(each, (ir.Yield, ir.Return)) and each.value is not None:
                    whole = each.is_from if isinstance(each, ir.Yield) else body.name == "__iter__"
                    found += [each.value] if whole else []
                elif isinstance(each, ir.Assign) and each.value is not None:
                    for target in each.targets:
                        if isinstance(target, ir.Name):
                            self.locals.setdefault(target.id, []).append(each.value)
                elif isinstance(each, ir.WithItem) and isinstance(each.target, ir.Name):
                    self.locals.setdefault(each.target.id, []).append(each.context)
        return bool(found) and all(self._is_whole(each, 0) for each in found)

    def _is_whole(self, node: ir.Expression, depth: int) -> bool:
        if depth > 8:
            return False
        if isinstance(node, (ir.Sequence, ir.Dict, ir.Constant, ir.Comprehension)):
            return True  # what a comprehension goes over is among the sources itself
        if isinstance(node, ir.Name):
            values = self.locals.get(node.id)
            if values:
                return all(self._is_whole(each, depth + 1) for each in values)
            return node.id in self.elements
        if own(node):
            return _is_plain(self.dataset.attributes.get(own(node)))
        if isinstance(node, ir.Subscript):
            return self._is_whole(node.value, depth + 1)
        if isinstance(node, ir.Call):
            return self._is_whole_call(node, depth)
        return False

    def _is_whole_call(self, node: ir.Call, depth: int) -> bool:
        function = node.function
        if own(function) in self.methods:
            return True  # what it goes over is among the sources itself
        qualified = self.imports.qualified(function)
        name = function.id if isinstance(function, ir.Name) and not qualified else qualified.rpartition(".")[2]
        if qualified in _OPENING or qualified.startswith(("numpy.", "torch.")) or name in ("open", "range"):
            return True
        if name in _THROUGH:
            given = [each.value for each in node.arguments if not each.keyword]
            first = given[1:] if name in ("map", "filter") else given[:1] if name != "zip" else given
            return bool(first) and all(self._is_whole(each, depth + 1) for each in first)
        if isinstance(function, ir.Attribute) and function.attr in ("items", "keys", "values", "split", "readlines"):
            return self._is_whole(function.value, depth + 1)
        return False


def _is_plain(value: Value | None) -> bool:
    """Whether a value is data, and no object that may know of workers by itself."""
    if isinstance(value, (Constant, Scalar, Tensor)):
        return True
    if isinstance(value, Choice):
        # a tensor in an object that a loader was given may be another one since: the alternative comes from nowhere
        options = [each for _, each in value.alternatives if not (isinstance(each, Unknown) and each.source is None)]
        return bool(options) and all(map(_is_plain, options))
    if isinstance(value, Sequence):
        return value.kind != "generator" and all(_is_plain(each) for each in value.items or (value.element,))
    if isinstance(value, Mapping):
        return value.items is not None and all(_is_plain(each) for each in value.items.values())
    return False
