"""
Which functions of a text are spelt as if they wrote in place to what they are given.

A first look, at the text alone: whoever hands a tensor to one of them is worth following together with it, and nobody
is accused on its account. Only what looks like a write is parsed. May not follow values, and knows no torch.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator

from torchlint.syntax.spelling import INITIALISERS

_DEFINED = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_WRITES = re.compile(r"[a-z]_\(|\][ \t]*(?:\*\*|//|>>|<<|[-+*/%&|^@])?=(?!=)|(?:\*\*|[-+*/@&|^])=|\binplace\b|\bout\b")
_IMPORTED = re.compile(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_BOUND = re.compile(r"(\w+)(?:[ \t]+as[ \t]+(\w+))?")
_CALL = re.compile(r"\b(\w+)\(")  # without the `\b` a word is read again from each of its letters
_LIBRARIES = ("torch", "typing", "math.", "numpy", "collections", "functools", "warnings", "itertools", "einops")
"""What is written elsewhere than in a project, mostly."""
_SWITCH = re.compile(
    r"\binplace[ \t]*(?::[ \t]*\w+[ \t]*)?=[ \t]*False\b.*?\bself\.inplace[ \t]*=[ \t]*inplace[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
"""A constructor keeps what it is told of writing in place, which is not to."""
_COMMENT = re.compile(r"#[^\n]*")
_VIEWS = frozenset(
    {
        "view", "reshape", "squeeze", "unsqueeze", "transpose", "permute", "flatten", "detach", "contiguous", "narrow",
        "expand", "select", "unflatten", "swapaxes", "swapdims", "movedim", "t", "view_as", "diagonal", "unfold",
    }
)  # fmt: skip
_ALIASES = ("data", "T", "mT")
_NUMBERS = frozenset({"int", "float", "bool", "str", "list", "dict", "List", "Dict", "Sequence"})


class ArgumentWrites:
    """
    What one text says of its functions; each is read when somebody asks.

    Parameters
    ----------
    text
        The text.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        found = list(_DEFINED.finditer(text))
        ends = [match.start() for match in found[1:]] + [len(text)]
        self._parts = {match[1]: (match.start(), end) for match, end in zip(found, ends, strict=False)}
        self._imported: dict[str, str] | None = None
        self._may_write: dict[str, bool] = {}
        self._known: dict[tuple[str, bool], tuple[bool, frozenset[str]]] = {}

    @property
    def defined(self) -> Collection[str]:
        """The functions and classes at the left margin."""
        return self._parts.keys()

    @property
    def imported(self) -> dict[str, str]:
        """What each name stands for that the text has from elsewhere: "..helpers.scale", as it is written."""
        if self._imported is None:
            self._imported = {
                bound or name: module + name if module.endswith(".") else f"{module}.{name}"
                for module, names in _IMPORTED.findall(self._text)
                for name, bound in _BOUND.findall(_COMMENT.sub("", names))
            }
        return self._imported

    def of(self, name: str, switched: bool = True) -> tuple[bool, frozenset[str]]:
        """
        Whether a function writes to a parameter, itself or through others of the text (of a class, what a call of its
        objects runs), and to what functions from elsewhere it hands one. `switched`: whoever calls may have said
        `inplace=True` to a constructor that does not write in place otherwise.
        """
        asked = name, switched
        if asked not in self._known:
            self._known[asked] = False, frozenset()  # whoever asks again on the way finds nothing: a circle
            self._known[asked] = self._of(name, switched)
        return self._known[asked]

    def _of(self, name: str, switched: bool) -> tuple[bool, frozenset[str]]:
        begin, end = self._parts.get(name, (0, 0))
        if not end or is_initialiser(name):
            return False, frozenset()
        part = self._text[begin:end]
        off = False
        if part.startswith("class"):
            off = not switched and _SWITCH.search(part) is not None
            part = _called(part)
        called = {each for each in _CALL.findall(part) if self._is_worth_a_look(each)} - {name}
        if not called and not _WRITES.search(part):
            return False, frozenset()
        definition = _parsed(part)
        graded = "no_grad" not in part
        if definition is None or not (graded or _record(definition.decorator_list)):
            return False, frozenset()
        writes, handed = _Parameters(definition, off, graded).read()
        elsewhere: frozenset[str] = frozenset()
        for each in sorted(called & handed):
            if each in self._parts:
                also, further = self.of(each, switched)
                writes, elsewhere = writes or also, elsewhere | further
            else:
                elsewhere |= {each}
        return writes, elsewhere

    def _is_worth_a_look(self, name: str) -> bool:
        """Whether the text defines or imports a function of that name that may write; classes do not."""
        known = self._may_write.get(name)
        if known is None:
            known = self._may_write[name] = self._looks_like_writer(name)
        return known

    def _looks_like_writer(self, name: str) -> bool:
        if not name[0].islower() or is_initialiser(name):
            return False
        begin, end = self._parts.get(name, (0, 0))
        if end and _WRITES.search(self._text, begin, end):
            return True
        return not self.imported.get(name, _LIBRARIES[0]).startswith(_LIBRARIES)


def is_initialiser(name: str) -> bool:
    """Whether a function is called like one that gives weights their values."""
    return name.endswith(INITIALISERS) or "init" in name or name.startswith("reset")


def _called(part: str) -> str:
    """Of a class, the method that a call of its objects runs."""
    for name in ("forward", "__call__"):
        begin = re.search(rf"^([ \t]+)def[ \t]+{name}\b", part, re.MULTILINE)
        if begin is not None:
            end = re.compile(rf"^[ \t]{{1,{len(begin[1])}}}[^\s#)\]}}]", re.MULTILINE).search(part, begin.end())
            return textwrap.dedent(part[begin.start() : end.start() if end else len(part)])
    return ""


