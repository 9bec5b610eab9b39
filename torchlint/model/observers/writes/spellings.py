"""
How a write in place is written: through which name, and whether its result goes on as a value. No observer itself.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.events import WriteSpelling
from torchlint.model.observers.written import parent_of
from torchlint.model.state.values import External, Frame, Write
from torchlint.syntax import ir

_FORM = frozenset(
    {"shape", "size", "dim", "ndim", "ndimension", "numel", "nelement", "dtype", "device", "layout", "is_cuda", "names",
     "requires_grad", "grad_fn", "is_leaf", "stride", "is_contiguous", "new_zeros", "new_ones", "new_empty", "new_full",
     "new_tensor", "get_device", "element_size", "data_ptr", "type_as", "is_floating_point"}
)  # fmt: skip
"""What is asked of a tensor without its values."""
_LIKE: Final = frozenset(
    {"zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "is_tensor", "isinstance", "len",
     "type", "id", "is_floating_point", "numel"}
)  # fmt: skip
"""Functions that ask a tensor for its form alone."""
_ACTIVATIONS = frozenset(
    {"relu", "relu6", "leaky_relu", "rrelu", "elu", "celu", "selu", "silu", "mish", "gelu", "hardtanh", "hardswish",
     "hardsigmoid", "threshold", "sigmoid", "tanh", "clamp", "clip", "clamp_min", "clamp_max", "dropout",
     "alpha_dropout", "feature_dropout"}
)  # fmt: skip
"""What stands at the head of a branch; its result goes on there. What a running state is updated by is not in it."""


def is_unseen(write: Write) -> bool:
    """Whether a flag makes a layer or a function write in place, while it is written as any other."""
    return write.spelling == "inplace" or write.op.endswith("(inplace=True)")  # (its spelling is set once it has run)


def bare(op: str) -> str:
    """`relu` of `relu_`, `relu(inplace=True)`."""
    return op.partition("(")[0].rstrip("_")


def goes_on(write: Write, statement: ir.Statement, frame: Frame) -> bool:
    """Whether the result of a write goes on as a value: then the name it is given need not mean the new one."""
    alone = isinstance(statement, ir.ExpressionStatement) and _ends_in(statement.value, write.origin)
    if is_unseen(write) or alone:
        return not alone
    if not isinstance(write.origin, ir.Call) or bare(write.op) not in _ACTIVATIONS:
        return False
    if not _is_function(write.origin, frame) and isinstance(statement, ir.Assign):
        value: ir.Expression | None = statement.value
        while isinstance(value, ir.Call) and isinstance(value.function, ir.Attribute):
            if value is write.origin:
                return False  # `y = x.relu_()` says so itself
            value = value.function.value
    return True


def _ends_in(value: ir.Expression, call: ir.Node) -> bool:
    """Whether a value is that of a call, or of methods in place called on it one after the other."""
    while value is not call:
        if not isinstance(value, ir.Call) or not isinstance(value.function, ir.Attribute):
            return False
        if not value.function.attr.endswith("_") or value.function.attr.endswith("__"):
            return False
        value = value.function.value
    return True


def spelling_of(write: Write, frame: Frame) -> WriteSpelling:
    """The spelling, before the write is over."""
    if is_unseen(write):
        return "inplace"
    function = isinstance(write.origin, ir.Call) and write.spelling == "method" and _is_function(write.origin, frame)
    return "function" if function else write.spelling


def root(write: Write, frame: Frame) -> str:
    """
    The name that a write is given, at the root of what is written: `x` of `x.mul_(2).add_(1)` and of
    `torch.pow(y, 2, out=x).mul_(z)`; "" if none is.
    """
    origin = write.origin
    node: ir.Node | None = None
    if isinstance(origin, ir.AugmentedAssign):
        node = origin.target
    elif isinstance(origin, ir.Subscript):
        node = origin.value
    elif isinstance(origin, ir.Call) and isinstance(origin.function, ir.Attribute) and not is_unseen(write):
        node = None if _is_function(origin, frame) else origin.function.value
    if node is None and isinstance(origin, ir.Call) and origin.arguments and not origin.arguments[0].star:
        node = origin.arguments[0].value
    while isinstance(node, (ir.Attribute, ir.Subscript, ir.Call)):
        if isinstance(node, ir.Call):
            node = next((each.value for each in node.arguments if each.keyword == "out"), node.function)
        else:
            node = node.value
    return node.id if isinstance(node, ir.Name) else ""


def _is_function(call: ir.Call, frame: Frame) -> bool:
    """Whether a function of a module is called, and no method."""
    node: ir.Node = call.function
    while isinstance(node, ir.Attribute):
        node = node.value
    if not isinstance(node, ir.Name):
        return False
    around: Frame | None = frame
    while around is not None and node.id not in around.variables:
        around = around.enclosing
    # what no variable is called comes from an import of everything
    return around is None or isinstance(around.variables[node.id], External)


def asks_form(statement: ir.Statement | None, origin: ir.Node) -> bool:
    """Whether a name is read for its shape, kind or place, which no write changes; or is written (`out=part`)."""
    parent = parent_of(statement, origin) if statement is not None else None
    if isinstance(parent, ir.Attribute):
        return parent.attr in _FORM
    if isinstance(parent, ir.Compare):
        return any(op in ("is", "is not") for op in parent.ops)
    if isinstance(parent, ir.Argument) and statement is not None:
        if parent.keyword == "out":
            return True
        call = parent_of(statement, parent)
        function = call.function if isinstance(call, ir.Call) else None
        word = function.attr if isinstance(function, ir.Attribute) else getattr(function, "id", "")
        return word in _LIKE
    return isinstance(parent, ir.Delete)
