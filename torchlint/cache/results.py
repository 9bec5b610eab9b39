"""
Results kept between runs: what came of a file is looked up by what it followed from.

A result holds as long as all that made it does: the file's content, the contents of the other files it
rests on (and the absence of those looked for in vain), where imports are looked for, torchlint, its rules and plugins,
the configuration and the command line. A store that is damaged, of another make or out of reach is never an error: the
files are linted. Imports neither libcst nor the rules.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from torchlint.cache import fingerprint
from torchlint.cache import stamp as installed
from torchlint.cache.replay import cache_folder
from torchlint.cache.store import Store
from torchlint.claims import as_row, from_row
from torchlint.condition import Condition
from torchlint.config import Config, Overrides
from torchlint.finding import Finding, FindingFix, Level, TextEdit, TraceLine, shown_beside
from torchlint.project.roots import import_roots, package_root
from torchlint.results import Dependency, FileReport, digest
from torchlint.syntax.text import Span

SETTLED = 2_000_000_000
"""Nanoseconds after which a file's time tells whether it was written again (some file systems count two seconds)."""
BATCH = 200
"""Results that are written at a time: what a run that is killed loses."""
_DAY = 86_400
_NOT_IN_KEY = frozenset(
    {"file", "extended", "exclude", "extend_exclude", "exit_on", "root", "output_format", "fix", "unsafe_fixes", "jobs"}
    | {"cache_dir", "force_exclude", "baseline"}
)
"""Settings that decide which files are linted or what is made of findings, and not what is found."""


class Stamp(NamedTuple):
    """What a file system says of a file; with another stamp, the content has to be read."""

    mtime: int
    size: int
    inode: int


