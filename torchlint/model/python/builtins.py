"""
Python's builtins as transfer functions: a table by name (`_BUILTINS`).

Those that set attributes or run text change what is known of objects and variables; the others give a value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torchlint.knowledge.ops import find as ops
from torchlint.model.autograd.writes import show, use
from torchlint.model.python.attributes import attribute, is_module, owner_of_dict
from torchlint.model.python.callbacks import havoc
from torchlint.model.python.containers import MOST_ITEMS, any_key, any_of, copy_of, elements_of, merged
from torchlint.model.python.elements import another, is_recorded, note_alike, picked
from torchlint.model.python.flags import unsettle, unsettle_gradients, unsettle_origins
from torchlint.model.python.indirection import note_name
from torchlint.model.python.introspection import class_of, class_of_tensor, is_a, is_no_layer_of, is_subclass
from torchlint.model.python.members import (
    is_composed,
    lose_children,
    patch_in_sight,
    patch_what_it_may_be,
    replace_of_torch,
    set_attribute,
    set_raw,
    set_some_attribute,
)
from torchlint.model.python.operators import holds_tensor, operate
from torchlint.model.python.run import Run
from torchlint.model.python.texts import evaluate_text, run_text
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Truth
from torchlint.model.state.reachable import objects_among
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    NONE,
    Bound,
    Class,
    Constant,
    External,
    Function,
    GradModeGuard,
    Instance,
    Mapping,
    Module,
    Partial,
    Scalar,
    Sequence,
    Super,
    Tensor,
    Unknown,
    Value,
    alternatives,
    is_foreign,
    reachable_tensors,
)
from torchlint.model.torch.arguments import kind_of
from torchlint.model.torch.functions import set_grad_mode
from torchlint.model.torch.operations import apply
from torchlint.syntax import ir


def call_builtin(run: Run, name: str, site: CallSite) -> Value | None:
    """A call of a builtin by its name; None if nothing is known of it."""
    handler = _BUILTINS.get(name)
    if handler is not None:
        return handler(run, site)
    if name in ("int", "float", "bool", "str", "len", "repr", "id", "hash", "hasattr"):
        return _scalar_builtin(run, name, site)
    if name in ("print",):
        for value in site.values():
            for tensor in reachable_tensors(value):
                show(run.autograd, tensor, site.node)
        return NONE
    return None


def _scalar_builtin(run: Run, name: str, site: CallSite) -> Value:
    value = site.positional[0] if site.positional else NONE
    for tensor in reachable_tensors(value):
        (show if name in ("str", "repr") else use)(run.autograd, tensor, site.node)
    if name == "len":
        if isinstance(value, Sequence) and value.items is not None:
            return Constant(len(value.items))
        if isinstance(value, Module) and value.children is not None and value.kind.container:
            return Constant(len(value.children))
        if isinstance(value, Tensor) and value.shape and value.shape[0] is not None:
            return Constant(value.shape[0])
        return Scalar("int")
    if isinstance(value, Constant) and name in ("int", "float", "bool", "str"):
        try:
            return Constant({"int": int, "float": float, "bool": bool, "str": str}[name](value.value))
        except (TypeError, ValueError, OverflowError):
            return Unknown()
    if name == "hasattr" and isinstance(value, Instance) and len(site.positional) == 2:
        _getattr(run, site)  # which runs a property
    if name == "hasattr" and _torch_has(site):
        return Constant(True)
    kind = {"int": "int", "float": "float", "str": "str", "repr": "str", "id": "int", "hash": "int"}.get(name, "bool")
    return Scalar(kind)


def _torch_has(site: CallSite) -> bool:
    """`hasattr(torch.nn.functional, "rms_norm")`: the torch that the model knows has it, and goes on from there."""
    if len(site.positional) != 2:
        return False
    owner, name = site.positional
    if not isinstance(owner, External) or not isinstance(name, Constant) or not isinstance(name.value, str):
        return False
    return bool(ops.find(f"{owner.qualified}.{name.value}"))


def _range(run: Run, site: CallSite) -> Value:
    values = [each.value for each in site.positional if isinstance(each, Constant) and isinstance(each.value, int)]
    if len(values) == len(site.positional) and 1 <= len(values) <= 3 and not (len(values) == 3 and values[2] == 0):
        numbers = range(*values)
        if not numbers[MOST_ITEMS:]:  # no `len`, which cannot tell more than `sys.maxsize`
            return Sequence("generator", tuple(Constant(number) for number in numbers))
    return Sequence("generator", None, Scalar("int"))


def _enumerate(run: Run, site: CallSite) -> Value:
    if not site.positional:
        return Unknown()
    known, elements = elements_of(run, site.positional[0])
    source = site.positional[0].parameters_of if isinstance(site.positional[0], Sequence) else ""
    if known:
        return Sequence("generator", tuple(Sequence("tuple", (Constant(i), e)) for i, e in enumerate(elements)))
    return Sequence("generator", None, Sequence("tuple", (Scalar("int"), elements[0])), source)


def _zip(run: Run, site: CallSite) -> Value:
    columns = [elements_of(run, value) for value in site.positional]
    if columns and all(known for known, _ in columns):
        rows = zip(*(elements for _, elements in columns), strict=False)
        return Sequence("generator", tuple(Sequence("tuple", row) for row in rows))
    any_ones = tuple(any_of(elements) if elements else Unknown() for _, elements in columns)
    return Sequence("generator", None, Sequence("tuple", any_ones))


def _listed(run: Run, kind: str, site: CallSite) -> Value:
    if not site.positional:
        return Sequence(kind, ())
    value = site.positional[0]
    known, elements = elements_of(run, value)
    source = value.parameters_of if isinstance(value, Sequence) else ""
    return Sequence(kind, tuple(elements), None, source) if known else Sequence(kind, None, elements[0], source)


def dict_builtin(run: Run, site: CallSite) -> Value:
    """`dict(...)`."""
    if len(site.positional) == 1 and site.complete:
        (given,) = site.positional
        if isinstance(given, Mapping):
            if not site.keywords:
                return copy_of(given)
            return merged(given, Mapping(dict(site.keywords.items())))
    if site.positional or not site.complete:
        values: list[Value] = list(site.keywords.values())
        keys: list[Value] = []
        items: dict[object, Value] = dict(site.keywords.items())
        certain = site.complete
        for value in site.positional:
            known, elements = elements_of(run, value)
            for each in elements:
                key, held = _pair(each)
                values.append(held)
                keys += [key] if key is not None else []
                certain = certain and known and isinstance(key, Constant)
                if isinstance(key, Constant):
                    items[key.value] = held
        if certain and len(items) <= MOST_ITEMS:
            return Mapping(items)
        return Mapping(None, any_of(values) if values else None, any_key(keys))
    named: dict[object, Value] = dict(site.keywords.items())
    return Mapping(named)


def _pair(value: Value) -> tuple[Value | None, Value]:
    """Of what `dict()` makes an entry of: the key, and the value."""
    if isinstance(value, Sequence) and value.items is not None and len(value.items) == 2:
        return value.items[0], value.items[1]
    part_of = value.part_of if isinstance(value, Unknown) else None
    return None, Unknown(reachable_tensors(value), part_of=part_of)


def _sum(run: Run, site: CallSite) -> Value:
    if not site.positional:
        return Unknown()
    known, elements = elements_of(run, site.positional[0])
    if not known:
        given = site.positional[0]
        sure = next(iter(given.among), None) if isinstance(given, Sequence) else None
        if isinstance(sure, Tensor) and elements and site.get(1, "start") is None:
            return operate(run, "+", sure, elements[0], site.node)  # what a loop of unknown length has put in
        return Unknown(reachable_tensors(elements[0]) if elements else ())
    total: Value = site.get(1, "start") or Constant(0)
    for element in elements:
        total = operate(run, "+", total, element, site.node)
    return total


def _quantified(run: Run, site: CallSite, decides: bool) -> Value | None:
    """`any` is decided by one that holds, `all` by one that does not; of nothing, it is the other."""
    if len(site.positional) != 1 or not isinstance(site.positional[0], (Sequence, Mapping)):
        return None
    known, elements = elements_of(run, site.positional[0])
    for element in elements:
        for tensor in reachable_tensors(element):
            use(run.autograd, tensor, site.node)
    truths = [_truth(each) for each in elements]
    if not known:
        return Scalar("bool")
    if Truth.of(decides) in truths:
        return Constant(decides)
    return Scalar("bool") if Truth.MAYBE in truths else Constant(not decides)


def _isinstance(run: Run, site: CallSite) -> Value:
    if len(site.positional) != 2:
        return Scalar("bool")
    truth = is_a(*site.positional)
    if truth is Truth.MAYBE and is_no_layer_of(*site.positional) and not _is_of_project(run, site.positional[1]):
        truth = Truth.NO
    return _told(truth)


def is_class(site: CallSite) -> Value:
    """`inspect.isclass(value)`."""
    kind = External("builtins.type")
    return _told(is_a(site.positional[0], kind) if len(site.positional) == 1 else Truth.MAYBE)


def _issubclass(run: Run, site: CallSite) -> Value:
    return _told(is_subclass(*site.positional) if len(site.positional) == 2 else Truth.MAYBE)


def _told(truth: Truth) -> Value:
    return Scalar("bool") if truth is Truth.MAYBE else Constant(truth is Truth.YES)


def _callable(run: Run, site: CallSite) -> Value:
    """`callable(x)`: functions, classes and Modules are, and no number, text or container is."""
    found = Scalar("bool")
    if len(site.positional) != 1:
        return found
    of = [_is_callable(each) for _, each in alternatives(site.positional[0], run.machine.guard)]
    return Constant(of[0] is Truth.YES) if of and of[0] is not Truth.MAYBE and len(set(of)) == 1 else found


def _is_callable(value: Value) -> Truth:
    if isinstance(value, (Function, Class, Bound, Partial, Module)):
        return Truth.YES
    if isinstance(value, (Constant, Scalar, Sequence, Mapping, Tensor)):
        return Truth.NO
    if isinstance(value, External):
        kind = value.qualified.startswith("torch.nn.") and value.qualified.rpartition(".")[2][:1].isupper()
        return Truth.YES if kind else Truth.MAYBE
    if isinstance(value, Instance):
        called = any("__call__" in each.attributes for each in value.cls.ancestry())
        return Truth.YES if called else is_module(value)
    return Truth.MAYBE


def _is_of_project(run: Run, kind: Value) -> bool:
    names = [each.qualified for _, each in alternatives(kind) if isinstance(each, External)]
    return run.imports is not None and any(map(run.imports.offers, names))


def _super(run: Run, site: CallSite) -> Value:
    if len(site.positional) == 1 and site.complete:
        return External("builtins.super")  # unbound: it has nobody's methods but its own
    for frame in reversed(run.machine.stack):
        owner = _owner(run, frame.definition)
        if owner is not None:
            variables = run.machine.frame.variables
            definition = frame.definition
            assert isinstance(definition, ir.FunctionDef)
            first = definition.parameters[0].name if definition.parameters else ""
            instance = variables.get(first) or Unknown()
            return Super(owner, instance)
    return Unknown()


def _owner(run: Run, definition: ir.Node) -> Class | None:
    return run.owners.get(id(definition))


def _getattr(run: Run, site: CallSite) -> Value:
    if len(site.positional) >= 2 and isinstance(site.positional[1], Constant):
        name = site.positional[1].value
        if isinstance(name, str):
            found = attribute(run, site.positional[0], name, site.node)
            if len(site.positional) == 3 and isinstance(found, Unknown):
                return any_of([found, site.positional[2]])
            return found
    if not site.positional:
        return Unknown(layer=True, part_of=External("torch"))  # `getattr(*found)`: nobody knows of what
    owner = site.positional[0]
    for hook in run.machine.watch.unknown_called if len(site.positional) > 1 else ():
        hook(Unknown(), None, [owner], site.node)  # any method may be called so
    if len(site.positional) > 1:
        note_name(run, owner, site.positional[1], site)
        havoc(run, owner)
        unsettle(run, owner)
        unsettle_gradients(run, reachable_tensors(owner))
        _may_enter(run, owner)
    of_torch = isinstance(owner, External) and owner.qualified.partition(".")[0] == "torch"
    holders = [each for _, each in alternatives(owner) if of_torch or isinstance(each, (Module, Instance))]
    part_of = holders[0] if holders else None
    if isinstance(owner, (Mapping, Unknown)) and 0 in site.arguments:
        # what is called of `net._modules` is of the Module
        part_of = owner_of_dict(run, site.arguments[0].value) or part_of
    if not site.complete and isinstance(owner, Unknown):
        part_of = External("torch")
    found = Unknown(reachable_tensors(owner), layer=True, part_of=part_of)
    found.may_be = objects_among([owner])
    return found


def _may_enter(run: Run, owner: Value) -> None:
    """A method that nobody knows is called: of what the file leaves by hand, `__enter__` may be the one."""
    node = run.machine.statement
    call = node.value if isinstance(node, ir.ExpressionStatement) else None
    alone = isinstance(call, ir.Call) and isinstance(call.function, ir.Call) and not call.arguments
    if not alone or not isinstance(owner, (GradModeGuard, Unknown)):
        return
    if any(isinstance(each, ir.Attribute) and each.attr == "__exit__" for each in ir.walk(run.machine.program.body)):
        run.machine.trail.set(run.autograd, "may_cast", True)
        set_grad_mode(run.torch, Truth.MAYBE)


def builtin_setattr(run: Run, site: CallSite) -> Value:
    """`setattr(owner, name, value)`."""
    placed = site.placed()
    if len(placed) != 3 and len(placed) == len(site.positional):
        return NONE
    owner, name, value = [*placed, *site.positional[-1:] * 3][:3]  # `setattr(net, *found)`
    if isinstance(name, Constant) and isinstance(name.value, str):
        set_attribute(run, owner, name.value, value, site.node)
        return NONE
    note_name(run, owner, name, site)
    for _, each in alternatives(owner):
        if isinstance(each, (Class, Instance)):
            set_some_attribute(run, each, value, anew=is_composed(name))
        elif isinstance(each, (Tensor, Module)):
            unsettle(run, each)
            havoc(run, each)
        elif isinstance(each, External):
            replace_of_torch(run, f"{each.qualified}.*")
        elif isinstance(each, Unknown) and not is_foreign(each):
            note_reflection(run.machine, "setattr(…)")
            patch_what_it_may_be(run, each)
            unsettle_origins(run, each)
            for held in each.may_be:
                if isinstance(held, (Class, Instance)):
                    set_some_attribute(run, held, value, anew=False)
            if isinstance(value, (Bound, Constant, Function)):
                patch_in_sight(run)  # a setting, or a `forward`, of what may be any Module
        if isinstance(each, Module):
            run.machine.trail.set(each, "patched", True)
            if not is_composed(name):
                lose_children(run, each)
    return NONE


def _map(run: Run, site: CallSite) -> Value | None:
    """`map(function, values, …)`: run on each of them; nobody knows when, or whether."""
    machine = run.machine
    if len(site.positional) < 2 or not isinstance(site.positional[0], (Function, Bound, Partial, External)):
        return None
    function, *values = site.positional
    columns = [elements_of(run, each) for each in values]
    known = all(each for each, _ in columns)
    elements = list(zip(*(column if known else column[:1] for _, column in columns), strict=False))
    if len(columns) == 1:
        elements = [(each,) for each in columns[0][1]]
    if len(elements) > MOST_ITEMS:
        return None
    results: list[Value] = []

    def follow() -> None:
        results.extend(run.call(function, [*each], site.node) for each in elements)
        if not known and len(results) == 1 and is_recorded(results[0]) and not machine.dead:
            note_alike(run, results[0], run.call(function, [another(run, each) for each in elements[0]], site.node))

    number = machine.branch((id(site.node), "map", machine.clock))
    machine.fork([(frozenset({(number, 1)}), follow), (frozenset({(number, 0)}), lambda: None)])
    if len(results) != len(elements):
        return Unknown([tensor for each in values for tensor in reachable_tensors(each)])
    if known:
        return Sequence("generator", tuple(results))
    return Sequence("generator", None, results[0] if results else None)


def _filter(run: Run, site: CallSite) -> Value | None:
    """`filter(function, values)`: the function is run on each of them; an iterator over those that are kept.

    Python asks the function only when somebody iterates: of one that gets a name nobody knows what it will keep.
    """
    machine = run.machine
    if len(site.positional) != 2 or not site.complete:
        return None
    function, values = site.positional
    known, elements = elements_of(run, values)
    if len(elements) > MOST_ITEMS:
        return None
    kept: list[Truth] = []

    def follow() -> None:
        kept.extend(_truth(run.call(function, [each], site.node)) for each in elements)

    if isinstance(function, (Function, Bound, Partial)):
        number = machine.branch((id(site.node), "filter", machine.clock))
        machine.fork([(frozenset({(number, 1)}), follow), (frozenset({(number, 0)}), lambda: None)])
    elif not (isinstance(function, Constant) and function.value is None):
        return None
    later = isinstance(machine.statement, ir.Assign) and machine.statement.value is site.node
    if known and not later and len(kept) == len(elements) and Truth.MAYBE not in kept:
        chosen = [each for each, truth in zip(elements, kept, strict=True) if truth is Truth.YES]
        return Sequence("generator", tuple(chosen), None, "" if elements else _source([values]))
    return Sequence("generator", None, any_of(elements) if elements else None)


def _source(values: list[Value]) -> str:
    """The Module whose parameters these are, if nobody has seen that it has any."""
    return next((each.parameters_of for each in values if isinstance(each, Sequence) and each.parameters_of), "")


def _truth(value: Value) -> Truth:
    return Truth.of(bool(value.value)) if isinstance(value, Constant) else Truth.MAYBE


def chain(run: Run, site: CallSite) -> Value | None:
    """`itertools.chain(…)`; None where nobody knows of what."""
    if not site.complete or not site.positional:
        return None
    columns = [elements_of(run, value) for value in site.positional]
    every = [each for _, elements in columns for each in elements]
    if all(known for known, _ in columns) and len(every) <= MOST_ITEMS:
        return Sequence("generator", tuple(every), None, "" if every else _source(site.positional))
    return Sequence("generator", None, any_of(every) if every else None)


def _vars(run: Run, site: CallSite) -> Value | None:
    return attribute(run, site.positional[0], "__dict__", site.node) if site.positional else None


def _type(run: Run, site: CallSite) -> Value | None:
    value = site.positional[0] if len(site.positional) == 1 else None
    if isinstance(value, Tensor) or (isinstance(value, Unknown) and value.tensor is not None):
        return class_of_tensor(site.node)
    return class_of(value) if value is not None else None


def _abs(run: Run, site: CallSite) -> Value | None:
    if site.positional and holds_tensor(run, site.positional[0]):
        return apply(run.torch, "torch.Tensor.abs", [site.positional[0]], {}, site.node, "abs")
    return None


def _next(run: Run, site: CallSite) -> Value:
    known, elements = elements_of(run, site.positional[0]) if site.positional else (False, [Unknown()])
    if not elements:
        return Unknown()
    return picked(run, elements[0]) if not known else any_of(list(elements))


def _iter(run: Run, site: CallSite) -> Value:
    return site.positional[0] if site.positional else Unknown()


def _extreme(run: Run, site: CallSite) -> Value:
    if not site.positional:
        return Unknown()
    values = site.positional if len(site.positional) > 1 else elements_of(run, site.positional[0])[1]
    kinds = {kind_of(value) for value in values}
    if kinds <= {"int", "bool"}:
        return Scalar("int")
    if kinds <= {"int", "float", "number", "bool"}:
        return Scalar("number")
    return picked(run, any_of(list(values))) if values else Unknown()


def _reversed(run: Run, site: CallSite) -> Value:
    if not site.positional:
        return Unknown()
    known, elements = elements_of(run, site.positional[0])
    return Sequence("generator", tuple(reversed(elements))) if known else Sequence("generator", None, elements[0])


def _unordered(run: Run, site: CallSite) -> Value:
    if not site.positional:
        return Unknown()
    _, elements = elements_of(run, site.positional[0])
    return Sequence("list", None, any_of(elements) if elements else None)


def new_partial(site: CallSite) -> Value:
    """`functools.partial(function, ...)`."""
    return Partial(site.positional[0], tuple(site.positional[1:]), dict(site.keywords), site.complete)


_BUILTINS: Final[dict[str, Callable[[Run, CallSite], Value | None]]] = {
    "range": _range,
    "slice": lambda run, site: Scalar("slice"),
    "enumerate": _enumerate,
    "zip": _zip,
    "list": lambda run, site: _listed(run, "list", site),
    "tuple": lambda run, site: _listed(run, "tuple", site),
    "set": lambda run, site: _listed(run, "set", site),
    "reversed": _reversed,
    "sorted": _unordered,
    "dict": dict_builtin,
    "sum": _sum,
    "any": lambda run, site: _quantified(run, site, True),
    "all": lambda run, site: _quantified(run, site, False),
    "isinstance": _isinstance,
    "issubclass": _issubclass,
    "super": _super,
    "getattr": _getattr,
    "setattr": builtin_setattr,
    "map": _map,
    "callable": _callable,
    "filter": _filter,
    "vars": _vars,
    "type": _type,
    "exec": run_text,
    "eval": evaluate_text,
    "object.__setattr__": set_raw,
    "type.__setattr__": builtin_setattr,
    "abs": _abs,
    "next": _next,
    "iter": _iter,
    "min": _extreme,
    "max": _extreme,
}
