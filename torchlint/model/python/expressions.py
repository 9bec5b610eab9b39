"""
The interpreter's expressions: names, attributes, operators, displays, indexing, comprehensions.

A dispatch table by node type, like `interpreter` for statements. Calls of Python code are in `functions`, of torch in
`calls`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import libcst as cst

from torchlint.knowledge import foreign
from torchlint.knowledge.factories import find as factories
from torchlint.knowledge.modules import find as modules
from torchlint.knowledge.ops import find as ops
from torchlint.model.python.introspection import MOST_TEXT, contains, name_of
from torchlint.model.python.making import MODULE_BASES
from torchlint.model.state.guards import Truth
from torchlint.model.state.machine import TooDeepError
from torchlint.model.state.values import (
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Frame,
    Function,
    Globals,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Partial,
    Scalar,
    Sequence,
    Super,
    Tensor,
    Unbound,
    Unknown,
    Value,
    alternatives,
    choose,
    globals_of,
    is_foreign,
    made_of,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.functions import truth_of
from torchlint.model.torch.indexing import IndexMachine, SliceValue
from torchlint.syntax import ir

_FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
# Where torch returns a named tuple (torch.return_types), the places of its fields.
_FIELDS = {
    "values": 0, "indices": 1, "eigenvalues": 0, "eigenvectors": 1, "Q": 0, "R": 1, "U": 0, "S": 1, "Vh": 2, "V": 2,
    "sign": 0, "logabsdet": 1, "LU": 0, "pivots": 1, "solution": 0, "residuals": 1, "min": 0, "max": 1, "mantissa": 0,
    "exponent": 1,
}  # fmt: skip
_WIDE = re.compile(r"%[^%a-zA-Z]*\d{4}")
_REFLECTED = frozenset({"**", "/", "-", "%"})
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
MOST_ITEMS = 64
"""Longest list whose elements are kept apart."""


class Imports(Protocol):
    """What a file imports from its own project (see `imports`)."""

    def offers(self, qualified: str) -> bool:
        """Whether a full name may be one of the project's: it has a file or a folder called like its first part."""

    def absolute(self, frame: Frame, qualified: str) -> str:
        """The full name of something imported in a frame: without the dots of a relative import."""

    def value(self, qualified: str) -> Value | None:
        """The value of a full name, if a file of the project defines it and it is certain which it is."""

    def name(self, frame: Globals, name: str) -> Value | None:
        """The value of a variable that a file has not set as far as it has run."""


