"""
Which distribution a directory was shipped in: by what that lists of its own files, not by what lies around.

A bundled checkout has metadata of its own, by which nothing is installed. Reads names and lists of files; knows nothing
of torch.
"""

from __future__ import annotations

import configparser
import os
import re

from torchlint.project.stated import field, toml

_NAMED = re.compile(r"\bname\s*=\s*[\"']([^\"']+)[\"']")
_UNKNOWN = "?"


def shipping(directory: str, top: str) -> str | None:
    """
    Where the nearest distribution was unpacked that installs files in a directory below: a wheel whose `RECORD` lists
    some, or a source distribution in one of whose packages (`top_level.txt`) it lies. None if there is none, or if the
    search ends before: at a repository's own directory.

    Parameters
    ----------
    directory
        The files are in it.
    top
        Nothing up to this one is asked: a project's own directory.
    """
    current = top
    while not os.path.exists(os.path.join(current, ".git")):
        above = os.path.dirname(current)
        if above == current:
            return None
        current = above
        inside = os.path.relpath(directory, current).replace(os.sep, "/")
        if _installs(current, inside):
            return current
    return None


def called(directory: str, wheels: tuple[str, ...] = ()) -> frozenset[str]:
    """
    What a project in a directory is called, normalized (PEP 503): by its own files, and by metadata of wheels there.
    "?" stands for a name that is not written out.
    """
    found: set[str] = set()
    for file in ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO", *wheels):
        text = _read(os.path.join(directory, *file.split("/")))
        name = _named(file, text) if text is not None else ""
        found |= {re.sub(r"[-_.]+", "-", name).lower()} if name else set()
    if len(found) > 1:
        found.discard(_UNKNOWN)
    return frozenset(found)


def _named(file: str, text: str) -> str:
    """The name that a file gives its project; "" if it is none of a project (only tools are configured in it)."""
    if file.endswith(("METADATA", "PKG-INFO")):
        return field(text, "name")
    if file == "setup.py":
        found = _NAMED.search(text)
        return found[1] if found is not None else _UNKNOWN
    try:
        if file == "setup.cfg":
            parser = configparser.ConfigParser(interpolation=None)
            parser.read_string(text)
            return parser.get("metadata", "name", fallback="")
        table = toml(text)
        project = table.get("project") or table.get("tool", {}).get("poetry") or {}
        return str(project.get("name", ""))
    except (ValueError, AttributeError, configparser.Error):
        return _UNKNOWN


def _installs(directory: str, inside: str) -> bool:
    """Whether a distribution unpacked in a directory installs what is in another one inside it."""
    try:
        entries = os.listdir(directory)
    except OSError:
        return False
    records = (_read(os.path.join(directory, each, "RECORD")) for each in entries if each.endswith(".dist-info"))
    if any(record is not None and f"\n{inside}/" in f"\n{record}" for record in records):
        return True
    return "PKG-INFO" in entries and any(f"{inside}/".startswith(f"{each}/") for each in _tops(directory))


def _tops(directory: str) -> list[str]:
    """Where the packages lie that a source distribution installs."""
    found = []
    for source in ("", "src/"):
        folder = os.path.join(directory, source)
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            listed = _read(os.path.join(folder, entry, "top_level.txt")) if entry.endswith(".egg-info") else None
            found += [f"{source}{each}" for each in (listed or "").split()]
    return found


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None
