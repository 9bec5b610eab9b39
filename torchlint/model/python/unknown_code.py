"""
What code that the model does not follow may have done to what it can reach.

It may keep, write and change what it is given, so of flags (`requires_grad`, `is_leaf`) and of what containers and
objects hold nothing is certain any more. A call whose value is used practically never changes the flags of the tensors
it is given, but it may: what rests on them from then on is conditional ("if `w` requires grad") and no error. What such
code practically never does is a rule of thumb, and there are three: functions of torch and the standard library leave
flags alone; so do those whose name says that they only look, collect or compute (`foreign.only_reads`); and what is
built over parameters (an optimizer) does. Functions of the file that are handed on run when nobody sees it: what they
write to is unknown from then on.

Runs nothing: says what is left of the values when something unknown has run.
"""

from __future__ import annotations

from torchlint.knowledge import foreign
from torchlint.knowledge.ops import find as ops
from torchlint.model.python.expressions import held_tensors
from torchlint.model.python.modules import LayerMachine
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    GRAD_MAYBE,
    GRAD_YES,
    NONE,
    Bound,
    Choice,
    Constant,
    External,
    Frame,
    Function,
    Grad,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Partial,
    Sequence,
    Super,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    is_foreign,
    is_open,
    made_of,
    parts,
    reachable_tensors,
    unknown_guard,
    within,
)
from torchlint.model.torch.functions import CallSite
from torchlint.syntax import ir
from torchlint.syntax.features import written

_FLAGS = frozenset({"requires_grad", "requires_grad_", "detach_", "set_requires_grad"})
"""Who changes a flag writes one of these, or `freeze`."""
_KEEPING_FLAGS = frozenset(
    """
    __call__ __getitem__ __iter__ __len__ add_module add_param_group bfloat16 buffers children clear compile cpu cuda
    double eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half items keys
    load_state_dict log_prob modules named_buffers named_children named_modules named_parameters parameters pop
    register_backward_hook register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook
    register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook
    register_module register_parameter register_state_dict_pre_hook reset_parameters sample set_extra_state setdefault
    share_memory state_dict step to to_empty train type values zero_grad
    """.split()  # noqa: SIM905
)
"""Methods of Modules and optimizers that torch has, which leave `requires_grad` alone."""
_OF_CONTAINERS = frozenset(
    {"append", "extend", "insert", "add", "update", "setdefault", "pop", "popitem", "clear", "remove", "appendleft"}
)


MOST_CALLEES = 100
"""Functions looked at for what one that is handed on may make run."""


class Callback:
    """A function of the file that somebody else may run; of a method, also its object."""

    __slots__ = ("function", "receiver")

    def __init__(self, function: Function, receiver: Value | None) -> None:
        self.function = function
        self.receiver = receiver

    @classmethod
    def of(cls, value: Value) -> Callback | None:
        """What a value is as a callback, if it is one."""
        if isinstance(value, Bound) and value.function is not None:
            return cls(value.function, value.receiver)
        return cls(value, None) if isinstance(value, Function) else None

    def is_same(self, other: Callback) -> bool:
        return self.function is other.function and self.receiver is other.receiver

    def variables(self, name: str) -> dict[str, Value] | None:
        """Where a variable is that the function sees."""
        parameters = self.function.definition.parameters
        if self.receiver is not None and parameters and parameters[0].name == name:
            return {name: self.receiver}
        frame: Frame | None = self.function.closure
        while frame is not None and name not in frame.variables:
            frame = frame.enclosing
        return None if frame is None else frame.variables

    def lookup(self, name: str) -> Value | None:
        """The value of a variable that the function sees."""
        variables = self.variables(name)
        return None if variables is None else variables[name]


