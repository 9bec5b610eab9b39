"""
What a result depends on beside files and configuration: torchlint itself, its rules, plugins, libcst, Python.

Two descriptions of the same: the stamp of `installed`, from names, sizes and times, which every run
takes, and a `Fingerprint` from contents and versions, taken anew when the stamp is not known. Neither loads a rule.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torchlint
from torchlint.cache.stamp import below, may_have_entry_points, own_files

RULES = "torchlint.rules"
"""The entry point group of other people's rules, and the package of torchlint's own."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """
    What torchlint consists of here.

    Attributes
    ----------
    text
        Equal where everything that makes findings is equal, on whatever machine.
    plugins
        The files of the plugins among it, each with its stamp.
    """

    text: str
    plugins: tuple[tuple[str, str], ...]

    def holds(self) -> bool:
        """Whether the plugins' files are still as they were."""
        return all(_file_stamp(path) == stamp for path, stamp in self.plugins)


def take(plugins: tuple[str, ...]) -> Fingerprint | None:
    """The fingerprint; None if a plugin is not where its module could be found."""
    import hashlib
    import importlib.metadata

    content = hashlib.sha256()
    for name, path, _ in own_files():
        content.update(f"{name}\0".encode())
        content.update(Path(path).read_bytes())
    parts = [torchlint.__version__, content.hexdigest(), sys.version, "libcst " + _version("libcst")]
    modules = list(plugins)
    entries = importlib.metadata.entry_points(group=RULES) if may_have_entry_points(RULES) else ()
    for entry in sorted(entries, key=lambda entry: (entry.name, entry.value)):
        parts.append(f"{entry.name} {entry.value} {entry.dist.version if entry.dist else ''}")
        modules.append(entry.value)
    files: list[tuple[str, str]] = []
    for module in modules:
        found = _files_of(module.partition(":")[0].partition(".")[0])
        if not found:
            return None
        for path in found:
            files.append((path, _file_stamp(path)))
            try:
                parts.append(f"{module} {hashlib.sha256(Path(path).read_bytes()).hexdigest()}")
            except OSError:
                return None
    return Fingerprint("\n".join(parts), tuple(files))


def _files_of(top: str) -> list[str]:
    """The source files of a top-level module or package, without importing it."""
    import importlib.util

    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    folders: Iterable[str] = spec.submodule_search_locations or ()
    inside = [path for folder in folders for _, path, _ in below(folder, top)]
    return inside or ([spec.origin] if spec.origin and os.path.isfile(spec.origin) else [])


def _version(distribution: str) -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:  # a copy on the path: its files are not looked at
        return ""


def _file_stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return f"{status.st_mtime_ns} {status.st_size}"
