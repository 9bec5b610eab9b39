"""
Registries: the dicts, sets and lists at the top of a file from which functions and classes are taken by name.

Says syntactically which of a file's containers stay as they were written, and turns their value into one that holds
only what nobody can have changed. Runs nothing, and knows nothing of torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.model.state.values import (
    Class,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Partial,
    Sequence,
    Unknown,
    Value,
    fits,
)
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted
from torchlint.syntax.unread import may_write

_READING = frozenset({"get", "items", "keys", "values", "copy", "index", "count", "__getitem__", "__contains__"})
"""Methods of containers that leave them as they are."""
_READERS = frozenset({"dict", "frozenset", "len", "list", "partial", "print", "set", "sorted", "str", "tuple"})
"""Functions that keep nothing of a container they are given."""
_MAKERS = frozenset({"dict", "frozenset", "list", "set", "tuple", "partial", "functools.partial", "OrderedDict"})
"""Functions whose result depends on nothing but their arguments."""
DICTS: Final = frozenset({"builtins.dict", "collections.OrderedDict", "collections.UserDict", "typing.OrderedDict"})
"""The classes of dicts."""


_PARTS: Final = (ir.Name, ir.Attribute, ir.Constant, ir.Argument)
"""What writes nothing and says nothing of its own parts: most of what a file is made of."""


class Changed:
    """
    The names whose container somebody in the file may change or hand on: every name that stands anywhere else than
    where it is bound, before an index that is read, before a method that reads, or behind `in`.

    Functions that nobody has read are read when somebody asks for a name that is written in them.
    """

    def __init__(self, program: list[ir.Statement]) -> None:
        self._found: set[str] = set()
        self._unread: list[ir.FunctionDef] = []
        self._look(ir.walk(program, self._unread))

    def __contains__(self, name: object) -> bool:
        assert isinstance(name, str)
        unread, self._unread = self._unread, []
        for each in unread:
            if may_write(each, (name,)):
                self._look(ir.walk(each.body))
            else:
                self._unread.append(each)
        return name in self._found

    def _look(self, nodes: list[ir.Node]) -> None:
        harmless: set[int] = set()
        for node in nodes:
            if isinstance(node, _PARTS):
                if isinstance(node, ir.Name) and id(node) not in harmless:
                    self._found.add(node.id)
                continue
            written = [target for target in _written(node) if isinstance(target, ir.Subscript)]
            self._found.update(target.value.id for target in written if isinstance(target.value, ir.Name))
            harmless.update(map(id, _looked_at(node)))


def _written(node: ir.Node) -> list[ir.Expression]:
    if isinstance(node, (ir.Assign, ir.Delete)):
        return node.targets
    return [node.target] if isinstance(node, ir.AugmentedAssign) else []


def _looked_at(node: ir.Node) -> Iterator[ir.Expression]:
    """The parts of a node that it binds, or reads and does not keep (parents are walked before their parts)."""
    if isinstance(node, ir.Assign):
        yield from node.targets
    elif isinstance(node, ir.Subscript):
        yield node.value
    elif isinstance(node, ir.Call):
        if isinstance(node.function, ir.Attribute) and node.function.attr in _READING:
            yield node.function.value
        name = dotted(node.function)
        if name in _READERS or name[:1].isupper():
            yield from (argument.value for argument in node.arguments)
    elif isinstance(node, ir.Compare):
        yield from (right for op, right in zip(node.ops, node.rights, strict=True) if op in ("in", "not in"))
    elif isinstance(node, (ir.For, ir.Generator)):
        yield node.iterable


_ACTIVATIONS = frozenset(
    """
    CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid LogSoftmax Mish ReLU ReLU6
    SELU SiLU Sigmoid Softmax Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold
    """.split()  # noqa: SIM905
)
"""Layers of torch without parameters or buffers."""


def plain(value: ir.Expression | None) -> bool:
    """Whether an expression can be run without running anybody's code."""
    if isinstance(value, ir.Sequence):
        return all(plain(each) for each in value.elements)
    if isinstance(value, ir.Dict):
        return all(key is not None and plain(key) for key in value.keys) and all(plain(each) for each in value.values)
    if isinstance(value, ir.Unary):
        return plain(value.operand)
    if isinstance(value, ir.Binary):
        return plain(value.left) and plain(value.right)
    if isinstance(value, ir.Conditional):
        return plain(value.test) and plain(value.body) and plain(value.orelse)
    if isinstance(value, ir.Attribute):
        return plain(value.value)
    if isinstance(value, ir.Call):
        return _plain_call(value)
    if isinstance(value, ir.Comprehension):
        parts = [each.iterable for each in value.generators] + [t for each in value.generators for t in each.tests]
        return plain(value.element) and all(plain(each) for each in parts)
    return isinstance(value, (ir.Constant, ir.Name))


def _plain_call(call: ir.Call) -> bool:
    name = dotted(call.function)
    given = all(not argument.star and plain(argument.value) for argument in call.arguments)
    if isinstance(call.function, ir.Attribute) and call.function.attr in ("items", "keys", "values"):
        return not call.arguments and plain(call.function.value)
    # `ACT2FN = ClassInstantier(ACT2CLS)`: what class that is shows when it is run
    wrapped = name[:1].isupper() and len(call.arguments) == 1 and isinstance(call.arguments[0].value, ir.Name)
    module, _, kind = name.rpartition(".")
    layer = (module in ("nn", "torch.nn") and kind[:1].isupper()) or (not module and kind in _ACTIVATIONS)
    return given and (name in _MAKERS or wrapped or layer or name.endswith("Loss"))


def is_stateless(value: Value) -> bool:
    """Whether a value is a layer that holds nothing, such as a loss: the same whoever calls it, and whenever."""
    if not isinstance(value, Module) or value.kind.container or value.parameters or value.children:
        return False
    return value.kind.name in _ACTIVATIONS or value.kind.name.endswith("Loss")


def constant(value: Value) -> Value:
    """
    What is certain of the value of a container that nobody changes: what it holds, where that is a function, a class
    or a constant. The value itself if it is no container.
    """
    if not fits(value):
        return Unknown()
    if isinstance(value, Sequence) and value.items is not None:
        return Sequence(value.kind, tuple(constant(each) for each in value.items))
    if isinstance(value, Mapping) and value.items is not None:
        return Mapping({key: constant(each) for key, each in value.items.items()})
    if isinstance(value, Instance) and value.contents is not None:
        held = constant(value.contents)
        return value if isinstance(held, Mapping) else Unknown()
    kept = isinstance(value, (Function, Class, Constant, External, Partial)) or is_stateless(value)
    return value if kept else Unknown()


__all__ = ["DICTS", "Changed", "constant", "is_stateless", "plain"]
