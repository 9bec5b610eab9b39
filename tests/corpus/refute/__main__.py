"""
Refutation at scale: a package's own tests are run, and the findings are held against what they showed.

    python -m tests.corpus.refute --work DIR                 all packages of the list
    python -m tests.corpus.refute --work DIR --only einops   one of them

A finding at error or warning level whose lines were executed, and whose symptom torch did not show, is a false alarm
until it is explained (`explained.jsonl`). All safe fixes are applied to a copy, and the tests are run again: one that
ends in another way names the fix as unsafe. Exit status 1 if there is either.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..draws.lint import Linted, lint
from ..packages import Refused, environment, frozen_linter
from .suite import Subject, interpreter, load, recorded, source
from .symptoms import A_VALUE, ABSENT, NOT_RUN, SHOWN, judged, unsafe

ROOT = Path(__file__).parents[3]
EXPLAINED = Path(__file__).parent / "explained.jsonl"


@dataclass
class Result:
    """
    What one package showed.

    Attributes
    ----------
    outcomes
        How many tests of the recorded run ended how.
    verdicts
        What the run says of the findings at error and warning level.
    doubtful
        Findings that ran without their symptom and are not explained.
    fixed
        How many files the safe fixes changed.
    compared
        How many tests were begun both before and after them.
    changed
        Tests that end in another way after them.
    trouble
        Of the linter, or why there is no result.
    """

    name: str
    version: str
    outcomes: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    doubtful: list[str] = field(default_factory=list)
    explained: int = 0
    fixed: int = 0
    compared: int = 0
    changed: dict[str, tuple[str, str]] = field(default_factory=dict)
    trouble: list[str] = field(default_factory=list)


def refute(subject: Subject, work: Path, linter: Path, seconds: float) -> Result:
    """Run one package; what cannot be done is told in `trouble`."""
    result = Result(subject.name, subject.version)
    try:
        tree = source(subject, work)
        python = interpreter(subject, work)
        linted = _linted(subject, tree, linter, work)
        result.trouble += linted.trouble
        grave = [each for each in linted.findings if each["level"] in ("error", "warning")]
        files = {each["path"] for each in grave} | {step["path"] for each in grave for step in each["trace"]}
        folder = work / "runs" / subject.name
        run = recorded(subject, tree, python, folder / "recorded.json", sorted(files) or None, seconds)
        result.outcomes.update(run["outcomes"].values())
        known = _explained(subject)
        for each in grave:
            verdict = judged(each, run)
            result.verdicts[verdict] += 1
            if verdict in (ABSENT, A_VALUE):
                if (each["path"], each["code"], each["message"]) in known:
                    result.explained += 1
                else:
                    place = f"{subject.name} {each['path']}:{each['line']}"
                    result.doubtful.append(f"{verdict}: {place}: {each['level']}[{each['code']}] {each['message']}")
        _fixes(subject, tree, python, linter, folder, run["outcomes"], seconds, result)
    except Refused as reason:
        result.trouble.append(str(reason))
    return result


def _linted(subject: Subject, tree: Path, linter: Path, work: Path) -> Linted:
    """The findings, kept for later runs of the same linter."""
    kept = work / "runs" / subject.name / f"{linter.name}.json"
    if kept.exists():
        return Linted(**json.loads(kept.read_text(encoding="utf-8")))
    result = lint(subject.name, subject.version, tree, linter)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(asdict(result)), encoding="utf-8")
    return result


def _fixes(
    subject: Subject, tree: Path, python: Path, linter: Path, folder: Path, first: dict[str, str], seconds: float,
    result: Result,
) -> None:  # fmt: skip
    copy = folder / "fixed"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(tree, copy)
    command = [sys.executable, "-m", "torchlint", "check", "--no-cache", "--strict", "--fix", "--output-format", "json"]
    subprocess.run([*command, "."], cwd=copy, env=environment(linter), capture_output=True)
    every = sorted(tree.rglob("*.py"))
    changed = [each for each in every if each.read_bytes() != (copy / each.relative_to(tree)).read_bytes()]
    result.fixed = len(changed)
    if not changed:
        return
    after = recorded(subject, copy, python, folder / "fixed.json", None, seconds)["outcomes"]
    result.compared = len(first.keys() & after.keys())
    if unsafe([first], after):
        again = recorded(subject, tree, python, folder / "again.json", None, seconds)["outcomes"]
        result.changed = unsafe([first, again], after)


def _explained(subject: Subject) -> set[tuple[str, str, str]]:
    rows = [json.loads(line) for line in EXPLAINED.read_text(encoding="utf-8").splitlines()]
    return {
        (row["path"], row["code"], row["message"])
        for row in rows
        if (row["name"], row["version"]) == (subject.name, subject.version)
    }


def table(results: list[Result]) -> str:
    """The figures in Markdown."""
    titles = ["package", "tests passed", "failed", "findings", *(SHOWN, ABSENT, A_VALUE, NOT_RUN)]
    lines = [f"| {' | '.join([*titles, 'explained', 'files fixed', 'tests again', 'changed'])} |", "| --- " * 12 + "|"]
    for each in results:
        passed = each.outcomes["passed"]
        failed = each.outcomes["failed"] + each.outcomes["not collected"]
        cells: list[Any] = [f"{each.name} {each.version}", f"{passed:,}", failed, sum(each.verdicts.values())]
        cells += [each.verdicts[verdict] for verdict in (SHOWN, ABSENT, A_VALUE, NOT_RUN)]
        cells += [each.explained, each.fixed, each.compared, len(each.changed)]
        lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.corpus.refute", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True, help="folder outside the repository")
    parser.add_argument("--only", nargs="+", default=[], help="names of packages")
    parser.add_argument("--commit", default="HEAD", help="the linter as this commit has it")
    parser.add_argument("--seconds", type=float, default=300, help="after them no further test is begun")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    linter, commit = frozen_linter(ROOT, work, arguments.commit)
    results = []
    for subject in load():
        if subject.name in arguments.only or not arguments.only:
            result = refute(subject, work, linter, arguments.seconds)
            results.append(result)
            print(f"{subject.name} {subject.version}: {dict(result.outcomes)} {dict(result.verdicts)}", flush=True)
            for line in [*result.doubtful, *result.trouble]:
                print(f"  {line}", flush=True)
            for test, (before, after) in result.changed.items():
                print(f"  fixes change {test}: {before} {after}", flush=True)
    print(f"linter {commit}\n{table(results)}")
    return 1 if any(each.doubtful or each.changed or each.trouble for each in results) else 0


if __name__ == "__main__":
    sys.exit(main())
