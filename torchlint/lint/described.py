"""
What tells which file a call of `torch.save` writes, or one of `torch.load` reads: its path, the keys of what is in it.

Told from Python's own tree. Knows of no other file, and judges nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.lint.own_files import ways
from torchlint.lint.pickled import Contents
from torchlint.syntax.children import walk

_NAMES_A_FILE = re.compile(r"[A-Za-z0-9]{3}")
_RUNS = re.compile(r"subprocess\.(run|call|check_call|check_output|Popen)$|os\.(system|popen)$|.*\.invoke$")
"""Functions that run another program, or a command of this one (`click.testing.CliRunner.invoke`)."""
_MAY_LEAVE_OUT = (ast.If, ast.IfExp, ast.Try, ast.While, ast.For, ast.BoolOp, ast.Match, ast.Lambda)


class Described(Contents):
    """Paths and keys of what one file saves and loads."""

    def tests_around(self, node: ast.AST) -> Iterator[ast.expr]:
        """The tests in whose arms a node stands, of the innermost function around it."""
        around = self.function_around(node)
        while node is not around:
            above = self._parents[node]
            if isinstance(above, ast.If) and node in above.body:
                yield above.test
            node = above

    def is_of_a_run(self, call: ast.Call) -> bool:
        """Whether a function has run another program before it loads: what a test loads then, that has written."""
        before = (node for node in walk(self.function_around(call)) if isinstance(node, ast.Call))
        return any(
            each.lineno < call.lineno and _RUNS.match(self._full(each.func) or ast.unparse(each.func))
            for each in before
        )

    @cached_property
    def _known_ways(self) -> dict[tuple[ast.Call, int], dict[str, ast.expr]]:
        return {}

    def told(self, call: ast.Call) -> frozenset[str]:
        """All that tells what a call of `torch.load` reads: keys, and words of the path."""
        return frozenset().union(*self._told_by(call))

    def _told_by(self, call: ast.Call) -> tuple[frozenset[str], frozenset[str]]:
        if call not in self._told:
            self._told[call] = self._keys_read(call), self._words(call, 0)
        return self._told[call]

    @cached_property
    def _told(self) -> dict[ast.Call, tuple[frozenset[str], frozenset[str]]]:
        """Of each call of `torch.load` that was asked about: the keys that are read of it, and words of its path."""
        return {}

    def _words(self, call: ast.Call, at: int) -> frozenset[str]:
        """The texts in the path that a call is given, but for what many files have: an ending alone."""
        return frozenset(
            part.value
            for way in self._ways(call, at).values()
            for part in walk(way)
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and _NAMES_A_FILE.search(part.value)
        )

    def _keys_saved(self, call: ast.Call) -> frozenset[str] | None:
        """The keys of what a call of `torch.save` is given; None if nobody knows them all."""
        what = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "obj"), None)
        return None if what is None else self._keys(what, self.function_around(call), 3)

    def _keys(self, what: ast.expr, around: ast.AST, depth: int) -> frozenset[str] | None:
        if isinstance(what, ast.Dict):
            known = [key.value for key in what.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
            return frozenset(known) if len(known) == len(what.keys) else None
        if isinstance(what, ast.Call) and self._full(what.func) == "dict" and not what.args:
            return frozenset(filter(None, (each.arg for each in what.keywords)))
        if not isinstance(what, ast.Name) or not depth:
            return None
        values = [(where, value) for where, _, value in self._bound.get(what.id, ()) if where is around]
        values = values or self.arguments(what.id, around)
        sets = [self._keys(value, where, depth - 1) for where, value in values]
        if not sets or None in sets:
            return None
        stored = [each.value for each in self._stored(what.id, around) if isinstance(each, ast.Constant)]
        return frozenset().union(*filter(None, sets), (each for each in stored if isinstance(each, str)))

    def _stored(self, name: str, around: ast.AST) -> Iterator[ast.expr]:
        """The keys under which a function puts something into what a name stands for."""
        for node in walk(around):
            if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Store):
                continue
            if isinstance(node.value, ast.Name) and node.value.id == name:
                yield node.slice

    def _keys_read(self, call: ast.Call) -> frozenset[str]:
        """The keys that a function reads of what a call of `torch.load` gives, as far as they are known."""
        parent = self._parents[call]
        given: list[ast.AST] = [call]
        if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is call:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            names = {each.id for each in targets if isinstance(each, ast.Name)}
            around = self.function_around(call)
            given += [node for node in walk(around) if isinstance(node, ast.Name) and node.id in names]
        return frozenset(key for each in given for key in self._key_of(each))

    def _keys_needed(self, call: ast.Call) -> frozenset[str]:
        """
        The keys without which a function that reads what a call of `torch.load` gives raises: read by brackets, under
        no test that the call is not under, and asked for nowhere.
        """
        around = self.function_around(call)
        above = set(self._tests_and_tries(call, around))
        needed: set[str] = set()
        asked: set[str] = set()
        for each in self._uses(call):
            user = self._parents[each]
            is_read = isinstance(user, ast.Subscript) and isinstance(user.ctx, ast.Load)
            keys = set(self._key_of(each))
            if is_read and above.issuperset(self._tests_and_tries(each, around)):
                needed |= keys
            elif not is_read:
                asked |= keys
        return frozenset(needed - asked)

    def _tests_and_tries(self, node: ast.AST, around: ast.AST) -> Iterator[ast.AST]:
        """What a node is evaluated under, of a function around it, that may leave it out, or handle what it raises."""
        while node is not around:
            node = self._parents[node]
            if isinstance(node, _MAY_LEAVE_OUT):
                yield node

    def _key_of(self, node: ast.AST) -> Iterator[str]:
        user = self._parents[node]
        key: ast.expr | None = None
        if isinstance(user, ast.Subscript) and user.value is node:
            key = user.slice
        elif isinstance(user, ast.Attribute) and user.attr in ("get", "pop"):
            call = self._parents[user]
            key = call.args[0] if isinstance(call, ast.Call) and call.args else None
        elif isinstance(user, ast.Compare) and isinstance(user.ops[0], (ast.In, ast.NotIn)):
            key = user.left
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value

    def _ways(self, call: ast.Call, at: int) -> dict[str, ast.expr]:
        """The ways to write the path that a call is given."""
        known = self._known_ways.get((call, at))
        if known is None:
            place = _file(call, at)
            found = {} if place is None else ways(place, self.function_around(call), self.tree, self._full)
            known = self._known_ways[call, at] = found
        return known

    def _uses(self, call: ast.Call) -> Iterator[ast.AST]:
        """A call, and the names that stand for what it gives, in its function."""
        yield call
        parent = self._parents[call]
        if isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is call:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            names = {each.id for each in targets if isinstance(each, ast.Name)}
            for node in walk(self.function_around(call)):
                if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
                    yield node


def _file(call: ast.Call, at: int) -> ast.expr | None:
    """The path or file that `torch.load` (its first argument) or `torch.save` (its second) is given."""
    named = next((each.value for each in call.keywords if each.arg == "f"), None)
    return named if named is not None else call.args[at] if len(call.args) > at else None
