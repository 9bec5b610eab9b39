"""
Loads a file of a project for its classes and functions, under its real dotted name.

Runs inside the child. What ends the loading is got out of the way, one thing at a time: a package that is not installed
gets an inert stand-in, a name that a library no longer has does too, and a package's own `__init__` that fails is left
out.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import linecache
import os
import re
import sys
import types
from collections.abc import Callable, Collection, Iterator
from types import CodeType
from typing import Any

import torch
import torch.utils.model_zoo

from torchlint.verify.hook import Finder
from torchlint.verify.standins import Inert, StandIns, old_name

ATTEMPTS = 24
"""So many things are got out of the way."""


DEPTH = 4
"""A package without `__init__` is looked for so many folders up."""


class Loading:
    """
    One file.

    Parameters
    ----------
    path
        The file.
    code
        Makes the code of the file, under the name that it is given.

    Attributes
    ----------
    standins
        What is stood in for.
    left_out
        Lines of the file whose statements, on its own level, raise: they are left out (`without`).
    """

    def __init__(self, path: str, code: Callable[[str], CodeType]) -> None:
        self.path = os.path.realpath(path)
        self.make = code
        self.standins = StandIns()
        self.root, self.name = _dotted(self.path)
        while "." in self.name and self._hides_a_library():
            self.root, folder = os.path.split(self.root)
            self.name = f"{folder}.{self.name}"
        self.bare = False
        self.left_out: set[int] = set()
        self.gone: list[tuple[str, str]] = []
        self.packages: dict[str, dict[str, object]] = {}

    def _hides_a_library(self) -> bool:
        """Whether a package without an `__init__` above the file has a folder that is named like a library in use."""
        module = sys.modules.get(self.name.partition(".")[0])
        file = getattr(module, "__file__", None) or ""
        above = os.path.basename(self.root)
        return bool(file) and not file.startswith(self.root + os.sep) and above.isidentifier()

    def of(self, path: str | None) -> int | None:
        """For `hook.Finder`."""
        return 0 if path is not None and os.path.realpath(path) == self.path else None

    def code(self, index: int, data: bytes, name: str) -> CodeType:
        """For `hook.Finder`."""
        return self.make(name)

    def module(self) -> types.ModuleType:
        """
        The module.

        Raises
        ------
        BaseException
            which keeps it from being loaded.
        """
        sys.path.insert(0, self.root)
        sys.meta_path.insert(0, self.standins)  # what is there and does not load is stood in for, too
        Finder(self).install()
        for module, name, kind in _FETCHED:
            setattr(module, name, Inert(f"fetched weights.{kind}", self.standins.touched))
        before = set(sys.modules)
        for _ in range(ATTEMPTS):
            try:
                self._stand_in_for_names()
                return importlib.import_module(self.name)
            except Exception as error:
                for name in set(sys.modules) - before:
                    if self._ours(name):
                        del sys.modules[name]
                if not self._cleared(error):
                    raise
                if self.bare:
                    self._bare_packages()
        return importlib.import_module(self.name)

    def _stand_in_for_names(self) -> None:
        """Names that modules of the project are said to have, and have not."""
        for module, name in self.gone:
            with contextlib.suppress(Exception):
                setattr(importlib.import_module(module), name, Inert(f"{module}.{name}", self.standins.touched))

    def _ours(self, name: str) -> bool:
        module = sys.modules[name]
        file = getattr(module, "__file__", None) or ""
        return file.startswith(self.root + os.sep) or name == self.name.partition(".")[0] or isinstance(module, _Bare)

    def absent(self, error: Exception) -> bool:
        """Whether a package or a part of one that was not found is stood in for now."""
        behind: BaseException | None = error  # the program may say it in its own words
        while behind is not None and not (isinstance(behind, ModuleNotFoundError) and behind.name):
            behind = behind.__cause__ or behind.__context__
        if not isinstance(behind, ModuleNotFoundError) or not behind.name:
            return False
        missing, own = behind.name, self.name.partition(".")[0]
        top = missing.partition(".")[0]
        if top != own:
            missing = missing if _is_there(top) else top
        elif self._has(missing):
            return False
        new = missing not in self.standins.names  # one of the project's own is of another distribution
        self.standins.names |= {missing, *_absent_beside(behind, self.root, own)}
        return new

    def _cleared(self, error: Exception) -> bool:
        """Whether what ended the loading is out of the way now."""
        own = self.name.partition(".")[0]
        if self._behind(error):
            return True
        gone = re.match(r"module 'numpy' has no attribute '(\w+)'", str(error))
        if gone and old_name(gone[1]):
            self.standins.touched.add("numpy")
            return True
        if isinstance(error, importlib.metadata.PackageNotFoundError) and importlib.metadata.version is not _version:
            importlib.metadata.version = _version  # a project that is not installed has a release all the same
            return True
        if self.absent(error):
            return True
        above, folder = os.path.split(self.root)
        if "attempted relative import" in str(error) and folder and self.name.count(".") < DEPTH:
            self.root, self.name = above, f"{folder}.{self.name}"  # a package without an `__init__`
            sys.path.insert(0, self.root)
            return True
        gone = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
        if gone and gone[2].partition(".")[0] != own and gone[2] in sys.modules:
            setattr(sys.modules[gone[2]], gone[1], Inert(f"{gone[2]}.{gone[1]}", self.standins.touched))
            return True
        if gone and self.bare and gone[2] in self.packages and gone[1] not in self.packages[gone[2]]:
            self.packages.setdefault(gone[2], {})[gone[1]] = Inert(f"{gone[2]}.{gone[1]}", self.standins.touched)
            return True
        if self._named(error):
            return True
        failing = self._failing(error)
        if failing and failing.partition(".")[0] != own:  # it is there, and cannot be loaded on this machine
            self._without(failing.partition(".")[0])
            return True
        if not self.bare and "." in self.name:
            self.bare = True
            return True
        if gone and gone[2] not in self.packages and (gone[2], gone[1]) not in self.gone and gone[2] != self.name:
            self.gone.append((gone[2], gone[1]))
            return True
        if failing:  # a part of the project that does not load here
            self._without(failing)
            return True
        return self._left_out(error)

    def _left_out(self, error: Exception) -> bool:
        """
        Whether the statement of the file itself that raised is left out now, definitions and imports excepted; of a
        class that raises without its decorators those inside it.
        """
        lines: list[int] = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            body = code.co_name == "<module>" or (lines and not code.co_flags & inspect.CO_OPTIMIZED)
            if body and os.path.realpath(code.co_filename) == self.path:
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        line = next((each for each in lines if each not in self.left_out), 0)
        if line == 0 or isinstance(error, ImportError):
            return False
        self.left_out.add(line)
        return True

    def _named(self, error: Exception) -> bool:
        """Whether a name that has no value, because what gives it one was left out, has a stand-in now."""
        if not isinstance(error, NameError) or isinstance(error, UnboundLocalError) or not error.name:
            return False
        if not self.left_out or hasattr(builtins, error.name):
            return False
        setattr(builtins, error.name, Inert(error.name, self.standins.touched))
        return True

    def _behind(self, error: Exception) -> bool:
        """Whether what is not installed, and the program said so in its own words, is stood in for now."""
        before = error.__cause__ or error.__context__
        while before is not None and not (isinstance(before, ModuleNotFoundError) and before.name):
            before = before.__cause__ or before.__context__
        if not isinstance(before, ModuleNotFoundError) or before.name is None:
            return False
        top = before.name.partition(".")[0]
        if top == self.name.partition(".")[0] or top in self.standins.names or _is_there(top):
            return False
        self.standins.names.add(top)
        return True

    def _without(self, name: str) -> None:
        self.standins.names.add(name)
        for known in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
            del sys.modules[known]

    def _failing(self, error: Exception) -> str:
        """The module whose own statements raised, if it is not the file itself, and nothing that all rests on."""
        names = []
        trace = error.__traceback__
        while trace is not None:
            frame = trace.tb_frame
            if frame.f_code.co_name == "<module>":
                names.append(str(frame.f_globals.get("__name__", "")))
            trace = trace.tb_next
        for name in reversed(names):
            top = name.partition(".")[0]
            if name == self.name or name.startswith("torchlint"):
                return ""
            if top not in _NEEDED and top not in sys.stdlib_module_names and name not in self.standins.names:
                return name
        return ""

    def _has(self, name: str) -> bool:
        place = os.path.join(self.root, *name.split("."))
        return os.path.isdir(place) or os.path.isfile(f"{place}.py")

    def _bare_packages(self) -> None:
        """The packages that the file is in, without what their `__init__` does."""
        directory, parts = self.root, self.name.split(".")[:-1]
        for index, part in enumerate(parts):
            directory = os.path.join(directory, part)
            name = ".".join(parts[: index + 1])
            module = _Bare(name)
            module.__path__ = [directory]
            module.__package__ = name
            module.__dict__.update(self.packages.setdefault(name, {}))
            sys.modules[name] = module


def without(text: str, lines: Collection[int]) -> str:
    """
    A program without the statements of its own level that stand at lines; of a definition the decorators go, in classes
    too.
    """
    if not lines:
        return text
    written = text.splitlines()
    tree = ast.parse(text)
    inside = (each for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body)
    for node in (*tree.body, *(each for each in inside if getattr(each, "decorator_list", []))):
        defined = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        decorators = [each.lineno for each in node.decorator_list] if defined else []  # type: ignore[attr-defined]
        first, last = min([node.lineno, *decorators]), node.end_lineno or node.lineno
        if not any(first <= line <= last for line in lines):
            continue
        if defined:
            last = node.lineno - 1
        for line in range(first, last + 1):
            written[line - 1] = "pass" if line == first and not defined else ""
    return "\n".join(written) + "\n"


class _Bare(types.ModuleType):
    """A package without what its `__init__` does: a name that this would import is looked for where it would be."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for part, known in self._imported():
            if known == name:
                with contextlib.suppress(Exception):
                    return getattr(importlib.import_module(f"{self.__name__}.{part}"), name)
        raise AttributeError(f"cannot import name '{name}' from '{self.__name__}'")

    def _imported(self) -> list[tuple[str, str]]:
        """The modules of the package, and the names that its `__init__` imports from them."""
        try:
            with open(os.path.join(self.__path__[0], "__init__.py"), encoding="utf-8") as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError):
            return []
        imports = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom) and each.module]
        own = f"{self.__name__}."
        inner = [(i.module or "", i) for i in imports if i.level == 1]
        inner += [((i.module or "").removeprefix(own), i) for i in imports if (i.module or "").startswith(own)]
        return [(module, alias.asname or alias.name) for module, found in inner for alias in found.names]


