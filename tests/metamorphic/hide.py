"""
Knowing less never says more: a program with something hidden has no error and no warning that it had not before.

Compares findings by code and statement. The same fault may be seen from elsewhere: a finding of the same code whose
proof ends at the same statement, or that is about the same class or function, counts as one; so does a warning that
stands where another code was reported before, at no better level.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import expectations

from torchlint.rule import Finding, Level

from . import hiding, hiding_definitions
from .changes import Change, Unknowns
from .places import number_of, numbered, statements, written
from .programs import Base, drawn

Kind = Callable[..., Iterator[Change]]
KINDS: dict[str, Kind] = {
    function.__name__: function
    for function in (
        *(hiding.wrapped, hiding.replaced, hiding.literal, hiding.operand, hiding.combined, hiding.by_name),
        *(hiding.chosen, hiding.starred, hiding.lists, hiding.conditional, hiding.contexts, hiding.caught),
        *(hiding.code, hiding.handed_on, hiding.set_by_name),
        *(hiding_definitions.moved, hiding_definitions.decorated, hiding_definitions.derived),
        *(hiding_definitions.metaclass, hiding_definitions.methods, hiding_definitions.properties),
        *(hiding_definitions.overridden, hiding_definitions.argument),
    )
}
CONDITIONAL = frozenset({"conditional", "chosen", "caught", "replaced", "literal"})
"""Kinds after which a program may do what it did not before, under one condition: a warning may say so."""
SHOWN = (Level.ERROR, Level.WARNING)


@dataclass(frozen=True, slots=True)
class Variant:
    """A program in which something is hidden, the statements its lines stand for, and the names that are unknown."""

    base: Base
    kinds: tuple[str, ...]
    text: str
    lines: dict[int, int]
    roles: dict[str, str]


@dataclass(frozen=True, slots=True)
class Excess:
    """A finding of a variant that the program itself has not."""

    seed: int
    variant: Variant
    finding: Finding

    @property
    def key(self) -> str:
        """What it has in common with others."""
        return f"{self.finding.level.value} {self.finding.code} {'+'.join(self.variant.kinds)}"


def varied(base: Base, rng: random.Random, most: int = 1) -> Variant | None:
    """A program with one thing hidden, or up to `most`; None if there is nothing to hide."""
    tree = numbered(base.text)
    unknowns, kinds = Unknowns(), []
    for _ in range(rng.randint(1, most)):
        names = list(KINDS)
        rng.shuffle(names)
        for name in names:
            changes = list(KINDS[name](tree))
            if changes:
                rng.choice(changes)(unknowns)
                kinds.append(name)
                break
    if not kinds:
        return None
    unknowns.brought_in(tree)
    text, lines = written(tree)
    return Variant(base, tuple(kinds), text, lines, unknowns.roles)


def all_of_a_kind(base: Base, name: str) -> Iterator[Variant]:
    """Every variant of one kind."""
    tree = numbered(base.text)
    for number in range(len(list(KINDS[name](tree)))):
        changed = copy.deepcopy(tree)
        unknowns = Unknowns()
        list(KINDS[name](changed))[number](unknowns)
        unknowns.brought_in(changed)
        text, lines = written(changed)
        yield Variant(base, (name,), text, lines, unknowns.roles)


def shown(text: str, codes: frozenset[str] | None = None) -> list[Finding]:
    """The errors and warnings of a program, of all rules or of some."""
    return [finding for finding in expectations.lint(text, codes=codes).findings if finding.level in SHOWN]


@dataclass(frozen=True, slots=True)
class _Known:
    """What is said of a program: the worst rank of a code at a statement, and of anything there."""

    by_code: dict[tuple[str, int], int]
    by_place: dict[int, int]


def _places(finding: Finding, lines: dict[int, int], tops: dict[int, int]) -> list[int]:
    """Its statement, that at which its proof ends, and (as another number) the class or function that it is in."""
    place = lines.get(finding.span.line, -1)
    found = [place, lines.get(finding.trace[-1].line, -1)] if finding.trace else [place]
    return [*found, *(-2 - tops[number] for number in found if number in tops)]


def _definitions(tree: ast.Module) -> dict[int, int]:
    """For each statement inside of a class or function of the file, the number of that."""
    return {
        number_of(each): number_of(definition)
        for definition in tree.body
        if isinstance(definition, ast.ClassDef | ast.FunctionDef)
        for each in statements(definition)
    }


@lru_cache(maxsize=256)
def _known(text: str) -> tuple[_Known, dict[int, int]]:
    tree = numbered(text)
    _, lines = written(tree)
    tops = _definitions(tree)
    known = _Known({}, {})
    for finding in shown(text):
        rank = finding.level.rank
        for place in _places(finding, lines, tops):
            known.by_code[finding.code, place] = min(rank, known.by_code.get((finding.code, place), rank))
            known.by_place[place] = min(rank, known.by_place.get(place, rank))
    return known, tops


def excesses(variant: Variant, seed: int = -1) -> list[Excess]:
    """What is said of a variant that is not said of the program."""
    found = shown(variant.text)
    if not found:
        return []
    known, tops = _known(variant.base.text)
    more = []
    for finding in found:
        rank = finding.level.rank
        if any(known.by_code.get((finding.code, each), 9) <= rank for each in _places(finding, variant.lines, tops)):
            continue
        elsewhere = known.by_place.get(variant.lines.get(finding.span.line, -1), 9) <= rank
        if finding.level is Level.WARNING and (elsewhere or not CONDITIONAL.isdisjoint(variant.kinds)):
            continue
        more.append(Excess(seed, variant, finding))
    return more


def one(seed: int) -> list[Excess]:
    """A program drawn by a seed, with one thing hidden."""
    rng = random.Random(f"hide {seed}")
    variant = varied(drawn(rng), rng)
    return excesses(variant, seed) if variant is not None else []
