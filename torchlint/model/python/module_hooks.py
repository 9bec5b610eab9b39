"""
Forward hooks of the file on Modules: registered, removed, run where the Module is called.

A hook runs with the call as long as nobody can have removed it: its handle is dropped, or has a name that the file uses
for `remove()` alone. Another one is a function that is handed on, and what its Module returns is unknown if it may
return something.
"""

from __future__ import annotations

from torchlint.model.python.callbacks import hand_on, hand_on_with_calls, run_handed_on
from torchlint.model.python.flags import unsettle
from torchlint.model.python.functions import may_return
from torchlint.model.python.indirection import is_unknown_code
from torchlint.model.python.run import Run
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.values import (
    NONE,
    Bound,
    Constant,
    External,
    Function,
    Instance,
    Module,
    Partial,
    Sequence,
    Tensor,
    Unknown,
    Value,
    alternatives,
    choose,
    reachable_tensors,
    unknown_guard,
)
from torchlint.syntax import ir

HOOKED = "(hooked)"
"""Among the attributes of a Module, which no name is like: it has forward hooks that may return something."""
FORWARD_HOOKS = frozenset({"register_forward_hook", "register_forward_pre_hook"})
"""And those under which the functions stand that run at every call of it."""
_HANDLE = "torch.utils.hooks.RemovableHandle"


def hooks_all(name: str) -> bool:
    """Whether a function of torch of this name gives all Modules a hook that may change what they return."""
    return name.startswith("register_module_forward")


def register_hook(run: Run, receiver: Value, name: str, site: CallSite) -> Value | None:
    """A hook runs whenever it wants; a forward hook that returns something changes what a Module returns."""
    function = site.get(0, "hook")
    if hooks_all(name) and isinstance(receiver, Unknown):
        run.machine.trail.set(run, "hooked_by_all", True)  # only a module of torch has functions of that name
    if _runs_at_calls(run, receiver, name, function, site):
        assert function is not None
        hand_on_with_calls(run, function)
        held = _held(receiver)
        known = held.get(name)
        before = known.items if isinstance(known, Sequence) and known.items is not None else ()
        run.machine.trail.set(held, name, Sequence("tuple", (*before, function)))
        return Partial(External(_HANDLE), (receiver, Constant(name), function), {})
    hand_on(run, site.values())
    if name in FORWARD_HOOKS and function is not None and is_unknown_code(function):
        unsettle(run, receiver)  # it is given the Module with every call
    if "forward" in name and function is not None and may_return(function) and isinstance(receiver, (Module, Instance)):
        run.machine.trail.set(_held(receiver), HOOKED, Constant(True))
    return None


def remove_hook(run: Run, handle: Partial, name: str) -> Value | None:
    """`handle.remove()`; None for what is no handle."""
    if handle.function != External(_HANDLE) or name != "remove":
        return None
    module, hook, function = handle.given
    assert isinstance(hook, Constant)
    held = _held(module)
    known = held.get(str(hook.value))
    rest = [each for each in known.items or () if each is not function] if isinstance(known, Sequence) else []
    run.machine.trail.set(held, str(hook.value), Sequence("tuple", tuple(rest)))
    return NONE


def _held(module: Value) -> dict[str, Value]:
    assert isinstance(module, (Module, Instance))
    return module.parameters if isinstance(module, Module) else module.attributes


def _runs_at_calls(run: Run, receiver: Value, name: str, function: Value | None, site: CallSite) -> bool:
    """Whether a forward hook of the file runs at every call of the Module until the file itself removes it."""
    if name not in FORWARD_HOOKS or len(site.values()) != 1 or not site.complete:
        return False
    if not isinstance(function, (Function, Bound)) or not isinstance(receiver, (Module, Instance)):
        return False
    statement = run.machine.statement
    if isinstance(statement, ir.ExpressionStatement):
        return statement.value is site.node
    if not isinstance(statement, ir.Assign) or statement.value is not site.node or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, ir.Name) and _only_removed(run.machine.program, statement, target.id)


def _only_removed(program: ir.Program, statement: ir.Assign, name: str) -> bool:
    """Whether a file, in which a statement binds a name, does nothing else with that name but call `remove()` of it."""
    harmless: set[int] = set()
    found = False
    for node in ir.walk(program):  # parents come before their parts
        if isinstance(node, ir.Assign):
            found = found or node is statement
            harmless.update(id(target) for target in node.targets)
        elif isinstance(node, ir.Call) and isinstance(node.function, ir.Attribute) and node.function.attr == "remove":
            harmless.add(id(node.function.value))
        elif name in _bound_elsewhere(node, harmless):
            return False
    return found


def _bound_elsewhere(node: ir.Node, harmless: set[int]) -> list[str]:
    """The names that a node uses, or declares to be another scope's."""
    if isinstance(node, ir.Name):
        return [] if id(node) in harmless else [node.id]
    return list(node.names) if isinstance(node, ir.Scope) else []


def before_call(run: Run, module: Value, attributes: dict[str, Value], site: CallSite) -> CallSite:
    """The hooks of a Module that run before its `forward`, and the arguments that they leave it."""
    known = attributes.get("register_forward_pre_hook")
    for function in known.items or () if isinstance(known, Sequence) else ():
        given = run.call(function, [module, Sequence("tuple", tuple(site.positional))], site.node)
        if given != NONE:
            site = CallSite(site.node, _arguments(given, site), site.keywords, complete=site.complete)
    return site


def _arguments(given: Value, site: CallSite) -> list[Value]:
    if isinstance(given, Tensor):
        return [given]
    if isinstance(given, Sequence) and given.kind == "tuple" and given.items is not None:
        return list(given.items)
    unknown = Unknown([tensor for value in (given, *site.positional) for tensor in reachable_tensors(value)])
    return [unknown for _ in site.positional]


def after_call(run: Run, module: Value, attributes: dict[str, Value], site: CallSite, result: Value) -> Value:
    """What a Module returns whose hooks may return something else, or be given something else."""
    run_handed_on(run, with_calls=False)
    known = attributes.get("register_forward_hook")
    for function in known.items or () if isinstance(known, Sequence) else ():
        given = run.call(function, [module, Sequence("tuple", tuple(site.positional)), result], site.node)
        options = alternatives(given, run.machine.guard)
        result = choose([(guard, result if each == NONE else each) for guard, each in options])
    if HOOKED not in attributes and not run.hooked_by_all and not _may_be_hooked(attributes):
        return result
    for value in (*site.values(), result):  # code that nobody knows is given both
        unsettle(run, value, slightly=True)
    return choose([(unknown_guard(), result), (unknown_guard(), Unknown(reachable_tensors(result)))])


def _may_be_hooked(attributes: dict[str, Value]) -> bool:
    """Whether a forward hook that may return something is registered on some of the paths that meet here."""
    for name in FORWARD_HOOKS:
        known = attributes.get(name)
        if known is None or isinstance(known, Sequence):
            continue
        for _, each in alternatives(known):
            functions = each.items if isinstance(each, Sequence) else ()
            if functions is None or any(may_return(function) for function in functions):
                return True
    return False
