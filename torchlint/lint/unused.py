"""
What of a file nobody of its project uses: a function or a class that no line names, a file or a folder that nothing
imports, what a test builds.

Told from Python's own trees and the words of the other files. A name that may be meant is a use. Judges nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

from torchlint.lint.gates import LOOKS, Gates, imports_of, names_of_node, tree_of
from torchlint.project.index import ProjectIndex
from torchlint.project.neighbours import TooManyFilesError
from torchlint.project.testing import is_test
from torchlint.syntax.children import walk
from torchlint.syntax.entries import last_name

_Definition: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BY_OTHERS = re.compile(r"main|test|pytest_|__|(?:forward|backward|setup_context|vmap|jvp|extra_repr)$")
"""What the names of those begin with that Python, torch, commands and pytest look for by their names."""
_KNOWN_BASES = frozenset({"object", "ABC", "Module", "Generic", "Protocol", "Dataset"})
"""Classes that call no method of those that derive from them, but for names that are told above."""
_KEEPS_NAME = frozenset({"staticmethod", "classmethod", "property", "no_grad", "inference_mode", "dataclass"})
"""Decorators that tell nobody else of what they decorate."""

_DYNAMIC = re.compile(
    r"getattr\(\s*[\w.]+\s*,\s*(?![\"']\w+[\"'])|(?<![.\w])(?:globals|locals|vars|dir|eval|exec)\(|__dict__"
)
"""Words of who finds by a name that is made what is there."""

_LOADS = re.compile(r"import_module|__import__|iter_modules|walk_packages")
"""Words of who imports what it finds."""
_RUN = "__main__"


class Unused:
    """
    What of a file is of no use to its project.

    Parameters
    ----------
    path, text
        The file, and what is written in it.
    project
        The files around it.
    """

    def __init__(self, path: str, text: str, project: ProjectIndex) -> None:
        self._path = path
        self._text = text
        self._project = project
        self._known: dict[ast.AST, bool] = {}
        """Of functions and classes."""

    def is_at(self, line: int) -> bool:
        """Whether a line of the file belongs to a test, to a file that nobody uses, or to a function or a class."""
        if self._is_test:
            return True
        if self._tree is None:
            return False
        return any(self._is_unnamed(*each) for each in self._around(line)) or self._is_left_out

    @cached_property
    def _is_test(self) -> bool:
        return is_test(self._path, self._text)

    @cached_property
    def _tree(self) -> ast.Module | None:
        return tree_of(self._text)

    @cached_property
    def _outermost(self) -> dict[int, ast.AST]:
        """The first statement of the file on each line: a file may have as many findings as lines."""
        found: dict[int, ast.AST] = {}
        for each in self._tree.body if self._tree is not None else ():
            for line in range(each.lineno, (each.end_lineno or 0) + 1):
                found.setdefault(line, each)
        return found

    @cached_property
    def _gates(self) -> Gates:
        assert self._tree is not None
        return Gates(self._tree, self._text, self._project)

    @cached_property
    def _is_left_out(self) -> bool:
        return self._gates.is_left_out or self._is_in_a_folder_left_out

    @property
    def _is_in_a_folder_left_out(self) -> bool:
        """
        Whether the file is in a package that nobody outside of it names, although the package around that imports some
        of what it has; and nothing in it is run.
        """
        parts = self._project.module.split(".")
        packages = [".".join(parts[:end]) for end in range(2, len(parts))]
        try:
            return any(self._is_package_left_out(*each.rpartition(".")[::2]) for each in packages)
        except TooManyFilesError:
            return False

    def _is_package_left_out(self, above: str, folder: str) -> bool:
        beside, is_package = self._project.source(above)
        tree = tree_of(beside) if is_package and folder not in beside and not LOOKS.search(beside) else None
        if tree is None or not any(each.startswith(f"{above}.") for each in imports_of(tree, above, is_package=True)):
            return False
        if folder in self._project.distributed or _RUN in self._text:
            return False
        inside, named = re.compile(rf"(?:^|/){re.escape(folder)}/"), re.compile(rf"\b{re.escape(folder)}\b")
        if any(inside.search(shown) for shown, _ in self._project.mentioning(_RUN, everywhere=True)):
            return False
        return not any(
            not inside.search(shown) and (named.search(text) or _LOADS.search(text))
            for shown, text in self._project.mentioning("import", everywhere=True)
        )

    def _around(self, line: int) -> Iterator[tuple[_Definition, ast.AST]]:
        """The functions and classes around a line, the outermost first, and what each is defined in."""
        above: ast.AST = self._tree or ast.Module([], [])
        inside = self._outermost.get(line)
        while inside is not None:
            if isinstance(inside, _DEFINITIONS):
                yield inside, above
                above = inside
            elif not hasattr(inside, "body"):
                return  # what holds no block holds no function
            inside = next((each for each in ast.iter_child_nodes(inside) if _spans(each, line)), None)

    def _is_unnamed(self, node: _Definition, above: ast.AST) -> bool:
        """Whether nothing names a function or a class, beside itself."""
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = self._is_named_by_nobody(node, above)
        return known

    def _is_named_by_nobody(self, node: _Definition, above: ast.AST) -> bool:
        name = node.name
        if _BY_OTHERS.match(name) or not all(map(_keeps_name, node.decorator_list)):
            return False
        is_private = name.startswith("_")
        if isinstance(above, ast.ClassDef) and not (is_private and self._is_its_own(above)):
            return False  # whoever has an object may call it, and a base of another package
        inside = {id(each) for each in walk(node)}
        tree = self._tree or ast.Module([], [])
        if any(name in names_of_node(each) for each in walk(tree) if id(each) not in inside):
            return False
        if not isinstance(above, (ast.Module, ast.ClassDef)):
            return True  # of a function, which alone sees it
        if _DYNAMIC.search(self._text):
            return False
        word = re.compile(rf"\b{re.escape(name)}\b")
        lines = self._text.splitlines()
        own = "\n".join(lines[: node.lineno - 1] + lines[node.end_lineno or 0 :])
        if word.search(own) or word.search(self._project.distributed):
            return False
        if not (is_private or self._gates.is_taken_by_name):
            return False  # who has the file alone may call it
        try:
            if any(word.search(text) for _, text in self._project.mentioning(name, everywhere=True)):
                return False
            module = self._project.module.rpartition(".")[2]
            return not any(_DYNAMIC.search(text) for _, text in self._project.mentioning(module, everywhere=True))
        except TooManyFilesError:
            return False

    def _is_its_own(self, owner: ast.ClassDef) -> bool:
        """Whether a class derives from none but those that are known to call nothing of it by name."""
        beside = {each.name: each for each in self._tree.body if isinstance(each, ast.ClassDef)} if self._tree else {}
        pending, seen = [owner], {owner}
        while pending:
            current = pending.pop()
            if current.keywords or current.decorator_list:
                return False
            for base in current.bases:
                name = last_name(base.value if isinstance(base, ast.Subscript) else base)
                found = beside.get(name)
                if found is None and name not in _KNOWN_BASES:
                    return False
                if found is not None and found not in seen:
                    seen.add(found)
                    pending.append(found)
        return True


def _keeps_name(decorator: ast.expr) -> bool:
    return last_name(decorator.func if isinstance(decorator, ast.Call) else decorator) in _KEEPS_NAME


def _spans(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", 0) or 0)
