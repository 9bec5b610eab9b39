"""
Functions of the file that are handed on: hooks and callbacks may run at any time.

The lists they fill and the variables they set are unknown from then on. So are the gradients that a `backward` which
is handed on leads to, and the grad mode once `torch.set_grad_enabled` is, or the default that another one sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchlint.model.autograd.walk import graph_of
from torchlint.model.python.flags import calls_unknown, calls_what_is_unknown, changes_flags, unsettle, unsettle_grad
from torchlint.model.python.handed_names import OF_CONTAINERS, given_back, path_of, paths_in, set_between, written_paths
from torchlint.model.python.making import GETS_ATTRIBUTES, OF_ATTRIBUTES, only_renames, runs_unseen
from torchlint.model.python.members import patch, replace_of_torch
from torchlint.model.python.module_parts import keeps_place, parameters_of
from torchlint.model.python.run import Callback, HandedOn, Reach, Run, looking_from, seen_from
from torchlint.model.python.switches import HOLDING, held_of, turn
from torchlint.model.python.variables import forget_variable
from torchlint.model.state.another import or_another
from torchlint.model.state.guards import Truth
from torchlint.model.state.reflection import note_reflection
from torchlint.model.state.values import (
    CONTAINERS,
    MOST_DEEP,
    Bound,
    Choice,
    Class,
    Constant,
    External,
    Function,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Partial,
    Scalar,
    Sequence,
    Tensor,
    Unbound,
    Unknown,
    Value,
    alternatives,
    parts,
    reachable_tensors,
    within,
)
from torchlint.model.torch.defaults import DEFAULTS_SET_BY, unsettle_default
from torchlint.model.torch.functions import NAMES_OF_SETTERS, SETS_GRAD_MODE, set_grad_mode
from torchlint.syntax import ir
from torchlint.syntax.reading import written
from torchlint.syntax.spelling import dotted

SETTING = NAMES_OF_SETTERS | frozenset(DEFAULTS_SET_BY)
_SETTERS: Final = frozenset({*SETS_GRAD_MODE, *(f"torch.{each}" for each in DEFAULTS_SET_BY)})
"""Functions of torch that set something for all that comes."""
MOST_CALLEES = 100
"""Functions looked at for what one that is handed on may make run."""


_LOOKS_A_STEP: Final = 32
"""Names, objects and leaves looked at in the time of one statement."""


def _leaves(value: Value) -> list[Tensor]:
    found = reachable_tensors(value)
    for _, each in alternatives(value):
        if isinstance(each, (Module, Instance)):
            found = [*found, *parameters_of(each)[0]]
            held = each.attributes.values() if isinstance(each, Instance) else ()
            found += [tensor for one in held for _, tensor in alternatives(one) if isinstance(tensor, Tensor)]
        elif isinstance(each, Optimizer):
            found = [*found, *each.parameters]
    return found


def havoc(run: Run, value: Value, *, switches: bool = False) -> None:
    """
    Unknown code was given a value: what it holds may have changed; `switches`: the code is there for what it does, and
    may have turned them.
    """
    if type(value) in _UNCHANGED:
        return
    machine = run.machine
    if switches and type(value) in HOLDING:
        turn(run, value)
    if isinstance(value, Choice):
        for _, each in value.alternatives:
            havoc(run, each)
    elif isinstance(value, Instance):
        if not value.havocked:
            machine.trail.set(value, "havocked", True)
        for name, each in held_of(value, _REPLACED):
            for _, option in alternatives(each):
                if _is_replaced(option, switches=switches):
                    machine.trail.set(value.attributes, name, or_another(each))
                    break
    elif isinstance(value, Module) and value.kind.container and not value.children:
        if value.children is not None:  # an empty container is there to be filled
            machine.trail.set(value, "children", None)
            machine.trail.set(value, "element", None)
    elif isinstance(value, Bound) and (value.name in OF_CONTAINERS or isinstance(value.receiver, Module)):
        receiver = value.receiver
        if isinstance(receiver, Module) and receiver.kind.container and value.name in OF_CONTAINERS:
            machine.trail.set(receiver, "children", None)
            machine.trail.set(receiver, "element", None)
        havoc(run, receiver)
    elif isinstance(value, (Sequence, Mapping)):
        for each in within(value, parts, MOST_DEEP):  # also in lists of lists, and where one of several stands
            if isinstance(each, (Module, Instance)):
                havoc(run, each)
            elif isinstance(each, (Sequence, Mapping)):
                _refill(run, each)


_REPLACED: Final[frozenset[type]] = frozenset({Tensor, Module, Choice})


def _is_replaced(value: Value, *, switches: bool) -> bool:
    """Whether unknown code may put another one in the place of what an object holds."""
    if type(value) is Module:
        return keeps_place(value) and (switches or value.kind.container != "")
    return type(value) is Tensor and value.is_parameter is not Truth.YES


def _refill(run: Run, value: Sequence | Mapping) -> None:
    """A list or dictionary may hold something else from now on."""
    machine = run.machine
    if isinstance(value, Sequence):
        if value.last is not None and (value.items is None or value.kind in ("list", "deque")):
            machine.trail.set(value, "last", None)
            machine.trail.set(value, "among", ())
        if value.kind not in ("list", "deque"):
            return
    if value.items is not None:
        machine.trail.set(value, "element", Unknown(reachable_tensors(value)))
        machine.trail.set(value, "items", None)


_UNCHANGED: Final = frozenset({Tensor, Unknown, Unbound, Constant, External, Scalar})
"""What holds nothing that is another value afterwards: most of what unknown code is given."""


def hand_on(run: Run, values: list[Value]) -> None:
    """Unknown code was given functions of the file: it may run them now or later."""
    for value in values:
        if type(value) not in _CALLED_OR_HOLDING:
            continue
        if type(value) is External and value.qualified not in _SETTERS:
            continue
        if type(value) in CONTAINERS and _CALLED_OR_HOLDING.isdisjoint(map(type, parts(value))):
            continue  # most: a tensor or None
        functions = [each for _, each in alternatives(value)]
        inside = [] if isinstance(value, Function) else within(value, _parts_and_functions, MOST_DEEP)
        if isinstance(value, (Sequence, Mapping)):
            functions += [each for each in inside if isinstance(each, (Function, Bound))]
        for each in functions:
            function = each
            while isinstance(function, Partial):
                for part in (*function.given, *function.named.values()):
                    havoc(run, part)
                function = function.function
            callback = Callback.of(function)
            if callback is not None:
                for default in callback.function.defaults.values():
                    unsettle(run, default, slightly=True)  # `lambda w=w: w`
                run.machine.callers.out_of_sight |= run.machine.grad_mode is not Truth.YES
                _hand_on_with_callees(run, callback)
        for each in inside:
            differentiates = type(each) is Bound and each.function is None and each.name == "backward"
            sets = type(each) is External and each.qualified in _SETTERS
            if not (differentiates or sets):
                continue
            if not any(each is one or (sets and each == one) for one in run.handed_to_unknown):
                run.machine.trail.set(run, "handed_to_unknown", (*run.handed_to_unknown, each))


_CALLED_OR_HOLDING: Final = frozenset({Function, Bound, Partial, External, Sequence, Mapping, Choice})
"""What is a function, or holds some."""


def _parts_and_functions(value: Value) -> list[Value]:
    return [value.function] if isinstance(value, Partial) else parts(value)


def _hand_on_with_callees(run: Run, callback: Callback) -> None:
    """Who may run a function may make it run what it calls."""
    pending: list[Callback] = [callback]
    seen: dict[tuple[int, int, bool], Callback] = {}
    while pending and len(seen) < MOST_CALLEES:
        each = pending.pop()
        key = (id(each.function), id(each.receiver), each.special)  # as `is_same`
        if key in seen or any(map(each.is_same, run.handed_on)):
            continue
        seen[key] = each
        called = _callees(run, each)
        pending += [Callback(one.function, one.receiver, special=True) for one in called] if each.special else called
        function = each.function
        reach = _reach(run, function)
        does = reach.writes or reach.changes_flags or reach.sets or each.shows(reach)
        if does or each.may_differentiate(reach):
            run.machine.trail.set(run, "handed_on", (*run.handed_on, each))
            _may_have_run(run, HandedOn((each,), run.reaching))


def hand_on_special(run: Run, instance: Instance) -> None:
    """
    Python runs special methods of an object where no call of them is written: `for x in it`, `it + 1`, `len(it)`,
    `print(it)`, in code that nobody knows, too.
    """
    followed = _FOLLOWED
    if any(isinstance(base, External) and base.qualified in _DECORATORS for base in instance.cls.outside()):
        followed = _FOLLOWED - _CONTEXT
    for cls in instance.cls.ancestry():
        for name, method in cls.attributes.items():
            shows = name.startswith("__") or name in _SHOWING
            if shows and name not in followed and isinstance(method, Function):
                _hand_on_with_callees(run, Callback(method, instance, special=True))
            # the constructor of a layer, which is not followed, sets its parameters by it
            own = method if instance.layer is not None and name == "__setattr__" else None
            unknown = isinstance(own, Function) and calls_unknown(run, own)
            if unknown or (name in OF_ATTRIBUTES and _is_anybodys(run, name, method)):
                note_reflection(run.machine, f"{cls.name}.{name}")
            if runs_unseen(name, method) and name not in _FOLLOWED_ANYHOW:
                unsettle(run, instance)


def _is_anybodys(run: Run, name: str, method: Value) -> bool:
    """
    Whether what a class says of its attributes is more than its text: a `__getattribute__` says it of all others. Of a
    setter, which is followed, the text is known; and who asks the base class adds to what Python does, as Modules do.
    """
    if name == GETS_ATTRIBUTES:
        return not (isinstance(method, Function) and only_renames(method))
    if runs_unseen(name, method):
        return True
    if name in _FOLLOWED or not isinstance(method, Function) or not calls_unknown(run, method):
        return False
    return not any(isinstance(each, ir.Name) and each.id == "super" for each in ir.walk(method.definition.body))


_FOLLOWED: Final = frozenset(
    """
    __attrs_post_init__ __call__ __class_getitem__ __enter__ __exit__ __init__ __init_subclass__ __new__ __post_init__
    __set__ __set_name__ __setattr__
    """.split()  # noqa: SIM905
)
"""Special methods that are run where Python runs them."""
_SHOWING: Final = frozenset({"_get_name", "extra_repr"})
"""Methods by which a Module is shown."""
_DECORATORS: Final = frozenset({"contextlib.ContextDecorator", "contextlib.AsyncContextDecorator"})
"""Objects of classes derived from these are entered by whoever calls a function that is decorated with one."""
_CONTEXT: Final = frozenset({"__enter__", "__exit__"})
_FOLLOWED_ANYHOW: Final = _FOLLOWED - _CONTEXT
"""Those of which a call is followed also where nobody knows them."""


def _callees(run: Run, callback: Callback) -> list[Callback]:
    """The functions of the file, and the methods of its objects, that a function calls by name."""
    _reach(run, callback.function)
    found = (_callee(callback, path) for path in run.calling[id(callback.function.definition)])
    return [each for each in found if each is not None]


def _callee(callback: Callback, path: tuple[str, ...]) -> Callback | None:
    value = callback.lookup(path[0])
    for number, name in enumerate(path[1:], 1):
        if not isinstance(value, Instance):
            return None
        held = value.attributes.get(name)
        if held is None and number == len(path) - 1:
            for cls in value.cls.ancestry():
                method = cls.attributes.get(name)
                if isinstance(method, Function):
                    return Callback(method, value)
            return None
        value = held
    if isinstance(value, Instance):
        return _callee_of_call(value)
    return Callback.of(value) if value is not None else None


def _callee_of_call(instance: Instance) -> Callback | None:
    """What calling an object of the file runs: `forward` of a Module."""
    for name in ("__call__", "forward"):
        for cls in instance.cls.ancestry():
            method = cls.attributes.get(name)
            if isinstance(method, Function):
                return Callback(method, instance)
    return None


def hand_on_with_calls(run: Run, function: Value) -> None:
    """A hook that runs with each call of its Module, which is followed; where one is not, it may run, too."""
    callback = Callback.of(function)
    if callback is not None and not any(callback.is_same(known) for known in run.handed_on):
        callback.with_calls = True
        _reach(run, callback.function)
        run.machine.trail.set(run, "handed_on", (*run.handed_on, callback))


def run_handed_on(run: Run, *, with_calls: bool = True) -> None:
    """Something was called that may run what was handed on; `with_calls`: also what runs with calls of a Module."""
    if not run.handed_on and not run.handed_to_unknown:
        return
    together = run.handed_together[with_calls]
    if together.callbacks is not run.handed_on:
        together = run.handed_together[with_calls] = HandedOn(run.handed_on, run.reaching, with_calls=with_calls)
    _may_have_run(run, together)
    for each in run.handed_to_unknown:
        if isinstance(each, Bound):
            for tensor in reachable_tensors(each.receiver):
                for _, leaf in graph_of(run.autograd, tensor, None)[1]:
                    unsettle_grad(run, leaf)
        elif isinstance(each, External):
            may_be_set(run, each.qualified.rpartition(".")[2])


def _may_have_run(run: Run, functions: HandedOn) -> None:
    """Of what functions use a backward may have run, and what they write to, outside themselves, is unknown."""
    if functions.steps:
        run.budget.spend(functions.steps)
    looked = 0
    for value in functions.objects:
        looked += _backward_may_have_run(run, value)
    for frame, names in functions.reads:
        looked += len(names)
        for value in seen_from(frame, names):
            looked += _backward_may_have_run(run, value)
    if looked >= _LOOKS_A_STEP:
        run.budget.spend(looked // _LOOKS_A_STEP)
    for callback, path in functions.showing:
        shown = callback.lookup(path[0])
        for name in path[1:]:
            if not isinstance(shown, Instance):
                shown = None
            elif name in shown.attributes:
                shown = shown.attributes[name]
            else:
                shown = shown if _is_computed(shown, name) else None
        if shown is not None:
            unsettle(run, shown, slightly=True)
    for callback, reach in functions.writing:
        name, variables = "", None
        for path in reach.writes:  # sorted: one look for all of a name, whose object a path of one name would replace
            if path[0] != name or len(path) == 1:
                name, variables = path[0] if len(path) > 1 else "", callback.variables(path[0])
            held = None if variables is None else variables[path[0]]
            if type(held) is Instance and len(path) == 2 and path[1]:  # `self.x`: nearly all
                forget_variable(run, path[1], held.attributes)
            elif variables is not None:
                _forget(run, path, variables)
        for name in reach.sets:
            may_be_set(run, name)
        if reach.changes_flags:
            for name in {path[0] for path in reach.writes}:
                variable = callback.lookup(name)
                if variable is not None:
                    unsettle(run, variable)


def _is_computed(instance: Instance, name: str) -> bool:
    """Whether a property, or something unknown, gives an object's attribute of what the object holds."""
    if instance.given or instance.named_elsewhere:
        return True
    for cls in instance.cls.ancestry():
        found = cls.attributes.get(name)
        if isinstance(found, Function):
            return found.kind in ("property", "cached", "opaque")
        if found is not None or "__getattr__" in cls.attributes:
            return True
    return False


