"""
What a project itself says of how its classes and functions are called: calls in its files and in its documentation, and
shapes of tensors in both.

Runs inside the child. Reads texts and constants, and runs nothing. Letters of documentation get sizes, the same letter
the same.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import io
import itertools
import math
import os
import re
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

Shape = tuple[int, ...]
LARGEST = 2**20
"""No tensor of an example has more elements."""
FILES, FILE_SIZE, FOLDERS = 80, 300_000, 200
"""So many files of a project are looked at, none of them longer, in so many folders."""
_NOT_ITS_OWN = frozenset({"__pycache__", "node_modules", "site-packages", "venv"})
_SOURCES = frozenset({"src", "lib", "python"})
INSTALLED = 8
"""So many distributions are looked at that are installed beside a project."""
BLOCKS = 40
LONGEST = 1000
"""No expression of an example is longer."""
_FACTORIES = frozenset({"randn", "rand", "zeros", "ones", "empty", "full", "normal", "randint", "randperm", "arange"})
_THE_SAME = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "float", "double", "half", "requires_grad_", "long", "type"}
)
"""What gives back what it is called on, as far as shapes go."""
_OF_INTEGERS = frozenset({"randint", "randperm", "arange"})


@dataclass(frozen=True)
class Made:
    """A tensor of an example."""

    shape: Shape
    integers: bool


@dataclass(frozen=True)
class Called:
    """
    A call as somebody wrote it.

    Attributes
    ----------
    positional, keywords
        Constants, `Made`, and `...` for what is neither.
    written
        Of what is neither the text, by place or by name: with what the example says of its names.
    """

    positional: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    written: tuple[tuple[int | str, str], ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Example:
    """How something is constructed, and what it is called with then; None where that is not shown."""

    construction: Called | None
    call: Called | None


def examples(name: str, method: str, texts: Iterator[str]) -> Iterator[Example]:
    """The examples of a class, or of a function, in texts of a project."""
    blocks = (tree for text in texts if f"{name}(" in text for tree in _blocks(text, name))
    seen = set()
    for tree in itertools.islice(blocks, BLOCKS):
        for found in _in_block(tree, name, method):
            if repr(found) not in seen:  # what stands in a function stands in its file, too
                seen.add(repr(found))
                yield found


def texts(path: str, root: str) -> Iterator[str]:
    """The file, and what lies beside it and above it within its project."""
    own, seen = os.path.realpath(path), 0
    yield _read(own)
    folders = itertools.count()
    top = os.path.join(root, os.path.relpath(own, root).split(os.sep)[0])
    yield from _introductions(root, os.path.basename(top))
    for folder, inner, files in os.walk(top if os.path.isdir(top) else os.path.dirname(own)):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name not in _NOT_ITS_OWN)
        if next(folders) > FOLDERS:
            return
        for file in sorted(files):
            if file.endswith((".py", ".md", ".rst")) and os.path.join(folder, file) != own:
                seen += 1
                if seen > FILES:
                    return
                yield _read(os.path.join(folder, file))


def _introductions(root: str, top: str) -> Iterator[str]:
    """What introduces a project: its README, and what is installed of that beside the package."""
    above = [os.path.dirname(root)] if os.path.basename(root) in _SOURCES else []
    for folder in (root, *above):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        yield from (_read(os.path.join(folder, name)) for name in names if re.fullmatch(r"(?i)readme(\.\w+)?", name))
        installed = [name for name in names if name.endswith(".dist-info")]
        if len(installed) > INSTALLED:  # only what is named like it
            installed = [name for name in installed if name.lower().replace("-", "_").startswith(top.lower())]
        for name in installed[:INSTALLED]:
            if f"\n{top}/" in "\n" + _read(os.path.join(folder, name, "RECORD")):
                yield _read(os.path.join(folder, name, "METADATA"))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(FILE_SIZE)
    except (OSError, ValueError):
        return ""


def _blocks(text: str, name: str) -> Iterator[ast.AST]:
    """The functions and the rest of a program, and the examples in its documentation, that speak of a name."""
    tree = _tree(text)
    if tree is None:
        yield from _shown(text, name)
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            words = ast.get_docstring(node) or ""
            yield from _shown(words, name) if f"{name}(" in words else ()
            if not isinstance(node, ast.ClassDef) and _speaks(node, name):
                yield node


def _speaks(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(each, ast.Call) and _last(each.func) == name for each in ast.walk(node) if isinstance(each, ast.Call)
    )


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _shown(words: str, name: str) -> Iterator[ast.AST]:
    """Programs in documentation: behind `>>>`, between fences, indented; else the call alone."""
    prompted = [m[1] for m in re.finditer(r"(?m)^[ \t]*(?:>>>|\.\.\.) ?(.*)$", words)]
    found = ["\n".join(prompted)] if prompted else []
    found += [textwrap.dedent(m[1]) for m in re.finditer(r"```\w*\n(.*?)```", words, re.S)]
    found += _indented(words)
    trees = [tree for each in found if f"{name}(" in each and (tree := _tree(each)) is not None]
    if not trees:
        calls = re.finditer(rf"\b{re.escape(name)}\((?:[^()]|\([^()]*\))*\)", words)
        trees = [tree for each in calls if (tree := _tree(each[0])) is not None]
    yield from trees


def _indented(words: str) -> list[str]:
    """What stands further to the right than the rest, without its indentation."""
    blocks: list[list[str]] = [[]]
    for line in words.splitlines():
        if line.startswith((" ", "\t")) or (not line.strip() and blocks[-1]):
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [textwrap.dedent("\n".join(block)) for block in blocks if block]


def _in_block(tree: ast.AST, name: str, method: str) -> Iterator[Example]:
    constants: dict[str, Any] = {}
    instances: dict[str, Called] = {}
    texts: dict[str, ast.expr] = {}
    for node in _in_order(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            target, value = node.targets[0].id, _unwrapped(node.value)
            if isinstance(value, ast.Call) and _last(value.func) == name:
                instances[target] = _called(value, constants, texts)
            else:
                constants[target] = _constant(value, constants)
            texts[target] = _spelled(value, texts)
        if not isinstance(node, ast.Call):
            continue
        last = _last(node.func)
        if last == name:
            called = _called(node, constants, texts)
            yield Example(called, called)
            continue
        owner: ast.expr = node.func
        if isinstance(owner, ast.Attribute) and last == (method or "forward"):
            owner = owner.value
        owner = _unwrapped(owner)
        if isinstance(owner, ast.Name) and owner.id in instances:
            yield Example(instances[owner.id], _called(node, constants, texts))
        elif isinstance(owner, ast.Call) and _last(owner.func) == name:
            yield Example(_called(owner, constants, texts), _called(node, constants, texts))


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        yield node
        yield from _in_order(node)


def _unwrapped(node: ast.expr) -> ast.expr:
    """Without `.to(…)`, `.cuda()`, `.eval()` and the like."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr
        in ("to", "cuda", "cpu", "eval", "train", "float", "double", "half", "requires_grad_", "long")
    ):
        node = node.func.value
    return node


