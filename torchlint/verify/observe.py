"""
Looks at values while a program runs under torch: before and after statements, and at exceptions that are handled.

Runs inside the child. Only looks: nothing here changes a tensor, a graph or a gradient, and no reference to a
tensor is kept, so that what torch shows is what it shows without us. Calls into torch are `recorder`'s.
"""

from __future__ import annotations

import ast
import itertools
import math
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from threading import get_ident
from types import FrameType
from typing import Any, TypeAlias

import torch
from torch.utils._python_dispatch import _disable_current_modes

from torchlint.verify.iterators import used_up
from torchlint.verify.leaf_writes import distributed, nameless, optimized, tensors_in
from torchlint.verify.nodes import node_of
from torchlint.verify.protocol import Execution, Facts, Raised, Seen, Warned, WatchedStatement

SAMPLE = 64
"""At most so many numbers of a tensor are reported."""
EXECUTIONS = 6
"""At most so many executions of one statement are reported in detail."""
VARIABLES = 64
"""At most so many variables of a frame are looked at."""
WORDS = 16_000
"""At most so many characters of a text are reported."""
HANDLED = 40
"""At most so many handled exceptions are reported."""
MESSAGE = 400
"""At most so many characters of an exception that an expression raises are reported."""
_EXPRESSION = "<watched>"
"""The name that the code of watched expressions carries: it is not the program's."""
Files: TypeAlias = Mapping[str, int]
"""
The names that the program's code objects carry, and for each what is added to its lines: 0 for a program of one file,
multiples of `session.STRIDE` where there are several, so that a line says which file it is of.
"""
VOCABULARY = ("torch", "value_", "bound_", "tensors_", "optimized_", "nameless_", "used_up_")
"""What expressions may use beside the program's names: see `torchlint.claims.Holds`."""


class Clock:
    """Counts what is observed, so that it is known what came first."""

    def __init__(self) -> None:
        self._count = itertools.count(1)

    def __call__(self) -> int:
        return next(self._count)


def sequence() -> int:
    """The sequence number of a graph node made now: each node has a higher one than those before it."""
    with torch.inference_mode(False), torch.enable_grad(), torch._C.DisableTorchFunction():
        node = _LEAF.view_as(_LEAF).grad_fn
    return int(node._sequence_nr()) if node is not None else 0


_LEAF = torch.zeros(1, requires_grad=True)


def facts(value: object) -> Facts:
    """What is to be known of a value; never fails, whatever the value's own methods do."""
    try:
        return _facts(value)
    except Exception as error:
        return {"kind": "other", "type": type(value).__name__, "shown": f"<{type(error).__name__}>"}


def _facts(value: object) -> Facts:
    found: Facts = {"kind": "other", "type": type(value).__name__, "shown": "", "identity": id(value)}
    truth = _truth(value)
    if truth is not None:
        found["truth"] = truth
    if value is None:
        return {**found, "kind": "none", "shown": "None"}
    if isinstance(value, torch.Tensor):
        return {**found, **_tensor(value)}
    if isinstance(value, (bool, int, float)):
        return {**found, "kind": "number", "shown": repr(value), "numbers": [float(value)]}
    if isinstance(value, str):
        return {**found, "shown": value[:WORDS]}
    if isinstance(value, torch.nn.Module):
        return {**found, "kind": "module", "parameters": [name for name, _ in value.named_parameters()]}
    if isinstance(value, (list, tuple, dict)):
        inner = tensors_in(value)[:4]
        numbers = [number for tensor in inner for number in sample(tensor)]
        held = [memory(tensor) for tensor in inner]
        return {**found, "kind": "sequence", "numbers": numbers, "memories": held, "length": len(value)}
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind in "fiub":
        shared = torch.from_numpy(value)
        return {**found, **_tensor(shared), "kind": "ndarray", "type": "ndarray"}
    return found


def _truth(value: object) -> bool | None:
    if value is None or isinstance(value, (bool, int, float, str, list, tuple, dict)):
        return bool(value)
    if isinstance(value, torch.Tensor) and value.numel() == 1:
        return bool(value.detach())
    return None