def may_be_set(run: Run, name: str) -> None:
    """A function of torch may have run that sets something for all that comes."""
    if name in NAMES_OF_SETTERS:
        set_grad_mode(run.torch, Truth.MAYBE)
    for what in DEFAULTS_SET_BY.get(name, ()):
        unsettle_default(run.torch, what)


def _backward_may_have_run(run: Run, value: Value) -> int:
    """A backward through a value may have run; gives how much was looked at for that."""
    leaves = _leaves(value)
    for each in leaves:
        unsettle_grad(run, each)
    return 1 + len(leaves)


def _forget(run: Run, path: tuple[str, ...], variables: dict[str, Value]) -> None:
    name, *rest = path
    value = variables[name]
    if rest and rest[-1] and isinstance(value, External):
        replace_of_torch(run, ".".join((value.qualified, *rest)))
    elif len(rest) == 1 and rest[-1] and isinstance(value, Class):
        patch(run, value)
    for each in rest[:-1]:
        if not isinstance(value, Instance) or each not in value.attributes:
            return
        variables, name = value.attributes, each
        value = value.attributes[each]
    if rest and rest[-1] == "":
        for _, held in alternatives(value):
            if isinstance(held, (Sequence, Mapping)):
                _open(run, held)
        return
    if rest and isinstance(value, Instance):
        variables, name = value.attributes, rest[-1]
    elif rest:
        return
    forget_variable(run, name, variables)


