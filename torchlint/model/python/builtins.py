"""
The interpreter's builtins: `range`, `zip`, `isinstance`, `getattr`, … and the little of the standard library that
moves tensors.

A builtin not listed here is unknown code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchlint.model.python.containers import ContainerMachine
from torchlint.model.python.expressions import MOST_ITEMS
from torchlint.model.python.introspection import is_a
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.trail import Changes
from torchlint.model.state.values import (
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Frame,
    Function,
    Instance,
    Mapping,
    Module,
    Partial,
    Scalar,
    Sequence,
    Super,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.functions import CallSite
from torchlint.syntax import ir


class CallFrame:
    """What a running function has returned so far: each `return` with the changes made on the way to it."""

    __slots__ = ("definition", "mark", "path", "returns", "started")

    def __init__(self, definition: ir.Node, mark: int, path: Guard, started: int) -> None:
        self.started = started
        self.definition = definition
        self.mark = mark
        self.path = path
        self.returns: list[tuple[Guard, Changes, Value]] = []


class BuiltinMachine(ContainerMachine):
    """A machine that knows Python's builtins."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[CallFrame] = []
        self.owners: dict[int, Class] = {}

    def invoke(self, callee: Value, site: CallSite) -> Value:
        """Call any value."""
        raise AssertionError("the layer above calls")

    def havoc(self, value: Value) -> None:
        """Unknown code may have changed what it was given."""
        raise AssertionError("the layer above knows unknown code")

    def _builtin(self, name: str, site: CallSite) -> Value | None:
        handler = _BUILTINS.get(name)
        if handler is not None:
            return handler(self, site)
        if name in ("int", "float", "bool", "str", "len", "repr", "id", "hash", "hasattr", "callable", "issubclass"):
            return self._scalar_builtin(name, site)
        if name in ("print",):
            for value in site.values():
                for tensor in reachable_tensors(value):
                    self.use(tensor, site.node)
            return NONE
        return None

    def _scalar_builtin(self, name: str, site: CallSite) -> Value:
        value = site.positional[0] if site.positional else NONE
        for tensor in reachable_tensors(value):
            self.use(tensor, site.node)
        if name == "len":
            if isinstance(value, Sequence) and value.items is not None:
                return Constant(len(value.items))
            if isinstance(value, Module) and value.children is not None and value.kind.container:
                return Constant(len(value.children))
            if isinstance(value, Tensor) and value.shape and value.shape[0] is not None:
                return Constant(value.shape[0])
            return Scalar("int")
        if isinstance(value, Constant) and name in ("int", "float", "bool", "str"):
            try:
                return Constant({"int": int, "float": float, "bool": bool, "str": str}[name](value.value))
            except (TypeError, ValueError, OverflowError):
                return Unknown()
        kind = {"int": "int", "float": "float", "str": "str", "repr": "str", "id": "int", "hash": "int"}.get(
            name, "bool"
        )
        return Scalar(kind)

    def _range(self, site: CallSite) -> Value:
        values = [each.value for each in site.positional if isinstance(each, Constant) and isinstance(each.value, int)]
        if len(values) == len(site.positional) and 1 <= len(values) <= 3 and not (len(values) == 3 and values[2] == 0):
            numbers = range(*values)
            if not numbers[MOST_ITEMS:]:  # no `len`, which cannot tell more than `sys.maxsize`
                return Sequence("generator", tuple(Constant(number) for number in numbers))
        return Sequence("generator", None, Scalar("int"))

    def _enumerate(self, site: CallSite) -> Value:
        if not site.positional:
            return Unknown()
        known, elements = self.elements(site.positional[0])
        source = site.positional[0].parameters_of if isinstance(site.positional[0], Sequence) else ""
        if known:
            return Sequence("generator", tuple(Sequence("tuple", (Constant(i), e)) for i, e in enumerate(elements)))
        return Sequence("generator", None, Sequence("tuple", (Scalar("int"), elements[0])), source)

    def _zip(self, site: CallSite) -> Value:
        columns = [self.elements(value) for value in site.positional]
        if columns and all(known for known, _ in columns):
            rows = zip(*(elements for _, elements in columns), strict=False)
            return Sequence("generator", tuple(Sequence("tuple", row) for row in rows))
        any_ones = tuple(self._any(elements) if elements else Unknown() for _, elements in columns)
        return Sequence("generator", None, Sequence("tuple", any_ones))

    def _listed(self, kind: str) -> Callable[[CallSite], Value]:
        def convert(site: CallSite) -> Value:
            if not site.positional:
                return Sequence(kind, ())
            value = site.positional[0]
            known, elements = self.elements(value)
            source = value.parameters_of if isinstance(value, Sequence) else ""
            return Sequence(kind, tuple(elements), None, source) if known else Sequence(kind, None, elements[0], source)

        return convert

    def _dict_builtin(self, site: CallSite) -> Value:
        merged: dict[object, Value]
        if len(site.positional) == 1 and site.complete:
            (given,) = site.positional
            if isinstance(given, Mapping):
                if given.items is None:
                    return Mapping(None, given.element)
                merged = dict(given.items)
                merged.update(site.keywords.items())
                return Mapping(merged)
        if site.positional or not site.complete:
            values: list[Value] = list(site.keywords.values())
            merged = dict(site.keywords.items())
            certain = site.complete
            for value in site.positional:
                known, elements = self.elements(value)
                for each in elements:
                    key, held = self._pair(each)
                    values.append(held)
                    certain = certain and known and isinstance(key, Constant)
                    if isinstance(key, Constant):
                        merged[key.value] = held
            if certain and len(merged) <= MOST_ITEMS:
                return Mapping(merged)
            return Mapping(None, self._any(values) if values else None)
        named: dict[object, Value] = dict(site.keywords.items())
        return Mapping(named)

    def _pair(self, value: Value) -> tuple[Value | None, Value]:
        """Of what `dict()` makes an entry of: the key, and the value."""
        if isinstance(value, Sequence) and value.items is not None and len(value.items) == 2:
            return value.items[0], value.items[1]
        part_of = value.part_of if isinstance(value, Unknown) else None
        return None, Unknown(reachable_tensors(value), part_of=part_of)

    def _sum(self, site: CallSite) -> Value:
        if not site.positional:
            return Unknown()
        known, elements = self.elements(site.positional[0])
        if not known:
            return Unknown(reachable_tensors(elements[0]) if elements else ())
        total: Value = site.get(1, "start") or Constant(0)
        for element in elements:
            total = self.operate("+", total, element, site.node)
        return total

    def _isinstance(self, site: CallSite) -> Value:
        if len(site.positional) != 2:
            return Scalar("bool")
        truth = is_a(*site.positional)
        return Scalar("bool") if truth is Truth.MAYBE else Constant(truth is Truth.YES)

    def _super(self, site: CallSite) -> Value:
        for frame in reversed(self.stack):
            owner = self._owner(frame.definition)
            if owner is not None:
                variables = self.frame.variables
                definition = frame.definition
                assert isinstance(definition, ir.FunctionDef)
                first = definition.parameters[0].name if definition.parameters else ""
                instance = variables.get(first) or Unknown()
                return Super(owner, instance)
        return Unknown()

    def _owner(self, definition: ir.Node) -> Class | None:
        return self.owners.get(id(definition))

    def _getattr(self, site: CallSite) -> Value:
        if len(site.positional) >= 2 and isinstance(site.positional[1], Constant):
            name = site.positional[1].value
            if isinstance(name, str):
                found = self.attribute(site.positional[0], name, site.node)
                if len(site.positional) == 3 and isinstance(found, Unknown):
                    return self._any([found, site.positional[2]])
                return found
        if not site.positional:
            return Unknown(layer=True)
        owner = site.positional[0]
        for hook in self.watch.unknown_called if len(site.positional) > 1 else ():
            hook(Unknown(), None, [owner], site.node)  # any method may be called so
        if len(site.positional) > 1:
            self.havoc(owner)
            self.unsettle(owner)
        part_of = owner if isinstance(owner, (Module, Instance)) else None
        return Unknown(reachable_tensors(owner), layer=True, part_of=part_of)

    def _setattr(self, site: CallSite) -> Value:
        if len(site.positional) != 3:
            return NONE
        owner, name, value = site.positional
        if isinstance(name, Constant) and isinstance(name.value, str):
            self.set_attribute(owner, name.value, value, site.node)
            return NONE
        for _, each in alternatives(owner):
            if isinstance(each, Instance):
                self.set_some_attribute(each, value)
            elif isinstance(each, (Tensor, Module)):
                self.unsettle(each)
        return NONE

    def set_attribute(self, owner: Value, name: str, value: Value, origin: ir.Node) -> None:
        """`owner.name = value`, where the name is known and not written as an attribute."""
        raise AssertionError("the layer above binds")

    def unsettle(self, value: Value) -> None:
        """What is known of flags is known no more."""
        raise AssertionError("the layer above knows unknown code")

    def set_some_attribute(self, instance: Instance, value: Value) -> None:
        """An attribute is set of which nobody knows the name: it may be any that holds the like."""
        if instance.layer is not None and instance.layer.kind.container == "sequential":
            self.trail.set(instance.layer, "children", None)
            self.trail.set(instance.layer, "tail", None)
        if isinstance(value, (Module, Instance, Function, Constant, Scalar)):
            return  # `setattr(self, f"layer{i}", ...)` makes new ones
        depends = reachable_tensors(value)
        for name, old in list(instance.attributes.items()):
            if any(isinstance(each, (Tensor, Unknown)) or each == NONE for _, each in alternatives(old)):
                new = choose([(unknown_guard(), old), (unknown_guard(), Unknown(depends))])
                self.trail.set(instance.attributes, name, new)

    def _map(self, site: CallSite) -> Value | None:
        """`map(function, values)`: run on each of them; nobody knows when, or whether."""
        if len(site.positional) != 2 or not isinstance(site.positional[0], (Function, Bound, Partial, External)):
            return None
        function, values = site.positional
        known, elements = self.elements(values)
        if len(elements) > MOST_ITEMS:
            return None
        results: list[Value] = []

        def run() -> None:
            results.extend(self.call_value(function, [each], site.node) for each in elements)

        number = self.branch((id(site.node), "map", self.clock))
        self.fork([(frozenset({(number, 1)}), run), (frozenset({(number, 0)}), lambda: None)])
        if len(results) != len(elements):
            return Unknown(reachable_tensors(values))
        if known:
            return Sequence("generator", tuple(results))
        return Sequence("generator", None, results[0])

    def set_member(self, instance: Instance, name: str, value: Value) -> None:
        """Set an attribute, through the `__setattr__` or the property of the class, if it has one."""
        for cls in instance.cls.ancestry():
            descriptor = cls.attributes.get(name)
            if isinstance(descriptor, Instance):
                for each in descriptor.cls.ancestry():
                    function = each.attributes.get("__set__")
                    if isinstance(function, Function):
                        assert self.statement is not None
                        self.call_value(Bound(descriptor, "__set__", function), [instance, value], self.statement)
                        return
            for known, given in (("__setattr__", [Constant(name), value]), (f"{name}.setter", [value])):
                function = cls.attributes.get(known)
                if isinstance(function, Function) and not any(f.definition is function.definition for f in self.stack):
                    assert self.statement is not None
                    self.call_value(Bound(instance, known, function), given, self.statement)
                    return
        self.store_member(instance, name, value)

    def store_member(self, instance: Instance, name: str, value: Value) -> None:
        """
        Set an attribute of the object itself; in a class that derives from `nn.Sequential`, a new Module also joins the
        sequence.
        """
        layer = instance.layer
        if layer is not None and layer.kind.container == "sequential" and name not in instance.attributes:
            if isinstance(value, (Module, Instance)):
                children = None if layer.children is None else (*layer.children, value)
                self.trail.set(layer, "children", children)
                self.trail.set(layer, "tail", value)
            elif isinstance(value, Choice) or (isinstance(value, Unknown) and value.layer):
                self.trail.set(layer, "children", None)
                self.trail.set(layer, "tail", None)
        self.trail.set(instance.attributes, name, value)

    def _set_raw(self, site: CallSite) -> Value:
        """`object.__setattr__(x, name, value)`."""
        if len(site.positional) == 3 and isinstance(site.positional[0], Instance):
            instance, name, value = site.positional
            assert isinstance(instance, Instance)
            if isinstance(name, Constant) and isinstance(name.value, str):
                self.store_member(instance, name.value, value)
            else:
                self.set_some_attribute(instance, value)
        return NONE

    def forget_variables(self) -> None:
        """Code in a text may have bound any variable in sight anew."""
        frame: Frame | None = self.frame
        while frame is not None:
            for name, old in list(frame.variables.items()):
                if not isinstance(old, (External, Function, Class, Unknown)):
                    new = Unknown(reachable_tensors(old))
                    self.trail.set(frame.variables, name, choose([(unknown_guard(), old), (unknown_guard(), new)]))
            frame = frame.enclosing

    def _exec(self, site: CallSite) -> Value:
        self.forget_variables()
        return NONE

    def _eval(self, site: CallSite) -> Value:
        frame: Frame | None = self.frame
        held: list[Tensor] = []
        while frame is not None:
            held += [tensor for value in frame.variables.values() for tensor in reachable_tensors(value)]
            frame = frame.enclosing
        self.escape(held, site.node)
        return Unknown(held, source=site.node)

    def _vars(self, site: CallSite) -> Value | None:
        return self.attribute(site.positional[0], "__dict__", site.node) if site.positional else None

    def _abs(self, site: CallSite) -> Value | None:
        if site.positional and self.holds_tensor(site.positional[0]):
            return self.apply("torch.Tensor.abs", [site.positional[0]], {}, site.node, "abs")
        return None

    def _next(self, site: CallSite) -> Value:
        known, elements = self.elements(site.positional[0]) if site.positional else (False, [Unknown()])
        if not elements:
            return Unknown()
        return elements[0] if not known else self._any(list(elements))

    def _iter(self, site: CallSite) -> Value:
        return site.positional[0] if site.positional else Unknown()

    def _extreme(self, site: CallSite) -> Value:
        values = site.positional if len(site.positional) > 1 else self.elements(site.positional[0])[1]
        kinds = {self.kind_of(value) for value in values}
        if kinds <= {"int", "bool"}:
            return Scalar("int")
        if kinds <= {"int", "float", "number", "bool"}:
            return Scalar("number")
        return self._any(list(values)) if values else Unknown()

    def _reversed(self, site: CallSite) -> Value:
        known, elements = self.elements(site.positional[0])
        return Sequence("generator", tuple(reversed(elements))) if known else Sequence("generator", None, elements[0])

    def _unordered(self, site: CallSite) -> Value:
        _, elements = self.elements(site.positional[0])
        return Sequence("list", None, self._any(elements) if elements else None)

    def _partial(self, site: CallSite) -> Value:
        return Partial(site.positional[0], tuple(site.positional[1:]), dict(site.keywords))

    def _copied(self, qualified: str, site: CallSite) -> Value:
        value = site.positional[0]
        if isinstance(value, Mapping):
            return Mapping(None)
        if qualified == "copy.copy":
            return value if isinstance(value, Tensor) else Unknown(reachable_tensors(value))
        if isinstance(value, Tensor):
            return self.copied(value, site)
        return Unknown(source=site.node, layer=isinstance(value, (Module, Instance)))


_BUILTINS: dict[str, Callable[[Any, CallSite], Value | None]] = {
    "range": BuiltinMachine._range,
    "enumerate": BuiltinMachine._enumerate,
    "zip": BuiltinMachine._zip,
    "list": lambda self, site: self._listed("list")(site),
    "tuple": lambda self, site: self._listed("tuple")(site),
    "set": lambda self, site: self._listed("set")(site),
    "reversed": BuiltinMachine._reversed,
    "sorted": BuiltinMachine._unordered,
    "dict": BuiltinMachine._dict_builtin,
    "sum": BuiltinMachine._sum,
    "isinstance": BuiltinMachine._isinstance,
    "super": BuiltinMachine._super,
    "getattr": BuiltinMachine._getattr,
    "setattr": BuiltinMachine._setattr,
    "map": BuiltinMachine._map,
    "vars": BuiltinMachine._vars,
    "exec": BuiltinMachine._exec,
    "eval": BuiltinMachine._eval,
    "object.__setattr__": BuiltinMachine._set_raw,
    "abs": BuiltinMachine._abs,
    "next": BuiltinMachine._next,
    "iter": BuiltinMachine._iter,
    "min": BuiltinMachine._extreme,
    "max": BuiltinMachine._extreme,
}
