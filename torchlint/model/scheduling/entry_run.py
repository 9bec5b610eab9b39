"""
How one entry point is run: within its budget, on unknown arguments, and what it proves at its end.

A Module's `forward` is run on inputs of which nobody knows whether they require grad, and what it returns counts as
differentiated by its caller. A run that exceeds its budget keeps what was proven so far. Which entry points there are
is decided in `entry_points`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torchlint.model.autograd.backward import callers_backward
from torchlint.model.autograd.conclusions import conclude
from torchlint.model.autograd.reads import retained_escape
from torchlint.model.events import EntryLost, ScriptCut
from torchlint.model.python.attributes import is_module
from torchlint.model.python.functions import run_body, run_function
from torchlint.model.python.making import inherits_known
from torchlint.model.python.modules import inherit
from torchlint.model.python.run import Run
from torchlint.model.scheduling.other_methods import as_others_leave_it
from torchlint.model.scheduling.outputs import differentiated_parts, other_parts, return_of
from torchlint.model.scheduling.unknown_arguments import frame_of, unknown_arguments
from torchlint.model.state.budget import OUTSIDE_LIMIT, OUTSIDE_POOL, BudgetExceededError, TooDeepError
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import ALWAYS, Truth
from torchlint.model.state.values import (
    MOST_PARTS,
    NONE,
    Choice,
    Class,
    Frame,
    Function,
    Instance,
    Mapping,
    Sequence,
    Unknown,
    Value,
    parts,
    reachable_tensors,
)
from torchlint.syntax import ir
from torchlint.syntax.place import NodeWantedError
from torchlint.syntax.reading import differentiates
from torchlint.syntax.spelling import identifier
from torchlint.syntax.tree import described

_NOT_EXPECTED_TO_PASS = frozenset({"expectedFailure", "skip", "xfail"})
"""Decorators of `unittest` and `pytest`."""
_NO_GRAD_NAMES = ("init", "reset", "load", "_init")


@dataclass(frozen=True)
class Followed:
    """
    What came of an entry point.

    Attributes
    ----------
    to_its_end
        Whether it neither exceeded its budget nor failed inside the model.
    externally_pure
        Whether it has written in place only to what it had made itself, and left no question open.
    mark
        The trail before it began.
    functions, classes
        How many were defined before it began; what was defined since is followed next.
    """

    to_its_end: bool
    externally_pure: bool
    mark: int
    functions: int
    classes: int


class EntryRun:
    """Runs entry points one after the other on one interpreter."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.machine = run.machine
        self.escaping: list[Value] = []
        """What the running entry point hands to code outside of it."""
        self.results: list[Value] = []
        """What it is run for: what it returns, or else what it was given to write to."""
        self._left: list[Value] = []
        """And what its object keeps, with all that objects in that hold; of the script its variables."""
        self.called_by_script: frozenset[int] = frozenset()
        self.constructing: dict[int, frozenset[int]] = {}
        """By the identity of a class, the functions that building an object of it has run."""
        self._outside_pool = OUTSIDE_POOL

    def follow(self, entry: Function | Class | None, work: Callable[[], object], *, with_imports: bool) -> Followed:
        """
        Run one entry point (None: the script) within its budget, and conclude what it proves. Other files are looked
        into only for an entry that may have something to do with what they say (`with_imports`). What goes wrong inside
        the model costs this entry point alone. Its changes to the state are left for whoever asked to undo.
        """
        run, machine = self.run, self.machine
        machine.entered_at = machine.clock
        machine.called_at = 0 if entry is None else machine.clock
        granted = min(OUTSIDE_LIMIT, self._outside_pool) if with_imports else 0
        run.budget.grant(granted)
        functions, classes = len(run.functions), len(run.classes)
        mark = machine.trail.mark()
        unsettled = run.torch.unsettled if entry is not None else ()
        if "default_dtype" in unsettled:
            machine.trail.set(run.torch, "default_dtype", "")
        if "default_device" in unsettled:
            machine.trail.set(run.torch, "default_device", "")
        frame, told = machine.frame, len(machine.events)
        self.escaping, self.results, self._left = [], [], []
        machine.expected_errors = int(entry is not None and _expects_errors(entry))
        machine.caught = 0
        statement, nested = machine.statement, run.budget.nested
        followed = self.safely(entry, work)
        if not followed:
            machine.externally_pure = False
            machine.frame, machine.statement, run.budget.nested = frame, statement, nested
            machine.stack.clear()
            run.loops.clear()
            run.repeating = False
            run.finals = []
            machine.built_in = ""
            machine.parameter_loops.clear()
        self._outside_pool -= granted - max(run.budget.outside_left, 0)
        machine.dead = False
        if entry is None:
            self.results, self._left = [], [*machine.globals.variables.values()]
        self.safely(entry, self._concluded)
        machine.expected_errors = 0
        run.autograd.pending_alias_writes.clear()
        machine.grad_mode = machine.ambient = Truth.YES
        machine.callers.note_events(machine.events[told:])
        machine.callers.begin(None)
        machine.callers_mode = Truth.NO
        machine.inference = Truth.NO
        run.autograd.keeper = ""
        machine.contexts = 0
        machine.path = machine.assumed = ALWAYS
        machine.iteration = ()
        externally_pure = machine.externally_pure and not machine.open_write
        return Followed(followed, externally_pure, mark, functions, classes)

    def safely(self, entry: Function | Class | None, run: Callable[[], object]) -> bool:
        """Whether something came to its end; if it failed inside the model, that is told."""
        try:
            run()
        except (BudgetExceededError, TooDeepError):
            if entry is None:
                self._cut()
            return False
        except (Exception, NodeWantedError) as error:  # nothing here has a tree: who wants one of its nodes has failed
            self._lost(entry, error)
            return False
        return True

    def _cut(self) -> None:
        place = self.machine.statement
        if isinstance(place, ir.Statement):
            self.machine.events.append(ScriptCut(node=place.line, statement=place.line))

    def _lost(self, entry: Function | Class | None, error: BaseException) -> None:
        place = self.machine.statement if entry is None else entry.definition
        line = place.line if isinstance(place, ir.Statement) else self.machine.program.origin
        name = "the script" if entry is None else f"`{entry.name}`"
        if isinstance(entry, Function) and entry.owner is not None:
            name = f"`{entry.owner.name}.{entry.name}`"
        # not by `emit`, which a `pytest.raises` around it or another file's code would keep silent
        self.machine.events.append(EntryLost(node=line, statement=line, name=name, error=described(error)))

    def _concluded(self) -> None:
        retained_escape(self.run.autograd, self.escaping)
        self.conclude()

    def conclude(self) -> None:
        """
        What of this run was written harms nobody if nothing is left of it: what it returned, and what the objects hold
        that are left when it is over. Few runs write anything, so that is looked for where one has.
        """
        autograd = self.run.autograd
        conclude(autograd, [*self.results, *_reachable_objects(self._left)] if autograd.write_records else [])

    def _recalled(self, function: Function) -> None:
        """
        The script has called this function: what it did to its tensors in the end, the function need never see again.
        """
        self.machine.called_at = self.machine.clock
        if id(function.definition) not in self.called_by_script:
            self.machine.since = 0
            return
        self.machine.since = self.machine.clock
        frame: Frame | None = function.closure
        while frame is not None:
            for name, value in list(frame.variables.items()):
                if reachable_tensors(value):
                    self.machine.trail.set(frame.variables, name, Unknown())
            frame = frame.enclosing

    def standalone(self, function: Function, first: list[Value]) -> Value:
        definition = function.definition
        assert isinstance(definition, ir.FunctionDef)
        self.machine.statement = definition
        self._recalled(function)
        for hook in self.machine.watch.entry_started:
            hook(function)
        mode = self.machine.grad_mode
        if sets_values(definition.name) and definition.name != "__init__":
            self.machine.grad_mode = Truth.MAYBE
        positional, keywords = unknown_arguments(self.run, definition, first)
        kind = (
            "" if function.kind in ("opaque", "property", "cached", "context", "setter", "deleter") else function.kind
        )
        plain = Function(
            definition,
            function.closure,
            {},
            function.owner,
            kind,
            _mode_in(function),
            function.name,
            function.inference,
        )
        self.machine.callers.begin(definition)
        self.machine.callers_mode = Truth.YES
        if definition.is_generator or definition.is_async:
            value: Value = run_body(self.run, definition, frame_of(self.run, plain, positional, keywords))
        else:
            value = run_function(self.run, plain, positional, keywords, None, open_stars=("*", "**"))
        self.escaping.append(value)
        self.escaping += positional
        self.results += positional if value is NONE else [value]
        self.machine.grad_mode = mode
        return value

    def run_on(self, function: Function, instance: Instance, forward: bool, *, defaults: bool = False) -> None:
        assert isinstance(function.definition, ir.FunctionDef)
        self.machine.statement = function.definition
        constructing = self.constructing.get(id(instance.cls), frozenset())
        as_others_leave_it(self.run, function, instance, constructing, defaults=defaults)
        if forward:
            self._run_forward(function, instance, defaults=defaults)
        elif function.kind == "static":
            self.standalone(function, [])
        elif function.kind == "class":
            self.standalone(function, [instance.cls])
        else:
            value = self.standalone(function, [instance])
            self.escaping += [value, *instance.attributes.values()]
            self._left += instance.attributes.values()

    def _run_forward(self, function: Function, instance: Instance, *, defaults: bool = False) -> None:
        definition = function.definition
        assert isinstance(definition, ir.FunctionDef)
        for hook in self.machine.watch.entry_started:
            hook(function)
        self._recalled(function)
        positional, keywords = unknown_arguments(self.run, definition, [instance], inputs=True, defaults=defaults)
        given = function.defaults if defaults else {}
        plain = Function(
            definition, function.closure, given, function.owner, "", function.grad_mode, "forward", function.inference
        )
        as_written = inherits_known(instance.cls) and not any(each.wrapped for each in instance.cls.ancestry())
        self.machine.callers.begin(definition, "forward" if as_written else "function")
        self.machine.callers_mode = Truth.YES
        value = run_function(self.run, plain, positional, keywords, None, open_stars=() if defaults else ("*", "**"))
        self.machine.dead = False
        self.machine.statement = definition
        self.escaping.append(value)
        self._left += [value, *instance.attributes.values()]
        back = return_of(definition)
        for output in differentiated_parts(value):
            callers_backward(self.run.autograd, output, back)
        parts_ = other_parts(value, back)
        if parts_ and not self._shows_callers(definition):
            for part, output in parts_:
                callers_backward(self.run.autograd, output, back, part)

    def _shows_callers(self, definition: ir.FunctionDef) -> bool:
        """Whether the file itself calls a `forward`, and differentiates: what of the result, has been seen there."""
        script = self.machine.program.body
        return id(definition) in self.called_by_script and any(differentiates(each) for each in script)

    def build(self, instance: Instance, *, defaults: bool) -> None:
        """Run an object's `__init__` on unknown arguments; with `defaults`, on required ones only."""
        before, self.run.entered = self.run.entered, set()
        try:
            self._build(instance, defaults=defaults)
        finally:
            self.constructing[id(instance.cls)] = frozenset(self.run.entered)
            self.run.entered |= before

    def _build(self, instance: Instance, *, defaults: bool) -> None:
        for each in instance.cls.ancestry():
            function = each.attributes.get("__init__")
            if isinstance(function, Function) and isinstance(function.definition, ir.FunctionDef):
                positional, keywords = unknown_arguments(self.run, function.definition, [instance], defaults=defaults)
                outer = self.machine.built_in
                self.machine.built_in = instance.cls.name if is_module(instance) is not Truth.NO else ""
                self.machine.statement = function.definition if each is instance.cls else instance.cls.definition
                given = function.defaults if defaults else {}
                self.machine.callers.begin(function.definition, "constructor")
                self.machine.callers_mode = Truth.YES
                run_function(
                    self.run,
                    _constructor(function, given),
                    positional,
                    keywords,
                    None,
                    open_stars=() if defaults else ("*",),
                )
                self.machine.built_in = outer
                break
        else:
            origin = instance.cls.definition.origin
            call = ir.Call(origin, ir.Name(origin, ""), [])
            inherit(self.run, instance, CallSite(call, [], {}, complete=defaults))
        self.machine.dead = False
        self.machine.path = ALWAYS


