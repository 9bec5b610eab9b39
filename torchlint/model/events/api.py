"""
What a program refers to of torch's API that is not the same in all releases: told from the text, but for the methods of
tensors, which only a run tells from those of anything else.
"""

from __future__ import annotations

from torchlint.knowledge.api.arguments import Argument, Unsaid
from torchlint.knowledge.api.find import Change
from torchlint.model.events import Event, Step
from torchlint.record import record
from torchlint.syntax import cst
from torchlint.target import Extra, Release, Target, spelled


@record(frozen=True, kw_only=True)
class ApiReference(Event):
    """
    A place that names something of torch. Its properties say under which condition a user comes to it.

    Attributes
    ----------
    name
        What it stands for, in full.
    spelled
        As it is written.
    target
        The releases that the program has to run on.
    reference
        The name: an attribute, a plain name, the part of an import (`cst.ImportAlias`).
    call
        The call whose function it is.
    decorates
        It is a decorator, without a call.
    imports
        The name that it gets by `from … import`; "" elsewhere.
    importing
        That import.
    is_import
        An import names it, `from … import` or plainly.
    is_used
        Of an import: whether anything else in the file bears that name.
    is_listed
        It is named and not used: the key of a table, a member of a set, one side of a comparison.
    annotates
        It is named in an annotation, or imported for annotations alone: torch is asked for nothing but the name.
    compared
        `isinstance` or `issubclass` is asked about it.
    is_base
        It is a base of a class.
    inside
        It stands in a function: it is reached when that is called, not when the file is loaded.
    asks
        It stands in a function of a file that asks elsewhere what there is of torch: the line of the first such test
        that asks for enough to keep it from being reached; else 0.
    reached
        Who has to come by for an expression to be evaluated that the oldest release of the target refuses, as the end
        of a sentence: " where `f` is called"; "" if loading the package, or running the script, does.
    is_left_out
        Nothing of the project imports the file, although its package imports others beside it.
    is_copied
        The file lies in a folder of its package for what others wrote: `_vendor`, `third_party`.
    extra
        The extra of the project that the file is for, by its name or that of its folder, if that begins with a torch
        that has what is named; else None.
    uncalled
        The function that it stands in, where nothing of the project is known to name that; "" else.
    is_unnamed
        Of `uncalled`: no file of the project has that name in it, as a word.
    is_demo
        It stands in what a module of a package does where it is run as a script.
    is_method
        It is a method of a tensor, and `call` says it of one: what stands before the dot is its first argument.
    positional
        How many arguments the call gives by position.
    unread
        The names that the call's results are unpacked into, and that nothing in the file reads.
    """

    name: str
    spelled: str
    target: Target
    reference: cst.CSTNode
    call: cst.Call | None = None
    decorates: bool = False
    imports: str = ""
    importing: cst.ImportFrom | None = None
    is_import: bool = False
    is_used: bool = True
    is_listed: bool = False
    annotates: bool = False
    compared: bool = False
    is_base: bool = False
    inside: bool = False
    asks: int = 0
    reached: str = ""
    is_left_out: bool = False
    is_copied: bool = False
    extra: Extra | None = None
    uncalled: str = ""
    is_unnamed: bool = False
    is_demo: bool = False
    is_method: bool = False
    positional: int = 0
    unread: frozenset[str] = frozenset()

    @property
    def is_asleep(self) -> bool:
        """Nothing here comes to it, a file or a function without use; or somebody else keeps it: a copy."""
        return self.is_left_out or self.is_copied or bool(self.uncalled)

    @property
    def is_moot(self) -> bool:
        """It stands in a demo, and does nothing there."""
        return False

    @property
    def is_idle(self) -> bool:
        """Nothing that torch would warn of comes of it: an annotation, an import without use, what is asleep."""
        return self.annotates or self.is_asleep or (self.is_import and not self.is_used)

    @property
    def if_new(self) -> str:
        """The condition under which a user comes here with the newest release of the target; "" if nothing is open."""
        held = self.target.held_by
        return self._together(f", unless `{held}` refuses that" if held else "")

    def _together(self, other: str) -> str:
        """The condition under which anybody comes here, and another one, of the releases."""
        return self.if_reached + (other.replace(", unless", " or", 1) if self.asks else other)

    @property
    def if_old(self) -> str:
        """The condition under which a user comes here with the oldest release of the target; "" if nothing is open."""
        raised = self.target.raised_by
        other = f", unless `{raised}` asks for a later one" if raised else ""
        if self.extra is not None:
            other = f", unless this is for its extra `{self.extra.name}`, which begins at {spelled(self.extra.oldest)}"
        return self._together(other) or self.reached

    @property
    def doubt_new(self) -> tuple[Step, ...]:
        """Where `if_new` is "": a package of which nothing is known, as the end of the trace; else nothing."""
        return () if self.if_new else self._doubt(self.target.newest, self.target.perhaps_held_by)

    @property
    def doubt_old(self) -> tuple[Step, ...]:
        """Where `if_old` is "": likewise."""
        return () if self.if_old else self._doubt(self.target.oldest, self.target.perhaps_raised_by)

    def _doubt(self, met: Release, package: str) -> tuple[Step, ...]:
        if not package:
            return ()
        asks = f"unless `{package}` asks for another one: that is required, too, and nothing is known of it"
        return Step(self.node, f"torch {spelled(met)} refuses it"), Step(self.node, asks)

    @property
    def if_reached(self) -> str:
        """The condition under which anybody comes here at all; "" if nothing is open."""
        if self.asks:
            return f", unless line {self.asks} asks for it"
        if self.is_left_out:
            return ", if anything imports this file (nothing here does)"
        known = " (nothing here does)" if self.is_unnamed else ""
        return f", if anything calls `{self.uncalled}`{known}" if self.uncalled else ""


