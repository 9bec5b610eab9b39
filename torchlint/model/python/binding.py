"""
The interpreter's assignments: names, attributes, items and tuples, `+=` in place, gradients and parameters that are
bound by hand.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import libcst as cst

from torchlint.condition import Condition
from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.shapes.dtypes import is_dtype
from torchlint.model.events import GradWrite, ParameterDerived
from torchlint.model.python.calls import FunctionMachine
from torchlint.model.python.expressions import cst_expression, is_module
from torchlint.model.state.guards import ALWAYS, Truth
from torchlint.model.state.values import (
    NONE,
    Choice,
    Class,
    Constant,
    External,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    globals_of,
    is_foreign,
    made_of,
    reachable_tensors,
)
from torchlint.syntax import ir


class BindingMachine(FunctionMachine):
    """A machine that binds."""

    def assign_statement(self, node: ir.Assign) -> None:
        if node.value is None:
            if isinstance(node.targets[0], ir.Name) and node.targets[0].id not in self.frame.variables:
                return
            return
        value = self.evaluate(node.value)
        for target in node.targets:
            self._derived_parameter(node, target, value)
            self._written_grad(target, value, node)
            self.assign(target, value)
            if isinstance(target, ir.Name):
                for hook in self.watch.name_set:
                    hook(target.id, value, node)

    def assign(self, target: ir.Expression, value: Value) -> None:
        """Bind a name, an attribute, an item, or the parts of a tuple."""
        if isinstance(target, ir.Name):
            self._name_value(value, target.id)
            self.set_variable(target.id, value)
        elif isinstance(target, ir.Attribute):
            self._set_attribute(self.evaluate(target.value), target, value)
        elif isinstance(target, ir.Subscript):
            self._set_item(target, value, "[...] =", target.value)
        elif isinstance(target, ir.Sequence):
            self._unpack(target, value)
        elif isinstance(target, ir.Starred):
            self.assign(target.value, value)

    def set_variable(self, name: str, value: Value) -> None:
        """Bind a variable in the frame it belongs to."""
        frame = self.frame
        if name in frame.globals_:
            frame = globals_of(frame)
        elif name in frame.nonlocals:
            enclosing = frame.enclosing
            while enclosing is not None and name not in enclosing.variables:
                enclosing = enclosing.enclosing
            frame = enclosing or frame
        self.trail.set(frame.variables, name, value)

    def _name_value(self, value: Value, name: str) -> None:
        """The first name a tensor is bound to is what messages call it."""
        for _, each in alternatives(value):
            if isinstance(each, Tensor):
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
            elif isinstance(each, Optimizer) and not each.name:
                each.name = name
            elif isinstance(each, Sequence) and each.kind == "list":
                for item in each.items or ():
                    if isinstance(item, Tensor) and item.alias is not None:
                        item.alias.bound = True

    def _unpack(self, target: ir.Sequence, value: Value) -> None:
        count = len(target.elements)
        starred = any(isinstance(element, ir.Starred) for element in target.elements)
        if isinstance(value, Choice):
            options = [each for _, each in alternatives(value, self.guard)]
            if all(isinstance(e, Sequence) and e.items is not None and len(e.items) == count for e in options):
                for index, element in enumerate(target.elements):
                    self.assign(
                        element,
                        choose(
                            [
                                (guard, each.items[index])
                                for guard, each in alternatives(value, self.guard)
                                if isinstance(each, Sequence) and each.items is not None
                            ]
                        ),
                    )
                return
            value = made_of([value])
        known, elements = self.elements(value)
        if known and len(elements) == count and not starred:
            for element, each in zip(target.elements, elements, strict=True):
                self.assign(element, each)
            return
        if known and starred and len(elements) >= count - 1:
            self._unpack_starred(target, elements)
            return
        for element in target.elements:
            if known and elements:
                self.assign(element, self._any(elements))
            elif elements and not isinstance(elements[0], Unknown):
                self.assign(element, elements[0])
            else:
                part = made_of([value], source=value.source if isinstance(value, Unknown) else None)
                part.part_of = value.part_of if isinstance(value, Unknown) else None
                self.assign(element, part)

    def _unpack_starred(self, target: ir.Sequence, elements: list[Value]) -> None:
        """`a, *rest, z = ...` of known length."""
        left = list(elements)
        for place, element in enumerate(target.elements):
            if isinstance(element, ir.Starred):
                after = len(target.elements) - place - 1
                taken, left = left[: len(left) - after], left[len(left) - after :]
                self.assign(element, Sequence("list", tuple(taken)))
            else:
                self.assign(element, left.pop(0))

    def _set_attribute(self, value: Value, target: ir.Attribute, new: Value) -> None:
        name = target.attr
        if name == "data":
            self.contained = False
        for hook in self.watch.attribute_set:
            hook(value, name, new, target)
        options = alternatives(value, self.guard)
        assumed = self.assumed
        for guard, each in options:
            self.assumed = assumed | guard if len(options) > 1 else assumed
            if isinstance(each, Instance):
                self._name_value(new, f"self.{name}" if self.text(target.value) == "self" else self.text(target))
                old = each.attributes.get(name)
                joined = new if not guard or old is None else choose([(guard, new), (ALWAYS, old)])
                self.set_member(each, name, joined)
            elif isinstance(each, Tensor) or (isinstance(each, Unknown) and each.tensor is not None):
                tensor = each if isinstance(each, Tensor) else each.tensor
                assert tensor is not None
                self._set_tensor_attribute(tensor, name, new)
                if isinstance(each, Unknown) and name == "requires_grad":
                    self.unsettle_origins(each)
            elif isinstance(each, Unknown):
                self.trail.set(each.attributes, name, new)
                if name == "requires_grad":
                    self.unsettle_origins(each)
            elif isinstance(each, Module):
                self._set_in_module(each, name, new)
            elif isinstance(each, Class):
                self.trail.set(each.attributes, name, new)
        self.assumed = assumed

    def set_attribute(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        """`owner.name = value`, where the name is known and not written as an attribute."""
        for guard, each in alternatives(owner, self.guard):
            if isinstance(each, Instance):
                old = each.attributes.get(name)
                self.set_member(
                    each, name, value if not guard or old is None else choose([(guard, value), (ALWAYS, old)])
                )
            elif isinstance(each, Tensor) or (isinstance(each, Unknown) and each.tensor is not None):
                tensor = each if isinstance(each, Tensor) else each.tensor
                assert tensor is not None
                self._set_tensor_attribute(tensor, name, value)
            elif isinstance(each, Module):
                self._set_in_module(each, name, value)
            if isinstance(each, Unknown) and name == "requires_grad":
                self.unsettle_origins(each)

    def _set_in_module(self, module: Module, name: str, value: Value) -> None:
        """`module.name = value` of a layer of torch; in a container it may be one of those it holds."""
        self.trail.set(module.parameters, name, value)
        if module.kind.container and (name.isdigit() or name in module.names):
            self.trail.set(module, "children", None)
            self.trail.set(module, "tail", None)
            self.trail.set(module, "element", None)

    def _set_tensor_attribute(self, tensor: Tensor, name: str, new: Value) -> None:
        if name == "grad":
            self.rebind_grad(tensor, new)
        elif name == "requires_grad":
            truth = Truth.of(new.value if isinstance(new, Constant) and isinstance(new.value, bool) else None)
            for hook in self.watch.required_grad:
                hook(tensor, new, "requires_grad", self.statement)
            self.require_grad(tensor, truth)
        elif name == "data":
            options = [each for _, each in alternatives(new)]
            data = options[0] if len(options) == 1 and isinstance(options[0], Tensor) else None
            self.trail.set(tensor, "shape", data.shape if data is not None else None)
            self.trail.set(tensor, "strides", data.strides if data is not None else None)
            self.trail.set(tensor, "trues", None)
            self.trail.set(tensor, "contiguous", data.contiguous if data is not None else Truth.MAYBE)

    def _set_item(self, target: ir.Subscript, value: Value, op: str, owner: ir.Expression) -> None:
        if self._set_by_name(target, value):
            return
        container = self.evaluate(target.value)
        index = self.index(target.index)
        self.store(container, index, value, target, owner, op)

    def _set_by_name(self, target: ir.Subscript, value: Value) -> bool:
        """`x.__dict__[name] = value`, `vars(x)[name] = value`, `globals()[name] = value`."""
        owner = self.owner_of_dict(target.value)
        if owner is None:
            return False
        name = self.evaluate(target.index)
        self.set_members(owner, {name.value: value} if isinstance(name, Constant) else None, value)
        return True

    def store(
        self, container: Value, index: Any, value: Value, target: ir.Subscript, owner: ir.Expression, op: str
    ) -> None:
        """`container[index] = value`."""
        options = alternatives(container, self.guard)
        if len(options) > 1:
            self.fork(
                [(g, partial(self.store, each, index, value, target, owner, op)) for g, each in options],
                assume=True,
            )
            return
        each = options[0][1] if options else Unknown()
        if isinstance(each, Unknown) and each.tensor is not None:
            each = each.tensor
        if isinstance(each, Tensor):
            if each.grad_of is not None and value in (Constant(0), Constant(0.0)):
                self.grad_written(each, "fill", target, each.grad_of)
            self.tensor_setitem(each, index, value, target, cst_expression(owner), self.text(owner), op)
        elif isinstance(each, Unknown) and not (isinstance(index, Constant) and isinstance(index.value, str)):
            if not (isinstance(value, Constant) and isinstance(value.value, bool)):  # a flag, or an element of a mask
                self._may_write(each, value)
        elif isinstance(each, Mapping):
            if each.items is not None and isinstance(index, Constant):
                self.trail.set(each, "items", {**each.items, index.value: value})
            else:
                every = [*(each.items or {}).values(), *([each.element] if each.element is not None else []), value]
                self.trail.set(each, "element", self._any(every))
                self.trail.set(each, "items", None)
        elif isinstance(each, Sequence):
            self._store_in_list(each, index, value)
        elif isinstance(each, Module) and each.kind.container:
            self.trail.set(each, "children", None)

    def _store_in_list(self, sequence: Sequence, index: Any, value: Value) -> None:
        self.trail.set(sequence, "last", None)
        if (
            sequence.items is not None
            and isinstance(index, Constant)
            and isinstance(index.value, int)
            and -len(sequence.items) <= index.value < len(sequence.items)
        ):
            items = list(sequence.items)
            items[index.value] = value
            self.trail.set(sequence, "items", tuple(items))
        else:
            self._widen(sequence, [value])

    def augmented_statement(self, node: ir.AugmentedAssign) -> None:
        target = node.target
        if isinstance(target, ir.Subscript):
            self._augmented_item(node, target)
            return
        current = self.evaluate(target)
        value = self.evaluate(node.value)
        self._scaled_grad(node, target, current, value)
        if node.op == "@":
            # Tensors have no `__imatmul__`: Python computes the product and rebinds the name.
            self.assign(target, self.operate("@", current, value, node))
            return
        if self.holds_tensor(current) and all(not isinstance(e, (Constant, Scalar)) for _, e in alternatives(current)):
            spelling = ops.operator_spelling(f"{node.op}=")
            result = self.apply(
                spelling,
                [current, value],
                {},
                node,
                f"{node.op}=",
                target=cst_expression(target),
                name=self.text(target),
            )
            self.assign(target, current if result is not None else Unknown(reachable_tensors(current)))
            return
        if isinstance(current, Sequence) and isinstance(value, Sequence) and node.op == "+" and current.kind == "list":
            known, elements = self.elements(value)
            if known:
                self._extend(current, tuple(elements))
            else:
                self._widen(current, elements)
            return
        if not isinstance(value, Sequence):
            self._may_write(current, value)
        self.assign(target, self.operate(node.op, current, value, node))

    def _may_write(self, target: Value, value: Value) -> None:
        """A statement that writes a value in place if its target is a tensor, and nobody knows whether it is."""
        if isinstance(value, (Sequence, Mapping, Instance)) or self.kind_of(value) in ("str", "none"):
            return  # of a tensor's elements none can be that
        unknown = [each for _, each in alternatives(target) if isinstance(each, Unknown) and not is_foreign(each)]
        if unknown:
            self.contained = False  # a caller may know
        if any(each.depends or each.layer for each in unknown):
            self.undecided = True

    def _augmented_item(self, node: ir.AugmentedAssign, target: ir.Subscript) -> None:
        container = self.evaluate(target.value)
        index = self.index(target.index)
        value = self.evaluate(node.value)
        if self.holds_tensor(container):
            for guard, tensor in self.tensor_options(container):
                assumed = self.assumed
                self.assumed = assumed | guard
                # `x[i] += v` reads a view, adds in place, and writes it back: for autograd one write through a view.
                self.tensor_setitem(
                    tensor,
                    index,
                    value,
                    node,
                    cst_expression(target.value),
                    self.text(target.value),
                    f"[...] {node.op}=",
                    node.op,
                )
                self.assumed = assumed
            return
        element = self.subscript(container, index, target)
        if self.holds_tensor(element):
            self.apply(
                ops.operator_spelling(f"{node.op}="),
                [element, value],
                {},
                node,
                f"{node.op}=",
                target=cst_expression(target),
            )
            return
        self._may_write(container, value)
        self.store(container, index, self.operate(node.op, element, value, node), target, target.value, "[...] =")

    def _written_grad(self, target: ir.Expression, value: Value, node: ir.Assign) -> None:
        if not (isinstance(target, ir.Attribute) and target.attr == "grad"):
            return
        how: GradWrite
        if value == NONE:
            how = "none"
        elif isinstance(value, Tensor) and value.made_by in ("zeros_like", "zeros"):
            how = "zeros"
        else:
            return
        for _, each in alternatives(self.evaluate(target.value)):
            if isinstance(each, Unknown) and each.element_of_parameters:
                each = self.materialise(each)
                each.name = each.name or self.text(target.value)
            if isinstance(each, Tensor):
                self.grad_written(each, how, node, each)

    def _scaled_grad(self, node: ir.AugmentedAssign, target: ir.Expression, current: Value, value: Value) -> None:
        if node.op != "*" or value not in (Constant(0), Constant(0.0)):
            return
        for _, each in alternatives(current):
            if isinstance(each, Tensor) and each.grad_of is not None:
                self.grad_written(each, "scale", node, each.grad_of)
            elif each == NONE and isinstance(target, ir.Attribute) and target.attr == "grad":
                for _, owner in alternatives(self.evaluate(target.value)):
                    if isinstance(owner, Tensor):
                        self.grad_written(None, "scale", node, owner)

    def _derived_parameter(self, node: ir.Assign, target: ir.Expression, value: Value) -> None:
        if not (isinstance(target, ir.Attribute) and node.value is not None):
            return
        parameter, op = self._parameter_in(node.value)
        if parameter is None or not op:
            return
        for _, each in alternatives(self.evaluate(target.value)):
            if not isinstance(each, Instance) or is_module(each) is Truth.NO:
                continue
            options = [v for _, v in alternatives(value)]
            if any(isinstance(v, Tensor) and v.is_parameter is Truth.YES for v in options) and op not in _MOVES:
                continue
            if not all(isinstance(v, (Tensor, Unknown)) for v in options):
                continue
            self.emit(
                ParameterDerived(
                    node=cst_expression(node.value),
                    statement=node.line,
                    conditions=self._device_of(node.value) if op == "to" else (),
                    attribute=target.attr,
                    module=each.cls.name,
                    op=op,
                    parameter_node=parameter,
                    value_node=cst_expression(node.value),
                )
            )

    def _parameter_in(self, node: ir.Expression) -> tuple[cst.Call | None, str]:
        """The `nn.Parameter(...)` at the bottom of a chain of operations, and the operation applied last."""
        op = ""
        current: ir.Expression = node
        while True:
            if isinstance(current, ir.Binary):
                op = op or current.op
                left, _ = self._parameter_in(current.left)
                current = current.left if left is not None else current.right
            elif isinstance(current, ir.Unary):
                op = op or current.op
                current = current.operand
            elif isinstance(current, ir.Call) and isinstance(current.origin, cst.Call):
                if self._is_parameter_call(current):
                    return current.origin, op
                inner, applied = self._operand(current)
                if inner is None:
                    return None, ""
                op = op or applied
                current = inner
            else:
                return None, ""

    def _is_parameter_call(self, node: ir.Call) -> bool:
        callee = self.evaluate_again(node.function)
        return isinstance(callee, External) and callee.qualified == "torch.nn.Parameter"

    def _operand(self, node: ir.Call) -> tuple[ir.Expression | None, str]:
        """What a call is applied to, and the operation ("" where the result is the same object)."""
        function = node.function
        callee = self.evaluate_again(function)
        if isinstance(function, ir.Attribute) and not isinstance(self.evaluate_again(function.value), External):
            same = function.attr.endswith("_") or (function.attr == "to" and self._to_cpu(node))
            return function.value, "" if same else function.attr
        if isinstance(callee, External) and callee.qualified.startswith("torch.") and node.arguments:
            return node.arguments[0].value, callee.qualified.rpartition(".")[2]
        return None, ""

    def _device_of(self, node: ir.Expression) -> tuple[Condition, ...]:
        """`.to(device)` of a new parameter gives another tensor only where the device is another one than the CPU."""
        if not isinstance(node, ir.Call) or not isinstance(node.function, ir.Attribute) or node.function.attr != "to":
            return ()
        given = next((each.value for each in node.arguments if each.keyword in ("", "device")), None)
        if isinstance(given, ir.Call) and self.text(given.function) == "torch.device" and given.arguments:
            given = given.arguments[0].value
        value = self.evaluate_again(given) if given is not None else None
        known = isinstance(given, ir.Constant) or (isinstance(value, External) and is_dtype(value.qualified))
        if given is None or known or isinstance(value, Constant):
            return ()
        return (Condition("device", self.text(given) or "its argument"),)

    def _to_cpu(self, node: ir.Call) -> bool:
        values = [argument.value for argument in node.arguments]
        return len(values) == 1 and isinstance(values[0], ir.Constant) and values[0].value == "cpu"

    def evaluate_again(self, node: ir.Expression) -> Value:
        """The value of a name or attribute chain, without running any call a second time."""
        if isinstance(node, ir.Name):
            return self.lookup(node.id)
        if isinstance(node, ir.Attribute):
            value = self.evaluate_again(node.value)
            if isinstance(value, Tensor) and node.attr == "data":
                return value
            if isinstance(value, Tensor) and node.attr in ("T", "mT"):
                return Unknown()
            if isinstance(value, Instance):
                return value.attributes.get(node.attr) or Unknown()
            return self.attribute(value, node.attr, node)
        return Unknown()


# A new Parameter has the default dtype and lies on the CPU (unless its argument did not, which is then no move).
_MOVES = frozenset({"cuda", "to", "double", "half", "bfloat16"})
