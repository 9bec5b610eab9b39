"""
`x[i]` of tensors, lists, dictionaries, Modules and objects.

Storing into them is in `binding`.
"""

from __future__ import annotations

from torchlint.model.autograd.tensors import materialise
from torchlint.model.python.containers import any_of, holds_modules, items_of_named, slice_of
from torchlint.model.python.elements import picked
from torchlint.model.python.run import Expressions, Run
from torchlint.model.python.special_methods import given_to_special, given_to_what_it_may_be
from torchlint.model.python.variables import named_in_file, resolved
from torchlint.model.state.reachable import whole_of
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    Bound,
    Choice,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    reachable_tensors,
)
from torchlint.model.torch.arguments import comes_of_inputs
from torchlint.model.torch.indexing import SliceValue, tensor_getitem
from torchlint.syntax import ir
from torchlint.syntax.spelling import same


def evaluate_index(run: Run, node: ir.Expression) -> Value | SliceValue | list[Value | SliceValue]:
    """An evaluated index."""
    if isinstance(node, ir.Slice):
        bounds = [run.evaluate(p) if p is not None else None for p in (node.lower, node.upper, node.step)]
        return SliceValue(*bounds)
    if isinstance(node, ir.Sequence) and node.kind == "tuple":
        parts: list[Value | SliceValue] = []
        for element in node.elements:
            part = evaluate_index(run, element)
            if isinstance(part, list):
                parts.append(Sequence("tuple", tuple(p for p in part if not isinstance(p, SliceValue))))
            else:
                parts.append(part)
        return parts
    value = run.evaluate(node)
    return SliceValue(Unknown(), Unknown(), Unknown()) if isinstance(value, Scalar) and value.kind == "slice" else value


def _evaluate_subscript(run: Run, node: ir.Subscript) -> Value:
    value = run.evaluate(node.value)
    index = evaluate_index(run, node.index)
    if isinstance(index, Constant) and (found := named_in_file(run, node.value, index)) is not None:
        return found
    return subscript(run, value, index, node)


def subscript(run: Run, value: Value, index: Value | SliceValue | list[Value | SliceValue], origin: ir.Node) -> Value:
    """`value[index]`."""
    machine = run.machine
    if type(value) is Choice:
        return machine.each(value, lambda each: subscript(run, each, index, origin))
    value = resolved(run, value)
    named = isinstance(index, Constant) and isinstance(index.value, str)
    if isinstance(value, Unknown) and (comes_of_inputs(value) or value.result_of) and _is_of_dimensions(index):
        materialise(run.autograd, value)
    if isinstance(value, Unknown) and value.tensor is not None and not named:
        value = value.tensor
    if isinstance(value, Tensor):
        if named:
            machine.dead = True  # no tensor has parts with names: Python raises
            return Unknown()
        result = tensor_getitem(run.torch, value, index, origin)
        time = machine.tick()
        if _shares(result, value) and not _is_its_own(machine.statement, origin):
            value.storage.read = time
        for hook in machine.watch.indexed:
            hook(value, result, origin)
        return result
    if type(value) is Sequence:
        return picked(run, _item(value, index), value) if value.items is None else _item(value, index)
    if type(value) is Mapping:
        if value.items is not None and isinstance(index, Constant):
            return value.items.get(index.value, Unknown())
        every = list((value.items or {}).values()) + ([value.element] if value.element is not None else [])
        return picked(run, any_of(every), value) if every else Unknown()
    if type(value) is Instance and (items := items_of_named(value)) is not None:
        return _item(Sequence("tuple", tuple(items)), index)
    if type(value) is Instance and value.contents is not None and isinstance(index, _KEYS):
        return _dict_item(run, value, index, origin)
    if type(value) is Instance and value.layer is not None:
        value = value.layer
    if type(value) is Module and value.children and isinstance(index, Constant) and index.value in value.names:
        return value.children[value.names.index(str(index.value))]
    if type(value) is Module and value.kind.container and (value.children is not None or value.element):
        return _item(Sequence("list", value.children, value.element), index)
    if not isinstance(index, (SliceValue, list)) and (type(index) is not Tensor or type(value) is Instance):
        given_to_special(run, value, [index], ("__getitem__",), origin)
    elif type(index) is Tensor:  # what nobody knows computes with it
        given_to_what_it_may_be(run, value, [index], ("__getitem__",))
    layer = (isinstance(value, Unknown) and value.layer) or holds_modules(value)
    part_of = whole_of(value)
    part = Unknown(reachable_tensors(value), source=origin, layer=layer, foreign=is_foreign(value), part_of=part_of)
    if isinstance(value, Unknown):
        part.take_after(value)
    if value == External("sys.modules"):
        part.made_by = "sys.modules"
        note_reflection(run.machine, "sys.modules")
    part.picked_by = index if isinstance(index, (Unknown, Tensor)) else None
    return part


_ELLIPSIS = Constant(...)


def _is_of_dimensions(index: Value | SliceValue | list[Value | SliceValue]) -> bool:
    """Whether an index has ranges of several dimensions (`x[:, i]`, `x[..., None]`), which no list bears."""
    return isinstance(index, list) and any(isinstance(part, SliceValue) or part == _ELLIPSIS for part in index)


def _shares(result: Value, tensor: Tensor) -> bool:
    """Whether what an index gave may be a view. A copy doesn't see what is written later."""
    return any(not isinstance(each, Tensor) or each.storage is tensor.storage for _, each in alternatives(result))


def _is_its_own(statement: ir.Statement | None, origin: ir.Node) -> bool:
    """Whether the statement writes the very part that is read: `x[i] = f(x[i])`. Nobody has the old one afterwards."""
    if not isinstance(statement, ir.Assign) or not isinstance(origin, ir.Subscript):
        return False
    return any(isinstance(each, ir.Subscript) and same(each, origin) for each in statement.targets)


def _dict_item(run: Run, value: Instance, key: Value, origin: ir.Node) -> Value:
    """`value[key]` of an object whose class derives from `dict`."""
    for cls in value.cls.ancestry():
        function = cls.attributes.get("__getitem__")
        if isinstance(function, Function):
            return run.call(Bound(value, "__getitem__", function), [key], origin)
    return subscript(run, value.contents or Mapping(None), key, origin)


def _item(value: Sequence, index: Value | SliceValue | list[Value | SliceValue]) -> Value:
    if value.items is None:
        if isinstance(index, Constant) and index.value == -1 and value.last is not None:
            return value.last
        if not isinstance(index, SliceValue):
            return value.element or Unknown()
        # what was appended last, or is certainly among them, need not be in the slice
        kept = value.last is None and not value.among
        return value if kept else Sequence(value.kind, None, value.element, value.parameters_of)
    if isinstance(index, Constant) and isinstance(index.value, int):
        return value.items[index.value] if -len(value.items) <= index.value < len(value.items) else Unknown()
    if isinstance(index, SliceValue):
        bounds = slice_of(index)
        if bounds is not None:
            return Sequence(value.kind, value.items[bounds])
        return Sequence(value.kind, None, any_of(list(value.items)) if value.items else None)
    return any_of(list(value.items)) if value.items else Unknown()


_KEYS = (Constant, Scalar, Unknown, Choice, External)


EXPRESSIONS: Expressions = {
    ir.Subscript: _evaluate_subscript,
}
