"""
The calls of `torch.save` and `torch.load` in a file: what they write and read, and which belong together.

Told from Python's own tree. Knows of no other file, and judges nothing.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from torchlint.lint.described import Described
from torchlint.lint.own_files import (
    bound_in,
    is_buffer,
    is_by_trainer,
    is_processed,
    is_rewound,
    is_settled,
    is_shipped,
    root,
    ways,
)
from torchlint.lint.pickled import (
    MODULE,
    OBJECT,
    OF_MODULES,
    OF_OBJECTS,
    PLAIN,
    Refused,
    is_of_values,
    is_state,
)
from torchlint.model.events.api import Pickled
from torchlint.syntax.children import walk
from torchlint.syntax.entries import last_name

_OF_WEIGHTS = re.compile(r"state_?dict|weights?(?![a-z])|param", re.IGNORECASE)


_UNPICKLING = frozenset(
    f"{module}.{name}"
    for module in ("pickle", "cPickle", "dill", "cloudpickle", "joblib")
    for name in ("load", "loads")
)


_SAVE = ("torch.save", "torch.serialization.save")


class Kept(NamedTuple):
    """What is saved somewhere and refused, the keys that it has (None: unknown), and words of the file's path."""

    pickled: Pickled
    keys: frozenset[str] | None
    words: frozenset[str]


_PLAIN_KINDS = frozenset({"typing", "typing_extensions", "collections", "torch"})
"""Packages whose kinds are those of containers, of tensors, or of anything."""


_KINDS = _PLAIN_KINDS | {"numbers", "abc", "jaxtyping"}
_NAMES_A_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*(?<!Tensor)(?<!Mapping)(?<!Array)$")


class _Asking(Described):
    """What a program asks of the values that it loads."""

    def _asked_for(self, value: ast.AST) -> Pickled | None:
        """
        The class of which a program asks whether a value is one of its objects, if that is refused. Nothing of an
        `assert` or a test that raises, which may say what a file does not hold; nor of torch's own: who takes a module
        takes its state as well.
        """
        call = self._parents.get(value)
        if not (isinstance(call, ast.Call) and self._full(call.func) == "isinstance" and len(call.args) == 2):
            return None
        test = self._parents[call]
        if call.args[0] is not value or isinstance(test, ast.Assert):
            return None
        if isinstance(test, ast.If) and isinstance(test.body[-1], ast.Raise):
            return None
        kinds = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
        for kind in map(self._full, kinds):
            last = kind.rpartition(".")[2]
            if kind.partition(".")[0] in _KINDS or not _NAMES_A_CLASS.match(last) or last in dir(builtins):
                continue
            return Pickled(call.lineno, *Refused(f"what may be a `{last}`", PLAIN))
        return None

    def _is_declared(self, node: ast.AST) -> bool:
        """Whether an entry of a value is declared to be of a class that is no container: `config: Config = x["c"]`."""
        entry = self._parents[node]
        declared = self._parents.get(entry)
        if not (isinstance(entry, ast.Subscript) and isinstance(declared, ast.AnnAssign) and declared.value is entry):
            return False
        name = self._full(declared.annotation)
        return name.rpartition(".")[2][:1].isupper() and name.partition(".")[0] not in _PLAIN_KINDS

    def _is_loaded(self, node: ast.AST) -> bool:
        """Whether a value, or an entry of it, is an argument of what loads a state."""
        user = self._parents[node]
        while True:
            if isinstance(user, ast.Subscript) and user.value is node:
                node, user = user, self._parents[user]
            elif isinstance(user, ast.Attribute) and user.attr in ("get", "pop"):
                called = self._parents[user]
                if not isinstance(called, ast.Call):
                    return False
                node, user = called, self._parents[called]
            elif isinstance(user, ast.keyword):
                user = self._parents[user]
            else:
                break
        return isinstance(user, ast.Call) and user.func is not node and "state_dict" in last_name(user.func)

    @cached_property
    def _last_line(self) -> int:
        return self.tree.body[-1].end_lineno or 0


