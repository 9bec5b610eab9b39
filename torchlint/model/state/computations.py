"""
How a value came about: the function, method, operator or layer that gave it, and on which operands.

`Computations` is the floor of observers that ask for a combination of operations (a loss of a softmax, the logarithm of
a sum of exponentials): every computation of torch is noted by its short name, however it is written, and the one that a
value is the result of is found. A run has one `ComputationLog`, which they share. Raises no events; what is written in
place is no result of its computation any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from torchlint.knowledge.modules import losses
from torchlint.model.state.guards import Guard
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Choice,
    Constant,
    Function,
    Instance,
    Module,
    Sequence,
    Tensor,
    Unknown,
    Value,
    Write,
    alternatives,
    parts,
)
from torchlint.syntax import cst, ir

_NAMESPACES: Final = ("torch.nn.functional.", "torch.special.", "torch.linalg.", "torch.")
_LAYERS = {
    "Softmax": "softmax", "LogSoftmax": "log_softmax", "Softmin": "softmin", "Sigmoid": "sigmoid",
    "LogSigmoid": "logsigmoid", "Tanh": "tanh", "ReLU": "relu", "GELU": "gelu", "SiLU": "silu", "Linear": "linear",
    "Conv1d": "conv1d", "Conv2d": "conv2d", "Conv3d": "conv3d", "ELU": "elu", "LeakyReLU": "leaky_relu",
    "Softplus": "softplus", "Flatten": "flatten", "Unflatten": "unflatten",
}  # fmt: skip
_SYNONYMS: Final = {"concat": "cat", "concatenate": "cat", "power": "pow", "expit": "sigmoid", "divide": "div"}
_VALUES_FIRST: Final = frozenset({"max", "min", "cummax", "cummin", "sort", "topk", "median"})
"""What gives numbers of its tensor, and where they stand in it."""
_COLLECTIVE: Final = frozenset(f"torch.distributed.{name}" for name in ("all_reduce", "broadcast", "reduce"))
"""What writes into its tensor what the other processes have, too."""
VIEWS: Final = frozenset(
    """
    contiguous detach expand expand_as flatten float movedim mT narrow permute ravel reshape squeeze select swapaxes t
    T to transpose unflatten unsqueeze view view_as cpu cuda double half type clone
    """.split()  # noqa: SIM905
)
"""What gives the same numbers in another shape, order, type or place."""
_TRANSPOSES = frozenset({"T", "mT"})
"""Those of them that are attributes."""
_PASSES: Final = frozenset(
    {"alpha_dropout", "AlphaDropout", *(f"{d}{n}" for d in ("dropout", "Dropout") for n in ("", "1d", "2d", "3d"))}
)
"""What gives its operand itself where nobody trains."""


@dataclass(slots=True, eq=False, init=False)
class Computation:
    """
    One computation of torch.

    Attributes
    ----------
    name
        The short name: `softmax` for `torch.softmax`, `F.softmax`, `x.softmax` and `nn.Softmax`; an operator's sign.
    how
        How it is written.
    spelling
        The qualified name, `torch.Tensor.softmax` for a method.
    operands, keywords
        What it was given; of a method, the receiver first.
    result
        What it gave.
    origin
        The call or the operator.
    line
        The statement.
    path
        The path it was run on.
    module
        The layer, if it was one.
    alone
        The call runs nothing but this (a layer inside `nn.Sequential` shares its call with the others).
    """

    name: str
    how: Literal["function", "method", "operator", "layer"]
    spelling: str
    operands: tuple[Value, ...]
    keywords: dict[str, Value]
    result: Value
    origin: ir.Node
    line: cst.CSTNode
    path: Guard
    module: Module | None
    alone: bool

    def __init__(
        self,
        name: str,
        how: Literal["function", "method", "operator", "layer"],
        spelling: str,
        operands: tuple[Value, ...],
        keywords: dict[str, Value],
        result: Value,
        origin: ir.Node,
        line: cst.CSTNode,
        path: Guard,
        module: Module | None = None,
        alone: bool = True,
    ) -> None:
        self.name = name
        self.how = how
        self.spelling = spelling
        self.operands = operands
        self.keywords = keywords
        self.result = result
        self.origin = origin
        self.line = line
        self.path = path
        self.module = module
        self.alone = alone

    def get(self, position: int, *names: str) -> Value | None:
        """The operand at a position, or under one of these keywords."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.operands[position] if position < len(self.operands) else None

    def written(self, position: int, *names: str) -> cst.BaseExpression | None:
        """The expression that is the operand at a position, if the program writes one there."""
        origin = self.origin
        if isinstance(origin, ir.Binary):
            return _cst((origin.left, origin.right)[position]) if position < 2 else None
        if isinstance(origin, ir.Compare) and len(origin.rights) == 1:
            return _cst((origin.left, origin.rights[0])[position]) if position < 2 else None
        if isinstance(origin, ir.Unary):
            return _cst(origin.operand) if position == 0 else None
        if not isinstance(origin, ir.Call) or not self.alone or any(each.star for each in origin.arguments):
            return None
        if self.how == "method":
            if position == 0:
                return _cst(origin.function.value) if isinstance(origin.function, ir.Attribute) else None
            position -= 1
        for argument in origin.arguments:
            if argument.keyword and argument.keyword in names:
                return _cst(argument.value)
        plain = [argument for argument in origin.arguments if not argument.keyword]
        return _cst(plain[position].value) if position < len(plain) else None

    @property
    def node(self) -> cst.BaseExpression:
        """The call or the operator in the source."""
        node = _cst(self.origin)
        assert node is not None
        return node


