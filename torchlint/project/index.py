"""
The files of a project by their module names: what `import` would find, without importing anything.

Reads and lowers other files when the model asks for them, keeps what was lowered for the whole process,
and remembers on which contents a result rests. Judges nothing.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.project import neighbours, platforms, requirements
from torchlint.project.roots import (
    INSTALLED,
    above_folder,
    distribution_root,
    full_name,
    import_roots,
    package_root,
    package_top,
)
from torchlint.results import Dependency as Dependency
from torchlint.results import digest
from torchlint.syntax import cst, ir
from torchlint.syntax.argument_writes import ArgumentWrites
from torchlint.syntax.bindings import absolute
from torchlint.syntax.lowering import UnknownSyntaxError, program_elsewhere
from torchlint.syntax.nodes import node_at
from torchlint.syntax.place import Place, is_place, text_at
from torchlint.syntax.text import lines_of
from torchlint.syntax.tree import Source, SourceError, Span, decode
from torchlint.target import Target

MOST_FILE = 1_000_000
"""Bytes of the largest file that is looked into."""
MOST_LOOKED = 3_000_000
"""
Bytes of source after which no further file is looked into for the sake of one.

The model bounds their number; this bounds what they take. In transformers half of all files look into less than half a
megabyte, and none into more than two but those that would look through the whole package.
"""
MOST_TEXT = MOST_LOOKED + MOST_FILE
"""
Bytes of source whose programs are kept, each byte eighty in memory at most (where all functions were read); what was
not asked for longest goes first. Those of the file that is being checked are always among them: places in them may be
asked for.
"""


@dataclass(slots=True)
class _Lowered:
    """A file that was read: as it was on disk, and its program (None: not valid Python, or too large)."""

    stamp: tuple[int, int]
    digest: str
    size: int
    program: ir.Program | None


@dataclass(slots=True)
class _Looked:
    """A file whose functions were looked at for what they write to."""

    stamp: tuple[int, int]
    digest: str
    said: ArgumentWrites


_kept: OrderedDict[str, _Lowered] = OrderedDict()
_looked: dict[str, _Looked] = {}
MOST_HANDS = 6
"""Files through which it is followed who writes to what a function is given."""


class ProjectIndex:
    """
    The project of one file (`torchlint.model.python.imports.Project`).

    Parameters
    ----------
    path
        The file; it need not exist (standard input).
    """

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)
        directory, name = os.path.split(self._path)
        top = package_root(directory)
        self.is_package = name in ("__init__.py", "__init__.pyi")
        stem = [] if self.is_package else [name.rpartition(".")[0] or name]
        parts = os.path.relpath(directory, top).split(os.sep) if directory != top else []
        self.module = ".".join([*parts, *stem])
        self._roots = import_roots(directory, top)
        self._only = parts[0] if parts and os.path.basename(top) in INSTALLED else ""
        self._seen: dict[str, str] = {}
        self._begun, self._searched = dict[tuple[str, str], bool](), dict[str, tuple[str, ...]]()
        self._looked, self._asked = 0, set[str]()
        self._writing: dict[tuple[str, bool], bool] = {}
        self._modules: dict[str, tuple[ArgumentWrites, bool] | None] = {}
        self._trees: dict[str, Source] = {}

    def program(self, module: str) -> tuple[ir.Program, bool] | None:
        """The program of the file that a dotted name stands for, and whether it is a package; None if there is none."""
        for path, is_package in self._files(module):
            new = path not in self._asked
            if new and self._looked >= MOST_LOOKED:  # whatever is kept from other files: the answer is the same
                return None
            self._asked.add(path)
            found = _lowered(path)
            if new and found is not None and found.program is not None:
                self._looked += found.size
            self._seen[path] = found.digest if found is not None else ""
            if found is not None:
                return None if found.program is None else (found.program, is_package)
        return None

    def writes_to_arguments(self, qualified: str, switched: bool = True, asking: frozenset[str] = frozenset()) -> bool:
        """
        Whether a full name is a function that looks as if it wrote in place to what it is given, or a class whose
        objects do: of those that must be told so only where that may have been said (`switched`).
        """
        known = self._writing.get((qualified, switched))
        if known is not None or qualified in asking or len(asking) == MOST_HANDS:
            return bool(known)
        module, _, name = qualified.rpartition(".")
        looked = self._looked_at(module) if module else None
        if looked is None:
            return False
        said, is_package = looked
        found, handed = said.of(name, switched)
        if not found:
            asking |= {qualified}
            others = handed if name in said.defined else (name,)
            found = any(
                self.writes_to_arguments(absolute(said.imported[each], module, is_package), switched, asking)
                for each in others
                if each in said.imported
            )
        self._writing[qualified, switched] = found
        return found

    def candidates(self, module: str) -> frozenset[str]:
        """The names of a module that may be such functions; none of what is no file."""
        parent, _, name = module.rpartition(".")
        above = self._looked_at(parent) if parent else None
        if above is not None and (name in above[0].defined or name in above[0].imported):
            return frozenset()
        looked = self._looked_at(module)
        return frozenset() if looked is None else frozenset(looked[0].defined)

    def _looked_at(self, module: str) -> tuple[ArgumentWrites, bool] | None:
        """What a module's text says of its functions, and whether it is a package."""
        if module not in self._modules:
            self._modules[module] = self._look_at(module)
        return self._modules[module]

    def _look_at(self, module: str) -> tuple[ArgumentWrites, bool] | None:
        for path, is_package in self._files(module):
            looked = _looked_at(path)
            self._seen.setdefault(path, looked.digest if looked is not None else "")
            if looked is not None:
                return looked.said, is_package
        return None

    def _files(self, module: str) -> Iterator[tuple[str, bool]]:
        """Where another file may be that is the module, and whether it would be a package."""
        return (each for each in self._places(module) if each[0] != self._path)

    def _places(self, module: str) -> Iterator[tuple[str, bool]]:
        """Where the file of a module may be, this one or another, and whether it would be a package."""
        parts = module.split(".")
        if not all(map(str.isidentifier, parts)) or (self._only and parts[0] != self._only):
            return
        for root in self._roots_of(parts[0]):
            if self._begins(root, parts[0]):
                stem = os.path.join(root, *parts)
                yield f"{stem}{os.sep}__init__.py", True
                yield f"{stem}.py", False

    def offers(self, package: str) -> bool:
        """Whether there is a file or a folder of that name where the project's imports begin."""
        if not package.isidentifier() or (self._only and package != self._only):
            return False
        return any(self._begins(root, package) for root in self._roots)

    def target(self, text: str) -> Target:
        """The releases of torch that a script says itself, or else its project, that it runs on."""
        own = requirements.inline(text)
        if own is not None:
            return own
        found, depends = requirements.target(self._path)
        self._seen.update(depends)
        return found

    @property
    def spawning(self) -> tuple[str, ...]:
        """The platforms on which the project's processes are spawned, by the nearest metadata that there are."""
        directory = os.path.dirname(os.path.abspath(self._path))
        while True:
            wheels = sorted(each for each in _names(directory) if each.endswith(".dist-info"))
            paths = [os.path.join(directory, name) for name in platforms.FILES]
            paths += [os.path.join(directory, each, "METADATA") for each in wheels]
            stated: list[tuple[str, str]] = []
            for path in paths:
                data = _read(path)
                self._seen[path] = digest(data) if data is not None else ""
                if data is not None:
                    stated.append((os.path.basename(path), data.decode("utf-8", errors="replace")))
            above = os.path.dirname(directory)
            if stated or above == directory or os.path.exists(os.path.join(directory, ".git")):
                return platforms.spawning(stated)
            directory = above

    @cached_property
    def located(self) -> str:
        """As `roots.full_name`."""
        return full_name(os.path.dirname(self._path), self.module)

    def mentioning(self, word: str, everywhere: bool = False) -> Iterator[tuple[str, str]]:
        """
        Other files that hold a word: as shown to people, and what is in them.

        Parameters
        ----------
        word
            What is looked for.
        everywhere
            In the project's tests and scripts as well; else in the package, or beside a script.

        Raises
        ------
        TooManyFilesError
            if there are more of them, everywhere, than are looked into.
        """
        directory = os.path.dirname(self._path)
        root = package_root(directory)
        top = package_top(directory)
        if everywhere and os.path.basename(root) not in INSTALLED:
            top = os.path.commonpath([distribution_root(root), *self._roots])
        for found in neighbours.mentioning(self._path, top, word, everywhere):
            self._seen[found.path] = found.digest
            if found.text:
                shown = os.path.relpath(found.path, root)
                if shown.startswith(os.pardir):  # of the package around a folder that is none: by its own full name
                    shown = os.path.relpath(found.path, package_root(os.path.dirname(found.path)))
                yield shown.replace(os.sep, "/"), found.text

    @property
    def distributed(self) -> str:
        """Which commands an unpacked distribution installs (`entry_points.txt`); "" if it says nothing."""
        top = package_root(os.path.dirname(self._path))
        found = []
        for path in requirements.entry_points(top):
            data = _read(path)
            self._seen[path] = digest(data) if data is not None else ""
            found.append((data or b"").decode("utf-8", "replace"))
        return "\n".join(found)

    def source(self, module: str) -> tuple[str, bool]:
        """What is in the project's own file of a dotted name ("" if there is none), and whether that is a package."""
        for path, is_package in self._places(module):
            data = _read(path) if path != self._path else None
            self._seen[path] = digest(data) if data is not None else ""
            if data is not None:
                return data.decode("utf-8", errors="replace"), is_package
        return "", False

    def _roots_of(self, package: str) -> tuple[str, ...]:
        """Where a name is looked for: a folder of that name around the file is a package without `__init__.py`, too."""
        if package not in self._searched:
            around = above_folder(os.path.dirname(self._path), package)
            more = (around,) if around and around not in self._roots else ()
            self._searched[package] = self._roots + more
        return self._searched[package]

    def _begins(self, root: str, package: str) -> bool:
        """Whether a name can be found in a root, asked of the disk once; if not, that is remembered."""
        known = self._begun.get((root, package))
        if known is None:
            first = os.path.join(root, package)
            known = self._begun[root, package] = os.path.isdir(first) or os.path.exists(first + ".py")
            self._seen.update({} if known else {first + ".py": "", first: ""})
        return known

    @property
    def depends(self) -> tuple[Dependency, ...]:
        """The files that were looked at, and those that were looked for and are not there."""
        return tuple(Dependency(path, digest) for path, digest in sorted(self._seen.items()))

    def place(self, node: object) -> tuple[str, Span] | None:
        """Where a node stands that is of one of the files that were looked at."""
        found = self._located(node)
        return None if found is None else (found[0], found[1].span(found[2]))

    def node(self, place: Place) -> cst.CSTNode | None:
        """The libcst node at a place in one of the files that were looked at."""
        found = self._located(place)
        return None if found is None else found[2]

    def text(self, place: Place) -> str | None:
        """What stands at a place in one of the files that were looked at."""
        found = self._file_of(place)
        return None if found is None else text_at(place, lines_of(found[1].text))

    def _located(self, place: object) -> tuple[str, Source, cst.CSTNode] | None:
        if not is_place(place):
            return None
        assert isinstance(place, Place)
        found = self._file_of(place)
        if found is None:
            return None
        path, program = found
        if path not in self._trees:
            self._trees[path] = Source.parse(path, program.text)
        node = node_at(self._trees[path], place)
        return None if node is None else (path, self._trees[path], node)

    def _file_of(self, place: Place) -> tuple[str, ir.Program] | None:
        """The file that a place is of, among those that were looked at."""
        for path in self._seen:
            known = _kept.get(path)
            if known is not None and known.program is not None and _holds(known.program, place):
                return path, known.program
        return None