class ExpressionMachine(IndexMachine):
    """A machine that evaluates expressions."""

    def __init__(self) -> None:
        super().__init__()
        self.globals = Globals({})
        self.frame: Frame = self.globals
        self.imports: Imports | None = None
        self.suspended: Callable[[Value], None] | None = None
        """What a generator that runs as a context manager comes back to where it yields."""

    # -- to be given by the layers above

    def call(self, node: ir.Call) -> Value:
        """Evaluate a call."""
        raise AssertionError("the layer above evaluates calls")

    def call_value(self, function: Value, positional: list[Value], origin: ir.Node) -> Value:
        """Call a value with values."""
        raise AssertionError("the layer above evaluates calls")

    def assign(self, target: ir.Expression, value: Value) -> None:
        """Bind a target."""
        raise AssertionError("the layer above binds")

    # -- dispatch

    def evaluate(self, node: ir.Expression) -> Value:
        """The abstract value of an expression."""
        self.descend()
        value: Value = _EXPRESSIONS[type(node)](self, node)
        self.nested -= 1
        return value

    def _name(self, node: ir.Name) -> Value:
        value = self.lookup(node.id)
        for hook in self.watch.name_read:
            hook(node.id, value, node)
        return value

    def lookup(self, name: str) -> Value:
        """The value of a variable: local, enclosing, global, star import, builtin."""
        frame = self.frame
        if name in frame.globals_:
            frame = globals_of(frame)
        while name not in frame.variables:
            if frame.enclosing is None:
                return self._global(frame, name)
            frame = frame.enclosing
        return _bound_on_its_paths(frame.variables[name])

    def _global(self, frame: Frame, name: str) -> Value:
        """A variable that its file has not set: of another file, of a star import, or a builtin."""
        if isinstance(frame, Globals):
            found = self.imports.name(frame, name) if self.imports is not None else None
            if found is not None:
                return found
            for module in frame.stars:
                qualified = canonical(f"{module}.{name}")
                if (
                    ops.find(qualified)
                    or modules.find(qualified)
                    or factories.find(qualified)
                    or qualified in _TORCH_NAMES
                ):
                    return External(qualified)
        return External(f"builtins.{name}") if name in _BUILTINS else Unknown()

    def _constant(self, node: ir.Constant) -> Value:
        return Constant(node.value)

    def _formatted(self, node: ir.FormattedString) -> Value:
        for part in node.parts:
            for tensor in reachable_tensors(self.evaluate(part)):
                self.use(tensor, part)
        return Scalar("str")

    def found(self, value: Value) -> Value:
        """Something imported, as the file of the project that defines it has it; else the value itself."""
        if isinstance(value, External) and self.imports is not None:
            if self.outside_left > 0:
                return self.imports.value(value.qualified) or value
            if _is_called_like_torch(value.qualified.rpartition(".")[2]):
                known = self.imports.value(value.qualified)
                if isinstance(known, External):
                    return known
            self.passed_by = self.passed_by or self.imports.offers(value.qualified)
        return value

    # -- attributes

    def _attribute(self, node: ir.Attribute) -> Value:
        owner = self.evaluate(node.value)
        value = self.attribute(owner, node.attr, node)
        if isinstance(value, Bound) and value.function is not None and value.function.kind == "opaque":
            # a decorator that nobody knows may make anything of a method, a property too
            held = [*owner.given, *held_tensors(owner)] if isinstance(owner, Instance) else []
            self.escape(held, node)
            value = Choice(((unknown_guard(), value), (unknown_guard(), Unknown(held, source=node))))
        for hook in self.watch.attribute_read:
            hook(owner, node.attr, value, node)
        return value

    def attribute(self, value: Value, name: str, origin: ir.Node) -> Value:
        """`value.name`."""
        if name == "__dict__" and isinstance(value, (Instance, Unknown, Module)):
            return Mapping(None, Unknown(part_of=value))
        if isinstance(value, Choice):
            return self.each(value, lambda each: self.attribute(each, name, origin))
        if isinstance(value, External):
            limit = foreign.limit(value.qualified, name)
            if limit is not None:
                return Scalar(limit)
            named = name_of(value) if name == "__name__" else None
            return named or imported(f"{value.qualified}.{name}")
        if isinstance(value, Tensor):
            found = self.tensor_attribute(value, name, origin)
            return found if found is not None else Bound(value, name)
        if isinstance(value, Instance):
            return self.instance_attribute(value, name, origin)
        if isinstance(value, Module):
            return self._module_attribute(value, name)
        if isinstance(value, Unknown):
            return self._unknown_attribute(value, name, origin)
        if name == "__name__" and (known := name_of(value)) is not None:
            return known
        if isinstance(value, Class):
            return self._class_attribute(value, name, origin)
        if isinstance(value, Super):
            return self._super_attribute(value, name)
        if isinstance(value, Sequence) and value.kind == "tuple" and name in _FIELDS and value.items is not None:
            place = _FIELDS[name]
            return value.items[place] if place < len(value.items) else Unknown(source=origin)
        if isinstance(value, Optimizer) and name == "param_groups":
            return Unknown(source=origin, part_of=value)
        if isinstance(value, (Sequence, Mapping, Optimizer, Function, Partial)):
            return Bound(value, name)
        return Unknown(source=origin)

    def _unknown_attribute(self, value: Unknown, name: str, origin: ir.Node) -> Value:
        if value.tensor is not None:
            found = self.tensor_attribute(value.tensor, name, origin)
            return found if found is not None else Bound(value.tensor, name)
        if name not in value.attributes:
            depends = reachable_tensors(value)
            part_of = value.part_of if name not in _OF_TENSORS else None
            value.attributes[name] = Unknown(
                depends,
                source=origin,
                layer=value.layer,
                foreign=value.foreign,
                keeps_flags=value.keeps_flags,
                part_of=part_of,
            )
        return value.attributes[name]

    def instance_attribute(self, instance: Instance, name: str, origin: ir.Node) -> Value:
        """An attribute of an object of a class of the file."""
        if name in instance.attributes:
            return instance.attributes[name]
        for cls in instance.cls.ancestry():
            if "__getattribute__" in cls.attributes:
                return Unknown(held_tensors(instance), source=origin)
            if name in cls.attributes:
                found = cls.attributes[name]
                if isinstance(found, Function):
                    if found.kind in ("property", "cached"):
                        result = self.call_value(Bound(instance, name, found), [], origin)
                        if found.kind == "cached":
                            self.trail.set(instance.attributes, name, result)
                        return result
                    return Bound(instance, name, found)
                if isinstance(found, Instance) and any("__get__" in each.attributes for each in found.cls.ancestry()):
                    return Unknown(held_tensors(instance), source=origin)
                if isinstance(found, Unknown) and found.part_of is None and is_module(instance) is not Truth.NO:
                    # it may be a method; kept like what is looked up below
                    found = Unknown(found.depends, source=origin, layer=found.layer, part_of=instance)
                    instance.attributes[name] = found
                return found
        if instance.layer is not None and (name in instance.layer.parameters or name in instance.layer.config):
            return self._module_attribute(instance.layer, name)
        if is_module(instance) is not Truth.NO and name in _MODULE_METHODS:
            return Bound(instance, name)
        if name == "__class__":
            return instance.cls
        if name == "training":
            if self.default_training is Truth.YES and is_module(instance) is Truth.YES:
                return Constant(True)
            value: Value = Scalar("bool")
        elif name in _REGISTRIES:
            value = Unknown(source=origin, part_of=instance)
        else:
            elsewhere = instance if is_module(instance) is not Truth.NO or instance.given else None
            depends = list(instance.given)
            if any("__getattr__" in cls.attributes for cls in instance.cls.ancestry()):
                depends += held_tensors(instance)
            value = Unknown(depends, source=origin, part_of=elsewhere)
        # Not through the trail: to have looked is no change of the program's state, and the same attribute must
        # be the same value on every path.
        instance.attributes[name] = value
        return value

    def _module_attribute(self, module: Module, name: str) -> Value:
        if name in _REGISTRIES:
            return Unknown(part_of=module)
        if name in module.parameters:
            return module.parameters[name]
        if name in module.config:
            value = module.config[name]
            return Constant(value) if isinstance(value, (int, float, str, bool, type(None))) else Unknown()
        return Bound(module, name)

    def _class_attribute(self, cls: Class, name: str, origin: ir.Node) -> Value:
        for each in cls.ancestry():
            if name in each.attributes:
                return each.attributes[name]
        return Bound(cls, name) if name == "apply" else Unknown(source=origin)

    def _super_attribute(self, value: Super, name: str) -> Value:
        instance = value.instance
        order = instance.cls.ancestry() if isinstance(instance, Instance) else value.cls.ancestry()
        later = order[order.index(value.cls) + 1 :] if value.cls in order else []
        for cls in later:
            found = cls.attributes.get(name)
            if isinstance(found, Function):
                return Bound(instance, name, found)
            if found is not None:
                return found
        return Bound(value, name)

    # -- operators

    def _binary(self, node: ir.Binary) -> Value:
        chain: list[ir.Binary] = []
        current: ir.Expression = node
        while isinstance(current, ir.Binary):
            chain.append(current)
            current = current.left
        value = self.evaluate(current)
        for each in reversed(chain):
            left, right = value, self.evaluate(each.right)
            value = self.operate(each.op, left, right, each)
            for hook in self.watch.binary:
                hook(each.op, left, right, value, each)
        return value

    def operate(self, op: str, left: Value, right: Value, origin: ir.Node) -> Value:
        """`left op right`."""
        if op == "*" and (self._repeats(left, right) or self._repeats(right, left)):
            sequence = left if isinstance(left, Sequence) else right
            assert isinstance(sequence, Sequence)
            return self._repeat(sequence, None)
        if self.holds_tensor(left) or self.holds_tensor(right):
            reflected = not self.holds_tensor(left)
            if reflected and op == "//" and self.kind_of(left) == "unknown":
                result = None  # a tensor that requires grad would be differentiated, by `__rfloordiv__` nothing is
            elif reflected and op in _REFLECTED:
                result = self._reflected(op, left, right, origin)
            else:
                operands = [right, left] if reflected else [left, right]
                result = self.apply(ops.operator_spelling(op, reflected), operands, {}, origin, op)
            if result is not None:
                return result
            return made_of([left, right], source=origin)
        if isinstance(left, Constant) and isinstance(right, Constant) and op in _FOLD:
            return fold(op, left, right)
        if isinstance(left, Sequence) and isinstance(right, Sequence) and op == "+":
            return self._concatenate(left, right)
        if op == "*" and isinstance(left, Sequence) and isinstance(right, Constant):
            return self._repeat(left, right.value)
        if op == "*" and isinstance(left, Constant) and isinstance(right, Sequence):
            return self._repeat(right, left.value)
        kinds = {self.kind_of(left), self.kind_of(right)}
        if kinds <= {"int", "bool"}:
            return Scalar("float" if op == "/" else "bool" if op in _COMPARISONS else "int")
        if kinds <= {"int", "bool", "float", "number"}:
            return Scalar("bool" if op in _COMPARISONS else "number")
        if kinds == {"str"}:
            return Scalar("str")
        apart = all(is_foreign(each) or isinstance(each, (Constant, Scalar)) for each in (left, right))
        result = made_of([left, right], source=origin)
        result.foreign = apart
        return result

    def _repeats(self, sequence: Value, times: Value) -> bool:
        """`[0] * n` where `n` is a tensor: torch refuses a list, so Python repeats it."""
        return isinstance(sequence, Sequence) and sequence.kind in ("list", "tuple") and self.holds_tensor(times)

    def _reflected(self, op: str, number: Value, tensor: Value, origin: ir.Node) -> Value | None:
        """`2 ** x` and the like, as torch/_tensor.py spells them."""
        if op == "/":
            inverse = self.apply("torch.Tensor.reciprocal", [tensor], {}, origin, op)
            return self.apply("torch.Tensor.mul", [inverse, number], {}, origin, op) if inverse is not None else None
        if op == "-":
            return self.apply("torch.rsub", [tensor, number], {}, origin, op)
        return self.apply("torch.pow" if op == "**" else "torch.remainder", [number, tensor], {}, origin, op)

    def holds_tensor(self, value: Value) -> bool:
        """
        Whether a value is certainly a tensor (on all its alternatives that are not plain numbers, and on one
        at least).
        """
        options = [each for _, each in alternatives(value, self.guard)]
        tensors = [e for e in options if isinstance(e, Tensor) or (isinstance(e, Unknown) and e.tensor is not None)]
        return bool(tensors) and all(isinstance(each, (Constant, Scalar)) or each in tensors for each in options)

    def _concatenate(self, left: Sequence, right: Sequence) -> Value:
        if left.items is not None and right.items is not None and len(left.items) + len(right.items) <= MOST_ITEMS:
            return Sequence(left.kind, left.items + right.items)
        inner = [each for each in (*(left.items or ()), *(right.items or ()), left.element, right.element) if each]
        unseen = any(each.items is None and each.element is None for each in (left, right))
        if inner and all(isinstance(each, (Module, Instance)) for each in inner) and not unseen:
            return Sequence(left.kind, None, inner[0])
        return Sequence(left.kind, None, self._any([*inner, Unknown()] if unseen or not inner else inner))

    def _repeat(self, left: Sequence, times: object) -> Value:
        if left.items is not None and isinstance(times, int):
            count = min(max(times, 0), MOST_ITEMS + 1)
            if len(left.items) * count <= MOST_ITEMS:
                return Sequence(left.kind, left.items * count)
        return Sequence(left.kind, None, left.items[0] if left.items else left.element)

    def _unary(self, node: ir.Unary) -> Value:
        value = self.evaluate(node.operand)
        if node.op == "not":
            truth = self.condition(value)
            return Scalar("bool") if truth is Truth.MAYBE else Constant(truth is Truth.NO)
        if self.holds_tensor(value):
            result = self.apply(ops.operator_spelling(f"{node.op}x"), [value], {}, node, node.op)
            return result if result is not None else made_of([value], source=node)
        if isinstance(value, Constant) and isinstance(value.value, (int, float)) and node.op in "-+":
            return Constant(-value.value if node.op == "-" else value.value)
        if isinstance(value, Scalar):
            return value
        return made_of([value], source=node)

    def condition(self, value: Value) -> Truth:
        """The truth of a value in an `if`."""
        if isinstance(value, Sequence):
            return Truth.MAYBE if value.items is None else Truth.of(bool(value.items))
        if isinstance(value, Mapping):
            return Truth.MAYBE if value.items is None else Truth.of(bool(value.items))
        if isinstance(value, (Instance, Module, Function, Class, Optimizer, Bound)):
            return Truth.YES if not isinstance(value, Module) or not value.kind.container else Truth.MAYBE
        return truth_of(value)

    def test(self, node: ir.Expression) -> Truth:
        """
        The truth of a condition. `a or b` holds where `b` surely does, whatever `a` is: of the value that is left of
        the two nobody could tell that.
        """
        if type(node) is ir.Unary and node.op == "not":
            return ~self.test(node.operand)
        if type(node) is not ir.Boolean:
            return self.condition(self.evaluate(node))
        decides = Truth.YES if node.op == "or" else Truth.NO
        found = ~decides
        for operand in node.operands:
            truth = self.test(operand)
            if truth is decides:
                return truth
            found = truth if found is not Truth.MAYBE else found
        return found

    def _boolean(self, node: ir.Boolean) -> Value:
        results: list[Value] = []
        for operand in node.operands:
            value = self.evaluate(operand)
            truth = self.condition(value)
            if truth is Truth.NO and node.op == "and":
                return value if not results else self._joined([*results, value])
            if truth is Truth.YES and node.op == "or":
                return value if not results else self._joined([*results, value])
            if truth is Truth.MAYBE or operand is node.operands[-1]:
                results.append(value)
        return self._joined(results) if len(results) != 1 else results[0]

    def _joined(self, values: list[Value]) -> Value:
        if all(isinstance(value, (Constant, Scalar)) for value in values):
            return Scalar("bool")
        from torchlint.model.state.trail import widen

        return widen([(frozenset(), value) for value in values])

    def _compare(self, node: ir.Compare) -> Value:
        left = self.evaluate(node.left)
        result: Value = Scalar("bool")
        for op, each in zip(node.ops, node.rights, strict=True):
            right = self.evaluate(each)
            result = self._compared(op, left, right, node)
            left = right
        return result if len(node.ops) == 1 else Scalar("bool")

    def _compared(self, op: str, left: Value, right: Value, node: ir.Node) -> Value:
        if op in ("is", "is not"):
            return self._identity(op, left, right)
        if op in ("in", "not in"):
            truth = self._contained(left, self.found(right))
            return Scalar("bool") if truth is Truth.MAYBE else Constant((truth is Truth.YES) == (op == "in"))
        for hook in self.watch.compared if op in ("==", "!=") else ():
            hook(op, left, right, node)
        if op in ("==", "!=") and (right == NONE or left == NONE):
            return self._identity("is" if op == "==" else "is not", left, right)
        return self.operate(op, left, right, node)

    def _contained(self, left: Value, right: Value) -> Truth:
        """`left in right`; what is imported is only looked up if its name does not tell."""
        truth = contains(left, right)
        known = isinstance(left, (Class, External)) and isinstance(right, Sequence) and right.items is not None
        if truth is Truth.YES or truth is Truth.NO or not known:
            return truth
        assert isinstance(right, Sequence)
        return contains(self.found(left), Sequence(right.kind, tuple(map(self.found, right.items or ()))))

    def _identity(self, op: str, left: Value, right: Value) -> Value:
        if isinstance(right, Choice) or isinstance(left, Choice):
            verdicts = {
                self._identity(op, one, two)
                for _, one in alternatives(left, self.guard)
                for _, two in alternatives(right, self.guard)
            }
            return verdicts.pop() if len(verdicts) == 1 else Scalar("bool")
        if isinstance(left, (Unknown, Scalar)) or isinstance(right, (Unknown, Scalar)):
            definite = (isinstance(left, Unknown) and left.tensor is not None and right == NONE) or (
                isinstance(left, Scalar) and left.kind != "other" and right == NONE
            )
            return Constant(op == "is not") if definite else Scalar("bool")
        same = left is right or (isinstance(left, (Constant, External)) and left == right)
        return Constant(same == (op == "is"))

    def _conditional(self, node: ir.Conditional) -> Value:
        return self.decide(node.test, lambda: self.evaluate(node.body), lambda: self.evaluate(node.orelse))

    def decide(self, test: ir.Expression, then: Callable[[], Value], other: Callable[[], Value]) -> Value:
        """Evaluate one of two, or both on paths of their own."""
        truth = self.test(test)
        if truth is not Truth.MAYBE:
            return then() if truth is Truth.YES else other()
        number, positive = self.branch_of(test)
        taken = self.taken(number)
        if taken is not None:
            return then() if (taken == 1) == positive else other()
        results = self.fork(
            [(frozenset({(number, int(positive))}), then), (frozenset({(number, int(not positive))}), other)]
        )
        return choose(results)

    def branch_of(self, test: ir.Expression) -> tuple[int, bool]:
        """The branch a condition decides, and whether its arm 1 is the one where the condition holds."""
        raise AssertionError("the layer above keys conditions")

    # -- displays

    def _sequence(self, node: ir.Sequence) -> Value:
        items: list[Value] = []
        for element in node.elements:
            if isinstance(element, ir.Starred):
                value = self.evaluate(element.value)
                if not isinstance(value, Sequence) or value.items is None:
                    for rest in node.elements:
                        if rest is not element and not isinstance(rest, ir.Starred):
                            items.append(self.evaluate(rest))
                    inner = value.element if isinstance(value, Sequence) else Unknown(reachable_tensors(value))
                    return Sequence(node.kind, None, self._any([*items, inner or Unknown()]))
                items += value.items
            else:
                items.append(self.evaluate(element))
        return Sequence(node.kind, tuple(items))

    def _any(self, values: list[Value]) -> Value:
        from torchlint.model.state.trail import widen

        return widen([(frozenset(), value) for value in values])

    def _dict(self, node: ir.Dict) -> Value:
        items: dict[object, Value] = {}
        known = True
        for key, each in zip(node.keys, node.values, strict=True):
            value = self.evaluate(each)
            if key is None:
                if isinstance(value, Mapping) and value.items is not None:
                    items.update(value.items)
                else:
                    known = False
                    items[object()] = Unknown(reachable_tensors(value))
                continue
            evaluated = self.evaluate(key)
            if isinstance(evaluated, Constant):
                items[evaluated.value] = value
            else:
                known = False
                items[object()] = value
        if known:
            return Mapping(items)
        return Mapping(None, self._any(list(items.values())))

    def _too_deep(self, node: ir.TooDeep) -> Value:
        raise TooDeepError

    def _starred(self, node: ir.Starred) -> Value:
        return self.evaluate(node.value)

    def _lambda(self, node: ir.Lambda) -> Value:
        defaults = {p.name: self.evaluate(p.default) for p in node.parameters if p.default is not None}
        return Function(node, self.frame, defaults)

    def _assigned(self, node: ir.Assigned) -> Value:
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value

    def _yield(self, node: ir.Yield) -> Value:
        value = self.evaluate(node.value) if node.value is not None else NONE
        if self.suspended is not None:
            self.suspended(value)
        else:
            self.escape(reachable_tensors(value), node)
        return Unknown()

    def _await(self, node: ir.Await) -> Value:
        return Unknown(reachable_tensors(self.evaluate(node.value)))

    # -- subscripts

    def index(self, node: ir.Expression) -> Value | SliceValue | list[Value | SliceValue]:
        """An evaluated index."""
        if isinstance(node, ir.Slice):
            bounds = [self.evaluate(p) if p is not None else None for p in (node.lower, node.upper, node.step)]
            return SliceValue(*bounds)
        if isinstance(node, ir.Sequence) and node.kind == "tuple":
            parts: list[Value | SliceValue] = []
            for element in node.elements:
                part = self.index(element)
                if isinstance(part, list):
                    parts.append(Sequence("tuple", tuple(p for p in part if not isinstance(p, SliceValue))))
                else:
                    parts.append(part)
            return parts
        return self.evaluate(node)

    def _subscript(self, node: ir.Subscript) -> Value:
        value = self.evaluate(node.value)
        return self.subscript(value, self.index(node.index), node)

    def subscript(self, value: Value, index: Value | SliceValue | list[Value | SliceValue], origin: ir.Node) -> Value:
        """`value[index]`."""
        if isinstance(value, Choice):
            return self.each(value, lambda each: self.subscript(each, index, origin))
        value = self.found(value)
        if isinstance(value, Unknown) and value.tensor is not None:
            value = value.tensor
        if isinstance(value, Tensor):
            result = self.tensor_getitem(value, index, origin)
            value.storage.read = self.tick()
            for hook in self.watch.indexed:
                hook(value, result, origin)
            return result
        if isinstance(value, Sequence):
            return self._item(value, index)
        if isinstance(value, Mapping):
            if value.items is not None and isinstance(index, Constant):
                return value.items.get(index.value, Unknown())
            every = list((value.items or {}).values()) + ([value.element] if value.element is not None else [])
            return self._any(every) if every else Unknown()
        if isinstance(value, Instance) and value.contents is not None and isinstance(index, _KEYS):
            return self._dict_item(value, index, origin)
        if isinstance(value, Instance) and value.layer is not None:
            value = value.layer
        if isinstance(value, Module) and value.children and isinstance(index, Constant) and index.value in value.names:
            return value.children[value.names.index(str(index.value))]
        if isinstance(value, Module) and value.kind.container and (value.children is not None or value.element):
            return self._item(Sequence("list", value.children, value.element), index)
        layer = (isinstance(value, Unknown) and value.layer) or _holds_modules(value)
        part_of = value.part_of if isinstance(value, Unknown) else None
        return Unknown(reachable_tensors(value), source=origin, layer=layer, foreign=is_foreign(value), part_of=part_of)

    def _dict_item(self, value: Instance, key: Value, origin: ir.Node) -> Value:
        """`value[key]` of an object whose class derives from `dict`."""
        for cls in value.cls.ancestry():
            function = cls.attributes.get("__getitem__")
            if isinstance(function, Function):
                return self.call_value(Bound(value, "__getitem__", function), [key], origin)
        return self.subscript(value.contents or Mapping(None), key, origin)

    def _item(self, value: Sequence, index: Value | SliceValue | list[Value | SliceValue]) -> Value:
        if value.items is None:
            return value if isinstance(index, SliceValue) else value.element or Unknown()
        if isinstance(index, Constant) and isinstance(index.value, int):
            return value.items[index.value] if -len(value.items) <= index.value < len(value.items) else Unknown()
        if isinstance(index, SliceValue):
            bounds = slice_of(index)
            if bounds is not None:
                return Sequence(value.kind, value.items[bounds])
            return Sequence(value.kind, None, self._any(list(value.items)) if value.items else None)
        return self._any(list(value.items)) if value.items else Unknown()

    # -- comprehensions

    def _comprehension(self, node: ir.Comprehension) -> Value:
        outer = self.frame
        self.frame = Frame({}, outer)
        keys: list[Value] = []
        try:
            items, complete = self._generate(node, 0, keys)
        finally:
            self.frame = outer
        if node.kind == "dict":
            names = [each.value for each in keys if isinstance(each, Constant)]
            if complete and len(names) == len(items) <= MOST_ITEMS:
                return Mapping(dict(zip(names, items, strict=True)))
            return Mapping(None, self._any(items) if items else None)
        kind = {"generator": "generator"}.get(node.kind, node.kind)
        if complete and len(items) <= MOST_ITEMS:
            return Sequence(kind, tuple(items))
        return Sequence(kind, None, self._any(items) if items else None)

    def _generate(self, node: ir.Comprehension, depth: int, keys: list[Value]) -> tuple[list[Value], bool]:
        if depth == len(node.generators):
            if node.key is not None:
                keys.append(self.evaluate(node.key))
            return [self.evaluate(node.element)], True
        generator = node.generators[depth]
        known, elements = self.elements(self.evaluate(generator.iterable))
        found: list[Value] = []
        complete = known
        for element in elements if len(elements) <= MOST_ITEMS else elements[:2]:
            self.assign(generator.target, element)
            keep = Truth.YES
            for test in generator.tests:
                keep = keep & self.test(test)
            if keep is Truth.NO:
                continue
            inner, all_known = self._generate(node, depth + 1, keys)
            complete = complete and all_known and keep is Truth.YES
            found += inner
        return found, complete and len(elements) <= MOST_ITEMS

    def elements(self, value: Value) -> tuple[bool, list[Value]]:
        """What iterating over a value gives: whether that is all, and the elements (one for many, if not)."""
        for hook in self.watch.iterated:
            hook(value)
        if isinstance(value, Sequence):
            if value.items is not None:
                return True, list(value.items)
            return False, [value.element if value.element is not None else Unknown()]
        if isinstance(value, Mapping) and value.items is not None:
            return True, [Constant(key) for key in value.items]
        if isinstance(value, Unknown) and value.tensor is not None:
            value = value.tensor
        if isinstance(value, Tensor):
            return self._rows(value)
        if isinstance(value, Instance) and value.layer is not None:
            value = value.layer
        if isinstance(value, Module) and value.children is not None and value.kind.container:
            return True, [Constant(name) for name in value.names] if value.names else list(value.children)
        if isinstance(value, Module) and value.element is not None:
            return False, [value.element]
        if isinstance(value, Unknown):
            return False, [
                Unknown(
                    reachable_tensors(value),
                    source=value.source,
                    layer=value.layer,
                    element_of_parameters=value.element_of_parameters,
                    foreign=value.foreign,
                    part_of=value.part_of,
                )
            ]
        return False, [Unknown(reachable_tensors(value), layer=_holds_modules(value))]

    def _rows(self, tensor: Tensor) -> tuple[bool, list[Value]]:
        result = self.apply("torch.Tensor.unbind", [tensor], {}, tensor.origin, "unbind")
        if isinstance(result, Sequence):
            return result.items is not None, list(result.items or (result.element or Unknown(),))
        return False, [Unknown([tensor], certain_edge=True)]


