"""
What happens around `forward`: what it builds anew on every call, which plain tensors of its Module it computes with,
who calls it by name.

Calling a module runs its hooks around `forward` (`Module._call_impl` in torch/nn/modules/module.py); `.to(device)`
moves parameters and buffers and nothing else (`Module._apply`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from torchlint.knowledge.modules import find as modules
from torchlint.knowledge.names import PARAMETER
from torchlint.model.events.registration import BuiltInForward, ForwardCalled, TensorAttributeUsed
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import expression
from torchlint.model.python.attributes import is_module
from torchlint.model.state.alternatives import emit_each
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Choice,
    Class,
    Constant,
    Function,
    Instance,
    Module,
    Sequence,
    Tensor,
    Value,
    alternatives,
    reachable_tensors,
    within,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import FORWARDS, FORWARDS_HELD, Concern, anywhere, here
from torchlint.syntax.spelling import dotted, last_word
from torchlint.syntax.tree import statements_at, written

_MOVES = frozenset({"to", "type", "type_as", "cuda", "cpu", "new_tensor", "tolist", "item", "numpy"})
_PLACED = re.compile(r"\bdevice\b|\.cuda\(|\.to\(")
_HOOKED = r"\b{0}\.register_\w*hook\b|\b(?:\w+_norm|\w*DataParallel|fully_shard|FSDP)\((?:\w+\.)*{0}\b"
"""How a text gives a hook to what has a name: by itself, or by what works by one."""
_DEVICES = re.compile(r"\bdevice\b|\.cuda\(|\.(?:half|double)\(\)|\blightning\b|\b[Aa]ccelerat|\bTrainer\(")
_MOVES_ITSELF = re.compile(r"def (_apply|to|cuda|cpu)\b")


def _is_hooked(name: str, text: str) -> bool:
    found = (each.start() for each in re.finditer(_HOOKED.format(re.escape(name)), text))
    return any("#" not in text[text.rfind("\n", 0, at) + 1 : at] for at in found)  # in a comment nothing is done


@dataclass(slots=True, eq=False)
class _Running:
    """A running function of the file."""

    function: Function
    instance: Instance | None
    path: Guard
    assumed: Guard
    given: list[Tensor]


@dataclass(slots=True, eq=False)
class _Plain:
    """A plain tensor that a Module's `__init__` has assigned."""

    cls: Class
    attribute: str
    owner: str
    tensor: Tensor
    line: cst.CSTNode
    value: cst.BaseExpression
    used: Step | None = None
    moved: bool = False
    derived: list[Tensor] = field(default_factory=list)
    """What `forward` has made of it alone: parts, other shapes, comparisons."""

    def is_of(self, tensor: Tensor) -> bool:
        return tensor is self.tensor or any(tensor is each for each in self.derived)


