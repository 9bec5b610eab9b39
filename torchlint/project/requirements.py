"""
Which releases of torch a project says it runs on: read from its metadata, never run.

A range that begins somewhere is what counts; what only pins a release (a lock file) or names none is asked last.
Files are read as text, TOML or Python's own tree; what cannot be read says nothing. Needs no libcst.
"""

from __future__ import annotations

import ast
import configparser
import json
import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from torchlint.project import ranges
from torchlint.project.companions import NAMES, Companion, companion
from torchlint.project.dependencies import Doubt, may_hold
from torchlint.project.distributions import called, shipping
from torchlint.project.pythons import pythons
from torchlint.project.ranges import NAME, specifiers
from torchlint.project.roots import INSTALLED, MARKS
from torchlint.project.stated import asked_for, python, required, tidy, toml
from torchlint.results import digest
from torchlint.target import NEWEST, Target, TargetError, bounds, spelled

_REQUIREMENTS = tuple(
    f"{folder}{stem}{ending}"
    for folder, stems in (
        ("", ("requirements", "requirements-dev", "requirements_dev", "requirements-test", "requirements-torch")),
        ("", ("dev-requirements", "requirements-gpu", "requirements-cpu")),
        ("requirements/", ("base", "main", "default", "core", "requirements", "pytorch", "dev", "test")),
    )
    for stem in stems
    for ending in (".txt", ".in")
)
"""A project that has others than these says it in `target-torch`."""
MOST_BYTES = 4_000_000
"""Of a file that is looked into."""
_VISION = "torchvision"
_ON_MACOS = re.compile(
    rf"\b{NAME}\s*\(?([<>=!~][^;#@)\"'\n]*)\)?\s*;\s*(?:sys_platform|platform_system)\s*==\s*\\?[\"']darwin\\?[\"']"
    r"(?!\s*(?:and|or)\b)",
    re.IGNORECASE,
)
"""A requirement that holds on macOS alone, and always there, beside what is asked for everywhere."""


_TAG = re.compile(r"\.(?:cpython-3|cp3)(\d+)m?-[\w-]*\.(?:so|pyd)\b")
"""Of the file of a compiled module, for which Python it is (PEP 3149); `abi3` is for all."""
_ENDINGS = (("-win", "Windows"), ("-darwin.", "macOS"))
"""Likewise, for which platform; any other is Linux."""


def target(path: str) -> tuple[Target, Mapping[str, str]]:
    """
    What the project of a file says, and the digests of the files that say so or would if they were there ("").

    Parameters
    ----------
    path
        The file; it need not exist.
    """
    directory = os.path.dirname(os.path.abspath(path))
    if not INSTALLED.isdisjoint(directory.split(os.sep)):
        return Target(), {}
    key, levels = directory, list(_upwards(directory))
    if levels[0].wheels > 1:
        key, levels = os.path.abspath(path), list(_upwards(directory, os.path.basename(path)))
    known = _answers.get(key)
    if known is None or len(known[0]) != len(levels) or any(map(operator.is_not, known[0], levels)):
        depends = {path: content for level in levels for path, content in level.seen.items()}
        known = _answers[key] = levels, _counting(levels), depends
    return known[1], known[2]


_Stamp: TypeAlias = "tuple[int, int] | None"


class _Level(NamedTuple):
    """What one directory says."""

    target: Target | None
    is_last: bool
    """The project does not go further up."""
    wheels: int
    """How many wheels unpacked there say it by their own metadata; of several, one lists a file by its own name."""
    names: frozenset[str]
    """What the files of a project there call it."""
    seen: dict[str, str]
    stamps: tuple[tuple[str, _Stamp], ...]
    """The times of the files that were read, and of the directories in which others were looked for in vain."""


_kept: dict[tuple[str, str], _Level] = {}
"""By directory, and what of it the file is in: a process may live long."""
_answers: dict[str, tuple[list[_Level], Target, dict[str, str]]] = {}
"""For the files of a directory (for one, where wheels share it), as long as the levels are those."""


