"""
The other files of a project that hold a word: near ones first, and no more than a few hundred of them.

Reads files and remembers them for the whole process; knows nothing of what is in them, and judges nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from torchlint.project.roots import INSTALLED
from torchlint.results import digest

MOST_FILES = 400
"""Files that are looked into for the sake of one."""
MOST_BYTES = 1_000_000
"""Of a file that is looked into."""


class TooManyFilesError(Exception):
    """There are more files than are looked into."""


class Neighbour(NamedTuple):
    """
    Another file of a project.

    Attributes
    ----------
    path
        The file.
    digest
        Of what is in it.
    text
        What is in it, if that holds the word; else "".
    """

    path: str
    digest: str
    text: str


def mentioning(path: str, top: str, word: str, all_of_them: bool = False) -> Iterator[Neighbour]:
    """
    The files around one.

    Parameters
    ----------
    path
        The file itself, which is left out.
    top
        The directory of its package; of a file in none, its own.
    word
        What is looked for.
    all_of_them
        Whoever asks wants to know of all: no end is made without an error, and what lies below scripts counts.

    Raises
    ------
    TooManyFilesError
        if all are wanted and there are more than are looked into.
    """
    count = 0
    for other in _near(os.path.dirname(path), top, all_of_them):
        if other == path:
            continue
        if count >= MOST_FILES:
            if all_of_them:
                raise TooManyFilesError
            return
        found = _read(other, word)
        if found is not None:
            yield found
        count += 1


def _near(directory: str, top: str, all_of_them: bool) -> Iterator[str]:
    """The Python files of a directory, then those above it and below these, up to a directory."""
    done: set[str] = set()
    current = directory
    while True:
        for where, below, names in os.walk(current):
            below[:] = sorted(
                each
                for each in below
                if os.path.join(where, each) not in done and each[:1] != "." and each not in INSTALLED
            )
            if where in done:
                continue
            done.add(where)
            yield from (os.path.join(where, name) for name in sorted(names) if name.endswith(".py"))
            if directory == top and not all_of_them and not os.path.isfile(os.path.join(top, "__init__.py")):
                return  # scripts: whatever is below them may be anything
        if current == top or len(current) <= len(top):
            return
        current = os.path.dirname(current)


def _read(path: str, word: str) -> Neighbour | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _kept(path, word, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4096)
def _kept(path: str, word: str, written: int, size: int) -> Neighbour | None:
    """A file as it was when it was last written."""
    if size > MOST_BYTES:
        return None
    try:
        data = Path(path).read_bytes()
    except OSError:
        return None
    text = data.decode("utf-8", errors="replace") if word.encode() in data else ""
    return Neighbour(path, digest(data), text)
