"""
Reads the bodies of functions, while they are lowered, for the features that observers wait for.

Notes what is written; `features` says what it is called, `spelling` what a single expression is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torchlint.syntax import ir
from torchlint.syntax.attention import Attention
from torchlint.syntax.features import (
    ALL_EQUAL,
    BARE,
    BINDS_LOSS,
    BUILDS_WRITER,
    CALLS_NUMPY,
    CHAIN,
    CONCATENATIONS,
    CONVERSIONS,
    COPIES,
    COPIES_HELD,
    DATA_SET,
    DEEPCOPIES,
    DEEPCOPIES_HELD,
    DEFINES,
    DIFFERENTIATES,
    DROPS,
    EACH,
    FORWARDS,
    FORWARDS_HELD,
    GRAD_MODES,
    GROWS,
    HELD_SOFTMAX,
    HIDES,
    IMPLIED_DIM,
    KEEPS_BEST,
    LOSS_NAMES,
    MASKED,
    NAMES_LOSS,
    OPEN_SOFTMAX,
    PARTS,
    PRODUCTS,
    SINGULAR,
    SOFTMAXES,
    SQUARED_MEAN,
    SWAPS_FIRST,
    SWAPS_LAST,
    WEIGHS,
    WRITES,
)
from torchlint.syntax.place import is_place
from torchlint.syntax.spelling import (
    OF_BACKWARD,
    dotted_text,
    elements_of,
    is_called_loss,
    is_container,
    is_held,
    is_minus,
    is_number,
    is_numeric,
    is_of_backward,
    is_plain,
    is_positive,
    is_product,
    is_text,
    iterated,
    last_word,
    leaves_out,
    may_be_dropped,
    only_grows,
    root_name,
    writes,
)

_HELD = frozenset({ir.Name, ir.Attribute})
_COMPUTED = frozenset({ir.Call, ir.Binary, ir.Unary})
_WHOLE = "!whole"
_POWERS = frozenset({"**", "pow", "square", "abs"})
_DIFFERENCES = frozenset({"-", "sub"})
_EQUALITIES = frozenset({"==", "eq"})
_OVER_A_DIMENSION = ("softmax", "log_softmax", "Softmax", "LogSoftmax")
_DEFAULTING = frozenset({"get", "getattr", "pop", "setattr", "setdefault"})
"""Calls in which `True` is what something is set to, or stands for what is not there."""
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


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


def differentiates(part: ir.Node) -> bool:
    """Whether anything in a piece of program is spelt as if it ran a backward, or an optimizer."""
    if not isinstance(part, ir.FunctionDef):
        return any(map(is_of_backward, ir.walk(part)))
    if DIFFERENTIATES in written(part).words:  # that is of its body
        return True
    around = [*part.decorators, *part.parameters, *([part.returns] if part.returns is not None else [])]
    return any(is_of_backward(node) for each in around for node in ir.walk(each))


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
        self.copied, self.remade = list[str](), list[str]()
        self.chained = False
        self.attention = Attention()
        self.settled: list[str] = []
        self.numbers: set[str] = set()
        self.counted: set[str] = set()
        self.bound: set[str] = set(self.others)
        self.containers: set[str] = set()
        self.filled: set[str] = set()
        self.kept: set[str] = set()
        self.plain: set[str] = set()
        self.losses: dict[str, list[int]] = {}
        self.looped = False

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
                note_conversion(self, node)  # type: ignore[arg-type]
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
        self.words |= {HIDES, *inner.words} if inner.plain else inner.words
        self.sliced |= inner.sliced
        for name, made in inner.assigned.items():
            self.assigned.setdefault(name, set()).update(made)

    def done(self) -> ir.Written:
        """All of it has been read."""
        words, attributes = self.words, set(self.attributes)
        if any(name in words or self.attributes.count(name) > 1 for name in self.plain):  # it may be filled
            words.add(HIDES)
        if not OF_BACKWARD.isdisjoint(attributes):
            words.add(DIFFERENTIATES)
        if "numpy" in attributes:
            words.add(CALLS_NUMPY)
        words.update(self.names, attributes, self.keywords)
        if _WHOLE in words and not _POWERS.isdisjoint(words) and not _DIFFERENCES.isdisjoint(words):
            words.add(SQUARED_MEAN)
        if "equal" in words or ("all" in words and not _EQUALITIES.isdisjoint(words)):
            words.add(ALL_EQUAL)
        if _copies(self):
            words.add(COPIES)
        self.bound.update(self.remade)
        if not self.counted <= self.numbers - self.bound or not self.filled <= self.containers - self.bound:
            words.add(WRITES)
        if not LOSS_NAMES.isdisjoint(self.names):
            words.add(NAMES_LOSS)
        if not self.compared.isdisjoint(self.singular):
            words.add(MASKED)
        if any(self.is_open(name) for name in _OVER_A_DIMENSION):
            words.add(OPEN_SOFTMAX)
        if self.attention.only_weighs([*self.names, *self.attributes]):
            words.add(WEIGHS)
        if self.is_open("transpose"):
            words.add(SWAPS_FIRST)
        if self.chained:
            words.add(CHAIN)
        if not self.kept.isdisjoint(self.containers):
            words.add(HIDES)
        if self.losses and ((self.looped and DIFFERENTIATES in words) or _may_drop_loss(self)):
            words.add(BINDS_LOSS)
        for name in self.indexed:
            self.sliced |= self.made.get(name, set())
        for name in self.sliced & self.elements.keys() - self.others:
            self.sliced.remove(name)
            self.sliced |= self.elements[name]
        return ir.Written(words, self.sliced, self.assigned, self.plain)

    def is_open(self, name: str) -> bool:
        """Whether a name stands anywhere but in a call of which it is settled which dimensions it means."""
        return name in self.words and self.names.count(name) + self.attributes.count(name) > self.settled.count(name)

    # -- marks

    def call(self, node: ir.Call) -> None:
        function, arguments = node.function, node.arguments
        name = function.attr if type(function) is ir.Attribute else function.id if type(function) is ir.Name else "()"
        if name[-1:] == "_" and writes(node):
            self.words.add(WRITES)
        if name in PARTS and type(function) is ir.Attribute:
            if type(function.value) is ir.Call:
                self.sliced.add(last_word(function.value.function))
            elif type(function.value) is ir.Name:
                self.indexed.append(function.value.id)
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

    def binary(self, node: ir.Binary) -> None:
        self.words.add(node.op)
        if node.op == "@":
            self.chained = self.chained or is_product(node.left) or is_product(node.right)
            self.attention.factors |= {root_name(node.left), root_name(node.right)}
        elif node.op == "/":
            self.singular.add(dotted_text(node.right))

    def compare(self, node: ir.Compare) -> None:
        self.words.update(node.ops)
        self.compared.add(dotted_text(node.left))
        self.compared.update(map(dotted_text, node.rights))

    def subscript(self, node: ir.Subscript) -> None:
        value = node.value
        if type(value) is ir.Call:
            if leaves_out(node.index):
                self.sliced.add(last_word(value.function))
        elif type(value) is ir.Name and leaves_out(node.index):
            self.indexed.append(value.id)

    def assign(self, node: ir.Assign) -> None:
        for target in node.targets:
            kind = type(target)
            if kind is ir.Name:
                name: str = target.id  # type: ignore[union-attr]
                if node.value is not None and is_numeric(node.value):
                    self.numbers.add(name)
                elif is_container(node.value):
                    self.containers.add(name)
                elif _is_copy_of(name, node.value):
                    self.remade.append(name)
                else:
                    self.bound.add(name)
                if type(node.value) is ir.Call:
                    made_by = last_word(node.value.function)
                    self.made.setdefault(name, set()).add(made_by)
                    self.attention.bind(name, node.value, made_by)
                if type(node.value) in _COMPUTED and _may_be_loss(name, node.value):
                    self.losses.setdefault(name, []).append(_column_of(node, name))
                if type(node.value) is ir.Subscript:
                    self.element(name, node.value.value)
                else:
                    self.others.add(name)
            elif kind is ir.Subscript:
                owner = target.value  # type: ignore[union-attr]
                if is_text(target.index):  # type: ignore[union-attr]
                    continue
                if type(owner) is ir.Name:
                    self.filled.add(owner.id)
                else:
                    self.words.add(WRITES)
            elif kind is ir.Attribute:
                attr: str = target.attr  # type: ignore[union-attr]
                made = self.assigned.setdefault(attr, set())
                if type(node.value) is ir.Call:
                    made.add(last_word(node.value.function))
                    self.settled.append(attr)  # what is called says which dimensions it means
                made.update(EACH + name for name in elements_of(node.value))
                _give(self, attr, node.value)
                if attr == "data":
                    self.words.update((WRITES, DATA_SET))
            else:
                names = {each.id for each in ir.walk(target) if isinstance(each, ir.Name)}
                self.bound |= names
                self.others |= names
                for part in ir.walk(target):
                    if type(part) is ir.Attribute:  # `self.model, self.head = self.make()`
                        self.assigned.setdefault(part.attr, set())

    def augmented(self, node: ir.AugmentedAssign) -> None:
        if only_grows(node.value):
            return  # a list, a tuple or a text grows
        if type(node.target) is ir.Name:
            (self.counted if is_numeric(node.value) else self.filled).add(node.target.id)
        else:
            self.words.add(WRITES)

    def expression(self, node: ir.ExpressionStatement) -> None:
        value = node.value
        if type(value) is ir.Attribute:
            self.words.add(BARE)
        elif type(value) is ir.Call:
            name = last_word(value.function)
            if name in GRAD_MODES:
                self.words.add(BARE)
            elif type(value.function) is ir.Attribute and may_be_dropped(name):
                self.words.add(DROPS)

    def class_(self, _: ir.ClassDef) -> None:
        self.words.add(DEFINES)

    def with_(self, node: ir.With) -> None:
        if any(type(item.context) is not ir.Call for item in node.items):
            self.words.add(BARE)

    def element(self, name: str, of: ir.Expression) -> None:
        """A name is bound to an element of something."""
        self.elements.setdefault(name, set()).update(EACH + each for each in iterated(of))

    def loop(self, node: ir.For | ir.While) -> None:
        if type(node) is ir.For:
            for each in ir.walk(node.target):
                if type(each) is ir.Name:
                    self.bound.add(each.id)
                    self.element(each.id, node.iterable)
        _read_loop(self, node.body)


def _give(reader: Reader, name: str, value: ir.Expression | None) -> None:
    """An attribute is given what may be a container."""
    if is_plain(value):
        reader.plain.add(name)
    elif is_container(value):
        reader.words.add(HIDES)
    elif type(value) is ir.Name:
        reader.kept.add(value.id)


def _read_loop(reader: Reader, body: list[ir.Statement]) -> None:
    """What the statements of a loop bind."""
    for each in ir.everything(body):
        if type(each) is not ir.Assign:
            continue
        made = each.value
        if type(made) is ir.Call:
            name = last_word(made.function)
            if name in CONCATENATIONS:
                reader.words.add(GROWS)
            reader.looped = reader.looped or is_called_loss(name)
        elif type(made) in _HELD and "best" in last_word(each.targets[0]).lower():
            reader.words.add(KEEPS_BEST)


def note_conversion(reader: Reader, node: ir.Attribute) -> None:
    """`np.sqrt`, `np.linalg.norm`, or what is called so and is none: whose it is, the imports of the file say."""
    owner = node.value.value if type(node.value) is ir.Attribute else node.value
    if node.attr in CONVERSIONS and type(owner) is ir.Name:
        reader.words.add(f"{owner.id}.{node.attr}")


def _may_drop_loss(reader: Reader) -> bool:
    """Whether a loss is bound and never read, or bound twice as deep in the same blocks."""
    for name, columns in reader.losses.items():
        known = [column for column in columns if column >= 0]
        if len(set(known)) < len(known) or reader.names.count(name) == 1:
            return True
    return False


_COPYING = ("tensor", "new_tensor")


def _copies(reader: Reader) -> bool:
    """Whether a name is copied that may hold a tensor: what its only copy gives it, that copy is never given."""
    remade = {name for name in reader.remade if reader.copied.count(name) > 1}
    return not (reader.numbers | reader.containers).difference(reader.bound, remade).issuperset(reader.copied)


def _column_of(node: ir.Assign, name: str) -> int:
    """Where an assignment begins in its line; -1 where its value is made of what the name held before."""
    if any(type(each) is ir.Name and each.id == name for each in ir.walk(node.value)) if node.value else True:
        return -1
    at = node.at.at if is_place(node.at) else node.at  # somebody may have asked for its place before
    return getattr(at, "col_offset", 0)


def _may_be_loss(name: str, value: ir.Expression | None) -> bool:
    return is_called_loss(name) or (isinstance(value, ir.Call) and is_called_loss(last_word(value.function)))


def _softmax(reader: Reader, node: ir.Call, name: str) -> None:
    arguments = node.arguments
    if not any(is_number(argument.value) for argument in arguments):
        reader.words.add(IMPLIED_DIM)
    given = [each.value for each in arguments if each.keyword == "dim"]
    if not given and len(arguments) <= 2 and not any(each.keyword or each.star for each in arguments):
        given = [each.value for each in arguments[-1:]]
    of_self = type(node.function) is ir.Attribute and last_word(node.function.value) == "self"
    if of_self and len(arguments) == 1:
        reader.words.add(HELD_SOFTMAX)
    elif not given or not (is_positive(given[0]) or is_minus(given[0], 1)):
        return
    reader.settled.append(name)


def _transpose(reader: Reader, node: ir.Call, name: str) -> None:
    pair = [each.value for each in node.arguments[-2:] if not (each.keyword or each.star)]
    if len(pair) < 2 or len(node.arguments) > 3:
        return
    from_the_end = all(is_minus(each, 1) or is_minus(each, 2) for each in pair)
    if from_the_end:
        reader.words.add(SWAPS_LAST)
    if from_the_end or all(map(is_positive, pair)):
        reader.settled.append(name)


def _mean(reader: Reader, node: ir.Call, _: str) -> None:
    if len(node.arguments) <= 1 and not any(each.keyword for each in node.arguments):
        reader.words.add(_WHOLE)


def _tensor(reader: Reader, node: ir.Call, _: str) -> None:
    data = node.arguments[0].value if node.arguments else None
    if is_held(data):
        reader.words.add(COPIES_HELD)
    elif type(data) is ir.Name:
        reader.copied.append(data.id)
    elif data is not None and not is_container(data) and not is_numeric(data):
        reader.words.add(COPIES)


def _is_copy_of(name: str, value: ir.Expression | None) -> bool:
    """`name = torch.tensor(name)`."""
    if type(value) is not ir.Call or last_word(value.function) not in _COPYING or not value.arguments:
        return False
    data = value.arguments[0].value
    return type(data) is ir.Name and data.id == name


def _deepcopy(reader: Reader, node: ir.Call, _: str) -> None:
    data = node.arguments[0].value if node.arguments else None
    if type(data) is ir.Comprehension and len(data.generators) == 1:  # `{name: value for … in self.__dict__.items()}`
        source = data.generators[0].iterable
        data = source.function.value if type(source) is ir.Call and type(source.function) is ir.Attribute else source
    of_object = type(data) is ir.Attribute and data.attr == "__dict__"
    if is_held(data) or of_object or (type(data) is ir.Name and data.id == "self"):
        reader.words.add(DEEPCOPIES_HELD)
    elif data is not None:
        reader.words.add(DEEPCOPIES)


def _forward(reader: Reader, node: ir.Call, _: str) -> None:
    receiver = node.function.value if type(node.function) is ir.Attribute else None
    if type(receiver) is ir.Attribute or (type(receiver) is ir.Name and receiver.id == "self"):
        reader.words.add(FORWARDS_HELD)
    elif receiver is not None and not (type(receiver) is ir.Call and last_word(receiver.function) == "super"):
        reader.words.add(FORWARDS)


def _product(reader: Reader, node: ir.Call, name: str) -> None:
    operands = [*(each.value for each in node.arguments), getattr(node.function, "value", None)]
    reader.chained = reader.chained or any(map(is_product, operands))
    _factors(reader, node, name)


def _factors(reader: Reader, node: ir.Call, _: str) -> None:
    reader.attention.factors |= {root_name(node), *[root_name(each.value) for each in node.arguments]}


def _operands(reader: Reader, node: ir.Call, name: str) -> None:
    operands = [argument.value for argument in node.arguments]
    if type(node.function) is ir.Attribute:
        operands.append(node.function.value)
    (reader.singular if name in SINGULAR else reader.compared).update(map(dotted_text, operands))


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
    **dict.fromkeys(SOFTMAXES, _softmax),
    "transpose": _transpose,
    **dict.fromkeys(("mean", "sum"), _mean),
    **dict.fromkeys(_COPYING, _tensor),
    "deepcopy": _deepcopy,
    "forward": _forward,
    **dict.fromkeys(PRODUCTS, _product),
    **dict.fromkeys(("bmm", "einsum"), _factors),
    **dict.fromkeys(SINGULAR | _COMPARISONS, _operands),
}