def constant(value: Value | None) -> object:
    """The Python value of a constant; Ellipsis if it is none (or not given)."""
    return value.value if isinstance(value, Constant) else ...


class ComputationLog(Observer):
    """Notes every computation of a run once, and tells those who listen."""

    concerns = ()

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.made: dict[int, Computation] = {}
        self.names: set[str] = set()
        """What was ever computed in this run, by its name."""
        self.unknowns: list[Unknown] = []
        self.first_used: dict[int, tuple[Tensor, Guard]] = {}
        self.chosen: dict[int, tuple[Value, list[Value]]] = {}
        """What operators gave that had one of several values before them, and those operands."""
        self._script: dict[int, Computation] = {}
        self._in_memory: dict[int, list[Tensor]] = {}
        self._kept: dict[int, list[Tensor]] = {}
        self._in_script = False
        self._over = False
        self._other: tuple[ir.Program, bool] | None = None
        machine.computations = self

    def maker(self, value: Value | None) -> Computation | None:
        """See `Computations.maker`."""
        if value is None:
            return None
        found = self.made.get(id(value))
        if found is not None or isinstance(value, Unknown):
            return found
        if isinstance(value, Choice):
            makers = [self.maker(each) for _, each in alternatives(value, self.machine.guard)]
            first = makers[0] if makers else None
            same = first is not None and all(made is not None and made.name == first.name for made in makers)
            return first if same else None
        if isinstance(value, Tensor) and value.made_by == "":
            for unknown in self.unknowns:
                if unknown.tensor is value:
                    return self.made.get(id(unknown))
        return None

    def _note(
        self,
        name: str,
        how: Literal["function", "method", "operator", "layer"],
        spelling: str,
        operands: tuple[Value, ...],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Node,
        module: Module | None = None,
        alone: bool = True,
    ) -> None:
        if self._over:
            self._start()
        if result is None or isinstance(result, (Constant, Function)):
            return
        if (name in VIEWS or name == "Identity") and any(result is each for each in operands):
            return  # `x.contiguous()` gave `x` itself, which was computed by something else
        machine = self.machine
        name = _SYNONYMS.get(name, name)
        self.names.add(name)
        made = Computation(
            name, how, spelling, operands, keywords, result, origin, machine.line(), machine.path, module, alone
        )
        options: list[Value] = [result]
        if type(result) is Choice:
            options += parts(result)
        elif isinstance(result, Sequence) and name in _VALUES_FIRST and result.items:
            options.append(result.items[0])
        for each in options:
            own = name in VIEWS or (name in _PASSES and each is not result)
            if own and any(each is operand for operand in operands):
                continue  # `x.cpu()` may be `x` itself
            self.made[id(each)] = made
            if isinstance(each, Unknown):
                self.unknowns.append(each)
            elif isinstance(each, Tensor):
                self._in_memory.setdefault(id(each.storage), []).append(each)
        for hook in self.machine.watch.computed:
            hook(made)

    def operation(self, spelling: str, bound: dict[str, Value], result: Value, origin: ir.Node, display: str) -> None:
        if self._over:
            self._start()
        if isinstance(origin, ir.Compare) and {"self", "other"} <= set(bound):
            self._note(display, "operator", display, (bound["self"], bound["other"]), {}, result, origin)
        elif isinstance(origin, ir.Attribute) and display in _TRANSPOSES and "self" in bound:
            self._note(display, "operator", display, (bound["self"],), {}, result, origin)
        if not isinstance(origin, ir.Call) or _is_abs(origin):
            kinds = {*map(type, bound.values())}
            if Choice in kinds and not any(result is each for each in bound.values()):
                self.chosen[id(result)] = result, list({id(each): each for each in bound.values()}.values())
        if isinstance(origin, ir.Call) and display != "where":  # an operator's operand may be a number
            value = bound.get("self", bound.get("input"))
            if isinstance(value, Tensor) and value.made_by == "":
                known = self.first_used.get(id(value))
                if known is None or self.machine.path <= known[1]:
                    self.first_used[id(value)] = (value, self.machine.path)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        out = keywords.get("out")
        if out is not None and any(each is out for each in positional):
            return  # as `exp_`: what it is computed from is there no more
        if qualified in _COLLECTIVE:
            for each in (*positional[:1], *keywords.values()):
                self.made.pop(id(each), None)
            return
        for namespace in _NAMESPACES:
            if qualified.startswith(namespace):
                name = qualified[len(namespace) :]
                if "." not in name and name[:1].islower():
                    self._note(name, "function", qualified, tuple(positional), keywords, result, origin)
                return

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if isinstance(receiver, (Tensor, Unknown)) and not self._are_other_tensors():
            operands = (receiver, *positional)
            self._note(name, "method", f"torch.Tensor.{name}", operands, keywords, result, origin)

    def _are_other_tensors(self) -> bool:
        """Whether what the file calls a `Tensor` is none of torch, so that its methods are not, either."""
        program = self.machine.program
        if self._other is None or self._other[0] is not program:
            self._other = (program, _has_other_tensors(program.body))
        return self._other[1]

    def binary(self, op: str, left: Value, right: Value, result: Value, origin: ir.Binary) -> None:
        if isinstance(result, (Tensor, Unknown, Choice)):
            self._note(op, "operator", op, (left, right), {}, result, origin)

    def unary(self, op: str, operand: Value, result: Value, origin: ir.Unary) -> None:
        if op == "-" and isinstance(result, (Tensor, Unknown, Choice)):
            self._note("neg", "operator", "neg", (operand,), {}, result, origin)

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        if not isinstance(module, Module) or module.kind.container:
            return
        before = self.maker(arguments[0]) if arguments else None
        alone = before is None or before.origin is not origin
        loss = losses.find(f"torch.nn.{module.kind.name}")
        name = loss.functional if loss is not None else _LAYERS.get(module.kind.name, module.kind.name)
        spelling = f"torch.nn.{module.kind.name}"
        self._note(name, "layer", spelling, tuple(arguments), {}, result, origin, module, alone)

    def indexed(self, tensor: Tensor, result: Value, origin: ir.Node) -> None:
        self._note("[]", "operator", "[]", (tensor,), {}, result, origin)

    def wrote(self, tensor: Tensor, write: Write) -> None:
        for each in self._in_memory.pop(id(tensor.storage), ()):
            self.made.pop(id(each), None)

    # -- entry points

    def entry_started(self, function: Function | None) -> None:
        self._in_script = function is None

    def concluded(self) -> None:
        # Those who conclude later may still ask.
        self._over = True
        if self._in_script:
            self._script = dict(self.made)
            self._kept = {key: list(each) for key, each in self._in_memory.items()}
        self._in_script = False

    def _start(self) -> None:
        """Forget all but what the script computed."""
        self._over = False
        self.made = dict(self._script)
        self._in_memory = {key: list(each) for key, each in self._kept.items()}
        self.unknowns = [each.result for each in self._script.values() if isinstance(each.result, Unknown)]
        self.first_used = {}
        self.chosen = {}


