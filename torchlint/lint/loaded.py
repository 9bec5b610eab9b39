"""
What is known of the files that a program loads with `torch.load`: what is in them, whose they are, what a comment says.

Looks into other files of the project for what they save. Judges nothing.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

from torchlint.lint.checkpoints import Checkpoints, Kept
from torchlint.lint.gates import imports_of, module_of, tree_of
from torchlint.model.events.api import Pickled
from torchlint.project.index import ProjectIndex
from torchlint.project.testing import is_test
from torchlint.syntax.children import walk
from torchlint.syntax.text import NEWLINE

_REASON = re.compile(r"#.*(?:weights_only|trust|pickl|malicious|arbitrary|nosec|S614|B614)", re.IGNORECASE)
"""What those write who have thought of what a file may do."""
_FORCED = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"
_ABOVE = 6
"""Lines above a call in which a comment may be about it."""


class Loaded:
    """
    The calls of `torch.load` of one file.

    Parameters
    ----------
    path, text
        The file, as shown to the user, and what is in it.
    checkpoints
        What it saves and loads.
    project
        The files around it.
    """

    def __init__(self, path: str, text: str, checkpoints: Checkpoints, project: ProjectIndex) -> None:
        self.checkpoints = checkpoints
        self.project = project
        self._path = path
        self._text = text

    def facts(self, call: ast.Call, statement: ast.stmt) -> dict[str, Any]:
        """
        What is known of the file that a call of `torch.load` reads, as attributes of `UnsafeLoad`.

        Parameters
        ----------
        call, statement
            The call, and what it stands in.
        """
        facts: dict[str, Any] = {"around": getattr(self.checkpoints.function_around(call), "lineno", 0)}
        if self._is_made_to_unpickle:
            return facts | {"is_ours": True}
        if self.checkpoints.allows_classes(call):
            return facts | {"is_weights": self.checkpoints.gives_weights(call), "is_ours": self.is_test}
        written = self.checkpoints.written(call)
        used = self.checkpoints.reads(call)
        own = used if used is not None or written is None else self.checkpoints.saved(written)
        facts |= {"is_beside_pickles": self.checkpoints.is_beside_pickles(call)}
        if own is not None or written is not None:
            line, ours = 0 if written is None else written.lineno, self.is_test and self.checkpoints.is_of_a_run(call)
            return facts | {"holds": own, "used": used is not None, "is_own": True, "writes": line, "is_ours": ours}
        beside = self.checkpoints.saved_by_class(call)  # what the class itself saves says most
        kept = [each for each in map(self.checkpoints.kept_by, beside) if each is not None]
        same = next((each.pickled for each in kept if self.checkpoints.likely(call, each)), None)
        if same is not None:  # by its keys, or by its name, in one class
            return facts | {"holds": same, "is_own": True, "is_ours": self.is_test}
        likely = [each.pickled for each in kept if self.checkpoints.likely(call, each) is not False]
        holds = (likely[0] if likely else None) if beside else self._saved_elsewhere(call)
        return facts | {
            "holds": holds,
            "is_weights": self.checkpoints.gives_weights(call),
            "is_ours": self.is_test
            or self.checkpoints.is_ours(call)
            or self.checkpoints.is_own_place(call)
            or self.checkpoints.is_from_memory(call)
            or self._is_left_by_imported(call),
            "is_meant": self._says_why(statement, call)
            or (bool(beside) and (holds is not None or any(map(self.checkpoints.is_unknown, beside)))),
        }

    @cached_property
    def is_test(self) -> bool:
        """Whether the file is a test: what that loads, the project has made."""
        return is_test(self._path, self._text)

    @cached_property
    def _is_made_to_unpickle(self) -> bool:
        """
        Whether the project tells torch by its environment to load whatever a file holds: on every release it does, and
        who wrote that knows what the files are (`torch/serialization.py`).
        """
        return _FORCED in self._text or any(_FORCED in text for _, text in self.project.mentioning(_FORCED))

    def _says_why(self, statement: ast.stmt, call: ast.Call) -> bool:
        """Whether a comment at a call, or shortly above it, says why it loads what it loads."""
        around = self.checkpoints.function_around(call)
        first = max(getattr(around, "lineno", 1), min(statement.lineno, call.lineno) - _ABOVE)
        said = NEWLINE.split(self._text)[first - 1 : call.end_lineno]
        return any(_REASON.search(each) for each in said)

    def _is_left_by_imported(self, call: ast.Call) -> bool:
        """Whether a file that this one imports writes what is loaded: the same name, in the folder where it runs."""
        first = call.args[0] if call.args else None
        name = first.value if isinstance(first, ast.Constant) else None
        if not isinstance(name, str) or not name or "/" in name or "\\" in name:
            return False
        taken = imports_of(self.checkpoints.tree, self.project.module, self.project.is_package)
        for shown, text in self.project.mentioning(name):
            tree = tree_of(text) if module_of(shown)[0] in taken else None
            if tree is not None and any(_saves(each, name) for each in walk(tree)):
                return True
        return False

    def _saved_elsewhere(self, call: ast.Call) -> Pickled | None:
        """
        What this file or another one of the project saves that cannot be loaded as weights only, and that a call loads
        as far as can be told. Near files come first; where neither keys nor a path tell, only this file is asked.
        """
        for kept in self.checkpoints.kept:
            if self.checkpoints.likely(call, kept) is not False:  # a file mostly loads what it saves
                return kept.pickled
        told = self.checkpoints.told(call)
        for shown, text in self.project.mentioning("torch.save") if told else ():
            for kept in _kept(text) if any(each in text for each in told) else ():
                if self.checkpoints.likely(call, kept):
                    return replace(kept.pickled, file=shown)
        return None


def _saves(node: ast.AST, name: str) -> bool:
    """Whether a call saves to a file of a name."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "torch.save":
        return False
    places = [*node.args[1:2], *(each.value for each in node.keywords if each.arg == "f")]
    return any(isinstance(each, ast.Constant) and each.value == name for each in places)


@lru_cache(maxsize=256)
def _kept(text: str) -> list[Kept]:
    """As `Checkpoints.kept`, of another file."""
    tree = tree_of(text)
    return [] if tree is None else Checkpoints(tree).kept
