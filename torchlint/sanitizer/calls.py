"""
What is kept of every call into torch: which line recorded a graph node, wrote a tensor, made or cut one.

Only looks: no value, no graph and no random number changes, and no tensor lives longer. What is known of a node hangs
on the node itself (its `metadata`), and goes with it; writes are kept by the storage that they went to.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sys import _getframe
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from torchlint.sanitizer.places import Place, here
from torchlint.verify.nodes import is_leaf, node_of

KEY = "torchlint"
"""The key in a node's metadata."""
WRITES = 12
"""At most so many writes are kept of one storage, the last ones."""
MOST = 50_000
"""At most so many storages and tensors without a graph are known at a time."""
CUTS, CUT_NODES = 64, 5_000
"""At most so many lines that cut a graph are kept, and the graph is walked no further than this."""
SKIPPED = frozenset(
    {"_set_grad_enabled", "_record_function_enter_new", "_record_function_exit", "__repr__", "__hash__", "__len__"}
    | {"size", "dim", "numel", "stride", "is_floating_point", "is_complex", "get_device", "element_size", "data_ptr"}
    | {
        "__format__",
        "__bool__",
        "_is_view",
        "is_contiguous",
        "register_hook",
        "__iter__",
        "type_as",
        "set_grad_enabled",
    }
)
"""Calls that neither record, write, nor make a tensor that matters."""
_DATA = torch.Tensor.data
_is_wrapped: Callable[[torch.Tensor], bool] = torch._C._functorch.is_functorch_wrapped_tensor
_dispatch_modes: Callable[[], int] = torch._C._len_torch_dispatch_stack


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor that a recorded call was given, or gave: enough to know it again in what a node has saved."""

    storage: int
    version: int
    shape: tuple[int, ...]
    position: int
    """Its number among the tensors of the call; -1 for the result."""


@dataclass(eq=False)
class Recorded:
    """The call that recorded a graph node."""

    op: str
    place: Place
    clock: int
    operands: tuple[Operand, ...]
    freed: Any = None
    watched: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """A call that wrote a tensor."""

    op: str
    place: Place
    clock: int
    before: int
    after: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """
    Where a tensor without a graph comes from.

    Attributes
    ----------
    cut
        How the graph was cut: "" if there was none.
    """

    op: str
    place: Place
    cut: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that raised: what it was given."""

    op: str
    place: Place
    clock: int
    given: tuple[tuple[str, Place | None, str], ...]
    """What each tensor was, where it was made, and by which operation."""


