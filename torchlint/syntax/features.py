"""
What is written in a function, before anybody runs it: its identifiers, and marks for the spellings that some part of
the model waits for.

An observer says with `Concern`s what must be written for it to have anything to say (`Observer.concerns`), the model
with `WRITES` and the like; `relevance` asks whether it is. Purely syntactic; knows no values and judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from torchlint.knowledge.ops import find as ops
from torchlint.syntax import ir

# Marks begin with a character that no identifier has.
WRITES = "!writes"
"""Anything spelt as if it wrote in place."""
BUILDS_WRITER = "!inplace"
"""A layer is built, or a function called, that works in place if its argument says so."""
DIFFERENTIATES = "!differentiates"
"""Anything spelt as if it ran a backward, or an optimizer."""
DROPS = "!drops"
"""A statement that calls what only returns."""
DEFINES = "!defines"
"""A class is defined in a function."""
BARE = "!bare"
"""An attribute stands as a statement, or as the context of a `with`."""
SETS = "!sets"
"""An attribute is assigned that may be a parameter."""
HIDES = "!hides"
"""An attribute is given a list, a tuple, a set or a dictionary."""
COPIES = "!copies"
"""`tensor` or `new_tensor` is called on what may be a tensor by the look of it."""
COPIES_HELD = "!held"
"""The same on what an attribute holds: whoever calls knows no more of it."""
ALL_EQUAL = "!equal"
"""`equal` is called, or `all` where something is compared by `==`."""
DEEPCOPIES = "!deepcopies"
"""`deepcopy` is called on what may be, or hold, a tensor by the look of it."""
DEEPCOPIES_HELD = "!deepcopies-held"
"""The same on what an attribute holds."""
FORWARDS = "!forwards"
"""`forward` is called by name."""
FORWARDS_HELD = "!forwards-held"
"""The same on the object itself, or what an attribute holds: whoever calls knows no more of it."""
IMPLIED_DIM = "!dim"
"""A softmax is called without a word about its dimension."""
SQUARED_MEAN = "!mean"
"""A mean or a sum over all elements, a power, and a difference."""
MASKED = "!masked"
"""Something is compared that is also the argument of a function with a singular point."""
CHAIN = "!chain"
"""Two products of matrices."""
SLICED = "!sliced"
"""The result of a call is read by index."""
CUSTOM = "!custom"
"""A class is named that derives from something called `Function`."""
GROWS = "!grows"
"""In a loop a name is bound to a concatenation."""
TENSORS = "!tensors"
"""`torch` is named, or something of it that is no layer."""
ARRAYS = "!arrays"
"""NumPy or Matplotlib is named."""

EACH = "each "
"""Before the name of an attribute: its elements; before that of a callee: what an element is made by."""
SINGULAR = frozenset({"sqrt", "rsqrt", "log", "log2", "log10", "reciprocal", "acos", "asin", "acosh", "atanh"})
"""Functions whose derivative is infinite at a finite point."""
CONCATENATIONS = frozenset({"cat", "concat", "concatenate", "hstack", "vstack", "dstack", "row_stack"})
"""What joins tensors along a dimension that they have."""
SOFTMAXES = frozenset({"softmax", "log_softmax", "softmin", "Softmax", "LogSoftmax", "Softmin"})
"""Functions and layers that choose a dimension themselves if they are told none."""
PRODUCTS = frozenset({"matmul", "mm", "mv"})
"""Products of matrices, besides `@`."""
POINTWISE = frozenset(
    """
    acos asin atan cos cosh elu erf erfc exp expm1 gelu leaky_relu lgamma log log10 log1p log2 logsigmoid mish relu
    relu6 rsqrt selu sigmoid silu sin sinh softplus softsign sqrt tan tanh
    """.split()  # noqa: SIM905
)
"""Functions of each element by itself."""
POINTWISE_LAYERS = frozenset(
    """
    linear conv1d conv2d conv3d Linear Conv1d Conv2d Conv3d LogSigmoid ReLU ReLU6 GELU SiLU ELU SELU Mish LeakyReLU
    Softplus Softsign Sigmoid Tanh
    """.split()  # noqa: SIM905
)
"""Layers and their functions that treat each position by itself (a convolution does if its kernel has size 1)."""
_WHOLE = "!whole"
_POWERS = frozenset({"**", "pow", "square", "abs"})
_DIFFERENCES = frozenset({"-", "sub"})
_EQUALITIES = frozenset({"==", "eq"})
_CONTAINERS = frozenset({ir.Sequence, ir.Dict, ir.FormattedString, ir.Comprehension})
_MAKE_CONTAINERS = frozenset(
    {"list", "tuple", "set", "dict", "defaultdict", "OrderedDict", "deque", "fromkeys", "copy"}
)
_DEFAULTING = frozenset({"get", "getattr", "pop", "setattr", "setdefault"})
"""Calls in which `True` is what something is set to, or stands for what is not there."""
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_OF_LAYERS = frozenset({"ModuleList", "Sequential"})
_THROUGH = frozenset({"enumerate", "zip", "reversed", "list", "tuple"})
_INITIALISERS = ("uniform_", "normal_", "constant_", "zeros_", "ones_", "orthogonal_", "eye_", "dirac_", "sparse_")
_OF_BACKWARD = frozenset({"backward", "grad", "step", "zero_grad"})
_TESTS = frozenset({"allclose", "equal"})
_SIDE_EFFECTS = frozenset({"backward", "retain_grad", "register_hook", "item", "tolist", "cpu", "sum"})
_CONVERSIONS = frozenset({"to", "float", "double", "half", "long", "int", "bool", "cuda", "type", "type_as", "numpy"})


@dataclass(frozen=True, slots=True)
class Concern:
    """
    What must be written for an observer to have anything to say of an entry point: of each group one identifier or
    mark at least. `*part` stands for any identifier that has it, `+Layer` also for what the constructor of an object
    builds that is involved.

    Attributes
    ----------
    anywhere
        Groups of words that may stand in the entry point, or in any function of the file that it may call.
    here
        Groups of words that stand in the entry point itself: for what is seen as well when the called function is
        followed by itself.
    near
        Groups of words that may stand in the entry point, or in a function that it calls itself.
    in_constructors
        Whether what constructors do is of concern, too.
    writes
        The entry point writes in place, or what it calls may write to what it is given.
    """

    anywhere: tuple[frozenset[str], ...] = ()
    here: tuple[frozenset[str], ...] = ()
    near: tuple[frozenset[str], ...] = ()
    in_constructors: bool = True
    writes: bool = False


def anywhere(*groups: str) -> Concern:
    """A concern of words in the entry point or what it calls, each group a text with blanks between them."""
    return Concern(anywhere=tuple(frozenset(group.split()) for group in groups))


def here(*groups: str) -> Concern:
    """A concern of words in the entry point itself."""
    return Concern(here=tuple(frozenset(group.split()) for group in groups))


def near(*groups: str) -> Concern:
    """A concern of words in the entry point or what it calls itself."""
    return Concern(near=tuple(frozenset(group.split()) for group in groups))


def one_of(words: Iterable[str]) -> Concern:
    """A concern of one of these words, anywhere."""
    return Concern(anywhere=(frozenset(words),))


WRITING = Concern(writes=True)
"""The concern of who asks for writes in place."""
DIFFERENTIATING = anywhere(DIFFERENTIATES)
"""The concern of who asks for backwards, gradients and steps."""


def only_returns(spelling: str, name: str) -> bool:
    """Whether an operation of torch does nothing but return a tensor."""
    if name.endswith("_") or name in _SIDE_EFFECTS:
        return False
    found = ops.find(spelling)
    return name in _TESTS or (
        bool(found) and all(op.outputs and not op.returns_self and "self" not in op.writes for op in found)
    )


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
        elif isinstance(function, ir.Name) and not function.id.endswith(_INITIALISERS):
            name = function.id
        in_place = name.endswith("_") and not name.startswith("__") and name != "requires_grad_"
        return in_place or any(argument.keyword in ("inplace", "out") for argument in node.arguments)
    if isinstance(node, ir.Assign):
        return any(isinstance(target, ir.Subscript) for target in node.targets)
    return isinstance(node, ir.AugmentedAssign)


def differentiates(node: ir.Node) -> bool:
    """Whether a node is spelt as if it ran a backward, or an optimizer."""
    return isinstance(node, ir.Attribute) and node.attr in _OF_BACKWARD


def written(definition: ir.FunctionDef) -> ir.Written:
    """What is written in the body of a function; what the lowering has noted, if it has."""
    if definition.written is None:
        reader = Reader(parameter.name for parameter in definition.parameters)
        reader.read(definition.body)
        definition.read().written = found = reader.done()
        return found
    return definition.written


def written_in(part: list[ir.Statement] | ir.Node) -> ir.Written:
    """What is written in a block."""
    reader = Reader()
    reader.read(part)
    return reader.done()


def layers(functions: Iterable[ir.Written]) -> dict[str, set[str]]:
    """What functions assign to each attribute: the last identifiers of the calls."""
    found: dict[str, set[str]] = {}
    for function in functions:
        for name, made in function.assigned.items():
            found.setdefault(name, set()).update(made)
    return found


class Reader:
    """
    Reads the body of one function: node by node, in any order, and children before or after their parents.

    Names, attributes and keywords go into lists as they come; a function inside is read by a reader of its own.

    Parameters
    ----------
    parameters
        Names of which nobody knows what they are bound to.
    """

    def __init__(self, parameters: Iterable[str] = ()) -> None:
        self.others: set[str] = set(parameters)  # names bound to anything but an element of something
        self.names: list[str] = []
        self.attributes: list[str] = []
        self.keywords: list[str] = []
        self.words: set[str] = set()
        self.sliced: set[str] = set()
        self.assigned: dict[str, set[str]] = {}
        self.made: dict[str, set[str]] = {}
        self.indexed: list[str] = []
        self.elements: dict[str, set[str]] = {}
        self.compared: set[str] = set()
        self.singular: set[str] = set()
        self.copied: set[str] = set()
        self.products = 0
        self.numbers: set[str] = set()
        self.counted: set[str] = set()
        self.bound: set[str] = set(self.others)
        self.containers: set[str] = set()
        self.filled: set[str] = set()
        self.kept: set[str] = set()

    def read(self, part: list[ir.Statement] | ir.Node) -> None:
        """Read everything below a node."""
        pending: list[object] = [part]
        while pending:
            node = pending.pop()
            kind = type(node)
            if kind is ir.Name:
                self.names.append(node.id)  # type: ignore[attr-defined]
            elif kind is ir.Attribute:
                self.attributes.append(node.attr)  # type: ignore[attr-defined]
                pending.append(node.value)  # type: ignore[attr-defined]
            elif isinstance(node, list):
                pending += node
            elif kind is ir.FunctionDef:
                assert isinstance(node, ir.FunctionDef)
                pending += [node.decorators, node.parameters, node.returns]
                self.absorb(written(node))
            elif isinstance(node, ir.Node):
                mark = _MARKING.get(kind)
                if mark is not None:
                    mark(self, node)
                pending += [getattr(node, name) for name in ir.parts(type(node))]

    def absorb(self, inner: ir.Written) -> None:
        """A function inside has been read."""
        self.words |= inner.words
        self.sliced |= inner.sliced
        for name, made in inner.assigned.items():
            self.assigned.setdefault(name, set()).update(made)

    def done(self) -> ir.Written:
        """All of it has been read."""
        words, attributes = self.words, set(self.attributes)
        if not _OF_BACKWARD.isdisjoint(attributes):
            words.add(DIFFERENTIATES)
        if "numpy" in attributes:
            words.add(".numpy")
        words.update(self.names, attributes, self.keywords)
        if _WHOLE in words and not _POWERS.isdisjoint(words) and not _DIFFERENCES.isdisjoint(words):
            words.add(SQUARED_MEAN)
        if "equal" in words or ("all" in words and not _EQUALITIES.isdisjoint(words)):
            words.add(ALL_EQUAL)
        if not self.counted <= self.numbers - self.bound or not self.filled <= self.containers - self.bound:
            words.add(WRITES)
        if not self.copied <= (self.numbers | self.containers) - self.bound:
            words.add(COPIES)
        if not self.compared.isdisjoint(self.singular):
            words.add(MASKED)
        if self.products > 1:
            words.add(CHAIN)
        if not self.kept.isdisjoint(self.containers):
            words.add(HIDES)
        for name in self.indexed:
            self.sliced |= self.made.get(name, set())
        for name in self.sliced & self.elements.keys() - self.others:
            self.sliced.remove(name)
            self.sliced |= self.elements[name]
        return ir.Written(words, self.sliced, self.assigned)

    # -- marks

    def call(self, node: ir.Call) -> None:
        function, arguments = node.function, node.arguments
        name = function.attr if type(function) is ir.Attribute else function.id if type(function) is ir.Name else "()"
        if name[-1:] == "_" and writes(node):
            self.words.add(WRITES)
        for argument in arguments:
            keyword = argument.keyword
            if keyword:
                self.keywords.append(keyword)
                if keyword == "inplace":
                    self.words.update((WRITES, BUILDS_WRITER))
                elif keyword == "out":
                    self.words.add(WRITES)
            elif type(argument.value) is ir.Constant and argument.value.value is True and name not in _DEFAULTING:
                self.words.add(BUILDS_WRITER)
        special = _CALLED.get(name)
        if special is not None:
            special(self, node, name)

    def softmax(self, node: ir.Call, _: str) -> None:
        if not any(_is_number(argument.value) for argument in node.arguments):
            self.words.add(IMPLIED_DIM)

    def mean(self, node: ir.Call, _: str) -> None:
        if len(node.arguments) <= 1 and not any(each.keyword for each in node.arguments):
            self.words.add(_WHOLE)

    def tensor(self, node: ir.Call, _: str) -> None:
        data = node.arguments[0].value if node.arguments else None
        if _is_held(data):
            self.words.add(COPIES_HELD)
        elif type(data) is ir.Name:
            self.copied.add(data.id)
        elif data is not None and not _is_container(data) and not _is_numeric(data):
            self.words.add(COPIES)

    def deepcopy(self, node: ir.Call, _: str) -> None:
        data = node.arguments[0].value if node.arguments else None
        of_object = type(data) is ir.Attribute and data.attr == "__dict__"
        if _is_held(data) or of_object or (type(data) is ir.Name and data.id == "self"):
            self.words.add(DEEPCOPIES_HELD)
        elif data is not None:
            self.words.add(DEEPCOPIES)

    def forward(self, node: ir.Call, _: str) -> None:
        receiver = node.function.value if type(node.function) is ir.Attribute else None
        if type(receiver) is ir.Attribute or (type(receiver) is ir.Name and receiver.id == "self"):
            self.words.add(FORWARDS_HELD)
        elif receiver is not None and not (type(receiver) is ir.Call and _last(receiver.function) == "super"):
            self.words.add(FORWARDS)

    def product(self, _: ir.Call, __: str) -> None:
        self.products += 1

    def operands(self, node: ir.Call, name: str) -> None:
        operands = [argument.value for argument in node.arguments]
        if type(node.function) is ir.Attribute:
            operands.append(node.function.value)
        (self.singular if name in SINGULAR else self.compared).update(map(_text, operands))

    def binary(self, node: ir.Binary) -> None:
        self.words.add(node.op)
        if node.op == "@":
            self.products += 1
        elif node.op == "/":
            self.singular.add(_text(node.right))

    def compare(self, node: ir.Compare) -> None:
        self.words.update(node.ops)
        self.compared.add(_text(node.left))
        self.compared.update(map(_text, node.rights))

    def subscript(self, node: ir.Subscript) -> None:
        value = node.value
        if type(value) is ir.Call:
            if leaves_out(node.index):
                self.sliced.add(_last(value.function))
        elif type(value) is ir.Name and leaves_out(node.index):
            self.indexed.append(value.id)

    def assign(self, node: ir.Assign) -> None:
        for target in node.targets:
            kind = type(target)
            if kind is ir.Name:
                name: str = target.id  # type: ignore[union-attr]
                if node.value is not None and _is_numeric(node.value):
                    self.numbers.add(name)
                elif _is_container(node.value):
                    self.containers.add(name)
                else:
                    self.bound.add(name)
                if type(node.value) is ir.Call:
                    self.made.setdefault(name, set()).add(_last(node.value.function))
                if type(node.value) is ir.Subscript:
                    self.element(name, node.value.value)
                else:
                    self.others.add(name)
            elif kind is ir.Subscript:
                owner = target.value  # type: ignore[union-attr]
                if _is_text(target.index):  # type: ignore[union-attr]
                    continue
                if type(owner) is ir.Name:
                    self.filled.add(owner.id)
                else:
                    self.words.add(WRITES)
            elif kind is ir.Attribute:
                attr: str = target.attr  # type: ignore[union-attr]
                made = self.assigned.setdefault(attr, set())
                if type(node.value) is ir.Call:
                    made.add(_last(node.value.function))
                made.update(EACH + name for name in _elements(node.value))
                if _is_container(node.value):
                    self.words.add(HIDES)
                elif type(node.value) is ir.Name:
                    self.kept.add(node.value.id)
                if attr == "data":
                    self.words.add(WRITES)
            else:
                names = {each.id for each in ir.walk(target) if isinstance(each, ir.Name)}
                self.bound |= names
                self.others |= names

    def augmented(self, node: ir.AugmentedAssign) -> None:
        if type(node.value) in _CONTAINERS:
            return  # a list or a tuple grows
        if type(node.target) is ir.Name and _is_numeric(node.value):
            self.counted.add(node.target.id)
        else:
            self.words.add(WRITES)

    def expression(self, node: ir.ExpressionStatement) -> None:
        value = node.value
        if type(value) is ir.Attribute:
            self.words.add(BARE)
        elif type(value) is ir.Call and type(value.function) is ir.Attribute and _may_be_dropped(value.function.attr):
            self.words.add(DROPS)

    def class_(self, _: ir.ClassDef) -> None:
        self.words.add(DEFINES)

    def with_(self, node: ir.With) -> None:
        if any(type(item.context) is not ir.Call for item in node.items):
            self.words.add(BARE)

    def element(self, name: str, of: ir.Expression) -> None:
        """A name is bound to an element of something."""
        self.elements.setdefault(name, set()).update(EACH + each for each in _iterated(of))

    def loop(self, node: ir.For | ir.While) -> None:
        if type(node) is ir.For:
            for each in ir.walk(node.target):
                if type(each) is ir.Name:
                    self.bound.add(each.id)
                    self.element(each.id, node.iterable)
        for each in ir.walk(node.body):
            made = each.value if type(each) is ir.Assign else None
            if type(made) is ir.Call and _last(made.function) in CONCATENATIONS:
                self.words.add(GROWS)


_MARKING: dict[type, Callable[[Reader, Any], None]] = {
    ir.Call: Reader.call,
    ir.Binary: Reader.binary,
    ir.Compare: Reader.compare,
    ir.Subscript: Reader.subscript,
    ir.Assign: Reader.assign,
    ir.AugmentedAssign: Reader.augmented,
    ir.ExpressionStatement: Reader.expression,
    ir.With: Reader.with_,
    ir.ClassDef: Reader.class_,
    ir.For: Reader.loop,
    ir.While: Reader.loop,
}
_CALLED: dict[str, Callable[[Reader, ir.Call, str], None]] = {
    **dict.fromkeys(SOFTMAXES, Reader.softmax),
    **dict.fromkeys(("mean", "sum"), Reader.mean),
    **dict.fromkeys(("tensor", "new_tensor"), Reader.tensor),
    "deepcopy": Reader.deepcopy,
    "forward": Reader.forward,
    **dict.fromkeys(PRODUCTS, Reader.product),
    **dict.fromkeys(SINGULAR | _COMPARISONS, Reader.operands),
}


@cache
def _may_be_dropped(name: str) -> bool:
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
    "slice" (of a part), "whole" (`:`), "integer", "ellipsis", or "other": a step, a mask, a list, None, a name of which
    nobody knows what it is.
    """
    if isinstance(index, ir.Slice):
        if index.step is not None:
            return "other"
        return "whole" if index.lower is None and index.upper is None else "slice"
    if isinstance(index, ir.Unary) and index.op == "-":
        index = index.operand
    if not isinstance(index, ir.Constant):
        return "other"
    if index.value is ...:
        return "ellipsis"
    return "integer" if type(index.value) is int else "other"


