"""
The interpreter's statements: assignments, branches (join), loops (a second iteration), `with`, `try`, definitions.

A dispatch table by node type over the IR that `lower` makes of the libcst tree. A loop whose length is unknown is
taken to run at least once, and its body is followed a second time on a path of its own; so a fault that needs what an
earlier iteration left behind is found "in the second iteration".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from torchlint.condition import Condition
from torchlint.knowledge.ops import find as ops
from torchlint.knowledge.shapes import dtypes
from torchlint.model.events import ResultDropped
from torchlint.model.python.binding import BindingMachine
from torchlint.model.python.control import ControlMachine
from torchlint.model.python.expressions import imported
from torchlint.model.python.making import keeps_class, keeps_making
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    NONE,
    Class,
    External,
    Frame,
    Function,
    Globals,
    GradModeGuard,
    Instance,
    Tensor,
    Unknown,
    Value,
    alternatives,
    globals_of,
    is_foreign,
    reachable_tensors,
)
from torchlint.syntax import ir
from torchlint.syntax.features import method_only_returns, only_returns
from torchlint.syntax.for_effect import is_for_effect

_MOVES = frozenset({"to", "type", "cpu", "cuda", "xpu", "type_as", "contiguous"})
_TRANSPARENT_DECORATORS = (
    "staticmethod", "classmethod", "property", "abstractmethod", "abc.", "functools.", "typing.", "torch.jit.",
    "torch.compile", "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "pytest.", "unittest.",
    "builtins.", "dataclasses.", "override", "overload", "cached_property",
)  # fmt: skip
_REPLACING_DECORATORS = frozenset({"functools.singledispatch", "functools.singledispatchmethod", "functools.partial"})


class Interpreter(ControlMachine):
    """Runs a program abstractly."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.defined: set[int] = set()

    def share(self, other: Interpreter) -> None:
        """Number branches and know classes together with another machine: values of one are values of the other."""
        self._branches, self.owners = other._branches, other.owners

    def release(self) -> None:
        """
        Nobody asks any more: take apart what refers to each other in circles (variables and the functions that see
        them, graph nodes and the tensors they save), so that it is gone now, and not when the garbage collector comes
        by.
        """
        self.trail.undo(0)
        for saved in self.saved:
            saved.node.saved = ()
        self.imports = None
        del self.prototypes

    # -- blocks and statements

    def run_block(self, body: list[ir.Statement]) -> None:
        """Run statements one after the other, until the path ends."""
        self.blocks[id(body)] = body
        self.descend()
        for statement in body:
            if self.dead:
                break
            self.spend()
            self.statement = statement
            _STATEMENTS[type(statement)](self, statement)
            for hook in self.watch.ran if not self.dead else ():
                hook(statement)
        self.nested -= 1

    def _expression_statement(self, node: ir.ExpressionStatement) -> None:
        if isinstance(node.value, ir.Call):
            before = self.clock
            value = self.evaluate(node.value)
            self._dropped(node, node.value, value, before)
        else:
            value = self.evaluate(node.value)
        for hook in self.watch.expression_statement:
            hook(node, value)

    def _dropped(self, node: ir.ExpressionStatement, call: ir.Call, value: Value, before: int) -> None:
        """A statement whose value is a tensor that nothing else refers to."""
        function = call.function
        if not isinstance(function, ir.Attribute) or not isinstance(call.origin, cst.Call):
            return
        if any(argument.keyword in ("out", "inplace") for argument in call.arguments):
            return
        receiver = self.evaluate_again(function.value)
        if isinstance(receiver, External):
            if receiver.qualified not in ("torch", "torch.nn.functional") or not only_returns(
                f"{receiver.qualified}.{function.attr}", function.attr
            ):
                return
            first = call.arguments[0].value if call.arguments else None
            tensor = self.evaluate_again(first) if isinstance(first, (ir.Name, ir.Attribute)) else None
            if not isinstance(tensor, Tensor):
                return
            op = f"torch.{function.attr}"
        else:
            options = [each for _, each in alternatives(receiver)]
            op = function.attr
            if not method_only_returns(op):
                return
            self.undecided = self.undecided or any(
                isinstance(each, Unknown) and not is_foreign(each) for each in options
            )
            if not options or not all(isinstance(each, Tensor) for each in options):
                return
            tensor = options[0]
        assert isinstance(tensor, Tensor)
        inside = self.stack[-1].definition if self.stack else None
        if self.expected_errors or is_for_effect(self.program, inside, node, function.attr):
            return
        self.emit(
            ResultDropped(
                node=call.origin,
                statement=node.line,
                op=op,
                receiver=self.facts(tensor, self.text(function.value)),
                inplace_twin=f"{function.attr}_" if ops.has_inplace_twin(function.attr) else "",
                call=call.origin,
                conditions=self._may_convert_nothing(function, call, value, tensor),
            )
        )

    def _may_convert_nothing(
        self, function: ir.Attribute, call: ir.Call, value: Value, tensor: Tensor
    ) -> tuple[Condition, ...]:
        """A conversion gives back its tensor where there is nothing to convert; dropping that result loses nothing."""
        if function.attr not in _MOVES and dtypes.conversion(function.attr) is None:
            return ()
        moves = function.attr in _MOVES and not any(self._is_dtype(each.value) for each in call.arguments)
        results = [each for _, each in alternatives(value)]
        if not moves and all(isinstance(each, Tensor) and each.storage is not tensor.storage for each in results):
            return ()
        given = ", ".join(self.text(each.value) or "…" for each in call.arguments)
        return (Condition("copy", f"{self.text(function.value) or '…'}.{function.attr}({given})"),)

    def _is_dtype(self, argument: ir.Expression) -> bool:
        """`torch.float64`, as an argument of `to`."""
        found = self.evaluate_again(argument) if isinstance(argument, (ir.Name, ir.Attribute)) else None
        return isinstance(found, External) and dtypes.is_dtype(found.qualified)

    # -- leaving

    def _return(self, node: ir.Return) -> None:
        value = self.evaluate(node.value) if node.value is not None else NONE
        for tensor in reachable_tensors(value):
            self.use(tensor, node)
        if self.stack:
            call = self.stack[-1]
            self._finally()
            for hook in self.watch.returned:
                hook(value, node.origin)
            call.returns.append((self.path - call.path, self.trail.changes(call.mark), value))
        self.dead = True

    def _finally(self) -> None:
        """What `return` runs before it leaves: the `finally` blocks around it, the inner ones first."""
        finals = self.finals
        while self.finals and self.finals[-1][0] == len(self.stack):
            _, block = self.finals[-1]
            self.finals = self.finals[:-1]
            self.run_block(block)
        self.finals = finals

    def _raise(self, node: ir.Raise) -> None:
        if node.value is not None:
            self.evaluate(node.value)
        self.dead = True

    def _assert(self, node: ir.Assert) -> None:
        self.evaluate(node.test)

    def _delete(self, node: ir.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ir.Name):
                self.trail.delete(self.frame.variables, target.id)
            elif isinstance(target, ir.Attribute) and target.attr == "grad":
                self._set_attribute(self.evaluate(target.value), target, NONE)
            elif isinstance(target, ir.Subscript):
                self.remove(self.evaluate(target.value), self.index(target.index))
            elif isinstance(target, ir.Attribute):
                for _, each in alternatives(self.evaluate(target.value), self.guard):
                    if isinstance(each, (Instance, Unknown)):
                        self.trail.set(each.attributes, target.attr, Unknown(source=target))

    def _pass(self, node: ir.Pass) -> None:
        pass

    # -- definitions

    def _def(self, node: ir.FunctionDef) -> None:
        function = self.define(node, None)
        self.set_variable(node.name, function)

    def define(self, node: ir.FunctionDef, owner: Class | None) -> Function:
        """The value of a `def`."""
        defaults = {p.name: self.evaluate(p.default) for p in node.parameters if p.default is not None}
        kind, mode = "", None
        for decorator in node.decorators:
            each, found = self._decorator(decorator)
            kind = each or kind
            mode = found if found is not None else mode
        function = Function(node, self.closure_of(owner), defaults, owner, kind, mode, node.name)
        if owner is not None:
            self.owners[id(node)] = owner
        if id(node) not in self.defined and self.excursion is None:
            self.defined.add(id(node))
            self.functions.append(function)
        return function

    def closure_of(self, owner: Class | None) -> Frame:
        """The frame a new function closes over: class bodies are not part of it."""
        frame = self.frame
        return frame.enclosing if owner is not None and frame.enclosing is not None else frame

    def _decorator(self, decorator: ir.Expression) -> tuple[str, Truth | None]:
        function = decorator.function if isinstance(decorator, ir.Call) else decorator
        text = self.text(function)
        last = text.rpartition(".")[2]
        if last in ("staticmethod", "classmethod"):
            return last.removesuffix("method"), None
        if last in ("property", "cached_property"):
            return "property" if last == "property" else "cached", None
        if last in ("setter", "deleter"):
            return last, None
        value = self.evaluate(decorator)
        if isinstance(value, GradModeGuard):
            return "", value.mode
        callee = self.evaluate_again(function)
        if isinstance(callee, External):
            if callee.qualified in ("torch.no_grad", "torch.inference_mode"):
                return "", Truth.NO
            if callee.qualified == "torch.enable_grad":
                return "", Truth.YES
            if callee.qualified in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
                return "context", None
            if callee.qualified in _REPLACING_DECORATORS:
                return "opaque", None
            if callee.qualified.startswith(_TRANSPARENT_DECORATORS) or last in _TRANSPARENT_DECORATORS:
                return "", None
        return "opaque", None

    def _class(self, node: ir.ClassDef) -> None:
        bases = tuple(self._base(argument.value) for argument in node.bases if not argument.keyword)
        wrapped = any(not self._keeps_making(argument) for argument in node.bases if argument.keyword)
        if self.imports is not None:
            found = (self.imports.value(base.qualified) if isinstance(base, External) else None for base in bases)
            bases = tuple(other or base for base, other in zip(bases, found, strict=True))
        bases = tuple(base if isinstance(base, (Class, External)) else External("?.unknown") for base in bases)
        cls = Class(node, node.name, bases, {})
        outer = self.frame
        self.frame = Frame(cls.attributes, outer)
        for statement in node.body:
            self.statement = statement
            if isinstance(statement, ir.FunctionDef):
                function = self.define(statement, cls)
                name = f"{statement.name}.{function.kind}" if function.kind in ("setter", "deleter") else statement.name
                self.trail.set(cls.attributes, name, function)
            elif not isinstance(statement, ir.ExpressionStatement):
                self.run_block([statement])
        self.frame = outer
        self.statement = node
        cls.wrapped = wrapped or any(not self._keeps_class(each, cls) for each in node.decorators)
        self.set_variable(node.name, cls)
        if id(node) not in self.defined and self.excursion is None:
            self.defined.add(id(node))
            self.classes.append(cls)
        for hook in self.watch.class_defined:
            hook(cls)

    def _base(self, node: ir.Expression) -> Value:
        """A base class; of `Base[T]` the class that is made generic."""
        if isinstance(node, ir.Subscript):
            value = self.evaluate_again(node.value)
            if isinstance(value, (Class, External)):
                return value
        return self.evaluate(node)

    def _keeps_making(self, argument: ir.Argument) -> bool:
        return argument.keyword == "metaclass" and keeps_making(self.evaluate_again(argument.value))

    def _keeps_class(self, decorator: ir.Expression, cls: Class) -> bool:
        function = decorator.function if isinstance(decorator, ir.Call) else decorator
        return keeps_class(self.evaluate_again(function), cls.attributes)

    def _import(self, node: ir.Import) -> None:
        for name in node.names:
            qualified = (
                self.imports.absolute(self.frame, name.qualified) if self.imports is not None else name.qualified
            )
            if name.bound != "*":
                self.set_variable(name.bound, imported(qualified))
                continue
            file = globals_of(self.frame)
            if isinstance(file, Globals) and qualified not in file.stars:
                file.stars = (*file.stars, qualified)

    def _scope(self, node: ir.Scope) -> None:
        if node.kind == "global":
            self.frame.globals_ = self.frame.globals_ | frozenset(node.names)
        else:
            self.frame.nonlocals = self.frame.nonlocals | frozenset(node.names)


_STATEMENTS: dict[type, Callable[[Any, Any], None]] = {
    ir.ExpressionStatement: Interpreter._expression_statement,
    ir.Assign: BindingMachine.assign_statement,
    ir.AugmentedAssign: BindingMachine.augmented_statement,
    ir.Return: Interpreter._return,
    ir.Raise: Interpreter._raise,
    ir.Assert: Interpreter._assert,
    ir.Delete: Interpreter._delete,
    ir.Pass: Interpreter._pass,
    ir.Break: ControlMachine.break_statement,
    ir.Continue: ControlMachine.continue_statement,
    ir.Scope: Interpreter._scope,
    ir.Import: Interpreter._import,
    ir.If: ControlMachine.if_statement,
    ir.For: ControlMachine.for_statement,
    ir.While: ControlMachine.while_statement,
    ir.With: ControlMachine.with_statement,
    ir.Try: ControlMachine.try_statement,
    ir.Match: ControlMachine.match_statement,
    ir.FunctionDef: Interpreter._def,
    ir.ClassDef: Interpreter._class,
}
