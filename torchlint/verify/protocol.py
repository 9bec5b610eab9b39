"""
What passes between the linter's process and the child that has torch: a request, and what was observed.

Plain data, to and from JSON, in frames with a length in front. Imports neither torch nor the linter: both load it.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import lru_cache
from itertools import cycle
from types import UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

_Data = TypeVar("_Data")

Facts: TypeAlias = dict[str, Any]
"""
What was seen of a value: `kind` ("tensor", "ndarray", "number", "none", "module", "other", "missing"), `type`,
`shown`, `identity`, and for tensors `shape`, `numbers` (a sample), `version`, `requires_grad`, `is_leaf`, `grad_fn`,
`is_parameter`, `retains_grad`, `memory` (address of the storage), `sequence` (number of its graph node); of what has
one, `truth`; of what is missing, `error`, the exception of the expression. For an attribute of a Module also `owner`
(its class), `registered`, `parameters`.
"""


@dataclass(frozen=True, slots=True)
class WatchedStatement:
    """
    A statement to be observed.

    Attributes
    ----------
    line, column
        Where it starts, as `ast` counts: lines from 1, columns in UTF-8 bytes from 0.
    expressions
        Evaluated before and after the statement, in its frame, with the names of `observe.VOCABULARY` beside its own.
    capture
        Also record the value of an expression statement, or what is returned.
    variables
        Also look at every variable of the frame that holds a tensor or an array.
    bound
        The names that the statement binds.
    compound
        Whether it holds other statements: then it is only looked at before.
    """

    line: int
    column: int
    expressions: tuple[str, ...] = ()
    capture: bool = False
    variables: bool = False
    bound: tuple[str, ...] = ()
    compound: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """
    One program to run.

    Attributes
    ----------
    text
        The program.
    path
        Its file, for `__file__`, the import path and tracebacks; it need not exist.
    watches
        Statements to observe; the answer refers to them by index.
    catch
        Places (line, column) of statements whose exceptions are recorded and passed over.
    observe
        Whether to record in-place writes and backward passes (a `TorchFunctionMode` is on while the program runs).
    module
        Name of a Module class, a function or a method (`Class.method`) to drive instead of running the file as a
        script, or "".
    input_grad
        For a driven Module: whether its floating-point inputs require grad.
    probes
        Expressions evaluated in the program's namespace after it ended.
    calls
        Names of torch's functions whose arguments and results are reported.
    functions
        Names of autograd Functions whose backward is held against finite differences after the program; "*" for all;
        with `TWICE` behind it, the derivative of the backward, too.
    copies
        Whether what was saved for a backward is kept as a copy where it is written.
    measure
        Whether to count the elements that operations compute, and to keep what is printed.
    timeout, memory_mb
        Limits: wall-clock seconds, and megabytes of address space beyond what torch itself takes.
    settle
        Seconds of processor time that a program may go on after it has been through all watched statements; 0: as long
        as it likes.
    """

    text: str
    path: str = "<program>"
    watches: tuple[WatchedStatement, ...] = ()
    catch: tuple[tuple[int, int], ...] = ()
    observe: bool = False
    module: str = ""
    input_grad: bool = False
    probes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    copies: bool = False
    measure: bool = False
    timeout: float = 30.0
    memory_mb: int = 4096
    settle: float = 0.0


@dataclass(frozen=True, slots=True)
class Raised:
    """
    An exception that came out of the program.

    Attributes
    ----------
    type, message
        Class name and text.
    lines
        Lines of the program's own frames in the traceback, outermost first.
    phase
        Where it happened: "program", or for a driven Module "load", "construct", "forward", "backward",
        "second forward", "second backward".
    own
        Whether a `raise` or `assert` of the program itself made it.
    order
        When it was seen (see `Execution.order`).
    """

    type: str
    message: str
    lines: tuple[int, ...]
    phase: str = "program"
    own: bool = False
    order: int = 0


@dataclass(frozen=True, slots=True)
class Execution:
    """
    One execution of a watched statement.

    Attributes
    ----------
    before, after
        Facts per expression.
    value
        That of an expression statement, if it was asked for.
    raised
        Whether an exception left it.
    order, end
        When it was started and left: all that is observed is counted through, so that what came first has the lower
        number.
    first, last
        Nodes of graphs that it made have sequence numbers from `first` to below `last`.
    warnings
        "Category: text" of each warning that was given meanwhile.
    """

    before: Mapping[str, Facts]
    after: Mapping[str, Facts]
    value: Facts | None = None
    raised: bool = False
    order: int = 0
    end: int = 0
    first: int = 0
    last: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """How often a watched statement was started and finished, and the first executions in detail."""

    started: int = 0
    finished: int = 0
    executions: tuple[Execution, ...] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """
    A tensor whose version counter rose during one call to torch.

    Attributes
    ----------
    line
        The program's line that made the call.
    lines
        All lines of the program on the stack, outermost first.
    op
        Name of the torch function: `mul_`, `__setitem__`, `relu`.
    before, after
        The version.
    requires_grad, is_leaf, grad_fn
        Before the call.
    requires_grad_after, grad_fn_after
        After it.
    grad_mode
        Whether gradients were recorded.
    memory
        Address of the storage.
    order
        As in `Execution`.
    sequence
        Graph nodes made before it have lower sequence numbers.
    argument
        Where a lambda of the program made it: the parameter that is this tensor, or "".
    """

    line: int
    lines: tuple[int, ...]
    op: str
    before: int
    after: int
    requires_grad: bool
    is_leaf: bool
    grad_fn: str
    requires_grad_after: bool
    grad_fn_after: str
    grad_mode: bool
    memory: int
    order: int = 0
    sequence: int = 0
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Backward:
    """
    A backward pass.

    Attributes
    ----------
    line, lines
        As in `Write`.
    raised
        Whether it failed.
    overwritten
        Where it failed on a saved tensor that was modified: the address of that tensor's storage.
    before, after
        The gradient of each leaf (None: no gradient).
    order, end
        When it began and ended.
    nodes
        Sequence numbers of the graph nodes it went through, at most `recorder.NODES`.
    saved
        Pairs of such a number and the address of the storage of a tensor that the node had saved.
    leaves
        Per leaf: its identity.
    from_leaf
        Whether it started from a leaf: there is no graph.
    """

    line: int
    lines: tuple[int, ...]
    raised: bool
    overwritten: tuple[int, ...]
    before: Mapping[str, Facts | None]
    after: Mapping[str, Facts | None]
    order: int = 0
    end: int = 0
    nodes: tuple[int, ...] = ()
    saved: tuple[tuple[int, int], ...] = ()
    leaves: Mapping[str, int] = field(default_factory=dict)
    from_leaf: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """
    A `step()` or `zero_grad()` of an optimizer, or a `zero_grad()` of a Module.

    Attributes
    ----------
    kind
        "step" or "zero".
    line, lines, order
        As in `Write`.
    parameters
        Identities of the parameters it is about.
    gradients
        Identities of those that had a gradient other than zero when it was called.
    optimizer
        Identity of the optimizer; 0 for a Module.
    sequence
        As in `Write`.
    """

    kind: str
    line: int
    lines: tuple[int, ...]
    order: int
    parameters: tuple[int, ...]
    gradients: tuple[int, ...]
    optimizer: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a function that `Request.calls` names: the tensors it was given, and what it returned."""

    name: str
    line: int
    lines: tuple[int, ...]
    order: int
    given: tuple[Facts, ...]
    result: Facts


