"""
Looks on while a program runs under torch: values before and after statements, in-place writes, backward passes.

Runs inside the child. Only looks: nothing here changes a tensor, a graph or a gradient, and no reference to a
tensor is kept (leaves excepted), so that what torch shows is what it shows without us.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchlint.verify.leaf_writes import Leaves, overwritten
from torchlint.verify.protocol import Backward, Execution, Facts, Raised, Seen, Watch, Write

SAMPLE = 64
"""At most so many numbers of a tensor are reported."""
EXECUTIONS = 6
"""At most so many executions of one statement are reported in detail."""
FIRST_WRITES, LAST_WRITES = 32, 96
"""In a long run the first and the last writes are kept: a backward that fails reports the newest version."""
VARIABLES = 64
"""At most so many variables of a frame are looked at."""
BACKWARDS = 24
"""At most so many backward passes are reported."""


def facts(value: object) -> Facts:
    """What is to be known of a value; never fails, whatever the value's own methods do."""
    try:
        return _facts(value)
    except Exception as error:
        return {"kind": "other", "type": type(value).__name__, "shown": f"<{type(error).__name__}>"}


def _facts(value: object) -> Facts:
    found: Facts = {"kind": "other", "type": type(value).__name__, "shown": "", "identity": id(value)}
    if value is None:
        return {**found, "kind": "none", "shown": "None"}
    if isinstance(value, torch.Tensor):
        return {**found, **_tensor(value)}
    if isinstance(value, (bool, int, float)):
        return {**found, "kind": "number", "shown": repr(value), "numbers": [float(value)]}
    if isinstance(value, torch.nn.Module):
        return {**found, "kind": "module", "parameters": [name for name, _ in value.named_parameters()]}
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray) and value.dtype.kind in "fiub":
        shared = torch.from_numpy(value)
        return {**found, **_tensor(shared), "kind": "ndarray", "type": "ndarray"}
    return found


def _tensor(tensor: torch.Tensor) -> Facts:
    numbers = sample(tensor)
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
    }


def sample(tensor: torch.Tensor) -> list[float]:
    """Up to `SAMPLE` of the elements, evenly spread, and the Euclidean norm of all as the last."""
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
    node = tensor.grad_fn
    return "" if node is None else node.name().rpartition("::")[2]


def memory(tensor: torch.Tensor) -> int:
    """The address of a tensor's storage; 0 if it has none of its own."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):
        return 0


def user_lines(frame: FrameType | None, filename: str) -> tuple[int, ...]:
    """Lines of the program's frames on the stack, outermost first."""
    lines: list[int] = []
    while frame is not None:
        if frame.f_code.co_filename == filename:
            lines.append(frame.f_lineno)
        frame = frame.f_back
    return tuple(reversed(lines))


class Watcher:
    """
    Answers the probes that `instrument` put into a program.

    Parameters
    ----------
    watches
        Statements and the expressions to evaluate around them.
    filename
        The name the program's code objects carry.
    complete
        Called once all watched statements have been executed.
    """

    def __init__(self, watches: Sequence[Watch], filename: str, complete: Callable[[], None]) -> None:
        self.filename = filename
        self.complete = complete
        self.variables = [watch.variables for watch in watches]
        self.expressions = [{text: compile(text, filename, "eval") for text in watch.expressions} for watch in watches]
        self.owners = [{text: _owner(text, filename) for text in watch.expressions if "." in text} for watch in watches]
        self.caught_errors: list[Raised] = []
        self.reset()

    def reset(self) -> None:
        """Forget what was seen: a new attempt begins."""
        count = len(self.expressions)
        self.missing = set(range(count))
        self.started = [0] * count
        self.finished = [0] * count
        self.executions: list[list[Execution]] = [[] for _ in range(count)]
        self.pending: list[list[tuple[dict[str, Facts], BaseException | None]]] = [[] for _ in range(count)]
        self.values: dict[int, Facts] = {}
        self.modules: dict[int, torch.nn.Module] = {}
        self.caught_errors.clear()

    def before(self, index: int) -> None:
        """A watched statement starts."""
        self.started[index] += 1
        frame = sys._getframe(1)
        self.pending[index].append((self._evaluate(index, frame), sys.exc_info()[1]))
        del self.pending[index][:-4]
        if index in self.missing:
            self.missing.discard(index)
            if not self.missing:
                self.complete()

    def after(self, index: int) -> None:
        """A watched statement is left, by an exception or otherwise."""
        handled = sys.exc_info()[1]
        before, outer = self.pending[index].pop() if self.pending[index] else ({}, None)
        raised = handled is not None and handled is not outer
        if not raised:
            self.finished[index] += 1
        value = self.values.pop(index, None)
        if len(self.executions[index]) < EXECUTIONS:
            frame = sys._getframe(1)
            self.executions[index].append(Execution(before, self._evaluate(index, frame), value, raised))

    def value(self, index: int, value: Any) -> Any:
        """The value of a watched expression statement."""
        if len(self.executions[index]) < EXECUTIONS:
            self.values[index] = facts(value)
        return value

    def caught(self, error: BaseException) -> None:
        """An exception that the program is not to end with."""
        self.caught_errors.append(describe(error, self.filename))

    def seen(self) -> tuple[Seen, ...]:
        """The report."""
        return tuple(
            Seen(started, finished, tuple(self._completed(e) for e in executions))
            for started, finished, executions in zip(self.started, self.finished, self.executions, strict=True)
        )

    def _evaluate(self, index: int, frame: FrameType) -> dict[str, Facts]:
        if len(self.executions[index]) >= EXECUTIONS:
            return {}
        found = {text: self._one(index, text, code, frame) for text, code in self.expressions[index].items()}
        if self.variables[index]:
            held = [(name, value) for name, value in frame.f_locals.items() if name not in found and _is_data(value)]
            found |= {name: facts(value) for name, value in held[:VARIABLES]}
        return found

    def _one(self, index: int, text: str, code: Any, frame: FrameType) -> Facts:
        local = dict(frame.f_locals)
        try:
            found = facts(value := eval(code, frame.f_globals, local))
        except Exception as error:
            return {"kind": "missing", "type": type(error).__name__, "shown": "", "identity": 0}
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
        return found

    def _completed(self, execution: Execution) -> Execution:
        for found in execution.after.values():
            owner = self.modules.get(found.get("owner_identity", 0))
            if owner is not None:
                found["parameters"] = [name for name, _ in owner.named_parameters()]
        return execution


