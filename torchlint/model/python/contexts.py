"""
`with`: grad modes, autocast, context managers of the file, errors that are expected.

The `__enter__` and `__exit__` of an object are run, and a generator up to its one `yield`, where the body runs in its
place. Of other context managers the grad mode inside is unknown, unless they are known to leave it alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from torchlint.knowledge import foreign
from torchlint.model.python.attributes import attribute, evaluate_again
from torchlint.model.python.binding import assign
from torchlint.model.python.callbacks import hand_on
from torchlint.model.python.calls import call_site
from torchlint.model.python.flags import unsettle
from torchlint.model.python.functions import MOST_DEPTH, inference_inside, run_function
from torchlint.model.python.indirection import (
    is_unknown_code,
    is_unknown_context,
    note_context,
    note_generator,
    shown,
)
from torchlint.model.python.run import Run, Statements
from torchlint.model.python.variables import lookup, resolved
from torchlint.model.state.guards import Truth
from torchlint.model.state.values import (
    NONE,
    Bound,
    Choice,
    Class,
    External,
    Function,
    GradModeGuard,
    Instance,
    Unknown,
    Value,
    alternatives,
    reachable_tensors,
)
from torchlint.model.torch.defaults import device_context, unsettle_default
from torchlint.model.torch.functions import set_grad_mode
from torchlint.syntax import ir
from torchlint.syntax.reading import written
from torchlint.syntax.spelling import dotted

_EXPECT_ERRORS = ("pytest.raises", "raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "suppress")
_TRANSPARENT = (
    "torch.", "builtins.open", "builtins.memoryview", "contextlib.nullcontext", "contextlib.ExitStack", "tempfile.",
    "warnings.", "time.", "os.", "threading.", "unittest.mock.",
)  # fmt: skip
_KEEP_DTYPES = (
    "builtins.open", "builtins.memoryview", "torch.autograd.", "torch.profiler.", "warnings.", "pytest.",
    "torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled",
)  # fmt: skip
"""Context managers in which operations compute in the dtypes of their operands."""
_KEEPS_SAVED = re.compile("saved_tensors|save_on_cpu|offload")
"""Context managers under which saved tensors go through hooks, which keep copies of them (torch/autograd/graph.py)."""

_OF_SAVED: Final = re.compile(
    r"\b(saved_tensors_hooks|save_on_cpu|allow_mutation_on_saved_tensors)\b|saved_tensors_default_hooks"
)
"""Those of torch, by which a file may be known to have them entered out of sight."""


def with_statement(run: Run, node: ir.With) -> None:
    """`with`."""
    _with(run, node, 0, [], 0)


def _with(run: Run, node: ir.With, place: int, contexts: list[Value], expected: int) -> None:
    """Enter the contexts of a `with` from one place on, run its body, and leave them again."""
    machine, autograd, torch = run.machine, run.autograd, run.torch
    if place == len(node.items):
        machine.expected_errors += expected
        for entered in machine.watch.entered:
            entered(node, contexts)
        run.execute(node.body)
        for left in machine.watch.left:
            left(node)
        machine.expected_errors -= expected
        return
    item = node.items[place]
    run.budget.descend()
    mode, ambient, very_dtypes, may_cast = machine.grad_mode, machine.ambient, torch.very_dtypes, autograd.may_cast
    inference, callers_mode, unchecked = machine.inference, machine.callers_mode, autograd.recomputed
    keeper, modes_set = autograd.keeper, torch.modes_set
    device = entered_device = torch.default_device
    device_set, dtype = torch.device_set, torch.default_dtype
    called, keeps_defaults = len(machine.callers.called), True
    if not _keeps_dtypes(run, item.context):
        torch.very_dtypes = False
        autograd.may_cast = True
    restores, plain, inside, left_in, keeper_inside = False, False, mode, mode, keeper
    machine.contexts += 1

    def body() -> None:
        nonlocal inside, left_in, keeper_inside
        inside, keeper_inside = machine.grad_mode, autograd.keeper
        _with(run, node, place + 1, contexts, expected)
        left_in = machine.grad_mode

    generator = _generator_of(run, item.context)
    if generator is not None and isinstance(item.context, ir.Call):
        contexts.append(Unknown())
        _inside_generator(run, generator, item, body)
    else:
        value = run.evaluate(item.context)
        contexts.append(value)
        entered_value = _enter(run, node, item.context, value)
        if item.target is not None:
            assign(run, item.target, entered_value)
        keeps_defaults = _keeps_device(run, item.context, value)
        entered_device = device_context(torch, value, keeps_defaults)
        if entered_device != device:
            machine.trail.set(torch, "default_device", entered_device)
        autograd.recomputed = autograd.recomputed or _takes_saved(run, item.context, value)
        if not autograd.keeper and _may_take_saved(run, item.context, value):
            autograd.keeper = f"with {shown(item.context)}"
        restores = isinstance(value, GradModeGuard)
        plain = machine.grad_mode is mode and not isinstance(value, Instance)
        if mode is Truth.MAYBE and plain:  # that is the mode inside of one that nobody knows as well
            plain = _transparent(run, item.context, value)
        expected += _expects_error(item.context)
        leave = _method_of(value, "__exit__")
        unknown_leave = isinstance(value, Instance) and _is_unknown(value, "__exit__")
        if (leave is not None or unknown_leave) and any(isinstance(each, _LEAVING) for each in ir.walk(node.body)):
            hand_on(run, [leave] if leave is not None else [])  # it runs on those ways out as well
            if unknown_leave:
                unsettle(run, value)
        body()
        if unknown_leave:
            unsettle(run, value)
        if leave is not None and not machine.dead:
            machine.contexts += 1  # the grad mode that it sets is that before the `with`
            run.call(leave, [NONE, NONE, NONE], item.context)
            machine.contexts -= 1
    run.budget.nested -= 1
    machine.contexts -= 1
    if entered_device != device and not machine.dead:  # else it is left as it was set inside, by a call
        same = torch.default_device == entered_device and (entered_device != "" or torch.device_set == device_set)
        machine.trail.set(torch, "default_device", device if same else "")
    if entered_device != device and len(machine.callers.called) > called:
        # what is only called in here is not called with the device that the file begins with
        torch.unsettled |= {"default_device"}
    if not keeps_defaults and torch.default_dtype != dtype:  # whoever is left may set back what was set inside
        unsettle_default(torch, "default_dtype")
    machine.grad_mode, torch.very_dtypes, autograd.may_cast = mode, very_dtypes, may_cast
    machine.inference, machine.callers_mode, autograd.recomputed = inference, callers_mode, unchecked
    if autograd.keeper == keeper_inside or _is_stack(run, item.context):  # else another was entered by hand
        autograd.keeper = keeper
    if machine.ambient is not ambient and not machine.contexts:
        machine.trail.set(machine, "ambient", ambient)
    if restores:
        torch.modes_set = modes_set
    if left_in is inside and left_in is Truth.MAYBE and torch.modes_set != modes_set:
        inside = mode  # set to what nobody knows, as it was under an unknown context
    if left_in is not inside and left_in is not mode and not restores and not machine.dead:
        # set in the body: only torch's own contexts are sure to set it back
        set_grad_mode(torch, left_in if plain else Truth.MAYBE)


def _enter(run: Run, node: ir.With, context: ir.Expression, value: Value) -> Value:
    """The grad mode inside a context manager, and what its `__enter__` returns."""
    machine = run.machine
    if isinstance(value, GradModeGuard):
        machine.grad_mode = value.mode
        machine.callers_mode = Truth.NO
        machine.inference = inference_inside(machine.inference, value.mode, value.inference)
    elif isinstance(value, Instance):
        if _is_unknown(value, "__enter__"):
            unsettle(run, value)
        method = _method_of(value, "__enter__")
        if method is not None:
            return _enter_object(run, method, context)
        if value.cls.outside() or any("__enter__" in each.attributes for each in value.cls.ancestry()):
            machine.grad_mode = machine.inference = Truth.MAYBE
        return value
    elif not _transparent(run, context, value):
        note_context(run, node, context)
        machine.grad_mode = machine.inference = Truth.MAYBE
        entered = [_method_of(each, name) for _, each in alternatives(value) for name in ("__enter__", "__exit__")]
        hand_on(run, [each for each in entered if each is not None])  # nobody knows which of them
    return Unknown(reachable_tensors(value))


def _method_of(value: Value, name: str) -> Bound | None:
    """The `__enter__` or `__exit__` of an object of the file."""
    if isinstance(value, Instance):
        for cls in value.cls.ancestry():
            if name in cls.attributes:
                function = cls.attributes[name]
                return Bound(value, name, function) if isinstance(function, Function) else None
    return None


def _is_unknown(value: Instance, name: str) -> bool:
    """Whether its class has such a method, of which nobody knows what it does."""
    found = [cls.attributes[name] for cls in value.cls.ancestry() if name in cls.attributes]
    return bool(found) and not isinstance(found[0], Function)


_LEAVING = (ir.Return, ir.Raise, ir.Break, ir.Continue)


def _enter_object(run: Run, method: Bound, context: ir.Expression) -> Value:
    machine = run.machine
    contexts = machine.contexts
    machine.contexts = 0  # what `__enter__` sets stays set until `__exit__`
    result = run.call(method, [], context)
    machine.contexts = contexts
    return result


def _generator_of(run: Run, context: ir.Expression) -> Value | None:
    """The function under `contextlib.contextmanager` that a context is a call of, if it is in sight."""
    if not isinstance(context, ir.Call):
        return None
    function = context.function
    found: Value = Unknown()
    if isinstance(function, ir.Name):
        found = resolved(run, lookup(run, function.id))
    elif isinstance(function, ir.Attribute):
        owner = evaluate_again(run, function.value)
        if isinstance(owner, (Instance, Class, External)):
            found = resolved(run, attribute(run, owner, function.attr, function))
    defined = found.function if isinstance(found, Bound) else found
    if not isinstance(defined, Function) or defined.kind != "context":
        return None
    definition = defined.definition
    if not isinstance(definition, ir.FunctionDef) or definition.is_async:
        return None
    words = written(definition).words
    yields = sum(isinstance(each, ir.Yield) for each in ir.walk(definition.body))
    managed = any(isinstance(each, (ir.With, ir.Yield)) for each in definition.body)
    if yields == 1 and not managed and not any("grad" in word or "inference" in word for word in words):
        return found if _yields_deeper(definition) else None
    return found


def _yields_deeper(definition: ir.FunctionDef) -> bool:
    """Whether a generator yields under a context manager, and that in a branch: which one, and whether, is open."""
    yielding = (each for each in ir.walk(definition.body) if isinstance(each, ir.With) and each not in definition.body)
    return any(isinstance(part, ir.Yield) for each in yielding for part in ir.walk(each.body))


def _enters(definition: ir.FunctionDef) -> bool:
    """Whether a generator that is a context manager enters others."""
    by_hand = any(word in ("__enter__", "enter_context") for word in written(definition).words)
    return by_hand or any(isinstance(each, ir.With) for each in ir.walk(definition.body))


def _inside_generator(run: Run, found: Value, item: ir.WithItem, body: Callable[[], None]) -> None:
    """
    Run a generator that is a context manager, and the body of the `with` where it yields. One that yields at
    several places, or under others in a branch, is unknown code, in which the grad mode may change.
    """
    machine = run.machine
    assert isinstance(item.context, ir.Call)
    function = found.function if isinstance(found, Bound) else found
    assert isinstance(function, Function)
    definition = function.definition
    assert isinstance(definition, ir.FunctionDef)
    several = sum(isinstance(each, ir.Yield) for each in ir.walk(definition.body)) != 1 or _yields_deeper(definition)
    running = any(frame.definition is definition for frame in machine.stack)
    if several and any(isinstance(each, ir.With) for each in ir.walk(definition.body)):
        note_generator(run, item.context)
    if several or running or machine.foreign_call is not None or len(machine.stack) >= MOST_DEPTH:
        value = run.evaluate(item.context)
        machine.grad_mode = Truth.MAYBE
        if _enters(definition):
            run.autograd.keeper = run.autograd.keeper or f"with {shown(item.context)}"
        if item.target is not None:
            assign(run, item.target, Unknown(reachable_tensors(value)))
        body()
        return
    site = call_site(run, item.context)
    outer = run.suspended
    done = False

    def resume(value: Value) -> None:
        nonlocal done
        done = True
        inner = machine.frame, machine.stack, run.loops, machine.statement, run.suspended, run.finals, machine.contexts
        machine.frame, machine.stack, run.loops, run.suspended, run.finals, machine.contexts = (
            frame, stack, loops, outer, finals, contexts,
        )  # fmt: skip
        try:
            if item.target is not None:
                assign(run, item.target, value)
            body()
        finally:  # an entry point that costs too much is left from in here
            machine.frame, machine.stack, run.loops, machine.statement, run.suspended, run.finals, machine.contexts = (
                inner
            )

    frame, stack, loops, finals, contexts = machine.frame, list(machine.stack), run.loops, run.finals, machine.contexts
    run.loops = []
    run.suspended = resume
    plain = Function(definition, function.closure, function.defaults, function.owner, "generator", None, function.name)
    receiver = [found.receiver] if isinstance(found, Bound) and function.kind != "static" else []
    run_function(run, plain, [*receiver, *site.positional], site.keywords, site)
    run.suspended = outer
    run.loops = loops
    if not done and not machine.dead:
        machine.grad_mode = Truth.MAYBE
        body()


def _keeps_dtypes(run: Run, context: ir.Expression) -> bool:
    """Whether a context manager is certainly no autocast."""
    callee = evaluate_again(run, context.function) if isinstance(context, ir.Call) else None
    if not isinstance(callee, External) or "autocast" in callee.qualified:
        return False
    return callee.qualified.startswith(_KEEP_DTYPES)


def _keeps_device(run: Run, context: ir.Expression, value: Value) -> bool:
    """Whether a context manager certainly leaves the default device alone."""
    if isinstance(value, GradModeGuard) or (isinstance(value, Instance) and not value.cls.outside()):
        return True
    callee = evaluate_again(run, context.function) if isinstance(context, ir.Call) else None
    return isinstance(callee, External) and (
        callee.qualified.startswith((*_TRANSPARENT, *_KEEP_DTYPES)) or foreign.is_foreign(callee.qualified)
    )


def _takes_saved(run: Run, context: ir.Expression, value: Value) -> bool:
    """Whether a context manager may keep something else than what an operation saves: no write into that is seen."""
    if isinstance(value, GradModeGuard):
        return False
    if isinstance(value, Instance):
        kinds = [base.qualified for base in value.cls.outside() if isinstance(base, External)]
    else:
        callee = evaluate_again(run, context.function) if isinstance(context, ir.Call) else value
        kinds = [callee.qualified] if isinstance(callee, External) else []
        if not kinds:
            kinds = [dotted(context.function if isinstance(context, ir.Call) else context)]
    return any(_KEEPS_SAVED.search(each) is not None for each in kinds)


def _is_stack(run: Run, context: ir.Expression) -> bool:
    """Whether a context leaves what is entered by it."""
    callee = evaluate_again(run, context.function) if isinstance(context, ir.Call) else None
    return isinstance(callee, External) and callee.qualified in ("contextlib.ExitStack", "contextlib.AsyncExitStack")


def _may_take_saved(run: Run, context: ir.Expression, value: Value) -> bool:
    """Whether nobody knows a context manager, which may then keep copies of what is saved in it."""
    if isinstance(value, GradModeGuard):
        return False
    if isinstance(value, Instance):
        return _is_unknown(value, "__enter__") or any(map(is_unknown_code, value.cls.outside()))
    callee = evaluate_again(run, context.function) if isinstance(context, ir.Call) else value
    defined = callee.function if isinstance(callee, Bound) else callee
    if isinstance(defined, Function) and defined.kind in ("opaque", "context"):
        definition = defined.definition
        return defined.kind == "opaque" or (isinstance(definition, ir.FunctionDef) and _enters(definition))
    if isinstance(callee, External):
        return is_unknown_code(callee) and not callee.qualified.startswith(_TRANSPARENT)
    return not (isinstance(callee, Unknown) and callee.keeps_flags) and is_unknown_context(value)


def may_take_saved(program: ir.Program) -> bool:
    """
    Whether a file has a context manager that takes what is saved, and does not only enter it in a `with`: whoever is
    given it (an `ExitStack`, a variable, unknown code) may enter it anywhere. And so may who calls what the file
    defines, if the file itself calls such code in that `with`.
    """
    if "saved_tensors" not in program.text and "save_on_cpu" not in program.text:
        return False  # a pattern that begins anywhere takes a hundredth of a cold run
    nodes = list(ir.walk(program.body))
    defined = {node.name for node in nodes if isinstance(node, (ir.FunctionDef, ir.ClassDef))}
    plain: set[int] = set()
    for node in nodes:
        if isinstance(node, ir.With) and not any(_hands_over(each, defined) for each in ir.walk(node.body)):
            contexts = [each.context for each in node.items]
            plain |= {id(each.function) for each in contexts if isinstance(each, ir.Call) and dotted(each.function)}
        elif isinstance(node, ir.ClassDef):
            plain |= {id(each.value) for each in node.bases}
    return any(id(node) not in plain and _OF_SAVED.search(_name_of(node)) is not None for node in nodes)


def _hands_over(node: ir.Node, defined: set[str]) -> bool:
    """Whether code runs there that a `with` does not show: who is yielded to, or what the file has defined."""
    if not isinstance(node, ir.Call) or not defined:
        return isinstance(node, ir.Yield)
    function = node.function
    if isinstance(function, ir.Attribute):
        return function.attr in defined or (isinstance(function.value, ir.Name) and function.value.id == "self")
    return True  # a function, or a Module in a variable


def _name_of(node: ir.Node) -> str:
    """What a name, an attribute or a text that may be one says."""
    if isinstance(node, ir.Constant):
        return node.value if isinstance(node.value, str) and node.value.isidentifier() else ""
    return node.attr if isinstance(node, ir.Attribute) else node.id if isinstance(node, ir.Name) else ""


def _expects_error(context: ir.Expression) -> int:
    function = context.function if isinstance(context, ir.Call) else context
    return int(dotted(function).rpartition(".")[2] in {name.rpartition(".")[2] for name in _EXPECT_ERRORS})


def _transparent(run: Run, context: ir.Expression, value: Value) -> bool:
    """Whether a context manager surely leaves the grad mode alone."""
    if isinstance(value, Choice):
        return False
    callee = evaluate_again(run, context.function) if isinstance(context, ir.Call) else value
    defined = callee.function if isinstance(callee, Bound) else callee
    if isinstance(defined, Function) and defined.kind == "opaque":
        return False  # of the file, under a decorator that nobody knows: its body was not run
    if isinstance(callee, External):
        return (
            not callee.qualified.startswith("contextlib.nullcontext") and callee.qualified.startswith(_TRANSPARENT)
        ) or callee.qualified.startswith("contextlib.nullcontext")
    text = dotted(context.function if isinstance(context, ir.Call) else context).lower()
    return not foreign.may_set_mode(text)


STATEMENTS: Statements = {
    ir.With: with_statement,
}
