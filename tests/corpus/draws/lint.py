"""
One run of a frozen linter over each unpacked package: findings, counts, and what went wrong with the linter itself.

Each package is linted from its own folder, as its user would, without a cache.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..packages import environment

TIMEOUT = 600.0
OF_THE_LINTER = ("TLN000",)
OF_NO_RULE = (*OF_THE_LINTER, "TLN001", "TLN002")
"""Files that are not Python, and comments that silence nothing, are nothing to judge the rules by."""
_DIRECTORIES = re.compile(r"(?<![\w.])/(?:[^\s/()'\"]+/)+")
"""Of a path in what an ended process says last: where it lies is nobody's business but this machine's."""


@dataclass
class Linted:
    """
    What a package gave.

    Attributes
    ----------
    findings
        As `--output-format json` has them, with paths relative to the package.
    trouble
        Internal errors and ended processes, with the path if there is one.
    """

    name: str
    version: str
    files: int = 0
    lines: int = 0
    seconds: float = 0.0
    findings: list[dict[str, Any]] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, Any]:
        """The row that is committed: numbers, and no line of the package."""
        levels = Counter(each["level"] for each in self.findings)
        codes = Counter(each["code"] for each in self.findings)
        row = {"name": self.name, "version": self.version, "files": self.files, "lines": self.lines}
        row |= {"seconds": round(self.seconds, 1), "levels": dict(sorted(levels.items()))}
        return row | {"codes": dict(sorted(codes.items())), "trouble": self.trouble}


def lint(
    name: str, version: str, folder: Path, linter: Path, codes: Sequence[str] = (), timeout: float = TIMEOUT
) -> Linted:
    """
    Lint what lies in a folder with the linter in another; never raises for what the linter does.

    Of all findings those are kept whose codes begin with one of `codes`, where any are given. The linter itself still
    runs as its user runs it: selecting rules on its command line would also show what they say in strict mode alone.
    """
    result = Linted(name, version)
    for path in filter(Path.is_file, folder.rglob("*.py")):
        result.files += 1
        result.lines += path.read_bytes().count(b"\n")
    command = [sys.executable, "-m", "torchlint", "check", "--no-cache", "--output-format", "json", "."]
    start = time.monotonic()
    try:
        run = subprocess.run(
            command, cwd=folder, env=environment(linter), capture_output=True, text=True, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        result.seconds = time.monotonic() - start
        result.trouble.append(f"no end after {timeout:.0f} s")
        return result
    result.seconds = time.monotonic() - start
    try:
        found = json.loads(run.stdout)
    except ValueError:
        last = run.stderr.strip().splitlines()[-1:] or ["nothing printed"]
        said = _DIRECTORIES.sub("", last[0])[:200]
        result.trouble.append(f"exit status {run.returncode}: {said}")
        return result
    wanted = tuple(codes) or ("",)
    result.findings = [each for each in found if each["code"] not in OF_NO_RULE and each["code"].startswith(wanted)]
    result.trouble += [
        f"{each['path']}:{each['line']}: {each['message'][:300]}" for each in found if each["code"] in OF_THE_LINTER
    ]
    return result
