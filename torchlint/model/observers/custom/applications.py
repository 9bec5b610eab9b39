"""
Sees what becomes of the calls of a custom Function: outputs whose gradient its `backward` leaves out, and gradients
of another shape than the input's.

Torch hands `backward` one gradient for each output, of the output's shape, and wants one for each input, of the
input's (torch/csrc/autograd/python_function.cpp, `validate_outputs` in engine.cpp). Reads the methods as they are
written. Does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass

from torchlint.model.events import AutogradRefused, BackwardCallee
from torchlint.model.events.custom import FunctionInstanceCalled, IncomingGradientIgnored, NothingSaved
from torchlint.model.events.trace import Step
from torchlint.model.observers.custom.custom import KEEPING, methods_may_be_set
from torchlint.model.observers.custom.function_source import Method, names, text
from torchlint.model.observers.pending import only
from torchlint.model.python.custom_functions import keeps_contract, only_of_functions
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import Class, Function, GraphNode, Sequence, Tensor, Value
from torchlint.syntax import cst, ir
from torchlint.syntax.features import CUSTOM, anywhere
from torchlint.syntax.reading import written


@dataclass(frozen=True, slots=True, eq=False)
class _Output:
    """One of the results of a call of `apply`."""

    cls: Class
    place: int
    count: int
    result: Tensor
    inputs: tuple[Value, ...]
    call: ir.Call


class Applications(Observer):
    """Raises `IncomingGradientIgnored`, `NothingSaved`, `FunctionInstanceCalled`, and `AutogradRefused`."""

    words = ("Function",)
    concerns = (anywhere(CUSTOM),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._outputs: dict[int, _Output] = {}
        self._kept: list[GraphNode] = []
        self._told: set[int] = set()

    def concluded(self) -> None:
        self._outputs.clear()
        self._kept.clear()

    def class_defined(self, cls: Class) -> None:
        """Nothing is saved, and `backward` unpacks it."""
        if id(cls.definition) in self._told or not _may_save_nothing(cls):
            return
        methods = _methods(cls)
        if methods is None:
            return
        forward, backward = methods
        read = next((node for node in backward.nodes if _unpacks(node, backward)), None)
        if read is None or forward.of_context("save_for_backward") or forward.hands_on_context():
            return
        if any("save_for_backward" in text(node) for node in backward.nodes if isinstance(node, cst.Attribute)):
            return
        if methods_may_be_set(self.machine):
            return
        self._told.add(id(cls.definition))
        self.machine.emit(NothingSaved(node=read, statement=backward.definition, cls=cls.name))

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if not isinstance(receiver, Class) or name not in ("apply", "forward") or self.machine.foreign_call is not None:
            return
        if keywords or any(each.star for each in origin.arguments) or not keeps_contract(receiver):
            return
        if name == "forward":
            methods = _methods(receiver)
            if methods is not None:
                self._called(receiver, methods[0], len(positional), origin)
            return
        results = result.items if isinstance(result, Sequence) and result.items is not None else (result,)
        for place, each in enumerate(results):
            node = each.grad_fn[0][1] if isinstance(each, Tensor) and len(each.grad_fn) == 1 else None
            if node is not None and isinstance(each, Tensor) and not node.opaque:
                self._kept.append(node)
                self._outputs[id(node)] = _Output(receiver, place, len(results), each, tuple(positional), origin)

    def _called(self, cls: Class, forward: Method, given: int, origin: ir.Call) -> None:
        """`MyFunction.forward(x)`: nobody gives it a context."""
        wanted = len(forward.parameters) - forward.defaults
        if given >= wanted or forward.open or not isinstance(origin.origin, cst.Call) or self.machine.expected_errors:
            return
        self.machine.emit(
            FunctionInstanceCalled(
                node=origin.origin,
                statement=self.machine.line(),
                cls=cls.name,
                call=origin.origin,
                bare=True,
            )
        )

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
        for node in nodes:
            output = self._outputs.get(id(node))
            methods = _methods(output.cls) if output is not None and not self.machine.expected_errors else None
            if output is not None and methods is not None:
                self._ignores(output, *methods, origin)
                self._misshapen(output, methods[1], origin)

    def _ignores(self, output: _Output, forward: Method, backward: Method, origin: ir.Node) -> None:
        """This output's gradient is not looked at, that of another one is."""
        incoming = backward.parameters[1:]
        if backward.open or output.count < 2 or len(incoming) != output.count:
            return
        name = incoming[output.place]
        used = set().union(*(names(node) for node in backward.nodes if isinstance(node, cst.BaseExpression)))
        if name in used or name in backward.bound or not used & set(incoming):
            return
        returned = next((node.value for node in backward.nodes if isinstance(node, cst.Return)), None)
        if returned is None or not _is_arithmetic(forward, output.place):
            return
        steps = (
            Step(output.call.origin, f"an output that this gradient is of: number {output.place + 1}"),
            Step(origin.origin, "this backward comes through it"),
        )
        self.machine.emit(
            IncomingGradientIgnored(
                node=returned,
                statement=backward.definition,
                trace=steps,
                cls=output.cls.name,
                incoming=(name,),
                others=True,
            )
        )

    def _misshapen(self, output: _Output, backward: Method, origin: ir.Node) -> None:
        """What came in is handed on as it is, to an input of another shape."""
        shape = output.result.shape
        if backward.open or output.count != 1 or shape is None or len(backward.parameters) != 2:
            return
        incoming = backward.parameters[1]
        returns = [node.value for node in backward.nodes if isinstance(node, cst.Return)]
        if len(returns) != 1 or returns[0] is None or incoming in backward.bound:
            return
        written = returns[0]
        values = [each.value for each in written.elements] if isinstance(written, cst.Tuple) else [written]
        for value, given in zip(values, output.inputs, strict=False):
            tensor = only(given, self.machine)
            if text(value) != incoming or not isinstance(tensor, Tensor) or tensor.shape is None:
                continue
            if tensor.requires_grad.truth() is Truth.YES and _fits(tensor.shape, shape) is Truth.NO:
                self.machine.emit(
                    AutogradRefused(
                        node=origin.origin,
                        statement=self.machine.line(),
                        moment=self.machine.clock,
                        kind="gradient-shape",
                        op=f"{output.cls.name}.backward",
                        target=self.machine.facts(tensor),
                        trace=(Step(value, "the gradient of the output is returned as it is"),),
                    )
                )
                return


