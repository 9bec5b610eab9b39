"""Sees tensors given to constructors that take data."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from torchlint.model.events.work import TensorCopied
from torchlint.model.state.computations import Computation, Computations
from torchlint.model.state.guards import Truth
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Choice,
    Constant,
    Function,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import COPIES, COPIES_HELD, anywhere, here
from torchlint.syntax.for_effect import is_shown

_MOST_MADE = 40
_OF_OTHER_KINDS = frozenset({"detach", "clone", "asarray", "as_tensor", "from_numpy"})
"""What may give a tensor of another class, or another object, depending on what it is given."""


class Copies(Computations):
    """Raises `TensorCopied`."""

    words = ("tensor(", "import tensor")
    concerns = (anywhere(COPIES), here(COPIES_HELD))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._tested: list[Value] = []
        self._calls: list[int] = [0]
        self._arguments: list[list[Value]] = []
        """Of each running function, what the file gives it only to show it."""
        self._number = 0
        self._made_in: dict[int, int] = {}
        self._found: list[tuple[ir.Call, TensorCopied]] = []
        self._doubtful: set[int] = set()
        self._moved = False
        self._annotated: dict[int, ir.Node] = {}
        self._waiting: list[tuple[ir.Node, TensorCopied]] = []
        self._given_others: set[int] = set()

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        for parameter in function.definition.parameters:
            if parameter.annotation is not None and _is_no_tensor(arguments.get(parameter.name)):
                self._given_others.add(id(parameter))
        self._number += 1
        self._calls.append(self._number)
        shown = (
            not self._arguments
            and self.machine.statement is not None
            and is_shown(self.machine.program, self.machine.statement)
        )
        self._arguments.append(list(arguments.values()) if shown else [])

    def function_ended(self, function: Function, result: Value) -> None:
        if len(self._calls) > 1:
            self._calls.pop()
            self._arguments.pop()

    def computed(self, made: Computation) -> None:
        self._made_in[id(made)] = self._calls[-1]

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified in ("builtins.isinstance", "torch.is_tensor", "builtins.hasattr", "builtins.type"):
            self._tested += positional[:1]
        elif qualified in ("torch.set_default_device", "torch.set_default_tensor_type"):
            self._moved = True  # a default device moves what `torch.tensor` copies
        elif qualified == "torch.tensor":
            self._copied("tensor", positional, keywords, origin, None)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name == "new_tensor" and isinstance(origin.function, ir.Attribute) and self.is_tensor(receiver):
            self._copied("new_tensor", positional, keywords, origin, origin.function.value)

    def _copied(
        self,
        how: Literal["tensor", "new_tensor"],
        positional: list[Value],
        keywords: dict[str, Value],
        origin: ir.Call,
        receiver: ir.Expression | None,
    ) -> None:
        data = positional[0] if positional else keywords.get("data")
        if _is_no_tensor(data) or _has_number_as_default(data):
            self._given_others.add(id(origin))
        if not self._is_certain(data, {}):
            self._doubtful.add(id(origin))
        if not self.is_tensor(data) or any(data is tested for tested in self._tested):
            return
        made = self.maker(data)
        if made is not None and made.origin is origin:
            return  # it is a tensor since this very line ran before, and what that was given nobody has called a tensor
        argument = next((each for each in origin.arguments if each.keyword in ("data", "")), None)
        if argument is None or argument.star or not isinstance(argument.origin, cst.Arg):
            return
        data_node = _expression(argument.value)
        if not isinstance(origin.origin, cst.Call) or data_node is None:
            return
        tensor = self.tensor(data)
        annotated = tensor is not None and not tensor.made_by and isinstance(tensor.origin, ir.Parameter)
        if annotated and tensor is not None:
            self._annotated[id(origin.origin)] = tensor.origin
        event = TensorCopied(
            node=origin.origin,
            statement=self.machine.line(),
            how=how,
            call=origin.origin,
            data=data_node,
            argument=argument.origin,
            receiver=_expression(receiver),
            in_graph=tensor is not None and tensor.requires_grad.truth() is Truth.YES,
            plain=not any(each.star for each in origin.arguments),
            certain=not isinstance(argument.value, ir.Attribute),
            annotated=annotated,
            shown=bool(self._arguments) and any(data is each for each in self._arguments[-1]),
        )
        self._found.append((origin, self.machine.with_truth(event)))

    def _is_certain(self, value: Value | None, known: dict[int, bool]) -> bool:
        """Whether a value comes, in this call of this function, from functions of torch alone (see `TensorCopied`)."""
        if isinstance(value, Choice):
            return all(self._is_certain(each, known) for _, each in alternatives(value))
        made = self.maker(value)
        if made is None or len(known) > _MOST_MADE:
            return False
        if id(made) not in known:
            known[id(made)] = False
            known[id(made)] = self._is_made_here(made, value, known)
        return known[id(made)]

    def _is_made_here(self, made: Computation, value: Value | None, known: dict[int, bool]) -> bool:
        if self._made_in.get(id(made)) != self._calls[-1]:
            return False
        if made.how == "function":
            return isinstance(value, Tensor) and made.name not in _OF_OTHER_KINDS
        if made.how == "layer" or not made.operands:
            return False
        if made.how == "operator":
            certain = [self._is_certain(each, known) for each in made.operands]
            numbers = [isinstance(each, Constant) for each in made.operands]
            return any(certain) and all(one or other for one, other in zip(certain, numbers, strict=True))
        return isinstance(value, Tensor) and self._is_certain(made.operands[0], known)

    def concluded(self) -> None:
        for origin, event in self._found:
            if not event.certain and id(origin) in self._given_others:
                continue  # the same line is for numbers, too
            certain = event.certain and id(origin) not in self._doubtful
            either = not certain and id(origin) in self._given_others
            event = replace(event, certain=certain and not self._moved, either=either)
            parameter = self._annotated.get(id(event.node)) if event.annotated else None
            if parameter is not None:
                self._waiting.append((parameter, event))
            else:
                self.machine.emit(event)
        self._found, self._doubtful, self._tested = [], set(), []
        self._made_in, self._calls, self._arguments = {}, [0], []

    def finished(self) -> None:
        """What an annotation alone says is not told where the file itself gives the parameter something else."""
        for parameter, event in self._waiting:
            if id(parameter) not in self._given_others:
                self.machine.emit(event)
        self._waiting.clear()


def _is_no_tensor(value: Value | None) -> bool:
    if isinstance(value, Choice):
        return any(_is_no_tensor(each) for _, each in value.alternatives)
    return isinstance(value, (Scalar, Sequence)) or (isinstance(value, Constant) and value.value is not None)


def _has_number_as_default(value: Value | None) -> bool:
    """Whether a value is what a caller may leave out, and a number then."""
    source = value.source if isinstance(value, Unknown) else value.origin if isinstance(value, Tensor) else None
    default = source.default if isinstance(source, ir.Parameter) else None
    return isinstance(default, ir.Constant) and default.value is not None


def _expression(node: ir.Expression | None) -> cst.BaseExpression | None:
    return node.origin if node is not None and isinstance(node.origin, cst.BaseExpression) else None
