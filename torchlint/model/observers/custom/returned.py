"""
Sees how many gradients the `backward` of a custom Function returns, and how many values its `forward` is given.

Torch matches the two by position when a backward runs (`torch/csrc/autograd/python_function.cpp`, `PyNode::apply`).
Reads the method as it is written where the run leaves open what is returned. Does not judge.
"""

from __future__ import annotations

from dataclasses import replace

from torchlint.model.events.custom import GradientsReturned
from torchlint.model.events.trace import Step
from torchlint.model.observers.custom.custom import KEEPING, backward_of, methods_may_be_set
from torchlint.model.observers.custom.function_source import Method, is_nothing, names
from torchlint.model.python.custom_functions import keeps_contract, only_of_functions
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.tensors import GRAD_MAYBE, GRAD_NO
from torchlint.model.state.values import (
    NONE,
    Class,
    Constant,
    External,
    Function,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    is_value_of_elsewhere,
    reachable_tensors,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import CUSTOM, anywhere
from torchlint.syntax.tree import parsed


class Returned(Observer):
    """Raises `GradientsReturned`."""

    words = ("Function",)
    concerns = (anywhere(CUSTOM),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._running: list[Function] = []
        self._open: list[tuple[int, GradientsReturned]] = []
        """What is returned where `forward` takes more or fewer inputs: by the definition of the class."""
        self._applied: list[tuple[int, int, cst.CSTNode]] = []
        """How many values a Function was given, by the definition of the class, and where."""

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._running.append(function)

    def function_ended(self, function: Function, result: Value) -> None:
        if self._running:
            self._running.pop()
        owner = function.owner
        backward = backward_of(function)
        if owner is None or backward is None or not _falls_through(backward):
            return
        self._gives(owner, backward, (1, 1), backward.definition.name, backward.definition, nothing=True)

    def returned(self, value: Value, node: cst.CSTNode) -> None:
        function = self._running[-1] if self._running else None
        backward = backward_of(function) if function is not None else None
        if function is None or function.owner is None or backward is None or not isinstance(node, cst.Return):
            return
        written = parsed(node).value
        counted = _count(value, written, backward)
        if counted is not None and _returns_something(backward):
            self._gives(function.owner, backward, counted, written or node, self.machine.line(), nothing=False)

    def _gives(
        self,
        owner: Class,
        backward: Method,
        counted: tuple[int, int],
        node: cst.CSTNode,
        statement: cst.CSTNode,
        *,
        nothing: bool,
    ) -> None:
        definitions = [
            each.definition.origin
            for each in (owner.attributes.get("forward"), owner.inherited("setup_context"))
            if isinstance(each, Function)
        ]
        if not only_of_functions(owner) or not definitions or not isinstance(definitions[0], cst.FunctionDef):
            return
        forward = Method(definitions[0])
        known = set(forward.decorators) | set(backward.decorators) <= KEEPING
        if "classmethod" in forward.decorators or not known or methods_may_be_set(self.machine):
            return
        most = len(forward.parameters) - (1 if len(definitions) == 1 else 0)
        event = GradientsReturned(
            node=node,
            statement=statement,
            cls=owner.name,
            count=counted[0],
            surplus_none=counted[1],
            least=most - forward.defaults,
            most=most,
            nothing=nothing,
        )
        if forward.open or (forward.defaults and event.fits):
            if self.machine.is_certain():
                self._open.append((id(owner.definition), event))
        else:
            self.machine.emit(event)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name != "apply" or not isinstance(receiver, Class) or not keeps_contract(receiver) or keywords:
            return
        if any(argument.star for argument in origin.arguments) or self.machine.foreign_call is not None:
            return
        if self.machine.grad_mode is not Truth.YES or not _differentiated(positional):
            return
        if self.machine.is_certain() and not self.machine.expected_errors:
            self._applied.append((id(receiver.definition), len(positional), origin.origin))

    def concluded(self) -> None:
        self._running.clear()

    def finished(self) -> None:
        """What a Function is given is known when everything has run."""
        for definition, event in self._open:
            for applied, given, call in self._applied:
                wrong = replace(event, least=given, most=given, applied=call)
                if applied == definition and not wrong.fits:
                    step = Step(call, f"`apply` is given {given} {'value' if given == 1 else 'values'} here")
                    self.machine.emit(replace(wrong, trace=(step,)))
                    break
        self._open.clear()
        self._applied.clear()


def _differentiated(arguments: list[Value]) -> bool:
    """
    Whether one of the values requires grad, under a condition or not, so that a backward may come by. Of a tensor of
    which nothing says so (`torch.rand(3, **options)`) it is not known; nor of what is unknown beside a tensor that
    requires none.
    """
    tensors = [tensor for value in arguments for tensor in reachable_tensors(value)]
    unknown = not tensors and any(isinstance(value, Unknown) for value in arguments)
    return unknown or any(tensor.requires_grad not in (GRAD_NO, GRAD_MAYBE) for tensor in tensors)


def _returns_something(backward: Method) -> bool:
    """
    Whether one `return` of a method gives more than `None`. A Function without a derivative (its results are indices,
    or marked) often has a `backward` that returns nothing, and that never runs.
    """
    returns = [node.value for node in backward.nodes if isinstance(node, cst.Return)]
    return any(value is not None and not is_nothing(value) for value in returns)


def _falls_through(backward: Method) -> bool:
    """Whether a `backward` computes something of the gradients it is given, and returns nothing at all."""
    incoming = set(backward.parameters[1:])
    for node in backward.nodes:
        if isinstance(node, (cst.Raise, cst.Yield)) or (isinstance(node, cst.Return) and node.value is not None):
            return False
    return any(
        (
            isinstance(node, cst.Assign)
            and isinstance(node.value, (cst.BinaryOperation, cst.UnaryOperation, cst.Call))
            and isinstance(node.targets[0].target, (cst.Name, cst.Tuple))
            and bool(names(node.value) & incoming)
        )
        or (
            isinstance(node, cst.Expr)
            and isinstance(node.value, (cst.BinaryOperation, cst.Tuple))
            and bool(names(node.value) & incoming)
        )
        for node in backward.nodes
    )


def _count(value: Value, node: cst.BaseExpression | None, backward: Method) -> tuple[int, int] | None:
    """How many values a `return` gives, and how many of the last ones are None; None if that isn't known."""
    if isinstance(node, cst.Tuple) and not any(isinstance(each, cst.StarredElement) for each in node.elements):
        held = value.items if isinstance(value, Sequence) and value.items is not None else ()
        values = held if len(held) == len(node.elements) else (Unknown(),) * len(node.elements)
        given = zip(node.elements, values, strict=True)
        return len(values), _trailing([_may_be_none(each, written.value, backward) for written, each in given])
    if isinstance(value, Sequence) and value.kind == "tuple" and value.items is not None:
        return len(value.items), _trailing([_may_be_none(each, None, backward) for each in value.items])
    if isinstance(value, Tensor) or value == Constant(None):
        return 1, int(value == Constant(None))
    if node is not None and isinstance(value, Unknown) and backward.is_one_tensor(node):
        return 1, 0
    return None


def _may_be_none(value: Value, node: cst.BaseExpression | None, backward: Method) -> bool:
    """Whether a returned value is None, or may be: what a `backward` is given, and what it computes of it, is not."""
    for _, each in alternatives(value):
        unknown = isinstance(each, Unknown) and each.tensor is None
        unknown = unknown or (isinstance(each, External) and is_value_of_elsewhere(each))
        if each == NONE or (unknown and not (node is not None and _is_written_as_one(node, backward))):
            return True
    return False


def _is_written_as_one(node: cst.BaseExpression, backward: Method) -> bool:
    named = isinstance(node, cst.Name) and node.value in backward.parameters
    return named or isinstance(node, (cst.BinaryOperation, cst.UnaryOperation)) or backward.is_one_tensor(node)


def _trailing(nothing: list[bool]) -> int:
    count = 0
    for each in reversed(nothing):
        if not each:
            break
        count += 1
    return count
