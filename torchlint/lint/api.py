"""
What a file refers to of torch's API: the events of `torchlint.model.events.api`.

Told from its text in two steps: on Python's own tree, which names the table has something to say about under the file's
target; and, if there are any, where they stand in libcst's. Methods of tensors are what the model has seen of them.
Judges nothing; a file without a word of the table is not even parsed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from torchlint.knowledge.api import find
from torchlint.lint.registry import Registry, Selection
from torchlint.model.events import Event
from torchlint.model.events import api as events
from torchlint.model.observers.api.methods import METHODS
from torchlint.project.index import ProjectIndex
from torchlint.syntax.references import Reference, asked_methods, references
from torchlint.syntax.tree import NEWLINE, Source
from torchlint.target import Target

_WORDS = re.compile(r"[A-Za-z_]\w*")
_RETAIN = "retain_variables"
LOAD = ("torch.load", "torch.serialization.load")
_WEIGHTS_ONLY = (2, 6)
"""The release in which `torch.load` stopped to unpickle unless told otherwise."""


@dataclass(frozen=True, slots=True)
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
    others: tuple[tuple[find.Argument, int], ...] = ()


def uses(
    text: str, tree: ast.Module, registry: Registry, selection: Selection, project: ProjectIndex
) -> tuple[Target, list[Use]]:
    """
    What a text refers to, of what rules that are asked for want to know.

    Parameters
    ----------
    text, tree
        The file, and what Python's parser made of it.
    registry, selection
        The rules.
    project
        Whose target counts where none was asked for.
    """
    wanted = {
        kind
        for rule in registry.rules
        if rule.code in selection.enabled
        for kind in rule.subscriptions
        if issubclass(kind, events.ApiReference)
    }
    if not wanted:
        return Target(), []
    target = selection.target
    words: set[str] | None = None
    if target is None:
        words = set(_WORDS.findall(text))
        if _anything().isdisjoint(words):
            return Target(), []
        target = project.target(text)
    watched = find.watched(target)
    words = set(_WORDS.findall(text)) if words is None else words
    if watched.needles.isdisjoint(words):
        return target, []
    found = [each for each in references(tree, watched, find.PACKAGES) if not each.asked]
    if _RETAIN in words:
        found += _receivers(tree)
    if not found:
        return target, []
    names = _Names(tree)
    made = [use for each in found for use in _Judged(each, watched, target, names, found).uses()]
    return target, [use for use in made if use.kind in wanted]


_anything_words: list[frozenset[str]] = []


def _anything() -> frozenset[str]:
    """Words without one of which no target needs be known."""
    if not _anything_words:
        _anything_words.append(find.watched(Target((0, 4))).needles | find.watched(Target()).needles)
    return _anything_words[0]


def _receivers(tree: ast.Module) -> list[Reference]:
    """Calls of `backward` on whatever with an argument that only it ever had."""
    return [
        Reference(".backward", ast.unparse(node.func), node.func, node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
        and any(each.arg == _RETAIN for each in node.keywords)
    ]


_COMPLEX = re.compile(r"complex|cplx|^c(float|double)$|^polar$|^i?h?r?fft[2n]?$", re.IGNORECASE)
"""The words of those who make complex tensors, or speak of one."""


class _Names:
    """Which plain names a file reads, what it exports, and which of its values may be complex."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        self.exported = {
            part.value
            for node in tree.body
            if isinstance(node, (ast.Assign, ast.AugAssign))
            and any(
                isinstance(target, ast.Name) and target.id == "__all__"
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            )
            for part in ast.walk(node.value)
            if isinstance(part, ast.Constant)
        }

    def uses(self, name: str) -> bool:
        return name in self.read or name in self.exported

    def is_complex(self, call: ast.Call) -> bool:
        """Whether anything that its function writes of the first argument of a call speaks of complex numbers."""
        around: ast.AST = self.tree
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
                each is call for each in ast.walk(node)
            ):
                around = node  # outer functions come first
        given = [each.value for each in call.keywords if each.arg == "input"] or call.args[:1]
        pending: list[ast.AST] = list(given)
        seen: set[str] = set()
        while pending:
            for node in ast.walk(pending.pop()):
                if isinstance(node, ast.Constant) and isinstance(node.value, complex):
                    return True
                word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
                if word and _COMPLEX.search(word):
                    return True
                if isinstance(node, ast.Name) and node.id not in seen:
                    seen.add(node.id)
                    pending += _assigned(around, node.id)
        return False


