"""
The interpreter's calls: functions and classes of the file are run (inlined, within bounds); what is not known is code
that may do anything with what it is given.
"""

from __future__ import annotations

import re

from torchlint.knowledge import foreign
from torchlint.model.python.builtins import CallFrame
from torchlint.model.python.expressions import is_module
from torchlint.model.python.introspection import text_method
from torchlint.model.python.prototypes import Openness, Prototypes, leaves
from torchlint.model.python.unknown_code import UnknownMachine
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Watch
from torchlint.model.state.values import (
    NONE,
    Bound,
    Choice,
    Class,
    Constant,
    Excursion,
    External,
    Frame,
    Function,
    Globals,
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
    globals_of,
    is_foreign,
    made_of,
    reachable_tensors,
    unknown_guard,
)
from torchlint.model.torch.functions import CallSite
from torchlint.syntax import ir

_FOR_INFERENCE = re.compile(r"(^|_)infer(ence)?(_|$)")
HOOKED = "(hooked)"
"""Among the attributes of a Module, which no name is like: it has forward hooks that may return something."""
MOST_DEPTH = 12
"""Calls inlined into each other."""
MOST_RECURSION = 2
"""Times a function may be on the stack."""
_LAYER = 50
"""What running a layer of torch costs, in expressions."""
_OF_DICTS = frozenset({"get", "items", "keys", "values", "copy"})
_LIKE = frozenset({"expand_as", "view_as", "reshape_as", "type_as"})
"""Methods of tensors that look at the shape or type of their argument, and keep nothing of it."""


_OF_TENSORS = frozenset(
    [
        "amax", "amin", "bmm", "chunk", "clamp", "contiguous", "exp", "expand", "expand_as", "flatten", "float",
        "gather", "index_select", "log_softmax", "masked_fill", "matmul", "mean", "new_zeros", "norm", "permute",
        "relu", "repeat_interleave", "reshape", "sigmoid", "softmax", "sqrt", "squeeze", "tanh", "transpose",
        "type_as", "unbind", "unsqueeze", "view",
    ]
)  # fmt: skip


