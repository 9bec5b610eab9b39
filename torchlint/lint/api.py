"""
What a file refers to of torch's API: the events of `torchlint.model.events.api`.

Told from its text and Python's own tree: which names the table has something to say about under the file's target, at
the places where they stand. Only statements on whose lines such a name may be are looked at. Methods of tensors are
what the model has seen of them. Judges nothing, and asks for no node of libcst's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

from torchlint.knowledge.api import find
from torchlint.knowledge.api.arguments import Argument
from torchlint.lint.arguments import (
    argument_at,
    given_at,
    is_false,
    is_refused,
    is_said_in_vain,
    is_short,
    may_be_none,
    of_one_way,
    reduction,
    repository,
    transform,
    unread,
)
from torchlint.lint.callers import all_ask_first
from torchlint.lint.gates import Gates
from torchlint.lint.guards import Guards
from torchlint.lint.loading import needed
from torchlint.lint.registry import Registry, Selection
from torchlint.lint.surroundings import Surroundings
from torchlint.model.events import Event
from torchlint.model.events import api as events
from torchlint.model.observers.api.methods import METHODS
from torchlint.project.copies import is_imitated, is_of_torch
from torchlint.project.index import ProjectIndex
from torchlint.record import record
from torchlint.rule import Rule
from torchlint.syntax import ir
from torchlint.syntax.children import walk
from torchlint.syntax.kinds import line_at, place_at
from torchlint.syntax.mentions import lines_of, names_of, spelled, statements
from torchlint.syntax.references import Reference, asked_methods, references
from torchlint.target import NEWEST, Release, Target

_RETAIN = "retain_variables"
LOAD = ("torch.load", "torch.serialization.load")
_WEIGHTS_ONLY = (2, 6)
"""The release in which `torch.load` stopped to unpickle unless told otherwise."""
TRUSTED_OWNERS = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")
"""Whose repositories `torch.hub.load` never asks about (torch/hub.py, `_TRUSTED_REPO_OWNERS`)."""


@record(frozen=True)
class Use:
    """
    A reference that an event is made of.

    Attributes
    ----------
    kind
        The event.
    reference
        The place.
    facts
        Its attributes beside those of every reference.
    argument
        The index of the argument that it is about; -1 if it is about none.
    others
        The indices of arguments that go the same way, with what happens to them.
    """

    kind: type[events.ApiReference]
    reference: Reference
    facts: dict[str, Any]
    argument: int = -1
    others: tuple[tuple[Argument, int], ...] = ()


def referred(
    path: str, program: ir.Program, registry: Registry, selection: Selection, project: ProjectIndex
) -> tuple[Callable[[], Target], list[Event]]:
    """
    What a text refers to, of what rules that are asked for want to know; and who says which releases are meant: what
    the project says of it is read only where something rests on it.

    Parameters
    ----------
    path
        The file, as shown to the user.
    program
        What is in it.
    registry, selection
        The rules.
    project
        Whose target counts where none was asked for.
    """
    wanted = _wanted(tuple(registry.rules), selection.enabled)
    if not wanted or is_of_torch(project) or is_imitated(project):
        return Target, []
    text, tree = program.text, program.at
    names = names_of((each.at for each in program.naming), find.PACKAGES)
    retains = _RETAIN in text
    if not (names is None or names or retains):
        return Target, []
    anywhere = find.Spelled(find.watched_anywhere(), text)
    said = None if names is None else spelled(text, names, anywhere, find.beginnings())
    if said == {} and not retains:
        return lambda: selection.target or project.target(text), []
    target = selection.target or project.target(text)
    watched = find.watched(target)
    lines = None if said is None else lines_of(said, find.Spelled(watched, text))
    found, tried = list[Reference](), set[str]()
    if lines is None or lines:
        named = references(tree, watched, find.PACKAGES, lines, text=text)
        found = [each for each in named if not each.asked]
        tried |= _tried(named)
    if retains:
        found += _receivers(tree)
    if not found:
        return lambda: target, []
    read = Surroundings(path, text, tree, project)
    gates = Gates(tree, text, project)
    guards = Guards(tree, gates.is_flag, "." not in project.module)

    def is_asked_for(use: Use) -> bool:
        if use.kind is events.TooNewApi:
            return guards.is_brought(use.reference.node, use.reference.name)
        old = use.kind is events.OldArgument
        return old and guards.is_asked_for_by_name(use.reference.node, use.facts["change"].name)

    def used(found: list[Reference]) -> list[Use]:
        judged = (_Judged(each, watched, target, read, found, tried).uses() for each in found)
        return [use for uses in judged for use in uses if use.kind in wanted and not is_asked_for(use)]

    uses = used(found)
    if any(use.kind in _ASKED_FOR for use in uses):  # only then other files are looked into
        spoken = {part for use in uses for part in accumulate(use.reference.name.split("."), "{}.{}".format)}
        lines = sorted({each.node.lineno for each in found if each.name in spoken})
        named = references(tree, watched, find.PACKAGES, lines, gates.is_flag, text)
        asked = {id(each.node) for each in named if each.asked}
        tried |= _tried(named)
        uses = used([each for each in found if id(each.node) not in asked])
        if any(use.kind in _ASKED_FOR for use in uses) and gates.is_imported_under_a_test:
            uses = [use for use in uses if use.kind not in _ASKED_FOR]
        uses = [
            use
            for use in uses
            if use.kind not in _ASKED_FOR or not use.reference.inside or not guards.is_refused(use.reference.node)
        ]
        inside = [use for use in uses if use.kind in _ASKED_FOR and use.reference.inside]
        kept = {id(use) for use in inside if all_ask_first(tree, project, gates, use.reference.node)}
        uses = [use for use in uses if id(use) not in kept and not gates.imports(use.facts.get("by_import", ""))]
        if any(use.kind is events.TooNewApi for use in uses):
            met = needed(tree, project, target)
            uses = [use for use in uses if use.kind is not events.TooNewApi or use.facts["since"] > met(_at_load(use))]
        uses = _guarded(uses, guards, gates, watched)
    put = {each for each in {use.reference.name for use in uses if use.kind in _PUT} if gates.provides(each)}
    uses = [use for use in uses if use.kind not in _PUT or use.reference.name not in put]
    read.extra = target.extra_of(project.module)
    read.is_left_out = bool(uses) and gates.is_left_out
    read.uncalled = gates.uncalled
    return lambda: target, [_event(path, target, use, read) for use in uses]


def _guarded(uses: Sequence[Use], guards: Guards, gates: Gates, watched: find.Watched) -> list[Use]:
    """Uses, each of what is missing in a release with what of the file may keep that from being evaluated."""
    new = [use for use in uses if use.kind is events.TooNewApi]
    reached = {id(use): guards.reached(use.reference.node) for use in new}
    if not all(reached.values()) and not gates.is_imported:
        reached = {each: where or " where this file is imported" for each, where in reached.items()}
    loaded = max((use.facts["since"] for use in new if not reached[id(use)]), default=(0, 0))
    found: list[Use] = []
    for use in uses:
        facts, name = dict(use.facts), use.reference.name
        if use.kind is events.TooNewApi:  # what cannot be loaded before a release is not called before it either
            facts["reached"] = "" if facts["since"] <= loaded else reached[id(use)]
            if use.reference.inside:
                argument, since = facts.get("argument", ""), facts["since"]
                if guards.has_imported(use.reference.node, since, watched.too_new):
                    continue
                facts["asks"] = guards.asks_for(use.reference.node, name, argument, since, watched.too_new)
        elif use.kind is events.RemovedApi and use.reference.inside:
            facts["asks"] = guards.asks_whether_gone(use.reference.node, facts["change"].removed)
        found.append(replace(use, facts=facts))
    return found


def _at_load(use: Use) -> int:
    """The line on which it is come to as the file is loaded; 0 for what stands in a function."""
    return 0 if use.reference.inside else use.reference.node.lineno


_ASKED_FOR = (events.TooNewApi, events.RemovedApi)
"""What somebody asks first for, who knows that it is not always there."""
_PUT = (*_ASKED_FOR, events.UnsaidArgument, events.UnsafeLoad)  # not known of what the project itself puts into torch


def _tried(named: Iterable[Reference]) -> set[str]:
    """What a file imports only if it is there."""
    return {each.name for each in named if each.asked and isinstance(each.node, ast.alias)}


@lru_cache(maxsize=8)
def _wanted(rules: tuple[Rule, ...], enabled: frozenset[str]) -> frozenset[type[events.ApiReference]]:
    """The events that rules which are asked for want to know."""
    return frozenset(
        kind
        for rule in rules
        if rule.code in enabled
        for kind in rule.subscriptions
        if issubclass(kind, events.ApiReference)
    )


def _receivers(tree: ast.Module) -> list[Reference]:
    """Calls of `backward` on whatever with an argument that only it ever had."""
    return [
        Reference(".backward", ast.unparse(node.func), node.func, _around(tree, node), node)
        for node in walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
        and any(each.arg == _RETAIN for each in node.keywords)
    ]


def _around(tree: ast.Module, node: ast.expr) -> ast.stmt:
    """The innermost statement around an expression."""
    return [each for each in statements(tree) if any(part is node for part in walk(each))][-1]


class _Judged:
    """What is to be said of one reference."""

    def __init__(
        self,
        reference: Reference,
        watched: find.Watched,
        target: Target,
        names: Surroundings,
        everything: Sequence[Reference],
        tried: Container[str],
    ) -> None:
        self.reference = reference
        self.watched = watched
        self.target = target
        self.names = names
        self.everything = everything
        self.tried = tried  # see `_tried`

    def uses(self) -> Iterator[Use]:
        """What the table says; of a name that is gone, nothing of its arguments."""
        reference, name = self.reference, self.reference.name
        if reference.constructs and reference.call is not None:
            yield from self.of_call(reference.call)
            return
        change = self.watched.names.get(name)
        if change is not None and self.is_meant(change):
            use = self.of_name(change)
            spoken = reference.listed and not change.warns_where_read
            asked = reference.compared and change.derived and change.is_replaced_by(reference.beside)
            if use.kind is not events.DeprecatedApi or not (spoken or asked):
                yield use
            return
        since = self.watched.too_new.get(name)
        if since is not None and not reference.again:
            imported = self.imported(name)
            since = (find.importable(imported) if imported else None) or since
            if self.target.lacks(name, since) and not self.is_tried(name, since):
                facts = {"since": since, "came_with": find.came_with(name), "imported": imported}
                yield Use(events.TooNewApi, reference, facts | {"by_import": self.by_import(name, since)})
            return
        if reference.call is not None:
            yield from self.of_call(reference.call)
        elif name == "torch.package" and not reference.again:
            yield Use(events.UnsafeDeserialization, reference, {})

    def imported(self, name: str) -> str:
        """The module of a name that the file imports, if that name was a function's before: none hides it then."""
        module = name.rpartition(".")[0]
        for each in statements(self.names.tree) if find.importable(module) is not None else ():
            taken = [each.module] if isinstance(each, ast.ImportFrom) else []
            if module in taken or (isinstance(each, ast.Import) and module in {part.name for part in each.names}):
                return module
        return ""

    def by_import(self, name: str, since: Release) -> str:
        """The module of a name that came later, if the oldest release has that name where somebody imports it."""
        module = name.rpartition(".")[0]
        came = find.importable(module)
        return module if came is not None and came < since and not self.target.begins_before(came) else ""

    def is_tried(self, name: str, since: Release) -> bool:
        """Whether the file imports a name, or a module that it is in and came with it, only if that is there."""
        while name:
            if name in self.tried and self.watched.too_new.get(name, (0, 0)) >= since:
                return True
            name = name.rpartition(".")[0]
        return False

    def is_called(self) -> bool:
        """Whether this place calls what it names, or gives it a name, or to a function, by which it is called."""
        reference = self.reference
        if reference.call is not None or reference.decorates or reference.handed:
            return True
        return not reference.listed and any(
            each.again and each.name == reference.name and each.call is not None for each in self.everything
        )

    def is_meant(self, change: find.Change) -> bool:
        """
        Whether this place is the one to speak of: where a call is to be rewritten, the call; else where it is named in
        full.
        """
        reference = self.reference
        if change.stub and self.target.reaches(change.removed) and not self.is_called():
            return False
        by_call = change.how not in ("", "rename", "twin", "call", "method")
        if reference.again:
            return by_call
        if reference.imports and by_call:
            return not any(each.again and each.name == reference.name for each in self.everything)
        return True

    def of_name(self, change: find.Change) -> Use:
        kind: type[events.ApiReference] = events.DeprecatedApi
        if self.target.reaches(change.removed):
            kind = events.RemovedApi
        elif change.private is not None:
            kind = events.PrivateApi
        if change.how.startswith("transform:"):
            change = replace(change, instead=transform(change, self.reference.call, 1))
        if is_short(self.reference.call, change):
            change = replace(change, differs=f"as `{self.reference.spelled}` takes a start and an end: TypeError")
        return Use(kind, self.reference, {"change": change})

    def of_call(self, call: ast.Call) -> Iterator[Use]:
        reference, name = self.reference, self.reference.name
        starred = any(isinstance(each, ast.Starred) for each in call.args)
        open_ = any(each.arg is None for each in call.keywords)
        if name in find.CALLED:
            yield from self.of_deserialization(call, starred or open_)
        if call.keywords and is_refused(call, name):
            return
        rows = self.watched.arguments.get(name, ())
        if name.startswith(find.MODELS + "."):
            rows = self.watched.arguments.get(find.MODELS, ())
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, bool):  # as it was given by position
                rows = tuple(replace(each, at=0) if each.name == "pretrained" else each for each in rows)
        given = [(each, at) for each in rows if (at := given_at(call, each.name, each.at, starred)) >= 0]
        if any(each.how == "reduction" for each, _ in given):
            tree, around = self.names.tree, self.names.checkpoints.function_around(call)
            instead = reduction({each.name: argument_at(call, at) for each, at in given}, call)
            given = [(replace(each, instead=instead), at) for each, at in given]
            given = [each for each in given if not may_be_none(argument_at(call, each[1]), around, tree)]
        for (change, at), *others in of_one_way(given, self.target):
            if change.how == "weights" and change.name == "pretrained" and not others and is_false(call, at):
                change = replace(change, how="drop:False", instead="")  # as it is without
            yield Use(events.OldArgument, reference, {"change": change}, at, tuple(others))
        for argument, since in self.watched.new_arguments.get(name, {}).items():
            at = given_at(call, argument, find.position_of_new(name, argument, len(call.args)), starred)
            if at >= 0:
                yield Use(events.TooNewApi, reference, {"since": since, "argument": argument}, at)
        unsaid = self.watched.unsaid.get(name)
        left_out = unsaid is not None and given_at(call, unsaid.name, unsaid.at, starred) < 0
        if left_out and unsaid is not None and unsaid.implied and self._is_implied(call, unsaid.implied):
            left_out = False
        left_out = left_out and not is_said_in_vain(call, name)
        if left_out and name == "torch.hub.load" and repository(call).partition("/")[0] in ("", *TRUSTED_OWNERS):
            left_out = False
        if left_out and name not in LOAD and not (starred or open_):
            takes = unsaid.takes if unsaid is not None else ()
            refused = tuple(each.arg for each in call.keywords if takes and each.arg not in takes)
            facts = {"unsaid": unsaid, "refused": refused, "is_off": self.names.is_off(call)}
            yield Use(events.UnsaidArgument, reference, facts)

    def _is_implied(self, call: ast.Call, by: str) -> bool:
        if by == "complex":
            return self.names.is_complex(call)
        return any(each.arg == by for each in call.keywords)

    def of_deserialization(self, call: ast.Call, unknown: bool) -> Iterator[Use]:
        name, file = self.reference.name, self.names.loaded
        if name in LOAD:
            said = next((at for at, each in enumerate(call.keywords) if each.arg == "weights_only"), -1)
            if said >= 0:
                value = call.keywords[said].value
                if isinstance(value, ast.Constant) and value.value is False:
                    yield Use(
                        events.UnsafeLoad,
                        self.reference,
                        file.facts(call, self.reference.statement),
                        len(call.args) + said,
                    )
            elif (
                self.target.begins_before(_WEIGHTS_ONLY)
                and not unknown
                and given_at(call, "pickle_module", 2, False) < 0
            ):
                yield Use(events.UnsafeLoad, self.reference, file.facts(call, self.reference.statement))
        elif name == "torch.hub.load":
            loaded = repository(call)
            if loaded and ":" not in loaded and not loaded.startswith("pytorch/") and not unknown:
                yield Use(events.UnsafeDeserialization, self.reference, {})
        else:
            yield Use(events.UnsafeDeserialization, self.reference, {})