@dataclass
class Calls(TorchFunctionMode):  # type: ignore[misc]
    """Called by torch in place of every function of torch, on this thread."""

    clock: int = 0
    inside: int = 0
    """How many backwards are running: then no tensor is asked for its `grad_fn`, since the engine may hold its lock."""
    writes: dict[int, deque[Write]] = field(default_factory=dict)
    origins: dict[int, tuple[weakref.ref[Any], Origin]] = field(default_factory=dict)
    cuts: dict[tuple[str, int], tuple[Origin, frozenset[int]]] = field(default_factory=dict)
    """Lines that take a tensor out of its graph by name, and the leaves that were behind it when they ran first."""
    failed: Failed | None = None
    failure: BaseException | None = None

    def __post_init__(self) -> None:
        super().__init__()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call it, and compare its arguments before and after."""
        if is_recorded_elsewhere():
            return func(*args, **(kwargs or {}))
        keywords = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "__get__":
            result = func(*args, **keywords)
            if (
                not self.inside
                and getattr(func, "__self__", None) is _DATA
                and (args[0].requires_grad or id(args[0]) in self.origins)
            ):
                self._came("data", [args[0]], [result], _getframe(1))
            return result
        if name in SKIPPED or name in ("backward", "grad"):
            return self._plainly(name, func, args, keywords)
        given = list(tensors(args, keywords))
        versions = [_version(tensor) for tensor in given]
        self.clock += 1
        try:
            result = func(*args, **keywords)
        except Exception as error:
            self._fails(name, given, error)
            raise
        for tensor, before in zip(given, versions, strict=False):
            if before >= 0 and tensor._version > before:
                self._wrote(name, tensor, before)
        results = [result] if isinstance(result, torch.Tensor) else list(tensors((result,), {}))
        if results and not self.inside:
            recorded = [each for each in results if node_of(each) is not None]
            if recorded:
                label(self, name, recorded, given, versions, _getframe(1))
            elif not results[0].requires_grad:
                self._came(name, given, results, _getframe(1))
        return result

    def _plainly(self, name: str, func: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        try:
            return func(*args, **keywords)
        except Exception as error:
            self._fails(name, list(tensors(args, keywords)), error)
            raise

    def _wrote(self, name: str, tensor: torch.Tensor, before: int) -> None:
        storage = storage_of(tensor)
        if storage == 0:
            return
        kept = self.writes.get(storage)
        if kept is None:
            if len(self.writes) >= MOST:
                for old in list(self.writes)[: MOST // 2]:
                    del self.writes[old]
            kept = self.writes[storage] = deque(maxlen=WRITES)
        place = here(_getframe(2))
        kept.append(Write(name, place, self.clock, before, tensor._version, tuple(tensor.shape)))

    def _came(self, name: str, given: Sequence[torch.Tensor], results: Sequence[torch.Tensor], frame: Any) -> None:
        """Note where tensors without a graph come from."""
        origin: Origin | None = None
        for each in given:
            if each.requires_grad:
                origin = Origin(name, here(frame), _cut(name, results))
                self._cuts(each, origin)
                break
        else:
            for each in given:
                known = self.origin(each)
                if known is not None and known.cut:
                    origin = known
                    break
        if origin is None:
            origin = Origin(name, here(frame), "")
        if len(self.origins) >= MOST:
            for key, (reference, _) in list(self.origins.items()):
                if reference() is None:
                    del self.origins[key]
            for key in list(self.origins)[: max(0, len(self.origins) - MOST // 2)]:
                del self.origins[key]
        for each in results:
            self.origins[id(each)] = (weakref.ref(each), origin)

    def _cuts(self, tensor: torch.Tensor, origin: Origin) -> None:
        line = origin.place.line
        if not torch.is_grad_enabled() or line is None or len(self.cuts) >= CUTS:
            return
        key = (line.code.co_filename, line.line)
        if key not in self.cuts:
            with torch._C.DisableTorchFunction():
                self.cuts[key] = (origin, frozenset(_leaves(tensor)))

    def origin(self, tensor: torch.Tensor) -> Origin | None:
        """Where a tensor without a graph comes from; None if that was not seen."""
        known = self.origins.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def _fails(self, name: str, given: Sequence[torch.Tensor], error: BaseException) -> None:
        if self.failure is error or self.inside:
            return
        self.failure = error
        told = []
        for tensor in given[:6]:
            made = recorded_by(node_of(tensor))
            origin = self.origin(tensor)
            place = made.place if made is not None else origin.place if origin is not None else None
            op = made.op if made is not None else origin.op if origin is not None else ""
            told.append((described(tensor), place, op))
        self.failed = Failed(name, here(_getframe(2)), self.clock, tuple(told))


def label(
    calls: Calls,
    name: str,
    results: Sequence[torch.Tensor],
    given: Sequence[torch.Tensor],
    versions: Sequence[int],
    frame: Any,
) -> None:
    """Hang on the new nodes which call has recorded them."""
    own: Recorded | None = None
    waiting = [node_of(each) for each in results]
    while waiting:
        node = waiting.pop()
        if node is None or hasattr(node, "variable"):
            continue
        metadata = node.metadata
        if KEY in metadata:
            continue
        if own is None:
            operands = [
                Operand(storage_of(tensor), version, tuple(tensor.shape), position)
                for position, (tensor, version) in enumerate(zip(given, versions, strict=False))
            ]
            operands += [Operand(storage_of(each), _version(each), tuple(each.shape), -1) for each in results]
            own = Recorded(name, here(frame), calls.clock, tuple(operands))
        metadata[KEY] = own
        waiting.extend(following for following, _ in node.next_functions)


def recorded_by(node: Any) -> Recorded | None:
    """The call that recorded a node; None of nodes that no call of this thread did."""
    found = node.metadata.get(KEY) if node is not None else None
    return found if isinstance(found, Recorded) else None


def _leaves(tensor: torch.Tensor) -> Iterator[int]:
    waiting = [node_of(tensor)]
    done: set[Any] = set()
    while waiting and len(done) < CUT_NODES:
        node = waiting.pop()
        if node is not None and node not in done:
            done.add(node)
            if hasattr(node, "variable"):
                yield id(node.variable)
            waiting.extend(following for following, _ in node.next_functions)


def is_recorded_elsewhere() -> bool:
    """
    Whether somebody else records what is called now: a trace (`torch.jit.trace`), or a mode below the dispatcher.

    Such a recorder would take for the program's what is asked of a tensor here: `torch.jit.trace` records `t.shape`,
    names values after the variables of every frame, and compares two runs; `make_fx`, fake tensors and counters of
    operations see each call.
    """
    return torch._C._get_tracing_state() is not None or _dispatch_modes() > 0


def is_readable(tensor: torch.Tensor) -> bool:
    """
    Whether a tensor has numbers that can be looked at and that nobody else records.

    Not within a transform of `torch.func`, where a tensor stands for many, and not of a subclass such as a fake tensor.
    """
    plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and not _is_wrapped(tensor)
    return plain and not tensor.is_meta and not is_recorded_elsewhere()


def described(tensor: torch.Tensor) -> str:
    """A tensor in a few words: its shape, its type, and what autograd knows of it."""
    shape = "×".join(map(str, tensor.shape)) or "a scalar"
    words = f"{shape} {str(tensor.dtype).removeprefix('torch.')}"
    if tensor.requires_grad:
        node = node_of(tensor)
        words += f", {node.name()}" if node is not None else ", a leaf that requires grad" if is_leaf(tensor) else ""
    return words


def storage_of(tensor: torch.Tensor) -> int:
    """Address of the storage; 0 of tensors without one."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except Exception:  # sparse, functional, or a subclass without storage
        return 0


def tensors(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The tensors among arguments, in lists and tuples, too."""
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, torch.Tensor):
                    yield item
                elif isinstance(item, (list, tuple)):
                    yield from (inner for inner in item if isinstance(inner, torch.Tensor))


def _version(tensor: torch.Tensor) -> int:
    """Inference tensors have no version: -1."""
    try:
        return int(tensor._version)
    except RuntimeError:
        return -1


def _cut(name: str, results: Sequence[torch.Tensor]) -> str:
    if name in ("detach", "detach_", "data"):
        return f"`{name}` cuts the graph"
    if not torch.is_grad_enabled():
        return "the graph is not recorded here: grad mode is off (`no_grad`, `inference_mode`)"
    if not any(each.is_floating_point() or each.is_complex() for each in results):
        return f"`{name}` gives {str(results[0].dtype).removeprefix('torch.')}, which has no gradient"
    return f"`{name}` has no gradient"
