"""
What of a whole file its references to torch are judged by: the names that it reads and exports, what it saves and
loads, what it does as a script.

Told from Python's own tree, each when it is first asked for. Judges nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cached_property

from torchlint.lint.checkpoints import Checkpoints
from torchlint.lint.loaded import Loaded
from torchlint.project.index import ProjectIndex
from torchlint.syntax.children import walk
from torchlint.syntax.entries import last_name
from torchlint.syntax.used import names
from torchlint.target import Extra

_COMPLEX = re.compile(r"complex|cplx|^c(float|double)$|^polar$|^i?h?r?fft[2n]?$", re.IGNORECASE)
"""The words of those who make complex tensors, or speak of one."""


_OF_TYPES = frozenset({"Union", "Optional"})
_OF_OTHERS = frozenset(
    {"vendor", "vendored", "_vendor", "_vendored", "third_party", "thirdparty", "_extern", "_external"}
)


class Surroundings:
    """Which plain names a file reads, what it exports, and which of its values may be complex."""

    def __init__(self, path: str, text: str, tree: ast.Module, project: ProjectIndex) -> None:
        self.tree = tree
        self._text = text
        self.project = project
        self.checkpoints = Checkpoints(tree)
        self.loaded = Loaded(path, text, self.checkpoints, project)
        self.extra: Extra | None = None
        """The extra of the project that the file is for, by its name."""
        self.is_left_out = False
        """Nothing of the project imports the file."""
        self.uncalled: Callable[[ast.AST], tuple[str, bool]] = _nothing
        """Which function around a node nothing of the project names, and if that is known; "" if there is none."""

    @cached_property
    def demo(self) -> tuple[int, int]:
        """The lines of what a module of a package does where it is run as a script; (0, 0) if there are none."""
        if "." not in self.project.module or self.project.module.endswith("__main__"):
            return 0, 0
        for node in self.tree.body:
            if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test):
                return node.lineno, node.end_lineno or 0
        return 0, 0

    @property
    def is_copied(self) -> bool:
        """Whether the file lies in a folder of its package that is for what others wrote."""
        return any(each in _OF_OTHERS for each in self.project.module.split(".")[:-1])

    def is_off(self, node: ast.AST) -> bool:
        """
        Whether a node stands under a switch, an attribute of `self`, that the file only ever sets to False, and that
        nothing in it says how to set to anything else.
        """
        return any(self._never(part) for test in self.checkpoints.tests_around(node) for part in _demanded(test))

    def _never(self, test: ast.expr) -> bool:
        if not (isinstance(test, ast.Attribute) and isinstance(test.value, ast.Name) and test.value.id == "self"):
            return False
        name = test.attr
        if re.search(rf"[\"']{name}[\"']|supports_{name}\s*=\s*True|set_{name}\b", self._text):
            return False
        values = [value for of, value in self._set if of == name]
        return bool(values) and all(isinstance(each, ast.Constant) and each.value is False for each in values)

    @cached_property
    def _set(self) -> list[tuple[str, ast.expr | None]]:
        """Attributes, and names of classes' bodies, that the file sets, and what to where that is one thing."""
        found: list[tuple[str, ast.expr | None]] = []
        for node in walk(self.tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    for part in walk(target):
                        name = part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "")
                        found.append((name, node.value if part is target else None))
        return found

    @cached_property
    def exported(self) -> set[object]:
        return {
            part.value
            for node in self.tree.body
            if isinstance(node, (ast.Assign, ast.AugAssign))
            and any(
                isinstance(target, ast.Name) and target.id == "__all__"
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            )
            for part in walk(node.value)
            if isinstance(part, ast.Constant)
        }

    def uses(self, name: str) -> bool:
        return names(self.tree, name, self._text) or name in self.exported

    def only_annotates(self, name: str) -> bool:
        """Whether a plain name is read in annotations alone, or in what is written like one: `Both = Union[A, B]`."""
        read = [part for part in walk(self.tree) if isinstance(part, ast.Name) and part.id == name]
        in_annotations = {id(part) for each in self._annotations for part in walk(each)}
        return bool(read) and all(id(part) in in_annotations for part in read) and name not in self.exported

    @cached_property
    def _annotations(self) -> list[ast.expr]:
        found: list[ast.expr | None] = []
        for node in walk(self.tree):
            if isinstance(node, ast.arg):
                found.append(node.annotation)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.append(node.returns)
            elif isinstance(node, ast.AnnAssign):
                found.append(node.annotation)
            elif isinstance(node, ast.Subscript) and last_name(node.value) in _OF_TYPES:
                found.append(node)
        return [each for each in found if each is not None]

    def is_complex(self, call: ast.Call) -> bool:
        """Whether anything that its function writes of the first argument of a call speaks of complex numbers."""
        around = self.checkpoints.function_around(call)
        given = [each.value for each in call.keywords if each.arg == "input"] or call.args[:1]
        pending: list[ast.AST] = list(given)
        seen: set[str] = set()
        while pending:
            for node in walk(pending.pop()):
                if isinstance(node, ast.Constant) and isinstance(node.value, complex):
                    return True
                word = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
                if word and _COMPLEX.search(word):
                    return True
                if isinstance(node, ast.Name) and node.id not in seen:
                    seen.add(node.id)
                    pending += _assigned(around, node.id)
        return False


def _nothing(node: ast.AST) -> tuple[str, bool]:
    return "", False


def _demanded(test: ast.expr) -> list[ast.expr]:
    """The parts of a test that all have to hold."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _assigned(around: ast.AST, name: str) -> list[ast.AST]:
    """All that is assigned to a name, and the annotation of a parameter of that name."""
    found: list[ast.AST] = []
    for node in walk(around):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Name) and each.id == name for target in targets for each in walk(target)):
                found.append(node.value)
        elif isinstance(node, ast.arg) and node.arg == name and node.annotation is not None:
            found.append(node.annotation)
    return found
