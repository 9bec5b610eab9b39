"""
`def`, `class`, `import`, `global`: what they bind.

A decorator that is not known may make anything of a function.
"""

from __future__ import annotations

from typing import Final

from torchlint.model.python.attributes import evaluate_again
from torchlint.model.python.callbacks import hand_on
from torchlint.model.python.class_decorators import is_container, kept_in
from torchlint.model.python.class_hooks import handed_by_hook
from torchlint.model.python.flags import changes_flags, unsettle
from torchlint.model.python.making import DATACLASS, inherits_known, keeps_class, keeps_making
from torchlint.model.python.run import Run, Statements
from torchlint.model.python.unseen_classes import leaves_as_written, unseen_of
from torchlint.model.python.variables import closure_of, imported, set_variable
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    Class,
    External,
    Frame,
    Function,
    Globals,
    GradModeGuard,
    Mapping,
    Sequence,
    Unknown,
    Value,
    globals_of,
)
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_TRANSPARENT_DECORATORS = (
    "staticmethod", "classmethod", "property", "abstractmethod", "abc.", "functools.", "typing.", "torch.jit.",
    "torch.compile", "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "pytest.", "unittest.",
    "dataclasses.", "override", "overload", "cached_property",
)  # fmt: skip
_REPLACING_DECORATORS = frozenset({"functools.singledispatch", "functools.singledispatchmethod", "functools.partial"})


def _def(run: Run, node: ir.FunctionDef) -> None:
    function = define(run, node, None)
    set_variable(run, node.name, function)


def define(run: Run, node: ir.FunctionDef, owner: Class | None) -> Function:
    """The value of a `def`."""
    defaults = {p.name: run.evaluate(p.default) for p in node.parameters if p.default is not None}
    kind, guard, inference = "", None, False
    for decorator in node.decorators:
        each, found = _decorator(run, decorator)
        kind = kind if kind == "opaque" else each or kind  # whatever else decorates it
        if found is not None:
            guard = found
            inference = found.inference or (inference and found.mode is not Truth.MAYBE)
    mode = guard.mode if guard is not None else None
    for value in defaults.values() if kind == "opaque" else ():
        unsettle(run, value, slightly=True)  # who decorates it is given them
    function = Function(node, closure_of(run, owner), defaults, owner, kind, mode, node.name, inference)
    if kind == "opaque" and (changes_flags(run, function) or _binds_outside(node)):
        hand_on(run, [function])  # who decorates it may run it
    if owner is not None:
        run.owners[id(node)] = owner
    if id(node) not in run.defined and run.machine.foreign_call is None:
        run.defined.add(id(node))
        run.functions.append(function)
    return function


def _binds_outside(node: ir.FunctionDef) -> bool:
    return any(isinstance(each, ir.Scope) for each in ir.walk(node.body))


def _decorator(run: Run, decorator: ir.Expression) -> tuple[str, GradModeGuard | None]:
    function = decorator.function if isinstance(decorator, ir.Call) else decorator
    text = dotted(function)
    last = text.rpartition(".")[2]
    if last in ("staticmethod", "classmethod"):
        return last.removesuffix("method"), None
    if last in ("property", "cached_property"):
        return "property" if last == "property" else "cached", None
    if last in ("setter", "deleter"):
        return last, None
    value = run.evaluate(decorator)
    if isinstance(value, GradModeGuard):
        return "", value
    callee = evaluate_again(run, function)
    if isinstance(callee, External):
        if callee.qualified in ("torch.no_grad", "torch.inference_mode"):
            return "", GradModeGuard(Truth.NO, callee.qualified == "torch.inference_mode")
        if callee.qualified == "torch.enable_grad":
            return "", GradModeGuard(Truth.YES)
        if callee.qualified in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
            return "context", None
        if callee.qualified in _REPLACING_DECORATORS:
            return "opaque", None
        if callee.qualified.startswith(_TRANSPARENT_DECORATORS) or last in _TRANSPARENT_DECORATORS:
            return "", None
    return "opaque", None


