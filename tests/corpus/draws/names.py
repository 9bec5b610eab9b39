"""
Which packages a draw consists of: a seeded sample of the names in a list, none of which was ever drawn before.

Asks nobody: the list is a file of tab-separated columns `name`, `version` and `summary`, the first line naming them.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..packages import is_kept_for_later, normalized
from ..test_packages import PACKAGES as REVIEWED

DRAWS = Path(__file__).parent


@dataclass(frozen=True)
class Release:
    """One release of a package."""

    name: str
    version: str


def burned(draws: Path = DRAWS) -> set[str]:
    """Names that no draw may take any more: the reviewed packages, those of `refute`, and all of earlier draws."""
    files = [*draws.glob("*/packages.jsonl"), draws.parent / "refute" / "packages.jsonl"]
    lines = [line for file in files if file.exists() for line in file.read_text(encoding="utf-8").splitlines()]
    return {normalized(name) for name in REVIEWED} | {normalized(json.loads(line)["name"]) for line in lines}


def candidates(
    names: Path, words: Sequence[str] = ("torch",), without: set[str] | None = None, column: str = "summary"
) -> list[Release]:
    """
    All packages of the list whose summary (or name, as `column` says) has one of the words, in the order of their
    names, less those that are burned and those that are kept for later. `orchestra` and its like have no `torch`.

    Raises
    ------
    ValueError
        The first line does not name the three columns.
    """
    taken = burned() if without is None else without
    with open(names, encoding="utf-8") as file:
        header = next(file, "").rstrip("\n").split("\t")
        columns = [header.index(each) for each in ("name", "version", "summary")]
        found = {}
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if len(cells) <= max(columns):
                continue
            name, version, summary = (cells[index] for index in columns)
            searched = (name if column == "name" else summary).lower()
            if (
                any(_has_word(each, searched) for each in words)
                and normalized(name) not in taken
                and not is_kept_for_later(name)
            ):
                found[normalized(name)] = Release(name, version)
    return [found[name] for name in sorted(found)]


def _has_word(word: str, text: str) -> bool:
    return bool(re.search(rf"{re.escape(word)}(?!estr|id)", text))


def draw(releases: list[Release], seed: int, count: int) -> list[Release]:
    """That many of them, in the order in which they were drawn: a shorter draw of a seed begins a longer one."""
    order = random.Random(seed).sample(releases, len(releases))
    return order[:count]


def save(releases: list[Release], path: Path) -> None:
    """One JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(asdict(each)) + "\n" for each in releases), encoding="utf-8")


def load(path: Path) -> list[Release]:
    """What `save` wrote; columns that others added are left out."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Release(row["name"], row["version"]) for row in rows]
