"""
Variables: looking a name up, binding one, and what is found in other files of the project.

Runs no code.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from torchlint.knowledge import foreign
from torchlint.knowledge.factories import find as factories
from torchlint.knowledge.modules import find as modules
from torchlint.knowledge.ops import find as ops
from torchlint.model.python.run import Run
from torchlint.model.state.frames import running
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    NONE,
    Choice,
    Class,
    Constant,
    External,
    Frame,
    Function,
    Globals,
    Unbound,
    Unknown,
    Value,
    alternatives,
    choose,
    globals_of,
    reachable_tensors,
    unknown_guard,
)
from torchlint.syntax import ir


def lookup(run: Run, name: str) -> Value:
    """The value of a variable: local, enclosing, global, star import, builtin."""
    frame = run.machine.frame
    if name in frame.globals_:
        frame = globals_of(frame)
    while name not in frame.variables:
        if frame.enclosing is None:
            return _global(run, frame, name)
        frame = frame.enclosing
    value = frame.variables[name]
    return bound_on_its_paths(value) if type(value) is Choice else value


def _global(run: Run, frame: Frame, name: str) -> Value:
    """A variable that its file has not set: of another file, of a star import, or a builtin."""
    if isinstance(frame, Globals):
        found = run.imports.name(frame, name) if run.imports is not None else None
        if found is not None:
            return found
        for module in frame.stars:
            qualified = canonical(f"{module}.{name}")
            if ops.find(qualified) or modules.find(qualified) or factories.find(qualified) or qualified in _TORCH_NAMES:
                return External(qualified)
    if name == "__class__":
        return next((run.owners[id(each)] for each in running(run.machine) if id(each) in run.owners), Unknown())
    return External(f"builtins.{name}") if name in _BUILTINS else Unknown()


def named_in_file(run: Run, namespace: ir.Expression, name: Value) -> Value | None:
    """`globals()[name]`: a function or a class of the running file, whose name is known; None if it is no such."""
    called = namespace.function if isinstance(namespace, ir.Call) and not namespace.arguments else None
    if not isinstance(called, ir.Name) or called.id != "globals" or not isinstance(name, Constant):
        return None
    frame = globals_of(run.machine.frame)
    if not isinstance(name.value, str) or lookup(run, "globals") != External("builtins.globals"):
        return None
    found = frame.variables.get(name.value)
    if found is None and isinstance(frame, Globals) and run.imports is not None:
        found = run.imports.name(frame, name.value)
    return found if isinstance(found, (Function, Class, External)) else None


def resolved(run: Run, value: Value) -> Value:
    """Something imported, as the file of the project that defines it has it; else the value itself."""
    machine = run.machine
    if isinstance(value, External) and run.imports is not None:
        if machine.budget.outside_left > 0:
            return run.imports.value(value.qualified) or value
        if _is_called_like_torch(value.qualified.rpartition(".")[2]):
            known = run.imports.value(value.qualified)
            if isinstance(known, External):
                return known
        machine.skipped_import = machine.skipped_import or run.imports.offers(value.qualified)
    return value


@cache
def _is_called_like_torch(name: str) -> bool:
    """Whether a name may be another one for something of torch (`kornia.core.einsum`): those are called like it."""
    functions = (f"torch.{name}", f"torch.nn.functional.{name}", f"torch.linalg.{name}")
    known = any(ops.find(each) for each in functions) or factories.find(f"torch.{name}") is not None
    return known or modules.find(f"torch.nn.{name}") is not None


def bound_on_its_paths(value: Choice) -> Value:
    """A name that some paths leave unbound: who comes past its use came on another path."""
    bound = tuple([option for option in value.alternatives if type(option[1]) is not Unbound])
    if len(bound) in (0, len(value.alternatives)):
        return value
    return bound[0][1] if len(bound) == 1 else Choice(bound)


def imported(qualified: str) -> Value:
    """What a name of a module stands for."""
    number = foreign.CONSTANTS.get(qualified)
    return Constant(number) if number is not None else External(canonical(qualified))


def canonical(qualified: str) -> str:
    """The public name of something of torch: `torch.nn.modules.linear.Linear` is `torch.nn.Linear`."""
    if not qualified.startswith(_PRIVATE):  # most names
        return qualified
    for private, public in _PUBLIC:
        if qualified.startswith(private):
            rest = qualified[len(private) :]
            last = rest.rpartition(".")[2]
            if last and (last[0].isupper() or public == "torch."):
                return public + last
    return qualified


_PUBLIC: Final = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.nn.parameter.", "torch.nn."),
    ("torch.functional.", "torch."),
    ("torch.autograd.variable.", "torch.autograd."),
    ("torch._tensor.", "torch."),
)
_PRIVATE: Final = tuple([private for private, _ in _PUBLIC])
_TORCH_NAMES: Final = frozenset({"torch.no_grad", "torch.enable_grad", "torch.nn", "torch.optim", "torch.autograd"})
_BUILTINS: Final = frozenset(
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
REGISTRIES = frozenset({"_parameters", "_modules", "_buffers"})


PROPERTY: Final = "builtins.property"
NAMESPACES: Final = frozenset({"builtins.globals", "builtins.locals", "builtins.vars", "sys.modules"})
"""Who is given what these return, or hold, may bind any variable."""


def forget_variables(run: Run, by: str) -> None:
    """Code in a text, or what was given all variables, may have bound any in sight anew; `by`: what has made it so."""
    note_reflection(run.machine, by)
    frame: Frame | None = run.machine.frame
    while frame is not None:
        for name, old in list(frame.variables.items()):
            if not isinstance(old, (External, Function, Class, Unknown)):
                new = Unknown(reachable_tensors(old))
                run.machine.trail.set(frame.variables, name, choose([(unknown_guard(), old), (unknown_guard(), new)]))
        frame = frame.enclosing


def forget_variable(run: Run, name: str, variables: dict[str, Value]) -> None:
    """Code that may have run may have bound a variable, or an attribute, anew; of most it was said before."""
    old = variables.get(name)
    if isinstance(old, Unknown):
        return
    for _, each in old.alternatives if type(old) is Choice else ():
        if isinstance(each, Unknown):
            return
    options = [(unknown_guard(), Unknown())] + ([(unknown_guard(), old)] if old is not None else [])
    run.machine.trail.set(variables, name, choose(options))


def set_variable(run: Run, name: str, value: Value) -> None:
    """Bind a variable in the frame it belongs to."""
    frame = run.machine.frame
    if name in frame.globals_:
        frame = globals_of(frame)
    elif name in frame.nonlocals:
        enclosing = frame.enclosing
        while enclosing is not None and name not in enclosing.variables:
            enclosing = enclosing.enclosing
        frame = enclosing or frame
    run.machine.trail.set(frame.variables, name, value)


def closure_of(run: Run, owner: Class | None) -> Frame:
    """The frame a new function closes over: class bodies are not part of it."""
    frame = run.machine.frame
    frame.capture()
    return frame.enclosing if owner is not None and frame.enclosing is not None else frame


def not_none(run: Run, value: Choice) -> Value:
    """The one value that it may be besides None: a program that goes on from a use that None refuses has that."""
    options = alternatives(value, run.machine.guard)
    others = [(guard, each) for guard, each in options if each != NONE]
    if len(others) == 1 < len(options):
        guard, found = others[0]
        run.machine.path |= guard - run.machine.assumed
        return found
    return value