@cache
def _is_called_like_torch(name: str) -> bool:
    """Whether a name may be another one for something of torch (`kornia.core.einsum`): those are called like it."""
    functions = (f"torch.{name}", f"torch.nn.functional.{name}", f"torch.linalg.{name}")
    known = any(ops.find(each) for each in functions) or factories.find(f"torch.{name}") is not None
    return known or modules.find(f"torch.nn.{name}") is not None


def slice_of(index: SliceValue) -> slice | None:
    """A slice of a list, None if its parts are not known."""
    parts = [_bound(part) for part in (index.lower, index.upper, index.step)]
    if not all(known for known, _ in parts) or parts[2][1] == 0:
        return None
    return slice(*(part for _, part in parts))


def _bound(part: Value | None) -> tuple[bool, int | None]:
    """One part of a slice: whether it is known, and what it is."""
    if part is None or part == NONE:
        return True, None
    if isinstance(part, Constant) and isinstance(part.value, int):
        return True, part.value
    return False, None


def _holds_modules(value: Value) -> bool:
    """Whether what is in it are certainly Modules."""
    return isinstance(value, Module) and value.kind.container in ("sequential", "list", "dict")


_OF_TENSORS = frozenset({"data", "device", "dtype", "grad", "is_leaf", "ndim", "requires_grad", "shape"})
_KEYS = (Constant, Scalar, Unknown, Choice, External)


