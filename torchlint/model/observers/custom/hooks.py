"""Sees hooks: deprecated ones, those that write into their argument, and modules whose hooks forbid such writes."""

from __future__ import annotations

import re
from dataclasses import replace

from torchlint.model.events import SavedTensorRead
from torchlint.model.events.custom import BackwardHookRegistered, HookedTensorWritten, HookWritesGradient
from torchlint.model.observers.custom.function_source import Method, text
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Bound, Function, Instance, Module, Partial, Tensor, Unknown, Value, Write
from torchlint.syntax import cst, ir
from torchlint.syntax.features import here, one_of
from torchlint.syntax.for_effect import around, is_fallback
from torchlint.syntax.spelling import writes
from torchlint.syntax.tree import parsed, walk, written

_WRAPPING = frozenset({"register_full_backward_hook", "register_full_backward_pre_hook"})

_ACTIVATIONS = frozenset(
    """
    CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid Mish PReLU ReLU ReLU6 SELU SiLU Sigmoid
    Softplus Softshrink Tanh
    """.split()  # noqa: SIM905
)
"""Layers that are one operation on one tensor."""


class Hooks(Observer):
    """Raises the events of hooks."""

    words = ("hook",)
    concerns = (here("register_hook"), one_of(_WRAPPING | {"register_backward_hook"}))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._hooked: list[tuple[Value, str, Guard]] = []
        self._outputs: dict[int, tuple[Tensor, str]] = {}
        self._inputs: dict[int, tuple[Tensor, str]] = {}
        self._pending: list[HookedTensorWritten] = []

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        node = origin.origin
        if not isinstance(node, cst.Call) or not isinstance(origin.function, ir.Attribute):
            return
        if name == "register_backward_hook" and isinstance(receiver, (Module, Instance, Unknown)):
            if isinstance(receiver, Instance) and any(name in cls.attributes for cls in receiver.cls.ancestry()):
                return
            if isinstance(receiver, Unknown) and receiver.foreign:
                return  # another framework has hooks of that name
            statement = self.machine.statement
            if statement is not None and is_fallback(self.machine.program, statement, "register_full_backward_hook"):
                return
            hook = positional[0] if positional else keywords.get("hook")
            self.machine.emit(
                BackwardHookRegistered(
                    node=node,
                    statement=self.machine.line(),
                    call=node,
                    ignores=_ignores_gradients(hook),
                    alone=self._is_one_operation(receiver, origin.function.value),
                )
            )
        elif name in _WRAPPING and isinstance(receiver, (Module, Instance)):
            self._hooked.append((receiver, written(origin.function.value.origin), self.machine.path))
        elif name == "register_hook" and isinstance(receiver, (Tensor, Unknown)):
            hook = positional[0] if positional else keywords.get("hook")
            self._tensor_hook(hook, node)

    def _is_one_operation(self, receiver: Value, named: ir.Expression) -> bool:
        """Whether a Module is an activation: a layer that is made here, or one that an `isinstance` has found."""
        if isinstance(receiver, Module):
            return receiver.kind.name in _ACTIVATIONS
        statement = self.machine.statement
        asked = re.compile(rf"\bisinstance\(\s*{re.escape(written(named.origin))}\s*,\s*\(?([\w.,\s]+)\)")
        outer = [] if statement is None else around(self.machine.program.body, statement, into_definitions=True)
        for each in outer:
            found = (
                asked.match(written(each.test.origin)) if isinstance(each, ir.If) and statement in each.body else None
            )
            names = [] if found is None else [name for name in re.split(r"[\s,]+", found[1]) if name]
            if names and all(name.rpartition(".")[2] in _ACTIVATIONS for name in names):
                return True
        return False

    # -- hooks of tensors

    def _tensor_hook(self, hook: Value | None, registered: cst.Call) -> None:
        place = 0
        if isinstance(hook, Bound) and hook.function is not None:
            place = 0 if hook.function.kind == "static" else 1
            hook = hook.function
        if not isinstance(hook, Function):
            return
        if not any(writes(each) for each in ir.walk(hook.definition)):
            return
        definition = parsed(hook.definition.origin)
        if isinstance(definition, cst.Lambda):
            names = [each.name.value for each in definition.params.params]
            if len(names) == 1:
                self._writes(list(walk(definition.body)), names[0], [definition.body], registered)
        elif isinstance(definition, cst.FunctionDef):
            method = Method(definition)
            if place < len(method.parameters) and method.parameters[place] not in method.bound:
                returned = [node.value for node in method.nodes if isinstance(node, cst.Return) and node.value]
                self._writes(method.nodes, method.parameters[place], returned, registered)

    def _writes(
        self, nodes: list[cst.CSTNode], name: str, returned: list[cst.BaseExpression], registered: cst.Call
    ) -> None:
        for node in nodes:
            op = ""
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                called = node.func.attr.value
                in_place = called.endswith("_") and not called.endswith("__")
                of_tensor = called not in ("requires_grad_", "detach_", "share_memory_")
                op = called if in_place and of_tensor and text(node.func.value) == name else ""
            elif isinstance(node, cst.AugAssign):
                written = node.target.value if isinstance(node.target, cst.Subscript) else node.target
                op = "augmented assignment" if text(written) == name else ""
            elif isinstance(node, cst.Assign):
                targets = [each.target for each in node.targets if isinstance(each.target, cst.Subscript)]
                op = "[...] =" if any(text(each.value) == name for each in targets) else ""
            if op:
                self.machine.emit(
                    HookWritesGradient(
                        node=node,
                        statement=self.machine.line(),
                        name=name,
                        op=op,
                        returned=any(node is each for each in returned),
                        registered=registered,
                    )
                )

    # -- hooks of modules

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        hooked = next((each for each in self._hooked if each[0] is module), None)
        if hooked is None or not hooked[2] <= self.machine.path or self.machine.grad_mode is not Truth.YES:
            return
        name = hooked[1]
        if isinstance(module, Module) and module.kind.inplace(module.config) is True:
            given = arguments[0] if arguments else None
            if isinstance(given, Tensor) and self._requires_grad(given):
                self._wrote(given, name, module.kind.name, "input", origin)
            return
        for value in arguments:
            if isinstance(value, Tensor):
                self._inputs[id(value.storage)] = (value, name)
        if isinstance(result, Tensor):
            self._outputs[id(result.storage)] = (result, name)

    def wrote(self, tensor: Tensor, write: Write) -> None:
        if self.machine.grad_mode is not Truth.YES:
            return
        if id(tensor.storage) in self._outputs:
            known, module = self._outputs[id(tensor.storage)]
            if tensor.family is known.family and self._requires_grad(known):
                self._wrote(tensor, module, write.op, "output", write.origin)
        elif id(tensor.storage) in self._inputs:
            known, module = self._inputs[id(tensor.storage)]
            if tensor.family is known.family and self._requires_grad(known) and known.is_leaf is Truth.NO:
                # what the module was given is its view of this: refused where a backward looks at what was saved of it
                self._pending.append(self._written(tensor, module, write.op, "input", write.origin))

    def _requires_grad(self, tensor: Tensor) -> bool:
        return tensor.requires_grad.truth() is Truth.YES

    def _wrote(self, tensor: Tensor, module: str, op: str, what: str, origin: ir.Node) -> None:
        self.machine.emit(self._written(tensor, module, op, what, origin))

    def _written(self, tensor: Tensor, module: str, op: str, what: str, origin: ir.Node) -> HookedTensorWritten:
        return self.machine.with_truth(
            HookedTensorWritten(
                node=origin.origin,
                statement=self.machine.line(),
                conditions=self.machine.callers.conditions(self.machine, origin),
                module=module,
                name=tensor.name,
                op=op,
                what="output" if what == "output" else "input",
            )
        )

    def concluded(self) -> None:
        read = [each for each in self.machine.events if isinstance(each, SavedTensorRead)] if self._pending else []
        for event in self._pending:
            found = next((each for each in read if each.node is event.node), None)
            if found is not None:
                conditions = (*event.conditions, *(each for each in found.conditions if each not in event.conditions))
                truth = event.truth if found.truth is Truth.YES else found.truth
                trace = (*event.trace, found.backward)  # without it nothing is refused
                self.machine.emit(replace(event, conditions=conditions, truth=truth, trace=trace))
        self._pending = []
        self._hooked = []
        self._outputs, self._inputs = {}, {}


def _ignores_gradients(hook: Value | None) -> bool:
    """
    Whether a module's backward hook reads no gradient of the inputs, which are the wrong ones, and returns none.

    Those of the outputs are the module's: the last operation gives them.
    """
    bound_names: set[str] = set()
    if isinstance(hook, Partial) and not hook.given:
        bound_names = set(hook.named)
        hook = hook.function
    bound = isinstance(hook, Bound) and hook.function is not None and hook.function.kind != "static"
    function = hook.function if isinstance(hook, Bound) else hook
    if not isinstance(function, Function):
        return False
    definition = function.definition
    parameters = [each for each in definition.parameters[1 if bound else 0 :] if each.name not in bound_names]
    given = [each.name for each in parameters]
    whole = len(given) == 1 and parameters[0].kind == "*"
    if len(given) != 3 and not whole:
        return False
    read = {each.id for each in ir.walk(definition.body) if isinstance(each, ir.Name)}
    gives = isinstance(definition, ir.Lambda) or any(
        isinstance(each, ir.Return) and each.value is not None for each in ir.walk(definition.body)
    )
    if whole:
        return given[0] not in read
    return given[1] not in read and not (gives and given[2] in read)
