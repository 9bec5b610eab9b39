"""
The folder of the cache, and the SQLite database in it: made, opened, mended, kept small.

Knows the tables and nothing of what is in them. Several runs may use the database at once, and one that
crashes leaves it whole; one that is damaged, or of another make, is made anew.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from torchlint.cache.replay import ANSWER
from torchlint.cache.replay import FOLDER as ANSWERS

FORMAT = 2
"""Raised whenever the tables, or what is written into them, change."""
APPLICATION = 0x746C6E74
"""What says that a database is torchlint's ("tlnt")."""
MOST_BYTES = 64_000_000
"""Size of the store above which what was not used longest is given up."""
_BESIDE = {
    ".gitignore": "# Made by torchlint.\n*\n",
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# Made by torchlint: https://bford.info/cachedir/\n",
}
_ENDS = ("", "-wal", "-shm", "-journal")
_TABLES = f"""
PRAGMA user_version = {FORMAT};
CREATE TABLE environment (stamp TEXT PRIMARY KEY, text TEXT NOT NULL, plugins TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE key (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, used INTEGER NOT NULL);
CREATE TABLE file (path TEXT PRIMARY KEY, mtime INTEGER NOT NULL, size INTEGER NOT NULL, inode INTEGER NOT NULL,
    digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE dependency (id INTEGER PRIMARY KEY, path TEXT NOT NULL, digest TEXT NOT NULL, UNIQUE (path, digest));
CREATE TABLE result (path TEXT NOT NULL, key INTEGER NOT NULL, digest TEXT NOT NULL, roots TEXT NOT NULL,
    depends TEXT NOT NULL, report TEXT, made INTEGER NOT NULL, PRIMARY KEY (path, key)) WITHOUT ROWID;
CREATE INDEX result_key ON result (key);
"""


class Store:
    """
    The database of one folder.

    Parameters
    ----------
    directory
        The folder; made when something is to be written.

    Attributes
    ----------
    foreign
        What stands where the database would, and is somebody else's; it is left alone, and nothing is kept.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._file = directory / "results.sqlite"
        self.foreign: Path | None = None

    def clear(self) -> bool:
        """
        Remove what torchlint made, and the folder if nothing else is in it; whether there was anything.

        Raises
        ------
        OSError
            if it cannot be removed.
        """
        answers = self.directory / ANSWERS
        ours = [self.directory / name for name in self._made_by_us()]
        if self._is_ours():
            ours += [path for end in _ENDS if (path := Path(f"{self._file}{end}")).exists()]
        ours += answers.glob(f"*{ANSWER}*")
        if not ours:
            return False
        for path in ours:
            path.unlink()
        with suppress(OSError):
            answers.rmdir()
        with suppress(OSError):  # somebody keeps other things in it
            self.directory.rmdir()
        return True

    def _made_by_us(self) -> list[str]:
        """The files beside the database that are as we made them."""
        made = []
        for name, text in _BESIDE.items():
            with suppress(OSError):
                if (self.directory / name).read_bytes() == text.encode("ascii"):
                    made.append(name)
        return made

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """
        The store. No connection is kept: worker processes are forked in between.

        Raises
        ------
        sqlite3.Error
            if there is none to be had.
        """
        connection: sqlite3.Connection | None = None
        if os.path.lexists(self._file) and not self._is_ours():
            self.foreign = self._file
            raise sqlite3.OperationalError(f"{self._file} is not torchlint's")
        try:
            connection = self._connected()
        except sqlite3.OperationalError:  # locked for long, a full disk, no permission: not ours to remove
            raise
        except sqlite3.DatabaseError:
            for end in _ENDS:
                with suppress(OSError):
                    os.unlink(f"{self._file}{end}")
            connection = self._connected()
        with closing(connection):
            yield connection

    def _connected(self) -> sqlite3.Connection:
        if not self._file.exists():
            try:
                self._make_folder()
            except OSError as error:
                raise sqlite3.OperationalError(str(error)) from error
        connection = sqlite3.connect(self._file, timeout=5.0)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version != FORMAT:
                self._make_tables(connection)
            connection.execute("PRAGMA synchronous = OFF")  # a store that a power cut damages is made anew
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_ours(self) -> bool:
        """Whether the database is torchlint's: by what is written at its head, or by who made the folder."""
        try:
            with open(self._file, "rb") as file:
                head = file.read(72)
        except OSError:
            return False
        own = head[:16] == b"SQLite format 3\0" and int.from_bytes(head[68:72], "big") == APPLICATION
        # one that a crash has cut short has no head; in a folder of ours it is ours
        return own or not head or bool(self._made_by_us())

    def _make_folder(self) -> None:
        """Make the folder, with what keeps git and backups away from it; in somebody else's nothing is written."""
        try:
            self.directory.mkdir(parents=True)
        except FileExistsError:
            return
        for name, text in _BESIDE.items():
            (self.directory / name).write_text(text, encoding="ascii")

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        # before the log is used: what is in that, whoever looks at the head of the file does not see
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        with suppress(sqlite3.OperationalError):  # where files cannot be shared in memory, it does without
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:  # else another run was faster
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                connection.execute(f"DROP TABLE {_quoted(name)}")
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
        connection.commit()

    def bound(self) -> None:
        """Give up the keys that were not used longest, then the oldest results, until the store is half as large."""
        if self._file.stat().st_size <= MOST_BYTES:
            return
        with self.opened() as connection:
            with connection:
                for (key,) in connection.execute("SELECT id FROM key ORDER BY used, id").fetchall()[:-1]:
                    if self._size(connection) <= MOST_BYTES // 2:
                        break
                    connection.execute("DELETE FROM result WHERE key = ?", (key,))
                    connection.execute("DELETE FROM key WHERE id = ?", (key,))
                if self._size(connection) > MOST_BYTES // 2:
                    connection.execute(
                        "DELETE FROM result WHERE made <= (SELECT made FROM result ORDER BY made "
                        "LIMIT 1 OFFSET (SELECT count(*) / 2 FROM result))"
                    )
                connection.execute("DELETE FROM file WHERE path NOT IN (SELECT path FROM result)")
                used: set[int] = set()
                for (depends,) in connection.execute("SELECT depends FROM result"):
                    used.update(map(int, depends.split()))
                gone = [row for row in connection.execute("SELECT id FROM dependency").fetchall() if row[0] not in used]
                connection.executemany("DELETE FROM dependency WHERE id = ?", gone)
            connection.execute("VACUUM")

    def _size(self, connection: sqlite3.Connection) -> int:
        """Bytes in use, without the pages that are free already."""
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        return (int(pages) - int(free)) * int(size)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