def _bound_on_its_paths(value: Value) -> Value:
    """A variable that some paths leave unbound: who comes past its use came on another path."""
    if not isinstance(value, Choice) or not any(isinstance(each, Unbound) for _, each in value.alternatives):
        return value
    bound = tuple(option for option in value.alternatives if not isinstance(option[1], Unbound))
    return bound[0][1] if len(bound) == 1 else Choice(bound) if bound else value


def fold(op: str, left: Constant, right: Constant) -> Value:
    """Fold two constants; a result that would be huge, or an error, is unknown."""
    if isinstance(left.value, (str, bytes)) and (op == "*" or (op == "%" and _WIDE.search(str(left.value)))):
        return Scalar("str")
    try:
        value = _FOLD[op](left.value, right.value)
    except (TypeError, ValueError, ArithmeticError):
        return Unknown()
    if isinstance(value, int) and value.bit_length() > 256:
        return Scalar("int")
    if isinstance(value, str) and len(value) > MOST_TEXT:
        return Scalar("str")
    return Constant(value) if isinstance(value, (int, float, str, bool)) else Unknown()


def imported(qualified: str) -> Value:
    """What a name of a module stands for."""
    number = foreign.CONSTANTS.get(qualified)
    return Constant(number) if number is not None else External(canonical(qualified))


