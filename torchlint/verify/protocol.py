"""
What passes between the linter's process and the child that has torch: a request, and what was observed.

Plain data, to and from JSON, in frames with a length in front. Imports neither torch nor the linter: both load it.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Facts: TypeAlias = "dict[str, Any]"
"""
What was seen of a value: `kind` ("tensor", "ndarray", "number", "none", "module", "other", "missing"), `type`,
`shown`, `identity`, and for tensors `shape`, `numbers` (a sample), `version`, `requires_grad`, `is_leaf`, `grad_fn`,
`is_parameter`, `memory` (address of the storage). For an attribute of a Module also `owner` (its class), `registered`,
`parameters`.
"""


@dataclass(frozen=True, slots=True)
class Watch:
    """
    A statement to be observed.

    Attributes
    ----------
    line, column
        Where it starts, as `ast` counts: lines from 1, columns in UTF-8 bytes from 0.
    expressions
        Evaluated before and after the statement, in its frame.
    capture
        Also record the value of an expression statement.
    variables
        Also look at every variable of the frame that holds a tensor or an array.
    """

    line: int
    column: int
    expressions: tuple[str, ...] = ()
    capture: bool = False
    variables: bool = False


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
        Name of a Module class to build and drive instead of running the file as a script, or "".
    input_grad
        For a driven Module: whether its floating-point inputs require grad.
    probes
        Expressions evaluated in the program's namespace after it ended.
    timeout, memory_mb
        Limits: wall-clock seconds, and megabytes of address space beyond what torch itself takes.
    settle
        Seconds that a program may go on after it has been through all watched statements; 0: as long as it likes.
    """

    text: str
    path: str = "<program>"
    watches: tuple[Watch, ...] = ()
    catch: tuple[tuple[int, int], ...] = ()
    observe: bool = False
    module: str = ""
    input_grad: bool = False
    probes: tuple[str, ...] = ()
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
    """

    type: str
    message: str
    lines: tuple[int, ...]
    phase: str = "program"


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution of a watched statement: facts per expression before and after, and the value if captured."""

    before: Mapping[str, Facts]
    after: Mapping[str, Facts]
    value: Facts | None = None
    raised: bool = False


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
    """

    line: int
    lines: tuple[int, ...]
    raised: bool
    overwritten: tuple[int, ...]
    before: Mapping[str, Facts | None]
    after: Mapping[str, Facts | None]


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
    warnings
        "Category: text" of each warning.
    seen
        Per watch.
    writes, backwards
        Filled if `observe` was asked for.
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


def encode(value: Request | Outcome) -> bytes:
    """JSON text of a request or an outcome."""
    return json.dumps(asdict(value)).encode()


def decode_request(data: bytes) -> Request:
    """A request from its JSON text."""
    fields = json.loads(data)
    fields["watches"] = tuple(
        Watch(**{**watch, "expressions": tuple(watch["expressions"])}) for watch in fields["watches"]
    )
    fields["catch"] = tuple((line, column) for line, column in fields["catch"])
    fields["probes"] = tuple(fields["probes"])
    return Request(**fields)


def decode_outcome(data: bytes) -> Outcome:
    """An outcome from its JSON text."""
    fields = json.loads(data)
    fields["raised"] = _raised(fields["raised"]) if fields["raised"] else None
    fields["caught"] = tuple(_raised(r) for r in fields["caught"])
    fields["warnings"] = tuple(fields["warnings"])
    fields["seen"] = tuple(
        Seen(s["started"], s["finished"], tuple(Execution(**e) for e in s["executions"])) for s in fields["seen"]
    )
    fields["writes"] = tuple(Write(**{**w, "lines": tuple(w["lines"])}) for w in fields["writes"])
    fields["backwards"] = tuple(
        Backward(**{**b, "lines": tuple(b["lines"]), "overwritten": tuple(b["overwritten"])})
        for b in fields["backwards"]
    )
    return Outcome(**fields)


def _raised(fields: dict[str, Any]) -> Raised:
    return Raised(fields["type"], fields["message"], tuple(fields["lines"]), fields["phase"])


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


def receive(descriptor: int) -> bytes | None:
    """Read one frame; None if the other side closed instead."""
    head = _exactly(descriptor, _LENGTH.size)
    return None if head is None else _exactly(descriptor, _LENGTH.unpack(head)[0])


def _exactly(descriptor: int, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(descriptor, min(size - len(data), 1 << 20))
        if not chunk:
            return None
        data += chunk
    return bytes(data)