def _mode_in(function: Function) -> Truth | None:
    """The grad mode in which the body runs; a decorator that nobody knows may set it."""
    return Truth.MAYBE if function.kind == "opaque" else function.grad_mode


def _constructor(function: Function, defaults: dict[str, Value]) -> Function:
    """An `__init__` without its decorators, but for the mode they set."""
    mode, inference = _mode_in(function), function.inference
    return Function(function.definition, function.closure, defaults, function.owner, "", mode, "__init__", inference)


def _expects_errors(entry: Function | Class) -> bool:
    """Whether a test is expected to fail, or is not run at all."""
    owner = entry.owner if isinstance(entry, Function) else None
    definitions = (entry.definition, owner.definition) if owner is not None else (entry.definition,)
    return any(
        identifier(each.function if isinstance(each, ir.Call) else each) in _NOT_EXPECTED_TO_PASS
        for definition in definitions
        if isinstance(definition, (ir.FunctionDef, ir.ClassDef))
        for each in definition.decorators
    )


def _reachable_objects(values: list[Value]) -> list[Value]:
    """Values, and what the objects among them, and in them, hold."""
    known: dict[int, Value] = {}
    pending = list(values)
    while pending:
        value = pending.pop()
        if id(value) in known:
            continue
        known[id(value)] = value
        if isinstance(value, Instance):
            pending += value.attributes.values()
        elif isinstance(value, (Sequence, Mapping, Choice)):
            pending += [kept for each in _instances_in(value) for kept in each.attributes.values()]
    return list(known.values())


def _instances_in(value: Value) -> list[Instance]:
    """The objects in a container, in the order of `explore`, which would look at all that holds nothing, too."""
    found: list[Instance] = []
    seen: set[int] = set()
    pending: list[Value] = [value]
    while pending and len(seen) < MOST_PARTS:
        each = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, Instance):
            found.append(each)
            continue
        inner = [one for one in parts(each) if isinstance(one, (Instance, Choice, Sequence, Mapping))]
        inner.reverse()
        pending += inner
    return found


def sets_values(name: str) -> bool:
    """Whether a function is called like those that give parameters their values, and are run without recording."""
    return name.lstrip("_").startswith(_NO_GRAD_NAMES)