class UnknownMachine(LayerMachine):
    """A machine that knows what code it does not follow may do."""

    def __init__(self) -> None:
        super().__init__()
        self.handed_on: tuple[Callback, ...] = ()
        """Functions of the file that unknown code, a hook or a callback may run at any time."""
        self._reaching: dict[int, tuple[tuple[str, ...], ...]] = {}

    # -- flags

    def unsettle(self, value: Value, *, slightly: bool = False) -> None:
        """
        Whether anything that this value leads to requires grad, or is a leaf, is not known any more; `slightly`: what
        required grad practically still does, and that becomes a condition.
        """
        seen: set[int] = set()
        pending: list[Value] = [value]
        while pending:
            each = pending.pop()
            if id(each) in seen:
                continue
            seen.add(id(each))
            if isinstance(each, Tensor):
                self._unsettle_tensor(each, slightly)
            elif isinstance(each, Unknown):
                if each.guess is not None:
                    self._unsettle_tensor(each.guess, slightly)
                pending += each.possible if each.certain_edge else each.depends
                if each.part_of is not None:
                    pending.append(each.part_of)
            elif isinstance(each, Sequence):
                pending += each.items or ()
                pending += () if each.element is None else (each.element,)
            elif isinstance(each, Mapping):
                pending += (each.items or {}).values()
                pending += () if each.element is None else (each.element,)
            elif isinstance(each, Choice):
                pending += [option for _, option in each.alternatives]
            elif isinstance(each, Module):
                pending += [*each.parameters.values(), *(each.children or ())]
                pending += [part for part in (each.tail, each.element) if part is not None]
            elif isinstance(each, Instance):
                pending += each.attributes.values()
                pending += [part for part in (each.layer, each.contents) if part is not None]
            elif isinstance(each, (Bound, Super)):
                pending.append(each.receiver if isinstance(each, Bound) else each.instance)
            elif isinstance(each, Partial):
                pending += [*each.given, *each.named.values()]
            elif isinstance(each, Optimizer):
                pending += each.parameters

    def unsettle_origins(self, value: Unknown) -> None:
        """A flag of a value is set that may be one of those it comes from."""
        if value.part_of is not None:
            self.unsettle(value.part_of)
        for tensor in value.possible if value.certain_edge else value.depends:
            self.unsettle(tensor)

    def _unsettle_tensor(self, tensor: Tensor, slightly: bool) -> None:
        if tensor.dtype in ("int", "bool"):
            return  # torch lets only floating point require grad
        own, cut = GRAD_MAYBE, None
        if slightly and tensor.name and tensor.own.inputs:
            return
        if slightly and tensor.name and tensor.own == GRAD_YES:
            own = Grad(Truth.NO, frozenset({tensor.name}))
            cut = own.guard()
        if tensor.own != own:
            self.trail.set(tensor, "own", own)
        self._unsettle_grad(tensor)
        if tensor.grad_fn and tensor.base is None and not all(is_open(guard) for guard, _ in tensor.grad_fn):
            cut = cut or unknown_guard()
            self.trail.set(tensor, "grad_fn", tuple((guard | cut, node) for guard, node in tensor.grad_fn))

    def _unsettle_grad(self, tensor: Tensor) -> None:
        """A backward may have run that nobody has seen."""
        if tensor.grad == NONE and not tensor.grad_fn:
            self.trail.set(tensor, "grad", Choice(((unknown_guard(), NONE), (unknown_guard(), Unknown()))))

    def _backward_may_have_run(self, callback: Callback) -> None:
        """Of what a function uses that has a `backward` in it, any gradient may be there."""
        for name in self._reads_of(callback.function):
            value = callback.lookup(name)
            for each in self._leaves(value) if value is not None else ():
                self._unsettle_grad(each)

    def _leaves(self, value: Value) -> list[Tensor]:
        found = reachable_tensors(value)
        for _, each in alternatives(value):
            if isinstance(each, (Module, Instance)):
                found = [*found, *self.parameters_of(each)[0]]
            elif isinstance(each, Optimizer):
                found = [*found, *each.parameters]
        return found

    def give(self, values: list[Value], name: str, node: ir.Node) -> None:
        """Unknown code of a certain name is given values: what it may have done to their flags."""
        if foreign.only_reads(name):
            return
        effect = self.for_effect(node) or (name.endswith("_") and not name.endswith("__"))
        effect = (effect and not name[:1].isupper()) or foreign.speaks_of_flags(name)
        for value in values:
            if isinstance(value, Unknown) and value.part_of is None and not value.depends and value.tensor is None:
                continue
            sure = _holds_modules(value) or (effect and not isinstance(value, Optimizer))
            self.unsettle(value, slightly=not sure)

    def given_to(self, function: Value | None, values: list[Value], name: str) -> None:
        """Unknown code of a certain name is run on values."""
        if isinstance(function, Function) or (
            not _keeps_flags(function) and not foreign.only_reads(name.rpartition(".")[2])
        ):
            for value in values:
                self.unsettle(value)

    def _method_of_elsewhere(self, owner: Value, name: str, node: ir.Node) -> None:
        """A method that an object's class has from elsewhere; called on tensors, it may be a layer that it holds."""
        if foreign.speaks_of_flags(name) or (self.for_effect(node) and not foreign.only_reads(name)):
            self.unsettle(owner)

    def for_effect(self, node: ir.Node) -> bool:
        """Whether a call's value is dropped: it is there for what it does."""
        statement = self.statement
        if isinstance(statement, ir.Assign):
            (target, *others) = statement.targets
            return statement.value is node and not others and isinstance(target, ir.Name) and target.id == "_"
        if not isinstance(statement, ir.ExpressionStatement):
            return False
        value = statement.value
        if isinstance(value, ir.Await):
            value = value.value
        return value is node or (isinstance(value, ir.Comprehension) and value.element is node)

    def changes_flags(self, function: Function) -> bool:
        """Whether a function of the file that is not followed may change flags, by what is written in it."""
        definition = function.definition
        if isinstance(definition, ir.FunctionDef):
            words = written(definition).words
        else:
            words = {each.attr for each in ir.walk(definition) if isinstance(each, ir.Attribute)}
        return not words.isdisjoint(_FLAGS) or any("freeze" in word for word in words)

    # -- unknown code

    def unknown_call(self, callee: Value, site: CallSite, receiver: Value | None = None) -> Value:
        """Code nobody knows is run: it may read, keep and change what it is given."""
        if site.keywords.get("inplace", NONE) not in (NONE, Constant(False)):
            self.undecided = self.layer_undecided = True
        function = site.node.function
        called = function.attr if isinstance(function, ir.Attribute) else getattr(function, "id", "")
        apart = foreign.is_foreign(callee.qualified) if isinstance(callee, External) else is_foreign(callee)
        apart = apart or (receiver is not None and is_foreign(receiver))
        if called.endswith("_") and not called.startswith("_") and not apart:
            self.contained = False
        depends: list[Tensor] = []
        given = [*site.values(), *([receiver] if receiver is not None else [])]
        for value in given:
            held = [*value.given, *held_tensors(value)] if isinstance(value, Instance) else reachable_tensors(value)
            for tensor in held:
                if tensor not in depends and (not isinstance(value, Instance) or tensor.is_parameter is not Truth.YES):
                    depends.append(tensor)
            self.havoc(value)
        if not apart and not _keeps_flags(callee):
            known = called in _KEEPING_FLAGS or (called not in _FLAGS and ops.find(f"torch.Tensor.{called}"))
            of_library = isinstance(callee, Unknown) and callee.keeps_flags
            if receiver is None or not of_library:
                self.give(site.values() if receiver is None or known else given, called, site.node)
            elif not known:
                self.give([receiver], called, site.node)
            if isinstance(callee, Unknown) and callee.part_of is not None and not known:
                self._method_of_elsewhere(callee.part_of, called, site.node)
        self.hand_on(site.values())
        self.run_handed_on()
        self.escape(depends, site.node)
        self.retained_escape(site.values())
        arguments = site.values()
        arguments += [each.receiver for each in arguments if isinstance(each, Bound)]  # `retry(optimizer.zero_grad)`
        for hook in self.watch.unknown_called:
            hook(callee, receiver, arguments, site.node)
        if self.grad_mode is Truth.NO:
            # Code called under no_grad records nothing (unless it turns grad mode on, which leaves it unknown).
            return Unknown(source=site.node, layer=isinstance(callee, External), foreign=apart)
        of_callee = callee.depends if isinstance(callee, Unknown) and receiver is None else ()
        result = Unknown([*depends, *of_callee], source=site.node)
        if isinstance(callee, Unknown) and callee.layer and receiver is None:
            result = made_of(site.values(), source=site.node)  # a method of a layer may do anything
            result.possible += tuple(each for each in of_callee if each not in result.depends)
        result.layer, result.foreign, result.keeps_flags = isinstance(callee, External), apart, _keeps_flags(callee)
        result.part_of = receiver.part_of if isinstance(receiver, Unknown) else None
        return result

    def havoc(self, value: Value) -> None:
        """Unknown code was given a value: what it holds may have changed."""
        if isinstance(value, Instance):
            if not value.havocked:
                self.trail.set(value, "havocked", True)
            for name, each in list(value.attributes.items()):
                if any(isinstance(v, Tensor) and v.is_parameter is not Truth.YES for _, v in alternatives(each)):
                    self.trail.set(
                        value.attributes, name, choose([(unknown_guard(), each), (unknown_guard(), Unknown())])
                    )
        elif isinstance(value, Bound) and value.name in _OF_CONTAINERS:
            self.havoc(value.receiver)
        elif isinstance(value, Sequence) and value.last is not None and value.items is None:
            self.trail.set(value, "last", None)
        elif isinstance(value, Sequence) and value.kind == "list" and value.items is not None:
            self.trail.set(value, "last", None)
            element = Unknown(reachable_tensors(value))
            self.trail.set(value, "element", element)
            self.trail.set(value, "items", None)
        elif isinstance(value, Mapping) and value.items is not None:
            self.trail.set(value, "element", Unknown(reachable_tensors(value)))
            self.trail.set(value, "items", None)

    # -- functions of the file that somebody else runs

    def hand_on(self, values: list[Value]) -> None:
        """Unknown code was given functions of the file: it may run them now or later."""
        for value in values:
            for _, each in alternatives(value):
                function = each
                while isinstance(function, Partial):
                    for part in (*function.given, *function.named.values()):
                        self.havoc(part)
                    function = function.function
                callback = Callback.of(function)
                if callback is not None:
                    self._hand_on_with_callees(callback)

    def _hand_on_with_callees(self, callback: Callback) -> None:
        """Who may run a function may make it run what it calls."""
        pending, seen = [callback], 0
        while pending and seen < MOST_CALLEES:
            each = pending.pop()
            seen += 1
            if any(each.is_same(known) for known in self.handed_on):
                continue
            pending += self._callees(each)
            function = each.function
            if self._writes_of(function) or self.changes_flags(function) or self._differentiates(function):
                self.trail.set(self, "handed_on", (*self.handed_on, each))
                self._may_have_run(each)

    def _callees(self, callback: Callback) -> list[Callback]:
        """The functions of the file, and the methods of its objects, that a function calls by name."""
        definition = callback.function.definition
        body: list[ir.Statement] | ir.Node = definition.body
        paths = {_path(node.function) for node in ir.walk(body) if isinstance(node, ir.Call)}
        found = (self._callee(callback, path) for path in sorted(paths) if path)
        return [each for each in found if each is not None]

    def _callee(self, callback: Callback, path: tuple[str, ...]) -> Callback | None:
        value = callback.lookup(path[0])
        for number, name in enumerate(path[1:], 1):
            if not isinstance(value, Instance):
                return None
            held = value.attributes.get(name)
            if held is None and number == len(path) - 1:
                for cls in value.cls.ancestry():
                    method = cls.attributes.get(name)
                    if isinstance(method, Function):
                        return Callback(method, value)
                return None
            value = held
        if isinstance(value, Instance):
            return self._callee_of_call(value)
        return Callback.of(value) if value is not None else None

    def _callee_of_call(self, instance: Instance) -> Callback | None:
        """What calling an object of the file runs: `forward` of a Module."""
        for name in ("__call__", "forward"):
            for cls in instance.cls.ancestry():
                method = cls.attributes.get(name)
                if isinstance(method, Function):
                    return Callback(method, instance)
        return None

    def run_handed_on(self) -> None:
        """Something was called that may run what was handed on."""
        for callback in self.handed_on:
            self._may_have_run(callback)

    def _may_have_run(self, callback: Callback) -> None:
        """What a function writes to, outside itself, is unknown."""
        writes = self._writes_of(callback.function)
        if self._differentiates(callback.function):
            self._backward_may_have_run(callback)
        for path in writes:
            self._forget(path, callback)
        if self.changes_flags(callback.function):
            for name in {path[0] for path in writes}:
                value = callback.lookup(name)
                if value is not None:
                    self.unsettle(value)

    def _forget(self, path: tuple[str, ...], callback: Callback) -> None:
        name, *rest = path
        variables = callback.variables(name)
        if variables is None:
            return
        value = variables[name]
        for each in rest[:-1]:
            if not isinstance(value, Instance) or each not in value.attributes:
                return
            variables, name = value.attributes, each
            value = value.attributes[each]
        if rest and rest[-1] == "":
            for _, held in alternatives(value):
                if isinstance(held, (Sequence, Mapping)):
                    self._open(held)
            return
        if rest and isinstance(value, Instance):
            variables, name = value.attributes, rest[-1]
        elif rest:
            return
        old = variables.get(name)
        if not isinstance(old, Unknown):
            options = [(unknown_guard(), Unknown())] + ([(unknown_guard(), old)] if old is not None else [])
            if not (isinstance(old, Choice) and any(isinstance(each, Unknown) for _, each in old.alternatives)):
                self.trail.set(variables, name, choose(options))

    def _open(self, value: Sequence | Mapping) -> None:
        """A container that may hold anything besides."""
        if isinstance(value, Sequence):
            self.trail.set(value, "last", None)
        if value.items is not None or not isinstance(value.element, Unknown):
            self.trail.set(value, "element", Unknown(reachable_tensors(value)))
            self.trail.set(value, "items", None)

    def _differentiates(self, function: Function) -> bool:
        definition = function.definition
        return isinstance(definition, ir.FunctionDef) and "backward" in written(definition).words

    def _reads_of(self, function: Function) -> set[str]:
        """The names that stand in a function and are not its own."""
        definition = function.definition
        assert isinstance(definition, ir.FunctionDef)
        names = {each.id for each in ir.walk(definition.body) if isinstance(each, ir.Name)}
        return names - definition.assigned

    def _writes_of(self, function: Function) -> tuple[tuple[str, ...], ...]:
        """
        What a function writes to that is not its own: `("seen",)` is a variable, `("self", "x")` an attribute, and an
        empty last name says that it is written into.
        """
        definition = function.definition
        known = self._reaching.get(id(definition))
        if known is None:
            body: list[ir.Statement] | ir.Node
            # of a method that is handed on, the first one is its object
            own = {parameter.name for parameter in definition.parameters[int(function.owner is not None) :]}
            if isinstance(definition, ir.FunctionDef):
                own |= definition.assigned
                body = definition.body
            else:
                body = definition.body
            found = {path for node in ir.walk(body) for path in _written_paths(node) if path[0] not in own}
            known = self._reaching[id(definition)] = tuple(sorted(found))
        return known


