"""
What an expression is by the look of it: a write, a backward, a number, a container, a slice.

Purely syntactic; follows no values. Only which operations return a new tensor is asked of the operation table.
"""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache

from torchlint.knowledge.ops import find as ops
from torchlint.syntax import ir
from torchlint.syntax.features import PRODUCTS

OF_BACKWARD = frozenset({"backward", "grad", "step", "zero_grad"})
CONTAINERS = frozenset({ir.Sequence, ir.Dict, ir.FormattedString, ir.Comprehension})
_MAKE_CONTAINERS = frozenset(
    {"list", "tuple", "set", "dict", "defaultdict", "OrderedDict", "deque", "fromkeys", "copy"}
)
_MAKE_PLAIN = frozenset({"list", "tuple", "set", "dict"})
_OF_LAYERS = frozenset({"ModuleList", "Sequential"})
_THROUGH = frozenset({"enumerate", "zip", "reversed", "list", "tuple"})
INITIALISERS = ("uniform_", "normal_", "constant_", "zeros_", "ones_", "orthogonal_", "eye_", "dirac_", "sparse_")
_TESTS = frozenset({"allclose", "equal"})
_SIDE_EFFECTS = frozenset({"backward", "retain_grad", "register_hook", "item", "tolist", "cpu", "sum"})
_CONVERSIONS = frozenset({"to", "float", "double", "half", "long", "int", "bool", "cuda", "type", "type_as", "numpy"})


_LOSS = re.compile(
    r"(?<!g)loss(?!y|less|ary)|(^|_)(criterion|crit|cross_entropy|nll|kl|kld|penalty|reg|regulari[sz](er|ation)|elbo|"
    r"objective|bce|mse|ce)(_|\d|$)",
    re.IGNORECASE,
)


def is_called_loss(name: str) -> bool:
    """Whether the name of a variable or a function says that it is a loss, or a term of one."""
    known = _called_loss.get(name)
    if known is None:
        if len(_called_loss) >= _MOST_NAMES:
            _called_loss.clear()
        known = _called_loss[name] = _LOSS.search(name) is not None
    return known


_called_loss: dict[str, bool] = {}
_MOST_NAMES = 10_000
"""Names that are known at a time; the same few are asked for again and again."""


def only_returns(spelling: str, name: str) -> bool:
    """Whether an operation of torch does nothing but return a tensor."""
    if name.endswith("_") or name in _SIDE_EFFECTS:
        return False
    found = ops.find(spelling)
    return name in _TESTS or (
        bool(found) and all(op.outputs and not op.returns_self and "self" not in op.writes for op in found)
    )


def functional_only_returns(name: str, given: int) -> bool:
    """Whether a call of `torch.nn.functional`, left to its `inplace=False`, does nothing but return a tensor."""
    spelling = f"torch.nn.functional.{name}"
    by_default = given == 1 and not name.endswith("_") and any(not op.returns_self for op in ops.find(spelling))
    return by_default or only_returns(spelling, name)


def method_only_returns(name: str) -> bool:
    """Whether a method of tensors does nothing but return a tensor."""
    return name in _CONVERSIONS or only_returns(f"torch.Tensor.{name}", name)


def writes(node: ir.Node) -> bool:
    """
    Whether a node is spelt as if it wrote in place. (What initialises weights is no such write.)
    """
    if isinstance(node, ir.Call):
        function = node.function
        name = ""
        if isinstance(function, ir.Attribute):
            owner = function.value
            last = owner.attr if isinstance(owner, ir.Attribute) else owner.id if isinstance(owner, ir.Name) else ""
            name = "" if last == "init" else function.attr
        elif isinstance(function, ir.Name) and not function.id.endswith(INITIALISERS):
            name = function.id
        in_place = name.endswith("_") and not name.startswith("__") and name != "requires_grad_"
        return in_place or any(argument.keyword in ("inplace", "out") for argument in node.arguments)
    if isinstance(node, ir.Assign):
        return any(isinstance(target, ir.Subscript) for target in node.targets)
    return isinstance(node, ir.AugmentedAssign)


def is_of_backward(node: ir.Node) -> bool:
    """Whether a node is spelt as if it ran a backward, or an optimizer."""
    return isinstance(node, ir.Attribute) and node.attr in OF_BACKWARD


@cache
def may_be_dropped(name: str) -> bool:
    """Whether a call of that name as a statement may be of an operation that only returns."""
    return method_only_returns(name) or any(
        only_returns(f"{module}.{name}", name) for module in ("torch", "torch.nn.functional")
    )


def leaves_out(index: ir.Expression) -> bool:
    """Whether an index of slices and whole numbers, and nothing else, leaves something out."""
    parts = index.elements if type(index) is ir.Sequence and index.kind == "tuple" else [index]
    kinds = [index_kind(each) for each in parts]
    return "other" not in kinds and not all(kind == "whole" for kind in kinds)


