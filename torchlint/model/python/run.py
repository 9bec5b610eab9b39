"""
The context that every transfer function of Python is handed: what runs, on which state, and who evaluates a node.

A `Run` knows the transfer functions as tables alone (`interpreter` puts them together), so that a module calls only
what lies below it: whatever goes back up, into an expression, a block or a call, goes through `evaluate`, `execute`,
`invoke` and `call`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeAlias

from torchlint.model.autograd.autograd import Autograd
from torchlint.model.python.prototypes import Prototypes
from torchlint.model.state.budget import MOST_FOLLOWED, MOST_NESTED
from torchlint.model.state.call_site import CallSite
from torchlint.model.state.guards import Guard
from torchlint.model.state.hooks import NOBODY
from torchlint.model.state.machine import Machine
from torchlint.model.state.trail import Changes
from torchlint.model.state.values import Bound, Class, Constant, External, Frame, Function, Globals, Value
from torchlint.model.state.visits import Visits
from torchlint.model.torch.torch import Torch
from torchlint.syntax import conditions, ir


class Imports(Protocol):
    """What a file imports from its own project (see `imports`)."""

    def offers(self, qualified: str) -> bool:
        """Whether a full name may be one of the project's: it has a file or a folder called like its first part."""

    def absolute(self, frame: Frame, qualified: str) -> str:
        """The full name of something imported in a frame: without the dots of a relative import."""

    def writes_to_arguments(self, qualified: str) -> bool:
        """Whether a full name is a function of the project that looks as if it wrote in place to what it is given."""

    def value(self, qualified: str) -> Value | None:
        """The value of a full name, if a file of the project defines it and it is certain which it is."""

    def name(self, frame: Globals, name: str) -> Value | None:
        """The value of a variable that a file has not set as far as it has run."""


class Reach:
    """
    What may come of running a function of the file, by what is written in it.

    Attributes
    ----------
    writes
        What it writes to that is not its own: `("seen",)` is a variable, `("self", "x")` an attribute, and an empty
        last name says that it is written into.
    reads
        The names that stand in it and are not its own.
    differentiates
        Whether a backward may come of it: it has one, or gives its caller something to differentiate.
    has_backward
        Whether it has one itself.
    changes_flags
        Whether it may change `requires_grad`.
    sets
        The functions of torch that it calls to set something for all that comes, by their last names.
    gives, passes
        What is not its own and it gives to its caller, or hands to code that nobody knows: as `writes`.
    """

    __slots__ = ("changes_flags", "differentiates", "gives", "has_backward", "passes", "reads", "sets", "writes")

    def __init__(
        self,
        writes: tuple[tuple[str, ...], ...],
        reads: frozenset[str],
        has_backward: bool,
        differentiates: bool,
        changes_flags: bool,
        sets: frozenset[str],
        gives: tuple[tuple[str, ...], ...],
        passes: tuple[tuple[str, ...], ...],
    ) -> None:
        self.sets = sets
        self.gives = gives
        self.passes = passes
        self.writes = writes
        self.reads = reads
        self.has_backward = has_backward
        self.differentiates = differentiates
        self.changes_flags = changes_flags


class Exposed:
    """A class or an object of the program that unknown code got at by way of something else; `by`: what code."""

    __slots__ = ("by", "value")

    def __init__(self, value: Value, by: str) -> None:
        self.value = value
        self.by = by


class Callback:
    """
    A function of the file that somebody else may run; of a method, also its object. `with_calls`: a forward hook, which
    runs with the calls of its Module and at no other time. `special`: a special method (or what one calls), which
    Python runs: what it gives is differentiated by nobody else.
    """

    __slots__ = ("function", "receiver", "special", "with_calls")

    def __init__(self, function: Function, receiver: Value | None, *, special: bool = False) -> None:
        self.function = function
        self.receiver = receiver
        self.special = special
        self.with_calls = False

    @classmethod
    def of(cls, value: Value) -> Callback | None:
        """What a value is as a callback, if it is one."""
        if isinstance(value, Bound) and value.function is not None:
            return cls(value.function, value.receiver)
        return cls(value, None) if isinstance(value, Function) else None

    def is_same(self, other: Callback) -> bool:
        same = self.function is other.function and self.receiver is other.receiver
        return same and self.special is other.special

    def may_differentiate(self, reach: Reach) -> bool:
        """Whether a backward may come of running it."""
        return reach.has_backward if self.special else reach.differentiates

    def shows(self, reach: Reach) -> tuple[tuple[str, ...], ...]:
        """What nobody knows who gets to see it when it is run."""
        return reach.passes if self.special else (*reach.passes, *reach.gives)

    def variables(self, name: str) -> dict[str, Value] | None:
        """Where a variable is that the function sees."""
        parameters = self.function.definition.parameters
        if self.receiver is not None and parameters and parameters[0].name == name:
            return {name: self.receiver}
        frame: Frame | None = self.function.closure
        while frame is not None and name not in frame.variables:
            frame = frame.enclosing
        return None if frame is None else frame.variables

    def lookup(self, name: str) -> Value | None:
        """The value of a variable that the function sees."""
        variables = self.variables(name)
        return None if variables is None else variables[name]