def _is_data(value: object) -> bool:
    return isinstance(value, torch.Tensor) or type(value).__name__ == "ndarray"


def _owner(text: str, filename: str) -> Any:
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.Attribute):
        return compile(ast.unparse(node.value), filename, "eval")
    return None


def describe(error: BaseException, filename: str, phase: str = "program") -> Raised:
    """An exception with the program's own lines of its traceback."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == filename and error.lineno:
        lines.append(error.lineno)
    return Raised(type(error).__name__, str(error), tuple(lines), phase)


class Observer(TorchFunctionMode):  # type: ignore[misc]
    """
    Records in-place writes and backward passes of a program, with the line that asked for them.

    `TorchFunctionMode` sees every call from Python into torch, methods, operators and properties included
    (https://docs.pytorch.org/docs/stable/torch.overrides.html); nested calls inside torch's own Python are seen
    as part of the outer one.
    """

    def __init__(self, filename: str) -> None:
        super().__init__()
        self.filename = filename
        self.reset()

    def reset(self) -> None:
        """Forget what was seen: a new attempt begins."""
        self.first_writes: list[Write] = []
        self.last_writes: list[Write] = []
        self.backwards: list[Backward] = []
        self.leaves = Leaves(self.filename)

    def writes(self) -> tuple[Write, ...]:
        """The report."""
        return (*self.first_writes, *self.last_writes)

    def gradients(self) -> dict[str, Facts | None]:
        """The gradient of every leaf that a backward reached, now."""
        return _gradients(self.leaves.named())

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called by torch in place of `func`; calls it and compares the arguments before and after."""
        keywords = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "__get__":
            return func(*args, **keywords)
        if name in ("backward", "grad") and not isinstance(func, type):
            return self._backward(func, args, keywords)
        states = [(tensor, _State(tensor)) for tensor in _tensors(args, keywords)]
        try:
            return func(*args, **keywords)
        finally:
            for tensor, state in states:
                if version(tensor) > state.version:
                    self._record(name, tensor, state)

    def _record(self, op: str, tensor: torch.Tensor, state: _State) -> None:
        lines = user_lines(sys._getframe(2), self.filename)
        if not lines:
            return
        write = Write(
            line=lines[-1],
            lines=lines,
            op=op,
            before=state.version,
            after=version(tensor),
            requires_grad=state.requires_grad,
            is_leaf=state.is_leaf,
            grad_fn=state.grad_fn,
            requires_grad_after=tensor.requires_grad,
            grad_fn_after=node_name(tensor),
            grad_mode=torch.is_grad_enabled(),
            memory=memory(tensor),
        )
        if len(self.first_writes) < FIRST_WRITES:
            self.first_writes.append(write)
        else:
            self.last_writes.append(write)
            del self.last_writes[:-LAST_WRITES]

    def _backward(self, func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        frame = sys._getframe(2)
        roots = [*_tensors(args[:1], {}), *_tensors((), kwargs)]
        reached = self.leaves.reached_from(roots, frame)
        detailed = reached if len(self.backwards) < BACKWARDS else []
        before = _gradients(detailed)
        lines = user_lines(frame, self.filename)
        line = lines[-1] if lines else 0
        try:
            result = func(*args, **kwargs)
        except RuntimeError as error:
            broken = tuple(memory(tensor) for tensor in overwritten(roots, str(error)))
            self.backwards.append(Backward(line, lines, True, broken, before, _gradients(detailed)))
            raise
        if len(self.backwards) < BACKWARDS:
            self.backwards.append(Backward(line, lines, False, (), before, _gradients(detailed)))
        return result


def _gradients(leaves: Iterable[tuple[str, torch.Tensor]]) -> dict[str, Facts | None]:
    return {name: None if leaf.grad is None else facts(leaf.grad) for name, leaf in leaves}


class _State:
    __slots__ = ("grad_fn", "is_leaf", "requires_grad", "version")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.version = version(tensor)
        self.requires_grad = tensor.requires_grad
        self.is_leaf = tensor.is_leaf
        self.grad_fn = node_name(tensor)


def _tensors(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    for value in itertools.chain(args, kwargs.values()):
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, torch.Tensor):
                    yield item
                elif isinstance(item, (list, tuple)):
                    yield from (inner for inner in item if isinstance(inner, torch.Tensor))
