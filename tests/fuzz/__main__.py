"""
Any number of random programs: `python -m tests.fuzz --programs 20000 --seed 1 --compiled FOLDER`.

`FOLDER` is a clone in which the model was compiled (`TORCHLINT_COMPILED=1 python setup.py build_ext --inplace`); its
findings are held against those of this checkout.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

from .check import HERE, Linter, faults


def main() -> int:
    """Exit status 1 if a program showed a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first program")
    parser.add_argument("--compiled", type=Path, help="a clone with a compiled model, run beside this checkout")
    parser.add_argument("--alone", action="store_true", help="run the compiled model alone")
    given = parser.parse_args()
    roots = [HERE] if given.compiled is None else [given.compiled] if given.alone else [HERE, given.compiled]
    wrong = 0
    begin = perf_counter()
    with ExitStack() as stack:
        linters = [stack.enter_context(Linter(root)) for root in roots]
        for number in range(given.seed, given.seed + given.programs):
            for fault in faults(number, linters):
                wrong += 1
                print(f"program {number}: {fault}", flush=True)
    seconds = perf_counter() - begin
    slowest = ", ".join(f"{linter.slowest:.1f} s ({linter.root.name})" for linter in linters)
    print(f"{given.programs} programs, {wrong} faults, {seconds:.0f} s; the slowest took {slowest}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
