"""
Records what a program asks of torch: in-place writes, backward passes, steps of optimizers, parameters registered.

Runs inside the child. Only looks, as `observe`: nothing here changes a tensor, a graph or a gradient, and no reference
to a tensor is kept (leaves excepted).
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import get_ident
from types import FrameType
from typing import Any

import torch
from torch.nn.modules import module as registration
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from torchlint.verify.leaf_writes import Leaves, graph_of, overwritten, tensors_in
from torchlint.verify.loaders import ORDER, Loaders
from torchlint.verify.nodes import is_leaf, node_of
from torchlint.verify.observe import Clock, Files, describe, facts, memory, node_name, sequence, user_lines, version
from torchlint.verify.protocol import Backward, Built, Called, Facts, Raised, Step, Write
from torchlint.verify.results_of import Results

FIRST_WRITES, LAST_WRITES = 32, 96
"""In a long run the first and the last writes are kept: a backward that fails reports the newest version."""
AUDITED = frozenset({"pickle.find_class", "ctypes.dlopen", "urllib.Request"})
"""
Events of Python's own (https://docs.python.org/3/library/audit_events.html) that are reported like calls, where
`Request.calls` asks for them.
"""
NODES = 4_000
"""At most so many nodes of a graph are reported."""


@dataclass(frozen=True, slots=True)
class Most:
    """
    How much is recorded.

    Attributes
    ----------
    backwards
        Backward passes.
    events
        Steps, calls and registrations, each.
    steps
        Steps of optimizers alone; 0: as many as events.
    full
        Called when one of them is recorded in full: what comes later would be seen in part.
    """

    backwards: int = 24
    events: int = 60
    steps: int = 0
    full: Callable[[], None] | None = None


class Observer(TorchFunctionMode):  # type: ignore[misc]
    """
    Records what a program asks of torch, with the line that asked for it.

    `TorchFunctionMode` sees every call from Python into torch, methods, operators and properties included
    (https://docs.pytorch.org/docs/stable/torch.overrides.html); nested calls inside torch's own Python are seen
    as part of the outer one. While the engine runs it is on again, for hooks and for the backward of Functions.

    Parameters
    ----------
    files
        The names the program's code objects carry (see `observe.Files`).
    clock
        Counts what is seen.
    calls
        Names of functions whose arguments and results are reported.
    most
        How much is recorded.
    """

    def __init__(self, files: Files, clock: Clock, calls: Sequence[str] = (), most: Most | None = None) -> None:
        super().__init__()
        self.files = files
        self.clock = clock
        self.calls = frozenset(calls)
        self.most = most or Most()
        self.listens = True
        self.loaders = Loaders(self._lines, self._round) if ORDER in self.calls else None
        self.reset()
        self._install()

    def reset(self) -> None:
        """Forget what was seen: a new attempt begins."""
        self.first_writes: list[Write] = []
        self.last_writes: list[Write] = []
        self.backwards: list[Backward] = []
        self.steps: list[Step] = []
        self.called: list[Called] = []
        self.built: list[Built] = []
        self.results = Results(self.calls)
        self.stepped = 0
        self.failed: dict[int, tuple[BaseException, Raised]] = {}
        self.inside = False
        self.thread = get_ident() if self.most.full is not None else None
        self.leaves = Leaves(self.files)

    def told(self) -> tuple[Called, ...]:
        """The calls that were asked for."""
        if self.loaders is not None:
            self.loaders.listen()
        return tuple(self.called)

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
        if name == "__get__" or not self.listens:
            return func(*args, **keywords)
        if name in ("backward", "grad") and not isinstance(func, type) and not self.inside:
            return self._backward(func, args, keywords)
        given = list(_tensors(args, keywords))
        states = [(tensor, _State(tensor, plain=self.inside)) for tensor in given]
        told = self._told(name, given)
        result = None
        try:
            result = func(*args, **keywords)
            self.results.follow(name, given, result)
            return result
        finally:
            for tensor, state in states:
                if version(tensor) > state.version:
                    self._record(name, tensor, state)
                    self.results.rewritten(name, tensor)
            if told is not None:
                lines = user_lines(sys._getframe(1), self.files)
                self.called.append(Called(name, lines[-1] if lines else 0, lines, self.clock(), told, facts(result)))

    def _told(self, name: str, given: Sequence[torch.Tensor]) -> tuple[Facts, ...] | None:
        if name not in self.calls or len(self.called) >= self.most.events:
            return None
        return tuple({**facts(tensor), "results_of": sorted(self.results.of(tensor))} for tensor in given[:4])

    def _record(self, op: str, tensor: torch.Tensor, state: _State) -> None:
        lines = user_lines(sys._getframe(2), self.files)
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
            requires_grad_after=not self.inside and tensor.requires_grad,
            grad_fn_after="" if self.inside else node_name(tensor),
            grad_mode=torch.is_grad_enabled(),
            memory=memory(tensor),
            order=self.clock(),
            sequence=sequence(),
            argument=_argument(sys._getframe(2), self.files, tensor),
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
        reported = len(self.backwards) < self.most.backwards
        if not reported:
            self._full()
        detailed = reached if reported else []
        nodes, saved = graph_of(roots, NODES) if reported else ((), ())
        before = _gradients(detailed)
        lines = user_lines(frame, self.files)
        broken: tuple[int, ...] = ()
        order, raised = self.clock(), True
        self.inside = True
        try:
            result = func(*args, **kwargs)
            raised = False
        except RuntimeError as error:
            broken = tuple(memory(tensor) for tensor in overwritten(roots, str(error)))
            if len(self.failed) < self.most.events:
                told = describe(error, self.files, "caller", order=self.clock())
                self.failed[id(error)] = (error, replace(told, lines=(*lines, *told.lines)))
            raise
        finally:
            self.inside = False
            if reported or broken:
                self.backwards.append(
                    Backward(
                        lines[-1] if lines else 0,
                        lines,
                        raised,
                        broken,
                        before,
                        _gradients(detailed),
                        order,
                        self.clock(),
                        nodes,
                        saved,
                        {name: id(leaf) for name, leaf in detailed},
                        bool(roots) and all(node_of(root) is None for root in roots),
                    )
                )
        return result

    def _full(self) -> None:
        if self.most.full is not None:
            self.most.full()

    def _install(self) -> None:
        """Hooks of torch for all optimizers and Modules, and around the engine; the process is the program's alone."""
        register_optimizer_step_pre_hook(lambda optimizer, *_: self._step("step", optimizer))
        registration.register_module_parameter_registration_hook(self._registered)
        for kind in (torch.optim.Optimizer, torch.nn.Module):
            kind.zero_grad = self._zeroing(kind.zero_grad)
        audited = self.calls & AUDITED
        if audited:
            sys.addaudithook(lambda event, args: self._audited(event, args) if event in audited else None)
        engine = getattr(torch.autograd, "_engine_run_backward", None)
        if engine is not None:

            def run(*args: Any, **kwargs: Any) -> Any:
                with self if self.inside else contextlib.nullcontext():
                    return engine(*args, **kwargs)

            torch.autograd._engine_run_backward = run

    def _lines(self) -> tuple[int, ...]:
        return user_lines(sys._getframe(2), self.files)

    def _round(self, lines: tuple[int, ...], told: Facts) -> None:
        if self.listens and len(self.called) < self.most.events:
            self.called.append(Called(ORDER, lines[-1] if lines else 0, lines, self.clock(), (), told))

    def _audited(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.listens or len(self.called) >= self.most.events or self.thread not in (None, get_ident()):
            return
        lines = user_lines(sys._getframe(2), self.files)
        words = ".".join(str(arg)[:200] for arg in args)
        if lines and words:
            told = {"kind": "other", "shown": words}
            self.called.append(Called(event, lines[-1], lines, self.clock(), (), told))

    def _zeroing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
            self._step("zero", owner)
            return original(owner, *args, **kwargs)

        return zero_grad

    def _step(self, kind: str, owner: Any) -> None:
        if not self.listens or self.thread not in (None, get_ident()):
            return
        self.stepped += kind == "step"
        if len(self.steps) >= self.most.events or (self.most.steps and self.stepped > self.most.steps):
            self._full()
            return
        lines = user_lines(sys._getframe(2), self.files)
        parameters = tensors_in(owner)
        with torch._C.DisableTorchFunction(), torch.no_grad():
            nonzero = [p for p in parameters if p.grad is not None and bool(p.grad.any())]
        self.steps.append(
            Step(
                kind,
                lines[-1] if lines else 0,
                lines,
                self.clock(),
                tuple(id(p) for p in parameters),
                tuple(id(p) for p in nonzero),
                id(owner) if isinstance(owner, torch.optim.Optimizer) else 0,
                sequence(),
            )
        )

    def _registered(self, module: torch.nn.Module, name: str, parameter: object) -> None:
        if parameter is not None and self.listens and len(self.built) < self.most.events:
            self.built.append(Built(id(module), name, user_lines(sys._getframe(1), self.files), self.clock()))


class Meter(TorchDispatchMode):  # type: ignore[misc]
    """
    Counts the elements of all results, and the operations that products of matrices and convolutions take, as torch's
    own `FlopCounterMode` does: what a program computes, whatever machine it runs on.
    """

    def __init__(self) -> None:
        super().__init__()
        self.elements = self.flops = 0

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called by torch in place of `func`."""
        result = func(*args, **(kwargs or {}))
        views = getattr(func, "is_view", False)
        if not views:
            self.elements += sum(tensor.numel() for tensor in tensors_in(result))
        counted = flop_registry.get(getattr(func, "overloadpacket", None))
        if counted is not None:
            self.flops += int(counted(*args, **(kwargs or {}), out_val=result))
        return result


def _argument(frame: FrameType | None, files: Files, tensor: torch.Tensor) -> str:
    while frame is not None and frame.f_code.co_filename not in files:
        frame = frame.f_back
    if frame is None or frame.f_code.co_name != "<lambda>":
        return ""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    return next((name for name in names if frame.f_locals.get(name) is tensor), "")


def _gradients(leaves: Iterable[tuple[str, torch.Tensor]]) -> dict[str, Facts | None]:
    return {name: None if leaf.grad is None else facts(leaf.grad) for name, leaf in leaves}


class _State:
    __slots__ = ("grad_fn", "is_leaf", "requires_grad", "version")

    def __init__(self, tensor: torch.Tensor, *, plain: bool) -> None:
        self.version = version(tensor)
        # While the engine runs it holds a node's lock, for which asking a view for its grad_fn would wait for ever.
        self.requires_grad = not plain and tensor.requires_grad
        self.is_leaf = not plain and is_leaf(tensor)
        self.grad_fn = "" if plain else node_name(tensor)


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