class Computations(Observer):
    """Finds the computation behind a value. Subclasses override `computed`, or ask."""

    rests_on = (ComputationLog,)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._log = machine.computations

    # -- what a value is

    def maker(self, value: Value | None) -> Computation | None:
        """The computation that a value is the result of, whichever of its alternatives it is."""
        return self._log.maker(value)

    def behind_views(self, value: Value | None) -> Computation | None:
        """As `maker`, looking through what only changes the shape."""
        for _ in range(20):
            made = self.maker(value)
            if made is None or made.name not in VIEWS or not made.operands:
                return made
            value = made.operands[0]
        return None

    def is_tensor(self, value: Value | None) -> bool:
        """Whether a value is known for certain to be a tensor here, on this path."""
        if isinstance(value, Choice):
            options = alternatives(value, self.machine.guard)
            return all(self.is_tensor(each) for _, each in options)
        if isinstance(value, Unknown):
            value = value.tensor
        if not isinstance(value, Tensor):
            return False
        known = self._log.first_used.get(id(value))
        if known is not None:
            return known[1] <= self.machine.path
        chosen = self._log.chosen.get(id(value))
        if chosen is not None:
            return any(map(self._is_made_tensor, chosen[1]))  # what is a number on one path gives a number there
        if value.made_by and not isinstance(value.origin, ir.Call):
            # operators and iteration: numbers and lists have these, too, and what is unknown may be one
            return any(map(self._is_made_tensor, value.inputs))
        return value.made_by != "" or _annotated_as_tensor(value.origin)

    def _is_made_tensor(self, value: Value) -> bool:
        """The same of an operand: that it is a tensor must be said by more than an annotation, on each path."""
        if isinstance(value, Choice):
            options = alternatives(value, self.machine.guard)
            return all(self._is_made_tensor(each) for _, each in options)
        tensor = self.tensor(value)
        return tensor is not None and tensor.made_by != "" and self.is_tensor(tensor)

    @staticmethod
    def tensor(value: Value | None) -> Tensor | None:
        """The one tensor that a value is."""
        if isinstance(value, Unknown):
            return value.tensor
        return value if isinstance(value, Tensor) else None


