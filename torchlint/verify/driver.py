"""
Builds a Module of the program, or takes a function or a method, finds inputs it accepts, and drives it: forward,
backward, and both again.

Runs inside the child. Constructor arguments come from calls in the same file, then from annotations, names and
defaults; inputs from the sizes of its first layers, then from what torch says about a wrong shape. An error that is
about autograd, not about shapes, is what we came for: it ends the search.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import itertools
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import torch

from torchlint.verify import following, menu, origins, refusals, values, wished
from torchlint.verify.anything import Anything
from torchlint.verify.bare import without_constructor
from torchlint.verify.constructions import Construction, Constructions
from torchlint.verify.documented import Example
from torchlint.verify.inputs import Inputs
from torchlint.verify.kinds import text_of
from torchlint.verify.machine import OnThisMachine
from torchlint.verify.measured import Measured
from torchlint.verify.missing import Missing
from torchlint.verify.outputs import OF_OUTPUTS
from torchlint.verify.protocol import Raised
from torchlint.verify.waiting import SECONDS_EVER, Effort, Waiting, Way, ways

ATTEMPTS_GUESSED, STALE_GUESSED = 40, 12
"""Calls with what was constructed in such a step, and of them without coming any further."""
ATTEMPTS_EACH = 140
"""Of them with what was constructed in one way."""
STALE = 60
"""Of them without coming any further: then what was constructed in another way is tried."""
SECONDS_SHOWN = 2.0
"""Seconds of processor time that what examples construct may take in all: they may be as large as what is used."""
AUTOGRAD = (
    "modified by an inplace operation",
    "leaf Variable",
    "backward through the graph a second time",
    "only for scalar outputs",
    "does not require grad",
    "is a view and is being modified inplace",
    "is a view and its base or another view",
    "more than one element of the written-to tensor",
    "as parameter",
    "before Module.__init__() call",
    "only Tensors created explicitly by the user",
    "Inference tensors cannot be saved for backward",
    "Inplace update to inference tensor",
    "on inference tensor",
    "requires_grad flags of leaf variables",
    "on Tensor that requires grad",
)
"""Parts of messages that torch raises about autograd and registration, whatever the shapes."""


_OF_ARGUMENTS = (
    *(
        "only for scalar outputs",
        "does not require grad",
        "as parameter",
        "only Tensors created explicitly by the user",
    ),
    *("requires_grad flags of leaf variables", "on Tensor that requires grad", "before Module.__init__() call"),
)
"""Of these, what may be the fault of arguments that nothing asked for."""
_NOT_THERE = re.compile(
    r"module 'torch[\w.]*' has no attribute|cannot import name .* from 'torch|No module named 'torch\."
)
_GIVEN_UP = re.compile(r"\b(is now|has been|was|were) removed\b|no longer supported")
"""Parts of messages about a name that torch has no more: of what it lacks, and of what it has only to raise."""

_LAST = 99
"""The place of an argument, where none was refused by its place."""


class UnbuiltError(Exception):
    """No way was found to construct the Module or to call it: says what was tried last."""


class _Resettable(Protocol):
    def reset(self) -> None: ...


class Driver:
    """
    Drives one class by a method, or one function.

    Parameters
    ----------
    target
        The class, or the function.
    method
        Of a class: what is called; "" for `forward`, by way of the Module itself.
    tell
        Makes a report of an exception and the phase it came in.
    tree, namespace
        The program's syntax tree and globals: calls of the class in it show how to construct it.
    input_grad
        Whether floating-point inputs require grad (they are no leaves then, as inside a larger network).
    missing
        Sees to what is missing of the program.
    shown
        How the project itself builds and calls it.
    seconds
        Of processor time that the search may take.

    Attributes
    ----------
    searching
        Whether what runs is tried, and not shown.
    """

    def __init__(
        self,
        target: Any,
        method: str,
        tell: Callable[[BaseException, str], Raised],
        tree: ast.Module,
        namespace: Mapping[str, Any],
        *,
        input_grad: bool,
        missing: Missing,
        shown: Sequence[Example] = (),
        seconds: float = SECONDS_EVER,
    ) -> None:
        self.seconds = seconds
        self.target = target
        self.method = method
        self.tell = tell
        self.input_grad = input_grad
        self.constructions = Constructions(target, method, tree, namespace, shown)
        self.shown = shown
        self.description = ""
        self.furthest: tuple[tuple[int, ...], str] = ((0,), "")
        self.nearest: Inputs | None = None
        self.before = 0
        self.gone: _Found | None = None
        self.failure = "no constructor call was found that it accepts"
        self.anything = False
        self.missing = missing
        self.machine = OnThisMachine()
        self.made: dict[str, Any] = {}
        self.searching = False

    def run(self, observer: contextlib.AbstractContextManager[object] | None, *reset: _Resettable) -> Raised | None:
        """
        Construct, call, back-propagate; the whole twice for the call.

        Parameters
        ----------
        observer
            Entered while the Module's code runs.
        reset
            Told before each attempt that what they saw is void.

        Returns
        -------
        Raised | None
            The error that showed and is not one of arguments, with its phase; None if both rounds went through.

        Raises
        ------
        UnbuiltError
            if none of the attempts came to the end of `forward`.
        """
        self.searching = True
        found = self._searched(reset) or self.gone  # no argument helps against that: it is what this program does
        self.searching = False
        if found is None:
            self.description = self.furthest[1] or self.description
            raise UnbuiltError(self.failure)
        return self._shown(observer, found, reset)

    def _searched(self, reset: Sequence[_Resettable]) -> _Found | None:
        """
        Arguments and inputs with which it comes to the end of its first call, or to an error about autograd.

        Nothing is observed, and what is built is called again with other inputs: that is for speed alone.
        """
        effort, shown = Effort(self.seconds), SECONDS_SHOWN
        for construction, waiting in ways(self.constructions, menu.of(self.target, self.method), effort):
            module, state, mine, stale, best = None, None, 0, 0, (-1, 0, 0)
            furthest: Exception | None = None
            dry: list[Inputs] = []
            measured, before = Measured(), effort.left
            most, idle = (ATTEMPTS_GUESSED, STALE_GUESSED) if construction.guessed else (ATTEMPTS_EACH, STALE)
            while module is None or waiting:
                worn = stale >= idle and (construction.guessed or not waiting.guesses)
                worn = worn or (construction.shown is not None and before - effort.left > shown)
                if not waiting.deep and (mine >= most or worn or effort.spent):
                    break
                mine, stale, effort.attempts = mine + 1, stale + 1, effort.attempts + 1
                _afresh(reset)
                phase, chosen, found = _Phase(), None, _Found(construction, None)
                new = module is None and not waiting.deep
                seconds = min(waiting.seconds, self.constructions.seconds(construction) if new else math.inf)
                with OnThisMachine() as self.machine, effort.at_most(min(seconds, effort.left)) as no_more:
                    try:
                        if module is None:
                            module = self._construct(phase, found)
                            if mine == 1 and not waiting.deep and self.constructions.large(construction, module):
                                break
                            state = _state(module)
                            if not self.method and _is_never_called(module):
                                return found
                            if not waiting:
                                waiting.guess([] if self.nearest is None else [self.nearest])
                                asked = self._asked(module)
                                waiting.guess(following.first(asked, module, self.shown, construction))
                        chosen = waiting.next()
                        found = dataclasses.replace(found, inputs=chosen)
                        self._call(phase, self._function(module), chosen)
                        return found
                    except Exception as error:
                        if _of_outputs(error, self.made) or self.missing.completed(error, module):
                            if chosen is not None:
                                waiting.again(chosen)
                            module = None
                            continue
                        if _about_autograd(error, deep=waiting.deep):
                            return found
                        self._failed(phase, error)
                        if not (self.gone or construction.guessed or waiting.deep) and _about_what_is_gone(error):
                            self.gone = found
                        way = self._way(error)
                        with contextlib.suppress(Exception):  # what is made up may refuse to be looked at, too
                            self.constructions.came((1 if chosen is None else 2, *way), construction, error)
                            self.constructions.refused(error, construction, None if chosen is None else self.made)
                        if chosen is None:
                            no_more(bool(self.constructions.instead))
                            break
                        with contextlib.suppress(Exception):
                            self._follow(error, way, module, chosen, waiting, measured)
                        if waiting and _state(module) != state:
                            module = None  # it keeps something of a call: the next would meet that
                        if way > best:
                            stale, best, furthest = 0, way, error
                            if (2, *way) >= self.furthest[0]:
                                self.nearest = chosen  # tried first of what is constructed in another way
                            dry = following.unasked(error, chosen, self.made)
                        if dry and not waiting.deep and not waiting:
                            waiting.add(dry, (0, 0, 0), chosen)
                            dry = []
            shown -= before - effort.left if construction.shown is not None and not waiting.deep else 0.0
            if furthest is not None:
                self.constructions.unusable(furthest, construction)
        return None

    def _follow(
        self, error: Exception, way: Way, module: Any, chosen: Inputs, waiting: Waiting, measured: Measured
    ) -> None:
        """Let those inputs wait that follow from a refusal of the chosen ones."""
        whole, made = following.whole(chosen, self.made, None if module is self.target else module)
        solved, probes = measured.inputs(way[0], str(error), whole, following.shapes_of(error, made))
        waiting.add(solved, way, chosen, counted=False)
        waiting.add(following.asked(error, whole, made, self._asked(module)), way, chosen)
        waiting.add(probes, (0, 0, 0), chosen)
        waiting.refused(way, str(error), whole, origins.blamed(error, made))

    def _asked(self, built: Any) -> Any:
        return built.forward if isinstance(built, torch.nn.Module) and not self.method else self._function(built)

    def _shown(
        self,
        observer: contextlib.AbstractContextManager[object] | None,
        found: _Found,
        reset: Sequence[_Resettable],
    ) -> Raised | None:
        """What was found, once more and from the beginning, for what is seen of it."""
        _afresh(reset)
        Anything.asked = False
        phase = _Phase()
        with observer or contextlib.nullcontext(), OnThisMachine():
            try:
                module = self._construct(phase, found)
                if found.inputs is not None:
                    self._drive(phase, self._function(module), found.inputs)
            except Exception as error:
                self.anything = Anything.asked
                if found is not self.gone and phase.name in ("construct", "forward") and not _about_autograd(error):
                    raise UnbuiltError(_told(phase, error)) from error  # it rested on what was tried before
                return self.tell(error, phase.name)
        self.anything = Anything.asked
        return None

    def _way(self, error: Exception) -> Way:
        place = _PLACE.search(str(error))
        return _line(error, self.target), self.machine.calls - self.before, int(place[1]) if place else _LAST

    def _failed(self, phase: _Phase, error: Exception) -> None:
        """Of all attempts the first of those that came furthest is told: later ones are guesses."""
        rank = (2 if phase.name == "forward" else 1, *self._way(error))
        if rank > self.furthest[0]:
            self.furthest = (rank, self.description)
            self.failure = _told(phase, error)

    def _function(self, built: Any) -> Any:
        return getattr(built, self.method) if self.method else built

    def _construct(self, phase: _Phase, found: _Found) -> Any:
        phase.name, self.before = "construct", 0
        arguments, keywords = self.constructions.placed(found.construction)
        if not isinstance(self.target, type):
            self.description = f"`{getattr(self.target, '__name__', self.constructions.name)}`"
            return self.target
        if found.construction.bare:
            self.description = f"`{self.target.__name__}.{self.method}` of an instance that no constructor made"
            return without_constructor(self.target, self.method)
        words = [_word(a) for a in arguments] + [f"{name}={_word(value)}" for name, value in keywords.items()]
        self.description = f"`{self.target.__name__}({', '.join(words)})`"
        values.AnyModule.building = True
        try:
            built = self.missing.concrete()(*arguments, **keywords)
        finally:
            values.AnyModule.building = False
        self.missing.fill(built)
        if self.method:
            self.description += f".{self.method}"
        return built

    def _call(self, phase: _Phase, function: Any, inputs: Inputs, ordinal: str = "") -> Any:
        self.description = f"{self.description.partition(' called')[0]} called with {inputs.words(self.input_grad)}"
        phase.name = f"{ordinal}forward"
        self.made = wished.given(function, inputs.make(self.input_grad))
        self.before = self.machine.calls
        return inputs.called(function, self.made)

    def _drive(self, phase: _Phase, function: Any, inputs: Inputs) -> None:
        for ordinal in ("", "second "):
            outputs = [t for t in _tensors(self._call(phase, function, inputs, ordinal)) if t.requires_grad]
            if outputs:
                phase.name = f"{ordinal}backward"
                sum(_total(t) for t in outputs).backward()


_PLACE = re.compile(r"(?:argument '\w+' \(position|for operand) (\d+)")


def _afresh(reset: Iterable[_Resettable]) -> None:
    for each in reset:
        each.reset()
    torch.default_generator.manual_seed(0)


def _is_never_called(built: Any) -> bool:
    """Whether it is a Module that has no `forward`: there is nothing to drive but its constructor."""
    return isinstance(built, torch.nn.Module) and type(built).forward is torch.nn.Module.forward


def _of_outputs(error: Exception, made: Mapping[str, Any]) -> bool:
    """Whether stand-ins of networks give `Outputs` from now on: a tensor that is no argument was asked by name."""
    asked = getattr(error, "obj", None)
    if values.AnyModule.gives_outputs or not isinstance(asked, torch.Tensor) or not values.AnyModule.called:
        return False
    known = re.search(OF_OUTPUTS, str(error)) and all(each is not asked for each in made.values())
    values.AnyModule.gives_outputs = bool(known)
    return bool(known)


def _state(built: Any) -> list[tuple[str, object]]:
    """The shapes of what a Module and its parts keep, parameters left out."""
    found: list[tuple[str, object]] = []
    for part in built.modules() if isinstance(built, torch.nn.Module) else ():
        for name, kept in vars(part).items():
            if isinstance(kept, torch.Tensor):
                found.append((name, tuple(kept.shape)))
            elif isinstance(kept, dict) and name not in ("_parameters", "_modules"):
                found += [(key, tuple(each.shape)) for key, each in kept.items() if isinstance(each, torch.Tensor)]
            elif isinstance(kept, list):
                found.append((name, len(kept)))
    return found


def _line(error: Exception, target: Any) -> int:
    """The line of its file that the function was in that was called."""
    target = inspect.unwrap(target)
    try:
        code = inspect.getsourcefile(target) if target.__module__ in sys.modules else None
    except TypeError:  # an operator of torch's that was made of a function
        return 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == code:
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


@dataclasses.dataclass
class _Phase:
    name: str = "construct"


@dataclasses.dataclass(frozen=True)
class _Found:
    """How something is built, and what it is called with; None: it is not called."""

    construction: Construction
    inputs: Inputs | None


def _total(tensor: torch.Tensor) -> Any:
    return torch.view_as_real(tensor).sum() if tensor.is_complex() else tensor.sum()


def _about_autograd(error: Exception, *, deep: bool = False) -> bool:
    text = str(error)
    return any(part in text for part in AUTOGRAD) and not (deep and any(part in text for part in _OF_ARGUMENTS))


def _about_what_is_gone(error: Exception) -> bool:
    """Whether torch says that it has no more what the program asks for by its name."""
    text = str(error)
    if isinstance(error, (AttributeError, ImportError)):
        asked = getattr(error, "name", None) or ""
        return _NOT_THERE.search(text) is not None and refusals.spells(error, asked)
    return isinstance(error, RuntimeError) and _GIVEN_UP.search(text) is not None


def _told(phase: _Phase, error: Exception) -> str:
    return f"{phase.name}: {type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"


def _word(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"tensor of shape {tuple(value.shape)}"
    text = value.__name__ if isinstance(value, type) else text_of(value)
    return text if len(text) <= 40 and "\n" not in text else type(value).__name__


def _tensors(value: Any, depth: int = 4) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif depth == 0:
        return
    elif isinstance(value, Mapping):
        yield from _in(value.values(), depth)
    elif isinstance(value, (list, tuple, set)):
        yield from _in(value, depth)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _in(vars(value).values(), depth)


def _in(values: Iterable[Any], depth: int) -> Iterator[torch.Tensor]:
    return itertools.chain.from_iterable(_tensors(v, depth - 1) for v in values)
