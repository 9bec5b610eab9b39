"""
The set of rules: loads them by name, checks the set, selects from it.

Nobody else knows where rules come from: the package `torchlint.rules`, the entry point group of the
same name, the configuration key `plugins`. A broken rule of torchlint's own stops everything (RegistryError);
a broken plugin is named and left out.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from torchlint.cache.stamp import may_have_entry_points
from torchlint.config import Config, ConfigError, Overrides, line_of, make_importable, near_code, near_miss
from torchlint.record import record
from torchlint.rule import OPTIONAL_SECTIONS, SECTIONS, Level, Rule, RuleDefinitionError, Settings
from torchlint.target import Target, TargetError, target_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

RULES_PACKAGE = "torchlint.rules"
"""The package of torchlint's own rules, and the entry point group of everybody else's."""


class RegistryError(Exception):
    """The set of rules is not sound: says which rule and why."""


@record(frozen=True)
class DriverCode:
    """A finding that the driver itself reports, and no rule."""

    code: str
    name: str
    level: Level
    summary: str


INTERNAL_ERROR = DriverCode(
    "TLN000",
    "internal-error",
    Level.ERROR,
    "A file could not be read or followed, or a rule or plugin failed. The other findings stand; the exit status is 2.",
)
INVALID_SYNTAX = DriverCode(
    "TLN001", "invalid-syntax", Level.ERROR, "A file is not valid Python, or not in the encoding it declares."
)
UNUSED_SUPPRESSION = DriverCode(
    "TLN002", "unused-suppression", Level.SMELL, "A comment suppresses a finding that is not there."
)
DRIVER_CODES = (INTERNAL_ERROR, INVALID_SYNTAX, UNUSED_SUPPRESSION)


@record(frozen=True)
class BrokenPlugin:
    """A plugin that gives no rules: where it was named, what went wrong, and its module."""

    origin: str
    reason: str
    name: str

    @property
    def message(self) -> str:
        """What is wrong, behind the place."""
        return f"no rules from `{self.name}`: {self.reason}"

    def __str__(self) -> str:
        return f"{self.origin}: {self.message}"


@dataclass(frozen=True, slots=True)
class Selection:
    """
    Which rules are asked for.

    Attributes
    ----------
    enabled
        Codes that are reported.
    explicit
        Codes whose strict-level findings are shown without `--strict`, because they were selected by code or name.
    strict
        Whether all strict-level findings are shown.
    target
        The releases of torch that were asked for; None: what the project of each file says.
    options
        What the configuration says to single rules, by code.
    """

    enabled: frozenset[str]
    explicit: frozenset[str] = frozenset()
    strict: bool = False
    target: Target | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def shows(self, code: str, level: Level) -> bool:
        """Whether a finding of an enabled rule is shown, or only counted."""
        return level is not Level.STRICT or self.strict or code in self.explicit

    def without(self, codes: Iterable[str]) -> Selection:
        """The same selection with some codes left out."""
        return replace(self, enabled=self.enabled.difference(codes))

    def settings(self, rule: Rule, target: Target) -> Settings:
        """What the configuration says to a rule, and what its file is to run on."""
        return Settings(target, {**rule.options, **self.options.get(rule.code, {})})


@dataclass(frozen=True)
class Registry:
    """The rules of one configuration, sorted by code."""

    rules: tuple[Rule, ...]
    broken: tuple[BrokenPlugin, ...] = ()

    @cached_property
    def listeners(self) -> dict[tuple[type, frozenset[str]], tuple[Rule, ...]]:
        """Of the kinds of events and sets of enabled rules that were asked for, who listens (`facts.listeners`)."""
        return {}

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The name of every code, the driver's own included."""
        driver = {item.code: item.name for item in DRIVER_CODES}
        return {**driver, **{rule.code: rule.name for rule in self.rules}}

    def find(self, wanted: str) -> Rule | DriverCode:
        """
        A rule by code or name.

        Raises
        ------
        KeyError
            whose argument is a message with the near miss.
        """
        candidates: list[Rule | DriverCode] = [*self.rules, *DRIVER_CODES]
        for item in candidates:
            if wanted.upper() == item.code or wanted.lower() == item.name:
                return item
        raise KeyError(f"no rule `{wanted}`{self._near(wanted)} (all rules: torchlint rules)")

    @property
    def not_loaded(self) -> Iterator[str]:
        """Of each plugin that gives no rules, what whoever asks for a rule that is not there should know."""
        return (f"it may be one of a plugin: {each}" for each in self.broken)

    def matching(self, selector: str, where: str) -> frozenset[str]:
        """
        The codes a selector stands for: a code, a prefix of codes, a name, or ALL.

        Raises
        ------
        ConfigError
            if it stands for none; `where` tells the user in which place it was written.
        """
        found = frozenset(code for code, name in self.names.items() if matches(selector, code, name))
        if not found:
            raise ConfigError(f"{where}: no rule matches `{selector}`{self._meant(selector)}")
        return found

    def _meant(self, selector: str) -> str:
        """What somebody may have meant who wrote a selector that stands for nothing."""
        code = _CODE.fullmatch(selector)
        own = sorted({found["letters"] for name in self.names if (found := _CODE.fullmatch(name)) is not None})
        if (
            code is not None
            and not self.broken
            and not any(letters.startswith(code["letters"].upper()[:2]) for letters in own)
        ):
            return f"; it is another tool's code, those of torchlint begin with {', '.join(own)}"
        return self._near(selector)

    def _near(self, word: str) -> str:
        said = near_code(word, self.names)
        return near_miss(word, [each for pair in self.names.items() for each in pair]) if said is None else said

    def select(self, config: Config, overrides: Overrides) -> Selection:
        """
        What the configuration and, on top of it, the command line ask for.

        Within each of the two the more specific selector wins (code or name before prefix before ALL, longer prefix
        before shorter), and `ignore` before `select` where they are equal. `select` on the command line starts afresh.
        A rule in preview must be selected by code or name, or previews be asked for.

        Raises
        ------
        ConfigError
            for a selector that matches nothing, and for a `select` that names none.
        """
        enabled = frozenset(self.names)
        explicit: frozenset[str] = frozenset()
        complaints = self.complaints(config, overrides)
        if complaints:
            raise ConfigError("\n".join((*complaints, *self.not_loaded)))
        for layer, where in ((config, str(config.file)), (overrides, "command line")):
            chosen = (layer.select or ()) + layer.extend_select
            weights = {True: self._weights(chosen, where), False: self._weights(layer.ignore, where)}
            base = enabled if layer.select is None else frozenset[str]()
            if layer.select is not None:
                explicit = frozenset()
            touched = weights[True].keys() | weights[False].keys()
            wins = {code for code in touched if weights[True].get(code, -1) > weights[False].get(code, -1)}
            enabled = (base - touched) | wins
            explicit = (explicit | {code for code in wins if weights[True][code] == _EXACT}) & enabled
        if not enabled and config.select == () and overrides.select is None:
            raise ConfigError(
                f"{config.file}: `select` names no rule: leave it out for the rules that are on by default"
            )
        always = {INTERNAL_ERROR.code, INVALID_SYNTAX.code}
        if not (config.preview or overrides.preview):
            enabled -= {rule.code for rule in self.rules if rule.preview} - explicit
        strict = config.strict or overrides.strict
        options = {self.find(name).code: dict(table) for name, table in config.rules}
        return Selection(enabled | always, explicit, strict, _target(config, overrides), options)

    def complaints(self, config: Config, overrides: Overrides) -> list[str]:
        """All that is wrong with a configuration and a command line for these rules: what stands for none of them."""
        found: list[str] = []
        for layer, where in ((config, str(config.file)), (overrides, "command line")):
            for selector in dict.fromkeys((*(layer.select or ()), *layer.extend_select, *layer.ignore)):
                line = line_of(config.file, selector) if layer is config and config.file is not None else 0
                found += self._unmatched(selector, f"{where}:{line}" if line else where)
            for pattern, selectors in layer.per_file_ignores:
                for selector in selectors:
                    found += self._unmatched(selector, f"{where}: per-file-ignores of {pattern}")
        for name, table in config.rules:
            found += [f"{config.file}: rules.{name}: {why}" for why in self._wrong_options(name, table)]
        return found

    def _unmatched(self, selector: str, where: str) -> Iterator[str]:
        try:
            self.matching(selector, where)
        except ConfigError as error:
            yield str(error)

    def _wrong_options(self, name: str, table: Iterable[tuple[str, Any]]) -> Iterator[str]:
        try:
            rule = self.find(name)
        except KeyError as error:
            yield str(error.args[0])
            return
        known = rule.options if isinstance(rule, Rule) else {}
        for key, value in table:
            if key not in known:
                yield f"no option `{key}`{near_miss(key, list(known))}"
            elif isinstance(value, bool) != isinstance(known[key], bool) or not isinstance(value, type(known[key])):
                yield f"`{key}` must be like {known[key]!r}, not {value!r}"

    def _weights(self, selectors: Iterable[str], where: str) -> dict[str, int]:
        weights: dict[str, int] = {}
        for selector in selectors:
            for code in self.matching(selector, where):
                exact = selector.upper() == code or selector.lower() == self.names[code]
                weight = _EXACT if exact else 0 if selector.upper() == "ALL" else len(selector)
                weights[code] = max(weight, weights.get(code, 0))
        return weights