def _called(node: ast.Call, constants: Mapping[str, Any], texts: Mapping[str, ast.expr]) -> Called:
    positional = tuple(_constant(each, constants) for each in node.args)
    keywords = tuple((k.arg, _constant(k.value, constants)) for k in node.keywords if k.arg is not None)
    places: list[tuple[int | str, ast.expr]] = [*enumerate(node.args)]
    places += [(k.arg, k.value) for k in node.keywords if k.arg is not None]
    known: dict[int | str, Any] = {**dict(enumerate(positional)), **dict(keywords)}
    written = ((place, ast.unparse(_spelled(each, texts))) for place, each in places if known[place] is ...)
    return Called(positional, keywords, tuple(each for each in written if len(each[1]) <= LONGEST))


def _spelled(node: ast.expr, texts: Mapping[str, ast.expr]) -> ast.expr:
    """An expression with those in place of names that an example gives these names."""
    return cast(ast.expr, _Spelled(texts).visit(copy.deepcopy(node)))


class _Spelled(ast.NodeTransformer):
    def __init__(self, texts: Mapping[str, ast.expr]) -> None:
        self.texts = texts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.texts.get(node.id, node)


def _constant(node: ast.expr, constants: Mapping[str, Any]) -> Any:
    node = _unwrapped(node)
    if isinstance(node, ast.Call) and _last(node.func) in _FACTORIES:
        return _made(node, constants)
    if any(isinstance(each, (ast.Call, ast.Attribute, ast.Lambda)) for each in ast.walk(node)):
        return ...
    known = {name: value for name, value in constants.items() if value is not ... and not isinstance(value, Made)}
    if isinstance(node, ast.Name) and isinstance(constants.get(node.id), Made):
        return constants[node.id]
    try:
        return eval(compile(ast.Expression(node), "<example>", "eval"), {"__builtins__": {}}, known)
    except Exception:  # a name that the example does not show
        return ...


