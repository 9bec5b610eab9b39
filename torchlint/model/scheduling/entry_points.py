"""
What of a file is run, and in which state: the file itself as a script, then each function and each Module by itself.

A Module's `forward` is run on an object that its `__init__` has built, on inputs of which nobody knows whether they
require grad, and what it returns counts as differentiated by its caller. A run that exceeds its budget keeps what was
proven so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from torchlint.model.autograd.backward import callers_backward
from torchlint.model.autograd.conclusions import conclude
from torchlint.model.autograd.reads import retained_escape
from torchlint.model.autograd.tensors import materialise
from torchlint.model.events import AutogradRefused, EntryLost, Event, InplaceWrite, SavedTensorRead
from torchlint.model.observers import watching
from torchlint.model.python.attributes import evaluate_again, is_module
from torchlint.model.python.classes import instantiate
from torchlint.model.python.functions import bind_parameters, run_body, run_function
from torchlint.model.python.imports import Importer, Project
from torchlint.model.python.interpreter import interpreter
from torchlint.model.python.modules import inherit
from torchlint.model.python.variables import resolved
from torchlint.model.scheduling.effects import differentiates, writes_in_place, writing_methods
from torchlint.model.scheduling.merging import merged
from torchlint.model.scheduling.subscriptions import Attention, Watches
from torchlint.model.scheduling.twins import Twins
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import ALWAYS, Truth
from torchlint.model.state.hooks import Watch
from torchlint.model.state.machine import OUTSIDE_LIMIT, OUTSIDE_POOL, STEP_LIMIT, BudgetExceededError, TooDeepError
from torchlint.model.state.values import (
    Class,
    Constant,
    External,
    Frame,
    Function,
    Grad,
    GraphNode,
    Instance,
    Scalar,
    Sequence,
    Tensor,
    Unknown,
    Value,
    fits,
    reachable_tensors,
)
from torchlint.syntax import ir
from torchlint.syntax.lowering import lower_ast
from torchlint.syntax.lowering_libcst import lower
from torchlint.syntax.tree import Source, described, finding_nodes, python_tree

_NO_GRAD_NAMES = ("init", "reset", "load", "_init")
_NO_TENSORS = {"builtins.int": "int", "builtins.str": "str"}
"""Annotations that say that an argument is no tensor; `float` is what people write of a loss, `bool` of a mask, too."""


def interpret(source: Source, project: Project | None = None, *, thorough: bool = True) -> list[Event]:
    """
    All events of a file, in no particular order.

    Parameters
    ----------
    source
        The file.
    project
        The other files of its project; without it, whatever is imported is unknown code.
    thorough
        Follow all that the file defines, for events that no rule takes for more than strict, too.

    Raises
    ------
    torchlint.syntax.lowering_libcst.LoweringError
        if the file has syntax that the IR has no word for, or is nested too deeply.
    """
    analysis = EntryPoints(lower(source.module, source.text), project, thorough=thorough)
    analysis.follow()
    analysis.release()
    return merged(analysis.machine.events)


def interpret_unparsed(
    text: str, project: Project | None = None, path: str = "", *, thorough: bool = True, whole: bool = True
) -> tuple[list[Event], Twins]:
    """
    The events of a file that libcst has not parsed: the same as `interpret`'s, but their nodes are `Unparsed`; and
    where the nodes are found that these stand for, in a tree of the whole file or of the parts that somebody asked for.

    Raises
    ------
    torchlint.syntax.tree.TreeNeededError
        if the model had to look into a node, and it is not to be found.
    Exception
        if Python's parser does not take it (SyntaxError, ValueError, RecursionError, MemoryError), or its lowering.
    """
    program = lower_ast(python_tree(text), text)
    analysis = EntryPoints(program, project, thorough=thorough)
    twins = Twins(path, program, whole=whole)
    with finding_nodes(twins.find):
        analysis.follow()
    analysis.release()
    return merged(analysis.machine.events), twins


def _is_refusal(event: Event) -> bool:
    """Whether it says that torch raises."""
    if isinstance(event, InplaceWrite):
        return event.leaf_raises is Truth.YES
    return isinstance(event, (SavedTensorRead, AutogradRefused)) and event.truth is Truth.YES


def _sets_values(name: str) -> bool:
    """Whether a function is called like those that give parameters their values, and are run without recording."""
    return name.lstrip("_").startswith(_NO_GRAD_NAMES)


def _is_forward(function: Function, module: Truth) -> bool:
    """Whether a method is what a Module's call runs."""
    return function.name == "forward" and module is Truth.YES and function.kind == ""