class Cache(Store):
    """
    The results of one project.

    Parameters
    ----------
    directory
        Where they are kept; made when there is something to keep.
    base
        Paths below it are kept relative to it, so that the folder can be carried to another machine.

    Attributes
    ----------
    answered
        Of how many files `reports` has told the results.
    plugin_files
        What they rest on beside the files of `looked_at`.
    """

    def __init__(self, directory: Path, base: Path | None = None) -> None:
        super().__init__(directory)
        self._base = os.path.join(base, "") if base is not None else None
        self._here = os.path.join(os.getcwd(), "")
        self._usable = True
        self._stamps: dict[str, Stamp | None] = {}
        self._roots: dict[str, str] = {}
        self._fingerprints: dict[tuple[str, ...], str] = {}
        self._keys: dict[str, int] = {}
        self._kept: list[tuple[str, int, Stamp, str, FileReport]] = []
        self.answered = 0
        self.plugin_files: set[str] = set()

    @classmethod
    def of_project(cls, directory: str | None = None) -> Cache:
        """The results in a directory that was asked for, else in that of the project around the working directory."""
        folder, project = cache_folder(directory, os.getcwd())
        return cls(Path(folder), Path(project) if project is not None else None)

    def reports(
        self, wanted: Sequence[tuple[str, Config, Overrides]]
    ) -> list[tuple[FileReport | None, Stamp | None, int]]:
        """
        What is known of files as they are now.

        Parameters
        ----------
        wanted
            Each file with the configuration and the command line it is linted under.

        Returns
        -------
        list
            For each of them its report or None; its stamp (None if it cannot be read), taken before its content was
            looked at, and the key of its settings: both are wanted by `keep`.
        """
        found: list[tuple[FileReport | None, Stamp | None, int]] = [(None, None, 0)] * len(wanted)
        if not self._usable or not wanted:
            return found
        by_key: dict[int, list[int]] = {}
        try:
            with self.opened() as connection:
                keys: dict[tuple[int, int], int] = {}
                for number, (path, settings, overrides) in enumerate(wanted):
                    if not _storable(path):
                        continue
                    which = (id(settings), id(overrides))
                    if which not in keys:
                        keys[which] = self._key(connection, settings, overrides)
                    by_key.setdefault(keys[which], []).append(number)
                for key, numbers in by_key.items():
                    paths = {self._kept_path(wanted[number][0]): number for number in numbers}
                    lookup = _Lookup(self, connection, key, paths)
                    for path, number in paths.items():
                        report = lookup.report(path, wanted[number][0]) if key else None
                        found[number] = (report, self.stamp(path), key)
                        self.answered += report is not None
                    lookup.refresh()
        except sqlite3.Error:
            self._usable = False
        return found

    def looked_at(self) -> Iterator[tuple[str, Stamp | None]]:
        """The files whose results were asked for, and those they rest on, with the stamps they had; None: absent."""
        return ((self.real_path(path), stamp) for path, stamp in self._stamps.items())

    def keep(self, path: str, key: int, stamp: Stamp, content: str, report: FileReport) -> None:
        """
        Remember what came of a file; what failed is tried again next time.

        Parameters
        ----------
        path, key, stamp
            As they were given to and came from `reports`.
        content
            The digest of the file as it was linted.
        report
            What came of it.
        """
        if not self._usable or not key or report.failed or not all(_storable(each.path) for each in report.depends):
            return
        self._kept.append((self._kept_path(path), key, stamp, content, report))
        if len(self._kept) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what was to be kept."""
        kept, self._kept = self._kept, []
        if not kept or not self._usable:
            return
        now = time.time_ns()
        try:
            with self.opened() as connection, connection:
                ids: dict[Dependency, int] = {}
                connection.executemany(
                    "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)",
                    [_row(path, stamp, content, now) for path, _, stamp, content, _ in kept],
                )
                for number, (path, key, _, content, report) in enumerate(kept):
                    depends = " ".join(str(self._dependency(connection, each, ids)) for each in report.depends)
                    connection.execute(
                        "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (path, key, content, self.roots(path), depends, self._written(report), now + number),
                    )
            self.bound()
        except sqlite3.Error:
            self._usable = False

    # What follows is for `_Lookup` too.

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of a file, by the path it is kept under; the same throughout a run."""
        if path not in self._stamps:
            try:
                status = os.stat(self.real_path(path))
            except OSError:
                self._stamps[path] = None
            else:
                self._stamps[path] = Stamp(status.st_mtime_ns, status.st_size, status.st_ino)
        return self._stamps[path]

    def real_path(self, path: str) -> str:
        """Where a file is that is kept under a path."""
        return path if self._base is None or os.path.isabs(path) else self._base + path

    def roots(self, path: str) -> str:
        """Where the imports of a file are looked for."""
        directory = os.path.dirname(path)
        if directory not in self._roots:
            real = os.path.dirname(self.real_path(path))
            top = package_root(real)
            self._roots[directory] = "\n".join(map(self._kept_path, (top, *import_roots(real, top))))
        return self._roots[directory]

    def _kept_path(self, path: str) -> str:
        if not os.path.isabs(path):
            path = self._here + path
        if f"{os.sep}." in path:
            path = os.path.normpath(path)
        if self._base is not None and (path.startswith(self._base) or path == self._base[:-1]):
            return path[len(self._base) :]
        return path

    def _key(self, connection: sqlite3.Connection, settings: Config, overrides: Overrides) -> int:
        """The number of all that a result depends on beside files; 0 if that cannot be said."""
        made_by = self._fingerprint(connection, settings.plugins)
        if not made_by:
            return 0
        asked = [
            (each.name, value)
            for part in (settings, overrides)
            for each in fields(part)
            if each.name not in _NOT_IN_KEY and (value := getattr(part, each.name)) != each.default
        ]
        # patterns are relative to it
        roots = [self._kept_path(str(part.root)) for part in (settings, overrides) if part.per_file_ignores]
        text = repr((made_by, roots, asked))
        if text not in self._keys:
            today = int(time.time()) // _DAY
            row = connection.execute("SELECT id, used FROM key WHERE text = ?", (text,)).fetchone()
            if row is None or row[1] != today:
                with connection:
                    connection.execute(
                        "INSERT INTO key (text, used) VALUES (?, ?) "
                        "ON CONFLICT (text) DO UPDATE SET used = excluded.used",
                        (text, today),
                    )
                row = connection.execute("SELECT id FROM key WHERE text = ?", (text,)).fetchone()
            self._keys[text] = int(row[0])
        return self._keys[text]

    def _fingerprint(self, connection: sqlite3.Connection, plugins: tuple[str, ...]) -> str:
        if plugins not in self._fingerprints:
            self._fingerprints[plugins] = self._known_fingerprint(connection, plugins)
        return self._fingerprints[plugins]

    def _known_fingerprint(self, connection: sqlite3.Connection, plugins: tuple[str, ...]) -> str:
        stamp = installed.stamp(plugins)
        row = connection.execute("SELECT text, plugins FROM environment WHERE stamp = ?", (stamp,)).fetchone()
        if row is not None:
            lines = [line.rpartition("\t") for line in str(row[1]).splitlines()]
            known = fingerprint.Fingerprint(str(row[0]), tuple((path, at) for path, _, at in lines))
            if known.holds():
                self.plugin_files.update(path for path, _ in known.plugins)
                return known.text
        taken = fingerprint.take(plugins)
        if taken is None:
            return ""
        self.plugin_files.update(path for path, _ in taken.plugins)
        with connection:
            connection.execute(
                "INSERT OR REPLACE INTO environment VALUES (?, ?, ?)",
                (stamp, taken.text, "\n".join(f"{path}\t{at}" for path, at in taken.plugins)),
            )
            # one row per environment that is in use, and some that were
            connection.execute(
                "DELETE FROM environment WHERE stamp <> ? AND (SELECT count(*) FROM environment) > 50", (stamp,)
            )
        return taken.text

    def _dependency(self, connection: sqlite3.Connection, each: Dependency, ids: dict[Dependency, int]) -> int:
        if each not in ids:
            row = (self._kept_path(each.path), each.digest)
            connection.execute("INSERT OR IGNORE INTO dependency (path, digest) VALUES (?, ?)", row)
            found = connection.execute("SELECT id FROM dependency WHERE path = ? AND digest = ?", row).fetchone()
            ids[each] = int(found[0])
        return ids[each]

    def _written(self, report: FileReport) -> str | None:
        """A report without what is known otherwise; nothing to tell is the empty string."""
        if not report.mentions_torch:
            return None
        if report.followed and not (report.findings or report.held_back or report.suppressed or report.cut[0]):
            return ""
        import json

        rows = [_finding_row(finding, self._kept_path) for finding in report.findings]
        numbers = [report.held_back, report.suppressed, report.followed, report.cut]
        return json.dumps([*numbers, rows], separators=(",", ":"))


