"""
Reads the source of a custom `autograd.Function`: what its methods are given, keep, save and return.

No observer of its own; `custom` asks. What a name stands for is told only where the method binds it once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from torchlint.knowledge.ops import find as ops
from torchlint.model.observers.custom.early_returns import inside, returns_after
from torchlint.syntax import cst
from torchlint.syntax.tree import parsed, walk

_OF_TENSORS: Final = frozenset(
    {"grad_fn", "is_cuda", "is_leaf", "new_empty", "new_ones", "new_zeros", "new_full", "new_tensor"}
)
_OF_ARRAYS = frozenset({"shape", "dtype", "device", "requires_grad", "ndim"})
_OF_OTHERS = frozenset({"index", "split", "copy", "count", "format", "type", "t", "real", "imag", "all", "any"})
_TAKES_NUMBERS: Final = frozenset({"add", "sub", "mul", "div", "true_divide"})
"""As functions these take a number for the first tensor, too: `torch.mul(2, x)`."""
_NO_DERIVATIVE = frozenset({"size", "dim", "numel", "detach", "long", "int", "bool", "type", "argmax", "argmin"})
_OF_INDICES = frozenset({"long", "int", "bool", "argmax", "argmin", "argsort", "nonzero", "bincount", "searchsorted"})
_OF_NO_DERIVATIVE = frozenset(
    f"torch.{name}" for name in ("bool", "uint8", "int8", "int16", "short", "int32", "int", "int64", "long")
)
"""Types of elements: an output of one of them has no node."""


def text(node: cst.CSTNode) -> str:
    """A dotted name, else ""."""
    if isinstance(node, cst.Attribute):
        inner = text(node.value)
        return f"{inner}.{node.attr.value}" if inner else ""
    return node.value if isinstance(node, cst.Name) else ""


_BINDING = frozenset({"Assign", "AnnAssign", "NamedExpr", "For", "CompFor", "AsName"})


class Method:
    """One method of a custom Function, as written."""

    def __init__(self, definition: cst.FunctionDef) -> None:
        definition = parsed(definition)
        self.definition = definition
        self.nodes = list(inside(definition.body))
        parameters = definition.params
        positional = [*parameters.posonly_params, *parameters.params]
        self.parameters = [each.name.value for each in positional]
        self.open = not isinstance(parameters.star_arg, cst.MaybeSentinel) or parameters.star_kwarg is not None
        self.defaults = sum(each.default is not None for each in positional)
        self.annotations = {
            each.name.value: text(each.annotation.annotation) for each in positional if each.annotation is not None
        }
        self.context = self.parameters[0] if self.parameters else ""
        self.bound: dict[str, list[cst.BaseExpression | None]] = {}
        for node in self.nodes:
            self._bind(node)

    @property
    def decorators(self) -> list[str]:
        """The last parts of its decorators' names."""
        expressions = [each.decorator for each in self.definition.decorators]
        return [text(each.func if isinstance(each, cst.Call) else each).rpartition(".")[2] for each in expressions]

    def _bind(self, node: cst.CSTNode) -> None:
        targets: list[tuple[cst.CSTNode, cst.BaseExpression | None]] = []
        if type(node).__name__ not in _BINDING:  # of most nodes no more is asked
            return
        if isinstance(node, cst.Assign):
            targets = [(each.target, node.value) for each in node.targets]
        elif isinstance(node, (cst.AnnAssign, cst.NamedExpr)):
            targets = [(node.target, node.value)]
        elif isinstance(node, (cst.For, cst.CompFor)):
            targets = [(node.target, None)]
        elif isinstance(node, cst.AsName):
            targets = [(node.name, None)]
        for target, value in targets:
            if isinstance(target, cst.Name):
                self.bound.setdefault(target.value, []).append(value)
            else:
                for part in walk(target):
                    if isinstance(part, cst.Name) and not isinstance(target, (cst.Attribute, cst.Subscript)):
                        self.bound.setdefault(part.value, []).append(None)

    def inputs(self) -> list[str]:
        """What it is given beside the context, under names it doesn't bind again."""
        return [name for name in self.parameters[1:] if name not in self.bound]

    def definition_of(self, name: str) -> cst.BaseExpression | None:
        """The expression that a local name stands for, if it's bound once."""
        values = self.bound.get(name, [])
        return values[0] if len(values) == 1 and name not in self.parameters else None

    def returned(self) -> set[str]:
        """The names that it returns, alone or in a tuple."""
        return _named(self.nodes)

    def returned_after(self, node: cst.CSTNode) -> set[str]:
        """The names that a path through one of its statements returns: an early return of another branch is on none."""
        return _named(returns_after(self.definition.body, node))

    def calls(self, method: str) -> list[cst.Call]:
        """The calls `ctx.method(...)`."""
        wanted = f"{self.context}.{method}"
        return [node for node in self.nodes if isinstance(node, cst.Call) and text(node.func) == wanted]

    def of_context(self, attribute: str) -> list[cst.Attribute]:
        """The places where `ctx.attribute` is written."""
        wanted = f"{self.context}.{attribute}"
        return [node for node in self._whole() if isinstance(node, cst.Attribute) and text(node) == wanted]

    def hands_on_context(self) -> bool:
        """Whether it does something else with `ctx` than to ask for its attributes."""
        nodes = self._whole()
        whole = sum(isinstance(node, cst.Name) and node.value == self.context for node in nodes)
        through = sum(isinstance(node, cst.Attribute) and text(node.value) == self.context for node in nodes)
        return whole != through

    def _whole(self) -> list[cst.CSTNode]:
        """The body with the functions defined in it, which see the context too."""
        return list(walk(self.definition.body))

    def saved(self) -> list[cst.BaseExpression] | None:
        """What `save_for_backward` is given, if it's called once with arguments that are all written out."""
        calls = self.calls("save_for_backward")
        if len(calls) != 1 or any(each.star for each in calls[0].args):
            return None
        return [each.value for each in calls[0].args]

    def unpacked(self) -> dict[str, int]:
        """The names to which `ctx.saved_tensors` is unpacked, by their place in it."""
        wanted = f"{self.context}.saved_tensors"
        for node in self.nodes:
            if not isinstance(node, cst.Assign):
                continue
            target = node.targets[0].target
            if text(node.value) == wanted and isinstance(target, (cst.Tuple, cst.List)):
                elements = [each.value for each in target.elements]
                names = {each.value: place for place, each in enumerate(elements) if isinstance(each, cst.Name)}
                return {name: place for name, place in names.items() if len(self.bound.get(name, [])) == 1}
        return {}

    def is_tensor(self, name: str) -> bool:
        """
        Whether the method uses a name as only a tensor can be used: arrays, distributions and operators of other
        packages have most of its attributes and methods, and none of those that set a flag of autograd or change it.
        """
        if self.annotations.get(name, "").rpartition(".")[2] == "Tensor":
            return True
        for node in self.nodes:
            if isinstance(node, cst.Attribute) and text(node.value) == name:
                attribute = node.attr.value
                in_place = attribute.endswith("_") and not attribute.endswith("__")
                if attribute in _OF_TENSORS or (in_place and ops.find(f"torch.Tensor.{attribute}")):
                    return True
            elif isinstance(node, cst.Call):
                first = node.args[0].value if node.args else None
                callee = text(node.func)
                given = callee.startswith(("torch.", "F.")) and first is not None and text(first) == name
                spelling = callee.replace("F.", "torch.nn.functional.", 1) if callee.startswith("F.") else callee
                if given and _takes_a_tensor(spelling):
                    return True
                if callee.endswith(".save_for_backward") and any(text(each.value) == name for each in node.args):
                    return True
        return False

    def is_like_tensor(self, name: str) -> bool:
        """Whether the method uses a name as tensors are used, and arrays, and what imitates them."""
        for node in self.nodes:
            if isinstance(node, cst.Attribute) and text(node.value) == name:
                attribute = node.attr.value
                if attribute in _OF_ARRAYS or (attribute not in _OF_OTHERS and ops.find(f"torch.Tensor.{attribute}")):
                    return True
        return self.is_tensor(name)

    def returns_tensor(self, name: str) -> bool:
        """Whether a name that it returns is a tensor: what is returned alone is, beside it may be anything."""
        if any(isinstance(node, cst.Return) and text(node.value or node) == name for node in self.nodes):
            return True
        return self.is_tensor(name) or self.computes_tensor(self.definition_of(name))

    def computes_tensor(self, value: cst.BaseExpression | None) -> bool:
        """Whether an expression is a call of torch that returns a tensor with a derivative."""
        if not isinstance(value, cst.Call) or not isinstance(value.func, cst.Attribute):
            return False
        callee = text(value.func)
        name = value.func.attr.value
        if name in _NO_DERIVATIVE:
            return False
        spelling = callee if callee.startswith("torch.") else f"torch.Tensor.{name}"
        if callee.startswith("F."):
            spelling = f"torch.nn.functional.{name}"
        found = ops.find(spelling)
        return any(op.outputs and op.outputs[0] and op.differentiable and "self" not in op.writes for op in found)

    def is_without_derivative(self, name: str) -> bool:
        """Whether a name stands for a tensor of whole numbers or of truths, which autograd gives no node."""
        value = self.definition_of(name)
        if isinstance(value, cst.Comparison):
            return True
        if not isinstance(value, cst.Call) or not isinstance(value.func, cst.Attribute):
            return False
        given = any(text(each.value) in _OF_NO_DERIVATIVE for each in value.args)
        return given or value.func.attr.value in _OF_INDICES

    def marks_constant(self, name: str) -> bool:
        """Whether it says of a name that it has no derivative: `ctx.mark_non_differentiable(name)`."""
        return any(text(each.value) == name for call in self.calls("mark_non_differentiable") for each in call.args)

    def elements_of(self, value: cst.BaseExpression | None) -> Sequence[cst.BaseElement]:
        """The elements of a tuple, also by its name, or through a function that is given it first; none else."""
        if isinstance(value, cst.Name):
            value = self.definition_of(value.value)
        if isinstance(value, cst.Call) and value.args:
            handed = value.args[0].value
            value = self.definition_of(handed.value) if isinstance(handed, cst.Name) else handed
        return value.elements if isinstance(value, cst.Tuple) else ()

    def is_one_tensor(self, value: cst.BaseExpression, seen: frozenset[str] = frozenset()) -> bool:
        """
        Whether an expression of a `backward` is one tensor and no tuple: made of the gradients it is given, or of what
        was saved.
        """
        if isinstance(value, cst.Name):
            name = value.value
            bound = self.bound.get(name, [])
            if name in seen:
                return True
            if name in self.parameters[1:] or name in self.unpacked():
                return all(each is None or self.is_one_tensor(each, seen | {name}) for each in bound) and (
                    None not in bound or name in self.unpacked()
                )
            return bool(bound) and all(each is not None and self.is_one_tensor(each, seen | {name}) for each in bound)
        if isinstance(value, cst.BinaryOperation):
            if isinstance(value.left, (cst.Tuple, cst.List)) or isinstance(value.right, (cst.Tuple, cst.List)):
                return False
            return self.is_one_tensor(value.left, seen) or self.is_one_tensor(value.right, seen)
        if isinstance(value, cst.UnaryOperation):
            return self.is_one_tensor(value.expression, seen)
        if isinstance(value, cst.Subscript):
            return self.is_one_tensor(value.value, seen)
        if not isinstance(value, cst.Call) or not isinstance(value.func, cst.Attribute):
            return False
        callee = text(value.func)
        if callee.startswith(("torch.", "F.")):
            return _gives_one(callee.replace("F.", "torch.nn.functional.", 1) if callee.startswith("F.") else callee)
        return _gives_one(f"torch.Tensor.{value.func.attr.value}") and self.is_one_tensor(value.func.value, seen)


