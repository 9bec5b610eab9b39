"""
The user's configuration: finds it, reads it, refuses what it does not know.

Says what was asked for; which rules that selects is the registry's business. Imports no libcst, so that a
run over files without torch stays fast.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

LEVELS = ("error", "warning", "smell", "strict")
NAMES = (".torchlint.toml", "torchlint.toml", "pyproject.toml")
"""What a configuration file is called; where there are several, the first counts."""
PYPROJECT = "pyproject.toml"
PatternSelectors: TypeAlias = "tuple[tuple[str, tuple[str, ...]], ...]"
"""(pattern, selectors) of `per-file-ignores`."""


class ConfigError(Exception):
    """
    The configuration is wrong: says in which file, which key, and what is expected.

    Attributes
    ----------
    known
        What of a file could be read in spite of it, for those who look for what else is wrong there.
    """

    def __init__(self, message: str, known: Config | None = None) -> None:
        super().__init__(message)
        self.known = known


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
    extended
        The files that it extends, nearest first.
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
    preview
        Rules that are in preview too.
    exit_on
        The mildest level that makes the exit status 1.
    plugins
        Modules that hold rules.
    target_torch
        The releases of torch that the code must run on; `None`: what the project's metadata say.
    rules
        Options of rules, by the rules' names.
    output_format, fix, unsafe_fixes, jobs, cache_dir, force_exclude, baseline
        What a command uses where its options do not say; only the working directory's configuration counts.
    """

    file: Path | None = None
    extended: tuple[Path, ...] = ()
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: PatternSelectors = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    strict: bool = False
    preview: bool = False
    exit_on: str = "warning"
    plugins: tuple[str, ...] = ()
    target_torch: str | None = None
    rules: Options = ()
    output_format: str | None = None
    fix: bool = False
    unsafe_fixes: bool = False
    jobs: int | None = None
    cache_dir: str | None = None
    force_exclude: bool = False
    baseline: str | None = None

    @property
    def root(self) -> Path | None:
        """The directory that patterns are relative to."""
        return self.file.parent if self.file else None