_FEW = 100
"""Files up to which they are asked for one by one."""


class _Lookup:
    """The results of one key that are still true."""

    def __init__(self, cache: Cache, connection: sqlite3.Connection, key: int, paths: Iterable[str]) -> None:
        self.cache = cache
        self.connection = connection
        self.changed: list[tuple[str, int, int, int, str]] = []
        self.digests: dict[str, str] = {}
        wanted = list(paths)
        self.rows = {row[0]: row[1:] for row in self._select(key, wanted)}
        self.files = {row[0]: row[1:] for row in self._known(wanted)}
        self.stale = self._stale()

    def report(self, path: str, shown: str) -> FileReport | None:
        """The report of a file as it is now."""
        row = self.rows.get(path)
        if row is None:
            return None
        content, roots, depends, report = row
        if self.digest(path) != content or self.cache.roots(path) != roots:
            return None
        if self.stale and not self.stale.isdisjoint(depends.split()):
            return None
        if report is None:
            return FileReport(shown, mentions_torch=False)
        if not report:
            return FileReport(shown)
        try:
            return _read(report, shown, self.cache.real_path)
        except (ValueError, TypeError, KeyError, IndexError):
            return None

    def refresh(self) -> None:
        """Keep the new stamps of files whose content is as it was."""
        if self.changed:
            with self.connection:
                self.connection.executemany("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)", self.changed)

    def digest(self, path: str) -> str:
        """The digest of a file's content, from its stamp if that is known; "" if it cannot be read."""
        if path not in self.digests:
            self.digests[path] = self._digest(path)
        return self.digests[path]

    def _digest(self, path: str) -> str:
        stamp = self.cache.stamp(path)
        if stamp is None:
            return ""
        known = self.files.get(path)
        if known is not None and known[:3] == stamp:
            return str(known[3])
        try:
            found = digest(Path(self.cache.real_path(path)).read_bytes())
        except OSError:
            return ""
        self.changed.append(_row(path, stamp, found, time.time_ns()))
        return found

    def _stale(self) -> set[str]:
        """The numbers of the dependencies that are no longer as they were."""
        needed: set[str] = set()
        for row in self.rows.values():
            needed.update(row[2].split())
        if not needed:
            return needed
        numbers = sorted(map(int, needed))
        depends = self._by("SELECT id, path, digest FROM dependency", "id", numbers)
        unknown = [path for _, path, content in depends if content and path not in self.files]
        self.files.update((row[0], row[1:]) for row in self._known(unknown))
        for number, path, content in depends:
            if (self.digest(path) if content else "") == content and (content or self.cache.stamp(path) is None):
                needed.discard(str(number))
        return needed

    def _select(self, key: int, paths: list[str]) -> list[tuple[Any, ...]]:
        columns = "SELECT path, digest, roots, depends, report FROM result"
        if len(paths) > _FEW:
            return self.connection.execute(f"{columns} WHERE key = ?", (key,)).fetchall()
        return self._by(columns, "path", paths, f"key = {key} AND")

    def _known(self, paths: list[str]) -> list[tuple[Any, ...]]:
        return self._by("SELECT path, mtime, size, inode, digest FROM file", "path", paths)

    def _by(self, select: str, column: str, values: Sequence[object], also: str = "") -> list[tuple[Any, ...]]:
        if len(values) > _FEW:
            if also:
                select = f"{select} WHERE {also.removesuffix(' AND')}"
            chosen = set(values)
            return [row for row in self.connection.execute(select) if row[0] in chosen]
        marks = ",".join("?" * len(values))
        return self.connection.execute(f"{select} WHERE {also} {column} IN ({marks})", values).fetchall()


