"""
The second generator as a command.

    python -m tests.scenes --seed 1 --count 2000      programs under torch and under the linter; prints the figures
    python -m tests.scenes --seed 17 --print          one program, and what both say of it
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from .judge import Comparison, compare
from .programs import program


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.scenes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0, help="the first program's seed; the others follow")
    parser.add_argument("--count", type=int, default=1000, help="how many")
    parser.add_argument("--show", type=int, default=20, help="disagreements to show")
    parser.add_argument("--print", action="store_true", help="show the program of --seed, and what both say of it")
    arguments = parser.parse_args()
    if arguments.print:
        show(compare(arguments.seed, program(arguments.seed)))
        return 0
    verdicts: Counter[str] = Counter()
    refused = shown = 0
    reasons: Counter[str] = Counter()
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        found = compare(seed, program(seed))
        verdicts[found.verdict] += 1
        refused += found.refusal is not None and found.verdict != "invalid"
        if found.verdict == "invalid" and found.refusal:
            reasons[found.refusal.message[:100]] += 1
        elif found.verdict != "agree":
            said = found.refusal.message[:90] if found.refusal else [finding.code for finding in found.findings]
            print(f"seed {seed}: {found.verdict}: {said}", flush=True)
            if shown < arguments.show:
                shown += 1
                show(found)
    print(figures(verdicts, refused))
    for reason, count in reasons.most_common(8):
        print(f"  invalid {count}: {reason}")
    return 1 if verdicts["false alarm"] else 0


def figures(verdicts: Counter[str], refused: int) -> str:
    """The figures, in one paragraph."""
    valid = verdicts.total() - verdicts["invalid"]
    wrong = verdicts["missed"] + verdicts["elsewhere"]
    return (
        f"{valid} programs ({verdicts['invalid']} more were invalid), torch refuses {refused}: "
        f"{verdicts['missed']} missed, {verdicts['elsewhere']} found elsewhere, "
        f"{verdicts['false alarm']} false alarms; "
        f"agreement {100 * verdicts['agree'] / max(valid, 1):.2f} %, recall {100 * (1 - wrong / max(refused, 1)):.2f} %"
    )


def show(found: Comparison) -> None:
    """A program with what both say."""
    for number, line in enumerate(found.text.splitlines(), 1):
        print(f"{number:4} {line}")
    if found.refusal:
        print(f"  torch, lines {found.refusal.lines}: {found.refusal.message[:300]}")
    for finding in found.findings:
        steps = [(step.line, step.message) for step in finding.trace]
        print(f"  {finding.level.value} {finding.code} line {finding.span.line}: {finding.message}  {steps}")
    print(f"  {found.verdict}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
