"""
`python -m tests.golden write --to FILE`, then, after a change, `python -m tests.golden compare FILE`.

What torchlint says of the programs in this repository, and of every 16th file of the packages unpacked in a folder
(`--packages`), byte for byte. `compare` lints the same programs as FILE was written from and prints what differs; it
exits with 1 if anything does.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # `expectations`, as in the tests

from . import net, programs


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    write = commands.add_parser("write", help="lint, and keep what is said")
    write.add_argument("--to", type=Path, required=True, metavar="FILE")
    write.add_argument("--packages", type=Path, metavar="DIR", help="unpacked packages to lint as well")
    write.add_argument("--every", type=int, default=1, metavar="N", help="each Nth program only (default: all)")
    write.add_argument("--every-file", type=int, default=16, metavar="N", help="of packages (default: each 16th)")
    compare = commands.add_parser("compare", help="lint again, and print what is said otherwise")
    compare.add_argument("file", type=Path, metavar="FILE")
    compare.add_argument("--only", default="", metavar="TEXT", help="programs whose name holds this text")
    compare.add_argument("--show", type=int, default=10, metavar="N", help="programs to show in full (default: 10)")
    arguments = parser.parse_args()
    begin = time.perf_counter()
    status = _write(arguments) if arguments.command == "write" else _compare(arguments)
    print(f"{time.perf_counter() - begin:.1f} s")
    return status


def _said(options: dict[str, Any], only: str = "") -> net.Net:
    every, packages = options["every"], options["packages"]
    chosen = (each for each in islice(programs.own(), 0, None, every) if only in each.name)
    found = dict(net.said(chosen, programs.ROOT))
    if packages:
        files = islice(programs.of_packages(Path(packages)), 0, None, options["every_file"] * every)
        found.update(net.said((each for each in files if only in each.name), Path(packages)))
    return found


def _write(arguments: argparse.Namespace) -> int:
    packages = arguments.packages and str(arguments.packages.resolve())
    options = {"every": arguments.every, "packages": packages, "every_file": arguments.every_file}
    found = _said(options)
    arguments.to.write_text(net.written({"options": options, "said": found}), encoding="utf-8")
    print(
        f"{len(found) // 2} programs, {sum(len(one['findings']) for one in found.values())} findings in {arguments.to}"
    )
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    kept = json.loads(arguments.file.read_text(encoding="utf-8"))
    before = {name: one for name, one in kept["said"].items() if arguments.only in name}
    after = json.loads(net.written(_said(kept["options"], arguments.only)))
    found = net.differences(before, after)
    for name, difference in islice(found.items(), arguments.show):
        print(f"--- {name}\n{difference}")
    for name in islice(found, arguments.show, None):
        print(f"--- {name}")
    print(f"{len(before)} compared, {len(found)} differ")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