def _methods(cls: Class) -> tuple[Method, Method] | None:
    """`forward` and `backward` of a Function whose parts all stand in the file."""
    if not keeps_contract(cls) or not only_of_functions(cls) or cls.inherited("setup_context") is not None:
        return None
    found: list[Method] = []
    for name in ("forward", "backward"):
        function = cls.inherited(name)
        if not isinstance(function, Function) or not isinstance(function.definition.origin, cst.FunctionDef):
            return None
        method = Method(function.definition.origin)
        if not set(method.decorators) <= KEEPING or "staticmethod" not in method.decorators or not method.context:
            return None
        found.append(method)
    return found[0], found[1]


def _may_save_nothing(cls: Class) -> bool:
    """By the words of the methods alone: `backward` reads what was saved, and `forward` saves nothing itself."""
    forward, backward = cls.inherited("forward"), cls.inherited("backward")
    if not isinstance(forward, Function) or not isinstance(backward, Function):
        return False
    ahead, behind = forward.definition, backward.definition
    if not isinstance(ahead, ir.FunctionDef) or not isinstance(behind, ir.FunctionDef) or not ahead.parameters:
        return False
    context = ahead.parameters[0].name
    return "saved_tensors" in written(behind).words and not any(
        isinstance(node, ir.Attribute)
        and node.attr == "save_for_backward"
        and isinstance(node.value, ir.Name)
        and node.value.id == context
        for node in ir.walk(ahead.body)
    )


def _unpacks(node: cst.CSTNode, backward: Method) -> bool:
    """`x, y = ctx.saved_tensors`, which raises where nothing was saved."""
    if not isinstance(node, cst.Assign) or text(node.value) != f"{backward.context}.saved_tensors":
        return False
    target = node.targets[0].target
    return isinstance(target, (cst.Tuple, cst.List)) and any(isinstance(each, cst.Element) for each in target.elements)


def _is_arithmetic(forward: Method, place: int) -> bool:
    """Whether a result is arithmetic of an input, so that it has a gradient by what it is."""
    returns = [node.value for node in forward.nodes if isinstance(node, cst.Return)]
    if len(returns) != 1 or not isinstance(returns[0], cst.Tuple) or len(returns[0].elements) <= place:
        return False
    value: cst.BaseExpression | None = returns[0].elements[place].value
    if isinstance(value, cst.Name):
        value = forward.definition_of(value.value)
    if not isinstance(value, cst.BinaryOperation):
        return False
    exact = isinstance(value.operator, (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power))
    return exact and bool({text(value.left), text(value.right)} & set(forward.inputs()))


def _fits(wanted: tuple[int | None, ...], given: tuple[int | None, ...]) -> Truth:
    """Whether a gradient can be summed to the shape of an input: that is one which broadcasts to the gradient's."""
    if len(wanted) > len(given):
        return Truth.NO
    pairs = list(zip(reversed(wanted), reversed(given), strict=False))
    if any(one is not None and one != 1 and other is not None and one != other for one, other in pairs):
        return Truth.NO
    return Truth.YES if all(one is not None and other is not None for one, other in pairs) else Truth.MAYBE
