"""
Loads a file of a project for its classes and functions, under its real dotted name.

Runs inside the child. What ends the loading is got out of the way, one thing at a time: a package that is not installed
gets an inert stand-in, a name that a library no longer has does too, and a package's own `__init__` that fails is left
out.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import types
from collections.abc import Callable
from types import CodeType

from torchlint.verify.hook import Finder
from torchlint.verify.standins import Inert, StandIns

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
    """

    def __init__(self, path: str, code: Callable[[str], CodeType]) -> None:
        self.path = os.path.realpath(path)
        self.make = code
        self.standins = StandIns()
        self.root, self.name = _dotted(self.path)
        self.bare = False

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
        sys.meta_path.append(self.standins)
        Finder(self).install()
        before = set(sys.modules)
        for _ in range(ATTEMPTS):
            try:
                return importlib.import_module(self.name)
            except Exception as error:
                for name in set(sys.modules) - before:
                    if self._ours(name):
                        del sys.modules[name]
                if not self._cleared(error):
                    raise
        return importlib.import_module(self.name)

    def _ours(self, name: str) -> bool:
        module = sys.modules[name]
        file = getattr(module, "__file__", None) or ""
        return file.startswith(self.root + os.sep) or name == self.name.partition(".")[0] or isinstance(module, _Bare)

    def _cleared(self, error: Exception) -> bool:
        """Whether what ended the loading is out of the way now."""
        own = self.name.partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and error.name:
            missing = error.name
            if missing.partition(".")[0] != own:
                top = missing.partition(".")[0]
                missing = missing if _is_there(top) else top
                new = missing not in self.standins.names
                self.standins.names.add(missing)
                return new
        above, folder = os.path.split(self.root)
        if "attempted relative import" in str(error) and folder and self.name.count(".") < DEPTH:
            self.root, self.name = above, f"{folder}.{self.name}"  # a package without an `__init__`
            sys.path.insert(0, self.root)
            return True
        gone = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
        if gone and gone[2].partition(".")[0] != own and gone[2] in sys.modules:
            setattr(sys.modules[gone[2]], gone[1], Inert(f"{gone[2]}.{gone[1]}", self.standins.touched))
            return True
        if not self.bare and "." in self.name:
            self.bare = True
            self._bare_packages()
            return True
        return False

    def _bare_packages(self) -> None:
        """The packages that the file is in, without what their `__init__` does."""
        directory, parts = self.root, self.name.split(".")[:-1]
        for index, part in enumerate(parts):
            directory = os.path.join(directory, part)
            name = ".".join(parts[: index + 1])
            module = _Bare(name)
            module.__path__ = [directory]
            module.__package__ = name
            sys.modules[name] = module


class _Bare(types.ModuleType):
    pass


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