def _holds(program: ir.Program, place: Place) -> bool:
    """Whether a place is one of a program; none is of what stands in a function that nobody has read."""
    for node in ir.walk(program, []):
        if node.at in (place, place.at) or (isinstance(node, ir.Statement) and node.at_line in (place, place.at)):
            return True
    return False


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _lowered(path: str) -> _Lowered | None:
    """The file's program, from this process's store as long as the file has not changed."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    stamp = (status.st_mtime_ns, status.st_size)
    known = _kept.get(path)
    if known is not None and known.stamp == stamp:
        _kept.move_to_end(path)
        return known
    data = _read(path)
    if data is None:
        return None
    found = _Lowered(stamp, digest(data), len(data), _program(path, data) if len(data) <= MOST_FILE else None)
    _kept[path] = found
    while len(_kept) > 1 and sum(each.size for each in _kept.values()) > MOST_TEXT:
        _kept.popitem(last=False)
    return found


def _looked_at(path: str) -> _Looked | None:
    """What a file says of its functions, from this process's store as long as it has not changed."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    stamp = (status.st_mtime_ns, status.st_size)
    known = _looked.get(path)
    if known is None or known.stamp != stamp:
        data = _read(path) if status.st_size <= MOST_FILE else b""
        if data is None:
            return None
        text = data.decode("utf-8", "replace")
        known = _looked[path] = _Looked(stamp, digest(data), ArgumentWrites(text))
    return known


def _program(path: str, data: bytes) -> ir.Program | None:
    try:
        text = decode(data).text
        return program_elsewhere(text)
    except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError, UnknownSyntaxError):
        return None
