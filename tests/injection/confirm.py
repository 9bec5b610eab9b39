"""
The runtime mode on real Modules with an injected fault: the verdict on each breaking mutant that the linter reports.

The mutated text is handed to `torchlint check --verify` on standard input, under the name of its file: nothing in the
packages is changed. Judges no mutant itself; `measure` says which are reported.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from torchlint.syntax.tree import decode

from .measure import CLAIMS, Judged, Measured, path_of

_NOQA = re.compile(r"noqa", re.IGNORECASE)
"""As `measure`, this asks what the linter knows, and not what an author has silenced."""


def confirmed(measured: Measured, packages: str) -> str:
    """The verdicts counted, and a line for each mutant whose fault is not confirmed."""
    counts: Counter[str] = Counter()
    lines = []
    for each in measured.judged:
        if not each.breaks or each.verdict != "found":
            continue
        verdict = _verdict(each, packages)
        counts[verdict] += 1
        if verdict != "confirmed":
            lines.append(f"{verdict}: {each.subject.module}:{each.mutant.line} {each.subject.name}: {each.claim}")
    shares = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return "\n".join([f"reported           {counts.total()}: {shares}", *lines])


def _verdict(judged: Judged, packages: str) -> str:
    """ "confirmed" if one of the findings of the mutant is; what the first says if none is; "not said" without one."""
    path = path_of(judged.subject, packages)
    text = _NOQA.sub("", judged.mutant.applied(decode(path.read_bytes()).text))
    name = str(path.relative_to(packages))
    command = [sys.executable, "-m", "torchlint", "check", "--no-cache", "--verify", "--output-format", "json"]
    run = subprocess.run(
        [*command, "--stdin-filename", name, "-"],
        cwd=Path(packages),
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    found: list[dict[str, Any]] = json.loads(run.stdout) if run.stdout else []
    line = judged.mutant.line
    said = [
        each["verdict"]["status"] if each["verdict"] else "without a verdict"
        for each in found
        if each["code"] in CLAIMS and line in (each["line"], *(step["line"] for step in each["trace"]))
    ]
    return "confirmed" if "confirmed" in said else next(iter(said), "not said")
