"""
What a run looked at and what it said, written down for `replay`.

Only runs that found every result in the cache are written down: what a result rests on is known there.
Everything that is written was still, and had been for a while, when the run began: what changed while it ran is not
taken for what it saw. Whatever is in the way means that nothing is written, and is never an error.
"""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from torchlint.cache.replay import ANSWER, CODING, Asked, look
from torchlint.cache.results import SETTLED, Cache
from torchlint.cache.stamp import own_paths
from torchlint.config import NAMES
from torchlint.project.files import Found
from torchlint.project.roots import LOOKED_FOR

READ = frozenset({*NAMES, ".gitignore"})
"""Names of files in a directory whose content decides something for the files in it or below it."""
MOST_BYTES = 8_000_000
"""Size of an answer above which it is not kept."""
MOST = 20
"""Answers that are kept; the oldest are given up."""
_TICK = 100_000_000
"""Nanoseconds that no clock of a file system with fractions of a second is behind."""
_SECOND = 1_000_000_000


def keep(
    asked: Asked,
    found: Found,
    store: Cache,
    text: str,
    status: int,
    notes: str = "",
    also: Iterable[str] = (),
) -> None:
    """
    Write down an answer.

    Parameters
    ----------
    asked
        What was asked for, made before the run.
    found
        The files of the run.
    store
        The cache, which has told the results of all of them.
    text, status, notes
        What was printed, the exit status, and what was printed to standard error.
    also
        Other files that decided something.
    """
    if found.missing or found.refused or found.unreadable or found.empty or store.answered != len(found.files):
        return
    if os.path.dirname(asked.folder) != os.fspath(store.directory):
        return
    with suppress(OSError, ValueError):  # no permission, a full disk; a name or a text that cannot be written
        seen = _seen(asked, found, store, also)
        if seen is None:
            return
        in_vain, single = _in_vain(asked, [path for path, told in seen.items() if not told])
        pairs = [part for path, told in seen.items() if told or path in single for part in (path, told)]
        parts = ["\0".join(pairs).encode(*CODING), "\0".join(in_vain).encode(*CODING), notes.encode("utf-8")]
        head = f"{len(asked.key)} {' '.join(str(len(part)) for part in parts)} {status}\n".encode("ascii")
        content = b"".join((head, asked.key, *parts, text.encode("utf-8")))
        if len(content) > MOST_BYTES:
            return
        os.makedirs(asked.folder, exist_ok=True)
        beside = f"{asked.file}.{os.getpid()}"
        try:
            with open(beside, "wb") as file:
                file.write(f"{crc32(content)}\n".encode("ascii"))
                file.write(content)
            os.replace(beside, asked.file)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)
            raise
        _bound(asked.folder)


def _bound(folder: str) -> None:
    """Give up the oldest answers, and what runs that were killed have left."""
    kept = sorted(Path(folder).glob(f"*{ANSWER}*"), key=lambda path: path.stat().st_mtime_ns)
    for path in kept[:-MOST]:
        path.unlink(missing_ok=True)


def _seen(asked: Asked, found: Found, store: Cache, also: Iterable[str]) -> dict[str, str] | None:
    """Every path that the run looked at with what is there; None if it may have been something else for the run."""
    searched = {os.path.abspath(path) for path in found.directories}
    seen: dict[str, str] = {}
    for path, stamp in store.looked_at():
        told = look(path, True)
        if (stamp is None) != (not told):
            return None
        if stamp is not None and told.split()[::2] != [str(stamp.mtime), str(stamp.size)]:
            return None
        if stamp is not None or not _told_by_directory(path, searched):
            seen[path] = told
    for path in (*found.directories, *found.beside, *store.plugin_files, *also, *own_paths()):
        seen[path] = look(path, True)
    if not all(_still(told, asked.started, SETTLED) for told in seen.values()):
        return None
    around = _upwards({os.path.dirname(os.path.abspath(path)) for path in found.files} | searched)
    for directory in around:
        if directory not in searched and not _still(look(directory, True), asked.started, _TICK):
            return None
        for name in READ | LOOKED_FOR:
            path = os.path.join(directory, name)
            told = look(path, name in READ)
            if not told and os.path.lexists(path):  # a link that leads nowhere is there, and is not
                return None
            if not _still(told, asked.started, SETTLED):
                return None
            if told or directory not in searched:
                seen.setdefault(path, told)
    return seen


def _told_by_directory(path: str, searched: set[str]) -> bool:
    """Whether the time of a directory that was searched would tell that something is there now."""
    while not os.path.lexists(path):
        path, below = os.path.dirname(path), path
        if path in searched:
            return True
        if path == below:
            break
    return False


def _in_vain(asked: Asked, paths: Iterable[str]) -> tuple[list[str], set[str]]:
    """
    What is not there, by the nearest directory that is: what `replay.absent` asks for; and what no directory tells of.

    The time of a directory tells when it got a name that it did not have, and not when a link leads somewhere again.
    """
    by_directory: dict[str, dict[str, list[str]]] = {}
    single: set[str] = set()
    for path in paths:
        above, name = path, ""
        while name != above and not os.path.lexists(above):
            above, name = os.path.split(above)
        if name and os.path.isdir(above):
            by_directory.setdefault(above, {}).setdefault(name, []).append(path)
        else:
            single.add(path)
    parts: list[str] = []
    for directory, names in by_directory.items():
        told = look(directory, True)
        if len(names) > 1 and _still(told, asked.started, SETTLED):
            parts += (directory, told, "/".join(names))
        else:
            single.update(path for named in names.values() for path in named)
    return parts, single


def _upwards(directories: set[str]) -> Iterator[str]:
    """These and all above them, as they are named and as they are where links lead."""
    done: set[str] = set()
    for directory in directories:
        for current in (directory, os.path.realpath(directory)):
            while current not in done:
                yield current
                done.add(current)
                current = os.path.dirname(current)


def _still(told: str, started: int, long: int) -> bool:
    """Whether what `look` said of a path closely had not changed for a while when the run began."""
    if " " not in told:
        return True
    written, changed, *_ = map(int, told.split())
    last = max(written, changed)
    return started - last > (long if last % _SECOND else SETTLED)
