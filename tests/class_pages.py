"""
Classes as Markdown, for the pages that are made of them: what their documentation says, a table of the fields, one of
the methods; and where the names of types that stand in a table are defined.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import typing
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from typing import Any

import pytest

from torchlint import truth

interpreted = pytest.mark.skipif(not truth.__file__.endswith(".py"), reason="what is compiled has no signatures")
NUMPY_SECTION = re.compile(r"\n(?:Attributes|Parameters|Raises|Returns)\n-+\n")
TYPE = re.compile(r"(?<![.\w\"'])[A-Z]\w+")
REFERRED = re.compile(r"[Ss]ee `([A-Z]\w+)`")
NO_CLASSES = frozenset({"None", "Any", "Mapping", "Hashable", "Callable", "True", "False", "Literal"})


def cell(text: str) -> str:
    """A text as it stands in a table."""
    return " ".join(text.split()).replace("|", "\\|")


def paragraphs(text: str) -> str:
    """What documentation says before its first section: paragraphs and lists, each of them one line."""
    blocks = []
    for block in NUMPY_SECTION.split(f"{inspect.cleandoc(text)}\n")[0].strip().split("\n\n"):
        items = re.split(r"\n(?=- )", block) if block.startswith("- ") else [block]
        blocks.append("\n".join(" ".join(each.split()) for each in items))
    return "\n\n".join(blocks)


def meanings(kind: type) -> dict[str, str]:
    """What a class and those it derives from say of each field, under "Attributes"."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        text = f"{inspect.cleandoc(each.__doc__ or '')}\n".partition("\nAttributes\n----------\n")[2]
        text = NUMPY_SECTION.split(text)[0]
        for names, meaning in re.findall(r"^(\w[\w, ]*)\n((?:(?: +.*)?\n?)+)", text, re.MULTILINE):
            found |= dict.fromkeys(names.replace(" ", "").split(","), " ".join(meaning.split()))
    return found


def page(lines: Iterable[str]) -> str:
    """A page of these lines, with one empty line between what stands apart."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def fields(kind: type, known: Collection[str] = (), *, usual: bool = False) -> Iterator[str]:
    """The table of a dataclass's fields, but for those that are known. `usual`: with the values they have unsaid."""
    told = [each for each in dataclasses.fields(kind) if each.name not in known]
    if not told:
        return
    says = meanings(kind)
    described = any(each.name in says for each in told)
    yield "| field | type |" + " meaning |" * described
    yield "| --- | --- |" + " --- |" * described
    for each in told:
        words = _words(kind, each)
        kept = ", ".join(f'`"{one}"`' for one in words) or f"`{str(each.type).strip(chr(34))}`".replace("|", "\\|")
        if usual and each.default is not dataclasses.MISSING:
            kept += f"; `{each.default!r}` unless said"
        yield f"| `{each.name}` | {kept} |" + f" {cell(says.get(each.name, ''))} |" * described


def _words(kind: type, field: dataclasses.Field[Any]) -> tuple[object, ...]:
    """The words that a field may hold, if its type is a list of them."""
    owner = next(each for each in kind.__mro__ if field.name in vars(each).get("__annotations__", {}))
    text = str(field.type)
    if not text.isidentifier() and not text.startswith("Literal["):
        return ()
    hint = eval(text, vars(importlib.import_module(owner.__module__)))
    return typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()


def methods(kind: type) -> Iterator[str]:
    """The table of a class's public methods and properties."""
    own = [(name, value) for name, value in vars(kind).items() if not name.startswith("_") and inspect.getdoc(value)]
    rows = []
    for name, value in own:
        function = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
        if not inspect.isfunction(function):
            continue
        signature = inspect.signature(function)
        given = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
        plain = function is value or isinstance(value, (classmethod, staticmethod))
        shown = f"({', '.join(map(str, given))})".replace("'", "") if plain else ""
        result = f" → {signature.return_annotation}" if signature.return_annotation is not signature.empty else ""
        rows.append(f"| `{cell(name + shown + result)}` | {cell(paragraphs(function.__doc__ or ''))} |")
    if rows:
        yield "| method or property | meaning |"
        yield "| --- | --- |"
        yield from rows


