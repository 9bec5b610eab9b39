"""
First readings: packages that nobody has looked at, linted once by a frozen linter, and read by strangers.

    python -m tests.corpus.draws draw --names FILE --seed 1 --packages 12 --work DIR    the names (whose summary has
                                                 the word torch, or `--of name`, `--words`); asks nobody
    python -m tests.corpus.draws fetch --work DIR [--index URL]                         wheels (by pip), or sources
    python -m tests.corpus.draws lint --work DIR --seed 1                               counts, and the sheet to be read
    python -m tests.corpus.draws record --work DIR --to tests/corpus/draws/1            what may be committed:
                                                 before the reading, that the names are burned; after it, the verdicts
                                                 (those that there are, as `partial.jsonl`, where some are missing)
    python -m tests.corpus.draws tally tests/corpus/draws/1 …                           the figures

`fetch` asks the index once for each package, one after the other. With `--index` it takes the source archive where
there is no wheel, and runs none of it. An index is no catalogue to be scanned: draw few, or lay the unpacked packages
of another source into `DIR/packages/NAME` and go on with `lint`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from ..packages import PYTHON, Refused, download_unrun, download_wheel, frozen_linter, unpack
from . import names
from .lint import Linted, lint
from .sheet import markdown, rows, sample
from .tally import figures, stripped

ROOT = Path(__file__).parents[3]
OF_A_WHEEL = (*PYTHON, ".dist-info/METADATA", ".dist-info/RECORD")
OF_SOURCES = (*PYTHON, "PKG-INFO", ".txt", ".in", ".yml", ".yaml", ".lock")
"""Endings of what is kept: Python, and what may say which versions are required."""


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.corpus.draws", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("draw")
    draw.add_argument("--names", type=Path, required=True, help="tab-separated: name, version, summary")
    draw.add_argument("--of", choices=("summary", "name"), default="summary", help="which of them has the word")
    draw.add_argument("--words", nargs="+", default=["torch"], metavar="WORD", help="torch, where nothing is said")
    draw.add_argument("--packages", type=int, default=12, help="how many")
    fetch = commands.add_parser("fetch")
    fetch.add_argument("--index", metavar="URL", help="simple index: any wheel of it, else the source archive")
    check = commands.add_parser("lint")
    check.add_argument("--commit", default="HEAD", help="the linter as this commit has it")
    check.add_argument("--findings", type=int, default=60, help="errors and warnings to be read")
    check.add_argument("--smells", type=int, default=30, help="smells to be read")
    check.add_argument("--codes", nargs="+", default=[], metavar="PREFIX", help="only findings of these rules")
    record = commands.add_parser("record")
    record.add_argument("--to", type=Path, required=True, help="folder in the repository")
    for each in (draw, check):
        each.add_argument("--seed", type=int, required=True)
    for each in (draw, fetch, check, record):
        each.add_argument("--work", type=Path, required=True, help="folder outside the repository")
    tally = commands.add_parser("tally")
    tally.add_argument("draws", type=Path, nargs="+", help="folders in the repository")
    arguments = parser.parse_args()
    return int(globals()[f"_{arguments.command}"](arguments))


def _draw(arguments: argparse.Namespace) -> int:
    possible = names.candidates(arguments.names, arguments.words, column=arguments.of)
    drawn = names.draw(possible, arguments.seed, arguments.packages)
    names.save(drawn, arguments.work / "drawn.jsonl")
    print(f"{len(drawn)} of {len(possible)} names drawn")
    return 0


def _fetch(arguments: argparse.Namespace) -> int:
    for release in names.load(arguments.work / "drawn.jsonl"):
        target = arguments.work / "packages" / release.name
        if target.exists():
            continue
        partial = arguments.work / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        archives = arguments.work / "archives"
        try:
            if arguments.index:
                archive = download_unrun(release.name, release.version, archives, arguments.index)
            else:
                archive = download_wheel(release.name, release.version, archives)
            is_wheel = archive.suffix == ".whl"
            files = unpack(archive, partial, OF_A_WHEEL if is_wheel else OF_SOURCES)
        except Refused as reason:
            print(f"{release.name} {release.version}: left out, {reason}")
            continue
        partial.mkdir(exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        inside = list(partial.iterdir())
        # A source archive has one folder: what a user of it lints is what is in there.
        (inside[0] if not is_wheel and len(inside) == 1 and inside[0].is_dir() else partial).rename(target)
        print(f"{release.name} {release.version}: {files} files")
    shutil.rmtree(arguments.work / "archives", ignore_errors=True)
    return 0


def _lint(arguments: argparse.Namespace) -> int:
    linter, commit = frozen_linter(ROOT, arguments.work, arguments.commit)
    packages = arguments.work / "packages"
    linted: list[Linted] = []
    for release in names.load(arguments.work / "drawn.jsonl"):
        if (packages / release.name).exists():
            linted.append(lint(release.name, release.version, packages / release.name, linter, arguments.codes))
            for trouble in linted[-1].trouble:
                print(f"{release.name} {release.version}: {trouble}")
    counted = [each.counts() for each in linted]
    _write(arguments.work / "packages.jsonl", counted)
    run = {"linter": commit, "seed": arguments.seed} | ({"codes": arguments.codes} if arguments.codes else {})
    (arguments.work / "run.json").write_text(json.dumps(run) + "\n")
    chosen = sample(linted, arguments.seed, arguments.findings, arguments.smells)
    sheet = rows(chosen, packages)
    _write(arguments.work / "sheet.jsonl", sheet)
    (arguments.work / "sheet.md").write_text(markdown(sheet), encoding="utf-8")
    print(_summary(commit, counted))
    print(f"{len(sheet)} findings to be read in {arguments.work / 'sheet.md'}")
    return 0


def _record(arguments: argparse.Namespace) -> int:
    arguments.to.mkdir(parents=True, exist_ok=True)
    sheet = _read(arguments.work / "sheet.jsonl")
    judged = [row for row in sheet if row["verdict"]]
    if judged and len(judged) == len(sheet):
        _write(arguments.to / "verdicts.jsonl", stripped(sheet))
        (arguments.to / "partial.jsonl").unlink(missing_ok=True)
    elif judged:  # a reading that was broken off is kept, and is no figure: `tally` does not see it
        _write(arguments.to / "partial.jsonl", stripped(judged))
        print(f"{len(judged)} of {len(sheet)} rows are judged")
    for name in ("packages.jsonl", "run.json"):
        shutil.copy(arguments.work / name, arguments.to / name)
    return 0


def _tally(arguments: argparse.Namespace) -> int:
    for folder in arguments.draws:
        commit = json.loads((folder / "run.json").read_text(encoding="utf-8"))["linter"]
        print(_summary(commit, _read(folder / "packages.jsonl")))
    read = [folder / "verdicts.jsonl" for folder in arguments.draws if (folder / "verdicts.jsonl").exists()]
    print(figures([row for path in read for row in _read(path)]))
    return 0


def _summary(commit: str, counted: list[dict[str, Any]]) -> str:
    levels = {level: sum(row["levels"].get(level, 0) for row in counted) for level in ("error", "warning", "smell")}
    sums = {key: sum(row[key] for row in counted) for key in ("files", "lines", "seconds")}
    found = ", ".join(f"{count} {level}s" for level, count in levels.items())
    trouble = sum(len(row["trouble"]) for row in counted)
    return (
        f"linter {commit}: {len(counted)} packages, {sums['files']:,} files, {sums['lines']:,} lines, "
        f"{sums['seconds']:.0f} s; {found}; {trouble} times trouble with the linter itself"
    )


def _write(path: Path, table: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table), encoding="utf-8")


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main())
