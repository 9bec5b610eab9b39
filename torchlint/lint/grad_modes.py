"""
What a project only ever calls with grad mode off: writes into tensors of a graph that nobody makes there, and losses
that nobody there differentiates.

The model follows a function as if anybody called it; this asks the texts of the project who does, and only where a rule
may have something to say. Where no call is in sight, or one cannot be followed, nothing changes. Judges nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchlint.knowledge.modules import losses
from torchlint.lint.gates import tree_of
from torchlint.lint.instances import Instances, OutOfSightError, Parsed, Site, last_name, parsed
from torchlint.model.events import Event, InplaceWrite, SavedTensorRead
from torchlint.model.events.training import LossDropped
from torchlint.project.index import ProjectIndex
from torchlint.syntax.children import walk
from torchlint.syntax.place import line_of
from torchlint.truth import Truth

_OFF = ("no_grad", "inference_mode")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MODES = ("enable_grad", "set_grad_enabled", *_OFF)
_MOST_TEXT = 600_000
"""Characters of other files that are looked into for the sake of one."""
_MOST_CALLERS = 12
"""Functions that call each other one after the other."""


def with_grad_modes(happened: Iterable[Event], tree: ast.Module, text: str, project: ProjectIndex) -> list[Event]:
    """
    Parameters
    ----------
    happened
        All of it.
    tree, text
        The file.
    project
        Whose other files are read, only where something is written that matters if grad mode is on.
    """
    modes: _GradModes | None = None
    told: list[Event] = []
    for event in happened:
        if _matters(event):
            if modes is None:
                modes = _GradModes(tree, text, project)
            if modes.is_off(line_of(event.node)):
                event = replace(event, **{_told_by(event): True})  # type: ignore[arg-type]
        told.append(event)
    return told


def _told_by(event: Event) -> str:
    """What of an event says so. Names say nothing of a leaf: torch refuses in what is called `predict`, too."""
    return "only_off" if isinstance(event, InplaceWrite) and event.leaf_raises is Truth.YES else "for_inference"


def _matters(event: Event) -> bool:
    """Whether it is something that a rule may speak of, and that only grad mode makes what it is."""
    if isinstance(event, LossDropped):
        return True
    if event.truth is not Truth.YES:
        return False
    if isinstance(event, SavedTensorRead):
        return event.implicit and not event.for_inference
    if isinstance(event, InplaceWrite) and event.leaf_raises is Truth.YES:
        return any(each.kind == "grad_mode" for each in event.conditions)
    return (
        isinstance(event, InplaceWrite)
        and not (event.for_inference or event.filled)
        and event.in_graph is Truth.YES
        and event.broken is not Truth.YES
        and event.leaf_raises is not Truth.YES
        and event.spelling != "optimizer"
        and (event.old_value_needed is Truth.YES or (event.old_value_needed is Truth.MAYBE and event.handed))
    )


class _GradModes:
    """In which grad mode the functions of a file are called."""

    def __init__(self, tree: ast.Module, text: str, project: ProjectIndex) -> None:
        self._text = text
        self._project = project
        self._own = parsed(tree)
        self._instances = Instances(self._mentioning)
        self._known: dict[ast.AST, bool] = {}
        self._parsed: dict[str, Parsed] = {}
        self._left = _MOST_TEXT
        self._is_seen_off = False
        """Some call was met under `no_grad`: what only calls itself is called by nobody."""

    def is_off(self, line: int) -> bool:
        """Whether the innermost function around a line of the file is only called with grad mode off, and is called."""
        inside = [
            each
            for each in self._own.above
            if isinstance(each, _FUNCTIONS) and each.lineno < line <= (each.end_lineno or 0)
        ]
        if not inside:
            return False
        function = max(inside, key=lambda each: each.lineno)
        if function not in self._known:
            try:
                self._is_seen_off = False
                self._known[function] = self._only_off(self._own, function, {}) and self._is_seen_off
            except OutOfSightError:
                self._known[function] = False
        return self._known[function]

    def _mentioning(self, word: str) -> Iterator[Parsed]:
        name = word.removeprefix(".")
        spoken = re.compile(rf"\b{name}\b" if name == word else rf"\.{name}\b|[\"']{name}[\"']")
        if name in self._text:
            yield self._own
        for _, text in self._project.mentioning(name):
            known = self._parsed.get(text)
            if known is None and spoken.search(text):
                self._left -= len(text)
                tree = tree_of(text) if self._left >= 0 else None
                if tree is None:
                    raise OutOfSightError
                known = self._parsed[text] = parsed(tree)
            if known is not None:
                yield known

    def _only_off(self, file: Parsed, function: ast.AST, asked: dict[tuple[str, str], bool]) -> bool:
        """Whether a function is called, and nowhere with grad mode on."""
        assert isinstance(function, _FUNCTIONS)
        above = file.above.get(function)
        owner = above.name if isinstance(above, ast.ClassDef) else ""
        if not owner and not isinstance(above, ast.Module):
            return False  # a function inside another one may go anywhere
        if owner and function.name == "forward" and _has_loss(function):
            return False  # it is made to be trained, wherever that is done
        return self._is_called_off(function.name, owner, asked)

    def _is_called_off(self, name: str, owner: str, asked: dict[tuple[str, str], bool]) -> bool:
        """The same by name; who asks while it is being asked is one of its own callers, and told yes."""
        key = name, owner if name == "forward" else ""
        if key not in asked:
            if len(asked) >= _MOST_CALLERS:
                return False
            asked[key] = True
            calls = self._instances.calls_of(name, owner)
            asked[key] = bool(calls) and all(self._is_off(site, asked) for site in calls)
        return asked[key]

    def _is_off(self, site: Site, asked: dict[tuple[str, str], bool]) -> bool:
        """Whether grad mode is off at a call. What a module of a package shows of itself says nothing of its users."""
        if "." in self._project.module and site.file.function(site.node) is None:
            return False
        for each in site.file.around(site.node):
            if isinstance(each, (ast.With, ast.AsyncWith)):
                modes = [last_name(_function(item.context_expr)) for item in each.items]
                if any(_turns_off(item.context_expr) for item in each.items):
                    self._is_seen_off = True
                    return True
                if any(mode in _MODES for mode in modes):
                    return False
            elif isinstance(each, _FUNCTIONS):
                if any(map(_turns_off, each.decorator_list)):
                    self._is_seen_off = True
                    return True
                if any(last_name(_function(mode)) in _MODES for mode in each.decorator_list):
                    return False
                return self._only_off(site.file, each, asked)
            elif isinstance(each, (ast.Lambda, ast.ClassDef)):
                return False
        return False


def _has_loss(function: ast.AST) -> bool:
    """Whether one of torch's losses is called in a function, or made."""
    names = {last_name(each.func) for each in walk(function) if isinstance(each, ast.Call)}
    return any(losses.find(name) or losses.find(f"torch.nn.{name}") for name in names)


def _function(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _turns_off(node: ast.expr) -> bool:
    """`torch.no_grad`, called or not; `inference_mode(flag)` does not say."""
    said = not isinstance(node, ast.Call) or not (node.args or node.keywords)
    return said and last_name(_function(node)) in _OFF