def section(name: str, module: str, *, level: str = "##", usual: bool = False) -> Iterator[str]:
    """A class, or an alias of types, by a module that has it; `usual` as of `fields`."""
    kind = getattr(importlib.import_module(module), name)
    yield f"\n{level} {name}\n"
    yield f"`from {module} import {name}`\n"
    if not inspect.isclass(kind):
        yield from _alias(name, home(name, module), kind)
        return
    yield paragraphs(kind.__doc__ or "") + "\n"
    if issubclass(kind, Enum):
        yield f"Members: {', '.join(f'`{each}`' for each in kind.__members__)}.\n"
    if dataclasses.is_dataclass(kind):
        yield from fields(kind, usual=usual)
        yield ""
    elif says := meanings(kind):
        yield "| attribute | meaning |"
        yield "| --- | --- |"
        yield from (f"| `{each}` | {cell(meaning)} |" for each, meaning in says.items())
        yield ""
    elif isinstance(hints := getattr(kind, "__annotations__", None), dict) and issubclass(kind, tuple):
        yield "| field | type |"
        yield "| --- | --- |"
        yield from (
            f"| `{each}` | `{cell(str(getattr(hint, '__forward_arg__', hint)))}` |" for each, hint in hints.items()
        )
        yield ""
    yield from methods(kind)


def _alias(name: str, module: str, kind: Any) -> Iterator[str]:
    node, text = _assigned(name, module)
    words = typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()
    value = node.value
    assert value is not None
    shown = value.value if isinstance(value, ast.Constant) else ast.unparse(value)
    yield ", ".join(f'`"{each}"`' for each in words) + "\n" if words else f"`{shown}`\n"
    if text:
        yield paragraphs(text) + "\n"


def _assigned(name: str, module: str) -> tuple[ast.AnnAssign, str]:
    """The assignment of an alias, and the documentation below it."""
    body = _tree(module).body
    for number, node in enumerate(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            after = body[number + 1] if number + 1 < len(body) else None
            told = after.value if isinstance(after, ast.Expr) else None
            return node, told.value if isinstance(told, ast.Constant) and isinstance(told.value, str) else ""
    raise LookupError(f"{module} does not assign {name}")


def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(module)))


def home(name: str, module: str) -> str:
    """The module that defines what another one calls by a name, as far as it is torchlint's."""
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torchlint"):
            for each in node.names:
                if (each.asname or each.name) == name:
                    return home(each.name, node.module or "")
    return module


def named(kinds: Iterable[type]) -> dict[str, str]:
    """The types that the fields of dataclasses name, and those that these name, each with the module it is of."""
    found: dict[str, str] = {}
    pending: list[Any] = list(kinds)
    seen = {kind.__name__ for kind in pending}
    while pending:
        kind = pending.pop()
        for owner, text in _texts(kind) if inspect.isclass(kind) else [_written(*kind)]:
            for name in {*TYPE.findall(text), *REFERRED.findall(text)} if text else ():
                if name in seen or name in NO_CLASSES or not hasattr(importlib.import_module(owner), name):
                    continue
                where = home(name, owner)
                value = getattr(importlib.import_module(where), name)
                if not where.startswith("torchlint") or _says_itself(name, where, value):
                    continue
                seen.add(name)
                found[name] = where
                pending.append(value if inspect.isclass(value) else (where, name))
    return dict(sorted(found.items()))


def _says_itself(name: str, module: str, kind: Any) -> bool:
    """Whether it is a list of words, of which no more is said: these stand where it is named."""
    return typing.get_origin(kind) is typing.Literal and not _assigned(name, module)[1]


def _written(module: str, name: str) -> tuple[str, str]:
    """The text of an alias, with the module that it stands in."""
    value = _assigned(name, module)[0].value
    assert value is not None
    return module, ast.unparse(value)


def _texts(kind: type) -> Iterator[tuple[str, str]]:
    """What may name types in a class: annotations of its fields, and what is said of these; with the class's module."""
    for each in kind.__mro__:
        if each.__module__.startswith("torchlint"):
            for name, hint in getattr(each, "__annotations__", {}).items():
                if not name.startswith("_") and "ClassVar" not in str(hint):
                    yield each.__module__, str(getattr(hint, "__forward_arg__", hint))
            for said in meanings(each).values():
                yield each.__module__, " ".join(f"see `{name}`" for name in REFERRED.findall(said))