def _class(run: Run, node: ir.ClassDef) -> None:
    machine = run.machine
    bases = tuple(_base(run, argument.value) for argument in node.bases if not argument.keyword)
    wrapped = any(not _keeps_making(run, argument) for argument in node.bases if argument.keyword)
    if any(each.keyword == "metaclass" and not _keeps_making(run, each) for each in node.bases):
        note_reflection(machine, f"{node.name}(metaclass=…)")
    if run.imports is not None:
        found = (run.imports.value(base.qualified) if isinstance(base, External) else None for base in bases)
        bases = tuple(other or base for base, other in zip(bases, found, strict=True))
    bases = tuple(base if isinstance(base, (Class, External)) else External("?.unknown") for base in bases)
    cls = Class(node, node.name, bases, {})
    outer = machine.frame
    machine.frame = Frame(cls.attributes, outer)
    for statement in node.body:
        machine.statement = statement
        if isinstance(statement, ir.FunctionDef):
            function = define(run, statement, cls)
            name = f"{statement.name}.{function.kind}" if function.kind in ("setter", "deleter") else statement.name
            machine.trail.set(cls.attributes, name, function)
        elif not isinstance(statement, ir.ExpressionStatement) or not isinstance(statement.value, ir.Constant):
            run.execute([statement])
    machine.frame = outer
    machine.statement = node
    shown = [(each, run.evaluate(each) if isinstance(each, ir.Call) else None) for each in node.decorators]
    _hand_on_making(run, cls)
    changing = [each for each, made in reversed(shown) if not _keeps_class(run, each, made, cls)]
    cls.wrapped = wrapped or bool(changing)
    cls.unseen = unseen_of(cls, (each for each in changing if not leaves_as_written(_decorating(run, each))))
    cls.unseen = cls.unseen or handed_by_hook(run, cls)
    cls.finished_elsewhere = wrapped or any(not _is_dataclass(run, each) for each in changing)
    if cls.finished_elsewhere or not inherits_known(cls):
        for value in cls.attributes.values():
            unsettle(run, value, slightly=True)  # nobody knows who is shown the class
            if changing and isinstance(value, Function) and changes_flags(run, value):
                hand_on(run, [value])
    set_variable(run, node.name, cls)
    if id(node) not in run.defined and machine.foreign_call is None:
        run.defined.add(id(node))
        run.classes.append(cls)
    for hook in machine.watch.class_defined:
        hook(cls)


def _hand_on_making(run: Run, cls: Class) -> None:
    """Methods that Python runs with classes, where no call of them is written: with the next one that is made."""
    meta = External("builtins.type") in cls.outside()
    for name, method in cls.attributes.items():
        if isinstance(method, Function) and ((meta and name.startswith("__")) or name in _OF_CLASSES):
            hand_on(run, [method])


_OF_CLASSES: Final = frozenset({"__class_getitem__", "__init_subclass__", "__new__", "__set_name__"})


def _base(run: Run, node: ir.Expression) -> Value:
    """A base class; of `Base[T]` the class that is made generic."""
    if isinstance(node, ir.Subscript):
        value = evaluate_again(run, node.value)
        if isinstance(value, (Class, External)):
            return value
    return run.evaluate(node)


def _keeps_making(run: Run, argument: ir.Argument) -> bool:
    return argument.keyword == "metaclass" and keeps_making(evaluate_again(run, argument.value))


def _keeps_class(run: Run, decorator: ir.Expression, made: Value | None, cls: Class) -> bool:
    """Whether a decorator, of which a call has `made` what is shown the class, leaves that as it is written."""
    function = decorator.function if isinstance(decorator, ir.Call) else decorator
    value = evaluate_again(run, function)
    return keeps_class(value, cls.attributes) or _only_notes(run, made or value, cls, decorator)


def _only_notes(run: Run, shown: Value, cls: Class, decorator: ir.Expression) -> bool:
    """
    Whether what is shown a class puts it into containers of its file and gives it back. In the file under analysis it
    is called, so that they hold the class; of what another file's hold nothing is known.
    """
    file = globals_of(run.machine.frame)
    elsewhere = isinstance(file, Globals) and file.other
    if isinstance(shown, External) and elsewhere and run.imports is not None:
        shown = run.imports.value(shown.qualified) or shown
    if not isinstance(shown, Function):
        return False
    names = kept_in(shown)
    if names is None or not all(_is_container(run, shown, each) for each in names):
        return False
    if not elsewhere:
        run.invoke(shown, CallSite(ir.Call(decorator.origin, decorator, []), [cls], {}))
    return True


def _is_container(run: Run, function: Function, name: str) -> bool:
    """Whether a variable of a function's file is a list, a set or a dictionary, whatever it holds."""
    file = function.closure
    while file.enclosing is not None:
        if name in file.variables:
            return False
        file = file.enclosing
    value = file.variables.get(name)
    if isinstance(file, Globals) and file.other and run.imports is not None:
        value = run.imports.name(file, name)
    if isinstance(value, Unknown) and isinstance(value.source, ir.Assign):
        return is_container(value.source.value)
    return isinstance(value, (Mapping, Sequence))


def _is_dataclass(run: Run, decorator: ir.Expression) -> bool:
    return _decorating(run, decorator) == External(DATACLASS)


def _decorating(run: Run, decorator: ir.Expression) -> Value:
    """What decorates, or is called for what decorates."""
    return evaluate_again(run, decorator.function if isinstance(decorator, ir.Call) else decorator)


def _import(run: Run, node: ir.Import) -> None:
    for name in node.names:
        qualified = (
            run.imports.absolute(run.machine.frame, name.qualified) if run.imports is not None else name.qualified
        )
        if name.bound != "*":
            set_variable(run, name.bound, imported(qualified))
            continue
        file = globals_of(run.machine.frame)
        if isinstance(file, Globals) and qualified not in file.stars:
            file.stars = (*file.stars, qualified)


def _scope(run: Run, node: ir.Scope) -> None:
    machine = run.machine
    if node.kind == "global":
        machine.frame.globals_ = machine.frame.globals_ | frozenset(node.names)
    else:
        machine.frame.nonlocals = machine.frame.nonlocals | frozenset(node.names)


STATEMENTS: Statements = {
    ir.FunctionDef: _def,
    ir.ClassDef: _class,
    ir.Import: _import,
    ir.Scope: _scope,
}