def index_kind(index: ir.Expression) -> str:
    """
    "slice" (of a part), "step" (`::2`), "whole" (`:`), "integer", "ellipsis", or "other": a mask, a list, None, a name
    of which nobody knows what it is.
    """
    if isinstance(index, ir.Slice):
        if index.step is not None and not (isinstance(index.step, ir.Constant) and index.step.value in (None, 1)):
            return "step"
        return "whole" if index.lower is None and index.upper is None else "slice"
    if isinstance(index, ir.Unary) and index.op == "-":
        index = index.operand
    if not isinstance(index, ir.Constant):
        return "other"
    if index.value is ...:
        return "ellipsis"
    return "integer" if type(index.value) is int else "other"


def is_held(node: ir.Expression | None) -> bool:
    """Whether it is an attribute of what an attribute holds."""
    return type(node) is ir.Attribute and type(node.value) is ir.Attribute


def elements_of(node: ir.Expression | None) -> set[str]:
    """What the elements of a container of layers are called that is built here; "()" for one that is not built here."""
    if type(node) is ir.Call and last_word(node.function) in _OF_LAYERS:
        found: set[str] = set()
        for argument in node.arguments:
            found |= elements_of(argument.value) if type(argument.value) in CONTAINERS else callee_of(argument.value)
        return found
    if type(node) is ir.Sequence:
        return set().union(*map(callee_of, node.elements))
    if type(node) is ir.Comprehension:
        return callee_of(node.element)
    return {"()"} if type(node) is ir.Dict else set()


def callee_of(node: ir.Expression) -> set[str]:
    return {last_word(node.function)} if type(node) is ir.Call else {"()"}


def iterated(node: ir.Expression) -> set[str]:
    """The attributes that a loop goes over, `enumerate` and the like looked through; "()" for anything else."""
    if type(node) is ir.Call and type(node.function) is ir.Name and node.function.id in _THROUGH:
        return set().union(*(iterated(argument.value) for argument in node.arguments))
    return {node.attr} if type(node) is ir.Attribute else {"()"}


def bound_by(target: ir.Expression) -> list[str]:
    """The plain names that a target binds: `x` and `y` of `x, y`."""
    if isinstance(target, ir.Name):
        return [target.id]
    return [name for each in target.elements for name in bound_by(each)] if isinstance(target, ir.Sequence) else []


def is_text(node: ir.Expression) -> bool:
    return type(node) is ir.Constant and type(node.value) is str


def is_container(node: ir.Expression | None) -> bool:
    """Whether an expression is a list, a tuple, a set or a dictionary, or may be one."""
    if type(node) is ir.Conditional:
        return is_container(node.body) or is_container(node.orelse)
    if type(node) is ir.Boolean:
        return any(map(is_container, node.operands))
    if type(node) is ir.Binary:
        return is_container(node.left) or is_container(node.right)
    if type(node) is ir.Call:
        return last_word(node.function) in _MAKE_CONTAINERS
    return type(node) in CONTAINERS


def is_plain(node: ir.Expression | None) -> bool:
    """Whether an expression is a container, or a text, that holds numbers and texts at most."""
    if type(node) is ir.Sequence:
        return all(type(each) is ir.Constant or is_number(each) or is_plain(each) for each in node.elements)
    if type(node) is ir.Dict:
        return all(type(each) is ir.Constant or is_number(each) or is_plain(each) for each in node.values)
    if type(node) is ir.Call and type(node.function) is ir.Name and node.function.id in _MAKE_PLAIN:
        given = [each.value for each in node.arguments]
        return all(type(each) is ir.Constant or is_number(each) or is_plain(each) for each in given)
    return type(node) is ir.FormattedString


def starts_with_super(definition: ir.FunctionDef) -> bool:
    """Whether the first thing a constructor does is to run that of its base."""
    body = definition.body
    first = body[0]
    if len(body) > 1 and isinstance(first, ir.ExpressionStatement) and isinstance(first.value, ir.Constant):
        first = body[1]
    call = first.value if isinstance(first, ir.ExpressionStatement) else None
    function = call.function if isinstance(call, ir.Call) else None
    return (
        isinstance(function, ir.Attribute)
        and function.attr == "__init__"
        and isinstance(function.value, ir.Call)
        and last_word(function.value.function) == "super"
    )


def is_numeric(node: ir.Expression) -> bool:
    """Whether an expression is a number by the look of it."""
    if type(node) is ir.Attribute:
        return type(node.value) is ir.Call and last_word(node.value.function) in ("finfo", "iinfo")
    if type(node) is ir.Binary:
        return is_numeric(node.left) and is_numeric(node.right)
    if type(node) is ir.Call:
        function = node.function
        if type(function) is ir.Attribute:
            return type(function.value) is ir.Name and function.value.id == "math"
        return type(function) is ir.Name and function.id in ("float", "int", "len")
    return is_number(node)


