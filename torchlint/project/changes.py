"""
Which lines of a project have changed since a revision: asks git, and reads what it says.

Writes nothing; knows neither findings nor rules.
"""

from __future__ import annotations

import codecs
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchlint.config import ConfigError

_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")
_NAME = b"+++ "


@dataclass(frozen=True, slots=True)
class Changes:
    """
    What has changed.

    Attributes
    ----------
    lines
        Path without links → the lines that are new; None: all of them.
    """

    lines: Mapping[str, frozenset[int] | None]

    def of(self, path: str) -> frozenset[int] | None:
        """The new lines of a file; None: all of them. A file that has not changed has none."""
        return self.lines.get(os.path.realpath(path), frozenset())

    def touches(self, path: str) -> bool:
        """Whether a file has changed at all."""
        return os.path.realpath(path) in self.lines


def since(revision: str) -> Changes:
    """
    What differs between the working tree and the point where it left a revision: what is committed since, what is not
    yet, and files that git does not know and does not ignore.

    Where lines were removed, the lines before and after them count as changed.

    Raises
    ------
    ConfigError
        if there is no git, no repository here, or no such revision.
    """
    top = os.fsdecode(_git(os.curdir, "rev-parse", "--show-toplevel").rstrip(b"\n"))
    try:
        commit = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    except ConfigError:
        raise ConfigError(f"--since: git knows no revision `{revision}` here") from None
    try:
        start = _git(top, "merge-base", os.fsdecode(commit), "HEAD").strip()
    except ConfigError:  # histories that have nothing in common, or no commit yet
        start = commit
    difference = _git(
        top,
        *("-c", "core.quotePath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv"),
        *("--src-prefix=a/", "--dst-prefix=b/", "--diff-filter=d", os.fsdecode(start), "--"),
    )
    lines: dict[str, frozenset[int] | None] = {
        os.path.realpath(os.path.join(top, name)): numbers for name, numbers in changed_lines(difference)
    }
    unknown = _git(top, "ls-files", "--others", "--exclude-standard", "-z")
    for name in unknown.split(b"\0"):
        if name:
            lines[os.path.realpath(os.path.join(top, os.fsdecode(name)))] = None
    return Changes(lines)


def changed_lines(difference: bytes) -> Iterator[tuple[str, frozenset[int]]]:
    """The files of a unified diff without context, each with its new lines."""
    name: str | None = None
    numbers: set[int] = set()
    header = False
    for line in difference.split(b"\n"):
        if line.startswith(b"diff --git "):
            header = True
        elif header and line.startswith(_NAME):
            if name is not None:
                yield name, frozenset(numbers)
            name, numbers = _name(line), set()
        elif (hunk := _HUNK.match(line)) is not None:
            header = False
            start, count = int(hunk["start"]), int(hunk["count"] or 1)
            numbers.update(range(start, start + count) if count else (start, start + 1))
    if name is not None:
        yield name, frozenset(numbers)


def _name(line: bytes) -> str:
    name = line[len(_NAME) :].rstrip(b"\t\r")
    if name.startswith(b'"'):
        name = codecs.escape_decode(name[1:-1])[0]  # octal escapes, as in C
    return os.fsdecode(name)[2:]


def _git(directory: str, *arguments: str) -> bytes:
    try:
        ran = subprocess.run(["git", "-C", directory, *arguments], capture_output=True, check=False)
    except OSError as error:
        raise ConfigError(f"--since: git cannot be run: {error.strerror}") from error
    if ran.returncode:
        said = os.fsdecode(ran.stderr).strip().partition("\n")[0]
        raise ConfigError(f"--since: git says: {said or f'status {ran.returncode}'}")
    return ran.stdout
