"""
The user's configuration: finds it, reads it, refuses what it does not know.

Says what was asked for; which rules that selects is the registry's business. Imports no libcst, so that a
run over files without torch stays fast.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

LEVELS = ("error", "warning", "smell", "strict")


class ConfigError(Exception):
    """The configuration is wrong: says in which file, which key, and what is expected."""


Options: TypeAlias = "tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]"
"""(name of a rule, (option, value))."""


@dataclass(frozen=True, slots=True)
class Config:
    """
    One configuration file, or the defaults.

    Attributes
    ----------
    file
        Where it comes from; `None` for the defaults.
    select, extend_select, ignore
        Codes, prefixes, names or `ALL`. `select` is `None` where the file does not say.
    per_file_ignores
        (pattern, selectors): patterns as in `.gitignore`, relative to the file's directory.
    exclude
        Patterns of files and directories to leave out, instead of the usual ones; `None`: the usual ones.
    extend_exclude
        Patterns in addition.
    strict
        Strict-level findings too.
    exit_on
        The mildest level that makes the exit status 1.
    plugins
        Modules that hold rules.
    target_torch
        The releases of torch that the code must run on; `None`: what the project's metadata say.
    rules
        Options of rules, by the rules' names.
    """

    file: Path | None = None
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    strict: bool = False
    exit_on: str = "warning"
    plugins: tuple[str, ...] = ()
    target_torch: str | None = None
    rules: Options = ()

    @property
    def root(self) -> Path | None:
        """The directory that patterns are relative to."""
        return self.file.parent if self.file else None


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says on top of every configuration file."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    strict: bool = False
    exit_on: str | None = None
    target_torch: str | None = None


def for_directory(directory: Path) -> Config:
    """
    The configuration that holds in a directory: the nearest `torchlint.toml`, or `pyproject.toml` with a table
    `[tool.torchlint]`, in it or above it; else the defaults.

    Raises
    ------
    ConfigError
        if that file is not valid.
    """
    return _search(directory.resolve())


@cache
def _search(directory: Path) -> Config:
    own = directory / "torchlint.toml"
    if own.is_file():
        return read(own, _toml(own))
    project = directory / "pyproject.toml"
    if project.is_file():
        tool = _toml(project).get("tool", {})
        if isinstance(tool, dict) and "torchlint" in tool:
            return read(project, tool["torchlint"])
    return _search(directory.parent) if directory.parent != directory else Config()


def read(file: Path, table: object) -> Config:
    """
    A configuration table as a `Config`.

    Raises
    ------
    ConfigError
        for an unknown key (names the near miss) or a value of the wrong type (names the type expected).
    """
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: [tool.torchlint] must be a table, not {_describe(table)}")
    values: dict[str, Any] = {}
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            raise ConfigError(f"{file}: unknown key `{key}`{near_miss(key, _READERS)}")
        try:
            values[key.replace("-", "_")] = reader(value)
        except _ExpectedError as expected:
            raise ConfigError(f"{file}: `{key}` must be {expected}") from None
    settings = Config(file=file, **values)
    if settings.plugins:
        make_importable(file.parent)
    return settings


def make_importable(directory: Path) -> None:
    """Let plugins be found that lie beside the configuration; after all that is installed, which they may not hide."""
    if str(directory) not in sys.path:
        sys.path.append(str(directory))


def near_miss(word: str, known: Mapping[str, object] | list[str]) -> str:
    """ "; did you mean `x`?" if a known word is close, else the empty string."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


def _toml(file: Path) -> dict[str, Any]:
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        return dict(toml.loads(file.read_bytes().decode("utf-8")))
    except (toml.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error


class _ExpectedError(Exception):
    """What a value should have been; the caller knows the file and the key."""


def _strings(value: object, such_as: str = "TLN201") -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _ExpectedError(f'a list of strings, such as ["{such_as}"], not {_describe(value)}')
    return tuple(value)


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise _ExpectedError(f"true or false, not {_describe(value)}")
    return value


def _level(value: object) -> str:
    if value not in LEVELS:
        raise _ExpectedError(f"one of {', '.join(map(repr, LEVELS))}, not {_describe(value)}")
    return str(value)


def _torch(value: object) -> str:
    from torchlint.target import TargetError, bounds  # only who states a range pays for it

    if not isinstance(value, str):
        raise _ExpectedError(f'a range of versions, such as "2.4" or ">=2.1,<3", not {_describe(value)}')
    try:
        bounds(value)
    except TargetError as error:
        raise _ExpectedError(f'a range of versions, such as "2.4" or ">=2.1,<3": {error}') from None
    return value


def _strings_by_pattern(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _ExpectedError(
            f'a table from patterns to lists of codes, such as {{"tests/*" = ["TLN2"]}}, not {_describe(value)}'
        )
    return tuple((pattern, _strings(codes)) for pattern, codes in value.items())


def _options(value: object) -> Options:
    if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
        raise _ExpectedError(f"a table of tables, `[tool.torchlint.rules.NAME]`, not {_describe(value)}")
    return tuple((name, tuple((key, _fixed(each)) for key, each in table.items())) for name, table in value.items())


def _fixed(value: object) -> object:
    """Lists as tuples, so that a configuration can be a key."""
    return tuple(_fixed(each) for each in value) if isinstance(value, list) else value


def _describe(value: object) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "float", list: "list", dict: "table"}
    return f"the {names.get(type(value), type(value).__name__)} {value!r}"


_READERS: dict[str, Callable[[object], Any]] = {
    "select": _strings,
    "extend-select": _strings,
    "ignore": _strings,
    "per-file-ignores": _strings_by_pattern,
    "exclude": partial(_strings, such_as="third_party/"),
    "extend-exclude": partial(_strings, such_as="third_party/"),
    "strict": _boolean,
    "exit-on": _level,
    "plugins": partial(_strings, such_as="my_rules"),
    "target-torch": _torch,
    "rules": _options,
}
assert {key.replace("-", "_") for key in _READERS} == {item.name for item in fields(Config)} - {"file"}