def only_grows(value: ir.Expression) -> bool:
    """Whether `+=` of a value is of no tensor: torch takes no tuple there, and no text."""
    if type(value) is ir.Conditional:
        return only_grows(value.body) and only_grows(value.orelse)
    return type(value) in CONTAINERS or is_text(value)


def is_positive(node: ir.Expression) -> bool:
    """Whether it is the number of a dimension, and not of the first."""
    return type(node) is ir.Constant and type(node.value) is int and node.value > 0


def is_minus(node: ir.Expression, number: int) -> bool:
    operand = node.operand if type(node) is ir.Unary and node.op == "-" else None
    return type(operand) is ir.Constant and type(operand.value) is int and operand.value == number


def is_product(node: ir.Expression | None) -> bool:
    """Whether an expression is a product of matrices by the look of it, or a call by a name that may be one's."""
    if type(node) is ir.Binary:
        return node.op == "@"
    if type(node) is not ir.Call:
        return False
    function = node.function
    of_name = type(function) is ir.Name or dotted_text(function).startswith("self.")
    return last_word(function) in PRODUCTS or (of_name and len(node.arguments) == 2)


def is_number(node: ir.Expression | None) -> bool:
    if type(node) is ir.Unary:
        node = node.operand
    return type(node) is ir.Constant and type(node.value) in (int, float)


def last_word(node: ir.Expression) -> str:
    """The last identifier of a name or a chain of attributes; "()" of anything else."""
    if type(node) is ir.Attribute:
        return node.attr
    return node.id if type(node) is ir.Name else "()"


def is_softmax(value: ir.Expression) -> bool:
    """Whether it is what a softmax gives, or a method of that: `torch.softmax(x, 1).type_as(x)`."""
    while type(value) is ir.Call:
        if last_word(value.function) == "softmax":
            return True
        if type(value.function) is not ir.Attribute:
            break
        value = value.function.value
    return False


def root_name(value: ir.Expression) -> str:
    """The variable that something is, or that methods are called on: `x` of `x.to(y.dtype)`."""
    while type(value) is ir.Call and type(value.function) is ir.Attribute:
        value = value.function.value
    return value.id if type(value) is ir.Name else ""


def dotted_text(node: ir.Expression) -> str:
    """A name or a chain of attributes as it is written; something unlike any other for the rest."""
    words: list[str] = []
    while type(node) is ir.Attribute:
        words.append(node.attr)
        node = node.value
    if type(node) is ir.Name:
        return ".".join([node.id, *reversed(words)])
    return f"{id(node)}"


def identifier(node: ir.Node) -> str:
    """The word that a name, an attribute or a keyword argument is; "" of anything else."""
    if isinstance(node, ir.Name):
        return node.id
    return node.attr if isinstance(node, ir.Attribute) else node.keyword if isinstance(node, ir.Argument) else ""


def same(one: object, other: object) -> bool:
    """Whether two expressions are written alike, wherever they stand."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if not isinstance(one, ir.Node):
        return type(one) is type(other) and one == other
    parts = [each.name for each in fields(one) if each.name not in ("at", "line")]
    return type(one) is type(other) and all(same(getattr(one, name), getattr(other, name)) for name in parts)


def dotted(node: ir.Node | None) -> str:
    """A name or a chain of attributes as the program writes it: `a.b.c`; of anything else ""."""
    if type(node) is ir.Name:
        return node.id
    if type(node) is ir.Attribute:
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def indices(node: ir.Subscript) -> list[ir.Expression]:
    """What stands between the brackets, part by part."""
    if isinstance(node.index, ir.Sequence) and node.index.kind == "tuple":
        return list(node.index.elements)
    return [node.index]


def integer(node: ir.Expression) -> int | None:
    """The integer that is written there, if one is."""
    sign = 1
    if isinstance(node, ir.Unary) and node.op == "-":
        sign, node = -1, node.operand
    return sign * node.value if isinstance(node, ir.Constant) and type(node.value) is int else None


_FEW = 4
"""Of so few rounds somebody has written them one by one: a loop over them grows nothing, and costs little."""


def runs_few_times(loop: ir.For | ir.While) -> bool:
    """Whether a loop is written to run a few times only."""
    if not isinstance(loop, ir.For):
        return False
    if isinstance(loop.iterable, ir.Sequence):
        return len(loop.iterable.elements) <= _FEW
    if isinstance(loop.iterable, ir.Call) and isinstance(loop.iterable.function, ir.Name):
        arguments = [each.value for each in loop.iterable.arguments]
        if loop.iterable.function.id == "range" and len(arguments) == 1 and isinstance(arguments[0], ir.Constant):
            return isinstance(arguments[0].value, int) and arguments[0].value <= _FEW
    return False
