"""
Lints programs in a process of its own: lines of JSON in, lines of JSON out.

Which torchlint it is, is its caller's choice: that of the folder it is started in.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter

from torchlint.lint.engine import check_bytes
from torchlint.lint.registry import Selection, load


def found(folder: Path) -> list[list[object]]:
    """The findings in all files of a folder, as far as two runs must agree on them."""
    registry = load()
    selection = Selection(frozenset(registry.names), strict=True)
    findings: list[list[object]] = []
    for path in sorted(folder.glob("*.py")):
        for finding in check_bytes(str(path), path.read_bytes(), registry, selection).findings:
            trace = [[step.line, step.column, step.message] for step in finding.trace]
            level = finding.level.name
            findings.append(
                [path.name, finding.span.line, finding.span.column, finding.code, level, finding.message, trace]
            )
    return findings


def main() -> None:
    """Answer until there is no more to read."""
    for line in sys.stdin:
        begin = perf_counter()
        answer = found(Path(json.loads(line)))
        print(json.dumps([answer, perf_counter() - begin]), flush=True)


if __name__ == "__main__":
    main()
