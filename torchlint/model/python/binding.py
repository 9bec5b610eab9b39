"""
Assignments: names, attributes, items and tuples.

A tensor is called by the first name it is bound to. Attributes of objects are set in `members`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from torchlint.model.autograd.tensors import materialise
from torchlint.model.autograd.writes import escape
from torchlint.model.python.attributes import evaluate_again, owner_of_dict
from torchlint.model.python.containers import any_of, elements_of, values_of, widen_list, with_key
from torchlint.model.python.derived_parameters import cst_expression, derived_parameter, written_grad
from torchlint.model.python.elements import picked
from torchlint.model.python.exposure import expose_put
from torchlint.model.python.flags import unsettle_origins
from torchlint.model.python.indirection import is_unknown_code
from torchlint.model.python.members import (
    is_composed,
    note_replaced,
    patch_what_it_may_be,
    replace_of_torch,
    set_in_class,
    set_in_module,
    set_in_some_module,
    set_member,
    set_members,
    set_tensor_attribute,
    written_to_mapping,
)
from torchlint.model.python.process import may_register
from torchlint.model.python.run import Run, Statements
from torchlint.model.python.special_methods import given_to_special
from torchlint.model.python.subscripts import evaluate_index
from torchlint.model.python.unseen_classes import note_put
from torchlint.model.python.variables import set_variable
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    Choice,
    Class,
    Constant,
    External,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    is_foreign,
    made_of,
    reachable_tensors,
)
from torchlint.model.torch.arguments import comes_of_inputs, kind_of
from torchlint.model.torch.arrays import write_array
from torchlint.model.torch.gradients import grad_written
from torchlint.model.torch.indexing import SliceValue, is_whole, tensor_setitem
from torchlint.model.torch.tensor_methods import shape_value
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted


def assign_statement(run: Run, node: ir.Assign) -> None:
    """`target = value`, with or without an annotation."""
    if node.value is None:
        if isinstance(node.targets[0], ir.Name) and node.targets[0].id not in run.machine.frame.variables:
            return
        return
    value = run.evaluate(node.value)
    for target in node.targets:
        if type(target) is ir.Attribute:
            derived_parameter(run, node, target, value)
            written_grad(run, target, value, node)
        elif type(target) is ir.Sequence:
            value = _of_rank(run, node.value, target) or value
        assign(run, target, value)
        if type(target) is ir.Name:
            for hook in run.machine.watch.name_set:
                hook(target.id, value, node)
        elif isinstance(target, ir.Sequence):
            variables = run.machine.frame.variables
            for element in target.elements:
                if isinstance(element, ir.Name) and element.id in variables:
                    for hook in run.machine.watch.name_set:
                        hook(element.id, variables[element.id], node)


def _of_rank(run: Run, node: ir.Expression, target: ir.Sequence) -> Value | None:
    """
    `batch, length, width = x.shape`: Python goes on only where `x` has three dimensions. What the sizes are then; None
    where nothing has come to be known.
    """
    called = isinstance(node, ir.Call) and not node.arguments
    asked = node.function if isinstance(node, ir.Call) and called else node
    if not (isinstance(asked, ir.Attribute) and asked.attr == ("size" if called else "shape")):
        return None
    if any(isinstance(each, ir.Starred) for each in target.elements):
        return None
    owner = evaluate_again(run, asked.value)
    if isinstance(owner, Unknown):
        # an input of a `forward`, as with the methods of tensors: of a size that is taken apart it is a tensor
        owner = materialise(run.autograd, owner) if _is_tensor(owner) else owner.tensor or owner
    if not isinstance(owner, Tensor) or owner.shape is not None:
        return None
    run.machine.trail.set(owner, "shape", (None,) * len(target.elements))
    return shape_value(run.torch, owner)


def _is_tensor(sized: Unknown) -> bool:
    """Whether it comes of inputs of a `forward`, or is what a layer returned that its Module was given."""
    return bool(comes_of_inputs(sized) or sized.result_of)


def assign(run: Run, target: ir.Expression, value: Value) -> None:
    """Bind a name, an attribute, an item, or the parts of a tuple."""
    if type(target) is ir.Name:
        _name_value(value, target.id)
        set_variable(run, target.id, value)
    elif type(target) is ir.Attribute:
        set_attribute(run, run.evaluate(target.value), target, value)
    elif isinstance(target, ir.Subscript):
        _set_item(run, target, value, "[...] =", target.value)
    elif isinstance(target, ir.Sequence):
        _unpack(run, target, value)
    elif isinstance(target, ir.Starred):
        assign(run, target.value, value)


def _name_value(value: Value, name: str) -> None:
    """The first name a tensor is bound to is what messages call it."""
    for _, each in alternatives(value):
        if type(each) is Tensor:
            if not each.name or each.view:
                each.name = name
            if each.alias is not None:
                each.alias.bound = True
            for _, node in each.grad_fn:
                if not node.result:
                    node.result = name
                    for saved in (node.output_of or node).saved:
                        if saved.tensor is each:
                            saved.name = name
        elif isinstance(each, Unknown):
            for tensor in each.depends:
                if tensor.alias is not None and tensor.origin is each.source:
                    tensor.name = tensor.name or name
                    tensor.alias.bound = True
        elif type(each) is Optimizer and not each.name:
            each.name = name
        elif type(each) is Sequence and each.kind == "list":
            for item in each.items or ():
                if isinstance(item, Tensor) and item.alias is not None:
                    item.alias.bound = True


def _unpack(run: Run, target: ir.Sequence, value: Value) -> None:
    count = len(target.elements)
    starred = any(isinstance(element, ir.Starred) for element in target.elements)
    if isinstance(value, Choice):
        options = [each for _, each in alternatives(value, run.machine.guard)]
        if all(isinstance(e, Sequence) and e.items is not None and len(e.items) == count for e in options):
            for index, element in enumerate(target.elements):
                assign(
                    run,
                    element,
                    choose(
                        [
                            (guard, each.items[index])
                            for guard, each in alternatives(value, run.machine.guard)
                            if isinstance(each, Sequence) and each.items is not None
                        ]
                    ),
                )
            return
        value = made_of([value])
    known, elements = elements_of(run, value)
    if known and len(elements) == count and not starred:
        for element, each in zip(target.elements, elements, strict=True):
            assign(run, element, each)
        return
    if known and starred and len(elements) >= count - 1:
        _unpack_starred(run, target, elements)
        return
    for element in target.elements:
        if known and elements:
            part = any_of(elements)
        elif elements and not isinstance(elements[0], Unknown):
            part = picked(run, elements[0], value) if not isinstance(element, ir.Starred) else elements[0]
        else:
            unknown = made_of([value], source=value.source if isinstance(value, Unknown) else None)
            if isinstance(value, Unknown):
                unknown.part_of = value.part_of
                unknown.take_after(value)
            part = unknown
        assign(run, element, Sequence("list", None, part) if isinstance(element, ir.Starred) else part)


def _unpack_starred(run: Run, target: ir.Sequence, elements: list[Value]) -> None:
    """`a, *rest, z = ...` of known length."""
    left = list(elements)
    for place, element in enumerate(target.elements):
        if isinstance(element, ir.Starred):
            after = len(target.elements) - place - 1
            taken, left = left[: len(left) - after], left[len(left) - after :]
            assign(run, element, Sequence("list", tuple(taken)))
        else:
            assign(run, element, left.pop(0))


def set_attribute(run: Run, value: Value, target: ir.Attribute, new: Value) -> None:
    machine = run.machine
    name = target.attr
    if name == "data":
        machine.externally_pure = False
    for hook in machine.watch.attribute_set:
        hook(value, name, new, target)
    options = alternatives(value, machine.guard)
    if len(options) == 1:
        _set_attribute_of(run, options[0][1], target, new)
    else:  # of the one that it is; the others keep theirs
        arms = [(guard, partial(_set_attribute_of, run, each, target, new)) for guard, each in options]
        machine.fork(arms, assume=True)


def _set_attribute_of(run: Run, each: Value, target: ir.Attribute, new: Value) -> None:
    machine, name = run.machine, target.attr
    of_class = isinstance(target.value, ir.Attribute) and target.value.attr == "__class__"
    if of_class and isinstance(each, (External, Unknown)):
        note_reflection(machine, dotted(target) or "__class__")
    note_replaced(run, each, name, new, f"{dotted(target) or name} = …")
    if isinstance(each, Instance):
        _name_value(new, f"self.{name}" if dotted(target.value) == "self" else dotted(target))
        set_member(run, each, name, new)
    elif isinstance(each, Tensor) or (isinstance(each, Unknown) and each.tensor is not None):
        tensor = each if isinstance(each, Tensor) else each.tensor
        assert tensor is not None
        set_tensor_attribute(run, tensor, name, new)
        if isinstance(each, Unknown) and name == "requires_grad":
            unsettle_origins(run, each)
    elif isinstance(each, Unknown):
        given_to_special(run, each, [new], (), target)
        expose_put(run, each, target, new)
        patch_what_it_may_be(run, each)
        machine.trail.set(each.attributes, name, new)
        if name == "requires_grad":
            unsettle_origins(run, each)
        else:
            set_in_some_module(run, name, new)
    elif isinstance(each, Module):
        set_in_module(run, each, name, new)
    elif isinstance(each, Class):
        set_in_class(run, each, name, new)
    elif isinstance(each, External):
        given_to_special(run, each, [new], (), target)
        expose_put(run, each, target, new)
        replace_of_torch(run, f"{each.qualified}.{name}")


def _set_item(run: Run, target: ir.Subscript, value: Value, op: str, owner: ir.Expression) -> None:
    if _set_by_name(run, target, value):
        return
    container = run.evaluate(target.value)
    index = evaluate_index(run, target.index)
    store(run, container, index, value, target, owner, op)


def _set_by_name(run: Run, target: ir.Subscript, value: Value) -> bool:
    """`x.__dict__[name] = value`, `vars(x)[name] = value`, `x._modules[name] = value`, `globals()[name] = value`."""
    owner = owner_of_dict(run, target.value)
    if owner is None:
        return False
    name = run.evaluate(target.index)
    named = {name.value: value} if isinstance(name, Constant) else None
    if is_unknown_code(name):
        note_put(run.machine, owner, [value])
    set_members(run, owner, named, value, anew=is_composed(name))
    return True


def store(
    run: Run, container: Value, index: Any, value: Value, target: ir.Subscript, owner: ir.Expression, op: str
) -> None:
    """`container[index] = value`."""
    machine = run.machine
    options = alternatives(container, machine.guard)
    if len(options) > 1:
        machine.fork(
            [(g, partial(store, run, each, index, value, target, owner, op)) for g, each in options],
            assume=True,
        )
        return
    each = options[0][1] if options else Unknown()
    if isinstance(each, Unknown) and each.tensor is not None:
        each = each.tensor
    named = isinstance(index, Constant) and isinstance(index.value, str)
    if isinstance(each, Instance) or (
        isinstance(each, (Unknown, External)) and (named or not isinstance(value, Tensor))
    ):
        given_to_special(run, each, [value], ("__setitem__",), target)
    if isinstance(each, External):
        expose_put(run, each, target, value)
    if isinstance(each, Unknown):
        patch_what_it_may_be(run, each)
        may_register(run, each, [value])
    if isinstance(each, Tensor):
        if each.grad_of is not None and value in (Constant(0), Constant(0.0)) and is_whole(index):
            grad_written(run.torch, each, "fill", target, each.grad_of)
        tensor_setitem(run.torch, each, index, value, target, cst_expression(owner), dotted(owner), op)
    elif isinstance(each, Unknown) and not (isinstance(index, Constant) and isinstance(index.value, str)):
        write_array(run.torch, each, target, owner, op)
        if not (isinstance(value, Constant) and isinstance(value.value, bool)):  # a flag, or an element of a mask
            may_write(run, each, value)
    elif isinstance(each, Unknown):  # whoever made the dictionary may do anything with what it holds
        escape(run.autograd, reachable_tensors(value), target)
    elif isinstance(each, Mapping):
        if each.items is not None and isinstance(index, Constant):
            machine.trail.set(each, "items", {**each.items, index.value: value})
        else:
            written_to_mapping(run, each, value)
            machine.trail.set(each, "element", any_of([*values_of(each), value]))
            machine.trail.set(each, "items", None)
            if not isinstance(index, (SliceValue, list)):
                with_key(run, each, index)
    elif isinstance(each, Sequence):
        _store_in_list(run, each, index, value)
    elif isinstance(each, Module) and each.kind.container:
        machine.trail.set(each, "children", None)
        machine.trail.set(each, "element", None)


def _store_in_list(run: Run, sequence: Sequence, index: Any, value: Value) -> None:
    run.machine.trail.set(sequence, "last", None)
    run.machine.trail.set(sequence, "among", ())
    if (
        sequence.items is not None
        and isinstance(index, Constant)
        and isinstance(index.value, int)
        and -len(sequence.items) <= index.value < len(sequence.items)
    ):
        items = list(sequence.items)
        items[index.value] = value
        run.machine.trail.set(sequence, "items", tuple(items))
    else:
        # Past the end of a list whose length is known Python raises: what is read of it later is nothing of it.
        beyond = [Unknown()] if sequence.items is not None and isinstance(index, Constant) else []
        widen_list(run, sequence, [value, *beyond])


def may_write(run: Run, target: Value, value: Value) -> None:
    """A statement that writes a value in place if its target is a tensor, and nobody knows whether it is."""
    if isinstance(value, (Sequence, Mapping, Instance)) or kind_of(value) in ("str", "none"):
        return  # of a tensor's elements none can be that
    unknown = [each for _, each in alternatives(target) if isinstance(each, Unknown) and not is_foreign(each)]
    if unknown:
        run.machine.externally_pure = False  # a caller may know
    if any(each.depends or each.possible or each.layer for each in unknown):
        run.machine.open_write = True


STATEMENTS: Statements = {
    ir.Assign: assign_statement,
}