def _counting(levels: list[_Level]) -> Target:
    """
    What counts of what the levels say: the nearest, and, where a distribution around that lists the file as its own,
    what that says. Nobody installs by a bundled project's metadata; a list of requirements that lies there may begin
    later than the distribution's, and then counts.
    """
    nearest = next((level for level in levels if level.is_last), levels[-1])
    own = nearest.target or Target()
    if nearest is levels[-1]:
        return own
    outer = levels[-1].target
    if not nearest.names <= levels[-1].names:
        return outer or Target()
    return own if outer is None or (nearest.target is not None and own.oldest > outer.oldest) else outer


def _upwards(directory: str, below: str = "") -> Iterator[_Level]:
    """
    The directories that may say something, from that of a file as far as its project goes; at the end that of the
    distribution that the project is bundled in, if it is. `below` is the file, where its name counts.
    """
    current = directory
    while True:
        known = _level_of(current, below)
        yield known
        above = os.path.dirname(current)
        if known.is_last or above == current:
            break
        current, below = above, os.path.basename(current)
    around = None if known.wheels else shipping(directory, current)
    if around is not None:
        yield _level_of(around, os.path.relpath(directory, around).split(os.sep)[0])


def _level_of(directory: str, below: str) -> _Level:
    """A level as it was read, as long as its files are the same."""
    known = _kept.get((directory, below))
    if known is None or any(_stamp(path) != stamp for path, stamp in known.stamps):
        known = _kept[directory, below] = _level(directory, below)
    return known


def _level(directory: str, below: str) -> _Level:
    seen: dict[str, str] = {}
    reader = _Reader(directory, seen, below)
    own = reader.target()
    marked = any(os.path.exists(os.path.join(directory, mark)) for mark in MARKS)
    asked = {directory, *(path if content else os.path.dirname(path) for path, content in seen.items())}
    stamps = tuple((path, _stamp(path)) for path in sorted(asked))
    is_last = own is not None or bool(reader.built) or marked
    names = called(directory, reader.wheels) if is_last else frozenset()
    return _Level(own, is_last, len(reader.wheels), names, seen, stamps)


def _stamp(path: str) -> _Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


_INLINE = re.compile(r"^# /// script\r?$\n((?:^#(?: .*)?\r?$\n)+?)^# ///\r?$", re.MULTILINE)


def inline(text: str) -> Target | None:
    """What a script says of itself (PEP 723: `# /// script`, with its `dependencies` in comments)."""
    block = _INLINE.search(text) if "# /// script" in text else None
    if block is None:
        return None
    lines = (line[2:] if line.startswith("# ") else line[1:] for line in block[1].splitlines())
    try:
        for specifier in specifiers(toml("\n".join(lines)).get("dependencies", ())):
            lower, upper = bounds(specifier)
            return Target(upper if lower is None else lower, upper, f"torch{specifier} in the script's own metadata")
    except (ValueError, TypeError, AttributeError):
        return None
    return None


def entry_points(top: str) -> list[str]:
    """The files that say which commands the distributions unpacked in a directory install."""
    try:
        names = sorted(os.listdir(top))
    except OSError:
        return []
    return [os.path.join(top, name, "entry_points.txt") for name in names if name.endswith(".dist-info")]


def forget() -> None:
    """Nothing that was read is taken for what is there now."""
    _kept.clear()
    _answers.clear()