_WITHOUT_TENSORS: Final = frozenset({External, Function, Class, Constant})
"""Most of what a function uses of its file."""


def seen_from(frame: Frame | None, names: frozenset[str]) -> list[Value]:
    """The values of those of some names that are variables in sight of a frame, where they may hold tensors."""
    found: list[Value] = []
    while frame is not None and names:
        variables = frame.variables
        elsewhere: set[str] | None = None if frame.enclosing is None else set()
        for name in names:
            if name not in variables:
                if elsewhere is not None:
                    elsewhere.add(name)
            elif type(variables[name]) not in _WITHOUT_TENSORS:
                found.append(variables[name])
        if elsewhere is None:
            break
        names, frame = frozenset(elsewhere), frame.enclosing
    return found


_WRITES_A_STEP: Final = 8
"""Places forgotten in the time of one statement."""


class HandedOn:
    """
    What may come of running functions that were handed on, taken together.

    Attributes
    ----------
    callbacks
        The functions; without `with_calls`, those among them that run with calls of a Module do nothing.
    objects
        The objects of those a backward may come of, which read them.
    reads
        By frame, the names that those read.
    writing
        Those that write to something, set something or change flags, with what each does.
    showing
        Those that give or hand something to code that nobody knows.
    steps
        What it costs to forget what those write: nothing in ordinary programs, much in the window of an application.
        (What is looked through is paid for when it is: it grows.)
    """

    __slots__ = ("callbacks", "objects", "reads", "showing", "steps", "writing")

    def __init__(self, callbacks: tuple[Callback, ...], reaching: dict[int, Reach], *, with_calls: bool = True) -> None:
        self.callbacks = callbacks
        self.objects: list[Value] = []
        self.writing: list[tuple[Callback, Reach]] = []
        self.showing: list[tuple[Callback, tuple[str, ...]]] = []
        found: dict[int, tuple[Frame, set[str]]] = {}
        for callback in callbacks:
            if callback.with_calls and not with_calls:
                continue
            function = callback.function
            reach = reaching[id(function.definition)]
            if reach.writes or reach.changes_flags or reach.sets:
                self.writing.append((callback, reach))
            self.showing += [(callback, path) for path in callback.shows(reach)]
            if not callback.may_differentiate(reach):
                continue
            names = set(reach.reads)
            parameters = function.definition.parameters
            if callback.receiver is not None and parameters and parameters[0].name in names:
                if not any(each is callback.receiver for each in self.objects):
                    self.objects.append(callback.receiver)
                names.discard(parameters[0].name)
            found.setdefault(id(function.closure), (function.closure, set()))[1].update(names)
        self.reads = [(frame, frozenset(names)) for frame, names in found.values()]
        written = sum(len(reach.writes) for _, reach in self.writing)
        self.steps = (written + len(self.showing)) // _WRITES_A_STEP


class LoopFrame:
    """A running loop: the states in which its body was left by `break` and `continue`."""

    __slots__ = (
        "before", "body", "breaks", "changed", "continues", "count", "counter", "counts", "distinguished", "frame",
        "iteration_mark", "iteration_path", "mark", "more", "path",
    )  # fmt: skip

    def __init__(self, mark: int, path: Guard, frame: Frame, body: list[ir.Statement]) -> None:
        self.mark = mark
        self.path = path
        self.frame = frame
        self.body = body
        self.changed: frozenset[str] | None = None
        """The names that the body sets, once somebody has asked."""
        self.counts = False
        """Whether it is of unknown length and counts its iterations from 0."""
        self.counter: Value | None = None
        """The count, in the iteration that runs."""
        self.distinguished = False
        """Whether the second iteration has been told from the others by its count."""
        self.more = False
        """Whether an iteration runs after which another one is followed."""
        self.iteration_mark = mark
        self.iteration_path = path
        self.breaks: list[tuple[Guard, Changes]] = []
        self.continues: list[tuple[Guard, Changes]] = []
        self.count = 0
        self.before: dict[str, Value] = {}
        """What variables and attributes of `self` held when it began."""


Called: TypeAlias = "tuple[str, list[str]]"
"""What a call runs: the variable, and what of it."""
Expressions: TypeAlias = "dict[type, Callable[[Run, Any], Value]]"
Statements: TypeAlias = "dict[type, Callable[[Run, Any], None]]"
Callees: TypeAlias = "dict[type, Callable[[Run, Any, CallSite], Value]]"


