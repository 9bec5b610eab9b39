"""
Whether a test that speaks of a version, or of what could be imported, may speak of a package: `opset_version >= 14`,
`sys.version_info` and `if not HAS_ONNX` ask nothing about torch.

Told from Python's own tree and from what a file gives its names. Unknown is what may be; judges nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence

from torchlint.syntax.children import walk
from torchlint.syntax.entries import last_name
from torchlint.syntax.mentions import statements

_PLAIN = frozenset(
    {
        *("version", "versions", "lib", "library", "package", "installed", "current", "full", "base", "parsed", "info"),
        *("min", "max", "minimum", "maximum", "major", "minor", "patch", "at", "least", "older", "newer", "old", "new"),
        *("required", "requires", "check", "is", "has", "get", "gt", "ge", "lt", "le", "eq", "str", "string", "tuple"),
    }
)
"""Words in the name of a version that do not say of what it is."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MAKERS = frozenset(
    {"Version", "LooseVersion", "StrictVersion", "parse", "parse_version", "tuple", "map", "str", "int"}
)
"""Functions that make a version of what they are given, or a part of one."""
_RELEASE = re.compile(r"\d+[._]\d+")


def may_speak_of(
    test: ast.expr, package: str, names: Collection[str], values: Callable[[str], Sequence[ast.AST]]
) -> bool:
    """
    Whether a version that a test speaks of may be that of a package.

    Parameters
    ----------
    test
        What is asked.
    package
        The package.
    names
        The plain names that the file has for it and for what it takes from it.
    values
        What the file may give a name where the test stands.
    """
    return any(_may_be(each, test, package, names, values) for each in _versions(test))


def _versions(test: ast.expr) -> Iterator[ast.expr]:
    """What a test takes for versions: what is called one, and what a version is made of."""
    called = {id(part) for node in walk(test) if isinstance(node, ast.Call) for part in walk(node.func)}
    within = {id(node.value) for node in walk(test) if isinstance(node, ast.Attribute)}
    for node in walk(test):
        if not isinstance(node, (ast.Name, ast.Attribute)) or id(node) in called or id(node) in within:
            continue
        name = node.attr if isinstance(node, ast.Attribute) else node.id
        made = any(
            isinstance(call, ast.Call) and last_name(call.func) in _MAKERS and any(node is each for each in call.args)
            for call in walk(test)
        )
        if made or "version" in name.lower():
            yield node
    for node in walk(test):  # a function that says one, or asks for one: whose it is nobody knows
        if (
            isinstance(node, ast.Call)
            and last_name(node.func) not in _MAKERS
            and "version" in ast.unparse(node.func).lower()
        ):
            yield node


def _may_be(
    node: ast.expr,
    test: ast.expr,
    package: str,
    names: Collection[str],
    values: Callable[[str], Sequence[ast.AST]],
) -> bool:
    if _speaks(node, package, names):
        return True
    if isinstance(node, ast.Call):
        named = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return all(map(_RELEASE.search, named)) and not _says_of_what(last_name(node.func))
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    if isinstance(node, ast.Attribute) and (name == "__version__" or _root(node) in ("sys", "platform")):
        return False
    given = values(name) if isinstance(node, ast.Name) else ()
    if given:
        return any(_speaks(each, package, names) or _is_unknown(each) for each in given)
    return not _says_of_what(name) and not _is_numbered(node, test)


def _speaks(node: ast.AST, package: str, names: Collection[str]) -> bool:
    parts = [part.id for part in walk(node) if isinstance(part, ast.Name)]
    return package in ast.unparse(node).lower() or not set(names).isdisjoint(parts)


def _is_unknown(value: ast.AST) -> bool:
    """Whether what a name is given may be anybody's version: what a call of no arguments, or a name, stands for."""
    if isinstance(value, ast.Call):
        return not value.args and "version" not in _root(value.func)
    return isinstance(value, (ast.Name, ast.FunctionDef, ast.AsyncFunctionDef))


def _says_of_what(name: str) -> bool:
    """Whether the name of a version says of what it is: `opset_version`, `pythonVersion`."""
    return any(word.lower() not in _PLAIN for word in _WORDS.findall(name))


def _is_numbered(node: ast.expr, test: ast.expr) -> bool:
    """Whether something is compared with whole numbers and words alone, which no release is: `version == "small"`."""
    beside: list[ast.expr] = []
    for each in walk(test):
        if isinstance(each, ast.Compare):
            sides = [each.left, *each.comparators]
            if any(side is node for side in sides):
                beside += [side for side in sides if side is not node]
    parts = [
        part for each in beside for part in (each.elts if isinstance(each, (ast.Tuple, ast.List, ast.Set)) else [each])
    ]
    if any(isinstance(each, ast.Tuple) for each in beside) and all(_is_whole(each) for each in parts):
        return False  # (2, 1): a release
    return bool(parts) and all(
        isinstance(each, ast.Constant) and not (isinstance(each.value, str) and _RELEASE.search(each.value))
        for each in parts
    )


def _is_whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return getattr(node, "id", "")


def taken_from(tree: ast.Module, package: str) -> frozenset[str]:
    """The plain names that a file gets by importing a package, or something of it."""
    found: set[str] = set()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            found.update(each.asname or package for each in node.names if each.name.split(".")[0] == package)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package and not node.level:
            found.update(each.asname or each.name for each in node.names)
    return frozenset(found)


def tries_others(tree: ast.Module, name: str, package: str) -> bool:
    """Whether a file sets a name by trying to import other things alone, and nothing of a package."""
    asked = False
    for node in statements(tree):
        if not isinstance(node, ast.Try):
            continue
        parts = [part for part in walk(node) if isinstance(part, (ast.Import, ast.ImportFrom))]
        sets = any(
            isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store) for part in walk(node)
        )
        if sets and parts:
            asked = True
            of = {each.name for part in parts if isinstance(part, ast.Import) for each in part.names}
            of |= {
                part.module or "" if not part.level else package for part in parts if isinstance(part, ast.ImportFrom)
            }
            if any(each.split(".")[0] == package for each in of):
                return False
    return asked
