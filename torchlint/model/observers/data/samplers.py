"""
Sees distributed samplers that a loop over epochs never tells which epoch it is.

`DistributedSampler` shuffles with its seed plus its epoch
(https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler). Read from the text:
who calls `set_epoch` may stand anywhere in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torchlint.knowledge.names import DATA_LOADER, DISTRIBUTED_SAMPLER
from torchlint.model.events.data import SamplerEpochKept
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import argument
from torchlint.model.observers.written import Imports, Scope, assignments, objects_of, scopes, words
from torchlint.model.state.hooks import Observer
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_KNOWING = frozenset(
    [
        "accelerate", "catalyst", "composer", "deepspeed", "detectron2", "fastai", "horovod", "ignite", "lightning",
        "lightning_fabric", "mmcv", "mmengine", "poutyne", "pytorch_lightning", "ray", "skorch", "transformers", "trl",
    ]
)  # fmt: skip
"""Packages that set the epoch of samplers themselves, or wrap loaders in something that does."""
_THROUGH = frozenset({"enumerate", "tqdm", "iter", "zip", "trange", "len", "next", "list"})

_WITHOUT_GRADIENTS = frozenset({"no_grad", "inference_mode"})


class _Sampler(NamedTuple):
    """A sampler as a scope writes it: `text` is how it is reached, `loaders` the names of what goes through it."""

    call: ir.Call
    statement: ir.Statement
    text: str
    loaders: list[str]
    plain: bool


class SamplerEpochs(Observer):
    """Raises `SamplerEpochKept`."""

    words = ("DistributedSampler",)
    concerns = ()

    def finished(self) -> None:
        program = self.machine.program
        everything = words(program.body)
        own = {each.name for each in program.body if isinstance(each, ir.ClassDef)}
        if "DistributedSampler" not in everything or everything & ({"set_epoch", "Trainer", "epoch_"} - own):
            return
        imports = Imports(program)
        if imports.packages() & _KNOWING:
            return
        functions = {each.name: each for each in program.body if isinstance(each, ir.FunctionDef)}
        every = list(scopes(program))
        for scope in every:
            for sampler in _samplers(scope.own, imports):
                if not sampler.loaders or _escapes(sampler, scope.whole, functions):
                    continue
                if self._look_at(sampler, scope, functions | scope.methods):
                    continue
                for other in every if scope.cls else ():
                    held = _held(sampler, scope, other, program)
                    if held is not None and self._look_at(held, other, functions | other.methods):
                        break

    def _look_at(self, sampler: _Sampler, scope: Scope, functions: dict[str, ir.FunctionDef]) -> bool:
        """Whether a loop of the scope is one that the sampler should be told the rounds of."""
        for loop in _loops(scope.own):
            reader, goes = _reader(loop, sampler.loaders, functions)
            if reader is None or _runs_once(loop):
                continue
            counts = isinstance(loop, ir.For) and isinstance(loop.target, ir.Name) and _is_range(loop.iterable)
            self.machine.emit(
                SamplerEpochKept(
                    node=reader.origin,
                    statement=goes.line,
                    trace=(Step(sampler.call.origin, "its epoch stays 0"),),
                    sampler=sampler.text,
                    epoch=loop.target.id if counts and sampler.plain else "",  # type: ignore[union-attr]
                    first=loop.body[0].line,
                )
            )
            return True
        return False


def _held(sampler: _Sampler, scope: Scope, other: Scope, program: ir.Program) -> _Sampler | None:
    """A sampler that the objects of a class hold, as another scope reaches it through the one object of that class."""
    attributes = [each.removeprefix("self.") for each in sampler.loaders if each.startswith("self.")]
    if other is scope or not sampler.text.startswith("self.") or not attributes:
        return None
    for loop in ir.everything(other.own):
        through = _through(loop.iterable) if isinstance(loop, ir.For) else ""
        holder, _, attribute = through.rpartition(".")
        name = holder.rpartition(".")[2]
        if attribute not in attributes or name == "self" or not objects_of(name, scope.cls, program):
            continue
        functions = {
            each.name for each in ir.everything(program.body) if isinstance(each, (ir.FunctionDef, ir.ClassDef))
        }
        given = [
            each
            for each in ir.walk(program.body)
            if isinstance(each, ir.Call) and any(dotted(one.value).rpartition(".")[2] == name for one in each.arguments)
        ]
        if all(dotted(each.function).rpartition(".")[2] in functions for each in given):
            return sampler._replace(text=f"{holder}.{sampler.text.removeprefix('self.')}", loaders=[through])
    return None


def _samplers(scope: list[ir.Statement], imports: Imports) -> Iterator[_Sampler]:
    """The samplers that a scope makes and shuffles with, and the loaders it gives them to."""
    made = [(target, value, statement) for target, value, statement in assignments(scope)]
    loaders = [
        (dotted(target), value)
        for target, value, _ in made
        if isinstance(value, ir.Call) and imports.qualified(value.function) in DATA_LOADER and dotted(target)
    ]
    for target, value, statement in made:
        call, plain = value, True
        if isinstance(value, ir.Conditional):
            call, plain = value.body if isinstance(value.body, ir.Call) else value.orelse, False
        name = dotted(target)
        if (
            isinstance(call, ir.Call)
            and imports.qualified(call.function) in DISTRIBUTED_SAMPLER
            and name
            and _shuffles(call)
        ):
            plain = plain and sum(dotted(other) == name for other, _, _ in made) == 1
            using = [loader for loader, given in loaders if dotted(_sampler(given)) == name]
            yield _Sampler(call, statement, name, using, plain)
        if isinstance(call, ir.Call) and imports.qualified(call.function) in DATA_LOADER and name:
            inner = _sampler(call)
            if (
                isinstance(inner, ir.Call)
                and imports.qualified(inner.function) in DISTRIBUTED_SAMPLER
                and _shuffles(inner)
            ):
                plain = plain and sum(dotted(other) == name for other, _, _ in made) == 1
                yield _Sampler(inner, statement, f"{name}.sampler", [name], plain)


def _sampler(loader: ir.Call) -> ir.Expression | None:
    given = argument(loader, 3, "sampler")
    return given.value if given is not None else None


def _shuffles(call: ir.Call) -> bool:
    if any(each.star for each in call.arguments):
        return False
    given = argument(call, 3, "shuffle")
    return given is None or (isinstance(given.value, ir.Constant) and given.value.value is True)


def _escapes(sampler: _Sampler, scope: list[ir.Statement], functions: dict[str, ir.FunctionDef]) -> bool:
    """Whether the sampler or a loader gets into the hands of code that is not in the file."""
    held = {sampler.text, *sampler.loaders}
    for each in ir.walk(scope):
        if isinstance(each, ir.Return) and any(dotted(part) in held for part in ir.walk(each)):
            return True
        if not isinstance(each, ir.Call):
            continue
        given = [one for one in each.arguments if dotted(one.value) in held and one.keyword != "sampler"]
        called = dotted(each.function)
        if given and called.rpartition(".")[2] not in _THROUGH and called not in functions:
            return True
    for target, value, _ in assignments(scope):
        if isinstance(value, (ir.Sequence, ir.Dict)) and any(dotted(part) in held for part in ir.walk(value)):
            return True
        made = dotted(value.function) if isinstance(value, ir.Call) else ""
        if dotted(target) in sampler.loaders and made.rpartition(".")[2] != "DataLoader":
            return True
    return False


def _loops(scope: list[ir.Statement]) -> Iterator[ir.For | ir.While]:
    for each in ir.everything(scope):
        if isinstance(each, (ir.For, ir.While)):
            yield each


def _reader(
    loop: ir.For | ir.While, loaders: list[str], functions: dict[str, ir.FunctionDef]
) -> tuple[ir.Expression | None, ir.Statement]:
    """
    Where a loop goes through one of the loaders in each of its rounds, itself or in a function it calls; and the
    statement of that.
    """
    evaluated = {
        id(each)
        for statement in ir.everything(loop.body)
        if isinstance(statement, ir.With) and any(words(item.context) & _WITHOUT_GRADIENTS for item in statement.items)
        for each in ir.everything(statement.body)
    }
    for statement in ir.everything(loop.body):
        if isinstance(statement, ir.For) and _through(statement.iterable) in loaders and id(statement) not in evaluated:
            return statement.iterable, statement
    reader = _in_function(loop, loaders, functions)
    holding = [each for each in ir.everything(loop.body) if any(part is reader for part in ir.walk(each))]
    return reader, holding[-1] if holding else loop


def _in_function(
    loop: ir.For | ir.While, loaders: list[str], functions: dict[str, ir.FunctionDef]
) -> ir.Expression | None:
    """The argument, or the call, by which a function of the file gets a loader that it goes through."""
    for each in ir.walk(loop.body):
        called = functions.get(dotted(each.function)) if isinstance(each, ir.Call) else None
        if called is None or not isinstance(each, ir.Call) or _only_evaluates(called):
            continue
        inside = [_through(one.iterable) for one in ir.everything(called.body) if isinstance(one, ir.For)]
        if any(name in loaders and name.startswith("self.") for name in inside):
            return each
        first = 1 if dotted(each.function).startswith("self.") else 0
        for index, given in enumerate(each.arguments):
            if dotted(given.value) not in loaders or given.star:
                continue
            parameters = called.parameters[first + index :]
            if (given.keyword or (parameters[0].name if parameters else "")) in inside:
                return given.value
    return None


def _only_evaluates(function: ir.FunctionDef) -> bool:
    """Whether a function records no gradients, and takes no step: the order of what it measures is all one."""
    said = words(function)
    return bool(said & _WITHOUT_GRADIENTS) and not said & {"backward", "step"}


def _through(node: ir.Expression) -> str:
    while isinstance(node, ir.Call) and node.arguments and dotted(node.function).rpartition(".")[2] in _THROUGH:
        node = node.arguments[0].value
    return dotted(node)


def _is_range(node: ir.Expression) -> bool:
    return isinstance(node, ir.Call) and dotted(node.function).rpartition(".")[2] in ("range", "trange")


def _runs_once(loop: ir.For | ir.While) -> bool:
    """Whether a loop is written to run once; and one over batches is none over epochs."""
    if isinstance(loop, ir.While):
        return False
    if isinstance(loop.iterable, ir.Sequence):
        return len(loop.iterable.elements) <= 1
    arguments = loop.iterable.arguments if isinstance(loop.iterable, ir.Call) else []
    last = arguments[0].value if len(arguments) == 1 else None
    return _is_range(loop.iterable) and isinstance(last, ir.Constant) and last.value in (0, 1)
