"""
In whose grad mode a function runs that is followed by itself, and what is told of it that rests on that.

Such a function is followed with grad mode on; whether its callers have it on is known of few: of one that
differentiates (elsewhere its backward fails), of a test, of one that is called a loss. What torch refuses in the others
only where grad mode is on is told with that condition; of a Module's `forward`, which people train, where it
happens in an arm of the program: that may be the one for inference. What the file itself calls, and nowhere with grad
mode on, is not spoken of; where a module is run as a script (`if __name__ == "__main__":`) it is only tried out.

Knows places and texts; neither operations nor statements.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from torchlint.condition import Condition, without_reflection
from torchlint.model.events import Event
from torchlint.model.state.guards import Truth
from torchlint.syntax import ir
from torchlint.syntax.for_effect import is_shown
from torchlint.syntax.reading import differentiates
from torchlint.syntax.spelling import dotted
from torchlint.syntax.tree import python_node

if TYPE_CHECKING:
    from torchlint.model.state.machine import Machine

GRAD_MODE_IS_ON = Condition("grad_mode", "torch.is_grad_enabled()")
GRAD_MODE_IS_OFF = Condition("grad_mode", "torch.is_grad_enabled()", holds=False)
"""Of a custom Function's `backward`: `create_graph` says which it runs with (torch/csrc/autograd/engine.cpp)."""

_RECORDS = re.compile(r"^_*(?:test|train|fit|main$|backward)|loss|criterion|train(?:ing)?_|_train")
"""Functions that nobody calls but with grad mode on, as their names say."""
_FOR_TRAINING = re.compile(r"training|is_train|requires_grad|grad_enabled|labels?\b|targets?\b")
"""Conditions that hold where somebody trains."""
_INFERS = re.compile(
    r"(?:^|_)(?:predict|generate|sample|decode|infer|inference|recogni[sz]e|beam|beams|search|eval|evaluate|demo)(?:_|$)"
)
"""Functions whose results nobody differentiates, as their names say; and conditions that hold there."""
_WRITES_SAFELY = re.compile(
    r"(?:^|_)(?:safe|safely|can|may|ok|allow|allowed|allows)_(?:\w+_)?in_?place(?:_|$)"
    r"|(?:^|_)in_?place_(?:is_)?(?:safe|ok|allowed)(?:_|$)"
)
"""
Conditions under which a write in place does no harm, as their names say: whoever sets one knows that nobody
differentiates. A plain `inplace` asks for the write, and says nothing of what it does.
"""
_OF_DATA = frozenset({
    "dim", "ndimension", "size", "numel", "len", "isinstance", "issubclass", "hasattr", "getattr", "callable", "type",
    "any", "all", "sum", "min", "max", "mean", "abs", "norm", "item", "eq", "equal", "allclose", "isnan", "isinf",
    "isfinite", "is_tensor", "is_floating_point", "is_complex", "is_sparse", "is_cuda", "is_contiguous", "is_available",
    "rand", "random", "randint", "uniform", "choice", "items", "keys", "values", "get", "startswith", "endswith",
    "lower", "upper", "split", "int", "float", "str", "bool", "tuple", "list", "range",
})  # fmt: skip
"""What a condition calls that asks for sizes, types, names, values or chance, and not who runs the program and why."""
_OF_GRAD = frozenset({"torch.autograd", "autograd", "torch.func", "func"})
"""Whose `grad` is a function that differentiates."""
_ON, _OFF, _EITHER, _OFF_FOR_ITSELF = 1, 0, 2, 3
"""The mode of a call; the last: off, but by a method of the Module whose `forward` is called."""
EntryKind: TypeAlias = Literal["function", "forward", "constructor"]


def _by_callers(event: Event) -> Event:
    """An event that rests on its callers' mode, which is the one condition that it names."""
    kept = without_reflection(event.conditions)
    return event if len(kept) == len(event.conditions) else replace(event, conditions=kept)


