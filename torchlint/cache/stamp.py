"""
What is installed here, by names, sizes and times: torchlint's own files, and where Python imports from.

Every run asks this, so it loads nothing that Python has not loaded at its own start; contents are
the business of `fingerprint`.
"""

from __future__ import annotations

import os
import sys

import torchlint

TYPE_CHECKING = False  # that of `typing` costs as much as all else here
if TYPE_CHECKING:
    from collections.abc import Iterator

APART = ("torchlint/optable/", "torchlint/sanitizer/", "torchlint/verify/")
"""Folders without influence on what is found and how it is shown; what torch says of findings is not kept."""


def stamp(plugins: tuple[str, ...]) -> str:
    """
    Changes whenever torchlint's own files do, a package is installed or removed, or others are to be imported.

    Parameters
    ----------
    plugins
        Modules from the configuration key `plugins`.
    """
    own = [f"{name} {status.st_mtime_ns} {status.st_size}" for name, _, status in own_files()]
    return "\n".join((around(), *plugins, "", *own))


def around() -> str:
    """The part of it that is not torchlint's own files: Python, and where it imports from."""
    # whoever installs or removes a distribution makes or removes a directory there
    path = [f"{entry} {_mtime(entry or os.curdir)}" for entry in sys.path]
    return "\n".join((torchlint.__version__, sys.version, *path, ""))


def own_files() -> Iterator[tuple[str, str, os.stat_result]]:
    """Name, path and status of torchlint's files of code and data; in a checkout the rules lie beside it."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield from below(package, "torchlint")
    if not os.path.isdir(os.path.join(package, "rules")):
        yield from below(os.path.join(os.path.dirname(package), "rules"), "torchlint/rules")


def own_paths() -> set[str]:
    """Those files that may decide what a run says, and the directories they are in, whose times tell of others."""
    files = {path for name, path, _ in own_files() if not name.startswith(APART)}
    return files | {os.path.dirname(path) for path in files}


def below(directory: str, name: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """The same for the files of code and data below a directory that is called so."""
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith((".py", ".json")):
            yield f"{name}/{entry.name}", entry.path, entry.stat()
        elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
            yield from below(entry.path, f"{name}/{entry.name}")


def may_have_entry_points(group: str) -> bool:
    """
    Whether some installed distribution may have entry points of a group.

    `importlib.metadata` says which, and takes longer to load than everything else that is asked here; in most
    environments there are none. Where distributions may be found in another way than in a directory on the path (an
    archive, an egg, somebody's finder), the answer is yes.
    """
    if any(hasattr(finder, "find_distributions") and not _is_usual(finder) for finder in sys.meta_path):
        return True
    wanted = group.encode()
    for entry in sys.path:
        directory = entry or os.curdir
        if directory.lower().endswith(".egg") or os.path.isfile(directory):
            return True
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        for name in names:
            if name.lower().endswith((".dist-info", ".egg-info")):
                try:
                    with open(os.path.join(directory, name, "entry_points.txt"), "rb") as file:
                        if wanted in file.read():
                            return True
                except OSError:  # most have none
                    continue
    return False


def _is_usual(finder: object) -> bool:
    """Whether it is Python's own finder of modules on the path."""
    return getattr(finder, "__module__", "") == "_frozen_importlib_external"


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
