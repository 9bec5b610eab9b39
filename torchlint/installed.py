"""
What is installed here, by names, sizes and times: torchlint's own files, and where Python imports from.

Driver group. Every run asks this first, so it loads nothing that Python has not loaded at its own start; contents are
the business of `fingerprint`.
"""

from __future__ import annotations

import os
import sys

import torchlint

TYPE_CHECKING = False  # that of `typing` costs as much as all else here
if TYPE_CHECKING:
    from collections.abc import Iterator


def stamp(plugins: tuple[str, ...]) -> str:
    """
    Changes whenever torchlint's own files do, a package is installed or removed, or others are to be imported.

    Parameters
    ----------
    plugins
        Modules from the configuration key `plugins`.
    """
    own = [f"{name} {status.st_mtime_ns} {status.st_size}" for name, _, status in own_files()]
    # whoever installs or removes a distribution makes or removes a directory there
    path = [f"{entry} {_mtime(entry or os.curdir)}" for entry in sys.path]
    return "\n".join((torchlint.__version__, sys.version, *plugins, "", *own, "", *path))


def own_files() -> Iterator[tuple[str, str, os.stat_result]]:
    """Name, path and status of torchlint's files of code and data; in a checkout the rules lie beside it."""
    package = os.path.dirname(os.path.abspath(__file__))
    yield from below(package, "torchlint")
    if not os.path.isdir(os.path.join(package, "rules")):
        yield from below(os.path.join(os.path.dirname(package), "rules"), "torchlint/rules")


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


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