@dataclass(frozen=True, slots=True)
class Overrides:
    """
    What the command line says on top of every configuration file.

    Attributes
    ----------
    select, extend_select, ignore, strict, preview, exit_on
        As in `Config`.
    exclude, extend_exclude, per_file_ignores
        As in `Config`, with patterns relative to `root`.
    root
        The working directory.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    strict: bool = False
    preview: bool = False
    exit_on: str | None = None
    target_torch: str | None = None
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    per_file_ignores: PatternSelectors = ()
    root: Path | None = None


class Configurations:
    """
    The configuration of each directory, each file read once.

    Parameters
    ----------
    file
        One file for all directories, in the place of those that lie there; patterns are relative to its directory.
    isolated
        Read no file that is not named.
    inline
        TOML (`exit-on = "error"`) that holds on top of every file.

    Attributes
    ----------
    read_beside
        Files that were read and are not found by looking at the directories: named or extended ones.

    Raises
    ------
    ConfigError
        if `inline` is not valid.
    """

    def __init__(self, file: Path | None = None, *, isolated: bool = False, inline: Iterable[str] = ()) -> None:
        self.read_beside: set[Path] = set()
        self._file = file.absolute() if file is not None else None
        self._isolated = isolated
        self._known: dict[Path, Config] = {}
        self._inline: dict[str, Any] = {}
        for text in inline:
            for key, value in _inline(text).items():
                known = self._inline.get(key)
                self._inline[key] = _merged(known, value) if isinstance(known, dict) else value
        if self._inline:
            _, complaints = _values(COMMAND_LINE, self._inline)
            if complaints:
                raise ConfigError("\n".join(complaints))
            make_importable(Path.cwd())

    def for_directory(self, directory: Path) -> Config:
        """
        The configuration that holds in a directory: the nearest `torchlint.toml`, or `pyproject.toml` with a table
        `[tool.torchlint]`, in it or above it; else the defaults.

        Raises
        ------
        ConfigError
            if that file is not valid.
        """
        if self._file is not None:
            return self._of(self._file, self._named)
        if self._isolated:
            return self._of(Path(), Config)
        return self._search(directory.resolve())

    def _of(self, key: Path, make: Callable[[], Config]) -> Config:
        if key not in self._known:
            self._known[key] = self._with_inline(make())
        return self._known[key]

    def _named(self) -> Config:
        assert self._file is not None
        self.read_beside.add(self._file)
        table = _table(self._file)
        if table is None:
            raise ConfigError(f"{self._file}: has no table [tool.torchlint]")
        return self._noting(read(self._file, table))

    def _search(self, directory: Path) -> Config:
        known = self._known.get(directory)
        if known is None:
            known = self._here(directory)
            if known is None:
                above = directory.parent
                known = self._search(above) if above != directory else self._with_inline(Config())
            self._known[directory] = known
        return known

    def _here(self, directory: Path) -> Config | None:
        for name in NAMES:
            file = directory / name
            try:
                table = _table(file) if file.is_file() else None
            except ConfigError:
                if not _is_template(file):
                    raise
                continue
            if table is not None:
                return self._with_inline(self._noting(read(file, table)))
        return None

    def _noting(self, found: Config) -> Config:
        self.read_beside.update(found.extended)
        return found

    def _with_inline(self, found: Config) -> Config:
        if not self._inline:
            return found
        values, _ = _values(COMMAND_LINE, self._inline)
        if "rules" in values:
            values["rules"] = _joined(found.rules, values["rules"])
        return replace(found, file=found.file or Path.cwd() / COMMAND_LINE, **values)


COMMAND_LINE = Path("command line")
"""What a complaint names instead of a file."""
_usual = Configurations()


def for_directory(directory: Path) -> Config:
    """`Configurations.for_directory` where nothing but the files decides."""
    return _usual.for_directory(directory)


def forget() -> None:
    """Read all files anew when they are asked for again: they may have changed."""
    global _usual
    _usual = Configurations()


def read(file: Path, table: object) -> Config:
    """
    A configuration table as a `Config`.

    Raises
    ------
    ConfigError
        for unknown keys (names the near misses) and values of the wrong type (names the types expected).
    """
    settings = _read(file, table, ())
    if settings.plugins:
        for each in (file, *settings.extended):
            make_importable(each.parent)
    return settings


def _read(file: Path, table: object, below: tuple[Path, ...]) -> Config:
    if not isinstance(table, dict):
        raise ConfigError(f"{file}: [tool.torchlint] must be a table, not {_describe(table)}")
    values, complaints = _values(file, {key: value for key, value in table.items() if key != "extend"})
    settings = Config(file=file, **values)
    if "extend" in table:
        try:
            settings = _extended(file, table["extend"], below, values)
        except ConfigError as error:
            complaints.append(str(error))
    if complaints:
        raise ConfigError("\n".join(complaints), settings)
    return settings


def _extended(file: Path, extend: object, below: tuple[Path, ...], values: dict[str, Any]) -> Config:
    """What a file says on top of another one."""
    if not isinstance(extend, str):
        raise ConfigError(f"{file}: `extend` must be the path of a configuration file, not {_describe(extend)}")
    other = (file.parent / extend).resolve()
    if other in below or other == file.resolve():
        raise ConfigError(f"{file}: `extend` goes in a circle: {other} extends this file")
    if not other.is_file():
        raise ConfigError(f"{file}: `extend`: there is no file {other}")
    base_table = _table(other)
    if base_table is None:
        raise ConfigError(f"{file}: `extend`: {other} has no table [tool.torchlint]")
    base = _read(other, base_table, (*below, file.resolve()))
    more = dict(values)
    for key in ("extend_select", "extend_exclude", "per_file_ignores", "plugins"):
        more[key] = tuple(dict.fromkeys((*getattr(base, key), *more.get(key, ()))))
    more["rules"] = _joined(base.rules, more.get("rules", ()))
    return replace(base, file=file, extended=(other, *base.extended), **more)


def _values(file: Path, table: Mapping[str, object]) -> tuple[dict[str, Any], list[str]]:
    """The values of a table by the names of `Config`'s attributes, and what is wrong with the others."""
    values: dict[str, Any] = {}
    complaints: list[str] = []
    for key, value in table.items():
        reader = _READERS.get(key)
        if reader is None:
            if key == "tool" and file.name != PYPROJECT:
                complaints.append(f"{file}: leave out the header `[tool.torchlint]`: all of this file is that table")
                continue
            complaints.append(f"{file}: unknown key `{key}`{near_miss(key, [*_READERS, 'extend'])}")
            continue
        try:
            values[key.replace("-", "_")] = reader(value)
        except _ExpectedError as expected:
            complaints.append(f"{file}: `{key}` must be {expected}")
    return values, complaints


def _joined(base: Options, more: Options) -> Options:
    """The options of both, rule by rule; the second's count where both say."""
    rules = {rule: dict(options) for rule, options in base}
    for rule, options in more:
        rules[rule] = {**rules.get(rule, {}), **dict(options)}
    return tuple((rule, tuple(options.items())) for rule, options in rules.items())


def _merged(base: Mapping[str, Any], more: object) -> object:
    if not isinstance(more, dict):
        return more
    result = dict(base)
    for key, value in more.items():
        known = result.get(key)
        result[key] = _merged(known, value) if isinstance(known, dict) else value
    return result


