"""
What a reader gets: the findings to be judged, with enough source that neither the package nor the linter is needed.

A sheet holds source of other people and stays outside the repository; `tally` keeps what may be committed.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .lint import Linted

AROUND = 12
VERDICTS = ("true and useful", "true, a shrug", "misleading", "wrong")
HEADER = f"""# To be read

Each finding is judged in its source, by a reader who has not worked on the linter: {", ".join(VERDICTS)}; with the
reason in one line. In doubt it is reduced to a program and run under torch. Verdicts go into the JSON file beside this
one (`verdict`, `reason`).
"""


def sample(linted: Iterable[Linted], seed: int, grave: int = 60, smells: int = 30) -> list[dict[str, Any]]:
    """The findings to be read: all errors and warnings, or `grave` of them by the seed if more; and `smells` smells."""
    every = [
        {"package": each.name, "version": each.version, **finding}
        for each in sorted(linted, key=lambda each: each.name)
        for finding in each.findings
    ]
    chance = random.Random(seed)
    chosen = []
    for levels, count in ((("error", "warning"), grave), (("smell",), smells)):
        pool = [each for each in every if each["level"] in levels]
        picked = chance.sample(range(len(pool)), min(count, len(pool)))
        chosen += [pool[index] for index in sorted(picked)]
    return chosen


def rows(chosen: list[dict[str, Any]], packages: Path) -> list[dict[str, Any]]:
    """The sheet: one row a finding, with its source, numbered from 1, and two empty fields for the reader."""
    made = []
    for number, each in enumerate(chosen, 1):
        folder = packages / each["package"]
        kept = {key: each[key] for key in ("package", "version", "path", "line", "level", "code", "message", "trace")}
        made.append({"number": number, **kept, "source": _source(each, folder), "verdict": "", "reason": ""})
    return made


def markdown(sheet: list[dict[str, Any]]) -> str:
    """The sheet for the eye."""
    parts = [HEADER]
    for row in sheet:
        parts.append(f"\n## {row['number']}. {row['package']} {row['version']}, {row['path']}:{row['line']}\n")
        parts.append(f"**{row['level']} {row['code']}**: {row['message']}\n")
        parts += [f"- {step['path']}:{step['line']}: {step['message']}" for step in row["trace"]]
        for path, text in row["source"].items():
            fence = "`" * (4 if "```" in text else 3)
            parts.append(f"\n{path}\n\n{fence}\n{text}\n{fence}")
        parts.append("\nVerdict:\n\nReason:\n")
    return "\n".join(parts)


def _source(finding: dict[str, Any], folder: Path) -> dict[str, str]:
    wanted: dict[str, set[int]] = {finding["path"]: set(range(finding["line"] - AROUND, finding["line"] + AROUND + 1))}
    for step in finding["trace"]:
        wanted.setdefault(step["path"], set()).update(range(step["line"] - 2, step["line"] + 3))
    return {path: excerpt(folder / path, lines) for path, lines in wanted.items()}


def excerpt(path: Path, wanted: set[int]) -> str:
    """Those lines with their numbers, a line of dots for what is between them."""
    if not path.is_file():
        return "(not in the package)"
    text = path.read_text(encoding="utf-8", errors="replace").splitlines()
    shown: list[str] = []
    last = 0
    for number in sorted(number for number in wanted if 1 <= number <= len(text)):
        if last and number > last + 1:
            shown.append("      …")
        shown.append(f"{number:5} {text[number - 1][:200]}")
        last = number
    return "\n".join(shown)