def _storable(path: str) -> bool:
    """Whether a path is text; SQLite takes no other."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _row(path: str, stamp: Stamp, content: str, now: int) -> tuple[str, int, int, int, str]:
    """A file that was written just now may be written again without another time: its stamp tells nothing yet."""
    mtime = stamp.mtime if now - stamp.mtime > SETTLED else -1
    return (path, mtime, stamp.size, stamp.inode, content)


def _finding_row(finding: Finding, kept: Any) -> list[Any]:
    fix = finding.fix
    return [
        _place(finding.span),
        finding.code,
        finding.name,
        finding.level.value,
        finding.message,
        [_step_row(step, finding, kept) for step in finding.trace],
        fix and [fix.title, fix.safe, [_edit_row(edit) for edit in fix.edits]],
        finding.cell,
        [[each.kind, each.expression, each.holds] for each in finding.conditions],
        [as_row(each) for each in finding.claims],
        [_step_row(each, finding, kept) for each in finding.others],
    ]


def _step_row(step: TraceLine, finding: Finding, kept: Any) -> list[Any]:
    row = [
        "" if step.path == finding.path else kept(step.path),
        step.line,
        step.column,
        step.message,
        step.end_line,
        step.end_column,
    ]
    return row if step.cell is None else [*row, step.cell]


def _edit_row(edit: TextEdit) -> list[Any]:
    row = [_place(edit.span), edit.replacement]
    return row if edit.cell is None else [*row, edit.cell]


def _place(span: Span) -> list[int]:
    return [span.line, span.column, span.end_line, span.end_column]


def _read(text: str, shown: str, real: Any) -> FileReport:
    import json

    held_back, suppressed, followed, cut, rows = json.loads(text)
    findings = []
    for place, code, name, level, message, steps, fix, cell, open_links, claimed, more in rows:
        trace, others = (
            tuple(TraceLine(shown_beside(real(path), shown) if path else shown, *rest) for path, *rest in each)
            for each in (steps, more)
        )
        cure = fix and FindingFix(fix[0], fix[1], tuple(TextEdit(Span(*where), *rest) for where, *rest in fix[2]))
        rests_on = tuple(Condition(*each) for each in open_links)
        shows = tuple(from_row(each) for each in claimed)
        known = Finding(
            shown, Span(*place), code, name, Level(level), message, trace, cure, None, cell, rests_on, shows, others
        )
        findings.append(known)
    return FileReport(
        shown, tuple(findings), int(held_back), int(suppressed), followed=bool(followed), cut=(int(cut[0]), int(cut[1]))
    )
