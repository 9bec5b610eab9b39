"""
Ways to construct what is driven, the likeliest first: as the project does it, by what its constructor does with its
arguments, and as refusals ask.

Runs inside the child. Constructs nothing itself; the driver does, and says what was refused.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from torchlint.verify import mutations, origins, refusals, smaller, wished, written
from torchlint.verify.attempt import TooLong
from torchlint.verify.documented import Called, Example, Made
from torchlint.verify.inputs import constructor_arguments, parameters, uses_of_class
from torchlint.verify.kinds import Wish, text_of
from torchlint.verify.repairs import instead
from torchlint.verify.usage import Use, says
from torchlint.verify.values import AnyModule
from torchlint.verify.widened import Widening

REFUSALS, BASES = 4, 3
"""So many refusals of a constructor are followed one after the other, of so many arguments each."""
WISHES, GRANTED = 4, 100
"""So many wishes of one refusal are granted, and so many in all, before other arguments are tried."""
GUESSED_INSTEAD = 6
"""So many other arguments are guessed for what a class could not use of those that its constructor took."""
VARIED = 3
"""Of so many defaults of one kind others are tried."""
SHOWN = 6
"""So many examples of the project are followed."""
SECONDS_LARGE = 1.5
"""What can be made smaller may take so many seconds of processor time to construct."""
PROFILES = (8, 4, 16, 3, 2, 1)
"""Sizes tried for integer constructor arguments that say nothing about themselves."""


@dataclass(frozen=True)
class Construction:
    """
    One way.

    Attributes
    ----------
    arguments, keywords
        Of the constructor.
    bare
        Without it.
    shown
        The example that it follows.
    guessed
        It is one that came furthest, with one argument changed: no refusal asked for it.
    as_large
        As it is, however large what it makes is.
    """

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    bare: bool = False
    shown: Called | None = None
    guessed: bool = False
    as_large: bool = False


class Constructions:
    """
    The ways to construct one target, a function included, which needs none.

    Parameters
    ----------
    target, method
        As the driver's.
    tree, namespace
        The program's syntax tree and globals: calls of the class in it show how to construct it.
    shown
        Examples of the project.

    Attributes
    ----------
    enough
        Whether guesses have had their share: what came furthest is changed from now on.
    """

    def __init__(
        self, target: Any, method: str, tree: ast.Module, namespace: Mapping[str, Any], shown: Sequence[Example]
    ) -> None:
        self.target = target
        self.method = method
        named = (name for name, value in namespace.items() if value is target)
        self.name = getattr(target, "__name__", None) or next(named, "function")
        self.known_calls = list(_calls(self.name, tree, namespace))
        self.shown = shown
        self.refusal = ""
        self.wished: list[dict[str, Any]] = []
        self.followed: set[str] = set()
        self.places: set[str] = set()
        self.evaluated: dict[str, Any] = {}
        self.varied = False
        self.first = isinstance(target, type) and bool(shown)
        self.enough = False
        self.best: tuple[tuple[int, ...], Construction, tuple[str, ...]] | None = None
        self.instead: list[Construction] = []
        self.widening: Widening | None = None
        self.words: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Construction]:
        """Those that are guessed, and after each what its refusal asked for."""
        granted = 0
        for each in self._guessed():
            if self.enough:
                break
            self.refusal = ""
            yield from self._with_smaller(each)
            if self.first:  # how the project builds it comes before what a refusal of a guess asks for
                continue
            while self.wished and granted < GRANTED:
                granted += 1
                yield from self._with_smaller(Construction((), self.wished.pop(0)))
            self.wished.clear()
        yield from self._climbed()
        yield from self._widened()

    def _with_smaller(self, construction: Construction) -> Iterator[Construction]:
        """It, and what is smaller where it makes something large: that may take what it does not take itself."""
        yield construction
        while self.instead:
            yield self.instead.pop(0)

    def large(self, construction: Construction, built: Any) -> bool:
        """Take note of it if what it made is large. Whether something smaller is tried before."""
        return smaller.is_large(built) and self.too_large(construction)

    def too_large(self, construction: Construction) -> bool:
        """The same of what was not made in time, or is known to be large."""
        found = [
            Construction((), each, shown=construction.shown, as_large=True) for each in self._smaller(construction)
        ]
        if found:
            as_it_is = Construction((), construction.keywords, shown=construction.shown, as_large=True)
            self.instead = [*found, as_it_is]
        return bool(found)

    def seconds(self, construction: Construction) -> float:
        """How long it may take: what can be made smaller is not worth the time of many others."""
        return math.inf if next(self._smaller(construction), None) is None else SECONDS_LARGE

    def _smaller(self, construction: Construction) -> Iterator[dict[str, Any]]:
        if not construction.as_large and not construction.arguments and isinstance(self.target, type):
            yield from smaller.arguments(self.target, construction.keywords)

    def placed(self, construction: Construction) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Its arguments as a call takes them: what has no name there goes by its place."""
        keywords = dict(construction.keywords)
        alone = [p.name for p in parameters(self.target) if p.kind is p.POSITIONAL_ONLY and p.name in keywords]
        return (*construction.arguments, *(keywords.pop(name) for name in alone)), keywords

    def came(self, way: tuple[int, ...], construction: Construction, error: Exception) -> None:
        """Take note how far it came, and which of its arguments the statement names that refused it."""
        if isinstance(self.target, type) and not construction.bare and (self.best is None or way > self.best[0]):
            self.best = way, construction, tuple(origins.named_by(error, construction.keywords))
            self.words = tuple(origins.words_of(error))
            if self.widening is not None:
                self.widening.came(way, _known(self.target, construction), self.words)

    def _widened(self) -> Iterator[Construction]:
        """What came furthest with one argument changed in every way, if nothing could be constructed."""
        if self.best is None or self.best[0][0] > 1:
            return
        self.widening = Widening()
        way, base, _ = self.best
        self.widening.came(way, _defaults(self.target) | _known(self.target, base), self.words)
        while (each := self.widening.next()) is not None:
            self.refusal = ""
            self.wished.clear()
            yield Construction((), each, guessed=True, as_large=True)

    def _climbed(self) -> Iterator[Construction]:
        """What came furthest with one argument changed; of these again what came furthest, until none does."""
        done: set[str] = set()
        while self.best is not None:
            before, base, named = self.best
            for each in mutations.arguments(self.target, _known(self.target, base), named):
                if text_of(each) in done:
                    continue
                done.add(text_of(each))
                self.refusal = ""
                self.wished.clear()
                yield Construction((), each, guessed=True, as_large=True)
                if self.wished:
                    yield Construction((), self.wished[0], guessed=True, as_large=True)
                if self.best[0] > before:
                    break
            else:
                return

    def refused(self, error: Exception, construction: Construction, made: Mapping[str, Any] | None) -> None:
        """Take note of a refusal: of the constructor, or of what was constructed when it was called with something."""
        if made is None:
            self.refusal = str(error)
        if made is None and isinstance(error, TooLong):
            self.too_large(construction)
        if not isinstance(self.target, type) or construction.bare:
            return
        keywords = construction.keywords
        wishes = refusals.wishes(error, {**wished.given(self.target, keywords), **(made or {})})
        own = [each for each in wishes if made is None or each.name not in made]
        asked = list(itertools.islice(self._instead_of_nothing(keywords, own), WISHES))
        asked += itertools.islice(wished.arguments(keywords, own), WISHES)
        frames = refusals.frames(error)
        place = "".join([re.sub(r"\d+", "", str(error)), *(f" {line}" for _, line in frames[-2:])])
        further = place not in self.places or (self.best is not None and self.best[1] is construction)
        self.places.add(place)
        self.wished = [*asked, *self.wished] if further else [*self.wished, *asked]

    def _instead_of_nothing(self, keywords: dict[str, Any], wishes: Sequence[Wish]) -> Iterator[dict[str, Any]]:
        """For arguments that are None and may not be: what their use says."""
        wanted = [each.name for each in wishes if each.value is ... and not each.attribute]
        made = constructor_arguments(self.target, PROFILES[0], by_use=True, all_of_them=True) if wanted else {}
        yield from ({**keywords, name: made[name]} for name in wanted if made.get(name) is not None)

    def unusable(self, error: Exception, construction: Construction) -> None:
        """
        Take note of the refusal that came furthest of what was constructed in one way, if no input helps against it: a
        constructor takes what its class cannot use. Each such refusal is followed once.
        """
        if isinstance(self.target, type) and not construction.bare and str(error) not in self.followed:
            self.followed.add(str(error))
            guessed = itertools.islice(instead(construction.keywords, str(error)), GUESSED_INSTEAD)
            self.wished += [{**construction.keywords, name: value} for name, value in guessed]
            if not self.varied:
                self.varied = True
                self.wished += [
                    {**construction.keywords, **each} for each in varied(self.target, construction.keywords)
                ]

    def _guessed(self) -> Iterator[Construction]:
        if not isinstance(self.target, type):
            yield Construction((), {})
            return
        for known, named in self.known_calls:
            yield Construction(known, named)
        done = []
        ways: tuple[dict[str, Any], ...] = (
            {},
            {"by_use": True},
            {"depth": 0, "layers": False},
            {"all_of_them": True, "by_use": True},
        )
        for number, way in enumerate(ways):
            for size in PROFILES:
                if number == 0 and size == PROFILES[1]:
                    yield from self._as_shown()  # behind the first guess: examples are as large as what is used
                    self.first = False
                arguments = constructor_arguments(self.target, size, **way)
                if text_of(arguments) not in done:
                    done.append(text_of(arguments))
                    yield Construction((), arguments)
        numbers = [name for name, value in arguments.items() if isinstance(value, (int, float))]
        for length, name in itertools.product((3, 4), numbers[:4]):
            yield Construction((), {**arguments, name: [PROFILES[0]] * length})
        for found in self._instead(arguments):
            yield Construction((), found)
        for size in PROFILES[:3]:
            yield Construction((), constructor_arguments(self.target, size, by_use=True, anything=True))
        yield from self._starred()
        if self.method and not inspect.isabstract(self.target):
            yield Construction((), {}, bare=True)

    def _as_shown(self) -> Iterator[Construction]:
        """What examples of the project say of the arguments, and for the others what is guessed."""
        done = []
        names = _positional(self.target)
        for called in (each.construction for each in self.shown if each.construction is not None):
            said = {**dict(zip(names, called.positional, strict=False)), **dict(called.keywords)}
            by_name: dict[int | str, str] = {**dict(enumerate(names)), **{name: name for name in names}}
            texts = {by_name[place]: text for place, text in called.written if place in by_name}
            said |= written.values(self.target, texts, self.evaluated)
            said = {name: _value_of(value) for name, value in said.items() if value is not ... and name in names}
            if not said or text_of(said) in done:
                continue
            done.append(text_of(said))
            yield Construction(
                (), {**constructor_arguments(self.target, PROFILES[0], by_use=True), **said}, shown=called
            )
            if len(done) == SHOWN:
                return

    def _starred(self) -> Iterator[Construction]:
        """For a constructor that takes any number of arguments: two layers, and two sizes."""
        taken = parameters(self.target)
        if not any(p.kind is p.VAR_POSITIONAL for p in taken):
            return
        for size, more in ((PROFILES[0], AnyModule), (PROFILES[0], lambda: PROFILES[0])):
            known = constructor_arguments(self.target, size, by_use=True)
            before = [p for p in taken if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
            first = [known.pop(p.name) if p.name in known else p.default for p in before]
            if inspect.Parameter.empty not in first:
                yield Construction((*first, more(), more()), known)

    def _instead(self, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Arguments that the refusal of others asks for, and those that the refusal of these asks for, and so on."""
        yield arguments  # once more, for what is said of them
        bases = [(arguments, self.refusal)]
        for _ in range(REFUSALS):
            following = []
            for base, refusal in bases[:BASES]:
                for name, value in instead(base, refusal):
                    found = {**base, name: value}
                    yield found
                    if self.refusal not in ("", refusal):
                        following.append((found, self.refusal))
            bases = following


def varied(target: type[Any], given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Other arguments than the defaults of a constructor, one at a time: paddings, words, flags, and what is None."""
    known = uses_of_class(target)  # type: ignore[arg-type]  # a class is hashable
    left = [p for p in parameters(target) if p.name not in given and p.kind is p.POSITIONAL_OR_KEYWORD]
    kernel = next((value for name, value in given.items() if says(name, "kernel") and type(value) is int), 3)
    found: list[list[dict[str, Any]]] = [[], [], [], []]
    for each in left:
        use = known.get(each.name, Use(""))
        if says(each.name, "padding") and each.default == 0:
            found[0].append({each.name: kernel // 2})
        elif isinstance(each.default, str):
            found[1] += [{each.name: word} for word in use.choices if word != each.default][:2]
        elif isinstance(each.default, bool):
            found[2].append({each.name: not each.default})
        elif each.default is None:
            made = constructor_arguments(target, PROFILES[0], by_use=True, all_of_them=True)
            found[3] += [{each.name: made[each.name]}] if each.name in made else []
    for several in found:
        yield from several[:VARIED]


def _known(target: Any, construction: Construction) -> dict[str, Any]:
    return {**dict(zip(_positional(target), construction.arguments, strict=False)), **construction.keywords}


def _defaults(target: type[Any]) -> dict[str, Any]:
    return {p.name: p.default for p in mutations.parameters_of(target) if p.default is not p.empty}


def _positional(target: Any) -> list[str]:
    try:
        return list(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        return []


def _value_of(value: Any) -> Any:
    if not isinstance(value, Made):
        return value
    return torch.randint(0, 2, value.shape) if value.integers else torch.rand(value.shape)


def _calls(
    name: str, tree: ast.Module, namespace: Mapping[str, Any]
) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name):
            continue
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            continue
        try:
            yield (
                tuple(_value(a, namespace) for a in node.args),
                {str(k.arg): _value(k.value, namespace) for k in node.keywords},
            )
        except Exception:  # an argument that only exists at that place of the program
            continue


def _value(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<argument>", "eval"), dict(namespace))
