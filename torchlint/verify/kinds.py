"""
What an argument would have to be, from how the statement uses it that refused it: gone through, called, read of.

Runs inside the child. Evaluates names and parts of them in the frame that raised; calls nothing and changes nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from torchlint.verify.evidence import MODULE_ATTRIBUTES, TENSOR_ATTRIBUTES


@dataclass(frozen=True)
class Wish:
    """
    What would have been taken instead.

    Attributes
    ----------
    name
        Of the argument.
    attribute
        What of it, where it is a configuration; "" for itself.
    asks
        "rank", "size" (of a dimension), "shape", "type", "kind" (of `usage.Use`), "dtype" or "value".
    value
        Which.
    dimension
        Of "size".
    """

    name: str
    attribute: str
    asks: str
    value: Any
    dimension: int = 0


class Frame:
    """Where it was refused, and what the arguments are called there."""

    def __init__(self, frame: FrameType, given: Mapping[str, Any]) -> None:
        self.frame = frame
        self.given = given
        self.names = {**frame.f_globals, **frame.f_locals}

    def value(self, node: ast.expr) -> Any:
        """Of an expression; raises whatever that does."""
        return eval(compile(ast.Expression(node), "<condition>", "eval"), self.frame.f_globals, dict(self.names))

    def argument(self, node: ast.expr) -> Iterator[tuple[str, str]]:
        """The arguments, and what of them, that an expression may stand for."""
        try:
            value = self.value(node)
        except Exception:  # it is not bound yet
            return
        plain = isinstance(value, (int, float, str)) or value is None
        by_identity = [name for name, made in self.given.items() if made is value and not plain]
        if by_identity:
            yield by_identity[0], ""
            return
        if isinstance(node, ast.Name) and node.id in self.given and equal(self.given[node.id], value):
            yield node.id, ""
            return
        if isinstance(node, ast.Attribute):
            try:
                owner = self.value(node.value)
            except Exception:
                return
            held = [name for name, made in self.given.items() if made is owner]
            if held:
                yield held[0], node.attr
                return
            for name in (node.attr, ast.unparse(node)):
                if name in self.given and equal(self.given[name], value):
                    yield name, ""
                    return
        if (place := self._inside(node)) is not None:
            yield place
            return
        if not plain or type(value).__name__ in _MADE_UP or isinstance(value, str):
            called = node.id if isinstance(node, ast.Name) else ""
            places = sorted(self._held(value), key=lambda each: each[1].rpartition(".")[2] != called)
            yield from places[:1]
            if places:
                return
        if plain and value is not None:
            yield from ((name, "") for name, made in self.given.items() if type(made) is type(value) and made == value)
            for name, made in self.given.items():
                inside = getattr(made, "__dict__", {})
                yield from ((name, key) for key, held in list(inside.items()) if _same(held, value))

    def _held(self, value: Any) -> Iterator[tuple[str, str]]:
        """The made-up arguments that hold a made-up value, however deep, and by which keys."""
        left = [(name, "", made) for name, made in self.given.items()]
        for _ in range(_DEEPEST):
            following = []
            for name, path, made in left:
                inside = settings(made)
                for key, each in inside.items():
                    if not isinstance(key, str) or key.startswith("_"):
                        continue
                    if each is value or _same(each, value):
                        yield name, f"{path}{key}"
                    following.append((name, f"{path}{key}.", each))
            left = following

    def _inside(self, node: ast.expr) -> tuple[str, str] | None:
        """The argument that holds what an expression stands for, and by which keys: `cfg.block.name`, `cfg["name"]`."""
        keys: list[str] = []
        while isinstance(node, ast.Attribute) or (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            keys.insert(0, node.attr if isinstance(node, ast.Attribute) else str(node.slice.value))  # type: ignore[attr-defined]
            node = node.value
            try:
                owner = self.value(node)
            except Exception:
                return None
            held = next((name for name, made in self.given.items() if made is owner), "")
            if held:
                return held, ".".join(keys)
        return None


def settings(made: Any) -> dict[str, Any]:
    """What settings hold, made-up ones and those of the program's own classes, by name."""
    fields = getattr(made, "_fields", None)
    if isinstance(made, tuple) and fields:
        return dict(zip(fields, made, strict=False))
    if type(made).__name__ not in _MADE_UP and not hasattr(made, "__dataclass_fields__"):
        return {}
    return {**(dict(made) if isinstance(made, dict) else {}), **getattr(made, "__dict__", {})}


def _same(held: Any, value: Any) -> bool:
    return isinstance(held, str) and isinstance(value, str) and held == value


def equal(left: Any, right: Any) -> bool:
    """Whether two values are the same, as far as that can be said."""
    try:
        return left is right or bool(left == right)
    except Exception:  # tensors
        return False


