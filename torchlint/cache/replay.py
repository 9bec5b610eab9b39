"""
The answer of an earlier run, given again when nothing that it looked at has changed since.

A run is a function of its arguments, of torchlint itself, and of the files and directories it looks at.
`recording` writes all of these down with what was printed; here they are compared with what is there now, file by file
and without opening one. Whatever is not as it was, or cannot be read, means no answer: the run takes place. Loads
nothing that Python has not loaded at its own start: this is what a commit hook waits for when nothing has changed.
"""

from __future__ import annotations

import os
import sys
import time
from binascii import crc32

from torchlint.cache import stamp
from torchlint.project import roots

TYPE_CHECKING = False  # that of `typing` costs as much as all else here
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

FORMAT = 3
"""Raised whenever the form of what is written changes."""
FOLDER = "answers"
"""Where the answers are, in the folder of the cache."""
ANSWER = ".torchlint"
"""How the name of an answer ends: the folder may be somebody else's too."""
CACHE = ".torchlint_cache"
"""The folder of the cache, in the project's."""
CACHE_VARIABLE = "TORCHLINT_CACHE_DIR"
"""The variable of the environment that names another."""
CODING = ("utf-8", "surrogateescape")
"""How names of files are written: any that the system has."""
_COMPLETION = "_TORCHLINT_COMPLETE"
_NEVER = ("--stdin-filename", "--executor", "--since", "--watch", "--add-noqa", "--write-baseline")
"""Options whose answer does not follow from the files that are looked at."""


class Asked:
    """
    What a process was asked to do, before anything else is looked at.

    Attributes
    ----------
    arguments
        The command line without the program's name.
    started
        The time, in nanoseconds.
    key
        All that an answer depends on beside files and directories.
    folder
        Where answers are.
    file
        Where the answer to this is, if it is known.
    """

    __slots__ = ("arguments", "file", "folder", "key", "started")

    def __init__(self, arguments: Sequence[str]) -> None:
        self.started = time.time_ns()
        self.arguments = tuple(arguments)
        here = os.getcwd()
        said = "\0".join((here, str(wants_color(sys.stdout)), *self.arguments)).encode(*CODING)
        made_by = f"{FORMAT}\0{stamp.around()}\0".encode(*CODING)
        self.key = made_by + said
        self.folder = os.path.join(cache_folder(_named(self.arguments), here)[0], FOLDER)
        self.file = os.path.join(self.folder, f"{crc32(said):08x}{ANSWER}")


def asked(arguments: Sequence[str]) -> Asked | None:
    """What was asked for, if it is something whose answer may be known."""
    if not arguments or arguments[0] != "check" or "-" in arguments or _COMPLETION in os.environ:
        return None
    if any(argument.startswith(_NEVER) for argument in arguments):
        return None  # what is read, and who is to answer, is not known from here
    said = " ".join(arguments)
    if sys.stdout is None or (
        os.name == "nt" and ("--color" in said or wants_color(sys.stdout))
    ):  # there, click paints in another way
        return None
    try:
        return Asked(arguments)
    except (OSError, ValueError):  # nobody is in a directory that is gone; the run says what is wrong
        return None


def answered(asked: Asked) -> int | None:
    """
    Print the answer.

    Returns
    -------
    int or None
        The exit status; None, and nothing is printed, if the answer is not known.
    """
    try:
        with open(asked.file, "rb") as file:
            checksum, _, content = file.read().partition(b"\n")
        if crc32(content) != int(checksum):
            return None
        head, _, rest = content.partition(b"\n")
        key, looked_at, in_vain, told, status = map(int, head.split())
        if rest[:key] != asked.key:
            return None
        vain, notes_at, text_at = key + looked_at, key + looked_at + in_vain, key + looked_at + in_vain + told
        if not (unchanged(_parts(rest[key:vain])) and absent(_parts(rest[vain:notes_at]))):
            return None
        notes = rest[notes_at:text_at].decode("utf-8")
        text = rest[text_at:].decode("utf-8")
    except (OSError, ValueError):
        return None
    if notes and sys.stderr is not None:
        sys.stderr.write(notes)
    _print(text)
    return status


def unchanged(seen: Sequence[str]) -> bool:
    """
    Whether everything is as it was.

    Parameters
    ----------
    seen
        Paths, each followed by what `look` said of it.
    """
    each = iter(seen)
    return all(look(path, " " in before) == before for path, before in zip(each, each, strict=True))


def absent(names: Sequence[str]) -> bool:
    """
    Whether nothing is there of what was looked for in vain.

    Parameters
    ----------
    names
        Directories, each followed by what `look` said of it and by the names that it did not have, with `/` in between.
        While the directory is as it was it has none of them, whatever their number; else they are looked for.
    """
    each = iter(names)
    for directory, before, those in zip(each, each, each, strict=True):
        if look(directory, True) != before and any(
            look(os.path.join(directory, name), False) for name in those.split("/")
        ):
            return False
    return True


def _parts(text: bytes) -> list[str]:
    return text.decode(*CODING).split("\0") if text else []


def look(path: str, closely: bool) -> str:
    """
    What the file system says of a path.

    Parameters
    ----------
    path
        A file or a directory; a symbolic link stands for what it leads to.
    closely
        Whether its content matters, and not only what kind of thing it is.

    Returns
    -------
    str
        Empty if there is nothing; the kind; or, with blanks in between, when it was written and when anything of it was
        changed, its size and its inode: all that git looks at, too.
    """
    try:
        status = os.stat(path)
    except OSError:
        return ""
    if closely:
        return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"
    return str(status.st_mode >> 12)


def wants_color(stream: IO[str]) -> bool:
    """https://no-color.org and https://force-color.org, else whether somebody looks."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def cache_folder(named: str | None, here: str) -> tuple[str, str | None]:
    """
    The folder of the cache: one that was named, else that of the project around a directory.

    Returns
    -------
    tuple
        The folder, and the project's, if it is in that.
    """
    if named is not None:
        return os.path.join(here, named), None
    project = roots.project(here)
    return os.path.join(project, CACHE), project


def _named(arguments: Sequence[str]) -> str | None:
    """The folder that the command line or the environment names; a mistake here means that no answer is found."""
    for number, argument in enumerate(arguments):
        if argument == "--cache-dir":
            return arguments[number + 1] if number + 1 < len(arguments) else None
        if argument.startswith("--cache-dir="):
            return argument.partition("=")[2]
    return os.environ.get(CACHE_VARIABLE) or None


def _print(text: str) -> None:
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    sys.stdout.write(text)
    sys.stdout.flush()
