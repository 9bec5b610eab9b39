"""
Functions of the file: binding their parameters, running their bodies, joining what they return.

A function of another file runs on that file's variables, within a budget of its own; what is too deep or a
generator is unknown code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from torchlint.knowledge import foreign
from torchlint.model.autograd.writes import escape
from torchlint.model.python.arms import note_rests
from torchlint.model.python.attributes import is_module
from torchlint.model.python.callbacks import hand_on, havoc
from torchlint.model.python.exposure import note_used
from torchlint.model.python.flags import (
    text_is_run,
    unsettle_by,
    unsettle_grad,
    unsettle_gradients,
)
from torchlint.model.python.indirection import note_yields
from torchlint.model.python.members import set_some_attribute
from torchlint.model.python.module_parts import parameters_of
from torchlint.model.python.run import Run
from torchlint.model.python.unseen_classes import note_decorated, note_method
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.frames import CallFrame
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import Watch
from torchlint.model.state.machine import Machine
from torchlint.model.state.values import (
    MOST_DEPENDS,
    NONE,
    Bound,
    ForeignCall,
    Frame,
    Function,
    Globals,
    Instance,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Unknown,
    Value,
    choose,
    globals_of,
    made_of,
    reachable_tensors,
)
from torchlint.syntax import ir
from torchlint.syntax.reading import written

_FOR_INFERENCE: Final = re.compile(r"(^|_)infer(ence)?(_|$)")
MOST_DEPTH: Final = 12
"""Calls inlined into each other."""
MOST_RECURSION: Final = 2
"""Times a function may be on the stack."""


def inference_inside(around: Truth, mode: Truth, inference: bool) -> Truth:
    """Inference mode under a context that sets the grad mode: only `inference_mode(flag)` may leave it as well."""
    return Truth.YES if inference else around & Truth.MAYBE if mode is Truth.MAYBE else around


def with_mode(function: Function, mode: Truth, inference: bool) -> Function:
    """The function under a grad-mode decorator."""
    return Function(
        function.definition,
        function.closure,
        function.defaults,
        function.owner,
        function.kind,
        mode,
        function.name,
        inference or (function.inference and mode is not Truth.MAYBE),
    )


def _change_file(run: Run, function: Function, site: CallSite | None) -> tuple[ForeignCall | None, Watch, bool]:
    """
    Enter or leave another file's code with a call. The observers do not come along: what they see there would
    be of another file. They are told what concerns objects that both may know, as if it happened at the call.
    """
    machine = run.machine
    before = machine.foreign_call, machine.watch, run.budget.outside
    file = globals_of(function.closure)
    other = isinstance(file, Globals) and file.other
    if other and machine.foreign_call is None:
        assert machine.statement is not None
        place = machine.statement.origin
        node = site.node if site is not None else ir.Call(place, ir.Name(place, ""), [])
        machine.foreign_call = ForeignCall(node, machine.statement.line, machine.clock, id(machine.frame))
        run.own_watch, machine.watch, run.budget.outside = machine.watch, run.foreign_watch, True
    elif not other and machine.foreign_call is not None:
        machine.foreign_call, machine.watch = None, run.own_watch
    return before


def run_function(
    run: Run,
    function: Function,
    positional: list[Value],
    keywords: dict[str, Value],
    site: CallSite | None,
    *,
    open_stars: tuple[str, ...] = (),
) -> Value:
    """Run a function's body on its arguments; `open_stars` as in `bind_parameters`."""
    machine = run.machine
    before = _change_file(run, function, site)
    noted = note_method(machine, function, positional)
    if run.exposed:
        note_used(run, positional[0] if positional else None, function.owner)
    entered = before[0] is None and machine.foreign_call is not None
    if entered and site is not None and not _is_of_layer(function, positional):
        for hook in before[1].foreign_called:
            hook(function, None, [*positional, *keywords.values()], site.node)
    statement = machine.statement
    try:
        return _run_function(run, function, positional, keywords, site, open_stars)
    finally:
        machine.foreign_call, machine.watch, run.budget.outside = before
        machine.statement = statement
        if noted:
            machine.unseen_class = ""


_SETTING_SOME: Final = frozenset({"setattr", "__setattr__", "__dict__", "vars"})
"""Who sets attributes whose names nobody knows writes one of these."""


def _sets_attributes(run: Run, definition: ir.FunctionDef | ir.Lambda) -> bool:
    known = run.setting.get(definition)
    if known is None:
        known = isinstance(definition, ir.FunctionDef) and (
            bool(written(definition).assigned) or any(map(_sets_attribute, ir.everything(definition.body)))
        )
        run.setting[definition] = known
    return known


def _sets_attribute(statement: ir.Statement) -> bool:
    """Whether an assignment is to an attribute, or to a part of one."""
    targets = statement.targets if isinstance(statement, ir.Assign) else []
    return any(isinstance(each, ir.Attribute) for target in targets for each in ir.walk(target))


