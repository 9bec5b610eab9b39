"""
Keeps the log of backward, `step`, `zero_grad`, clipping, unscaling and scheduling, and has it read when an entry
point is over.

The log runs through helpers and methods; code that the model doesn't follow is a moment of its own.
"""

from __future__ import annotations

import re
from typing import cast

from torchlint.model.events import BackwardCallee
from torchlint.model.events.training import CalledOutOfOrder, GradientsCarried
from torchlint.model.observers.moments import (
    Iteration,
    Kind,
    Log,
    Moment,
    called_scaler,
    called_scheduler,
    is_optimizer,
    last_name,
    receiver_of,
    scaled_by,
)
from torchlint.model.observers.training import order
from torchlint.model.state.computations import constant
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Constant,
    External,
    Function,
    GraphNode,
    Instance,
    Module,
    Optimizer,
    Tensor,
    Unknown,
    Value,
    Write,
)
from torchlint.syntax import ir
from torchlint.syntax.features import DIFFERENTIATING
from torchlint.syntax.spelling import dotted

_CLIPPING = frozenset({"torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"})
_LARGEST_LIMIT = 1e4
"""Whoever clips to more measures, or guards against what overflows."""
_SCALERS = frozenset({"torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler"})
_SCHEDULERS = "torch.optim.lr_scheduler."
_OWN_SCHEDULER = re.compile(
    r"^[ \t]*class \w*(?:sched|annealing|warm_?up)\w*[ \t]*(?:\([ \t]*(?:object|ABC|abc\.ABC)?[ \t]*\))?[ \t]*:"
    r"(?:\n(?![^ \t\n#])[^\n]*)*?\n[ \t]+def step\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A class that derives from none of torch's and has a `step`; what stands between is indented."""
_HARMLESS = ("torch.", "builtins.", "numpy.", "tqdm", "logging.", "time.", "os.", "math.", "random.", "wandb.")
_HOOKS = frozenset(
    {"register_step_post_hook", "register_step_pre_hook", "register_post_accumulate_grad_hook", "register_hook"}
)
_SEEN_OTHERWISE = frozenset({"step", "zero_grad", "train", "eval", "parameters", "named_parameters"})


class Training(Observer):
    """The log of an entry point."""

    words = ("backward", ".step", "zero_grad", "clip_grad", "unscale_")
    concerns = (DIFFERENTIATING,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._kept: list[object] = []
        self._assigned: set[tuple[int, str]] = set()
        self._sources: dict[int, str] = {}
        self._carried: dict[int, GradientsCarried] = {}
        self._scalers: list[Value] = []
        self._schedulers: list[tuple[Value, Value]] = []
        self._hooked = False
        self._start()

    def _start(self) -> None:
        self._log = Log()
        self._log.sources = self._sources
        self._log.schedulers = self._schedulers
        self._iterations: list[Iteration] = []
        self._activations: list[int] = []
        self._activation = 0
        self._functions: list[ir.Node] = []

    def concluded(self) -> None:
        # What runs with each step or gradient may step and zero.
        for event in order.read(self._log, self.machine.decision) if not self._hooked else ():
            if isinstance(event, GradientsCarried):
                known = self._carried.get(id(event.node))
                if known is None or known.zeroed == "never":
                    self._carried[id(event.node)] = event
            elif not (isinstance(event, CalledOutOfOrder) and event.named and self._has_schedulers_of_its_own()):
                self.machine.emit(event)
        self._start()

    def _has_schedulers_of_its_own(self) -> bool:
        """Whether the project has schedulers that are none of torch's: one that nobody knows may be of those."""
        texts = (self.machine.program.text, *(text for _, text in self.machine.mentioning("def step")))
        return any(_OWN_SCHEDULER.search(text) for text in texts)

    def finished(self) -> None:
        # A helper by itself doesn't see that its caller zeroes: one caller in sight that does is enough.
        for event in self._carried.values():
            self.machine.emit(event)

    def _note(
        self,
        kind: Kind,
        owner: Value | None,
        origin: ir.Node,
        name: str = "",
        *,
        leaves: tuple[Tensor, ...] = (),
        opaque: bool = True,
        via: str = "",
        reach: tuple[Value, ...] = (),
    ) -> None:
        machine = self.machine
        moment = Moment(
            kind, len(self._log.moments), owner, name, origin, machine.line(), machine.path, machine.assumed,
            tuple(self._iterations), self._functions[-1] if self._functions else None, leaves, opaque, via, reach,
        )  # fmt: skip
        self._log.moments.append(moment)

    # -- where we are

    def loop_started(self, node: ir.For | ir.While) -> None:
        self._activation += 1
        self._activations.append(self._activation)

    def loop_left(self, node: ir.For | ir.While) -> None:
        if self._activations:
            self._activations.pop()

    def iteration_started(self, node: ir.For | ir.While, number: int) -> None:
        activation = self._activations[-1] if self._activations else 0
        self._iterations.append(Iteration(node, activation, number, self.machine.path))

    def iteration_ended(self, node: ir.For | ir.While, number: int) -> None:
        if self._iterations:
            self._iterations.pop()

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._functions.append(function.definition)

    def function_ended(self, function: Function, result: Value) -> None:
        if self._functions:
            self._functions.pop()

    # -- what happens

    def optimizer_built(self, optimizer: Optimizer, parameters: Value | None, origin: ir.Call) -> None:
        self._sources[id(optimizer)] = getattr(parameters, "parameters_of", "")
        self._kept.append(optimizer)

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        self._kept.append(owner)
        self._assigned.add((id(owner), name))
        if name == "grad":
            self._note("written", owner, node)

    def wrote(self, tensor: Tensor, write: Write) -> None:
        if tensor.grad_of is not None and write.spelling not in ("optimizer", "backward"):
            self._note("written", tensor.grad_of, write.origin)

    def attribute_read(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        if name == "grad":
            self._note("read", owner, origin)

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
        if callee == "autograd.grad":
            return
        opaque = not nodes or any(node.opaque for node in nodes)
        self._note(
            "backward", root, origin, receiver_of(origin), leaves=tuple(leaves), opaque=opaque, via=scaled_by(origin)
        )

    def stepped(self, optimizer: Value, origin: ir.Call) -> None:
        name = receiver_of(origin)
        if not origin.arguments and is_optimizer(optimizer, name):
            self._note("step", optimizer, origin, name)

    def zeroed(self, owner: Value, origin: ir.Node) -> None:
        self._note("zero", owner, origin, receiver_of(origin))

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        text = receiver_of(origin)
        if isinstance(receiver, Instance) and not self._defines(receiver, name):
            self._note("unknown", receiver, origin, name, reach=(receiver, *positional))
        unseen = not isinstance(receiver, (Optimizer, Module, Instance, Unknown))
        if name == "zero_grad" and (unseen or (isinstance(receiver, Unknown) and receiver.tensor is not None)):
            self._note("zero", receiver, origin, text)
        if name in _HOOKS:
            self._hooked = True
        if name == "apply" and isinstance(receiver, (Module, Instance)):
            self._note("written", receiver, origin)  # what it runs on each module may zero it
        if name == "step":
            self._step_method(receiver, positional, origin, text)
        elif name == "unscale_":
            self._note("unscale", receiver, origin, text)
        elif name.endswith("_") and f".{text}.".endswith((".grad.", ".grad.data.")):
            self._note("written", receiver, origin)
        elif name in ("parameters", "named_parameters"):
            self._log.models.append(receiver)

    def _step_method(self, receiver: Value, positional: list[Value], origin: ir.Call, text: str) -> None:
        if positional:
            argument = dotted(origin.arguments[0].value) if origin.arguments else ""
            if self._is_scaler(receiver, text) and is_optimizer(positional[0], argument):
                self._note("step", positional[0], origin, argument, via=text)
            elif is_optimizer(receiver, text):
                self._note("unknown", receiver, origin)
        elif not origin.arguments and self._is_scheduler(receiver, text):
            self._note("schedule", receiver, origin, text)
        elif origin.arguments and is_optimizer(receiver, text):
            self._note("unknown", receiver, origin)

    def _defines(self, instance: Instance, name: str) -> bool:
        inherited = any(name in cls.attributes for cls in instance.cls.ancestry())
        return inherited or (id(instance), name) in self._assigned or name in _SEEN_OTHERWISE

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified == "builtins.setattr" and len(positional) == 3 and positional[1] == Constant("grad"):
            self._note("written", positional[0], origin)
        if qualified in _CLIPPING:
            self._note("clip", positional[0] if positional else None, origin, qualified.rpartition(".")[2])
            limit = constant(keywords.get("max_norm", positional[1] if len(positional) > 1 else None))
            if type(limit) in (int, float) and cast(float, limit) <= _LARGEST_LIMIT:
                self._log.limiting.add(id(origin))
        elif qualified in _SCALERS and result is not None:
            self._scalers.append(result)
        elif qualified.startswith(_SCHEDULERS) and result is not None:
            optimizer = positional[0] if positional else keywords.get("optimizer")
            if optimizer is not None:
                self._schedulers.append((result, optimizer))
        elif qualified.startswith("torch._foreach_") and qualified.endswith("_"):
            self._note("written", None, origin)  # it may be given gradients

    def expression_statement(self, node: ir.ExpressionStatement, value: Value) -> None:
        self._log.dropped.add(id(node.value))

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        self._log.models.append(module)

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        text = dotted(origin.function)
        if isinstance(callee, External) and callee.qualified.startswith(_HARMLESS):
            return
        if receiver is None and isinstance(callee, Unknown):
            self._log.models.append(callee)
        name = last_name(text)
        scales = receiver is not None and self._is_scaler(receiver, receiver_of(origin))
        if scales or (name in _SEEN_OTHERWISE and not arguments):
            return
        if "backward" in name:
            self._note("backward", None, origin, text)
        reach = (*arguments, *([receiver] if receiver is not None else []))
        self._note("unknown", receiver, origin, text, reach=reach)

    # -- who is who

    def _is_scaler(self, value: Value, text: str) -> bool:
        return any(value is each for each in self._scalers) or (isinstance(value, Unknown) and called_scaler(text))

    def _is_scheduler(self, value: Value, text: str) -> bool:
        known = any(value is each for each, _ in self._schedulers)
        return known or (isinstance(value, Unknown) and called_scheduler(text))
