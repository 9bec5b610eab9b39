"""
The machine under the interpreter: time, paths, grad mode, budget, and how a run forks and joins.

Knows neither Python nor torch operations; everything above it (graph, calls, interpreter) changes state only through
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, TypeVar

from torchlint.model.events import AutogradRefused, BackwardCalled, Event, TensorFacts
from torchlint.model.events.trace import StateKind, Step
from torchlint.model.state.budget import Budget
from torchlint.model.state.callers import Callers
from torchlint.model.state.guards import ALWAYS, Guard, Truth, agree, arms_of, meet
from torchlint.model.state.hooks import NOBODY
from torchlint.model.state.reflection import resting
from torchlint.model.state.trail import Changes, Trail
from torchlint.model.state.values import ForeignCall, Frame, Globals, Tensor, Value, alternatives, choose
from torchlint.syntax import cst, ir

if TYPE_CHECKING:
    from torchlint.model.state.computations import ComputationLog
    from torchlint.model.state.frames import CallFrame

T = TypeVar("T")
AnyEvent = TypeVar("AnyEvent", bound=Event)

_OF_VALUES = (AutogradRefused, BackwardCalled)


def _no_files(word: str) -> Iterator[tuple[str, str]]:
    return iter(())


class Machine:
    """State of one abstract run."""

    __slots__ = (
        "_branches",
        "_followed",
        "_following",
        "alternatives",
        "ambient",
        "assumed",
        "blocks",
        "budget",
        "built_in",
        "called_at",
        "callers",
        "callers_mode",
        "carried",
        "caught",
        "clock",
        "computations",
        "contexts",
        "dead",
        "entered_at",
        "events",
        "expected_errors",
        "externally_pure",
        "foreign_call",
        "frame",
        "globals",
        "grad_mode",
        "inference",
        "iteration",
        "mentioning",
        "open_layer_write",
        "open_write",
        "parameter_loops",
        "path",
        "program",
        "reflection",
        "since",
        "skipped_import",
        "stack",
        "statement",
        "trail",
        "unseen_class",
        "watch",
    )

    __deletable__ = ("computations",)  # what mypyc lets one delete, for the end (`EntryPoints.release`)

    program: ir.Program
    """The file."""
    computations: ComputationLog
    """What was computed so far, for observers."""

    def __init__(self) -> None:
        self.trail = Trail()
        self.path = self.assumed = ALWAYS
        self.grad_mode = Truth.YES
        self.inference = Truth.NO
        """Inside of `with torch.inference_mode()`; MAYBE under a context that nobody knows."""
        self.ambient = Truth.YES
        """The grad mode that was set to last, for good: outside of any `with` of the function that did it."""
        self.callers_mode = Truth.NO
        """Whether the grad mode is that of whoever calls the entry point: the program has not set it since."""
        self.callers = Callers()
        self.contexts = 0
        """The `with` blocks around the running statement, in its function."""
        self.dead = False
        self.clock = 0
        self.since = 0
        """What happened up to this moment need not have happened before the code that runs now."""
        self.budget = Budget()
        self.foreign_call: ForeignCall | None = None
        self.skipped_import = False
        """Something of another file was met and not looked into."""
        self.open_write = False
        """A write was met of which nobody knows whether a backward needs what it overwrites."""
        self.open_layer_write = False
        """A layer of unknown code was built that may work in place."""
        self.entered_at = 0
        """When the entry point began that runs now."""
        self.called_at = 0
        """When the function was called that is followed by itself, after others perhaps; 0 in the script."""
        self.externally_pure = True
        """Whether it has written in place only to what it had made itself, and no question is left open."""
        self.statement: ir.Statement | None = None
        self.iteration: tuple[int, ...] = ()
        self.built_in = self.reflection = self.unseen_class = ""  # of the others see `state.reflection`
        self.expected_errors = self.caught = 0  # the second: of the `try` around, those with a handler that comes back
        self.events: list[Event] = []
        self.alternatives: dict[object, list[tuple[Guard, Event]]] = {}
        """See `state.alternatives`."""
        self.watch = NOBODY
        self.blocks: dict[int, list[ir.Statement]] = {}
        """The blocks that were run, by identity; and of the first so many of them, which line follows which."""
        self._followed = 0
        self._following: dict[int, cst.CSTNode] = {}
        self.carried: Callable[[], list[tuple[str, StateKind, Tensor]]] = list
        self.mentioning: Callable[[str], Iterator[tuple[str, str]]] = _no_files
        """The other files around that hold a word: their names and texts. Asked only of what is about to be told."""
        self._branches: dict[object, int] = {}
        self.globals = Globals({})
        self.frame: Frame = self.globals
        self.stack: list[CallFrame] = []
        self.parameter_loops: list[tuple[str, cst.For | None, set[int]]] = []
        """The loops over parameters around the running statement: of what, as written, the tensors."""

    def share(self, other: Machine) -> None:
        """Number branches together with another machine."""
        self._branches = other._branches

    # -- time

    def tick(self) -> int:
        """The next moment."""
        self.clock += 1
        return self.clock

    # -- places

    def line(self) -> cst.CSTNode:
        """The CST statement being run; while another file's code runs, the one that called it."""
        if self.foreign_call is not None:
            return self.foreign_call.line
        assert self.statement is not None
        return self.statement.line

    def after(self, line: cst.CSTNode) -> cst.CSTNode | None:
        """The line that follows one in its block; None for the last, and where the block was not run."""
        for block in list(self.blocks.values())[self._followed :]:
            for statement, after in pairwise(block):
                self._following[id(statement.line)] = after.line
        self._followed = len(self.blocks)
        return self._following.get(id(line))

    def here(self, origin: ir.Node) -> ir.Node:
        """A place of the file: the given one, or, while another file's code runs, the call of it."""
        return origin if self.foreign_call is None else self.foreign_call.node

    def of_elsewhere(self, tensor: Tensor) -> bool:
        """Whether another file's code is running that has made the tensor itself: what is wrong with it is its own."""
        return self.foreign_call is not None and tensor.born > self.foreign_call.started

    # -- paths

    @property
    def guard(self) -> Guard:
        """The guard under which the code runs now: the path taken, and what is assumed of values."""
        return self.path | self.assumed if self.assumed else self.path

    def branch(self, key: object) -> int:
        """The number of a branch; the same key gives the same number, so that its arms are told apart for good."""
        return self._branches.setdefault(key, len(self._branches))

    def decision(self, number: int) -> object:
        """The key that a branch was numbered for: of a condition, its text and what it reads."""
        return next(islice(self._branches, number, None), None)  # numbered as they came, none is ever taken out

    def condition(self, number: object) -> str | None:
        """The text of the condition that a branch was numbered for; None if it is of another kind."""
        key = self.decision(number) if isinstance(number, int) else None
        return key[0] if isinstance(key, tuple) and isinstance(key[0], str) else None

    def taken(self, number: int) -> int | None:
        """The arm of a branch that the present path has taken, if any."""
        arm = arms_of(self.path).get(number)
        return arm if arm is not None or not self.assumed else dict(self.assumed).get(number)

    def fork(self, arms: Sequence[tuple[Guard, Callable[[], T]]], *, assume: bool = False) -> list[tuple[Guard, T]]:
        """
        Run the arms of a branch one after the other on the present state, and join them.

        With `assume`, the arms are values that a variable may have, not a decision the program makes here: what is
        found in one arm then holds only if the arms together leave no way around (see `truth.covered`).
        Results of arms that end (return, raise, break) are dropped; if all do, the machine is dead.
        """
        path, assumed, mark = self.path, self.assumed, self.trail.mark()
        changes: list[tuple[Guard, Changes]] = []
        results: list[tuple[Guard, T]] = []
        for guard, run in arms:
            taken = meet(path, guard)
            if taken is None or (assumed and not agree(taken, assumed)):
                continue
            if assume:
                self.assumed = assumed | guard
            else:
                self.path = taken
            self.dead = False
            result = run()
            if not self.dead:
                changes.append((guard, self.trail.changes(mark)))
                results.append((guard, result))
            self.trail.undo(mark)
        self.path, self.assumed, self.dead = path, assumed, not results
        if results:
            self.trail.join(changes)
            if len(results) == 1 and not assume:
                self.path = path | results[0][0]
        return results

    def each(self, value: Value, run: Callable[[Value], Value]) -> Value:
        """Apply `run` to every alternative of a value, and join the results."""
        options = alternatives(value, self.guard)
        if len(options) == 1:
            return run(options[0][1])
        results = self.fork([(guard, partial(run, each)) for guard, each in options], assume=True)
        return choose(results)

    # -- events

    def is_certain(self) -> bool:
        """Whether what happens now happens on every path that comes here, whatever value a variable has."""
        return self.assumed <= self.path

    def with_truth(self, event: AnyEvent) -> AnyEvent:
        """An event of this moment, no surer than the moment is. Also for one that is told later."""
        certain = event.truth is not Truth.YES or self.is_certain()
        return event if certain else replace(event, truth=Truth.MAYBE)

    def emit(self, event: AnyEvent, *, whatever: bool = False) -> AnyEvent:
        """
        Report an event, with its truth (`with_truth`), unless the code expects an error here (`pytest.raises`), or it
        concerns another file: of what that does, only what goes wrong with this file's values is told, at the call
        that led there. `whatever`: it happens whichever of its values a variable has.
        """
        told = event if whatever else self.with_truth(event)
        if not self.expected_errors and (self.foreign_call is None or isinstance(event, _OF_VALUES)):
            self.events.append(resting(told, self.reflection, self.unseen_class))
        return told

    def facts(self, tensor: Tensor, name: str = "") -> TensorFacts:
        """What is known of a tensor now."""
        names = {node.name for _, node in tensor.grad_fn}
        return TensorFacts(
            name=name or tensor.name,
            shape=tensor.shape,
            requires_grad=tensor.requires_grad.truth(),
            is_leaf=tensor.is_leaf,
            is_parameter=tensor.is_parameter,
            grad_fn=names.pop() if len(names) == 1 else "",
            created=self.created(tensor),
            view=tensor.view,
        )

    def created(self, tensor: Tensor) -> Step | None:
        """The step that made a tensor, if it has a name to be called by."""
        if not tensor.name:
            return None
        return Step(tensor.origin.origin, f"`{tensor.name}` created here")


def records(machine: Machine) -> Truth:
    """Whether operations are recorded: grad mode is on, and inference mode, which that does not end, is not."""
    return machine.grad_mode & ~machine.inference
