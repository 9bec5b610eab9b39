"""
What a program defines, as abstract values: functions, classes and their objects, and the variables they see.

Records that only `state.Trail.set` may change. Knows no operation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torchlint.model.state.guards import Truth
from torchlint.syntax import cst, ir

if TYPE_CHECKING:
    from torchlint.model.state.held import Held
    from torchlint.model.state.tensors import Tensor
    from torchlint.model.state.values import Mapping, Module, Value


@dataclass(slots=True, eq=False, init=False)
class Frame:
    """The variables of a running function (or of the file), and where to look for the others."""

    variables: dict[str, Value]
    enclosing: Frame | None
    globals_: frozenset[str]
    nonlocals: frozenset[str]
    captured: bool
    """A function that was made in it sees the variables, also when the one whose they are has returned."""

    def __init__(
        self,
        variables: dict[str, Value],
        enclosing: Frame | None = None,
        globals_: frozenset[str] = frozenset(),
        nonlocals: frozenset[str] = frozenset(),
        captured: bool = False,
    ) -> None:
        self.variables = variables
        self.enclosing = enclosing
        self.globals_ = globals_
        self.nonlocals = nonlocals
        self.captured = captured

    def capture(self) -> None:
        """A function sees the variables of this frame, and those around it."""
        frame: Frame | None = self
        while frame is not None and not frame.captured:
            frame.captured, frame = True, frame.enclosing


@dataclass(slots=True, eq=False, init=False)
class Globals(Frame):
    """
    The variables of a file. Of a file under analysis they are set as it runs; of another file of the project (`other`)
    they are found when somebody asks for them (see `imports`).
    """

    module: str
    """Its dotted name, if it can be imported by one."""
    is_package: bool
    other: bool
    stars: tuple[str, ...]
    """What it imports all names from."""

    def __init__(
        self, variables: dict[str, Value], module: str = "", is_package: bool = False, other: bool = False
    ) -> None:
        Frame.__init__(self, variables)  # `super()` does not know a class with slots that a decorator made anew
        self.module = module
        self.is_package = is_package
        self.other = other
        self.stars = ()


def globals_of(frame: Frame) -> Frame:
    """The variables of the file that a frame belongs to."""
    while frame.enclosing is not None:
        frame = frame.enclosing
    return frame


@dataclass(slots=True, eq=False)
class ForeignCall:
    """The running of another file's code: the call of it that stands in the file under analysis."""

    node: ir.Node
    line: cst.CSTNode
    started: int
    frame: int
    """Of the frame where that stands, its `id`: nodes of the graph keep this, and would keep all its variables."""


@dataclass(slots=True, eq=False, init=False)
class Function:
    """A function of the file, with its closure."""

    definition: ir.FunctionDef | ir.Lambda
    closure: Frame
    defaults: dict[str, Value]
    owner: Class | None
    kind: str
    """"", "static", "class", "property", or "opaque" (under a decorator the model does not know)."""
    grad_mode: Truth | None
    """The grad mode its decorators set, or None."""
    name: str
    inference: bool
    """They set inference mode: what is made inside is kept from autograd for good."""

    def __init__(
        self,
        definition: ir.FunctionDef | ir.Lambda,
        closure: Frame,
        defaults: dict[str, Value],
        owner: Class | None = None,
        kind: str = "",
        grad_mode: Truth | None = None,
        name: str = "<lambda>",
        inference: bool = False,
    ) -> None:
        self.definition = definition
        self.closure = closure
        self.defaults = defaults
        self.owner = owner
        self.kind = kind
        self.grad_mode = grad_mode
        self.name = name
        self.inference = inference


