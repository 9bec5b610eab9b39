"""
`python -m tests.driving DIR --number 200 --seed 7`: of Modules and functions drawn at random from the packages that lie
unpacked in DIR (one folder each: sources or wheels of PyPI, never installed), how many are driven, and why not all.

A Module is driven if it is built and its `forward` comes to its end, a function if it returns; an error about autograd
counts, for it is what is looked for. Code of the packages is run as that of findings is, in the child, confined.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchlint.verify.protocol import Outcome, Request
from torchlint.verify.server import shared

PER_PACKAGE = 4
"""At most so many of one kind are drawn from one package."""
_TORCH = frozenset({"torch", "nn", "F"})
_TEST = re.compile(r"(^|/)(tests?|test_\w+|setup)(/|\.py$)")
_STEPS = ("training_step", "validation_step", "train_step", "training_loop", "train_epoch", "train_one_epoch", "fit")


@dataclass(frozen=True)
class Unit:
    """Something to drive: its kind ("Module", "function", "method", "step"), its file and its dotted name there."""

    kind: str
    path: Path
    name: str


def units(file: Path) -> Iterator[Unit]:
    """What a file has to drive, as far as its text says."""
    try:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    if "torch" not in text:
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and _computes(node):
            yield Unit("step" if node.name in _STEPS else "function", file, node.name)
        elif isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            is_module = any(ast.unparse(base).endswith("Module") for base in node.bases)
            if is_module and any(each.name == "forward" and not _unwritten(each) for each in methods):
                yield Unit("Module", file, node.name)
            for each in methods:
                if each.name in _STEPS and _computes(each):
                    yield Unit("step", file, f"{node.name}.{each.name}")
                elif not is_module and not each.name.startswith("__") and _computes(each):
                    yield Unit("method", file, f"{node.name}.{each.name}")


def _unwritten(function: ast.FunctionDef) -> bool:
    """It does nothing but raise, or nothing at all: others are to write it."""
    return all(
        isinstance(each, (ast.Raise, ast.Pass)) or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in function.body
    )


def _computes(function: ast.FunctionDef) -> bool:
    """It takes an argument, and asks torch for something."""
    arguments = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg not in ("self", "cls")]
    if not arguments or function.name in ("main", "forward", "setup", "backward"):
        return False
    if any(isinstance(each, ast.Name) and each.id in ("property", "overload") for each in function.decorator_list):
        return False
    return any(isinstance(n, ast.Name) and n.id in _TORCH for b in function.body for n in ast.walk(b))


def drawn(folder: Path, number: int, seed: int) -> list[Unit]:
    """So many, half of them Modules, the same for the same seed."""
    order = random.Random(seed)
    packages = sorted(each for each in folder.iterdir() if each.is_dir())
    order.shuffle(packages)
    found: list[Unit] = []
    left = {"Module": number // 2, "function": number - number // 2}
    for package in packages:
        files = [f for f in sorted(package.rglob("*.py")) if not _TEST.search(f.relative_to(folder).as_posix())]
        order.shuffle(files)
        mine: Counter[str] = Counter()
        for file in files[:60]:
            inside = list(units(file))
            order.shuffle(inside)
            for unit in inside:
                group = "Module" if unit.kind == "Module" else "function"
                if mine[group] < PER_PACKAGE and left[group]:
                    mine[group] += 1
                    left[group] -= 1
                    found.append(unit)
        if not any(left.values()):
            break
    return found


def cause(outcome: Outcome) -> str:
    """Why something was not driven, "" if it was; numbers and names left out, so that like counts with like."""
    if outcome.ending == "ended" or (outcome.ending == "raised" and outcome.raised and outcome.raised.phase != "load"):
        return ""
    if outcome.ending == "raised" and outcome.raised is not None:
        words = f"load: {outcome.raised.type}: {outcome.raised.message}"
    else:
        words = outcome.note if outcome.ending == "unbuilt" else f"{outcome.ending}: {outcome.note}"
    words = re.sub(r"['\"`][^'\"`]*['\"`]", "…", words.splitlines()[0] if words else "")
    return re.sub(r"\d+", "N", words)[:90]


def driven(unit: Unit, text: str) -> Outcome:
    """What became of one; of a class that is called a Module and is none, as the cross-check does it, of its method."""
    outcome = shared().run(Request(text=text, path=str(unit.path), module=unit.name, timeout=15.0))
    if unit.kind == "Module" and "is no torch.nn.Module" in outcome.note:
        return shared().run(Request(text=text, path=str(unit.path), module=f"{unit.name}.forward", timeout=15.0))
    return outcome


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.driving", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="Name each one and what became of it.")
    options = parser.parse_args()
    kinds: dict[str, Counter[bool]] = {}
    causes: Counter[str] = Counter()
    for unit in drawn(options.folder, options.number, options.seed):
        text = unit.path.read_text(encoding="utf-8")
        outcome = driven(unit, text)
        why = cause(outcome)
        kinds.setdefault(unit.kind, Counter())[not why] += 1
        if why:
            causes[why] += 1
        if options.verbose:
            words = outcome.note if outcome.ending != "raised" or outcome.raised is None else outcome.raised.message
            print(
                f"{'driven' if not why else 'not'}: {unit.path}:{unit.name}: {outcome.driven} {words[:200]!r}",
                flush=True,
            )
    for why, count in causes.most_common(25):
        print(f"{count:4} {why}")
    for kind, counts in sorted(kinds.items()):
        print(f"{kind:10} driven {counts[True]} of {counts.total()} ({counts[True] / counts.total():.0%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