class _Reader:
    """
    The metadata in one directory; what was looked at is noted in `seen`.

    `below` is the name of the directory in it that the file is in; "", or the file, if it is in this one itself.
    `built` are the metadata that an unpacked distribution has here, `wheels` those of them that a wheel has: by these
    it is installed, whatever else of its project was packed.
    """

    def __init__(self, directory: str, seen: dict[str, str], below: str) -> None:
        self.directory = directory
        self.seen = seen
        self.built = _built(directory, below)
        self.wheels = tuple(each for each in self.built if each.endswith("/METADATA"))
        self.names = _names(directory)

    def target(self) -> Target | None:
        """The first range with a lower end; else the newest that a range without one allows."""
        newest: Target | None = None
        for said in self._said():
            try:
                lower, upper, where = ranges.left(said)
            except TargetError:
                continue
            vision = next((f"{each.said} in {said.file}" for each in said.beside if each.said.startswith(_VISION)), "")
            if lower is not None:
                most = upper if newest is None else max(lower, min(upper, newest.newest))
                raising, holding = Doubt(), Doubt()
                if lower < most:
                    raising, holding = ranges.raising(said, lower), may_hold(required(said.file, said.text))
                return Target(
                    lower,
                    most,
                    where,
                    vision,
                    ranges.later_on_macos(said.on_macos, lower),
                    raising.expected,
                    holding.expected,
                    raising.unknown,
                    holding.unknown,
                    ranges.extras(said, lower),
                    min(pythons(said.python), default=0),
                )
            if newest is None and upper != NEWEST:
                newest = Target(upper, upper, where, vision)
        return newest

    def _said(self) -> Iterator[ranges.Said]:
        """Of each file one range: from the lowest lower end that it gives anywhere (in an extra, say)."""
        readers: tuple[tuple[tuple[str, ...], Callable[[str], Iterable[str]]], ...] = (
            (self.wheels, _metadata),
            (("pyproject.toml",), _pyproject),
            (("setup.cfg",), _setup_cfg),
            (("setup.py",), _setup_py),
            ((*_SOURCE, *(each for each in self.built if each not in self.wheels)), _metadata),
            (_REQUIREMENTS, self._requirements),
            (("environment.yml", "environment.yaml", "conda.yml", "conda.yaml"), _environment),
            (("Pipfile",), _pipfile),
            (("pixi.toml",), _pixi),
            (("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"), _toml_lock),
            (("pixi.lock", "conda-lock.yml", "conda-lock.yaml"), _conda_lock),
            (("Pipfile.lock",), _pipfile_lock),
        )
        for names, read in readers:
            for name in names:
                text = self._text(name)
                if text is not None and ("torch" in text or "-r" in text):
                    try:
                        found = [spec for spec in map(tidy, read(text)) if spec]
                    except (ValueError, SyntaxError, RecursionError, TypeError, AttributeError, configparser.Error):
                        continue  # whoever builds the project says what is wrong with it
                    beside = tuple(_beside(name, text))
                    built, elsewhere = self._built_for(name)
                    asked = built or python(name, text)
                    if found or any(each.is_of_release for each in beside) or ranges.ends_by_python(name, text, asked):
                        there = _ON_MACOS.search(text)
                        on_macos = tidy(there[1]) if there is not None else ""
                        lowest = min(found, key=_lowest) if found else ""
                        yield ranges.Said(lowest, name, beside, on_macos, text, asked, bool(built), elsewhere)

    def _built_for(self, name: str) -> tuple[str, str]:
        """
        The Python that the compiled modules of an unpacked wheel are for, and the platform if it is not Linux; "" if it
        has none, or for several.
        """
        folder, _, base = name.rpartition("/")
        record = self._text(f"{folder}/RECORD") if base == "METADATA" else None
        modules = list(_TAG.finditer(record)) if record is not None else []
        minors = {each[1] for each in modules}
        platforms = {next((word for ending, word in _ENDINGS if ending in each[0]), "") for each in modules}
        if len(minors) != 1:
            return "", ""
        return f"==3.{minors.pop()}.*", platforms.pop() if len(platforms) == 1 else ""

    def _text(self, name: str) -> str | None:
        path = os.path.join(self.directory, *name.split("/"))
        first = name.partition("/")[0].casefold()
        if self.names is not None and first not in self.names and not first.startswith("."):
            self.seen[path] = ""
            return None
        try:
            if os.path.getsize(path) > MOST_BYTES:
                self.seen[path] = digest(Path(path).read_bytes())
                return None
            data = Path(path).read_bytes()
        except OSError:
            self.seen[path] = ""
            return None
        self.seen[path] = digest(data)
        return data.decode("utf-8", errors="replace")

    def _requirements(self, text: str, depth: int = 3) -> Iterator[str]:
        for line in text.splitlines():
            other = re.match(r"\s*(?:-r|--requirement|-c|--constraint)[ =]\s*(\S+)", line)
            if other is not None and depth:
                inner = self._text(other[1])
                if inner is not None:
                    yield from self._requirements(inner, depth - 1)
            yield from specifiers((line,))


