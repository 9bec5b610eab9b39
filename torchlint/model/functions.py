"""
The interpreter's calls: functions and classes of the file are run (inlined, within bounds), builtins and methods of Python's containers
are known by name, everything else is unknown code that may do anything with what it is given.
"""

from __future__ import annotations

from collections.abc import Callable

from torchlint.knowledge import ops
from torchlint.model import ir
from torchlint.model.calls import CallSite, truth_of
from torchlint.model.domain import (
    GRAD_YES,
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Frame,
    Function,
    GradModeGuard,
    Instance,
    Mapping,
    Module,
    Optimizer,
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
from torchlint.model.expressions import MOST_ITEMS, ExpressionMachine, cst_expression, is_module
from torchlint.model.machine import BudgetExceeded
from torchlint.model.state import Changes
from torchlint.model.truth import ALWAYS, Guard, Truth

MOST_DEPTH = 12
"""Calls inlined into each other."""
MOST_RECURSION = 2
"""Times a function may be on the stack."""


class CallFrame:
    """What a running function has returned so far: each `return` with the changes made on the way to it."""

    __slots__ = ("definition", "mark", "path", "returns")

    def __init__(self, definition: ir.Node, mark: int, path: Guard) -> None:
        self.definition = definition
        self.mark = mark
        self.path = path
        self.returns: list[tuple[Guard, Changes, Value]] = []


class FunctionMachine(ExpressionMachine):
    """A machine that calls."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[CallFrame] = []
        self.called: set[int] = set()

    def run_block(self, body: list[ir.Statement]) -> None:
        """Run statements."""
        raise AssertionError("the layer above runs statements")

    # -- calls

    def call(self, node: ir.Call) -> Value:
        """Evaluate a call: the callee, the arguments, the call."""
        self.spend()
        function = node.function
        if isinstance(function, ir.Attribute):
            receiver = self.evaluate(function.value)
            site = self.site(node)
            return self._method_call(receiver, function, site)
        callee = self.evaluate(function)
        site = self.site(node)
        return self.invoke(callee, site)

    def site(self, node: ir.Call) -> CallSite:
        """Evaluate the arguments of a call."""
        site = CallSite(node, [], {})
        for argument in node.arguments:
            value = self.evaluate(argument.value)
            if argument.star == "*":
                if isinstance(value, Sequence) and value.items is not None:
                    site.positional += value.items
                else:
                    site.complete = False
                    site.positional.append(Unknown(reachable_tensors(value)))
            elif argument.star == "**":
                if isinstance(value, Mapping) and value.items is not None:
                    site.keywords.update({k: v for k, v in value.items.items() if isinstance(k, str)})
                else:
                    site.complete = False
            elif argument.keyword:
                site.keywords[argument.keyword] = value
                site.arguments[argument.keyword] = argument
            else:
                site.arguments[len(site.positional)] = argument
                site.positional.append(value)
        return site

    def call_value(self, function: Value, positional: list[Value], origin: ir.Node) -> Value:
        """Call a value with values (no argument is written anywhere)."""
        node = origin if isinstance(origin, ir.Call) else ir.Call(origin.origin, ir.Name(origin.origin, ""), [])
        return self.invoke(function, CallSite(node, list(positional), {}))

    def invoke(self, callee: Value, site: CallSite) -> Value:
        """Call any value."""
        if isinstance(callee, Choice):
            return self.each(callee, lambda each: self.invoke(each, site))
        if isinstance(callee, External):
            return self._external(callee.qualified, site)
        if isinstance(callee, Function):
            return self.run_function(callee, site.positional, site.keywords, site)
        if isinstance(callee, Bound):
            return self._bound(callee, site)
        if isinstance(callee, Class):
            return self.instantiate(callee, site)
        if isinstance(callee, Instance):
            return self.call_instance(callee, site)
        if isinstance(callee, Module):
            return self._call_module(callee, site)
        if isinstance(callee, Partial):
            return callee.call(site)
        if isinstance(callee, GradModeGuard) and len(site.positional) == 1:
            decorated = site.positional[0]
            if isinstance(decorated, Function):
                return self.with_mode(decorated, callee.mode)
        return self.unknown_call(callee, site)

    def with_mode(self, function: Function, mode: Truth) -> Function:
        """The function under a grad-mode decorator."""
        return Function(
            function.definition, function.closure, function.defaults, function.owner, function.kind, mode, function.name
        )

    def _bound(self, bound: Bound, site: CallSite) -> Value:
        if bound.function is not None:
            return self._call_method(bound.receiver, bound.function, site)
        receiver = site.node.function
        where = receiver.value if isinstance(receiver, ir.Attribute) else receiver
        return self._named_method(bound.receiver, bound.name, site, where)

    def _method_call(self, receiver: Value, node: ir.Attribute, site: CallSite) -> Value:
        if isinstance(receiver, Choice):
            return self.each(receiver, lambda each: self._method_call(each, node, site))
        self._manual_zeroing(receiver, node, site)
        if isinstance(receiver, External):
            return self.invoke(self.attribute(receiver, node.attr, node), site)
        if isinstance(receiver, Instance | Class | Super):
            found = self.attribute(receiver, node.attr, node)
            if not (isinstance(found, Bound) and found.function is None):
                return self.invoke(found, site)
        return self._named_method(receiver, node.attr, site, node.value)

    def _manual_zeroing(self, receiver: Value, node: ir.Attribute, site: CallSite) -> None:
        """`x.grad.zero_()` on an `x` nobody knows: only a tensor has such a `grad`."""
        if node.attr != "zero_" or isinstance(receiver, Tensor):
            return
        inner = node.value
        if isinstance(inner, ir.Attribute) and inner.attr == "data":
            inner = inner.value
        if isinstance(inner, ir.Attribute) and inner.attr == "grad":
            for _, owner in alternatives(self.evaluate(inner.value)):
                if isinstance(owner, Unknown):
                    tensor = self.materialise(owner)
                    tensor.name = tensor.name or self.text(inner.value)
                    self.grad_written(tensor, "zero_", site.node, tensor)
                elif isinstance(owner, Tensor):
                    self.grad_written(None, "zero_", site.node, owner)

    def _named_method(self, receiver: Value, name: str, site: CallSite, where: ir.Expression) -> Value:
        result = self._run_method(receiver, name, site, where)
        for hook in self.watch.method:
            hook(receiver, name, site.positional, site.keywords, result, site.node)
        return result

    def _run_method(self, receiver: Value, name: str, site: CallSite, where: ir.Expression) -> Value:
        result: Value | None = None
        if isinstance(receiver, Unknown) and receiver.tensor is None and name in ("backward",):
            result = self.tensor_method(self.materialise(receiver), name, site, where)
        elif isinstance(receiver, Unknown) and receiver.tensor is not None:
            result = self.tensor_method(receiver.tensor, name, site, where)
        elif isinstance(receiver, Tensor):
            result = self.tensor_method(receiver, name, site, where)
        elif isinstance(receiver, Sequence):
            result = self._sequence_method(receiver, name, site)
        elif isinstance(receiver, Mapping):
            result = self._mapping_method(receiver, name, site)
        elif isinstance(receiver, Optimizer):
            result = self._optimizer_call(receiver, name, site)
        elif isinstance(receiver, Instance | Module):
            result = self._module_method(receiver, name, site)
        elif isinstance(receiver, Super):
            result = self._super_call(receiver, name, site)
        elif isinstance(receiver, Function) and name in ("apply", "__call__"):
            result = self.invoke(receiver, site)
        elif isinstance(receiver, Class) and name == "apply":
            result = self._custom_function(site)
        if result is None:
            callee = receiver
            if isinstance(receiver, Unknown):
                self._watch_unknown(receiver, name, site)
                callee = self.attribute(receiver, name, where)
                if name == "parameters":
                    return Sequence("generator", None, self._unseen_parameter(self.text(where)), self.text(where))
                if name == "named_parameters":
                    pair = Sequence("tuple", (Scalar("str"), self._unseen_parameter(self.text(where))))
                    return Sequence("generator", None, pair, self.text(where))
            return self.unknown_call(callee, site, receiver)
        return result

    def _watch_unknown(self, receiver: Unknown, name: str, site: CallSite) -> None:
        if name == "step":
            for hook in self.watch.stepped:
                hook(receiver, site.node)
        elif name == "zero_grad":
            for hook in self.watch.zeroed:
                hook(receiver, site.node)
        elif name in ("train", "eval"):
            mode = self._mode_argument(name, site)
            for hook in self.watch.mode_set:
                hook(receiver, None if mode is Truth.MAYBE else mode is Truth.YES, site.node)

    def _mode_argument(self, name: str, site: CallSite) -> Truth:
        return Truth.NO if name == "eval" else truth_of(site.get(0, "mode"), Truth.YES)

    def _unseen_parameter(self, source: str) -> Unknown:
        return Unknown(hint="", element_of_parameters=source or "model")

    def _custom_function(self, site: CallSite) -> Value:
        """`MyFunction.apply(...)` of a custom `autograd.Function`: depends on its inputs, saves nobody knows what."""
        depends = [tensor for value in site.values() for tensor in reachable_tensors(value)]
        self.escape(depends, site.node)
        return Unknown(depends, source=site.node, certain_edge=True)

    def _optimizer_call(self, optimizer: Optimizer, name: str, site: CallSite) -> Value | None:
        if name == "step" and site.positional and isinstance(site.positional[0], Function):
            self.run_function(site.positional[0], [], {}, None)
        return self.optimizer_method(optimizer, name, site)

    # -- unknown code

    def unknown_call(self, callee: Value, site: CallSite, receiver: Value | None = None) -> Value:
        """Code nobody knows is run: it may read, keep and change what it is given."""
        depends: list[Tensor] = []
        for value in [*site.values(), *([receiver] if receiver is not None else [])]:
            for tensor in reachable_tensors(value):
                if tensor not in depends:
                    depends.append(tensor)
            self._havoc(value)
        self.escape(depends, site.node)
        self.retained_escape(site.values())
        layer = isinstance(callee, Unknown) and callee.layer
        source = site.node
        return Unknown(depends, source=source, certain_edge=layer, layer=isinstance(callee, External))

    def _havoc(self, value: Value) -> None:
        if isinstance(value, Instance):
            for name, each in list(value.attributes.items()):
                if any(isinstance(v, Tensor) and v.is_parameter is not Truth.YES for _, v in alternatives(each)):
                    self.trail.set(
                        value.attributes, name, choose([(unknown_guard(), each), (unknown_guard(), Unknown())])
                    )
        elif isinstance(value, Sequence) and value.kind == "list" and value.items is not None:
            element = Unknown(reachable_tensors(value))
            self.trail.set(value, "element", element)
            self.trail.set(value, "items", None)

    # -- functions of the file

    def run_function(
        self, function: Function, positional: list[Value], keywords: dict[str, Value], site: CallSite | None
    ) -> Value:
        """Run a function's body on its arguments."""
        definition = function.definition
        self.called.add(id(definition))
        on_stack = sum(frame.definition is definition for frame in self.stack)
        opaque = function.kind == "opaque" or (
            isinstance(definition, ir.FunctionDef) and (definition.is_generator or definition.is_async)
        )
        if opaque or on_stack >= MOST_RECURSION or len(self.stack) >= MOST_DEPTH:
            values = [*positional, *keywords.values()]
            depends = [tensor for value in values for tensor in reachable_tensors(value)]
            if site is not None:
                self.escape(depends, site.node)
            for value in values:
                self._havoc(value)
            return Unknown(depends)
        frame = Frame({}, function.closure)
        self._bind_parameters(frame, function, positional, keywords, site is None or site.complete)
        mode = self.grad_mode
        if function.grad_mode is not None:
            self.grad_mode = function.grad_mode
        if isinstance(definition, ir.Lambda):
            saved = self.frame
            self.frame = frame
            result = self.evaluate(definition.body)
            self.frame = saved
            self.grad_mode = mode
            return result
        for hook in self.watch.function_started:
            hook(function, frame.variables)
        result = self._run_body(definition, frame)
        self.grad_mode = mode
        for ended in self.watch.function_ended:
            ended(function, result)
        return result

    def _run_body(self, definition: ir.FunctionDef, frame: Frame) -> Value:
        caller, statement, path, built_in = self.frame, self.statement, self.path, self.built_in
        call = CallFrame(definition, self.trail.mark(), self.path)
        self.stack.append(call)
        self.frame = frame
        try:
            self.run_block(definition.body)
        finally:
            self.frame, self.statement = caller, statement
            self.stack.pop()
        if not self.dead:
            call.returns.append((self.path - path, self.trail.changes(call.mark) if call.returns else {}, NONE))
        self.path, self.built_in = path, built_in
        if not call.returns:
            self.dead = True
            return Unknown()
        if len(call.returns) == 1 and not self.dead:
            self.dead = False
            return call.returns[0][2]
        self.trail.undo(call.mark)
        self.dead = False
        self.trail.join([(guard, changes) for guard, changes, _ in call.returns])
        return choose([(guard, value) for guard, _, value in call.returns])

    def _bind_parameters(
        self, frame: Frame, function: Function, positional: list[Value], keywords: dict[str, Value], complete: bool
    ) -> None:
        left = list(positional)
        named = dict(keywords)
        for parameter in function.definition.parameters:
            if parameter.kind == "*":
                frame.variables[parameter.name] = Sequence("tuple", tuple(left) if complete else None)
                left = []
            elif parameter.kind == "**":
                frame.variables[parameter.name] = Mapping(dict(named) if complete else None)
                named = {}
            elif left and parameter.kind in ("positional", "positional-only"):
                frame.variables[parameter.name] = left.pop(0)
            elif parameter.name in named:
                frame.variables[parameter.name] = named.pop(parameter.name)
            elif parameter.name in function.defaults and complete:
                frame.variables[parameter.name] = function.defaults[parameter.name]
            else:
                frame.variables[parameter.name] = Unknown()

    def _call_method(self, receiver: Value, function: Function, site: CallSite) -> Value:
        first: list[Value] = [] if function.kind == "static" else [receiver]
        if function.kind == "class" and isinstance(receiver, Instance):
            first = [receiver.cls]
        return self.run_function(function, [*first, *site.positional], site.keywords, site)

    # -- objects

    def instantiate(self, cls: Class, site: CallSite) -> Value:
        """Make an object of a class of the file."""
        instance = Instance(cls)
        self.initialise(instance, site)
        return instance

    def initialise(self, instance: Instance, site: CallSite) -> None:
        """Run `__init__`, or set the fields of a dataclass."""
        for cls in instance.cls.ancestry():
            function = cls.attributes.get("__init__")
            if isinstance(function, Function):
                outer = self.built_in
                if is_module(instance) is not Truth.NO:
                    self.built_in = self.built_in or instance.cls.name
                self._call_method(instance, function, site)
                self.built_in = outer
                instance.initialised = True
                return
        fields = [
            s.targets[0].id
            for s in instance.cls.definition.body
            if isinstance(s, ir.Assign) and s.annotation is not None and isinstance(s.targets[0], ir.Name)
        ]
        if fields and not instance.cls.outside():
            for name, value in zip(fields, site.positional, strict=False):
                self.trail.set(instance.attributes, name, value)
            for name, value in site.keywords.items():
                self.trail.set(instance.attributes, name, value)

    def call_instance(self, instance: Instance, site: CallSite) -> Value:
        """`instance(...)`: `__call__`, or a Module's `forward`."""
        result = self._run_instance(instance, site)
        for hook in self.watch.module_called if is_module(instance) is not Truth.NO else ():
            hook(instance, site.values(), result, site.node)
        return result

    def _run_instance(self, instance: Instance, site: CallSite) -> Value:
        for name in ("__call__", "forward"):
            for cls in instance.cls.ancestry():
                function = cls.attributes.get(name)
                if isinstance(function, Function):
                    if name == "forward" and is_module(instance) is Truth.NO:
                        continue
                    return self._call_method(instance, function, site)
        return self.unknown_call(instance, site)

    def _call_module(self, module: Module, site: CallSite) -> Value:
        result = self._run_module(module, site)
        for hook in self.watch.module_called:
            hook(module, site.values(), result, site.node)
        return result

    def _run_module(self, module: Module, site: CallSite) -> Value:
        if module.kind.container == "sequential":
            if module.children is None or not site.positional:
                values = [tensor for value in site.values() for tensor in reachable_tensors(value)]
                self.escape(values, site.node)
                return Unknown(values, source=site.node, certain_edge=True, layer=True)
            value: Value = site.positional[0]
            for index, child in enumerate(module.children):
                inner = CallSite(site.node, [value], {}, site.arguments if index == 0 else {})
                value = self.invoke(child, inner)
            return value
        result = self.layer_call(module, site)
        return result if result is not None else self.unknown_call(module, site)

    def _super_call(self, value: Super, name: str, site: CallSite) -> Value | None:
        if name in ("__init__", "__new__", "__setattr__", "__post_init__"):
            return NONE
        if isinstance(value.instance, Instance):
            return self._module_method(value.instance, name, site)
        return None

    # -- modules

    def submodules(self, value: Value) -> list[Value]:
        """The modules registered directly on a module."""
        if isinstance(value, Module):
            return list(value.children or ())
        if isinstance(value, Instance):
            return [
                each
                for option in value.attributes.values()
                for _, each in alternatives(option)
                if isinstance(each, Module | Instance)
            ]
        return []

    def parameters_of(self, value: Value, seen: list[Value] | None = None) -> tuple[list[Tensor], bool]:
        """The registered parameters of a module, and whether that is all of them."""
        seen = seen if seen is not None else []
        if any(value is each for each in seen):
            return [], True
        seen.append(value)
        found: list[Tensor] = []
        complete = True
        if isinstance(value, Instance):
            complete = is_module(value) is Truth.YES
            for option in value.attributes.values():
                for _, each in alternatives(option):
                    if isinstance(each, Tensor) and each.is_parameter is Truth.YES:
                        found.append(each)
                    elif isinstance(each, Unknown) and (each.layer or each.tensor is None):
                        complete = False
        elif isinstance(value, Module):
            found += [
                each
                for name, each in value.parameters.items()
                if isinstance(each, Tensor) and each.is_parameter is Truth.YES
            ]
            if value.children is None:
                complete = False
            for child in value.children or ():
                if isinstance(child, Tensor):
                    found.append(child)
        for child in self.submodules(value):
            inner, all_known = self.parameters_of(child, seen)
            found += [each for each in inner if not any(each is other for other in found)]
            complete = complete and all_known
        return found, complete

    def _module_method(self, module: Instance | Module, name: str, site: CallSite) -> Value | None:
        if isinstance(module, Instance) and is_module(module) is Truth.NO:
            return None
        if name in ("parameters", "named_parameters"):
            return self._parameters(module, name, site)
        if name == "zero_grad":
            for hook in self.watch.zeroed:
                hook(module, site.node)
            for tensor in self.parameters_of(module)[0]:
                if tensor.grad is not NONE:
                    self.trail.set(tensor, "grad", NONE)
            return NONE
        if name in ("train", "eval"):
            mode = self._mode_argument(name, site)
            for hook in self.watch.mode_set:
                hook(module, None if mode is Truth.MAYBE else mode is Truth.YES, site.node)
            self._set_training(module, mode)
            return module
        if name in ("to", "cuda", "cpu", "half", "float", "double", "bfloat16", "apply", "type"):
            return module
        if name == "requires_grad_":
            for tensor in self.parameters_of(module)[0]:
                self.require_grad(tensor, truth_of(site.get(0, "requires_grad"), Truth.YES))
            return module
        if name in ("register_buffer", "register_parameter") and isinstance(module, Instance):
            return self._register(module, site)
        if name in ("add_module", "register_module") and isinstance(module, Instance):
            return self._register(module, site)
        if name == "__call__":
            return self.invoke(module, site)
        if name == "forward" and isinstance(module, Module):
            return self._call_module(module, site)
        if isinstance(module, Module):
            return self._container_method(module, name, site)
        return None

    def _parameters(self, module: Instance | Module, name: str, site: CallSite) -> Value:
        tensors, complete = self.parameters_of(module)
        receiver = site.node.function
        source = self.text(receiver.value) if isinstance(receiver, ir.Attribute) else ""
        items: list[Value] = list(tensors)
        if name == "named_parameters":
            items = [Sequence("tuple", (Scalar("str"), each)) for each in items]
        if complete and len(items) <= MOST_ITEMS:
            return Sequence("generator", tuple(items), None, source)
        element: Value = self._unseen_parameter(source)
        if name == "named_parameters":
            element = Sequence("tuple", (Scalar("str"), element))
        return Sequence("generator", None, element, source)

    def _set_training(self, module: Value, mode: Truth) -> None:
        if isinstance(module, Module):
            self.trail.set(module, "training", mode)
        for child in self.submodules(module):
            self._set_training(child, mode)

    def _register(self, module: Instance, site: CallSite) -> Value:
        name, value = site.get(0, "name"), site.get(1, "tensor") or site.get(1, "param") or site.get(1, "module")
        if isinstance(name, Constant) and isinstance(name.value, str) and value is not None:
            self.trail.set(module.attributes, name.value, value)
            for _, each in alternatives(value):
                if isinstance(each, Tensor) and not each.name:
                    each.name = name.value
        return NONE

    def _container_method(self, module: Module, name: str, site: CallSite) -> Value | None:
        if not module.kind.container:
            return None
        if name == "append" and module.children is not None and site.positional:
            self.trail.set(module, "children", (*module.children, site.positional[0]))
            return module
        if name in ("append", "extend", "insert", "add_module", "update"):
            self.trail.set(module, "children", None)
            return module
        if name in ("values", "children") and module.children is not None:
            return Sequence("list", module.children)
        return None

    # -- containers

    def _sequence_method(self, sequence: Sequence, name: str, site: CallSite) -> Value | None:
        if name == "append" and site.positional:
            self._extend(sequence, (site.positional[0],))
            return NONE
        if name in ("extend", "update") and site.positional:
            known, elements = self.elements(site.positional[0])
            if known:
                self._extend(sequence, tuple(elements))
            else:
                self._widen(sequence, elements)
            return NONE
        if name in ("add",) and site.positional:
            self._widen(sequence, [site.positional[0]])
            return NONE
        if name == "copy":
            return Sequence(sequence.kind, sequence.items, sequence.element)
        if name in ("clear",):
            self.trail.set(sequence, "items", ())
            return NONE
        if name == "pop":
            if sequence.items and not site.positional:
                last = sequence.items[-1]
                self.trail.set(sequence, "items", sequence.items[:-1])
                return last
            value = sequence.element or (self._any(list(sequence.items)) if sequence.items else Unknown())
            self.trail.set(sequence, "items", None)
            self.trail.set(sequence, "element", value)
            return value
        if name in ("index", "count"):
            return Scalar("int")
        if name in ("insert", "remove", "sort", "reverse"):
            self._widen(sequence, site.positional[1:])
            return NONE
        return None

    def _extend(self, sequence: Sequence, values: tuple[Value, ...]) -> None:
        if sequence.items is not None and len(sequence.items) + len(values) <= MOST_ITEMS:
            self.trail.set(sequence, "items", sequence.items + values)
        else:
            self._widen(sequence, list(values))

    def _widen(self, sequence: Sequence, values: list[Value]) -> None:
        every = [*(sequence.items or ()), *([sequence.element] if sequence.element is not None else []), *values]
        if every:
            self.trail.set(sequence, "element", self._any(every))
        self.trail.set(sequence, "items", None)

    def _mapping_method(self, mapping: Mapping, name: str, site: CallSite) -> Value | None:
        every = list((mapping.items or {}).values()) + ([mapping.element] if mapping.element is not None else [])
        if name in ("get", "pop", "setdefault") and site.positional:
            key = site.positional[0]
            if mapping.items is not None and isinstance(key, Constant):
                found = mapping.items.get(key.value)
                return found if found is not None else (site.get(1, "default") or NONE)
            return self._any([*every, NONE]) if every else Unknown()
        if name == "values":
            return (
                Sequence("list", tuple(every)) if mapping.items is not None else Sequence("list", None, mapping.element)
            )
        if name == "keys":
            return (
                Sequence("list", tuple(Constant(key) for key in mapping.items))
                if mapping.items is not None
                else Sequence("list", None, Unknown())
            )
        if name == "items":
            if mapping.items is not None:
                return Sequence("list", tuple(Sequence("tuple", (Constant(k), v)) for k, v in mapping.items.items()))
            return Sequence("list", None, Sequence("tuple", (Unknown(), mapping.element or Unknown())))
        if name == "copy":
            return Mapping(dict(mapping.items) if mapping.items is not None else None, mapping.element)
        if name in ("update", "clear", "popitem"):
            values = [value for value in site.values() for value in self.elements(value)[1]]
            self.trail.set(mapping, "element", self._any([*every, *values, Unknown()]))
            self.trail.set(mapping, "items", None)
            return NONE
        return None

    # -- things imported, builtins

    def _external(self, qualified: str, site: CallSite) -> Value:
        result = self._run_external(qualified, site)
        for hook in self.watch.called:
            hook(qualified, site.positional, site.keywords, result, site.node)
        return result

    def _run_external(self, qualified: str, site: CallSite) -> Value:
        if qualified.startswith("builtins."):
            result = self._builtin(qualified[9:], site)
            return result if result is not None else self.unknown_call(External(qualified), site)
        if qualified.startswith("torch."):
            result = self.torch_call(qualified, site)
            if result is not None:
                return result
            if qualified.startswith(("torch.nn.utils.", "torch.cuda.", "torch.distributed.", "torch.backends.")):
                return Unknown([t for value in site.values() for t in reachable_tensors(value)])
        if qualified == "functools.partial" and site.positional:
            return self._partial(site)
        if qualified in ("copy.deepcopy", "copy.copy") and site.positional:
            return self._copied(qualified, site)
        last = qualified.rpartition(".")[2]
        result = self.unknown_call(External(qualified), site)
        if isinstance(result, Unknown):
            result.layer = last[:1].isupper()
        return result

    def _copied(self, qualified: str, site: CallSite) -> Value:
        value = site.positional[0]
        if qualified == "copy.copy":
            return value if isinstance(value, Tensor) else Unknown(reachable_tensors(value))
        if isinstance(value, Tensor):
            copy = self.fresh(site.node, "deepcopy", own=value.own, shape=value.shape, dtype=value.dtype)
            copy.is_parameter = value.is_parameter
            return copy
        return Unknown(source=site.node, layer=isinstance(value, Module | Instance))

    def _partial(self, site: CallSite) -> Value:
        function, given, named = site.positional[0], site.positional[1:], dict(site.keywords)

        def call(later: CallSite) -> Value:
            inner = CallSite(later.node, [*given, *later.positional], {**named, **later.keywords}, {}, later.complete)
            return self.invoke(function, inner)

        return Partial(call)

    def _builtin(self, name: str, site: CallSite) -> Value | None:
        handler = self._BUILTINS.get(name)
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
                return Constant({"int": int, "float": float, "bool": bool, "str": str}[name](value.value))  # type: ignore[call-overload]
            except (TypeError, ValueError, OverflowError):
                return Unknown()
        kind = {"int": "int", "float": "float", "str": "str", "repr": "str", "id": "int", "hash": "int"}.get(
            name, "bool"
        )
        return Scalar(kind)

    def _range(self, site: CallSite) -> Value:
        values = [each.value for each in site.positional if isinstance(each, Constant) and isinstance(each.value, int)]
        if len(values) == len(site.positional) and values and not (len(values) == 3 and values[2] == 0):
            numbers = range(*values)
            if len(numbers) <= MOST_ITEMS:
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
        firsts = tuple(elements[0] if elements else Unknown() for _, elements in columns)
        return Sequence("generator", None, Sequence("tuple", firsts))

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
        if site.positional or not site.complete:
            values = [each for value in site.values() for each in self.elements(value)[1]]
            return Mapping(None, self._any(values) if values else None)
        return Mapping(dict(site.keywords))

    def _sum(self, site: CallSite) -> Value:
        if not site.positional:
            return Unknown()
        known, elements = self.elements(site.positional[0])
        if not known:
            return Unknown(reachable_tensors(elements[0]) if elements else (), certain_edge=True)
        total: Value = site.get(1, "start") or Constant(0)
        for element in elements:
            total = self.operate("+", total, element, site.node)
        return total

    def _isinstance(self, site: CallSite) -> Value:
        if len(site.positional) != 2:
            return Scalar("bool")
        value, kind = site.positional
        if isinstance(value, Tensor) and isinstance(kind, External):
            if kind.qualified in ("torch.Tensor", "torch.nn.Parameter") and kind.qualified == "torch.Tensor":
                return Constant(True)
            if kind.qualified.startswith("builtins."):
                return Constant(False)
        if isinstance(value, Sequence) and isinstance(kind, External) and value.kind in ("list", "tuple"):
            if kind.qualified in ("builtins.list", "builtins.tuple"):
                return Constant(kind.qualified == f"builtins.{value.kind}")
            if kind.qualified == "torch.Tensor":
                return Constant(False)
        return Scalar("bool")

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

    owners: dict[int, Class]

    def _getattr(self, site: CallSite) -> Value:
        if len(site.positional) >= 2 and isinstance(site.positional[1], Constant):
            name = site.positional[1].value
            if isinstance(name, str):
                found = self.attribute(site.positional[0], name, site.node)
                if len(site.positional) == 3 and isinstance(found, Unknown):
                    return self._any([found, site.positional[2]])
                return found
        return Unknown(reachable_tensors(site.positional[0]) if site.positional else (), layer=True)

    def _setattr(self, site: CallSite) -> Value:
        if len(site.positional) == 3 and isinstance(site.positional[0], Instance):
            instance, name, value = site.positional
            if isinstance(name, Constant) and isinstance(name.value, str):
                self.trail.set(instance.attributes, name.value, value)
            else:
                self._havoc(instance)
        return NONE

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

    _BUILTINS: dict[str, Callable[..., Value | None]] = {  # noqa: RUF012
        "range": _range,
        "enumerate": _enumerate,
        "zip": _zip,
        "list": lambda self, site: self._listed("list")(site),
        "tuple": lambda self, site: self._listed("tuple")(site),
        "set": lambda self, site: self._listed("set")(site),
        "reversed": lambda self, site: self._reversed(site),
        "sorted": lambda self, site: self._unordered(site),
        "dict": _dict_builtin,
        "sum": _sum,
        "isinstance": _isinstance,
        "super": _super,
        "getattr": _getattr,
        "setattr": _setattr,
        "abs": _abs,
        "next": _next,
        "iter": _iter,
        "min": _extreme,
        "max": _extreme,
    }

    def _reversed(self, site: CallSite) -> Value:
        known, elements = self.elements(site.positional[0])
        return Sequence("generator", tuple(reversed(elements))) if known else Sequence("generator", None, elements[0])

    def _unordered(self, site: CallSite) -> Value:
        known, elements = self.elements(site.positional[0])
        return Sequence("list", None, self._any(elements) if elements else None)


__all__ = ["ALWAYS", "GRAD_YES", "BudgetExceeded", "FunctionMachine", "cst_expression", "ops"]
