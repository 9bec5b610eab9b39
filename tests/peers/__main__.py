"""
`python -m tests.peers compare --programs BIN DIR …`: what torchlint, TorchFix, Ruff and flake8-bugbear say of the
Python files of each folder, joined by file, line and kind.

`BIN` holds `ruff` and `flake8`, flake8 with the plugins `torchfix` and `flake8-bugbear`. The files are read by the
tools and never imported. `--all` shows the places on which they agree as well.

`python -m tests.peers fixtures DIR`: what torchlint says and writes for the fixtures of TorchFix's own tests, of which
`DIR` holds a copy (`tests/fixtures` of its repository).
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from . import fixtures, tools
from .joined import joined


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=__doc__)
    parser.add_argument("--target-torch", default="2.13", metavar="RANGE", help="default: 2.13")
    commands = parser.add_subparsers(dest="command", required=True)
    comparing = commands.add_parser("compare", help="the tools on folders of programs")
    comparing.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    comparing.add_argument("--programs", type=Path, required=True, metavar="BIN", help="the folder of ruff and flake8")
    comparing.add_argument("--all", action="store_true", help="also the places on which more than one tool speaks")
    fixing = commands.add_parser("fixtures", help="torchlint on the fixtures of TorchFix's tests")
    fixing.add_argument("folder", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    if arguments.command == "compare":
        compare(arguments)
    else:
        folder = arguments.folder.resolve()
        print(
            *fixtures.table(folder, tools.torchlint(folder, arguments.target_torch), arguments.target_torch), sep="\n"
        )


def compare(arguments: argparse.Namespace) -> None:
    """The tools, joined."""
    programs = arguments.programs.resolve()
    counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
    of_python: Counter[str] = Counter()
    for folder in arguments.folders:
        others, failed = tools.flake8(folder, programs)
        findings = [*tools.torchlint(folder, arguments.target_torch), *tools.ruff(folder, programs), *others]
        of_python.update(each.code for each in findings if each.kind is None and each.tool != "torchlint")
        print(f"{folder.name}: {len(findings)} findings", *(f"flake8 failed at {path}" for path in failed), sep="\n  ")
        for place in joined(findings):
            counts[place.kind, place.tools] += 1
            if arguments.all or len(place.tools) == 1:
                for each in place.said:
                    print(f"  {place.path}:{place.line} [{place.kind}] {each.tool} {each.code} {each.message}")
    print()
    for (kind, names), count in sorted(counts.items()):
        print(f"{kind}: {', '.join(names)}: {count}")
    print("not of torch:", ", ".join(f"{code} {count}" for code, count in sorted(of_python.items())) or "none")


main()
