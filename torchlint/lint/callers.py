"""
Whether the other files of a package that call something ask first which torch there is, all of them.

Told from Python's own trees. A mention that cannot be followed to the very function is somebody who does not ask.
Judges nothing.
"""

from __future__ import annotations

import ast

from torchlint.lint.gates import Gates, module_of, names_of_node
from torchlint.lint.guards import Guards
from torchlint.project.index import ProjectIndex
from torchlint.project.neighbours import TooManyFilesError
from torchlint.syntax.children import walk
from torchlint.syntax.references import references
from torchlint.syntax.tree import SourceError, python_tree

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def all_ask_first(tree: ast.Module, project: ProjectIndex, gates: Gates, node: ast.AST) -> bool:
    """
    Whether what a node stands in, a function or a class of the file, is called from other files alone, and whoever
    calls it there has asked; and somebody does.

    Parameters
    ----------
    tree, project
        The file, and where others are looked for.
    gates
        Knows the flags of other files.
    node
        A place in the file.
    """
    line = getattr(node, "lineno", 0)
    around = next((each for each in tree.body if each.lineno <= line <= (each.end_lineno or 0)), None)
    if not isinstance(around, (*_FUNCTIONS, ast.ClassDef)) or around.decorator_list or "." not in project.located:
        return False
    if any(around.name in names_of_node(each) for each in walk(tree)):
        return False
    is_package = project.located == project.module
    names = [f"{each}.{around.name}" for each in dict.fromkeys((project.located, project.module))]
    asked = False
    try:
        for shown, text in project.mentioning(around.name, everywhere=not is_package):
            calls = [_asked(text, *module_of(shown), each, gates) for each in names]
            if not any(each is not None for each in calls):
                return False
            asked = asked or any(calls)
    except TooManyFilesError:
        return False
    return asked


def _asked(text: str, module: str, is_package: bool, wanted: str, gates: Gates) -> bool | None:
    """Whether a file calls something and asks first; None if it does not ask, or nobody knows what it does."""
    try:
        tree = python_tree(text)
    except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for each in walk(tree):
        if isinstance(each, ast.ImportFrom) and each.level:  # written out: `from .new import made`
            parts = module.split(".")
            base = parts[: len(parts) - each.level + is_package]
            each.level, each.module = 0, ".".join([*base, *([each.module] if each.module else [])])
    flags = gates.flags_of(tree, module, is_package)
    found = references(tree, {wanted}, {wanted.partition(".")[0]}, elsewhere=flags, text=text)
    imports = [each for each in found if isinstance(each.node, ast.alias)]
    calls = [each for each in found if not isinstance(each.node, ast.alias)]
    last = wanted.rpartition(".")[2]
    names = {last, *(each.imports for each in imports)}
    spoken = [each for each in walk(tree) if any(name in names_of_node(each) for name in names)]
    if len(spoken) != len(calls) or (is_package and not all(each.asked for each in imports)):
        return None
    guards = Guards(tree, flags, is_script=False)
    if all(each.asked or guards.is_refused(each.node) for each in calls):
        return bool(calls)
    return None
