"""
What a Module registers: containers that hide modules, `nn.Module.__init__` that comes too late or never, parameters
overwritten by tensors.

The rules are those of `Module.__setattr__` (torch/nn/modules/module.py): only what is assigned to an attribute is
registered, only after `Module.__init__`, and a registered parameter takes nothing but a Parameter or None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import libcst as cst

from torchlint.model import ir
from torchlint.model.domain import (
    Class,
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
)
from torchlint.model.events.registration import HeldInPlainContainer, ParameterReplaced, SuperInitMissing
from torchlint.model.expressions import is_module
from torchlint.model.machine import Machine
from torchlint.model.marks import DEFINES, SETS, here
from torchlint.model.observer import Observer
from torchlint.model.observers.moments import dotted
from torchlint.model.trace import Step
from torchlint.model.truth import Truth
from torchlint.source import parsed

_REGISTERS = re.compile(
    r"\b(add_module|register_module|register_parameter|setattr|__setattr__|_modules|_parameters|__dict__)\b"
    r"|def (named_)?(parameters|modules|children)\b|def _apply\b"
)
_UNREGISTERS = re.compile(
    r"\bdel\s+\S+\.|\b(delattr|_parameters|weight_norm|spectral_norm|parametri[sz]\w*|__dict__)\b"
)
_ASTRAY = r"(torch\.)?(nn\.)?Module(\(\))?\.__init__"
_REGISTERING = frozenset({"add_module", "register_module", "register_parameter", "register_buffer"})


@dataclass(slots=True, eq=False)
class _Init:
    """A running `__init__` of a Module."""

    function: Function
    instance: Instance
    delegated: bool = False
    early: list[tuple[str, ir.Node, cst.CSTNode]] = field(default_factory=list)
    late_call: cst.CSTNode | None = None
    astray: cst.Call | None = None


class Registration(Observer):
    """Attributes of Modules."""

    concerns = (here(SETS), here(DEFINES))

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._set: dict[tuple[int, str], tuple[ir.Node, cst.CSTNode]] = {}
        self._registered: dict[int, list[Value]] = {}
        self._initialised: set[int] = set()
        self._kept: list[object] = []
        self._inits: list[_Init | None] = []
        self._told: set[int] = set()
        self._classes: list[Class] = []

    def concluded(self) -> None:
        self._inits.clear()

    def class_defined(self, cls: Class) -> None:
        self._classes.append(cls)

    # -- `__init__`

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        parameters = function.definition.parameters
        instance = arguments.get(parameters[0].name) if parameters else None
        init = None
        if function.name == "__init__" and isinstance(instance, Instance) and is_module(instance) is Truth.YES:
            init = _Init(function, instance)
            for outer in self._inits:
                if outer is not None and outer.instance is instance:
                    outer.delegated = True
        self._inits.append(init)

    def function_ended(self, function: Function, result: Value) -> None:
        init = self._inits.pop() if self._inits else None
        if init is None or init.delegated or self.machine.dead:
            return
        missing = id(init.instance) not in self._initialised
        if init.early or missing:
            self._tell_missing(init)
        if missing:
            self._initialised.add(id(init.instance))
            self._kept.append(init.instance)

    def _tell_missing(self, init: _Init) -> None:
        definition, owner = init.function.definition, init.function.owner
        if not isinstance(definition, ir.FunctionDef) or owner is None or id(definition) in self._told:
            return
        if any("__setattr__" in cls.attributes or cls.definition.decorators for cls in init.instance.cls.ancestry()):
            return
        if any(owner in cls.bases and len(cls.bases) > 1 for cls in self._classes):
            return  # made to be mixed in: who derives from it and from another class runs the other's `__init__`, too
        body = [statement for statement in definition.body if not _is_docstring(statement)]
        if not body or (not init.early and not any("forward" in c.attributes for c in init.instance.cls.ancestry())):
            return
        self._told.add(id(definition))
        bases = [base.qualified for base in owner.bases if isinstance(base, External)]
        attribute, node, line = init.early[0] if init.early else ("", definition, definition.line)
        place = node.origin
        if isinstance(place, cst.FunctionDef):
            place = parsed(place).name
        late = init.late_call
        before = [statement.line for statement in body]
        before = before[: next((at for at, each in enumerate(before, start=1) if each is line), 0)]
        self.machine.emit(
            SuperInitMissing(
                node=place,
                statement=line,
                trace=(Step(late, "`Module.__init__` runs here"),) if late is not None else (),
                module=owner.name,
                attribute=attribute,
                first=body[0].line,
                call_statement=late,
                plain=bases == ["torch.nn.Module"] and (late is None or _is_plain_call(late)),
                certain=bool(attribute and before)
                and all(isinstance(each, cst.SimpleStatementLine) for each in before),
                astray=init.astray,
            )
        )

    def _ran_init(self, instance: Value) -> None:
        if not isinstance(instance, Instance):
            return
        for init in self._inits:
            if init is not None and init.instance is instance and init.early and init.late_call is None:
                init.late_call = self.machine.line()
        self._initialised.add(id(instance))
        self._kept.append(instance)

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        for value in (*arguments, receiver):
            if isinstance(value, Instance) and any(init is not None and init.instance is value for init in self._inits):
                self._ran_init(value)

    # -- attributes

    def attribute_set(self, owner: Value, name: str, value: Value, node: ir.Node) -> None:
        for _, each in alternatives(owner):
            if isinstance(each, Instance) and is_module(each) is Truth.YES:
                self._set.setdefault((id(each), name), (node, self.machine.line()))
                self._kept.append(each)
                self._early(each, name, value, node)
                self._replaced(each.attributes.get(name), value, node, each.cls)
            elif isinstance(each, Module):
                self._replaced(each.parameters.get(name), value, node, None)

    def _early(self, instance: Instance, name: str, value: Value, node: ir.Node) -> None:
        if id(instance) in self._initialised or self.machine.assumed - self.machine.path:
            return
        options = [option for _, option in alternatives(value)]
        if not options or not all(_registers_itself(option) for option in options):
            return
        for init in reversed(self._inits):
            if init is not None and init.instance is instance:
                init.early.append((name, node, self.machine.line()))
                return

    def _replaced(self, old: Value | None, new: Value, node: ir.Node, cls: Class | None) -> None:
        if old is None or self.machine.assumed - self.machine.path or not isinstance(node.origin, cst.BaseExpression):
            return
        before = [option for _, option in alternatives(old)]
        after = [option for _, option in alternatives(new)]
        if not all(isinstance(v, Tensor) and v.is_parameter is Truth.YES for v in before):
            return
        if not after or not all(isinstance(v, Tensor) and v.is_parameter is Truth.NO for v in after):
            return
        if cls is not None and any("__setattr__" in each.attributes for each in cls.ancestry()):
            return
        if _UNREGISTERS.search(self._file()):
            return
        self.machine.emit(
            ParameterReplaced(
                node=node.origin,
                statement=self.machine.line(),
                trace=(Step(before[0].origin.origin, "the parameter is made here"),)
                if isinstance(before[0], Tensor)
                else (),
                attribute=dotted(node),
            )
        )

    def _file(self) -> str:
        return self.machine.program.text

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
        elif name == "__init__" and isinstance(receiver, (Module, Unknown)):
            self._astray(origin)
        elif isinstance(receiver, Instance) and name in _REGISTERING:
            self._registered.setdefault(id(receiver), []).extend([*positional, *keywords.values()])

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified.endswith(".__init__"):
            if positional and isinstance(positional[0], Instance):
                self._ran_init(positional[0])
            else:
                self._astray(origin)

    def _astray(self, origin: ir.Call) -> None:
        """A call of `nn.Module.__init__` in an `__init__`, on something that is not `self`."""
        call, init = origin.origin, self._inits[-1] if self._inits else None
        if init is not None and isinstance(call, cst.Call) and re.fullmatch(_ASTRAY, _written(parsed(call).func)):
            init.astray = call

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
                self._container(cls, name, value, place, registered)

    def _container(
        self,
        cls: Class,
        name: str,
        value: Sequence | Mapping,
        place: tuple[ir.Node, cst.CSTNode],
        registered: dict[int, Value],
    ) -> None:
        target, line = place
        content = _content(value)
        hidden = [each for each in content if _trainable(each) and id(each) not in registered]
        if not hidden or (isinstance(value, Sequence) and value.kind == "generator"):
            return
        written = _assigned_value(line, target)
        if written is None or _is_single(written, value) or _registers_otherwise(cls, name):
            return
        parameters = all(isinstance(each, Tensor) for each in hidden)
        kinds = (Tensor,) if parameters else (Module, Instance)
        direct = list((value.items or {}).values()) if isinstance(value, Mapping) else list(value.items or ())
        keys = list(value.items or {}) if isinstance(value, Mapping) else []
        nameable = all(isinstance(key, str) and key and "." not in key for key in keys)
        single = isinstance(value.element, kinds) if value.items is None else True
        self.machine.emit(
            HeldInPlainContainer(
                node=written,
                statement=line,
                attribute=name,
                module=cls.name,
                container="dict" if isinstance(value, Mapping) else value.kind,
                held="parameters" if parameters else "modules",
                value_node=written,
                flat=all(isinstance(each, kinds) for each in direct) and nameable and single,
                namespace=_namespace(cls),
            )
        )


def _written(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(parsed(node))


def _is_docstring(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.ExpressionStatement) and isinstance(statement.value, ir.Constant)


def _is_plain_call(line: cst.CSTNode) -> bool:
    """`super().__init__()` alone in its line, in any spelling without further arguments."""
    line = parsed(line)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or not isinstance(line.body[0], cst.Expr):
        return False
    call = line.body[0].value
    return isinstance(call, cst.Call) and len(call.args) <= int("super" not in cst.Module([]).code_for_node(call))


def _registers_itself(value: Value) -> bool:
    if isinstance(value, Module):
        return True
    if isinstance(value, Instance):
        return is_module(value) is Truth.YES
    return isinstance(value, Tensor) and value.is_parameter is Truth.YES


def _registers_otherwise(cls: Class, attribute: str) -> bool:
    """Whether a class of the family registers by hand, says itself what its parameters are, or wraps the container."""
    wraps = re.compile(rf"\b(Sequential|\w+List|\w+Dict)\(\s*\*?\s*self\.{attribute}\b")
    texts = [cst.Module([]).code_for_node(parsed(each.definition.origin)) for each in cls.ancestry()]
    return any(_REGISTERS.search(text) or wraps.search(text) for text in texts)


def _collect(value: Value, found: dict[int, Value], depth: int = 6) -> None:
    """What is registered through an attribute: modules with all they hold, and parameters."""
    for _, each in alternatives(value):
        if depth == 0 or id(each) in found:
            continue
        if isinstance(each, Module):
            found[id(each)] = each
            for child in (*(each.children or ()), *each.parameters.values()):
                _collect(child, found, depth - 1)
        elif isinstance(each, Instance):
            found[id(each)] = each
            for child in each.attributes.values():
                _collect(child, found, depth - 1)
        elif isinstance(each, Tensor):
            found[id(each)] = each


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


def _trainable(value: Value, depth: int = 4) -> bool:
    """Whether it is a parameter that requires grad, or a module that surely holds one."""
    if isinstance(value, Tensor):
        return value.is_parameter is Truth.YES and value.own.truth() is Truth.YES
    if depth == 0:
        return False
    if isinstance(value, Module):
        return any(_trainable(each, depth - 1) for each in (*value.parameters.values(), *(value.children or ())))
    if isinstance(value, Instance) and is_module(value) is Truth.YES:
        return any(
            _trainable(each, depth - 1)
            for option in value.attributes.values()
            for _, each in alternatives(option)
            if not isinstance(each, (Sequence, Mapping))
        )
    return False


def _is_single(written: cst.BaseExpression, value: Sequence | Mapping) -> bool:
    """`self.teacher = [teacher]`: the known way to keep a module from being registered."""
    if not isinstance(value, Sequence) or value.items is None or len(value.items) != 1:
        return False
    return isinstance(written, (cst.List, cst.Tuple)) and len(written.elements) == 1


def _assigned_value(line: cst.CSTNode, target: ir.Node) -> cst.BaseExpression | None:
    """The right-hand side of the assignment to a target."""
    line = parsed(line)
    if isinstance(line, cst.SimpleStatementLine):
        written = parsed(target.origin)
        for small in line.body:
            if isinstance(small, cst.Assign) and any(each.target is written for each in small.targets):
                return small.value
            if isinstance(small, cst.AnnAssign) and small.target is written:
                return small.value
    return None


def _namespace(cls: Class) -> str:
    """How the class writes `torch.nn`, from the base it derives from."""
    for argument, base in zip(cls.definition.bases, cls.bases, strict=False):
        if isinstance(base, External) and base.qualified.startswith("torch.nn."):
            return dotted(argument.value).rpartition(".")[0]
    return ""