def _is_held(node: ir.Expression | None) -> bool:
    """Whether it is an attribute of what an attribute holds."""
    return type(node) is ir.Attribute and type(node.value) is ir.Attribute


def _elements(node: ir.Expression | None) -> set[str]:
    """What the elements of a container of layers are called that is built here; "()" for one that is not built here."""
    if type(node) is ir.Call and _last(node.function) in _OF_LAYERS:
        found: set[str] = set()
        for argument in node.arguments:
            found |= _elements(argument.value) if type(argument.value) in _CONTAINERS else _callee(argument.value)
        return found
    if type(node) is ir.Sequence:
        return set().union(*map(_callee, node.elements))
    if type(node) is ir.Comprehension:
        return _callee(node.element)
    return {"()"} if type(node) is ir.Dict else set()


def _callee(node: ir.Expression) -> set[str]:
    return {_last(node.function)} if type(node) is ir.Call else {"()"}


def _iterated(node: ir.Expression) -> set[str]:
    """The attributes that a loop goes over, `enumerate` and the like looked through; "()" for anything else."""
    if type(node) is ir.Call and type(node.function) is ir.Name and node.function.id in _THROUGH:
        return set().union(*(_iterated(argument.value) for argument in node.arguments))
    return {node.attr} if type(node) is ir.Attribute else {"()"}


