"""
The files of a run: what the paths on the command line stand for.

Honours `.gitignore` and the configuration, opens no Python file, prints nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchlint import config
from torchlint.record import record

if TYPE_CHECKING:
    import pathspec

SUFFIXES = (".py", ".pyi", ".ipynb")
DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""What an open file of this process is called."""
USUAL_EXCLUDES = (
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d", ".pytest_cache",
    ".pytype", ".ruff_cache", ".svn", ".torchlint_cache", ".tox", ".venv", ".vscode", "__pycache__", "__pypackages__",
    "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip
"""Left out unless `exclude` says otherwise; a directory with a `VENV_MARK` is left out too."""
VENV_MARK = "pyvenv.cfg"


@dataclass(slots=True)
class Found:
    """
    The files of a run.

    Attributes
    ----------
    files
        Python files and notebooks in a stable order, each once.
    missing
        Paths given by the user that do not exist.
    refused
        Files given by the user that cannot be checked, each with the reason.
    unreadable
        Directories that may not be listed, each with the reason.
    empty
        Directories given by the user without any Python file that is not excluded.
    directories
        All that were searched.
    beside
        Paths that might have been searched or found if they were something else than they are, of which the directories
        they are in do not tell: where links lead, marks in directories that were not searched.
    """

    files: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)


def find_files(
    paths: Iterable[str],
    *,
    exclude_named: bool = False,
    overrides: config.Overrides = config.Overrides(),  # noqa: B008  (frozen)
    configured: Callable[[Path], config.Config] = config.for_directory,
) -> Found:
    """
    The Python files that paths stand for: a file is itself whatever it is called, a directory is searched.

    Parameters
    ----------
    paths
        Files and directories.
    exclude_named
        Leave out what the configuration excludes though it is named here. What git ignores is not meant.
    overrides
        What the command line says of exclusions on top.
    configured
        The configuration of a directory.

    Raises
    ------
    torchlint.config.ConfigError
        from the configuration of a directory.
    """
    found = Found()
    excluded = _Excluded(overrides, configured)
    seen: dict[str, str] = {}
    paths = list(paths)
    known = os.path.abspath if len(paths) > 1 else str  # of one directory no file is found twice
    for path in paths:
        path = os.path.normpath(path)
        if not os.path.lexists(path):
            found.missing.append(path)
        elif exclude_named and excluded.named(path):
            continue
        elif os.path.isdir(path):
            inside = list(_walk(path, _Ignored.above(path), excluded, found))
            for file in inside:
                seen.setdefault(known(file), file)
            if not inside:
                found.empty.append(path)
        elif reason := _refused(path):
            found.refused.append((path, reason))
        else:
            seen.setdefault(known(path), path)
    found.files = list(seen.values())
    return found


