"""Sees what is wrong in a custom `autograd.Function`: what it keeps, saves, writes and returns."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final, Literal

from torchlint.model.events.custom import (
    BackwardNotDifferentiable,
    DerivativeRebuilt,
    FunctionInstanceCalled,
    FunctionMethodNotStatic,
    InputWritten,
    TensorKeptOnContext,
)
from torchlint.model.events.trace import Step
from torchlint.model.observers.custom.function_source import (
    Method,
    is_nothing,
    names,
    reads,
    root_of_one_minus_square,
    text,
)
from torchlint.model.observers.written import may_set
from torchlint.model.python.custom_functions import keeps_contract
from torchlint.model.state.hooks import Observer
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    Class,
    Function,
    Instance,
    Module,
    Storage,
    Tensor,
    Unknown,
    Value,
    Write,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.features import CUSTOM, anywhere
from torchlint.syntax.tree import walk

KEEPING = frozenset({"staticmethod", "classmethod", "once_differentiable", "custom_fwd", "custom_bwd", "override"})
"""Decorators that leave the number of arguments and results as they are written."""
_FOREIGN = re.compile(r"(^|[._])(_C|cuda|ext|cpp|kernels?|triton|backend|ctypes)(\.|_|$)")
_ARITHMETIC = frozenset({"Add", "Subtract", "Multiply", "Divide", "Power", "MatrixMultiply"})
_INDIFFERENT = frozenset({"zeros_like", "ones_like", "empty_like", "asarray", "array"})


def methods_may_be_set(machine: Machine) -> bool:
    """
    Whether the file sets a method of a custom Function on what may be a class: `Scale.setup_context = ...`,
    `setattr(cls, name, ...)`. It may do so after the class was followed, so the order of the runs tells nothing.
    """
    return any(may_set(node, name) for node in ir.walk(machine.program.body) for name in _DECIDING)


def backward_of(function: Function) -> Method | None:
    """The method, if a function is the `backward` of a custom autograd function."""
    if function.owner is None or function.name != "backward" or not keeps_contract(function.owner):
        return None
    if not isinstance(function.definition.origin, cst.FunctionDef):
        return None
    return Method(function.definition.origin)


_DECIDING: Final = ("forward", "backward", "setup_context")
"""The methods that decide what a Function is given, saves and returns."""


class Custom(Observer):
    """Raises the events of custom Functions."""

    words = ("Function",)
    concerns = (anywhere(CUSTOM),)

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._running: list[Function] = []
        self._given: list[list[Value]] = []
        self._kept_inputs: list[tuple[int, int, bool, TensorKeptOnContext]] = []
        self._tensors: set[tuple[int, int]] = set()
        """The arguments that are tensors in a call that was seen: definition and position."""
        self._applied: list[tuple[int, int, Storage]] = []
        self._overwritten: dict[tuple[int, int], Step] = {}
        self._seen: set[int] = set()
        self._told: set[int] = set()
        self._not_static: dict[int, FunctionMethodNotStatic] = {}
        self._objects: set[int] = set()
        """The definitions of the classes of which an object is called."""

    # -- the class as written

    def class_defined(self, cls: Class) -> None:
        if not keeps_contract(cls) or id(cls.definition) in self._seen:
            return
        self._seen.add(id(cls.definition))
        methods: dict[str, Method] = {}
        for name, value in cls.attributes.items():
            if isinstance(value, Function) and isinstance(value.definition.origin, cst.FunctionDef):
                methods[name] = Method(value.definition.origin)
        forward, backward = methods.get("forward"), methods.get("backward")
        unbound = [each for each in (forward, backward) if each is not None and not _is_bound(each)]
        if unbound and not cls.wrapped and self.machine.foreign_call is None:
            self._not_static[id(cls.definition)] = _not_static(self.machine, cls, unbound, methods.get("__init__"))
        if forward is None:
            return
        if forward.context:
            self._kept(forward, backward, methods, cls)
            _written_in_forward(self.machine, forward, methods)
        if backward is not None and backward.context:
            _written_in_backward(self.machine, backward)
            if "once_differentiable" not in backward.decorators:
                _intermediates_saved(self.machine, forward, backward)
                _intermediates_kept(self.machine, methods.get("setup_context") or forward, backward)
            _rebuilt(self.machine, forward, backward)

    def _kept(self, forward: Method, backward: Method | None, methods: dict[str, Method], cls: Class) -> None:
        kept: list[tuple[cst.Assign, cst.Attribute, Literal["input", "output", "intermediate"]]] = []
        outputs = forward.returned()
        checked = _checked(forward, backward)
        for node in forward.nodes:
            if not isinstance(node, cst.Assign) or len(node.targets) != 1:
                continue
            target, name = node.targets[0].target, text(node.value)
            if not isinstance(target, cst.Attribute) or text(target.value) != forward.context or "." in name:
                continue
            if name in outputs and name not in forward.parameters:
                if name not in forward.returned_after(node):
                    continue
                if not forward.returns_tensor(name) and not _read_as_tensor(target, backward):
                    continue
                if forward.is_without_derivative(name) or any(each.marks_constant(name) for each in methods.values()):
                    continue  # it has no node, and so no graph that it could hold
                kept.append((node, target, "output"))
            elif name in checked:
                continue
            elif name in forward.inputs():
                kept.append((node, target, "input"))
            elif not name and forward.computes_tensor(node.value):
                kept.append((node, target, "intermediate"))
        saves = any(method.calls("save_for_backward") for method in methods.values())
        known = {name for name in forward.inputs() if forward.is_tensor(name)}
        for node, target, what in kept:
            if what == "input" and _read_as_tensor(target, backward):
                known.add(text(node.value))
        unsure = sum(what == "input" and text(node.value) not in known for node, _, what in kept)
        for node, target, what in kept:
            event = TensorKeptOnContext(
                node=target,
                statement=_line(forward.definition, node),
                context=forward.context,
                attribute=target.attr.value,
                what=what,
                value=node.value,
                reads=reads(backward, target.attr.value, [each for each in methods.values() if each is not backward]),
                saves=saves or len(kept) - unsure > 1,
            )
            if what != "input":
                self.machine.emit(event)
            elif self.machine.foreign_call is None and not self.machine.expected_errors:
                name = text(node.value)
                place = forward.parameters.index(name) - 1
                self._kept_inputs.append((id(cls.definition), place, name in known, event))

    # -- the run

    def function_started(self, function: Function, arguments: dict[str, Value]) -> None:
        self._running.append(function)
        self._given.append(list(arguments.values())[1:])

    def function_ended(self, function: Function, result: Value) -> None:
        if self._running:
            self._running.pop()
            self._given.pop()

    def concluded(self) -> None:
        self._running.clear()
        self._given.clear()
        self._applied.clear()

    def finished(self) -> None:
        """Whether an input is written later is known when everything has run."""
        seen = [each for each in self._kept_inputs if each[2] or each[:2] in self._tensors]
        for definition, position, _, event in seen:
            if sum(definition == each[0] for each in seen) > 1:
                event = replace(event, saves=True)
            step = self._overwritten.get((definition, position))
            if step is not None:
                event = replace(event, written=True, trace=(step,))
            self.machine.emit(event)
        self._kept_inputs.clear()
        for key, found in self._not_static.items():
            self.machine.emit(replace(found, called=key in self._objects))
        self._not_static.clear()

    def wrote(self, tensor: Tensor, write: Write) -> None:
        if not self._applied or write.spelling in ("optimizer", "backward"):
            return
        for definition, position, storage in self._applied:
            if storage is tensor.storage and (definition, position) not in self._overwritten:
                step = Step(write.origin.origin, f"`{write.op}` writes it here")
                self._overwritten[definition, position] = step

    def _backward(self) -> Method | None:
        """The `backward` of a custom Function, if that is what runs, and it is differentiable by its own word."""
        return backward_of(self._running[-1]) if self._running else None

    def _not_differentiable(self, how: Literal["numpy", "detach", "foreign"], written: str, origin: ir.Node) -> None:
        backward = self._backward()
        if backward is None or "once_differentiable" in backward.decorators:
            return
        if how == "detach" and any(text(node).endswith(("enable_grad", "set_grad_enabled")) for node in backward.nodes):
            return  # a forward run again under `enable_grad`, as a checkpoint does
        if self.machine.is_certain():
            if id(backward.definition) in self._told:
                return
            self._told.add(id(backward.definition))
        self.machine.emit(
            BackwardNotDifferentiable(
                node=origin.origin,
                statement=self.machine.line(),
                how=how,
                written=written,
                definition=backward.definition,
            )
        )

    def called(
        self, qualified: str, positional: list[Value], keywords: dict[str, Value], result: Value | None, origin: ir.Call
    ) -> None:
        if qualified.startswith(("builtins.", "torch.")) or not self._running:
            return
        given = any(self._is_tensor(value) for value in positional)
        if qualified.startswith("numpy."):
            if given and qualified.rpartition(".")[2] not in _INDIFFERENT:
                self._not_differentiable("numpy", qualified, origin)
        elif given and _FOREIGN.search(qualified):
            self._not_differentiable("foreign", qualified, origin)

    def method(
        self,
        receiver: Value,
        name: str,
        positional: list[Value],
        keywords: dict[str, Value],
        result: Value | None,
        origin: ir.Call,
    ) -> None:
        if name == "apply" and isinstance(receiver, Class):
            for position, value in enumerate(positional):
                tensor = value.tensor if isinstance(value, Unknown) else value
                if isinstance(value, Tensor) and value.made_by:
                    self._tensors.add((id(receiver.definition), position))
                if isinstance(tensor, Tensor):
                    self._applied.append((id(receiver.definition), position, tensor.storage))
        if name in ("numpy", "detach") and self._running and isinstance(receiver, (Unknown, Tensor)):
            self._not_differentiable("numpy" if name == "numpy" else "detach", name, origin)

    def _is_tensor(self, value: Value) -> bool:
        """Whether a value is known to be a tensor: gradients handed to `backward` are."""
        given = any(value is each for each in self._given[-1]) if self._given else False
        return given or isinstance(value, Tensor) or (isinstance(value, Unknown) and value.tensor is not None)

    def unknown_called(self, callee: Value, receiver: Value | None, arguments: list[Value], origin: ir.Call) -> None:
        if isinstance(origin.function, ir.Subscript) and self._running and isinstance(callee, Unknown):
            self._not_differentiable("foreign", "a kernel", origin)

    def module_called(self, module: Instance | Module, arguments: list[Value], result: Value, origin: ir.Node) -> None:
        if isinstance(module, Instance) and keeps_contract(module.cls) and isinstance(origin.origin, cst.Call):
            if any("__call__" in cls.attributes for cls in module.cls.ancestry()):
                return
            if self.machine.is_certain():
                self._objects.add(id(module.cls.definition))
            self.machine.emit(
                FunctionInstanceCalled(
                    node=origin.origin,
                    statement=self.machine.line(),
                    cls=module.cls.name,
                    call=origin.origin,
                    missing=_not_given(module.cls, origin),
                )
            )


def _not_given(cls: Class, call: ir.Node) -> tuple[str, ...]:
    """The parameters of `forward`, but for its context, that a call gives nothing; none where that is not known."""
    forward = cls.inherited("forward")
    if not isinstance(forward, Function) or not isinstance(forward.definition.origin, cst.FunctionDef):
        return ()
    method = Method(forward.definition.origin)
    if method.open or not isinstance(call, ir.Call) or any(each.star or each.keyword for each in call.arguments):
        return ()
    return tuple(method.parameters[1 : len(method.parameters) - method.defaults][len(call.arguments) :])


def _is_bound(method: Method) -> bool:
    """Whether a method is static, a class method, or what a decorator makes of it, which nobody knows."""
    decorators = set(method.decorators)
    return bool({"staticmethod", "classmethod"} & decorators) or not decorators <= KEEPING


def _not_static(
    machine: Machine, cls: Class, methods: list[Method], constructor: Method | None
) -> FunctionMethodNotStatic:
    own = [each for each in ir.walk(machine.program.body) if isinstance(each, ir.ClassDef) and each.name == cls.name]
    named = _mentions(machine.program.body, cls.name) > sum(_mentions(each.body, cls.name) for each in own)
    kept = _of_self(constructor) if constructor is not None else set()
    return FunctionMethodNotStatic(
        node=methods[0].definition.name,
        statement=methods[0].definition,
        cls=cls.name,
        definitions=tuple(each.definition for each in methods),
        reads=next((name for each in methods for name in sorted(_of_self(each) & kept)), ""),
        named=named,
    )


def _mentions(body: list[ir.Statement], name: str) -> int:
    """How often statements name a class; what a comment or a text says is no use of it."""
    return sum(isinstance(each, ir.Name) and each.id == name for each in ir.walk(body))


def _of_self(method: Method) -> set[str]:
    """The attributes of the object that a method names."""
    names = (each for each in method.nodes if isinstance(each, cst.Attribute) and text(each.value) == method.context)
    return {each.attr.value for each in names}


def _checked(forward: Method, backward: Method | None) -> set[str]:
    """The names that are saved for backward too, and checked there: unpacking looks at all versions."""
    if backward is None or not reads(backward, "saved_tensors", ()):
        return set()
    return {text(value) for value in forward.saved() or []}


def _read_as_tensor(target: cst.Attribute, backward: Method | None) -> bool:
    return backward is not None and backward.is_tensor(f"{backward.context}.{target.attr.value}")


def _line(definition: cst.FunctionDef, small: cst.CSTNode) -> cst.CSTNode:
    for node in walk(definition):
        if isinstance(node, cst.SimpleStatementLine) and any(each is small for each in node.body):
            return node
    return definition


def _written_in_forward(machine: Machine, forward: Method, methods: dict[str, Method]) -> None:
    if any(method.calls("mark_dirty") for method in methods.values()):
        return
    first = 0 if "setup_context" in methods else 1
    for name in forward.inputs():
        place = forward.parameters.index(name) - first
        if not _is_only_written(forward, name) and not _has_no_gradient(methods.get("backward"), place):
            _writes(machine, forward, name, "forward", "input", certain=forward.is_like_tensor(name))


def _has_no_gradient(backward: Method | None, place: int) -> bool:
    """
    Whether `backward` returns None for an input, and something for another: a buffer, as the statistics of a
    normalisation. Nothing differentiates by it, and its version counter tells whoever saved it.
    """
    returns = [node.value for node in backward.nodes if isinstance(node, cst.Return)] if backward is not None else []
    lists = [backward.elements_of(value) for value in returns if backward is not None]
    if not lists or any(len(each) <= place or any(isinstance(e, cst.StarredElement) for e in each) for each in lists):
        return False
    given = [{at for at, element in enumerate(each) if not is_nothing(element.value)} for each in lists]
    return all(given) and not any(place in each for each in given)


def _is_only_written(method: Method, name: str) -> bool:
    """
    Whether nothing is read of an input: a place for a result, or a count, that the caller wants filled. `mark_dirty`
    would raise unless it is returned, too; and of a leaf even then, which is what `set_` fills: a tensor without memory
    that the caller has made to be given some.
    """
    left = sum(isinstance(node, cst.Name) and node.value == name for node in method.nodes)
    for node in method.nodes:
        written: cst.BaseExpression | None = None
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            function = node.value.func
            written = function.value if isinstance(function, cst.Attribute) else None
        elif isinstance(node, cst.Return) and isinstance(node.value, cst.Call):
            function = node.value.func
            if isinstance(function, cst.Attribute) and function.attr.value == "set_":
                written = function.value
        elif isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Subscript):
            written = node.target.value
        elif isinstance(node, cst.Comparison) and isinstance(node.comparisons[0].operator, cst.Is | cst.IsNot):
            written = node.left
        left -= isinstance(written, cst.Name) and written.value == name
    return left == 0


def _written_in_backward(machine: Machine, backward: Method) -> None:
    given = {name: name for name in backward.inputs()}
    for name in list(backward.bound):
        value = backward.definition_of(name)
        if isinstance(value, cst.Name) and value.value in given:
            given[name] = name
    for name in given:
        _writes(machine, backward, name, "backward", "gradient", certain=True)
    for name in backward.unpacked():
        _writes(machine, backward, name, "backward", "saved", certain=True)


def _writes(
    machine: Machine,
    method: Method,
    name: str,
    where: Literal["forward", "backward"],
    what: Literal["input", "gradient", "saved"],
    certain: bool,
) -> None:
    for node in method.nodes:
        op = ""
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and text(node.func.value) == name:
            called = node.func.attr.value
            in_place = called.endswith("_") and not called.endswith("__") and called != "requires_grad_"
            op = called if in_place and not called.startswith(("detach", "retain")) else ""
            if called == "copy_" and [text(each.value) for each in node.args] == [name]:
                op = ""  # onto itself: every value stays
        elif isinstance(node, cst.AugAssign) and certain:
            written = node.target.value if isinstance(node.target, cst.Subscript) else node.target
            op = "augmented assignment" if text(written) == name else ""
        elif isinstance(node, cst.Assign) and certain:
            targets = [each.target for each in node.targets]
            subscripts = [each for each in targets if isinstance(each, cst.Subscript)]
            op = "[...] =" if any(text(each.value) == name for each in subscripts) else ""
        if op:
            machine.emit(
                InputWritten(
                    node=node,
                    statement=method.definition,
                    method=where,
                    what=what,
                    name=name,
                    op=op,
                    returned=name in method.returned_after(node) or any(_returns(each, node) for each in method.nodes),
                )
            )


def _returns(node: cst.CSTNode, value: cst.CSTNode) -> bool:
    return isinstance(node, cst.Return) and node.value is value


def _saved_names(forward: Method, backward: Method) -> dict[str, str]:
    """The names of saved tensors in `backward`, and what each is in `forward`: "input", "output", ""."""
    saved = forward.saved()
    names: dict[str, str] = {}
    outputs, inputs = forward.returned(), forward.inputs()
    for name, place in backward.unpacked().items():
        kept = text(saved[place]) if saved is not None and place < len(saved) else ""
        names[name] = "output" if kept in outputs else "input" if kept in inputs else ""
    return names


def _rebuilt(machine: Machine, forward: Method, backward: Method) -> None:
    saved = _saved_names(forward, backward)
    derived = {name for name, what in saved.items() if what == "output"}
    for name in backward.bound:
        value = backward.definition_of(name)
        if value is not None and names(value) & derived:
            derived.add(name)
    for node in backward.nodes:
        how: Literal["division", "root", ""] = ""
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide):
            if saved.get(text(node.left)) == "output" and _is_factor(forward, backward, node):
                how = "division"
        elif root_of_one_minus_square(node) in derived:
            how = "root"
        if how:
            machine.emit(DerivativeRebuilt(node=node, statement=backward.definition, how=how))


def _is_factor(forward: Method, backward: Method, quotient: cst.BinaryOperation) -> bool:
    """Whether `forward` computes the dividend as a product with the divisor."""
    saved, places = forward.saved(), backward.unpacked()
    if saved is None or text(quotient.left) not in places or text(quotient.right) not in places:
        return False
    made = forward.definition_of(text(saved[places[text(quotient.left)]]))
    divisor = text(saved[places[text(quotient.right)]])
    while isinstance(made, cst.BinaryOperation) and isinstance(made.operator, cst.Multiply):
        if text(made.right) == divisor:
            return True
        made = made.left
    return made is not None and text(made) == divisor


def _intermediates_saved(machine: Machine, forward: Method, backward: Method) -> None:
    outputs = forward.returned()
    for value in forward.saved() or []:
        name = text(value)
        made: cst.BaseExpression | None = value
        if name:
            made = forward.definition_of(name) if name not in outputs else None
        if forward.computes_tensor(made) or _operates(forward, made, forward.inputs()):
            machine.emit(
                BackwardNotDifferentiable(
                    node=value,
                    statement=forward.definition,
                    how="intermediate",
                    written=name,
                    definition=backward.definition,
                )
            )


def _intermediates_kept(machine: Machine, keeping: Method, backward: Method) -> None:
    """`ctx.slope = torch.sinh(x)`, which `backward` reads: what is kept there is a constant to it."""
    outputs = keeping.returned() | set(keeping.parameters)
    tensors = [name for name in keeping.inputs() if keeping.is_tensor(name)]
    for node in keeping.nodes:
        target = node.targets[0].target if isinstance(node, cst.Assign) and len(node.targets) == 1 else None
        if not isinstance(node, cst.Assign) or not isinstance(target, cst.Attribute):
            continue
        name = text(node.value)
        made = node.value if not name else keeping.definition_of(name) if name not in outputs else None
        if text(target.value) != keeping.context or not backward.of_context(target.attr.value):
            continue
        if keeping.computes_tensor(made) or _operates(keeping, made, tensors):
            machine.emit(
                BackwardNotDifferentiable(
                    node=node.value,
                    statement=keeping.definition,
                    how="intermediate",
                    written=name,
                    definition=backward.definition,
                )
            )


def _operates(method: Method, made: cst.BaseExpression | None, tensors: list[str]) -> bool:
    """Whether an expression is arithmetic on tensors, those of these names or what a call of torch has computed."""
    if not isinstance(made, cst.BinaryOperation) or type(made.operator).__name__ not in _ARITHMETIC:
        return False
    return any(
        text(each) in tensors
        or method.computes_tensor(each)
        or method.computes_tensor(method.definition_of(text(each)))
        or _operates(method, each, tensors)
        for each in (made.left, made.right)
    )