class Checkpoints(_Asking):
    """
    The calls of `torch.save` and `torch.load` of one file.

    Parameters
    ----------
    tree
        The file.
    """

    @cached_property
    def _saving(self) -> list[ast.Call]:
        """The calls of `torch.save`."""
        return [
            node
            for node in self._parents
            if isinstance(node, ast.Call)
            and isinstance(node.func, (ast.Attribute, ast.Name))
            and self._full(node.func) in _SAVE
        ]

    def saved(self, call: ast.Call) -> Pickled | None:
        """What a call of `torch.save` is given that is refused."""
        what = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "obj"), None)
        found = None if what is None else self._refused(what, self.function_around(call), call.lineno)
        return None if found is None else Pickled(call.lineno, *found)

    @cached_property
    def kept(self) -> list[Kept]:
        """All that the file saves and that `weights_only=True` refuses, in the order of the text."""
        return list(filter(None, map(self.kept_by, sorted(self._saving, key=lambda each: each.lineno))))

    def kept_by(self, save: ast.Call) -> Kept | None:
        """What a call of `torch.save` is given that is refused, with its keys and the words of the path."""
        pickled = self.saved(save)
        return None if pickled is None else Kept(pickled, self._keys_saved(save), self._words(save, 1))

    def likely(self, call: ast.Call, kept: Kept) -> bool | None:
        """
        Whether what is saved somewhere is what a call of `torch.load` reads, by the keys that are read and by the names
        of the files; None if neither tells.
        """
        keys, words = self._told_by(call)
        if keys and kept.keys is not None:
            return not keys.isdisjoint(kept.keys) and self._keys_needed(call) <= kept.keys
        return True if words & kept.words else None

    def written(self, call: ast.Call) -> ast.Call | None:
        """
        The call of `torch.save` that writes what a call of `torch.load` reads; None if none is known to.

        That is so where both name the place in the same words, in one function, or in two of which the one that reads
        was not given the place: whoever calls `load(path)` chooses another file than whoever calls `save(path)`.
        """
        if not self._saving:
            return None
        around = self.function_around(call)
        read = self._ways(call, 0)
        inside = [each for each in self._saving if self.function_around(each) is around]
        same_place = [each for each in inside if not self._ways(each, 1).keys().isdisjoint(read)]
        if same_place:  # the last before the call, if there is one
            before = [each for each in same_place if each.lineno < call.lineno]
            return max(before or same_place, key=lambda each: each.lineno)
        settled: set[str] | None = None
        for each in self._saving:
            writer = self.function_around(each)
            if writer is around:
                continue
            written = self._ways(each, 1)
            if settled is None:
                bound = bound_in(around)
                settled = {words for words, way in read.items() if is_settled(way, bound)}
            same = settled & written.keys()
            if same:
                bound = bound_in(writer)
                if any(is_settled(written[words], bound) for words in same):
                    return each
        return None

    def is_own_place(self, call: ast.Call) -> bool:
        """
        Whether what a call of `torch.load` reads lies where the class itself saves: both places begin at one attribute
        of the object, or that of the reader does, and both name one file.
        """
        read = set(filter(None, map(root, self._ways(call, 0).values())))
        named = _files(self._words(call, 0)) if read else frozenset()
        return any(
            not read.isdisjoint(filter(None, map(root, self._ways(each, 1).values())))
            or not named.isdisjoint(_files(self._words(each, 1)))
            for each in self.saved_by_class(call)
        )

    def gives_weights(self, call: ast.Call) -> bool:
        """
        Whether anything says that a call of `torch.load` gives tensors and plain values: it, or an entry of it, is
        given to `load_state_dict`; it is read as a table with written keys; its file, or what it is called, says so; or
        the class around, or else the file, saves nothing but such tables.
        """
        uses = list(self._uses(call))
        if any(map(self._is_declared, uses)):
            return False
        saves = self.saved_by_class(call) or self._saving
        if saves and all(map(self._is_plain, saves)):
            return True
        if any(map(self._is_asked, uses)):  # the program takes more than one kind
            return False
        called = [each.id for each in uses if isinstance(each, ast.Name)]
        if any(map(_OF_WEIGHTS.search, (*called, *self._words(call, 0)))):
            return True
        return bool(self._keys_read(call)) or any(map(self._is_loaded, uses))

    def _is_plain(self, save: ast.Call) -> bool:
        """Whether `torch.save` is given a state, or a table that is written out, and nothing that is refused."""
        what = save.args[0] if save.args else None
        written = self._keys_saved(save) is not None or (what is not None and is_state(what))
        return written and self.saved(save) is None

    def is_ours(self, call: ast.Call) -> bool:
        """
        Whether what a call of `torch.load` reads is shipped with the code, was just written by a trainer, or is what a
        data set has made of its raw files.
        """
        return any(
            is_shipped(each, self._full) or is_by_trainer(each) or is_processed(each)
            for each in self._ways(call, 0).values()
        )

    def is_from_memory(self, call: ast.Call) -> bool:
        """Whether the class saves into buffers in memory alone, and a call of `torch.load` in it reads a buffer."""
        saves = self.saved_by_class(call) if call.args and is_rewound(call.args[0], self.function_around(call)) else ()
        ways = [self._ways(each, 1).values() for each in saves]
        return bool(ways) and all(any(is_buffer(place, self._full) for place in places) for places in ways)

    def is_beside_pickles(self, call: ast.Call) -> bool:
        """
        Whether the function that a call of `torch.load` stands in unpickles something else, too, or its class is an
        unpickler (`find_class` that has storages loaded on the CPU).
        """
        around = self.class_around(call)
        if around is not None and any(last_name(base).endswith("Unpickler") for base in around.bases):
            return True
        return any(
            isinstance(each, ast.Call) and self._full(each.func) in _UNPICKLING
            for each in walk(self.function_around(call))
        )

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class that a node stands in."""
        while node is not self.tree:
            node = self._parents[node]
            if isinstance(node, ast.ClassDef):
                return node
        return None

    def allows_classes(self, call: ast.Call) -> bool:
        """Whether a call stands in a `with safe_globals(...)`, torch's or the project's own of that name."""
        node: ast.AST = call
        while node in self._parents and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node = self._parents[node]
            contexts = [each.context_expr for each in node.items] if isinstance(node, ast.With) else []
            if any(isinstance(each, ast.Call) and "safe_globals" in last_name(each.func) for each in contexts):
                return True
        return False

    def saved_by_class(self, call: ast.Call) -> list[ast.Call]:
        """The calls of `torch.save` in the class that a call stands in."""
        around = self.class_around(call)
        return [] if around is None else [each for each in self._saving if self.class_around(each) is around]

    def is_unknown(self, save: ast.Call) -> bool:
        """Whether what a call of `torch.save` is given is the result of something that is not known to give a state."""
        what = save.args[0] if save.args else next((k.value for k in save.keywords if k.arg == "obj"), None)
        if what is None:
            return True
        given = ways(what, self.function_around(save), self.tree, self._full).values()
        return any(isinstance(each, ast.Call) and not is_state(each) for each in given)

    def reads(self, call: ast.Call) -> Pickled | None:
        """
        Where what a call of `torch.load` gives, or a part of it, is used as nothing but an object can be: in its
        function, or by who calls that and gets it.
        """
        around = self.function_around(call)
        found = self._used(call, around, 2)
        if found is not None or not isinstance(around, ast.FunctionDef):
            return found
        if not any(isinstance(self._parents[each], ast.Return) for each in self._uses(call)):
            return None
        callers = (self._used(each, self.function_around(each), 2) for each in self._calls_of(around.name))
        return next(filter(None, callers), None)

    def _calls_of(self, name: str) -> list[ast.Call]:
        return [node for node in self._parents if isinstance(node, ast.Call) and self._full(node.func) == name]

    def _used(self, value: ast.AST, around: ast.AST, depth: int) -> Pickled | None:
        """As `reads`, of a value that stands somewhere in a function."""
        part = self._parents[value]
        while True:
            call = self._parents.get(part)
            if isinstance(part, ast.Subscript) and part.value is value:
                value, part = part, self._parents[part]
            elif isinstance(part, ast.Attribute) and part.attr == "get" and isinstance(call, ast.Call):
                value, part = call, self._parents[call]  # an entry too, or None
            else:
                break
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
            call = self._parents[part]
            is_called = isinstance(call, ast.Call) and call.func is part
            if is_called and part.attr in OF_OBJECTS:
                return Pickled(part.lineno, *(MODULE if part.attr in OF_MODULES else OBJECT))
            if is_called and part.attr in _CONVERTING:
                return self._used(self._parents[part], around, depth)
            return None if is_of_values(part.attr) else Pickled(part.lineno, *Refused("an object", PLAIN))
        if isinstance(part, ast.Call) and part.func is value:
            return Pickled(part.lineno, *MODULE)
        if isinstance(part, ast.Call) and value in part.args and self._full(part.func) == "vars":
            return Pickled(part.lineno, *Refused("an object", PLAIN))
        if (asked := self._asked_for(value)) is not None:
            return asked
        if not (isinstance(part, ast.Assign) and part.value is value and len(part.targets) == 1 and depth):
            return None
        name = part.targets[0]
        if not isinstance(name, ast.Name):
            kept = _kept_by(self.class_around(name), name)
            uses = (self._used(each, self.function_around(each), depth - 1) for each in kept)
            return None if any(map(self._is_asked, kept)) else next(filter(None, uses), None)
        inside = [node for node in walk(around) if isinstance(node, ast.Name) and node.id == name.id]
        stores = (node.lineno for node in inside if not isinstance(node.ctx, ast.Load) and node.lineno > part.lineno)
        until = min(stores, default=self._last_line)
        still = (node for node in inside if isinstance(node.ctx, ast.Load) and part.lineno < node.lineno <= until)
        if (asked := next(filter(None, map(self._asked_for, still)), None)) is not None:
            return asked
        if sum(not isinstance(node.ctx, ast.Load) for node in inside) != 1 or any(map(self._is_asked, inside)):
            return None
        later = (node for node in inside if isinstance(node.ctx, ast.Load) and node.lineno > part.lineno)
        return next((found for node in later if (found := self._used(node, around, depth - 1))), None)


_SELF = ast.dump(ast.Name("self", ast.Load()))
_CONVERTING = frozenset({"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_"})
"""Methods that tensors and modules have, and that give what they are called on, or one like it."""


def _kept_by(own: ast.ClassDef | None, kept: ast.expr) -> list[ast.Attribute]:
    """Where a class reads what it keeps as `self.model`; nowhere if something else in it gives that a value, too."""
    if own is None or not isinstance(kept, ast.Attribute):
        return []
    same = [node for node in walk(own) if isinstance(node, ast.Attribute) and ast.dump(node.value) == _SELF]
    named = [node for node in same if node.attr == kept.attr]
    if kept not in named or sum(not isinstance(node.ctx, ast.Load) for node in named) != 1:
        return []
    return [node for node in named if isinstance(node.ctx, ast.Load)]


def _files(words: Iterable[str]) -> frozenset[str]:
    """The names of files at the end of texts in a path."""
    return frozenset(each.rpartition("/")[2] for each in words)