class Forwarding(Observer):
    """`forward` of the file's Modules."""

    concerns = (
        anywhere(FORWARDS),
        here(FORWARDS_HELD),
        Concern(here=(modules.trainable_names() | {"Parameter"},), in_constructors=False),
    )

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._stack: list[_Running] = []
        self._plain: dict[int, dict[str, _Plain]] = {}
        self._buffers: dict[int, set[str]] = {}
        """What `register_buffer` has made of names: an assignment to one replaces the buffer."""
        self._kept: list[object] = []
        self._hooked: set[int] = set()
        """The Modules that were given a hook, under whatever name."""

    def concerned_with(self, instance: Instance) -> bool:
        return bool(self._plain.get(id(instance)))

    def concluded(self) -> None:
        self._stack.clear()
        for known in self._plain.values():
            for each in known.values():
                each.derived.clear()

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        parameters = function.definition.parameters
        first = arguments.get(parameters[0].name) if parameters else None
        instance = first if isinstance(first, Instance) and function.owner is not None else None
        given = [tensor for value in arguments.values() for tensor in reachable_tensors(value)]
        self._stack.append(_Running(function, instance, self.machine.path, self.machine.assumed, given))

    def function_ended(self, function: Function, result: Value) -> None:
        if self._stack:
            self._stack.pop()

    # -- built on every call

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        machine = self.machine
        if not self._stack or not qualified.startswith("torch.nn.") or result is None:
            return
        running = self._stack[-1]
        if (
            running.function.name != "forward"
            or running.instance is None
            or is_module(running.instance) is not Truth.YES
        ):
            return
        if machine.path != running.path or machine.assumed != running.assumed or machine.grad_mode is Truth.NO:
            return
        built = qualified.rpartition(".")[2]
        if qualified in PARAMETER:
            trains = isinstance(result, Tensor) and result.own.truth() is Truth.YES
        else:
            trains = isinstance(result, Module) and any(
                isinstance(each, Tensor) and each.is_parameter is Truth.YES for each in result.parameters.values()
            )
        definition = running.function.definition
        if trains and not (
            _conditional(definition, origin)
            or _is_given_its_parameters(definition, origin)
            or _steps(definition)
            or _is_made_of_itself(definition, origin)
            or (qualified in PARAMETER and _is_for_its_gradient(machine.program, definition, origin))
        ):
            machine.emit(
                BuiltInForward(
                    node=origin.origin,
                    statement=machine.line(),
                    what=built,
                    module=running.function.owner.name if running.function.owner is not None else "",
                )
            )

    # -- called by name

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name in _MOVES and isinstance(receiver, Tensor):
            self._moved(receiver)
        if name == "register_buffer" and isinstance(receiver, Instance):
            given = keywords.get("name", positional[0] if positional else None)
            self._kept.append(receiver)
            self._buffers.setdefault(id(receiver), set()).add(
                given.value if isinstance(given, Constant) and isinstance(given.value, str) else ""
            )
        if name.startswith("register_") and name.endswith("hook") and isinstance(receiver, (Instance, Module)):
            self._kept.append(receiver)
            self._hooked.add(id(receiver))
        if name != "forward" or not isinstance(origin.origin, cst.Call):
            return
        if isinstance(receiver, Instance):
            known = is_module(receiver) is Truth.YES and "__call__" not in receiver.attributes
            known = known and not any("__call__" in cls.attributes for cls in receiver.cls.ancestry())
        else:
            known = isinstance(receiver, Module)
        if not known or not isinstance(origin.function, ir.Attribute):
            return
        callee = expression(origin.function.value)
        assert callee is not None
        running = self._stack[-1] if self._stack else None
        if running is not None and running.function.name in ("forward", "__call__") and running.instance is receiver:
            return
        emit_each(
            self.machine,
            ForwardCalled(
                node=origin.origin,
                statement=self.machine.line(),
                call=origin.origin,
                receiver=callee,
                hooked=id(receiver) in self._hooked
                or _is_hooked(last_word(origin.function.value), self.machine.program.text),
            ),
        )

    # -- plain tensors

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        if not isinstance(owner, Instance) or is_module(owner) is not Truth.YES:
            return
        if not self._buffers.get(id(owner), set()).isdisjoint({name, ""}):
            return
        known = self._plain.setdefault(id(owner), {})
        self._kept.append(owner)
        inside = self._stack and self._stack[-1].function.name == "__init__" and self._stack[-1].instance is owner
        before = known.pop(name, None)
        if before is not None and not inside:
            before.moved = True
            known[name] = before
        if not inside or not isinstance(value, Tensor) or not _is_constant(value):
            return
        line = self.machine.line()
        assigned = _value_of(self.machine, node)
        place = expression(assigned) if assigned is not None else None
        if place is not None:
            plain = _Plain(owner.cls, name, dotted(node).rpartition(".")[0], value, line, place)
            given = isinstance(assigned, ir.Name) and assigned.id in self._parameters()
            given = given or _is_made_of(value, self._stack[-1].given)
            plain.moved = given or bool(_PLACED.search(written(place)))
            known[name] = plain

    def _parameters(self) -> set[str]:
        return {parameter.name for parameter in self._stack[-1].function.definition.parameters}

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        running = next((each for each in self._stack if each.function.name == "forward" and each.instance), None)
        if running is None or running.instance is None:
            return
        plain = self._plain.get(id(running.instance))
        if not plain:
            return
        tensors = [tensor for value in bound.values() for tensor in reachable_tensors(value)]
        given = [tensor for value in bound.values() for tensor in _given(value)]
        for each in plain.values():
            own = [tensor for tensor in given if each.is_of(tensor)]
            if not own or each.moved:
                continue
            if spelling.rpartition(".")[2] in _MOVES:
                each.moved = True
                continue
            if len(own) == len(tensors):
                each.derived += [result] if isinstance(result, Tensor) else []
                continue
            shaped = any(tensor is each.tensor or tensor.shape for tensor in own)  # scalars work on every device
            beside = _beside(bound, each)
            meets = not spelling.startswith("getitem") and any(self._other(tensor, plain) for tensor in beside)
            if each.used is None and meets and shaped:
                words = f"`forward` computes with `{each.owner}.{each.attribute}` here"
                each.used = Step(_mentioned(origin, f"{each.owner}.{each.attribute}").origin, words)

    def indexed(self, tensor: Tensor, result: Value, origin: ir.Node) -> None:
        for known in self._plain.values():
            for each in known.values():
                if each.is_of(tensor) and isinstance(result, Tensor):
                    each.derived.append(result)

    def _other(self, tensor: Tensor, plain: dict[str, _Plain]) -> bool:
        """Whether a tensor is one that would be on another device: a parameter, or what `forward` was given."""
        if any(each.is_of(tensor) for each in plain.values()):
            return False
        return tensor.is_parameter is Truth.YES or bool(tensor.own.inputs) or tensor.requires_grad.truth() is Truth.YES

    def _moved(self, tensor: Tensor) -> None:
        for known in self._plain.values():
            for each in known.values():
                each.moved = each.moved or each.is_of(tensor)

    def finished(self) -> None:
        told: set[int] = set()
        moved = {id(each.value) for known in self._plain.values() for each in known.values() if each.moved}
        for known in self._plain.values():
            for each in known.values():
                if each.used is None or id(each.value) in moved or id(each.value) in told or _moves_itself(each.cls):
                    continue
                if _is_moved_elsewhere(self.machine, each.attribute) or _holds_nothing(each.tensor):
                    continue
                told.add(id(each.value))
                self.machine.emit(
                    TensorAttributeUsed(
                        node=each.value,
                        statement=each.line,
                        trace=(each.used,),
                        attribute=each.attribute,
                        module=each.cls.name,
                        owner=each.owner,
                        value_node=each.value,
                        used=each.used,
                        moves=_names_devices(self.machine),
                    )
                )