def make_importable(directory: Path) -> None:
    """Let plugins be found that lie beside the configuration; after all that is installed, which they may not hide."""
    if str(directory) not in sys.path:
        sys.path.append(str(directory))


_LOOK_ALIKE = str.maketrans("OILSB", "01158")
"""Letters that are typed for digits."""
_CODE = re.compile(r"(?P<letters>[A-Za-z]+?)(?P<number>[0-9]+)")


def near_miss(word: str, known: Mapping[str, object] | list[str]) -> str:
    """ "; did you mean `x`?" if a known word is close, else the empty string."""
    alike = [each for each in known if each.upper().translate(_LOOK_ALIKE) == word.upper().translate(_LOOK_ALIKE)]
    import difflib

    close = alike or difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


def near_code(word: str, codes: Iterable[str]) -> str | None:
    """
    What is to be said of a word that begins like a code and is none; None of a word that does not begin like one.

    Codes of one tool are all alike, so that the nearest in letters says nothing: only what stands for the same number
    is taken for a slip. Of another number it is said which there are, of another shape what a code looks like.
    """
    known = {code: found for code in sorted(codes) if (found := _CODE.fullmatch(code)) is not None}
    upper = word.upper()
    letters = next((each["letters"] for each in known.values() if upper.startswith(each["letters"])), None)
    if letters is None or not word.isalnum():
        return None
    own = {code: each["number"] for code, each in known.items() if each["letters"] == letters}
    number = upper[len(letters) :].translate(_LOOK_ALIKE)
    if number.isdecimal():
        slips = [code for code, digits in own.items() if int(digits) == int(number)]
        if slips:
            return f"; did you mean `{slips[0]}`?"
        family = [code for code, digits in own.items() if digits[0] == number[0]]
        if family and len(number) <= len(min(own.values(), key=len)):
            ends = f"`{family[0]}` to `{family[-1]}`" if len(family) > 1 else f"`{family[0]}` alone"
            return f"; of `{letters}{number[0]}` there {'are' if len(family) > 1 else 'is'} {ends}"
    one = next((code for code, digits in own.items() if digits[0] != "0"), min(own))
    return f"; codes look like `{one}`, families of them like `{one[: len(letters) + 1]}`"


def line_of(file: Path, word: str) -> int:
    """The first line of a configuration file that has a word as a string; 0 where none has."""
    quoted = (f'"{word}"', f"'{word}'")
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return 0
    return next((number for number, line in enumerate(lines, 1) if any(each in line for each in quoted)), 0)


def _table(file: Path) -> object | None:
    """The table of a configuration file; None where a `pyproject.toml` has none."""
    content = _toml(file)
    if file.name != PYPROJECT:
        return content
    tool = content.get("tool", {})
    return tool.get("torchlint") if isinstance(tool, dict) else None


def _is_template(file: Path) -> bool:
    """
    Whether a file that is no TOML lies below the working directory and nowhere names torchlint: a template of a project
    with its placeholders cannot configure torchlint, and the project around it is linted.
    """
    if file.name != PYPROJECT or Path.cwd() not in file.parent.parents:
        return False
    try:
        return b"torchlint" not in file.read_bytes()
    except OSError:
        return False


def _toml(file: Path) -> dict[str, Any]:
    try:
        return _loaded(file.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise ConfigError(f"{file}: not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from error


def _inline(text: str) -> dict[str, Any]:
    try:
        return _loaded(text)
    except (ValueError, RecursionError) as error:
        why = f"neither a file nor TOML such as 'exit-on = \"error\"' ({error})"
        raise ConfigError(f"--config: `{text}` is {why}") from error


def _loaded(text: str) -> dict[str, Any]:
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    return dict(toml.loads(text))


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


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _ExpectedError(f"a number from 1 on, not {_describe(value)}")
    return value


def _string(value: object, such_as: str) -> str:
    if not isinstance(value, str) or not value:
        raise _ExpectedError(f'a string, such as "{such_as}", not {_describe(value)}')
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
    "preview": _boolean,
    "exit-on": _level,
    "plugins": partial(_strings, such_as="my_rules"),
    "target-torch": _torch,
    "rules": _options,
    "output-format": partial(_string, such_as="concise"),
    "fix": _boolean,
    "unsafe-fixes": _boolean,
    "jobs": _number,
    "cache-dir": partial(_string, such_as=".cache/torchlint"),
    "force-exclude": _boolean,
    "baseline": partial(_string, such_as="torchlint-baseline.json"),
}
assert {key.replace("-", "_") for key in _READERS} == {item.name for item in fields(Config)} - {"file", "extended"}