_CODE = re.compile(r"(?P<letters>[A-Za-z]+)\d+")
_EXACT = 1000


def _target(config: Config, overrides: Overrides) -> Target | None:
    """What was asked for, by the command line or else by the configuration."""
    if overrides.target_torch is not None:
        asked, said = overrides.target_torch, f"--target-torch {overrides.target_torch}"
    elif config.target_torch is not None and config.file is not None:
        asked, said = config.target_torch, f'target-torch = "{config.target_torch}" in {config.file.name}'
    else:
        return None
    try:
        return target_of(asked, said)
    except TargetError as error:
        raise ConfigError(f"--target-torch: {error}") from None


def matches(selector: str, code: str, name: str) -> bool:
    """Whether a selector (code, prefix of a code, name, ALL) stands for a rule."""
    upper = selector.upper()
    return bool(upper) and (upper == "ALL" or code.startswith(upper) or selector.lower() == name)


@cache
def load(plugins: tuple[str, ...] = (), origin: str = "plugins") -> Registry:
    """
    All rules: torchlint's own, those of installed packages, and those of the named modules.

    Parameters
    ----------
    plugins
        Module names from the configuration key `plugins`.
    origin
        The configuration file that names them.

    Raises
    ------
    RegistryError
        if torchlint's own set is not sound.
    """
    rules: dict[str, Rule] = {}
    for module in _own_modules():
        for kind in _rules_in(module):
            _add(rules, kind)
    broken = []
    for where, target in _third_party(plugins, origin):
        added = dict(rules)
        try:
            for kind in _resolve(target):
                _add(added, kind)
        except (Exception, SystemExit) as error:  # whatever a stranger's module does must not stop the other rules
            reason = str(error) if isinstance(error, RegistryError) else f"{type(error).__name__}: {error}"
            broken.append(BrokenPlugin(where, reason, target.value))
        else:
            rules = added
    return Registry(tuple(sorted(rules.values(), key=lambda rule: rule.code)), tuple(broken))