def _beside(name: str, text: str) -> Iterator[Companion]:
    """What a file requires, whatever is asked of it (no extra), of packages that come with torch."""
    if any(each in text or each.replace("-", "_") in text for each in NAMES):
        yield from filter(None, map(companion, required(name, text)))


def _names(directory: str) -> frozenset[str] | None:
    """What is in a directory, whatever its case; None if that cannot be said."""
    try:
        return frozenset(name.casefold() for name in os.listdir(directory))
    except OSError:
        return None


_SOURCE = ("PKG-INFO",)
"""The metadata of an unpacked source distribution."""


def _built(directory: str, below: str) -> tuple[str, ...]:
    """
    The metadata that were made when a distribution was built and lie beside its code: those of an unpacked wheel, and,
    beside a `PKG-INFO` (else they are a developer's own, and may be old), what setuptools wrote of requirements.
    """
    here = (os.path.exists(os.path.join(directory, name)) for name in ("__init__.py", "PKG-INFO", "setup.py"))
    if next(here) and not all(here):
        return ()  # a package; what is unpacked may have such a file by mistake
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return ()
    found = [f"{name}/METADATA" for name in names if name.endswith(".dist-info") and _is_of(directory, name, below)]
    if "PKG-INFO" in names:
        found += [f"{name}/requires.txt" for name in names if name.endswith(".egg-info")]
        if "src" in names:
            source = os.path.join(directory, "src")
            inner = sorted(os.listdir(source)) if os.path.isdir(source) else []
            found += [f"src/{name}/requires.txt" for name in inner if name.endswith(".egg-info")]
    return tuple(found)


def _is_of(directory: str, information: str, below: str) -> bool:
    """Whether a distribution that says which files it has (`RECORD`) has some there; many may share a directory."""
    try:
        with open(os.path.join(directory, information, "RECORD"), encoding="utf-8", errors="replace") as record:
            return not below or any(line.startswith((f"{below}/", f"{below},")) for line in record)
    except OSError:
        return True


def _lowest(specifier: str) -> tuple[int, tuple[int, int]]:
    try:
        lower, upper = bounds(specifier)
    except TargetError:
        return 2, NEWEST
    return (1, upper) if lower is None else (0, lower)


def _pyproject(text: str) -> Iterator[str]:
    table = toml(text)
    project = table.get("project", {})
    allowed = pythons(python("pyproject.toml", text))
    always = list(specifiers(project.get("dependencies", ()), allowed))
    yield from always
    if always:  # what an extra or a group asks for, it asks for beside
        return
    for extra in project.get("optional-dependencies", {}).values():
        yield from specifiers(extra, allowed)
    tool = table.get("tool", {})
    poetry = tool.get("poetry", {})
    yield from _by_name(poetry.get("dependencies", {}))
    for group in poetry.get("group", {}).values():
        yield from _by_name(group.get("dependencies", {}))
    yield from _by_name(poetry.get("dev-dependencies", {}))
    yield from _of_pixi(tool.get("pixi", {}))
    for group in (
        *table.get("dependency-groups", {}).values(),
        *tool.get("pdm", {}).get("dev-dependencies", {}).values(),
    ):
        yield from specifiers(group)
    uv = tool.get("uv", {})
    yield from specifiers((*uv.get("dev-dependencies", ()), *uv.get("constraint-dependencies", ())))
    for environment in tool.get("hatch", {}).get("envs", {}).values():
        yield from specifiers((*environment.get("dependencies", ()), *environment.get("extra-dependencies", ())))
    yield from specifiers(tool.get("flit", {}).get("metadata", {}).get("requires", ()))