def canonical(qualified: str) -> str:
    """The public name of something of torch: `torch.nn.modules.linear.Linear` is `torch.nn.Linear`."""
    if not qualified.startswith("torch."):
        return qualified
    for private, public in _PUBLIC:
        if qualified.startswith(private):
            rest = qualified[len(private) :]
            last = rest.rpartition(".")[2]
            if last and (last[0].isupper() or public == "torch."):
                return public + last
    return qualified


_PUBLIC = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.nn.parameter.", "torch.nn."),
    ("torch.functional.", "torch."),
    ("torch.autograd.variable.", "torch.autograd."),
    ("torch._tensor.", "torch."),
)
_TORCH_NAMES = frozenset({"torch.no_grad", "torch.enable_grad", "torch.nn", "torch.optim", "torch.autograd"})
_BUILTINS = frozenset(
    [
        "abs",
        "all",
        "any",
        "bool",
        "callable",
        "dict",
        "divmod",
        "eval",
        "exec",
        "globals",
        "locals",
        "enumerate",
        "filter",
        "float",
        "frozenset",
        "getattr",
        "hasattr",
        "hash",
        "id",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "object",
        "open",
        "print",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
        "RuntimeError",
        "ValueError",
        "Exception",
        "property",
        "staticmethod",
        "classmethod",
    ]
)
_REGISTRIES = frozenset({"_parameters", "_modules", "_buffers"})
_MODULE_METHODS = frozenset(
    [
        "parameters",
        "named_parameters",
        "children",
        "named_children",
        "modules",
        "named_modules",
        "buffers",
        "zero_grad",
        "train",
        "eval",
        "to",
        "cuda",
        "cpu",
        "half",
        "float",
        "double",
        "bfloat16",
        "register_buffer",
        "register_parameter",
        "add_module",
        "register_module",
        "apply",
        "state_dict",
        "load_state_dict",
        "requires_grad_",
        "__call__",
        "__setattr__",
        "share_memory",
        "type",
        "get_parameter",
        "get_submodule",
        "register_forward_hook",
        "register_full_backward_hook",
        "register_forward_pre_hook",
    ]
)