def _is_of_layer(function: Function, positional: list[Value]) -> bool:
    """
    Whether a function builds or runs a Module. What is told of it where it is followed (the calls of what is unknown in
    it, modes, flags) is all that its caller's observers ask: neither zeroes gradients. The constructor of a base class
    is another matter: of an object of this file's own class they ask more.
    """
    first = positional[0] if positional else None
    if not isinstance(first, Instance) or is_module(first) is not Truth.YES:
        return False
    return function.name == "forward" or (function.name == "__init__" and function.owner is first.cls)


def _run_function(
    run: Run,
    function: Function,
    positional: list[Value],
    keywords: dict[str, Value],
    site: CallSite | None,
    open_stars: tuple[str, ...],
) -> Value:
    machine = run.machine
    definition = function.definition
    on_stack = [frame.definition for frame in machine.stack].count(definition)
    opaque = function.kind in ("opaque", "context") or (
        isinstance(definition, ir.FunctionDef)
        and (definition.is_generator or definition.is_async)
        and function.kind != "generator"
    )
    spent = run.budget.outside and run.budget.outside_left <= 0
    machine.skipped_import = machine.skipped_import or spent
    if opaque or spent or on_stack >= MOST_RECURSION or len(machine.stack) >= MOST_DEPTH:
        values = [*positional, *keywords.values()]
        depends = [tensor for value in values for tensor in reachable_tensors(value)]
        if site is not None:
            escape(run.autograd, depends, site.node)
            for hook in machine.watch.unknown_called:
                hook(function, None, values, site.node)
        for value in values:
            havoc(run, value, switches=True)
        if foreign.may_differentiate(function.name):
            unsettle_gradients(run, depends)
            for leaf in depends:
                if not leaf.grad_fn:
                    unsettle_grad(run, leaf)
        for leaf in _parameters_among(values):  # what it returns may be differentiated later
            run.autograd.unsettled[id(leaf)] = leaf
            if function.kind == "opaque":
                unsettle_grad(run, leaf)
        if function.kind == "opaque":
            note_decorated(machine, definition, values)
        unsettle_by(run, function, values)
        hand_on(run, [function, *values])
        words = written(definition).words if isinstance(definition, ir.FunctionDef) else set()
        if "exec" in words:
            text_is_run(run, "exec(…)")
        for value in values if not words.isdisjoint(_SETTING_SOME) or _sets_attributes(run, definition) else ():
            if isinstance(value, Instance):
                set_some_attribute(run, value, Unknown(depends))
        first = positional[0] if positional else None
        if isinstance(first, Instance) and function.name == "__init__":  # who runs it may keep all in the object
            machine.trail.set(first, "given", (*first.given, *depends)[:MOST_DEPENDS])
        layer = isinstance(first, Instance) and function.name == "forward" and is_module(first) is Truth.YES
        if function.kind == "opaque":
            layer = False  # the decorator may do anything
        source = site.node if site is not None else None
        if _is_generator(function):
            note_yields(run, definition)
            return Sequence("generator", None, Unknown(depends, source=source))
        return made_of(values, source=source, layer=True) if layer else Unknown(depends, source=source)
    frame = Frame({}, function.closure)
    bind_parameters(frame, function, positional, keywords, site is None or site.complete, open_stars=open_stars)
    mode, ambient, contexts = machine.grad_mode, machine.ambient, machine.contexts
    callers_mode, inference = machine.callers_mode, machine.inference
    if site is not None:
        of_itself = function.name == "forward" and bool(positional) and _is_running(machine, positional[0])
        machine.callers.note_call(machine, definition, of_itself=of_itself)
    machine.contexts = 0
    if function.grad_mode is not None:
        machine.grad_mode = function.grad_mode
        machine.callers_mode = Truth.NO
        machine.inference = inference_inside(machine.inference, function.grad_mode, function.inference)
    elif machine.grad_mode is Truth.YES and "infer" in function.name and _FOR_INFERENCE.search(function.name):
        # Its author says that nobody differentiates what it does.
        machine.grad_mode = Truth.MAYBE
    if isinstance(definition, ir.Lambda):
        caller, statement = machine.frame, machine.statement
        machine.frame = frame
        machine.statement = ir.ExpressionStatement(definition.body.origin, machine.line(), definition.body)
        result = run.evaluate(definition.body)
        machine.frame, machine.statement, machine.inference = caller, statement, inference
        _leave_mode(run, function, mode, callers_mode, ambient, contexts)
        return result
    for hook in machine.watch.function_started:
        hook(function, frame.variables)
    result = run_body(run, definition, frame)
    machine.inference = inference
    _leave_mode(run, function, mode, callers_mode, ambient, contexts)
    for ended in machine.watch.function_ended:
        ended(function, result)
    return result


def _is_running(machine: Machine, value: Value) -> bool:
    """Whether it is a method of this object that makes the call."""
    return isinstance(value, Instance) and machine.frame.variables.get("self") is value


def _parameters_among(values: Iterable[Value]) -> Iterator[Tensor]:
    """The parameters of the Modules among some values."""
    for each in values:
        if isinstance(each, (Instance, Module)):
            yield from parameters_of(each)[0]