@contextmanager
def looking_from(machine: Machine, frame: Frame) -> Iterator[None]:
    """Names are looked up in another frame: that in which a function was defined, and which it sees."""
    outer, machine.frame = machine.frame, frame
    try:
        yield
    finally:
        machine.frame = outer


class Run:
    """One abstract run of Python: its state, and the transfer functions by the node they are for."""

    __slots__ = (
        "_conditions",
        "asked_release",
        "autograd",
        "budget",
        "callees",
        "calling",
        "classes",
        "compared",
        "computed_alike",
        "defined",
        "entered",
        "exposed",
        "expressions",
        "finals",
        "flagged",
        "foreign_watch",
        "freezing",
        "functions",
        "given_away",
        "given_tensors",
        "handed_on",
        "handed_to_unknown",
        "handed_together",
        "handing",
        "hooked_by_all",
        "imports",
        "iterations",
        "keep_alive",
        "kept_by_unknown",
        "loops",
        "machine",
        "own_watch",
        "owners",
        "prototypes",
        "reaching",
        "renaming",
        "repeating",
        "replaced",
        "set_outside",
        "setting",
        "statements",
        "supposed",
        "suspended",
        "torch",
        "turned",
        "unknown_call",
        "visits",
    )

    __deletable__ = ("prototypes",)  # what mypyc lets one delete, for the end (`release`)

    def __init__(
        self,
        expressions: Expressions,
        statements: Statements,
        callees: Callees,
        unknown_call: Callable[[Run, Value, CallSite], Value],
    ) -> None:
        self.expressions = expressions
        self.statements = statements
        self.callees = callees
        self.unknown_call = unknown_call
        """For what is none of the `callees`."""
        self.machine = Machine()
        self.budget = self.machine.budget
        self.autograd = Autograd(self.machine)
        self.torch = Torch(self.machine, self.autograd)
        self.imports: Imports | None = None
        self.suspended: Callable[[Value], None] | None = None
        """What a generator that runs as a context manager comes back to where it yields."""
        self.owners: dict[int, Class] = {}
        self.handed_on: tuple[Callback, ...] = ()
        """Functions of the file that unknown code, a hook or a callback may run at any time."""
        self.handed_to_unknown: tuple[Value, ...] = ()
        self.exposed: tuple[Exposed, ...] = ()
        self.computed_alike: dict[int, tuple[Value, Value]] = {}
        """By value, as those are identified: itself, and the one of the next element (see `python.elements`)."""
        self.kept_by_unknown: tuple[Value, ...] = ()
        """What of torch unknown code may run at any time: `loss.backward`, `torch.set_grad_enabled`."""
        self.handed_together = {True: HandedOn((), {}), False: HandedOn((), {})}
        self.hooked_by_all = False
        """Whether a hook that runs at the calls of all Modules may change what they return."""
        self.supposed: tuple[str, ...] = ()
        """Of what class the settings are that the constructor wants, where it does not say so itself."""
        self.replaced: frozenset[str] = frozenset()
        """
        The full names of what the file has put something else in the place of: `torch.Tensor.detach`; `torch.Tensor.*`:
        of something there, nobody knows what; `*.detach`: of whatever has that name; `*.*`: of anything.
        """
        self.set_outside: frozenset[str] | None = None
        """The attributes that the file sets on something else than `self`, once they are asked for."""
        self.turned: set[int] = set()
        """The definitions of the classes of which unknown code was given an object, to do something with it."""
        self.given_away: set[int] = set()
        """The definitions of the classes of which unknown code was given an object, and may have set its flags."""
        self.given_tensors: set[str] = set()
        """The names of the attributes of which unknown code was given the tensors themselves."""
        self.reaching: dict[int, Reach] = {}
        """Of the functions that were handed on, by the number of their definition."""
        self.calling: dict[int, tuple[tuple[str, ...], ...]] = {}
        self.flagged: dict[ir.FunctionDef, frozenset[str]] = {}
        """What of its object a method sets the flags of ("" for all), once somebody has asked."""
        self.freezing: dict[ir.FunctionDef | ir.Lambda, bool] = {}
        """Whether a function may change flags, by what is written in it."""
        self.handing: dict[ir.FunctionDef | ir.Lambda, tuple[list[Called] | None, frozenset[str]]] = {}
        """The calls with arguments in functions that were not followed, and these functions' own names."""
        self.setting: dict[ir.FunctionDef | ir.Lambda, bool] = {}
        """Whether such a function sets attributes."""
        self.renaming: dict[ir.FunctionDef | ir.Lambda, bool] = {}
        """Whether a `__getattribute__` only renames, which each attribute of an object of its class asks."""
        self.entered: set[int] = set()
        machine = self.machine
        self.prototypes = Prototypes(machine.globals, machine.branch, self.autograd.saved, machine.trail.made)
        # What is watched while another file's code runs, and what otherwise.
        self.foreign_watch = self.own_watch = NOBODY
        self.loops: list[LoopFrame | None] = []
        self.keep_alive: list[object] = []
        self.visits = Visits()
        self.iterations = 0
        self.finals: list[tuple[int, list[ir.Statement]]] = []
        """The `finally` blocks that a `return` runs through, each with the depth of the call it is in."""
        self.repeating = False
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.defined: set[int] = set()
        self._conditions: dict[int, conditions.Read] = {}
        self.asked_release: dict[int, bool | None] = {}
        """What comparisons give under each release of torch that is known; None if that is open."""
        self.compared: dict[tuple[str, object], list[int]] = {}
        """By what is compared with a text, and the values read for it: the numbers of the conditions that do."""

    def evaluate(self, node: ir.Expression) -> Value:
        """The abstract value of an expression."""
        budget = self.budget
        nested = budget.nested
        budget.nested = nested + 1
        followed = budget.followed = budget.followed + 1
        if nested >= MOST_NESTED or followed > MOST_FOLLOWED:  # as `descend`: most of what is followed
            budget.refuse()
        value = self.expressions[type(node)](self, node)
        budget.nested = nested
        return value

    def execute(self, body: list[ir.Statement]) -> None:
        """Run statements one after the other, until the path ends."""
        machine, budget = self.machine, self.budget
        machine.blocks[id(body)] = body
        budget.descend()
        for statement in body:
            if machine.dead:
                break
            if budget.outside or budget.steps_left <= 0:
                budget.spend()
            else:  # as `spend`
                budget.steps_left -= 1
            machine.statement = statement
            self.statements[type(statement)](self, statement)
            for hook in machine.watch.ran if not machine.dead else ():
                hook(statement)
        budget.nested -= 1

    def invoke(self, callee: Value, site: CallSite) -> Value:
        """Call any value."""
        budget = self.budget
        budget.descend()
        result = self.callees.get(type(callee), self.unknown_call)(self, callee, site)
        budget.nested -= 1
        return result

    def call(self, function: Value, positional: list[Value], origin: ir.Node) -> Value:
        """Call a value with values (no argument is written anywhere)."""
        node = origin if isinstance(origin, ir.Call) else ir.Call(origin.origin, ir.Name(origin.origin, ""), [])
        return self.invoke(function, CallSite(node, list(positional), {}))

    def give_away(self, cls: Class) -> None:
        """Unknown code has an object of a class, which any class that it derives from may have made."""
        if id(cls.definition) not in self.given_away:
            self.given_away.update([id(each.definition) for each in cls.ancestry()])

    def is_replaced(self, qualified: str) -> bool:
        """Whether something of torch may be another one than torch's."""
        if not self.replaced or not qualified.startswith("torch."):
            return False
        owner, _, name = qualified.rpartition(".")
        return not self.replaced.isdisjoint((qualified, f"{owner}.*", f"*.{name}", "*.*"))

    def replaces_layer(self, name: str) -> bool:
        """Whether a layer of a class of `torch.nn` may do another thing than torch's: it runs functions of torch."""
        inside = (
            "*.*",
            "*.forward",
            "*.__call__",
            "torch.Tensor.",
            "torch.nn.functional.",
            "torch.nn.Module.",
            f"torch.nn.{name}.",
        )
        return any(each.startswith(inside) or (each.count(".") == 1 and each[0] != "*") for each in self.replaced)

    def replaces_operators(self) -> bool:
        """Whether what `+` and the like of a tensor do may be another thing than torch's."""
        return bool(self.replaced) and any(
            each.startswith(("torch.Tensor.__", "torch.Tensor.*", "*.__", "*.*")) for each in self.replaced
        )

    def share(self, other: Run) -> None:
        """Number branches and know classes together with another run: values of one are values of the other."""
        self.machine.share(other.machine)
        other.autograd.elsewhere = self.autograd
        self.owners = other.owners

    def condition(self, test: ir.Expression) -> conditions.Read:
        """What is written in a condition; it is met many times, and read once."""
        known = self._conditions.get(id(test))
        if known is None:
            known = self._conditions[id(test)] = conditions.read(test)
        return known

    def release(self) -> None:
        """
        Nobody asks any more: take apart what refers to each other in circles (variables and the functions that see
        them, graph nodes and the tensors they save), so that it is gone now, and not when the garbage collector comes
        by.
        """
        self.machine.trail.release()
        self.autograd.release()
        self.imports = None
        self.handed_together.clear()
        self.prototypes.release()
        del self.prototypes
