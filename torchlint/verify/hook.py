"""
An import hook that instruments the files of a session when the program imports them, their lines unmoved.

Every other module is found and loaded as without it. Nothing is written: the bytecode of an instrumented file goes into
no cache. Runs in the user's process; knows no torch.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Protocol

from torchlint.verify import instrument
from torchlint.verify.session import STRIDE, WatchedFile


class Instrumented(Protocol):
    """Files that are loaded instrumented, by index."""

    def of(self, path: str | None) -> int | None:
        """The index of a file, if it is one of them."""

    def code(self, index: int, data: bytes, name: str) -> CodeType | None:
        """The code of a file under a name; None for that which Python makes of it."""


class Files:
    """
    The files of a session, as they are loaded.

    Parameters
    ----------
    watched
        The files.

    Attributes
    ----------
    offsets
        For each name that code objects carry, what is added to its lines (`observe.Files`).
    raising
        Lines of `raise` and `assert` statements, so counted.
    loaded
        Indices of the files that were instrumented.
    refused
        For others, why they were not.
    """

    def __init__(self, watched: Sequence[WatchedFile]) -> None:
        self.watched = watched
        self.offsets: dict[str, int] = {}
        self.raising: set[int] = set()
        self.loaded: set[int] = set()
        self.refused: dict[int, str] = {}
        self._index = {each.path: index for index, each in enumerate(watched)}
        self._first = [0]
        for each in watched:
            self._first.append(self._first[-1] + len(each.watches))

    def part(self, index: int) -> range:
        """The watches of a file among those of all."""
        return range(self._first[index], self._first[index + 1])

    def of(self, path: str | None) -> int | None:
        """The index of a file, if it is one of them."""
        return None if path is None else self._index.get(os.path.realpath(path))

    def code(self, index: int, data: bytes, name: str) -> CodeType | None:
        """The instrumented code of a file that goes by this name; None if it is not what was linted."""
        each = self.watched[index]
        if hashlib.sha256(data).hexdigest() != each.digest:
            self.refused[index] = "it has changed since it was linted"
            return None
        text = importlib.util.decode_source(data) if each.text is None else each.text
        code = instrument.instrument(text, name, each.watches, handled=True, first=self._first[index])
        offset = self.offsets[name] = index * STRIDE
        self.raising.update(offset + line for line in instrument.raising_lines(text))
        self.loaded.add(index)
        return code

    def already(self) -> None:
        """Remember which of them the process has imported before: they are not watched."""
        for module in list(sys.modules.values()):
            index = self.of(getattr(module, "__file__", None))
            if index is not None and index not in self.loaded:
                self.refused[index] = "it was imported before anything could be watched"


class Finder:
    """
    Finds modules as those behind it on `sys.meta_path` do, and has the session's files loaded instrumented.

    Parameters
    ----------
    files
        The files.
    """

    def __init__(self, files: Instrumented) -> None:
        self.files = files

    def install(self) -> None:
        """Be asked first, from now on; to be called again after somebody else has put himself in front."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As `importlib.abc.MetaPathFinder.find_spec`."""
        for finder in [each for each in sys.meta_path if each is not self]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find is not None else None
            if spec is None:
                continue
            index = self.files.of(spec.origin) if spec.has_location else None
            if index is not None and spec.origin is not None and spec.origin.endswith(".py"):
                spec.loader = _Loader(name, spec.origin, self.files, index)
            return spec
        return None


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, files: Instrumented, index: int) -> None:
        super().__init__(name, path)
        self.files = files
        self.index = index

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        code = self.files.code(self.index, self.get_data(path), path)
        return super().get_code(fullname) if code is None else code
