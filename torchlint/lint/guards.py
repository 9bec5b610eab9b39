"""
What a file itself does before it comes to a place where something of torch is missing: a constructor that refuses, a
test elsewhere that asks for as much, and where neither is known, who has to come by for that place to be reached.

Told from Python's own tree, each when it is first asked for. Of other files it knows what it is told.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from typing import TypeAlias

from torchlint.knowledge.api import find
from torchlint.lint.named import Named, before
from torchlint.lint.order import Order
from torchlint.lint.subclassed import runs_as_derived
from torchlint.syntax.availability import AvailabilityTests
from torchlint.syntax.children import walk
from torchlint.syntax.entries import last_name
from torchlint.syntax.unreachable import leaves
from torchlint.target import NEWEST, Release

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"
_MAKERS = frozenset({"__init__", "__new__", "__post_init__"})
_MAY_NOT = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Match),
    *(ast.Try, getattr(ast, "TryStar", ast.Try)),
    *(ast.Lambda, ast.comprehension, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
"""What is in one of these is not evaluated whenever that is come to."""
_DECIDES = (ast.If, ast.IfExp, ast.Match)
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break, ast.Yield, ast.YieldFrom)
_HOPS = 3
"""Functions that are followed to those who call them."""
_RELEASE = re.compile(r"(?<!\d)(\d{1,2})[._](\d{1,2})(?!\d)")


class Guards:
    """
    What guards the places of one file.

    Parameters
    ----------
    tree
        The file.
    elsewhere
        Whether a name that it imports says in another file what there is.
    is_script
        It is run by itself, and is no module of a package.
    """

    def __init__(self, tree: ast.Module, elsewhere: Callable[[str], bool], is_script: bool) -> None:
        self._tree = tree
        self._order = Order(tree)
        self._tests = AvailabilityTests(tree, elsewhere)
        self._named = Named(self._order, self._tests)
        self._is_script = is_script

    def is_refused(self, node: ast.AST, hops: int = _HOPS) -> bool:
        """
        Whether a node is come to only by an object that is not made where something is missing, as its constructor
        raises under such a test alone: it stands in a method of it, or in a function that only such methods call.
        """
        around: _Function | None = None
        for above, part in self._order.above(node):
            if isinstance(above, ast.ClassDef):
                if isinstance(part, _FUNCTIONS) and not _is_of_the_class(part) and self._refuses(above):
                    return True
                around = None
            elif isinstance(above, _FUNCTIONS):
                around = above if part in above.body else None
        if around is None or not hops or self._order.parents.get(around) is not self._tree:
            return False
        named = [
            each
            for each in self._order.parents
            if isinstance(each, ast.Name) and each.id == around.name and isinstance(each.ctx, ast.Load)
        ]
        return bool(named) and all(self.is_refused(each, hops - 1) for each in named)

    def _refuses(self, of: ast.ClassDef) -> bool:
        """Whether an object of a class is not made where something is missing."""
        made = [each for each in of.body if isinstance(each, _FUNCTIONS) and each.name in _MAKERS]
        return any(self._tests.refuses(each) for function in made for each in function.body)

    @cached_property
    def _about(self) -> list[ast.AST]:
        about = (node for node in walk(self._tree) if self._tests.is_about(node, "torch"))
        return sorted(about, key=lambda node: node.lineno)  # type: ignore[attr-defined]

    def _bears_on(self, test: ast.AST, node: ast.AST) -> bool:
        """
        Whether what a test decides may decide whether a node is come to: it stands in a function around the node, or in
        a constructor of a class around it; it names one of these, or its function does; it ends the file's loading; or
        it sets a name that only other files can ask for.
        """
        around = [above for above, _ in self._order.above(node) if isinstance(above, (*_FUNCTIONS, ast.ClassDef))]
        names = {each.name for each in around}
        outside = [above for above, _ in self._order.above(test) if isinstance(above, (*_FUNCTIONS, ast.ClassDef))]
        place = next((each for each in outside if isinstance(each, _FUNCTIONS)), None)
        if place is None:
            ends = leaves(test.body) if isinstance(test, ast.If) else self._is_for_others(test)
            return ends or _names(test, names)
        of = self._order.parents.get(place)
        return place in around or (place.name in _MAKERS and of in around) or _names(place, names)

    def _is_for_others(self, test: ast.AST) -> bool:
        """Whether a `try` sets names, and the file reads none of them."""
        parts = walk(test) if isinstance(test, ast.Try) else []
        bound = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        return bool(bound) and bound.isdisjoint(self._read)

    @cached_property
    def _read(self) -> set[str]:
        """The plain names that the file reads."""
        return {each.id for each in walk(self._tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}

    def asks_for(self, node: ast.AST, name: str, argument: str, since: Release, came: Mapping[str, Release]) -> int:
        """
        The line of the first test of the file that may keep it from something where that has not come yet; 0 if none.

        Parameters
        ----------
        node
            Where it is used.
        name, argument, since
            What it is, in full, which argument of it ("" for none), and when that came.
        came
            When names came that the oldest release does not have: who asks for one of them asks for that release.
        """

        def may_keep(test: ast.AST) -> bool:
            if isinstance(test, ast.Try):
                tried = [each for part in test.body for each in _imported(part)]
                return any(_when(each, came) >= since for each in tried)
            said = list(self._said(test, _HOPS))
            names = [each for each in said if isinstance(each, str)]
            releases = [each for each in said if not isinstance(each, str)]
            releases += [at for full, at in came.items() if names and full.rpartition(".")[2] in names]
            own = name.rpartition(".")[2] in names or argument in names
            return not said or own or any(since <= each <= NEWEST for each in releases)

        return self._first(node, may_keep)

    def has_imported(self, node: ast.AST, since: Release, came: Mapping[str, Release]) -> bool:
        """
        Whether a node is come to only after an import of what came no earlier than something: a `try` before it, in a
        block around it, has done so, or each of its handlers has left; or it stands in the `else` of one.

        Parameters
        ----------
        node
            Where something is used.
        since
            When that came.
        came
            When names came that the oldest release does not have.
        """
        for above, part in self._order.above(node):
            tried: list[ast.stmt] = above.body if isinstance(above, ast.Try) and part in above.orelse else []
            for each in before(above, part):
                if isinstance(each, ast.Try) and all(leaves(handler.body) for handler in each.handlers):
                    tried = tried + each.body
            imports = (each for each in tried if isinstance(each, (ast.Import, ast.ImportFrom)))
            if any(_when(name, came) >= since for each in imports for name in _imported(each)):
                return True
        return False

    def _first(self, node: ast.AST, may_keep: Callable[[ast.AST], bool]) -> int:
        tests = (
            each
            for each in self._about
            if may_keep(each)
            and self._bears_on(each, node)
            and not (self._is_in_what_is_asked(each, node) or self._order.comes_after(each, node))
        )
        return next((each.lineno for each in tests), 0)  # type: ignore[attr-defined]

    def _is_in_what_is_asked(self, test: ast.AST, node: ast.AST) -> bool:
        """Whether a node is evaluated before a test has decided anything: `if isinstance(model, torch.gone.Module)`."""
        for above, part in self._order.above(node):
            if above is test:
                return isinstance(above, _DECIDES) and self._is_taken(above, part)
            if isinstance(above, _MAY_NOT) and not self._is_taken(above, part):
                return False
        return False

    def is_brought(self, node: ast.AST, name: str) -> bool:
        """As `Named.is_brought`."""
        return self._named.is_brought(node, name)

    def is_asked_for_by_name(self, node: ast.AST, name: str) -> bool:
        """As `Named.is_asked_for`."""
        return self._named.is_asked_for(node, name)

    def asks_whether_gone(self, node: ast.AST, removed: Release) -> int:
        """The line of the first test of the file that may keep it from what a release removed; 0 if there is none."""

        def may_keep(test: ast.AST) -> bool:
            if isinstance(test, ast.Try):
                return any(_came_or_went(each) for part in test.body for each in _imported(part))
            said = list(self._said(test, _HOPS))
            return not said or any(isinstance(each, str) or each <= removed for each in said)

        return self._first(node, may_keep)

    def _said(self, test: ast.AST, hops: int) -> Iterator[str | Release]:
        """The names and the releases that a test asks for."""
        for node in walk(getattr(test, "test", test)):
            if isinstance(node, ast.Call) and last_name(node.func) in ("hasattr", "getattr") and len(node.args) > 1:
                asked = node.args[1]
                if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
                    yield asked.value
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
                    yield node.left.value  # a parameter, or what a module has: "strict" in signature(f).parameters
            elif isinstance(node, ast.Tuple) and len(node.elts) > 1:
                first, second = (getattr(each, "value", None) for each in node.elts[:2])
                if isinstance(first, int) and isinstance(second, int):
                    yield first, second
            elif isinstance(node, ast.Constant) and isinstance(node.value, (str, float)):
                yield from _releases(str(node.value))
            elif isinstance(node, (ast.Name, ast.Attribute)):
                yield from _releases(last_name(node))
                for value in self._tests.values_of(node.id, node.lineno) if hops and isinstance(node, ast.Name) else ():
                    yield from self._said(value, hops - 1)

    def reached(self, node: ast.AST) -> str:
        """
        Who has to come by for an expression to be evaluated, as the end of a sentence; "" if it always is when the file
        is loaded, or run as the script that it is.
        """
        may_be_left = lambda above, part: isinstance(above, _MAY_NOT) and not self._is_taken(above, part)  # noqa: E731
        return "" if runs_as_derived(self._tree, self._order, node, may_be_left) else self._reached(node, _HOPS)

    def _reached(self, node: ast.AST, hops: int) -> str:
        branch: ast.AST | None = None
        skipped = ""
        for above, part in self._order.above(node):
            if isinstance(above, _FUNCTIONS) and part in above.body:
                if branch is None and hops and self._is_called(above, node, hops):
                    return ""
                if skipped:
                    return skipped
                if isinstance(branch, _DECIDES):
                    return f" where line {getattr(branch, 'lineno', 0)} leads there"
                return f" where `{above.name}` is called"
            if isinstance(above, _MAY_NOT) and branch is None and not self._is_taken(above, part):
                branch = above
                skipped = _skipped(above, part) if isinstance(above, ast.BoolOp) else ""
        if branch is None or skipped:
            return skipped
        if isinstance(branch, ast.If) and "__name__" in ast.unparse(branch.test):
            return " where this file is run as a script"
        return f" where line {getattr(branch, 'lineno', getattr(node, 'lineno', 0))} leads there"

    def _is_taken(self, above: ast.AST, part: ast.AST) -> bool:
        """Whether a part of a branch is evaluated whenever that is come to: a test, the first operand, all of a try."""
        if isinstance(above, (ast.If, ast.IfExp, ast.While)):
            return part is above.test or (
                self._is_script and isinstance(above, ast.If) and part in above.body and is_main(above.test)
            )
        if isinstance(above, (ast.For, ast.AsyncFor)):
            return part is above.iter
        if isinstance(above, ast.BoolOp):
            return part is above.values[0]
        if isinstance(above, ast.Match):
            return part is above.subject
        return isinstance(above, ast.Lambda) and part is above.args

    def _is_called(self, function: _Function, node: ast.AST, hops: int) -> bool:
        """Whether the file, when it is loaded, calls a function of it that always comes to a node."""
        if self._order.parents[function] is not self._tree or isinstance(function, ast.AsyncFunctionDef):
            return False
        line = getattr(node, "lineno", 0)
        if function.decorator_list or any(
            (isinstance(each, _LEAVING) and each.lineno < line) or isinstance(each, (ast.Yield, ast.YieldFrom))
            for each in walk(function)
        ):
            return False
        calls = [
            each
            for each in self._order.parents
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == function.name
        ]
        return any(not self._reached(each, hops - 1) for each in calls)


def _skipped(operation: ast.BoolOp, part: ast.AST) -> str:
    """Where the operands before one of an `and` or an `or` leave it to be evaluated, as the end of a sentence."""
    before = operation.values[: next(at for at, each in enumerate(operation.values) if each is part)]
    holds = "true" if isinstance(operation.op, ast.And) else "false"
    text = ast.unparse(before[0])
    if len(before) > 1 or len(text) > _MOST_SHOWN:
        return f" where line {operation.lineno} leads there"
    return f" where `{text}` is {holds}"


_MOST_SHOWN = 40
"""Characters of a condition that is told as it is written."""


def _when(name: str, came: Mapping[str, Release]) -> Release:
    """When a name, or a module that it is in, came that the oldest release does not have; (0, 0) if it has it."""
    return max(came.get(each, (0, 0)) for each in accumulate(name.split("."), "{}.{}".format))


def _names(node: ast.AST, names: Collection[str]) -> bool:
    """Whether one of some names is written anywhere in a node."""
    return any(last_name(each) in names for each in walk(node) if isinstance(each, (ast.Name, ast.Attribute)))


def _is_of_the_class(function: _Function) -> bool:
    """Whether it is called without an object."""
    return any(ast.unparse(each) in ("staticmethod", "classmethod") for each in function.decorator_list)


def is_main(test: ast.expr) -> bool:
    """Whether a test asks if a file is run as a script."""
    return ast.unparse(test) in ("__name__ == '__main__'", "'__main__' == __name__")


def _releases(word: str) -> Iterator[Release]:
    """The releases that a word names: "2.1", `TORCH_GREATER_EQUAL_2_1`."""
    return ((int(each[1]), int(each[2])) for each in _RELEASE.finditer(word))


def _came_or_went(name: str) -> bool:
    """Whether some release may not have what a name stands for: who tries to import anything else asks for torch."""
    parts = list(accumulate(name.split("."), "{}.{}".format))[1:]
    known = any(find.since(each) is not None or each in find.changes() for each in parts)
    return known or parts[0] not in _ALWAYS


_ALWAYS = frozenset({"torch.autograd", "torch.cuda", "torch.nn", "torch.optim", "torch.utils", "torch.multiprocessing"})
"""Modules that each release has."""


def _imported(node: ast.stmt) -> Iterator[str]:
    """What of torch a statement imports, in full."""
    for part in walk(node):
        if isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names if alias.name.startswith("torch."))
        elif isinstance(part, ast.ImportFrom) and not part.level and part.module:
            full = (f"{part.module}.{alias.name}" for alias in part.names)
            yield from (each for each in full if each.startswith("torch."))
