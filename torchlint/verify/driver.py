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
import heapq
import inspect
import itertools
import re
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol

import torch

from torchlint.verify import refusals, wished
from torchlint.verify.anything import Anything, tensors
from torchlint.verify.bare import without_constructor
from torchlint.verify.inputs import Inputs, constructor_arguments, first_inputs, instead, repaired
from torchlint.verify.machine import OnThisMachine
from torchlint.verify.protocol import Raised
from torchlint.verify.standins import supplied

ATTEMPTS = 120
"""Calls before giving up."""
REFUSALS, BASES = 4, 3
"""So many refusals of a constructor are followed one after the other, of so many arguments each."""
AT_ONE_PLACE = 16
"""So many inputs made of those that came to one place are tried before others."""
WISHES, GRANTED = 4, 40
"""So many wishes of one refusal are granted, and so many in all, before other arguments are tried."""
PROFILES = (8, 4, 16, 3, 2, 1)
"""Sizes tried for integer constructor arguments that say nothing about themselves."""

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
    "requires_grad flags of leaf variables",
    "on Tensor that requires grad",
)
"""Parts of messages that torch raises about autograd and registration, whatever the shapes."""


_NOT_THERE = re.compile(
    r"module 'torch[\w.]*' has no attribute|cannot import name .* from 'torch|No module named 'torch\."
)
_GIVEN_UP = re.compile(r"\b(is now|has been|was|were) removed\b|no longer supported")
"""Parts of messages about a name that torch has no more: of what it lacks, and of what it has only to raise."""

_Way = tuple[int, int]
"""How far a function came: to which of its lines, and how many calls into torch came back."""


