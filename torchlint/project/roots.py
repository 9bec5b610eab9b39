"""
Where things are looked for: the imports of a file in its package and in the roots of its project, results in a project.

Looks at names on disk and opens no file; needs no libcst, because the cache asks too.
"""

from __future__ import annotations

import os

INSTALLED = frozenset({"site-packages", "dist-packages"})
MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
"""Names that a project's own directory holds one of."""
_PROJECT = ("pyproject.toml", "torchlint.toml", ".torchlint.toml", ".git")
_PACKAGE = ("__init__.py", "__init__.pyi")
"""Either makes a directory a package: of stubs, of what is compiled, there is only the second (PEP 561)."""
LOOKED_FOR = frozenset({*_PACKAGE, "src", *MARKS, *_PROJECT})
"""Names whose presence in a directory decides something for the files in it or below it."""


def package_root(directory: str) -> str:
    """The directory above the top-most package that a directory is in; itself if it is in none."""
    while _is_package(directory):
        above = os.path.dirname(directory)
        if above == directory:
            break
        directory = above
    return directory


def package_top(directory: str) -> str:
    """The outer-most package that a directory lies in, be it in a folder of that without an `__init__.py`."""
    root = package_root(directory)
    while os.path.basename(root) not in INSTALLED and _is_package(os.path.dirname(root)):
        root = package_root(os.path.dirname(root))
    return directory if root == directory else os.path.join(root, os.path.relpath(directory, root).split(os.sep)[0])


def distribution_root(package: str) -> str:
    """
    The directory of all that a directory is shipped with: of the outer-most package that it lies in, be it in a folder
    of that without an `__init__.py`; of a project; or below where packages are installed. Itself if it is in none.
    """
    found = current = package
    while os.path.basename(current) not in INSTALLED:
        if any(os.path.exists(os.path.join(current, mark)) for mark in MARKS):
            return current
        above = os.path.dirname(current)
        if above == current:
            return found
        if os.path.basename(above) in INSTALLED:
            return current
        current = above
        if _is_package(current):
            found = current
    return found


def _is_package(directory: str) -> bool:
    return any(os.path.isfile(os.path.join(directory, name)) for name in _PACKAGE)


def full_name(directory: str, module: str) -> str:
    """
    A module of a directory by its full name, where that, or a folder around it, is a package without an `__init__.py`
    (PEP 420): as from the outermost place where the project's imports begin. As it is given, of any other.
    """
    top = package_root(directory)
    outer = distribution_root(top)
    if outer == top or os.path.basename(outer) in INSTALLED:
        return module
    folders = os.path.relpath(top, package_root(outer)).split(os.sep)
    folders = folders[1:] if folders[0] == "src" else folders
    return ".".join([*folders, module]) if all(each.isidentifier() for each in folders) else module


def import_roots(directory: str, top: str) -> tuple[str, ...]:
    """Where imports of a file are looked for: as from its own directory, its package's, and the project's."""
    roots = [top] if top != directory else [directory]
    if directory != top:
        roots.append(directory)  # a file of a package that is run as a script
    project = top
    while not any(os.path.exists(os.path.join(project, mark)) for mark in MARKS):
        above = os.path.dirname(project)
        if above == project or os.path.basename(project) in INSTALLED:
            return tuple(roots)
        project = above
    for root in (project, os.path.join(project, "src")):
        if root not in roots and os.path.isdir(root):
            roots.append(root)
    return tuple(roots)


def location(path: str) -> str:
    """Where a file lies in its project, dotted: `tests.training.basic`, whether `tests` is a package or not."""
    path = os.path.abspath(path)
    directory = os.path.dirname(path)
    inside = os.path.relpath(path, os.path.commonpath(import_roots(directory, package_root(directory))))
    return ".".join(inside.rpartition(".")[0].split(os.sep))


def above_folder(directory: str, name: str) -> str:
    """
    The directory above the nearest folder of a name that a directory is, or is in; "" if it is in none.

    What begins with that name is imported from there, whether the folder has an `__init__.py` or not (PEP 420).
    """
    while name in directory:  # few of the names that a file imports are those of a folder around it
        above, folder = os.path.split(directory)
        if not folder or folder in INSTALLED:
            return ""
        if folder == name:
            return above
        directory = above
    return ""


def project(directory: str) -> str:
    """The nearest directory, from one upwards, that is a project's; itself if there is none."""
    current = directory
    while not any(os.path.exists(os.path.join(current, mark)) for mark in _PROJECT):
        above = os.path.dirname(current)
        if above == current:
            return directory
        current = above
    return current