def held_tensors(instance: Instance) -> list[Tensor]:
    """The tensors among an object's attributes, and in containers there."""
    return [tensor for value in instance.attributes.values() for tensor in reachable_tensors(value)]


def is_module(instance: Instance) -> Truth:
    """Whether an object is an `nn.Module`: MAYBE when it has a base that the model cannot see."""
    outside = instance.cls.outside()
    for base in outside:
        if isinstance(base, External) and (base.qualified in MODULE_BASES or modules.find(base.qualified) is not None):
            return Truth.YES
    unseen = [
        base
        for base in outside
        if not (isinstance(base, External) and base.qualified.startswith(("builtins.", "abc.", "typing.", "enum.")))
    ]
    return Truth.MAYBE if unseen else Truth.NO


def cst_expression(node: ir.Node) -> cst.BaseExpression:
    """The CST expression an IR expression was lowered from."""
    assert isinstance(node.origin, cst.BaseExpression)
    return node.origin


_EXPRESSIONS: dict[type, Callable[[Any, Any], Any]] = {
    ir.Name: ExpressionMachine._name,
    ir.Constant: ExpressionMachine._constant,
    ir.FormattedString: ExpressionMachine._formatted,
    ir.Attribute: ExpressionMachine._attribute,
    ir.Subscript: ExpressionMachine._subscript,
    ir.Call: lambda self, node: self.call(node),
    ir.Binary: ExpressionMachine._binary,
    ir.Unary: ExpressionMachine._unary,
    ir.Boolean: ExpressionMachine._boolean,
    ir.Compare: ExpressionMachine._compare,
    ir.Conditional: ExpressionMachine._conditional,
    ir.Sequence: ExpressionMachine._sequence,
    ir.Starred: ExpressionMachine._starred,
    ir.Dict: ExpressionMachine._dict,
    ir.Comprehension: ExpressionMachine._comprehension,
    ir.Lambda: ExpressionMachine._lambda,
    ir.Assigned: ExpressionMachine._assigned,
    ir.Yield: ExpressionMachine._yield,
    ir.Await: ExpressionMachine._await,
    ir.Slice: lambda self, node: Unknown(),
    ir.TooDeep: ExpressionMachine._too_deep,
}