def with_methods(happened: Iterable[Event], meant: Callable[[], Target], tree: ast.Module) -> Iterator[Event]:
    """
    What the model reports, with the calls of methods of tensors as what the table says of them; less those whose author
    asked what there is.

    Parameters
    ----------
    happened
        All of it.
    meant
        Says which releases the file has to run on.
    tree
        The file.
    """
    asked: set[tuple[int, int]] | None = None
    for event in happened:
        if not isinstance(event, events.TensorMethod):
            yield event
            continue
        target = meant()
        name = f"torch.Tensor.{event.name}"
        change = find.watched(target).names.get(name)
        if change is None:
            continue
        if asked is None:
            asked = asked_methods(tree, METHODS)
        place: Any = event.node
        if (place.at.end_lineno, place.at.end_col_offset) in asked:
            continue
        if change.how.startswith("transform:"):
            change = replace(change, instead=transform(change, getattr(event.call, "at", None), 0))
        gone = target.reaches(change.removed)
        kind: type[events.RemovedApi] | type[events.DeprecatedApi] = events.RemovedApi if gone else events.DeprecatedApi
        yield kind(
            node=event.node,
            statement=event.statement,
            truth=event.truth,
            conditions=event.conditions,
            name=name,
            spelled=event.spelled,
            target=target,
            reference=event.node,
            call=event.call,
            is_method=True,
            unread=unread(tree, getattr(event.call, "at", None)) if change.how in _UNPACKED else frozenset(),
            change=change,
        )