def _open(run: Run, value: Sequence | Mapping) -> None:
    """A container that may hold anything besides."""
    machine = run.machine
    if isinstance(value, Sequence):
        machine.trail.set(value, "last", None)
        machine.trail.set(value, "among", ())
    if value.items is not None or not isinstance(value.element, Unknown):
        machine.trail.set(value, "element", Unknown(reachable_tensors(value)))
        machine.trail.set(value, "items", None)


def _reach(run: Run, function: Function) -> Reach:
    definition = function.definition
    known = run.reaching.get(id(definition))
    if known is None:
        body: list[ir.Statement] | ir.Expression = definition.body
        # of a method that is handed on, the first one is its object
        own = {parameter.name for parameter in definition.parameters[int(function.owner is not None) :]}
        has_backward = differentiates = True
        if isinstance(definition, ir.FunctionDef):
            own |= definition.assigned
            has_backward = differentiates = "backward" in written(definition).words
        names: set[str] = set()
        found: set[tuple[str, ...]] = set()
        nodes = list(ir.walk(body))  # once for all that is asked
        gives = {path for each in given_back(body, nodes) for path in paths_in(each)}
        calls = [node for node in nodes if type(node) is ir.Call]
        paths = {path_of(node.function) for node in calls}
        called = SETTING.intersection([path[-1] for path in paths if path])
        if called:  # what a `with` enters is left again
            entered = {id(item.context) for node in nodes if type(node) is ir.With for item in node.items}
            called &= {dotted(node.function).rpartition(".")[2] for node in calls if id(node) not in entered}
        if function.kind != "context" and isinstance(definition, ir.FunctionDef) and definition.is_generator:
            called |= set_between(nodes)
        handed = {path_of(each.value) for node in calls for each in node.arguments}
        called |= SETTING.intersection([path[-1] for path in handed if path])  # who is handed it may call it
        run.calling[id(definition)] = tuple(path for path in sorted(paths) if path)
        for node in nodes:
            if type(node) is ir.Name:
                names.add(node.id)
                continue  # it writes to nothing, as most of what there is
            if type(node) is ir.Return:
                differentiates = differentiates or node.value is not None
            elif paths_set := written_paths(node):
                found.update([path for path in paths_set if path[0] not in own])
        known = run.reaching[id(definition)] = Reach(
            tuple(sorted(found)),
            frozenset(names - own),
            has_backward,
            differentiates,
            changes_flags(run, function),
            called,
            tuple(sorted(path for path in gives if path[0] not in own)),
            tuple(sorted(path for path in _passed(run, function, own, calls) if path[0] not in own)),
        )
    return known


def _passed(run: Run, function: Function, own: set[str], calls: list[ir.Call]) -> Iterator[tuple[str, ...]]:
    """What a function hands to code that nobody knows, or writes in place, in these of its calls."""
    definition = function.definition
    local = own | {parameter.name for parameter in definition.parameters[:1]}
    with looking_from(run.machine, function.closure):
        for node in calls:
            called = node.function
            if isinstance(called, ir.Attribute) and called.attr.endswith("_") and not called.attr.startswith("_"):
                # what is written in place takes part in what is written: of an expression, whatever it has the name of
                names = ((each.id,) for each in ir.walk(called.value) if isinstance(each, ir.Name))
                yield from list(paths_in(called.value)) or names
            if calls_what_is_unknown(run, function, node, local):
                for argument in node.arguments:
                    yield from paths_in(argument.value)
                    if "super" in {each.id for each in ir.walk(argument.value) if isinstance(each, ir.Name)}:
                        yield (definition.parameters[0].name if definition.parameters else "self",)