class Callers:
    """The entry point that runs, who calls what in which mode, and the events that rest on it."""

    __slots__ = (
        "_differentiates", "_tried_out", "called", "entry", "in_arms", "kind", "out_of_sight", "program", "recording",
        "resting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.entry: ir.FunctionDef | None = None
        """The function that runs as an entry point."""
        self.kind: EntryKind = "function"
        self.called: dict[int, set[int]] = {}
        """
        By definition, as those are identified: the entry points in whose callers' mode it was called; or on; off; off
        for itself; or nobody knows which of the two.
        """
        self.resting: dict[int, tuple[Event, int | None, str]] = {}
        """By event: the entry point on whose callers' mode it rests, and its name; None of the script."""
        self.in_arms: dict[int, int] = {}
        """Places in arms of functions that the script has come to with grad mode on: the function of each."""
        self.recording: set[tuple[int, int]] = set()
        """Entry points and places to which people come with grad mode on."""
        self.program: ir.Program | None = None
        """The file whose entry points are followed; None while another file is only imported."""
        self.out_of_sight = False
        """Whether code in a text, or unknown code that was given functions, ran where grad mode may be off."""
        self._tried_out = False
        self._differentiates: dict[int, bool] = {}

    def begin(self, entry: ir.FunctionDef | None, kind: EntryKind = "function") -> None:
        """This entry point runs now."""
        self.entry, self.kind = entry, kind

    def note_call(self, machine: Machine, definition: ir.Node, *, of_itself: bool = False) -> None:
        """
        A function is called, in the present mode; `of_itself`: a Module's `forward`, by another method of that Module.
        """
        entry = self.entry
        if not machine.stack:
            self._tried_out = entry is None and self._is_shown(machine.statement)
        if self._tried_out and entry is None and machine.grad_mode is Truth.NO:
            return
        if entry is None or machine.callers_mode is Truth.NO or machine.grad_mode is not Truth.YES:
            off = _OFF_FOR_ITSELF if of_itself else _OFF
            mode = {Truth.NO: off, Truth.YES: _ON}.get(machine.grad_mode, _EITHER)
        else:
            mode = id(entry)
        self.called.setdefault(id(definition), set()).add(mode)

    def off_by_engine(self, machine: Machine) -> tuple[Condition, ...]:
        """What else must hold for grad mode to be off, where it is the engine that turns it off: for a `backward`."""
        entry = self.entry
        is_off = entry is not None and entry.name == "backward" and machine.grad_mode is Truth.NO
        return (GRAD_MODE_IS_OFF,) if is_off else ()

    def _is_shown(self, statement: ir.Statement | None) -> bool:
        return self.program is not None and statement is not None and is_shown(self.program, statement)

    def conditions(self, machine: Machine, place: ir.Node, *, spares_graph: bool = False) -> tuple[Condition, ...]:
        """
        What else must hold for grad mode to be on, which it is as far as the program says. What `spares_graph` and
        writes into memory at hand (`out=`) is for inference: that a `forward` is there to be trained says nothing then.
        """
        if machine.expected_errors:
            return ()
        if self.entry is None:
            return self._of_script(machine, place)
        if machine.callers_mode is Truth.NO:
            return ()
        running = [frame.definition for frame in machine.stack] or [self.entry]
        if any(self._is_differentiating(each) for each in running):
            return ()
        if self._records(machine, running, spares_graph=spares_graph):
            self.recording.add((id(self.entry), id(place.origin)))
        return (GRAD_MODE_IS_ON,)

    def _of_script(self, machine: Machine, place: ir.Node) -> tuple[Condition, ...]:
        """
        In an arm of a function that the script calls: with grad mode off as well, it may be called so that another call
        comes to this arm.
        """
        if not machine.stack or machine.grad_mode is not Truth.YES:
            return ()
        call = machine.stack[-1]
        arms = machine.path - call.path
        if not any(isinstance(number, int) and _leaves_open(machine.decision(number), arm) for number, arm in arms):
            return ()
        self.in_arms[id(place.origin)] = id(call.definition)
        return (GRAD_MODE_IS_ON,)

    def _records(self, machine: Machine, running: list[ir.Node], *, spares_graph: bool) -> bool:
        """Whether people call the entry point with grad mode on, and come to this place then."""
        if any(isinstance(each, ir.FunctionDef) and _RECORDS.search(each.name) for each in running):
            return True
        return self.kind == "constructor" or (self.kind == "forward" and not spares_graph and not _in_an_arm(machine))

    def infers(self, machine: Machine) -> bool:
        """Whether what runs is for inference, as its name or an `if` around it says."""
        running = [frame.definition for frame in machine.stack]
        if any(self._is_differentiating(each) for each in running):
            return False
        names = [each.name for each in (*running, self.entry) if isinstance(each, ir.FunctionDef)]
        if any(map(_INFERS.search, names)) and not any(map(_RECORDS.search, names)):
            return True
        return any(
            isinstance(number, int) and _is_for_inference(machine.condition(number), arm)
            for number, arm in machine.path
        )

    def _is_differentiating(self, definition: ir.Node) -> bool:
        known = self._differentiates.get(id(definition))
        if known is None:
            known = self._differentiates[id(definition)] = differentiates(definition) and _runs_backward(definition)
        return known

    def note_events(self, events: list[Event]) -> None:
        """These are of the entry point that runs."""
        name = "" if self.entry is None else self.entry.name
        for event in events:
            if GRAD_MODE_IS_ON in event.conditions and (self.entry is not None or id(event.node) in self.in_arms):
                self.resting.setdefault(id(event), (event, None if self.entry is None else id(self.entry), name))

    def settled(self, events: list[Event], elsewhere: Callable[[str], bool]) -> list[Event]:
        """
        The events, now that it is known who calls whom. `elsewhere` says of a function's name whether other files call
        it, and with grad mode off alone.
        """
        return [told for event in events if (told := self._settled(event, elsewhere)) is not None]

    def _settled(self, event: Event, elsewhere: Callable[[str], bool]) -> Event | None:
        rests = self.resting.get(id(event))
        if rests is None:
            return event
        _, entry, name = rests
        if entry is None:
            function = self.in_arms.get(id(event.node), 0)
            if not {_OFF, _EITHER, _OFF_FOR_ITSELF}.isdisjoint(self.called.get(function, ())):
                return _by_callers(event)
            return replace(event, conditions=tuple(each for each in event.conditions if each != GRAD_MODE_IS_ON))
        if self._only_off(entry, frozenset()) or (entry not in self.called and elsewhere(name)):
            return None
        records = (entry, id(event.node)) in self.recording and self._surely_on(entry, frozenset())
        if self.out_of_sight or not records:
            return None if any(each.kind == "branch" for each in event.conditions) else _by_callers(event)
        return replace(event, conditions=tuple(each for each in event.conditions if each != GRAD_MODE_IS_ON))

    def _only_off(self, definition: int, asked: frozenset[int]) -> bool:
        """
        Whether the file calls a function, and nowhere with grad mode on. A `forward` that its own Module alone calls so
        (`generate` under `no_grad`) has other callers, who train it.
        """
        modes = self.called.get(definition)
        if modes is None or definition in asked or _ON in modes or modes == {_OFF_FOR_ITSELF}:
            return False
        return _EITHER not in modes and all(
            mode in (_OFF, _OFF_FOR_ITSELF) or self._only_off(mode, asked | {definition}) for mode in modes
        )

    def _surely_on(self, definition: int, asked: frozenset[int]) -> bool:
        """Whether the file does not call a function, or somewhere with grad mode on for certain."""
        modes = self.called.get(definition)
        if modes is None or definition in asked or _ON in modes:
            return True
        return any(mode > _OFF_FOR_ITSELF and self._surely_on(mode, asked | {definition}) for mode in modes)


def _runs_backward(definition: ir.Node) -> bool:
    """
    Whether a function fails with grad mode off: one that runs a backward. Who reads `.grad`, or steps an optimizer,
    makes an update perhaps, for callers under `no_grad`.
    """
    return any(
        isinstance(each, ir.Attribute)
        and (each.attr == "backward" or (each.attr == "grad" and dotted(each.value) in _OF_GRAD))
        for each in ir.walk(definition)
    )


def _is_for_inference(condition: str | None, arm: int) -> bool:
    """Whether a conjunction that holds (arm 1), or doesn't, says that nobody trains."""
    if condition is None:
        return False
    literals = [each for each in condition.split(" and ") if "(" not in each]
    trains = [each for each in literals if "training" in each]
    if arm == 0:  # `a or b` is the negation of `not a and not b`
        if literals and all(each.startswith("not ") for each in condition.split(" and ")):
            return all(each.startswith("not ") and _is_of_inference(each[4:]) for each in literals)
        return bool(trains) and not any(each.startswith("not ") for each in trains)
    if any(each.startswith("not ") for each in trains):
        return True
    return any(map(_is_of_inference, (each for each in literals if not each.startswith("not "))))


def _is_of_inference(literal: str) -> bool:
    """Whether a flag says that nobody differentiates where it is set, or that what is written there is not needed."""
    name = literal.rpartition(".")[2]
    return bool(_INFERS.search(name) or _WRITES_SAFELY.search(name))


def _in_an_arm(machine: Machine) -> bool:
    """Whether an `if` of the program leads here that does not ask for training, or an `except`."""
    return any(isinstance(number, int) and _leaves_open(machine.decision(number), arm) for number, arm in machine.path)


def _leaves_open(decision: object, arm: int) -> bool:
    """Whether a decision may be between training and something else."""
    if not isinstance(decision, tuple):
        return False
    if isinstance(decision[0], str):
        return not (arm == 1 and _FOR_TRAINING.search(decision[0]))
    if decision[1] == "try":
        return arm > 0
    return decision[1] == "if" and any(
        called not in _OF_DATA and not (arm == 1 and _FOR_TRAINING.search(called)) for called in decision[2]
    )


def of_data(decision: object) -> str | None:
    """
    The text of the condition that a decision is made by, if all that it calls asks for sizes, types, values or chance.
    """
    if not isinstance(decision, tuple) or decision[1] != "if" or not _OF_DATA.issuperset(decision[2]):
        return None
    at = python_node(decision[3].origin)
    return ast.unparse(at) if isinstance(at, ast.expr) else None
