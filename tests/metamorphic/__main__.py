"""
`python -m tests.metamorphic hide --programs 2000 --seed 0 --jobs 2`: something hidden in each of so many programs.
`python -m tests.metamorphic standins --programs 2000 --seed 0 --jobs 2`: the hidden given bodies, torch as judge.

Prints what was said too much, by level, code and kind, with examples. Exits with 1 if there is any. `--print` shows the
one program of `--seed`; `hide --every KIND` takes every variant of a kind that the written programs have.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from differential.compare import shortened
from differential.workers import for_each

from . import hide, standins
from .programs import written

Said = hide.Excess | standins.Claim
TESTS: dict[str, Callable[[int], list[hide.Excess]] | Callable[[int], list[standins.Claim]]] = {
    "hide": hide.one,
    "standins": standins.one,
}


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.metamorphic", description=__doc__)
    parser.add_argument("test", choices=list(TESTS))
    parser.add_argument("--programs", type=int, default=2000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="the first program's seed; the others follow")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--show", type=int, default=10, help="groups of which one example is shown")
    parser.add_argument("--each", type=int, default=1, help="examples of each group")
    parser.add_argument("--shrink", action="store_true", help="standins: examples without what they do not need")
    parser.add_argument("--every", metavar="KIND", choices=list(hide.KINDS), help="hide: all variants of a kind")
    parser.add_argument("--print", action="store_true", help="only the program of --seed")
    arguments = parser.parse_args()
    function: Callable[[int], list[Said]] = TESTS[arguments.test]  # type: ignore[assignment]
    seeds = range(arguments.seed, arguments.seed + (1 if arguments.print else arguments.programs))
    if arguments.every:
        function = partial(every, arguments.every)  # type: ignore[assignment]
        seeds = range(len(written()))
    begin = time.monotonic()
    found: list[Said] = []
    died: list[int] = []
    try:
        for done, (seed, part) in enumerate(
            for_each(function, seeds, arguments.jobs, [f"{__package__}.prepared"]), start=1
        ):
            if part is None:
                died.append(seed)
            else:
                if part:
                    part = _alone(function, seed, part)
                found += part
                for each in part:
                    print(f"seed {seed}: {each.key}", file=sys.stderr, flush=True)
            if done % 1000 == 0:
                print(f"{done}/{len(seeds)}: {len(found)} said too much", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("stopped: the figures are of what was done", file=sys.stderr)
    if arguments.shrink:
        found = [_shrunk(each) if isinstance(each, standins.Claim) else each for each in found]
    _report(found, arguments.show, arguments.each)
    print(f"programs      {len(seeds)}" + (f" (died or too long: seeds {sorted(died)})" if died else ""))
    print(f"said too much {len(found)}, {sum(each.finding.level.value == 'error' for each in found)} of them errors")
    print(f"wall clock    {time.monotonic() - begin:.1f} s")
    return 1 if found else 0


def _alone(function: Callable[[int], list[Said]], seed: int, found: list[Said]) -> list[Said]:
    """
    What shows in a process of its own as well: a program before it may have left another default device behind, or a
    function of torch in another's place.
    """
    again = next((part for _, part in for_each(function, [seed], 1, [f"{__package__}.prepared"])), None) or []
    keys = {each.key for each in again}
    for each in found:
        if each.key not in keys:
            print(f"seed {seed}: only behind other programs: {each.key}", file=sys.stderr, flush=True)
    return again


def every(kind: str, number: int) -> list[hide.Excess]:
    """All variants of a kind of a written program."""
    return [more for variant in hide.all_of_a_kind(written()[number], kind) for more in hide.excesses(variant)]


def _shrunk(claim: standins.Claim) -> standins.Claim:
    """The claim in as short a program as shows it."""

    def same(text: str) -> standins.Claim | None:
        variant = replace(claim.variant, text=text)
        found = (each for each in standins.judged(variant, random.Random(0), claim.seed) if each.key == claim.key)
        return next(found, None)

    return same(shortened(claim.variant.text, lambda text: same(text) is not None)) or claim


def _report(found: list[Said], groups: int, most: int) -> None:
    counted = Counter(each.key for each in found)
    for key, _ in counted.most_common(groups):
        of_it = sorted((each for each in found if each.key == key), key=lambda each: len(each.variant.text))
        for each in of_it[:most]:
            finding = each.finding
            print(f"\n==== seed {each.seed}, {each.variant.base.name}: {key} on line {finding.span.line}")
            print(finding.message)
            print("trace: " + "; ".join(f"{step.line}: {step.message}" for step in finding.trace))
            if isinstance(each, standins.Claim):
                print(f"runs with {each.bodies}")
            for number, line in enumerate(each.variant.text.splitlines(), start=1):
                print(f"{number:3} {line}")
    print()
    for key, count in counted.most_common():
        print(f"{count:6} {key}")


if __name__ == "__main__":
    sys.exit(main())