@dataclass(frozen=True, slots=True)
class Built:
    """A parameter was registered with a Module: `owner` is the identity of the Module, `lines` the program's."""

    owner: int
    name: str
    lines: tuple[int, ...]
    order: int


@dataclass(frozen=True, slots=True)
class Derivative:
    """
    Whether the backward of a Function agrees with finite differences at some inputs, and torch's words if not; `twice`:
    whether the derivative of its backward does, where it agrees itself. `ignored`: it was looked whether its
    backward returns the same, not zero, whatever gradient it is given; then `agrees` is that it does not.
    """

    function: str
    inputs: str
    agrees: bool
    message: str
    twice: bool = False
    ignored: bool = False


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning, with the program's lines on the stack when it was given."""

    text: str
    lines: tuple[int, ...]
    order: int


Ending: TypeAlias = Literal["ended", "raised", "time", "memory", "died", "unbuilt"]
"""
"ended": to the last line. "raised": an exception came out. "time", "memory": a limit was hit. "died": the process
ended without an answer. "unbuilt": no way was found to construct or call the Module.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What was observed while a program ran.

    Attributes
    ----------
    ending
        How it ended.
    raised
        The exception that ended it.
    caught
        Exceptions of statements named in `Request.catch`.
    handled
        Exceptions that the program itself handled.
    warnings
        "Category: text" of each warning.
    warned
        The same with their places.
    seen
        Per watch.
    writes, backwards, steps, called, built
        Filled if `observe` was asked for.
    derivatives
        What came of `Request.functions`.
    elements
        Elements of all results of operations, if `measure` was asked for.
    flops
        Floating-point operations of matrix products and convolutions, if `measure` was asked for.
    printed
        What went to standard output, if `measure` was asked for.
    gradients
        Per leaf that a backward reached: its gradient at the end of the program.
    probes
        Per expression: its facts, with `truth` (whether it is true) or `error`.
    driven
        How a Module was built and called, in words.
    note
        More about the ending.
    seconds
        Wall-clock time in the child.
    torch
        The version of torch that ran it; "" where nothing came back.
    """

    ending: Ending
    raised: Raised | None = None
    caught: tuple[Raised, ...] = ()
    warnings: tuple[str, ...] = ()
    seen: tuple[Seen, ...] = ()
    writes: tuple[Write, ...] = ()
    backwards: tuple[Backward, ...] = ()
    gradients: Mapping[str, Facts | None] | None = None
    probes: Mapping[str, Facts] | None = None
    driven: str = ""
    note: str = ""
    seconds: float = 0.0
    handled: tuple[Raised, ...] = ()
    warned: tuple[Warned, ...] = ()
    steps: tuple[Step, ...] = ()
    called: tuple[Called, ...] = ()
    built: tuple[Built, ...] = ()
    derivatives: tuple[Derivative, ...] = ()
    elements: int = 0
    flops: int = 0
    printed: str = ""
    torch: str = ""