def _of_pixi(table: dict[str, Any]) -> Iterator[str]:
    """The dependencies of a workspace, of its features, and of either for one platform."""
    for part in (table, *table.get("feature", {}).values()):
        for each in (part, *part.get("target", {}).values()):
            yield from _by_name(each.get("dependencies", {}))
            yield from _by_name(each.get("pypi-dependencies", {}))


def _pixi(text: str) -> Iterator[str]:
    yield from _of_pixi(toml(text))


def _by_name(table: dict[str, Any]) -> Iterator[str]:
    """`torch = "^2.0"`, `torch = {version = ">=2"}`, or a list of such."""
    for name in ("torch", "pytorch"):
        value = table.get(name, ())
        for each in value if isinstance(value, list) else (value,):
            version = each.get("version") if isinstance(each, dict) else each
            if isinstance(version, str):
                yield version


def _setup_cfg(text: str) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    always = list(specifiers(parser.get("options", "install_requires", fallback="").splitlines()))
    yield from always
    if not always and parser.has_section("options.extras_require"):
        for _, value in parser.items("options.extras_require"):
            yield from specifiers(value.splitlines())


def _metadata(text: str) -> Iterator[str]:
    """The head of a distribution's metadata (`Requires-Dist: torch (==1.8)`), or the lines of a `requires.txt`."""
    if not text.lstrip().lower().startswith("metadata-version"):
        yield from specifiers(text.splitlines())
        return
    allowed = pythons(python("METADATA", text))
    always = list(specifiers(required("METADATA", text), allowed))
    extras = [line for each in asked_for("METADATA", text).values() for line in each]
    yield from always or specifiers(extras, allowed)


def _setup_py(text: str) -> Iterator[str]:
    """Every requirement of torch that stands there as a text, wherever it stands."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from specifiers((node.value,))


def _environment(text: str) -> Iterator[str]:
    """Conda's `- pytorch=2.1` and `- pytorch::pytorch>=2`, pip's `- torch==2.1`."""
    for line in text.splitlines():
        found = re.match(rf"\s*-\s*[\"']?(?:[\w-]+::)?{NAME}\s*([<>=!~\d][^\s\"'#]*(?:,\s*[^\s\"'#]+)*)", line)
        if found is not None:
            yield found[1]


def _pipfile(text: str) -> Iterator[str]:
    table = toml(text)
    for section in ("packages", "dev-packages"):
        yield from _by_name(table.get(section, {}))


def _toml_lock(text: str) -> Iterator[str]:
    """The entry of torch alone: the whole may have a megabyte."""
    for found in re.finditer(r'^name = "torch"\r?\nversion = "([^"]+)"', text, re.MULTILINE):
        yield f"=={found[1]}"


def _conda_lock(text: str) -> Iterator[str]:
    """
    The entry of torch: a name and a version on two lines, or the file that is fetched (`…/pytorch-2.1.0-py311_0.conda`,
    `…/torch-2.1.0-cp311-….whl`).
    """
    for found in re.finditer(rf"^[\s-]*name: {NAME}\r?\n\s*version: [\"']?([\d.]+)", text, re.MULTILINE):
        yield f"=={found[1].rstrip('.')}"
    for found in re.finditer(rf"/{NAME}-(\d[\d.]*)[^/\s]*\.(?:conda|tar\.bz2|whl)\b", text):
        yield f"=={found[1].rstrip('.')}"


def _pipfile_lock(text: str) -> Iterator[str]:
    table = json.loads(text)
    for section in ("default", "develop"):
        yield from _by_name(table.get(section, {}))


def described(found: Target) -> str:
    """A target in words, for people who ask which one holds."""
    ends = (
        spelled(found.oldest) if found.oldest == found.newest else f"{spelled(found.oldest)} to {spelled(found.newest)}"
    )
    return f"torch {ends} ({found.said or 'the newest known'})"
