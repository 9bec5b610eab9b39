"""
The contract between a rule and everything else: what a rule declares, and what it may say.

A rule is one file in `rules/` with one subclass of `Rule`: metadata, documentation (the docstring), `check` or `visit`,
and examples. It subscribes to the kind of event that annotates its `check` method (it gets only events whose truth is
YES), or to the kind of libcst node that annotates its `visit` method; keeps no state; and yields `Diagnostic`s.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import types
import typing
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from torchlint.claims import Claim as Claim
from torchlint.claims import Holds as Holds
from torchlint.claims import Observed as Observed
from torchlint.claims import Raises as Raises
from torchlint.claims import Warns as Warns
from torchlint.condition import Condition as Condition
from torchlint.condition import spelled as spelled
from torchlint.finding import Finding as Finding
from torchlint.finding import FindingFix as FindingFix
from torchlint.finding import Level as Level
from torchlint.finding import TextEdit as TextEdit
from torchlint.finding import TraceLine as TraceLine
from torchlint.finding import Verdict as Verdict
from torchlint.model import events
from torchlint.model.events.trace import Step
from torchlint.record import record
from torchlint.syntax import cst
from torchlint.target import Target as Target
from torchlint.visited import File as File
from torchlint.visited import Settings as Settings


@record(frozen=True)
class Edit:
    """
    Replace one CST node by new source text.

    Attributes
    ----------
    node
        The node to replace. An expression is replaced in place; for a statement line
        (`cst.SimpleStatementLine` or a compound statement) the text replaces the statement itself; its
        leading and trailing comments stay.
    before
        The text becomes lines of their own before a statement, which stays as it is.
    replacement
        Source text without the indentation of the place: continuation lines are indented by the engine.
        The empty string removes a whole statement (with a `pass` left where a block would be empty).
    """

    node: cst.CSTNode
    replacement: str
    before: bool = False


@record(frozen=True)
class Fix:
    """
    A change of the source that removes the finding.

    Attributes
    ----------
    title
        A verb phrase: "write `c = c * 1.0` out of place".
    edits
        Replacements that do not overlap.
    safe
        Every outcome of a program that runs is kept: what it prints, which exception ends it, values and gradients
        up to round-off; and no comment is lost. A fix of what raises is safe if nothing else changes.
    imports
        Import statements the new text needs, such as "import torch"; added if they are missing.
    mends
        What it replaces raises as it stands: not safe where somebody may expect that.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool
    imports: tuple[str, ...] = ()
    mends: bool = False


@record(frozen=True)
class Diagnostic:
    """
    What a rule has to say about one place.

    Attributes
    ----------
    node
        Where: the finding's range is this node's.
    message
        One line, lower case, no full stop, the user's names in backquotes; says what happens. Or a function that makes
        it, which is called when the finding is reported: for a rule that finds much at the strict level.
    trace
        The proof, oldest step first; normally the event's.
    fix
        The cure as edits, if there is one; or a function that makes it, which is called when the finding is reported.
    level
        The level if it differs from the rule's own.
    group
        What the finding is about, if that may be met many times: of the findings of one rule and level in a file with
        equal groups one is shown, and the others are counted in its message.
    weight
        Which one: of the greatest weight, the first in the text.
    label
        What it is about, in few words, where findings of a group are about several things: the one that is shown names
        the labels of the others.
    others
        What the others are, in the singular: "call".
    claims
        What torch must show for this to be true, as alternatives; without any the runtime cross-check runs nothing.
        Or a function that makes them, as for the message.
    """

    node: cst.CSTNode
    message: str | Callable[[], str]
    trace: tuple[Step, ...] = ()
    fix: Fix | Callable[[], Fix | None] | None = None
    level: Level | None = None
    group: Hashable | None = None
    weight: tuple[int, ...] = ()
    label: str = ""
    others: str = "place"
    claims: tuple[Claim, ...] | Callable[[], tuple[Claim, ...]] = ()