def _holds_nothing(tensor: Tensor) -> bool:
    """Whether it has no elements, and only keeps the place of one: `torch.tensor([])`."""
    return tensor.shape is not None and 0 in tensor.shape


def _given(value: Value) -> list[Tensor]:
    """The tensors that an operand is, or holds in a list; not what something unknown may be made of."""
    options = [each for _, each in alternatives(value)]
    inner = [part for each in options if isinstance(each, Sequence) for part in each.items or ()]
    options += [each for part in inner for _, each in alternatives(part)]
    return [each for each in options if isinstance(each, Tensor)]


def _beside(bound: dict[str, Value], plain: _Plain) -> list[Tensor]:
    """The tensors that a plain one meets in an operation: of one operand that is either, only one is there."""
    operands = [reachable_tensors(value) for value in bound.values() if isinstance(value, Choice)]
    either = [tensor for operand in operands if any(map(plain.is_of, operand)) for tensor in operand]
    tensors = [tensor for value in bound.values() for tensor in reachable_tensors(value)]
    return [tensor for tensor in tensors if not any(tensor is each for each in either)]


def _mentioned(origin: ir.Node, attribute: str) -> ir.Node:
    """Where an attribute is named in an operation, which may go over several lines; else the operation."""
    return next(
        (each for each in ir.walk(origin) if isinstance(each, ir.Attribute) and dotted(each) == attribute), origin
    )


def _conditional(definition: ir.Node, call: ir.Call) -> bool:
    """Whether a call stands under an `if`, or behind one that returns: what is built there may be built but once."""
    assert isinstance(definition, ir.FunctionDef)
    for statement in definition.body:
        if any(node is call for node in ir.walk(statement)):
            return _under_if(statement, call)
        if isinstance(statement, ir.If) and any(isinstance(node, ir.Return) for node in ir.walk(statement)):
            return True
    return True


def _under_if(statement: ir.Statement, call: ir.Call) -> bool:
    branches = (node for node in ir.walk(statement) if isinstance(node, (ir.If, ir.Conditional, ir.Boolean, ir.Try)))
    return any(node is call for branch in branches for node in ir.walk(branch))


def _steps(definition: ir.Node) -> bool:
    """Whether a function makes a step of an optimizer itself: what it builds may be trained before it returns."""
    calls = (node for node in ir.walk(definition) if isinstance(node, ir.Call))
    return any(isinstance(each.function, ir.Attribute) and each.function.attr == "step" for each in calls)


def _is_made_of_itself(definition: ir.Node, call: ir.Call) -> bool:
    """Whether what is built takes the place of what it is computed from, a step by hand: `w = Parameter(w + step)`."""
    places = {
        dotted(target)
        for each in ir.walk(definition)
        if isinstance(each, ir.Assign) and each.value is call
        for target in each.targets
        if isinstance(target, ir.Attribute)
    }
    return any(dotted(each) in places for each in ir.walk(call) if isinstance(each, ir.Attribute) and places)