def _tensor(tensor: torch.Tensor) -> Facts:
    numbers, node = sample(tensor), node_of(tensor)
    return {
        "kind": "tensor",
        "shown": shown(numbers, tuple(tensor.shape)),
        "shape": list(tensor.shape),
        "numbers": numbers,
        "version": version(tensor),
        "requires_grad": tensor.requires_grad,
        "is_leaf": tensor.is_leaf,
        "grad_fn": node_name(tensor),
        "is_parameter": isinstance(tensor, torch.nn.Parameter),
        "memory": memory(tensor),
        "retains_grad": bool(tensor.retains_grad),
        "sequence": -1 if node is None else min(node._sequence_nr(), 1 << 53),
    }


def sample(tensor: torch.Tensor) -> list[float]:
    """Up to `SAMPLE` of the elements, evenly spread, and the Euclidean norm of all as the last."""
    if tensor.is_meta:  # there are none
        return [math.nan] * (min(SAMPLE, tensor.numel()) + 1)
    with _disable_current_modes():  # a meter counts what the program computes, and not this
        flat = tensor.detach()
        if flat.is_sparse:
            flat = flat.to_dense()
        flat = flat.reshape(-1)
        if flat.is_complex():
            flat = torch.view_as_real(flat).reshape(-1)
        flat = flat.double()
        stride = max(1, -(-flat.numel() // SAMPLE))
        return [*flat[::stride].tolist(), float(flat.norm())]


def shown(numbers: Sequence[float], shape: tuple[int, ...]) -> str:
    """A short form: `4`, `[1, 2, 3]`, or `[1, 2, 3, …] (64x3)`."""
    words = [f"{number:.5g}" for number in numbers[:-1]]
    if not shape:
        return words[0]
    if len(words) <= 6:
        return f"[{', '.join(words)}]"
    return f"[{', '.join(words[:4])}, …] ({'x'.join(map(str, shape))})"


def version(tensor: torch.Tensor) -> int:
    """`Tensor._version`; -1 for inference tensors and some wrappers, which keep none."""
    try:
        return int(tensor._version)
    except RuntimeError:
        return -1


def node_name(tensor: torch.Tensor) -> str:
    """The name of a tensor's graph node without its namespace: `MulBackward0`; "" for a leaf."""
    node = node_of(tensor)
    return "" if node is None else node.name().rpartition("::")[2]


def memory(tensor: torch.Tensor) -> int:
    """The address of a tensor's storage; 0 if it has none of its own."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):
        return 0


def user_lines(frame: FrameType | None, files: Files) -> tuple[int, ...]:
    """Lines of the program's frames on the stack, outermost first."""
    lines: list[int] = []
    while frame is not None:
        if (first := files.get(frame.f_code.co_filename)) is not None:
            lines.append(first + frame.f_lineno)
        frame = frame.f_back
    return tuple(reversed(lines))


class Watcher:
    """
    Answers the probes that `instrument` put into a program.

    Parameters
    ----------
    watches
        Statements and the expressions to evaluate around them.
    files
        The program's files.
    complete
        Called once all watched statements have been executed, once each.
    clock
        Counts what is seen.
    raising
        Lines of `raise` and `assert` statements.
    among_others
        Whether the process runs other files too: exceptions that leave watched statements are told with those that are
        handled, for another file may handle them, and only the thread that watches is listened to.
    progress
        Called when a watched statement has been executed for the first time.
    between
        Called before a watched statement starts; may raise what ends the program.
    """

    def __init__(
        self,
        watches: Sequence[WatchedStatement],
        files: Files,
        complete: Callable[[], None],
        clock: Clock,
        raising: Set[int] = frozenset(),
        *,
        among_others: bool = False,
        progress: Callable[[], None] = lambda: None,
        between: Callable[[], None] = lambda: None,
    ) -> None:
        self.files = files
        self.progress = progress
        self.between = between
        self.among_others = among_others
        self.listens = True
        self.thread = get_ident() if among_others else None
        self.clock = clock
        self.raising = raising
        self.statements = [_bound_names(watch.bound) for watch in watches]
        self.compound = [watch.compound for watch in watches]
        self.warned: list[Warned] = []
        self.complete = complete
        self.variables = [watch.variables for watch in watches]
        texts = [watch.expressions for watch in watches]
        self.expressions = [{text: _compiled(text) for text in each} for each in texts]
        self.owners = [{text: _owner(text) for text in each if "." in text} for each in texts]
        self.caught_errors: list[Raised] = []
        self.reset()

    def reset(self) -> None:
        """Forget what was seen: a new attempt begins."""
        count = len(self.expressions)
        self.missing = set(range(count))
        self.started = [0] * count
        self.finished = [0] * count
        self.executions: list[list[Execution]] = [[] for _ in range(count)]
        self.pending: list[list[_Started]] = [[] for _ in range(count)]
        self.values: dict[int, Any] = {}
        self.handled_errors: dict[int, tuple[BaseException, Raised]] = {}
        self.warned.clear()
        self.modules: dict[int, torch.nn.Module] = {}
        self.caught_errors.clear()

    @property
    def listening(self) -> bool:
        """Whether what happens now is recorded."""
        return self.listens and self.thread in (None, get_ident())

    def before(self, index: int) -> None:
        """A watched statement starts."""
        self.between()
        if not self.listening:
            return
        self.started[index] += 1
        frame = sys._getframe(1)
        detailed = len(self.executions[index]) < EXECUTIONS
        found = self._evaluate(index, frame)
        first = sequence() if detailed else 0
        self.pending[index].append(_Started(found, sys.exc_info()[1], self.clock(), first, len(self.warned)))
        del self.pending[index][:-4]
        if self.compound[index]:  # what is in it is not waited for
            started = self.pending[index].pop()
            if detailed:
                order = started.order
                told = Execution(started.found, {}, None, False, order, self.clock(), first, first, ())
                self.executions[index].append(told)
            self._passed(index)

    def after(self, index: int) -> None:
        """A watched statement is left, by an exception or otherwise."""
        if not self.listening:
            return
        if self.compound[index]:  # a definition
            if self.started[index] <= EXECUTIONS:
                found = self._evaluate(index, sys._getframe(1), after=True, last=True)
                self.executions[index][-1] = replace(self.executions[index][-1], after=found)
            return
        self._passed(index)
        handled = sys.exc_info()[1]
        started = self.pending[index].pop() if self.pending[index] else _Started({}, None, 0, 0, len(self.warned))
        raised = handled is not None and handled is not started.outer
        if not raised:
            self.finished[index] += 1
        elif self.among_others and handled is not None:
            self._tell(handled)
        value = self.values.pop(index, _NOTHING)
        if len(self.executions[index]) < EXECUTIONS:
            last = sequence()
            self.executions[index].append(
                Execution(
                    started.found,
                    self._evaluate(index, sys._getframe(1), value, after=True),
                    None if value is _NOTHING else facts(value),
                    raised,
                    started.order,
                    self.clock(),
                    started.first,
                    last,
                    tuple(each.text for each in self.warned[started.warnings :]),
                )
            )

    def let_go(self) -> None:
        """A statement that is still running when nothing is watched any more: only its earlier executions count."""
        for index, pending in enumerate(self.pending):
            if pending and self.finished[index]:
                self.started[index] -= len(pending)
                pending.clear()

    def _passed(self, index: int) -> None:
        if index in self.missing:
            self.missing.discard(index)
            self.progress()
            if not self.missing:
                self.complete()

    def value(self, index: int, value: Any) -> Any:
        """The value of a watched expression statement."""
        if self.listening and len(self.executions[index]) < EXECUTIONS:
            self.values[index] = value
        return value

    def handled(self) -> None:
        """An exception came to a handler of the program, or leaves a `with` block of it."""
        error = sys.exc_info()[1]
        if error is not None and self.listening:
            self._tell(error)

    def _tell(self, error: BaseException) -> None:
        if id(error) not in self.handled_errors and len(self.handled_errors) < HANDLED:
            told = describe(error, self.files, raising=self.raising, order=self.clock())
            self.handled_errors[id(error)] = (error, told)

    def handled_before(self, end: BaseException | None) -> tuple[Raised, ...]:
        """The exceptions that the program handled, without the one that ended it."""
        return tuple(told for error, told in self.handled_errors.values() if error is not end)

    def warning(self, category: str, message: str) -> None:
        """A warning was given."""
        lines = user_lines(sys._getframe(1), self.files)
        self.warned.append(Warned(f"{category}: {message}", lines, self.clock()))

    def caught(self, error: BaseException) -> None:
        """An exception that the program is not to end with."""
        self.caught_errors.append(describe(error, self.files, raising=self.raising, order=self.clock()))

    def seen(self) -> tuple[Seen, ...]:
        """The report."""
        return tuple(
            Seen(started, finished, tuple(self._completed(e) for e in executions))
            for started, finished, executions in zip(self.started, self.finished, self.executions, strict=True)
        )

    def _evaluate(
        self, index: int, frame: FrameType, value: Any = None, *, after: bool = False, last: bool = False
    ) -> dict[str, Facts]:
        if len(self.executions[index]) - last >= EXECUTIONS:
            return {}
        local = dict(frame.f_locals)
        words = self._vocabulary(index, frame, local, None if value is _NOTHING else value, after=after)
        found = {
            text: self._one(index, text, code, frame, {**local, **words})
            for text, code in self.expressions[index].items()
        }
        if self.variables[index]:
            held = [(name, item) for name, item in local.items() if name not in found and _is_data(item)]
            found |= {name: facts(item) for name, item in held[:VARIABLES]}
        return found

    def _vocabulary(
        self, index: int, frame: FrameType, local: dict[str, Any], value: Any, *, after: bool
    ) -> dict[str, Any]:
        if not self.expressions[index]:
            return {}
        bound = []
        for code in self.statements[index] if after else ():
            try:
                bound.append(eval(code, frame.f_globals, local))
            except Exception:
                continue
        return {
            "torch": torch,
            "value_": value,
            "bound_": tuple(bound),
            "tensors_": tensors_in,
            "optimized_": optimized,
            "nameless_": lambda tensor: nameless(tensor, frame, self.files),
            "used_up_": used_up,
        }

    def _one(self, index: int, text: str, code: Any, frame: FrameType, local: dict[str, Any]) -> Facts:
        try:
            # one namespace: what an expression's own generators read is looked up among its globals
            found = facts(value := eval(code, {**frame.f_globals, **local}))
        except Exception as error:
            name = type(error).__name__
            return {"kind": "missing", "type": name, "shown": "", "identity": 0, "error": f"{name}: {error}"[:MESSAGE]}
        owner_code = self.owners[index].get(text)
        if owner_code is not None:
            try:
                owner = eval(owner_code, frame.f_globals, local)
            except Exception:
                return found
            if isinstance(owner, torch.nn.Module):
                self.modules[id(owner)] = owner
                found |= {"owner": type(owner).__name__, "owner_identity": id(owner)}
                found["registered"] = any(value is p for p in vars(owner).get("_parameters", {}).values())
                held = tensors_in(value)
                found["held"], found["held_identities"] = len(held), [id(tensor) for tensor in held]
        return found

    def _completed(self, execution: Execution) -> Execution:
        for found in execution.after.values():
            owner = self.modules.get(found.get("owner_identity", 0))
            if owner is not None:
                found["parameters"] = [name for name, _ in owner.named_parameters()]
                known = {id(tensor) for tensor in (*owner.parameters(), *owner.buffers())}
                found["known"] = sum(identity in known for identity in found["held_identities"])
                reached = {id(tensor) for tensor in owner.parameters() if tensor.grad is not None}
                found["reached"] = len(reached)
                found["held_reached"] = sum(identity in reached for identity in found["held_identities"])
                found["distributed"] = distributed(owner)
        return execution


@dataclass(frozen=True, slots=True)
class _Started:
    found: dict[str, Facts]
    outer: BaseException | None
    order: int
    first: int
    warnings: int


_NOTHING = object()


def _compiled(text: str) -> Any:
    """The code of an expression; the text itself where it is none, so that the error is met where it is evaluated."""
    try:
        return compile(text, _EXPRESSION, "eval")
    except (SyntaxError, ValueError):
        return text


def _bound_names(names: Sequence[str]) -> list[Any]:
    return [compile(name, "<bound>", "eval") for name in names]


def _is_data(value: object) -> bool:
    return isinstance(value, torch.Tensor) or type(value).__name__ == "ndarray"


def _owner(text: str) -> Any:
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if isinstance(node, ast.Attribute):
        return compile(ast.unparse(node.value), _EXPRESSION, "eval")
    return None


def describe(
    error: BaseException,
    files: Files,
    phase: str = "program",
    *,
    raising: Set[int] = frozenset(),
    order: int = 0,
) -> Raised:
    """
    An exception with the program's own lines of its traceback.

    Parameters
    ----------
    raising
        Lines of `raise` and `assert` statements.
    order
        When it was seen.
    """
    lines = []
    own = False
    trace = error.__traceback__
    while trace is not None:
        if (first := files.get(trace.tb_frame.f_code.co_filename)) is not None:
            lines.append(first + trace.tb_lineno)
            own = trace.tb_next is None and lines[-1] in raising
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename in files and error.lineno:
        lines.append(files[str(error.filename)] + error.lineno)
    return Raised(type(error).__name__, str(error)[:WORDS], tuple(lines), phase, own, order)
