"""
Counts and time per rule.

Not a format of its own: it goes below the text report, or beside another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from torchlint.results import MODEL, PARSE, PLACES, RunResult


def table(run: RunResult, names: Mapping[str, str]) -> Iterator[str]:
    """
    One line per rule that took time or found something: count, code, name, milliseconds; most findings first.

    Parameters
    ----------
    run
        The finished run.
    names
        Code → name of every rule (`Registry.names`).
    """
    counts = Counter(finding.code for finding in run.findings)
    seconds: Counter[str] = Counter()
    for outcome in run.outcomes:
        seconds.update(outcome.report.seconds)
    labels = {
        **names,
        PARSE: "parsing",
        MODEL: "following the program",
        PLACES: "places and fixes",
    }
    width = max(map(len, labels.values()))
    for code in sorted(counts.keys() | seconds.keys(), key=lambda code: (-counts[code], code)):
        count = "" if code.startswith("(") else counts[code]
        yield f"{count:>6}  {code:<8} {labels.get(code, ''):<{width}} {1000 * seconds[code]:>9.1f} ms\n"
