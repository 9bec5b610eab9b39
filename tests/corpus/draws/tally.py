"""What readers said, as figures: shares of true and of useful findings by level, and with each pattern counted once."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from .sheet import VERDICTS

COMMITTED = ("number", "package", "version", "path", "line", "level", "code", "message", "verdict", "reason")
TRUE = VERDICTS[:2]
USEFUL = VERDICTS[:1]


def stripped(sheet: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    The rows that may be committed: without source and traces.

    Raises
    ------
    ValueError
        A row has no verdict, an unknown one, or no reason.
    """
    for row in sheet:
        if row["verdict"] not in VERDICTS:
            raise ValueError(f"row {row['number']}: the verdict is {row['verdict']!r}")
        if not row["reason"].strip():
            raise ValueError(f"row {row['number']}: no reason")
    return [{key: row[key] for key in COMMITTED} for row in sheet]


def pattern(row: dict[str, Any]) -> tuple[str, str, str]:
    """Findings of one package with the same code and the same message, names and numbers aside, are one pattern."""
    return row["package"], row["code"], re.sub(r"`[^`]*`|\d+", "·", row["message"])


def figures(verdicts: list[dict[str, Any]]) -> str:
    """A table in Markdown. A pattern is true, or useful, only if each of its findings is."""
    lines = [
        "| level | findings | true | useful | misleading | wrong | patterns | true | useful |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for title, levels in (
        ("error", ["error"]),
        ("warning", ["warning"]),
        ("error and warning", ["error", "warning"]),
        ("smell", ["smell"]),
    ):
        read = [row["verdict"] for row in verdicts if row["level"] in levels]
        patterns = defaultdict(list)
        for row in verdicts:
            if row["level"] in levels:
                patterns[pattern(row)].append(row["verdict"])
        once = list(patterns.values())
        cells = [_share(sum(each in TRUE for each in read), len(read))]
        cells += [_share(sum(each in USEFUL for each in read), len(read))]
        cells += [str(read.count(each)) for each in VERDICTS[2:]]
        cells += [str(len(once))]
        cells += [_share(sum(all(e in group for e in each) for each in once), len(once)) for group in (TRUE, USEFUL)]
        lines.append(f"| {title} | {len(read)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "–"