class FunctionMachine(UnknownMachine):
    """A machine that calls."""

    __deletable__ = ("prototypes",)

    def __init__(self) -> None:
        super().__init__()
        self.entered: set[int] = set()
        self.prototypes = Prototypes(self.globals, self.branch)
        # What is watched while another file's code runs, and what otherwise.
        self.abroad = self.at_home = Watch()

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
                    if isinstance(value, Sequence) and argument is node.arguments[-1]:
                        site.tail = value.last
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
        self.descend()
        result = self._invoke(callee, site)
        self.nested -= 1
        return result

    def _invoke(self, callee: Value, site: CallSite) -> Value:
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
            self.followed += _LAYER
            return self._call_module(callee, site)
        if isinstance(callee, Partial):
            given, named = [*callee.given, *site.positional], {**callee.named, **site.keywords}
            return self.invoke(callee.function, CallSite(site.node, given, named, {}, site.complete))
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
            found = self.found(receiver) if node.attr in _OF_DICTS else receiver
            if isinstance(found, External):
                return self.invoke(self.attribute(receiver, node.attr, node), site)
            receiver = found
        if node.attr == "update" and (owner := self.owner_of_dict(node.value)) is not None:
            (given, *others) = site.values() or [Unknown()]
            known = given.items if isinstance(given, Mapping) and not others and site.complete else None
            if site.keywords and not site.positional and site.complete:
                known = dict(site.keywords.items())
            self.set_members(owner, known, given)
            return NONE
        if isinstance(receiver, (Instance, Class, Super)):
            found = self.attribute(receiver, node.attr, node)
            if not (isinstance(found, Bound) and found.function is None):
                result = self.invoke(found, site)
                for hook in self.watch.method if isinstance(receiver, Instance) else ():
                    hook(receiver, node.attr, site.positional, site.keywords, result, site.node)
                return result
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
        if (isinstance(receiver, Unknown) and not is_foreign(receiver)) and (
            (name.endswith("_") and not name.startswith("_")) or (name == "forward" and receiver.layer)
        ):
            self.undecided = True
        result = self._run_method(receiver, name, site, where)
        for hook in self.watch.method:
            hook(receiver, name, site.positional, site.keywords, result, site.node)
        return result

    def _run_method(self, receiver: Value, name: str, site: CallSite, where: ir.Expression) -> Value:
        result: Value | None = None
        if name in ("enter_context", "__enter__", "__exit__"):
            self._entered_by_hand(receiver, name, site)
        if name.startswith("register_") and name.endswith("hook"):
            self._register_hook(receiver, name, site)
        if name == "backward" and self.handed_on:
            self.run_handed_on()
        if isinstance(receiver, Scalar) and name == "backward":
            return self.backward_on_number(receiver, site, where)
        if isinstance(receiver, Constant) and isinstance(receiver.value, str):
            result = text_method(receiver.value, name, site.positional) if not site.keywords else None
        if isinstance(receiver, Unknown) and receiver.tensor is None and name in ("backward",):
            result = self.tensor_method(self.materialise(receiver), name, site, where)
        elif isinstance(receiver, Unknown) and receiver.hint and receiver.certain_edge and name in _OF_TENSORS:
            # An input of a `forward`, and a method that nothing else has which one hands to a Module.
            result = self.tensor_method(self.materialise(receiver), name, site, where)
        elif isinstance(receiver, Unknown) and receiver.tensor is not None:
            if name in ("requires_grad_", "detach_"):
                self.unsettle_origins(receiver)
            result = self.tensor_method(receiver.tensor, name, site, where)
        elif isinstance(receiver, Tensor):
            result = self.tensor_method(receiver, name, site, where)
        elif isinstance(receiver, Sequence):
            result = self._sequence_method(receiver, name, site)
        elif isinstance(receiver, Mapping):
            result = self._mapping_method(receiver, name, site)
        elif isinstance(receiver, Optimizer):
            result = self._optimizer_call(receiver, name, site)
        elif isinstance(receiver, Instance) and name == "__setattr__":
            result = self._setattr(CallSite(site.node, [receiver, *site.positional], {}))
        elif isinstance(receiver, Instance) and receiver.contents is not None:
            result = self._dict_call(receiver.contents, name, site)
        elif isinstance(receiver, (Instance, Module)):
            result = self.module_method(receiver, name, site)
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
                if isinstance(callee, Unknown) and callee.layer and name not in ("forward", "__call__"):
                    # a method of an object, which may be a layer, is none
                    callee = Unknown(
                        callee.depends,
                        source=callee.source,
                        foreign=callee.foreign,
                        keeps_flags=callee.keeps_flags,
                        part_of=callee.part_of,
                    )
                part_of = receiver.part_of
                if name == "parameters":
                    unseen = self.unseen_parameter(self.text(where), part_of)
                    return Sequence("generator", None, unseen, self.text(where))
                if name == "named_parameters":
                    pair = Sequence("tuple", (Scalar("str"), self.unseen_parameter(self.text(where), part_of)))
                    return Sequence("generator", None, pair, self.text(where))
            if isinstance(receiver, Unknown) and name in _LIKE:
                site = CallSite(site.node, [], {})
            return self.unknown_call(callee, site, receiver)
        return result

    def _register_hook(self, receiver: Value, name: str, site: CallSite) -> None:
        """A hook runs whenever it wants; a forward hook that returns something changes what a Module returns."""
        self.hand_on(site.values())
        function = site.get(0, "hook")
        if "forward" not in name or function is None or not may_return(function):
            return
        if isinstance(receiver, (Module, Instance)):
            held = receiver.parameters if isinstance(receiver, Module) else receiver.attributes
            self.trail.set(held, HOOKED, Constant(True))

    def owner_of_dict(self, node: ir.Expression) -> Value | None:
        """What an expression gives the attributes of as a dict; of a frame's variables, the constant None."""
        if isinstance(node, ir.Attribute) and node.attr == "__dict__":
            return self.evaluate(node.value)
        if isinstance(node, ir.Call) and isinstance(node.function, ir.Name):
            called = node.function.id
            if called in ("globals", "locals", "vars") and not node.arguments:
                return NONE
            if called == "vars":
                return self.evaluate(node.arguments[0].value)
        return None

    def set_members(self, owner: Value, named: dict[object, Value] | None, value: Value) -> None:
        """Attributes are set past everything that a class may have to say; None: nobody knows which."""
        if owner == NONE:
            self.forget_variables()
        for _, each in alternatives(owner):
            for name, new in (named or {}).items():
                if isinstance(each, Instance) and isinstance(name, str):
                    self.store_member(each, name, new)
            if named is None and isinstance(each, Instance):
                self.set_some_attribute(each, value)
            elif isinstance(each, Module):
                self.unsettle(each)

    def _entered_by_hand(self, receiver: Value, name: str, site: CallSite) -> None:
        """A context manager that is entered or left by a call."""
        context = site.get(0, "cm") if name == "enter_context" else receiver
        if isinstance(context, GradModeGuard):
            self.set_grad_mode(context.mode if name != "__exit__" else Truth.MAYBE)
        elif context is not None and any(
            isinstance(each, (Unknown, GradModeGuard)) for _, each in alternatives(context)
        ):
            self.set_grad_mode(Truth.MAYBE)

    def _watch_unknown(self, receiver: Unknown, name: str, site: CallSite) -> None:
        if name == "step":
            for hook in self.watch.stepped:
                hook(receiver, site.node)
        elif name == "zero_grad":
            for hook in self.watch.zeroed:
                hook(receiver, site.node)
        elif name in ("train", "eval"):
            mode = self.mode_argument(name, site)
            for hook in self.watch.mode_set:
                hook(receiver, None if mode is Truth.MAYBE else mode is Truth.YES, site.node)

    def _custom_function(self, site: CallSite) -> Value:
        """`MyFunction.apply(...)` of a custom `autograd.Function`: depends on its inputs, saves nobody knows what."""
        self.escape([tensor for value in site.values() for tensor in reachable_tensors(value)], site.node)
        return made_of(site.values(), source=site.node)

    def _optimizer_call(self, optimizer: Optimizer, name: str, site: CallSite) -> Value | None:
        if name == "step" and site.positional and isinstance(site.positional[0], Function):
            self.run_function(site.positional[0], [], {}, None)
        return self.optimizer_method(optimizer, name, site)

    # -- other files of the project

    def _travel(self, function: Function, site: CallSite | None) -> tuple[Excursion | None, Watch, bool]:
        """
        Enter or leave another file's code with a call. The observers do not come along: what they see there would
        be of another file. They are told what concerns objects that both may know, as if it happened at the call.
        """
        before = self.excursion, self.watch, self.travelling
        file = globals_of(function.closure)
        other = isinstance(file, Globals) and file.other
        if other and self.excursion is None:
            assert self.statement is not None
            place = self.statement.origin
            node = site.node if site is not None else ir.Call(place, ir.Name(place, ""), [])
            self.excursion = Excursion(node, self.statement.line, self.clock)
            self.at_home, self.watch, self.travelling = self.watch, self.abroad, True
        elif not other and self.excursion is not None:
            self.excursion, self.watch = None, self.at_home
        return before

    # -- functions of the file

    def run_function(
        self, function: Function, positional: list[Value], keywords: dict[str, Value], site: CallSite | None
    ) -> Value:
        """Run a function's body on its arguments."""
        before = self._travel(function, site)
        if before[0] is None and self.excursion is not None and site is not None:
            for hook in before[1].unknown_called:
                hook(function, None, [*positional, *keywords.values()], site.node)
        statement = self.statement
        try:
            return self._run_function(function, positional, keywords, site)
        finally:
            self.excursion, self.watch, self.travelling = before
            self.statement = statement

    def _run_function(
        self, function: Function, positional: list[Value], keywords: dict[str, Value], site: CallSite | None
    ) -> Value:
        definition = function.definition
        on_stack = sum(frame.definition is definition for frame in self.stack)
        opaque = function.kind in ("opaque", "context") or (
            isinstance(definition, ir.FunctionDef)
            and (definition.is_generator or definition.is_async)
            and function.kind != "generator"
        )
        spent = self.travelling and self.outside_left <= 0
        self.passed_by = self.passed_by or spent
        if opaque or spent or on_stack >= MOST_RECURSION or len(self.stack) >= MOST_DEPTH:
            values = [*positional, *keywords.values()]
            depends = [tensor for value in values for tensor in reachable_tensors(value)]
            if site is not None:
                self.escape(depends, site.node)
                for hook in self.watch.unknown_called:
                    hook(function, None, values, site.node)
            for value in values:
                self.havoc(value)
            if self.changes_flags(function):
                for value in values:
                    self.unsettle(value)
            self.hand_on([function, *values])
            first = positional[0] if positional else None
            layer = isinstance(first, Instance) and function.name == "forward" and is_module(first) is Truth.YES
            if function.kind == "opaque":
                layer = False  # the decorator may do anything
            source = site.node if site is not None else None
            return made_of(values, source=source, layer=True) if layer else Unknown(depends, source=source)
        frame = Frame({}, function.closure)
        self._bind_parameters(frame, function, positional, keywords, site is None or site.complete)
        mode, ambient, contexts = self.grad_mode, self.ambient, self.contexts
        self.contexts = 0
        if function.grad_mode is not None:
            self.grad_mode = function.grad_mode
        elif self.grad_mode is Truth.YES and _FOR_INFERENCE.search(function.name):
            # Its author says that nobody differentiates what it does.
            self.grad_mode = Truth.MAYBE
        if isinstance(definition, ir.Lambda):
            caller, statement = self.frame, self.statement
            self.frame = frame
            self.statement = ir.ExpressionStatement(definition.body.origin, self.line(), definition.body)
            result = self.evaluate(definition.body)
            self.frame, self.statement = caller, statement
            self._leave_mode(function, mode, ambient, contexts)
            return result
        for hook in self.watch.function_started:
            hook(function, frame.variables)
        result = self._run_body(definition, frame)
        self._leave_mode(function, mode, ambient, contexts)
        for ended in self.watch.function_ended:
            ended(function, result)
        return result

    def _leave_mode(self, function: Function, mode: Truth, ambient: Truth, contexts: int) -> None:
        """After a function: the grad mode is as before, unless it has set it for good."""
        self.contexts = contexts
        changed = self.ambient is not ambient and function.grad_mode is None
        self.grad_mode = self.ambient if changed else mode
        if self.ambient is not ambient and (contexts or not changed):
            self.trail.set(self, "ambient", ambient)

    def _run_body(self, definition: ir.FunctionDef, frame: Frame) -> Value:
        caller, statement, path, built_in = self.frame, self.statement, self.path, self.built_in
        self.entered.add(id(definition))
        call = CallFrame(definition, self.trail.mark(), self.path, self.tick())
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
                rest: dict[object, Value] = dict(named.items())
                frame.variables[parameter.name] = Mapping(rest if complete else None)
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
        # Only what another constructor builds: what the program itself builds is followed where it happens.
        key = None
        given: tuple[Value, ...] = ()
        if self.built_in and site.tail is None and not self.dead:
            # what was built without other files is another object than what is built with them
            mode = self.grad_mode, self.outside_left > 0, site.complete
            key = self.prototypes.key(cls, site.positional, site.keywords, mode)
        if key is not None:
            given = leaves(site.values())
            made = self.prototypes.make(key, given)
            if made is not None:
                copied, left_open = made
                self._leave_open(left_open)
                return copied
        instance = Instance(cls)
        instance.exact = True
        if key is None:
            self.initialise(instance, site)
            return instance
        before = Openness(self.passed_by, self.undecided, self.layer_undecided)
        self.passed_by = self.undecided = self.layer_undecided = False
        try:
            self.initialise(instance, site)
            if self.prototypes.key(cls, site.positional, site.keywords, mode) == key:
                left_open = Openness(self.passed_by, self.undecided, self.layer_undecided)
                self.prototypes.keep(key, instance, given, site.values(), left_open)
        finally:
            self._leave_open(before)
        return instance

    def _leave_open(self, also: Openness) -> None:
        """What another construction left open is left open here, too."""
        self.passed_by |= also.passed_by
        self.undecided |= also.undecided
        self.layer_undecided |= also.layer_undecided

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
        self.inherit(instance, site)
        fields: dict[str, None] = {}
        for cls in reversed(instance.cls.ancestry()):
            for s in cls.definition.body:
                if isinstance(s, ir.Assign) and s.annotation is not None and isinstance(s.targets[0], ir.Name):
                    fields[s.targets[0].id] = None
        if fields and not instance.cls.outside():
            for name, value in zip(fields, site.positional, strict=False):
                self.trail.set(instance.attributes, name, value)
            for name, value in site.keywords.items():
                self.trail.set(instance.attributes, name, value)
        for name in ("__post_init__", "__attrs_post_init__"):
            found = self._class_attribute(instance.cls, name, site.node)
            if isinstance(found, Function):
                self._call_method(instance, found, CallSite(site.node, [], {}, complete=False))

    def call_instance(self, instance: Instance, site: CallSite) -> Value:
        """`instance(...)`: `__call__`, or a Module's `forward`."""
        result = self._hooked(instance.attributes, self._run_instance(instance, site))
        for hook in self.watch.module_called if is_module(instance) is not Truth.NO else ():
            hook(instance, site.values(), result, site.node)
        return result

    def _run_instance(self, instance: Instance, site: CallSite) -> Value:
        for name in ("__call__", "forward"):
            if name == "forward" and is_module(instance) is not Truth.NO and name in instance.attributes:
                return self.invoke(instance.attributes[name], site)
            for cls in instance.cls.ancestry():
                function = cls.attributes.get(name)
                if isinstance(function, Function):
                    if name == "forward" and is_module(instance) is Truth.NO:
                        continue
                    return self._call_method(instance, function, site)
                if function is not None:
                    return self.invoke(function, site)
        if instance.layer is not None:
            return self._run_module(instance.layer, site)
        return self.unknown_call(instance, site)

    def _call_module(self, module: Module, site: CallSite) -> Value:
        result = self._hooked(module.parameters, self._run_module(module, site))
        for hook in self.watch.module_called:
            hook(module, site.values(), result, site.node)
        return result

    def _hooked(self, attributes: dict[str, Value], result: Value) -> Value:
        """What a Module returns whose hooks may return something else, or be given something else."""
        self.run_handed_on()
        if HOOKED not in attributes:
            return result
        return choose([(unknown_guard(), result), (unknown_guard(), Unknown(reachable_tensors(result)))])

    def _run_module(self, module: Module, site: CallSite) -> Value:
        if "forward" in module.parameters:
            return self.invoke(module.parameters["forward"], site)
        if module.kind.container == "sequential":
            if module.children is None or not site.positional:
                values = [tensor for value in site.values() for tensor in reachable_tensors(value)]
                self.escape(values, site.node)
                before = made_of(site.values(), source=site.node, layer=True)
                if module.tail is None or not site.positional:
                    return before
                return self.invoke(module.tail, CallSite(site.node, [before], {}))
            value: Value = site.positional[0]
            for index, child in enumerate(module.children):
                if isinstance(child, Unknown):
                    child.layer = True  # `nn.Sequential` takes nothing but Modules
                inner = CallSite(site.node, [value], {}, site.arguments if index == 0 else {})
                value = self.invoke(child, inner)
            return value
        result = self.layer_call(module, site)
        return result if result is not None else self.unknown_call(module, site)

    def _super_call(self, value: Super, name: str, site: CallSite) -> Value | None:
        if name == "__init__" and isinstance(value.instance, Instance):
            self.inherit(value.instance, site)
        if name == "__setattr__":
            return self._set_raw(CallSite(site.node, [value.instance, *site.positional], {}))
        if name in ("__init__", "__new__", "__post_init__"):
            return NONE
        if isinstance(value.instance, Instance):
            if value.instance.contents is not None:
                return self._dict_call(value.instance.contents, name, site)
            if name in ("forward", "__call__") and value.instance.layer is not None:
                return self._run_module(value.instance.layer, site)
            return self.module_method(value.instance, name, site)
        return None

    def _dict_call(self, contents: Mapping, name: str, site: CallSite) -> Value | None:
        """A method that an object has from `dict`."""
        if name == "__getitem__" and len(site.positional) == 1:
            return self.subscript(contents, site.positional[0], site.node)
        return self._mapping_method(contents, name, site)

    def _parametrised(self, qualified: str, site: CallSite) -> Value:
        """A parameter of a Module is computed from now on, from others and by nobody knows what."""
        module = site.get(0, "module") or Unknown()
        name = site.get(1, "tensor_name") or site.get(1, "name") or site.get(1, "parameter_name") or Constant("weight")
        for _, each in alternatives(module):
            if isinstance(each, (Module, Instance)):
                held = each.parameters if isinstance(each, Module) else each.attributes
                named = isinstance(name, Constant) and isinstance(name.value, str)
                for key in [name.value] if named and isinstance(name, Constant) else list(held):
                    if isinstance(key, str) and isinstance(held.get(key), Tensor):
                        self.trail.set(held, key, Unknown(reachable_tensors(held[key])))
        return module

    def _zeroed_together(self, site: CallSite) -> Value:
        """`torch._foreach_zero_(gradients)`."""
        for value in site.values():
            for tensor in reachable_tensors(value):
                owner = tensor.grad_of
                if owner is not None:
                    self.trail.set(owner, "grad_reset", self.tick())
                    for hook in self.watch.zeroed:
                        hook(owner, site.node)
            known = isinstance(value, Sequence) and value.items is not None
            for hook in self.watch.zeroed if not known else ():
                hook(Unknown(), site.node)
        return NONE

    # -- things imported, builtins

    def _external(self, qualified: str, site: CallSite) -> Value:
        result = self._run_external(qualified, site)
        for hook in self.watch.called:
            hook(qualified, site.positional, site.keywords, result, site.node)
        return result

    def _number(self, qualified: str, site: CallSite) -> Value | None:
        """The number that a function outside torch computes; or what holds the limits of a dtype."""
        if qualified in ("torch.finfo", "torch.iinfo"):
            return External(qualified)  # its attributes are the limits
        kind = foreign.result(qualified)
        if kind is None and foreign.result_for_numbers(qualified) and site.complete:
            kinds = {self.kind_of(value) for value in site.values()}
            kind = "number" if kinds <= {"int", "float", "number", "bool"} else None
        if kind is None or (self.imports is not None and self.imports.offers(qualified)):
            return None
        for value in site.values():
            for tensor in reachable_tensors(value):
                self.use(tensor, site.node)
        return Scalar(kind)

    def _run_external(self, qualified: str, site: CallSite) -> Value:
        if qualified.startswith("builtins."):
            result = self._builtin(qualified[9:], site)
            return result if result is not None else self.unknown_call(External(qualified), site)
        if qualified.startswith("torch."):
            result = self.torch_call(qualified, site)
            if result is not None:
                return result
            if qualified == "torch._foreach_zero_":
                return self._zeroed_together(site)
            if foreign.replaces_parameters(qualified):
                return self._parametrised(qualified, site)
            if qualified.startswith(("torch.nn.utils.", "torch.cuda.", "torch.distributed.", "torch.backends.")):
                return Unknown([t for value in site.values() for t in reachable_tensors(value)])
        if qualified.startswith("numpy."):
            self.numpy_call(qualified, site)
        first = site.positional[0] if site.positional else None
        if qualified.endswith(".__setattr__") and isinstance(first, Instance):
            return self._set_raw(site)
        if qualified.endswith(".__init__") and isinstance(first, Instance):
            self.inherit(first, CallSite(site.node, site.positional[1:], site.keywords, complete=site.complete))
        found = self.found(External(qualified))
        if found != External(qualified):
            return self.invoke(found, site)
        if (number := self._number(qualified, site)) is not None:
            return number
        if qualified == "functools.partial" and site.positional:
            return self._partial(site)
        if qualified in ("copy.deepcopy", "copy.copy") and site.positional:
            return self._copied(qualified, site)
        last = qualified.rpartition(".")[2]
        result = self.unknown_call(External(qualified), site)
        if isinstance(result, Unknown):
            result.layer = last[:1].isupper()
        return result


def may_return(function: Value) -> bool:
    """Whether a function may return anything but None."""
    if isinstance(function, Bound) and function.function is not None:
        function = function.function
    if not isinstance(function, Function):
        return True
    definition = function.definition
    if isinstance(definition, ir.FunctionDef):
        returns = [each.value for each in ir.walk(definition.body) if isinstance(each, ir.Return)]
        return any(value is not None and not _is_none(value) for value in returns)
    body = definition.body
    if isinstance(body, ir.Call):
        called = body.function
        return not (isinstance(called, ir.Attribute) and called.attr in _RETURN_NONE) and not (
            isinstance(called, ir.Name) and called.id in ("print", "setattr")
        )
    return not _is_none(body)


_RETURN_NONE = frozenset({"append", "extend", "insert", "update", "clear", "add", "__setitem__"})


def _is_none(node: ir.Expression) -> bool:
    return isinstance(node, ir.Constant) and node.value is None
