"""
What a Module registers: containers that hide modules, `nn.Module.__init__` that comes too late or never, parameters
overwritten by tensors.

The rules are those of `Module.__setattr__` (torch/nn/modules/module.py): only what is assigned to an attribute is
registered, only after `Module.__init__`, and a registered parameter takes nothing but a Parameter or None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from torchlint.condition import Condition
from torchlint.model.events.registration import HeldInPlainContainer, ParameterReplaced, SuperInitMissing
from torchlint.model.events.trace import Step
from torchlint.model.observers.moments import leads_to
from torchlint.model.observers.pending import expression
from torchlint.model.observers.registration.by_hand import (
    are_kept_by_hand,
    are_left_alone,
    is_given_away,
    is_plain_call,
    may_be_run_by_hand,
)
from torchlint.model.python.attributes import is_module
from torchlint.model.python.making import called_as_written, is_abstract, is_docstring, is_plain_base, made_as_written
from torchlint.model.state.alternatives import emit_each
from torchlint.model.state.guards import Guard, Truth
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Choice,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Sequence,
    Super,
    Tensor,
    Unknown,
    Value,
    alternatives,
    explore,
)
from torchlint.syntax import cst, ir, kinds
from torchlint.syntax.features import DEFINES, SETS, here
from torchlint.syntax.spelling import dotted
from torchlint.syntax.tree import written

_WRAPS_A_LOCAL = re.compile(r"self\.\w+ = [\w.]*(Parameter|Module)(List|Dict)\(\s*\*?[A-Za-z_]\w*\s*\)")
"""A container of torch over a list or dict that a method has filled: with what it went through before."""
_REGISTERS = re.compile(
    r"\b(add_module|register_module|register_parameter|setattr|__setattr__|_modules|_parameters|__dict__)\b"
    r"|def (named_)?(parameters|modules|children)\b|def _apply\b"
)
_SETS_NEW_LAYER = re.compile(
    r"\bsetattr\(self, f(?P<quote>['\"])(?P<start>\w+)\{\w+\}\w*(?P=quote), "
    r"nn\.(Linear|Conv[123]d|LayerNorm)\([^(){}]*\)\)"
)
"""It registers a layer that nothing else holds, under a name with that beginning."""
_UNREGISTERS = re.compile(
    r"\bdel\s+\S+\.|\b(delattr|_parameters|weight_norm|spectral_norm|parametri[sz]\w*|__dict__)\b"
)
_ASTRAY = re.compile(r"(torch\.)?(nn\.)?Module(\(\))?\.__init__")
_BY_HAND = re.compile(r"\b(__dict__|_parameters|_modules|_buffers|_backward_hooks|vars|exec)\b|object\.__setattr__")
_RAISES = frozenset(
    {"parameters", "named_parameters", "children", "modules", "to", "cuda", "cpu", "float", "half", "double", "train",
     "eval", "state_dict", "load_state_dict", "zero_grad", "requires_grad_", "apply"}
)  # fmt: skip
"""Methods that need what `Module.__init__` makes."""
_REGISTERING = frozenset({"add_module", "register_module", "register_parameter", "register_buffer"})


@dataclass(slots=True, eq=False)
class _Init:
    """A running `__init__` of a Module."""

    function: Function
    instance: Instance
    path: Guard
    ready: bool
    unseen_class: str
    delegated: bool = False
    early: list[tuple[str, ir.Node, cst.CSTNode, Guard]] = field(default_factory=list)
    late_call: cst.CSTNode | None = None
    astray: cst.Call | None = None
    raising: Guard | None = None


@dataclass(slots=True, eq=False)
class _Missing:
    """An `__init__` that was seen to end, or to register something, without `Module.__init__`."""

    init: _Init
    made: Step | None


class Registration(Observer):
    """Attributes of Modules."""

    concerns = (here(SETS), here(DEFINES))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._set: dict[tuple[int, str], tuple[cst.CSTNode, ir.Expression | None]] = {}
        self._registered: dict[int, list[Value]] = {}
        self._initialised: set[int] = set()
        self._bare: dict[int, tuple[ir.Node, Instance]] = {}
        self._used: dict[int, Step] = {}
        self._kept: list[object] = []
        self._inits: list[_Init | None] = []
        self._running: list[tuple[ir.Node, int]] = []
        self._missing: dict[int, _Missing] = {}
        self._sound: set[int] = set()
        self._by_name: set[int] = set()
        self._classes: list[Class] = []

    def concluded(self) -> None:
        self._inits.clear()
        self._running.clear()

    def class_defined(self, cls: Class) -> None:
        self._classes.append(cls)

    # -- `__init__`

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._running.append((function.definition, self.machine.clock))
        parameters = function.definition.parameters
        instance = arguments.get(parameters[0].name) if parameters else None
        init = None
        for _, each in alternatives(instance) if function.name == "__init__" and isinstance(instance, Choice) else ():
            self._ran_init(each)  # it may be this one's: `Base.__init__(self if found else other)`
        if function.name == "__init__" and isinstance(instance, Instance):
            ready = id(instance) in self._initialised
            if ready or is_module(instance) is Truth.MAYBE:
                self._sound.add(id(function.definition))  # a base class that nobody knows may have seen to it
            if is_module(instance) is Truth.YES:
                init = _Init(function, instance, self.machine.path, ready, self.machine.unseen_class)
                for outer in self._inits:
                    if outer is not None and outer.instance is instance:
                        outer.delegated = True
        self._inits.append(init)

    def function_ended(self, function: Function, result: Value) -> None:
        init = self._inits.pop() if self._inits else None
        if self._running:
            self._running.pop()
        if init is None or self.machine.dead:
            return
        # whether it is missing altogether is the business of the last one on the way to `Module.__init__`
        missing = not init.delegated and id(init.instance) not in self._initialised
        if init.early or missing:
            self._note_missing(init)
        if missing:
            # said once: what is made of it is initialised from here on
            self._initialised.add(id(init.instance))
            self._bare[id(init.instance)] = init.function.definition, init.instance

    def _note_missing(self, init: _Init) -> None:
        definition = init.function.definition
        statement = self.machine.statement
        made = None
        if init.instance.exact and statement is not None and statement is not definition:
            made = Step(statement.origin, f"`{init.instance.cls.name}` is made here")
        known = self._missing.get(id(definition))
        if known is None or (known.made is None and made is not None):
            self._missing[id(definition)] = _Missing(init, made)

    def finished(self) -> None:
        for each in self._missing.values():
            self._tell_missing(each.init, each.made)

    def _tell_missing(self, init: _Init, made: Step | None) -> None:
        definition, owner, cls = init.function.definition, init.function.owner, init.instance.cls
        if not isinstance(definition, ir.FunctionDef) or owner is None or id(definition) in self._sound:
            return
        texts = (written(each.definition.origin) for each in cls.ancestry())
        if not made_as_written(cls) or any(_BY_HAND.search(text) for text in texts):
            return
        mixed = any(owner in other.bases and len(other.bases) > 1 for other in self._classes)
        if mixed or is_module(Instance(owner)) is not Truth.YES:
            return  # made to be mixed in: who derives from it and from another class runs the other's `__init__`, too
        body = [statement for statement in definition.body if not is_docstring(statement)]
        used = self._used.get(id(definition))
        if not body or (made is None and may_be_run_by_hand(self.machine.program, owner)):
            return  # who runs it by its name may have run `Module.__init__` before
        if not init.early and not used and (id(definition) in self._by_name or not _is_to_be_called(cls)):
            return
        attribute, node, line, path = init.early[0] if init.early else ("", definition, definition.line, init.path)
        named = kinds.name_of(definition.at)
        place = named if node is definition else node.origin
        late = init.late_call
        before = [statement.line for statement in body]
        before = before[: next((at for at, each in enumerate(before, start=1) if each is line), 0)]
        steps = [Step(each.value.origin, f"`{owner.name}` is a Module") for each in owner.definition.bases[:1]]
        missing = Step(named, "this `__init__` does not call `super().__init__()`")
        init_step = missing if late is None else Step(late, "`Module.__init__` runs here")
        steps += [each for each in (init_step, made, used) if each is not None]
        sure = path <= init.path or (init.raising is not None and init.raising <= init.path)
        derived = is_abstract(cls) or any(cls in other.bases for other in self._classes)
        derived = derived or (made is None and is_given_away(self.machine.program, owner))
        self.machine.emit(
            SuperInitMissing(
                node=place,
                statement=line,
                trace=tuple(each for each in steps if each.node is not place),
                unseen_class=init.unseen_class,
                module=owner.name,
                attribute=attribute,
                first=body[0].line,
                call_statement=late,
                plain=_is_bare_module(owner) and (late is None or is_plain_call(late)),
                certain=bool(attribute and before)
                and all(isinstance(each, cst.SimpleStatementLine) for each in before),
                astray=init.astray,
                proven=bool(sure and (made or not derived) if attribute else used),
            )
        )

    def _ran_init(self, instance: Value) -> None:
        if not isinstance(instance, Instance):
            return
        for init in self._inits:
            if init is not None and init.instance is instance and init.early and init.late_call is None:
                init.late_call = self.machine.line()
        self._initialised.add(id(instance))
        self._bare.pop(id(instance), None)
        self._kept.append(instance)

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        done = self._initialised
        open_ones = [each.instance for each in self._inits if each and (each.early or id(each.instance) not in done)]
        if not any(self._inits):
            open_ones += [instance for _, instance in self._bare.values()]  # who is given it may see to it
        given = [each for each in (*arguments, callee, receiver) if each is not None] if open_ones else []
        for instance in open_ones:
            if any(leads_to(value, instance) for value in given):
                self._ran_init(instance)

    def module_called(self, module: Value, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        if isinstance(module, Instance) and called_as_written(module.cls):
            self._use(module, origin, "calling it raises")

    def _use(self, instance: Instance, origin: ir.Node, words: str) -> None:
        bare = self._bare.get(id(instance))
        if bare is not None and instance.exact and not self.machine.expected_errors and not any(self._inits):
            self._used.setdefault(id(bare[0]), Step(origin.origin, words))

    # -- attributes

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        options = alternatives(owner, self.machine.guard)
        for needed, each in options:
            if isinstance(each, Instance) and is_module(each) is Truth.YES:
                self._set.setdefault((id(each), name), (self.machine.line(), _assigned_value(self.machine, node)))
                self._kept.append(each)
                if _registers_themselves([option for _, option in alternatives(value)]):
                    self._too_early(each, name, node)
                self._replaced(each.attributes.get(name), value, node, each.cls, needed)
            elif isinstance(each, Module):
                self._replaced(each.parameters.get(name), value, node, None, needed)

    def _too_early(self, instance: Instance, name: str, node: ir.Node) -> None:
        machine = self.machine
        if id(instance) in self._initialised or machine.expected_errors or machine.assumed - machine.path:
            return
        for init in reversed(self._inits):
            if init is not None and init.instance is instance:
                init.early.append((name, node, machine.line(), machine.path))
                return

    def _replaced(self, old: Value | None, new: Value, node: ir.Node, cls: Class | None, needed: Guard) -> None:
        if old is None or self.machine.assumed - self.machine.path or not isinstance(node.origin, cst.BaseExpression):
            return
        before = [option for _, option in alternatives(old)]
        after = [option for _, option in alternatives(new)]
        if not all(isinstance(v, Tensor) and v.is_parameter is Truth.YES for v in before):
            return
        if not after or not all(isinstance(v, Tensor) and v.is_parameter is Truth.NO for v in after):
            return
        if self.machine.expected_errors or (cls is not None and not made_as_written(cls)):
            return
        if any(isinstance(v, Tensor) and _made_by_an_earlier_run(self._running, v) for v in before):
            return
        if _UNREGISTERS.search(self.machine.program.text):
            return
        step = (Step(before[0].origin.origin, "the parameter is made here"),) if isinstance(before[0], Tensor) else ()
        assumed = self.machine.assumed
        self.machine.assumed = assumed | needed  # the owner is this one of several
        written = dotted(node) or (node.attr if isinstance(node, ir.Attribute) else "")
        line = self.machine.line()
        emit_each(self.machine, ParameterReplaced(node=node.origin, statement=line, trace=step, attribute=written))
        self.machine.assumed = assumed

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if isinstance(receiver, Super) and name == "__init__":
            self._ran_init(receiver.instance)
        elif name == "__init__" and isinstance(receiver, (Class, Module, Unknown)):
            bare = isinstance(receiver, Class) and not origin.arguments
            astray = _astray(self._inits, origin, self.machine.path, bare)
            for init in self._inits if not astray and isinstance(receiver, Unknown) else ():
                if init is not None:
                    self._ran_init(init.instance)  # `super(...)` in a way that the model does not follow
        elif isinstance(receiver, Instance) and name == "forward" and id(receiver) in self._bare:
            self._by_name.add(id(self._bare[id(receiver)][0]))
        elif isinstance(receiver, Instance) and name in _RAISES and id(receiver) in self._bare:
            if not any(name in each.attributes for each in receiver.cls.ancestry()):
                self._use(receiver, origin, f"`{name}` raises")
        elif isinstance(receiver, Instance) and name in _REGISTERING:
            self._registered.setdefault(id(receiver), []).extend([*positional, *keywords.values()])
            if positional and isinstance(positional[0], Constant):
                self._too_early(receiver, str(positional[0].value), origin)

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified == "builtins.super.__init__":  # of the `super` object: `super(C).__init__()` runs no other
            if positional or keywords or written(origin.function.origin) == "super.__init__":
                _astray(self._inits, origin, self.machine.path, raises=True)
        elif qualified.endswith(".__init__"):
            if positional and isinstance(positional[0], Instance):
                self._ran_init(positional[0])
            else:
                _astray(self._inits, origin, self.machine.path)

    # -- containers

    def class_built(self, cls: Class, instance: Instance) -> None:
        if is_module(instance) is not Truth.YES:
            return
        registered: dict[int, Value] = {}
        for value in (*instance.attributes.values(), *self._registered.get(id(instance), ())):
            _collect(value, registered)
        for name, value in instance.attributes.items():
            place = self._set.get((id(instance), name))
            if place is not None and isinstance(value, (Sequence, Mapping)):
                _container(self.machine, cls, name, value, place, registered)


def _astray(inits: list[_Init | None], origin: ir.Call, path: Guard, raises: bool = False) -> bool:
    """A call of the `__init__` of `nn.Module`, or of a class of the project, on something that is not `self`."""
    init, call, function = inits[-1] if inits else None, origin.origin, written(origin.function.origin)
    if init is None or not (raises or _ASTRAY.fullmatch(function)) or not isinstance(call, cst.Call):
        return False
    init.astray = call
    if raises or ("()" not in function and not origin.arguments):
        init.raising = path
    return True


def _made_by_an_earlier_run(running: list[tuple[ir.Node, int]], parameter: Tensor) -> bool:
    """
    Whether the running function itself makes the parameter, further down, and did so when it ran before: a helper
    of `__init__`, which nobody need call again.
    """
    if not running:
        return False
    definition, started = running[-1]
    return parameter.born <= started and any(part is parameter.origin for part in ir.walk(definition))


def _container(
    machine: Machine,
    cls: Class,
    name: str,
    value: Sequence | Mapping,
    place: tuple[cst.CSTNode, ir.Expression | None],
    registered: dict[int, Value],
) -> None:
    line, assigned = place
    content = _content(value)
    hidden = [each for each in content if _trainable(each) and id(each) not in registered]
    conditions: tuple[Condition, ...] = ()
    if not hidden:
        hidden, conditions = _on_one_arm(machine, value, registered)
    if not hidden or (isinstance(value, Sequence) and value.kind == "generator"):
        return
    node = expression(assigned) if assigned is not None else None
    if assigned is None or node is None or _is_single(assigned, value) or _registers_otherwise(cls, name):
        return
    parameters = all(isinstance(each, Tensor) for each in hidden)
    if parameters and (are_kept_by_hand(cls, name) or are_left_alone(machine.program, cls, name)):
        return
    kinds = (Tensor,) if parameters else (Module, Instance)
    direct = list((value.items or {}).values()) if isinstance(value, Mapping) else list(value.items or ())
    keys = list(value.items or {}) if isinstance(value, Mapping) else []
    nameable = all(isinstance(key, str) and key and "." not in key for key in keys)
    single = isinstance(value.element, kinds) if value.items is None else True
    machine.emit(
        HeldInPlainContainer(
            node=node,
            statement=line,
            conditions=conditions,
            attribute=name,
            module=cls.name,
            container="dict" if isinstance(value, Mapping) else value.kind,
            held="parameters" if parameters else "modules",
            value_node=node,
            flat=all(isinstance(each, kinds) for each in direct) and nameable and single,
            namespace=_namespace(cls),
        )
    )


def _is_to_be_called(cls: Class) -> bool:
    return called_as_written(cls) and any("forward" in each.attributes for each in cls.ancestry())


def _is_bare_module(cls: Class) -> bool:
    """Whether `super().__init__()` in the class runs that of `nn.Module`, which wants no arguments."""
    bases = [base for base in cls.bases if not is_plain_base(base)]
    return [base.qualified for base in bases if isinstance(base, External)] == ["torch.nn.Module"] and len(bases) == 1


def _registers_themselves(values: list[Value]) -> bool:
    """Whether what is set is, whichever of these it is, what a Module keeps as a part of its own."""
    return bool(values) and all(_registers_itself(each) for each in values)


def _registers_itself(value: Value) -> bool:
    if isinstance(value, Module):
        return True
    if isinstance(value, Instance):
        return is_module(value) is Truth.YES
    return isinstance(value, Tensor) and value.is_parameter is Truth.YES


def _registers_otherwise(cls: Class, attribute: str) -> bool:
    """
    Whether a class of the family registers by hand, says itself what its parameters are, wraps the container, or
    registers what it chooses from it.
    """
    texts = [written(each.definition.origin) for each in cls.ancestry()]
    local = [
        name for text in texts for name in re.findall(rf"\bself\.{attribute} *= *(\w+) *(?:#.*)?$", text, re.MULTILINE)
    ]
    wraps = re.compile(rf"\b(Sequential|\w+List|\w+Dict)\(\s*\*?\s*({'|'.join([rf'self.{attribute}', *local])})\b")
    if not any("getattr" in text for text in texts):  # else the list may be filled with what was registered so
        texts = [_SETS_NEW_LAYER.sub(lambda m: m[0] if attribute.startswith(m["start"]) else "", t) for t in texts]
    gathers = re.compile(rf"\bin [\w(, .]*\bself\.{attribute}\b")
    chooses = re.compile(rf"\bself\.\w+ *= *self\.{attribute}(\[|\.get\()")
    return any(
        _REGISTERS.search(text)
        or wraps.search(text)
        or chooses.search(text)
        or (gathers.search(text) and _WRAPS_A_LOCAL.search(text))
        for text in texts
    )


def _collect(value: Value, found: dict[int, Value]) -> None:
    """What is registered through an attribute: modules with all they hold, and parameters."""
    for _, option in alternatives(value):
        reached = explore(option, _registered)
        found |= {id(each): each for each in reached if isinstance(each, (Module, Instance, Tensor))}


def _registered(value: Value) -> list[Value]:
    inner: list[Value] = list(value.attributes.values()) if isinstance(value, Instance) else []
    if isinstance(value, Module):
        some = [value.tail] if value.tail is not None else []  # the one that is known, for those of its list
        inner = [*(value.children or some), *value.parameters.values()]
    inner = [each for each in inner if isinstance(each, (Choice, Module, Instance, Tensor))]
    return [each for option in inner for _, each in alternatives(option)]


def _content(value: Value, depth: int = 2) -> list[Value]:
    """What a plain container holds, for sure: the same on all paths."""
    if depth < 0:
        return []
    inner: list[Value] = []
    if isinstance(value, Sequence):
        inner = list(value.items) if value.items is not None else [value.element] if value.element else []
    elif isinstance(value, Mapping):
        inner = list(value.items.values()) if value.items is not None else [value.element] if value.element else []
    else:
        options = [each for _, each in alternatives(value)]
        return options if len(options) == 1 or all(_trainable(each) for each in options) else []
    return [found for each in inner for found in _content(each, depth - 1)]


def _on_one_arm(
    machine: Machine, value: Sequence | Mapping, registered: dict[int, Value]
) -> tuple[list[Value], tuple[Condition, ...]]:
    """What a plain container holds where one condition of the program holds, or does not, and that condition."""
    held = value.items if value.items is not None else (value.element,)
    for each in held.values() if isinstance(held, dict) else held:
        for guard, option in alternatives(each) if isinstance(each, Choice) else ():
            text = machine.condition(next(iter(guard))[0]) if len(guard) == 1 else None
            if text is not None and _trainable(option) and id(option) not in registered:
                return [option], (Condition("branch", text, next(iter(guard))[1] == 1),)
    return [], ()


def _trainable(value: Value) -> bool:
    """Whether it is a parameter that requires grad, or a module that surely holds one."""
    return any(
        isinstance(each, Tensor) and each.is_parameter is Truth.YES and each.own.truth() is Truth.YES
        for each in explore(value, _surely_registered)
    )


def _surely_registered(value: Value) -> list[Value]:
    if isinstance(value, Module):
        return [*value.parameters.values(), *(value.children or ())]
    if not isinstance(value, Instance) or is_module(value) is not Truth.YES:
        return []
    return [each for option in value.attributes.values() for _, each in alternatives(option)]


def _is_single(assigned: ir.Expression, value: Sequence | Mapping) -> bool:
    """`self.teacher = [teacher]`: the known way to keep a module from being registered."""
    if not isinstance(value, Sequence) or value.items is None or len(value.items) != 1:
        return False
    return isinstance(assigned, ir.Sequence) and assigned.kind != "set" and len(assigned.elements) == 1


def _assigned_value(machine: Machine, target: ir.Node) -> ir.Expression | None:
    """The right-hand side of the assignment to a target that is running."""
    statement = machine.statement
    if machine.foreign_call is None and isinstance(statement, ir.Assign):
        return statement.value if any(each is target for each in statement.targets) else None
    return None


def _namespace(cls: Class) -> str:
    """How the class writes `torch.nn`, from the base it derives from."""
    for argument, base in zip(cls.definition.bases, cls.bases, strict=False):
        if isinstance(base, External) and base.qualified.startswith("torch.nn."):
            return dotted(argument.value).rpartition(".")[0]
    return ""
