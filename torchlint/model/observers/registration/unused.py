"""
Sees layers and parameters that a Module registers and nothing in the file reads, where the Module is wrapped in
`DistributedDataParallel`.

The wrapper waits for the gradient of every parameter that requires one, and raises at the second step if one has not
come (https://docs.pytorch.org/docs/stable/notes/ddp.html). Read from the text: who reads an attribute may stand
anywhere in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from torchlint.knowledge.modules import find as modules
from torchlint.knowledge.names import DISTRIBUTED_DATA_PARALLEL, MODULE, PARAMETER
from torchlint.model.events.registration import ParameterUnused
from torchlint.model.events.trace import Step
from torchlint.model.observers.pending import argument
from torchlint.model.observers.written import Imports, Scope, assignments, own, scopes, words
from torchlint.model.state.hooks import Observer
from torchlint.syntax import ir
from torchlint.syntax.spelling import dotted

_PERHAPS_EMPTY = frozenset({"affine", "elementwise_affine", "_freeze", "learnable", "requires_grad"})
"""Arguments by which a layer may have no parameter that requires grad."""
_CONTAINERS: Final = frozenset({"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"})
_SELF = frozenset({"to", "cuda", "cpu", "train", "float", "double", "half", "bfloat16"})
"""Methods of a Module that return it."""
_REACHING = frozenset(
    {
        "__dict__", "__getattr__", "__getattribute__", "_modules", "_parameters", "apply", "children", "named_children",
        "named_modules", "modules", "get_submodule", "get_parameter", "requires_grad", "requires_grad_", "freeze",
        "static_graph", "_set_static_graph", "_ddp_params_and_buffers_to_ignore", "no_sync", "functional_call",
        "_set_params_and_buffers_to_ignore_for_model",
    }
)  # fmt: skip
"""What reads layers without their names, freezes them, or tells the wrapper which ones to leave out."""
_BY_NAME = frozenset({"exec", "eval", "vars", "globals", "locals", "attrgetter", "methodcaller", "getattr", "setattr"})


class _Layer(NamedTuple):
    """A layer or parameter that `__init__` registers."""

    cls: ir.ClassDef
    attribute: str
    target: ir.Expression
    statement: ir.Statement


class UnusedParameters(Observer):
    """Raises `ParameterUnused`."""

    words = ("DistributedDataParallel",)
    concerns = ()

    def finished(self) -> None:
        program = self.machine.program
        everything = words(program.body)
        if not {"DistributedDataParallel", "backward"} <= everything | set(_imported(program)):
            return
        if everything & _REACHING or _reaches_by_name(program):
            return
        imports = Imports(program)
        classes = _classes(program, imports)
        told: set[str] = set()
        for scope in scopes(program):
            for call in _wrapped(scope, imports):
                given = argument(call, 0, "module")
                name = _class_of(given.value if given else None, scope, classes, imports, frozenset())
                if name and name not in told and not _handed_out(given, scope, program, imports):
                    told.add(name)
                    self._look_at(classes[name], classes, call, imports)

    def _look_at(self, cls: ir.ClassDef, classes: dict[str, ir.ClassDef], call: ir.Call, imports: Imports) -> None:
        for layer in _layers(cls, classes, imports):
            if _read(layer, self.machine.program):
                continue
            self.machine.emit(
                ParameterUnused(
                    node=layer.target.origin,
                    statement=layer.statement.line,
                    trace=(Step(call.origin, f"`{cls.name}` is wrapped here, and every parameter is waited for"),),
                    attribute=layer.attribute,
                    module=cls.name,
                )
            )


def _imported(program: ir.Program) -> Iterator[str]:
    for statement in ir.everything(program.body):
        for name in statement.names if isinstance(statement, ir.Import) else ():
            yield name.qualified.rpartition(".")[2]


def _reaches_by_name(program: ir.Program) -> bool:
    """Whether attributes may be read by names that are not written, or all parameters of something are gone through."""
    passed: set[int] = set()
    imports = Imports(program)
    for each in ir.walk(program.body):
        if isinstance(each, ir.Name) and each.id in _BY_NAME:
            return True
        if not isinstance(each, ir.Call):
            continue
        if imports.qualified(each.function).startswith("torch."):
            passed |= {id(given.value) for given in each.arguments if not given.star}
        if dotted(each.function).rpartition(".")[2] in ("parameters", "named_parameters") and id(each) not in passed:
            return True
    return False


def _classes(program: ir.Program, imports: Imports) -> dict[str, ir.ClassDef]:
    """The Modules of a file that derive from `nn.Module` alone, and that nothing in the file derives from."""
    defined = [each for each in ir.everything(program.body) if isinstance(each, ir.ClassDef)]
    bases = {dotted(base.value) for each in defined for base in each.bases}
    names = [each.name for each in defined]
    bound = {dotted(target) for target, _, _ in assignments(program.body)}
    return {
        each.name: each
        for each in defined
        if len(each.bases) == 1
        and not each.decorators
        and imports.qualified(each.bases[0].value) in MODULE
        and each.name not in bases | bound
        and names.count(each.name) == 1
        and any(isinstance(one, ir.FunctionDef) and one.name == "forward" for one in each.body)
    }


def _wrapped(scope: Scope, imports: Imports) -> Iterator[ir.Call]:
    """The calls in a scope that wrap a Module, and ask for no search for unused parameters."""
    for each in ir.walk(scope.own):
        if not isinstance(each, ir.Call) or imports.qualified(each.function) not in DISTRIBUTED_DATA_PARALLEL:
            continue
        asked = argument(each, 7, "find_unused_parameters")
        absent = asked is None or (isinstance(asked.value, ir.Constant) and asked.value.value is False)
        if absent and not any(given.star for given in each.arguments):
            yield each


def _class_of(
    node: ir.Expression | None, scope: Scope, classes: dict[str, ir.ClassDef], imports: Imports, seen: frozenset[str]
) -> str:
    """The class of the file that an expression is certainly an object of; "" if that is not known."""
    if isinstance(node, ir.Call):
        if isinstance(node.function, ir.Name) and node.function.id in classes:
            return node.function.id
        if isinstance(node.function, ir.Attribute) and node.function.attr in _SELF:
            return _class_of(node.function.value, scope, classes, imports, seen)
        qualified = imports.qualified(node.function)
        if qualified in DISTRIBUTED_DATA_PARALLEL or qualified.endswith(".SyncBatchNorm.convert_sync_batchnorm"):
            given = argument(node, 0, "module")
            return _class_of(given.value if given else None, scope, classes, imports, seen)
        return ""
    name = dotted(node)
    if not name or name in seen:
        return ""
    sources = []
    for target, value, _ in assignments(scope.own):
        if any(dotted(part) == name for part in ir.walk(target)):
            sources.append(value if dotted(target) == name else None)
    found = {
        _class_of(value, scope, classes, imports, seen | {name})
        for value in sources
        if not _is_itself(value, name, imports)
    }
    return found.pop() if len(found) == 1 else ""


def _is_itself(value: ir.Expression | None, name: str, imports: Imports) -> bool:
    """`x.to(device)`, `DistributedDataParallel(x)` of `x`: what is bound to it is the same object, or holds it."""
    while isinstance(value, ir.Call):
        qualified = imports.qualified(value.function)
        if qualified in DISTRIBUTED_DATA_PARALLEL or qualified.endswith(".SyncBatchNorm.convert_sync_batchnorm"):
            given = argument(value, 0, "module")
            value = given.value if given else None
        elif isinstance(value.function, ir.Attribute) and value.function.attr in _SELF:
            value = value.function.value
        else:
            return False
    return dotted(value) == name


def _handed_out(given: ir.Argument | None, scope: Scope, program: ir.Program, imports: Imports) -> bool:
    """Whether the Module gets into the hands of code that is not in the file, which may freeze or read its layers."""
    name = dotted(given.value) if given else ""
    if not name:
        return False
    defined = {each.name for each in ir.everything(program.body) if isinstance(each, (ir.FunctionDef, ir.ClassDef))}
    for each in ir.walk(scope.whole):
        if not isinstance(each, ir.Call) or not any(dotted(one.value) == name for one in each.arguments):
            continue
        called = dotted(each.function)
        if called not in defined | {"print"} and not imports.qualified(each.function).startswith("torch."):
            return True
    return False


def _layers(cls: ir.ClassDef, classes: dict[str, ir.ClassDef], imports: Imports) -> Iterator[_Layer]:
    """What the `__init__` of a class registers on every path that has certainly parameters which require grad."""
    if _gives_itself_away(cls):
        return
    for method in cls.body:
        if not isinstance(method, ir.FunctionDef) or method.name != "__init__":
            continue
        for statement in method.body:
            if isinstance(statement, ir.Return):
                return
            if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
                continue
            for target, value in _pairs(statement.targets[0], statement.value):
                name = own(target)
                if name and _has_parameters(value, classes, imports):
                    yield _Layer(cls, name, target, statement)


def _pairs(target: ir.Expression, value: ir.Expression | None) -> Iterator[tuple[ir.Expression, ir.Expression | None]]:
    """What an assignment binds to what: of `a, b = x, y` each by itself."""
    if not isinstance(target, ir.Sequence):
        yield target, value
    elif isinstance(value, ir.Sequence) and not any(
        isinstance(each, ir.Starred) for each in (*target.elements, *value.elements)
    ):
        for one, given in zip(target.elements, value.elements, strict=False):  # of other lengths Python refuses them
            yield from _pairs(one, given)


def _has_parameters(value: ir.Expression | None, classes: dict[str, ir.ClassDef], imports: Imports) -> bool:
    if not isinstance(value, ir.Call):
        return False
    if any(given.star or given.keyword in _PERHAPS_EMPTY for given in value.arguments):
        return False
    if isinstance(value.function, ir.Name) and value.function.id in classes:
        inner = classes[value.function.id]
        return next(_layers(inner, {}, imports), None) is not None
    qualified = imports.qualified(value.function)
    if qualified in PARAMETER:
        return len(value.arguments) == 1
    package, _, layer = qualified.rpartition(".")
    if package != "torch.nn" or layer not in modules.trainable_names():
        return False
    if layer == "Sequential":
        return any(_has_parameters(given.value, classes, imports) for given in value.arguments)
    if "Norm" in layer:
        return len(value.arguments) == 1 and not layer.startswith("Instance")
    return layer not in _CONTAINERS


def _gives_itself_away(cls: ir.ClassDef) -> bool:
    """Whether a method uses `self` for more than its attributes: whoever is given it may read any of them."""
    holders: set[int] = set()
    for each in ir.walk(cls.body):
        if isinstance(each, ir.Attribute):
            holders.add(id(each.value))
        elif isinstance(each, ir.Call) and dotted(each.function) == "super":
            holders |= {id(given.value) for given in each.arguments}
    methods = [each for each in cls.body if isinstance(each, ir.FunctionDef)]
    if any(not each.parameters or each.parameters[0].name != "self" or each.decorators for each in methods):
        return True
    return any(
        isinstance(each, ir.Name) and each.id == "self" and id(each) not in holders for each in ir.walk(cls.body)
    )


def _read(layer: _Layer, program: ir.Program) -> bool:
    """Whether anything in the file may read the attribute, or binds it a second time."""
    spelled = re.compile(rf"\b{re.escape(layer.attribute)}\b")
    its = {id(node) for node in ir.walk(layer.cls.body)}  # the class may stand inside another one
    others = {
        id(node)
        for cls in ir.everything(program.body)
        if isinstance(cls, ir.ClassDef) and cls is not layer.cls
        for node in ir.walk(cls.body)
        if own(node, layer.attribute) and id(node) not in its
    }
    for each in ir.walk(program.body):
        if isinstance(each, ir.Constant) and isinstance(each.value, str) and spelled.search(each.value):
            return True
        named = isinstance(each, ir.Attribute) and each.attr == layer.attribute
        if named and each is not layer.target and id(each) not in others:
            return True
    return False