def encode(value: Any) -> bytes:
    """JSON text of a request, an outcome, or another dataclass of such data."""
    return json.dumps(asdict(value)).encode()


def decode(kind: type[_Data], data: bytes) -> _Data:
    """What JSON text says, as a dataclass of this kind."""
    found: _Data = _rebuilt(kind, json.loads(data))
    return found


def _rebuilt(kind: Any, value: Any) -> Any:
    """JSON's lists and objects as the tuples and classes that the annotations of a class ask for."""
    arguments = get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: _rebuilt(hints[name], inner) for name, inner in value.items()})
    if isinstance(value, list) and get_origin(kind) is tuple:
        inner = arguments[0] if arguments[-1] is Ellipsis else None
        return tuple(_rebuilt(inner or each, item) for each, item in zip(cycle(arguments), value, strict=False))
    if isinstance(value, dict) and get_origin(kind) in _UNIONS:
        return next((_rebuilt(each, value) for each in arguments if is_dataclass(each)), value)
    return value


TWICE = "''"
"""Behind the name of a Function: its second derivatives are held against finite differences, too."""
STOOD_IN = "with a stand-in for"
"""How `Outcome.driven` says that something that is not installed was used."""
_UNIONS = (Union, UnionType)


@lru_cache(maxsize=32)
def _hints(kind: type[Any]) -> Mapping[str, Any]:
    return get_type_hints(kind)


_LENGTH = struct.Struct(">Q")


def send(descriptor: int, data: bytes) -> None:
    """
    Write one frame.

    Raises
    ------
    OSError
        if the other side is gone.
    """
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(descriptor, view) :]


def receive(descriptor: int, longest: int | None = None, end: float | None = None) -> bytes | None:
    """
    Read one frame.

    Parameters
    ----------
    longest
        Its greatest length.
    end
        When to give up, on the monotonic clock.

    Returns
    -------
    bytes | None
        None if the other side closed instead, sent more, or took longer.
    """
    head = _exactly(descriptor, _LENGTH.size, end)
    if head is None:
        return None
    size = _LENGTH.unpack(head)[0]
    return None if longest is not None and size > longest else _exactly(descriptor, size, end)


def _exactly(descriptor: int, size: int, end: float | None) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        if end is not None and not select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
            return None
        chunk = os.read(descriptor, min(size - len(data), 1 << 20))
        if not chunk:
            return None
        data += chunk
    return bytes(data)
