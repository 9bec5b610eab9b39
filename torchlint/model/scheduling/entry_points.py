"""
What of a file is run, and in which state: the file itself as a script, then each function and each Module by itself.

A Module's `forward` is run on an object that its `__init__` has built, on inputs of which nobody knows whether they
require grad, and what it returns counts as differentiated by its caller. A run that exceeds its budget keeps what was
proven so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial

from torchlint.condition import Condition, without_reflection
from torchlint.model.events import AutogradRefused, EntryLost, Event, InplaceWrite, SavedTensorRead
from torchlint.model.observers import watching
from torchlint.model.python.attributes import is_module
from torchlint.model.python.contexts import may_take_saved
from torchlint.model.python.custom_functions import is_function
from torchlint.model.python.imports import Importer, Project
from torchlint.model.python.interpreter import interpreter
from torchlint.model.python.run import Run
from torchlint.model.scheduling.calls import Calls
from torchlint.model.scheduling.effects import writes_in_place, writing_methods
from torchlint.model.scheduling.entry_run import EntryRun, sets_values
from torchlint.model.scheduling.merging import merged
from torchlint.model.scheduling.modes_elsewhere import is_called_with_grad_mode_off
from torchlint.model.scheduling.subscriptions import Subscriptions, Watches
from torchlint.model.state.guards import Truth
from torchlint.model.state.hooks import NOBODY
from torchlint.model.state.reflection import noted_by, put_back
from torchlint.model.state.values import (
    Class,
    Constant,
    Function,
    Instance,
    Scalar,
    Unknown,
)
from torchlint.syntax import cst, ir
from torchlint.syntax.nodes import Nodes
from torchlint.syntax.place import Place
from torchlint.syntax.reading import differentiates
from torchlint.syntax.tree import finding_nodes


def interpret(
    program: ir.Program,
    project: Project | None = None,
    find: Callable[[Place], cst.CSTNode | None] | None = None,
    read: Callable[[Place], str | None] | None = None,
    *,
    thorough: bool = True,
    calls: bool = False,
) -> list[Event]:
    """
    All events of a file, in no particular order, at their places.

    Parameters
    ----------
    program
        The file.
    project
        The other files of its project; without it, whatever is imported is unknown code.
    find
        The libcst node at a place, for observers that look into one.
    read
        What stands at a place, for observers that ask for the text.
    thorough
        Follow all that the file defines, for events that no rule takes for more than strict, too.
    calls
        Report each call of a name of torch (`OpCalled`), too.
    """
    analysis = EntryPoints(program, project, thorough=thorough, calls=calls)
    nodes = Nodes("", program)
    with finding_nodes(find or nodes.find, read or nodes.text):
        analysis.follow()
    analysis.release()
    return merged(analysis.machine.events)


def _is_refusal(event: Event) -> bool:
    """Whether it says that torch raises."""
    if isinstance(event, InplaceWrite):
        return event.leaf_raises is Truth.YES
    return isinstance(event, (SavedTensorRead, AutogradRefused)) and event.truth is Truth.YES


def _supposing(events: list[Event], supposed: tuple[str, ...]) -> list[Event]:
    """
    What torch refuses of an object made by default. That it was made as one supposes is the one condition that a
    finding names beside an input that requires grad, which comes after it; what rests on more is not told.
    """
    refused = [event for event in events if _is_refusal(event)]
    if not supposed or len(supposed) > 1:
        return [] if supposed else refused
    made = Condition("branch", supposed[0])
    told: list[Event] = []
    for event in refused:
        others = tuple(each for each in without_reflection(event.conditions) if each.kind != "grad_mode")
        if all(each.kind == "requires_grad" for each in others):
            told.append(replace(event, conditions=(made, *others)))
    return told


def _newly_supposed(run: Run) -> tuple[str, ...]:
    """What has been supposed since this was asked last."""
    supposed, run.supposed = run.supposed, ()
    return supposed


def _is_forward(function: Function, module: Truth) -> bool:
    """Whether a method is what a Module's call runs."""
    return function.name == "forward" and module is Truth.YES and function.kind == ""