def _refused(path: str) -> str:
    """Why a file that was named cannot be checked; of one that cannot be looked at, whoever reads it says so."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return ""
    # a shell's <(command) is a pipe with somebody at its other end
    return "" if stat.S_ISREG(mode) or path.startswith(DESCRIPTORS) else "not a regular file"


@record(frozen=True)
class _Excluded:
    """What the configurations of directories and the command line leave out."""

    overrides: config.Overrides
    configured: Callable[[Path], config.Config]

    def named(self, path: str) -> bool:
        """Whether a path is left out, or a directory that it is in, from the working directory on."""
        whole = os.path.abspath(path)
        here = os.getcwd()
        settings = self.configured(Path(os.path.dirname(whole)))
        top = here if whole.startswith(os.path.join(here, "")) else str(settings.root or os.path.dirname(whole))
        if not whole.startswith(os.path.join(top, "")):
            return False
        current = top
        for name in os.path.relpath(whole, top).split(os.sep):
            own = self.configured(Path(current))
            current = os.path.join(current, name)
            if self.covers(name, current, os.path.isdir(current), own):
                return True
        return False

    def covers(self, name: str, path: str, is_directory: bool, own: config.Config) -> bool:
        """Whether an entry of a directory with a configuration is left out."""
        instead = self.overrides.exclude
        if own.exclude is None and instead is None and is_directory and name in USUAL_EXCLUDES:
            return True
        patterns = ((own.exclude or ()) if instead is None else ()) + own.extend_exclude
        if matched(path, patterns, own.root, is_directory=is_directory):
            return True
        patterns = (instead or ()) + self.overrides.extend_exclude
        return matched(path, patterns, self.overrides.root, is_directory=is_directory)


def matched(path: str, patterns: tuple[str, ...], root: Path | None, *, is_directory: bool = False) -> bool:
    """Whether patterns as in `.gitignore`, relative to a directory, match a path; symbolic links are resolved."""
    if not patterns or root is None:
        return False
    relative = Path(os.path.relpath(os.path.realpath(path), root)).as_posix()
    return _spec(patterns).match_file(relative + "/" if is_directory else relative)


def _walk(directory: str, ignored: _Ignored, excluded: _Excluded, found: Found) -> Iterator[str]:
    found.directories.append(directory)
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as error:
        found.unreadable.append((directory, error.strerror or str(error)))
        return
    names = {entry.name for entry in entries}
    ignored = ignored.entering(directory, names)
    own = excluded.configured(Path(directory))
    for entry in entries:
        path = os.path.normpath(entry.path)
        is_directory = entry.is_dir(follow_symlinks=False)
        if not is_directory:
            if not entry.name.endswith(SUFFIXES):
                continue
            if not _is_file(entry):
                found.beside.append(path)
                continue
        if excluded.covers(entry.name, path, is_directory, own) or ignored.covers(path, is_directory):
            continue
        if is_directory:
            mark = os.path.join(path, VENV_MARK)
            if os.path.exists(mark):
                found.beside.append(mark)
            else:
                yield from _walk(path, ignored, excluded, found)
        else:
            yield path


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link in a circle is none, like one that leads nowhere
        return False


@cache
def _spec(patterns: tuple[str, ...]) -> pathspec.GitIgnoreSpec:
    import pathspec

    return pathspec.GitIgnoreSpec.from_lines(patterns)


@record(frozen=True)
class _Ignored:
    """The `.gitignore` files that hold in a directory, outermost first, each with the directory it lies in."""

    files: tuple[tuple[str, pathspec.GitIgnoreSpec], ...] = ()

    @classmethod
    def above(cls, directory: str) -> _Ignored:
        """What holds in a directory from above, up to the root of its git repository; nothing outside of one."""
        top = os.path.realpath(directory)
        if os.path.lexists(os.path.join(top, ".git")):
            return cls()
        above: list[str] = []
        current = os.path.dirname(top)
        while True:
            above.append(current)
            if os.path.lexists(os.path.join(current, ".git")):
                break
            if os.path.dirname(current) == current:
                return cls()
            current = os.path.dirname(current)
        ignored = cls()
        for parent in reversed(above):
            ignored = ignored.entering(parent, {".gitignore"})
        # whoever names an ignored directory wants it checked
        named_anyway = any(ignored.covers(part, True) for part in _parts_below(current, top))
        return cls() if named_anyway else ignored

    def entering(self, directory: str, names: set[str]) -> _Ignored:
        """What holds inside a directory with these entries; a repository of its own starts afresh."""
        files = () if ".git" in names else self.files
        if ".gitignore" in names:
            path = os.path.join(directory, ".gitignore")
            try:
                lines = tuple(Path(path).read_text(encoding="utf-8", errors="replace").splitlines())
            except OSError:
                lines = ()
            if lines:
                files = (*files, (os.path.realpath(directory), _spec(lines)))
        return _Ignored(files)

    def covers(self, path: str, is_directory: bool) -> bool:
        """Whether a path is ignored; the innermost file that says anything decides."""
        if not self.files:
            return False
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        for base, spec in reversed(self.files):
            relative = Path(os.path.relpath(real, base)).as_posix()
            verdict = spec.check_file(relative + "/" if is_directory else relative).include
            if verdict is not None:
                return verdict
        return False


def _parts_below(top: str, path: str) -> Iterator[str]:
    current = top
    for part in Path(path).relative_to(top).parts:
        current = os.path.join(current, part)
        yield current