def text_of(value: Any) -> str:
    """The text of a value; of what has none, its class."""
    try:
        return repr(value)
    except Exception:  # the program's own, of what is made up
        return f"a {type(value).__name__}"


_REFUSED = re.compile(
    r"'(?P<a>\w+)' object (?:is not (?:iterable|subscriptable|callable|a mapping)|has no attribute"
    r"|does not support item)|non-iterable (?P<b>\w+) object|of type '(?P<c>\w+)' (?:has no len|is not)"
    r"|(?P<d>\w+) indices must be|must be a mapping, not (?P<e>\w+)"
    r"|unsupported operand type\(s\) for \S+ '(?P<f>list|str|tuple|dict)' and|' and '(?P<g>list|str|tuple|dict)'"
)
_MADE_UP = frozenset({"AnyModule", "Config", "Settings", "Batch", "Anything", "AnyTensor", "module", "type"})
"""What is made up has its own ways to be completed."""
_DEEPEST = 4
"""Made-up settings are searched so deep."""
_NO_NUMBERS = frozenset({"list", "str", "tuple", "dict"})
_GONE_THROUGH = frozenset(
    {"len", "list", "tuple", "set", "enumerate", "zip", "sum", "sorted", "map", "any", "all", "iter"}
)
_OF_STRINGS = frozenset({"lower", "upper", "strip", "split", "startswith", "endswith", "replace", "format"})
_OF_DICTIONARIES = frozenset({"items", "keys", "values", "get", "update", "pop", "setdefault"})
_OF_LISTS = frozenset({"append", "extend", "insert"})


def asked(statement: ast.stmt, message: str, at: Frame) -> Iterator[Wish]:
    """Of a TypeError or an AttributeError: what the argument would have to be that is of the refused class."""
    match = _REFUSED.search(message)
    refused = "" if match is None else next(each for each in match.groups() if each)
    if not refused or refused in _MADE_UP:
        return
    for subject, kind in _used(statement):
        if kind == "integer" and refused not in _NO_NUMBERS:
            continue
        try:
            value = at.value(subject)
        except Exception:  # it is not bound yet
            continue
        if type(value).__name__ != refused:
            continue
        yield from (Wish(*found, "kind", "list" if kind == "several" else kind) for found in at.argument(subject))
        if refused == "int" and kind in ("several", "dict", "config"):
            lists = [
                name
                for name, made in at.given.items()
                if isinstance(made, list) and any(each is value for each in made)
            ]
            yield from (Wish(name, "", "kind", "anythings") for name in lists)
        if kind in ("callable", "module"):  # the last are tried first
            parts = ((name, made) for name, made in at.given.items() if isinstance(made, (list, tuple)))
            yield from (
                Wish(name, "", "kind", "modules") for name, made in parts if any(each is value for each in made)
            )


def _used(statement: ast.stmt) -> Iterator[tuple[ast.expr, str]]:
    """What a statement uses as something that holds, is called, or has attributes; nothing is called for that."""
    for node in ast.walk(statement):
        for subject, kind in _uses(node):
            if isinstance(subject, (ast.Name, ast.Attribute, ast.Subscript)) and not any(
                isinstance(each, (ast.Call, ast.Await, ast.NamedExpr)) for each in ast.walk(subject)
            ):
                yield subject, kind


def _uses(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    match node:
        case ast.For(iter=subject) | ast.comprehension(iter=subject) | ast.Starred(subject):
            yield subject, "several"
        case ast.Assign([ast.Tuple() | ast.List()], subject):
            yield subject, "several"
        case ast.Call(ast.Name(name), arguments) if name in _GONE_THROUGH:
            yield from ((each, "several") for each in arguments)
        case ast.Compare(_, [ast.In() | ast.NotIn()], [subject]):
            yield subject, "several"
        case ast.Subscript(subject, ast.Constant(str())):
            yield subject, "dict"
        case ast.Subscript(subject, ast.Tuple() | ast.Slice()):
            yield subject, "tensor"
        case ast.Subscript(subject):
            yield subject, "several"
        case ast.keyword(None, subject):
            yield subject, "mapping"
        case ast.Attribute(subject, name):
            yield subject, _with_attribute(name)
        case ast.BinOp(left, _, right) | ast.Compare(left, [ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()], [right]):
            yield from ((left, "integer"), (right, "integer"))
    if isinstance(node, ast.Call):
        yield node.func, "callable"


def _with_attribute(name: str) -> str:
    for known, kind in (
        (MODULE_ATTRIBUTES, "module"),
        (TENSOR_ATTRIBUTES, "tensor"),
        (_OF_DICTIONARIES, "dict"),
        (_OF_STRINGS, "string"),
        (_OF_LISTS, "several"),
    ):
        if name in known:
            return kind
    return "config"