def _event(path: str, target: Target, use: Use, names: Surroundings) -> Event:
    """What is to be said of one reference, at the places where its parts stand."""
    reference, call = use.reference, use.reference.call
    node: Any = _place(reference.node)
    at = node
    facts = dict(use.facts)
    if call is not None and use.argument >= 0:
        at = _argument(call, use.argument)
        if use.kind in (events.OldArgument, events.UnsafeLoad):
            facts["argument"] = at
        if use.kind is events.UnsafeLoad:
            facts["value"] = _place(argument_at(call, use.argument))
    elif use.kind is events.UnsafeLoad:
        facts["argument"] = None
    if call is not None and use.others:
        facts["others"] = tuple((change, _argument(call, index)) for change, index in use.others)
    around = reference.statement
    importing = isinstance(reference.node, ast.alias) and isinstance(around, ast.ImportFrom)
    asked = reference.inside and use.kind in _OF_CALLERS
    uncalled, is_unnamed = names.uncalled(reference.node) if asked else ("", False)
    return use.kind(
        node=at,
        statement=_statement(around),
        name=reference.name,
        spelled=reference.spelled,
        target=target,
        reference=node,
        call=None if call is None else _place(call),
        positional=0 if call is None else len(call.args),
        decorates=reference.decorates,
        imports=reference.imports,
        importing=_place(around) if importing else None,
        is_listed=reference.listed,
        is_import=isinstance(reference.node, ast.alias),
        annotates=reference.annotates or _serves_annotations(reference, use, path, names),
        compared=reference.compared,
        is_base=isinstance(around, ast.ClassDef) and not reference.decorates,
        inside=reference.inside,
        is_left_out=names.is_left_out,
        is_copied=names.is_copied,
        extra=names.extra if names.extra is not None and names.extra.oldest >= facts.get("since", NEWEST) else None,
        uncalled=uncalled,
        is_unnamed=is_unnamed,
        is_demo=names.demo[0] <= around.lineno <= names.demo[1],
        unread=unread(names.tree, call) if _how(facts) in _UNPACKED else frozenset(),
        is_used=not reference.imports or names.uses(reference.imports) or path.endswith("__init__.py"),
        **facts,
    )


def _serves_annotations(reference: Reference, use: Use, path: str, names: Surroundings) -> bool:
    """Whether something deprecated is imported for annotations alone."""
    if use.kind is not events.DeprecatedApi or not reference.imports or path.endswith("__init__.py"):
        return False
    return names.only_annotates(reference.imports)


_OF_CALLERS = (*_ASKED_FOR, events.DeprecatedApi, events.OldArgument, events.UnsaidArgument)
"""What concerns nobody before it is called."""


_UNPACKED = ("solve", "symeig")
"""Rewritings of calls with two results."""


def _how(facts: dict[str, Any]) -> str:
    change = facts.get("change")
    return change.how if isinstance(change, find.Change) else ""


def _place(node: ast.AST) -> Any:
    return place_at(node, "ImportName" if isinstance(node, ast.alias) else type(node).__name__)


def _argument(call: ast.Call, index: int) -> Any:
    """The place of an argument; positional ones come first."""
    count = len(call.args)
    return place_at(call.args[index] if index < count else call.keywords[index - count].value, "Argument")


def _statement(node: ast.stmt) -> Any:
    return _place(node) if hasattr(node, "body") or hasattr(node, "cases") else line_at(node)