def _written_paths(node: ir.Node) -> list[tuple[str, ...]]:
    if isinstance(node, ir.Call):
        if isinstance(node.function, ir.Name):
            return []
        path = _path(node.function.value) if isinstance(node.function, ir.Attribute) else ()
        if not path:  # `getattr(seen, name)(x)`, `{"train": seen}[phase].append(x)`: any of these may be written into
            return [(each.id, "") for each in ir.walk(node.function) if isinstance(each, ir.Name)]
        assert isinstance(node.function, ir.Attribute)
        inside = node.function.attr in _OF_CONTAINERS
        return [(*path, "")] if path and inside else [path] if path and node.function.attr in _FLAGS else []
    if isinstance(node, ir.Scope):
        return [(name,) for name in node.names]
    targets: list[ir.Expression] = []
    if isinstance(node, ir.Assign):
        targets = list(node.targets)
    elif isinstance(node, (ir.AugmentedAssign, ir.For)):
        targets = [node.target]
    found: list[tuple[str, ...]] = []
    while targets:
        target = targets.pop()
        if isinstance(target, ir.Sequence):
            targets += target.elements
        elif isinstance(target, ir.Starred):
            targets.append(target.value)
        elif isinstance(target, ir.Subscript) and (path := _path(target.value)):
            found.append((*path, ""))
        elif isinstance(target, ir.Attribute) and (path := _path(target)):
            found.append(path)
        elif isinstance(target, ir.Name) and isinstance(node, ir.AugmentedAssign):
            found.append((target.id, ""))
    return found


def _path(node: ir.Expression) -> tuple[str, ...]:
    names: list[str] = []
    while isinstance(node, ir.Attribute):
        names.append(node.attr)
        node = node.value
    return (node.id, *reversed(names)) if isinstance(node, ir.Name) else ()


def _keeps_flags(callee: Value | None) -> bool:
    return isinstance(callee, External) and foreign.keeps_flags(callee.qualified)


def _holds_modules(value: Value) -> bool:
    """Whether a value is a Module, or holds one."""
    return any(isinstance(each, (Module, Instance, Super)) for each in within(value, parts, 3))