class EntryPoints:
    """The entry points of one file, and the interpreter that follows them."""

    def __init__(self, program: ir.Program, project: Project | None = None, *, thorough: bool = True) -> None:
        self.run = interpreter()
        self.machine = self.run.machine
        self.machine.program = program
        if project is not None:
            importer = Importer(project, self.machine.globals)
            importer.run.share(self.run)
            self.run.imports = importer
        self._outside_pool = OUTSIDE_POOL
        self._rebuilt: dict[tuple[int, bool], Instance] = {}
        self._writing: dict[int, frozenset[str]] = {}
        self._escaping: list[Value] = []
        self._called_by_script: frozenset[int] = frozenset()
        observers = [observer(self.machine) for observer in watching(program.text)]
        self.attention = Attention(program, observers, self.machine.here, thorough=thorough)
        self.machine.watch, self.run.abroad = self.attention.everybody

    def run_script(self) -> None:
        """Run the file as a script; where it gets lost, what it defines further down is defined all the same."""
        self.machine.globals.variables["__name__"] = Unknown()
        if not self._guarded(None, self._script, True, keep=True):
            for statement in self.machine.program.body:
                if self._is_missing(statement):
                    self._guarded(None, partial(self.run.execute, [statement]), False, keep=True)
        self._called_by_script = frozenset(self.run.entered)
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
            self._safely(None, hook)

    def release(self) -> None:
        """As an interpreter does, that of the other files too; and all observers leave."""
        self.attention.dismiss()
        self.machine.watch = self.run.at_home = self.run.abroad = Watch()
        if hasattr(self.machine, "computations"):
            del self.machine.computations
        if isinstance(self.run.imports, Importer):
            self.run.imports.run.release()
        self.run.release()

    def _run_defined(self, functions: int, classes: int, *, always: bool = False) -> None:
        """Run what was defined since: functions (inside others, only those that nobody called) and classes."""
        for function in self.attention.in_order(self.run.functions[functions:]):
            if function.owner is None and (always or id(function.definition) not in self.run.entered):
                self._safely(function, partial(self._function_by_itself, function))
        for cls in self.run.classes[classes:]:
            self._guarded(cls, partial(self._class_by_itself, cls), False)

    def _guarded(
        self, entry: Function | Class | None, run: Callable[[], object], promising: bool, keep: bool = False
    ) -> bool:
        """
        One entry point (None: the script), within its budget; its state is forgotten afterwards. Other files are looked
        into only for an entry that may have something to do with what they say (`promising`). Whether it was followed
        to its end: what goes wrong inside the model costs this entry point alone.
        """
        self.machine.entered_at = self.machine.clock
        self.machine.followed = 0
        self.machine.steps_left, self.machine.outside_left = (
            STEP_LIMIT,
            min(OUTSIDE_LIMIT, self._outside_pool) if promising else 0,
        )
        granted = self.machine.outside_left
        functions, classes = len(self.run.functions), len(self.run.classes)
        mark = self.machine.trail.mark()
        frame = self.machine.frame
        self._escaping = []
        statement, nested = self.machine.statement, self.machine.nested
        followed = self._safely(entry, run)
        if not followed:
            self.machine.contained = False
            self.machine.frame, self.machine.statement, self.machine.nested = frame, statement, nested
            self.machine.stack.clear()
            self.run.loops.clear()
            self.run.repeating = False
            self.run.finals = []
            self.machine.expected_errors = 0
            self.machine.built_in = ""
            self.machine.parameter_loops.clear()
        self._outside_pool -= granted - max(self.machine.outside_left, 0)
        self.machine.dead = False
        self._safely(entry, self._concluded)
        self.run.autograd.pending_alias_writes.clear()
        self.machine.grad_mode = self.machine.ambient = Truth.YES
        self.machine.contexts = 0
        self.machine.path = self.machine.assumed = ALWAYS
        self.machine.iteration = ()
        contained = self.machine.contained and not self.machine.undecided
        if not keep:
            self._run_defined(functions, classes)
            self.machine.trail.undo(mark)
        self.machine.contained = (
            self.machine.contained and contained
        )  # what was defined inside has been followed meanwhile
        return followed

    def _concluded(self) -> None:
        retained_escape(self.run.autograd, self._escaping)
        conclude(self.run.autograd)

    def _safely(self, entry: Function | Class | None, run: Callable[[], object]) -> bool:
        """Whether something came to its end; if it failed inside the model, that is told."""
        try:
            run()
        except (BudgetExceededError, TooDeepError):
            return False
        except Exception as error:
            self._lost(entry, error)
            return False
        return True

    def _lost(self, entry: Function | Class | None, error: Exception) -> None:
        place = self.machine.statement if entry is None else entry.definition
        line = place.line if isinstance(place, ir.Statement) else self.machine.program.origin
        name = "the script" if entry is None else f"`{entry.name}`"
        if isinstance(entry, Function) and entry.owner is not None:
            name = f"`{entry.owner.name}.{entry.name}`"
        # not by `emit`, which a `pytest.raises` around it or another file's code would keep silent
        self.machine.events.append(EntryLost(node=line, statement=line, name=name, error=described(error)))

    def _script(self) -> None:
        self.machine.globals.variables["__name__"] = Constant("__main__")
        for hook in self.machine.watch.entry_started:
            hook(None)
        self.run.execute(self.machine.program.body)

    # -- functions and classes by themselves

    def _recalled(self, function: Function) -> None:
        """
        The script has called this function: what it did to its tensors in the end, the function need never see again.
        """
        if id(function.definition) not in self._called_by_script:
            self.machine.since = 0
            return
        self.machine.since = self.machine.clock
        frame: Frame | None = function.closure
        while frame is not None:
            for name, value in list(frame.variables.items()):
                if reachable_tensors(value):
                    self.machine.trail.set(frame.variables, name, Unknown())
            frame = frame.enclosing

    def _function_by_itself(self, function: Function) -> None:
        """A function that nobody calls; with what other files say if it differentiates."""
        watches = self.attention.of(function)
        if watches is None:
            return
        with self._watched(watches):
            self._watched_function(function)

    @contextmanager
    def _watched(self, watches: Watches) -> Iterator[None]:
        """What begins now has written nothing yet, and these watch it."""
        before = self.machine.watch, self.run.abroad
        self.machine.watch, self.run.abroad = watches
        self.machine.contained = True
        try:
            yield
        finally:
            self.machine.watch, self.run.abroad = before

    def _watched_function(self, function: Function) -> None:
        run = partial(self._standalone, function, [])
        at_once = differentiates(function.definition)
        before = len(self.machine.events)
        self.machine.passed_by = self.machine.undecided = False
        self._guarded(function, run, at_once)
        if self.machine.passed_by and self.machine.undecided and not at_once and self.attention.thorough:
            del self.machine.events[before:]
            self._guarded(function, run, True)
        if self.machine.contained:
            self.attention.contained(function)

    def _standalone(self, function: Function, first: list[Value]) -> Value:
        definition = function.definition
        assert isinstance(definition, ir.FunctionDef)
        self.machine.statement = definition
        self._recalled(function)
        for hook in self.machine.watch.entry_started:
            hook(function)
        mode = self.machine.grad_mode
        if _sets_values(definition.name) and definition.name != "__init__":
            self.machine.grad_mode = Truth.MAYBE
        positional, keywords = self.unknown_arguments(definition, first)
        kind = (
            "" if function.kind in ("opaque", "property", "cached", "context", "setter", "deleter") else function.kind
        )
        grad_mode = function.grad_mode
        if function.kind == "opaque":
            grad_mode = Truth.MAYBE
        plain = Function(definition, function.closure, {}, function.owner, kind, grad_mode, function.name)
        if definition.is_generator or definition.is_async:
            value: Value = run_body(self.run, definition, self._frame_of(plain, positional, keywords))
        else:
            value = run_function(self.run, plain, positional, keywords, None)
        self._escaping.append(value)
        self._escaping += positional
        self.machine.grad_mode = mode
        return value

    def _frame_of(self, function: Function, positional: list[Value], keywords: dict[str, Value]) -> Frame:
        frame = Frame({}, function.closure)
        bind_parameters(frame, function, positional, keywords, True)
        return frame

    def unknown_arguments(
        self, definition: ir.FunctionDef, first: list[Value], *, inputs: bool = False, defaults: bool = False
    ) -> tuple[list[Value], dict[str, Value]]:
        """Arguments of which nobody knows anything, but for their annotations; with `defaults`, only required ones."""
        positional = list(first)
        keywords: dict[str, Value] = {}
        for index, parameter in enumerate(definition.parameters):
            if parameter.kind in ("*", "**") or index < len(first) or (defaults and parameter.default is not None):
                continue
            value = self._unknown_argument(parameter, inputs, defaults)
            if parameter.kind == "keyword-only":
                keywords[parameter.name] = value
            else:
                positional.append(value)
        return positional, keywords

    def _unknown_argument(self, parameter: ir.Parameter, inputs: bool, defaults: bool) -> Value:
        unknown = Unknown(source=parameter)
        if defaults and not inputs:
            made = self._made_of_nothing(parameter)
            if made is not None:
                return made
        if inputs:
            given = self._input(parameter)
            if defaults:
                given.contiguous = Truth.YES  # as tensors are that nobody has transposed
            unknown = Unknown([given], source=parameter, hint=parameter.name, certain_edge=True)
        annotation = self._annotation(parameter.annotation)
        if annotation in _NO_TENSORS:
            return Scalar(_NO_TENSORS[annotation])
        if annotation in ("torch.Tensor", "Tensor"):
            tensor = materialise(self.run.autograd, unknown)
            tensor.name = parameter.name
        return unknown

    def _made_of_nothing(self, parameter: ir.Parameter) -> Value | None:
        """
        The settings that a constructor wants (`config: Config`), where a class of the project says what they are if
        nobody says anything.
        """
        if not isinstance(parameter.annotation, (ir.Name, ir.Attribute)):
            return None
        cls = resolved(self.run, evaluate_again(self.run, parameter.annotation))
        if not isinstance(cls, Class) or is_module(Instance(cls)) is Truth.YES:
            return None
        init = next((each.attributes["__init__"] for each in cls.ancestry() if "__init__" in each.attributes), None)
        if not isinstance(init, Function):
            return None
        open_ = [
            each for each in init.definition.parameters[1:] if each.default is None and each.kind not in ("*", "**")
        ]
        if open_:
            return None
        origin = parameter.origin
        return instantiate(self.run, cls, CallSite(ir.Call(origin, ir.Name(origin, ""), []), [], {}))

    def _annotation(self, annotation: ir.Expression | None) -> str:
        if isinstance(annotation, ir.Constant) and isinstance(annotation.value, str):
            return annotation.value
        if isinstance(annotation, (ir.Name, ir.Attribute)):
            value = resolved(self.run, evaluate_again(self.run, annotation))
            return value.qualified if isinstance(value, External) else ""
        return ""

    def _input(self, parameter: ir.Parameter) -> Tensor:
        """The tensor that an input of `forward` is, if it is one: it requires grad or not, and everything says so."""
        own = Grad(Truth.NO, frozenset({parameter.name}))
        time = self.machine.tick()
        node = GraphNode(
            name="", op="", origin=parameter, line=self.machine.line(), time=time, condition=own, edges=(),
            holds=Truth.MAYBE, opaque=True,
        )  # fmt: skip
        tensor = Tensor(
            origin=parameter, line=self.machine.line(), born=time, made_by="", own=own, grad_fn=((ALWAYS, node),),
            is_parameter=Truth.NO,
        )  # fmt: skip
        tensor.name = parameter.name
        return tensor

    def _class_by_itself(self, cls: Class) -> None:
        self.machine.statement = cls.definition
        if self._is_function(cls):
            self._custom_function_class(cls)
            return
        if not self.attention.is_wanted(cls):
            return
        with self._watched(self.attention.everybody):
            self._watched_class(cls)

    def _watched_class(self, cls: Class) -> None:
        instance = Instance(cls)
        module = is_module(instance)
        self._rebuilt.clear()
        self.machine.passed_by = self.machine.undecided = self.machine.layer_undecided = False
        self._build(instance, defaults=False)
        built = self.machine.passed_by, self.machine.layer_undecided
        for hook in self.machine.watch.class_built:
            hook(cls, instance)
        conclude(self.run.autograd)
        methods = [
            value
            for name, value in cls.attributes.items()
            if isinstance(value, Function) and name != "__init__" and isinstance(value.definition, ir.FunctionDef)
        ]
        for each in self.attention.in_order(methods):
            self.machine.passed_by, self.machine.undecided = built
            self._method(each, instance, module)

    def _build(self, instance: Instance, *, defaults: bool) -> None:
        """Run an object's `__init__` on unknown arguments; with `defaults`, on required ones only."""
        for each in instance.cls.ancestry():
            function = each.attributes.get("__init__")
            if isinstance(function, Function) and isinstance(function.definition, ir.FunctionDef):
                positional, keywords = self.unknown_arguments(function.definition, [instance], defaults=defaults)
                outer = self.machine.built_in
                self.machine.built_in = instance.cls.name if is_module(instance) is not Truth.NO else ""
                self.machine.statement = function.definition if each is instance.cls else instance.cls.definition
                given = function.defaults if defaults else {}
                run_function(
                    self.run,
                    Function(function.definition, function.closure, given, function.owner, "", None, "__init__"),
                    positional,
                    keywords,
                    None,
                )
                self.machine.built_in = outer
                break
        else:
            if defaults:
                origin = instance.cls.definition.origin
                inherit(self.run, instance, CallSite(ir.Call(origin, ir.Name(origin, ""), []), [], {}))
        self.machine.dead = False
        self.machine.path = ALWAYS

    def _method(self, function: Function, instance: Instance, module: Truth) -> None:
        """
        A method by itself. Where a write is left of which nobody knows whether it does harm, and that may be because
        other files were not looked into, once more with them, if a backward is in sight: its own, or that of whoever
        calls a `forward`. Then a `forward` as it runs when every argument that may be left out
        is left out, in the constructor too: one path among those that nothing is known of, and the one its author had
        in mind.
        """
        watches = self.attention.of(function, instance)
        if watches is None:
            return
        with self._watched(watches):
            self._watched_method(function, instance, module)

    def _watched_method(self, function: Function, instance: Instance, module: Truth) -> None:
        cls = instance.cls
        forward = _is_forward(function, module)
        before = len(self.machine.events)
        self._guarded(function, partial(self._run_on, function, instance, forward), False)
        if self.machine.contained:
            self.attention.contained(function)
        if not self.machine.undecided or _sets_values(function.name) or function.name not in self._writers(cls):
            return
        if not (forward or differentiates(function.definition) or self.attention.thorough):
            return  # no backward is in sight that could need what is written
        if self.machine.passed_by:
            self.machine.undecided = False
            self._anew(function, cls, forward, defaults=False, told=before)
        if forward and self.machine.undecided:
            self._anew(function, cls, forward, defaults=True, told=before)

    def _run_on(self, function: Function, instance: Instance, forward: bool, *, defaults: bool = False) -> None:
        assert isinstance(function.definition, ir.FunctionDef)
        self.machine.statement = function.definition
        if forward:
            self._run_forward(function, instance, defaults=defaults)
        elif function.kind == "static":
            self._standalone(function, [])
        elif function.kind == "class":
            self._standalone(function, [instance.cls])
        else:
            value = self._standalone(function, [instance])
            self._escaping += [value, *instance.attributes.values()]

    def _anew(self, function: Function, cls: Class, forward: bool, *, defaults: bool, told: int) -> None:
        """
        A method once more, with what other files say, on an object built anew. It takes the place of what was `told`
        with less knowledge (the events from that number on); of a run on defaults counts only what torch refuses.
        """
        before, watch, abroad = self.machine.events, self.machine.watch, self.run.abroad
        nobody = Watch()
        self.run.torch.by_default = defaults
        self.machine.events, self.machine.watch, self.run.abroad = [], nobody, nobody
        instance = self._built_anew(cls, defaults)
        self.machine.events.clear()
        if not defaults:
            self.machine.watch, self.run.abroad = watch, abroad
        self._guarded(function, partial(self._run_on, function, instance, forward, defaults=defaults), True)
        self.run.torch.by_default = False
        found, self.machine.watch, self.run.abroad = self.machine.events, watch, abroad
        if any(isinstance(event, EntryLost) for event in found):
            told = len(before)
        self.machine.events = (
            before + [event for event in found if _is_refusal(event)] if defaults else before[:told] + found
        )

    def _built_anew(self, cls: Class, defaults: bool) -> Instance:
        """An object of a class, built with what other files say; all its methods are run on the same."""
        known = self._rebuilt.get((id(cls), defaults))
        if known is None:
            known = self._rebuilt[id(cls), defaults] = Instance(cls)
            self._guarded(cls, partial(self._build, known, defaults=defaults), True, keep=True)
        return known

    def _writers(self, cls: Class) -> frozenset[str]:
        known = self._writing.get(id(cls.definition))
        if known is None:
            known = self._writing[id(cls.definition)] = writing_methods(cls.definition)
        return known

    def _run_forward(self, function: Function, instance: Instance, *, defaults: bool = False) -> None:
        definition = function.definition
        assert isinstance(definition, ir.FunctionDef)
        for hook in self.machine.watch.entry_started:
            hook(function)
        self._recalled(function)
        positional, keywords = self.unknown_arguments(definition, [instance], inputs=True, defaults=defaults)
        given = function.defaults if defaults else {}
        plain = Function(definition, function.closure, given, function.owner, "", function.grad_mode, "forward")
        value = run_function(self.run, plain, positional, keywords, None)
        self.machine.dead = False
        self.machine.statement = definition
        self._escaping.append(value)
        for output in self._differentiated(value):
            callers_backward(self.run.autograd, output, self._return_of(definition))

    def _differentiated(self, value: Value) -> list[Value]:
        """What of the value of a `forward` its caller differentiates: the first part of it, and all that is a loss."""
        if not isinstance(value, Sequence):
            return [value]
        if not fits(value):
            return []
        if value.items is None:
            some = value.last or value.element
            return self._differentiated(some) if some is not None else []
        losses = [each for each in value.items[1:] if isinstance(each, Tensor) and "loss" in each.name]
        return [*self._differentiated(value.items[0]), *losses] if value.items else []

    def _return_of(self, definition: ir.FunctionDef) -> ir.Node:
        pending: list[ir.Statement] = list(definition.body)
        last: ir.Node = definition
        while pending:
            statement = pending.pop(0)
            if isinstance(statement, ir.Return):
                last = statement
            elif isinstance(statement, (ir.If, ir.For, ir.While)):
                pending += [*statement.body, *statement.orelse]
            elif isinstance(statement, ir.With):
                pending += statement.body
            elif isinstance(statement, ir.Try):
                pending += [*statement.body, *statement.orelse, *statement.final]
        return last

    # -- custom autograd functions

    def _is_function(self, cls: Class) -> bool:
        return any(
            isinstance(base, External)
            and base.qualified in ("torch.autograd.Function", "torch.autograd.function.Function")
            for base in cls.outside()
        )

    def _custom_function_class(self, cls: Class) -> None:
        """`forward` and `backward` of a custom Function run without recording."""
        for value in list(cls.attributes.values()):
            if isinstance(value, Function) and isinstance(value.definition, ir.FunctionDef):

                def run(value: Function = value) -> None:
                    self.machine.grad_mode = Truth.NO
                    self._standalone(value, [])

                self._guarded(value, run, writes_in_place(value.definition))