def _named(nodes: Iterable[cst.CSTNode]) -> set[str]:
    """The names that `return` statements give, alone or in a tuple."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, cst.Return) and node.value is not None:
            values = [node.value]
            if isinstance(node.value, cst.Tuple):
                values = [each.value for each in node.value.elements]
            found |= {each.value for each in values if isinstance(each, cst.Name)}
    return found


def _gives_one(spelling: str) -> bool:
    """Whether all that a spelling may stand for give one tensor."""
    found = ops.find(spelling)
    return bool(found) and all(len(op.outputs) == 1 and not op.sequence for op in found)


def _takes_a_tensor(spelling: str) -> bool:
    """Whether a function's first argument is a tensor, however it is called."""
    found = ops.find(spelling)
    return bool(found) and all(
        op.parameters
        and op.parameters[0].kind == "tensor"
        and not op.parameters[0].wraps
        and op.name not in _TAKES_NUMBERS
        for op in found
    )


def reads(backward: Method | None, attribute: str, others: Sequence[Method]) -> tuple[cst.BaseExpression, ...] | None:
    """
    The places where `backward` reads `ctx.attribute`; None if it hands `ctx` on as a whole, or another method (which
    sets it once) does that or reads it.
    """
    if backward is None or not backward.context or backward.hands_on_context():
        return None
    if any(each.hands_on_context() or len(each.of_context(attribute)) > 1 for each in others):
        return None
    return tuple(backward.of_context(attribute))