Symptom: TypeAlias = "Raises | Warns | Holds"


@dataclass(frozen=True, slots=True)
class Example:
    """
    A program that the tests lint and execute under torch.

    Attributes
    ----------
    source
        The program; dedented. `# error: [CODE]` (or `# warning:`, `# smell:`, `# strict:`) marks the line of each
        finding, `# note: text` the line of each step of its trace.
    shows
        What torch shows when a bad example runs; required for `bad`, absent for `good`.
    fixed
        The program after the rule's fix, without markers; required where the rule has a fix for it.
    fixed_shows
        What torch shows when the fixed program runs, where the cure makes torch refuse what it let pass before.
    strict
        Lint this example with strict-level findings on.
    """

    source: str
    shows: Symptom | None = None
    fixed: str | None = None
    strict: bool = False
    fixed_shows: Symptom | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", textwrap.dedent(self.source).strip("\n") + "\n")
        if self.fixed is not None:
            object.__setattr__(self, "fixed", textwrap.dedent(self.fixed).strip("\n") + "\n")


class RuleDefinitionError(Exception):
    """A rule's class is not well formed: says which class, what is missing, and where to put it."""


SECTIONS = ("What it does", "Why is this bad?", "Cure", "Fix safety", "Known limits", "References")
OPTIONAL_SECTIONS = frozenset({"Fix safety", "Known limits"})
_CODE = re.compile(r"[A-Z]{3,8}\d{3}")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Rule:
    """
    Base class of all rules.

    Class attributes to set: `code` ("TLN201"; third parties use their own prefix of three to eight capitals), `name`
    (the flagged pattern, reads after "allow"), `level`, `fixes` ("safe", "unsafe", "both" or "none"), `bad`, `good`.

    `check(self, event: SomeEvent)` yields diagnostics; the annotation (an `Event` subclass, or a union of several)
    is the subscription. `check(self, event: SomeEvent, settings: Settings)` is also given what the configuration says,
    `check(self, event: SomeEvent, file: File)` the file around the event's node (which costs the file its parsing by
    libcst wherever the event is raised).

    `visit(self, node: cst.Call, file: File)` yields diagnostics; the annotation (a class of libcst nodes, or a union of
    several) is the subscription. It is run in files that mention one of `needs`: qualified names (`torch.load`), or
    attributes of anything (`.data`). A rule may have both.

    `options` are the names and the usual values of the rule's own settings, `[tool.torchlint.rules.<name>]`. A rule in
    `preview` takes part only with --preview, or selected by its code or name.

    A rule of another level `may_be_strict` if some of its diagnostics are of the strict level. A file whose findings
    are all strict, and not asked for, needs no tree, as long as `check` asks its nodes for nothing but their text
    (`code`, `shown`): what looks into them belongs into a fix that is made when it is wanted (`fix=partial(...)`).

    Smells are strict in files of tests, whatever the rule: what a test builds is small, and thrown away; so they are in
    what nothing of the project names or imports.

    Raises
    ------
    RuleDefinitionError
        when a subclass is not well formed.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    level: ClassVar[Level]
    fixes: ClassVar[Literal["safe", "unsafe", "both", "none"]] = "none"
    bad: ClassVar[tuple[Example, ...]] = ()
    good: ClassVar[tuple[Example, ...]] = ()
    needs: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, Any]] = {}
    preview: ClassVar[bool] = False
    subscriptions: ClassVar[tuple[type[events.Event], ...]] = ()
    visits: ClassVar[tuple[type[cst.CSTNode], ...]] = ()
    given: ClassVar[type[Settings] | type[File] | None] = None
    """What `check` is given beside the event."""
    check: ClassVar[Callable[..., Iterator[Diagnostic]]]
    visit: ClassVar[Callable[..., Iterator[Diagnostic]]]
    may_be_strict: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        where = f"{cls.__module__}.{cls.__qualname__}"
        for attribute, pattern in (("code", _CODE), ("name", _NAME)):
            value = cls.__dict__.get(attribute)
            if not isinstance(value, str) or not pattern.fullmatch(value):
                raise RuleDefinitionError(
                    f"{where}: `{attribute}` is {value!r}; it must be a string of the form {pattern.pattern}"
                )
        if not isinstance(cls.__dict__.get("level"), Level):
            raise RuleDefinitionError(f"{where}: set `level` to a torchlint.rule.Level")
        if not {"check", "visit"} & cls.__dict__.keys():
            raise RuleDefinitionError(
                f"{where}: define `check(self, event: events.SomeEvent)`, or `visit(self, node: cst.Call, file: File)`"
            )
        if "check" in cls.__dict__:
            cls.subscriptions = _annotated("check", cls.check, where, events.Event, "a class of torchlint.model.events")
            cls.given = _given(cls.check, where)
        if "visit" in cls.__dict__:
            import libcst  # a bare class of `syntax/cst` is nobody's

            kind = "a class of libcst nodes, such as cst.Call, which `import libcst as cst` gives"
            cls.visits = _annotated("visit", cls.visit, where, libcst.CSTNode, kind)
            if not cls.needs or isinstance(cls.needs, str):
                raise RuleDefinitionError(
                    f"{where}: `needs` says what a file must mention for `visit` to be run, such as "
                    '("torch.load",) or (".data",); it must be a tuple with at least one string'
                )

    @classmethod
    def summary(cls) -> str:
        """The first line of the rule's documentation."""
        return inspect.cleandoc(cls.__doc__ or "").partition("\n")[0]

    @classmethod
    def sections(cls) -> dict[str, str]:
        """The sections of the rule's documentation by title, in order, as Markdown."""
        parts = re.split(r"^## +(.+?) *$", inspect.cleandoc(cls.__doc__ or ""), flags=re.MULTILINE)
        return {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


_PARAMETERS = {"check": ("the event", "and may take the settings or the file"), "visit": ("the node", "and the file")}


def _parameters(method: Callable[..., object]) -> list[str]:
    """The names of what a method takes: of a plain one, as most are, read off its code, a tenth of the work."""
    if isinstance(method, types.FunctionType) and not hasattr(method, "__wrapped__"):
        code = method.__code__
        if not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return list(inspect.signature(method).parameters)


def _given(check: Callable[..., object], where: str) -> type[Settings] | type[File] | None:
    """What the annotation of the second argument of `check` asks for; None without one."""
    names = _parameters(check)
    if len(names) < 3:
        return None
    kind = typing.get_type_hints(check).get(names[2])
    if kind is Settings or kind is File:
        return kind
    raise RuleDefinitionError(
        f"{where}.check: `{names[2]}` is annotated with {kind!r}; use torchlint.rule.Settings or torchlint.rule.File"
    )


def _annotated(
    name: str, method: Callable[..., object], where: str, base: type[Any], expected: str
) -> tuple[type[Any], ...]:
    """The classes that annotate what a method is given: what it subscribes to."""
    parameters = _parameters(method)
    if not (len(parameters) == 3 or (name == "check" and len(parameters) == 2)):
        raise RuleDefinitionError(
            f"{where}.{name} takes {len(parameters) - 1} arguments; it must take {', '.join(_PARAMETERS[name])}"
        )
    annotation = getattr(method, "__annotations__", {}).get(parameters[1])
    if not isinstance(annotation, (type, types.UnionType)):  # it is written as a string, or holds one
        annotation = typing.get_type_hints(method).get(parameters[1])
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    kinds = typing.get_args(annotation) if union else (annotation,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, base)):
            raise RuleDefinitionError(
                f"{where}.{name}: {_PARAMETERS[name][0]} is annotated with {kind!r}; use {expected}"
            )
    return kinds
