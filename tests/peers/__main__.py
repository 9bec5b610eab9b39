"""
`python -m tests.peers compare --programs BIN DIR …`: what torchlint, TorchFix, Ruff and flake8-bugbear say of the
Python files of each folder, joined by file, line and kind.

`BIN` holds `ruff` and `flake8`, flake8 with the plugins `torchfix` and `flake8-bugbear`. The files are read by the
tools and never imported. `--all` shows the places on which they agree as well;
`--table` writes a table for `docs/peers.md` instead, in which a code of others
that speaks alone is explained by its rule: status 1 if one is not.

`python -m tests.peers fixtures DIR`: what torchlint says and writes for the fixtures of TorchFix's own tests, of which
`DIR` holds a copy (`tests/fixtures` of its repository).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from . import fixtures, tools
from .joined import UNEXPLAINED, Place, joined, table


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.peers", description=__doc__)
    parser.add_argument("--target-torch", default="2.13", metavar="RANGE", help="default: 2.13")
    commands = parser.add_subparsers(dest="command", required=True)
    comparing = commands.add_parser("compare", help="the tools on folders of programs")
    comparing.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    comparing.add_argument("--programs", type=Path, required=True, metavar="BIN", help="the folder of ruff and flake8")
    comparing.add_argument("--all", action="store_true", help="also the places on which more than one tool speaks")
    comparing.add_argument("--table", action="store_true", help="only a table in Markdown")
    fixing = commands.add_parser("fixtures", help="torchlint on the fixtures of TorchFix's tests")
    fixing.add_argument("folder", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    if arguments.command == "compare":
        return compare(arguments)
    folder = arguments.folder.resolve()
    print(*fixtures.table(folder, tools.torchlint(folder, arguments.target_torch), arguments.target_torch), sep="\n")
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """The tools, joined; 1 if the table has something in it that no rule explains."""
    programs = arguments.programs.resolve()
    counts: Counter[tuple[str, tuple[str, ...]]] = Counter()
    of_python: Counter[str] = Counter()
    places: list[tuple[str, Place]] = []
    left_out: list[str] = []
    for folder in arguments.folders:
        others, failed = tools.flake8(folder, programs)
        findings = [*tools.torchlint(folder, arguments.target_torch), *tools.ruff(folder, programs), *others]
        of_python.update(each.code for each in findings if each.kind is None and each.tool != "torchlint")
        left_out += [f"{folder.name}/{path}" for path in failed]
        if not arguments.table:
            print(
                f"{folder.name}: {len(findings)} findings", *(f"flake8 failed at {path}" for path in failed), sep="\n  "
            )
        for place in joined(findings):
            places.append((folder.name, place))
            counts[place.kind, place.tools] += 1
            if arguments.table:
                continue
            if arguments.all or len(place.tools) == 1:
                for each in place.said:
                    print(f"  {place.path}:{place.line} [{place.kind}] {each.tool} {each.code} {each.message}")
    of_none = ", ".join(f"{code} {count}" for code, count in sorted(of_python.items())) or "none"
    if arguments.table:
        rows = table(places)
        print(*rows, "", f"Not of torch: {of_none}.", sep="\n")
        print("flake8 failed:", ", ".join(left_out) or "nowhere", file=sys.stderr)
        return int(any(UNEXPLAINED in row for row in rows))
    print()
    for (kind, names), count in sorted(counts.items()):
        print(f"{kind}: {', '.join(names)}: {count}")
    print("not of torch:", of_none)
    return 0


sys.exit(main())
