"""
Which mode a model is in when it is called: evaluation loops that record graphs, training loops that go on evaluating.

`eval()` changes what dropout and normalisation do and leaves autograd alone; `no_grad` does the opposite
(https://docs.pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from torchlint.model.events import BackwardCallee
from torchlint.model.events.trace import Step
from torchlint.model.events.training import EvaluatedWithGraph, TrainedInEvalMode
from torchlint.model.observers.moments import Iteration, holds, last_name, receiver_of
from torchlint.model.observers.training.escaping import keeps_graph
from torchlint.model.observers.training.forwards_elsewhere import takes_gradients
from torchlint.model.observers.written import assignments
from torchlint.model.python.attributes import is_module
from torchlint.model.state.guards import Guard, Truth, conjoin
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Constant,
    External,
    Function,
    GraphNode,
    Instance,
    Module,
    Tensor,
    Unknown,
    Value,
    alternatives,
    explore,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import DIFFERENTIATING, anywhere
from torchlint.syntax.reading import differentiates
from torchlint.syntax.spelling import dotted, identifier, runs_few_times
from torchlint.syntax.tree import written

_SENSITIVE = re.compile(r"Dropout|BatchNorm|InstanceNorm|RReLU|Transformer")
_WITH_DROPOUT = re.compile(r"RNN|LSTM|GRU|MultiheadAttention")
_READS_MODE = re.compile(r"\.training\b|\btraining=")
_MAY_DIFFERENTIATE = re.compile(r"backward|\bgrad\b|autograd|__name__|step\(|fit\(|create_graph|\.func\b")
"""What a script has that differentiates, or is a library at the same time."""
_GRAD_MODES = frozenset({"no_grad", "inference_mode", "set_grad_enabled", "enable_grad"})
_IN_FORWARD = re.compile(r"\bautograd\.grad\b|\bcreate_graph\b|\btorch\.func\b")
_KEEPS_MODE = frozenset(
    """
    __call__ add_module apply bfloat16 buffers children cpu cuda double eval extra_repr float forward get_buffer
    get_parameter get_submodule half load_state_dict modules named_buffers named_children named_modules named_parameters
    parameters register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_parameter requires_grad_ share_memory state_dict to train type zero_grad
    """.split()  # noqa: SIM905
)
"""Methods of Modules that torch has, which leave the mode alone or say it; any other may set it."""
_DIFFERENTIATES = re.compile(r"backward|grad|attack|perturb|advers|optimi", re.IGNORECASE)


_Kind: TypeAlias = Literal["eval", "train", "call", "backward", "unknown", "given"]


@dataclass(frozen=True, slots=True, eq=False)
class _Note:
    """A mode was set, a module was called, a backward ran, or unknown code was given `module`."""

    kind: _Kind
    time: int
    module: Value | None
    name: str
    origin: ir.Node
    line: cst.CSTNode
    path: Guard
    iterations: tuple[Iteration, ...]
    function: ir.Node | None
    records: bool

    def within(self, iteration: Iteration, number: int | None = None) -> bool:
        return any(
            each.activation == iteration.activation and (number is None or each.number == number)
            for each in self.iterations
        )


@dataclass(slots=True, eq=False)
class _Log:
    notes: list[_Note] = field(default_factory=list)
    iterations: list[Iteration] = field(default_factory=list)
    activations: list[int] = field(default_factory=list)
    functions: list[ir.Node] = field(default_factory=list)
    count: int = 0


class Modes(Observer):
    """Modes of modules over a run."""

    words = ("eval", "train(")
    concerns = (anywhere("eval train"), DIFFERENTIATING)  # another file's function may set the mode of what is trained
    follows_foreign_calls = True

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._log = _Log()
        self._muted: set[int] = set()
        self._found: dict[int, tuple[set[int], EvaluatedWithGraph]] = {}
        self._frozen = -1  # the time from which on parameters are frozen
        self._is_script = False

    def _note(self, kind: _Kind, module: Value | None, origin: ir.Node, name: str = "") -> None:
        log, machine = self._log, self.machine
        records = machine.grad_mode is Truth.YES and not machine.assumed - machine.path
        function = log.functions[-1] if log.functions else None
        where = (tuple(log.iterations), function)
        log.notes.append(
            _Note(kind, len(log.notes), module, name, origin, machine.line(), machine.path, *where, records)
        )

    def concluded(self) -> None:
        if any(note.kind == "eval" for note in self._log.notes):
            self._trained_in_eval_mode()
            self._evaluated_with_graph()
        self._log = _Log()
        self._frozen = -1

    def finished(self) -> None:
        # A model whose forward differentiates needs its graph, and an unknown one may be any of the package.
        found = [event for functions, event in self._found.values() if not functions & self._muted]
        if not found or _IN_FORWARD.search(self.machine.program.text):
            return
        silent = any(event.unknown for event in found) and takes_gradients(self.machine.mentioning)
        for event in found:
            if not (event.unknown and silent):
                self.machine.emit(event)

    # -- where we are

    def entry_started(self, function: Function | None) -> None:
        self._is_script = function is None

    def loop_started(self, node: ir.For | ir.While) -> None:
        self._log.count += 1
        self._log.activations.append(self._log.count)

    def loop_left(self, node: ir.For | ir.While) -> None:
        if self._log.activations:
            self._log.activations.pop()

    def iteration_started(self, node: ir.For | ir.While, number: int) -> None:
        activation = self._log.activations[-1] if self._log.activations else 0
        self._log.iterations.append(Iteration(node, activation, number, self.machine.path))

    def iteration_ended(self, node: ir.For | ir.While, number: int) -> None:
        if self._log.iterations:
            self._log.iterations.pop()

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._log.functions.append(function.definition)
        if self.machine.grad_mode is not Truth.YES:
            self._muted.add(id(function.definition))

    def function_ended(self, function: Function, result: Value) -> None:
        if self._log.functions:
            self._log.functions.pop()

    # -- what happens

    def mode_set(self, module: Value, training: bool | None, origin: ir.Call) -> None:
        self._note("eval" if training is False else "train", module, origin, receiver_of(origin))

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if name == "requires_grad" and not (isinstance(value, Constant) and value.value is True):
            self._freeze()

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name == "requires_grad_" and (positional or keywords):
            self._freeze()

    def _freeze(self) -> None:
        """Whose parameters these are is not asked: of a model whose parameters may be frozen nothing is said."""
        if self._frozen < 0:
            self._frozen = len(self._log.notes)

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        self._note("call", module, origin, dotted(origin.function) if isinstance(origin, ir.Call) else "")

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        text = dotted(origin.function)
        if isinstance(callee, Unknown):
            self._note("call", callee, origin, text)
        if isinstance(callee, External) and callee.qualified.startswith(("torch.", "builtins.")):
            return
        if _DIFFERENTIATES.search(last_name(text)):
            self._note("backward", None, origin, text)
        if receiver is not None and last_name(text) not in _KEEPS_MODE:
            self._note("unknown", receiver, origin, text)
        for value in arguments:
            self._note("given", value, origin, text)

    def backward(
        self,
        callee: BackwardCallee,
        root: Tensor,
        nodes: list[GraphNode],
        leaves: list[Tensor],
        inputs: list[Tensor] | None,
        create_graph: bool | None,
        origin: ir.Node,
    ) -> None:
        self._note("backward", None, origin)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified.startswith(("torch.autograd.", "torch.func.")) and "no_grad" not in qualified:
            self._note("backward", None, origin)
        elif qualified in ("builtins.exec", "builtins.eval"):
            self._note("train", Unknown(), origin)  # a text may set the mode of anything

    # -- training that goes on in evaluation mode

    def _trained_in_eval_mode(self) -> None:
        told: set[int] = set()
        for note in self._log.notes:
            if (
                note.kind == "eval"
                and note.iterations
                and _sensitive(note.module) is not Truth.NO
                and id(note.origin) not in told
            ):
                for iteration in reversed(note.iterations):
                    call = self._trains_after(note, iteration)
                    if call is not None:
                        told.add(id(note.origin))
                        self._tell_mode(note, iteration, call)
                        break

    def _trains_after(self, note: _Note, iteration: Iteration) -> _Note | None:
        """The call in the next iteration that trains, if nothing in the loop sets the mode back."""
        notes = [each for each in self._log.notes if each.within(iteration)]
        module = note.module
        if module is None:
            return None
        following = iteration.number + 1
        for each in notes:
            back = each.kind == "train" and each.module is not None
            if back and each.module is not None and _may_share(each.module, module):
                return None
            if each.kind in ("unknown", "given") and each.module is not None and holds(each.module, module):
                return None
        earlier = [n for n in self._log.notes[: note.time] if n.kind == "eval" and n.module is module]
        before = [
            each
            for each in notes
            if each.kind == "call" and each.module is module and each.records and each.time < note.time
            and not any(mode.time < each.time for mode in earlier)
        ]  # fmt: skip
        for call in notes:
            if call.kind != "call" or call.module is not module or not call.within(iteration, following):
                continue
            if not any(each.origin is call.origin for each in before) or conjoin(call.path, note.path) is None:
                continue
            if any(
                each.kind == "backward" and each.time > call.time and each.within(iteration, following)
                for each in notes
            ):
                return call
        return None

    def _tell_mode(self, note: _Note, iteration: Iteration, call: _Note) -> None:
        body = iteration.loop.body
        first = body[0].line if body else None
        same = note.function is not None or not self._log.functions
        here = first is not None and any(node is note.origin for node in ir.walk(iteration.loop))
        simple = isinstance(first, cst.SimpleStatementLine) and same and here
        if not note.name:  # set by code of another file: it is called as where it is trained
            simple = simple and call.function is note.function
        self.machine.emit(
            TrainedInEvalMode(
                node=note.origin.origin,
                statement=note.line,
                trace=(
                    Step(call.origin.origin, f"in the next iteration `{call.name or 'it'}` is trained in this mode"),
                ),
                module=note.name or call.name,
                first=first if simple else None,
                certain=_sensitive(note.module) is Truth.YES,
            )
        )

    # -- evaluation that records graphs

    def _evaluated_with_graph(self) -> None:
        notes = self._log.notes
        for note in notes:
            if note.kind != "call" or not note.records or not note.iterations or note.module is None:
                continue
            modes = [m for m in notes[: note.time] if m.kind in ("eval", "train") and m.module is not None]
            mine = [m for m in modes if m.module is note.module]
            if not mine or mine[-1].kind != "eval" or any(m.kind == "train" for m in modes[modes.index(mine[-1]) :]):
                continue
            loop = _loop_of(note, mine[-1])
            if loop is None or mine[-1].path - note.path or 0 <= self._frozen <= note.time:
                continue
            if not isinstance(note.origin.origin, cst.Call) or id(loop) in self._found:
                continue
            if isinstance(loop.body[-1], ir.Break) or any(identifier(node) in _GRAD_MODES for node in ir.walk(loop)):
                continue
            if _differentiated(self._log, note, loop) or self._is_kept(note, loop):
                continue
            self._found[id(loop)] = (
                {id(each) for each in (note.function,) if each is not None},
                EvaluatedWithGraph(
                    node=note.origin.origin,
                    statement=note.line,
                    trace=(Step(mine[-1].origin.origin, f"`{mine[-1].name}` is set to evaluation mode here"),),
                    module=note.name,
                    loop=loop.origin,
                    unknown=isinstance(note.module, Unknown),
                    trains=differentiates(loop),
                    skips=any("backward" in identifier(node) for node in ir.walk(loop)),
                    tried=_runs_few_times(note, loop) or _waits(loop) or _is_given_the_same(note.origin, loop),
                ),
            )

    def _is_kept(self, call: _Note, loop: ir.For | ir.While) -> bool:
        """
        Whether somebody may differentiate what comes out of a loop. A script has no caller, and one without a backward
        differentiates nothing that it keeps, or that a function gives back to it.
        """
        if self._is_script and not _MAY_DIFFERENTIATE.search(self.machine.program.text):
            return False
        return keeps_graph(loop, call.function, call.origin)


def _differentiated(log: _Log, call: _Note, loop: ir.For | ir.While) -> bool:
    """
    Whether a backward runs in the loop, or right behind it; or may, because code that nobody follows is given a model
    there that this program calls: an attack needs its gradients. Or because it hands a value on to a function that its
    own was given, `backprop(loss)`: what that does is up to the caller.
    """
    if isinstance(call.function, ir.FunctionDef) and _hands_on(loop, call.function):
        return True
    depth = next(index for index, each in enumerate(call.iterations) if each.loop is loop)
    outer, activation = call.iterations[:depth], call.iterations[depth].activation
    models = {id(each.module) for each in log.notes if each.kind == "call"}
    for each in log.notes:
        inside = any(one.activation == activation for one in each.iterations)
        if each.kind == "backward" and (inside or (each.time > call.time and each.iterations == outer)):
            return True
        if each.kind == "given" and inside and id(each.module) in models:
            return True
        if each.kind == "given" and each.module is call.module and _is_called_in(loop, each.origin, call.function):
            return True
    return False


def _is_called_in(loop: ir.For | ir.While, made: ir.Node, function: ir.Node | None) -> bool:
    """Whether a loop calls what a call before it has made: `cam = GradCAM(model)`, and `cam(image)` in it."""
    names = {
        target.id
        for each in (ir.walk(function) if function is not None else ())
        if isinstance(each, ir.Assign) and each.value is made
        for target in each.targets
        if isinstance(target, ir.Name)
    }
    calls = [each.function for each in ir.walk(loop) if isinstance(each, ir.Call)] if names else []
    return any(dotted(each).partition(".")[0] in names for each in calls)


def _hands_on(loop: ir.For | ir.While, function: ir.FunctionDef) -> bool:
    given = {each.name for each in function.parameters}
    statements = [each.value for each in ir.walk(loop) if isinstance(each, ir.ExpressionStatement)]
    calls = [each for each in statements if isinstance(each, ir.Call) and each.arguments]
    return any(isinstance(each.function, ir.Name) and each.function.id in given for each in calls)


def _loop_of(call: _Note, mode: _Note) -> ir.For | ir.While | None:
    """
    The outermost loop around the call that starts after the mode is set, if it holds the call itself, and no few
    rounds are written out, all of them: what few graphs cost is nothing.
    """
    common = {each.activation for each in mode.iterations}
    loops = [each.loop for each in call.iterations if each.activation not in common]
    loop = loops[0] if loops else None
    if not isinstance(loop, (ir.For, ir.While)) or not any(node is call.origin for node in ir.walk(loop)):
        return None
    return None if all(map(_is_written_out, loops)) else loop


def _runs_few_times(call: _Note, loop: ir.For | ir.While) -> bool:
    """Whether a loop, and those inside it around the call, are written to run a few times only."""
    loops = [each.loop for each in call.iterations]
    return all(isinstance(each, (ir.For, ir.While)) and runs_few_times(each) for each in loops[loops.index(loop) :])


def _waits(loop: ir.For | ir.While) -> bool:
    """Whether each round waits for somebody who types: a graph of one answer costs nothing then."""
    return any(isinstance(each, ir.Call) and identifier(each.function) == "input" for each in ir.walk(loop))


def _is_given_the_same(call: ir.Node, loop: ir.For | ir.While) -> bool:
    """
    Whether all rounds give a model the same variables from before the loop: it is timed, or its weights are changed.
    These are no batches; each graph is gone before much is gained by not making it.
    """
    assert isinstance(call, ir.Call)
    within = [each for argument in call.arguments for each in ir.walk(argument)]
    names = {each.id for each in within if isinstance(each, ir.Name)}
    if not names or "self" in names or any(isinstance(each, ir.Call) for each in within):
        return False
    bound = [target for target, _, _ in assignments([loop])]
    for each in ir.walk(loop):
        match each:
            case ir.Assigned():
                bound.append(each.target)
            case ir.Call(function=ir.Attribute(value=ir.Name() | ir.Attribute() as receiver)):
                bound.append(receiver)
    return names.isdisjoint(dotted(node).partition(".")[0] for target in bound for node in ir.walk(target))


def _is_written_out(loop: ir.Node) -> bool:
    """Whether each of a few rounds is written: `for size in (1, 3)`."""
    return isinstance(loop, ir.For) and isinstance(loop.iterable, ir.Sequence) and runs_few_times(loop)


def _may_share(one: Value, other: Value) -> bool:
    """
    Whether setting the mode of one may set that of the other, or of a part of it: one holds the other, they have a part
    in common, or nobody knows all of their parts. A wrapper holds the model under another name.
    """
    parts = list(explore(one, _parts_in_a_mode))
    others = {id(each) for each in explore(other, _parts_in_a_mode)}
    common = any(id(each) in others for each in parts)
    return common or holds(one, other) or holds(other, one) or any(map(_is_open, (one, other)))


def _is_open(module: Value) -> bool:
    """Whether a module is what code gave that nobody has followed, or holds parts that nobody knows."""
    return any(
        isinstance(each, Unknown) or (isinstance(each, Module) and each.children is None)
        for each in explore(module, _parts_in_a_mode)
    )


def _sensitive(module: Value | None) -> Truth:
    """Whether the mode changes what a module computes."""
    if module is None:
        return Truth.MAYBE
    found = Truth.NO
    for each in explore(module, _parts_in_a_mode):
        found = found | _is_sensitive(each)
    return found


def _is_sensitive(module: Value) -> Truth:
    """Whether the mode changes what a module itself computes, but for what it does by its parts."""
    if isinstance(module, Module):
        name, dropout = module.kind.name, module.config.get("dropout", 0)
        given = dropout.value if isinstance(dropout, Constant) else dropout
        if _SENSITIVE.search(name) or (_WITH_DROPOUT.search(name) and given != 0):
            return Truth.YES
        return Truth.MAYBE if module.children is None else Truth.NO
    if isinstance(module, Instance) and is_module(module) is Truth.YES:
        texts = (written(cls.definition.origin) for cls in module.cls.ancestry())
        return Truth.of(any(_READS_MODE.search(text) for text in texts))
    return Truth.MAYBE


def _parts_in_a_mode(module: Value) -> list[Value]:
    if isinstance(module, Module):
        return list(module.children or ())
    if not isinstance(module, Instance):
        return []
    nested = [each for option in module.attributes.values() for _, each in alternatives(option)]
    return [each for each in nested if isinstance(each, (Instance, Module, Unknown))]