def _parsed(part: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    try:
        body = ast.parse(part).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return body[0] if body and isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef)) else None


class _Parameters:
    """
    Follows the names of one function's parameters, line by line. `off`: `self.inplace` is false; `graded`: nowhere in
    it `no_grad` is written.
    """

    def __init__(self, definition: ast.FunctionDef | ast.AsyncFunctionDef, off: bool, graded: bool) -> None:
        self._definition = definition
        self._off = off
        self._graded = graded
        given = definition.args
        everything = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        numbers = {
            each.arg
            for each, default in zip(
                reversed([*given.posonlyargs, *given.args]), reversed(given.defaults), strict=False
            )
            if isinstance(default, ast.Constant) and default.value is not None
        }
        self._tensors = {
            each.arg
            for each in everything
            if each.arg not in numbers | {"self", "cls"} and not _annotated_otherwise(each.annotation)
        }
        self._handed: set[str] = set()

    def read(self) -> tuple[bool, set[str]]:
        """Whether a parameter is written to, and to what functions parameters are given."""
        writes = self._block(self._definition.body, True)
        return writes, self._handed

    def _block(self, body: list[ast.stmt], straight: bool) -> bool:
        for statement in body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            blocks = [each for name in _BLOCKS for each in getattr(statement, name, ())]
            blocks += [each for handler in getattr(statement, "handlers", ()) for each in handler.body]
            if isinstance(statement, (ast.With, ast.AsyncWith)) and not (self._graded or _record(statement.items[:1])):
                continue
            if isinstance(statement, ast.If) and self._is_off(statement.test):
                if self._block(statement.orelse, straight):
                    return True
                continue
            if any(self._writes(node) for node in _own(statement, self._is_off)):
                return True
            if isinstance(statement, ast.Assign):
                self._bind(statement, straight)
            if blocks and self._block(blocks, False):
                return True
        return False

    def _is_off(self, test: ast.expr) -> bool:
        """Whether a test is for writing in place, which is not wanted."""
        return self._off and isinstance(test, ast.Attribute) and test.attr == "inplace" and _is_self(test.value)

    def _bind(self, statement: ast.Assign, straight: bool) -> None:
        same = self._root(statement.value) is not None
        for target in statement.targets:
            if isinstance(target, ast.Name) and same:
                self._tensors.add(target.id)
            elif straight:
                for each in ast.walk(target):
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                        self._tensors.discard(each.id)

    def _writes(self, node: ast.AST) -> bool:
        if isinstance(node, ast.AugAssign):
            text = isinstance(node.value, (ast.List, ast.Tuple, ast.JoinedStr))
            return not text and self._root(node.target) is not None
        if isinstance(node, ast.Assign):
            return any(
                isinstance(each, ast.Subscript)
                and not (isinstance(each.slice, ast.Constant) and isinstance(each.slice.value, str))
                and self._root(each) is not None
                for each in node.targets
            )
        if not isinstance(node, ast.Call):
            return False
        function = node.func
        if isinstance(function, ast.Attribute) and self._root(function.value) is not None:
            name = function.attr
            if name.endswith("_") and not name.endswith("__") and name != "requires_grad_":
                return True
        given = [each for each in node.args if self._root(each) is not None]
        given += [each.value for each in node.keywords if each.arg != "inplace" and self._root(each.value) is not None]
        for each in node.keywords:
            if each.arg == "out" and self._root(each.value) is not None:
                return True
            if each.arg == "inplace" and given and not (_is_false(each.value) or self._is_off(each.value)):
                return True
        if given and isinstance(function, ast.Name):
            self._handed.add(function.id)
        return False

    def _root(self, node: ast.expr) -> str | None:
        """The parameter whose memory an expression may be; None of anything else."""
        while True:
            if isinstance(node, ast.Name):
                return node.id if node.id in self._tensors else None
            if isinstance(node, ast.Subscript) or (
                isinstance(node, ast.Attribute) and node.attr in ("data", "T", "mT")
            ):
                node = node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
                node = node.func.value
            else:
                return None


def _record(parts: Iterable[ast.AST]) -> bool:
    """Whether none of some decorators, or of what a `with` enters, keeps autograd from recording."""
    return not any("no_grad" in ast.unparse(each) for each in parts)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _own(statement: ast.stmt, is_off: Callable[[ast.expr], bool]) -> Iterator[ast.AST]:
    """
    The nodes of a statement without those of the statements in it, without what has no parts, and of a conditional
    expression whose test `is_off` only the other part.
    """
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        while isinstance(node, ast.IfExp) and is_off(node.test):
            node = node.orelse
        yield node
        for name in node._fields:  # `ast.iter_child_nodes` takes three times as long
            part = getattr(node, name, None)
            if isinstance(part, list):
                pending += [each for each in part if isinstance(each, ast.AST) and not isinstance(each, _OTHERS)]
            elif isinstance(part, ast.AST) and not isinstance(part, _OTHERS):
                pending.append(part)


_BLOCKS = ("body", "orelse", "finalbody")
_OTHERS = (
    ast.stmt, ast.ExceptHandler, ast.Lambda, ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop,
    ast.cmpop, ast.boolop,
)  # fmt: skip
"""Statements, which are read by themselves, and what has no parts."""


def _annotated_otherwise(annotation: ast.expr | None) -> bool:
    """Whether a parameter is said to be no tensor."""
    if isinstance(annotation, ast.Subscript):
        annotation = annotation.value
    name = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    return name in _NUMBERS