class EntryPoints:
    """The entry points of one file, and the interpreter that follows them."""

    def __init__(
        self, program: ir.Program, project: Project | None = None, *, thorough: bool = True, calls: bool = False
    ) -> None:
        self.run = interpreter()
        self.machine = self.run.machine
        self.machine.program = self.machine.callers.program = program
        self.run.autograd.recomputed = may_take_saved(program)
        self.entry = EntryRun(self.run)
        elsewhere = None
        if project is not None:
            importer = Importer(project, self.machine.globals)
            importer.run.share(self.run)
            self.run.imports = importer
            self.machine.mentioning = project.mentioning
            elsewhere = partial(importer.argument_writers, program)
        self._rebuilt: dict[tuple[int, bool], Instance] = {}
        self._supposed: tuple[str, ...] = ()
        self._writing: dict[tuple[int, bool], frozenset[str]] = {}
        observers = [observer(self.machine) for observer in watching(program.text)]
        observers += [Calls(self.machine)] if calls else []
        self.subscriptions = Subscriptions(
            program, observers, self.machine.here, thorough=thorough, elsewhere=elsewhere
        )
        self.machine.watch, self.run.foreign_watch = self.subscriptions.everybody

    def run_script(self) -> None:
        """Run the file as a script; where it gets lost, what it defines further down is defined all the same."""
        self.machine.globals.variables["__name__"] = Unknown()
        if not self._guarded(None, self._script, True, keep=True):
            for statement in self.machine.program.body:
                if self._is_missing(statement):
                    self._guarded(None, partial(self.run.execute, [statement]), False, keep=True)
        self.entry.called_by_script = frozenset(self.run.entered)
        # What the file defines may be called in any mode.
        self.run.torch.default_training = Truth.MAYBE
        self.run.torch.very_dtypes = False  # and under an autocast
        for module in self.run.torch.switched:
            if isinstance(module, Instance):
                module.attributes["training"] = Scalar("bool")
            else:
                module.training = Truth.MAYBE

    def _is_missing(self, statement: ir.Statement) -> bool:
        if isinstance(statement, ir.Import):
            return any(name.bound not in self.machine.globals.variables for name in statement.names)
        return isinstance(statement, (ir.FunctionDef, ir.ClassDef)) and id(statement) not in self.run.defined

    def follow(self) -> None:
        """Run the file, then what it defines."""
        self.run_script()
        self._run_defined(0, 0, always=True)
        for hook in self.machine.watch.finished:
            self.entry.safely(None, hook)
        elsewhere = cache(partial(is_called_with_grad_mode_off, mentioning=self.machine.mentioning))
        self.machine.events = self.machine.callers.settled(self.run.visits.settled(self.machine.events), elsewhere)

    def release(self) -> None:
        """As an interpreter does, that of the other files too; and all observers leave."""
        self.subscriptions.dismiss()
        self.machine.watch = self.run.own_watch = self.run.foreign_watch = NOBODY
        if hasattr(self.machine, "computations"):
            del self.machine.computations
        if isinstance(self.run.imports, Importer):
            self.run.imports.run.release()
        self.run.release()

    def _run_defined(self, functions: int, classes: int, *, always: bool = False) -> None:
        """Run what was defined since: functions (inside others, only those that nobody called) and classes."""
        for function in self.subscriptions.in_order(self.run.functions[functions:]):
            if function.owner is None and (always or id(function.definition) not in self.run.entered):
                self.entry.safely(function, partial(self._function_by_itself, function))
        for cls in self.run.classes[classes:]:
            self._guarded(cls, partial(self._class_by_itself, cls), False)

    def _guarded(
        self, entry: Function | Class | None, work: Callable[[], object], with_imports: bool, keep: bool = False
    ) -> bool:
        """
        One entry point (None: the script); its state is forgotten afterwards, unless `keep`. Whether it was followed to
        its end.
        """
        machine = self.machine
        overwritten, noted = self.run.autograd.overwritten, noted_by(machine)
        done = self.entry.follow(entry, work, with_imports=with_imports)
        if not keep:
            self._run_defined(done.functions, done.classes)
            machine.trail.undo(done.mark)
            # Inside a `with` the mode is set by way of the trail, and left without it: the trail brings that one back.
            machine.grad_mode, machine.ambient, machine.callers_mode = Truth.YES, Truth.YES, Truth.NO
            self.run.autograd.overwritten = overwritten
            put_back(machine, noted)
        # what was defined inside has been followed meanwhile
        machine.externally_pure = machine.externally_pure and done.externally_pure
        return done.to_its_end

    def _script(self) -> None:
        self.machine.globals.variables["__name__"] = Constant("__main__")
        for hook in self.machine.watch.entry_started:
            hook(None)
        self.run.execute(self.machine.program.body)

    def _function_by_itself(self, function: Function) -> None:
        """A function that nobody calls; with what other files say if it differentiates."""
        watches = self.subscriptions.of(function)
        if watches is None:
            return
        with self._watched(watches):
            self._watched_function(function)

    @contextmanager
    def _watched(self, watches: Watches) -> Iterator[None]:
        """What begins now has written nothing yet, and these watch it."""
        before = self.machine.watch, self.run.foreign_watch
        self.machine.watch, self.run.foreign_watch = watches
        self.machine.externally_pure = True
        try:
            yield
        finally:
            self.machine.watch, self.run.foreign_watch = before

    def _watched_function(self, function: Function) -> None:
        run = partial(self.entry.standalone, function, [])
        at_once = differentiates(function.definition)
        before = len(self.machine.events)
        self.machine.skipped_import = self.machine.open_write = False
        self.machine.unseen_class = ""  # it was of the values of another entry point
        self._guarded(function, run, at_once)
        if self.machine.skipped_import and self.machine.open_write and not at_once and self.subscriptions.thorough:
            del self.machine.events[before:]
            self._guarded(function, run, True)
        if self.machine.externally_pure:
            self.subscriptions.note_pure(function)

    def _class_by_itself(self, cls: Class) -> None:
        self.machine.statement = cls.definition
        if is_function(cls):
            self._custom_function_class(cls)
        elif self.subscriptions.is_wanted(cls):
            noted = noted_by(self.machine)
            self.machine.unseen_class = cls.unseen
            with self._watched(self.subscriptions.of_building(cls)):
                self._watched_class(cls)
            put_back(self.machine, noted)

    def _watched_class(self, cls: Class) -> None:
        instance = self.machine.trail.new_object(cls)
        module = is_module(instance)
        self._rebuilt.clear()
        self._supposed = ()
        self.machine.skipped_import = self.machine.open_write = self.machine.open_layer_write = False
        before = len(self.machine.events)
        self.entry.build(instance, defaults=False)
        built = self.machine.skipped_import, self.machine.open_layer_write
        for hook in self.machine.watch.class_built:
            hook(cls, instance)
        self.entry.conclude()
        self.machine.callers.note_events(self.machine.events[before:])
        self.machine.callers.begin(None)
        self.machine.callers_mode = Truth.NO
        methods = [
            value
            for name, value in cls.attributes.items()
            if isinstance(value, Function) and name != "__init__" and isinstance(value.definition, ir.FunctionDef)
        ]
        for each in self.subscriptions.in_order(methods):
            self.machine.skipped_import, self.machine.open_write = built
            self._method(each, instance, module)

    def _method(self, function: Function, instance: Instance, module: Truth) -> None:
        """
        A method by itself. Where a write is left of which nobody knows whether it does harm, and that may be because
        other files were not looked into, once more with them, if a backward is in sight: its own, or that of whoever
        calls a `forward`. Then a `forward` as it runs when every argument that may be left out
        is left out, in the constructor too, if it writes then: one path among those that nothing is known of, and the
        one its author had in mind.
        """
        watches = self.subscriptions.of(function, instance)
        if watches is None:
            return
        with self._watched(watches):
            self._watched_method(function, instance, module)

    def _watched_method(self, function: Function, instance: Instance, module: Truth) -> None:
        cls = instance.cls
        forward = _is_forward(function, module)
        before = len(self.machine.events)
        self._guarded(function, partial(self.entry.run_on, function, instance, forward), False)
        if self.machine.externally_pure:
            self.subscriptions.note_pure(function)
        if not self.machine.open_write or sets_values(function.name) or function.name not in self._writers(cls):
            return
        if not (forward or differentiates(function.definition) or self.subscriptions.thorough):
            return  # no backward is in sight that could need what is written
        if self.machine.skipped_import:
            self.machine.open_write = False
            self._anew(function, cls, forward, defaults=False, told=before)
        if forward and self.machine.open_write and function.name in self._writers(cls, defaults=True):
            self._anew(function, cls, forward, defaults=True, told=before)

    def _anew(self, function: Function, cls: Class, forward: bool, *, defaults: bool, told: int) -> None:
        """
        A method once more, with what other files say, on an object built anew. It takes the place of what was `told`
        with less knowledge (the events from that number on); of a run on defaults counts only what torch refuses.
        """
        before, watch, foreign_watch = self.machine.events, self.machine.watch, self.run.foreign_watch
        nobody = NOBODY
        self.run.torch.by_default = defaults
        self.machine.events, self.machine.watch, self.run.foreign_watch = [], nobody, nobody
        instance = self._built_anew(cls, defaults)
        self.machine.events.clear()
        if not defaults:
            self.machine.watch, self.run.foreign_watch = watch, foreign_watch
        self._guarded(function, partial(self.entry.run_on, function, instance, forward, defaults=defaults), True)
        self.run.torch.by_default = False
        found, self.machine.watch, self.run.foreign_watch = self.machine.events, watch, foreign_watch
        if any(isinstance(event, EntryLost) for event in found):
            told = len(before)
        self.machine.events = before + _supposing(found, self._supposed) if defaults else before[:told] + found

    def _built_anew(self, cls: Class, defaults: bool) -> Instance:
        """An object of a class, built with what other files say; all its methods are run on the same."""
        known = self._rebuilt.get((id(cls), defaults))
        if known is None:
            known = self._rebuilt[id(cls), defaults] = self.machine.trail.new_object(cls)
            _newly_supposed(self.run)
            self._guarded(cls, partial(self.entry.build, known, defaults=defaults), True, keep=True)
            self._supposed += _newly_supposed(self.run)
        return known

    def _writers(self, cls: Class, *, defaults: bool = False) -> frozenset[str]:
        key = id(cls.definition), defaults
        known = self._writing.get(key)
        if known is None:
            calls_writer = self.subscriptions.calls_writer
            known = self._writing[key] = writing_methods(cls.definition, calls_writer, defaults=defaults)
        return known

    def _custom_function_class(self, cls: Class) -> None:
        """`forward` and `backward` of a custom Function run without recording."""
        for value in list(cls.attributes.values()):
            if isinstance(value, Function) and isinstance(value.definition, ir.FunctionDef):

                def run(value: Function = value) -> None:
                    self.machine.grad_mode = Truth.NO
                    self.entry.standalone(value, [])

                self._guarded(value, run, writes_in_place(value.definition))