class _Waiting:
    """
    Inputs to try, those first that are made of what came furthest; after a few that come no further the others.
    """

    def __init__(self) -> None:
        self.known: set[Inputs] = set()
        self.order = itertools.count()
        self.heap: list[tuple[_Way, int, Inputs]] = []
        self.added: dict[_Way, int] = {}

    def __bool__(self) -> bool:
        return bool(self.heap)

    def add(self, found: Iterable[Inputs], way: _Way = (0, 0)) -> None:
        """Inputs made of those with which a function came so far."""
        for each in found:
            if each in self.known:
                continue
            self.known.add(each)
            self.added[way] = self.added.get(way, 0) + 1
            line, calls = way if self.added[way] <= AT_ONE_PLACE else (0, 0)
            heapq.heappush(self.heap, ((-line, -calls), next(self.order), each))

    def again(self, inputs: Inputs) -> None:
        """The same once more: what kept them from their end is out of the way."""
        heapq.heappush(self.heap, ((-sys.maxsize, 0), next(self.order), inputs))

    def next(self) -> Inputs:
        """The likeliest."""
        return heapq.heappop(self.heap)[2]


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
    touched
        Collects the packages that were stood in for while it ran.
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
        touched: set[str] | None = None,
    ) -> None:
        self.target = target
        self.method = method
        self.tell = tell
        self.input_grad = input_grad
        self.known_calls = list(_calls(target.__name__, tree, namespace))
        self.description = ""
        self.furthest = ((0, 0, 0), "")
        self.bare = False
        self.refusal = ""
        self.gone: tuple[tuple[Any, ...], dict[str, Any], Inputs | None] | None = None
        self.failure = "no constructor call was found that it accepts"
        self.anything = False
        self.touched = set() if touched is None else touched
        self.lacking: set[str] = set()
        self.machine = OnThisMachine()
        self.made: dict[str, Any] = {}
        self.wished: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

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
        attempts = 0
        for arguments, keywords in self._constructions():
            waiting = _Waiting()
            first = True
            while (first or waiting) and attempts < ATTEMPTS:
                attempts += 1
                for each in reset:
                    each.reset()
                torch.manual_seed(0)
                Anything.asked = False
                phase = _Phase()
                with observer or contextlib.nullcontext(), OnThisMachine() as self.machine:
                    try:
                        module = self._construct(phase, arguments, keywords)
                        if first:
                            first = False
                            function = self._function(module)
                            whole = module if isinstance(module, torch.nn.Module) else None
                            asked = module.forward if function is module and whole is not None else function
                            waiting.add(first_inputs(asked, whole))
                        chosen = waiting.next()
                        self._drive(phase, self._function(module), chosen)
                        self.anything = Anything.asked
                        return None
                    except Exception as error:
                        if phase.name in ("construct", "forward") and self._completed(error):
                            if phase.name == "forward":
                                waiting.again(chosen)
                            continue
                        if phase.name == "construct":
                            first, waiting = False, _Waiting()
                            self.refusal = str(error)
                        if _about_autograd(error) or phase.name not in ("construct", "forward"):
                            self.anything = Anything.asked
                            return self.tell(error, phase.name)
                        self._failed(phase, error)
                        if self.gone is None and _about_what_is_gone(error):
                            self.gone = arguments, keywords, chosen if phase.name == "forward" else None
                        self._follow(phase, error, keywords)
                        if phase.name == "forward":
                            waiting.add(_others(error, chosen, self.made), self._way(error))
        if self.gone is not None:  # no argument helps against that: it is what this program does
            for each in reset:
                each.reset()
            return self._shown(observer, *self.gone)
        self.description = self.furthest[1] or self.description
        raise UnbuiltError(self.failure)

    def _shown(
        self,
        observer: contextlib.AbstractContextManager[object] | None,
        arguments: tuple[Any, ...],
        keywords: dict[str, Any],
        inputs: Inputs | None,
    ) -> Raised | None:
        """An attempt once more, for what is seen of it."""
        torch.manual_seed(0)
        phase, self.bare = _Phase(), False
        with observer or contextlib.nullcontext(), OnThisMachine():
            try:
                module = self._construct(phase, arguments, keywords)
                if inputs is not None:
                    self._drive(phase, self._function(module), inputs)
            except Exception as error:
                self.anything = Anything.asked
                return self.tell(error, phase.name)
        return None

    def _follow(self, phase: _Phase, error: Exception, keywords: dict[str, Any]) -> None:
        """Arguments for the constructor that a refusal asks for."""
        if isinstance(self.target, type):
            made = self.made if phase.name == "forward" else {}
            wishes = refusals.wishes(error, {**wished.given(self.target, keywords), **made})
            own = [each for each in wishes if each.name not in made]
            self.wished += [((), each) for each in wished.arguments(keywords, own)][:WISHES]

    def _completed(self, error: Exception) -> bool:
        """Whether what was missing of the program is there now: a package's name, a method for others to write."""
        name = _left_to_others(error, self.target)
        if name and name not in self.lacking | {self.method or "forward"}:
            self.lacking.add(name)
            return True
        return supplied(error, self.touched)

    def _way(self, error: Exception) -> _Way:
        return _line(error, self.target), self.machine.calls

    def _failed(self, phase: _Phase, error: Exception) -> None:
        """Of all attempts the first of those that came furthest is told: later ones are guesses."""
        forward = phase.name == "forward"
        rank = (2, *self._way(error)) if forward else (1, 0, 0)
        if rank > self.furthest[0]:
            self.furthest = (rank, self.description)
            self.failure = f"{phase.name}: {type(error).__name__}: {_first_line(error)}"

    def _function(self, built: Any) -> Any:
        return getattr(built, self.method) if self.method else built

    def _constructions(self) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Those that are guessed, and after each what its refusal asked for."""
        granted = 0
        for each in self._guessed():
            yield each
            while self.wished and granted < GRANTED:
                granted += 1
                yield self.wished.pop(0)
            self.wished.clear()

    def _guessed(self) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        if not isinstance(self.target, type):
            yield (), {}
            return
        yield from self.known_calls
        done = []
        ways: tuple[dict[str, Any], ...] = ({}, {"by_use": True}, {"depth": 0}, {"all_of_them": True, "by_use": True})
        for way in ways:
            for size in PROFILES:
                arguments = constructor_arguments(self.target, size, **way)
                if str(arguments) not in done:
                    done.append(str(arguments))
                    yield (), arguments
        numbers = [name for name, value in arguments.items() if isinstance(value, (int, float))]
        for length, name in itertools.product((3, 4), numbers[:4]):
            yield (), {**arguments, name: [PROFILES[0]] * length}
        for found in self._instead(arguments):
            yield (), found
        for size in PROFILES[:3]:
            yield (), constructor_arguments(self.target, size, by_use=True, anything=True)
        if self.method and not inspect.isabstract(self.target):
            self.bare = True
            yield (), {}

    def _instead(self, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Arguments that the refusal of others asks for, and those that the refusal of these asks for, and so on."""
        self.refusal = ""
        yield arguments  # once more, for what is said of them
        bases = [(arguments, self.refusal)]
        for _ in range(REFUSALS):
            following = []
            for base, refusal in bases[:BASES]:
                for name, value in instead(base, refusal):
                    self.refusal = ""
                    found = {**base, name: value}
                    yield found
                    if self.refusal not in ("", refusal):
                        following.append((found, self.refusal))
            bases = following

    def _construct(self, phase: _Phase, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        phase.name = "construct"
        if not isinstance(self.target, type):
            self.description = f"`{self.target.__name__}`"
            return self.target
        if self.bare:
            self.description = f"`{self.target.__name__}.{self.method}` of an instance that no constructor made"
            return without_constructor(self.target, self.method)
        words = [_word(a) for a in arguments] + [f"{name}={_word(value)}" for name, value in keywords.items()]
        self.description = f"`{self.target.__name__}({', '.join(words)})`"
        built = _concrete(self.target, self.method or "forward", self.lacking)(*arguments, **keywords)
        if self.method:
            self.description += f".{self.method}"
        return built

    def _drive(self, phase: _Phase, function: Any, inputs: Inputs) -> None:
        self.description = f"{self.description.partition(' called')[0]} called with {inputs.words(self.input_grad)}"
        for ordinal in ("", "second "):
            phase.name = f"{ordinal}forward"
            self.made = wished.given(function, inputs.make(self.input_grad))
            result = function(**{name: self.made[name] for name in inputs.parameters})
            outputs = [t for t in _tensors(result) if t.requires_grad]
            if outputs:
                phase.name = f"{ordinal}backward"
                sum(_total(t) for t in outputs).backward()


def _line(error: Exception, target: Any) -> int:
    """The line of its file that the function was in that was called."""
    target = inspect.unwrap(target)
    code = inspect.getsourcefile(target) if target.__module__ in sys.modules else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == code:
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


def _others(error: Exception, chosen: Inputs, made: Mapping[str, Any]) -> Iterator[Inputs]:
    """Inputs that a refusal of some asks for: those of which it is said which, then guesses."""
    yield from wished.inputs(chosen, refusals.at_a_layer(error, made))
    yield from wished.inputs(chosen, refusals.wishes(error, made))
    yield from repaired(chosen, str(error))


def _left_to_others(error: Exception, target: Any) -> str:
    """The method of a class that raised because others are to write it."""
    trace = error.__traceback__ if isinstance(error, NotImplementedError) and isinstance(target, type) else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    name = trace.tb_frame.f_code.co_name
    own = inspect.unwrap(getattr(target, name, int))
    return name if getattr(own, "__code__", None) is trace.tb_frame.f_code else ""


def _concrete(target: type[Any], method: str, lacking: Collection[str]) -> type[Any]:
    """The class, or one derived from it that lacks nothing: what others are to write gives back what it is given."""
    if _unwritten(target, method):
        written = (each for each in _derived(target) if not _unwritten(each, method) and not inspect.isabstract(each))
        target = next(written, target)
    names = {*lacking, *getattr(target, "__abstractmethods__", ())} - {method}
    if not names and not inspect.isabstract(target):
        return target
    derived: type[Any] = types.new_class(
        target.__name__, (target,), exec_body=lambda inside: inside.update(dict.fromkeys(names, _given_back))
    )
    derived.__abstractmethods__ = frozenset()
    return derived


def _given_back(*given: Any, **named: Any) -> Any:
    """A method that nobody has written: a copy of the first tensor that it is given, else something."""
    first = next(tensors((*given, *named.values())), None)
    return Anything() if first is None else first.clone()


def _derived(target: type[Any]) -> Iterator[type[Any]]:
    for each in target.__subclasses__():
        yield each
        yield from _derived(each)


def _unwritten(target: type[Any], method: str) -> bool:
    """Whether a method does nothing but raise `NotImplementedError`: others are to write it."""
    code = getattr(getattr(target, method, None), "__code__", None)
    names = () if code is None else code.co_names
    return names == ("NotImplementedError",)


@dataclasses.dataclass
class _Phase:
    name: str = "construct"


def _total(tensor: torch.Tensor) -> Any:
    return torch.view_as_real(tensor).sum() if tensor.is_complex() else tensor.sum()


def _about_autograd(error: Exception) -> bool:
    text = str(error)
    return any(part in text for part in AUTOGRAD)


def _about_what_is_gone(error: Exception) -> bool:
    """Whether torch says that it has no more what the program asks for by its name."""
    text = str(error)
    if isinstance(error, (AttributeError, ImportError)):
        return _NOT_THERE.search(text) is not None
    return isinstance(error, RuntimeError) and _GIVEN_UP.search(text) is not None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _word(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"tensor of shape {tuple(value.shape)}"
    text = repr(value)
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


def _calls(
    name: str, tree: ast.Module, namespace: Mapping[str, Any]
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name):
            continue
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            continue
        try:
            yield (
                tuple(_value(a, namespace) for a in node.args),
                {str(k.arg): _value(k.value, namespace) for k in node.keywords},
            )
        except Exception:  # an argument that only exists at that place of the program
            continue


def _value(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<argument>", "eval"), dict(namespace))
