"""
The settings that a constructor wants (`config: Config`), as its author had them in mind: made of nothing.

Runs only the constructor of such a class. Which class it is where the constructor does not say so, others of the file
say of an argument of that name; that it is that one is then a condition of what is found (`Run.supposed`).
"""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.model.python.attributes import evaluate_again, is_module
from torchlint.model.python.classes import instantiate
from torchlint.model.python.run import Run
from torchlint.model.python.variables import resolved
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import Class, Function, Instance, Value
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

MOST_CLASSES = 6
"""Classes of settings that a file names of which the one that is meant is looked for."""


def made_of_nothing(run: Run, definition: ir.FunctionDef, parameter: ir.Parameter) -> Value | None:
    """
    The settings that a constructor wants, where a class of the project says what they are if nobody says anything. Of
    an argument without annotation the one class that has all that is read of it, among those that the file annotates an
    argument of the name with.
    """
    if parameter.annotation is not None:
        cls = _settings(run, parameter.annotation)
        return None if cls is None else _made(run, cls, parameter)
    read = {
        node.attr
        for node in ir.walk(definition.body)
        if isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name) and node.value.id == parameter.name
    }
    if not read:
        return None
    fitting: dict[int, tuple[str, Class]] = {}
    for annotation in list(_annotations(run.machine.program, definition, parameter.name))[:MOST_CLASSES]:
        cls = _settings(run, annotation)
        if cls is not None and read <= _names(cls):
            fitting.setdefault(id(cls), (dotted(annotation), cls))
    if len(fitting) != 1:
        return None
    ((name, cls),) = fitting.values()
    run.supposed = (*run.supposed, f"isinstance({parameter.name}, {name})")
    return _made(run, cls, parameter)


def _settings(run: Run, annotation: ir.Expression) -> Class | None:
    """The class that an annotation names, if the project can make an object of it of nothing, and it is no Module."""
    if not isinstance(annotation, (ir.Name, ir.Attribute)):
        return None
    cls = resolved(run, evaluate_again(run, annotation))
    if not isinstance(cls, Class) or is_module(Instance(cls)) is Truth.YES:
        return None
    init = next((each.attributes["__init__"] for each in cls.ancestry() if "__init__" in each.attributes), None)
    if not isinstance(init, Function):
        return None
    wanted = [each for each in init.definition.parameters[1:] if each.default is None and each.kind not in ("*", "**")]
    return None if wanted else cls


def _made(run: Run, cls: Class, parameter: ir.Parameter) -> Value:
    origin, machine = parameter.origin, run.machine
    outer = machine.built_in
    machine.built_in = outer or cls.name  # for a constructor: others of the file want the same settings
    made = instantiate(run, cls, CallSite(ir.Call(origin, ir.Name(origin, ""), []), [], {}))
    machine.built_in = outer
    return made


def _names(cls: Class) -> set[str]:
    """What the objects of a class have for certain, as far as its text says so: what its constructors assign."""
    found: set[str] = set()
    for each in cls.ancestry():
        found.update(each.attributes)
        init = each.attributes.get("__init__")
        assigned = ir.walk(init.definition.body) if isinstance(init, Function) else ()
        targets = (target for node in assigned if isinstance(node, ir.Assign) for target in node.targets)
        found.update(target.attr for target in targets if isinstance(target, ir.Attribute))
    return found


def _annotations(program: ir.Program, definition: ir.FunctionDef, name: str) -> Iterator[ir.Expression]:
    """What the constructors of a file annotate an argument with, each once; nothing for a constructor of another."""
    classes = [each for each in program.body if isinstance(each, ir.ClassDef)]
    methods = [each for cls in classes for each in cls.body if isinstance(each, ir.FunctionDef)]
    if not any(each is definition for each in methods):
        return
    seen: set[str] = set()
    for method in methods:
        for parameter in method.parameters if method.name == "__init__" else ():
            said = parameter.annotation if parameter.name == name else None
            if said is not None and dotted(said) and dotted(said) not in seen:
                seen.add(dotted(said))
                yield said
