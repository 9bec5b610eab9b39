"""
`python -m tests.differential --programs 2000 --seed 0 --jobs 2`: random programs under torch and under the model.

Prints the confusion matrix, the figures, and the disagreements, shrunk. Exits with 1 if there is a false alarm.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from .compare import Comparison, Tally, compare, shrink
from .generator import generate
from .workers import tally_parallel


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--programs", type=int, default=2000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="the first program's seed; the others follow")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--rare", action="store_true", help="with rarer operations and whole situations of real code")
    parser.add_argument("--show", type=int, default=10, help="disagreements to shrink and show")
    parser.add_argument("--print", action="store_true", help="show the program of --seed, and what both say of it")
    parser.add_argument("--file", help="compare the program in this file")
    arguments = parser.parse_args()
    if arguments.print or arguments.file:
        if arguments.file:
            text = Path(arguments.file).read_text(encoding="utf-8")
        else:
            text = generate(arguments.seed, rare=arguments.rare)
        _show(compare(text, arguments.seed, crash_is_verdict=False), text)
        return 0
    begin = time.monotonic()
    total = Tally()
    try:
        parts = tally_parallel(arguments.seed, arguments.programs, arguments.jobs, rare=arguments.rare)
        for done, part in enumerate(parts, start=1):
            total.merge(part)
            _progress(done, arguments.programs, part, total)
    except KeyboardInterrupt:
        print("stopped: the figures are of what was done", file=sys.stderr)
    print(total.report())
    print(f"wall clock        {time.monotonic() - begin:.1f} s")
    _show_disagreements(total, arguments.show)
    return 1 if total.verdicts["false alarm"] or total.verdicts["crash"] else 0


def _progress(done: int, count: int, part: Tally, total: Tally) -> None:
    """To standard error: each disagreement as it is found, and the figures from time to time."""
    for each in part.disagreements:
        actual, predicted = each.actual, each.predicted
        print(
            f"seed {each.seed}: {each.verdict}: torch {actual.kind} on line {actual.line}, "
            f"model {predicted.kind} on line {predicted.line}",
            file=sys.stderr,
        )
    if done % (100 if sys.stderr.isatty() else 1000) == 0:
        false = total.verdicts["false alarm"]
        print(f"{done}/{count}: recall {total.recall:.3%}, false alarms {false}", file=sys.stderr, flush=True)


def _show_disagreements(total: Tally, most: int) -> None:
    groups: Counter[tuple[str, str, str]] = Counter()
    for each in total.disagreements:
        groups[each.verdict, each.actual.kind, each.predicted.kind] += 1
    for (verdict, actual, predicted), count in groups.most_common():
        print(f"{count:6} {verdict}: torch {actual}, model {predicted}")
    shown: Counter[tuple[str, str, str]] = Counter()
    per_group = max(1, most // max(len(groups), 1))
    for each in sorted(total.disagreements, key=lambda c: c.seed):
        group = (each.verdict, each.actual.kind, each.predicted.kind)
        shown[group] += 1
        if shown[group] <= per_group and most > 0:
            most -= 1
            _show(each, shrink(each))


def _show(each: Comparison, text: str) -> None:
    print(f"\n==== seed {each.seed}: {each.verdict}")
    shrunk = compare(text)
    each = shrunk if shrunk.verdict == each.verdict else each
    culprits = f", written on line {sorted(each.actual.culprits)}" if each.actual.culprits else ""
    print(f"torch: {each.actual.kind} on line {each.actual.line}{culprits}  {each.actual.message}")
    print(f"model: {each.predicted.kind} on line {each.predicted.line}, written on line {each.predicted.culprit}")
    for number, line in enumerate(text.splitlines(), start=1):
        print(f"{number:3} {line}")


if __name__ == "__main__":
    sys.exit(main())