@dataclass(slots=True, eq=False)
class Class:
    """A class of the file."""

    definition: ir.ClassDef
    name: str
    bases: tuple[Value, ...]
    attributes: dict[str, Value]
    wrapped: bool = False
    """A metaclass or decorator that the model does not know has had it in its hands."""
    finished_elsewhere: bool = False
    """And it may set what it likes in a new object: all but a dataclass."""
    unseen: str = ""
    """What nobody knows of it, as a message may show it: a decorator, or a base, of it or of a class above it."""
    patched: bool = False
    """Unknown code was given it and may have put other methods in the place of its own."""
    named_elsewhere: tuple[Value, ...] = ()
    """Objects that were put into it under a name that nobody knows."""
    _above: tuple[Class, ...] | None = None
    """What it derives from in the file, once somebody has asked: its bases are settled when it is made."""
    _outside: tuple[Value, ...] | None = None

    def ancestry(self) -> tuple[Class, ...]:
        """The class and its bases of the same file, in a depth-first method resolution order."""
        above = self._above
        if above is None:  # every attribute of every object asks; not the class itself, which would be a circle
            found: dict[int, Class] = {}
            pending: list[Value] = list(reversed(self.bases))
            while pending:
                value = pending.pop()
                if isinstance(value, Class) and id(value) not in found:
                    found[id(value)] = value
                    pending += reversed(value.bases)
            above = self._above = tuple(found.values())
        return (self, *above)

    def inherited(self, name: str) -> Value | None:
        """An attribute of the class, or of the first of its bases in the file that has it."""
        return next((each.attributes[name] for each in self.ancestry() if name in each.attributes), None)

    def outside(self) -> tuple[Value, ...]:
        """The bases, of any ancestor, that are not classes of the file."""
        known = self._outside
        if known is None:
            bases = [base for cls in self.ancestry() for base in cls.bases if not isinstance(base, Class)]
            known = self._outside = tuple(bases)
        return known


class Instance:
    """
    An object of a class of the file. `attributes` is only what was seen to be set; `layer` is what it is as an object
    of a class of `torch.nn`, if its class derives from one (`class Block(nn.Sequential)`); `contents` what it holds, if
    it is a dict; `given` the tensors that a constructor nobody knows was given, which it may hold under any name;
    `named_elsewhere` the objects that were put into it under a name that nobody knows;
    `exact` that a call of the very class made it: otherwise it stands for objects of derived classes, as well;
    `patched` that unknown code may have given it methods of its own;
    `unseen` what nobody knows of it alone, or of its class ("": nothing), as a message shows it.
    """

    __slots__ = (
        "attributes", "cls", "contents", "exact", "given", "havocked", "held", "initialised", "layer",
        "named_elsewhere", "patched", "turned", "unseen",
    )  # fmt: skip

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.layer: Module | None = None
        self.contents: Mapping | None = None
        self.attributes: dict[str, Value] = {}
        self.given: tuple[Tensor, ...] = ()
        self.named_elsewhere: tuple[Value, ...] = ()
        self.exact = False
        self.havocked = False
        self.initialised = False
        self.patched = False
        self.unseen = cls.unseen
        self.held: Held | None = None
        """What it held when that was asked last (see `state.held`)."""
        self.turned: list[Value] | None = None
        """What it and its classes held when that was last made unknown which unknown code may turn."""

    def may_be_patched(self) -> bool:
        """Whether another method may stand where its class, as it is written, has one."""
        return self.patched or any(each.patched for each in self.cls.ancestry())


@dataclass(slots=True, eq=False, init=False)
class Bound:
    """A method looked up on a value and not yet called."""

    receiver: Value
    name: str
    function: Function | None
    start: Class | None

    def __init__(
        self,
        receiver: Value,
        name: str,
        function: Function | None = None,
        start: Class | None = None,
    ) -> None:
        self.receiver = receiver
        self.name = name
        self.function = function
        self.start = start


@dataclass(slots=True, eq=False)
class Super:
    """`super()` in a method of `cls`."""

    cls: Class
    instance: Value


@dataclass(slots=True, eq=False)
class Partial:
    """`functools.partial(function, ...)`; `complete` as of a call (`CallSite`)."""

    function: Value
    given: tuple[Value, ...]
    named: dict[str, Value]
    complete: bool = True
