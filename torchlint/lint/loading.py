"""
Which torch a file needs to be loaded at all, by the files of its project that it imports: where those cannot be loaded
nobody comes to what it does itself.

Told from Python's own trees, and only of what stands outside of all functions and branches. Judges nothing.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from torchlint.knowledge.api import find
from torchlint.lint.gates import imports_of, tree_of
from torchlint.lint.guards import Guards
from torchlint.project.index import ProjectIndex
from torchlint.syntax.mentions import lines_of, names_of, spelled
from torchlint.syntax.references import references
from torchlint.target import Release, Target

_NONE: Release = (0, 0)
_MOST_FILES = 40
_HOPS = 3
"""Files that import each other one after the other."""


def needed(tree: ast.Module, project: ProjectIndex, target: Target) -> Release:
    """
    The latest release that a file's imports ask for as it is loaded: names that the oldest of the target does not
    have, packages that only an extra brings which begins later; (0, 0) if they ask for none.
    """
    most, seen = _brought(tree, target), {project.module}
    nearest = _loaded(tree, project.module, project.is_package)
    for _ in range(_HOPS):
        further: set[str] = set()
        for module in sorted(nearest - seen):
            seen.add(module)
            text, is_package = project.source(module) if len(seen) < _MOST_FILES else ("", False)
            if "import" in text:
                release, imported = _of_text(text, module, is_package, target)
                most, further = max(most, release), further | imported
        nearest = frozenset(further)
    return most


def _loaded(tree: ast.Module, module: str, is_package: bool) -> frozenset[str]:
    """The modules that a file imports whenever it is loaded, with the packages that they are in, as far as known."""
    plain: list[ast.stmt] = [each for each in tree.body if isinstance(each, (ast.Import, ast.ImportFrom))]
    package = module.partition(".")[0]
    taken = {each for each in imports_of(ast.Module(plain, []), module, is_package) if each.startswith(f"{package}.")}
    return frozenset(taken | {above for each in taken for above in _packages(each)})


def _packages(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


@lru_cache(maxsize=128)
def _of_text(text: str, module: str, is_package: bool, target: Target) -> tuple[Release, frozenset[str]]:
    """What a file needs to be loaded: the latest release that a name came with, and the files that it imports."""
    tree = tree_of(text)
    if tree is None:
        return _NONE, frozenset()
    return max(_asked_by(tree, text, target), _brought(tree, target)), _loaded(tree, module, is_package)


def _brought(tree: ast.Module, target: Target) -> Release:
    """The release with which the packages can be had that a file imports whenever it is loaded."""
    if not target.extras:
        return _NONE
    plain = [each for each in tree.body if isinstance(each, (ast.Import, ast.ImportFrom))]
    names = [alias.name for each in plain if isinstance(each, ast.Import) for alias in each.names]
    names += [each.module for each in plain if isinstance(each, ast.ImportFrom) and each.module and not each.level]
    return target.needed_by({name.partition(".")[0].lower() for name in names})


def _asked_by(tree: ast.Module, text: str, target: Target) -> Release:
    """The latest release that came with a name which a file uses whenever it is loaded."""
    names = names_of(tree, find.PACKAGES)
    if not names:
        return _NONE
    watched = find.watched(target)
    said = spelled(text, names, find.Spelled(find.watched_anywhere(), text), find.beginnings())
    lines = None if said is None else lines_of(said, find.Spelled(watched, text))
    if lines == []:
        return _NONE
    guards = Guards(tree, _never, is_script=False)
    return max(
        (
            watched.too_new[each.name]
            for each in references(tree, watched, find.PACKAGES, lines, text=text)
            if each.name in watched.too_new
            and not (each.asked or each.inside or each.again or each.annotates)
            and find.importable(each.name.rpartition(".")[0]) is None
            and not guards.reached(each.node)
        ),
        default=_NONE,
    )


def _never(name: str) -> bool:
    return False
