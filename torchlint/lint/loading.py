"""
Which torch a file needs to be loaded at all, by the files of its project that it imports: where those cannot be loaded
nobody comes to what it does itself.

Told from Python's own trees, and only of what stands outside of all functions and branches. Judges nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from torchlint.knowledge.api import find
from torchlint.lint.gates import imports_of, tree_of
from torchlint.lint.guards import Guards
from torchlint.project.index import ProjectIndex
from torchlint.syntax.mentions import lines_of, names_of, spelled, statements
from torchlint.syntax.references import references
from torchlint.target import Release, Target

_NONE: Release = (0, 0)
_MOST_FILES = 40
_HOPS = 3
"""Files that import each other one after the other."""
_LATER = 1 << 60
"""A line that is behind every file's last."""


class _Loaded(NamedTuple):
    """
    What a file does as it is loaded.

    Attributes
    ----------
    needs
        The latest release that a name came with which it uses.
    first
        Likewise, before it imports anything of its own package.
    imports
        The modules of its own package that it imports, with the packages that these are in, and the line of each first.
    """

    needs: Release
    first: Release
    imports: dict[str, int]


def needed(tree: ast.Module, project: ProjectIndex, target: Target) -> Callable[[int], Release]:
    """
    Says the latest release that the other files ask for which are loaded with a file, those that it imports and the
    packages that it is in: names that the oldest of the target does not have, packages that only an extra brings which
    begins later; (0, 0) if they ask for none. Of what the file does itself on a line as it is loaded, where they fail
    before; of 0, of what it does afterwards.

    Of two files that import each other one fails first, and is the one to be told of.
    """
    own, brought = project.module, _brought(tree, target, _LATER)
    above = _packages(own)
    imports = _imports(tree, own, project.is_package)
    files = _read(project, {*imports, *above}, target)

    def after(start: str) -> Release:
        """What the loading of a module asks for before the file itself does."""
        reached = _reached(files, {start})
        needs = [_NONE]
        for module in reached:
            back = own in _reached(files, {module}) and own not in _packages(module)
            needs.append(files[module].first if back else files[module].needs)
        return max(needs)

    def met(line: int) -> Release:
        if not line:
            return max((brought, *(files[each].needs for each in files)))
        before = [brought, *(files[each].first for each in above if each in files)]
        before += [after(module) for module, at in imports.items() if at < line and module not in above]
        return max(before)

    return cache(met)


def _read(project: ProjectIndex, nearest: Collection[str], target: Target) -> dict[str, _Loaded]:
    """The files of some modules, and those that they import, as far as they are looked into."""
    files: dict[str, _Loaded] = {}
    seen = {project.module}
    for _ in range(_HOPS):
        further: set[str] = set()
        for module in sorted(set(nearest) - seen):
            seen.add(module)
            text, is_package = project.source(module) if len(seen) < _MOST_FILES else ("", False)
            if "import" in text:
                files[module] = _of_text(text, module, is_package, target)
                further.update(files[module].imports)
        nearest = further
    return files


def _reached(files: Mapping[str, _Loaded], start: set[str]) -> set[str]:
    """Modules, and those that are loaded with them; of those that are looked into."""
    found, pending = set[str](), list(start)
    while pending:
        module = pending.pop()
        if module not in found and module in files:
            found.add(module)
            pending.extend(files[module].imports)
    return found


def _imports(tree: ast.Module, module: str, is_package: bool) -> dict[str, int]:
    """As `_Loaded.imports`."""
    package = module.partition(".")[0]
    found: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            taken = imports_of(ast.Module([node], []), module, is_package)
            for each in taken:
                for full in (each, *_packages(each)) if each.startswith(f"{package}.") else ():
                    found.setdefault(full, node.lineno)
    return found


def _packages(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


@lru_cache(maxsize=128)
def _of_text(text: str, module: str, is_package: bool, target: Target) -> _Loaded:
    """What a file needs to be loaded, and which files it imports."""
    tree = tree_of(text)
    if tree is None:
        return _Loaded(_NONE, _NONE, {})
    imports, asked = _imports(tree, module, is_package), _asked_by(tree, text, target)
    first = min(imports.values(), default=_LATER)
    early = [since for line, since in asked if line < first]
    needs = max([since for _, since in asked], default=_NONE)
    return _Loaded(
        max(needs, _brought(tree, target, _LATER)),
        max(_brought(tree, target, first), *early, _NONE),
        imports,
    )


def _brought(tree: ast.Module, target: Target, end: int) -> Release:
    """The release with which the packages can be had that a file imports, before a line, whenever it is loaded."""
    if not target.extras:
        return _NONE
    plain = [each for each in tree.body if isinstance(each, (ast.Import, ast.ImportFrom)) and each.lineno < end]
    names = [alias.name for each in plain if isinstance(each, ast.Import) for alias in each.names]
    names += [each.module for each in plain if isinstance(each, ast.ImportFrom) and each.module and not each.level]
    return target.needed_by({name.partition(".")[0].lower() for name in names})


def _asked_by(tree: ast.Module, text: str, target: Target) -> list[tuple[int, Release]]:
    """The lines on which a file uses, whenever it is loaded, names that came later; and the releases of these."""
    names = names_of(statements(tree), find.PACKAGES)
    if not names:
        return []
    watched = find.watched(target)
    said = spelled(text, names, find.Spelled(find.watched_anywhere(), text), find.beginnings())
    lines = None if said is None else lines_of(said, find.Spelled(watched, text))
    if lines == []:
        return []
    guards = Guards(tree, _never, is_script=False)
    return [
        (each.node.lineno, watched.too_new[each.name])
        for each in references(tree, watched, find.PACKAGES, lines, text=text)
        if each.name in watched.too_new
        and not (each.asked or each.inside or each.again or each.annotates)
        and find.importable(each.name.rpartition(".")[0]) is None
        and not guards.reached(each.node)
    ]


def _never(name: str) -> bool:
    return False