def _assigned(around: ast.AST, name: str) -> list[ast.AST]:
    """All that is assigned to a name, and the annotation of a parameter of that name."""
    found: list[ast.AST] = []
    for node in ast.walk(around):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Name) and each.id == name for target in targets for each in ast.walk(target)):
                found.append(node.value)
        elif isinstance(node, ast.arg) and node.arg == name and node.annotation is not None:
            found.append(node.annotation)
    return found


class _Judged:
    """What is to be said of one reference."""

    def __init__(
        self,
        reference: Reference,
        watched: find.Watched,
        target: Target,
        names: _Names,
        everything: Sequence[Reference],
    ) -> None:
        self.reference = reference
        self.watched = watched
        self.target = target
        self.names = names
        self.everything = everything

    def uses(self) -> Iterator[Use]:
        """What the table says; of a name that is gone, nothing of its arguments."""
        reference, name = self.reference, self.reference.name
        if reference.constructs and reference.call is not None:
            yield from self.of_call(reference.call)
            return
        change = self.watched.names.get(name)
        if change is not None and self.is_meant(change):
            use = self.of_name(change)
            if use.kind is not events.DeprecatedApi or not reference.listed:
                yield use
            return
        since = self.watched.too_new.get(name)
        if since is not None and not reference.again:
            yield Use(events.TooNewApi, reference, {"since": since})
            return
        if reference.call is not None:
            yield from self.of_call(reference.call)
        elif name == "torch.package" and not reference.again:
            yield Use(events.UnsafeDeserialization, reference, {})

    def is_meant(self, change: find.Change) -> bool:
        """
        Whether this place is the one to speak of: where a call is to be rewritten, the call; else where it is named in
        full.
        """
        reference = self.reference
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
        return Use(kind, self.reference, {"change": change})

    def of_call(self, call: ast.Call) -> Iterator[Use]:
        reference, name = self.reference, self.reference.name
        starred = any(isinstance(each, ast.Starred) for each in call.args)
        open_ = any(each.arg is None for each in call.keywords)
        if name in find.CALLED:
            yield from self.of_deserialization(call, starred or open_)
        rows = self.watched.arguments.get(name, ())
        if name.startswith(find.MODELS + "."):
            rows = self.watched.arguments.get(find.MODELS, ())
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, bool):  # as it was given by position
                rows = tuple(replace(each, at=0) if each.name == "pretrained" else each for each in rows)
        given = [(each, at) for each in rows if (at := _given(call, each.name, each.at, starred)) >= 0]
        given = [(each, at) for each, at in given if not (each.how == "reduction" and _is_none(call, at))]
        if given:
            (change, at), *others = given
            yield Use(events.OldArgument, reference, {"change": change}, at, tuple(others))
        for argument, since in self.watched.new_arguments.get(name, {}).items():
            at = _given(call, argument, -1, starred)
            if at >= 0:
                yield Use(events.TooNewApi, reference, {"since": since, "argument": argument}, at)
        unsaid = self.watched.unsaid.get(name)
        left_out = unsaid is not None and _given(call, unsaid.name, unsaid.at, starred) < 0
        if left_out and unsaid is not None and unsaid.implied == "complex" and self.names.is_complex(call):
            left_out = False
        if left_out and name not in LOAD and not (starred or open_):
            yield Use(events.UnsaidArgument, reference, {"unsaid": unsaid})

    def of_deserialization(self, call: ast.Call, unknown: bool) -> Iterator[Use]:
        name = self.reference.name
        if name in LOAD:
            said = next((at for at, each in enumerate(call.keywords) if each.arg == "weights_only"), -1)
            if said >= 0:
                value = call.keywords[said].value
                if isinstance(value, ast.Constant) and value.value is False:
                    yield Use(events.UnsafeLoad, self.reference, {}, len(call.args) + said)
            elif self.target.begins_before(_WEIGHTS_ONLY) and not unknown:
                yield Use(events.UnsafeLoad, self.reference, {})
        elif name == "torch.hub.load":
            repository = call.args[0] if call.args else None
            source = next((each.value for each in call.keywords if each.arg == "source"), None)
            if (
                isinstance(repository, ast.Constant)
                and isinstance(repository.value, str)
                and not (isinstance(source, ast.Constant) and source.value == "local")
                and ":" not in repository.value
                and not repository.value.startswith("pytorch/")
                and not unknown
            ):
                yield Use(events.UnsafeDeserialization, self.reference, {})
        else:
            yield Use(events.UnsafeDeserialization, self.reference, {})


def _is_none(call: ast.Call, at: int) -> bool:
    """Whether an argument, by its index, is None as it stands: for the losses that is as if it were not given."""
    value = call.args[at] if at < len(call.args) else call.keywords[at - len(call.args)].value
    return isinstance(value, ast.Constant) and value.value is None