def names(node: cst.CSTNode) -> set[str]:
    """The names in an expression."""
    return {each.value for each in walk(node) if isinstance(each, cst.Name)}


def root_of_one_minus_square(node: cst.CSTNode) -> str:
    """`s` in `torch.sqrt(1 - s * s)`, `(1 - s**2).sqrt()` or `(1 - s.pow(2)) ** 0.5`."""
    inner: cst.CSTNode | None = None
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value == "sqrt":
        inner = node.args[0].value if node.args else node.func.value
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Power):
        inner = node.left if isinstance(node.right, cst.Float) and node.right.evaluated_value == 0.5 else None
    if not isinstance(inner, cst.BinaryOperation) or not isinstance(inner.operator, cst.Subtract):
        return ""
    if not isinstance(inner.left, (cst.Integer, cst.Float)) or inner.left.evaluated_value != 1:
        return ""
    square = inner.right
    if isinstance(square, cst.BinaryOperation):
        same = isinstance(square.operator, cst.Multiply) and text(square.left) == text(square.right)
        power = isinstance(square.operator, cst.Power) and isinstance(square.right, cst.Integer)
        return text(square.left) if same or power else ""
    if not isinstance(square, cst.Call) or not isinstance(square.func, cst.Attribute):
        return ""
    if square.func.attr.value not in ("pow", "square"):
        return ""
    receiver = text(square.func.value)
    return text(square.args[0].value) if receiver == "torch" and square.args else receiver


def is_nothing(value: cst.BaseExpression) -> bool:
    """Whether what a `backward` returns, or a part of it, is written as None, or as a tuple of None."""
    if isinstance(value, cst.Tuple):
        return all(is_nothing(each.value) for each in value.elements)
    return isinstance(value, cst.Name) and value.value == "None"
