"""
The benchmark: everything in one run, on the same files.

    python -m tests.bench                           everything; takes hours, most of them TorchFix's
    python -m tests.bench --every 10 --only warm    parts of it, on every tenth file
    python -m tests.bench --write                   everything, and from it docs/speed.md and docs/speed.svg

Downloads wheels at fixed versions (they are never imported), makes a virtual environment for each tool (torchlint is
built from this checkout and installed as a user would have it), runs every tool on the same files, and prints what each
took. Everything it makes is in one folder, which it can use again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench import compare, page
from tests.bench.tools import PACKAGES, files


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__, formatter_class=_Plain)
    parser.add_argument("--only", action="append", choices=compare.PARTS, help="this part (may be repeated)")
    parser.add_argument("--packages", nargs="+", choices=PACKAGES, default=list(PACKAGES), help="on fewer packages")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help='processes of "all cores"')
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "torchlint-bench", help="the folder")
    parser.add_argument("--write", action="store_true", help="write the page and the picture")
    asked = parser.parse_args()
    if asked.write and asked.only:
        parser.error("--write needs all parts: ratios are of one run")
    asked.work.mkdir(parents=True, exist_ok=True)
    packages = {name: PACKAGES[name] for name in asked.packages}
    bench = compare.Bench(asked.work, files(asked.work, packages, asked.every), asked.jobs)
    measured: dict[str, Any] = {"packages": packages, "every": asked.every, "jobs": asked.jobs, **compare.about(bench)}
    with compare.loads(measured):
        for name in asked.only or compare.PARTS:
            print(f"{name} …", file=sys.stderr, flush=True)
            measured[name] = compare.PARTS[name](bench)
            (asked.work / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")
            print(json.dumps(measured[name], indent=1), file=sys.stderr, flush=True)
    (asked.work / "measured.json").write_text(json.dumps(measured, indent=1) + "\n")
    if asked.only:
        print("\n".join("  ".join(row) for row in page.ratios(measured)))
    else:
        print(page.page(measured))
    if asked.write:
        page.write(measured)


class _Plain(argparse.RawDescriptionHelpFormatter):
    """The description as it stands."""


if __name__ == "__main__":
    main()