def _is_abs(call: ir.Call) -> bool:
    """Whether it is Python's own, which is for numbers, too."""
    return isinstance(call.function, ir.Name) and call.function.id == "abs"


def tensors_of(value: Value | None) -> tuple[Value, ...]:
    """The elements of a list or tuple of known length."""
    return value.items or () if isinstance(value, Sequence) else ()


def _has_other_tensors(body: list[ir.Statement]) -> bool:
    """Whether a file has a class `Tensor` from a place that is not torch, and nothing of torch."""
    pending, own = list(body), False
    while pending:
        statement = pending.pop()
        if isinstance(statement, ir.Import):
            for name in statement.names:
                if (name.imported or name.qualified).partition(".")[0] == "torch":
                    return False
                own = own or name.bound == "Tensor"
        elif isinstance(statement, ir.ClassDef):
            own = own or statement.name == "Tensor"
        elif isinstance(statement, (ir.If, ir.Try)):
            pending += [each for block in ir.blocks(statement) for each in block]
    return own


def _cst(node: ir.Node) -> cst.BaseExpression | None:
    return node.origin if isinstance(node.origin, cst.BaseExpression) else None


def _is_number(default: ir.Expression | None) -> bool:
    return isinstance(default, ir.Constant) and default.value is not None


def _annotated_as_tensor(origin: ir.Node) -> bool:
    """Whether a value is a parameter whose annotation is `Tensor`, and no list or union of them."""
    if not isinstance(origin, ir.Parameter) or _is_number(origin.default):
        return False
    annotation = origin.annotation
    if isinstance(annotation, ir.Constant):
        return annotation.value in ("Tensor", "torch.Tensor")
    if isinstance(annotation, ir.Attribute):
        return annotation.attr == "Tensor"
    return isinstance(annotation, ir.Name) and annotation.id == "Tensor"