def _is_for_its_gradient(program: ir.Program, definition: ir.Node, call: ir.Call) -> bool:
    """Whether the gradient of a parameter is read, for which alone it may be there: a perturbation, a saliency map."""
    assigned = [each for each in ir.walk(definition) if isinstance(each, ir.Assign)]
    targets = [target for each in assigned if each.value is call for target in each.targets]
    # the same under another name: `self.saved = p`
    names = {dotted(target) for target in targets} - {""}
    targets += [target for each in assigned if dotted(each.value) in names for target in each.targets]
    local = {target.id for target in targets if isinstance(target, ir.Name)}
    kept = {target.attr for target in targets if isinstance(target, ir.Attribute)}

    def is_asked(value: ir.Node) -> bool:
        return (isinstance(value, ir.Name) and value.id in local) or (
            isinstance(value, ir.Attribute) and value.attr in kept
        )

    def asks(node: ir.Node) -> bool:
        if isinstance(node, ir.Attribute):
            return node.attr == "grad" and is_asked(node.value)
        if not isinstance(node, ir.Call) or last_word(node.function) != "grad":
            return False
        return any(is_asked(each) for argument in node.arguments for each in ir.walk(argument.value))

    return any(asks(node) for node in ir.walk(definition if not kept else program.body))


def _is_given_its_parameters(definition: ir.Node, call: ir.Call) -> bool:
    """Whether a layer is made for what it computes alone: `layer.weight = w`, `functional_call(layer, weights, x)`."""
    assigned = (each for each in ir.walk(definition) if isinstance(each, ir.Assign) and each.value is call)
    names = {target.id for each in assigned for target in each.targets if isinstance(target, ir.Name)}
    for node in ir.walk(definition) if names else ():
        if isinstance(node, ir.Call):
            owner, _, name = dotted(node.function).rpartition(".")
            given = dotted(node.arguments[0].value) if node.arguments else ""
            if (name == "functional_call" and given in names) or (name == "load_state_dict" and owner in names):
                return True
        for target in node.targets if isinstance(node, ir.Assign) else ():
            place = target.value if isinstance(target, ir.Subscript) else target
            if isinstance(place, ir.Attribute) and dotted(place).partition(".")[0] in names:
                return True
    return False


def _is_constant(tensor: Tensor) -> bool:
    """
    A tensor that surely requires no grad, is no parameter, and is known to be no scalar: these work on every device.
    """
    if tensor.is_parameter is not Truth.NO or tensor.requires_grad.truth() is not Truth.NO:
        return False
    return tensor.shape is not None and tensor.shape != ()


def _is_made_of(tensor: Tensor, given: list[Tensor], depth: int = 8) -> bool:
    """Whether a tensor is computed from one that came from outside, and is where that one is."""
    return any(
        isinstance(source, Tensor) and (source.made_by == "" or any(source is each for each in given))
        for source in within(tensor, _sources, depth)
    )


def _sources(value: Value) -> list[Value]:
    if not isinstance(value, Tensor):
        return []
    return [*value.inputs, *([value.alias.source] if value.alias is not None else [])]


def _moves_itself(cls: Class) -> bool:
    return any(_MOVES_ITSELF.search(written(each.definition.origin)) for each in cls.ancestry())


def _is_moved_elsewhere(machine: Machine, attribute: str) -> bool:
    """Whether another file moves such an attribute: `m.stride = fn(m.stride)`, in the `_apply` of what holds it."""
    moves = re.compile(rf"\.{attribute}\s*=\s*(?:\w+\([^()\n]*\.{attribute}\)|[^\n]*\.{attribute}\.(?:to|cuda|cpu)\()")
    return any(moves.search(text) for _, text in machine.mentioning(f".{attribute} ="))


def _names_devices(machine: Machine) -> bool:
    """
    Whether a project may move or convert its Modules: it names a device somewhere, or leaves it to a trainer. A file
    alone may be used by any program.
    """
    others = [text for _, text in machine.mentioning("torch")]
    return not others or any(_DEVICES.search(text) for text in (machine.program.text, *others))


def _value_of(machine: Machine, target: ir.Node) -> ir.Expression | None:
    """The right-hand side of the running statement, if it assigns to this target alone, and is alone in its line."""
    statement = machine.statement
    if machine.foreign_call is not None or not isinstance(statement, ir.Assign) or statement.annotation is not None:
        return None
    if len(statement.targets) != 1 or statement.targets[0] is not target or len(statements_at(statement.line)) != 1:
        return None
    return statement.value