def _made(node: ast.Call, constants: Mapping[str, Any]) -> Any:
    words = {k.arg: _constant(k.value, constants) for k in node.keywords}
    given = [_constant(each, constants) for each in node.args if not isinstance(each, ast.Starred)]
    last = _last(node.func)
    sizes = words.get("size", given[-1] if last in ("randint", "normal", "full") and given else given)
    if last == "full" and given:
        sizes = given[0]
    sizes = sizes[0] if isinstance(sizes, list) and len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if last in ("arange", "randperm"):
        sizes = given[-1:]
    shape = tuple(sizes) if isinstance(sizes, (tuple, list)) else ()
    if not shape or not all(type(each) is int and each >= 0 for each in shape) or math.prod(shape) > LARGEST:
        return ...
    return Made(shape, last in _OF_INTEGERS)


_NAMED_SIZES: tuple[tuple[str, int], ...] = (
    (r"b|bs|n|bsz|batch\w*|\w*batch|n_?batch", 2),
    (r"h|w|height|width|img\w*|\w+_h|\w+_w", 16),
    (r"l|t|s|seq\w*|len\w*|\w+_len\w*|time\w*|frames", 5),
)
_WORDS = r"[^\[(\n]{0,60}"
_BRACKETS = r"[\[(]\s*([\w*.+\-/ ]+(?:,\s*[\w*.+\-/ ]+)*),?\s*[\])]"


def shapes(function: Callable[..., Any], names: tuple[str, ...], known: Mapping[str, int]) -> dict[str, Shape]:
    """
    The shapes that the words about a function say its arguments have.

    Parameters
    ----------
    names
        The arguments.
    known
        Sizes by name: what a class was constructed with.
    """
    words = _words(function) if names else ""
    sizes: dict[str, int] = {}
    found = {}
    for name in names:
        pattern = rf"(?<![\w.]){re.escape(name)}\b{_WORDS}(?:\([^()\n]*[Tt]ensor[^()\n]*\){_WORDS})?{_BRACKETS}"
        for match in re.finditer(pattern, words):
            parts = [part.strip() for part in match[1].split(",")]
            plain = all(re.fullmatch(r"\d+|[A-Za-z_]\w{0,24}", part) for part in parts)
            if plain and 1 <= len(parts) <= 6 and not {"optional", "tensor", "default"} & {p.lower() for p in parts}:
                found[name] = tuple(_size(part, sizes, known) for part in parts)
                break
    return {name: shape for name, shape in found.items() if math.prod(shape) <= LARGEST}


def _size(part: str, sizes: dict[str, int], known: Mapping[str, int]) -> int:
    lower = part.lower()
    if part.isdigit():
        return int(part)
    if lower not in sizes:
        named = next((size for pattern, size in _NAMED_SIZES if re.fullmatch(pattern, lower)), 8)
        sizes[lower] = known.get(lower, named)
    return sizes[lower]


@functools.lru_cache(maxsize=32)
def _words(function: Callable[..., Any]) -> str:
    """The documentation of a function and of its class, its comments, and its annotations of shapes."""
    try:
        source = inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        return ""
    own = getattr(function, "__self__", None)
    words = [inspect.getdoc(function) or "", (type(own).__doc__ or "") if own is not None else ""]
    if isinstance(function, type):
        words.append(inspect.getdoc(vars(function).get("__init__", function)) or "")
    try:
        tokens = tokenize.generate_tokens(io.StringIO(textwrap.dedent(source)).readline)
        before = ""
        for token in tokens:
            if token.type == tokenize.COMMENT:
                words.append(f"{before} {token.string}")
            elif token.type == tokenize.NAME:
                before = token.string
    except (tokenize.TokenError, SyntaxError):
        pass
    annotated = re.finditer(r"(\w+)\s*:\s*\w+\[[\w.]*Tensor,\s*[\"']([\w ]+)[\"']\]", source)
    words += [f"{each[1]}: ({', '.join(each[2].split())})" for each in annotated]
    return "\n".join(words)