def _is_text(node: ir.Expression) -> bool:
    return type(node) is ir.Constant and type(node.value) is str


def _is_container(node: ir.Expression | None) -> bool:
    """Whether an expression is a list, a tuple, a set or a dictionary, or may be one."""
    if type(node) is ir.Conditional:
        return _is_container(node.body) or _is_container(node.orelse)
    if type(node) is ir.Boolean:
        return any(map(_is_container, node.operands))
    if type(node) is ir.Binary:
        return _is_container(node.left) or _is_container(node.right)
    if type(node) is ir.Call:
        return _last(node.function) in _MAKE_CONTAINERS
    return type(node) in _CONTAINERS


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
        and _last(function.value.function) == "super"
    )


def _is_numeric(node: ir.Expression) -> bool:
    """Whether an expression is a number by the look of it."""
    if type(node) is ir.Attribute:
        return type(node.value) is ir.Call and _last(node.value.function) in ("finfo", "iinfo")
    if type(node) is ir.Binary:
        return _is_numeric(node.left) and _is_numeric(node.right)
    if type(node) is ir.Call:
        function = node.function
        if type(function) is ir.Attribute:
            return type(function.value) is ir.Name and function.value.id == "math"
        return type(function) is ir.Name and function.id in ("float", "int", "len")
    return _is_number(node)


def _is_number(node: ir.Expression | None) -> bool:
    if type(node) is ir.Unary:
        node = node.operand
    return type(node) is ir.Constant and type(node.value) in (int, float)


def _last(node: ir.Expression) -> str:
    """The last identifier of a name or a chain of attributes; "()" of anything else."""
    if type(node) is ir.Attribute:
        return node.attr
    return node.id if type(node) is ir.Name else "()"


def _text(node: ir.Expression) -> str:
    """A name or a chain of attributes as it is written; something unlike any other for the rest."""
    words: list[str] = []
    while type(node) is ir.Attribute:
        words.append(node.attr)
        node = node.value
    if type(node) is ir.Name:
        return ".".join([node.id, *reversed(words)])
    return f"{id(node)}"