_said = importlib.metadata.version


def _version(distribution_name: str) -> str:
    """As `importlib.metadata.version`, for what is not installed, too."""
    try:
        return _said(distribution_name)
    except importlib.metadata.PackageNotFoundError:
        return "999.0"  # as that of other stand-ins: whatever is wanted at least


_FETCHED: tuple[tuple[Any, str, str], ...] = (
    (torch.hub, "load_state_dict_from_url", "weights"),
    (torch.hub, "download_url_to_file", "file"),
    (torch.hub, "load", "Network"),
    (torch.utils.model_zoo, "load_url", "weights"),
)
"""What fetches weights, or a network, and the name of what that gives: there is no connection."""
_NEEDED = frozenset({"torch", "numpy", "torchlint", "__main__"})
"""Nothing can be loaded without them."""


def _absent_beside(error: BaseException, root: str, own: str) -> Iterator[str]:
    """
    What else the file imports that lacks one package, on its own level and whatever happens, and is not there: it
    would be missed next, and to come there everything is loaded again.
    """
    trace, file = error.__traceback__, ""
    while trace is not None:
        frame = trace.tb_frame
        inside = frame.f_code.co_name == "<module>" and not frame.f_code.co_filename.startswith("<")
        file = frame.f_code.co_filename if inside else file
        trace = trace.tb_next
    if not file.startswith(root + os.sep):
        return
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return
    for statement in tree.body:
        match statement:
            case ast.Import(names):
                found = [each.name for each in names]
            case ast.ImportFrom(str() as module, _, 0):
                found = [module]
            case _:
                continue
        tops = (each.partition(".")[0] for each in found)
        yield from (top for top in tops if top not in (own, *sys.stdlib_module_names) and not _is_there(top))


def _is_there(name: str) -> bool:
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _dotted(path: str) -> tuple[str, str]:
    """The directory that is on the import path, and the module's name below it."""
    directory, file = os.path.split(path)
    parts = [file.removesuffix(".py")]
    while os.path.isfile(os.path.join(directory, "__init__.py")):
        directory, package = os.path.split(directory)
        parts.insert(0, package)
    if len(parts) > 1 and parts[-1] == "__init__":
        parts.pop()
    return directory, ".".join(parts)