def _own_modules() -> Iterator[ModuleType]:
    package = _own_package()
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        try:
            yield importlib.import_module(f"{RULES_PACKAGE}.{info.name}")
        except RuleDefinitionError as error:
            raise RegistryError(str(error)) from error


def _own_package() -> ModuleType:
    """The package `torchlint.rules`; in a checkout that is not installed, the folder `rules` beside `torchlint`."""
    try:
        return importlib.import_module(RULES_PACKAGE)
    except ModuleNotFoundError as error:
        if error.name != RULES_PACKAGE:
            raise
        init = Path(__file__).resolve().parents[2] / "rules" / "__init__.py"
        spec = importlib.util.spec_from_file_location(
            RULES_PACKAGE, init, submodule_search_locations=[str(init.parent)]
        )
        if spec is None or spec.loader is None or not init.is_file():
            raise RegistryError(
                f"torchlint's rules are missing: neither {RULES_PACKAGE} nor {init} is there"
            ) from error
        package = importlib.util.module_from_spec(spec)
        sys.modules[RULES_PACKAGE] = package
        spec.loader.exec_module(package)
        return package


def _third_party(plugins: tuple[str, ...], origin: str) -> Iterator[tuple[str, EntryPoint]]:
    if not plugins and not may_have_entry_points(RULES_PACKAGE):
        return
    from importlib.metadata import EntryPoint, entry_points  # takes as long to load as a fifth of the rules

    for entry in sorted(entry_points(group=RULES_PACKAGE), key=lambda entry: (entry.name, entry.value)):
        yield f"entry point {entry.name}", entry
    make_importable(Path(origin).parent.absolute())
    for name in plugins:
        yield f"{origin}", EntryPoint(name, name, RULES_PACKAGE)


def _resolve(entry: EntryPoint) -> list[type[Rule]]:
    loaded = entry.load()
    if isinstance(loaded, ModuleType):
        found = list(_rules_in(loaded))
        if not found:
            raise RegistryError(f"the module `{entry.value}` has no subclass of torchlint.rule.Rule")
        return found
    if inspect.isclass(loaded) and issubclass(loaded, Rule):
        return [loaded]
    raise RegistryError(f"`{entry.value}` is neither a module nor a subclass of torchlint.rule.Rule")


def _rules_in(module: ModuleType) -> Iterator[type[Rule]]:
    for value in vars(module).values():
        if inspect.isclass(value) and issubclass(value, Rule) and value.__module__ == module.__name__:
            yield value


def _add(rules: dict[str, Rule], kind: type[Rule]) -> None:
    where = f"{kind.__module__}.{kind.__qualname__}"
    documentation = kind.__doc__ or ""
    if not documentation.strip():
        raise RegistryError(f"{where}: has no documentation; start its docstring with one summary line")
    titles = _TITLE.findall(documentation)  # `sections` takes the rest apart, too
    missing = [title for title in SECTIONS if title not in OPTIONAL_SECTIONS and title not in titles]
    if missing:
        raise RegistryError(f"{where}: its documentation lacks the section `## {missing[0]}`")
    others: tuple[DriverCode | Rule, ...] = (*DRIVER_CODES, *rules.values())
    for known in others:
        if kind.code == known.code or kind.name == known.name:
            owner = "torchlint itself" if isinstance(known, DriverCode) else type(known).__module__
            taken = f"code {known.code}" if kind.code == known.code else f"name `{known.name}`"
            raise RegistryError(f"{where}: the {taken} is taken by {owner}")
    rules[kind.code] = kind()


_TITLE = re.compile(r"^[ \t]*## +(.+?) *$", re.MULTILINE)