def _given(call: ast.Call, name: str, position: int, starred: bool) -> int:
    """The index of an argument among all of a call, positional ones first; -1 if it is not given, or unknown."""
    for at, each in enumerate(call.keywords):
        if each.arg == name:
            return len(call.args) + at
    return position if 0 <= position < len(call.args) and not starred else -1


def with_methods(happened: Iterable[Event], target: Target, tree: ast.Module) -> Iterator[Event]:
    """
    What the model reports, with the calls of methods of tensors as what the table says of them; less those whose author
    asked what there is.

    Parameters
    ----------
    happened
        All of it.
    target
        The releases that the file has to run on.
    tree
        The file.
    """
    asked: set[tuple[int, int]] | None = None
    for event in happened:
        if not isinstance(event, events.TensorMethod):
            yield event
            continue
        name = f"torch.Tensor.{event.name}"
        change = find.watched(target).names.get(name)
        if change is None:
            continue
        if asked is None:
            asked = asked_methods(tree, METHODS)
        place: Any = event.node
        if (place.at.end_lineno, place.at.end_col_offset) in asked:
            continue
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
            change=change,
        )


def located(source: Source, tree: ast.Module, target: Target, found: Sequence[Use]) -> list[Event]:
    """
    The events, at the nodes of a file's tree.

    Parameters
    ----------
    source, tree
        The whole file, as libcst and as Python's parser see it.
    target, found
        As `uses` gave them.
    """
    if not found:
        return []
    places = _Places(source)
    names = _Names(tree)
    made = (_event(source, target, use, places, names) for use in found)
    return [event for event in made if event is not None]


class _Places:
    """Nodes by where they end and begin: columns of Python's parser count bytes."""

    def __init__(self, source: Source) -> None:
        self.lines = NEWLINE.split(source.text)
        self.nodes: dict[tuple[int, int, int, int, bool], cst.CSTNode] = {}
        for node in source.parents:
            if isinstance(node, (cst.Attribute, cst.Name, cst.Call, cst.ImportAlias)):
                span = source.span(node)
                key = (span.line, span.column, span.end_line, span.end_column, isinstance(node, cst.Call))
                if key not in self.nodes or isinstance(node, (cst.Attribute, cst.ImportAlias)):
                    self.nodes[key] = node

    def find(self, node: ast.AST) -> cst.CSTNode | None:
        """The node of the tree that stands where one of Python's stands."""
        place: Any = node
        first = self._column(place.lineno, place.col_offset)
        last = self._column(place.end_lineno, place.end_col_offset)
        return self.nodes.get((place.lineno, first, place.end_lineno, last, isinstance(node, ast.Call)))

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return (offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))) + 1


def _event(source: Source, target: Target, use: Use, places: _Places, names: _Names) -> Event | None:
    reference = use.reference
    node = places.find(reference.node)
    call = places.find(reference.call) if reference.call is not None else None
    if node is None or (reference.call is not None and not isinstance(call, cst.Call)):
        return None
    facts = dict(use.facts)
    at: cst.CSTNode = node
    if isinstance(call, cst.Call):
        if use.argument >= 0:
            at = call.args[_index(call, use.argument)]
            if use.kind in (events.OldArgument, events.UnsafeLoad):
                facts["argument"] = at
        elif use.kind is events.UnsafeLoad:
            facts["argument"] = None
        if use.others:
            facts["others"] = tuple((change, call.args[_index(call, index)]) for change, index in use.others)
    importing = source.parents.get(node) if isinstance(node, cst.ImportAlias) else None
    return use.kind(
        node=at,
        statement=_statement(source, node),
        name=reference.name,
        spelled=reference.spelled,
        target=target,
        reference=node,
        call=call if isinstance(call, cst.Call) else None,
        decorates=reference.decorates,
        imports=reference.imports,
        importing=importing if isinstance(importing, cst.ImportFrom) else None,
        is_used=not reference.imports or names.uses(reference.imports) or source.path.endswith("__init__.py"),
        **facts,
    )


def _index(call: cst.Call, index: int) -> int:
    """Python's parser puts positional arguments before all others; in the text, one may stand after a keyword."""
    positional = [at for at, each in enumerate(call.args) if each.keyword is None and each.star != "**"]
    named = [at for at, each in enumerate(call.args) if at not in positional]
    return [*positional, *named][index]


def _statement(source: Source, node: cst.CSTNode) -> cst.CSTNode:
    current: cst.CSTNode = node
    while not isinstance(current, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
        parent = source.parents.get(current)
        if parent is None:
            break
        current = parent
    return current
