"""
The tools that are compared, each run on the same folder, and their output read.

They are started from a folder of programs that the caller names, and are never imported; nor is what they look at.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .joined import Said

RUFF = "NPY,S301,RUF069"
FLAKE8 = re.compile(r"(?P<path>.+?):(?P<line>\d+):\d+: (?P<code>[A-Z]+\d+) (?P<message>.*)")
TIMEOUT, TIMEOUT_OF_A_FILE = 120.0, 10.0
"""Seconds for flake8 on a folder, and on one file of it. The files that take longer are reported."""


def torchlint(folder: Path, target: str) -> list[Said]:
    """
    What this checkout says, strict findings too: whether they are strict is a part of the message.

    A finding that stands for several places speaks at each of them.

    Raises
    ------
    subprocess.CalledProcessError
        It ended with an internal error.
    """
    options = ["--no-cache", "--isolated", "--strict", "--target-torch", target, "--output-format", "json"]
    command = [sys.executable, "-m", "torchlint", "check", *options, "."]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise subprocess.CalledProcessError(run.returncode, command, run.stdout, run.stderr)
    found = json.loads(run.stdout)
    return [
        _said(folder, each["path"], place["line"], "torchlint", each["code"], f"({each['level']}) {each['message']}")
        for each in found
        for place in (each, *each.get("others", ()))
    ]


def ruff(folder: Path, programs: Path) -> list[Said]:
    """
    What Ruff says by the rules that concern random generators, NumPy, pickles and exact comparison.

    Raises
    ------
    subprocess.CalledProcessError
        It knows one of the rules no longer.
    """
    options = ["--isolated", "--preview", "--no-cache", "--exit-zero", "--select", RUFF, "--output-format", "json"]
    command = [str(programs / "ruff"), "check", *options, "."]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    return [
        _said(folder, each["filename"], each["location"]["row"], "Ruff", each["code"], each["message"])
        for each in found
        if each["code"] is not None
    ]


def flake8(folder: Path, programs: Path) -> tuple[list[Said], list[str]]:
    """
    What TorchFix and flake8-bugbear say, both being plugins of flake8, and the files at which that failed.

    TorchFix ends the whole run at a file that it cannot read, and can take very long: then each file is asked for by
    itself.
    """
    files = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.py")) if b"torch" in path.read_bytes()]
    if not files:
        return [], []
    found, failed = _flake8(folder, programs, files, TIMEOUT), []
    if found is None:
        found = []
        for each in files:
            one = _flake8(folder, programs, [each], TIMEOUT_OF_A_FILE)
            found += one or []
            failed += [each] if one is None else []
    return found, failed


def _flake8(folder: Path, programs: Path, files: Sequence[str], timeout: float) -> list[Said] | None:
    options = ["--isolated", "--disable-noqa", "--jobs", "1", "--select", "TOR,B", "--ignore", "E999", "--exit-zero"]
    command = [str(programs / "flake8"), *options, *files]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    return None if run.returncode else read_flake8(folder, run.stdout)


def read_flake8(folder: Path, output: str) -> list[Said]:
    """The findings in flake8's own format; lines of another form are none."""
    return [
        _said(folder, match["path"], int(match["line"]), tool, match["code"], match["message"])
        for match in map(FLAKE8.fullmatch, output.splitlines())
        if match
        for tool in ("TorchFix" if match["code"].startswith("TOR") else "flake8-bugbear",)
    ]


def _said(folder: Path, path: str, line: int, tool: str, code: str, message: str) -> Said:
    shown = (folder / path).resolve().relative_to(folder.resolve())
    return Said(shown.as_posix(), line, tool, code, message)