def _is_generator(function: Function) -> bool:
    """Whether a call certainly gives an iterator: a generator function that no decorator has wrapped."""
    definition = function.definition
    return (
        isinstance(definition, ir.FunctionDef)
        and definition.is_generator
        and not definition.is_async
        and function.kind not in ("opaque", "context")
    )


def _leave_mode(run: Run, function: Function, mode: Truth, callers_mode: Truth, ambient: Truth, contexts: int) -> None:
    """After a function: the grad mode is as before, unless it has set it for good."""
    machine = run.machine
    machine.contexts = contexts
    changed = machine.ambient is not ambient and function.grad_mode is None
    machine.grad_mode = machine.ambient if changed else mode
    machine.callers_mode = Truth.NO if changed else callers_mode
    if machine.ambient is not ambient and (contexts or not changed):
        machine.trail.set(machine, "ambient", ambient)


def run_body(run: Run, definition: ir.FunctionDef, frame: Frame) -> Value:
    """Run the body of a function in a frame, and join what it returns."""
    machine = run.machine
    caller, statement, path, built_in = machine.frame, machine.statement, machine.path, machine.built_in
    run.entered.add(id(definition))
    followed = machine.callers.entry is definition and not machine.stack
    outer = machine.stack[-1].called_from if machine.stack else 0
    called_from = 0 if followed else hash((outer, id(statement)))
    call = CallFrame(definition, machine.trail.mark(), machine.path, machine.tick(), frame, called_from)
    machine.stack.append(call)
    machine.frame = frame
    try:
        run.execute(definition.body)
    finally:
        machine.frame, machine.statement = caller, statement
        machine.stack.pop()
    note_rests(run, call)
    own = call.own()
    if not machine.dead:
        changes = machine.trail.changes(call.mark, own) if call.returns else {}
        call.returns.append((machine.path - path, changes, NONE))
    machine.path, machine.built_in = path, built_in
    if not call.returns:
        machine.dead = True
        return Unknown()
    # who goes on has not come by what raises: `if a.shape != b.shape: raise ValueError`
    machine.path = path.union(frozenset.intersection(*(guard for guard, _, _ in call.returns)))
    if len(call.returns) == 1 and not machine.dead:
        if own is not None:
            machine.trail.forget(call.mark, own)
        return call.returns[0][2]
    machine.trail.undo(call.mark)
    machine.dead = False
    machine.trail.join([(guard, changes) for guard, changes, _ in call.returns])
    return choose([(guard, value) for guard, _, value in call.returns])


def bind_parameters(
    frame: Frame,
    function: Function,
    positional: list[Value],
    keywords: dict[str, Value],
    complete: bool,
    *,
    open_stars: tuple[str, ...] = (),
) -> None:
    """
    Bind the parameters of a function in the frame of its call. Those of a kind of `open_stars` ("*", "**") hold nobody
    knows what, as where the caller is not known.
    """
    left = list(positional)
    named = dict(keywords)
    for parameter in function.definition.parameters:
        known = complete and parameter.kind not in open_stars
        if parameter.kind == "*":
            frame.variables[parameter.name] = Sequence("tuple", tuple(left) if known else None)
            left = []
        elif parameter.kind == "**":
            rest: dict[object, Value] = dict(named.items())
            frame.variables[parameter.name] = Mapping(rest if known else None)
            named = {}
        elif left and parameter.kind in ("positional", "positional-only"):
            frame.variables[parameter.name] = left.pop(0)
        elif parameter.name in named:
            frame.variables[parameter.name] = named.pop(parameter.name)
        elif parameter.name in function.defaults and complete:
            frame.variables[parameter.name] = function.defaults[parameter.name]
        else:
            frame.variables[parameter.name] = Unknown()


def call_method(run: Run, receiver: Value, function: Function, site: CallSite) -> Value:
    """Run a method of a class of the file on its receiver."""
    first: list[Value] = [] if function.kind == "static" else [receiver]
    if function.kind == "class" and isinstance(receiver, Instance):
        first = [receiver.cls]
    return run_function(run, function, [*first, *site.positional], site.keywords, site)


def may_return(function: Value) -> bool:
    """Whether a function may return anything but None."""
    if isinstance(function, Bound) and function.function is not None:
        function = function.function
    if not isinstance(function, Function):
        return True
    definition = function.definition
    if isinstance(definition, ir.FunctionDef):
        returns = [each.value for each in ir.walk(definition.body) if isinstance(each, ir.Return)]
        return any(value is not None and not _is_none(value) for value in returns)
    body = definition.body
    if isinstance(body, ir.Call):
        called = body.function
        return not (isinstance(called, ir.Attribute) and called.attr in _RETURN_NONE) and not (
            isinstance(called, ir.Name) and called.id in ("print", "setattr")
        )
    return not _is_none(body)


_RETURN_NONE = frozenset({"append", "extend", "insert", "update", "clear", "add", "__setitem__"})


def _is_none(node: ir.Expression) -> bool:
    return isinstance(node, ir.Constant) and node.value is None