@record(frozen=True, kw_only=True)
class RemovedApi(ApiReference):
    """
    It is gone, or does nothing but raise, in a release of the target.

    Attributes
    ----------
    change
        What the table of changes says of it: releases, what takes its place, how it is rewritten.
    """

    change: Change


@record(frozen=True, kw_only=True)
class DeprecatedApi(ApiReference):
    """
    It is deprecated in a release of the target.

    Attributes
    ----------
    change
        What the table of changes says of it: releases, what takes its place, how it is rewritten.
    """

    change: Change


@record(frozen=True, kw_only=True)
class PrivateApi(ApiReference):
    """
    It was never public, and all releases of the target have a public twin.

    Attributes
    ----------
    change
        What the table of changes says of it: releases, what takes its place, how it is rewritten.
    """

    change: Change


@record(frozen=True, kw_only=True)
class TooNewApi(ApiReference):
    """
    A release of the target has no such name, or not this argument of it.

    Attributes
    ----------
    since
        The first release that has it.
    argument
        Which one; "" for the name itself.
    came_with
        The module that the name is in, if that came with the same release; "" else.
    by_import
        The module that the name is in, if all releases of the target have that name where somebody imports it; "" else.
    imported
        The module that the name is in, if the file imports it and its own name was a function's before; "" else.
    """

    since: Release
    argument: str = ""
    came_with: str = ""
    by_import: str = ""
    imported: str = ""


@record(frozen=True, kw_only=True)
class OldArgument(ApiReference):
    """
    A call says an argument that is deprecated, or gone, in a release of the target.

    Attributes
    ----------
    change
        What happens to the argument.
    argument
        Where it is given.
    others
        The other arguments of the call that go the same way.
    """

    change: Argument
    argument: cst.Arg
    others: tuple[tuple[Argument, cst.Arg], ...] = ()

    @property
    def every(self) -> tuple[Argument, ...]:
        """What happens to each of them, the first one first."""
        return (self.change, *(change for change, _ in self.others))

    @property
    def cure(self) -> str:
        """What to do about all of them, as an order; "" where nothing takes their place."""
        return " and ".join(dict.fromkeys(each.cure for each in self.every if each.cure)).replace(
            " and use `", " and `"
        )

    @property
    def is_moot(self) -> bool:
        """A demo says what is so without it: `pretrained=False`."""
        return self.is_demo and not self.others and self.change.how == "drop:False" and not self.change.instead


@record(frozen=True, kw_only=True)
class UnsaidArgument(ApiReference):
    """
    A call does not say an argument that torch wants said, or that means another thing in another release.

    Attributes
    ----------
    unsaid
        What the table of changes says of the argument.
    refused
        Arguments of the call that torch refuses unless this one is said.
    is_off
        It stands under a switch that the file only ever sets to False.
    """

    unsaid: Unsaid
    refused: tuple[str, ...] = ()
    is_off: bool = False


@record(frozen=True)
class Pickled:
    """
    Something that `torch.load` refuses with `weights_only=True`.

    Attributes
    ----------
    line
        Where it is saved, or used.
    what
        What it is: "a whole module".
    cure
        What to save instead, as an order.
    allowing
        What `add_safe_globals` has to be told for it: "its class"; "" where no class is enough.
    file
        The file that the line is of; "" if it is the same one.
    """

    line: int
    what: str
    cure: str
    allowing: str = "its class"
    file: str = ""

    @property
    def where(self) -> str:
        """The place, to be read."""
        return f"line {self.line}{f' of {self.file}' if self.file else ''}"


@record(frozen=True, kw_only=True)
class UnsafeLoad(ApiReference):
    """
    `torch.load` that may run what a file tells it to.

    Attributes
    ----------
    argument
        `weights_only=False`; None where it is not said, and a release of the target takes that for False.
    value
        Its False.
    holds
        Something that nobody can load as weights only: in this file, if the program tells; else what the same file, or
        another one of the project, saves, if keys or names of files tell that it is what is loaded. None if nothing is
        known of that.
    used
        `holds` is what the program makes of what it loads; else what is saved.
    is_own
        `holds` is of this very file, as is known.
    writes
        The line on which the same file writes what is loaded; 0 if it is not known to.
    is_ours
        The file is shipped with the code, or a trainer or the same class has written it, or it is loaded by a test.
    is_weights
        Something says that tensors and plain values are loaded: how the program reads them, what they are called, or
        what the class around saves.
    is_meant
        The class around saves what is refused, or what nobody knows: whoever says False there may well need it. Or a
        comment says why.
    is_beside_pickles
        The function that it stands in unpickles another file, too.
    around
        The first line of the function that it stands in; 0 outside of all.
    """

    argument: cst.Arg | None
    value: cst.BaseExpression | None = None
    holds: Pickled | None = None
    used: bool = False
    is_own: bool = False
    writes: int = 0
    is_ours: bool = False
    is_weights: bool = False
    is_meant: bool = False
    is_beside_pickles: bool = False
    around: int = 0


@record(frozen=True, kw_only=True)
class UnsafeDeserialization(ApiReference):
    """Another way to run what somebody else sends."""


@record(frozen=True, kw_only=True)
class TensorMethod(Event):
    """
    A method of a tensor is called that some release deprecates or has no more. `node` is its name, with the receiver.
    The linter makes a `RemovedApi` or `DeprecatedApi` of it, where a release of the target is meant.

    Attributes
    ----------
    name
        The method.
    spelled
        As it is written: `A.symeig`.
    call
        The call.
    """

    name: str
    spelled: str
    call: cst.Call
